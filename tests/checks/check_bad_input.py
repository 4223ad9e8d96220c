#!/usr/bin/python3
"""Gives the program input that it must refuse, and input that looks odd but is valid; checks its
messages.

    check_bad_input.py [NAME...]     every case, or those whose name contains a NAME

A case marks the places of its errors in its own text with MARK. Each must be reported once with
file, line and column, its message, the line and a caret; nothing else may be reported. Every case
runs `compare`, and `report` with and without an existing workbook, which must not change. PERTOKEN
names the program.
Seconds: 10
"""
import collections
import csv
import io
import os
import pathlib
import re
import resource
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import zipfile

from support import program
from support.golden import GOLDEN
from support.program import BAD_INPUT, Count, MACHINE_FAILED, PERTOKEN, ROOT, Skip, expect

MARK = "¦"
SCENARIO = "scenario.ini"
BOOK = "out.xlsx"
OLD_BOOK = b"an older workbook"
NOBODY = 65534
MEGABYTE = 1 << 20

BASE = GOLDEN
OWN_ITEM = """
[item extra]
label = Extra
unit = USD
group = capex
formula = """

# text: the scenario, as text with marks or as bytes. messages: a pattern per mark, in the order of
# the marks in the scenario and then in `files`. also: further patterns in stderr; errors without a
# place in a marked text count there. prepare: gets the folder.
Case = collections.namedtuple("Case", "name text messages arguments files also prepare")


def bad(name, text, *messages, arguments=(), files=None, also=(), prepare=lambda folder: None):
    return Case(name, text, messages, arguments, files or {}, also, prepare)


def swap(old, new, text=BASE):
    """The text with the first `old` replaced."""
    assert old in text, old
    return text.replace(old, new, 1)


def below(line, *new, text=BASE):
    """The text with additional lines below one."""
    return swap(line + "\n", "\n".join((line,) + new) + "\n", text)


def replaced(old, new):
    return swap(old + "\n", new + "\n")


def nest(depth, inner):
    return "(" * depth + inner + ")" * depth


def data_with(table, change):
    """Prepares a copy of the catalogue in data/ in which a table's text is changed."""
    def prepare(folder):
        shutil.copytree(ROOT / "data", folder / "data", ignore=shutil.ignore_patterns("measured"))
        path = folder / "data" / table
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return prepare


def table_case(name, change, message, table="accelerators.csv"):
    """A case about a catalogue; `change` puts MARK at the error."""
    text = change((ROOT / "data" / table).read_text(encoding="utf-8"))
    return bad(name, BASE, message, arguments=("--data", "data"), files={f"data/{table}": text},
               prepare=data_with(table, lambda old: text.replace(MARK, "")))


def in_row(identity, change):
    """Changes the row of an id."""
    def change_text(text):
        lines = text.split("\n")
        row = next(i for i, line in enumerate(lines) if line.startswith(identity + ","))
        lines[row] = change(lines[row])
        return "\n".join(lines)
    return change_text


def in_cell(identity, column, value):
    """Changes one cell of a row whose cells up to there contain no comma."""
    def change_text(text):
        index = text.split("\n", 1)[0].split(",").index(column)

        def change_row(row):
            cells = row.split(",")
            cells[index] = MARK + value
            return ",".join(cells)
        return in_row(identity, change_row)(text)
    return change_text


def without_column(column):
    return lambda text: MARK + swap(f",{column},", f",{column}_old,", text)


NAMES = [
    bad("unknown key", below("[common]", MARK + "suport = 4 %/yr"),
        "unknown.*suport.*did you mean 'support'"),
    bad("unknown key of an option", below("[option mi325x]", MARK + "list_prize = 1 USD"),
        "unknown.*list_prize.*did you mean 'list_price'"),
    *(bad(f"an input misspelt as {typed}", swap(f"\n{key} ", f"\n{MARK}{typed} "), f"unknown.*{typed}.*did you mean '{key}'")
      for key, typed in (("pue", "PUE"), ("utilization", "utilisation"), ("electricity_price", "electricty_price"),
                         ("accelerators", "acelerators"), ("list_price", "list_prise"), ("accelerator", "acelerator"),
                         ("accelerator", "Accelarator"))),
    # A required input in the wrong section is not missing, too.
    bad("input in [scenario]", below("[scenario]", MARK + "pue = 1.25", text=swap("pue = 1.25\n", "")),
        r"'pue' belongs in \[common\] or an option"),
    bad("input in [workload]", swap("pue = 1.25\n", "") + f"\n[workload]\n{MARK}pue = 1.25\n",
        r"'pue' belongs in \[common\] or an option"),
    bad("selection in [scenario]", below("[scenario]", MARK + "precision = fp8"),
        r"'precision' belongs in an option or \[workload\]"),
    bad("price of no accelerator", swap("accelerator = h200-sxm-141\nlist_price = 35000 USD", "price = pr001",
                                        replaced("[option h200]", MARK + "[option h200]")),
        "option 'h200' needs 'accelerator'"),
    bad("price of an unknown accelerator", swap("accelerator = h200-sxm-141\nlist_price = 35000 USD",
                                                f"accelerator = {MARK}h2000\nprice = pr001"),
        "unknown accelerator 'h2000'"),
    bad("unknown key without a likeness", below("[common]", MARK + "zzyzx = 1"), "unknown.*zzyzx"),
    bad("unknown section", BASE + f"\n{MARK}[comon]\npue = 1\n",
        "unknown section.*comon.*did you mean.*common"),
    bad("unknown section with an argument", BASE + f"\n{MARK}[optoin x]\npue = 1\n",
        "unknown section.*optoin.*did you mean.*option"),
    bad("unknown accelerator", swap("= h200-sxm-141", f"= {MARK}h200-sxm-14"),
        "unknown accelerator 'h200-sxm-14'.*did you mean 'h200-sxm-141'"),
    bad("unknown model", BASE + f"\n[workload]\nmodel = {MARK}llama-2-70bb\n",
        "unknown model 'llama-2-70bb'.*did you mean 'llama-2-70b'"),
    bad("unknown baseline", replaced("baseline = h200", f"baseline = {MARK}h100"),
        "h100.*did you mean 'h200'"),
    bad("unknown case", BASE + "\n[case stressed]\npue = 1.5\n", arguments=("--case", "stresed"),
        also=("error: .*stresed.*did you mean 'stressed'",)),
    bad("unknown key of a case", BASE + f"\n[case stressed]\n{MARK}pui = 1.5\n",
        "unknown.*pui.*did you mean 'pue'"),
    bad("unknown option of a case's key", BASE + f"\n[case stressed]\n{MARK}mi325.pue = 1.5\n",
        "mi325.*did you mean 'mi325x"),
    bad("unknown key of --set", BASE, arguments=("--set", "pui=1.5"),
        also=("error: .*pui.*did you mean 'pue'",)),
    bad("unknown option of --set", BASE, arguments=("--set", "mi325.discount=20 %"),
        also=("error: .*mi325.*did you mean 'mi325x",)),
    bad("--set without a value", BASE, arguments=("--set", "pue"), also=("error: .*KEY=VALUE",)),
    bad("an option's id that is no name", swap("[option mi325x]", MARK + "[option mi-325x]"),
        "mi-325x"),
    bad("an option's id that is too long", swap("[option mi325x]", f"{MARK}[option {'m' * 25}]"),
        "m" * 25),
    bad("two options with one id", BASE + f"\n{MARK}[option h200]\ndiscount = 1 %\n",
        r"\[option h200\].*line 20"),
    bad("two options that differ in case only", BASE + f"\n{MARK}[option H200]\n"
        "accelerator = h200-sxm-141\nlist_price = 1 USD\nload_power = 700 W\n"
        "throughput = 1 token/s\n", "H200|h200"),
    bad("no option", BASE[:BASE.index("[option h200]")].replace("baseline = h200\n", ""),
        also=(rf"{SCENARIO}.*error: .*option",)),
]

VALUES = [
    bad("missing input", swap("pue = 1.25\n", "").replace("[option", MARK + "[option"),
        "h200.*needs 'pue'", "mi325x.*needs 'pue'"),
    bad("missing input of one option",
        swap("[option h200]", MARK + "[option h200]", swap("list_price = 35000 USD\n", "")),
        "h200.*needs 'list_price'"),
    bad("missing accelerator", swap("[option h200]", MARK + "[option h200]",
                                    swap("accelerator = h200-sxm-141\n", "")),
        "h200.*accelerator"),
    bad("empty value", replaced("pue = 1.25", f"pue ={MARK}"), "expected"),
    bad("wrong unit", swap("0.08 USD/kWh", f"0.08 {MARK}USD/kW"),
        "wrong unit 'USD/kW'.*USD/kWh"),
    bad("unit of a likeness", swap("0.08 USD/kWh", f"0.08 {MARK}UDS/kWh"),
        "unknown unit 'UDS'.*did you mean 'USD'"),
    bad("missing unit", swap("0.08 USD/kWh", MARK + "0.08"), "no unit.*USD/kWh"),
    bad("missing per cent", replaced("utilization = 70 %", f"utilization = {MARK}0.7"),
        "no unit.*%"),
    bad("no number", replaced("pue = 1.25", f"pue = {MARK}high"), "expected a.*number.*'high'"),
    bad("thousands separator", swap("35000 USD", MARK + "35,000 USD"), "thousands"),
    bad("not a number", replaced("pue = 1.25", f"pue = {MARK}nan"), "expected.*'nan'"),
    bad("infinity", swap("35000 USD", MARK + "inf USD"), "expected.*'inf USD'"),
    bad("beyond a double", swap("35000 USD", MARK + "1e999 USD"), "expected.*'1e999 USD'"),
    bad("hexadecimal", swap("35000 USD", f"0{MARK}x88B8 USD"), "unknown unit 'x88B8'"),
    bad("pue below 1", replaced("pue = 1.25", f"pue = {MARK}0.9"), "pue.*1"),
    bad("discount above 100 %", swap("discount = 14 %", f"discount = {MARK}101 %"),
        "discount.*100 %"),
    bad("negative power", swap("load_power = 700 W", f"load_power = {MARK}-700 W"),
        "load_power.*-700 W|load_power.*0 W"),
    bad("part of an accelerator", swap("accelerators = 800", f"accelerators = {MARK}800.5"),
        "accelerators.*(whole|integer)"),
    bad("no accelerators", swap("accelerators = 800", f"accelerators = {MARK}0"), "accelerators"),
    bad("no horizon", swap("horizon = 3 yr", f"horizon = {MARK}0 yr"), "horizon"),
    bad("throughput of zero", swap("4202 token/s", MARK + "0 token/s"), "throughput"),
    bad("no choice", below("[common]", f"colo_rate = 150 USD/kW/month\ncolo_power = {MARK}metred"),
        "expected metered or included, not 'metred'"),
    bad("a date that is none", swap("2026-11-01", MARK + "2026-13-01"), "expected.*'2026-13-01'"),
    *(bad(f"a start that is none, {text}", swap("horizon = 3 yr", f"horizon = 3 yr\nstart = {MARK}{text}"),
          f"expected a month or a day.*'{text}'") for text in ("2027", "2027-13", "2027-02-30", "mid-2027")),
    bad("out of range in a case", BASE + f"\n[case stressed]\nmi325x.discount = {MARK}140 %\n",
        "discount.*100 %"),
    bad("out of range by --set", BASE, arguments=("--set", "pue=0.5"), also=("error: .*pue",)),
    bad("own construction beside colocation",
        below("[common]", "colo_rate = 150 USD/kW/month", "build_price = 9000 USD/kW"),
        also=("error: .*h200.*build_price.*colo_rate", "error: .*mi325x.*build_price.*colo_rate")),
    bad("list price beside rent",
        below("list_price = 35000 USD", "rental_rate = 2 USD/h"),
        also=("error: .*(list_price.*rental_rate|rental_rate.*list_price)",)),
    bad("engineers without their cost",
        swap("engineer_cost = 280000 USD/yr\n", ""), also=("error: .*engineer_cost",)),
    bad("five errors in one run",
        swap("0.08 USD/kWh", f"0.08 {MARK}USD/kW",
             swap("700 W", MARK + "-700 W",
                  swap("4202 token/s", MARK + "4202",
                       swap("pue = 1.25", f"pue = {MARK}0.9",
                            below("[common]", MARK + "suport = 4 %/yr"))))),
        "suport", "pue", "USD/kWh", "load_power", "no unit"),
]

SYNTAX = [
    bad("repeated key", below("pue = 1.25", MARK + "pue = 1.3"), "'pue'.*line 11"),
    bad("repeated section", BASE + f"\n{MARK}[common]\nspares = 1 %\n", r"\[common\].*line 7"),
    bad("unclosed section", swap("[common]", "[common" + MARK), r"\]"),
    bad("section without a name", BASE + f"\n[{MARK}]\n", "section's name"),
    bad("over-long section", BASE + f"\n[{MARK}item {'x' * 50}]\n", "at most 49 bytes"),
    bad("no section", "; nothing but a comment\n", also=(rf"{SCENARIO}: error: no section",)),
    bad("key before a section", MARK + "title = x\n" + BASE, "section"),
    bad("continued value", below("pue = 1.25", f"  {MARK}and more"), "first column"),
    bad("indented key", below("pue = 1.25", f"\t{MARK}spares = 1 %"), "first column"),
    bad("prose", below("pue = 1.25", MARK + "this is no key"), "'key = value'"),
    bad("colon for equals", below("pue = 1.25", f"spares{MARK}: 1 %"), "write '='"),
    bad("key without a name", below("pue = 1.25", MARK + "= 1 %"), "name"),
    bad("line of 200 bytes", below("pue = 1.25", "a = " + "x" * 195 + MARK + "x"),
        "at most 199 bytes"),
    bad("line of a megabyte", below("pue = 1.25", "a = " + "x" * 195 + MARK + "x" * MEGABYTE),
        "at most 199 bytes"),
    bad("control character", below("pue = 1.25", f"spares = {MARK}\x1b[2J1 %"), "0x1B"),
    bad("U+FFFE in a title", BASE.replace("title = ", f"title = {MARK}\ufffe", 1), "found U[+]FFFE, which is not a character"),
    bad("U+FFFF in a comment", below("pue = 1.25", f"; a {MARK}\uffff comment"), "found U[+]FFFF"),
    bad("line ends of one carriage return", BASE[:10] + MARK + BASE[10:].replace("\n", "\r"),
        "0x0D"),
]

FILES = [
    bad("inherits itself", below("[scenario]", f"inherits = {MARK}{SCENARIO}"),
        "inherit|circle|cycle"),
    bad("inherits in a circle", below("[scenario]", "inherits = parent.ini"),
        "inherit|circle|cycle",
        files={"parent.ini": f"[scenario]\ninherits = {MARK}{SCENARIO}\n"}),
    bad("inherits what is not there", below("[scenario]", f"inherits = {MARK}missing.ini"),
        "missing.ini"),
    bad("error in an inherited file", below("[scenario]", "inherits = parent.ini"), "suport",
        files={"parent.ini": f"[common]\n{MARK}suport = 1 %/yr\n"}),
    bad("no file", None, also=(rf"{SCENARIO}: error: cannot be opened",)),
    bad("directory", None, also=(rf"{SCENARIO}: error: .*directory",),
        prepare=lambda folder: (folder / SCENARIO).mkdir()),
    bad("pipe", None, also=(rf"{SCENARIO}: error: .*pipe",),
        prepare=lambda folder: os.mkfifo(folder / SCENARIO)),
    bad("empty file", b"", also=(rf"{SCENARIO}: error: no section",)),
    bad("binary file", bytes(range(256)) * 64, also=(rf"{SCENARIO}:1:1: error: .*NUL",)),
    bad("NUL byte", BASE.encode() + b"\0\n", also=(rf"{SCENARIO}:34:1: error: .*NUL",)),
    bad("invalid UTF-8", BASE.replace("Golden", "G\xf6lden").encode("latin-1"),
        also=(rf"{SCENARIO}:2:10: error: .*UTF-8.*0xF6",)),
    bad("UTF-16", BASE.encode("utf-16"), also=(rf"{SCENARIO}:1:.*error: .*",)),
    bad("no data directory", BASE, arguments=("--data", "missing"),
        also=("missing.*error|error: .*missing",)),
    bad("no model file", BASE, arguments=("--model", "missing.ini"), also=("missing.ini.*error",)),
]

TABLES = [
    table_case("stray quote in a table", in_row("h200-sxm-141", lambda row: swap(
        "H200 SXM", f"H200 {MARK}\"SXM", row)), "quote"),
    table_case("text behind a quoted cell", in_row("h200-sxm-141", lambda row: swap(
        ",NVIDIA,", f',"NVIDIA"{MARK}x,', row)), "quote"),
    table_case("too few cells", in_row("h200-sxm-141", lambda row: row[:row.rindex(",")] + MARK),
               r"expected \d+ cells.*found \d+"),
    table_case("too many cells", in_row("h200-sxm-141", lambda row: row + "," + MARK + "x"),
               r"expected \d+ cells.*found \d+"),
    table_case("missing column", without_column("tdp_w"), "tdp_w"),
    table_case("no number in a table", in_cell("h200-sxm-141", "tdp_w", "seven"), "tdp_w|number"),
    table_case("NaN in a table", in_cell("h200-sxm-141", "tdp_w", "nan"), "tdp_w|number"),
    table_case("negative watts in a table", in_cell("h200-sxm-141", "tdp_w", "-700"), "tdp_w"),
    table_case("repeated id", in_row("mi325x-256", lambda row: MARK + swap(
        "mi325x-256", "h200-sxm-141", row)), "h200-sxm-141.*line 5"),
    bad("empty table", BASE, arguments=("--data", "data"),
        also=(r"data/accelerators.csv.*error: .*empty",),
        prepare=data_with("accelerators.csv", lambda text: "")),
    bad("missing table", BASE, arguments=("--data", "data"), also=(r"accelerators.csv: error: ",),
        prepare=lambda folder: (folder / "data").mkdir()),
]

FORMULAS = [
    bad("unknown name in a formula", BASE + OWN_ITEM + f"2 * {MARK}hardware_cots",
        "hardware_cots.*did you mean 'hardware_cost'"),
    bad("unknown function", BASE + OWN_ITEM + f"{MARK}cell(hardware_cost)",
        "cell.*did you mean 'ceil'"),
    bad("formula cut off", BASE + OWN_ITEM + f"2 *{MARK}", "end of the formula"),
    bad("two formulas in a row", BASE + OWN_ITEM + f"hardware_cost {MARK}hardware_cost",
        "operator"),
    bad("formula of too many levels", BASE + OWN_ITEM + nest(40, MARK + nest(30, "1 USD")),
        "fewer nested parentheses"),
    bad("units that cannot be added", BASE + OWN_ITEM + f"hardware_cost {MARK}+ it_power",
        "units.*USD.*W"),
    bad("unit of the formula", BASE + OWN_ITEM + f"{MARK}it_power", "extra.*W.*USD"),
    bad("formula in a circle", BASE + OWN_ITEM + f"{MARK}extra * 2", "circular reference.*extra -> extra"),
    bad("formulas in a circle",
        BASE + OWN_ITEM + "other * 2\n" + OWN_ITEM.replace("extra", "other") + f"{MARK}extra * 2",
        "circular reference.*: extra -> other -> extra"),
    bad("a circle through the model", BASE + OWN_ITEM + "capex * 2",
        also=("error: circular reference.*capex",)),
    bad("division by zero", BASE + OWN_ITEM + "1 USD / (accelerators - 800)",
        also=("error: .*(extra.*h200|h200.*extra)", "error: .*(extra.*mi325x|mi325x.*extra)")),
    bad("a result beyond a double", BASE + OWN_ITEM + "hardware_cost * 1e300 * 1e300",
        also=("error: .*(extra.*h200|h200.*extra)", "error: .*(extra.*mi325x|mi325x.*extra)")),
    bad("a line item of an existing name",
        BASE + OWN_ITEM.replace("[item extra]", MARK + "[item capex]") + "1 USD", "capex"),
    bad("units of a number in a longer formula", BASE + OWN_ITEM + f"100 USD * nodes {MARK}+ 5 kWh",
        r"units do not match: 100 USD \* nodes [(]USD[)] and 5 kWh"),
    bad("unknown key of a line item",
        BASE + OWN_ITEM.replace("label", MARK + "lable") + "1 USD",
        "lable.*did you mean 'label'", also=("error: .*needs 'label'",)),
    bad("unknown group of a line item",
        BASE + OWN_ITEM.replace("= capex", f"= {MARK}capx") + "1 USD", "capx"),
    bad("a yearly capex item", BASE + OWN_ITEM.replace("USD\n", f"{MARK}USD/yr\n") + "1 USD/yr",
        "capex item.*USD"),
]

CASES = NAMES + VALUES + SYNTAX + FILES + TABLES + FORMULAS

FINE = [
    ("CRLF", BASE.replace("\n", "\r\n").encode()),
    ("byte order mark", b"\xef\xbb\xbf" + BASE.encode()),
    ("no line end", BASE.rstrip("\n").encode()),
    ("non-ASCII title", BASE.replace("Golden", "Gölden 金").encode()),
    ("comments and blanks", b"; c\n\n" + BASE.replace("pue =", "pue\t= ").encode() + b"# end\n"),
    ("line of 199 bytes", BASE.encode() + b"; " + b"x" * 197),
]


# Running the program.

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


# Where the errors are.

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


def try_bad(case, folder):
    places = write_files(case, folder)
    before = listing(folder)
    out, errors = run(folder, "compare", SCENARIO, *case.arguments, status=BAD_INPUT)
    expect(not out, f"compare printed {out[:200]!r}")
    check_errors(case, places, errors)

    report = ("report", SCENARIO, "-o", BOOK, *case.arguments)
    _, errors = run(folder, *report, status=BAD_INPUT)
    check_errors(case, places, errors)
    expect(listing(folder) == before, f"report left {set(listing(folder)) - set(before)}")

    (folder / BOOK).write_bytes(OLD_BOOK)
    run(folder, *report, status=BAD_INPUT)
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "report changed the existing workbook")
    expect(listing(folder) == sorted(before + [BOOK]), "report left files beside the workbook")


def check_no_error(errors):
    expect("error:" not in errors, f"an error was reported: {errors[-2000:]}")


def try_fine(text, folder):
    (folder / SCENARIO).write_bytes(text)
    _, errors = run(folder, "compare", SCENARIO, status=0)
    check_no_error(errors)
    _, errors = run(folder, "report", SCENARIO, "-o", BOOK, status=0)
    check_no_error(errors)
    expect((folder / BOOK).exists(), "no workbook")
    expect(zipfile.ZipFile(folder / BOOK).testzip() is None, "a broken workbook")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "report left files beside the workbook")


# Text that a spreadsheet would take for a formula.

FORMULA_LIKE = ("=1+41", "+41+1", "-41-1", "@SUM(41)", '=HYPERLINK("http://41")')


def formula_like_scenario(text):
    return (swap("title = Golden example", f"title = {text}")
            .replace("throughput = 4202 token/s",
                     f"throughput = 4202 token/s\nthroughput.source = {text}")
            + OWN_ITEM.replace("label = Extra", f"label = {text}") + "1 USD\n")


def check_workbook_text(path, text):
    book = zipfile.ZipFile(path)
    sheets = [book.read(name).decode() for name in book.namelist()
              if name.startswith("xl/worksheets/sheet")]
    formulas = re.findall(r"<f[ >][^<]*</f>|<f>[^<]*</f>", "".join(sheets))
    expect(formulas, "no formula at all in the workbook")
    expect(not [f for f in formulas if re.search(r"\b41\b|HYPERLINK", f)], "text became a formula")
    strings = book.read("xl/sharedStrings.xml").decode()
    escaped = text.replace("&", "&amp;").replace('"', "&quot;")
    expect(text in strings or escaped in strings, "the text is not in the workbook")


def is_number(text):
    try:
        float(text)
    except ValueError:
        return False
    return True


def check_csv_text(out):
    rows = list(csv.reader(io.StringIO(out.decode())))
    cells = [cell for row in rows for cell in row]
    expect(len(cells) > 10, "too few cells in the CSV output")
    unguarded = [cell for cell in cells
                 if re.match(r"[=+@\t\r]|-.", cell) and not is_number(cell)]
    expect(not unguarded, f"unguarded in the CSV output: {unguarded}")


def try_formula_like(folder):
    for text in FORMULA_LIKE:
        (folder / SCENARIO).write_text(formula_like_scenario(text), encoding="utf-8")
        out, errors = run(folder, "compare", SCENARIO, "--format", "csv", status=0)
        check_no_error(errors)
        check_csv_text(out)
        run(folder, "report", SCENARIO, "-o", BOOK, status=0)
        check_workbook_text(folder / BOOK, text)


# Outputs that cannot be written.

def write_base(folder):
    (folder / SCENARIO).write_text(BASE, encoding="utf-8")


def refused_report(folder, target, **options):
    """A report that must fail with a message, as bad input or as a failing machine."""
    done = program.run("report", SCENARIO, "-o", target, "--data", ROOT / "data", cwd=folder, **options)
    expect(done.returncode in (BAD_INPUT, MACHINE_FAILED),
           f"exit {done.returncode} for -o {target}: {done.stderr[-2000:]}")
    messages = [line for line in done.stderr.split("\n") if "error: " in line]
    expect(len(messages) == 1, f"{len(messages)} errors for -o {target}: {done.stderr}")
    expect(target in messages[0], f"{target!r} is not named: {messages[0]}")
    return done.returncode


def try_missing_folder(folder):
    write_base(folder)
    refused_report(folder, "missing/out.xlsx")
    expect(listing(folder) == [SCENARIO], "files were left")


def try_folder_as_target(folder):
    write_base(folder)
    (folder / BOOK).mkdir()
    refused_report(folder, BOOK)
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


def try_pipe_as_target(folder):
    """A pipe may be refused or written to, but not replaced."""
    write_base(folder)
    os.mkfifo(folder / BOOK)
    with open(folder / BOOK, "r+b", buffering=0), open(folder / "copy", "wb") as copy:
        reader = subprocess.Popen(["cat", BOOK], cwd=folder, stdout=copy)
        try:
            done = program.run("report", SCENARIO, "-o", BOOK, cwd=folder)
        finally:
            reader.terminate()
            reader.wait()
    expect(stat.S_ISFIFO((folder / BOOK).lstat().st_mode), "the pipe was replaced by a file")
    expect(listing(folder) == sorted(["copy", BOOK, SCENARIO]), "files were left")
    expect(done.returncode in (0, BAD_INPUT, MACHINE_FAILED), f"exit {done.returncode}")
    if done.returncode == 0:
        expect(zipfile.is_zipfile(folder / "copy"), "no workbook came through the pipe")


def try_proc_as_target(folder):
    write_base(folder)
    expect(refused_report(folder, "/proc/pertoken-test.xlsx") == MACHINE_FAILED, "expected exit 3")


def as_nobody(folder):
    """Options for a run as a user who is subject to permissions; the folder becomes readable to
    that user."""
    if os.geteuid() != 0:
        return {}
    folder.parent.chmod(0o755)
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        subprocess.run([PERTOKEN, "--help"], capture_output=True, check=True, timeout=60, **options)
        subprocess.run(["test", "-r", ROOT / "data" / "models.csv"], check=True, **options)
    except (OSError, subprocess.SubprocessError):
        raise Skip("the program cannot be run as another user") from None
    return options


def try_unwritable_folder(folder):
    write_base(folder)
    (folder / BOOK).write_bytes(OLD_BOOK)
    options = as_nobody(folder)
    folder.chmod(0o555)
    try:
        expect(refused_report(folder, BOOK, **options) == MACHINE_FAILED, "expected exit 3")
    finally:
        folder.chmod(0o755)
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "the existing workbook was changed")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


def try_unwritable_file(folder):
    write_base(folder)
    (folder / BOOK).write_bytes(OLD_BOOK)
    (folder / BOOK).chmod(0o444)
    options = as_nobody(folder)
    folder.chmod(0o777)
    refused_report(folder, BOOK, **options)
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "the read-only workbook was replaced")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


def try_file_size_limit(folder):
    """A disk that accepts 4 KiB of a file and no more."""
    write_base(folder)
    (folder / BOOK).write_bytes(OLD_BOOK)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    status = refused_report(folder, BOOK, preexec_fn=limit, restore_signals=False)
    expect(status == MACHINE_FAILED, f"exit {status}, expected 3")
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "the existing workbook was changed")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


FULL_DISK = """
mount -t tmpfs -o size=16k tmpfs disk || exit 77
printf old >disk/out.xlsx
"$0" report scenario.ini -o disk/out.xlsx --data "$1"
status=$?
[ "$(ls -A disk) $(cat disk/out.xlsx)" = "out.xlsx old" ] || exit 78
exit $status
"""


def try_full_disk(folder):
    """A disk of 16 KiB, in a mount namespace that is removed afterwards."""
    write_base(folder)
    (folder / "disk").mkdir()
    arguments = ["-rm", "sh", "-c", FULL_DISK, PERTOKEN, ROOT / "data"]
    try:
        done = program.run(*arguments, program="unshare", cwd=folder)
    except FileNotFoundError:
        raise Skip("needs unshare") from None
    if done.returncode in (1, 77) and "pertoken" not in done.stderr:
        raise Skip("no disk can be mounted here")
    expect(done.returncode != 78, "the disk does not hold just the existing workbook")
    expect(done.returncode == MACHINE_FAILED, f"exit {done.returncode}: {done.stderr}")
    expect("error:" in done.stderr, "no message")


def try_full_stdout(folder):
    write_base(folder)
    for form in ("table", "csv", "json"):
        with open("/dev/full", "wb") as full:
            _, errors = run(folder, "compare", SCENARIO, "--format", form, stdout=full,
                            status=MACHINE_FAILED)
        expect("error:" in errors, f"no message for --format {form}")


def try_no_target(folder):
    write_base(folder)
    refused_report(folder, "")
    expect(listing(folder) == [SCENARIO], "files were left")


# The command line itself.

COMMAND_LINES = [
    ((), "pertoken"),
    (("compre", SCENARIO), "did you mean.*compare"),
    (("compare",), "(?i)scenario"),
    (("compare", SCENARIO, "extra.ini"), "extra.ini"),
    (("compare", SCENARIO, "--format", "xml"), "xml"),
    (("compare", SCENARIO, "--formt", "csv"), "formt"),
    (("report", SCENARIO, "-o"), "-- 'o'|-o"),
]


def try_command_lines(folder):
    write_base(folder)
    for arguments, message in COMMAND_LINES:
        out, errors = run(folder, *arguments, status=BAD_INPUT)
        expect(re.search(message, errors), f"no {message!r} for {arguments}: {errors[-500:]}")
        expect(not out, f"{arguments} printed to stdout")
    expect(listing(folder) == [SCENARIO], "files were left")


OTHERS = [
    ("text like a formula", try_formula_like),
    ("target in a missing folder", try_missing_folder),
    ("folder as target", try_folder_as_target),
    ("pipe as target", try_pipe_as_target),
    ("target below /proc", try_proc_as_target),
    ("unwritable folder", try_unwritable_folder),
    ("unwritable file", try_unwritable_file),
    ("limit on file size", try_file_size_limit),
    ("full disk", try_full_disk),
    ("full standard output", try_full_stdout),
    ("no target", try_no_target),
    ("command lines", try_command_lines),
]


def every_test():
    for case in CASES:
        yield case.name, lambda folder, case=case: try_bad(case, folder)
    for name, text in FINE:
        yield name, lambda folder, text=text: try_fine(text, folder)
    yield from OTHERS


def in_folder(test):
    with tempfile.TemporaryDirectory(prefix="pertoken-bad-input-") as parent:
        folder = pathlib.Path(parent) / "work"
        folder.mkdir()
        test(folder)


def main():
    wanted = sys.argv[1:]
    count = Count()
    for name, test in every_test():
        if not wanted or any(word in name for word in wanted):
            count.test(name, in_folder, test)
    count.finish()


if __name__ == "__main__":
    main()
