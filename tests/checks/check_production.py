#!/usr/bin/python3
"""A server's production counters as evidence of utilization: imported, named by a scenario, refused.

    check_production.py

The counters are made up, in the form of Prometheus's answer to a range query. PERTOKEN names the
program.
"""
import json

from support.folder import Folder
from support.program import BAD_INPUT, Count, DONE, expect, near, run, run_json

START = 1795305600  # 2026-11-22T00:00:00Z
TOO_LONG = ('exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution '
            '(?step=XX)')
WHO = ('--accelerator', 'h200-sxm-141', '--accelerators', '8', '--precision', 'fp8', '--model', 'llama-2-70b')
SCENARIO = """[scenario]
title = production
date = 2026-11-22
[workload]
model = {model}
precision = fp8
[common]
accelerators = 8
pue = 1.2
electricity_price = 0.1 USD/kWh
[option a]
accelerator = {accelerator}
list_price = 30000 USD/gpu
availability = 98 %
{throughput}
production = {record}
"""


def counter(name, per_s, hours, **labels):
    """Every five minutes; four times the rate from 9 to 17 h."""
    value, values = 1000.0, []
    for i in range(12 * hours + 1):
        values.append([START + 300 * i, repr(value)])
        value += 300 * per_s * (4 if 9 <= i // 12 % 24 < 17 else 1)
    return {'metric': {'__name__': name, 'instance': 'a:8000', **labels}, 'values': values}


def answer(*series):
    return json.dumps({'status': 'success', 'data': {'resultType': 'matrix', 'result': series}})


class Counters(Folder):
    """A folder of counters, and scenarios that use their record."""

    def counters(self, hours=48):
        return [self.write('output.json', answer(counter('vllm:generation_tokens_total', 5000, hours))),
                self.write('input.json', answer(counter('vllm:prompt_tokens_total', 50000, hours),
                                                counter('vllm:gpu_prefix_cache_hits_total', 15000, hours),
                                                counter('vllm:gpu_prefix_cache_queries_total', 50000, hours)))]

    def record(self):
        """The only one there is."""
        [record] = self.records.glob('llama-2-70b-h200-sxm-141-production-2026-11-24-*.json')
        return record

    def scenario(self, **changes):
        said = {'model': 'llama-2-70b', 'accelerator': 'h200-sxm-141', 'throughput': 'throughput = 4202 token/s',
                'record': changes.get('record') or self.record().name, **changes}
        return self.write('s.ini', SCENARIO.format(**said))


def read_in(folder, *options, hours=48):
    return run_json('import', *folder.counters(hours), *WHO, '-o', folder.records, *options)


def compared(folder, *options):
    return run_json('compare', folder.scenario(), '--measurements', folder.records, *options)['options'][0]


def test_several_files_become_a_record():
    folder = Counters()
    told = read_in(folder, '--utc-offset', '+02:00')
    record = json.loads(folder.record().read_text())
    expect(near(record['output_tokens_per_s'], 10000), record['output_tokens_per_s'])
    expect(near(record['peak_over_mean'], 2) and near(record['cache_hit'], 0.3), record['cache_hit'])
    expect(near(sum(record['day_profile']), 1) and near(record['day_profile'][11], 4 / 48), record['day_profile'])
    expect(len(record['hours']) == 48 and len(record['files']) == 2, len(record['hours']))
    expect('day_profile' in json.dumps(told), told)


def test_utilization_is_tokens_over_capacity():
    folder = Counters()
    read_in(folder)
    option = compared(folder)
    expect(near(option['items']['tokens_per_gpu'], 10000 / 8 * 3600), option['items']['tokens_per_gpu'])
    expect(near(option['items']['utilization'], 100 * 1250 / (0.98 * 4202)), option['items']['utilization'])
    expect(option['inputs']['production_throughput']['grade'] == 'measured', 'the tokens were counted')
    shown = run('explain', folder.scenario(), 'a.tokens_per_gpu', '--measurements', folder.records).stdout
    expect('30.35' in shown and '30 % of input tokens from the prefix cache' in shown, shown)
    stated = compared(folder, '--set', 'a.utilization=50 %')['items']['tokens_per_gpu']
    expect(near(stated, 0.5 * 0.98 * 4202 * 3600), stated)


COUNTED = 'production_throughput = 1250 token/s/gpu'


def test_served_beside_stated():
    """A utilization by tokens served is not that of a plan: ranked against each other, both are named."""
    folder = Counters()
    read_in(folder)
    beside = '\n[option b]\naccelerator = h200-sxm-141\nlist_price = 30000 USD\nthroughput = 4202 token/s\n'
    for key, wanted in (('utilization = 60 %', 'utilization: a 30.4 % by tokens served, b 60.0 % as stated'),
                        (f'production = {folder.record().name}', None)):
        path = folder.write('beside.ini', folder.scenario().read_text() + beside + key + '\n')
        warned = ' '.join(run_json('compare', path, '--measurements', folder.records)['warnings'])
        expect((wanted or '') in warned and ('do not serve the same' in warned) == bool(wanted), warned)


def test_tokens_are_an_input():
    """They stay as they were counted whatever the throughput is: stated, set, in a case, swung or drawn."""
    folder = Counters()
    read_in(folder)
    record = f'production = {folder.record().name}'
    told = {}
    for counted in (record, COUNTED):
        text = folder.scenario().read_text().replace(record, counted) + '[case fast]\na.throughput = 6000 token/s\n'
        path = folder.write('counted.ini', text)
        for settings in ((), ('--set', 'a.throughput=6000 token/s'), ('--case', 'fast')):
            items = run_json('compare', path, '--measurements', folder.records, *settings)['options'][0]['items']
            told.setdefault(settings, []).append(items)
            expect(near(items['tokens_per_gpu'], 1250 * 3600), (settings, items['tokens_per_gpu']))
    for settings, (of_record, of_key) in told.items():
        expect(of_record == of_key, (settings, 'the record differs from its tokens'))
    slow, fast, same = (items[0]['utilization'] for items in told.values())
    expect(near(fast, slow * 4202 / 6000) and fast == same, (slow, fast, same))
    ranged = folder.write('ranged.ini', text + '[range]\na.throughput = uniform(3000, 6000) token/s\n')
    drawn = run_json('simulate', ranged, '--draws', 2048)['outcomes'][0]
    expect(near(drawn['lowest'], drawn['highest']), drawn)
    swings = {one['input']: [one[end]['costs']['a'] for end in ('low', 'high')]
              for one in run_json('sensitivity', path)['swings']}
    expect(near(*swings['a.throughput']) and not near(*swings['a.production_throughput'], 0.1), swings)


def stated(folder, addition=''):
    """A scenario that states the tokens itself."""
    text = SCENARIO.format(model='llama-2-70b', accelerator='h200-sxm-141', record='',
                           throughput='throughput = 4202 token/s').replace('production = ', COUNTED)
    return folder.write('stated.ini', text + addition)


def test_more_than_the_accelerators_serve():
    """Refused beside a throughput that is too low, in a case too; in a draw they serve all that they can."""
    folder = Counters()
    for addition, settings in (('', ('--set', 'a.throughput=1000 token/s')),
                               ('[case slow]\na.throughput = 1000 token/s\n', ())):
        done = run('compare', stated(folder, addition), *settings)
        expect(done.returncode == BAD_INPUT and '128 % of what its accelerators' in done.stderr, done.stderr)
    path = stated(folder, '[range]\na.throughput = discrete(1000: 1, 1250: 1) token/s\n')
    drawn = run_json('simulate', path, '--draws', 2048)['outcomes'][0]
    expect(near(drawn['highest'], 1.25 * drawn['lowest'], 1e-9), drawn)


def test_a_case():
    """It may give other tokens, not a utilization in their place; its error says so."""
    folder = Counters()
    items = run_json('compare', stated(folder, '[case half]\na.production_throughput = 625 token/s\n'), '--case', 'half')
    expect(near(items['options'][0]['items']['tokens_per_gpu'], 625 * 3600), items['options'][0]['items']['tokens_per_gpu'])
    read_in(folder)
    of_record = folder.write('case.ini', folder.scenario().read_text() + '[case half]\nutilization = 15 %\n')
    done = run('compare', of_record, '--measurements', folder.records)
    expect(done.returncode == BAD_INPUT and "give it there too, or 'production_throughput' here" in done.stderr, done.stderr)


def test_counted_or_planned():
    """An option states one of the two; its own tokens count beside a utilization for all options. Renting follows
    them as it follows the same utilization."""
    folder = Counters()
    done = run('compare', stated(folder, 'utilization = 60 %\n'))
    expect(done.returncode == BAD_INPUT and "both 'utilization' and 'production_throughput'" in done.stderr, done.stderr)
    common = stated(folder)
    common.write_text(common.read_text().replace('[common]', '[common]\nutilization = 60 %'))
    expect(near(run_json('compare', common)['options'][0]['items']['tokens_per_gpu'], 1250 * 3600), 'the common one counts')
    cloud = """[option cloud]
accelerator = h200-sxm-141
throughput = 4202 token/s
utilization = 60 %
rental_rate = 3 USD/gpu/h
"""
    path = stated(folder, cloud)
    of_tokens = run_json('rent', path)['answers'][0]['tables']['break_even']['rows']
    path.write_text(path.read_text().replace(COUNTED, f'utilization = {100 * 1250 / (0.98 * 4202)!r} %'))
    of_share = run_json('rent', path)['answers'][0]['tables']['break_even']['rows']
    for one, other in zip(of_tokens, of_share):
        expect(all(one[key] == other[key] or near(one[key], other[key], 1e-9) for key in one), (one, other))


def test_hits_are_what_is_not_prefilled():
    """For an option with separate rates for prefill and decoding, and for a token API; nowhere else."""
    folder = Counters()
    read_in(folder)
    rates = 'decode_throughput = 2000 token/s\nprefill_throughput = 14000 token/s\nutilization = 50 %'
    lengths = ('--set', 'input_tokens=10000 token', '--set', 'output_tokens=1000 token')
    folder.scenario(throughput=rates)
    option = run_json('compare', folder.path / 's.ini', '--measurements', folder.records, *lengths)['options'][0]
    expect(near(option['inputs']['cache_hit']['value'], 30), option['inputs']['cache_hit'])
    expect(option['inputs']['cache_hit']['grade'] == 'measured', option['inputs']['cache_hit'])
    expect(near(option['items']['throughput'], 1000 / (7000 / 14000 + 1000 / 2000)), option['items']['throughput'])
    expect('cache_hit' not in compared(folder)['inputs'], 'hits beside a serving throughput')
    api = folder.write('api.ini', f"""[scenario]
title = production
date = 2026-11-22
[workload]
model = llama-2-70b
input_tokens = 10000 token
output_tokens = 1000 token
demand = 1000 Mtok/yr
[option api]
input_price = 1 USD/Mtok
cached_input_price = 0.5 USD/Mtok
output_price = 2 USD/Mtok
production = {folder.record().name}
""")
    option = run_json('compare', api, '--measurements', folder.records)['options'][0]
    expect(near(option['items']['cost_per_mtok'], 2 + 7 * 1 + 3 * 0.5), option['items']['cost_per_mtok'])


def test_refused_in_a_scenario():
    folder = Counters()
    read_in(folder)
    for changes, fragment in (({'throughput': 'throughput = 1000 token/s'}, 'one of the two is wrong'),
                              ({'throughput': 'decode_throughput = 5000 token/s'}, 'needs a serving throughput'),
                              ({'model': 'llama-3.1-8b'}, "its 'demand' does"),
                              ({'accelerator': 'h100-sxm5-80'}, "its 'demand' does"),
                              ({'record': 'none.json'}, 'no record of production'),
                              ({'record': 'records/a.json'}, "give its name without a folder, 'a.json'")):
        done = run('compare', folder.scenario(**changes), '--measurements', folder.records)
        expect(done.returncode == BAD_INPUT and fragment in done.stderr, (changes, done.stderr))


def test_less_than_a_day():
    folder = Counters()
    told = run('import', *folder.counters(hours=20), *WHO, '-o', folder.records)
    expect(told.returncode == DONE and '20.0 hours are less than a day' in told.stdout + told.stderr, told.stderr)
    record = next(folder.records.iterdir())
    expect(json.loads(record.read_text())['day_profile'] == [], 'no profile')
    done = run('compare', folder.scenario(record=record.name), '--measurements', folder.records)
    expect(done.returncode == BAD_INPUT and 'needs a whole day' in done.stderr, done.stderr)


def test_an_edited_record():
    folder = Counters()
    read_in(folder)
    path = folder.record()
    path.write_text(path.read_text().replace('"accelerators": 8', '"accelerators": 4'))
    done = run('compare', folder.scenario(), '--measurements', folder.records)
    expect(done.returncode == BAD_INPUT and 'digest' in done.stderr, done.stderr)


def test_counters_of_the_future():
    """Both where they are imported and where their record is read: a clock was wrong, or a unit of time."""
    folder = Counters()
    for today, warned in ((START - 5 * 86400, True), (START + 5 * 86400, False)):
        clock = {'environment': {'SOURCE_DATE_EPOCH': str(today)}}
        imported = run('import', *folder.counters(), *WHO, '-o', folder.records, **clock)
        compare = run('compare', folder.scenario(), '--measurements', folder.records, **clock)
        for done in (imported, compare):
            expect(done.returncode == DONE, done.stderr)
            said = 'is dated 2026-11-24, after today, 2026-11-17: is a clock wrong?' in done.stderr
            expect(said == warned, (today, done.stderr))


def test_another_fleet_of_that_day():
    """Has a record of its own; a name that the catalogue does not know is told."""
    folder = Counters()
    read_in(folder)
    file = folder.write('b.json', answer(counter('vllm:generation_tokens_total', 100, 48, model_name='assistant')))
    told = run('import', file, *WHO, '-o', folder.records)
    expect("call it 'assistant', which --model identifies as llama-2-70b" in told.stdout + told.stderr, told.stdout)
    expect(len(list(folder.records.iterdir())) == 2, list(folder.records.iterdir()))


def test_refused_files():
    folder = Counters()
    only_input = folder.write('a.json', answer(counter('vllm:prompt_tokens_total', 1, 2)))
    named = folder.write('c.json', answer(counter('vllm:generation_tokens_total', 1, 2,
                                                  model_name='meta-llama/Llama-3.1-8B-Instruct')))
    vector = folder.write('b.json', json.dumps({'status': 'success', 'data': {
        'resultType': 'vector', 'result': [{'metric': {'__name__': 'vllm:generation_tokens_total'}}]}}))
    too_long = folder.write('d.json', json.dumps({'status': 'error', 'errorType': 'bad_data', 'error': TOO_LONG}))
    for file, options, fragment in ((only_input, WHO, 'no counter of output tokens'),
                                    (too_long, WHO, f'Prometheus answered with an error: {TOO_LONG}'),
                                    (vector, WHO, 'resultType "matrix", found "vector"'),
                                    (named, WHO, "is llama-2-70b, but the counters are of 'meta-llama/Llama-3.1"),
                                    (folder.counters()[0], WHO[2:], 'the files do not state --accelerator'),
                                    (folder.counters()[0], (*WHO, '--utc-offset', 'CET'), 'expected a time zone')):
        done = run('import', file, *options, '-o', folder.records)
        expect(done.returncode == BAD_INPUT and fragment in done.stderr, (fragment, done.stderr))


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests(dict(globals()))
    COUNT.finish()
