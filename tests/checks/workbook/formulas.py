"""A formula's tokens, precedents and relative form: enough for judging formulas."""
import functools
import re

import xlsx

TOKEN = re.compile(r'''
    (?P<text>"(?:[^"]|"")*")
  | (?P<ref>(?P<sheet>(?:'(?:[^']|'')+'|[A-Za-z_][\w.]*)!)?
        (?P<area>\$?[A-Z]{1,3}\$?\d+(?::\$?[A-Z]{1,3}\$?\d+)?))(?![\w(.])
  | (?P<function>[A-Za-z_][\w.]*)(?=\()
  | (?P<name>[A-Za-z_][\w.]*)
  | (?P<number>\d+(?:\.\d*)?(?:[eE][-+]?\d+)?|\.\d+)
  | (?P<operator><>|<=|>=|[-+*/^&=<>%])
  | (?P<bracket>[(),])
  | (?P<space>\s+)
  | (?P<other>.)''', re.X)


class Token:
    __slots__ = ('kind', 'text', 'sheet', 'area', 'depth')

    def __init__(self, match, depth):
        self.kind, self.text, self.depth = match.lastgroup, match.group(0), depth
        self.sheet = (match['sheet'] or '').rstrip('!').strip("'").replace("''", "'")
        self.area = (match['area'] or '').replace('$', '')


@functools.lru_cache(maxsize=None)
def tokens(formula):
    """Brackets and commas have the depth of what they enclose."""
    found, depth = [], 0
    for match in TOKEN.finditer(formula):
        depth += match.group(0) == '('
        found.append(Token(match, depth))
        depth -= match.group(0) == ')'
    return [token for token in found if token.kind != 'space']


def functions(formula):
    return [token.text.upper() for token in tokens(formula) if token.kind == 'function']


def arguments(formula, function):
    """The tokens of each argument of each call of a function: [[tokens, tokens...], ...]."""
    found, calls = tokens(formula), []
    for start, token in enumerate(found):
        if token.kind != 'function' or token.text.upper() != function:
            continue
        depth, call = token.depth + 1, [[]]
        for inner in found[start + 2:]:
            if inner.text == ')' and inner.depth == depth:
                break
            if inner.text == ',' and inner.depth == depth:
                call.append([])
            else:
                call[-1].append(inner)
        calls.append(call)
    return calls


def precedents(book, sheet, formula):
    """(sheet name, top, left, bottom, right) of everything a formula reads, names resolved."""
    names = by_name(book)
    for token in tokens(formula):
        if token.kind == 'ref':
            yield (token.sheet or sheet, *xlsx.area(token.area))
        elif token.kind == 'name' and token.text.lower() in names:
            name = names[token.text.lower()]
            if re.fullmatch(r'[A-Z]+\d+(:[A-Z]+\d+)?', name.ref):
                yield (name.sheet, *xlsx.area(name.ref))


def by_name(book):
    """The book's names by their lower-case spelling, built once."""
    if not hasattr(book, 'names_by_key'):
        book.names_by_key = {name.name.lower(): name for name in book.names}
    return book.names_by_key


def relative(formula, row, column):
    """The formula with its relative references as offsets: equal where the formula is the same."""
    def offset(match):
        if match.lastgroup != 'ref':
            return match.group(0)
        area = re.sub(r'(\$?)([A-Z]+)(\$?)(\d+)', part, match['area'])
        return (match['sheet'] or '') + area

    def part(match):
        r, c = xlsx.position(match.group(2) + match.group(4))
        across = f'C{c}' if match[1] else f'C[{c - column}]'
        return across + (f'R{r}' if match[3] else f'R[{r - row}]')
    return TOKEN.sub(offset, formula)
