"""The golden examples of the cost model: the inputs as typed, and the resulting figures as published.

Every value is typed in the input's own unit, so that the oracle can use the number unchanged.
"""

import re
from pathlib import Path

from oracle import cost_model

PAGE = Path(__file__).resolve().parents[3] / "docs" / "vintages.md"

STATIC = {
    "scenario": {"title": "Golden example", "date": "2026-11-01", "horizon": "3 yr",
                 "baseline": "h200"},
    "common": {"accelerators": "800", "accelerators_per_node": "8", "utilization": "70 %",
               "pue": "1.25", "electricity_price": "0.08 USD/kWh", "node_price": "60000 USD",
               "network_price": "4247 USD", "support": "4 %/yr", "host_power": "300 W",
               "wacc": "8 %/yr", "engineer_cost": "280000 USD/yr"},
    "option h200": {"accelerator": "h200-sxm-141", "list_price": "35000 USD",
                    "discount": "14 %", "load_power": "700 W", "throughput": "4202 token/s"},
    "option mi325x": {"accelerator": "mi325x-256", "list_price": "22000 USD",
                      "discount": "14 %", "load_power": "1000 W", "throughput": "3951 token/s",
                      "engineers": "2 FTE"},
}
STATIC_TABLE = """\
accelerators_bought       800             800
nodes                     100             100
net_price                 30100           18920
accelerator_cost          24080000        15136000
server_cost               6000000         6000000
network_cost              3397600         3397600
hardware_cost             33477600        24533600
it_power                  800             1040
capex                     33477600        24533600
power_total               1787040         2323152
cooling_total             315360          409968
support_total             4017312         2944032
engineering_total         0               1680000
opex_total                6119712         7357152
tco                       39597312        31890752
tokens_total              2.22623977e+14  2.093258765e+14
cost_per_mtok             0.1778663401    0.1523497837
levelised_cost_per_mtok   0.202543342     0.1715828433
cost_per_gpu_hour         1.88343379      1.516873668
energy_per_token          0.4249677025    0.5875546878
"""
STATIC_SAVING = "0.143459163807372"
UNITS = {"tco": "USD", "cost_per_mtok": "USD/Mtok", "levelised_cost_per_mtok": "USD/Mtok",
         "cost_per_gpu_hour": "USD/h", "energy_per_token": "J/token", "it_power": "kW"}

STAGED = {
    "scenario": {"title": "Golden stages", "date": "2026-11-01", "horizon": "3 yr"},
    "common": {"demand": "2500000 Mtok/yr", "demand_growth": "40 %/yr"},
    "option h200": {
        "accelerator": "h200-sxm-141", "throughput": "2500 token/s", "throughput_gain": "10 %/yr",
        "utilization": "70 %", "list_price": "32000 USD", "discount": "10 %", "price_decline": "15 %/yr",
        "node_price": "50000 USD", "accelerators_per_node": "8", "purchase_unit": "8", "load_power": "700 W",
        "idle_power": "700 W", "host_power": "300 W", "pue": "1.3", "electricity_price": "0.09 USD/kWh",
        "support": "4 %/yr", "engineers": "2, 1, 1 FTE", "engineer_cost": "250000 USD/yr", "wacc": "8 %/yr"},
}
VINTAGES = STAGED | {"option h200": STAGED["option h200"] | {
    "life": "2 yr", "resale": "60, 40, 25 %", "warranty": "1 yr", "failure_rate": "5 %/yr", "book_life": "4 yr",
    "tax_rate": "25 %"}}
VINTAGES_TABLE = """\
needed              0        48           64           80
bought              0        48           16           64
stock               0        48           64           80
hardware_paid       0        1682400      491680       1731712
support_cost        0        67296        86963.2      88935.68
repair              0        0            69120        19584
residual            0        0            -672960      -1235699.2
cash                1682400  1108172.16   1530430.08   -795185.92
book_depreciation   0        420600       543520       555848
book_cost           0        1037092.16   1183438.08   996361.28
book_value          1682400  1753480      2100472      1544624
tax_depreciation    0        336480       636704       503680
tax_value           1682400  1837600      2125056      1621376
"""
VINTAGES_RESULTS = """\
accelerators             80
accelerators_bought      128
capex                    3905792
residual_total           -1908659.2
tco                      3525816.32
cost_per_mtok            0.3234693872
levelised_cost_per_mtok  0.3681950709
book_cost_total          3216891.52
after_tax_total          2644362.24
"""
CREDIT = VINTAGES | {"option h200": VINTAGES["option h200"] | {
    "loan_share": "60 %", "loan_rate": "6 %/yr", "loan_term": "2.5 yr", "lease_rate": "7 %/yr", "lease_term": "2.5 yr"}}
CREDIT_TABLE = """\
loan_payment                0            446789.8259  577363.7807  810600.3166
loan_interest               0            60566.4      55093.47445  79590.85958
loan_balance                1009440      918224.5741  1434981.468  703972.0108
loan_cash                   672960       1259953.986  1068766.661  719386.4074
lease_paid                  709484.6072  916830.8932  1292368.552  0
lease_interest              0            68104.0775   43110.8004   76882.59781
lease_liability             972915.3928  615868.5771  1098322.826  1175205.424
right_of_use_depreciation   0            672960       869632       1225836.8
right_of_use_value          1682400      1501120      2363200      1137363.2
lease_cash                  709484.6072  1533323.053  1764046.632  1615718.704
"""
CREDIT_RESULTS = """\
loan_amount          2343475.2
loan_instalment      810600.3166
loan_interest_total  195250.734
loan_cash_total      3721067.054
loan_npv             3326951.333
right_of_use         3905792
lease_payment        1647110.855
lease_cash_total     5622572.996
lease_npv            4924223.432
"""
LEAD = VINTAGES | {"option h200": VINTAGES["option h200"] | {"lead_time": "3 month"}}
PUBLISHED = [VINTAGES, CREDIT, LEAD]     # the tables of docs/vintages.md, in order
# By the period that it is for; payments by the column that they are in.
STAGED_TABLE = """\
needed            0        48           64           80
bought            0        48           16           16
power_cost        0        40681.44     54241.92     67802.4
cooling_cost      0        8514.72      11352.96     14191.2
support_cost      0        67296        86963.2      104280.32
engineering_cost  0        500000       250000       250000
load              0        66.06206663  63.05924542  64.20577716
tokens            0        2.5e+12      3.5e+12      4.9e+12
"""
STAGED_CAPEX = [1682400, 491680, 432928, 0]
STAGED_RESULTS = """\
tco                      4062332.16
cost_per_mtok            0.3726910239
levelised_cost_per_mtok  0.4096680202
energy_per_token         0.7221454679
"""


def ini(example):
    return "\n\n".join("\n".join([f"[{name}]"] + [f"{key} = {value}" for key, value in keys.items()])
                       for name, keys in example.items()) + "\n"


def number(text):
    values = [float(each.split()[0]) for each in text.split(", ")]
    return values if len(values) > 1 else values[0]


def inputs(example, section):
    return {name: number(text) for name, text in example[section].items() if name in cost_model.DEFAULTS}


def oracle(example):
    """The oracle's results for an example."""
    shared = inputs(example, "scenario") | inputs(example, "common")
    return {name.split()[1]: cost_model.evaluate(shared | inputs(example, name))
            for name in example if name.startswith("option ")}


def printed(value, digits):
    """With the digits of a published figure."""
    return format(value, f".{digits}g") if isinstance(value, (int, float)) else value


def static_faults(options, saving):
    """(option, item, published, found) of everything that differs from the table."""
    for row in STATIC_TABLE.splitlines():
        item, *wanted = row.split()
        for (option, items), want in zip(options.items(), wanted):
            got = items.get(item)
            got = got[1] if isinstance(got, list) else got
            if printed(got, 10) != want:
                yield option, item, want, got
    if printed(saving, 15) != STATIC_SAVING:
        yield "mi325x", "saving", STATIC_SAVING, saving


def table_faults(items, table, results):
    for row in table.splitlines():
        item, *wanted = row.split()
        got = items.get(item)
        if not isinstance(got, list) or [printed(each, 10) for each in got] != wanted:
            yield "h200", item, wanted, got
    for row in results.splitlines():
        item, want = row.split()
        if printed(items.get(item), 10) != want:
            yield "h200", item, want, items.get(item)


def published():
    """For each table of the page, its rows: (item, cells); and the costs in the sentences below."""
    page = PAGE.read_text(encoding="utf-8").split("## An example to the last digit")[1].split("\n## ")[0]
    tables = page.split("| | outset |")[1:]
    found = [[(item, [cell.strip() for cell in cells.split("|")]) for item, cells
              in re.findall(r"^\| `(\w+)`[^|]*\|(.*)\|$", table, re.M)] for table in tables]
    for rows, table in zip(found, tables):
        costs = re.search(r"TCO is\s+([\d,.]+)\s+USD,\s+([\d.]+)\s+USD/Mtok,\s+levelized\s+at\s+8\s+%\s+([\d.]+\d)", table)
        rows += [(item, [text]) for item, text in zip(("tco", "cost_per_mtok", "levelised_cost_per_mtok"),
                                                     costs.groups() if costs else ())]
    return found


def published_faults(rows, items):
    """To the last digit that is printed; an empty cell is not compared."""
    for item, cells in rows:
        got = items.get(item)
        got = got if isinstance(got, list) else [got]
        texts = [f"{value:,.{len(text.partition('.')[2])}f}" if text and value is not None else text
                 for text, value in zip(cells, got)]
        if texts != cells or None in got:
            yield "h200", item, cells, got


def vintages_faults(items):
    return table_faults(items, VINTAGES_TABLE, VINTAGES_RESULTS)


def credit_faults(items):
    return table_faults(items, CREDIT_TABLE, CREDIT_RESULTS)


def staged_faults(items):
    yield from table_faults(items, STAGED_TABLE, STAGED_RESULTS)
    capex = [paid - running - back for paid, running, back
             in zip(items["cash"], items["opex"], items["residual"])]
    if [printed(each, 10) for each in capex] != [printed(each, 10) for each in STAGED_CAPEX]:
        yield "h200", "capex", STAGED_CAPEX, capex
