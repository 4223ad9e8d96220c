#!/usr/bin/python3
"""Published studies rebuilt from scenarios: each published figure compared with pertoken's.

    check_studies.py

examples/studies has a file for each study, with its sources. A figure must be within 1 %, or within the
study's rounding if that is coarser. A study that cannot be reproduced says NOT MET in its file, and the
difference must be the one in the file. PERTOKEN names the program.
"""
from support.program import Count, ROOT, expect, run_json

STUDIES = ROOT / 'examples' / 'studies'
MONTH_H = 730
count = Count()


def item(name):
    """Of the only option."""
    return lambda path: run_json('compare', path)['options'][0]['items'][name]


def break_even_h(offer):
    """Hours around the clock until owning has cost no more than an offer."""
    def find(path):
        rows = run_json('rent', path)['answers'][0]['tables']['break_even']['rows']
        return next(row['break_even_month'] for row in rows if row['offer'] == offer) * MONTH_H
    return find


# Study, what is published, the figure, our tolerance, and where our figure is.
PUBLISHED = [
    ('deepseek-day', 'cost of the day, USD', 87072, 0.01, item('tco')),
    ('deepseek-day', 'output tokens', 168e9, 0.01, item('tokens_total')),
    ('deepseek-day', 'revenue of the day, USD', 562027, 0.005, item('revenue_total')),
    ('deepseek-day', 'margin of the cost, %', 545, 0.005, item('margin_of_cost')),
    ('lenovo-lp2225', 'hours, on demand', 8556, 0.01, break_even_h('on demand, hours used')),
    ('lenovo-lp2225', 'hours, one year', 10890, 0.01, break_even_h('one year')),
    ('lenovo-lp2225', 'hours, three years', 15710, 0.01, break_even_h('three years')),
    ('nvidia-formula', 'USD in four years', 4 * 87500, 0.01, item('tco')),
]
# The same, with our figure.
NOT_MET = [
    ('lenovo-lp2368', 'months, on demand', 3.7, 3.4832,
     lambda path: break_even_h('on demand, hours used')(path) / MONTH_H),
]


def check_figure(study, published, within, find):
    path = STUDIES / f'{study}.ini'
    ours = find(path)
    print(f'{study}: published {published:,.6g}, ours {ours:,.6g}')
    expect('NOT MET' not in path.read_text(encoding='utf-8'), 'it is met')
    expect(abs(ours - published) <= within * published, (published, ours))


def check_not_met(study, published, ours, find):
    path = STUDIES / f'{study}.ini'
    expect('NOT MET' in path.read_text(encoding='utf-8'), 'its file must say so')
    found = find(path)
    print(f'{study}: published {published:,.6g}, ours {found:,.6g}: not met')
    expect(abs(found - ours) <= 1e-4 * ours and abs(found - published) > 0.01 * published, found)


for what, name, figure, tolerance, where in PUBLISHED:
    count.test(f'{what}: {name}', check_figure, what, figure, tolerance, where)
for what, name, figure, is_now, where in NOT_MET:
    count.test(f'{what}: {name}', check_not_met, what, figure, is_now, where)
named = {row[0] for row in PUBLISHED + NOT_MET}
count.check('every study is checked', named == {path.stem for path in STUDIES.glob('*.ini')}, named)
count.finish()
