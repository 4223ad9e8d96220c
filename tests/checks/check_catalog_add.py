#!/usr/bin/python3
"""`pertoken catalog add` and `--data-extra`: the user's own rows, checked like the shipped ones, used like
them, and named as their source; invalid rows are refused, and contradictions of a shipped row are reported.

Seconds: 3
"""
import csv
import re
import shlex
import zipfile

from support.program import BAD_INPUT, DONE, PROBE, ROOT, asked, expect, expect_exit, run, run_json, run_tests, table

DAY = {'SOURCE_DATE_EPOCH': 1795392000}
SOURCE = {'source_title': 'Acme, "autumn" list', 'source_url': 'https://acme.example/list', 'as_of': '2026-11-01'}
PRICE = {'id': 'acme-h200', 'category': 'gpu', 'accelerator': 'H200', 'item': 'H200 SXM', 'provider': 'Acme',
         'price_basis': 'purchase', 'currency': 'USD', 'unit': 'USD per GPU', 'usd_per_gpu_equivalent': '29000',
         'confidence': 'high', 'kind': 'list_price', **SOURCE}
PART = {'id': 'acme-x1', 'vendor': 'Acme', 'name': 'Acme X1', 'memory_gb': '192', 'memory_bw_tbs': '6', 'tdp_w': '800',
        'dense_bf16_tflops': '1200', 'dense_fp8_tflops': '2400', 'gpus_per_node': '8', 'purchase_unit': '8',
        'kind': 'datasheet', **SOURCE}
SPEED = {'id': 'acme-t1', 'accelerator': 'acme-x1', 'model': 'llama-3.1-70b', 'model_as_published': 'Llama 3.1 70B',
         'precision': 'fp8', 'num_gpus': '8', 'tokens_per_s_total': '16000', 'tokens_per_s_per_gpu': '2000',
         'token_basis': 'output', 'scenario': 'offline', 'isl': '1024', 'osl': '1024', 'confidence': 'high',
         'kind': 'published_benchmark', **SOURCE}

POWER = {'id': 'acme-p1', 'category': 'server', 'subject': 'Acme server', 'metric': 'wall power', 'value': '6.5', 'unit': 'kW',
         'confidence': 'high', 'kind': 'datasheet', **SOURCE}


def add(name, row, file, *more, **changes):
    cells = {**row, **changes}
    return run('catalog', 'add', name, *(f'{key}={value}' for key, value in cells.items() if value is not None), '-o', file,
               *more, environment=DAY)


def rows_of(file):
    with open(file, encoding='utf-8', newline='') as opened:
        return list(csv.DictReader(opened))


def acme(folder):
    """A file with an accelerator, its price and its speed."""
    file = folder / 'acme.csv'
    if not file.exists():
        expect_exit(add('accelerators', PART, file), DONE, 'graded published')
        expect_exit(add('prices', PRICE, file, id='acme-x1-list', accelerator='acme-x1',
                        usd_per_gpu_equivalent='15000'), DONE)
        expect_exit(add('throughput', SPEED, file), DONE)
    return file


def test_added(folder):
    """The cells as given, an alias replaced by its id; what already exists stays."""
    file = folder / 'own.csv'
    expect_exit(add('prices', PRICE, file), DONE, f'added acme-h200 to {file}, graded published', 'Acme')
    expect_exit(add('models', {}, file), BAD_INPUT, 'a row of models also needs, as COLUMN=VALUE: id, name, layers')
    first = file.read_bytes()
    expect_exit(add('accelerators', PART, file), DONE)
    price, part = rows_of(file)
    for row, given, name in ((price, {**PRICE, 'accelerator': 'h200-sxm-141'}, 'prices'), (part, PART, 'accelerators')):
        filled = {key: value for key, value in row.items() if value}
        expect(filled == {'table': name, **given}, f'{filled}')
    expect(len(first.splitlines()) == 2, first)


def test_documented(folder):
    """The commands in docs/evidence.md write the example."""
    [command] = re.findall(r'^```sh\npertoken (catalog add .*?)^```', (ROOT / 'docs/evidence.md').read_text(), re.S | re.M)
    expect_exit(run(*shlex.split(command.replace('\\\n', ' ')), cwd=folder, environment=DAY), DONE)
    expect((folder / 'own-rows.csv').read_text() == (ROOT / 'examples/own-rows.csv').read_text(), 'another file')


def test_listed(folder):
    file = acme(folder)
    for name, count in (('prices', 1), ('accelerators', 1), ('throughput', 1), ('models', 0)):
        rows = run_json('catalog', name, '--data-extra', file)['rows']
        expect(len(rows) == len(table(name)) + count, f'{name}: {len(rows)}')
    expect_exit(run('catalog', 'prices', '--where', 'accelerator=acme-x1', '--data-extra', file), DONE,
                '1 of all from your own files')


def test_used(folder):
    """A scenario with an accelerator that only the user knows: drafted, compared, explained, reported,
    packed."""
    file, scenario = acme(folder), folder / 'acme.ini'
    extra = ('--data-extra', file)
    expect_exit(run('new', 'acme-x1', 'mi325x', '--model', 'llama-3.1-70b', '--count', 64, '-o', scenario, *extra,
                    environment=DAY), DONE)
    answer = run_json('compare', scenario, *extra)
    option = answer['options'][0]
    other = folder / 'other.csv'
    other.write_text(file.read_text().replace('Acme X1 datasheet', 'Acme').replace(',2000,', ',2001,'))
    digest = run_json('compare', scenario, '--data-extra', other)['scenario']['sha256']
    expect(digest != answer['scenario']['sha256'], 'other rows, and the same digest')
    expect(option['accelerator'] == 'acme-x1' and option['items']['throughput'] == 2000, option['items']['throughput'])
    explained = run('explain', scenario, 'acme.cost_per_mtok', *extra)
    places = [f'{file}:{line}' for line in (2, 3, 4)]
    expect_exit(explained, DONE, *places)
    expect_exit(run('fit', '--where', 'accelerator=acme-x1', '--where', 'model=llama-3.1-70b', *extra), DONE, 'acme-x1')
    expect_exit(run('compare', scenario), BAD_INPUT, "unknown accelerator 'acme-x1'")
    book = folder / 'acme.xlsx'
    expect_exit(run('report', scenario, '-q', '-o', book, *extra), DONE)
    with zipfile.ZipFile(book) as archive:
        texts = archive.read('xl/sharedStrings.xml').decode()
    expect(all(place in texts for place in places) and 'data/acme.csv' not in texts, 'evidence in the workbook')
    pack = folder / 'acme.tar'
    expect_exit(run('evidence', 'pack', '-o', pack, scenario, *extra), DONE)
    expect(b'files/acme.csv' in pack.read_bytes(), 'the file is not packed')


def test_own_model(folder):
    """A model that only the user knows fits where its twin does, and the probe accepts it."""
    file, twin = folder / 'model.csv', table('models')['smollm-135m']
    row = {**{key: value for key, value in twin.items() if value}, 'id': 'own-135m', 'name': 'Own 135M'}
    expect_exit(add('models', row, file), DONE)
    fits = [run('fit', '--where', f'model={model}', '--where', 'accelerator=h200-sxm-141', '--data-extra', file, '--format', 'csv',
                '-q').stdout.replace('own-135m', 'smollm-135m') for model in ('own-135m', 'smollm-135m')]
    expect(fits[0] == fits[1] and len(fits[0].splitlines()) > 2, fits[0])
    for command in (('run', '--device', 'cpu:0', '--verify-only'), ('serving', 'http://127.0.0.1:9', '--accelerator', 'h200', '--accelerators', 1, '--precision', 'fp8')):
        done = run(*command, '--model', 'own-136m', '--data-extra', file, program=PROBE, cwd=folder)
        expect_exit(done, BAD_INPUT, "did you mean 'own-135m'?")


# What is wrong with a row, and the message.
REFUSED = [
    ('prices', PRICE, {'accelerator': 'h2000'}, "unknown accelerator 'h2000'; did you mean 'h200-sxm-141'?"),
    ('prices', PRICE, {'kind': 'hearsay'}, "expected a known word in 'kind', found 'hearsay'; there are published_benchmark"),
    ('prices', PRICE, {'kind': None, 'source_url': None}, 'source_url, kind'),
    ('prices', PRICE, {'source_title': ''}, "expected a value for 'source_title'"),
    ('prices', PRICE, {'as_of': 'yesterday'}, 'expected a date such as'),
    ('prices', PRICE, {'usd_per_gpu_equivalent': '29,000'}, 'expected a finite number'),
    ('prices', PRICE, {'usd_per_gpu_equivalent': '-1'}, 'expected a number of at least 0'),
    ('prices', PRICE, {'id': 'pr008'}, "row 'pr008' already exists"),
    ('prices', PRICE, {'as_of': '2099-10-01'}, "expected a date up to 2026-11-23 in 'as_of', found '2099-10-01'"),
    ('prices', PRICE, {'as_of': '2026-12'}, 'expected a date up to 2026-11-23'),
    ('prices', PRICE, {'price_point': '31000', 'gpus_in_item': '8'},
     "'usd_per_gpu_equivalent' times 'gpus_in_item', 29000 x 8, is 232000, and the row states 31000"),
    ('prices', PRICE, {'price_point': '2.75', 'gpus_in_item': '8', 'usd_per_gpu_equivalent': '0.35'},
     "'usd_per_gpu_equivalent' times 'gpus_in_item', 0.35 x 8, is 2.8, and the row states 2.75"),
    ('prices', PRICE, {'price_low': '20000', 'price_high': '30000'},
     "'usd_per_gpu_equivalent' times 'gpus_in_item', 29000 x 1, is 29000, and the row states 25000"),
    ('prices', PRICE, {'price_low': '30000', 'price_point': '29000'}, "'price_point', 29000, is below 'price_low', 30000"),
    ('throughput', SPEED, {'accelerator': 'h200', 'tokens_per_s_per_gpu': '16000'},
     "'tokens_per_s_per_gpu' times 'num_gpus', 16000 x 8, is 128000, and the row states 16000"),
    ('power', POWER, {'low': '8', 'high': '2'}, "'value', 6.5, is below 'low', 8"),
    ('power', POWER, {'value': '1.2', 'gpus': '8', 'per_gpu_value': '157'}, '157 x 8, is 1256, and the row states 1200'),
    ('power', POWER, {'gpus': '8', 'per_gpu_value': '900'}, "'per_gpu_value' times 'gpus', 900 x 8, is 7200, and the row states 6500"),
    ('prices', PRICE, {'provder': 'x'}, "'provder' is not a column of the table prices; did you mean 'provider'?"),
    ('pricse', PRICE, {}, "did you mean 'prices'?"),
    ('accelerators', PART, {'name': 'NVIDIA H200 SXM'}, ''),
]


# What is rounded, or in another time, contradicts nothing.
ALIKE = [
    ('prices', PRICE, {'price_point': '2.75', 'gpus_in_item': '8', 'usd_per_gpu_equivalent': '0.34'}),
    ('prices', PRICE, {'price_point': '21.9', 'gpus_in_item': '8', 'usd_per_gpu_equivalent': '2.73'}),
    ('prices', PRICE, {'price_point': '15000', 'gpus_in_item': '8', 'usd_per_gpu_equivalent': '2.57', 'unit': 'USD per month'}),
    ('power', POWER, {'value': '1.2', 'gpus': '8', 'per_gpu_value': '155'}),
]


def test_alike(folder):
    for name, row, changes in ALIKE:
        file = folder / 'alike.csv'
        expect_exit(add(name, {**row, **changes}, file), DONE)
        file.unlink()


def test_refused(folder):
    """With status 2 and a message; the file is unchanged, or is not created."""
    shipped = table('accelerators')['h200-sxm-141']['name']
    file = folder / 'refused.csv'
    for name, row, changes, words in REFUSED:
        if name == 'accelerators':
            changes, words = {'name': shipped}, f"'{shipped}' is already h200-sxm-141 (data/accelerators.csv:"
        expect_exit(add(name, {**row, **changes}, file), BAD_INPUT, words)
        expect(not file.exists(), f'{changes}: a file is left')
    expect_exit(run('catalog', 'add', 'prices', 'id=x'), BAD_INPUT, 'with -o FILE')
    expect_exit(run('catalog', 'add'), BAD_INPUT, 'name the table')
    expect_exit(run('catalog', 'add', 'prices', 'id', '-o', file), BAD_INPUT, 'expected COLUMN=VALUE')
    expect_exit(run('catalog', 'add', 'prices', 'id=a', 'id=b', '-o', file), BAD_INPUT, "'id' is given twice")


HEADER = 'table,id,category,accelerator,item,provider,price_basis,currency,unit,usd_per_gpu_equivalent,region,' \
         'confidence,kind,source_title,source_url,as_of,tdp_w'
ROW = 'prices,{id},gpu,h200-sxm-141,H200,{provider},{basis},USD,USD per GPU,{usd},,high,list_price,t,u,{day},{tdp_w}'
GOOD = {'id': 'mine', 'provider': 'Acme', 'basis': 'purchase', 'usd': '1', 'day': '2026-11-01', 'tdp_w': ''}
BAD_FILES = [
    ('', 'expected a line of column names'),
    ('id,kind\n', "expected a column 'table'"),
    (HEADER + '\n' + ROW.format(**GOOD).replace('prices,', 'price,', 1), "found 'price'; did you mean 'prices'?"),
    (HEADER + '\n' + ROW.format(**{**GOOD, 'tdp_w': '700'}), "'tdp_w' is not a column of the table prices"),
    (HEADER + '\n' + ROW.format(**{**GOOD, 'id': 'pr008'}), "'pr008' is already in data/prices.csv:"),
    (HEADER + '\n' + ROW.format(**GOOD) + '\n' + ROW.format(**GOOD), "'mine' is already in "),
    (HEADER + '\n' + ROW.format(**{**GOOD, 'id': ''}), "expected a value for 'id'"),
    (HEADER + '\n' + ROW.format(**{**GOOD, 'day': ''}), "expected a value for 'as_of'"),
    (HEADER + '\n' + ROW.format(**{**GOOD, 'usd': 'much'}), "expected a finite number in 'usd_per_gpu_equivalent'"),
    (HEADER + '\n' + ROW.format(**GOOD).replace('h200-sxm-141', 'h200-sxm-142'), "did you mean 'h200-sxm-141'?"),
    (HEADER + '\n' + ROW.format(**GOOD).replace(',u,', ',', 1), 'expected 17 cells as in the header, found 16'),
]


def test_bad_files(folder):
    """Reported with file, line and column by every command that reads the catalogue, whether it needs the table
    or not."""
    file = folder / 'bad.csv'
    for text, words in BAD_FILES:
        file.write_text(text)
        for command in (('catalog', 'aliases'), ('compare', 'examples/mi325x-vs-h200.ini'),
                        ('catalog', 'add', 'aliases', '-o', file)):
            extra = () if 'add' in command else ('--data-extra', file)
            done = run(*command, *extra)
            expect_exit(done, BAD_INPUT, words, f'{file}')
        expect(file.read_text() == text, 'the file was changed')
    expect_exit(run('catalog', '--data-extra', folder / 'none.csv'), BAD_INPUT, 'No such file')


def test_contradiction(folder):
    """A shipped row of the same provider, basis and day with another figure, or with the same."""
    shipped = next(row for row in table('prices').values()
                   if row['accelerator'] == 'h200-sxm-141' and row['price_basis'] == 'purchase')
    file = folder / 'against.csv'
    for usd, words in (('12345', f"mine contradicts {shipped['id']} (data/prices.csv:"),
                       (shipped['usd_per_gpu_equivalent'], f"mine repeats {shipped['id']} (data/prices.csv:")):
        file.unlink(missing_ok=True)
        keys = ('accelerator', 'provider', 'price_basis', 'unit', 'region', 'gpus_in_item', 'as_of')
        same = {key: shipped[key] for key in keys if shipped[key]}
        expect_exit(add('prices', PRICE, file, id='mine', usd_per_gpu_equivalent=usd, **same), DONE, 'warning: ' + words)
        done = run('catalog', 'prices', '--data-extra', file)
        expect_exit(done, DONE, words)
        expect(done.stderr.count(words) == 1, done.stderr)
    expect_exit(add('prices', PRICE, folder / 'word.csv', price_basis='purchse'), DONE,
                "no other row has 'purchse' as price_basis; they have: purchase")


def test_of_many_alike(folder):
    """Each of several identical rows of the user is compared with the shipped one and with the first of the
    user's own."""
    shipped = next(row for row in table('prices').values()
                   if row['accelerator'] == 'h200-sxm-141' and row['price_basis'] == 'purchase')
    cells = {key: value for key, value in {**shipped, 'table': 'prices'}.items() if value}
    file = folder / 'alike.csv'
    with open(file, 'w', encoding='utf-8', newline='') as out:
        rows = csv.DictWriter(out, cells)
        rows.writeheader()
        for number, provider in enumerate((cells['provider'].upper(), cells['provider'], cells['provider'], 'Another')):
            rows.writerow({**cells, 'id': f'own-{number}', 'provider': provider})
    done = run('catalog', 'prices', '--data-extra', file)
    said = re.findall(r'warning: (\S+) repeats (\S+) ', done.stderr)
    expected = [('own-0', shipped['id']), ('own-1', shipped['id']), ('own-1', 'own-0'), ('own-2', shipped['id']), ('own-2', 'own-0')]
    expect(done.returncode == DONE and said == expected, done.stderr)


def test_long_comment(folder):
    """Words without a space, of multi-byte characters, are split between characters in a draft."""
    file, doubt = folder / 'long.csv', 'x' + '不確か' * 40
    expect_exit(add('throughput', SPEED, file, accelerator='h200', doubt=doubt), DONE)
    draft = folder / 'long.ini'
    expect_exit(run('new', 'h200', '--model', 'llama-3.1-70b', '--count', 8, '--data-extra', file, '--set',
                    'h200.evidence=acme-t1', '-o', draft, '-q'), DONE)


def test_consistent(folder):
    """Rounded figures, a year that has begun, and another currency, whose rate is told, are no contradiction."""
    for number, (name, row, changes, words) in enumerate((
            ('power', POWER, {'gpus': '8', 'per_gpu_value': '812'}, 'added'), ('prices', PRICE, {'as_of': '2026'}, 'added'),
            ('prices', PRICE, {'price_low': '28000', 'price_point': '29000', 'price_high': '33000'}, 'added'),
            ('prices', PRICE, {'price_point': '200000', 'gpus_in_item': '8', 'currency': 'EUR'}, 'counts 1 EUR as 1.16 USD'))):
        expect_exit(add(name, row, folder / f'{number}.csv', **changes), DONE, words)


def test_no_file(folder):
    expect_exit(add('prices', PRICE, '-'), BAD_INPUT, 'expected -o FILE, your own file')


def test_asked(folder):
    """On a terminal: required cells until they are valid, then the optional ones."""
    file = folder / 'asked.csv'
    answers = ['prices', str(file), '', 'gpu', 'h2000', 'h200', 'H200 SXM', '', '?', 'Acme', 'purchase', 'USD',
               'USD per GPU', '29000', 'sure', 'high', 'Acme list', 'https://acme.example', 'soon', '2026-11-01',
               'list_price', '?', 'regoin=US', 'region=US', '']
    status, said = asked('catalog', 'add', answers=answers, environment=DAY)
    expect(status == DONE, said)
    for words in ('id (a name for the row) [own-1]', "unknown accelerator 'h2000'", 'provider must be given', 'Hugging Face',
                  'kind (published_benchmark, ', "found 'sure'", "found 'soon'", "did you mean 'region'?"):
        expect(words in said, f'{words!r} is not in\n{said}')
    [row] = rows_of(file)
    expect(row['id'] == 'own-1' and row['region'] == 'US' and row['accelerator'] == 'h200-sxm-141', row)


if __name__ == '__main__':
    run_tests(globals())
