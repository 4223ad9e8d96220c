"""Random scenarios: the INI text, and the corresponding numbers.

The two are written separately, so that no INI or unit is ever read in Python: a value is drawn in the unit of the cost
model and *spelled* in any unit a user may type (0.08 USD/kWh, 80 USD/MWh). In some scenarios the values that count are
in a case, and the base case has others.
"""

import csv
import random
from decimal import Decimal, ROUND_FLOOR
from types import SimpleNamespace

from oracle.cost_model import DAMAGES, DEFAULTS, NOT_FOR_RENTED, RENTS, is_staged
from oracle.finance import MACRS
from oracle.fleet import Stepped
from oracle.spelling import CURRENCIES, INPUTS, draw, draw_list, plain, spell

ACCELERATORS = ["h200-sxm-141", "mi325x-256", "b200-sxm-180", "mi355x-288", "mi300x-192",
                "h100-sxm5-80", "gb200-nvl72"]

# What may be a list by year, and the rate that it may replace.
SCHEDULES = {"engineers": None, "electricity_price": "electricity_escalation", "utilization": None,
             "demand": "demand_growth", "accelerators": None, "throughput": "throughput_gain",
             "rental_rate": "rent_decline", "on_demand_rate": "rent_decline", "discount": None,
             "list_price": "price_decline", "colo_rate": "colo_escalation"}
LISTS = {f"list of {name}" for name in SCHEDULES} | {f"steps of {name}" for name in SCHEDULES}
CASE = "told"                   # has the values that count, in scenarios whose base case has others
ALWAYS = {"list_price", "pue", "electricity_price", "utilization", "engineer_cost"}
FACILITIES = {"plain": [], "own": ["build_price", "facility_residual"],
              "colo": ["colo_rate", "colo_escalation", "colo_power"]}
COMPANIONS = {"facility_residual": "build_price", "colo_escalation": "colo_rate", "colo_power": "colo_rate",
              "repair_cost": "failure_rate", "water_price": "water_use"}
TAX = ["tax_schedule", "tax_life", "bonus_depreciation", *MACRS]
LOAN = ["loan_rate", "loan_term"]
BURST = ["burst_price", "burst_rate"]
RENTED_AS = ["rental_rate", "on_demand_rate"]
LEASE = ["lease_rate", "lease_term", "lease_payment"]
RESERVED = ["rental_rate", "reserved_share"]
SPOT = ["spot_rate", "spot_share", "interruption"]
# These are drawn in ways of their own; the last two rates are drawn like any input.
SECOND_EDITION = {"demand_growth", "throughput_gain", "price_decline", "rent_decline", "inflation", "purchase",
                  "day_profile", "site_power", "grid_intensity", "embodied_carbon",
                  *RESERVED, *SPOT, "input_price", "cached_input_price", "output_price", "api_discount", "cache_hit", "cached_work",
                  "prefill_includes_hits", "token_price_input", "token_price_cached", "token_price_output",
                  "sold_share"}
ELSEWHERE_DRAWN = {"electricity_escalation", "colo_escalation"}
VINTAGES = ["life", "resale", "warranty", "tiers", "tier_discount", "lead_time"]
KEYS = {"tiers": "discount"}    # the key of an input that the oracle calls differently
LATE = ["delivery_delay", "late_share", *DAMAGES]
REMEDY = ["remedy", "guaranteed_throughput", "guarantee_tolerance", "remedy_limit"]
SUMS = ["support_sum", "installation_sum", "purchase_tax_sum"]
SHARES = {name.removesuffix("_sum"): name for name in SUMS}
PARTS = ["server_residual", "network_residual", "server_book_life", "network_book_life"]
ELSEWHERE = {*SECOND_EDITION, *PARTS, *VINTAGES, *LATE, *REMEDY, *SUMS, "sums_cover", "replacement", "horizon", "period", "tax_rate", "loan_share", *TAX, *LOAN, *LEASE, *BURST, *RENTED_AS,
             "purchase_unit", "accelerators", "demand", "throughput", "production_throughput",
             "decode_throughput", "prefill_throughput", "prefill_power", "peak_power", "input_tokens", "output_tokens"}
ELSEWHERE.update(*FACILITIES.values())

# The user's own items: name, group, unit, formula with a number in it, the same in Python.
OWN_ITEMS = [
    ("insurance", "opex", "USD/yr", "{} %/yr * hardware_cost",
     lambda n: lambda r, t: n / 100 * r.hardware_cost),
    ("monitoring", "opex", "USD/yr", "{} USD/yr * accelerators",
     lambda n: lambda r, t: n * r.accelerators),
    ("energy_levy", "opex", "USD", "{} % * power_cost",
     lambda n: lambda r, t: n / 100 * r.power_cost[t]),
    ("deep_clean", "opex", "USD", "{} USD * nodes", lambda n: lambda r, t: n * r.nodes),
    ("cabling", "capex", "USD", "{} USD * nodes", lambda n: lambda r, t: n * r.nodes),
    ("acceptance", "capex", "USD", "{} % * hardware_cost",
     lambda n: lambda r, t: n / 100 * r.hardware_cost),
    ("cage", "capex", "USD", "{} USD/kW * peak_it_power",
     lambda n: lambda r, t: n * r.peak_it_power * r.owned),
    ("heat_tax", "opex", "USD/yr", "{} USD/kW/yr * it_power",
     lambda n: lambda r, t: n * r.it_power * r.owned),
]


def catalogue(folder):
    """From the shipped tables, for an accelerator: TDP, what it is installed in and sold by, the carbon of making
    it."""
    def rows(name):
        with open(folder / f"{name}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    found = {}
    for row in rows("accelerators"):
        if row["id"] in ACCELERATORS:
            found[row["id"]] = {"load_power": float(row["tdp_w"]),
                                "accelerators_per_node": float(row["gpus_per_node"])}
            if row["purchase_unit"] != row["gpus_per_node"]:
                found[row["id"]]["purchase_unit"] = float(row["purchase_unit"])
    for row in rows("carbon"):
        if row["category"] == "embodied" and row["accelerator"] in found and row["per_gpu_value"]:
            found[row["accelerator"]]["embodied_carbon"] = float(row["per_gpu_value"])
    return found


def profiles(folder):
    """The named day profiles."""
    with open(folder / "day_profiles.csv", newline="", encoding="utf-8") as file:
        shapes = {row["id"]: [float(row[f"share_{hour}"]) for hour in range(1, 25)]
                  for row in csv.DictReader(file)}
    return shapes | {"flat": [100 / 24] * 24}


def shipped(folder):
    """The shipped tables from which a scenario may name a row."""
    return SimpleNamespace(accelerators=catalogue(folder), profiles=profiles(folder))


def is_rented(inputs):
    return any(name in inputs for name in RENTS)


class Draft:
    """A scenario being drawn: the contents of each section."""

    def __init__(self, rng, options):
        self.rng, self.options = rng, options
        self.common, self.workload = {}, {}
        self.steps = {}  # in months, of inputs whose lists do not go by year

    def give(self, option, name):
        if not (is_rented(option.given) and name in NOT_FOR_RENTED):
            option.given[name] = draw(self.rng, name)

    def sections(self):
        """Every place for an input, each with the options that it applies to."""
        shared = [option for option in self.options if not option.is_api]
        return [(self.common, shared), (self.workload, shared)] + [
            (option.given, [option]) for option in self.options]

    def has(self, option, name):
        return name in option.given or name in self.common or name in self.workload

    def place(self, name, always=False):
        """In [common], in the options, in both (the option wins), or nowhere."""
        where = self.rng.choice(["common", "options", "both"] + ["nowhere"] * (not always))
        if where in ("common", "both"):
            home = self.common
            if name == "utilization" and self.rng.random() < 0.5:
                home = self.workload
            home[name] = draw(self.rng, name)
        if where in ("options", "both"):
            chance = 0.5 if where == "both" else 1 if always else 0.7
            for option in self.options:
                if self.rng.random() < chance:
                    self.give(option, name)


def draw_sizes(draft):
    """A number of accelerators, a demand, or both (then the number wins)."""
    rng = draft.rng
    kind = rng.choice(["accelerators", "demand", "mixed"])
    if kind != "mixed":
        draft.place(kind, always=True)
    if kind == "accelerators" and rng.random() < 0.4:
        draft.place("demand")
    if kind == "mixed":
        for option in draft.options:
            for name in rng.choice([["accelerators"], ["demand"], ["accelerators", "demand"]]):
                draft.give(option, name)
    for option in draft.options:
        if rng.random() < 0.2:
            draft.give(option, "purchase_unit")
        if ("demand" in draft.common or "demand" in option.given) and rng.random() < 0.4:
            draft.give(option, rng.choice(BURST))


def draw_facility(draft):
    """An existing hall, one that is built, or colocation; never the last two together."""
    kind = draft.rng.choice(["plain", "own", "colo", "colo", "mixed"])
    if kind != "mixed":
        for name in FACILITIES[kind]:
            draft.place(name, always=name in ("colo_rate", "colo_power", "build_price"))
        return
    for option in draft.options:
        if not is_rented(option.given):
            for name in FACILITIES[draft.rng.choice(list(FACILITIES))]:
                draft.give(option, name)


def draw_speed(draft):
    for option in draft.options:
        if draft.rng.random() < 0.6:
            draft.give(option, "throughput")
            continue
        for name in ("decode_throughput", "prefill_throughput"):
            draft.give(option, name)
        name_lengths(draft)


def draw_finance(draft):
    """Income tax and a loan, for all options or for some; with what they need."""
    rng = draft.rng
    taxed = rng.choice([[], draft.options[:1], draft.options])
    for option in taxed:
        for name in ["tax_rate", *(name for name in TAX if rng.random() < 0.5)]:
            draft.give(option, name)
    if taxed and rng.random() < 0.5:
        draft.common["bonus_depreciation"] = draw(rng, "bonus_depreciation")
    for option in draft.options:
        if rng.random() < 0.4 and not is_rented(option.given):
            for name in LEASE[:rng.choice([2, 3])]:
                draft.give(option, name)
    borrowing = [option for option in draft.options if not is_rented(option.given)]
    if rng.random() < 0.4 or not borrowing:
        return
    for name in LOAN:
        draft.common[name] = draw(rng, name)
    for option in borrowing:
        draft.give(option, "loan_share")
        if rng.random() < 0.5:
            draft.give(option, rng.choice(LOAN))


def draw_schedules(rng, draft):
    """For each input that allows one, a list or its rate; never both in one scenario."""
    places = [values for values, _ in draft.sections()]
    for name, rate in SCHEDULES.items():
        if any(rate in values for values in places):
            if rng.random() < 0.5:
                continue
            for values in places:
                values.pop(rate, None)
        if rng.random() < 0.6:
            for values in places:
                if name in values and rng.random() < 0.7:
                    values[name] = draw_list(rng, name)
    for name, rate in SCHEDULES.items():
        holders = [(values, options) for values, options in draft.sections() if name in values]
        listed = any(isinstance(values.get(each), list) for values in places
                     for each, its in SCHEDULES.items() if its == rate)
        if rate is None or rate in ELSEWHERE_DRAWN or listed or rng.random() < 0.6:
            continue
        for values, _ in holders:
            values[rate] = draw(rng, rate)
    if rng.random() < 0.6:
        draft.common["inflation"] = draw(rng, "inflation")


def draw_steps(seed, draft, horizon):
    """Some lists have a step in place of years, the same in all options: a multiple of the period, which may be more
    than a year. Steps of less have more values."""
    rng = random.Random(f"steps {seed}")
    period = int(horizon.get("period", DEFAULTS["period"]))
    for name in SCHEDULES:
        holders = [values for values, _ in draft.sections() if isinstance(values.get(name), list)]
        if holders and rng.random() < 0.75:
            draft.steps[name] = months = period * rng.choice([1, 1, 2, 3, 5])
            for values in holders:
                more = [draw(rng, name) for _ in range(rng.randint(0, 3 if months < 12 else 0))]
                values[name] = Stepped(values[name] + more, months)


def varies(draft, option):
    """Whether the option's fleet is bought in stages, given its inputs."""
    def word(name):
        return next((values[name] for values in (option.given, draft.common, draft.workload)
                     if name in values), None)

    given = {name: word(name) for name in ("accelerators", "demand", "throughput", "utilization",
                                           "demand_growth", "throughput_gain", "life")}
    if "production_throughput" in option.given:
        given["utilization"] = None
    return is_staged(given | {"is_rented": is_rented(option.given)})


def draw_purchases(rng, draft):
    for option in draft.options:
        if not option.is_api and varies(draft, option) and rng.random() < 0.5:
            option.given["purchase"] = draw(rng, "purchase")


def drop_what_nobody_needs(draft):
    for needed, names in (("loan_share", LOAN), ("tax_rate", TAX)):
        if not any(draft.has(option, needed) for option in draft.options):
            for name in names:
                draft.common.pop(name, None)


def draw_companions(seed, draft):
    """An option that gives what has no effect without another input gets that one as well; of a building, neither.
    Some that only share the common value do without."""
    rng = random.Random(f"companions {seed}")
    bought = [option for option in draft.options if not option.is_api and not is_rented(option.given)]
    for option in draft.options:
        if is_rented(option.given):
            option.given.pop("colo_power", None)
    for name, needed in COMPANIONS.items():
        for option in bought:
            if not draft.has(option, name) or draft.has(option, needed):
                continue
            if any(needed in names for names in FACILITIES.values()):
                option.given.pop(name, None)
            elif name in option.given or rng.random() < 0.5:
                option.given[needed] = draw(rng, needed)
        if not any(draft.has(option, needed) for option in bought):
            draft.common.pop(name, None)


def draw_carbon_and_site(rng, draft):
    if rng.random() < 0.3:
        draft.common["site_power"] = draw(rng, "site_power")
    if rng.random() < 0.5:
        draft.common["grid_intensity"] = draw(rng, "grid_intensity")
        for option in draft.options:
            if rng.random() < 0.5 and not option.is_api:
                option.given["embodied_carbon"] = draw(rng, "embodied_carbon")


def draw_day(rng):
    """24 shares in tenths of a percent that sum to 100."""
    cuts = sorted(rng.randint(0, 1000) for _ in range(23))
    return [Decimal(high - low) / 10 for low, high in zip([0, *cuts], [*cuts, 1000])]


def draw_days(rng, draft):
    if rng.random() < 0.6:
        return
    for values, _ in draft.sections():
        if "demand" in values:
            values["day_profile"] = draw(rng, "day_profile") if rng.random() < 0.4 else draw_day(rng)


def draw_mixes(rng, draft):
    """Some of those that rent do so in two or three ways at once."""
    for option in draft.options:
        if not is_rented(option.given) or rng.random() < 0.5:
            continue
        names = ["on_demand_rate"]
        names += rng.choice([RESERVED, SPOT, RESERVED + SPOT])
        for name in RENTS:
            option.given.pop(name, None)
        option.given.update({name: draw(rng, name) for name in names})


def draw_caches(rng, draft):
    """Input tokens from a cache: for options with prefill, and for those that buy tokens."""
    for option in draft.options:
        prefills = "prefill_throughput" in option.given
        if not (prefills or option.is_api) or rng.random() < 0.5:
            continue
        option.given["cache_hit"] = draw(rng, "cache_hit")
        for name in ("cached_work", "prefill_includes_hits"):
            if prefills and rng.random() < 0.5:
                option.given[name] = draw(rng, name)


def draw_apis(rng, draft):
    """An option becomes a token API, if there is a demand for all."""
    if "demand" not in draft.common or rng.random() < 0.5:
        return
    become_api(rng, draft, draft.options[-1])


def become_api(rng, draft, option):
    option.is_api, option.given = True, {}
    for name in ("input_price", "output_price", "cached_input_price"):
        if name != "cached_input_price" or rng.random() < 0.6:
            option.given[name] = draw(rng, name)
    for name in ("engineers", "migration_cost", "api_discount"):
        if rng.random() < 0.6:
            option.given[name] = draw(rng, name)
    option.given["engineer_cost"] = draw(rng, "engineer_cost")
    name_lengths(draft)
    drop_what_nobody_needs(draft)


def draw_production(seed, draft):
    """Counted tokens instead of a utilization, few enough that any accelerators can serve them."""
    rng = random.Random(f"production {seed}")
    for option in draft.options:
        if option.is_api or rng.random() < 0.7:
            continue
        option.given.pop("utilization", None)
        option.given["production_throughput"] = draw(rng, "production_throughput")
        if not varies(draft, option):
            option.given.pop("purchase", None)


def draw_prefill_power(seed, draft):
    rng = random.Random(f"prefill power {seed}")
    for option in draft.options:
        if "prefill_throughput" in option.given and rng.random() < 0.4:
            option.given["prefill_power"] = draw(rng, "prefill_power")


def draw_peak_power(seed, draft):
    rng = random.Random(f"peak power {seed}")
    for option in draft.options:
        if not option.is_api and rng.random() < 0.3:
            option.given["peak_power"] = draw(rng, "peak_power")


def draw_taken(seed, draft):
    """An option becomes a token API for the tokens that another one's accelerators produce: there is no demand, their
    number is fixed and they have no life, and no input comes from a cache."""
    rng = random.Random(f"tokens of another {seed}")
    lender, option = draft.options[0], draft.options[-1]
    said = draft.common | draft.workload | lender.given
    if (option.is_api or lender.is_api or "demand" in said or isinstance(said.get("accelerators"), list)
            or "cache_hit" in said or "life" in said or rng.random() < 0.4):
        return
    become_api(rng, draft, option)
    option.tokens_of = lender.id


def name_lengths(draft):
    for name in ("input_tokens", "output_tokens"):
        draft.workload.setdefault(name, draw(draft.rng, name))


def draw_sales(rng, draft):
    if rng.random() < 0.6:
        return
    name_lengths(draft)
    for name in ("token_price_input", "token_price_cached", "token_price_output"):
        draft.common[name] = draw(rng, name)
    if rng.random() < 0.5:
        draft.common["sold_share"] = draw(rng, "sold_share")


def draw_second_edition(seed, draft):
    """Draws of its own, so that the first edition's scenarios do not change."""
    rng = random.Random(f"second edition {seed}")
    draw_apis(rng, draft)
    draw_mixes(rng, draft)
    draw_caches(rng, draft)
    draw_schedules(rng, draft)
    draw_purchases(rng, draft)
    draw_carbon_and_site(rng, draft)
    draw_days(rng, draft)
    draw_sales(rng, draft)


def draw_vintages(seed, draft):
    """Inputs of servers and network alone; again with draws of its own."""
    rng = random.Random(f"vintages {seed}")
    for option in draft.options:
        for name in PARTS:
            if not option.is_api and rng.random() < 0.25 and not (is_rented(option.given) and name in NOT_FOR_RENTED):
                option.given[name] = draw(rng, name)
        if option.is_api or is_rented(option.given):
            continue
        if rng.random() < 0.4:
            option.given["warranty"] = draw(rng, "warranty")
        if rng.random() < 0.4:
            draw_resale(rng, draft, option)
        if rng.random() < 0.5:
            option.given.pop("discount", None)
            draw_tiers(rng, option)
        if rng.random() < 0.25:
            option.given["life"] = draw(rng, "life")


def draw_lead_times(seed, draft):
    """For prices that fall; no longer than the hardware's life."""
    rng = random.Random(f"lead time {seed}")
    for option in draft.options:
        if option.is_api or is_rented(option.given) or rng.random() < 0.3:
            continue
        drawn = draw(rng, "lead_time")
        life = option.given.get("life")
        option.given["lead_time"] = drawn if life is None else min(drawn, (12 * life).to_integral_value(ROUND_FLOOR))


def draw_delays(seed, draft, horizon):
    """Of what is delivered at the outset, bought or rented: within a period or over several, and of all or of a part. It
    arrives before it is retired."""
    rng = random.Random(f"delay {seed}")
    months = 12 * horizon.get("horizon", DEFAULTS["horizon"])
    for option in draft.options:
        if option.is_api or rng.random() < 0.5:
            continue
        delay, life = draw(rng, "delivery_delay"), option.given.get("life", horizon.get("horizon", DEFAULTS["horizon"]))
        period = horizon.get("period", DEFAULTS["period"])
        lasts = min(months, life * 12 // period * period)
        option.given["delivery_delay"] = delay * rng.choice([1, 2, 5]) if 5 * delay < lasts else delay
        if rng.random() < 0.6:
            option.given["late_share"] = draw(rng, "late_share")
        if not is_rented(option.given) and rng.random() < 0.8:
            for name in DAMAGES:
                if name == "delay_damages" or rng.random() < 0.7:
                    option.given[name] = draw(rng, name)


def draw_remedy(seed, draft):
    """What a vendor owes for accelerators slower than it guarantees; about half of them are."""
    rng = random.Random(f"remedy {seed}")
    for option in draft.options:
        if option.is_api or is_rented(option.given) or rng.random() < 0.7:
            continue
        for name in REMEDY:
            if name in ("remedy", "guaranteed_throughput") or rng.random() < 0.6:
                option.given[name] = draw(rng, name)
        if rng.random() < 0.4:
            option.given["replacement"] = draw(rng, "replacement")


def draw_sums(seed, draft):
    """What a contract states as a sum, beside a share at the same place or instead of that for all options."""
    rng = random.Random(f"sums {seed}")
    for option in draft.options:
        if option.is_api or is_rented(option.given) or rng.random() < 0.6:
            continue
        for name in rng.sample(SUMS, rng.randint(1, len(SUMS))):
            option.given[name] = draw(rng, name)
        if rng.random() < 0.7:
            option.given["sums_cover"] = draw(rng, "sums_cover")


def draw_tiers(rng, option):
    """One to four tiers, some of which no order reaches; on the accelerators beyond their number, or on all of an
    order."""
    count = rng.randint(1, 4)
    shares = sorted(Decimal(rng.randint(0, 300)) / 10 for _ in range(count))
    begins = sorted(rng.sample(range(1, 1200), count))
    option.given["tiers"] = list(zip(shares, begins))
    if rng.random() < 0.7:
        option.given["tier_discount"] = rng.choice(["beyond", "all"])


def draw_resale(rng, draft, option):
    """Shares that fall with age, or a single one, instead of a residual value."""
    if "residual_value" in draft.common:
        return
    option.given.pop("residual_value", None)
    shares = sorted((Decimal(rng.randint(10, 700)) / 10 for _ in range(rng.randint(1, 5))), reverse=True)
    option.given["resale"] = shares if len(shares) > 1 else shares[0]


def draw_currency(seed, sections):
    """The report's currency, and which amounts stay in USD; other seeds have their own draws."""
    rng = random.Random(f"currency {seed}")
    if rng.random() < 0.7:
        return SimpleNamespace(code="USD", rate=None, dollars=set())
    code = rng.choice(list(CURRENCIES))
    low, high, decimals = CURRENCIES[code]
    scale = 10 ** decimals
    rate = Decimal(rng.randint(int(Decimal(low) * scale), int(Decimal(high) * scale))) / scale
    dollars = {(id(values), name) for values in sections for name in values
               if rng.random() < 0.5 and any("USD" in form for form in INPUTS.get(name, 4 * [{}])[3])}
    return SimpleNamespace(code=code, rate=rate, dollars=dollars)


def escalating(amount, percent):
    return lambda r, t: amount(r, t) * (1 + percent / 100) ** r.elapsed[t]


def as_told(amount):
    """An option has what it is given, rented or not."""
    return lambda r, t: amount(SimpleNamespace(**vars(r) | {"owned": 1}), t)


def draw_own_items(rng, ids, hardware_ids):
    """For all options, or some; options that buy tokens have no hardware that an item could be a share of."""
    items = []
    for name, group, unit, formula, amount in rng.sample(OWN_ITEMS, rng.choice([0, 0, 1, 2, 3])):
        high = 500 if "USD" in formula else 40
        number = Decimal(rng.randint(1, high)) / 10
        label = name.replace("_", " ").capitalize()
        text = [f"[item {name}]", f"label = {label}", f"unit = {unit}", f"group = {group}",
                f"formula = {formula.format(plain(number))}"]
        amount = amount(float(number))
        escalates = group == "opex" and rng.random() < 0.5
        if escalates:
            escalation = Decimal(rng.randint(-30, 90)) / 10
            text.append(f"escalation = {plain(escalation)} %/yr")
            amount = escalating(amount, float(escalation))
        some = rng.random() < 0.3
        options = rng.sample(hardware_ids, rng.randint(1, len(hardware_ids))) if some else hardware_ids
        if options != ids:
            text.append(f"options = {' '.join(options)}")
            amount = as_told(amount)
        items.append(SimpleNamespace(name=name, text=text, options=options,
                                     cost=(group, unit, amount, escalates)))
    return items


def typed(rng, values, name, value, currency):
    if name == "tiers":
        return ", ".join(f"{plain(share)} % from {begins}{rng.choice(['', ' gpu'])}" for share, begins in value)
    if name == "tier_discount":
        return value
    text = spell(rng, name, value)
    in_usd = (id(values), name) in currency.dollars
    return text if in_usd else text.replace("USD", currency.code)


def lines(rng, values, currency, decoys):
    text = [f"{KEYS.get(name, name)} = {typed(rng, values, name, decoys.get((id(values), name), value), currency)}"
            for name, value in values.items()]
    rng.shuffle(text)
    return [line + "   ; as agreed" if rng.random() < 0.1 else line for line in text]


def draw_decoys(seed, draft):
    """Values of some inputs in the base case, if the values that count are in a case: numbers for lists and vice
    versa."""
    rng = random.Random(f"case {seed}")
    if rng.random() < 0.6:
        return {}
    places = [values for values, _ in draft.sections()]
    known = [(values, name) for values in places for name in values
             if sum(name in shared for shared in (draft.common, draft.workload)) < 2
             and name not in SUMS and SHARES.get(name) not in values]

    def decoy(name, told):
        rated = any(SCHEDULES.get(name) in values for values in places)
        stages = name in ("accelerators", "demand", "throughput", "utilization")
        may_be_list = name in SCHEDULES and not rated and (isinstance(told, list) or not stages)
        if not may_be_list or rng.random() >= 0.5:
            return draw(rng, name)
        values = draw_list(rng, name)
        return Stepped(values, draft.steps[name]) if name in draft.steps else values

    return {(id(values), name): decoy(name, values[name]) for values, name in rng.sample(known, min(5, len(known)))
            if name not in ("day_profile", "tiers", "tier_discount")}


def case_lines(rng, draft, currency, decoys):
    text = []
    for values, options in draft.sections():
        prefix = f"{options[0].id}." if options and values is options[0].given else ""
        text += [f"{prefix}{KEYS.get(name, name)} = {typed(rng, values, name, value, currency)}"
                 for name, value in values.items() if (id(values), name) in decoys]
    return [[f"[case {CASE}]"] + text] if text else []


def write_ini(draft, title, baseline, horizon, items, currency, decoys):
    rng = draft.rng
    head = ["[scenario]", f"title = {title}", "date = 2026-11-01"]
    head += [f"baseline = {baseline}"] if baseline else []
    head += lines(rng, horizon, currency, {})
    if currency.rate:
        head += [f"currency = {currency.code}",
                 f"exchange_rate = {plain(currency.rate)} USD/{currency.code}",
                 "exchange_rate.source = drawn", "exchange_rate.date = 2026-11-01"]
    shared = [[f"[{name}]"] + lines(rng, values, currency, decoys)
              for name, values in (("workload", draft.workload), ("common", draft.common))
              if values]
    options = [[f"[option {option.id}]"]
               + ([] if option.is_api else [f"accelerator = {option.accelerator}"])
               + ([f"tokens_of = {option.tokens_of}"] if option.tokens_of else [])
               + lines(rng, option.given, currency, decoys) for option in draft.options]
    own = [[line.replace("USD", currency.code) for line in item.text] for item in items]
    blocks = [head] + (shared + options if rng.random() < 0.7 else options + shared) + own
    blocks += case_lines(rng, draft, currency, decoys)
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def numbers(values, currency):
    """In the report's currency."""
    def number(name, value):
        if name == "tiers":
            return [(float(share), begins) for share, begins in value]
        if isinstance(value, Stepped):
            return value.each(lambda each: number(name, each))
        if isinstance(value, list):
            return [number(name, each) for each in value]
        in_usd = (id(values), name) in currency.dollars
        return float(value) / float(currency.rate) if in_usd else float(value)

    return {name: value if isinstance(value, str) else number(name, value) for name, value in values.items()}


def make(seed, tables):
    """.ini is the text; .options have .id, .inputs for the oracle, .given: non-default inputs."""
    rng = random.Random(seed)
    options = [SimpleNamespace(id=name, accelerator=rng.choice(ACCELERATORS), given={},
                               is_api=False, tokens_of=None)
               for name in rng.sample(["alpha", "Beta", "gamma_2", "D4"], rng.choice([2, 3]))]
    draft = Draft(rng, options)
    for option in options:
        if rng.random() < 0.25:
            draft.give(option, rng.choice(RENTED_AS))
    for name in INPUTS:
        if name not in ELSEWHERE:
            draft.place(name, always=name in ALWAYS)
    draw_sizes(draft)
    draw_facility(draft)
    draw_speed(draft)
    draw_finance(draft)
    draw_second_edition(seed, draft)
    draw_vintages(seed, draft)
    draw_lead_times(seed, draft)
    draw_remedy(seed, draft)
    draw_sums(seed, draft)
    draw_prefill_power(seed, draft)
    draw_peak_power(seed, draft)
    draw_production(seed, draft)
    draw_taken(seed, draft)
    draw_companions(seed, draft)
    horizon = {"horizon": draw(rng, "horizon")} if rng.random() < 0.85 else {}
    if rng.random() < 0.6:
        horizon["period"] = draw(rng, "period")
    draw_delays(seed, draft, horizon)
    draw_steps(seed, draft, horizon)
    items = draw_own_items(rng, [option.id for option in options],
                           [option.id for option in options if not option.is_api])
    baseline = rng.choice([None] + [option.id for option in options])
    sections = [horizon, draft.common, draft.workload]
    currency = draw_currency(seed, sections + [option.given for option in options])
    decoys = draw_decoys(seed, draft)
    ini = write_ini(draft, f"random scenario {seed}", baseline, horizon, items, currency, decoys)
    shared = {}
    for values in sections:
        shared |= numbers(values, currency)
    return SimpleNamespace(
        ini=ini, case=CASE if decoys else "base", baseline=baseline or options[0].id,
        rate=float(currency.rate or 0), options=[
            finish(option, shared | numbers(option.given, currency),
                   {} if option.is_api else tables.accelerators[option.accelerator], tables.profiles,
                   [item.cost for item in items if option.id in item.options])
            for option in options])


def finish(option, given, catalogued, profiles, items):
    if "production_throughput" in option.given:
        given = {name: value for name, value in given.items() if name != "utilization"}
    inputs = catalogued | given | ({"tokens_of": option.tokens_of} if option.tokens_of else {})
    for share, name in SHARES.items():
        if name in option.given and share not in option.given:
            inputs.pop(share, None)
    if isinstance(inputs.get("day_profile"), str):
        inputs["day_profile"] = profiles[inputs["day_profile"]]
    unused = set()
    if is_rented(inputs):
        unused |= NOT_FOR_RENTED | {"colo_power"}
    if "decode_throughput" not in inputs:
        unused |= {"input_tokens", "output_tokens"}
    if "tax_rate" not in inputs:
        unused |= set(TAX)
    if "loan_share" not in inputs or "loan_share" in unused:
        unused |= set(LOAN)
    neutral = DEFAULTS | catalogued
    telling = [name for name, value in inputs.items()
               if name not in unused and value != neutral[name]]
    telling += [f"list of {name}" for name, value in inputs.items()
                if isinstance(value, list) and name not in unused]
    telling += [f"steps of {name}" for name, value in inputs.items()
                if isinstance(value, Stepped) and name not in unused]
    return SimpleNamespace(id=option.id, inputs=inputs, items=items, telling=telling)
