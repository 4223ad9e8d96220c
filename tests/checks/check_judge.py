#!/usr/bin/python3
"""Which options are ranked, which is the cheapest, what is saved and what is a tie: one judge on
every face.

Every example and a table of made-up scenarios is shown by every face: compare's terminal, CSV and
JSON, the workbook (as written and, for some, recalculated by Gnumeric), the what-if page in a
browser, and simulate with ranges that change no cost. All must agree with model/scenario/ranking.h;
for the made-up ones, the table has the expected verdict.
Seconds: 40
"""
import json
import re
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import gnumeric  # noqa: E402
import harness  # noqa: E402
import xlsx  # noqa: E402
from support.program import Count, ROOT, Skip, expect, run, run_csv, run_json  # noqa: E402

# Rent only: an option's cost is its rent over its throughput, and eight accelerators of 1,000 token/s
# serve 126,144 Mtok a year. What is drawn changes nothing, as there are no engineers.
HEAD = """\
[scenario]
title = Made
date = 2026-11-01
horizon = 1 yr
baseline = {baseline}
[common]
accelerators = 8
accelerators_per_node = 8
utilization = 50 %
rental_rate = 2 USD/gpu/h
{common}
[range]
engineer_cost = uniform(100000, 200000) USD/FTE/yr
"""
OPTION = '[option {}]\naccelerator = h100-sxm5-80\n{}\n'
FP8, BF16 = '\nprecision = fp8', '\nprecision = bf16'
DEMAND = 'demand = 120000 Mtok/yr'
MIXED = ('--mixed',)


def serves(rate, more=''):
    return f'throughput = {rate} token/s{more}'


def decodes(rate, more=''):
    return f'decode_throughput = {rate} token/s{more}'


def rent(rate):
    return f'\nrental_rate = {rate} USD/gpu/h'


def buys(rate, watts, price=17520):
    """At the cost of a rent of 2 USD/gpu/h; the site's peak is ten times its watts (8 x PUE 1.25)."""
    return (f'throughput = {rate} token/s\nlist_price = {price} USD\nload_power = {watts} W\n'
            'electricity_price = 0 USD/kWh\npue = 1.25')


def less(cost):
    return f'{100 * (1 - cost):.12f}'


CHEAPER = serves(1250, rent(1.6))
# Owed for three quarters of the tokens: more than twice the price of the hardware.
PAID_FOR = f'{buys(1000, 700)}\nguaranteed_throughput = 4000 token/s\nremedy = 3 %'
SERVED = 63072 / 120000       # share of the demand, by eight accelerators of 500 token/s
RAMPED = 0.75 * 126144 / 120000  # by eight of 1,000 token/s with a ramp of half a year
UPPER = 'its throughput is decode only, an upper bound'
UNLIKE = "its workload differs from that of the baseline: precision:"
NONE_UNLIKE = 'nobody: the throughputs are not comparable'
NONE_FITS = "nobody: fewer than two options stay within the site power"
NONE_DOES = "nobody: fewer than two options serve the demand within the site power"
NONE_SERVES = 'nobody: fewer than two options serve the demand'
BEYOND = "its peak exceeds the site power by {} %"
HALF = 'at worst it serves 52.6 % of the demand'

# Name: (common lines, options a, b, ... the first of which is the baseline unless a key says
# otherwise; what follows them, arguments), and the verdict: * for the cheapest, the saving in % of
# one that is compared with the baseline, and in brackets why it is not ranked.
MADE = {
    'the second is cheaper': ('', (serves(1000), serves(1250)), '', (), 'a, b* 20'),
    'the baseline is cheaper': ('', (serves(1000), serves(800)), '', (), 'a*, b -25'),
    'the baseline is the last': ('', (serves(1250), serves(1000)), 'baseline = b', (), 'a* 20, b'),
    'a demand that a ramp falls short of': (
        f'{DEMAND}\nramp = 6 month', (serves(1000), serves(2000), serves(2000, rent(1.6))), '', (),
        f'a (at worst it serves 78.8 % of the demand, its ramp included), b {less(RAMPED)}, c* {less(0.8 * RAMPED)}'),
    'one option': ('', (serves(1000),), '', (), 'a; nobody: there is only one option'),
    'an exact tie': ('', (serves(1000), serves(1000)), '', (), 'a*, b* 0'),
    'a tie of two of three': ('', (serves(1000), serves(1250), serves(1250)), '', (),
                              'a, b* 20, c* 20'),
    'a tie in the last bits': ('', (serves(1000), serves(1000, rent('1.999999999999999'))), '', (),
                               'a*, b* 0'),
    'nearly a tie': ('', (serves(1000), serves(1000, rent('1.9999999'))), '', (), 'a, b* 0.000005'),
    'nearly free': ('', (serves(1000), serves(1000, rent('0.0005'))), '', (), 'a, b* 99.975'),
    'a case that flips the winner': ('', (serves(1000), serves(1250)),
                                     '[case dear]\nb.rental_rate = 4 USD/gpu/h',
                                     ('--case', 'dear'), 'a*, b -60'),
    'a case that makes a tie': ('', (serves(1000), serves(1250)),
                                '[case even]\nb.rental_rate = 2.5 USD/gpu/h',
                                ('--case', 'even'), 'a*, b* 0'),
    'a setting that flips the winner': ('', (serves(1000), serves(1250)), '',
                                        ('--set', 'b.rental_rate=4 USD/gpu/h'), 'a*, b -60'),
    'a baseline that costs less than nothing': ('', (PAID_FOR, serves(1250)), '', (), 'a*, b'),
    'an option that costs less than nothing': ('', (serves(1000), PAID_FOR, serves(1250)), '', (), 'a, b*, c 20'),
    'a discount rate that turns the verdict': ('wacc = 20 %/yr', (serves(1000), buys(1000, 700, 16000)), '', (),
                                               f'a, b* {less(16000 / 17520)}'),
    'alike with --mixed': ('', (serves(1000, FP8), serves(1250, FP8)), '', MIXED, 'a, b* 20'),
    'mixed precision': ('', (serves(1000, FP8), serves(1250, BF16)), '', MIXED,
                        f'a, b 20 ({UNLIKE} fp8 and bf16); {NONE_UNLIKE}'),
    'three of which the cheapest is unlike': (
        '', (serves(1000, FP8), serves(4000, BF16), serves(800, FP8)), '', MIXED,
        f'a*, b 75 ({UNLIKE} fp8 and bf16), c -25'),
    'a baseline that is unlike all others': (
        '', (serves(1000, BF16), serves(1250, FP8), serves(800, FP8)), '', MIXED,
        f'a, b 20 ({UNLIKE} bf16 and fp8), c -25 ({UNLIKE} bf16 and fp8); {NONE_UNLIKE}'),
    'a baseline that does not say': (
        '', (serves(1000), serves(1250, FP8), serves(2000, BF16), serves(800)), '', (),
        "a*, b 20 (its workload differs from that of c: precision: bf16 and fp8), "
        "c 50 (its workload differs from that of b: precision: fp8 and bf16), d -25"),
    'decoding alone beside serving': ('', (serves(1000), decodes(4000)), '', MIXED,
                                      f'a, b ({UPPER}); {NONE_UNLIKE}'),
    'decoding alone beside two that serve': (
        '', (serves(1000), decodes(4000), serves(1250)), '', MIXED, f'a, b ({UPPER}), c* 20'),
    'a baseline of decoding alone': (
        '', (decodes(1000), serves(1250), decodes(800)), '', MIXED,
        "a*, b (the baseline's throughput is decode only, an upper bound), c -25"),
    'all of decoding alone': ('', (decodes(1000), decodes(1250)), '', (), 'a, b* 20'),
    'tokens that nobody asked for are no merit': (
        DEMAND, (serves(1000), serves(1250)), '', (), 'a*, b* 0'),
    'all serve the demand': (DEMAND, (serves(1000), CHEAPER), '', (), 'a, b* 20'),
    'the cheapest does not serve the demand': (
        DEMAND, (serves(1000), serves(500, rent(0.5)), CHEAPER), '', (),
        f'a, b {less(0.25 / SERVED)} ({HALF}), c* 20'),
    'only the baseline serves the demand': (
        DEMAND, (serves(1000), serves(500)), '', (), f'a, b {less(1 / SERVED)} ({HALF}); {NONE_SERVES}'),
    'the baseline does not serve the demand': (
        DEMAND, (serves(500), serves(1000), CHEAPER), '', (),
        f'a ({HALF}), b {less(SERVED)}, c* {less(0.8 * SERVED)}'),
    'the demand is served exactly': (
        'demand = 126144 Mtok/yr', (serves(1000), serves(1000)), '', (), 'a*, b* 0'),
    'nearly all of the demand': (
        'demand = 126150 Mtok/yr', (serves(1000), serves(1250), CHEAPER), '', (),
        f'a (at worst it serves 99.9 % of the demand), b {less(126144 / 126150)}, c* {less(0.8 * 126144 / 126150)}'),
    'a case with more demand': (
        DEMAND, (serves(1000), serves(1250), CHEAPER), '[case more]\ndemand = 150000 Mtok/yr',
        ('--case', 'more'), 'a (at worst it serves 84.1 % of the demand), b 15.904, c* 32.7232'),
    'the cheapest exceeds the site': (
        'site_power = 0.0075 MW', (buys(1000, 700), buys(1000, 1000, 8760), CHEAPER), '', (),
        f'a, b 50 ({BEYOND.format(33.3)}), c* 36'),
    'a site is filled exactly': (
        'site_power = 7 kW', (buys(1000, 700), buys(1250, 700)), '', (), 'a, b* 20'),
    'beyond the site by next to nothing': (
        'site_power = 6999.9 W', (buys(1000, 700), buys(1000, 690), buys(1250, 600)), '', (),
        f'a ({BEYOND.format(0.1)}), b 0, c* 20'),
    'nobody keeps within the site': (
        'site_power = 1 kW', (buys(1000, 700), buys(1250, 800)), '', (),
        f'a ({BEYOND.format("600.0")}), b 20 ({BEYOND.format("700.0")}); {NONE_FITS}'),
    'unmet goes before the site': (
        f'{DEMAND}\nsite_power = 1 kW', (buys(500, 700), buys(1000, 700)), '', (),
        f'a ({HALF}), b {less(SERVED)} ({BEYOND.format("600.0")}); {NONE_DOES}'),
    'a case with less power': (
        'site_power = 1 MW', (buys(1000, 700), buys(1250, 1000), buys(1000, 600)),
        '[case less]\nsite_power = 8 kW', ('--case', 'less'),
        f'a*, b 20 ({BEYOND.format("25.0")}), c* 0'),
    'unlike goes before unmet': (
        DEMAND, (serves(1000, FP8), serves(500, BF16), serves(1250, rent(1.6) + FP8)), '', MIXED,
        f'a, b {less(1 / SERVED)} ({UNLIKE} fp8 and bf16), c* 20'),
}
RECALCULATED = ('a tie of two of three', 'nearly free', 'nearly all of the demand', 'a tie in the last bits', 'a case that flips the winner',
                'three of which the cheapest is unlike', 'the baseline does not serve the demand',
                'only the baseline serves the demand', 'the cheapest exceeds the site', 'unmet goes before the site')


def expected(text):
    """The verdict described by the table's text."""
    text, _, why_none = text.partition('; nobody: ')
    found = re.findall(r'(\w)(\*?)(?: (-?[\d.]+))?(?: \(([^)]*)\))?(?:, |$)', text)
    return {'cheapest': [option for option, star, *_ in found if star],
            'not_ranked': {option: why for option, _, _, why in found if why},
            'saving': {option: float(saving) / 100 for option, _, saving, _ in found if saving},
            'why_none': why_none}


# ---- the faces; each returns what it shows of a verdict

def of_json(scenario, arguments):
    told = run_json('compare', scenario, *arguments)
    return {'labels': {option['id']: option.get('label', option['id']) for option in told['options']},
            'warnings': told['warnings'], 'cheapest': told['cheapest'], 'not_ranked': told['not_ranked'],
            'saving': {option: saving for option, saving in told['saving'].items() if saving is not None},
            'why_none': told.get('why_none', '')}


def of_csv(scenario, arguments):
    rows = {(row['option'], row['item']): float(row['value'] or 'nan')
            for row in run_csv('compare', scenario, *arguments)
            if not row['period'] and row['item'] != 'label'}
    flagged = {name: [option for (option, item), value in rows.items() if (item, value) == name]
               for name in (('cheapest', 1), ('ranked', 0))}
    return {'cheapest': flagged['cheapest', 1], 'not_ranked': flagged['ranked', 0],
            'saving': {option: value for (option, item), value in rows.items() if item == 'saving' and value == value}}


def slices(line, ends):
    return [line[start:end].strip() for start, end in zip([0, *ends], ends)]


def of_terminal(scenario, arguments, labels):
    """The sentence, the table at the width that it needs, by the ends of its columns, and the
    notes."""
    done = run('compare', scenario, '-q', *arguments, environment={'COLUMNS': '400'})
    expect(done.returncode == 0, done.stderr)
    lines = done.stdout.splitlines()
    ids, names = list(labels), list(labels.values())
    head = next(line for line in lines if re.split('  +', line.strip()) == names)
    ends = [match.end() for match in re.finditer(r'\S+(?: \S+)*', head)]
    row = {re.split('  +', line)[0]: slices(line, ends) for line in reversed(lines)}
    costs = row['Cost per million output tokens']
    savings = next((cells for label, cells in row.items() if label.startswith('Saving against')
                    and 'levelized' not in label), ['-'] * len(ids))
    notes = re.sub(r'\n +', ' ', done.stdout[done.stdout.index('\n\n', done.stdout.index(head)):])
    sentence = ' '.join(done.stdout[:done.stdout.index(head)].rstrip().rsplit('\n\n', 1)[-1].split()).rstrip('.')
    sentence = sentence.partition(' at the base values')[0]
    told = dict(re.findall(r'^Not ranked: ([^:]+): (.*)', notes, re.M))
    told = {ids[names.index(name)]: why for name, why in told.items()}
    none = re.match(r'Not ranked: (.*)', sentence)
    star = re.search(r'^\* (.*)', notes, re.M)
    expect(not star or bool(told) == ('of the options that are ranked' in star.group(1)), notes)
    return {'cheapest': [option for option, cell in zip(ids, costs) if '* ' in cell],
            'not_ranked': told, 'why_none': none.group(1) if none else '',
            'saving': {option: float(cell.split()[-1].replace(',', '')) / 100
                       for option, cell in zip(ids, savings) if cell.split()[-1] not in ('-', '%')},
            'sentence': sentence}


def of_workbook(path, labels, read=None):
    """Outputs' rows by their keys; `read` has values other than those in the file."""
    ids, book = list(labels), xlsx.read(path)
    sheet, cover = book.sheets['Outputs'], book.sheets['Cover']
    rows = {sheet.text(row, 2): row for row in range(sheet.last_row(), 0, -1)}
    value = read or (lambda name, row, column: book.sheets[name].value(row, column))

    def cells(key):
        columns = range(4, 4 + len(ids))
        return dict(zip(ids, (value('Outputs', rows[key], column) for column in columns))) \
            if key in rows else {}
    not_ranked = [option for option, flag in cells('ranked').items() if flag == 0]
    if read is None and not_ranked:
        why = {option: sheet.text(rows['why_not_ranked'], 4 + ids.index(option))
               for option in not_ranked}
        not_ranked = why
    expect(len(ids) == 1 or 'ranked' in rows, 'Outputs does not say who is ranked')
    sentence = next((cover.text(row, 1) for row in range(3, 7)
                     if re.search(r'cost|ranked', cover.text(row, 1) or '')), '')
    return {'cheapest': [option for option, flag in cells('cheapest').items() if flag == 1],
            'not_ranked': not_ranked, 'cover': sentence,
            'saving': {option: saving for option, saving in cells('saving').items()
                       if isinstance(saving, float) and option != baseline_of(book, labels)}}


def baseline_of(book, labels):
    sheet = book.sheets['Outputs']
    label = next(sheet.text(row, 1) for row in range(1, sheet.last_row() + 1)
                 if sheet.text(row, 2) == 'saving') if len(labels) > 1 else list(labels.values())[0]
    return next(option for option, name in labels.items() if name == label.rpartition('against ')[2])


def of_simulation(scenario, arguments):
    """No draw changes a cost: every share is 0 or 1, and every percentile is the cost itself."""
    told = run_json('simulate', scenario, '--draws', 256, *arguments)
    shares, ranked = told['cheapest'], told['ranked']
    expect(set(ranked.values()) <= {0, 1}, f'ranked in some draws: {ranked}')
    expect(set(shares.values()) <= {0, 1, None}, f'the cheapest in some draws: {shares}')
    none = 'why_none' in told
    expect(all((share is None) == (none or not ranked[option]) for option, share in shares.items()),
           f'a share of one that is not ranked: {shares}')
    expect(told['undecided'] == none, f'{told["undecided"]} of the draws have no cheapest')
    expect(set(told['not_ranked']) == {option for option in ranked if not ranked[option]}, 'why')
    return {'cheapest': [option for option, share in shares.items() if share],
            'not_ranked': list(told['not_ranked']), 'why_none': told.get('why_none', ''),
            'saving': {outcome['option']: outcome['percentiles']['P50']
                       for outcome in told['outcomes'] if outcome['kind'] == 'saving'}}


def of_pages(addresses):
    """What each page shows, from one start of the browser."""
    driver = run(program=ROOT / 'tests' / 'checks' / 'page' / 'driver', timeout=None)
    if driver.returncode:
        raise Skip(driver.stdout.strip())
    done = run(ROOT / 'tests' / 'checks' / 'page' / 'verdicts.mjs', *addresses, program='node',
               timeout=None)
    expect(done.returncode == 0, done.stderr)
    return [{**told, 'saving': {option: saving / 100 for option, saving in told['saving'].items()}}
            for told in json.loads(done.stdout)]


# ---- one verdict

def agree(told, judged, face, slack):
    expect(list(told['cheapest']) == judged['cheapest'],
           f'{face}: the cheapest: {told["cheapest"]}, expected {judged["cheapest"]}')
    expect(list(told['not_ranked']) == list(judged['not_ranked']),
           f'{face}: not ranked: {told["not_ranked"]}, expected {judged["not_ranked"]}')
    if isinstance(told['not_ranked'], dict):
        expect(told['not_ranked'] == judged['not_ranked'],
               f'{face}: why: {told["not_ranked"]}, expected {judged["not_ranked"]}')
    expect(list(told['saving']) == list(judged['saving']),
           f'{face}: savings: {told["saving"]}, expected {judged["saving"]}')
    for option, saving in told['saving'].items():
        expect(abs(saving - judged['saving'][option]) <= slack,
               f'{face}: {option} saves {saving}, expected {judged["saving"][option]}')
    if 'why_none' in told:
        expect(told['why_none'] == judged['why_none'],
               f'{face}: why nobody: {told["why_none"]!r}, expected {judged["why_none"]!r}')


SHOWN = 0.00051  # a saving as shown, in tenths of a percent
EXACT = 1e-9


def check_sentence(told, judged, labels, face, words):
    """The sentence names all of the cheapest before the words, or says why there is none."""
    if judged['why_none']:
        said = f'not ranked: {judged["why_none"]}'
        expect(said in told.replace('Not', 'not').replace('The options are ', ''),
               f'{face}: {told!r} instead of {said!r}')
    else:
        named = told.split(words)[0]
        missing = [labels[option] for option in judged['cheapest']
                   if not re.search(rf'(?<![\w-]){re.escape(labels[option])}(?![\w-])', named)]
        expect(not missing, f'{face}: {told!r} names {named!r}, not {missing}')
        almost = any(0.9995 <= judged['saving'].get(option, 0) < 1 for option in judged['cheapest'])
        expect((', over 99.9 % less than ' in told) == almost, f'{face}: {told!r}')


class Show:
    """A scenario on every face."""

    def __init__(self, name, scenario, arguments, folder, judged=None):
        self.name, self.scenario, self.arguments, self.judged = name, scenario, arguments, judged
        self.folder, self.labels, self.sentence, self.warnings = folder, None, '', ()

    def path(self, ending):
        return Path(self.folder, re.sub(r'\W', '-', self.name) + ending)

    def judge(self):
        """compare's JSON shows the engine's verdict; all others are compared with it."""
        told = of_json(self.scenario, self.arguments)
        self.labels, self.warnings = told.pop('labels'), told.pop('warnings')
        if self.judged:
            agree(told, self.judged, 'JSON', EXACT)
        self.judged = told

    def in_csv(self):
        agree(of_csv(self.scenario, self.arguments), self.judged, 'CSV', EXACT)

    def on_terminal(self):
        told = of_terminal(self.scenario, self.arguments, self.labels)
        self.sentence = told.pop('sentence')
        if len(self.labels) == 1:
            told['why_none'] = self.judged['why_none']
        agree(told, self.judged, 'terminal', SHOWN)
        if not self.judged['why_none']:
            check_sentence(self.sentence, self.judged, self.labels, 'terminal', ' cost')

    def in_simulation(self):
        agree(of_simulation(self.scenario, self.arguments), self.judged, 'simulation', EXACT)

    def in_workbook(self):
        path = harness.report(self.scenario, self.path('.xlsx'), (*self.arguments, '--draws', 256))
        told = of_workbook(path, self.labels)
        agree(told, self.judged, 'workbook', EXACT)
        if len(self.labels) > 1:
            check_sentence(told['cover'], self.judged, self.labels, 'Cover', ' cost')
        if self.name in RECALCULATED and not gnumeric.missing():
            read = gnumeric.recalculate(path)
            agree(of_workbook(path, self.labels, read), self.judged, 'recalculated', EXACT)

    def write_page(self):
        done = run('page', self.scenario, '-q', '-o', self.path('.html'), *self.arguments)
        expect(done.returncode == 0, done.stderr)

    def on_page(self, told):
        agree(told, self.judged, 'page', SHOWN)
        if len(self.labels) > 1:
            check_sentence(told['answer'], self.judged, self.labels, 'page', ' cost')
            expect(told['answer'].startswith(self.sentence),
                   f'page: {told["answer"]!r} begins other than the terminal\'s {self.sentence!r}')
            turned = any(' by levelized cost ' in warning for warning in self.warnings)
            expect(told['detail'].startswith('By levelized cost ') == turned, f'page: {told["detail"]!r}, {self.warnings}')
            expect(turned == ('turns' in self.name) or 'examples' in self.name, f'{self.name}: {self.warnings}')


FACES = (Show.judge, Show.in_csv, Show.on_terminal, Show.in_simulation, Show.in_workbook,
         Show.write_page)


def made(name, folder):
    common, options, rest, arguments, verdict = MADE[name]
    baseline = 'b' if rest == 'baseline = b' else 'a'
    path = Path(folder, re.sub(r'\W', '-', name) + '.ini')
    path.write_text(HEAD.format(common=common, baseline=baseline) + ''.join(
        OPTION.format(option, keys) for option, keys in zip('abcd', options))
        + (rest if baseline == 'a' else ''))
    return Show(name, path, arguments, folder, expected(verdict))


def example(path, folder):
    """An example with a range that no cost depends on: the rate for levelized costs."""
    wrapped = Path(folder, f'{path.stem}.ini')
    rate = 'h100.wacc' if path.stem == 'rent-or-own' else 'wacc'
    wrapped.write_text(f'[scenario]\ninherits = {path}\n[range]\n{rate} = uniform(7, 9) %/yr\n')
    return Show(str(path.relative_to(ROOT)), wrapped, tuple(map(str, harness.places(path))), folder)


DRAWN = ('uncertainty.ini', 'growing-demand.ini')


def main():
    count = Count()
    with tempfile.TemporaryDirectory(prefix='pertoken-judge-') as folder:
        shows = [made(name, folder) for name in MADE]
        shows += [example(path, folder) for path in harness.EXAMPLES]
        for show in shows:
            for face in FACES:
                if face is Show.in_simulation and show.name.endswith(DRAWN):
                    continue  # its costs are drawn, and vary between draws
                if face is Show.on_terminal and show.name.endswith('growing-demand.ini'):
                    continue  # series over the years turn its table: options are rows
                count.test(f'{show.name}: {face.__name__}', face, show)
        try:
            pages = of_pages([show.path('.html') for show in shows])
        except Skip as reason:
            count.skip('pages', reason)
        else:
            for show, told in zip(shows, pages):
                count.test(f'{show.name}: on_page', Show.on_page, show, told)
    count.finish()


if __name__ == '__main__':
    main()
