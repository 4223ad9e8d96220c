#!/usr/bin/python3
"""A case says what the scenario says that is written out without cases.

Every case here is written a second time by hand: its keys stand in the option or in [workload]. Both must give the same
figures with the same grade, the same verdict and the same warnings, or be refused for the same reason.
Seconds: 6
"""
import json
import re

from support.program import DONE, expect, run, run_tests

HEAD = """\
[scenario]
title = Written out
date = 2026-11-10
[workload]
model = llama-2-70b
precision = fp8
input_tokens = {input} token
output_tokens = 256 token
{workload}
[common]
accelerators = 64
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
[option a]
{a}
[option b]
accelerator = mi325x-256
list_price = 20000 USD
{b}
"""
OFFER = """\
[offer]
vendor = Example Compute
reference = Q-1
date = 2026-11-02
currency = USD
accelerator = h200-sxm-141
accelerators = 64 gpu
nodes = 8 node
[price]
accelerators = 27500 USD/gpu
[acceptance]
tolerance = 2 %
remedy = 1 %
remedy_limit = 10 %
"""
GUARANTEE = """\
[guarantee of_{0}]
model = llama-2-70b
precision = fp8
basis = serving
input_tokens = {0} token
output_tokens = 256 token
tokens_per_s = {1} token/s/gpu
power = {2} W/gpu
"""
TYPED = 'accelerator = h200-sxm-141\nlist_price = 30000 USD\nthroughput = 1500 token/s'
RATE = 'throughput = 1400 token/s'
QUOTED = 'quote = offer.ini'
RANGE = '[range]\ninput_tokens = uniform(900, 1100) token\n'
# What the option a states, a case, and the same by hand: what b or a states more, or the prompts' length.
CASES = {
    'a length of all options': (TYPED, 'input_tokens = 2048 token', {'input': 2048}),
    'a length of one option': (TYPED, 'b.input_tokens = 2048 token', {'b': 'input_tokens = 2048 token'}),
    'a length within 5 %': (TYPED, 'b.input_tokens = 1060 token', {'b': 'input_tokens = 1060 token'}),
    'a guaranteed length': (QUOTED, 'input_tokens = 4096 token', {'input': 4096}),
    'a rate below the guaranteed one': (QUOTED, f'a.{RATE}', {'a': RATE}),
    'a rate of all options': (QUOTED, RATE, {'workload': RATE}),
}


def written(folder, text):
    (folder / 'offer.ini').write_text(OFFER + GUARANTEE.format(1024, 1600, 640) + GUARANTEE.format(4096, 500, 660))
    path = folder / 'written.ini'
    path.write_text(text)
    return path


def scenario(stated, case='', **by_hand):
    more = {'input': 1024, 'workload': '', 'b': 'throughput = 1400 token/s', 'a': stated}
    if stated == QUOTED:
        more['b'] = ''
    for where, said in by_hand.items():
        more[where] = f'{more[where]}\n{said}' if where in 'ab' else said
    text = HEAD.format(**more)
    if stated == QUOTED:
        text = text[:text.index('[option b]')]
    return text + (f'[case x]\n{case}\n' if case else '')


def answer_of(folder, text, *arguments):
    """What is answered, or why it is refused; the place and the name of a case are another."""
    path = written(folder, text)
    done = run('compare', path, '--format', 'json', *arguments)
    if done.returncode != DONE:
        return re.sub(" in case 'x'", '', re.sub(r'^\S+: ', '', done.stderr.splitlines()[0]))
    answer = json.loads(done.stdout)
    of_options = [{key: option[key] for key in ('items', 'grade', 'warnings') if key in option}
                  for option in answer['options']]
    return of_options, answer['cheapest'], answer.get('why_none'), sorted(done.stderr.splitlines())


def test_cases(folder):
    for name, (a, case, by_hand) in CASES.items():
        found = answer_of(folder, scenario(a, case), '--case', 'x')
        wanted = answer_of(folder, scenario(a, **by_hand))
        expect(found == wanted, f'{name}: {str(found)[:500]}, by hand {str(wanted)[:500]}')


def test_unlike(folder):
    """Refused in whichever case, and ranked with --mixed in the others; a page or workbook shows all of them."""
    path = written(folder, scenario(TYPED, 'label = Longer\nb.input_tokens = 2048 token'))
    for arguments in ((), ('--case', 'x'), ('--all-cases',)):
        said = run('compare', path, *arguments).stderr
        expect("are not comparable in case 'x', input_tokens: 1024 and 2048" in said, said)
    for case, ranked in (('base', True), ('x', False)):
        answer = json.loads(run('compare', path, '--mixed', '--case', case, '--format', 'json').stdout)
        expect(bool(answer['cheapest']) == ranked, f'{case}: {answer["cheapest"]}')
    page = folder / 'page.html'
    run('page', path, '--mixed', '-o', page)
    expect('in case Longer its workload differs from that of the baseline' in page.read_text(), 'the page')


def test_lengths_not_guaranteed(folder):
    said = run('compare', written(folder, scenario(QUOTED, 'input_tokens = 8192 token'))).stderr
    expect("guarantees no 'throughput' for the request lengths of option 'a' in case 'x'" in said, said)


def test_two_guarantees(folder):
    """One error, whether the base case's lengths or a case's are of two guarantees."""
    for base, case in ((1100, ''), (700, 'input_tokens = 1100 token')):
        text = scenario(f'{QUOTED}\nthroughput = 1500 token/s' if case else QUOTED, case, input=base)
        path = written(folder, text.replace('throughput = 1500 token/s\n', ''))
        (folder / 'offer.ini').write_text(OFFER + ''.join(GUARANTEE.format(length, 400, 600)
                                                          for length in (720, 1080, 1120)))
        said = run('compare', path).stderr
        expect(said.count('error:') == 1 and 'guarantees 2 rates' in said, said)
        expect(("of option 'a' in case 'x'" in said) == bool(case), said)
        told = path.read_text()
        path.write_text(told + f'a.{RATE}\n' if case else told.replace(QUOTED, f'{QUOTED}\n{RATE}'))
        done = run('compare', path)
        expect(done.returncode == DONE, done.stderr)


def test_what_was_found_for_a_length(folder):
    """A length is fixed only where the offer gives the option something for it, which is named."""
    given = {'throughput': scenario(QUOTED), 'power': scenario(QUOTED, a=RATE),
             'remedy': scenario(QUOTED, a=RATE + '\nload_power = 700 W')}
    for what, text in given.items():
        said = run('compare', written(folder, text + RANGE)).stderr
        expect(f"a range on 'input_tokens' is not drawn: the {what} of a was found" in said, f'{what}: {said}')
    path = written(folder, given['remedy'] + RANGE)
    (folder / 'offer.ini').write_text((folder / 'offer.ini').read_text().replace('remedy', ';'))
    done = run('compare', path)
    expect(done.returncode == DONE, done.stderr)


def test_a_remedy_that_does_not_count(folder):
    """In a case as by hand, though the case has a remedy of 0 beside the base case's."""
    stated = f'{QUOTED}\n{RATE}'
    written(folder, scenario(stated, 'input_tokens = 700 token'))
    for case, counts in (('base', True), ('x', False)):
        said = run('compare', folder / 'written.ini', '--case', case, '-q').stdout
        expect(('does not count' in ' '.join(said.split())) != counts, f'{case}: {said}')


def watts_of(folder, text, *arguments):
    said = run('explain', written(folder, text), 'a.load_power', '-q', *arguments).stdout
    return re.search(r'^load_power = (\S+) W/gpu +\[(\w+)]', said, re.M).groups()


def test_watts_of_a_stated_rate(folder):
    """A rate has the guaranteed watts wherever it is stated: in the option, in a case or with --set."""
    found = scenario(QUOTED)
    ways = {'found': (found,), 'option': (scenario(QUOTED, a=RATE),), 'workload': (scenario(QUOTED, workload=RATE),),
            'case': (scenario(QUOTED, f'a.{RATE}'), '--case', 'x'), '--set': (found, f'--set=a.{RATE}'),
            '--set over the option': (scenario(QUOTED, a=RATE), f'--set=a.{RATE}')}
    for way, (text, *arguments) in ways.items():
        watts = watts_of(folder, text, *arguments)
        expect(watts == ('640', 'quoted'), f'{way}: {watts}')


def test_watts_of_the_option(folder):
    """A what-if over a rate that the option states does not bring a published row's watts."""
    text = scenario(TYPED).replace('input_tokens = 1024 token\noutput_tokens = 256 token', 'scenario = server')
    text = text.replace('h200-sxm-141', 'b200-sxm-180').replace('precision = fp8', 'precision = fp4')
    text = text.replace('llama-2-70b', 'llama-3.1-8b')
    published = watts_of(folder, text.replace('throughput = 1500 token/s\n', 'evidence = tp0144\n', 1))
    found, changed = (watts_of(folder, text, *arguments) for arguments in ((), (f'--set=a.{RATE}',)))
    expect(published != found == changed, f'{found} W, changed {changed} W, published {published} W')


if __name__ == '__main__':
    run_tests(globals())
