"""The finance views in plain Python, from their description alone: books, tax, loan, lease, and what the more expensive
of two purchases earns back.

`x` are an option's inputs as numbers (fractions, not percent; years), `r` its results so far. Where the program has
closed formulas, this steps through the years or the installments.
"""

from itertools import accumulate
from math import exp

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
    """The same for hardware that may be retired earlier: the remainder is written off in the period in which it
    goes."""
    bought_for = next(t for t in r.operation if abs(r.elapsed[t] - since) < 1e-9)
    goes = bought_for + r.lasts - 1
    written = [amount if t <= goes else 0 for t, amount in enumerate(straight(r, cost, life, since))]
    retired = [0] * len(written)
    if goes < len(written) - 1:
        retired[goes] = max(0, cost - sum(written))
    return written, retired


def left(costs, depreciation):
    """The part of the payments up to the end of each period that is not yet depreciated; rounding errors are
    removed."""
    values = [cost - written for cost, written in zip(accumulate(costs), accumulate(depreciation))]
    return [0 if abs(value) < 1e-9 * sum(costs) else value for value in values]


def once(r, cost):
    """What is paid initially."""
    return [cost] + [0] * (len(r.period) - 1)


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


def deducted(x, r, cost, since):
    """What is deducted for a purchase in each period, and the rest in the period in which it is retired."""
    bought_for = next(t for t in r.operation if abs(r.elapsed[t] - since) < 1e-9)
    goes = bought_for + r.lasts - 1
    shares = [share if t <= goes else 0 for t, share in enumerate(tax_shares(x, r, since))]
    rest = [cost * (1 - sum(shares)) if t == goes < len(shares) - 1 else 0 for t in range(len(shares))]
    return [cost * share for share in shares], rest


def tax(x, r):
    hardware, disposed = [0] * len(r.period), [0] * len(r.period)
    for cost, (_, end) in zip(r.purchases, spans(r)):
        if cost:
            for whole, amounts in zip((hardware, disposed), deducted(x, r, cost, end)):
                whole[:] = [a + b for a, b in zip(whole, amounts)]
    facility = straight(r, r.facility_cost, x.facility_life)
    r.tax_depreciation = [a + b for a, b in zip(hardware, facility)]
    gone = [a + b for a, b in zip(hardware, disposed)]
    r.tax_value = [a + b for a, b in zip(left(r.purchases, gone),
                                         left(once(r, r.facility_cost), facility))]
    r.tax_deduction = [cost + written + rest + sold for cost, written, rest, sold
                       in zip(r.opex, r.tax_depreciation, disposed, r.residual)]
    r.tax_deduction[1] += x.migration_cost
    r.tax_deduction[-1] += r.tax_value[-1]
    r.tax_shield = [amount * x.tax_rate for amount in r.tax_deduction]
    r.after_tax_cash = [cost - saved for cost, saved in zip(r.cash, r.tax_shield)]
    r.after_tax_total = sum(r.after_tax_cash)
    r.after_tax_npv = present_value(r, r.after_tax_cash)
    sold = x.sold_share if x.token_price_output else 1
    r.after_tax_price_per_mtok = (r.after_tax_npv / (1 - x.tax_rate)
                                  / (sold * present_value(r, r.tokens)) * 1e6) if sold else None


def accrued(rate, part):
    """The value of an annuity of one per period over a part of a period."""
    return ((1 + rate) ** part - 1) / rate if rate else part


def instalment(rate, count):
    """The payment that repays a debt of one in equal installments, the last of which may be for a part of a period."""
    whole = int(count + 1e-9)
    rest = max(count - whole, 0)
    worth = sum((1 + rate) ** -k for k in range(1, whole + 1)) + accrued(rate, rest) * (1 + rate) ** -(whole + rest)
    return 1 / worth


def one_loan(x, r, amount, drawn):
    """The debt, the interest and the payment in each period of a loan that is drawn when period `drawn` ends."""
    full = x.period / 12
    rate, count = x.loan_rate * full, x.loan_term / full
    each = amount * instalment(rate, count)
    owed, over = amount, 0
    steps = [(0, 0, 0)] * drawn + [(owed, 0, 0)]
    for length in r.period[drawn + 1:]:
        part = max(0, min(length / full, count - over))
        due, interest = each * accrued(rate, part), owed * ((1 + rate) ** part - 1)
        owed, over = owed + interest - due, over + part
        if over > count - 1e-9:
            owed = 0
        steps.append((owed, interest, due))
    return steps


def summed(parts, columns):
    """For several loans or leases, each a list of tuples by period: the sums, as one list for each position in the
    tuples."""
    return [[sum(part[t][place] for part in parts) for t in range(columns)] for place in range(len(parts[0][0]))]


def loan(x, r):
    """A loan for each purchase, over its own term, whatever happens to the hardware."""
    r.loan_amount = r.capex * x.loan_share
    drawn = [cost * x.loan_share for cost in r.outlay]
    loans = [one_loan(x, r, amount, column) for column, amount in enumerate(drawn) if amount or not column]
    r.loan_balance, r.loan_interest, r.loan_payment = summed(loans, len(drawn))
    r.loan_instalment = max(r.loan_payment)
    r.loan_cash = [cost - borrowed + due for cost, borrowed, due in zip(r.cash, drawn, r.loan_payment)]
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


def one_lease(x, r, amount, signed):
    """Payment, liability, interest, depreciation of the right of use and its value, for a lease that begins when period
    `signed` ends."""
    full = x.period / 12
    payments = lease_payments(x, full)

    def worth(after):
        """For payments of one per year: their value at the time `after`, without those due then or earlier."""
        return sum(years / (1 + x.lease_rate) ** (when - after) for when, years in payments
                   if when > after + 1e-9)

    right = amount * (worth(0) + payments[0][1])
    begins, last = signed * full, len(r.period) - 1
    owed, written, steps = 0, 0, [(0, 0, 0, 0, 0)] * signed
    for t, (begin, end) in list(enumerate(spans(r)))[signed:]:
        age = t - signed
        interest = owed * ((1 + x.lease_rate) ** (end - begin) - 1)
        due = amount * payments[age][1] if t < last and age < len(payments) else 0
        owed = owed + interest if t == last else amount * worth(age * full)
        used = overlap(begin, end, begins, begins + x.lease_term) / x.lease_term
        used = used if used > 1e-12 else 0          # removes rounding errors
        written += used
        steps.append((due, owed, interest, right * used, right * (1 - written) if written < 1 - 1e-12 else 0))
    return steps


def lease(x, r):
    """A lease for each purchase of hardware, over its own term; a given payment covers all of them, by their prices."""
    unit = sum(years / (1 + x.lease_rate) ** when for when, years in lease_payments(x, x.period / 12))
    amount = x.lease_payment
    if amount is None:
        amount = r.lease_payment = r.hardware_cost / unit
    r.right_of_use = amount * unit
    hardware = r.hardware_paid[1:] + [0]
    leases = [one_lease(x, r, amount * price / r.hardware_cost, column)
              for column, price in enumerate(hardware) if price or not column]
    (r.lease_paid, r.lease_liability, r.lease_interest,
     r.right_of_use_depreciation, r.right_of_use_value) = summed(leases, len(hardware))
    r.lease_expense = [a + b for a, b in zip(r.lease_interest, r.right_of_use_depreciation)]
    r.lease_cash = [cost - price + due + sold for cost, price, due, sold
                    in zip(r.cash, hardware, r.lease_paid, r.sold)]
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


def root(flows, times):
    """The rate per year above zero at which the flows have no present value, by bisection of its logarithm."""
    def value(rate):
        return sum(flow * exp(-rate * time) for flow, time in zip(flows, times))

    low, high = 0.0, 1.0
    while value(high) > 0:
        high *= 2
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if value(middle) > 0 else (low, middle)
    return exp((low + high) / 2) - 1


def payback(flows, lengths):
    """The years after which the sum of the flows stays at or above zero; None if it ends below."""
    if flows[0] >= 0:
        return None
    found, total, years = None, flows[0], 0
    for flow, length in zip(flows[1:], lengths[1:]):
        if total < 0 <= total + flow:
            found = years - length * total / flow
        total, years = total + flow, years + length
    return found if total >= 0 else None


def difference(option, baseline):
    """An option compared with the baseline, at the baseline's output and discount rate: what compare reports about the
    two. Their periods are the same."""
    scale = baseline["tokens_total"] / option["tokens_total"]
    cash = [theirs - ours * scale for theirs, ours in zip(baseline["cash"], option["cash"])]
    if abs(cash[0]) < 1e-9 * abs(baseline["cash"][0]):
        cash[0] = 0                                 # the same purchase, except for rounding errors
    discounted = [amount * factor for amount, factor in zip(cash, baseline["discount_factor"])]
    sign = -1 if cash[0] > 0 else 1
    flows = [sign * amount for amount in cash]
    outlay = -flows[0]
    pays = flows[0] < 0 < sum(flows)
    purchase = max(baseline["cash"][0], scale * option["cash"][0])
    share = -flows[0] / purchase if purchase > 0 else 0
    minor = 0 < share < 0.01                        # too little for a rate of return to mean anything
    return {
        "dearer_purchase": sign,
        "extra_outlay": outlay,
        "outlay_share": 100 * share,
        "saved": sum(cash),
        "npv_saved": sum(discounted),
        "irr": 100 * root(flows, list(accumulate(option["period"]))) if pays and not minor else None,
        "payback": None if minor else payback(flows, option["period"]),
        "discounted_payback": None if minor else payback([sign * amount for amount in discounted], option["period"]),
    }
