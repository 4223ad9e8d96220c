#!/usr/bin/python3
"""`pertoken catalog` compared with the tables themselves: what is listed, what is newest, what is stale."""
import csv
import re
import statistics

from support.program import BAD_INPUT, DONE, ROOT, expect, expect_exit, on_terminal, run, run_json, run_tests, table
DAY, EPOCH = (2026, 11, 23), 1795392000
ENVIRONMENT = {'SOURCE_DATE_EPOCH': EPOCH}
LAST_DAYS = {2: 28, 4: 30, 6: 30, 9: 30, 11: 30}

# USD per GPU-hour in July 2026, to two decimals: owning as a hyperscaler and as a neocloud, and renting for three
# years. InferenceX's pull requests 661 and 1071; of the last column, MI300X and MI325X are pull request 659's.
SURVEY = {accelerator: dict(zip(('hyperscaler', 'neocloud', 'market'), figures)) for accelerator, *figures in (
    ('h100-sxm5-80', 1.17, 1.55, 2.00), ('h200-sxm-141', 1.22, 1.59, 2.90), ('b200-sxm-180', 1.73, 2.07, 3.70),
    ('b300-sxm-288', 2.26, 2.52, 4.25), ('gb200-nvl72', 1.86, 2.26, 4.00), ('gb300-nvl72', 2.31, 2.79, 5.00),
    ('mi300x-192', 0.95, 1.16, 1.30), ('mi325x-256', 1.10, 1.32, 1.60), ('mi355x-288', 1.50, 2.09, 2.90))}


def day_of(text):
    """The last day that a date can mean; None for a span or anything else."""
    if text.startswith('mid-'):
        return int(text[4:]), 9, 30
    parts = text.split('-')
    if not all(part.isdigit() for part in parts) or len(parts[0]) != 4 or (len(parts) > 1 and len(parts[1]) != 2):
        return None
    year, month = int(parts[0]), int(parts[1]) if len(parts) > 1 else 12
    return year, month, int(parts[2]) if len(parts) > 2 else LAST_DAYS.get(month, 31)


def first_day_of(text):
    """The first day that it can mean."""
    if text.startswith('mid-'):
        return int(text[4:]), 4, 1
    return tuple(int(part) for part in (text.split('-') + ['1', '1'])[:3])


def shown(*arguments):
    return run_json('catalog', *arguments, environment=ENVIRONMENT)['rows']


def test_tables(_):
    """Every table of data/ on a line, with its number of rows, and no others."""
    listed = {row['name']: row for row in run_json('catalog', environment=ENVIRONMENT)['tables']}
    files = {path.stem: path for path in (ROOT / 'data').glob('*.csv')}
    expect(set(listed) == set(files), set(listed) ^ set(files))
    for name, path in files.items():
        with open(path, encoding='utf-8', newline='') as file:
            expect(listed[name]['rows'] == len(list(csv.DictReader(file))), f'rows of {name}')
        expect(listed[name]['stale'] == len(shown(name, '--stale')), f'stale of {name}')
    about = (ROOT / 'data/README.md').read_text()
    expect(all(f'\n| {name} |' in about for name in listed), 'data/README.md has other tables')
    expect_exit(run('catalog'), DONE, 'throughput', 'Stale')


def test_stale(_):
    found = {row['id'] for row in shown('prices', '--stale')}
    for id, row in table('prices').items():
        day = day_of(row['as_of'])
        if day:
            expect((id in found) == ((day[0] + 1, *day[1:]) < DAY), f"{id} of {row['as_of']}")
    expect(found, 'nothing is stale')


def test_latest(_):
    """For each accelerator and kind of price those rows that no other is newer than: a year is not newer than a
    day within it."""
    rows = [row for row in table('prices').values() if row['accelerator'] == 'h200-sxm-141']
    for more in ((), ('--where', 'price_basis=on_demand')):
        kept = [row for row in rows if not more or row['price_basis'] == 'on_demand']
        newest = {}
        for row in kept:
            expect(day_of(row['as_of']), row['as_of'])
            newest[row['price_basis']] = max(newest.get(row['price_basis'], (0,)), first_day_of(row['as_of']))
        expected = {row['id'] for row in kept if day_of(row['as_of']) >= newest[row['price_basis']]}
        found = {row['id'] for row in shown('prices', '--latest', '--where', 'accelerator=h200-sxm-141', *more)}
        expect(found == expected, found ^ expected)
    days = {row['as_of'] for row in rows if row['id'] in found}
    expect(max(map(day_of, (row['as_of'] for row in rows if row['price_basis'] == 'on_demand' and len(row['as_of']) > 4))) in
           set(map(day_of, days)), f'the newest day is missing: {days}')
    expect(len(shown('throughput', '--latest')) < len(table('throughput')), 'all rows are the latest')


def test_dated_by_their_source(_):
    """A price of InferenceX's April 2026 files is of the survey of August 2025 that its page names, not of the
    files' day; the survey of July 2026 replaces it for every accelerator and kind of price."""
    replaced = [row for row in table('prices').values() if '/77ca49a' in row['source_url']]
    expect(replaced and all(row['as_of'] == '2025-08' for row in replaced), [(row['id'], row['as_of']) for row in replaced])
    for row in replaced:
        alike = ('--where', f"accelerator={row['accelerator']}", '--where', f"price_basis={row['price_basis']}")
        newest = shown('prices', '--latest', *alike)
        expect({(one['as_of'], one['price_point']) for one in newest if one['provider'] == row['provider']} ==
               {('2026-07', SURVEY[row['accelerator']][row['provider']])}, f"{row['id']}: {newest}")


def test_sold_by_their_provider(_):
    """DeepSeek's own API serves other models since 2025-09-29, so that no later price of V3 is its own; the API of the
    example sells the model that the example runs."""
    rows = table('api_prices')
    own = {row['id']: row['as_of'] for row in rows.values() if row['provider'] == 'DeepSeek' and row['model'] == 'deepseek-v3'}
    expect(own and max(own.values()) == '2025-09-05', own)
    lines = (ROOT / 'examples' / 'own-rent-api.ini').read_text().splitlines()
    id, = (line.split(' = ')[1] for line in lines if line.startswith('api = '))
    expect('model = deepseek-v3' in lines and 'published as deepseek-ai/DeepSeek-V3;' in rows[id]['notes'], rows[id])
    expect('(Novita)' in rows[id]['provider'], rows[id])


def test_terms_alike(_):
    """The rents that an example compares are rows of the table, for the option's accelerator, at one term of one day."""
    options = [dict(line.split(' = ') for line in part.splitlines() if ' = ' in line)
               for part in (ROOT / 'examples' / 'cloud.ini').read_text().split('[option ')[1:]]
    rows = [table('prices')[re.search(r'\((pr\d+)\)$', option['rental_rate.source'])[1]] for option in options]
    for option, row in zip(options, rows):
        expect(option['accelerator'] == row['accelerator'] and option['rental_rate.date'] == row['as_of'], row['id'])
        expect(float(option['rental_rate'].split()[0]) == float(row['usd_per_gpu_equivalent']), row['id'])
    expect(len(rows) == 5 and len({(row['price_basis'], row['as_of']) for row in rows}) == 1, rows)


def test_spread(_):
    """Count, lowest, median and highest of comparable rows, recomputed here; every row is accounted for."""
    alike = {'prices': ('usd_per_gpu_equivalent', 'accelerator', 'price_basis', 'unit'), 'api_prices': ('output_usd_per_mtok', 'model'),
             'throughput': ('tokens_per_s_per_gpu', 'accelerator', 'model', 'precision', 'scenario', 'token_basis')}
    for name, (figure, *columns) in alike.items():
        groups = {}
        for row in table(name).values():
            if row[figure]:
                groups.setdefault(tuple(row[column] for column in columns), []).append(float(row[figure]))
        found = run_json('catalog', name, '--spread', environment=ENVIRONMENT)['spread']
        expect(len(found) == len(groups), f'{name}: {len(found)} groups, not {len(groups)}')
        for row in found:
            figures = groups[tuple(row[column] or '' for column in columns)]
            said = [row[key] for key in ('rows', 'low', 'median', 'high')]
            expect(said == [len(figures), min(figures), statistics.median(figures), max(figures)], f'{name}: {row}')
    h200 = run_json('catalog', 'prices', '--spread', '--where', 'accelerator=H200', environment=ENVIRONMENT)['spread']
    expect({row['accelerator'] for row in h200} == {'h200-sxm-141'}, h200)
    expect_exit(run('catalog', 'prices', '--spread', '--where', 'accelerator=nothing'), DONE, 'No row has')
    expect_exit(run('catalog', 'models', '--spread'), BAD_INPUT, 'rows of models have no figure')


def test_who(_):
    """A terminal shows who submitted a result and in which round, and who offers a price."""
    for name, column, source in (('throughput', 'submitter', 'source_title'), ('prices', 'provider', 'source_title')):
        lines = on_terminal('catalog', name, '--where', 'accelerator=h200', environment={'NO_COLOR': '1'}).splitlines()
        head = ' '.join(lines[2:lines.index(max(lines, key=lambda line: line.count('─')))])
        expect(column in head and source in head, head)


def test_alias(_):
    by_alias, by_id = (shown('prices', '--where', f'accelerator={name}') for name in ('H200', 'h200-sxm-141'))
    expect(by_alias == by_id and by_id, 'an alias has other rows than its id')


def test_round(_):
    """MLPerf's rounds, as a column that --where accepts; empty if a source has none."""
    for row in shown('throughput'):
        series, _, rest = row['source_title'].partition('MLPerf Inference ')
        expect((row['round'] or '') == ('' if series else rest.split()[0]), f"{row['id']}: {row['round']}")
    rows = shown('throughput', '--where', 'round=v6.1')
    expect(rows and all('v6.1' in row['source_title'] for row in rows), f'{len(rows)} rows')
    expect_exit(run('catalog', 'prices', '--where', 'round=v6.1'), BAD_INPUT, 'round')


def test_rounds_alike(_):
    """A round has one day, at least its month, and a submitter one spelling: the rule counts submitters."""
    days, spellings = {}, {}
    for row in table('throughput').values():
        spellings.setdefault(re.sub('[^a-z]', '', row['submitter'].lower()), set()).add(row['submitter'])
        if row['source_title'].startswith('MLPerf Inference '):
            days.setdefault(row['source_title'].split()[2], set()).add(row['as_of'])
    expect(len(days) > 3 and all(len(ones) == 1 and '-' in min(ones) for ones in days.values()), days)
    expect(all(len(ones) == 1 for ones in spellings.values()), [ones for ones in spellings.values() if len(ones) > 1])


def test_width(_):
    """No table is wider than its terminal; where there is room, each row is complete."""
    for name in (row['name'] for row in run_json('catalog', environment=ENVIRONMENT)['tables']):
        for width in (60, 80, 132, 300):
            lines = on_terminal('catalog', name, environment={**ENVIRONMENT, 'NO_COLOR': 1, 'COLUMNS': width}).splitlines()
            rows = lines[:lines.index('', 3)] if '' in lines[3:] else lines
            widest = max(rows[2:], key=len)
            expect(len(widest) <= width, f'{name} in {width} columns: {len(widest)}: {widest}')
    told = on_terminal('catalog', 'throughput', '--where', 'id=tp0001', environment={**ENVIRONMENT, 'NO_COLOR': 1, 'COLUMNS': 80})
    for cell in ('mi300x-192', 'interactive', '1105.05', 'AMD', 'v5.1', 'benchmark', '2025-09-09'):
        expect(cell in told, f'{cell} is not in\n{told}')


def test_refused(folder):
    for arguments, words in ((('--stale',), 'need a table'), (('--where', 'id=x'), 'need a table'), (('--spread',), 'need a table'),
                             (('price',), "did you mean 'prices'?"), (('prices', 'power'), 'one argument too many')):
        expect_exit(run('catalog', *arguments), BAD_INPUT, words)
    expect_exit(run('catalog', '--data', folder), BAD_INPUT)


if __name__ == '__main__':
    run_tests(globals())
