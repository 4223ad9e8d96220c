#!/usr/bin/python3
"""Writes docs/reference.md, every input and item of the cost model, from model/cost/tco.ini.

    reference.py [--check]

--check: writes nothing, and exits with 1 if the page differs from what would be written.
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MODEL = ROOT / 'model' / 'cost' / 'tco.ini'
PAGE = ROOT / 'docs' / 'reference.md'
KINDS = ('input', 'item', 'series', 'check')
HEAD = '''[pertoken](../README.md) / reference

# Every input and item

This page is made from [model/cost/tco.ini](../model/cost/tco.ini) by `make reference`; a test holds it to that file. It lists
the {inputs} inputs that [a scenario](scenario-file.md) may state, and the {computed} lines that are computed from them. In a
scenario, an input belongs in `[common]`, in an `[option ID]` or in a `[case NAME]`, and so do its unit and its source. `pertoken
explain SCENARIO.ini OPTION.NAME` shows the formula of any line below with its numbers.
[Formulas and units](formulas.md) explains how they are written.

A name with `#` stands for several: `day_share_#` is `day_share_1` to `day_share_24`.
'''
INPUTS = '''
## Inputs

An input that is neither required nor has a default is optional: without it, what depends on it is left out, never taken as zero.
Where the default is a formula, it holds until the input is stated; of several, the first whose named inputs the option gives.
'''
COMPUTED = '''
## Computed lines

One number for each option unless the line is *per period*, which has a value for each period of the timeline. Where several
formulas are given, the first holds whose named inputs the option gives. A sum *of those present* leaves out what the option
does not have.
'''


def sections(text):
    """(kind, name, keys) of each section in its order; without a group of its own, one has the group before it."""
    found = []
    for line in text.splitlines():
        if head := re.fullmatch(r'\[(\w+) (\S+)\]', line):
            inherited = {'group': found[-1][2].get('group')} if found and head[1] in KINDS[:3] else {}
            found.append((head[1], head[2], inherited))
        elif match := re.match(r'(\w+) *= *(.*)', line):
            found[-1][2][match[1]] = match[2]
    return found


def name_of(name):
    return re.sub(r'\d+\.\.\d+$', '#', name)


def limits(keys):
    parts = [f'above {keys["above"]}' if 'above' in keys else '', f'at least {keys["min"]}' if 'min' in keys else '',
             f'at most {keys["max"]}' if 'max' in keys else '', 'whole' if keys.get('integer') else '']
    return ', '.join(part for part in parts if part)


def choices(keys):
    """The words that an input accepts, 'staged' and 'upfront' for staged:1 upfront:0."""
    return ' or '.join(f'`{word.partition(":")[0]}`' for word in keys.get('choices', '').split())


def default(keys):
    if keys.get('required') and 'formula' not in keys:
        return '*required*' + (f'; {keys["rent_default"]} if rented' if 'rent_default' in keys else '')
    if 'formula' in keys:
        return formulas(keys)
    return keys.get('default', '')


def only(keys):
    """When an input can be stated at all."""
    parts = [f'with `{keys[key]}`' for key in ('only_with', 'idle_without') if key in keys]
    parts += [f'not with `{keys["absent_with"]}`' if 'absent_with' in keys else '',
              'not for rented accelerators' if keys.get('in_rent') else '',
              'by year or step' if 'schedule' in keys else '']
    return '; '.join(part for part in parts if part)


def needed(text):
    """The inputs that a formula needs, of 'A B | C': A and B, or C."""
    lists = [', '.join(f'`{name}`' for name in part.split()) for part in text.split('|')]
    choice = ', or ' if any(', ' in names for names in lists) else ' or '
    return choice.join(re.sub(r', (?=[^,]*$)', ' and ', names) for names in lists)


def formulas(keys):
    """Each formula, in the order in which they are tried, with what an option must give for it."""
    lines = []
    for key in keys:
        if re.fullmatch(r'(or_)?formula(_\d)?', key):
            needs = keys.get(key.replace('formula', 'needs'))
            lines.append(f'`{keys[key]}`' + (f' with {needed(needs)}' if needs else ''))
    return '<br>'.join(lines)


def row(*cells):
    return '| ' + ' | '.join(cell.replace('|', '\\|') for cell in cells) + ' |'


def table(head, rows):
    return '\n'.join([row(*head), '|' + '---|' * len(head), *rows])


def by_group(declared, groups, kinds, head, row_of):
    for group, label in groups.items():
        rows = [row_of(kind, name, keys) for kind, name, keys in declared
                if kind in kinds and keys.get('group', kind) == group]
        if rows:
            yield f'\n### {label}\n\n{table(head, rows)}\n'


def input_row(_, name, keys):
    return row(f'`{name_of(name)}`', keys['label'], keys.get('unit', ''),
               choices(keys) or limits(keys), default(keys), only(keys))


def computed_row(kind, name, keys):
    label = (keys['label'] + (', *per period*' if kind == 'series' else '')
             + (', *of those present*' if 'of_those_present' in keys else ''))
    return row(f'`{name_of(name)}`', label, keys.get('unit', ''), formulas(keys))


def page(text):
    declared = sections(text)
    groups = {name: keys['label'] for kind, name, keys in declared if kind == 'group'}
    count = {kind: sum(one == kind for one, _, _ in declared) for kind in KINDS}
    parts = [HEAD.format(inputs=count['input'], computed=sum(count.values()) - count['input']), INPUTS,
             *by_group(declared, groups, ('input',), ('input', 'what it is', 'unit', 'takes', 'default', 'only'),
                       input_row),
             COMPUTED,
             *by_group(declared, groups, KINDS[1:], ('line', 'what it is', 'unit', 'formula'), computed_row)]
    return ''.join(parts)


def main():
    text = page(MODEL.read_text())
    if sys.argv[1:] == ['--check']:
        sys.exit(PAGE.read_text() != text and f'{PAGE} is out of date: run make reference')
    PAGE.write_text(text)


if __name__ == '__main__':
    main()
