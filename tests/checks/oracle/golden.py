"""The golden examples of the cost model: what is typed, and the figures that come out, as they are published.

Every value is typed in the input's own unit, so that the oracle takes the number as it stands.
"""

from oracle import cost_model

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
    "life": "2 yr", "resale": "60, 40, 25 %", "warranty": "1 yr", "failure_rate": "5 %/yr", "book_life": "4 yr"}}
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
"""
# By the period that it is for, and what is paid by the column that it stands in.
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
    """What the oracle makes of an example."""
    shared = inputs(example, "scenario") | inputs(example, "common")
    return {name.split()[1]: cost_model.evaluate(shared | inputs(example, name))
            for name in example if name.startswith("option ")}


def printed(value, digits):
    """To the digits of a published figure."""
    return format(value, f".{digits}g") if isinstance(value, (int, float)) else value


def static_faults(options, saving):
    """(option, item, published, found) of all that differs from the table."""
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


def vintages_faults(items):
    return table_faults(items, VINTAGES_TABLE, VINTAGES_RESULTS)


def staged_faults(items):
    yield from table_faults(items, STAGED_TABLE, STAGED_RESULTS)
    capex = [paid - running - back for paid, running, back
             in zip(items["cash"], items["opex"], items["residual"])]
    if [printed(each, 10) for each in capex] != [printed(each, 10) for each in STAGED_CAPEX]:
        yield "h200", "capex", STAGED_CAPEX, capex
