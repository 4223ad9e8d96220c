#!/usr/bin/python3
"""Names as people type them: accepted if they are unambiguous, else rejected with the candidates.

    check_names_typed.py [NAME...]

The interpretation of a name is shown on every face. PERTOKEN and PROBE name the programs.
"""
import pathlib
import re
import zipfile

from support.program import BAD_INPUT, DONE, NO, PROBE, ROOT, expect, expect_exit, run, run_csv, run_json, run_tests
SCENARIO = """[scenario]
title = Names
date = 2026-10-01
[workload]
model = {model}
precision = {precision}
scenario = {scenario}
[common]
accelerators = 8
utilization = {share}
electricity_price = {electricity}
pue = 1.3
horizon = 3 yr
[option a]
accelerator = {accelerator}
list_price = {price}
throughput = 3000 token/s
load_power = 900 W
accelerators_per_node = 8
[option b]
accelerator = mi300x-192
list_price = 20000 USD
throughput = 2900 token/s
"""
USUAL = {'model': 'llama-2-70b', 'precision': 'fp8', 'scenario': 'server', 'share': '70 %', 'price': '25000 USD',
         'electricity': '0.08 USD/kWh', 'accelerator': 'h100-sxm5-80'}

# What is typed, and what it is equivalent to.
TAKEN = [
    ('accelerator', 'H100', 'h100-sxm5-80'),
    ('accelerator', 'h100 SXM', 'h100-sxm5-80'),
    ('accelerator', 'H100-SXM5-80', 'h100-sxm5-80'),
    ('accelerator', 'MI355X', 'mi355x-288'),
    ('accelerator', 'B200', 'b200-sxm-180'),
    ('accelerator', 'h200', 'h200-sxm-141'),
    ('accelerator', 'MI400', 'mi455x-432'),
    ('model', 'Llama-2-70B', 'llama-2-70b'),
    ('model', 'Llama 2_70b', 'llama-2-70b'),
    ('model', 'llama-3-70b', 'llama-3.1-70b'),
    ('precision', 'FP8', 'fp8'),
    ('precision', 'FP4', 'fp4'),
    ('precision', 'fp6', 'mxfp6'),
    ('scenario', 'Server', 'server'),
    ('share', '70 percent', '70 %'),
    ('electricity', '0.08 $/kWh', '0.08 USD/kWh'),
    ('price', '25k USD', '25000 USD'),
    ('price', '25k $', '25000 USD'),
    ('price', '0.025M USD', '25000 USD'),
    ('price', '25 k USD', '25000 USD'),
    ('price', '25kUSD', '25000 USD'),
    ('price', '$25k per GPU', '25000 USD'),
    ('electricity', '0.08 USD per kWh', '0.08 USD/kWh'),
    ('electricity', '0.08, 0.09 USD per kWh', '0.08, 0.09 USD/kWh'),
    ('electricity', '$0.08/kWh', '0.08 USD/kWh'),
]

# What is typed, and the text of the only error.
ASKED_BACK = [
    ('accelerator', 'MI355', "unknown accelerator 'MI355'; did you mean 'mi355x-288'?"),
    ('accelerator', 'MI355X-289', "did you mean 'mi355x-288'?"),
    ('accelerator', 'GH200', "'GH200' matches more than one accelerator: gh200-96, gh200-144; choose one"),
    ('accelerator', 'MI350', "'MI350' matches more than one accelerator: mi350x-288, mi350p-144; choose one"),
    ('accelerator', 'h10', "unknown accelerator 'h10'; did you mean 'h100-sxm5-80'?"),
    ('accelerator', 'MI308X', "unknown accelerator 'MI308X'; see 'pertoken catalog accelerators'"),
    ('accelerator', 'abacus', "unknown accelerator 'abacus'; see 'pertoken catalog accelerators'"),
    ('model', 'llama-3-71b', "did you mean 'llama-3.1-70b'?"),
    ('model', 'gpt', 'matches more than one model: '),
    ('precision', 'fp9', "unknown precision 'fp9'; did you mean"),
    ('precision', 'half', "unknown precision 'half': expected bf16, fp16, fp8, fp4"),
    ('price', '2,300 USD', "write '2300 USD' or '2.3 USD'"),
    ('price', '25.000 USD', "'25.000 USD' may mean 25000 or 25: write '25000 USD' or '25 USD'"),
    ('price', '1,250,000 USD', "write '1250000 USD'"),
    ('price', '2300,50 USD', "write '2300.5 USD'"),
    ('price', '25 TUSD', "unknown unit 'TUSD': write 'kUSD' for thousands"),
    ('electricity', '8 ct/kWh', "unknown unit 'ct': 8 ct/kWh is 0.08 USD/kWh"),
    ('electricity', '0.08 ¥/kWh', "unknown unit '¥/kWh': expected a quantity such as '100 USD/kWh'"),
    ('electricity', '0.08 $/kwh', "unknown unit 'kwh'; did you mean 'kWh'?"),
    ('electricity', '0.08 $;', "names.ini:11:26: error: unknown unit '$;'"),
]
NOTE = "'H100' is read as h100-sxm5-80: the SXM5 form"


def written(folder, **changes):
    path = folder / 'names.ini'
    path.write_text(SCENARIO.format(**{**USUAL, **changes}), encoding='utf-8')
    return path


def without_words(result):
    """A result without the file's name, and without the text about how a name was interpreted."""
    del result['scenario']
    for holder, texts in ((result, 'notes'), (result, 'warnings'), *((option, 'warnings') for option in result['options'])):
        holder[texts] = [text for text in holder[texts] if 'is read as' not in text]
    return result


def test_taken(folder):
    for key, typed, meant in TAKEN:
        found, expected = (without_words(run_json('compare', written(folder, **{key: value}))) for value in (typed, meant))
        expect(found == expected, f'{key} = {typed} is not {meant}')


def test_asked_back(folder):
    for key, typed, words in ASKED_BACK:
        done = run('compare', written(folder, **{key: typed}))
        expect_exit(done, BAD_INPUT, words)
        expect(done.stderr.count('error: ') == 1, f'{key} = {typed}:\n{done.stderr}')


def test_words_for_inputs(folder):
    """Each word of model/cost/words.c leads to an input that there is."""
    words = dict(re.findall(r'^ *\{"(\w+)", "(\w+)"\},$', (ROOT / 'model/cost/words.c').read_text(), re.M))
    settings = [f'--set={word}=1' for word in words if word != 'price']  # a key of its own
    said = run('compare', written(folder), *settings).stderr
    for word, meant in words.items():
        wanted = f"unknown key '{word}' in --set; did you mean '{meant}'?"
        expect(word == 'price' or wanted in said, f'{word}: {said}')
    expect(len(words) > 40, f'only {len(words)} words')


def test_nothing_follows_an_unknown_accelerator(folder):
    """What the catalogue would have supplied is not reported as missing as well."""
    path = written(folder, accelerator='abacus')
    given = 'throughput = 3000 token/s\nload_power = 900 W\naccelerators_per_node = 8\n'
    path.write_text(path.read_text().replace(given, ''), encoding='utf-8')
    done = run('compare', path)
    expect_exit(done, BAD_INPUT, 'unknown accelerator')
    expect(done.stderr.count('error: ') == 1, done.stderr)


def test_said_on_every_face(folder):
    path = written(folder, accelerator='H100')
    faces = {face: ' '.join(run('compare', path, '-q', '--format', face).stdout.split())
             for face in ('table', 'json')}
    faces['explain'] = ' '.join(run('explain', path, 'a.tco').stderr.split())
    for command, name in (('page', 'out.html'), ('report', 'out.xlsx')):
        expect_exit(run(command, path, '-q', '-o', folder / name), DONE)
    faces['page'] = (folder / 'out.html').read_text().replace("\\u0027", "'")
    with zipfile.ZipFile(folder / 'out.xlsx') as workbook:
        faces['workbook'] = workbook.read('xl/sharedStrings.xml').decode()
    for face, text in faces.items():
        expect(NOTE in text, f'{face} does not say how H100 was read')
    expect({row['accelerator'] for row in run_csv('compare', path) if row['accelerator']} == {'h100-sxm5-80', 'mi300x-192'}, 'csv')
    expect(NOTE in run('compare', path, '--format', 'csv').stderr, 'nothing is said beside csv')
    expect('is read as' not in run('compare', written(folder)).stdout, 'an id needs no reading')
    for word, told in (('ofline', True), ('own', False), ('SERVER', False)):
        said = run('compare', written(folder, scenario=word)).stderr
        expect((f"no published throughput has scenario '{word}': is 'offline' meant?" in said) == told, said)


def test_demands(folder):
    """A portfolio's demands, and a throughput typed for the workload of one of them."""
    text = (ROOT / 'examples/portfolio.ini').read_text()
    text = text.replace('evidence = tp0049\n', 'throughput = 1000 token/s\n').replace('evidence.h100 = tp0544\n', '')
    text = text.replace('evidence.h100 = tp0051\n', '')
    typed = text
    for name, as_typed in (('[demand chat]', '[demand chat]\nmodel = Llama 2 70B\nprecision = FP8\nscenario = Server'),
                           ('model = mixtral-8x7b', 'model = Mixtral-8x7B'), ('= interactive', '= Interactive'),
                           ('model = llama-3.1-405b', 'model = Llama_3.1 405b')):
        typed = typed.replace(name, as_typed)
    answers = []
    for name, content in (('as-written', text), ('as-typed', typed)):
        path = folder / f'{name}.ini'
        path.write_text(content, encoding='utf-8')
        answers.append(run_json('route', path, statuses=(DONE, NO)))
        del answers[-1]['scenario']
    expect(typed != text and answers[0] == answers[1], 'a portfolio differs by how its names are typed')


def test_conditions(_):
    rows = run_json('catalog', 'prices', '--where', 'accelerator=H100')
    expect({row['accelerator'] for row in rows['rows']} == {'h100-sxm5-80'}, 'of another accelerator')
    expect(any('is read as h100-sxm5-80' in note for note in rows['notes']), rows['notes'])
    done = run('fit', '--where', 'accelerator=H100', '--where', 'model=llama-3-70b', '--where', 'precision=FP8')
    expect_exit(done, DONE, 'h100-sxm5-80', 'llama-3.1-70b', 'fp8', 'is read as')
    expect_exit(run('fit', '--where', 'accelerator=gh200'), BAD_INPUT, 'gh200-96, gh200-144; choose one')


def test_probe(_):
    done = run('run', '--model', 'TinyLlama', '--layers', '1', '--verify-only', program=PROBE)
    expect_exit(done, BAD_INPUT, "did you mean 'tinyllama-1.1b'?")
    done = run('run', '--model', 'SmolLM-135M', '--layers', '1', '--verify-only', program=PROBE)
    expect_exit(done, DONE, 'smollm-135m on ')


def test_older_catalogue(folder):
    """A catalogue without aliases has its ids."""
    older = folder / 'older'
    older.mkdir()
    for path in pathlib.Path('data').resolve().glob('*.csv'):
        if path.name != 'aliases.csv':
            (older / path.name).write_bytes(path.read_bytes())
    expect_exit(run('compare', written(folder), '--data', older), DONE)
    expect_exit(run('compare', written(folder, accelerator='H100'), '--data', older), BAD_INPUT, 'matches more than one')


def test_parts(_):
    """Parts whose names begin like another's are not that one."""
    for typed, part in (('H20', 'h20-96'), ('L4', 'l4-24'), ('MI350P', 'mi350p-144'), ('VR200', 'vera-rubin-nvl72')):
        fits = run_json('fit', '--where', f'accelerator={typed}', statuses=(DONE, NO))['answers'][0]['tables']['fits']
        expect({row['accelerator'] for row in fits['rows']} == {part}, f'{typed}: {fits["rows"][:1]}')


if __name__ == '__main__':
    run_tests(globals())
