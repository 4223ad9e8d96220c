#!/usr/bin/python3
"""Compares `pertoken compare` with the oracle: the golden example, and random scenarios.

    check_oracle.py      60 random scenarios; PERTOKEN names the program
Deep: 200 scenarios.
"""

import collections
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from oracle import cost_model, finance, random_scenario  # noqa: E402
from support import program  # noqa: E402
from support.program import Count, DEEP, ROOT  # noqa: E402

SCRATCH = ROOT / "build" / "oracle"
TOLERANCE = 1e-9
LEAST_USES = 5

# As typed; every value is in the input's own unit, so the oracle takes the number as it stands.
GOLDEN = {
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
GOLDEN_TABLE = """\
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
GOLDEN_SAVING = "0.143459163807372"
UNITS = {"tco": "USD", "cost_per_mtok": "USD/Mtok", "levelised_cost_per_mtok": "USD/Mtok",
         "cost_per_gpu_hour": "USD/h", "energy_per_token": "J/token", "it_power": "kW"}


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(expected, got):
    if isinstance(expected, list):
        return (isinstance(got, list) and len(got) == len(expected)
                and all(same(e, g) for e, g in zip(expected, got)))
    return number(got) and abs(got - expected) <= TOLERANCE * abs(expected)


def line(option, item, expected, got):
    return f"option {option} item {item} expected {expected} got {got}"


def describe(option, item, expected, got):
    """Of two series of one length, only the first entry that differs."""
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        t = [same(*pair) for pair in zip(expected, got)].index(False)
        return line(option, f"{item}[{t}]", expected[t], got[t])
    return line(option, item, expected, got)


def compare_items(option, expected, got):
    faults = [describe(option, item, value, got.get(item))
              for item, value in expected.items() if not same(value, got.get(item))]
    if "coverage" not in expected and got.get("coverage") is not None:
        faults.append(line(option, "coverage", "nothing (no demand)", got["coverage"]))
    return faults


def compare_savings(expected, baseline, output):
    """A saving may be near zero: it is the ratio of the two costs that must agree."""
    faults = []
    for key, measure in (("saving", "cost_per_mtok"),
                         ("saving_levelised", "levelised_cost_per_mtok")):
        for option, items in expected.items():
            if option == baseline:
                continue
            want = cost_model.saving(items, expected[baseline], measure)
            got = output.get(key, {}).get(option)
            if not number(got) or not same(1 - want, 1 - got):
                faults.append(line(option, key, want, got))
    return faults


def near(want, got, scale):
    """Equal but for what rounding leaves of a difference between amounts of that size."""
    return number(got) and abs(got - want) <= TOLERANCE * max(abs(want), abs(scale))


def compare_difference(expected, baseline, output, months):
    """The dearer purchase and what it earns back; near the edge, rounding decides if it does."""
    faults = []
    for option, items in expected.items():
        if option == baseline:
            continue
        want = finance.difference(items, expected[baseline], months)
        got = output.get("difference", {}).get("options", {}).get(option, {})
        dearer = option if want.pop("dearer_purchase") > 0 else baseline
        if got.get("dearer_purchase") != dearer:
            faults.append(line(option, "dearer_purchase", dearer, got.get("dearer_purchase")))
        size = {"extra_outlay": expected[baseline]["capex"], "saved": expected[baseline]["tco"],
                "npv_saved": expected[baseline]["tco"], "irr": 1}
        for key, value in want.items():
            same_value = got.get(key) is None if value is None else (
                near(value, got.get(key), size.get(key, 0)))
            if not same_value:
                faults.append(line(option, key, value, got.get(key)))
    return faults


def compare_output(expected, baseline, output, months=12):
    options = {option["id"]: option["items"] for option in output["options"]}
    faults = []
    if list(options) != list(expected):
        faults.append(f"options expected {list(expected)} got {list(options)}")
    if output.get("baseline") != baseline:
        faults.append(f"baseline expected {baseline} got {output.get('baseline')}")
    for option, items in expected.items():
        faults += compare_items(option, items, options.get(option, {}))
    return (faults + compare_savings(expected, baseline, output)
            + compare_difference(expected, baseline, output, months))


def run(path):
    """The program's JSON, or a complaint."""
    try:
        return program.run_json("compare", path), None
    except (AssertionError, json.JSONDecodeError) as error:
        return None, str(error)


def try_scenario(name, ini, expected, baseline, also=lambda output: [], months=12):
    """Runs one scenario, prints what differs; a scenario that fails is left in build/oracle."""
    path = SCRATCH / f"{name}.ini"
    path.write_text(ini, encoding="utf-8")
    output, complaint = run(path)
    faults = [complaint]
    if output is not None:
        faults = compare_output(expected, baseline, output, months) + also(output)
    for fault in faults:
        print(f"scenario {name} {fault}")
    if not faults:
        path.unlink()
    return not faults


def golden_ini():
    sections = ["\n".join([f"[{name}]"] + [f"{key} = {value}" for key, value in keys.items()])
                for name, keys in GOLDEN.items()]
    return "\n\n".join(sections) + "\n"


def golden_oracle():
    def inputs(section):
        return {name: float(text.split()[0]) for name, text in GOLDEN[section].items()
                if name in cost_model.DEFAULTS}

    shared = inputs("scenario") | inputs("common")
    return {option: cost_model.evaluate(shared | inputs(f"option {option}"))
            for option in ("h200", "mi325x")}


def golden_faults(options, saving):
    """What differs from the table, to the digits printed there."""
    faults = []
    for row in GOLDEN_TABLE.splitlines():
        item, *digits = row.split()
        for (option, items), want in zip(options.items(), digits):
            got = items.get(item)
            if not number(got) or format(got, ".10g") != want:
                faults.append(line(option, item, want, got))
    if not number(saving) or format(saving, ".15g") != GOLDEN_SAVING:
        faults.append(line("mi325x", "saving", GOLDEN_SAVING, saving))
    return faults


def golden_output_faults(output):
    options = {option["id"]: option["items"] for option in output["options"]}
    units = output.get("units", {})
    faults = [f"unit of {item} expected {unit} got {units.get(item)}"
              for item, unit in UNITS.items() if units.get(item) != unit]
    return faults + golden_faults(options, output.get("saving", {}).get("mi325x"))


def check_golden_oracle():
    oracle = golden_oracle()
    faults = golden_faults(oracle, cost_model.saving(oracle["mi325x"], oracle["h200"]))
    for fault in faults:
        print(f"the oracle itself, golden example: {fault}")
    return not faults


def check_golden():
    return try_scenario("golden", golden_ini(), golden_oracle(), "h200", golden_output_faults)


def check_random(seed, catalogue, uses):
    scenario = random_scenario.make(seed, catalogue)
    for option in scenario.options:
        uses.update(option.telling)
    expected = {option.id: cost_model.evaluate(option.inputs, scenario.items)
                for option in scenario.options}
    for items in expected.values():
        if scenario.rate:
            items["cost_per_mtok_usd"] = items["cost_per_mtok"] * scenario.rate
    return try_scenario(seed, scenario.ini, expected, scenario.baseline, months=scenario.months)


def check_uses(uses):
    """The random scenarios are worth nothing for an input that they leave at its default."""
    rare = {name: uses[name] for name in cost_model.DEFAULTS if uses[name] < LEAST_USES}
    if rare:
        print(f"inputs given too rarely in the random scenarios: {rare}")
    return not rare


def main():
    count = Count()
    count.check("the oracle's own golden example", check_golden_oracle())
    SCRATCH.mkdir(parents=True, exist_ok=True)
    count.check("golden example", check_golden())
    catalogue = random_scenario.catalogue(ROOT / "data" / "accelerators.csv")
    uses = collections.Counter()
    for seed in range(1, 201 if DEEP else 61):
        count.check(f"random scenario {seed}", check_random(seed, catalogue, uses))
    count.check("every input is given", check_uses(uses))
    count.finish()


if __name__ == "__main__":
    main()
