#!/usr/bin/python3
"""Ranges that come from the sources of figures: published rows, and records of devices.

What two options have from one source is one quantity, which is drawn once and cancels between them (JCGM 100:2008,
5.2 and F.1.2.3). The mean of n devices, as an estimate for N others, has the standard deviation s sqrt(1/n + 1/N)
(4.2.3). A rented accelerator's cost per token is inversely proportional to its speed, which gives closed forms. The
fleets are made up.

Seconds: 6
"""
import math
import statistics
from pathlib import Path

from support.fleet_records import record, result, write
from support.program import BAD_INPUT, Count, expect, expect_exit, near, run, run_json

NORMAL = statistics.NormalDist()
STUDENT_P95 = {3: 2.353363, 11: 1.795885, 15: 1.753050, 27: 1.703288, 63: 1.669402}  # by degrees of freedom

OFFERS = """\
[scenario]
title = One accelerator, two vendors
date = 2026-11-30
baseline = a
[workload]
model = llama-2-70b
precision = fp8
scenario = offline
utilization = 70 %
[common]
accelerators = 80
accelerators_per_node = 8
list_price = 30000 USD
pue = 1.25
electricity_price = 0.08 USD/kWh
[option a]
accelerator = h200-sxm-141
evidence_spread = yes
[option b]
accelerator = h200-sxm-141
evidence_spread = yes
"""
SHARED = 'a.throughput = b.throughput'


def simulated(folder, text, *arguments):
    path = Path(folder) / 'scenario.ini'
    path.write_text(text)
    return run_json('simulate', path, '--draws', 16384, *arguments)


def saving(answer, option='b'):
    return next(one for one in answer['outcomes'] if (one['kind'], one['option']) == ('saving', option))


def width(outcome):
    return outcome['percentiles']['P95'] - outcome['percentiles']['P5']


def expect_constant(answer, what):
    found = saving(answer)
    expect(abs(width(found)) < 1e-12, f'{what}: {found["percentiles"]}')
    expect(answer['cheapest'] == {'a': 0, 'b': 1}, f'{what}: {answer["cheapest"]}')


def test_same_rows(folder):
    """Two offers that differ only in their discount: one saves the same in every draw, however small the discount."""
    for discount in ('5 %', '0.5 %'):
        answer = simulated(folder, f'{OFFERS}discount = {discount}\n')
        expect_constant(answer, discount)
        found = next(one for one in answer['outcomes'] if one['kind'] == 'cost')
        expect(set(found['influences']) == {SHARED} and near(found['influences'][SHARED]['first'], 1, 2e-3), str(found))
        expect(width(found) > 0.01 * found['mean'], f'the costs vary: {found["percentiles"]}')
        influence = saving(answer)['influences'][SHARED]
        expect(influence == {'first': 0, 'total': 0}, f'nothing drives a constant: {influence}')
    text = run('simulate', Path(folder) / 'scenario.ini', '-q').stdout
    expect('1 ranged input' in text, text)


def test_same_rows_correlated(folder):
    """[correlate] may name them: 1 is what they are, another number draws them apart, and others go with both."""
    offers = f'{OFFERS}discount = 5 %\n'
    expect_constant(simulated(folder, f'{offers}[correlate]\na.throughput, b.throughput = 1\n'), 'said to be one')
    apart = simulated(folder, f'{offers}[correlate]\nb.throughput, a.throughput = 0\n')
    costs = [one for one in apart['outcomes'] if one['kind'] == 'cost']
    expect(len(costs[0]['influences']) == 1 and width(saving(apart)) > 0.02, str(saving(apart)))
    told = f'{offers}[range]\nutilization = uniform(60, 80) %\n[correlate]\nb.throughput, utilization = 0.9\n'
    answer = simulated(folder, told)
    expect(list(saving(answer)['influences']) == [f'utilization, {SHARED}'], str(saving(answer)['influences']))
    expect_constant(simulated(folder, f'{told}a.throughput, utilization = 0.9\n'), 'said of both')
    path = Path(folder) / 'scenario.ini'
    path.write_text(f'{told}a.throughput, utilization = 0.1\n')
    expect_exit(run('simulate', path), BAD_INPUT, "'utilization' and 'a.throughput' are correlated twice: 0.1 here and 0.9")
    path.write_text(f'{offers}[correlate]\na.throughput, b.througput = 1\n')
    expect_exit(run('simulate', path), BAD_INPUT, "'b.througput' has no range to correlate; did you mean 'b.throughput'?")


def test_rows_of_others(folder):
    """Another accelerator's rows are another quantity."""
    answer = simulated(folder, OFFERS.replace('accelerator = h200-sxm-141', 'accelerator = mi325x-256', 1))
    expect(set(saving(answer)['influences']) == {'a.throughput', 'b.throughput'}, str(saving(answer)['influences']))


def test_a_case_without_one(folder):
    """A case that gives one option's throughput leaves the other's."""
    text = f'{OFFERS}discount = 5 %\n[case known]\na.throughput = 4300 token/s\n'
    answer = simulated(folder, text, '--case', 'known')
    expect(set(saving(answer)['influences']) == {'b.throughput'} and width(saving(answer)) > 0.01, str(saving(answer)))
    expect(any("'a.throughput' has no effect: a case" in note for note in answer['notes']), str(answer['notes']))


def test_swung_together(folder):
    """The tornado has one bar of one quantity, which moves both options: it cancels between them."""
    path = Path(folder) / 'scenario.ini'
    path.write_text(f'{OFFERS}discount = 5 %\n')
    swings = {one['input']: one for one in run_json('sensitivity', path)['swings']}
    expect(SHARED in swings and not {'a.throughput', 'b.throughput'} & set(swings), str(sorted(swings)))
    expect(swings[SHARED]['effect'] < 1e-12, str(swings[SHARED]))
    low, high = swings[SHARED]['low']['costs'], swings[SHARED]['high']['costs']
    expect(all(low[option] > 1.01 * high[option] for option in 'ab'), str(swings[SHARED]))


FLEET = """\
[scenario]
title = T
date = 2026-11-25
baseline = {}
[workload]
model = llama-2-70b
precision = fp8
batch = 64
context = 4096
basis = decode
utilization = 50 %
[common]
accelerators_per_node = 8
rental_rate = 2 USD/gpu/h
"""
OPTION = '[option {}]\naccelerator = h200-sxm-141\naccelerators = {}\n'
DRAWN = '{}.decode_throughput = from measurement\n'


def fleet(*accelerators):
    options = [(chr(ord('a') + i), count) for i, count in enumerate(accelerators)]
    return (FLEET.format('a') + ''.join(OPTION.format(*one) for one in options) + '[range]\n'
            + ''.join(DRAWN.format(name) for name, _ in options))


def measured(folder, count, spread=0.02, name='records'):
    """So many devices, at the quantiles of a normal distribution and with this standard deviation."""
    at = Path(folder) / f'{name}-{count}'
    at.mkdir()
    points = [NORMAL.inv_cdf((i + 0.5) / count) for i in range(count)]
    scale = spread / statistics.stdev(points) if count > 1 else 0
    rates_ = [1000 * (1 + scale * point) for point in points]
    for n, rate in enumerate(rates_):
        write(at, record(f'n{n}', 0, [result(rate, 550.0)]), str(n))
    return at, rates_


def deviation_of(rates_):
    """Between devices: without the 0.1 % within a run, as docs/fleet.md has it."""
    within = statistics.fmean([(0.001 * rate) ** 2 for rate in rates_])
    return math.sqrt(statistics.variance(rates_) - within) / statistics.fmean(rates_)


def test_mean_of_devices(folder):
    """P5 to P95 is that of Student's t about the mean: four times the devices, about half the interval."""
    widths = {}
    for count, bought in ((16, 100000), (64, 100000), (4, 100000), (12, 8), (28, 800)):
        at, rates_ = measured(folder, count)
        answer = simulated(folder, fleet(bought), '--measurements', at)
        found = answer['outcomes'][0]['percentiles']
        reach = STUDENT_P95[count - 1] * deviation_of(rates_) * math.sqrt(1 / count + 1 / bought)
        for percentile, place in (('P5', 1), ('P25', NORMAL.inv_cdf(0.75) / NORMAL.inv_cdf(0.95)), ('P95', -1)):
            wanted = 1 / (1 + place * reach)
            expect(abs(found[percentile] / found['P50'] - wanted) < 0.02 * reach,
                   f'{count} of {bought}, {percentile}: {found[percentile] / found["P50"]}, not {wanted}')
        expect(not answer['notes'], str(answer['notes']))
        widths[count] = found['P95'] - found['P5']
    expect(1.9 < widths[16] / widths[64] < 2.2, f'{widths}')


def test_one_device(folder):
    """A single device stands for all: as wide as devices differ, which is said."""
    at, _ = measured(folder, 1)
    answer = simulated(folder, fleet(800), '--measurements', at)
    found = answer['outcomes'][0]['percentiles']
    expect(found['P95'] / found['P5'] - 1 > 0.034, str(found))
    expect(any('a.decode_throughput is the figure of one device' in note and '±2 %' in note
               for note in answer['notes']), str(answer['notes']))


def test_no_interval(folder):
    """Samples that only rise tell no interval, and so no range; three devices that differ do."""
    for devices in (1, 3):
        at = Path(folder) / f'rising-{devices}'
        at.mkdir()
        for device in range(devices):
            one = result(1000 + device, 550.0)
            one['samples'] = [one['step_seconds'] * (1 + 0.001 * (i - 20)) for i in range(41)]
            write(at, record(f'n{device}', 0, [one]), str(device))
        path = Path(folder) / 'scenario.ini'
        path.write_text(fleet(800))
        done = run('simulate', path, '--measurements', at)
        if devices == 1:
            expect_exit(done, BAD_INPUT, "the record of option 'a' has too few independent samples to tell how uncertain "
                        "'decode_throughput' is: state the range itself")
        else:
            expect(done.returncode == 0, done.stderr)


def test_same_records(folder):
    """The error of the devices measured is common to all who cite them, whatever the size of their fleets."""
    at, rates_ = measured(folder, 12)
    answer = simulated(folder, fleet(800, 800), '--measurements', at)
    expect(abs(width(saving(answer))) < 1e-12, str(saving(answer)))
    expect(set(saving(answer)['influences']) == {'a.decode_throughput = b.decode_throughput'}, str(saving(answer)))
    answer = simulated(folder, fleet(800, 8), '--measurements', at)
    per_gpu = [STUDENT_P95[11] * deviation_of(rates_) * math.sqrt(1 / 12 + 1 / bought) for bought in (800, 8)]
    wanted = [1 - (1 + place * per_gpu[0]) / (1 + place * per_gpu[1]) for place in (-1, 1)]
    found = saving(answer)['percentiles']
    expect(abs(found['P5'] - wanted[0]) < 2e-4 and abs(found['P95'] - wanted[1]) < 2e-4, f'{found}, not {wanted}')
    expect(set(saving(answer)['influences']) == {'a.decode_throughput, b.decode_throughput'}, str(saving(answer)))


def main():
    count = Count()
    count.tests_in_folders(globals())
    count.finish()


if __name__ == '__main__':
    main()
