#!/usr/bin/python3
"""How large a plan may be: 3 options x 2 workloads x 6 periods are proven, 6 x 4 x 12 come within 1 % of the bound.

    check_plan_sizes.py [all]

PERTOKEN names the program.
Seconds: 2, deep 130
Deep: 4 random plans of 3 x 2 x 6, 3 of six options, four workloads and twelve quarters, and the example
all: 26 and 16 of them, for a machine that does nothing else; docs/plan.md quotes its output
"""
import json
import resource
import sys
import tempfile

from check_plan import head, sized, workloads, written
from support import random_plan
from support.processor import is_quick
from support.program import Count, DEEP, DONE, NO, run, skip_all

count = Count()
check = count.check


ALL = sys.argv[1:] == ['all']
# 15 plans that can be served. Half of the 30 s is tried first, as the prices after it take the same time again.
LARGE = (1, 2, 3, 4, 5, 6, 7, 8, 10, 11, 12, 13, 14, 15, 16)
HALF_TIME, MAX_TIME = 15, 240
UNSERVED = (4, 10, 13, 15)  # of the small ones
FEW_SMALL, FEW_LARGE = 4, 2


def solved(path, time, unserved=False):
    """The proof of a plan, and its processor seconds; nothing for one that cannot be served."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    done = run('plan', path, '-q', '--time', str(time), '--format', 'json', timeout=2 * time + 600)
    check('solved', done.returncode == (NO if unserved else DONE), done.stderr)
    if unserved:
        return None
    found = json.loads(done.stdout)['answers'][0]
    return found['answer'], found['tables']['proof']['rows'][0]['gap'], resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def check_small(folder):
    """3 options x 2 workloads x 6 periods are proven."""
    answer, gap, seconds = solved(written(folder, sized(3, 2, 6)), 600)
    check('3 x 2 x 6 is proven', 'This is proven to be the lowest cost.' in answer and gap == 0 and is_quick(seconds, 60), (answer, gap, seconds))
    if not (DEEP or ALL):
        return
    for seed in range(1, 27 if ALL else FEW_SMALL + 1):
        path = written(folder, random_plan.make(seed, 3, 2, 6))
        for time in (HALF_TIME, 600):
            found = solved(path, time, seed in UNSERVED)
            if not found or found[1] == 0:
                break
        check(f'random 3 x 2 x 6 {seed}', not found or 'This is proven to be the lowest cost.' in found[0] and found[1] == 0, found)


def check_large(folder):
    """6 x 4 x 12 come within 1 % in half a minute of two processors; if other programs use these, in correspondingly
    longer."""
    if not (DEEP or ALL):
        return
    random = [(seed, random_plan.make(seed, 6, 4, 12)) for seed in LARGE[:None if ALL else FEW_LARGE]]
    for name, text in [('made', sized(6, 4, 12)), *random]:
        path = written(folder, text)
        answer, gap, seconds = solved(path, HALF_TIME)
        if gap > 1:  # all of the time on two processors without other load
            share = min(1, seconds / 4 / HALF_TIME)
            answer, gap, seconds = solved(path, min(MAX_TIME, round(2 * HALF_TIME / share)))
        check(f'6 x 4 x 12 within 1 %: {name}', gap <= 1, (answer, gap, seconds))
        if ALL:
            print(f'     {name}: within {gap:.2f} %', flush=True)


def check_example(folder):
    """The plan of the documentation, within the time in its file."""
    if not (DEEP or ALL):
        return
    done = run('plan', 'examples/plan/twelve-quarters.ini', '-q', '--time', '60', '--format', 'json', timeout=1200)
    found = json.loads(done.stdout)['answers'][0]
    tables = found['tables']
    check('the example', done.returncode == DONE and tables['proof']['rows'][0]['gap'] <= 1, found['answer'])
    fleet, tokens = tables['fleet']['rows'], tables['tokens']['rows']
    check('its successor', all(row['next'] == 0 for row in fleet if row['period'] < '2028-04') and fleet[-1]['next'] > 0, fleet)
    check('its stock', sum(row['accelerators'] for row in tables['calendar']['rows'] if row['option'] == 'mi325x') <= 512, tables['calendar'])
    check('its site', all(row['power'] <= 3 * (1 + 1e-9) for row in fleet), fleet)
    check('its vendors', all(row['nvidia'] >= 0.3 * row['demand'] * (1 - 1e-6) and row['amd'] >= 0.2 * row['demand'] * (1 - 1e-6) for row in tokens), tokens)
    check('its budgets', all(row['outlay'] <= row['budget'] * (1 + 1e-9) for row in tables['years']['rows']), tables['years'])


def main():
    with tempfile.TemporaryDirectory() as folder:
        probe = run('plan', written(folder, head() + workloads() + '[plan]\n'), '-q')
        if 'without GLPK' in probe.stderr:
            skip_all('this build is without GLPK')
        for test in (check_small, check_large, check_example):
            test(folder)
    count.finish()


if __name__ == '__main__':
    main()
