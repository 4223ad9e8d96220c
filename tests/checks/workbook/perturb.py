"""Random but repeatable changes of a workbook's inputs, near their values and within limits."""
import re

NUMBER_OF_INPUTS = 6
TRIES = 20
COUNTS = {'gpu', 'node', 'gpu/node'}
# The replacement of an input that is zero, in its display unit (percentages as fractions).
FROM_ZERO = {'%': 0.05, '%/yr': 0.03, 'gpu': 8, 'node': 2, 'FTE': 1, 'USD': 20000, 'USD/gpu': 500,
             'USD/node': 20000, 'USD/kW': 800, 'USD/kWh': 0.07, 'USD/gpu/h': 0.5,
             'USD/kW/month': 12, 'USD/gpu/yr': 150, 'USD/FTE/yr': 150000, 'W/gpu': 120,
             'L/kWh': 1.2, 'USD/m3': 2, 'Mtok/yr': 1e7, 'token/s/gpu': 1000}


class Change:
    """One input set to a value: text is what follows KEY= on pertoken's command line."""

    def __init__(self, entry, value, text):
        self.key, self.value, self.text = entry.key, value, text


def candidates(inputs):
    """The inputs that hold a value of their own in base, and may be typed over."""
    cells = [(entry, inputs.sheet.cell(*entry.cells['base'])) for entry in inputs.all]
    return [entry for entry, cell in cells if cell.formula is None and not cell.style.locked]


def draw(random, book, inputs, entries, case):
    """A handful of changes of one case's inputs."""
    changes = (change(random, book, inputs, entry, case)
               for entry in random.sample(entries, min(NUMBER_OF_INPUTS, len(entries))))
    return [made for made in changes if made]


def change(random, book, inputs, entry, case):
    """None if nothing can be drawn: a text without a list, or no value within the limits."""
    limits = inputs.validation(*entry.cells[case])
    old = inputs.sheet.value(*entry.cells[case])
    if isinstance(old, str) or (limits and limits.kind == 'list'):
        return choice(random, book, inputs, entry, limits)
    whole = entry.unit in COUNTS or entry.key == 'horizon' or (limits and limits.kind == 'whole')
    percent = 100 if entry.unit.startswith('%') else 1
    for _ in range(TRIES):
        if entry.key.rpartition('.')[2] == 'horizon':
            shown = float(random.randint(1, 7))
        else:
            shown = (old or FROM_ZERO.get(entry.unit, 1)) * random.uniform(0.6, 1.6) * percent
            shown = float(round(shown) if whole else f'{shown:.6g}')
        value = shown / percent
        if limits is None or limits.allows(value):
            unit = '' if entry.unit in ('', '-') else ' ' + entry.unit
            return Change(entry, value, f'{shown!r}{unit}')
    return None


def choice(random, book, inputs, entry, limits):
    """From a list: texts, or numbers that the error text names as in "1 (metered) or 0
    (included)"."""
    choices = limits.choices(book, inputs.sheet) if limits else []
    if not choices:
        return None
    text = random.choice(choices)
    named = dict(re.findall(r'(\S+) \((\w+)\)', limits.error))
    if text in named:
        return Change(entry, float(text), named[text])
    return Change(entry, text, text)
