#!/usr/bin/python3
"""Compares the pages for users, README.md and docs/, with what they describe.

    check_readme.py [WORD...]

- Every command that is shown with its output is run, and its output compared. A block marked ```console
contains lines "$ COMMAND" and the output they print; a line "..." stands for omitted lines.
- A complete scenario that is shown is read without an error.
- Every relative link leads to an existing file, and to a heading in it if one is named.
- Every page in docs/ is linked from the README, and links back to it.

WORD: only tests whose names contain it. Last line: N passed, N failed, N skipped.
"""
import difflib
import functools
import re
import subprocess
import sys
import tempfile

from support.program import Count, DONE, ROOT, expect, expect_exit, run, settings

README = ROOT / 'README.md'
DOCS = sorted((ROOT / 'docs').glob('*.md'))
PAGES = [README, *DOCS, ROOT / 'data' / 'README.md']
LINK = re.compile(r'!?\[[^\]]*\]\(([^)\s]+)\)')


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page, language):
    return re.findall(rf'^```{language}\n(.*?)^```', page.read_text(), re.S | re.M)


# ---- commands

def shown_commands(page):
    for block in blocks(page, 'console'):
        for part in re.split(r'^\$ ', block, flags=re.M)[1:]:
            command, _, output = part.partition('\n')
            yield command, output.rstrip('\n')


@functools.cache
def real_output(command):
    done = subprocess.run(command, shell=True, cwd=ROOT, env=settings({'NO_COLOR': 1}), text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.rstrip('\n')


def matches(shown, real):
    pattern = ''.join(
        r'(?:.*\n)*?' if line == '...' else re.escape(line) + r'[ ]*\n' for line in shown.split('\n')
    )
    return re.fullmatch(pattern, real + '\n') is not None


def command_prints(command, shown):
    real = real_output(command)
    difference = difflib.unified_diff(shown.split('\n'), real.split('\n'), 'shown', 'real', lineterm='')
    expect(matches(shown, real), '\n'.join(difference))


# ---- scenarios

def whole_scenarios(page):
    return [block for block in blocks(page, 'ini')
            if re.search(r'^\[scenario\]', block, re.M) and re.search(r'^\[option ', block, re.M)]


def scenario_is_read(text):
    with tempfile.NamedTemporaryFile('w', suffix='.ini') as file:
        file.write(text)
        file.flush()
        expect_exit(run('compare', file.name, '-q'), DONE)


# ---- links

def prose(page):
    """A page's text without blocks of code, in which brackets are not links and # not headings."""
    return re.sub(r'^```.*?^```', '', page.read_text(), flags=re.S | re.M)


@functools.cache
def anchors(page):
    """The anchors of a page's headings, as GitHub generates them."""
    found = set()
    for heading in re.findall(r'^#+ +(.*)$', prose(page), re.M):
        words = re.sub(r'[^\w\- ]', '', heading.lower()).replace(' ', '-')
        repeated = sum(bool(re.fullmatch(rf'{re.escape(words)}(-\d+)?', anchor)) for anchor in found)
        found.add(f'{words}-{repeated}' if repeated else words)
    return found


def links(page):
    """(address, file, anchor) of the page's links to files of the project."""
    for address in LINK.findall(prose(page)):
        if not re.match(r'[a-z]+:', address):
            path, _, anchor = address.partition('#')
            yield address, (page.parent / path).resolve() if path else page, anchor


def links_lead_somewhere(page):
    for address, file, anchor in links(page):
        expect(file.is_relative_to(ROOT) and file.exists(), f'{address}: there is no such file')
        expect(not anchor or anchor in anchors(file), f'{address}: there is no such heading')


def leads_to(page, other):
    expect(any(file == other for _, file, _ in links(page)), f'no link to {name_of(other)}')


def main():
    count, words = Count(), sys.argv[1:]

    def test(name, *check):
        if all(word in name for word in words):
            count.test(name, *check)

    for page in PAGES:
        for command, shown in shown_commands(page):
            test(f'{name_of(page)}: $ {command}', command_prints, command, shown)
        for number, text in enumerate(whole_scenarios(page), 1):
            test(f'{name_of(page)}: the scenario shown, {number}', scenario_is_read, text)
        test(f'{name_of(page)}: its links', links_lead_somewhere, page)
    for page in DOCS:
        test(f'README.md: a link to {name_of(page)}', leads_to, README, page)
        test(f'{name_of(page)}: a link back', leads_to, page, README)
    count.finish()


if __name__ == '__main__':
    main()
