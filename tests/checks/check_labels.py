#!/usr/bin/python3
"""The labels of a scenario's options are on every face, and programs find the ids.

check_recalculation checks, with everything.ini, that a workbook's sentence still follows from its cells.
"""
import html
import re
import zipfile

from support.program import BAD_INPUT, DONE, ROOT, expect, expect_exit, run, run_csv, run_json, run_tests
BASE = re.sub(r'(?m)^label = .*\n', '', (ROOT / 'examples/mi325x-vs-h200.ini').read_text())
LABELS = {'h200': 'H200 as it is', 'mi325x': 'MI325X, 800 GPUs'}
ODD = {'h200': 'x' * 150, 'mi325x': '🚀 عرض & <b>'}
LOOKS_LIKE_A_FORMULA = {'h200': '=H200+1', 'mi325x': '@MI325X'}


def labelled(folder, labels, name='labelled.ini'):
    text = BASE
    for id, label in labels.items():
        text = text.replace(f'[option {id}]\n', f'[option {id}]\nlabel = {label}\n')
    path = folder / name
    path.write_text(text, encoding='utf-8')
    return path


def texts_of(path):
    """All texts in a workbook, including its charts."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name).decode() for name in archive.namelist() if name.endswith('.xml')}


def test_terminal(folder):
    path = labelled(folder, LABELS)
    commands = [('compare',), ('explain', 'mi325x.tco'), ('explain', 'mi325x.saving'), ('sensitivity',), ('finance',),
                ('solve', '--option', 'mi325x', '--for', 'list_price')]
    for command, *rest in commands:
        done = run(command, path, *rest)
        expect_exit(done, DONE, LABELS['mi325x'])
        sentences = re.sub(r'mi325x[.-]\S+|mi325x-vs\S*', '', done.stdout)
        expect('mi325x' not in sentences, f'{command} has an id\n{done.stdout}')
    expect_exit(run('compare', path), DONE, 'Saving against H200 as it is')


# Every example that a command answers, without an option's id in the text.
COMMANDS = [('diff', 'h200-vs-b200.ini', '{0}', '{1}'), ('fit', 'interactive.ini'), ('rent', 'rent-or-own.ini'),
            ('wait', 'wait.ini'), ('route', 'portfolio.ini'), ('plan', 'portfolio.ini'), ('finance', 'own-rent-api.ini'),
            ('compare', 'interactive.ini', '{0}', '--all-cases'), ('sensitivity', 'input-output.ini')]


def relabelled(folder, example, name):
    """The example with options labeled First, Second, ...; and their ids."""
    text, ids = re.sub(r'(?m)^label = .*\n', '', (ROOT / 'examples' / example).read_text()), []

    def named(found):
        ids.append(found[1])
        return f'{found[0]}\nlabel = {ORDINALS[len(ids) - 1]} of all'

    path = folder / name
    path.write_text(re.sub(r'(?m)^\[option (\w+)\]$', named, text), encoding='utf-8')
    return path, ids


ORDINALS = ('First', 'Second', 'Third', 'Fourth', 'Fifth', 'Sixth')


def test_commands(folder):
    for command, example, *arguments in COMMANDS:
        path, ids = relabelled(folder, example, 'example.ini')
        if command == 'plan':
            path.write_text(path.read_text() + '[plan]\n')
        other = folder / 'other.ini'
        other.write_text(re.sub('(?m)^horizon .*', 'horizon = 2 yr', path.read_text()))
        arguments = [each.format(path, other) for each in arguments or ('{0}',)]
        done = run(command, *arguments, '-q')
        expect_exit(done, DONE, 'First of all')
        # With a dot or hyphen it is the name of an input or of a catalogue row.
        said = re.findall(rf'(?<![\w.-])(?:{"|".join(ids)})(?![\w.-])', done.stdout)
        expect(not said, f'{command} {example} says {set(said)}\n{done.stdout}')
        told = run_json(command, *arguments, '-q')
        labels = {option['id']: option['label'] for option in told['options']} if command == 'diff' else told['scenario']['labels']
        expect(set(labels) <= set(ids) and labels[ids[0]] == 'First of all', f'{command}: {labels}')
        if '--grid' not in arguments and command != 'diff':
            lines = run(command, *arguments, '-q', '--format', 'csv').stdout.splitlines()
            expect(any(ids[0] in line and '"First of all"' in line for line in lines), f'CSV of {command} has no label')


RANGES = '[range]\nmi325x.discount = uniform(10, 20) %\nelectricity_price = uniform(0.06, 0.1) USD/kWh\n'


def test_draws(folder):
    """simulate, and merge of its shards, which have no scenario; programs find the ids."""
    path, parts = labelled(folder, LABELS), [folder / f'{number}.json' for number in (1, 2)]
    path.write_text(path.read_text() + RANGES)
    plain = labelled(folder, {}, 'plain.ini')
    plain.write_text(plain.read_text() + RANGES)
    for number, part in enumerate(parts, 1):
        expect_exit(run('simulate', path, '-q', '--draws', '4096', '--shard', f'{number}/2', '-o', part), DONE)
    whole, merged = run('simulate', path, '-q', '--draws', '4096'), run('merge', *parts, '-q')
    for done in (whole, merged):
        expect_exit(done, DONE, 'MI325X, 800 GPUs in', 'Drivers of the saving of MI325X, 800 GPUs')
        sentences = re.sub(r'mi325x[.-]\S+|mi325x-vs\S*', '', done.stdout)
        expect('mi325x' not in sentences, f'an id\n{done.stdout}')
    told, other = (run_json('simulate', one, '-q', '--draws', '4096') for one in (path, plain))
    expect(told['outcomes'] == other['outcomes'] and told['cheapest'] == other['cheapest'], 'a label moves an outcome')
    odd = labelled(folder, ODD, 'odd.ini')
    odd.write_text(odd.read_text() + RANGES)
    expect_exit(run('simulate', odd, '-q', '--draws', '4096'), DONE, 'Option: h200 is')


def test_machines(folder):
    """JSON is the same except for labels and text; CSV has the ids and, in addition, the labels."""
    path = labelled(folder, LABELS)
    plain, named = (run_json('compare', it) for it in (labelled(folder, {}, 'plain.ini'), path))
    expect([option['label'] for option in plain['options']] == list(LABELS), 'a label without one')
    expect([option['label'] for option in named['options']] == list(LABELS.values()), 'labels')
    for key in ('saving', 'saving_levelised', 'baseline', 'cheapest', 'units'):
        expect(plain[key] == named[key], key)
    expect([option['items'] for option in plain['options']] == [option['items'] for option in named['options']], 'items')
    expect('MI325X, 800 GPUs costs least' in named['answer'], named['answer'])
    rows = run_csv('compare', path)
    expect({row['option'] for row in rows} >= set(LABELS), 'ids of CSV')
    expect({row['option']: row['value'] for row in rows if row['item'] == 'label'} == LABELS, 'labels of CSV')


def test_workbook(folder):
    for number, labels in enumerate((LABELS, ODD, LOOKS_LIKE_A_FORMULA)):
        out = folder / f'{number}.xlsx'
        expect_exit(run('report', labelled(folder, labels), '-q', '-o', out), DONE)
        texts = texts_of(out)
        for label in labels.values():
            escaped = label.replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
            expect(escaped in texts['xl/sharedStrings.xml'], f'{label} is in no cell')
            drawn = escaped if len(label) <= 40 else f'{label[:26]}\u2026{label[-13:]}'
            expect(any(f'<c:v>{drawn}</c:v>' in text or f'<c:v> {drawn}</c:v>' in text
                       for name, text in texts.items() if '/charts/' in name), f'{label} is in no chart')
        baseline = labels['h200'].replace('&', '&amp;').replace('<', '&lt;').replace('>', '&gt;')
        expect(f'Saving per token against {baseline}' in texts['xl/sharedStrings.xml'], 'the Cover names the baseline otherwise')


EQUAL = '''\
[scenario]
title = As dear as each other
date = 2026-11-20
[common]
accelerators = 8
utilization = 60 %
pue = 1.4
electricity_price = 0.10 USD/kWh
throughput = 2000 token/s
list_price = 30000 USD
''' + ''.join(f'[option {id}]\naccelerator = h200-sxm-141\n' for id in 'abc') + \
    '[option d]\naccelerator = h200-sxm-141\nlist_price = 40000 USD\n[case same]\nd.list_price = 40000 USD\n'


def test_lists(folder):
    """A comma in a label is none between two options."""
    path, out = folder / 'equal.ini', folder / 'equal.xlsx'
    for label, first in ('A', 'A, b'), ('A, 8 GPUs', 'A, 8 GPUs; b'):
        path.write_text(EQUAL.replace('[option a]\n', f'[option a]\nlabel = {label}\n'))
        between = first[len(label):-1]
        expect_exit(run('compare', path), DONE, f'{first} and c cost least', f'{first}{between}c{between}d: power under load')
        expect_exit(run('compare', path, '--all-cases'), DONE, f'{first}{between}c (equal)', f'Cheapest: {label} in 2{between}b in 2')
        expect_exit(run('report', path, '-q', '-o', out), DONE)
        texts = texts_of(out)
        expect(f'{first}{between}c (equal)' in ''.join(texts.values()), 'not in the workbook')
        expect_exit(run('page', path, '-q', '-o', folder / 'equal.html'), DONE)
        expect(f'"between":"{between}"' in (folder / 'equal.html').read_text(), 'not on the page')


def tabs_of(texts):
    return [html.unescape(name) for name in re.findall(r'<sheet name="([^"]*)"', texts['xl/workbook.xml'])]


# The labels of two options and the names of their sheets: at most 31 UTF-16 units, without []:*?/\', distinct.
TABS = [
    ('MI355X, 640 GPUs', 'H200 & B200 <mixed>', 'MI355X, 640 GPUs', 'H200 & B200 <mixed>'),
    ("Fred's [best]: a/b*c\\d?", 'Fred’s (best) - a-bxc-d', 'Fred’s (best) - a-bxc-d', 'Fred’s (best) - a-bxc-d (2)'),
    ('MI355X of the first vendor, 640 GPUs in Texas', 'MI355X of the first vendor, 640 GPUs in Ohio',
     'MI355X of the first vendor…', 'MI355X of the first… (2)'),
    ('inputs', 'History', 'inputs (2)', 'History (2)'), ('École', 'éCOLE', 'École', 'éCOLE (2)'),
    ('🚀' * 16, '???', '🚀' * 15 + '…', 'mi325x'), ('x' * 31, 'x' * 32, 'x' * 31, 'x' * 30 + '…'),
    ('سحابة الشركة', '\u202eH200', 'سحابة الشركة', 'H200'),
]


def test_tabs(folder):
    for number, (first, second, *tabs) in enumerate(TABS):
        out = folder / f'tabs-{number}.xlsx'
        path = labelled(folder, {'h200': first, 'mi325x': second}, 'tabs.ini')
        expect_exit(run('report', path, '-q', '-o', out), DONE)
        texts = texts_of(out)
        there = tabs_of(texts)
        expect(there[4:6] == tabs, f'{first}, {second}: {there}')
        defined = re.findall(r"<definedName [^>]*>'([^']*)'!", texts['xl/workbook.xml'])
        expect(set(tabs) <= {html.unescape(name) for name in defined} <= set(there), f'{first}: names refer to {set(defined)}')
        jumps = set(re.findall(r'''location="'([^"]*)'!A1"''', texts['xl/worksheets/sheet1.xml']))
        expect({html.unescape(name) for name in jumps} == set(there[1:]), f'{first}: the Cover leads to {jumps}')


def test_single(folder):
    """The Cover's sentence about a single option."""
    text = labelled(folder, {'h200': LABELS['h200']}).read_text()
    path, out = folder / 'single.ini', folder / 'single.xlsx'
    start = text.index('[option mi325x]')
    end = text.index('\n[', start) + 1
    path.write_text(text[:start] + re.sub(r'(?m)^mi325x\..*\n', '', text[end:]), encoding='utf-8')
    expect_exit(run('report', path, '-q', '-o', out), DONE)
    words = ' '.join(texts_of(out).values())
    expect('H200 as it is costs' in words and 'h200 costs' not in words, 'the sentence has the id')


def test_page(folder):
    out = folder / 'out.html'
    expect_exit(run('page', labelled(folder, LABELS), '-q', '-o', out), DONE)
    for label in LABELS.values():
        expect(label in out.read_text(), f'{label} is not on the page')


def test_no_room(folder):
    """A table has the id, and says what it stands for."""
    printed = run('compare', labelled(folder, ODD), '-q').stdout
    expect(re.search(r'Option: +h200 is\s+x{150}', printed), printed)
    expect(max(map(len, printed[printed.index('Accelerator'):printed.index('* lowest')].splitlines())) <= 80, printed)


def test_twenty_options(folder):
    """Each of them in a terminal's width and in a workbook."""
    start = BASE.index('[option mi325x]')
    block = BASE[start:BASE.index('\n[', start + 1)]
    ids = [f'part_{number:02d}' for number in range(18)]
    path = folder / 'twenty.ini'
    path.write_text(BASE + ''.join(
        '\n' + block.replace('[option mi325x]', f'[option {id}]\nlabel = {id}, 800 GPUs of a vendor') for id in ids))
    printed = run('compare', path, '-q').stdout
    expect(max(map(len, printed.splitlines())) <= 80, max(printed.splitlines(), key=len))
    expect(all(id in printed for id in ids), printed)
    expect_exit(run('report', path, '-q', '-o', folder / 'twenty.xlsx'), DONE)
    texts = texts_of(folder / 'twenty.xlsx')
    expect(all(f'<sheet name="{id}, 800 GPUs of a vendor"' in texts['xl/workbook.xml'] for id in ids), tabs_of(texts))


REFUSED = [({'h200': 'x' * 151}, 'a label may have at most 150 characters'), ({'h200': 'say "H200"'}, 'quotation mark'),
           ({'h200': 'one', 'mi325x': 'one'}, "are both labeled 'one'"), ({'mi325x': 'h200'}, "are both labeled 'h200'"),
           ({'h200': 'mi325x'}, "are both labeled 'mi325x'"),
           ({'h200': 'mi325x', 'mi325x': 'the other'}, "are both labeled 'mi325x'")]


def test_refused(folder):
    for labels, words in REFUSED:
        done = run('compare', labelled(folder, labels))
        expect_exit(done, BAD_INPUT, words)
    path = labelled(folder, {})
    expect_exit(run('compare', path, '--set', 'h200.label=H'), BAD_INPUT, 'label')


CASES = {'dear_power': 'Power at 14 cents', 'half_used': 'Half used, as in 2025', 'amd_22_percent': '=22 % off',
         'five_years': '\U0001f680 عرض & <b>'}
LONG = {'dear_power': 'x' * 150}


def cases_labelled(folder, labels):
    text = BASE
    for id, label in labels.items():
        expect(f'[case {id}]\n' in text, f'no case {id}')
        text = text.replace(f'[case {id}]\n', f'[case {id}]\nlabel = {label}\n')
    path = folder / 'cases.ini'
    path.write_text(text, encoding='utf-8')
    return path


def test_cases_on_terminals(folder):
    path = cases_labelled(folder, CASES)
    printed = run('compare', path, '--all-cases', '-q').stdout
    for id, label in CASES.items():
        expect(label in printed and id not in printed, f'{id}, {label}\n{printed}')
        by_id, by_label = (run('compare', path, '--case', name, '-q') for name in (id, label))
        expect_exit(by_id, DONE, f'case {" ".join(label.split())}'[:20])
        expect(by_id.stdout == by_label.stdout, f'--case {label!r}')
    expect_exit(run('explain', path, 'mi325x.tco', '--case', 'half_used'), DONE, 'case Half used, as in 2025')
    expect_exit(run('diff', path, path, '--case', 'half_used'), DONE, 'case Half used, as in 2025')
    printed = run('compare', cases_labelled(folder, LONG), '--all-cases', '-q').stdout
    expect(re.search(r'Case: +dear_power is\s+x{150}', printed), printed)
    tables = printed[printed.index('Cheapest'):printed.index('Case:  ' if 'Case:  ' in printed else 'Case: d')]
    expect(max(map(len, tables.splitlines())) <= 80, printed)


def test_cases_for_machines(folder):
    """JSON and CSV identify a case by its id, and JSON has its label."""
    plain, named = (run_json('compare', path, '--all-cases') for path in (folder / 'plain.ini', cases_labelled(folder, CASES))
                    if path.exists() or not path.write_text(BASE))
    expect(named['scenario']['case_labels'] == CASES and 'case_labels' not in plain['scenario'], named['scenario'])
    expect(named['answers'][0]['tables'] == plain['answers'][0]['tables'], 'a label moves a table')
    rows = run_csv('compare', cases_labelled(folder, CASES), '--all-cases')
    expect({row['row'] for row in rows if row['table'] == 'cost'} == {'base', *CASES}, 'ids of CSV')


def test_cases_in_workbooks(folder):
    for labels in (CASES, LONG):
        out = folder / 'cases.xlsx'
        expect_exit(run('report', cases_labelled(folder, labels), '-q', '-o', out), DONE)
        texts = texts_of(out)
        strings = html.unescape(texts['xl/sharedStrings.xml'])
        for id, label in labels.items():
            expect(f'>{label}<' in strings and f'>{id}<' not in strings, f'{id}, {label}')
        # A comma would split a label in a list of the cases themselves.
        cover = html.unescape(texts['xl/worksheets/sheet1.xml'])
        chosen = re.search(r'<formula1>(.*?)</formula1>', cover)[1]
        expect(chosen.startswith("'Inputs'!") == (labels is CASES), chosen)
    out = folder / 'chosen.xlsx'
    expect_exit(run('report', cases_labelled(folder, CASES), '-q', '--case', 'five_years', '-o', out), DONE)


def test_cases_on_the_page(folder):
    out = folder / 'cases.html'
    expect_exit(run('page', cases_labelled(folder, CASES), '-q', '-o', out), DONE)
    expect('Power at 14 cents' in out.read_text(), 'not on the page')


REFUSED_CASES = [({'dear_power': 'x' * 151}, 'a label may have at most 150 characters'),
                 ({'dear_power': 'say "more"'}, "a case's label cannot have a quotation mark"),
                 ({'dear_power': 'What if?'}, "a case's label cannot have '?'"),
                 ({'dear_power': 'one', 'half_used': 'one'}, "cases 'dear_power' and 'half_used' are both labeled 'one'"),
                 ({'half_used': 'dear_power'}, "are both labeled 'dear_power'"), ({'half_used': 'base'}, "are both labeled 'base'")]


def test_cases_refused(folder):
    for labels, words in REFUSED_CASES:
        expect_exit(run('compare', cases_labelled(folder, labels)), BAD_INPUT, words)
    path = cases_labelled(folder, {'dear_power': 'Dear', 'half_used': 'DEAR'})
    expect_exit(run('report', path, '-o', folder / 'no.xlsx'), BAD_INPUT, 'differ only in case')


if __name__ == '__main__':
    run_tests(globals())
