#!/usr/bin/python3
"""Common mistakes on the command line: exit status 2, and a message that says what is wrong.

    check_mistakes.py [NAME...]     every command, or those whose line contains a NAME

check_bad_input.py does the same for the contents of files, check_unwritable.py for where the results go. PERTOKEN and PROBE name the programs.
"""
import pathlib
import shlex
import shutil
import sys
import tempfile

from support.program import BAD_INPUT, Count, DONE, MACHINE_FAILED, PERTOKEN, PROBE, ROOT, expect, run

BASE = 'examples/mi325x-vs-h200.ini'
RANGES = 'examples/uncertainty.ini'
RECORD = 'data/measured/llama-3.1-8b-cuda-c11128fa.json'
SOLVE = f'solve {BASE} --option mi325x --for discount'
DENSE = 'examples/h200-vs-b200.ini'
PROBE_RUN = 'run --model tinyllama-1.1b'

# A command line, and what its error must contain.
MISTAKES = [
    (f'diff {BASE}', 'expected A.ini B.ini'),
    (f'diff {BASE} missing.ini', 'missing.ini: error: cannot be opened'),
    ("compare ''", 'cannot be opened'),
    ('compare .', 'expected a file, found a directory'),
    ('compare /dev/null', 'expected a regular file'),
    (f'compare {BASE} --case nope', 'no [case nope]; there are base, dear_power'),
    (f'compare {BASE} --case dear_powr', "did you mean 'dear_power'"),
    (f'compare {BASE} --data missing', 'missing'),
    (f'compare {BASE} --measurements missing', "cannot read the directory 'missing'"),
    (f'compare {BASE} --model {BASE}', 'unknown section [scenario] in a model'),
    (f"compare {BASE} --set 'discount=22 %'", "every option sets its own 'discount': h200.discount, mi325x.discount"),
    *((f"compare {BASE} --set '{section}.h200.{key}'",
       f"'{section}.h200.{key.partition('=')[0]}' names both a section and an option: set 'h200.{key.partition('=')[0]}'")
      for section, key in (('common', 'list_price=30000, 20000 USD'), ('common', 'discount=5 %'),
                           ('workload', 'evidence=tp0041'))),
    (f"compare {BASE} --set 'throughput=900 token/s'",
     "every option sets its own 'throughput': h200.evidence, mi325x.evidence"),
    (f'compare {BASE} --set mi325x.discount=15', "'15' has no unit: expected a quantity such as '5 %'"),
    (f"compare {BASE} --set 'mi325x.discount=-15 %'", 'must be at least 0 %, not -15 %'),
    (f"compare {BASE} --set 'mi325x.list_price=-1 USD'", 'must be at least 0 USD/gpu'),
    (f"compare {BASE} --set 'horizon=0 yr'", 'must be above 0 yr'),
    (f"compare {BASE} --set 'horizon=300 yr'", 'must be at most 30 yr'),
    (f"compare {BASE} --set 'utilization=0 %'", 'must be above 0 %'),
    (f"compare {BASE} --set 'wacc=8 %'", "wrong unit '%': expected a quantity such as '5 %/yr'"),
    (f"compare {BASE} --set 'discount_rate=8 %/yr'", "unknown key 'discount_rate' in --set; did you mean 'wacc'?"),
    (f'solve {BASE} --option mi325x --for price', "unknown input 'price'; did you mean 'list_price'?"),
    ('diff examples/acceptance/offer.ini examples/acceptance/quoted.ini', "this is a vendor's offer: name it as 'quote = FILE'"),
    ("compare examples/own-rent-api.ini --set 'own.colo_rate=1 USD/kW/month' --set 'colo_rate=2 USD/kW/month'",
     "'colo_rate' has no effect: no option uses it, except those that set their own: own.colo_rate"),
    (f'accept {BASE} examples/acceptance/records', 'this is a scenario: give the offer that its option quotes'),
    (f"compare {BASE} --set 'electricity_price=0,08 USD/kWh'", 'a point for decimals'),
    (f"compare {BASE} --set 'electricity_price=0.08 USD/kwh'", "did you mean 'kWh'"),
    (f"compare {BASE} --set 'electricity_price=0.08 EUR/kWh'", 'amounts here are in USD, not EUR'),
    (f'compare {BASE} --set accelerators=1e300', 'has no finite value'),
    (f"compare {DENSE} --set 'throughput=1e300 token/s'",
     "--set:1:12: error: of the inputs of option 'h200', 'throughput' is the most extreme, 1e300 token/s"),
    (f"compare {DENSE} --set 'horizon=1e-300 yr'", "'horizon' is the most extreme, 1e-300 yr"),
    ("new mi355x b200 --model llama-3.1-405b --demand '10 tok/yr'", "'demand' is the most extreme, 10 tok/yr"),
    (f"compare {DENSE} --set 'h200.price=29500 USD'",
     "'price' names a row of the catalogue; an amount is 'list_price = 29500 USD'"),
    (f'compare {DENSE} --set h200.price=pr9999', "unknown price 'pr9999'; see 'pertoken catalog prices'"),
    (f"compare {BASE} -o ''", "expected the name of a file to write, not ''"),
    (f'compare {BASE} -o examples', "'examples' is a directory: name a file in it"),
    (f'compare {BASE} -o missing/', "'missing/' is a directory: name a file in it"),
    (f'report {BASE} -o examples', "'examples' is a directory: name a file in it"),
    (f'report {BASE} -o x', "the name of a workbook ends in .xlsx, and 'x' does not"),
    (f'page {BASE} -o x', "the name of a page ends in .html, and 'x' does not"),
    (f'compare {BASE} --set h200.evidence=tp9999', "no row 'tp9999'"),
    (f'compare {BASE} --set h200.evidence=tp0090', "is for 'mi325x-256', not for 'h200-sxm-141'"),
    (f'explain {BASE} mi325x.net_prize', "did you mean 'net_price'"),
    (f'sensitivity {BASE} --swing 15', "--swing:1:1: error: '15' has no unit"),
    (f"sensitivity {BASE} --swing '200 %'", 'within 100 %'),
    (f"sensitivity {BASE} --swing '0 %'", '--swing must be above 0 %'),
    (f"sensitivity {BASE} --swing '100 %'", 'and below 100 %'),
    (f'sensitivity {BASE} --grid pue=1:2:0.5 --grid wacc=1:2:1%/yr',
     "a second --grid: name both inputs in one, --grid 'pue=1:2:0.5,wacc=1:2:1%/yr'"),
    (f"solve {BASE} --option mi325x --for discount --set 'mi325x.discount=5 % from 100 gpu, 9 % from 500 gpu'",
     "option 'mi325x' computes 'discount' from volume tiers: its order reaches 'discount_tier_2', which can be varied"),
    (f"sensitivity {BASE} --grid pue=1:2:0.5 --swing '10 %'", '--swing needs a tornado: leave out --grid'),
    (f'sensitivity {BASE} --option h20', "did you mean 'h200'"),
    (f'sensitivity {BASE} --grid pue=1:2', 'three numbers are needed'),
    (f'sensitivity {BASE} --grid electricity_price=0.04:0.2:0.08', "--grid:1:28: error: '0.08' has no unit"),
    (f"sensitivity {BASE} --grid 'mi325x.throughput=10000:30000:10000 token/s/node'",
     "wrong unit 'token/s/node': expected a quantity such as '100 token/s/gpu'"),
    (f"sensitivity {BASE} --grid 'accelerators=10:40:10 node'", "wrong unit 'node': expected a count such as '8 gpu'"),
    (f"sensitivity {BASE} --grid 'accelerators=800:3200:800 %'", "wrong unit '%'"),
    (f"sensitivity {BASE} --grid 'mi325x.discount=0:0.3:0.1 gpu'", "wrong unit 'gpu'"),
    (f"sensitivity {BASE} --grid 'mi325x.discount=0x0:0x1E:0xA %'", "unknown unit 'xA'"),
    (f"sensitivity {BASE} --grid 'mi325x.discount=0x0:0x1E:10 %'", "--grid:1:18: error: unknown unit 'x0'"),
    (f"sensitivity {BASE} --grid 'pue=1:x:2'", "--grid:1:7: error: expected a plain number, not 'x'"),
    (f'sensitivity {BASE} --grid pue=2:1:0.1', 'rise in steps above zero'),
    (f'sensitivity {BASE} --grid pue=0.5:1.5:0.5', "exceeds the input's allowed range"),
    (f'simulate {BASE}', 'there is no [range]'),
    (f'simulate {RANGES} --draws 0', 'not 0'),
    (f'simulate {RANGES} --draws 1.5e0', 'expected a whole number'),
    (f'simulate {RANGES} --seed 18446744073709551616', 'expected a whole number'),
    (f'simulate {RANGES} --seed +1', 'expected a whole number'),
    (f'simulate {RANGES} --method sobl', 'sobol or random'),
    (f'simulate {RANGES} --shard 5/4', 'I from 1 to N'),
    (f'simulate {RANGES} --shard 1/4 --format csv', "'pertoken merge', which then writes --format csv"),
    (f'simulate {RANGES} --shard 1/4 -o part.csv', "'pertoken merge', which then writes part.csv"),
    (f'simulate {RANGES} --shard 1/4 -o part.xlsx', "'pertoken merge', which then writes part.xlsx"),
    ('merge missing.json', 'cannot be opened'),
    (f'merge {BASE}', 'not a part of a simulation'),
    (f'solve {BASE} --option mi325x', '--option ID and --for INPUT'),
    (f'{SOLVE} --target 0.30', "--target:1:1: error: '0.30' has no unit"),
    (f"{SOLVE} --target '0 USD/Mtok'", 'above zero'),
    (f"{SOLVE} --target '1 USD/Mtok' --match h200", 'exclude each other'),
    (f"{SOLVE} --between '10 %'", "expected LOW:HIGH in ascending order, as in '1:2 %'"),
    (f'{SOLVE} --between 10:30', "--between:1:4: error: '30' has no unit"),
    (f"{SOLVE} --between '10:30 node'", "wrong unit 'node'"),
    (f"solve {BASE} --option mi325x --for throughput --between '8000:40000 token/s/node'",
     "--between:1:12: error: wrong unit 'token/s/node'"),
    (f"{SOLVE} --between '30:10 %'", 'in ascending order'),
    (f"{SOLVE} --between '10:300 %'", "is outside the allowed range of 'discount'"),
    (f'{SOLVE} --match mi325x', 'cannot be matched with itself'),
    (f'solve {BASE} --option mi325x --for tco', 'is computed, not an input'),
    ('fit --parameters 70', '70e9 for 70 billion'),
    ('fit --where model=llama-3.1-8b --measurements x', '--measurements needs a scenario'),
    (f'served {RECORD} --set foo=1 --case zz --mixed', '--set, --case, --mixed need a scenario'),
    (f'served {RECORD} --data-extra x', '--data-extra needs a scenario'),
    ('audit --table data/claims.csv --set foo=1', '--set needs a scenario'),
    ('audit --table data/claims.csv --for x', '--for needs a CLAIM.ini'),
    ('accept offer.ini records --model x', '--model needs a scenario'),
    ('accept offer.ini records --option x', '--option needs --scenario'),
    ("accept offer.ini records --shortfall '5 %' --chance '90 %'", '--shortfall, --chance need --plan'),
    ('accept offer.ini records --plan --scenario x', '--scenario needs a verdict: leave out --plan'),
    ('fit --parameters 70b', '70e9 for 70 billion'),
    ('fit --context 4k', 'expected a whole number'),
    ('fit --kv fp7', "unknown precision 'fp7'"),
    ('fit --where modle=llama-2-70b', "did you mean 'model'"),
    (f'rent {BASE}', 'add an owned and a rented option'),
    ('wait examples/wait.ini --for b20', "no [wait b20]; did you mean 'b200'?"),
    ('wait examples/wait.ini --for nope', 'no [wait nope]; there is b200'),
    (f'explain {BASE} nope.tco', "has no option 'nope'; there are h200 and mi325x"),
    ('catalog nope', "unknown table 'nope'; there are accelerators, "),
    (f'audit {BASE}', 'add a [claim NAME]'),
    ('audit --table data/prices.csv', "a table of claims needs a column 'claim'"),
    (f'route {BASE}', 'add a [demand NAME]'),
    ('catalog prices --where accelerator', 'COLUMN=VALUE or COLUMN~TEXT'),
    (f'report {BASE} -o -', "can only be written to a file, and '-' is not one"),
    (f'report {BASE} -o /dev/full', 'can only be written to a file'),
    (f'report {BASE} -o tco.csv', "the name of a workbook ends in .xlsx, and 'tco.csv' does not"),
    (f'page {BASE} -o tco.xlsx', "the name of a page ends in .html, and 'tco.xlsx' does not"),
    (f'compare {BASE} -o tco.html', "'compare' writes no page, 'page' does: write a file other than 'tco.html'"),
    (f'compare {BASE} -o tco.xlsx', "'compare' writes no workbook, 'report' does: write a file other than 'tco.xlsx'"),
    ('plan examples/plan/twelve-quarters.ini --explain=calendar -o plan.XLSX', 'a workbook has no explanations'),
]

# Slips of a unit or a digit, and the resulting warning; plausible figures, without one.
SLIPS = [
    ('electricity_price=80 USD/kWh', 'electricity_price, 80 USD/kWh, is 207 times the highest published, '
     '0.3862 USD/kWh (pw170)'),
    ('electricity_price=0.001 USD/kWh', 'the lowest published'),
    ('load_power=700 kW', 'load_power, 700000 W/gpu, is 1000 times the TDP, 700 W/gpu (h200-sxm-141)'),
    ('h200.list_price=0.00001 USD', 'list_price, 0.00001 USD/gpu, is less than 1/1000 of the lowest in the catalogue'),
    ('load_power=0.7 W', 'load_power, 0.7 W/gpu, is 1/1000 of the TDP'),
    ('h200.list_price=35 USD', 'list_price, 35 USD/gpu, is 1/843 of the lowest in the catalogue, 29500 USD/gpu (pr007)'),
    ('pue=12.5', 'pue, 12.5, is 7.5 times the highest published, 1.67 (pw098)'),
    ('support=400 %/yr', 'support, 400 %/yr, is 20 times the highest in the catalogue, 20 %/yr (support_contract)'),
    ('colo_rate=0.18 USD/kW/month', 'colo_rate, 0.18 USD/kW/month, is 1/667 of the lowest in the catalogue, '
     '120 USD/kW/month (colo_rent_wholesale)'),
    ('build_price=11.7 USD/kW', 'build_price, 11.7 USD/kW, is 1/795 of the lowest in the catalogue, 9300 USD/kW'),
    ('build_price=11.7 USD/W', None),
    ('colo_rate=160 USD/kW/month', None),
    ('demand_charge=1500 USD/kW/month', 'demand_charge, 1500 USD/kW/month, is 75 times the highest'),
    ('water_price=2 USD/m3; water_use=27 L/kWh', 'water_use, 27 L/kWh, is 15 times the highest'),
    ('failure_rate=900 %/yr', 'failure_rate, 900 %/yr, is 89 times the highest'),
    ('network_price=42470 USD', 'network_price, 42470 USD/gpu, is 6.4 times the highest'),
    ('support=4 %/yr', None),
    ('load_power=750 W', None),
    ('electricity_price=0 USD/kWh', None),
    ('pue=2.2', None),
    ('h200.throughput=4000 token/s', None),
]

PROBE_MISTAKES = [
    ('run', 'expected --model ID'),
    (f'{PROBE_RUN} --precision bf17', "did you mean 'bf16'"),
    (f'{PROBE_RUN} --precision bf16,bf16', 'names bf16 twice'),
    (f'{PROBE_RUN} --batch 0', 'whole numbers from 1'),
    (f'{PROBE_RUN} --batch 1,,2', 'whole numbers from 1'),
    (f'{PROBE_RUN} --context 4k', 'whole numbers from 1'),
    (f'{PROBE_RUN} --layers 100', 'has 22 layers'),
    (f'{PROBE_RUN} --layers 2,1', 'ascending'),
    (f'{PROBE_RUN} --time -1', "such as '10 s'"),
    (f'{PROBE_RUN} --soak 30', "--soak=30"),
    (f'{PROBE_RUN} --wall-power 512', "'512' has no unit"),
    (f'{PROBE_RUN} --redfish host', 'expected --redfish https://HOST'),
    (f'{PROBE_RUN} --shard 2/2', 'expected --shard 1/N'),
    (f'{PROBE_RUN} --data missing', "'missing'"),
    ('run --model tinyllama-1.1', "did you mean 'tinyllama-1.1b'"),
    ('check missing.json', 'cannot be opened'),
    (f'check {BASE}', 'expected a complete measurement record'),
    ('check missing.json --tolerance 4', "'4' has no unit"),
    ('list --device gpu', "did you mean 'auto'"),
]


def check_refused(line, message, program=PERTOKEN):
    done = run(*shlex.split(line), program=program)
    expect(done.returncode == BAD_INPUT, f'exit {done.returncode}: {done.stderr[-500:]}')
    said = ' '.join(done.stderr.split())
    expect(message in said, f'{message!r} is not said: {done.stderr[-1500:]}')
    expect(not done.stdout, f'printed {done.stdout[:200]!r}')


def check_slip(setting, message):
    done = run('compare', BASE, *(word for one in setting.split('; ') for word in ('--set', one)))
    expect(done.returncode == DONE, done.stderr)
    asked = [line for line in done.stderr.splitlines() if 'check its unit' in line]
    if message:
        expect(any('H200' in line and message in line for line in asked), f'{message!r} is not said: {done.stderr}')
    else:
        expect(not asked, asked)


def check_short_horizon():
    """A purchase costed over weeks; a rent may be of a day."""
    words = 'the horizon, 60 day, is below 3 months, short for a purchase: check its unit'
    expect(words in run('compare', BASE, '--set', 'horizon=60 day').stderr, 'a purchase')
    expect('is below 3 months' not in run('compare', BASE, '--set', 'horizon=3 month').stderr, 'three months')
    expect('is below 3 months' not in run('compare', 'examples/studies/deepseek-day.ini').stderr, 'a rent')


def check_count_notation():
    """Counts in the notation in which limits are told."""
    said = [run('simulate', RANGES, '-q', '--draws', text).stdout for text in ('2e3', '2000')]
    expect(said[0] == said[1] != '', said)
    done = run('fit', '--where', 'accelerator=b200-sxm-180', '--where', 'model=llama-3.1-405b', '--context', '1e12')
    expect(done.returncode == BAD_INPUT and 'within 1 and 1e9' in done.stderr, done.stderr)


def check_said_once(setting):
    """What cannot be read gives no second error about its value."""
    done = run('compare', BASE, '--set', setting)
    errors = [line for line in done.stderr.splitlines() if ' error: ' in line]
    expect(done.returncode == BAD_INPUT and len(errors) == 1, done.stderr)


def check_other_tables():
    """A table that is only read for comparison may be invalid or missing."""
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / 'data'
        shutil.copytree(ROOT / 'data', data)
        (data / 'power.csv').write_text('no table')
        done = run('compare', BASE, '-q', '--data', data)
        expect(done.returncode == DONE and not done.stderr, done.stderr)


def check_target_refused(line):
    done = run(*shlex.split(line))
    expect(done.returncode == MACHINE_FAILED, f'exit {done.returncode}: {done.stderr[-500:]}')
    expect('cannot write' in done.stderr and 'missing/' in done.stderr, done.stderr[-500:])


def check_standard_output():
    """-o - is the standard output, and creates no file of that name."""
    plain = run('compare', BASE, '-q').stdout
    with tempfile.TemporaryDirectory() as folder:
        done = run('compare', pathlib.Path(BASE).resolve(), '-q', '-o', '-', cwd=folder)
        left = list(pathlib.Path(folder).iterdir())
    expect(done.stdout == plain, 'compare -o - prints something else')
    expect(not left, f'files were left: {left}')


def check_shards():
    """Parts without draws, and one given twice, identified by its --shard number."""
    with tempfile.TemporaryDirectory() as folder:
        part = pathlib.Path(folder) / 'part.json'
        run('simulate', RANGES, '-q', '--draws', 64, '--shard', '1/2', '-o', part)
        alone, twice = run('merge', part), run('merge', part, part)
    expect(alone.returncode == BAD_INPUT and 'give the others too' in alone.stderr, alone.stderr)
    expect(twice.returncode == BAD_INPUT and 'shard 1 of 2 is given twice' in twice.stderr, twice.stderr)


# An input whose list would be one more formula than a model's item may have.
FULL_ITEM = """
[input fee]
label = Fee
unit = USD/yr
group = operation
default = 0 USD/yr
schedule = fee_series

[series fee_series]
label = Fee
unit = USD/yr
group = operation
times = price_level
needs = demand remedy
formula = operating * fee
or_needs = demand delay_damages
or_formula = operating * fee
or_needs_2 = demand
or_formula_2 = operating * fee
or_needs_3 = remedy
or_formula_3 = operating * fee
or_formula_4 = operating * fee
"""


def check_full_item():
    with tempfile.TemporaryDirectory() as folder:
        model, built_in = pathlib.Path(folder) / 'model.ini', ROOT / 'model' / 'cost' / 'tco.ini'
        model.write_text(built_in.read_text(encoding='utf-8') + FULL_ITEM, encoding='utf-8')
        one = run('compare', BASE, '--model', model, '-q', '--set', 'fee=1 USD/yr')
        many = run('compare', BASE, '--model', model, '-q', '--set', 'fee=1, 2 USD/yr')
    expect(one.returncode == DONE and not one.stderr, one.stderr)
    said = "'fee_series' has 10 formulas, the most allowed: a list in 'fee' needs one more"
    expect(many.returncode == BAD_INPUT and said in many.stderr, many.stderr)


def check_no_rows():
    """A part of a name, for which --where has another operator."""
    done = run('catalog', 'prices', '--where', 'accelerator=mi3')
    expect("No row has 'mi3' as accelerator; --where 'accelerator~mi3' finds it in " in done.stdout, done.stdout)
    expect("No row has 'zzz' in accelerator\n" in run('catalog', 'prices', '--where', 'accelerator~zzz').stdout, 'none')
    both = run('catalog', 'prices', '--where', 'accelerator~h20', '--where', 'currency=ZWL').stdout
    expect("No row has 'ZWL' as currency\n" in both and 'accelerator' not in both.splitlines()[-1], both)


def check_no_records():
    said = run('compare', BASE, '--measurements', 'examples').stderr
    expect("warning: there are no records in 'examples'" in said, said)
    expect('no record' not in run('compare', BASE, '--measurements', 'data/measured').stderr, 'where there is one')


def check_help():
    """A summary that is a question ends with a question mark."""
    for command in ('simulate', 'wait', 'audit', 'compare'):
        summary = run(command, '--help').stdout.splitlines()[1]
        expect(summary.endswith(('?', '.')) and not summary.endswith('?.'), summary)


def main():
    count = Count()

    wanted = sys.argv[1:]

    def test(name, check, *arguments):
        if not wanted or any(word in name for word in wanted):
            count.test(name, check, *arguments)

    for line, message in MISTAKES:
        test(line, check_refused, line, message)
    for line, message in PROBE_MISTAKES:
        test(f'probe {line}', check_refused, line, message, PROBE)
    for command, file in (('compare', 'x.csv'), ('page', 'x.html'), ('report', 'x.xlsx')):
        line = f'{command} {BASE} -o missing/{file}'
        test(line, check_target_refused, line)
    for setting, message in SLIPS:
        test(f'--set {setting}', check_slip, setting, message)
    for setting in ('life=3', 'life=3 foo', 'engineers=3 foo', 'water_use=3'):
        test(f'--set {setting}, once', check_said_once, setting)
    test('a short horizon', check_short_horizon)
    test('the notation of counts', check_count_notation)
    test('other tables', check_other_tables)
    test('-o -', check_standard_output)
    test('shards', check_shards)
    test('help', check_help)
    test('a full item', check_full_item)
    test('no rows', check_no_rows)
    test('no records', check_no_records)
    count.finish()


if __name__ == '__main__':
    main()
