"""The three-year cost of ownership of accelerators, in plain Python: the oracle for pertoken.

Written from the cost model's description alone, not from the program, so that the two can disagree.
Inputs are numbers in the units a user types: percent as 70 (not 0.7), power in W per accelerator,
electricity in USD/kWh, water in L/kWh and USD/m3, throughput in token/s, demand in Mtok/yr, lives
and terms in years, ramp and period in months.
Results are in the units that `pertoken compare --format json` prints.
"""

import math
from types import SimpleNamespace

from oracle import finance

HOURS_PER_YEAR = 8760
MONTHS_PER_YEAR = 12
SECONDS_PER_HOUR = 3600
JOULES_PER_KWH = 3.6e6
LITRES_PER_M3 = 1000
W_PER_KW = 1000
TOKENS_PER_MTOK = 1e6

# Every input: its neutral default, or None where there is none.
DEFAULTS = {
    "accelerators": None, "demand": None, "spares": 0, "accelerators_per_node": None,
    "list_price": None, "rental_rate": 0, "discount": 0, "node_price": 0, "network_price": 0,
    "installation": 0, "purchase_tax": 0, "build_price": 0, "facility_residual": 0,
    "migration_cost": 0, "residual_value": 0,
    "load_power": None, "idle_power": None, "host_power": 0, "network_power": 0, "pue": None,
    "cooling_share": 75, "electricity_price": None, "electricity_escalation": 0,
    "demand_charge": 0, "water_use": 0, "water_price": 0,
    "colo_rate": 0, "colo_escalation": 0, "colo_power": "metered",
    "support": 0, "software_licence": 0, "engineers": 0, "engineer_cost": 0, "wage_growth": 0,
    "failure_rate": 0, "repair_cost": 100,
    "throughput": None, "decode_throughput": None, "prefill_throughput": None,
    "input_tokens": None, "output_tokens": None, "utilization": None,
    "availability": 100, "scaling_efficiency": 100, "delivered": 100,
    "horizon": 3, "wacc": 0, "period": 12, "ramp": 0,
    "book_life": 5, "facility_life": 39,
    "tax_rate": None, "tax_schedule": "macrs", "tax_life": 5, "bonus_depreciation": 0,
    "macrs_1": 20, "macrs_2": 32, "macrs_3": 19.2, "macrs_4": 11.52, "macrs_5": 11.52,
    "macrs_6": 5.76,
    "loan_share": 0, "loan_rate": 0, "loan_term": 0,
    "lease_rate": 0, "lease_term": 0, "lease_payment": None,
}

PERCENT = {
    "spares", "discount", "installation", "purchase_tax", "facility_residual", "residual_value",
    "cooling_share", "electricity_escalation", "colo_escalation", "support", "wage_growth",
    "failure_rate", "repair_cost", "utilization", "availability", "scaling_efficiency",
    "delivered", "wacc", "tax_rate", "bonus_depreciation", "loan_share", "loan_rate",
    "lease_rate", *finance.MACRS,
}

# A rent contains hardware, power and building: what the scenario says of these does not apply.
NOT_FOR_RENTED = {
    "list_price", "discount", "node_price", "network_price", "installation", "purchase_tax",
    "build_price", "facility_residual", "residual_value", "electricity_price",
    "electricity_escalation", "demand_charge", "water_use", "water_price", "colo_rate",
    "colo_escalation", "spares", "failure_rate", "repair_cost", "loan_share",
    "lease_rate",
}


def ceil(number):
    """Round up, but forgive the last bits of a float: 800 * 1.10 is 880, not 881."""
    return math.ceil(round(number, 9))


def growth(rate, years):
    return (1 + rate) ** years


def complete(given):
    """All inputs with defaults filled in and percentages as fractions."""
    values = dict(DEFAULTS) | given
    if values["rental_rate"]:
        values.update(dict.fromkeys(NOT_FOR_RENTED, 0))
        values["pue"] = given.get("pue", 1)
    if values["idle_power"] is None:
        values["idle_power"] = values["load_power"]
    for name in PERCENT:
        values[name] = values[name] / 100 if values[name] is not None else None
    return SimpleNamespace(**values)


def time_line(x, r):
    """Entry 0 is the purchase; then periods of operation, the last one possibly shorter."""
    full = x.period / MONTHS_PER_YEAR
    begins = [full * number for number in range(ceil(x.horizon / full))]
    r.period = [0] + [min(full, x.horizon - begin) for begin in begins]
    r.elapsed = [0] + begins
    ramp = x.ramp / MONTHS_PER_YEAR
    r.share = [0] + [ramped(begin, length, ramp) for begin, length in zip(begins, r.period[1:])]


def ramped(begin, length, ramp):
    """The mean over a period of a use that grows from nothing to one in the time `ramp`."""
    growing = max(0, min(begin + length, ramp) - begin)
    if not growing:
        return 1
    mean = (begin + growing / 2) / ramp
    return (mean * growing + length - growing) / length


def each_period(r, amount):
    """A series: nothing at the purchase, then amount(length, years before) in each period."""
    operating = zip(r.period[1:], r.elapsed[1:])
    return [0] + [amount(length, elapsed) for length, elapsed in operating]


def volume(x, r):
    throughput = x.throughput
    if x.decode_throughput:
        prefill_time = x.input_tokens / x.prefill_throughput
        decode_time = x.output_tokens / x.decode_throughput
        throughput = x.output_tokens / (prefill_time + decode_time)
        r.prefill_share = 100 * prefill_time / (prefill_time + decode_time)
    r.tokens_per_gpu = (throughput * SECONDS_PER_HOUR * x.utilization * x.availability
                        * x.scaling_efficiency * x.delivered)
    r.accelerators = x.accelerators
    if x.accelerators is None:
        needed = x.demand * TOKENS_PER_MTOK / HOURS_PER_YEAR / r.tokens_per_gpu
        r.accelerators = ceil(needed / x.accelerators_per_node) * x.accelerators_per_node
    r.accelerators_bought = ceil(r.accelerators * (1 + x.spares))
    r.nodes = ceil(r.accelerators / x.accelerators_per_node)
    r.tokens = [r.accelerators * r.tokens_per_gpu * length * share * HOURS_PER_YEAR
                for length, share in zip(r.period, r.share)]


def hardware(x, r):
    r.net_price = x.list_price * (1 - x.discount)
    r.accelerator_cost = r.accelerators_bought * r.net_price
    r.server_cost = r.nodes * x.node_price
    r.network_cost = r.accelerators * x.network_price
    r.hardware_cost = r.accelerator_cost + r.server_cost + r.network_cost
    r.installation_cost = r.hardware_cost * x.installation
    r.tax_cost = r.hardware_cost * x.purchase_tax


def power(x, r):
    beside = x.host_power + x.network_power
    r.average_power = x.idle_power + (x.load_power - x.idle_power) * x.utilization
    r.it_power = r.accelerators * (r.average_power + beside) / W_PER_KW
    r.peak_it_power = r.accelerators * (x.load_power + beside) / W_PER_KW
    r.cooling_power = r.it_power * (x.pue - 1) * x.cooling_share
    r.overhead_power = r.it_power * (x.pue - 1) * (1 - x.cooling_share)
    r.facility_cost = r.peak_it_power * x.build_price


def energy(x, r):
    idle = r.it_power - r.accelerators * (r.average_power - x.idle_power) / W_PER_KW
    r.it_energy = [(idle + (r.it_power - idle) * share) * length * HOURS_PER_YEAR
                   for share, length in zip(r.share, r.period)]
    r.cooling_energy = [it * (x.pue - 1) * x.cooling_share for it in r.it_energy]
    r.overhead_energy = [it * (x.pue - 1) * (1 - x.cooling_share) for it in r.it_energy]
    r.tariff = each_period(
        r, lambda _, elapsed: x.electricity_price * growth(x.electricity_escalation, elapsed))
    demand_charge = each_period(
        r, lambda length, _:
        r.peak_it_power * x.pue * x.demand_charge * length * MONTHS_PER_YEAR)
    water_price = x.water_use / LITRES_PER_M3 * x.water_price      # USD per kWh of IT energy
    if x.colo_power == "included":
        r.power_cost = [0] * len(r.period)
        r.cooling_cost = [0] * len(r.period)
        return
    r.power_cost = [(it + overhead) * tariff + charge for it, overhead, tariff, charge
                    in zip(r.it_energy, r.overhead_energy, r.tariff, demand_charge)]
    r.cooling_cost = [cooling * tariff + it * water_price for cooling, tariff, it
                      in zip(r.cooling_energy, r.tariff, r.it_energy)]


def operation(x, r):
    r.colo_cost = each_period(
        r, lambda length, elapsed: r.peak_it_power * x.colo_rate * length * MONTHS_PER_YEAR
        * growth(x.colo_escalation, elapsed))
    r.support_cost = each_period(r, lambda length, _: r.hardware_cost * x.support * length)
    r.licence_cost = each_period(
        r, lambda length, _: r.accelerators * x.software_licence * length)
    r.engineering_cost = each_period(
        r, lambda length, elapsed: x.engineers * x.engineer_cost * length
        * growth(x.wage_growth, elapsed))
    r.repair = each_period(
        r, lambda length, _: r.accelerators * x.failure_rate * length * r.net_price
        * x.repair_cost)
    r.rental_cost = each_period(
        r, lambda length, _: r.accelerators * x.rental_rate * length * HOURS_PER_YEAR)


def own_items(r, items):
    """The user's items: (group, unit, amount), where amount(results, period number) is in unit."""
    own_capex = sum(amount(r, 0) for group, _, amount in items if group == "capex")
    r.other_cost = [0] * len(r.period)
    for group, unit, amount in items:
        if group != "opex":
            continue
        for t in range(1, len(r.period)):
            r.other_cost[t] += amount(r, t) * (r.period[t] if unit == "USD/yr" else 1)
    return own_capex


def totals(r):
    for name in ("power", "cooling", "colo", "support", "licence", "engineering", "rental",
                 "other"):
        setattr(r, f"{name}_total", sum(getattr(r, f"{name}_cost")))
    r.repair_total = sum(r.repair)
    r.opex_total = sum(r.opex)
    r.residual_total = sum(r.residual)
    r.tokens_total = sum(r.tokens)


def cash_flow(x, r, own_capex):
    r.capex = (r.hardware_cost + r.installation_cost + r.tax_cost + r.facility_cost
               + x.migration_cost + own_capex)
    r.opex = [sum(costs) for costs in zip(
        r.power_cost, r.cooling_cost, r.colo_cost, r.support_cost, r.licence_cost,
        r.engineering_cost, r.repair, r.rental_cost, r.other_cost)]
    r.residual = [0] * len(r.period)
    r.residual[-1] = -r.hardware_cost * x.residual_value - r.facility_cost * x.facility_residual
    r.cash = [r.capex] + [cost + back for cost, back in zip(r.opex[1:], r.residual[1:])]
    r.discount_factor = [1] + [1 / growth(x.wacc, elapsed + length) for elapsed, length
                               in zip(r.elapsed[1:], r.period[1:])]


def results(x, r):
    def present_value(series):
        return sum(amount * factor for amount, factor in zip(series, r.discount_factor))

    r.tco = sum(r.cash)
    r.cost_per_mtok = r.tco / r.tokens_total * TOKENS_PER_MTOK
    r.levelised_cost_per_mtok = present_value(r.cash) / present_value(r.tokens) * TOKENS_PER_MTOK
    r.cost_per_gpu_hour = r.tco / (r.accelerators * x.horizon * HOURS_PER_YEAR)
    kwh = sum(r.it_energy) + sum(r.cooling_energy) + sum(r.overhead_energy)
    r.energy_per_token = kwh * JOULES_PER_KWH / r.tokens_total
    if x.demand is not None:
        r.coverage = 100 * r.tokens_total / (x.demand * TOKENS_PER_MTOK * x.horizon)
    if x.decode_throughput:
        share = r.prefill_share / 100
        input_total = r.tokens_total * x.input_tokens / x.output_tokens
        r.cost_per_mtok_input = r.tco * share / input_total * TOKENS_PER_MTOK
        r.cost_per_mtok_output = r.tco * (1 - share) / r.tokens_total * TOKENS_PER_MTOK


def evaluate(given, items=()):
    """All line items of one option, as a dict; per-period items are lists."""
    x, r = complete(given), SimpleNamespace()
    time_line(x, r)
    volume(x, r)
    hardware(x, r)
    power(x, r)
    energy(x, r)
    operation(x, r)
    own_capex = own_items(r, items)
    cash_flow(x, r, own_capex)
    totals(r)
    results(x, r)
    finance.views(x, r, own_capex)
    del r.elapsed, r.share       # only the way to the others
    return vars(r)


def saving(option, baseline, measure="cost_per_mtok"):
    return 1 - option[measure] / baseline[measure]
