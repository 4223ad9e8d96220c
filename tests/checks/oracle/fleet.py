"""What an option has in service, what it buys when, and the tokens it serves: year by year, hour by hour.

`x` are an option's inputs as numbers (fractions, not percent), `r` its results so far. Series have an entry per
period: entry 0 is the purchase, followed by the periods of operation.
"""

import math

HOURS_PER_YEAR = 8760
DAYS_PER_YEAR = 365
MONTHS_PER_YEAR = 12
SECONDS_PER_HOUR = 3600
TOKENS_PER_MTOK = 1e6


def ceil(number):
    """Rounds up, but ignores the last bits of a float: 800 * 1.10 is 880, not 881."""
    return math.ceil(round(number, 9))


def growth(rate, years):
    return (1 + rate) ** years


class Stepped(list):
    """A list whose values follow one another every so many months rather than by year."""

    def __init__(self, values, months):
        super().__init__(values)
        self.months = months

    def each(self, changed):
        return Stepped(map(changed, self), self.months)


def first(value):
    return value[0] if isinstance(value, list) else value


def held(value, r, t):
    """An input in a period: of a list the value that holds when the period begins; the last one continues."""
    if not isinstance(value, list):
        return value
    number = r.months[t] // value.months if isinstance(value, Stepped) else r.year[t]
    return value[min(number, len(value) - 1)]


def time_line(x, r):
    """The last period may be shorter. `year` counts the years that are over when a period begins."""
    full = x.period / MONTHS_PER_YEAR
    begins = [full * number for number in range(ceil(x.horizon / full))]
    r.period = [0] + [min(full, x.horizon - begin) for begin in begins]
    r.elapsed = [0] + begins
    r.months = [0] + [round(x.period) * number for number in range(len(begins))]
    r.year = [math.floor(round(elapsed, 9)) for elapsed in r.elapsed]
    r.operation = range(1, len(r.period))


def ramped(begin, length, ramp):
    """The mean, over a time, of a use that grows from zero to one in the time `ramp`."""
    growing = max(0, min(begin + length, ramp) - begin)
    if not growing:
        return 1
    mean = (begin + growing / 2) / ramp
    return (mean * growing + length - growing) / length


def series(r, amount):
    """Zero at the purchase, then amount(t) in each period of operation."""
    return [0] + [amount(t) for t in r.operation]


def demand(x, r):
    """Demand in tokens per year."""
    r.demand = series(r, lambda t: held(x.demand, r, t) * TOKENS_PER_MTOK
                      * growth(x.demand_growth, r.year[t]))


def held_against(x):
    """The speed that a vendor's guarantee refers to."""
    return first(x.throughput) if x.decode_throughput is None else x.decode_throughput


def is_short(x):
    return held_against(x) < x.guaranteed_throughput * (1 - x.guarantee_tolerance)


def made_good(x):
    """Tokens after replacing what is too slow, over those without that: a token takes the guaranteed time."""
    if not x.replacement or not is_short(x):
        return 1
    before = 1 / first(x.throughput)
    after = before - 1 / held_against(x) + 1 / x.guaranteed_throughput
    return x.replacement * before / after + (1 - x.replacement)


def speed(x, r):
    """Tokens per accelerator-hour: at full speed, and at the planned utilization."""
    r.flat_out = [held(x.throughput, r, t) * growth(x.throughput_gain, year) * SECONDS_PER_HOUR
                  * x.availability * x.scaling_efficiency * x.delivered * made_good(x) for t, year in enumerate(r.year)]
    r.tokens_per_gpu = [each * held(x.utilization, r, t) for t, each in enumerate(r.flat_out)]


def needed(x, r, t):
    """Accelerators that serve a period's demand, in whole units: in a day's peak hour, if a day is given."""
    if x.day_profile is None:
        tokens_an_hour = r.demand[t] / HOURS_PER_YEAR
    else:
        tokens_an_hour = r.demand[t] / DAYS_PER_YEAR * max(x.day_profile)
    return ceil(tokens_an_hour / r.tokens_per_gpu[t] / x.purchase_unit) * x.purchase_unit


def lasts(x, r):
    """The whole periods that a purchase is in service for; without a life, all of them."""
    full = x.period / MONTHS_PER_YEAR
    return max(1, math.floor(round(x.life / full, 9))) if x.life else len(r.period)


def there(r, t):
    """The vintages that are in service in period t: the periods that they were bought for."""
    return [v for v in r.operation if v <= t < v + r.lasts]


def buy(r, wanted):
    """Of things of which wanted[t] are needed: how many are bought for each period, and how many there are."""
    bought, have = [0] * len(r.period), [0] * len(r.period)
    for t in r.operation:
        left = sum(bought[v] for v in there(r, t))
        bought[t] = max(0, wanted[t] - left)
        have[t] = left + bought[t]
    return bought, have


def in_service(x, r):
    """A typed number is kept in each year. Units bought for a demand stay when it falls, idle, until they are
    retired."""
    r.lasts = lasts(x, r)
    if x.accelerators is not None:
        r.needed = r.in_service = series(r, lambda t: held(x.accelerators, r, t))
    else:
        r.needed = series(r, lambda t: needed(x, r, t))
    r.accelerators = max(r.needed)
    r.nodes = ceil(r.accelerators / x.accelerators_per_node)
    at_once = x.purchase == "upfront"
    r.connected, r.installed = buy(r, series(r, lambda t: r.accelerators if at_once else r.needed[t]))
    if x.accelerators is None:
        r.in_service = r.installed


def purchases(x, r):
    """What is bought for a period, and what is there in it, spares included."""
    r.bought, r.stock = buy(r, series(r, lambda t: ceil(r.installed[t] * (1 + x.spares))))
    r.nodes_bought, _ = buy(r, series(r, lambda t: ceil(r.installed[t] / x.accelerators_per_node)))
    r.accelerators_bought = sum(r.bought)


def stretches(x, r, t):
    """The times within a period in which the same accelerators are there: when each begins, its length, the share of
    them. Only of the first purchase a part is late; it is missing in the same proportion in service and idle."""
    begin, end = r.elapsed[t], r.elapsed[t] + r.period[t]
    arrival = min(max(x.delivery_delay / MONTHS_PER_YEAR, begin), end)
    missing = x.late_share * r.installed[1] / r.installed[t]
    cut = [(begin, arrival - begin, 1 - missing), (arrival, end - arrival, 1)]
    return [stretch for stretch in cut if stretch[1] > 1e-12]


def deliver(x, r):
    """What is late serves nothing until it arrives; from then on all accelerators are in service."""
    ramp = x.ramp / MONTHS_PER_YEAR
    r.able = [[]]                                   # of each stretch: tokens that can be served, and its length
    for t in r.operation:
        r.able.append([(r.in_service[t] * there * r.tokens_per_gpu[t] * length * HOURS_PER_YEAR
                        * ramped(begin, length, ramp), length) for begin, length, there in stretches(x, r, t)])
    delay = x.delivery_delay / MONTHS_PER_YEAR - 1e-12
    r.first_delivered = series(r, lambda t: sum(length * (1 - x.late_share if begin < delay else 1)
                                                for begin, length, _ in stretches(x, r, t)) / r.period[t])
    r.delivered = series(r, lambda t: sum(length * there for _, length, there in stretches(x, r, t)) / r.period[t])
    r.in_service = [count * share for count, share in zip(r.in_service, r.delivered)]


def served(x, r):
    """No more than the demand is served, in any hour of the day; what exceeds the capacity may be bought."""
    r.capacity = series(r, lambda t: sum(tokens for tokens, _ in r.able[t]))
    if x.demand is None:
        r.fleet_tokens = r.tokens = r.capacity
        return
    shares = x.day_profile or [1]                   # without a day, all of it is one long hour
    r.demanded = series(r, lambda t: r.demand[t] * r.period[t])
    r.fleet_tokens, r.unmet, r.burst_tokens, r.headroom = [0], [0], [0], [0]
    bought = bool(x.burst_price or x.burst_rate)
    for t in r.operation:
        tokens = beyond = 0
        for able, length in r.able[t]:
            for share in shares:
                can, asked = able / len(shares), r.demand[t] * length * share
                tokens += min(can, asked)
                beyond += max(0, asked - can)
        r.fleet_tokens.append(tokens)
        r.burst_tokens.append(beyond if bought else 0)
        r.unmet.append(0 if bought else beyond)
        peak = r.demand[t] * max(shares) * len(shares)
        r.headroom.append(100 * (min(able / length for able, length in r.able[t]) / peak - 1))
    r.tokens = [own + more for own, more in zip(r.fleet_tokens, r.burst_tokens)]
    r.unmet_total = sum(r.unmet)
    r.headroom_least = min(r.headroom[1:])
    r.demand_met = 100 if bought else min(100, 100 + r.headroom_least)


def use(x, r):
    """Hours at full speed that an accelerator works in a period, and their share of the period."""
    r.busy_hours = series(r, lambda t: r.fleet_tokens[t] / r.flat_out[t] / r.in_service[t] if r.in_service[t] else 0)
    r.load = series(r, lambda t: 100 * r.busy_hours[t] / (r.period[t] * HOURS_PER_YEAR))
    r.gpu_hours = series(r, lambda t: r.in_service[t] * r.period[t] * HOURS_PER_YEAR)
    busy = sum(r.in_service[t] * r.busy_hours[t] for t in r.operation)
    r.average_load = 100 * busy / sum(r.gpu_hours)


def build(x, r):
    if x.demand is not None:
        demand(x, r)
    speed(x, r)
    in_service(x, r)
    purchases(x, r)
    deliver(x, r)
    served(x, r)
    use(x, r)
