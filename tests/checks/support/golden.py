"""The golden example of the cost model as a scenario: every figure is typed, so all results are known."""

GOLDEN = """\
[scenario]
title = Golden example
date = 2026-11-01
horizon = 3 yr
baseline = h200

[common]
accelerators = 800
accelerators_per_node = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
node_price = 60000 USD
network_price = 4247 USD
support = 4 %/yr
host_power = 300 W
wacc = 8 %/yr
engineer_cost = 280000 USD/yr

[option h200]
accelerator = h200-sxm-141
list_price = 35000 USD
discount = 14 %
load_power = 700 W
throughput = 4202 token/s

[option mi325x]
accelerator = mi325x-256
list_price = 22000 USD
discount = 14 %
load_power = 1000 W
throughput = 3951 token/s
engineers = 2 FTE
"""
