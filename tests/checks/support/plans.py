"""Scenarios with a [plan], made up of a few parts, and what `plan` answers to them. A script ends with `check_all`."""
import json
import pathlib
import tempfile

from support.program import Count, DONE, NO, run, skip_all

HEAD = """[scenario]
title = Made up
horizon = {horizon}
period = {period}
baseline = x
date = 2026-11-20
start = {start}
[workload]
model = llama-2-70b
precision = fp8
utilization = 60 %
[common]
accelerators = 8
accelerators_per_node = 8
pue = 1.2
electricity_price = 0.1 USD/kWh
host_power = 200 W/gpu
support = 4 %/yr
engineer_cost = 200000 USD/FTE/yr
residual_value = 30 %
wacc = {wacc}
[option x]
accelerator = h200-sxm-141
list_price = 30000 USD
load_power = 700 W/gpu
throughput = 1000 token/s/gpu
[option y]
accelerator = mi325x-256
list_price = 20000 USD
load_power = 1000 W/gpu
throughput = 800 token/s/gpu
{y}
"""
STAFF = 'engineers = 0.5 FTE\nmigration_cost = 50000 USD'
RENT = """[option cloud]
accelerator = h200-sxm-141
rental_rate = 9 USD/gpu/h
throughput = 1000 token/s/gpu
"""
WORKLOADS = """[demand a]
tokens = 0.1e12 token/month
{growth_a}
[demand b]
tokens = 0.08e12 token/month
throughput.x = 900 token/s/gpu
throughput.y = 950 token/s/gpu
load_power.y = 900 W/gpu
{growth_b}
"""
SHARES = '[portfolio]\nminimum_share.amd = 20 %\nminimum_share.nvidia = 20 %\n'
count = Count()
check = count.check


def head(horizon='2 yr', period='6 month', wacc='8 %/yr', y=STAFF, start='2027-01'):
    return HEAD.format(horizon=horizon, period=period, wacc=wacc, y=y, start=start)


def workloads(growth_a='growth = 60 %/yr', growth_b='growth = 20 %/yr'):
    return WORKLOADS.format(growth_a=growth_a, growth_b=growth_b)


def written(folder, text):
    path = pathlib.Path(folder) / 'scenario.ini'
    path.write_text(text, encoding='utf-8')
    return str(path)


def ask(command, folder, text, status=DONE):
    done = run(command, written(folder, text), '-q', '--format', 'json')
    check(f'{command}: status {status}', done.returncode == status, done.stderr)
    return json.loads(done.stdout)['answers'][0] if done.returncode in (DONE, NO) else None


def cost_of(answer):
    return answer['tables']['proof']['rows'][0]['value']


def discrete(first, second):
    """Only x for a year, 8 to a unit: its rate is one of two; what is needed, and what was found."""
    text = (head('1 yr', '1 yr', y='') + '[demand a]\ntokens = 0.1e12 token/month\nready.y = no\n[supply x]\nlead_time = 1 month\n'
            + f'[range]\nx.throughput = discrete({first}: 7, {second}: 3) token/s/gpu\n[plan]\ndraws = 200\n')
    return text, {rate: 0.1e12 / (rate * 0.6 * 3600 * 730) / 8 for rate in (first, second)}


def check_all(checks):
    """Each in the same folder; skips all where a build cannot plan."""
    with tempfile.TemporaryDirectory() as folder:
        if 'without GLPK' in run('plan', written(folder, head() + workloads() + '[plan]\n'), '-q').stderr:
            skip_all('this build is without GLPK')
        for one in checks:
            one(folder)
    count.finish()
