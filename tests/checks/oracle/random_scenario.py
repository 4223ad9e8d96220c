"""Random scenarios: the INI text, and beside it the numbers it stands for.

The two are written separately, so that no INI or unit is ever read in Python: a value is drawn in
the unit of the cost model and *spelled* in any unit a user may type (0.08 USD/kWh, 80 USD/MWh).
"""

import csv
import random
from decimal import Decimal
from types import SimpleNamespace

from oracle.cost_model import DEFAULTS, NOT_FOR_RENTED
from oracle.finance import MACRS

ACCELERATORS = ["h200-sxm-141", "mi325x-256", "b200-sxm-180", "mi355x-288", "mi300x-192",
                "h100-sxm5-80"]

# Spellings: what is typed, and how many of that unit make one of the input's own unit.
PLAIN = {"{}": 1}
PERCENT = {"{} %": 1, "{}%": 1}
PERCENT_YEAR = {"{} %/yr": 1}
GPUS = {"{}": 1, "{} gpu": 1}
USD = {"{} USD": 1}
USD_GPU = {"{} USD": 1, "{} USD/gpu": 1}
WATT = {"{} W": 1, "{} W/gpu": 1, "{} kW": "0.001", "{} kW/gpu": "0.001"}
USD_KW = {"{} USD/kW": 1, "{} USD/W": "0.001"}
USD_KW_MONTH = {"{} USD/kW/month": 1, "{} USD/kW/yr": 12}
TOKEN = {"{} token": 1}
YEARS = {"{} yr": 1, "{} month": 12}
SPEED = {"{} token/s": 1, "{} token/s/gpu": 1, "{} token/h": 3600, "{} Mtok/h": "0.0036",
         "{} Mtok/yr": "31.536"}

# name: lowest, highest, decimals, spellings
INPUTS = {
    "horizon": (1, 5, 0, {"{} yr": 1, "{} month": 12}),
    "accelerators": (64, 1600, 0, GPUS),
    "demand": (1_000_000, 60_000_000, 0, {"{} Mtok/yr": 1, "{} token/yr": 1_000_000}),
    "spares": (1, 12, 1, PERCENT),
    "accelerators_per_node": (4, 72, 0, {"{}": 1, "{} gpu/node": 1}),
    "list_price": (12000, 48000, 0, USD_GPU),
    "rental_rate": (1, 6, 2, {"{} USD/gpu/h": 1, "{} USD/h": 1}),
    "discount": (2, 35, 1, PERCENT),
    "node_price": (20000, 250000, 0, {"{} USD": 1, "{} USD/node": 1}),
    "network_price": (500, 9000, 0, USD_GPU),
    "installation": (1, 8, 1, PERCENT),
    "purchase_tax": (1, 12, 2, PERCENT),
    "build_price": (4000, 14000, 0, USD_KW),
    "facility_residual": (10, 80, 0, PERCENT),
    "migration_cost": (50_000, 2_000_000, 0, USD),
    "residual_value": (3, 30, 1, PERCENT),
    "load_power": (450, 1500, 0, WATT),
    "idle_power": (60, 250, 0, WATT),
    "host_power": (50, 400, 0, WATT),
    "network_power": (10, 120, 1, WATT),
    "pue": (1, 2, 3, PLAIN),
    "cooling_share": (40, 100, 0, PERCENT),
    "electricity_price": ("0.02", "0.30", 4, {"{} USD/kWh": 1, "{} USD/MWh": 1000}),
    "electricity_escalation": (-5, 9, 1, PERCENT_YEAR),
    "demand_charge": (2, 25, 2, USD_KW_MONTH),
    "water_use": ("0.2", "3", 2, {"{} L/kWh": 1, "{} L/MWh": 1000}),
    "water_price": ("0.5", "9", 2, {"{} USD/m3": 1}),
    "colo_rate": (80, 260, 1, USD_KW_MONTH),
    "colo_escalation": (-4, 7, 1, PERCENT_YEAR),
    "support": (1, 12, 1, PERCENT_YEAR),
    "software_licence": (200, 5000, 0, {"{} USD/yr": 1, "{} USD/gpu/yr": 1}),
    "engineers": (1, 12, 1, {"{}": 1, "{} FTE": 1}),
    "engineer_cost": (90_000, 400_000, 0, {"{} USD/yr": 1, "{} USD/FTE/yr": 1}),
    "wage_growth": (-2, 7, 1, PERCENT_YEAR),
    "failure_rate": (1, 12, 1, PERCENT_YEAR),
    "repair_cost": (10, 150, 0, PERCENT),
    "throughput": (600, 9000, 1, SPEED),
    "decode_throughput": (800, 9000, 1, SPEED),
    "prefill_throughput": (5000, 60000, 0, SPEED),
    "input_tokens": (128, 9000, 0, TOKEN),
    "output_tokens": (64, 2048, 0, TOKEN),
    "utilization": (20, 95, 1, PERCENT),
    "availability": (90, "99.9", 2, PERCENT),
    "scaling_efficiency": (75, 99, 1, PERCENT),
    "delivered": (50, 98, 1, PERCENT),
    "wacc": (2, 15, 2, PERCENT_YEAR),
    "period": (1, 12, 0, {"{} month": 1}),
    "ramp": (1, 30, 0, {"{} month": 1}),
    "book_life": (2, 8, 1, YEARS),
    "facility_life": (2, 40, 0, YEARS),
    "tax_rate": (5, 40, 1, PERCENT),
    "tax_life": (2, 7, 1, YEARS),
    "bonus_depreciation": (10, 100, 0, PERCENT),
    "macrs_1": (5, 30, 2, PERCENT), "macrs_2": (5, 30, 2, PERCENT), "macrs_3": (5, 20, 2, PERCENT),
    "macrs_4": (2, 10, 2, PERCENT), "macrs_5": (1, 6, 2, PERCENT), "macrs_6": (0, 4, 2, PERCENT),
    "loan_share": (10, 100, 0, PERCENT),
    "loan_rate": (1, 14, 2, PERCENT_YEAR),
    "loan_term": (1, 7, 0, YEARS),
    "lease_rate": (1, 14, 2, PERCENT_YEAR),
    "lease_term": ("0.5", 7, 1, YEARS),
    "lease_payment": (100_000, 9_000_000, 0, {"{} USD/yr": 1}),
}
CHOICES = {"horizon": ["1", "2", "2.5", "3", "3.75", "4", "5", "0.5"],
           "accelerators_per_node": ["4", "8", "72"], "period": ["1", "2", "3", "4", "6"],
           "loan_rate": ["0", "4.5", "6.25", "9", "12.5"]}
CURRENCIES = {"EUR": ("0.90", "1.25", 4), "JPY": ("0.0062", "0.0095", 6), "CHF": ("1.00", "1.30", 3)}
WORDS = {"colo_power": ["metered", "included"], "tax_schedule": ["macrs", "straight"]}

ALWAYS = {"list_price", "pue", "electricity_price", "utilization", "engineer_cost"}
FACILITIES = {"plain": [], "own": ["build_price", "facility_residual"],
              "colo": ["colo_rate", "colo_escalation", "colo_power"]}
TAX = ["tax_schedule", "tax_life", "bonus_depreciation", *MACRS]
LOAN = ["loan_rate", "loan_term"]
LEASE = ["lease_rate", "lease_term", "lease_payment"]
ELSEWHERE = {"horizon", "period", "tax_rate", "loan_share", *TAX, *LOAN, *LEASE, "accelerators", "demand", "rental_rate", "throughput",
             "decode_throughput", "prefill_throughput", "input_tokens", "output_tokens"}
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
     lambda n: lambda r, t: n * r.peak_it_power),
]


def catalogue(path):
    """What the shipped table says of an accelerator: TDP and accelerators per node."""
    with open(path, newline="", encoding="utf-8") as file:
        return {row["id"]: {"load_power": float(row["tdp_w"]),
                            "accelerators_per_node": float(row["gpus_per_node"])}
                for row in csv.DictReader(file) if row["id"] in ACCELERATORS}


def draw(rng, name):
    if name in WORDS:
        return rng.choice(WORDS[name])
    if name in CHOICES:
        return Decimal(rng.choice(CHOICES[name]))
    low, high, decimals, _ = INPUTS[name]
    scale = 10 ** decimals
    return Decimal(rng.randint(int(Decimal(low) * scale), int(Decimal(high) * scale))) / scale


def plain(number):
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def spell(rng, name, value):
    if name in WORDS:
        return value
    form, factor = rng.choice(list(INPUTS[name][3].items()))
    return form.format(plain(value * Decimal(factor)))


class Draft:
    """A scenario being drawn: what stands in which section."""

    def __init__(self, rng, options):
        self.rng, self.options = rng, options
        self.common, self.workload = {}, {}

    def give(self, option, name):
        rented = "rental_rate" in option.given
        if not (rented and name in NOT_FOR_RENTED):
            option.given[name] = draw(self.rng, name)

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


def draw_facility(draft):
    """A hall that is there, one that is built, or colocation; never the last two together."""
    kind = draft.rng.choice(["plain", "own", "colo", "colo", "mixed"])
    if kind != "mixed":
        for name in FACILITIES[kind]:
            draft.place(name, always=name in ("colo_rate", "colo_power", "build_price"))
        return
    for option in draft.options:
        if "rental_rate" not in option.given:
            for name in FACILITIES[draft.rng.choice(list(FACILITIES))]:
                draft.give(option, name)


def draw_speed(draft):
    for option in draft.options:
        if draft.rng.random() < 0.6:
            draft.give(option, "throughput")
            continue
        for name in ("decode_throughput", "prefill_throughput"):
            draft.give(option, name)
        for name in ("input_tokens", "output_tokens"):
            draft.workload.setdefault(name, draw(draft.rng, name))


def draw_finance(draft):
    """Income tax and a loan, for all options or for some; what they need stands beside them."""
    rng = draft.rng
    taxed = rng.choice([[], draft.options[:1], draft.options])
    for option in taxed:
        for name in ["tax_rate", *(name for name in TAX if rng.random() < 0.5)]:
            draft.give(option, name)
    if taxed and rng.random() < 0.5:
        draft.common["bonus_depreciation"] = draw(rng, "bonus_depreciation")
    for option in draft.options:
        if rng.random() < 0.4 and "rental_rate" not in option.given:
            for name in LEASE[:rng.choice([2, 3])]:
                draft.give(option, name)
    borrowing = [option for option in draft.options if "rental_rate" not in option.given]
    if rng.random() < 0.4 or not borrowing:
        return
    for name in LOAN:
        draft.common[name] = draw(rng, name)
    for option in borrowing:
        draft.give(option, "loan_share")
        if rng.random() < 0.5:
            draft.give(option, rng.choice(LOAN))


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


def draw_own_items(rng):
    items = []
    for name, group, unit, formula, amount in rng.sample(OWN_ITEMS, rng.choice([0, 0, 1, 2, 3])):
        high = 500 if "USD" in formula else 40
        number = Decimal(rng.randint(1, high)) / 10
        label = name.replace("_", " ").capitalize()
        text = [f"[item {name}]", f"label = {label}", f"unit = {unit}", f"group = {group}",
                f"formula = {formula.format(plain(number))}"]
        items.append(SimpleNamespace(name=name, text=text,
                                     cost=(group, unit, amount(float(number)))))
    return items


def lines(rng, values, currency):
    def typed(name, value):
        text = spell(rng, name, value)
        in_usd = (id(values), name) in currency.dollars
        return text if in_usd else text.replace("USD", currency.code)

    text = [f"{name} = {typed(name, value)}" for name, value in values.items()]
    rng.shuffle(text)
    return [line + "   ; as agreed" if rng.random() < 0.1 else line for line in text]


def write_ini(draft, title, baseline, horizon, items, currency):
    rng = draft.rng
    head = ["[scenario]", f"title = {title}", "date = 2026-11-01"]
    head += [f"baseline = {baseline}"] if baseline else []
    head += lines(rng, horizon, currency)
    if currency.rate:
        head += [f"currency = {currency.code}",
                 f"exchange_rate = {plain(currency.rate)} USD/{currency.code}",
                 "exchange_rate.source = drawn", "exchange_rate.date = 2026-11-01"]
    shared = [[f"[{name}]"] + lines(rng, values, currency)
              for name, values in (("workload", draft.workload), ("common", draft.common))
              if values]
    options = [[f"[option {option.id}]", f"accelerator = {option.accelerator}"]
               + lines(rng, option.given, currency) for option in draft.options]
    own = [[line.replace("USD", currency.code) for line in item.text] for item in items]
    blocks = [head] + (shared + options if rng.random() < 0.7 else options + shared) + own
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def numbers(values, currency):
    """In the report's currency."""
    return {name: value if name in WORDS
            else float(value) / float(currency.rate) if (id(values), name) in currency.dollars
            else float(value) for name, value in values.items()}


def make(seed, accelerators):
    """.ini is the text; .options have .id, .inputs for the oracle, .given: non-default inputs."""
    rng = random.Random(seed)
    options = [SimpleNamespace(id=name, accelerator=rng.choice(ACCELERATORS), given={})
               for name in rng.sample(["alpha", "Beta", "gamma_2", "D4"], rng.choice([2, 3]))]
    draft = Draft(rng, options)
    for option in options:
        if rng.random() < 0.25:
            draft.give(option, "rental_rate")
    for name in INPUTS:
        if name not in ELSEWHERE:
            draft.place(name, always=name in ALWAYS)
    draw_sizes(draft)
    draw_facility(draft)
    draw_speed(draft)
    draw_finance(draft)
    horizon = {"horizon": draw(rng, "horizon")} if rng.random() < 0.85 else {}
    if rng.random() < 0.4:
        horizon["period"] = draw(rng, "period")
    items = draw_own_items(rng)
    baseline = rng.choice([None] + [option.id for option in options])
    sections = [horizon, draft.common, draft.workload]
    currency = draw_currency(seed, sections + [option.given for option in options])
    ini = write_ini(draft, f"random scenario {seed}", baseline, horizon, items, currency)
    shared = {}
    for values in sections:
        shared |= numbers(values, currency)
    return SimpleNamespace(
        ini=ini, months=float(horizon.get("period", 12)), baseline=baseline or options[0].id, items=[item.cost for item in items],
        rate=float(currency.rate or 0), options=[
            finish(option, shared | numbers(option.given, currency),
                   accelerators[option.accelerator]) for option in options])


def finish(option, given, catalogued):
    inputs = catalogued | given
    unused = set()
    if "rental_rate" in inputs:
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
    return SimpleNamespace(id=option.id, inputs=inputs, telling=telling)
