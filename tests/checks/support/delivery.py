"""Offers and deliveries, made up, and the formulas of docs/acceptance.md, independently from the program."""
import functools
import math
import random
import statistics
import tempfile
from pathlib import Path

from support.fleet_records import record, result, write
from support.program import Count, DEEP, DONE, NO, ROOT, expect, run_json

UNDECIDED = 4
ANY = (DONE, NO, UNDECIDED)
EXAMPLE = ROOT / 'examples' / 'acceptance'

HEAD = """\
[offer]
vendor = Example Compute
reference = Q-1
date = 2026-11-02
currency = USD
accelerator = h200-sxm-141
accelerators = {accelerators} gpu
nodes = {nodes} node
[price]
accelerators = 27500 USD/gpu
servers = 58000 USD/node
network = 3900 USD/gpu
"""
GUARANTEE = """\
[guarantee decoding]
model = llama-2-70b
precision = fp8
basis = decode
batch = 64
context = 4096
tokens_per_s = {tokens} token/s/gpu
"""
RULES = """\
[acceptance]
tolerance = 2 %
node_tolerance = 5 %
confidence = 95 %
may_fail = {may_fail} node
remedy = 1 %
remedy_limit = 10 %
"""


def offer(folder, nodes=8, each=4, tokens=1000, may_fail=0, more='power = 560 W/gpu\n', rules=RULES, head=HEAD):
    path = Path(folder) / 'offer.ini'
    path.write_text(head.format(accelerators=nodes * each, nodes=nodes) + GUARANTEE.format(tokens=tokens) + more
                    + rules.format(may_fail=may_fail))
    return path


def deliver(folder, rates, watts=550.0, **changes):
    """rates[node][device][run]; the records are in a folder of their own."""
    at = Path(folder) / 'records'
    at.mkdir(exist_ok=True)
    for n, node in enumerate(rates):
        for d, runs in enumerate(node):
            power = watts[n][d] if isinstance(watts, list) else [watts] * len(runs)
            write(at, record(f'node-{n:04d}', d, [result(rate, power[r], when=f'2026-11-21T09:3{r}:00Z')
                                                  for r, rate in enumerate(runs)], **changes))
    return at


def accept(offered, records, *more, statuses=ANY):
    return run_json('accept', offered, records, *more, statuses=statuses)


def clauses(answer):
    return {row['clause'].partition(': ')[2] or row['clause']: row for row in answer['tables']['clauses']['rows']}


def fleet(seed, nodes, each, runs, level=1000.0, between=0.01, devices=0.006, run_spread=0.004):
    draw = random.Random(seed)
    made = []
    for _ in range(nodes):
        mean = level * (1 + draw.gauss(0, between))
        together = [draw.gauss(0, run_spread) * level for _ in range(runs)]
        made.append([[device + more for more in together]
                     for device in (mean * (1 + draw.gauss(0, devices)) for _ in range(each))])
    return made


def t_share(t, freedom):
    """P(T < t): for x = t / sqrt(freedom) = tan(angle) the density is cos(angle) ** (freedom - 1), normalized."""
    def integral(upto, steps=600):
        step = upto / steps
        return sum((1 if i in (0, steps) else 4 if i % 2 else 2) * max(0.0, math.cos(i * step)) ** (freedom - 1)
                   for i in range(steps + 1)) * step / 3
    return 0.5 + 0.5 * integral(math.atan(t / math.sqrt(freedom))) / integral(math.pi / 2)


@functools.lru_cache
def t_quantile(p, freedom):
    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) < p else (low, middle)
    return low


class Sample:
    """What the page calls n, m, s, e, v, V and df, for rates[node][device][run]."""

    def __init__(self, rates, nodes):
        self.runs = [[statistics.fmean(device[r] for device in node) for r in range(len(node[0]))] for node in rates]
        self.nodes = [statistics.fmean(runs) for runs in self.runs]
        self.n, self.all, self.m = len(rates), nodes, statistics.fmean(self.nodes)
        self.s = statistics.stdev(self.nodes)
        self.v = sum(len(runs) - 1 for runs in self.runs)
        f = self.n / nodes
        if self.v:
            squares = sum((x - m) ** 2 for runs, m in zip(self.runs, self.nodes) for x in runs)
            self.e = math.sqrt(squares / self.v)
            w = statistics.fmean(self.e ** 2 / len(runs) for runs in self.runs)
            a, b = (1 - f) * self.s ** 2 / self.n, f * w / self.n
            self.error = math.sqrt(a + b)
            self.df = 1 / ((a / (a + b)) ** 2 / (self.n - 1) + (b / (a + b)) ** 2 / self.v)
        else:
            middle = statistics.median(self.nodes)
            self.e = None
            self.robust = 1.4826 * statistics.median([abs(m - middle) for m in self.nodes])
            self.error, self.df = self.s / math.sqrt(self.n), self.n - 1

    def bounds(self, confidence):
        half = t_quantile(confidence, self.df) * self.error
        return self.m - half, self.m + half

    def judge_nodes(self, limit, confidence):
        share = 1 - (1 - confidence) / self.all
        verdicts = []
        for m, runs in zip(self.nodes, self.runs):
            error, freedom = (self.e / math.sqrt(len(runs)), self.v) if self.e else (self.robust, self.n - 1)
            margin = t_quantile(share, freedom) * error
            verdicts.append('pass' if m - margin >= limit else 'fail' if m + margin < limit else 'not enough data')
        return verdicts


def verdict_of(low, high, limit):
    return 'pass' if low >= limit else 'fail' if high < limit else 'not enough data'


def judge_nodes(answer, single, verdicts, nodes, may_fail):
    """The nodes measured that do not pass are named; `single` is the clause that counts them, and those not measured."""
    named = {row['node']: row['verdict'] for row in answer['tables'].get('nodes', {'rows': []})['rows']}
    wanted = {node: verdict for node, verdict in verdicts.items() if verdict != 'pass'}
    expect(named == wanted, f'{named}, not {wanted}')
    fails = sum(verdict == 'fail' for verdict in wanted.values())
    if fails > may_fail:
        expect(single['verdict'] == 'fail', str(single))
    elif len(wanted) + nodes - len(verdicts) <= may_fail:
        expect(single['verdict'] == 'pass', str(single))
    elif len(verdicts) == nodes or not may_fail:
        expect(single['verdict'] == 'not enough data', str(single))


def run_with_fleets(script, check_formulas):
    """The tests of a script, after its check of the formulas with random fleets."""
    count = Count()
    for seed in range(60 if DEEP else 12):
        with tempfile.TemporaryDirectory() as folder:
            count.test(f'formulas of fleet {seed}', check_formulas, folder, seed)
    count.tests_in_folders(script)
    count.finish()


def play(numpy, draw, a, e, mean, nodes, measured, runs, count=40000):
    """How often fleets of that truth pass and fail: except for t quantiles, entirely by random numbers."""
    true = mean + draw.normal(0, a, (count, nodes))
    true += mean - true.mean(axis=1, keepdims=True)
    values = true[:, :measured, None] + draw.normal(0, e, (count, measured, runs))
    m_i = values.mean(axis=2)
    m, s = m_i.mean(axis=1), m_i.std(axis=1, ddof=1)
    f, n = measured / nodes, measured
    if runs == 1:
        error, quantile = s / math.sqrt(n), t_quantile(0.95, n - 1)
    else:
        v = n * (runs - 1)
        e2 = ((values - m_i[:, :, None]) ** 2).sum(axis=(1, 2)) / v
        error, quantile = numpy.sqrt((1 - f) * s ** 2 / n + f * e2 / runs / n), t_quantile(0.95, v)
    return (m - quantile * error >= 0.98).mean(), (m + quantile * error < 0.98).mean()
