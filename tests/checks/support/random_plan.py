"""Random plans as a procurement team would state them: two vendors in turn, workloads that grow at different
rates and run best on different options, successors, lead times, engineers, stock, shares and a site."""
import random

ACCELERATORS = ('h200-sxm-141', 'mi325x-256')
HEAD = """\
[scenario]
title = Random plan {seed}
horizon = {months} month
period = 3 month
baseline = x
date = 2026-11-20
start = 2027-04
[workload]
model = llama-2-70b
precision = fp8
utilization = 60 %
[common]
accelerators = 8
accelerators_per_node = 8
pue = 1.2
electricity_price = {electricity:.3f} USD/kWh
host_power = 200 W/gpu
support = 4 %/yr
engineer_cost = 200000 USD/FTE/yr
resale = {first}, {second}, {third} %
wacc = {wacc} %/yr
"""


def options_of(rng, ids):
    """Their text, and token/s of each."""
    text, speeds = '', {}
    for i, name in enumerate(ids):
        speeds[name] = rng.uniform(600, 1400) * (1.25 if i > 1 else 1)
        text += (f'[option {name}]\naccelerator = {ACCELERATORS[i % 2]}\nlist_price = {speeds[name] * rng.uniform(20, 33):.0f} USD\n'
                 f'price_decline = {rng.randint(4, 18)} %/yr\nload_power = {rng.randint(650, 1200)} W/gpu\n'
                 f'throughput = {speeds[name]:.0f} token/s/gpu\n')
        if rng.random() < 0.5:
            text += f'engineers = {rng.choice([0.5, 1, 2])} FTE\nmigration_cost = {rng.choice([100, 300, 600])}000 USD\n'
    return text, speeds


def demands_of(rng, count, speeds, total):
    text, ids = '', list(speeds)
    for w in range(count):
        text += (f'[demand d{w}]\ntokens = {total * rng.uniform(0.5, 1.5) / count:.4g} token/month\n'
                 f'growth = {rng.randint(10, 60)} %/yr\n')
        barred = rng.sample(ids[1:], rng.choice([0, 1, 1, 2])) if len(ids) > 2 else []
        for name in ids:
            if name in barred:
                text += f'ready.{name} = no\n'
            elif rng.random() < 0.7:
                text += f'throughput.{name} = {speeds[name] * rng.uniform(0.7, 1.3):.0f} token/s/gpu\n'
    return text


def supplies_of(rng, ids):
    text = ''
    for i, name in enumerate(ids):
        keys = []
        if i > 1 and rng.random() < 0.8:
            keys.append(f'available = {rng.choice([6, 9, 12, 15, 18])} month')
        if rng.random() < 0.5:
            keys.append(f'lead_time = {rng.randint(1, 4)} month')
        if rng.random() < 0.3 and i > 0:
            keys.append(f'stock = {rng.choice([64, 128, 256, 512])} gpu')
        if keys:
            text += '\n'.join([f'[supply {name}]', *keys]) + '\n'
    return text


def make(seed, options, workloads, periods):
    rng = random.Random(f'plan {seed}')
    ids = 'xyzuvw'[:options]
    text = HEAD.format(seed=seed, months=3 * periods, electricity=rng.uniform(0.06, 0.14), first=rng.randint(60, 75),
                       second=rng.randint(40, 55), third=rng.randint(22, 35), wacc=rng.randint(6, 11))
    part, speeds = options_of(rng, ids)
    total = rng.choice([0.5e12, 1e12, 2e12])
    text += part + demands_of(rng, workloads, speeds, total) + supplies_of(rng, ids)
    if rng.random() < 0.7:
        text += f'[portfolio]\nminimum_share.amd = {rng.choice([10, 20, 25])} %\nminimum_share.nvidia = {rng.choice([10, 20, 30])} %\n'
    text += '[plan]\n'
    return text + (f'site_power = {rng.uniform(2, 6) * total / 1e12:.1f} MW\n' if rng.random() < 0.5 else '')
