#!/usr/bin/python3
"""What `wait` says in words: the verdict, a tie, and what is bought elsewhere either way.

test_wait checks its figures.
Seconds: 1
"""
from pathlib import Path

from support.program import expect, run_json, run_tests

# Eight accelerators for 8,000 USD that serve 800 token/s, and a successor at the same price per token.
SCENARIO = """\
[scenario]
title = Wait
horizon = 3 yr
date = 2026-11-01
[common]
utilization = 100 %
pue = 1
electricity_price = 0 USD/kWh
load_power = 700 W
accelerators = 8
accelerators_per_node = 1
{common}
[option a]
label = A
accelerator = h200-sxm-141
list_price = 1000 USD
throughput = 100 token/s
[option b]
label = B
accelerator = b200-sxm-180
list_price = {price} USD
throughput = 200 token/s
[wait a]
months = 0
successor = b
meanwhile = 1 USD/Mtok
"""


def answered(folder, price, common=''):
    path = Path(folder, 'wait.ini')
    path.write_text(SCENARIO.format(price=price, common=common), encoding='utf-8')
    return run_json('wait', path)['answers'][0]


def test_verdict(folder):
    """Only costs that are the same are a tie: a saving of cents has an amount and a share above zero."""
    for price, words in (('2000', 'A tie: buying A now and ordering B in 0 months cost the same, 8,000 USD. No order '),
                         ('1999.99', 'Wait: ordering B in 0 months costs 8,000 USD, 0.04 USD (0.0005 %) less than buying A '),
                         ('2500', 'Buy now: buying A now costs 8,000 USD, 2,000 USD (20 %) less than ordering B '),
                         ('0.02', 'Wait: ordering B in 0 months costs 0.08 USD, 8,000 USD (99.999 %) less than buying A ')):
        sentence = answered(folder, price)['answer']
        expect(sentence.startswith(words), f'{sentence}, not {words}')


def test_nearly_always_right(folder):
    """In all but two of 4,096 draws is not in all of them."""
    rarely = '[range]\nb.list_price = discrete(1000: 5, 2500: 9995) USD\n'
    path = Path(folder, 'wait.ini')
    path.write_text(SCENARIO.format(price=2500, common='') + rarely, encoding='utf-8')
    sentence = run_json('wait', path)['answers'][0]['answer']
    expect('This is right in 99.95 % of draws.' in sentence, sentence)


def test_bought_elsewhere(folder):
    """The demand beyond eight accelerators is bought in both, and the answer says how much of it."""
    told = answered(folder, '2000', 'demand = 50457.6 Mtok/yr\nburst_price = 0.5 USD/Mtok')
    expect(told['answer'].startswith('A tie: '), told['answer'])
    reason = next(reason for reason in told['reasons'] if 'Both alternatives serve' in reason)
    expect(reason.endswith('the output of A if bought now, of which it buys 50 % elsewhere.'), reason)


if __name__ == '__main__':
    run_tests(globals())
