#!/usr/bin/python3
"""Sums that an offer fixes: no price, discount or tier moves them; what they cost is what the offer says.

Seconds: 3
"""
import re
from pathlib import Path

from support.delivery import EXAMPLE
from support.program import BAD_INPUT, Count, DONE, expect, expect_exit, near, run, run_json

SUMS = """\
installation = 40000 USD
support      = 60000 USD/yr
warranty     = 20000 USD/yr
"""
DELIVERY = 24000


def written(folder, prices=SUMS, name='offer', more=''):
    """A scenario of the example, with an offer of which support and warranty are replaced."""
    text = re.sub(r'support .*\n', prices, (EXAMPLE / 'offer.ini').read_text())
    Path(folder, f'{name}.ini').write_text(text)
    path = Path(folder, 'quoted.ini')
    path.write_text((EXAMPLE / 'quoted.ini').read_text() + more)
    return path


def items(path, *more):
    settings = [word for one in more for word in (('--set', one) if '=' in one else ('--case', one))]
    return {one['id']: one['items'] for one in run_json('compare', path, *settings)['options']}


def edited(folder, old, new):
    offer = Path(folder, 'offer.ini')
    text = offer.read_text()
    expect(text.count(old) == 1, f'{old} in {text}')
    offer.write_text(text.replace(old, new))


def test_what_is_paid(folder):
    path = written(folder)
    for change in ((), ('h200.list_price=9000 USD',), ('h200.discount=30 %',), ('h200.node_price=0 USD',)):
        found = items(path, *change)['h200']
        expect(near(found['installation_cost'], 40000) and near(found['tax_cost'], DELIVERY), f'{change}: {found}')
        expect(near(found['support_total'], 3 * 80000), f'{change}: support {found["support_total"]}')
    tree = run('explain', path, 'h200.support_cost', '-q').stdout
    expect('support_sum = 80000 USD/yr  [quoted]  Example Compute Q-2026-118 (support and warranty)' in tree, tree)
    tree = run('explain', path, 'h200.installation_cost', '-q').stdout
    line = next(n for n, text in enumerate(Path(folder, 'offer.ini').read_text().split('\n'), 1) if 'installation' in text)
    expect(re.search(rf'installation_sum = 40000 USD  \[quoted\] [^\n]*offer.ini:{line}\)', tree), tree)
    expect('not included: h200: support' not in run('compare', path).stdout.lower(), 'support counts as missing')


def test_walk_away_price(folder):
    """The price that solve finds, written in the offer, is indifferent."""
    path = written(folder)
    found, = run_json('solve', path, '--option', 'h200', '--for', 'list_price')['values']
    edited(folder, '27500 USD/gpu', f'{found!r} USD/gpu')
    costs = items(path)
    expect(near(costs['h200']['cost_per_mtok'], costs['mi325x']['cost_per_mtok'], 1e-6), str(found))


def test_discount(folder):
    """Typed, in a case or in the offer, a discount costs the same, and so do volume tiers."""
    path = written(folder, more='[case less]\nh200.discount = 10 %\n')
    typed, told = items(path, 'h200.discount=10 %')['h200'], items(path, 'less')['h200']
    edited(folder, '27500 USD/gpu', '27500 USD/gpu\ndiscount = 10 %')
    for item in ('tco', 'capex', 'support_total'):
        found = items(path)['h200'][item]
        expect(near(typed[item], found) and near(told[item], found), f'{item}: {typed[item]}, {told[item]}, {found}')


def test_what_is_bought(folder):
    """Spares are paid for in proportion, with a warning; what is offered in all needs none."""
    path = written(folder)
    spared = items(path, 'h200.spares=10 %')['h200']
    expect(near(spared['support_total'], 3 * 80000 * 71 / 64) and near(spared['tax_cost'], DELIVERY * 71 / 64), str(spared))
    words = ' '.join(run('compare', path, '--set', 'h200.spares=10 %').stdout.split())
    expect('covers 64 accelerators; this option buys 71 at its prices, and pays its fixed sums in proportion' in words, words)
    settings = ('--set', 'accelerators=58', '--set', 'h200.spares=10 %')
    expect('in proportion' not in run('compare', path, *settings).stdout, '64 with their spares')


def test_what_replaces_what(folder):
    """The option's own share replaces a sum, one for all options does not; a share and a sum of one offer add up."""
    path = written(folder)
    plain = path.read_text()
    whole = items(path)['h200']
    path.write_text(plain.replace('[common]', '[common]\nsupport = 9 %/yr\ninstallation = 5 %'))
    expect(near(items(path)['h200']['tco'], whole['tco']), 'what is said for all options')
    more = items(path, 'h200.support=2 %/yr')['h200']
    expect(near(more['support_total'], 240000 + 3 * 0.02 * more['hardware_cost']), 'changed alone, as in a cell')
    both = 'H200: support and support_sum are both paid'
    expect(both in ' '.join(run('compare', path, '--set', 'h200.support=2 %/yr').stdout.split()), 'both, without a warning')
    replaced = run('compare', path, '--set', 'h200.support=2 %/yr', '--set', 'h200.support_sum=0 USD/yr').stdout
    expect('both paid' not in ' '.join(replaced.split()), 'one is replaced')
    path.write_text(plain.replace('quote = offer.ini', 'quote = offer.ini\nsupport = 2 %/yr'))
    own = items(path)['h200']
    expect(near(own['support_total'], 3 * 0.02 * own['hardware_cost']), str(own['support_total']))
    expect('not taken from the offer Example Compute Q-2026-118: support_sum' in
           ' '.join(run('compare', path).stdout.split()), 'no warning')
    mixed = items(written(folder, 'support = 3 %/yr\nwarranty = 20000 USD/yr\n'))['h200']
    expect(near(mixed['support_total'], 3 * (0.03 * mixed['hardware_cost'] + 20000)), str(mixed['support_total']))
    written(folder, 'support = 4 %/yr\n', 'other')
    path = written(folder, more='[case other]\nh200.quote = other.ini\n')
    other = items(path, 'other')['h200']
    expect(near(items(path)['h200']['support_total'], 240000), 'beside a case with a share')
    expect(near(other['support_total'], 3 * 0.04 * other['hardware_cost']), str(other['support_total']))


def test_typed_sums(folder):
    """Without an offer: for whatever is bought, or for a number."""
    path = Path(folder, 'own.ini')
    text = (EXAMPLE / 'quoted.ini').read_text().replace('support       = 4 %/yr', 'support_sum = 70000 USD/yr')
    path.write_text(text.replace('quote = offer.ini', 'accelerator = h200-sxm-141\nlist_price = 30000 USD\nevidence = tp0022'))
    for more, paid in (((), 70000), (('mi325x.spares=20 %',), 70000), (('mi325x.sums_cover=32 gpu',), 140000)):
        found = items(path, *more)['mi325x']['support_total']
        expect(near(found, 3 * paid), f'{more}: {found}')
    common = Path(folder, 'common.ini')
    common.write_text(path.read_text().replace('[common]', '[common]\nsupport = 4 %/yr', 1))
    changed = {'mi325x.support_sum=80000 USD/yr': 80000, 'mi325x.support_sum=0 USD/yr': 0}
    for more, paid in changed.items():
        found = items(common, more)['mi325x']['support_total']
        expect(near(found, 3 * paid), f'{more}: {found}, not instead of what all options pay')
    expect('both paid' not in run('compare', common, '--set', next(iter(changed))).stdout, 'one sum, another value')
    refused = run('compare', path, '--set', 'h200.sums_cover=32 gpu')
    expect_exit(refused, BAD_INPUT, "without 'support_sum'")


TIERS = 'discount = 4 % from 16 gpu, 9 % from 32 gpu'
# of 64: 16 at 4 % and 33 at 9 %; or all at 9 %
MEAN = (16 * 0.04 + 33 * 0.09) / 64


def test_offered_tiers(folder):
    """As an option's own tiers, but quoted; in the offer by itself, in a case and with --set as well."""
    plain = items(written(folder))['h200']
    tiers = {'beyond': TIERS, 'all': f'{TIERS}\ntier_discount = all'}
    for name, lines in tiers.items():
        written(folder, f'{SUMS}{lines}\n', name)
    for name, off in (('beyond', MEAN), ('all', 0.09)):
        hardware = plain['hardware_cost'] - off * 64 * 27500
        for own, more in ((name, ()), ('offer', (f'h200.quote={folder}/{name}.ini',)), ('offer', ('tiers',))):
            case = f'[case tiers]\nh200.quote = {name}.ini\n'
            path = written(folder, more=case if more == ('tiers',) else '')
            path.write_text(path.read_text().replace('quote = offer.ini', f'quote = {own}.ini'))
            found = items(path, *more)['h200']
            expect(near(found['hardware_cost'], hardware), f'{name} {own} {more}: {found["hardware_cost"]}')
            expect(near(found['support_total'], 240000), f'{name} {own} {more}: {found["support_total"]}')
        tree = run('explain', path, 'h200.discount', '--case', 'tiers', '-q').stdout
        expect('discount_tier_1 = 4 %  [quoted]  Example Compute Q-2026-118' in tree, tree)
        totals = run_json('diff', folder / 'offer.ini', folder / f'{name}.ini')['totals']
        expect(near(totals['hardware']['b'], hardware), str(totals))


BAD_TIERS = [
    ('discount = 9 % from 16 gpu, 4 % from 32 gpu', 'volume tiers rise'),
    ('discount = 4 % from 16 gpu, 9 % from 16 gpu', 'volume tiers rise'),
    ('discount = 4 % from 16 gpu, 9 %', "expected a tier such as '8 % from 100 gpu', not '9 %'"),
    ('discount = 4 % from 1.5 gpu', 'a share below 100 % from a whole number'),
    ('discount = 1 % from 1 gpu, 2 % from 2 gpu, 3 % from 3 gpu, 4 % from 4 gpu, 5 % from 5 gpu', 'has 5 volume tiers'),
    ('discount = 4 % from 16 gpu\ntier_discount = some', "expected beyond or all, not 'some'"),
    ('discount = 4 %\ntier_discount = all', "'tier_discount' has no effect without volume tiers"),
]


def test_wrong_tiers(folder):
    for lines, error in BAD_TIERS:
        refused = run('compare', written(folder, f'{lines}\n'))
        expect_exit(refused, BAD_INPUT, error)
        expect(refused.stderr.count(' error: ') == 1, refused.stderr)


def test_discount_of_another_case(folder):
    """A case that has its own discount or tiers: only there is the offer's not taken."""
    for value in ('2 % from 8 gpu, 9 % from 32 gpu', '20 %'):
        path = written(folder, more=f'[case tiers]\nh200.discount = {value}\n')
        base, case = (run('compare', path, *more) for more in ((), ('--case', 'tiers')))
        expect_exit(base, DONE)
        expect('not taken' not in base.stdout, base.stdout)
        expect('not taken from the offer Example Compute Q-2026-118: discount' in ' '.join(case.stdout.split()), case.stdout)


if __name__ == '__main__':
    COUNT = Count()
    COUNT.tests_in_folders(globals())
    COUNT.finish()
