"""The cost of ownership of accelerators, of rents and of token APIs, in plain Python: the oracle for pertoken.

Written from the cost model's description alone, not from the program, so that the two can disagree. Inputs are numbers
in the units a user types: percent as 70 (not 0.7), power in W per accelerator, electricity in USD/kWh, water in L/kWh
and USD/m3, throughput in token/s, demand in Mtok/yr, lives and terms in years, ramp, delay and period in months, the
times of damages for a delay in days, prices of tokens in USD/Mtok, carbon in g/kWh and kg per accelerator. A list is a
schedule by year. Results are in the units of `pertoken compare --format json`.
"""

from types import SimpleNamespace

from oracle import finance, fleet
from oracle.fleet import HOURS_PER_YEAR, MONTHS_PER_YEAR, TOKENS_PER_MTOK, growth, held, series

JOULES_PER_KWH = 3.6e6
DAYS_PER_WEEK = 7
LITRES_PER_M3 = 1000
W_PER_KW = 1000

# Every input: its neutral default, or None if there is none.
DEFAULTS = {
    "accelerators": None, "demand": None, "spares": 0, "accelerators_per_node": None,
    "purchase_unit": None, "on_demand_rate": 0, "burst_price": 0, "burst_rate": 0,
    "list_price": None, "rental_rate": 0, "discount": 0, "node_price": 0, "network_price": 0,
    "installation": 0, "purchase_tax": 0, "build_price": 0, "facility_residual": 0,
    "migration_cost": 0, "residual_value": 0,
    "load_power": None, "prefill_power": None, "idle_power": None, "peak_power": None,
    "host_power": 0, "network_power": 0, "pue": None,
    "cooling_share": 75, "electricity_price": None, "electricity_escalation": 0,
    "demand_charge": 0, "water_use": 0, "water_price": 0,
    "colo_rate": 0, "colo_escalation": 0, "colo_power": "metered",
    "support_sum": 0, "installation_sum": 0, "purchase_tax_sum": 0, "sums_cover": 0,
    "support": 0, "software_licence": 0, "engineers": 0, "engineer_cost": 0, "wage_growth": 0,
    "failure_rate": 0, "repair_cost": 100,
    "throughput": None, "production_throughput": None, "decode_throughput": None, "prefill_throughput": None,
    "input_tokens": None, "output_tokens": None, "utilization": None,
    "availability": 100, "scaling_efficiency": 100, "delivered": 100,
    "horizon": 3, "wacc": 0, "period": 12, "ramp": 0,
    "book_life": 5, "facility_life": 39,
    "tax_rate": None, "tax_schedule": "macrs", "tax_life": 5, "bonus_depreciation": 0,
    "macrs_1": 20, "macrs_2": 32, "macrs_3": 19.2, "macrs_4": 11.52, "macrs_5": 11.52,
    "macrs_6": 5.76,
    "loan_share": 0, "loan_rate": 0, "loan_term": 0,
    "lease_rate": 0, "lease_term": 0, "lease_payment": None,
    # schedules, stages, a day, a site, carbon
    "demand_growth": 0, "throughput_gain": 0, "price_decline": 0, "rent_decline": 0, "inflation": 0,
    "purchase": "staged", "day_profile": None, "site_power": None,
    "grid_intensity": None, "embodied_carbon": 0,
    # vintages
    "server_residual": None, "network_residual": None, "server_book_life": None, "network_book_life": None,
    "life": None, "resale": None, "warranty": 0, "tiers": None, "tier_discount": "beyond", "lead_time": 0,
    # what is delivered late
    "delivery_delay": 0, "late_share": 100,
    "delay_damages": None, "delay_damages_per": 7, "delay_damages_limit": 100, "delay_grace": 0,
    # a vendor's remedy
    "remedy": 0, "guaranteed_throughput": None, "guarantee_tolerance": 0, "remedy_limit": None,
    "replacement": None,
    # offers
    "reserved_share": 0, "spot_share": 0, "spot_rate": 0, "interruption": 0,
    "tokens_of": None, "input_price": None, "cached_input_price": None, "output_price": None, "api_discount": 0,
    "cache_hit": 0, "cached_work": 0, "prefill_includes_hits": "no",
    "token_price_input": 0, "token_price_cached": None, "token_price_output": None,
    "sold_share": 100,
}

PERCENT = {
    "spares", "discount", "installation", "purchase_tax", "facility_residual", "residual_value",
    "cooling_share", "electricity_escalation", "colo_escalation", "support", "wage_growth",
    "failure_rate", "repair_cost", "utilization", "availability", "scaling_efficiency",
    "delivered", "wacc", "tax_rate", "bonus_depreciation", "loan_share", "loan_rate",
    "lease_rate", *finance.MACRS, "demand_growth", "throughput_gain", "price_decline", "rent_decline",
    "inflation", "day_profile", "reserved_share", "spot_share", "interruption", "cache_hit", "cached_work",
    "server_residual", "network_residual", "resale", "remedy", "guarantee_tolerance", "remedy_limit",
    "replacement", "late_share", "sold_share", "api_discount", "delay_damages", "delay_damages_limit",
}

DAMAGES = ["delay_damages", "delay_damages_per", "delay_damages_limit", "delay_grace"]
# A rent includes hardware, power and building: the scenario's statements about these do not apply.
NOT_FOR_RENTED = {
    "tiers", "tier_discount", "list_price", "discount", "node_price", "network_price", "installation", "purchase_tax",
    "build_price", "facility_residual", "residual_value", "electricity_price",
    "electricity_escalation", "demand_charge", "water_price", "colo_rate",
    "colo_escalation", "spares", "support", "failure_rate", "repair_cost", "loan_share",
    "lease_rate", "purchase_unit", "site_power", "server_residual", "network_residual", "life", "resale",
    "warranty", "lead_time", "remedy", "guaranteed_throughput", "guarantee_tolerance", "remedy_limit",
    "replacement", *DAMAGES, "support_sum", "installation_sum", "purchase_tax_sum", "sums_cover",
}
RENTS = ["rental_rate", "on_demand_rate", "spot_rate"]


def fraction(percent):
    if isinstance(percent, fleet.Stepped):
        return percent.each(fraction)
    if isinstance(percent, list):
        return [each / 100 for each in percent]
    return percent if percent is None else percent / 100


def is_staged(values):
    """Whether the fleet may change: it is renewed, or its number or what determines it is a list."""
    if values["life"] and not values["is_rented"]:
        return True
    if values["accelerators"] is not None:
        return isinstance(values["accelerators"], list)
    lists = any(isinstance(values[name], list) for name in ("demand", "throughput", "utilization"))
    return lists or bool(values["demand_growth"] or values["throughput_gain"])


def complete(given):
    """All inputs with defaults filled in and percentages as fractions."""
    values = dict(DEFAULTS) | given
    values["is_api"] = values["output_price"] is not None
    values["is_rented"] = any(values[name] for name in RENTS)
    values["is_staged"] = is_staged(values)
    values["fleet_changes"] = values["is_staged"] or values["delivery_delay"]
    if values["is_rented"]:
        values.update(dict.fromkeys(NOT_FOR_RENTED, 0))
        values["life"] = values["resale"] = None
        values["purchase_unit"] = 1
        values["pue"] = given.get("pue", 1)
    values["has_parts"] = any(given.get(name) is not None for name in ("server_residual", "network_residual"))
    for part in ("server", "network"):              # what is not stated for a part is as for the hardware
        for whole, each in (("residual_value", f"{part}_residual"), ("book_life", f"{part}_book_life")):
            values[each] = values[whole] if values[each] is None else values[each]
    if values["idle_power"] is None:
        values["idle_power"] = values["load_power"]
    if values["purchase_unit"] is None:
        values["purchase_unit"] = values["accelerators_per_node"]
    for name in PERCENT:
        values[name] = fraction(values[name])
    if values["day_profile"]:                       # shares that a table rounds count in proportion
        whole = sum(values["day_profile"])
        values["day_profile"] = [share / whole for share in values["day_profile"]]
    return SimpleNamespace(**values)


# ---- a request

def request(x, r):
    """How a request's time on an accelerator divides into input, cached input and output; the throughput.

    A prefill rate that includes hits counts all input tokens, cached or not.
    """
    fresh, cached = x.input_tokens * (1 - x.cache_hit), x.input_tokens * x.cache_hit
    fresh_time = fresh / x.prefill_throughput
    cached_time = cached * x.cached_work / x.prefill_throughput
    if x.prefill_includes_hits == "yes":
        both = x.input_tokens / x.prefill_throughput
        part = fresh_time / (fresh_time + cached_time)
        fresh_time, cached_time = both * part, both * (1 - part)
    decode_time = x.output_tokens / x.decode_throughput
    whole = fresh_time + cached_time + decode_time
    x.throughput = x.output_tokens / whole
    r.parts = {"input": fresh_time / whole, "cached": cached_time / whole, "output": decode_time / whole}


def share_served(x):
    """What counted tokens take of what the accelerators can serve in the first year, at most all of it."""
    possible = fleet.first(x.throughput) * x.availability * x.scaling_efficiency * x.delivered
    return min(x.production_throughput / possible, 1)


def tokens_by_kind(x, r, tokens):
    """For a number of output tokens: the input tokens that were computed, those from the cache, and the output
    tokens."""
    total_input = tokens * x.input_tokens / x.output_tokens
    return {"input": total_input * (1 - x.cache_hit), "cached": total_input * x.cache_hit,
            "output": tokens}


# ---- accelerators that are owned

def tiers_discount(x, ordered):
    """The mean discount on an order: each accelerator has that of its own number, or all have that of the last one."""
    def of(number):
        return max([share / 100 for share, begins in x.tiers if begins <= number], default=0)

    if not ordered:
        return 0
    if x.tier_discount == "all":
        return of(ordered)
    return sum(of(number) for number in range(1, round(ordered) + 1)) / ordered


def hardware(x, r):
    """Each purchase at the price of the year that it is for, less the lead time. Lists are by the period that it is
    for."""
    discount = [held(x.discount, r, t) for t in range(len(r.year))]
    if x.tiers:
        orders = r.bought if x.is_staged else [r.bought[1]] * len(r.bought)
        discount = [tiers_discount(x, ordered) for ordered in [orders[1], *orders[1:]]]
    ordered = [max(year - x.lead_time / MONTHS_PER_YEAR, 0) for year in r.year]
    r.net_price = [held(x.list_price, r, t) * growth(-x.price_decline, after) * (1 - off)
                   for t, (after, off) in enumerate(zip(ordered, discount))]
    accelerators = series(r, lambda t: r.bought[t] * r.net_price[t])
    servers = series(r, lambda t: r.nodes_bought[t] * x.node_price)
    network = series(r, lambda t: r.connected[t] * x.network_price)
    r.accelerators_paid, r.servers_paid, r.network_paid = accelerators, servers, network
    r.parts_paid = {"accelerator": accelerators, "server": servers, "network": network}
    r.hardware_paid = [sum(parts) for parts in zip(accelerators, servers, network)]
    r.accelerator_cost, r.server_cost, r.network_cost = sum(accelerators), sum(servers), sum(network)
    r.hardware_cost = sum(r.hardware_paid)
    # A fixed sum is for a number of accelerators; more or fewer pay in proportion.
    covered = x.sums_cover or max(r.accelerators_bought, 1)
    if x.support_sum or x.installation_sum or x.purchase_tax_sum:
        r.covered = covered
    each = (x.installation_sum + x.purchase_tax_sum) / covered
    r.fixed_paid = series(r, lambda t: r.bought[t] * each)
    r.support_of_each = x.support_sum / covered
    r.installation_cost = r.hardware_cost * x.installation + x.installation_sum * r.accelerators_bought / covered
    r.tax_cost = r.hardware_cost * x.purchase_tax + x.purchase_tax_sum * r.accelerators_bought / covered


def energy(x, r):
    """Every hour draws power by its load; as power is linear in the load, a period's mean load is enough."""
    beside = x.host_power + x.network_power
    load = x.load_power
    if x.prefill_power is not None:                 # of a request, by the time of prefill and decoding
        load = x.prefill_power * (1 - r.parts["output"]) + x.load_power * r.parts["output"]
        r.serving_power = load
    r.peak_by_period = series(r, lambda t: r.in_service[t] * (load + beside) / W_PER_KW)
    peak = load if x.peak_power is None else x.peak_power     # what a site, a cage or a building is sized by
    r.peak_it_power = r.accelerators * (peak + beside) / W_PER_KW
    r.facility_cost = r.peak_it_power * x.build_price

    def it_energy(t):
        idle_hours = r.period[t] * HOURS_PER_YEAR - r.busy_hours[t]
        return r.in_service[t] / W_PER_KW * ((load + beside) * r.busy_hours[t]
                                             + (x.idle_power + beside) * idle_hours)

    r.it_energy = series(r, it_energy)
    r.cooling_energy = [it * (x.pue - 1) * x.cooling_share for it in r.it_energy]
    r.overhead_energy = [it * (x.pue - 1) * (1 - x.cooling_share) for it in r.it_energy]
    r.average_power = x.idle_power + (load - x.idle_power) * r.average_load / 100
    r.it_power = sum(r.it_energy) / (x.horizon * HOURS_PER_YEAR)
    r.cooling_power = r.it_power * (x.pue - 1) * x.cooling_share
    r.overhead_power = r.it_power * (x.pue - 1) * (1 - x.cooling_share)
    r.energy_total = sum(r.it_energy) + sum(r.cooling_energy) + sum(r.overhead_energy)


def inflated(x, r, t):
    return growth(x.inflation, r.year[t])


def power(x, r):
    r.tariff = series(r, lambda t: held(x.electricity_price, r, t)
                      * growth(x.electricity_escalation, r.elapsed[t]))
    water_price = x.water_use / LITRES_PER_M3 * x.water_price      # USD per kWh of IT energy
    r.power_cost, r.cooling_cost = [0] * len(r.period), [0] * len(r.period)
    if x.colo_power == "included":
        return
    for t in r.operation:
        months = r.period[t] * MONTHS_PER_YEAR
        charge = r.peak_by_period[t] * x.pue * x.demand_charge * months * inflated(x, r, t)
        water = r.it_energy[t] * water_price * inflated(x, r, t)
        r.power_cost[t] = (r.it_energy[t] + r.overhead_energy[t]) * r.tariff[t] + charge
        r.cooling_cost[t] = r.cooling_energy[t] * r.tariff[t] + water


def operation(x, r):
    """Support and repair are shares of the price of everything that is there in the period, once it is delivered; of a
    fixed sum, each accelerator has an equal part."""
    r.colo_cost = series(r, lambda t: r.peak_it_power * held(x.colo_rate, r, t) * r.period[t]
                         * MONTHS_PER_YEAR * growth(x.colo_escalation, r.elapsed[t]))
    def delivered(amounts, t):
        return sum(amounts[v] * (1 if v > 1 else r.first_delivered[t]) for v in fleet.there(r, t))

    r.support_cost = series(r, lambda t: (delivered(r.hardware_paid, t) * x.support
                                          + delivered(r.bought, t) * r.support_of_each)
                            * r.period[t] * inflated(x, r, t))
    r.licence_cost = series(r, lambda t: r.in_service[t] * x.software_licence * r.period[t]
                            * inflated(x, r, t))

    def repair(t):
        """Accelerators under warranty need none; it ends with a whole period."""
        full = x.period / MONTHS_PER_YEAR
        paid = sum(r.accelerators_paid[v] for v in fleet.there(r, t) if (t - v + 1) * full > x.warranty + 1e-9)
        mean_price_paid = paid / r.stock[t]
        failures = r.in_service[t] * x.failure_rate * r.period[t]
        return failures * mean_price_paid * x.repair_cost * inflated(x, r, t)

    r.repair = series(r, repair)
    if x.remedy:
        share = owed(x)
        r.remedy_credit = series(r, lambda t: -r.hardware_paid[t] * share)


    if x.delay_damages is not None and not x.is_rented:
        damages(x, r)


def damages(x, r):
    """What a contract owes for the delay: once for each week or day begun, after the grace period; paid when the late
    part has arrived."""
    delay = x.delivery_delay / MONTHS_PER_YEAR * fleet.DAYS_PER_YEAR
    times, begun = max(0, delay - x.delay_grace) / x.delay_damages_per, 0
    while begun < times - 1e-9:
        begun += 1
    share = min(x.delay_damages * begun, x.delay_damages_limit)
    r.damages_credit = [0] * len(r.period)
    late_price = x.late_share * r.hardware_paid[1]
    for t in r.operation:
        ends = r.elapsed[t] + r.period[t]
        if x.delivery_delay / MONTHS_PER_YEAR <= ends + 1e-9:
            r.damages_credit[t] = -late_price * share
            break
    r.damages_share = 100 * share
    paying, covered = 0, x.delay_grace
    while x.delay_damages > 0 and paying < x.delay_damages_limit - 1e-9 * x.delay_damages:
        paying += x.delay_damages
        covered += x.delay_damages_per
    r.delay_covered = covered / DAYS_PER_WEEK


def owed(x):
    """The share of the hardware's price for a speed below the guaranteed one, once that exceeds the tolerance."""
    speed = fleet.held_against(x)
    if not fleet.is_short(x):
        return 0
    per_cents_missing = 100 * (1 - speed / x.guaranteed_throughput)
    share = per_cents_missing * x.remedy
    return share if x.remedy_limit is None else min(share, x.remedy_limit)


# ---- offers

def rent(x, r):
    """Reserved accelerators are paid around the clock, all others for the hours in which they work. Only the rent of those
    declines, unless no share is stated to be reserved."""
    reserved = x.reserved_share if x.on_demand_rate or x.spot_rate else 1
    spot = x.spot_share

    def cost(t):
        around_the_clock = r.in_service[t] * r.period[t] * HOURS_PER_YEAR
        in_use = r.in_service[t] * r.busy_hours[t]
        decline = growth(-x.rent_decline, r.year[t])
        return (
            (1 if x.reserved_share else decline) * reserved * around_the_clock * held(x.rental_rate, r, t)
            + decline * spot * in_use * (1 + x.interruption) * held(x.spot_rate, r, t)
            + decline * (1 - reserved - spot) * in_use * held(x.on_demand_rate, r, t))

    r.rental_cost = series(r, cost)


def burst(x, r):
    """Bought at a price, which inflates, or rented by the hour, which gets cheaper as rents do."""
    def cost(t):
        bought = x.burst_price / TOKENS_PER_MTOK * inflated(x, r, t)
        rented = x.burst_rate / r.tokens_per_gpu[t] * growth(-x.rent_decline, r.year[t])
        return r.burst_tokens[t] * (bought + rented)

    r.burst_cost = series(r, cost)


def api(x, r, other):
    """All of the demand is served, and every token has its price; or what another option serves, or what it is asked
    for."""
    if x.tokens_of:
        r.tokens = other.get("demanded", other["tokens"])
    else:
        fleet.demand(x, r)
        r.tokens = r.demanded = series(r, lambda t: r.demand[t] * r.period[t])
    cached_price = x.input_price if x.cached_input_price is None else x.cached_input_price
    prices = {"input": x.input_price, "cached": cached_price, "output": x.output_price}
    r.api_cost = [0] * len(r.period)
    for t in r.operation:
        for kind, tokens in tokens_by_kind(x, r, r.tokens[t]).items():
            r.api_cost[t] += tokens / TOKENS_PER_MTOK * prices[kind] * (1 - x.api_discount) * inflated(x, r, t)
    each = {kind: tokens * prices[kind] for kind, tokens in tokens_by_kind(x, r, 1).items()}
    r.parts = {kind: cost / sum(each.values()) for kind, cost in each.items()}


def engineering(x, r):
    r.engineering_cost = series(
        r, lambda t: held(x.engineers, r, t) * x.engineer_cost * r.period[t]
        * growth(x.wage_growth, r.elapsed[t]))


def own_items(x, r, items):
    """The user's items: (group, unit, amount, escalates), where amount(results, period number) is in that unit."""
    r.owned = 0 if x.is_rented else 1
    if x.is_api:
        return 0                                    # only options with hardware have the items
    own_capex = sum(amount(r, 0) for group, _, amount, _ in items if group == "capex")
    r.other_cost = [0] * len(r.period)
    for group, unit, amount, escalates in items:
        if group != "opex":
            continue
        for t in r.operation:
            r.other_cost[t] += (amount(r, t) * (r.period[t] if unit == "USD/yr" else 1)
                                * (1 if escalates else inflated(x, r, t)))
    return own_capex


def accelerators(x, r):
    if x.decode_throughput:
        request(x, r)
    if x.production_throughput:
        x.utilization = share_served(x)
    fleet.build(x, r)
    hardware(x, r)
    energy(x, r)
    power(x, r)
    operation(x, r)
    rent(x, r)
    if x.demand is not None:
        burst(x, r)


# ---- results

COSTS = ["power", "cooling", "colo", "support", "licence", "engineering", "rental", "burst", "api", "other"]


def resale_at(x, years):
    """The resale value of hardware of that age: the value at its next birthday, and zero if older than the list."""
    shares = x.resale if isinstance(x.resale, list) else [x.resale]
    birthday = max(1, fleet.ceil(years))
    return shares[birthday - 1] if birthday <= len(shares) else 0


def sales(x, r):
    """Each vintage at its end, or at the horizon. Hardware retired before has only a value by age."""
    shares = {"accelerator": x.residual_value, "server": x.server_residual, "network": x.network_residual}
    last = len(r.period) - 1
    r.sold, r.hardware_residual = [0] * len(r.period), 0
    for v in r.operation:
        ends = min(last, v + r.lasts - 1)
        age = r.elapsed[ends] + r.period[ends] - r.elapsed[v]
        for part, paid in r.parts_paid.items():
            by_age = x.resale is not None and (part == "accelerator" or not x.has_parts)
            retires = v + r.lasts - 1 < last
            if by_age and retires:
                r.sold[ends] += paid[v] * resale_at(x, age)
            elif not retires:
                r.hardware_residual += paid[v] * (resale_at(x, age) if by_age else shares[part])


def cash_flow(x, r, own_capex):
    """Column 0 is the initial outlay; what a period needs is bought at the end of the preceding one."""
    columns = range(len(r.period))
    paid = getattr(r, "hardware_paid", [0] * len(r.period))
    r.capitalised = {part: [cost * (1 + x.installation + x.purchase_tax) for cost in costs[1:] + [0]]
                     for part, costs in getattr(r, "parts_paid", {}).items()}
    sums = getattr(r, "fixed_paid", [0] * len(r.period))[1:] + [0]
    r.purchases = [cost * (1 + x.installation + x.purchase_tax) + more for cost, more in zip(paid[1:] + [0], sums)]
    r.purchases[0] += own_capex
    if r.capitalised:
        r.capitalised["accelerator"] = [cost + more for cost, more in zip(r.capitalised["accelerator"], sums)]
        r.capitalised["accelerator"][0] += own_capex
    r.outlay = list(r.purchases)
    r.outlay[0] += getattr(r, "facility_cost", 0) + x.migration_cost
    running = [getattr(r, f"{name}_cost") for name in COSTS if hasattr(r, f"{name}_cost")]
    running += [getattr(r, name) for name in ("repair", "remedy_credit", "damages_credit") if hasattr(r, name)]
    r.opex = [sum(costs[c] for costs in running) for c in columns]
    r.cash = [r.outlay[c] + r.opex[c] for c in columns]
    if not x.is_api:
        sales(x, r)
        r.residual = [-sold for sold in r.sold]
        r.residual[-1] -= r.hardware_residual + r.facility_cost * x.facility_residual
        r.cash = [cash + residual for cash, residual in zip(r.cash, r.residual)]
        r.residual_total = sum(r.residual)
    r.discount_factor = [1 / growth(x.wacc, r.elapsed[c] + r.period[c]) for c in columns]


def present_value(r, amounts):
    return sum(amount * factor for amount, factor in zip(amounts, r.discount_factor))


def totals(r):
    for name in COSTS:
        if hasattr(r, f"{name}_cost"):
            setattr(r, f"{name}_total", sum(getattr(r, f"{name}_cost")))
    if hasattr(r, "repair"):
        r.repair_total = sum(r.repair)
    if hasattr(r, "remedy_credit"):
        r.remedy_total = sum(r.remedy_credit)
    if hasattr(r, "damages_credit"):
        r.damages_total = sum(r.damages_credit)
    r.capex, r.opex_total = sum(r.outlay), sum(r.opex)
    r.tokens_total = sum(r.tokens)
    r.tco = sum(r.cash)


def costs_per_token(x, r):
    r.cost_per_mtok = r.tco / r.tokens_total * TOKENS_PER_MTOK
    r.levelised_cost_per_mtok = present_value(r, r.cash) / present_value(r, r.tokens) * TOKENS_PER_MTOK
    if x.demand is not None and not x.tokens_of:
        r.coverage = 100 * r.tokens_total / sum(r.demanded)
    if hasattr(r, "parts"):
        for kind, tokens in tokens_by_kind(x, r, 1).items():
            share = r.parts[kind] / tokens if tokens else 0
            setattr(r, f"cost_per_mtok_{kind}", r.cost_per_mtok * share)
            setattr(r, f"levelised_cost_per_mtok_{kind}", r.levelised_cost_per_mtok * share)


def of_accelerators(x, r):
    r.cost_per_gpu_hour = r.tco / sum(r.gpu_hours)
    r.levelised_cost_per_gpu_hour = present_value(r, r.cash) / present_value(r, r.gpu_hours)
    r.energy_per_token = r.energy_total * JOULES_PER_KWH / sum(r.fleet_tokens)


def site(x, r):
    """Tokens per second and MW that the site must supply in its period of highest use."""
    r.site_peak_power = r.peak_it_power * x.pue / 1000
    if r.site_peak_power:
        r.tokens_per_mw = sum(r.fleet_tokens) / (x.horizon * HOURS_PER_YEAR * 3600) / r.site_peak_power
    r.water_total = sum(r.it_energy) * x.water_use / LITRES_PER_M3
    if sum(r.fleet_tokens):
        r.water_per_mtok = r.water_total * LITRES_PER_M3 / (sum(r.fleet_tokens) / TOKENS_PER_MTOK)
    if x.site_power:
        r.site_excess = 100 * max(r.site_peak_power / x.site_power - 1, 0)


def carbon(x, r):
    """Emissions from manufacturing accelerators count in full, spares included; tonnes."""
    r.operational_carbon = r.energy_total * x.grid_intensity / 1e6
    r.embodied_total = r.accelerators_bought * x.embodied_carbon / 1e3
    r.carbon_total = r.operational_carbon + r.embodied_total
    r.carbon_per_mtok = r.carbon_total * 1e6 / (sum(r.fleet_tokens) / TOKENS_PER_MTOK)


def sold_tokens(x, r):
    """Sales are an item of their own; no cost decreases because of them."""
    prices = {"input": x.token_price_input, "output": x.token_price_output,
              "cached": x.token_price_input if x.token_price_cached is None else x.token_price_cached}
    r.revenue = [0] * len(r.period)
    for t in r.operation:
        for kind, tokens in tokens_by_kind(x, r, r.tokens[t]).items():
            r.revenue[t] += tokens * x.sold_share / TOKENS_PER_MTOK * prices[kind]
    r.margin = [sold - spent for sold, spent in zip(r.revenue, r.cash)]
    r.revenue_total, r.margin_total = sum(r.revenue), sum(r.margin)
    r.margin_of_cost = 100 * r.margin_total / r.tco if r.tco > 0 else None
    r.margin_of_revenue = 100 * r.margin_total / r.revenue_total if r.revenue_total > 0 else None
    r.npv = present_value(r, r.margin)
    r.payback = paid_back(r)


def paid_back(r):
    """Years until the cumulative margin is permanently no longer negative; None if it still is."""
    so_far = years = 0
    for t, margin in enumerate(r.margin):
        before, so_far = so_far, so_far + margin
        if so_far < 0:
            years = r.elapsed[t] + r.period[t]
        elif before < 0:
            years = r.elapsed[t] + r.period[t] * -before / margin
    return None if so_far < 0 else years


# Intermediate results that no face shows; those shown only for options that use them.
ONLY_THE_WAY = {"fixed_paid", "support_of_each", "demand", "elapsed", "months", "year", "able", "first_delivered", "delivered", "operation", "busy_hours", "gpu_hours", "flat_out", "parts", "connected", "installed",
                "nodes_bought", "peak_by_period", "purchases", "outlay", "owned", "parts_paid", "capitalised",
                "servers_paid", "network_paid", "hardware_residual", "sold", "lasts"}
TOLD_IF = {
    "demand": {"fleet_tokens"},
    "fleet_changes": {"in_service"},
    "is_staged": {"needed", "bought", "stock", "accelerators_paid", "hardware_paid"},
    "cache_hit": {"cost_per_mtok_cached", "levelised_cost_per_mtok_cached"},
}


def told(x, r):
    silent = set(ONLY_THE_WAY)
    for name, items in TOLD_IF.items():
        silent |= items if not getattr(x, name) else set()
    return {name: value for name, value in vars(r).items() if name not in silent}


def evaluate_all(options):
    """The line items of each option, by its id; an option that takes another's tokens comes after that one."""
    done = {}
    for option in sorted(options, key=lambda one: "tokens_of" in one.inputs):
        done[option.id] = evaluate(option.inputs, option.items, done.get(option.inputs.get("tokens_of")))
    return {option.id: done[option.id] for option in options}


def evaluate(given, items=(), other=None):
    """All line items of one option, as a dict; a series is a list. `other`: of the option whose tokens it takes."""
    x, r = complete(given), SimpleNamespace()
    fleet.time_line(x, r)
    if x.is_api:
        api(x, r, other)
    else:
        accelerators(x, r)
    engineering(x, r)
    own_capex = own_items(x, r, items)
    cash_flow(x, r, own_capex)
    totals(r)
    costs_per_token(x, r)
    if not x.is_api:
        of_accelerators(x, r)
        site(x, r)
        if x.grid_intensity is not None:
            carbon(x, r)
    if x.token_price_output is not None:
        sold_tokens(x, r)
    if x.is_api:
        finance.net_present_value(x, r)
    else:
        finance.views(x, r)
    return told(x, r)


def saving(option, baseline, measure="cost_per_mtok"):
    """None of what costs less than nothing, or over it: that is no share of a cost."""
    if option[measure] < 0 or baseline[measure] < 0:
        return None
    return 1 - option[measure] / baseline[measure]
