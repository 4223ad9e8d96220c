#!/usr/bin/python3
"""Is what people read spelled right, free of phrasings that no native writer would use, and short?

Texts are the programs' strings, the cost model's labels, the browser's page, the examples' titles,
labels and comments, README.md, docs/ and the other pages with the outputs they show, make's help, what
setup.sh and the packaging print, and the catalogues' texts. Each word is one of en_US (hunspell) or of
support/words.txt; no text, nor a comment of the sources, has a phrasing of support/phrasings.txt; no
sentence of a page has more than MAX_WORDS words. Each phrasing must be found in its own bad example.

Seconds: 4
"""
import csv
import functools
import re
import shutil
import subprocess

from support.program import Count, ROOT, Skip, expect

MAX_WORDS = 35
SUPPORT = ROOT / 'tests' / 'checks' / 'support'
WORDS = SUPPORT / 'words.txt'
PHRASINGS = SUPPORT / 'phrasings.txt'
PROGRAM = ('base', 'kernels', 'model', 'probe', 'reports')
CATALOGUE = ('item', 'says', 'subject', 'conditions', 'qualifier', 'doubt', 'how', 'notes')  # not what others wrote
COMMENT = re.compile(r'(?:^[ \t]*//[^\n]*\n)+|//[^\n]*|/\*.*?\*/', re.S | re.M)
TEMPLATE = re.compile(r'`((?:\\.|\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}|[^`\\])*)`', re.S)
TOKEN = re.compile(r'''//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|[^\s\w]''', re.S)
CONVERSION = re.compile(r'%[-+ #0]*[\d*]*(?:\.[\d*]+)?(?:hh|h|ll|l|z|j|t)?[diouxXeEfgGcsp]')
WORD = re.compile(r"(?<![\w.])[A-Za-z]+(?:['’][a-z]+)?(?!\w)")


# ---- texts: (where, text)

def strings_of(path):
    """A C or JavaScript source's strings as text; adjacent ones are joined."""
    parts, line = [], 1
    source = path.read_text()
    for match in TOKEN.finditer(source):
        token = match.group()
        if token[0] == '"' or (token[0] == "'" and path.suffix == '.js' and len(token) > 2):
            line = line if parts else source.count('\n', 0, match.start()) + 1
            parts.append(token[1:-1])
        elif token.startswith('PRI') and parts:
            parts.append('u')
        elif not token.startswith(('//', '/*')) and parts:
            yield line, ''.join(parts)
            parts = []
    if parts:
        yield line, ''.join(parts)


def templates_of(source):
    """A JavaScript source's template literals, with % for placeholders and without the page's tags."""
    for match in TEMPLATE.finditer(re.sub(r'//[^\n]*', '', source)):
        filled = re.sub(r'\$\{(?:[^{}`]|`[^`]*`|\{[^{}]*\})*\}', '%', match[1])
        yield source.count('\n', 0, source.find(match[0])) + 1, re.sub(r'<[^>]*>', ' ', filled)


def said(text):
    """Does a person read the string: has it several words, or a capital?"""
    return re.search(r'[a-z]{2,}[,:;]? [a-z%(]|^[A-Z][a-z]+( |$)', text) is not None


def plain(text):
    text = re.sub(r'\\[nvt"\\]', ' ', CONVERSION.sub('%', text))
    return re.sub(r'https?:\S+', ' ', text)


def program_texts():
    for room in PROGRAM:
        for path in sorted((ROOT / room).rglob('*')):
            if path.suffix in ('.c', '.h', '.js') and 'device' not in path.parts:
                for line, text in strings_of(path):
                    if said(text):
                        yield f'{path.relative_to(ROOT)}:{line}', plain(text)


def script_texts():
    for path in sorted((ROOT / 'reports' / 'page').glob('*.js')):
        for line, text in templates_of(path.read_text()):
            if said(text):
                yield f'{path.relative_to(ROOT)}:{line}', text


def tool_texts():
    """The text of `make help`, setup.sh, the packages, and the pages and completions made from --help."""
    paths = [ROOT / 'Makefile', *ROOT.glob('*.mk'), *(ROOT / 'packaging').iterdir(), ROOT / 'tests/support/setup.sh']
    for path in sorted(paths):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'[a-z][\w-]*:[^#]*## (.*)', line) or re.match(r'( ?[A-Z][^$]*\.)$', line)
            shown = path.suffix == '.awk' or re.search(r'\b(echo|printf|fail)\b', line)
            texts = [match[1]] if match else [a or b for a, b in re.findall(r'"((?:\\.|[^"\\])*)"|\'([^\']*)\'', line)]
            for text in texts:
                if match or (shown and re.search(r'^(?!print).*[a-z]{2,} [a-z]{2,} [a-z]{2,}', text) and not re.search(r' -[a-z] ', text)):
                    yield f'{path.relative_to(ROOT)}:{number}', re.sub(r'\$\([^)]*\)|\$\{[^}]*\}|\$\w+|`[^`]*`', '%', text)


def catalogue_texts():
    """Each text once: many rows have the same note."""
    found = {}
    for path in sorted((ROOT / 'data').glob('*.csv')):
        with path.open(newline='') as file:
            for row in csv.DictReader(file):
                for column in CATALOGUE:
                    found.setdefault(row.get(column), f'{path.relative_to(ROOT)}, {row["id"]}')
    yield from ((where, text) for text, where in found.items() if text)


def comments():
    """The sources' comments, each block as one text."""
    for room in PROGRAM:
        for path in sorted((ROOT / room).rglob('*')):
            if path.suffix in ('.c', '.h', '.js'):
                source = path.read_text()
                for match in COMMENT.finditer(source):
                    line = source.count('\n', 0, match.start()) + 1
                    yield f'{path.relative_to(ROOT)}:{line}', re.sub(r'\s*\n\s*//\s?|^\s*//\s*', ' ', match[0]).strip()


def scenario_texts():
    """The texts that an INI file shows or that explain it: titles, labels, comments."""
    files = [ROOT / 'model' / 'cost' / 'tco.ini', *sorted((ROOT / 'examples').rglob('*.ini'))]
    for path in files:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            match = re.match(r'(?:(?:label|title|notice) *=|;)(.*)', line)
            if match:
                yield f'{path.relative_to(ROOT)}:{number}', re.sub(r'https?:\S+', ' ', match[1])


def page_texts():
    """The browser's page without its tags."""
    path = ROOT / 'reports' / 'page' / 'page.html'
    text = re.sub(r'<(script|style).*?</\1>', ' ', path.read_text(), flags=re.S)
    for number, line in enumerate(re.sub(r'<[^>]*>', ' ', text).splitlines(), 1):
        yield f'{path.relative_to(ROOT)}:{number}', line


def pages():
    return [ROOT / 'README.md', ROOT / 'data' / 'README.md', ROOT / 'tests' / 'README.md',
            *sorted((ROOT / 'docs').glob('*.md'))]


def paragraphs(text):
    """A page's paragraphs, items, headings and cells, each with its line; code is 'CODE'."""
    text = re.sub(r'^```.*?^```$', lambda match: '\n' * match.group().count('\n'), text, flags=re.S | re.M)
    start, lines = 0, []
    for number, line in enumerate([*text.splitlines(), ''], 1):
        opens = re.match(r'\s*([-*] |\d+\. |#+ |\||>)', line)
        if (opens or not line.strip()) and lines:
            yield start, ' '.join(lines)
            lines = []
        if line.startswith('|'):
            yield from ((number, cell) for cell in re.split(r'\||<br>', line) if not re.fullmatch(r'[\s:-]*', cell))
        elif line.strip():
            start = start if lines else number
            lines.append(re.sub(r'^([-*] |\d+\. |#+ )', '', line.strip()))


def shown_outputs():
    """The program output shown on the pages, where texts composed of parts are complete."""
    for path in pages():
        inside = False
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if line.startswith('```'):
                inside = not inside
            elif inside and not line.startswith('$'):
                yield f'{path.relative_to(ROOT)}:{number}', re.sub(r"'[^']*'", ' ', line)


def prose(text):
    text = re.sub(r'`[^`]*`', 'CODE', text)
    text = re.sub(r'!?\[([^\]]*)\]\([^)]*\)', r'\1', text)
    return re.sub(r'https?:\S+|\*\*?', '', text)


def page_paragraphs():
    for path in pages():
        for line, text in paragraphs(path.read_text()):
            yield f'{path.relative_to(ROOT)}:{line}', prose(text)


@functools.cache
def all_texts():
    return [*program_texts(), *script_texts(), *tool_texts(), *catalogue_texts(), *scenario_texts(), *page_texts(),
            *page_paragraphs(), *shown_outputs()]


# ---- what is wrong with them

def misspelled(words):
    """Words that neither the dictionary nor the field's list has."""
    if not shutil.which('hunspell'):
        raise Skip('hunspell is missing')
    done = subprocess.run(['hunspell', '-l', '-i', 'utf-8', '-d', 'en_US'], input='\n'.join(sorted(words)),
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skip(f'hunspell has no dictionary en_US: {done.stderr.strip()}')
    known = own_words()
    return {word for word in done.stdout.split() if word not in known and word.lower() not in known}


def own_words():
    return {line.strip() for line in WORDS.read_text().splitlines() if line.strip() and line[0] != '#'}


def words_of(text):
    """Its words without names of keys, files and options, and without short acronyms."""
    text = re.sub(r'\S*[_/=<>{}@\\]\S*|--?[a-z][-\w]*|\S+\.[a-z]{1,4}\b|\'%\'|\b\w+\.\w+', ' ', text)
    return {word.replace('’', "'") for word in WORD.findall(text) if len(word) > 2 and not word.isupper()}


def phrasings(part=slice(None)):
    """(pattern, what to say instead, a bad example) of each line 'PATTERN => INSTEAD # EXAMPLE'."""
    for line in '\n'.join(PHRASINGS.read_text().split('\nTEXTS\n')[part]).splitlines():
        if line and line[0] != '#':
            pattern, _, rest = line.partition(' => ')
            instead, _, example = rest.partition(' # ')
            yield re.compile(pattern, re.I), instead, example


def badly_said(text):
    return [instead for pattern, instead, _ in phrasings() if pattern.search(text)]


def long_sentences(text):
    """Sentences over MAX_WORDS words; one ends at a full stop, a question mark or an exclamation mark."""
    text = re.sub(r'\b(e\.g|i\.e|etc|vs|no|No)\.', r'\1', text)
    for sentence in re.split(r'(?<=[.!?])[)*"”]?\s+(?=[A-Z`*("\[])', text):
        count = len(re.findall(r"[\w%'’./+-]*\w[\w%'’./+-]*", sentence))
        if count > MAX_WORDS:
            yield count, sentence.strip()


# ---- tests

def test_spelling():
    found = {}
    for where, text in all_texts():
        for word in words_of(text):
            found.setdefault(word, where)
    wrong = misspelled(found)
    expect(not wrong, '\n'.join(f'{found[word]}: {word}' for word in sorted(wrong)))


def test_phrasings():
    parts = (all_texts(), list(phrasings())), (comments(), list(phrasings(slice(1))))
    faults = []
    for texts, patterns in parts:
        some = re.compile('|'.join(f'(?:{pattern.pattern})' for pattern, _, _ in patterns), re.I)
        faults += [f'{where}: {match.group()!r}: {instead}' for where, text in texts if some.search(text)
                   for pattern, instead, _ in patterns for match in pattern.finditer(text)]
    expect(not faults, '\n'.join(faults))


def test_sentences():
    faults = [f'{where}: {count} words: {sentence}' for where, text in page_paragraphs()
              for count, sentence in long_sentences(text)]
    expect(not faults, '\n'.join(faults))


def test_it_notices():
    """A bad word, each bad phrasing and a long sentence are found; good ones are not."""
    for pattern, _, example in phrasings():
        expect(example and pattern.search(example), f'{pattern.pattern!r} does not find its example {example!r}')
    expect(badly_said('TDP for want of a measurement'), 'a bad phrasing went unnoticed')
    expect(not badly_said('TDP, as no measurement is available'), 'a good phrasing was refused')
    sentence = 'one ' * MAX_WORDS
    expect(not list(long_sentences(f'{sentence.strip()}.')), 'a sentence of the most words was refused')
    expect(list(long_sentences(f'Short. {sentence.capitalize()}more.')), 'a long sentence went unnoticed')
    page = '- an item `of code`\n- another\n\n| a cell | the next |\n'
    texts = [prose(text).strip() for _, text in paragraphs(page)]
    expect(texts == ['an item CODE', 'another', 'a cell', 'the next'], texts)
    script = 'text = `<b>Over ${years > 1 ? `${years} years` : "a year"}</b> ${name} cost least`  // `no text`'
    expect([text.split() for _, text in templates_of(script)] == ['Over % % cost least'.split()], list(templates_of(script)))
    expect(all(next(texts(), None) for texts in (script_texts, tool_texts, catalogue_texts, comments)), 'a room is empty')
    expect(misspelled({'accelerator', 'acelerator'}) == {'acelerator'}, 'a misspelled word went unnoticed')


if __name__ == '__main__':
    counted = Count()
    counted.tests(globals())
    counted.finish()
