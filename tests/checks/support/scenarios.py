"""Parts of scenarios that several checks need."""

# A curve of a published benchmark beside a typed throughput.
CURVE_AND_TYPED = """\
[workload]
model = llama-3.1-70b
precision = fp8
utilization = 60 %
[common]
accelerators = 8
pue = 1.2
electricity_price = 0.08 USD/kWh
[option mi300x]
accelerator = mi300x-192
list_price = 15000 USD
evidence = tp1175
[option h200]
accelerator = h200-sxm-141
list_price = 35000 USD
throughput = 400 token/s
"""

# What its curve cannot reach, and what it can.
RAPID_AND_ANY = """\
[demand rapid]
tokens = 5e11 token/month
interactivity = 500 token/s
throughput.h200 = 20 token/s
[demand any]
tokens = 5e11 token/month
"""

# Of options that state no more than accelerator, price and throughput.
COMMON = """\
[workload]
model = llama-2-70b
precision = fp8

[common]
accelerators = 8
utilization = 70 %
pue = 1.25
electricity_price = 0.08 USD/kWh
"""
