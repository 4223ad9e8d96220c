"""Scenarios with errors at marked places: does the program report each of them there, once, and nothing else?"""
import collections
import re

from support import program
from support.golden import GOLDEN
from support.program import BAD_INPUT, expect

MARK = "¦"
SCENARIO = "scenario.ini"
BOOK = "out.xlsx"
OLD_BOOK = b"an older workbook"
# text: the scenario, as text with marks or as bytes. messages: a pattern per mark, in the order of
# the marks in the scenario and then in `files`. also: further patterns in stderr; errors without a
# place in a marked text count there. prepare: gets the folder.
Case = collections.namedtuple("Case", "name text messages arguments files also prepare")


def bad(name, text, *messages, arguments=(), files=None, also=(), prepare=lambda folder: None):
    return Case(name, text, messages, arguments, files or {}, also, prepare)


def swap(old, new, text=GOLDEN):
    """The text with the first `old` replaced."""
    assert old in text, old
    return text.replace(old, new, 1)


def run(folder, *arguments, status=None, **options):
    done = program.run(*arguments, cwd=folder, encoding=None, **options)
    errors = done.stderr.decode("utf-8", "backslashreplace")
    expect(done.returncode >= 0, f"killed by signal {-done.returncode}: {errors[-2000:]}")
    if status is not None:
        expect(done.returncode == status,
               f"{' '.join(arguments)}: exit {done.returncode}, not {status}: {errors[-2000:]}")
    return done.stdout, errors


def listing(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


Place = collections.namedtuple("Place", "file line column text")


def marked_places(name, text):
    """The places marked in a file's text, columns in bytes, with the source line."""
    places = []
    for number, line in enumerate(text.split("\n"), 1):
        before, *rest = line.split(MARK)
        for part in rest:
            places.append(Place(name, number, len(before.encode()) + 1, line.replace(MARK, "")))
            before += part
    return places


def write_files(case, folder):
    """Writes a case's files without their marks; returns the marked places."""
    case.prepare(folder)
    places = []
    texts = {SCENARIO: case.text, **case.files}
    for name, text in texts.items():
        if isinstance(text, bytes):
            (folder / name).write_bytes(text)
        elif text is not None:
            (folder / name).write_bytes(text.replace(MARK, "").encode())
            places += marked_places(name, text)
    assert len(places) == len(case.messages), f"{case.name}: marks and messages differ in number"
    return places


def check_shown(place, lines):
    """The two lines below a message: the source line and a caret below the column."""
    expect(len(lines) >= 2, f"no line and caret shown for {place[:3]}")
    shown, caret = lines[:2]
    expect(caret.strip() == "^", f"no caret for {place[:3]}: {caret[:200]!r}")
    expect(len(shown) < 400, f"a line of {len(shown)} characters is shown for {place[:3]}")
    if len(place.text) > 150:
        return
    expected = "  " + re.sub(r"[^\t -~\w]", "\ufffd", place.text.rstrip("\r"))
    expect(shown == expected, f"shown {shown!r}, expected {expected!r}")
    expect(caret.index("^") == 2 + len(place.text.encode()[:place.column - 1].decode()),
           f"the caret for {place[:3]} stands in {caret!r} below {shown!r}")


def check_reported(place, message, errors):
    lines = errors.split("\n")
    start = f"{place.file}:{place.line}:{place.column}: error: "
    found = [i for i, line in enumerate(lines)
             if line.startswith(start) and re.search(message, line[len(start):])]
    expect(len(found) == 1, f"{len(found)} times {start}{message} in: {errors[-3000:]}")
    check_shown(place, lines[found[0] + 1:])


def check_errors(case, places, errors):
    for place, message in zip(places, case.messages):
        check_reported(place, message, errors)
    for pattern in case.also:
        expect(re.search(pattern, errors), f"no {pattern!r} in: {errors[-3000:]}")
    count = len(re.findall(r"^(?:\S.*: )?error: ", errors, re.M))
    expected = len(places) + len(case.also)
    expect(count == expected, f"{count} errors, expected {expected}: {errors[-3000:]}")


def try_bad(case, exists, folder):
    """`exists`: there is a workbook already, which must not change."""
    places = write_files(case, folder)
    before = listing(folder)
    out, errors = run(folder, "compare", SCENARIO, *case.arguments, status=BAD_INPUT)
    expect(not out, f"compare printed {out[:200]!r}")
    check_errors(case, places, errors)

    if exists:
        (folder / BOOK).write_bytes(OLD_BOOK)
        before = listing(folder)
    _, errors = run(folder, "report", SCENARIO, "-o", BOOK, *case.arguments, status=BAD_INPUT)
    check_errors(case, places, errors)
    expect(listing(folder) == before, f"report left {set(listing(folder)) - set(before)}")
    expect(not exists or (folder / BOOK).read_bytes() == OLD_BOOK, "report changed the existing workbook")
