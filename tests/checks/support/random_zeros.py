"""Random scenarios of costs that are not included: zeros with and without a source, in cases, by year, or part of a
price."""

OPTIONS = {
    'node': ('h200-sxm-141', 'list_price = 30000 USD'),
    'server': ('b200-sxm-180', 'price = pr027'),
    'rack': ('gb200-nvl72', 'price = pr047'),
    'rented': ('mi300x-192', 'rental_rate = 2 USD/gpu/h'),
}
UNITS = {'node_price': 'USD', 'network_price': 'USD', 'host_power': 'W', 'electricity_price': 'USD/kWh',
         'embodied_carbon': 'kg', 'engineer_cost': 'USD/FTE/yr'}
# What a price or a rent includes may not be stated beside it.
INCLUDED = {'server': {'node_price'}, 'rack': {'node_price', 'network_price'}, 'rented': set(UNITS) - {'embodied_carbon', 'engineer_cost'}}
WHOLES = {'list_price'}
SCALES = {'electricity_price_scale'}
PRICED = {'engineers'}  # of whom engineer_cost is the price
HEAD = """\
[scenario]
title = Zeros
date = 2026-11-20
[common]
accelerators = 144
utilization = 60 %
pue = 1.3
grid_intensity = 400 g/kWh
"""


def stated(draw, key, name):
    """Its lines: a number, one zero or, of electricity, several, with or without a source."""
    values = ['0', '0', '0', '7', *(['0, 0', '0, 7'] if name == 'electricity_price' else [])]
    lines = [f'{key} = {draw.choice(values)} {UNITS[name]}']
    return lines + [f'{key}.source = stated'] * draw.randint(0, 1)


def random_scenario(draw):
    electricity, changed = stated(draw, 'electricity_price', 'electricity_price'), ['[case changed]']
    if ',' in electricity[0] and draw.random() < 0.5:
        electricity += ['electricity_price_scale = 0 %', *['electricity_price_scale.source = stated'] * draw.randint(0, 1)]
    lines = HEAD.splitlines() + electricity
    for option, (accelerator, price) in OPTIONS.items():
        lines += [f'[option {option}]', f'accelerator = {accelerator}', price, 'throughput = 1000 token/s']
        lines.append(f'engineers = {draw.choice(["0", "2", "0, 2"])} FTE')
        for name in sorted(set(UNITS) - INCLUDED.get(option, set())):
            if name == 'engineer_cost' or draw.random() < 0.6:
                lines += stated(draw, name, name)
                if draw.random() < 0.4:
                    changed += stated(draw, f'{option}.{name}', name)
    if draw.random() < 0.5:
        changed += ['server.list_price = 40000 USD']
    return '\n'.join(lines + changed) + '\n'


def matters(key):
    """Is an input, 'node.list_price', one of these, a year of one, or one on which it depends?"""
    return key.rpartition('.')[2].partition('_year_')[0] in {*UNITS, *WHOLES, *SCALES, *PRICED}
