#!/usr/bin/python3
"""What `rent` says in words: the verdict, and what it leaves out.

test_rent checks its figures, check_break_even_month the month.
Seconds: 1
"""
import zipfile
from pathlib import Path

from support.program import expect, near, run, run_json, run_tests

# Owning 64 costs 1,681,920 USD: one USD per accelerator-hour.
OWNED = """\
[scenario]
title = Rent
date = 2026-11-01
[common]
utilization = 50 %
pue = 1
electricity_price = 0 USD/kWh
[option own]
label = Own
accelerator = h100-sxm5-80
accelerators = 64
throughput = 2000 token/s
list_price = 26280 USD
load_power = 700 W
"""
CLOUD = """\
[option {name}]
accelerator = h100-sxm5-80
accelerators = 64
throughput = 2000 token/s
{rent}
"""
ITEM = """\
[item rack]
label = Rack
unit = USD
group = capex
options = own
formula = 1000 USD
"""
TAX = '[item sales_tax]\nlabel = Sales tax\ngroup = opex\nunit = USD\nformula = rental_cost * 8 % + 10000 USD * last\n'
DEMAND = 'demand = 1614643.2 Mtok/yr\n'  # 80 % of what they can produce: a load of 40 %
MORE = 'demand = 4036608 Mtok/yr\n'  # twice as many
RANGE = '[range]\nown.list_price = uniform(20000, 30000) USD\n'
OFFERS = '[rent q]\nown = own\non_demand = {} USD/gpu/h\nreserved = {} USD/gpu/h\n'


def answered(folder, text, *arguments, owned=OWNED):
    path = Path(folder, 'rent.ini')
    path.write_text(owned + text, encoding='utf-8')
    return run_json('rent', path, *arguments)['answers'][0]


def printed(folder, text, command, *names):
    path = Path(folder, 'rent.ini')
    path.write_text(OWNED + text, encoding='utf-8')
    done = run(command, path, *names, environment={'COLUMNS': '1000'})
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def test_verdict(folder):
    """A tie is called one; a rent around the clock is not counted as if it were paid by the hours used."""
    always, used = (CLOUD.format(name=name, rent=f'{rent} USD/gpu/h')
                    for name, rent in (('cloud', 'rental_rate = 1.5'), ('fast', 'on_demand_rate = 2.5')))
    for text, words in ((OFFERS.format(2, 1), 'Own or rent: Own and the cheapest rent (on demand, hours used, 2 USD/gpu/h) '
                                              'cost the same. Against'),
                        (OFFERS.format(2, 0.9), 'Rent: the cheapest rent (reserved, term unstated, 0.9 USD/gpu/h) costs 10 % less'),
                        (OFFERS.format(2.5, 1.25), 'Own: Own costs 20 % less than the cheapest rent'),
                        (always, 'Own: Own costs 33.3 % less than the cheapest rent (cloud, always, 1.5 USD/gpu/h)'),
                        (always + used, 'Own: Own costs 20 % less than the cheapest rent (fast, hours used, 2.5 USD/gpu/h)')):
        sentence = answered(folder, text)['answer']
        expect(sentence.startswith(words), f'{sentence}, not {words}')


def test_comparison_only(folder):
    """What nobody offers is in the table, and the table says so."""
    always, used = (CLOUD.format(name='cloud', rent=f'{rate} = 1.5 USD/gpu/h') for rate in ('rental_rate', 'on_demand_rate'))
    rows = {row['offer']: row['cost'] for row in answered(folder, always)['tables']['cost']['rows']}
    expect(near(rows['cloud, hours used'], 1681920 * 0.75), str(rows))
    text = printed(folder, always, 'rent')
    expect("not counted in the answer: 'cloud, hours used'" in text, text)
    text = printed(folder, used, 'rent')
    expect('comparison only' not in text, text)


def test_commitment(folder):
    """It pays from a share of the hours, whatever utilization is planned for more tokens than are asked for."""
    for more in ('', DEMAND):
        text = printed(folder, more + OFFERS.format(3.2, 1.3), 'explain', 'rent.q')
        expect('reserved, term unstated costs less than on demand, hours used above 40.6 % utilization' in text, text)


def test_limited_item(folder):
    """An item limited to the owned option is named below the table that leaves it out."""
    for item, named in ((ITEM, True), (ITEM.replace('options = own\n', ''), False)):
        text = printed(folder, OFFERS.format(2, 1) + item, 'rent')
        expect(('not paid by a renter: Rack.' in text) == named, text)


def test_unmet(folder):
    """A demand twice as large as what is served is said to be, unless the rest is bought."""
    for text, warned in ((MORE, True), (MORE + 'burst_price = 2 USD/Mtok\n', False), (DEMAND, False)):
        warnings = answered(folder, text + OFFERS.format(2, 1))['warnings']
        expect(('Own serves only 50 % of the demand, and every rent is for the same tokens' in warnings) == warned, str(warnings))


def test_bought(folder):
    """What is bought beyond the capacity is paid either way; a rented option buys none. A note says which applies."""
    either, none = 'whether these are owned or rented', 'A rented option serves all tokens itself and buys none.'
    cloud = CLOUD.format(name='cloud', rent='on_demand_rate = 2 USD/gpu/h')
    for offers, words, missing in ((OFFERS.format(2, 1), either, none), (cloud, none, either)):
        for demand, bought in ((MORE, True), (DEMAND, False)):
            text = ' '.join(printed(folder, f'{demand}burst_price = 0.5 USD/Mtok\n{offers}', 'rent').split())
            expect((words in text) == bought and missing not in text, text)


def test_load_is_a_mean(folder):
    """Where cost and rent follow the tokens, it does not matter how these are spread over the years."""
    spread = ('1614643.2', '1400000, 1614643.2, 1800000', '200000, 1614643.2, 1700000')
    told = [answered(folder, f'demand = {demand} Mtok/yr\n{OFFERS.format(3, 4)}') for demand in spread]
    loads = [answer['tables']['break_even']['rows'][0]['break_even_utilization'] for answer in told]
    expect(all(near(load, 100 / 3, 1e-9) for load in loads), loads)


def test_load_follows_the_rent(folder):
    """More use of the same accelerators costs no more rent: a commitment that costs less does so at every load."""
    for utilization in (25, 50, 95):
        answer = answered(folder, OFFERS.format(5, 0.9), '--set', f'utilization={utilization} %')
        loads = [row['break_even_utilization'] for row in answer['tables']['break_even']['rows']]
        expect('owning pays at no utilization' in answer['answer'] or utilization == 25, answer['answer'])
        expect(near(loads[0], 20, 1e-9) and loads[1] == 'never', f'{loads} at {utilization} %')


def test_hardly_used(folder):
    """Hours that only accelerators which come and go would have are said to be so; what is not free is not 100 % less."""
    for demand, share in (('109.5', '0.00271'), ('1614643.2', None)):
        answer = answered(folder, f'demand = {demand} Mtok/yr\n{OFFERS.format(2, 1)}')
        said = [warning for warning in answer['warnings'] if 'start and stop' in warning]
        expect(len(said) == bool(share) and (not share or f"'on demand, hours used' is paid for {share} % of" in said[0]), said)
        expect(('costs 99.99 % less' in answer['answer']) == bool(share), answer['answer'])


def test_discounted(folder):
    """Owning is paid for first: 1,681,920 USD at once, against rents that the table pays at the ends of the scenario's
    periods and the answer by the month. Whatever the periods, the verdict is turned by both or neither."""
    for wacc, rate, step in ((0, 2.2, 12), (1, 2.2, 12), (12, 2.2, 12), (12, 2.2, 1), (8, 2.2, 12), (8, 2.2, 1), (8, 2.3, 12),
                             (8, 2.3, 1)):
        owned = OWNED.replace('title', f'period = {step} month\ntitle')
        answer = answered(folder, OFFERS.format(rate, 3), '--set', f'wacc={wacc} %/yr', owned=owned)
        discounted, rent = answer['tables'].get('levelised'), rate / 2 / 36
        monthly, by_period = (each * sum((1 + wacc / 100) ** (-month / 12) for month in range(each, 37, each))
                              for each in (1, step))
        less = 100 * (1 - rent * monthly)
        words = (f'Discounted at {wacc} %/yr by the month, the cheapest rent (on demand, hours used, {rate} USD/gpu/h) costs '
                 f'{less:.3g} % less than owning.')
        expect(answer['answer'].startswith('Own: Own costs') and (discounted is None) == (wacc == 0), answer)
        expect((words in answer['answer']) == ('Discounted' in answer['answer']) == (less > 0), f'{answer["answer"]}, not {words}')
        for row in discounted['rows'][1:2] if discounted else ():
            expect(near(row['saving_levelised'], 100 * (1 - 1 / (rent * by_period))), row)
            expect(near(row['break_even_rate'], 72 / by_period), row)


def test_tax_on_rents(folder):
    """An item on the rent moves with it: at each printed break-even rate, discounted or not, owning saves nothing."""
    wacc = ('--set', 'wacc=8 %/yr')
    tables = answered(folder, OFFERS.format(3.2, 0.9) + TAX, *wacc)['tables']
    # Owning costs 1,681,920 USD, renting 1.08 times the rent; both pay the 10,000 USD.
    for row, hours in zip(tables['break_even']['rows'], (840960, 1681920)):
        expect(near(row['break_even_rate'], 1681920 / (1.08 * hours), 1e-12), row)
    # At a load of u the rent on demand is u * 1,681,920 h * 3.2 USD/h, and the tax on it.
    expect(near(tables['break_even']['rows'][0]['break_even_utilization'], 100 / (1.08 * 3.2), 1e-9), tables)
    told = printed(folder, OFFERS.format(3.2, 0.9) + TAX, 'explain', 'rent.q')
    expect('used: of the other costs, 215,286 USD follow the rent' in told, told)
    for table, saving in (('break_even', 'saving'), ('levelised', 'saving_levelised')):
        even = [row['break_even_rate'] for row in tables[table]['rows'][-2:]]
        again = answered(folder, OFFERS.format(*map(repr, even)) + TAX, *wacc)['tables']
        rows = again['cost' if saving == 'saving' else table]['rows'][1:]
        expect(all(abs(row[saving]) < 1e-9 for row in rows), rows)


def test_spot(folder):
    """A spot rent is called one, and its interruptions are stated or said to be missing."""
    for more, warned in (('', True), ('interruption = 0 %\n', False), ('interruption = 10 %\n', False)):
        told = answered(folder, '[rent q]\nown = own\nspot = pr115\n' + more)
        expect('on demand' not in told['answer'] and '(spot, hours used, ' in told['answer'], told['answer'])
        expect(("'spot, hours used' is counted as if it were never interrupted" in str(told['warnings'])) == warned, told)
        expect(("'interruption', a share of the useful ones" in str(told['warnings'])) == warned, told)


def test_residual(folder):
    """Where renting costs less, the residual value at which owning would: 168,192 of 1,681,920 USD, or all that is left."""
    said = 'without a residual value; it costs less if the hardware keeps more than 10 % of its price.'
    for offers, more, words in (((3, 0.9), '', said), ((3, 1.1), '', ''), ((3, 1), '', ''),
                                ((3, 0.9), 'support = 10 %/yr\n', 'keeps more than 40 % of its price'),
                                ((3, 0.2), 'support = 10 %/yr\n', 'would cost more even if the hardware kept its full price')):
        answer = answered(folder, more + OFFERS.format(*offers))['answer']
        expect(words in answer and ('residual' in answer) == bool(words), answer)
    # The servers, of another 80,000 USD, are said to keep nothing: it is the accelerators that must.
    parts = 'node_price = 10000 USD\nserver_residual = 0 %\n'
    for more, even in (('', 10), (parts, 14.756)):
        for residual, verdict in ((0, 'Rent'), (even - 0.01, 'Rent'), (even + 0.01, 'Own')):
            answer = answered(folder, more + OFFERS.format(3, 0.9), '--set', f'residual_value={residual} %')['answer']
            expect(answer.startswith(verdict) and ('residual' in answer) == (not residual), f'{residual}: {answer}')


def test_not_compared(folder):
    """What is left out is named with the reason, beside the answer or in place of it."""
    cloud, grows, mixed, other = (CLOUD.format(name=name, rent=rent) for name, rent in (
        ('cloud', 'label = The cloud\nrental_rate = 1.5 USD/gpu/h'),
        ('grows', 'label = The larger\nrental_rate = 1.5, 1.4 USD/gpu/h'),
        ('mixed', 'rental_rate = 1.5 USD/gpu/h\nreserved_share = 50 %\non_demand_rate = 3 USD/gpu/h'),
        ('other', 'precision = fp8\nrental_rate = 1.5 USD/gpu/h')))
    grows_how = "The larger changes from year to year (see its 'rental_rate')"
    mixed_how = 'mixed is rented at several rates'
    other_how = 'other has another workload than Own: precision: fp4 and fp8'
    fp4 = 'precision = fp4\n'
    for text, left_out in ((fp4 + cloud.replace('throughput', fp4 + 'throughput'), []), (cloud + grows, [grows_how]),
                           (cloud + mixed + grows, [mixed_how, grows_how]),
                           (fp4 + cloud.replace('throughput', fp4 + 'throughput') + other, [other_how])):
        told = answered(folder, text, '--mixed').get('notes', [])
        expect(told == [f'Not compared: {how}' for how in left_out], f'{told}, not {left_out}')
    path, book = Path(folder, 'rent.ini'), Path(folder, 'rent.xlsx')
    path.write_text(OWNED + cloud + grows, encoding='utf-8')
    expect(run('report', path, '-o', book).returncode == 0, 'a workbook')
    with zipfile.ZipFile(book) as parts:
        expect(any(f'Not compared: {grows_how}' in parts.read(name).decode() for name in parts.namelist()
                   if name.endswith('.xml')), 'the workbook names it too')
    path.write_text(OWNED + grows + mixed, encoding='utf-8')
    done = run('rent', path)
    expect(done.returncode == 2 and f'nothing to answer, as {grows_how}, {mixed_how}: add' in done.stderr, done.stderr)
    expect("'pertoken compare' shows all others side by side" in done.stderr, done.stderr)


STAGED = {'by year': ('accelerators = 64', 'accelerators = 64, 128', 'in_service'),
          'for a demand': ('accelerators = 64\n', DEMAND + 'demand_growth = 50 %/yr\n', 'in_service'),
          'that gets faster': ('accelerators = 64', 'accelerators = 64\nthroughput_gain = 10 %/yr', 'tokens_per_gpu'),
          'renewed': ('accelerators = 64', 'accelerators = 64\nlife = 1 yr', 'life')}


def check_staged(folder, name):
    """A fleet that is bought in stages is refused, whichever way it is asked about; `compare` answers the same file."""
    constant, changing, item = STAGED[name]
    path = Path(folder, 'rent.ini')
    cloud = CLOUD.format(name='cloud', rent='rental_rate = 1.5 USD/gpu/h')
    for question in ('', OFFERS.format(2, 1), '[rent q]\nown = own\ncloud = cloud\n'):
        path.write_text(OWNED.replace(constant, changing) + cloud + question, encoding='utf-8')
        done = run('rent', path)
        expect(done.returncode == 2 and f"(see its '{item}')" in done.stderr and "'pertoken compare'" in done.stderr, done.stderr)
    expect(len(run_json('compare', path, '--mixed')['options']) == 2, 'compared')


def test_names(folder):
    """People read an option's label, programs its id."""
    text = CLOUD.format(name='cloud', rent='label = A cloud\nrental_rate = 1.5 USD/gpu/h')
    told = answered(folder, text)
    expect('(A cloud, always, 1.5 USD/gpu/h)' in told['answer'], told['answer'])
    expect([row['offer'] for row in told['tables']['offers']['rows']] == ['cloud, always', 'cloud, hours used'], told['tables'])
    shown = printed(folder, text, 'rent')
    expect('A cloud, always' in shown and 'A cloud, hours used' in shown and 'cloud, always' not in shown.replace('A cloud', ''),
           shown)


def test_ranges(folder):
    """They are not drawn, which is said once."""
    for ranges, count in ((RANGE, 1), ('', 0)):
        warnings = answered(folder, OFFERS.format(2, 1) + ranges)['warnings']
        expect(sum('ranges are not drawn' in warning for warning in warnings) == count, str(warnings))


def test_upfront(folder):
    """What a row asks for at the outset is not counted, which a note says; 25 % of it, in the survey of August 2025."""
    for row, said in (('pr051', True), ('pr370', False)):
        words = printed(folder, f'[rent q]\nown = own\nthree_years = {row}\n', 'rent')
        expect(("Not counted: the 25 % that 'three years' asks upfront" in words) == said, words)


if __name__ == '__main__':
    run_tests(globals(), staged=(STAGED, check_staged))
