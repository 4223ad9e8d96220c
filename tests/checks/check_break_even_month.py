#!/usr/bin/python3
"""Rent's break-even month compared with a walk through the months, without using the model.

    check_break_even_month.py [SEED...]

Each seed is a random owned fleet and a rate on all four terms. The cash of both sides is laid out
month by month: power, support and wages at their year's prices, reserved rent at its rate, on-demand
rent with the tokens, and what a term costs beyond the horizon when the horizon ends. The month in
which the cumulative cash of owning falls to that of renting must be the one that rent reports.
PERTOKEN names the program.

Deep: 400 seeds rather than 25.
Seconds: 1, deep 8
"""
import math
import random
import sys
import tempfile
from pathlib import Path

from support.program import Count, DEEP, near, run_json

MONTH_H, MONTHS = 730, 12
TERMS = {'on_demand': 0, 'one_year': 1, 'three_years': 3, 'reserved': 0}  # years committed to
TITLES = ('on demand, hours used', 'one year', 'three years', 'reserved, term unstated')
count = Count()


class Fleet:
    """What is owned, and the rate at which it could be rented."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.months = draw.choice((6, 12, 18, 24, 30, 36, 42, 48, 60))
        self.accelerators = 8 * draw.randint(1, 20)
        self.price = draw.randint(8000, 40000)
        self.power_w = draw.randint(400, 1400)
        self.pue = draw.choice((1, 1.1, 1.3))
        self.tariff, self.escalation = draw.uniform(0.03, 0.3), draw.choice((0, 5, 12))
        self.support = draw.choice((0, 4, 9))
        self.engineers, self.wage_growth = draw.choice((0, 0.5, 2)), draw.choice((0, 3))
        self.utilization, self.ramp = draw.randint(10, 100), draw.choice((0, 0, 4, 12, 15))
        # About the cost of owning over one to three years.
        self.rate = self.price / (8760 * draw.uniform(0.4, 3)) + 0.2

    def scenario(self):
        offers = '\n'.join(f'{term} = {self.rate!r} USD/gpu/h' for term in TERMS)
        return f'''[scenario]
title = T
date = 2026-11-01
horizon = {self.months} month
[option own]
accelerator = h200-sxm-141
accelerators = {self.accelerators}
list_price = {self.price} USD
throughput = 1000 token/s
load_power = {self.power_w} W
pue = {self.pue}
electricity_price = {self.tariff!r} USD/kWh
electricity_escalation = {self.escalation} %/yr
support = {self.support} %/yr
engineers = {self.engineers} FTE
engineer_cost = 150000 USD/FTE/yr
wage_growth = {self.wage_growth} %/yr
utilization = {self.utilization} %
ramp = {self.ramp} month
[rent q]
{offers}
'''

    def owning(self, month):
        """Cash of owning in a month that renting does not need; both need engineers."""
        growth = (1 + self.escalation / 100) ** (month // MONTHS)
        power_kw = self.accelerators * self.power_w / 1000 * self.pue
        support = self.accelerators * self.price * self.support / 100 / MONTHS
        return power_kw * MONTH_H * self.tariff * growth + support

    def load(self, end):
        """Months at full load until a month: the ramp is a straight line."""
        ramped = min(end, self.ramp)
        return end - ramped + (ramped ** 2 / (2 * self.ramp) if self.ramp else 0)

    def renting(self, month, term):
        """Rent of a month; within a year, on-demand rent has the same tokens each month."""
        full = self.accelerators * self.rate * MONTH_H
        if term != 'on_demand':
            return full
        year = month // MONTHS * MONTHS
        end = min(year + MONTHS, self.months)
        return full * self.utilization / 100 * (self.load(end) - self.load(year)) / (end - year)

    def left(self, term):
        """Rent of the committed months beyond the horizon."""
        years = TERMS[term]
        committed = math.ceil(self.months / MONTHS / years) * years * MONTHS if years else self.months
        return (committed - self.months) * self.accelerators * self.rate * MONTH_H

    def break_even(self, term):
        """The first month in which owning has cost no more, or None."""
        gap = self.accelerators * self.price
        for month in range(self.months):
            change = self.owning(month) - self.renting(month, term)
            if gap + change <= 0:
                return month + gap / -change
            gap += change
        return self.months if gap <= self.left(term) else None


def check_fleet(seed, folder):
    fleet = Fleet(seed)
    path = Path(folder) / f'{seed}.ini'
    path.write_text(fleet.scenario(), encoding='utf-8')
    answer = run_json('rent', path)['answers'][0]
    rows = {row['offer']: row for row in answer['tables']['break_even']['rows']}
    for term, title in zip(TERMS, TITLES):
        expected, found = fleet.break_even(term), rows[title]['break_even_month']
        same = found == 'never' if expected is None else found != 'never' and near(found, expected)
        count.check(f'seed {seed}: {term} over {fleet.months} months', same, (found, expected))


seeds = [int(seed) for seed in sys.argv[1:]] or range(400 if DEEP else 25)
print(f'seeds {seeds}')
with tempfile.TemporaryDirectory() as scratch:
    for number in seeds:
        check_fleet(number, scratch)
count.finish()
