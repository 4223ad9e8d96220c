"""The finance views in plain Python, from their description alone: books, tax, loan, lease, and
what the dearer of two purchases earns back.

`x` are an option's inputs as numbers (fractions, not percent; years), `r` its results so far.
Where the program has closed formulas, this steps through the years or the instalments.
"""

from itertools import accumulate

MACRS = [f"macrs_{year}" for year in range(1, 7)]


def overlap(start, end, begin, finish):
    return max(0, min(end, finish) - max(start, begin))


def spans(r):
    """(begin, end) of every period in years; the purchase is a moment."""
    return [(elapsed, elapsed + length) for elapsed, length in zip(r.elapsed, r.period)]


def present_value(r, series):
    return sum(amount * factor for amount, factor in zip(series, r.discount_factor))


def straight(r, cost, life, since=0):
    return [cost * overlap(begin, end, since, since + life) / life for begin, end in spans(r)]


def written_off(r, cost, life, since):
    """The same for what may be retired before: what is left is written off in the period in which it goes."""
    bought_for = next(t for t in r.operation if abs(r.elapsed[t] - since) < 1e-9)
    goes = bought_for + r.lasts - 1
    written = [amount if t <= goes else 0 for t, amount in enumerate(straight(r, cost, life, since))]
    retired = [0] * len(written)
    if goes < len(written) - 1:
        retired[goes] = max(0, cost - sum(written))
    return written, retired


def left(costs, depreciation):
    """Of what was paid by the end of each period, what is not yet depreciated; rounding leaves no crumbs."""
    values = [cost - written for cost, written in zip(accumulate(costs), accumulate(depreciation))]
    return [0 if abs(value) < 1e-9 * sum(costs) else value for value in values]


def once(r, cost):
    """What is paid at the outset."""
    return [cost] + [0] * (len(r.period) - 1)


def each_purchase(r, write_off, purchases=None):
    """What write_off(cost, since when) gives in each period, over all purchases (of hardware)."""
    parts = [write_off(cost, end) for cost, (_, end) in zip(purchases or r.purchases, spans(r)) if cost]
    return [sum(amounts) for amounts in zip(*parts)] if parts else [0] * len(r.period)


def net_present_value(x, r):
    r.npv_cost = present_value(r, r.cash)
    annuity = sum(factor * length for factor, length in zip(r.discount_factor, r.period))
    r.equivalent_annual_cost = r.npv_cost / annuity


def books(x, r):
    r.asset_basis = sum(r.purchases)
    lives = {"accelerator": x.book_life, "server": x.server_book_life, "network": x.network_book_life}
    columns = range(len(r.period))
    hardware, retired = [0] * len(columns), [0] * len(columns)
    for part, bought in r.capitalised.items():
        for cost, (_, end) in zip(bought, spans(r)):
            if cost:
                for whole, amounts in zip((hardware, retired), written_off(r, cost, lives[part], end)):
                    whole[:] = [a + b for a, b in zip(whole, amounts)]
    facility = straight(r, r.facility_cost, x.facility_life)
    r.book_depreciation = [a + b for a, b in zip(hardware, facility)]
    gone = [a + b for a, b in zip(hardware, retired)]
    r.book_value = [a + b for a, b in zip(left(r.purchases, gone),
                                          left(once(r, r.facility_cost), facility))]
    r.book_cost = [cost + written + lost - sold for cost, written, lost, sold
                   in zip(r.opex, r.book_depreciation, retired, r.sold)]
    r.book_cost[0] += x.migration_cost
    r.book_cost_total = sum(r.book_cost)
    r.book_value_left = r.book_value[-1]
    r.book_cost_per_mtok = r.book_cost_total / r.tokens_total * 1e6


def tax_shares(x, r, since):
    """The shares of the basis deducted in each period: bonus, then the table or a straight line."""
    def scheduled(begin, end):
        if x.tax_schedule == "straight":
            return overlap(begin, end, 0, x.tax_life) / x.tax_life
        return sum(getattr(x, name) * overlap(begin, end, year, year + 1)
                   for year, name in enumerate(MACRS))
    return [x.bonus_depreciation * overlap(begin - since, end - since, 0, 1)
            + (1 - x.bonus_depreciation) * scheduled(begin - since, end - since) for begin, end in spans(r)]


def tax(x, r):
    hardware = each_purchase(
        r, lambda cost, since: [cost * share for share in tax_shares(x, r, since)])
    facility = straight(r, r.facility_cost, x.facility_life)
    r.tax_depreciation = [a + b for a, b in zip(hardware, facility)]
    r.tax_value = [a + b for a, b in zip(left(r.purchases, hardware),
                                         left(once(r, r.facility_cost), facility))]
    r.tax_deduction = [cost + written for cost, written in zip(r.opex, r.tax_depreciation)]
    r.tax_deduction[1] += x.migration_cost
    r.tax_deduction[-1] += r.tax_value[-1] + r.residual[-1]
    r.tax_shield = [amount * x.tax_rate for amount in r.tax_deduction]
    r.after_tax_cash = [cost - saved for cost, saved in zip(r.cash, r.tax_shield)]
    r.after_tax_total = sum(r.after_tax_cash)
    r.after_tax_npv = present_value(r, r.after_tax_cash)
    r.after_tax_price_per_mtok = (r.after_tax_npv / (1 - x.tax_rate)
                                  / present_value(r, r.tokens) * 1e6)


def instalment(amount, rate, count):
    """What repays a debt in equal instalments: one over the sum of their discount factors."""
    return amount / sum((1 + rate) ** -k for k in range(1, count + 1))


def loan(x, r):
    full = x.period / 12
    rate = x.loan_rate * full
    count = round(x.loan_term / full)
    r.loan_amount = r.capex * x.loan_share
    r.loan_instalment = instalment(r.loan_amount, rate, count)
    owed, paid = r.loan_amount, 0
    r.loan_balance, r.loan_interest, r.loan_payment = [owed], [0], [0]
    for length in r.period[1:]:
        part = length / full if paid < count else 0     # of an instalment: the last may be cut
        grown = (1 + rate) ** part
        due = r.loan_instalment * ((grown - 1) / rate if rate else part)
        interest = owed * (grown - 1)
        owed, paid = owed + interest - due, paid + part
        if paid > count - 1e-9:
            owed = 0
        r.loan_balance.append(owed)
        r.loan_interest.append(interest)
        r.loan_payment.append(due)
    r.loan_cash = [cost + due for cost, due in zip(r.cash, r.loan_payment)]
    r.loan_cash[0] -= r.loan_amount
    r.loan_cash[-1] += r.loan_balance[-1]
    r.loan_interest_total = sum(r.loan_interest)
    r.loan_cash_total = sum(r.loan_cash)
    r.loan_npv = present_value(r, r.loan_cash)
    r.loan_cost_per_mtok = r.loan_cash_total / r.tokens_total * 1e6


def lease_payments(x, full):
    """(when, how many years it is for) of every payment of the contract, in advance."""
    payments, begin = [], 0
    while begin * full < x.lease_term - 1e-9:
        payments.append((begin * full, min(full, x.lease_term - begin * full)))
        begin += 1
    return payments


def lease(x, r):
    full = x.period / 12
    payments = lease_payments(x, full)

    def worth(after):
        """Of a payment of one a year, at the time `after`, without what is due then or before."""
        return sum(years / (1 + x.lease_rate) ** (when - after) for when, years in payments
                   if when > after + 1e-9)

    at_once = worth(0) + payments[0][1]
    amount = x.lease_payment
    if amount is None:
        amount = r.lease_payment = r.hardware_cost / at_once
    r.right_of_use = amount * at_once
    last = len(r.period) - 1
    r.lease_paid, r.lease_liability, r.lease_interest = [], [], []
    for t, length in enumerate(r.period):
        before = r.lease_liability[-1] if t else 0
        interest = before * ((1 + x.lease_rate) ** length - 1)
        due = amount * payments[t][1] if t < min(last, len(payments)) else 0
        r.lease_paid.append(due)
        r.lease_interest.append(interest)
        r.lease_liability.append(before + interest if t == last else amount * worth(t * full))
    used = [overlap(begin, end, 0, x.lease_term) / x.lease_term for begin, end in spans(r)]
    r.right_of_use_depreciation = [r.right_of_use * share for share in used]
    r.right_of_use_value = left(once(r, r.right_of_use), r.right_of_use_depreciation)
    r.lease_expense = [a + b for a, b in zip(r.lease_interest, r.right_of_use_depreciation)]
    r.lease_cash = [cost + due for cost, due in zip(r.cash, r.lease_paid)]
    r.lease_cash[0] -= r.hardware_cost
    r.lease_cash[-1] += r.lease_liability[-1] + r.hardware_residual
    r.lease_interest_total = sum(r.lease_interest)
    r.lease_cash_total = sum(r.lease_cash)
    r.lease_npv = present_value(r, r.lease_cash)
    r.lease_cost_per_mtok = r.lease_cash_total / r.tokens_total * 1e6


def views(x, r):
    net_present_value(x, r)
    books(x, r)
    if x.tax_rate is not None:
        tax(x, r)
    if x.loan_share:
        loan(x, r)
    if x.lease_rate:
        lease(x, r)


def root(flows):
    """The rate above zero at which the flows are worth nothing, by halving."""
    def value(rate):
        return sum(flow / (1 + rate) ** t for t, flow in enumerate(flows))

    low, high = 0.0, 1.0
    while value(high) > 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) > 0 else (low, middle)
    return (low + high) / 2


def payback(flows, lengths):
    """The years from which on the sum of the flows is not below zero; None if it ends below."""
    if flows[0] >= 0:
        return None
    found, total, years = None, flows[0], 0
    for flow, length in zip(flows[1:], lengths[1:]):
        if total < 0 <= total + flow:
            found = years - length * total / flow
        total, years = total + flow, years + length
    return found if total >= 0 else None


def difference(option, baseline, months):
    """An option against the baseline, at the baseline's output: what compare says of the two."""
    scale = baseline["tokens_total"] / option["tokens_total"]

    def saved(series):
        count = max(len(option[series]), len(baseline[series]))
        pad = [[*items[series], *[0] * (count - len(items[series]))] for items in (baseline, option)]
        return [theirs - ours * scale for theirs, ours in zip(*pad)]

    option = option | {"discounted": [a * b for a, b in zip(option["cash"], option["discount_factor"])]}
    baseline = baseline | {"discounted": [a * b for a, b in zip(baseline["cash"],
                                                                baseline["discount_factor"])]}
    cash, discounted = saved("cash"), saved("discounted")
    if abs(cash[0]) < 1e-9 * abs(baseline["cash"][0]):
        cash[0] = discounted[0] = 0                 # the same purchase, but for what rounding leaves
    sign = -1 if cash[0] > 0 else 1
    flows = [sign * amount for amount in cash]
    lengths = option["period"] + [0] * len(cash)
    pays = flows[0] < 0 < sum(flows)
    return {
        "dearer_purchase": sign,
        "extra_outlay": -flows[0],
        "saved": sum(cash),
        "npv_saved": sum(discounted),
        "irr": 100 * ((1 + root(flows)) ** (12 / months) - 1) if pays else None,
        "payback": payback(flows, lengths),
        "discounted_payback": payback([sign * amount for amount in discounted], lengths),
    }
