#!/usr/bin/python3
"""Compares `pertoken compare` with the oracle: the golden examples, and random scenarios, of which it writes files.

    check_oracle.py      60 random scenarios; PERTOKEN names the program
Deep: 200 scenarios.
Seconds: 6, deep 50
"""

import collections
import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from oracle import cost_model, finance, golden, random_scenario  # noqa: E402
from support import program  # noqa: E402
from support.program import Count, DEEP, ROOT  # noqa: E402

SCRATCH = ROOT / "build" / "oracle"
TOLERANCE = 1e-9
MIN_USES = 5


def number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def same(expected, got, size=0):
    """Equal, relative to the larger of the two and of `size`. A constant series may be given as one number."""
    if expected is None:
        return got is None
    if isinstance(expected, list) and number(got):
        return all(same(each, got, size) for each in expected[1:])
    if isinstance(expected, list):
        return (isinstance(got, list) and len(got) == len(expected)
                and all(same(e, g, size) for e, g in zip(expected, got)))
    return number(got) and abs(got - expected) <= TOLERANCE * max(abs(expected), size)


def line(option, item, expected, got):
    return f"option {option} item {item} expected {expected} got {got}"


def describe(option, item, expected, got, size):
    """For two series of the same length, only the first entry that differs."""
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        t = [same(e, g, size) for e, g in zip(expected, got)].index(False)
        return line(option, f"{item}[{t}]", expected[t], got[t])
    return line(option, item, expected, got)


# A difference may be near zero: its error is relative to the size of what it is taken from.
SIZES = {"margin": "cash", "margin_total": "tco", "npv": "tco", "unmet": "demanded", "unmet_total": "demanded",
         "book_value": "capex", "book_value_left": "capex", "loan_balance": "capex", "lease_liability": "capex",
         "right_of_use_value": "capex", "cash": "capex"}
PERCENT = {"headroom", "headroom_least", "margin_of_cost", "margin_of_revenue", "site_excess"}


def size_of(item, items):
    if item in PERCENT:
        return 100
    whole = items.get(SIZES.get(item), 0)
    return max(map(abs, whole)) if isinstance(whole, list) else whole


def compare_items(option, expected, got):
    faults = []
    for item, value in expected.items():
        size = size_of(item, expected)
        if not same(value, got.get(item), size):
            faults.append(describe(option, item, value, got.get(item), size))
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
            agree = got is None if want is None else number(got) and same(1 - want, 1 - got)
            if not agree:
                faults.append(line(option, key, want, got))
    return faults


def near(want, got, scale):
    """Equal except for the rounding error of a difference between amounts of that size."""
    return number(got) and abs(got - want) <= TOLERANCE * max(abs(want), abs(scale))


def compare_difference(expected, baseline, output):
    """The more expensive purchase and what it earns back; near the limit, rounding decides whether it does."""
    faults = []
    for option, items in expected.items():
        if option == baseline:
            continue
        want = finance.difference(items, expected[baseline])
        got = output.get("difference", {}).get("options", {}).get(option, {})
        dearer = option if want.pop("dearer_purchase") > 0 else baseline
        if got.get("dearer_purchase") != dearer:
            faults.append(line(option, "dearer_purchase", dearer, got.get("dearer_purchase")))
        size = {"extra_outlay": expected[baseline]["capex"], "saved": expected[baseline]["tco"],
                "npv_saved": expected[baseline]["tco"], "payback": 1, "discounted_payback": 1,
                "irr": (100 + (want["irr"] or 0)) / items["period"][1]}    # per year, from the first savings on
        for key, value in want.items():
            same_value = got.get(key) is None if value is None else (
                near(value, got.get(key), size.get(key, 0)))
            if not same_value:
                faults.append(line(option, key, value, got.get(key)))
    return faults


def compare_output(expected, baseline, output):
    options = {option["id"]: option["items"] for option in output["options"]}
    faults = []
    if list(options) != list(expected):
        faults.append(f"options expected {list(expected)} got {list(options)}")
    if output.get("baseline") != baseline:
        faults.append(f"baseline expected {baseline} got {output.get('baseline')}")
    for option, items in expected.items():
        faults += compare_items(option, items, options.get(option, {}))
    return (faults + compare_savings(expected, baseline, output)
            + compare_difference(expected, baseline, output))


def run(path, case):
    """The program's JSON, or its error message."""
    try:
        return program.run_json("compare", path, "--case", case), None
    except (AssertionError, json.JSONDecodeError) as error:
        return None, str(error)


def try_scenario(name, ini, expected, baseline, also=lambda output: [], case="base"):
    """Runs one scenario and prints what differs; a scenario that fails is left in build/oracle."""
    path = SCRATCH / f"{name}.ini"
    path.write_text(ini, encoding="utf-8")
    output, complaint = run(path, case)
    faults = [complaint]
    if output is not None:
        faults = compare_output(expected, baseline, output) + also(output)
    for fault in faults:
        print(f"scenario {name} {fault}")
    if not faults:
        path.unlink()
    return not faults


def golden_faults(output):
    """The program's results for the golden example, with their units."""
    options = {option["id"]: option["items"] for option in output["options"]}
    units = output.get("units", {})
    faults = [f"unit of {item} expected {unit} got {units.get(item)}"
              for item, unit in golden.UNITS.items() if units.get(item) != unit]
    return faults + [line(*fault) for fault in
                     golden.static_faults(options, output.get("saving", {}).get("mi325x"))]


def stages_faults(output):
    return [line(*fault) for fault in golden.staged_faults(output["options"][0]["items"])]


def vintages_faults(output):
    return [line(*fault) for fault in golden.vintages_faults(output["options"][0]["items"])]


def credit_faults(output):
    return [line(*fault) for fault in golden.credit_faults(output["options"][0]["items"])]


def check_published(number):
    """A table of docs/vintages.md compared with the program and with the oracle, as far as that has its
    items."""
    rows, example = golden.published()[number], golden.PUBLISHED[number]
    own = golden.oracle(example)["h200"]
    faults = list(golden.published_faults([row for row in rows if row[0] in own], own))

    def also(output):
        return [line(*fault) for fault in golden.published_faults(rows, output["options"][0]["items"])]

    for fault in faults:
        print(f"the oracle itself, table {number + 1} of docs/vintages.md: {line(*fault)}")
    return try_scenario(f"published {number + 1}", golden.ini(example), golden.oracle(example), "h200", also) and not faults


def check_golden_oracle():
    static, staged = golden.oracle(golden.STATIC), golden.oracle(golden.STAGED)
    faults = list(golden.static_faults(static, cost_model.saving(static["mi325x"], static["h200"])))
    faults += golden.staged_faults(staged["h200"])
    faults += golden.vintages_faults(golden.oracle(golden.VINTAGES)["h200"])
    faults += golden.credit_faults(golden.oracle(golden.CREDIT)["h200"])
    for fault in faults:
        print(f"the oracle itself, golden examples: {line(*fault)}")
    return not faults


def check_golden(name, example, faults):
    expected = golden.oracle(example)
    return try_scenario(name, golden.ini(example), expected, next(iter(expected)), faults)


def check_random(seed, tables, uses):
    scenario = random_scenario.make(seed, tables)
    for option in scenario.options:
        uses.update(option.telling)
    expected = cost_model.evaluate_all(scenario.options)
    for items in expected.values():
        if scenario.rate:
            items["cost_per_mtok_usd"] = items["cost_per_mtok"] * scenario.rate
    return try_scenario(seed, scenario.ini, expected, scenario.baseline, case=scenario.case)


def check_files(seed, tables):
    """A workbook and a page of a random scenario can be written."""
    scenario = random_scenario.make(seed, tables)
    path = SCRATCH / f"random-{seed}.ini"
    path.write_text(scenario.ini)
    done = {command: program.run(command, path, "--case", scenario.case, "-q", "-o", SCRATCH / f"random.{kind}")
            for command, kind in (("report", "xlsx"), ("page", "html"))}
    for command, each in done.items():
        if each.returncode:
            print(f"{command} of random scenario {seed}: {each.returncode}, {each.stderr}")
    return not any(each.returncode for each in done.values())


def check_uses(uses):
    """The random scenarios do not test an input that they always leave at its default."""
    rare = {name: uses[name] for name in {*cost_model.DEFAULTS, *random_scenario.LISTS}
            if uses[name] < MIN_USES}
    if rare:
        print(f"inputs given too rarely in the random scenarios: {rare}")
    return not rare


def main():
    count = Count()
    count.check("the oracle's own golden examples", check_golden_oracle())
    SCRATCH.mkdir(parents=True, exist_ok=True)
    count.check("golden example", check_golden("golden", golden.STATIC, golden_faults))
    count.check("golden stages", check_golden("stages", golden.STAGED, stages_faults))
    count.check("golden vintages", check_golden("vintages", golden.VINTAGES, vintages_faults))
    count.check("golden loans and leases", check_golden("credit", golden.CREDIT, credit_faults))
    tables = golden.published()
    count.check("the tables of docs/vintages.md", [len(table) for table in tables] == [16, 10, 8])
    for number in range(len(tables)):
        count.check(f"table {number + 1} of docs/vintages.md", check_published(number))
    tables = random_scenario.shipped(ROOT / "data")
    uses = collections.Counter()
    for seed in range(1, 201 if DEEP else 61):
        count.check(f"random scenario {seed}", check_random(seed, tables, uses))
    count.check("every input is given", check_uses(uses))
    for seed in range(1001, 1081 if DEEP else 1011):
        count.check(f"files of random scenario {seed}", check_files(seed, tables))
    count.finish()


if __name__ == "__main__":
    main()
