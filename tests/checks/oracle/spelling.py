"""Every input's range, and how its values are drawn and typed: in any unit that a user may use for it."""

from decimal import Decimal

from oracle.fleet import Stepped

# Spellings: what is typed, and how many of that unit make one of the input's own unit.
PLAIN = {"{}": 1}
PERCENT = {"{} %": 1, "{}%": 1}
PERCENT_YEAR = {"{} %/yr": 1}
GPUS = {"{}": 1, "{} gpu": 1}
USD = {"{} USD": 1}
USD_GPU = {"{} USD": 1, "{} USD/gpu": 1}
USD_GPU_HOUR = {"{} USD/gpu/h": 1, "{} USD/h": 1}
WATT = {"{} W": 1, "{} W/gpu": 1, "{} kW": "0.001", "{} kW/gpu": "0.001"}
USD_KW = {"{} USD/kW": 1, "{} USD/W": "0.001"}
USD_KW_MONTH = {"{} USD/kW/month": 1, "{} USD/kW/yr": 12}
USD_MTOK = {"{} USD/Mtok": 1, "{} USD/token": "0.000001"}
TOKEN = {"{} token": 1}
YEARS = {"{} yr": 1, "{} month": 12}
TIMES = {"{} day": 1, "{} h": 24}
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
    "purchase_unit": (4, 16, 0, GPUS),
    "rental_rate": (1, 6, 2, USD_GPU_HOUR),
    "on_demand_rate": (1, 6, 2, USD_GPU_HOUR),
    "burst_price": ("0.05", 4, 2, USD_MTOK),
    "burst_rate": (1, 9, 2, USD_GPU_HOUR),
    "discount": (2, 35, 1, PERCENT),
    "node_price": (20000, 250000, 0, {"{} USD": 1, "{} USD/node": 1}),
    "network_price": (500, 9000, 0, USD_GPU),
    "installation": (1, 8, 1, PERCENT),
    "purchase_tax": (1, 12, 2, PERCENT),
    "build_price": (4000, 14000, 0, USD_KW),
    "facility_residual": (10, 80, 0, PERCENT),
    "migration_cost": (50_000, 2_000_000, 0, USD),
    "residual_value": (3, 30, 1, PERCENT),
    "life": (1, 6, 2, YEARS),
    "resale": (1, 70, 1, PERCENT),
    "warranty": (0, 4, 2, YEARS),
    "lead_time": (1, 18, 1, {"{} month": 1}),
    "delivery_delay": ("0.3", "5.9", 1, {"{} month": 1}),
    "late_share": (1, 100, 0, PERCENT),
    "delay_damages": ("0.1", 3, 1, PERCENT),
    "delay_damages_per": (1, 30, 0, TIMES),
    "delay_damages_limit": (0, 20, 1, PERCENT),
    "delay_grace": (0, 60, 0, TIMES),
    "server_residual": (1, 25, 1, PERCENT),
    "network_residual": (1, 40, 1, PERCENT),
    "load_power": (450, 1500, 0, WATT),
    "prefill_power": (450, 1500, 0, WATT),
    "peak_power": (700, 2000, 0, WATT),
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
    "support_sum": (20_000, 4_000_000, 0, {"{} USD/yr": 1}),
    "installation_sum": (10_000, 3_000_000, 0, USD),
    "purchase_tax_sum": (10_000, 3_000_000, 0, USD),
    "sums_cover": (8, 1800, 0, GPUS),
    "software_licence": (200, 5000, 0, {"{} USD/yr": 1, "{} USD/gpu/yr": 1}),
    "engineers": (1, 12, 1, {"{}": 1, "{} FTE": 1}),
    "engineer_cost": (90_000, 400_000, 0, {"{} USD/yr": 1, "{} USD/FTE/yr": 1}),
    "wage_growth": (-2, 7, 1, PERCENT_YEAR),
    "failure_rate": (1, 12, 1, PERCENT_YEAR),
    "repair_cost": (10, 150, 0, PERCENT),
    "throughput": (600, 9000, 1, SPEED),
    "decode_throughput": (800, 9000, 1, SPEED),
    "remedy": ("0.2", 4, 2, PERCENT),
    "production_throughput": (10, 60, 1, SPEED),
    "guaranteed_throughput": (800, 9000, 1, SPEED),
    "guarantee_tolerance": (0, 9, 1, PERCENT),
    "remedy_limit": (1, 25, 1, PERCENT),
    "replacement": (10, 100, 0, PERCENT),
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
    "server_book_life": (1, 6, 2, YEARS),
    "network_book_life": (2, 9, 1, YEARS),
    "facility_life": (2, 40, 0, YEARS),
    "tax_rate": (5, 40, 1, PERCENT),
    "tax_life": (2, 7, 1, YEARS),
    "bonus_depreciation": (10, 100, 0, PERCENT),
    "macrs_1": (5, 30, 2, PERCENT), "macrs_2": (5, 30, 2, PERCENT), "macrs_3": (5, 20, 2, PERCENT),
    "macrs_4": (2, 10, 2, PERCENT), "macrs_5": (1, 6, 2, PERCENT), "macrs_6": (0, 4, 2, PERCENT),
    "loan_share": (10, 100, 0, PERCENT),
    "loan_rate": (1, 14, 2, PERCENT_YEAR),
    "loan_term": ("0.4", 7, 1, YEARS),
    "lease_rate": (1, 14, 2, PERCENT_YEAR),
    "lease_term": ("0.5", 7, 1, YEARS),
    "lease_payment": (100_000, 9_000_000, 0, {"{} USD/yr": 1}),
    "demand_growth": (-40, 90, 0, PERCENT_YEAR),
    "throughput_gain": (-10, 40, 1, PERCENT_YEAR),
    "price_decline": (-8, 30, 1, PERCENT_YEAR),
    "rent_decline": (-5, 35, 1, PERCENT_YEAR),
    "inflation": (-2, 9, 1, PERCENT_YEAR),
    "grid_intensity": (20, 800, 0, {"{} g/kWh": 1, "{} kg/MWh": 1}),
    "embodied_carbon": (80, 1500, 0, {"{} kg": 1, "{} kg/gpu": 1}),
    "site_power": ("0.2", 20, 2, {"{} MW": 1, "{} kW": 1000}),
    "reserved_share": (10, 60, 0, PERCENT),
    "spot_share": (5, 40, 0, PERCENT),
    "spot_rate": ("0.4", 3, 2, USD_GPU_HOUR),
    "interruption": (2, 30, 1, PERCENT),
    "day_profile": (0, 100, 1, PERCENT),
    "input_price": ("0.05", 3, 3, USD_MTOK),
    "cached_input_price": ("0.01", 1, 3, USD_MTOK),
    "output_price": ("0.2", 15, 2, USD_MTOK),
    "api_discount": (0, 60, 1, PERCENT),
    "cache_hit": (5, 90, 1, PERCENT),
    "cached_work": (1, 30, 0, PERCENT),
    "token_price_input": ("0.05", 2, 2, USD_MTOK),
    "token_price_cached": ("0.01", 1, 2, USD_MTOK),
    "token_price_output": ("0.3", 9, 2, USD_MTOK),
    "sold_share": (0, 100, 0, PERCENT),
}
CHOICES = {"horizon": ["1", "2", "2.5", "3", "3.75", "4", "5", "0.5"],
           "accelerators_per_node": ["4", "8", "72"], "period": ["1", "2", "3", "4", "6"],
           "loan_rate": ["0", "4.5", "6.25", "9", "12.5"]}
CURRENCIES = {"EUR": ("0.90", "1.25", 4), "JPY": ("0.0062", "0.0095", 6), "CHF": ("1.00", "1.30", 3)}
WORDS = {"colo_power": ["metered", "included"], "tax_schedule": ["macrs", "straight"],
         "purchase": ["staged", "upfront"], "prefill_includes_hits": ["yes", "no"], "day_profile": ["flat", "office", "consumer"]}


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
    """A value as a user types it. In a list, entries without a unit have that of the last one."""
    if value in WORDS.get(name, []):
        return value
    forms = list(INPUTS[name][3].items())
    form, factor = rng.choice(forms)
    if not isinstance(value, list):
        return form.format(plain(value * Decimal(factor)))
    if isinstance(value, Stepped):
        years = value.months % 12 == 0 and rng.random() < 0.5
        step = f"{value.months // 12} yr" if years else f"{value.months} month"
        return f"{spell(rng, name, list(value))} every {step}"
    if len(value) > 5 or rng.random() < 0.7:  # a line has 199 bytes
        return ", ".join([plain(each * Decimal(factor)) for each in value[:-1]]
                         + [form.format(plain(value[-1] * Decimal(factor)))])
    return ", ".join(spell(rng, name, each) for each in value)


def draw_list(rng, name):
    return [draw(rng, name) for _ in range(rng.randint(2, 5))]
