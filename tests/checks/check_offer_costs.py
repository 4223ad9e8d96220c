#!/usr/bin/python3
"""What the terms of an offer do to a scenario's costs: remedies and replacements with and without draws, warranty, two
revisions, an offer in a case, a throughput that is stated over what is guaranteed.

Seconds: 3
"""
import re
import shutil
import statistics
from pathlib import Path

from support.delivery import EXAMPLE, accept
from support.program import BAD_INPUT, Count, DONE, expect, expect_exit, near, run, run_json


def test_replacement_in_costs(folder):
    """Without draws as with them: the guaranteed speed, once the measured one is below it by more than its
    tolerance."""
    scenario, offered = Path(folder) / 'quoted.ini', Path(folder) / 'offer.ini'
    for name in ('quoted.ini', 'offer.ini', 'offer-revised.ini'):
        shutil.copy(EXAMPLE / name, folder)
    money = offered.read_text()
    offered.write_text(money[:money.index('remedy  ')] + 'remedy = replacement\n')

    def items(*sets, path=scenario, more=()):
        settings = [word for one in (*sets, 'h200.load_power=640 W') for word in ('--set', one)]
        return {one['id']: one['items'] for one in run_json('compare', path, *settings, *more)['options']}['h200']
    full = items('h200.throughput=3900 token/s')
    for speed, counted in ((3900, 3900), (3823, 3823), (3821, 3900), (2000, 3900), (4200, 4200)):
        found = items(f'h200.throughput={speed} token/s')
        expect(near(found['tokens_total'], full['tokens_total'] * counted / 3900, 1e-12), f'{speed}: {found["tokens_total"]}')
        expect(near(found['tco'], full['tco']), f'{speed}: {found["tco"]}')
    half = items('h200.throughput=3000 token/s', 'h200.replacement=50 %')
    expect(near(half['tokens_total'], full['tokens_total'] * (3900 + 3000) / 2 / 3900, 1e-12), str(half['tokens_total']))
    # For decoding with separate prompts: a replacement decodes as guaranteed, and reads prompts as before.
    decoding = Path(folder) / 'decoding.ini'
    decoding.write_text(scenario.read_text().replace('scenario    = server', 'basis = decode\nbatch = 64\ncontext = 4096')
                        .partition('[option mi325x]')[0].replace('baseline = mi325x', 'baseline = h200').replace(
                            '[option h200]', '[option h200]\nprefill_throughput = 9000 token/s\n'
                            'input_tokens = 1024 token\noutput_tokens = 256 token'))
    short, whole = (items(f'h200.decode_throughput={speed} token/s', path=decoding, more=('--mixed',)) for speed in (900, 1150))
    expect(near(short['tokens_total'], whole['tokens_total'], 1e-12), f'{short["tokens_total"]}, not {whole["tokens_total"]}')
    # Next to a case whose offer owes money: each case has its own result.
    scenario.write_text(scenario.read_text() + '[case other]\nh200.quote = offer-revised.ini\n')
    other = items('h200.throughput=3600 token/s', more=('--case', 'other'))
    expect(near(other['remedy_total'], -other['hardware_cost'] * 100 * (1 - 3600 / 3950) * 0.01), str(other['remedy_total']))
    expect(near(other['tokens_total'], full['tokens_total'] * 3600 / 3900, 1e-12), str(other['tokens_total']))
    base = items('h200.throughput=3600 token/s')
    expect(near(base['tokens_total'], full['tokens_total'], 1e-12) and base['remedy_total'] == 0, str(base['remedy_total']))
    worth = [accept(offered, EXAMPLE / 'records', '--for', 'decoding', '--scenario', path)['worth']
             for path in (scenario, EXAMPLE / 'quoted.ini')]
    expect(near(*worth, 1e-9), f'parity leaves the remedy out: {worth}')


def test_throughput_typed_over(folder):
    """Wherever a throughput is stated, the guaranteed watts stay, but only under one of their own kind."""
    for name in ('quoted.ini', 'offer.ini'):
        shutil.copy(EXAMPLE / name, folder)

    def watts(*more, path=folder / 'quoted.ini'):
        done = run('explain', path, 'h200.load_power', '-q', '--mixed', *more)
        expect_exit(done, DONE)
        return next(line for line in done.stdout.splitlines() if line.startswith('load_power = '))
    quoted = watts()
    expect('640 W/gpu' in quoted and 'guarantee chat' in quoted, quoted)
    expect(watts('--set', 'h200.throughput=3000 token/s') == quoted, 'the quoted watts are lost')
    expect('guarantee' not in watts('--set', 'h200.decode_throughput=3000 token/s'), 'watts of serving beside decoding')
    expect('640 W/gpu' not in watts('--set', 'h200.load_power=600 W'), 'typed watts')
    text = (folder / 'quoted.ini').read_text()
    decoding = folder / 'decoding.ini'
    decoding.write_text(text.replace('scenario    = server', 'basis = decode\nbatch = 64\ncontext = 4096')
                        .partition('[option mi325x]')[0].replace('baseline = mi325x', 'baseline = h200'))
    quoted = watts(path=decoding)
    expect('560 W/gpu' in quoted and 'guarantee decoding' in quoted, quoted)
    expect(watts('--set', 'h200.decode_throughput=900 token/s', path=decoding) == quoted, 'of decoding')
    stated = folder / 'stated.ini'
    stated.write_text(text.replace('quote = offer.ini', 'quote = offer.ini\nthroughput = 3000 token/s'))
    expect('640 W/gpu' in watts(path=stated), 'an option that states its own throughput')


def lines_of(path):
    """{section.key: value} of an offer, without comments."""
    found, section = {}, ''
    for line in path.read_text().splitlines():
        line = line.partition(';')[0].strip()
        if line.startswith('['):
            section = line.strip('[]')
        elif line:
            key, _, value = line.partition('=')
            found[f'{section}.{key.strip()}'] = value.strip()
    return found


def test_two_revisions(folder):
    """Each line that changed, one that was removed and one that was added; the value of a change is the cost of the
    first with the second's value."""
    for name in ('quoted.ini', 'offer.ini', 'quoted-revised.ini', 'offer-revised.ini'):
        shutil.copy(EXAMPLE / name, folder)
    first, second, revised = folder / 'quoted.ini', folder / 'quoted-revised.ini', folder / 'offer-revised.ini'
    revised.write_text(revised.read_text().replace('remedy_limit   = 10 %', '').replace(
        'delivery     = 24000 USD', 'installation = 2 %\ndelivery     = 24000 USD'))
    found = run_json('diff', first, second)
    was, now = lines_of(folder / 'offer.ini'), lines_of(revised)
    wanted = {key: (was.get(key), now.get(key)) for key in {*was, *now} if was.get(key) != now.get(key)}
    lines = {row['line']: (row.get('a'), row.get('b')) for row in found['offer_lines']}
    expect(set(lines) == set(wanted) and {'price.installation', 'acceptance.remedy_limit'} <= set(lines),
           f'{sorted(lines)}, not {sorted(wanted)}')
    expect(all(lines[key] == both for key, both in wanted.items() if None not in both), f'{lines}, not {wanted}')
    option, = (one for one in found['options'] if one['id'] == 'h200')
    moved = {row['name']: f'{row["b"]["value"]!r} {row["unit"]}' for row in found['inputs']}
    expect({'list_price', 'network_price', 'installation', 'throughput'} <= set(moved), str(moved))
    for name, value in moved.items():
        cost = {one['id']: one['items'] for one in
                run_json('compare', first, '--set', f'h200.{name}={value}', '--set', 'h200.load_power=640 W')['options']}
        cost = cost['h200']['cost_per_mtok']
        expect(near(option['alone'][name]['cost_per_mtok'], cost), f'{name}: {option["alone"][name]}, not {cost}')
    whole = {one['id']: one['items'] for one in run_json('compare', second)['options']}['h200']['cost_per_mtok']
    expect(near(option['together']['cost_per_mtok'], whole), f'{option["together"]}, not {whole}')


def percentile(values, share):
    return values[min(int(share * len(values)), len(values) - 1)]


def check_draws(folder, rules, owed, low=3200, high=4100, more='', each=1):
    """Uniform speeds: the total cost is the same at each, so the page's formula gives every percentile."""
    offered, scenario = Path(folder) / 'offer.ini', Path(folder) / 'drawn.ini'
    text = (EXAMPLE / 'offer.ini').read_text()
    text = text.replace(text[text.index('remedy  '):], rules)
    offered.write_text(text.replace('token/s/gpu', 'token/s/node').replace('W/gpu', 'W/node') if each > 1 else text)
    quoted = (EXAMPLE / 'quoted.ini').read_text()
    scenario.write_text(quoted + f'[range]\nh200.throughput = uniform({low}, {high}) token/s\n{more}')
    items = {one['id']: one['items'] for one in
             run_json('compare', scenario, '--set', 'h200.throughput=3900 token/s', '--set', 'h200.load_power=640 W')
             ['options']}
    tco, price, tokens = (items['h200'][name] for name in ('tco', 'hardware_cost', 'tokens_total'))
    expect(not items['h200'].get('remedy_total'), 'a remedy for what is guaranteed')
    tokens /= 3900
    costs, due, paid = [], 0, 0
    for i in range(20000):
        speed = low + (high - low) * (i + 0.5) / 20000
        share, counted = owed(speed)
        due += (share, counted) != (0, speed)
        paid += price * share / (tokens * counted) * 1e6
        costs.append((tco - price * share) / (tokens * counted) * 1e6)
    costs.sort()
    drawn = run_json('simulate', scenario, '--set', 'h200.load_power=640 W')
    found = next(one for one in drawn['outcomes'] if one['kind'] == 'cost' and one['option'] == 'h200')
    expect(near(found['mean'], statistics.fmean(costs), 1e-4), f'mean {found["mean"]}, not {statistics.fmean(costs)}')
    for name, share in (('P5', 0.05), ('P25', 0.25), ('P50', 0.5), ('P95', 0.95)):
        expect(near(found['percentiles'][name], percentile(costs, share), 1e-3),
               f'{name}: {found["percentiles"][name]}, not {percentile(costs, share)}')
    return drawn, due / 20000, paid / 20000


def test_remedy_in_costs(folder):
    """A speed below the guarantee, without draws: the credit on every face, and nothing if none is due."""
    scenario = Path(folder) / 'quoted.ini'
    for name in ('quoted.ini', 'offer.ini', 'offer-revised.ini'):
        shutil.copy(EXAMPLE / name, folder)

    def items(*sets, path=scenario, more=()):
        settings = [word for one in sets for word in ('--set', one)]
        options = run_json('compare', path, *settings, *more)['options']
        return {one['id']: one['items'] for one in options}['h200']

    def owed(speed, *sets, guaranteed=3900, tolerance=0.02, remedy=0.01, most=0.10, **how):
        with_it = items(f'h200.throughput={speed} token/s', 'h200.load_power=640 W', *sets, **how)
        without = items(f'h200.throughput={speed} token/s', 'h200.load_power=640 W', 'h200.remedy=0 %', **how)
        share = min(100 * (1 - speed / guaranteed) * remedy, most) if speed < guaranteed * (1 - tolerance) else 0
        expect(near(with_it['remedy_total'], -share * with_it['hardware_cost']), f'{speed}: {with_it["remedy_total"]}')
        expect(near(with_it['tco'], without['tco'] + with_it['remedy_total']), f'{speed}: {with_it["tco"]}')
        return with_it

    for speed in (3900, 3830, 3822, 3821, 3700, 3600, 3000, 4200):
        owed(speed)
    owed(3700, 'h200.remedy=2 %', remedy=0.02)
    owed(3700, 'h200.guaranteed_throughput=4100 token/s', guaranteed=4100)
    owed(3840, 'h200.guarantee_tolerance=0 %', tolerance=0)
    owed(3000, 'h200.remedy_limit=30 %', most=0.30)
    due = owed(3600)
    told = run_json('explain', scenario, 'h200.remedy_credit', '--set', 'h200.throughput=3600 token/s')
    expect(near(told['derivation']['values'][1], due['remedy_total']), str(told['derivation']['values']))
    terms = (Path(folder) / 'offer.ini').read_text().split('\n')
    tree = run('explain', scenario, 'h200.remedy_share', '--set', 'h200.throughput=3600 token/s', '-q').stdout
    for name, key in (('remedy', 'remedy '), ('remedy_limit', 'remedy_limit'), ('guarantee_tolerance', 'tolerance'),
                      ('guaranteed_throughput', 'tokens_per_s = 3900')):
        line = next(number for number, text in enumerate(terms, 1) if text.startswith(key))
        expect(re.search(rf'{name} = [^\n]*offer.ini:{line}\)', tree), f'{name} is not traced to line {line}: {tree}')
    offer = Path(folder) / 'offer-revised.ini'
    offer.write_text(re.sub(r'remedy.*\n', '', offer.read_text()))
    whole = scenario.read_text() + '[case other]\nh200.quote = offer-revised.ini\n'
    scenario.write_text(whole)
    expect(near(owed(3600)['tco'], due['tco']), 'the base case beside another offer')
    none = items('h200.throughput=3600 token/s', 'h200.load_power=640 W', more=('--case', 'other'))
    expect(none['remedy_total'] == 0, f'an offer without a remedy owes {none["remedy_total"]}')
    offer.write_text(offer.read_text() + 'remedy = 2 %\n')  # and no limit, next to a case that has one
    most = items('h200.throughput=1000 token/s', 'h200.load_power=640 W', more=('--case', 'other'))
    expect(near(most['remedy_total'], -most['hardware_cost'] * 2 * (1 - 1000 / 3950)), str(most['remedy_total']))


def test_warranty_of_an_offer(folder):
    """Under its warranty a failure costs nothing, though the scenario does not mention it."""
    def repair(*more):
        options = run_json('compare', EXAMPLE / 'quoted.ini', '--set', 'failure_rate=10 %/yr', *more)['options']
        return {one['id']: one['items']['repair_total'] for one in options}['h200']
    expect(repair() == 0, f'{repair()} USD of repairs in three years of warranty')
    expect(repair('--set', 'h200.warranty=1 yr') > 0, 'nothing to repair after the warranty')


def test_unreadable_offer(folder):
    """What an option needs may be in the offer: only what is wrong with that is said."""
    text = (EXAMPLE / 'offer.ini').read_text()
    Path(folder, 'wrong.ini').write_text(re.sub('support .*', 'support = 3,5 %/yr', text))
    for quote, error in (('wrong', "wrong.ini:18:11: error: expected a quantity"),
                         ('none', "quoted.ini:22:9: error: the offer 'none.ini' cannot be opened: No such file")):
        path = Path(folder, 'quoted.ini')
        path.write_text((EXAMPLE / 'quoted.ini').read_text().replace('quote = offer.ini', f'quote = {quote}.ini'))
        done = run('compare', path)
        expect_exit(done, BAD_INPUT, error)
        expect(done.stderr.count(' error: ') == 1, done.stderr)


def test_offer_in_a_case(folder):
    """An offer replaces another one as a whole: in a case or with --set it costs what it does as the option's own."""
    shutil.copy(EXAMPLE / 'offer.ini', folder)
    text = (EXAMPLE / 'offer.ini').read_text()
    other = re.sub(r'(delivery     =|support|warranty|nodes|servers).*\n', '', text) \
        .replace('[terms]', 'installation = 2 %\n[terms]').replace('Q-2026-118', 'Q-2026-119')
    expect('3 yr' not in other and '%/yr' not in other and 'node\n' not in other.replace('0 node', ''), other)
    Path(folder, 'other.ini').write_text(other)
    quoted = (EXAMPLE / 'quoted.ini').read_text().replace('[common]', '[common]\nfailure_rate = 5 %/yr\nrepair_cost = 40 %')

    def scenario(name, own, more=''):
        path = Path(folder, name)
        path.write_text(quoted.replace('quote = offer.ini', f'quote = {own}.ini') + more)
        return path

    def items(path, *more):
        return {one['id']: one['items'] for one in run_json('compare', path, *more)['options']}['h200']
    for common in ('', 'support = 3.5 %/yr\nwarranty = 1 yr\n'):
        quoted = quoted.replace('[common]', f'[common]\n{common}')
        alone = {name: items(scenario('alone.ini', name)) for name in ('offer', 'other')}
        expect(alone['offer']['tco'] != alone['other']['tco'], str(alone['offer']['tco']))
        for own, revised in (('offer', 'other'), ('other', 'offer')):
            path = scenario('case.ini', own, f'[case revised]\nh200.quote = {revised}.ini\n')
            settings = [word for name in (own, revised) for word in ('--set', f'h200.quote={Path(folder, name)}.ini')]
            for more, wanted in (((), own), (('--case', 'revised'), revised), (settings[2:], revised),
                                 (settings, revised), ((*settings, '--case', 'revised'), revised)):
                found = items(path, *more)
                for item in ('capex', 'installation_cost', 'support_total', 'repair_total', 'tco'):
                    expect(near(found[item], alone[wanted][item]), f'{common}{more}: {item} {found[item]}')
    Path(folder, 'other.ini').write_text(re.sub(r'accelerators = 27500.*\n', '', other))
    path = scenario('case.ini', 'offer', '[case revised]\nh200.quote = other.ini\n')
    expect_exit(run('compare', path), BAD_INPUT, "gives no 'list_price': give 'h200.list_price' in case 'revised'")
    path.write_text(path.read_text() + 'support = 2 %/yr\nh200.list_price = 9 USD\n')
    found = items(path, '--case', 'revised')
    expect(near(found['support_total'], 3 * 0.02 * found['hardware_cost']), f"support {found['support_total']}")


def test_remedy_in_draws(folder):
    """What is owed is credited in the draws that fall short of the guarantee less its tolerance."""
    def owed(speed):
        return (min(0.01 * 100 * (1 - speed / 3900), 0.10) if speed < 3900 * 0.98 else 0), speed
    drawn, due, paid = check_draws(folder, 'remedy = 1 %\nremedy_limit = 10 %\n', owed)
    note, = (one for one in drawn['notes'] if one.startswith('H200'))
    expect(abs(float(note.split(': in ')[1].split()[0]) - 100 * due) < 0.2, f'{note}: {due}')
    expect(near(float(note.split('on average ')[1].split()[0]), paid, 0.01), f'{note}: {paid}')
    check_draws(folder, 'remedy = 2 %\n', lambda speed: (
        0.02 * 100 * (1 - speed / 3900) if speed < 3900 * 0.98 else 0, speed))
    check_draws(folder, '', lambda speed: (0, speed))
    check_draws(folder, 'remedy = 1 %\n', lambda speed: (  # per node, of eight accelerators
        1 - speed / (3900 / 8) if speed < 3900 / 8 * 0.98 else 0, speed), low=400, high=500, each=8)


def test_replacement_in_draws(folder):
    """Draws that fall short count with the guaranteed speed; another option with the same range keeps its own."""
    def replaced(speed):
        return 0, 3900 if speed < 3900 * 0.98 else speed
    drawn, due, _ = check_draws(folder, 'remedy = replacement\n', replaced)
    note, = (one for one in drawn['notes'] if one.startswith('H200'))
    expect('replaced' in note and abs(float(note.split(': in ')[1].split()[0]) - 100 * due) < 0.2, note)


def test_remedy_of_shards(folder):
    """The same in shards and on several threads, to the last bit."""
    check_draws(folder, 'remedy = 1 %\n', lambda speed: (1 - speed / 3900 if speed < 3900 * 0.98 else 0, speed))
    scenario, parts = Path(folder) / 'drawn.ini', [Path(folder) / f'part-{n}.json' for n in (1, 2)]
    for n, part in enumerate(parts):
        expect_exit(run('simulate', scenario, '--shard', f'{n + 1}/2', '-o', part), DONE)
    whole = run_json('simulate', scenario, environment={'OMP_NUM_THREADS': '1'})
    expect(run_json('merge', *parts)['outcomes'] == whole['outcomes'], 'shards differ from the whole')


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests_in_folders(globals())
    COUNT.finish()
