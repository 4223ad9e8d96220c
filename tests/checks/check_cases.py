#!/usr/bin/python3
"""compare --all-cases reports for every case what compare --case reports.

Its verdicts are compared with the judge's, from compare's JSON case by case.
"""
import zipfile

from support.program import BAD_INPUT, DONE, ROOT, expect, expect_exit, near, run, run_csv, run_json, run_tests

EXAMPLES = ('site', 'mi325x-vs-h200', 'finance-views', 'h200-vs-b200', 'own-items')
LABELLED = """\
[scenario]
title = Made
date = 2026-11-01
horizon = 1 yr
baseline = a
[common]
accelerators = 8
accelerators_per_node = 8
utilization = 50 %
rental_rate = 2 USD/gpu/h
throughput = 1000 token/s
[option a]
accelerator = h100-sxm5-80
label = First
[option b]
accelerator = h100-sxm5-80
label = Second
[case dearer]
b.rental_rate = 3 USD/gpu/h
"""


def cases_of(path):
    [answer] = run_json('compare', path, '--all-cases')['answers']
    return answer, {name: {row['case']: row for row in table['rows']}
                    for name, table in answer['tables'].items()}


def same(one, two):
    return one is two if None in (one, two) else near(one, two, 1e-12)


def check_case(path, name, tables):
    one = run_json('compare', path, '--case', name)
    verdict = tables['cases'][name]
    cheapest = one['cheapest']
    expect((verdict['cheapest'] or '') == ', '.join(cheapest), f'{path} {name}: {verdict}, not {cheapest}')
    expect((verdict.get('why_none') or '') == one.get('why_none', ''), f'{path} {name}: {verdict}')
    costs = {option['id']: option['items']['cost_per_mtok'] for option in one['options']}
    levelised = {option['id']: option['items']['levelised_cost_per_mtok'] for option in one['options']}
    for option in one['options']:
        id = option['id']
        expect(same(tables['cost'][name][id], costs[id]), f'{path} {name}: cost of {id}')
        expect(same(tables['levelised'][name][id], levelised[id]), f'{path} {name}: levelized cost of {id}')
        expect(tables['evidence'][name][id] == option['grade'], f'{path} {name}: evidence of {id}')
        bar = one['not_ranked'].get(id) if not one.get('why_none') else None
        expect(tables['not_ranked'][name][id] == bar, f'{path} {name}: {id} is not ranked: {tables["not_ranked"]}, not {bar}')
        for measure in ('saving', 'saving_levelised'):
            saving, found = one.get(measure, {}).get(id), tables[measure][name][id]
            expect(same(found, None if saving is None else 100 * saving), f'{path} {name}: {measure} of {id}')
    if cheapest:
        expect(verdict['cost'] == min(costs[id] for id in cheapest), f'{path} {name}: {verdict}')
        order = ('measured', 'quoted', 'benchmark', 'published', 'projected', 'claim', 'assumed')
        grades = {option['id']: option['grade'] for option in one['options']}
        named = [*cheapest, *filter(None, [verdict['against']])]
        expect(verdict['evidence'] == max((grades[id] for id in named), key=order.index),
               f'{path} {name}: {verdict} of {grades}')


def test_every_case(_):
    for example in EXAMPLES:
        path = ROOT / f'examples/{example}.ini'
        _, tables = cases_of(path)
        for name in tables['cases']:
            check_case(path, name, tables)


def test_a_tie_and_labels(folder):
    path = folder / 'made.ini'
    path.write_text(LABELLED)
    answer, tables = cases_of(path)
    for name in ('base', 'dearer'):
        check_case(path, name, tables)
    expect(tables['cases']['base']['cheapest'] == 'a, b' and tables['cases']['base']['saving'] is None, tables)
    expect(tables['cases']['dearer']['against'] == 'b', tables)
    expect(answer['answer'] == 'Cheapest: First in 2, Second in 1 of 2 cases.', answer['answer'])
    expect_exit(run('compare', path, '--all-cases'), DONE, 'First, Second (equal)')


def test_levelized_costs(folder):
    """People see them where a discount rate makes a difference, with a note on a case in which it turns the verdict."""
    path = folder / 'made.ini'
    bought = LABELLED.replace('[option a]\n', '[option a]\nrental_rate = 2 USD/gpu/h\n').replace(
        'rental_rate = 2 USD/gpu/h\nthroughput', 'throughput', 1) + '[case discounted]\nwacc = 20 %/yr\n'
    bought = bought.replace('horizon = 1 yr', 'horizon = 3 yr').replace(
        '[option b]\n', '[option b]\nlist_price = 36000 USD\nload_power = 700 W\npue = 1.2\n'
        'electricity_price = 0.1 USD/kWh\n').replace('b.rental_rate = 3 USD/gpu/h', 'b.list_price = 50000 USD')
    path.write_text(bought)
    _, tables = cases_of(path)
    for name in ('base', 'dearer', 'discounted'):
        check_case(path, name, tables)
    expect_exit(run('compare', path, '--all-cases'), DONE, 'Levelized cost per million output tokens',
                'Saving against First, levelized', 'Levelized: discounted: First costs least, Second undiscounted')
    path.write_text(LABELLED)
    expect('evelized' not in run('compare', path, '--all-cases').stdout, 'nothing is discounted')


def test_who_is_not_ranked(folder):
    """An option that costs less than the cheapest is never left without the reason, on any face."""
    path, book, page = (folder / f'made.{ending}' for ending in ('ini', 'xlsx', 'html'))
    demand = 'utilization = 50 %\ndemand = 1000 Mtok/yr\n'
    third = ('[option c]\naccelerator = h100-sxm5-80\nlabel = Third\nrental_rate = 1 USD/gpu/h\n'
             'delivery_delay = 0 month\n')
    text = LABELLED.replace('utilization = 50 %\n', demand).replace('[case dearer]\n', f'{third}[case dearer]\nlabel = Dearer\n')
    late = 'delivery_delay = 2 month\n'
    why = 'at worst it serves 0.0 % of the demand'
    for changed, lines in ((f'{text}c.{late}', [f'Dearer: Third: {why}']),
                           (text.replace('delivery_delay = 0 month\n', late), [f'every case: Third: {why}']), (text, [])):
        path.write_text(changed)
        answer, tables = cases_of(path)
        for name in ('base', 'dearer'):
            check_case(path, name, tables)
        notes = [note for note in answer.get('notes', ()) if note.startswith('Not ranked: ')]
        expect(notes == [f'Not ranked: {line}' for line in lines], f'{notes}, not {lines}')
        expect_exit(run('report', path, '-q', '-o', book), DONE)
        with zipfile.ZipFile(book) as parts:
            words = parts.read('xl/sharedStrings.xml').decode()
        expect(all(f'Not ranked: {line}' in words for line in lines), f'the sheet Summary has no {lines}')


def test_unlike_in_another_case(folder):
    """A workbook and a page, in which it can be selected, are stamped; what shows one case is not."""
    path, book, page = (folder / f'made.{ending}' for ending in ('ini', 'xlsx', 'html'))
    lengths = 'input_tokens = 1000 token\noutput_tokens = 500 token\n[option a]'
    path.write_text(LABELLED.replace('[option a]', lengths) + '[case long]\nlabel = Long\nb.input_tokens = 4000 token\n')
    stamp = 'MIXED: First and Second differ in input_tokens: 1000 and 4000 in case Long.'
    expect_exit(run('report', path, '--mixed', '-q', '-o', book), DONE)
    expect_exit(run('page', path, '--mixed', '-q', '-o', page), DONE)
    with zipfile.ZipFile(book) as parts:
        expect(stamp in parts.read('xl/sharedStrings.xml').decode(), 'the workbook is not stamped')
    expect(stamp in page.read_text(), 'the page is not stamped')
    expect('MIXED' not in run('compare', path, '--mixed').stdout, 'the base case is alike')


def test_formats_agree(_):
    path = ROOT / 'examples/site.ini'
    _, tables = cases_of(path)
    for line in run_csv('compare', path, '--all-cases'):
        if line['table'] == 'cost':
            expect(same(float(line['value']), tables['cost'][line['row']][line['column']]), line)


def test_one_case_and_all(_):
    path = ROOT / 'examples/site.ini'
    expect_exit(run('compare', path, '--all-cases', '--case', 'base'), BAD_INPUT,
                '--all-cases shows every case: omit --case base')


REFUSED = """\
[scenario]
title = What a case adds
date = 2026-11-20
[workload]
model = llama-2-70b
precision = fp8
scenario = offline
[common]
accelerators = 64
utilization = 60 %
pue = 1.3
electricity_price = 0.1 USD/kWh
[option a]
accelerator = h200-sxm-141
list_price = 25000 USD
[option b]
accelerator = h200-sxm-141
rental_rate = 2 USD/h
throughput = 1500 token/s
[case more]
"""
# What a case gives, and all the errors; "{}" for each option that has one.
ADDED = {
    'demand = 100000 Mtok/yr': ("case 'more' gives 'demand', which option '{}' otherwise does not have: give it there "
                                'too', 'ab'),
    'a.throughput = 4000, 4100 token/s': ("case 'more' gives 'throughput' by year, which is looked up for option '{}' "
                                          'otherwise: give it there too', 'a'),
}


def test_only_what_a_case_gives(folder):
    """Nothing is said of what follows from it: defaults, the factor of a list."""
    path = folder / 'refused.ini'
    for line, (message, options) in ADDED.items():
        path.write_text(f'{REFUSED}{line}\n')
        done = run('compare', path)
        errors = [text.partition('error: ')[2] for text in done.stderr.splitlines() if 'error: ' in text]
        expect((done.returncode, errors) == (BAD_INPUT, [message.format(option) for option in options]), errors)


# The damages of an offer need a delay, which only the case has.
OFFER = """\
[offer]
vendor = V
reference = V-1
currency = USD
date = 2026-10-01
accelerator = h200-sxm-141
accelerators = 64 gpu
[price]
accelerators = 25000 USD/gpu
[terms]
delay_damages = 0.5 %
"""


def test_delay_of_a_case_only(folder):
    """The hint says what no delay is, and no error follows that names a formula of the model."""
    (folder / 'offer.ini').write_text(OFFER)
    path = folder / 'late.ini'
    path.write_text(REFUSED.replace('list_price = 25000 USD', 'quote = offer.ini') + 'a.delivery_delay = 6 month\n')
    done = run('compare', path)
    errors = [text.partition('error: ')[2] for text in done.stderr.splitlines() if 'error: ' in text]
    expect(errors == ["case 'more' gives 'delivery_delay', which option 'a' otherwise does not have: give it there too, "
                      "as 'delivery_delay = 0 month'"], errors)


if __name__ == '__main__':
    run_tests(globals())
