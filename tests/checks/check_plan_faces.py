#!/usr/bin/python3
"""A plan's faces: sentence, CSV, calendar and charts show the answer's figures, and each figure explained is the sum of
the rows that derive it.

    check_plan_faces.py

PERTOKEN names the program.
Seconds: 2
"""
import csv
import io
import json
import pathlib
import re
import sys
import zipfile

import openpyxl

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / 'workbook'))
import fit  # noqa: E402
import xlsx  # noqa: E402
from support.plans import RENT, SHARES, check, check_all, cost_of, discrete, head, workloads, written
from support.program import BAD_INPUT, DONE, NO, near, run


def check_workbook(folder):
    path = written(folder, head() + workloads() + '[plan]\n')
    done = run('report', path, '-q', '-o', str(pathlib.Path(folder) / 'plan.xlsx'))
    check('the workbook', done.returncode == DONE, done.stderr)


def check_book(folder):
    """The calendar has the answer's contents, and each chart the cells of its table."""
    path, out = written(folder, head() + workloads() + SHARES + '[plan]\n'), str(pathlib.Path(folder) / 'book.xlsx')
    done = run('plan', path, '-q', '-o', out)
    check('a book', done.returncode == DONE, done.stderr)
    tables = json.loads(run('plan', path, '-q', '--format', 'json').stdout)['answers'][0]['tables']
    book = openpyxl.load_workbook(out)
    check('its sheets', book.sheetnames == ['Plan', 'Calendar', 'Fleet', 'Cash', 'Books'], book.sheetnames)
    shown = [[cell.value for cell in row[:9]] for row in book['Calendar'].iter_rows() if row[3].value in ('x', 'y')]
    wanted = [[row[key] for key in ('order_by', 'serves_from', 'until', 'option', 'vendor', 'how', 'accelerators', 'price', 'outlay')]
              for row in tables['calendar']['rows']]
    check('its orders and prices', len(shown) == len(wanted) and all(
        a == b or near(a, b, 1e-9) for one, other in zip(shown, wanted) for a, b in zip(one, other)), (shown, wanted))
    signed = [row[0].value for row in book['Calendar'].iter_rows() if 'Signature' in str(row[0].value)]
    check('room to sign', len(signed) == 2 and all('Date' in line for line in signed), signed)
    page, fits = book['Calendar'].page_setup, book['Calendar'].sheet_properties.pageSetUpPr.fitToPage
    check('on one page', fits and page.fitToHeight in (None, 1) and page.fitToWidth in (None, 1), (fits, page.fitToHeight, page.fitToWidth))
    check('what does not fit', not list(fit.problems(xlsx.read(pathlib.Path(out)))), list(fit.problems(xlsx.read(pathlib.Path(out)))))
    with zipfile.ZipFile(out) as archive:
        charts = [archive.read(name).decode() for name in sorted(archive.namelist()) if name.startswith('xl/charts/chart')]
    drawn = [formula for chart in charts for formula in re.findall(r'<c:val>.*?<c:f>(.*?)</c:f>', chart, re.S)]
    check('its charts', len(charts) == 4 and len(drawn) == 8, drawn)
    wanted = [[row[key] for row in tables['accelerators']['rows']] for key in ('nvidia', 'amd')]
    wanted += [[row[key] for row in tables['tokens']['rows']] for key in ('nvidia', 'amd', 'spare')]
    wanted += [[row[key] for row in tables['fleet']['rows']] for key in ('x', 'y')]
    for row, all_of_it in zip(tables['accelerators']['rows'], tables['fleet']['rows']):
        check('the vendors have the fleet', (row['nvidia'], row['amd']) == (all_of_it['x'], all_of_it['y']), (row, all_of_it))
    for row in tables['tokens']['rows']:
        check('the vendors serve the demand', near(row['nvidia'] + row['amd'], row['demand'], 1e-9) and row['spare'] >= 0, row)
    check('labels below the bars of what is sold', charts[-1].count('<c:tickLblPos val="low"/>') == 1, charts[-1])
    wanted.append([row['cash'] for row in tables['cash']['rows'][:-1]])
    for formula, values in zip(drawn, wanted):
        sheet, cells = formula.split('!')
        found = [cell.value for (cell,) in book[sheet][cells.replace('$', '')]]
        check('a series', len(found) == len(values) and all(near(a, b, 1e-6) for a, b in zip(found, values)), (formula, found, values))
    done = run('plan', path, '-q', '-o', '/dev/null/x.xlsx')
    check('nowhere to write', done.returncode not in (DONE, NO) and done.stderr, done.stderr)
    unserved = written(folder, head() + workloads() + '[plan]\nsite_power = 0.02 MW\n')
    check('a book of what lacks', run('plan', unserved, '-q', '-o', out).returncode == NO and openpyxl.load_workbook(out).sheetnames == ['Plan'])


def check_faces(folder):
    path = written(folder, head() + workloads() + '[plan]\n')
    shown, rows = run('plan', path, '-q'), run('plan', path, '-q', '--format', 'csv')
    document = json.loads(run('plan', path, '-q', '--format', 'json').stdout)['answers'][0]
    check('the sentence', ' '.join(document['answer'].split()) in ' '.join(shown.stdout.split()), shown.stdout)
    costs = [row for row in csv.DictReader(io.StringIO(rows.stdout)) if row['table'] == 'proof' and row['column'] == 'value']
    check('CSV', near(float(costs[0]['value']), cost_of(document), 1e-12), costs)
    check('explain', run('explain', path, 'plan.portfolio', '-q').returncode == DONE)


EXPLAINED = (
    lambda: head() + workloads() + SHARES + RENT + '[plan]\n',
    lambda: (head(y='').replace('residual_value = 30 %\n', 'resale = 70, 20 %\ntax_rate = 25 %\nbook_life = 18 month\nlife = 1 yr\n')
             .replace('load_power = 1000', 'discount = 6 % from 12 gpu, 10 % from 25 gpu\nspares = 5 %\nload_power = 1000')
             + workloads('growth = 150 %/yr', 'growth = -45 %/yr') + '[plan]\n'),
    lambda: discrete(1000, 1250)[0],
    lambda: (head('1 yr', '3 month').replace('[common]', 'input_tokens = 1000 token\noutput_tokens = 500 token\n[common]')
             + '[option api]\ninput_price = 0.2 USD/Mtok\noutput_price = 0.6 USD/Mtok\ndemand = 100 Mtok/yr\n'
             + workloads('', '') + '[supply x]\navailable = 6 month\n[supply y]\navailable = 6 month\n[plan]\nsite_power = 3 MW\n'))


def sums(what, rows, wanted, *pairs):
    """For pairs of (their column, the total's): the rows add up to the total, to 1e-9 of what is added."""
    for part, whole in pairs:
        found = [row.get(part, 0) for row in rows]
        scale = sum(abs(value) for value in found) + abs(wanted[whole])
        check(f'{what}: {part}', abs(sum(found) - wanted[whole]) <= 1e-9 * scale, (found, wanted))


def check_explained_costs(tables, cost):
    purchases, cash = tables['purchase_parts']['rows'], tables['cash_parts']['rows']
    worth = 0
    for i, row in enumerate(purchases):
        key = [row[name] for name in ('serves_from', 'until', 'option')]
        if row['part'] == 'together':
            parts = [other for other in purchases[:i] if other['part'] != 'together' and [other[name] for name in ('serves_from', 'until', 'option')] == key]
            sums('a purchase', parts, row, ('paid', 'paid'), ('discounted', 'discounted'))
            worth += row['discounted']
    for row in tables['cash']['rows'][:-1]:
        parts = [part for part in cash if part['when'] == row['when'] and part['part'] != 'together']
        sums('a date', parts, row, ('cash', 'cash'), ('discounted', 'discounted'))
        check('its factor', all(near(part['cash'] * part['factor'], part['discounted'], 1e-12) for part in parts), parts)
    proof = {row['part']: row for row in tables['proof_parts']['rows']}
    whole = proof['together: the cost of the plan']
    check('the cost of the plan', near(whole['value'], cost, 1e-9), (whole, cost))
    sums('its parts', [row for row in tables['proof_parts']['rows'][:-3]], whole, ('value', 'value'))
    check('its purchases', near(proof['purchases and rents']['value'], worth, 1e-9) or not worth, (proof, worth))
    check('bound and gap', near(proof['what a plan could save at most']['value'], cost + proof['less the bound']['value'], 1e-9), proof)
    check('what was solved again', all(near(row['cost'] - row['planned'], row['difference'], 1e-9) and row['planned'] == cost
                                       for row in tables['solved_again']['rows'] if not isinstance(row['cost'], str)), tables['solved_again'])
    used = {row['option'] for row in tables['load']['rows']}
    again = {row['choice']: row for row in tables['solved_again']['rows']}
    without = {option: again.get(f'without {option}') for option in used}
    check('why each option', all(without.values()), (again, used))
    check('no option is bought for nothing', all(row['difference'] >= -1e-6 * cost for row in without.values() if not isinstance(row['cost'], str)), without)
    for row in tables['prices']['rows']:
        other = again[f"without {row['constraint']}"]
        saved, slack = -(other['difference'] or 0), 1e-6 * cost
        within = row['price_least'] - slack <= saved <= row['price_most'] + slack  # of spares, more is paid than counted
        check('a price', within if row['price'] is None and saved else abs(saved - (row['price'] or 0)) <= slack, (other, row))


def check_explained_load(tables):
    options = [option for option in ('x', 'y', 'cloud', 'api') if option in tables['fleet']['rows'][0]]
    for row in tables['fleet']['rows']:
        parts = [part for part in tables['fleet_parts']['rows'] if part['period'] == row['period']]
        sums('a period', parts, row, ('outlay', 'outlay'), ('power', 'power'))
        for option in options:
            of_it = [part for part in parts if part['option'] == option]
            sums('what is there', of_it, row, ('there', option))
            check('came and went', all(near(part['before'] - part['gone'] + part['bought'], part['there'], 1e-9) for part in of_it), of_it)
        sums('its tokens', [part for part in tables['load']['rows'] if part['period'] == row['period']], row, ('tokens', 'tokens'))
    for row in tables['load']['rows']:
        check('tokens', near(row['demand'] * row['share'] / 100, row['tokens'], 1e-9), row)
        check('nodes', row['capacity'] is None or near(row['tokens'] / row['capacity'], row['busy_nodes'], 1e-9), row)
    for row in tables['tokens']['rows']:
        sums('spare', [part for part in tables['spare_parts']['rows'] if part['period'] == row['period']], row, ('spare', 'spare'))
    for row in tables['spare_parts']['rows']:
        check('what is spare', row['held'] is None or abs(row['served'] * (row['there'] / row['held'] - 1) - row['spare']) <= 1e-6 * row['served'], row)
    for row in tables['books']['rows'][:-1]:
        parts = [part for part in tables['vintages']['rows'] if part['when'] == row['when']]
        sums('books', parts, row, *((name, name) for name in ('depreciation', 'written_off', 'book_value')))


def check_explained_draws(tables):
    for choice, key in (('the best, knowing each draw', 'best'), ('first order as planned', 'first_order'),
                        ('its regret: more than the best', 'regret'), ('every order as planned', 'whole_plan'), ('more than the best', 'excess')):
        row = next(row for row in tables['uncertainty']['rows'] if row['choice'] == choice)
        found = [draw[key] for draw in tables['draws']['rows'] if draw[key] is not None]
        check(f'draws of {key}', abs(sum(found) / len(found) - row['mean']) <= 1e-9 * abs(row['mean']) + 1e-6, (row, sum(found) / len(found)))
    for row in tables['commitments']['rows']:
        enough = sum(-(-(draw[row['option']] - 1e-6) // 8) * 8 >= row['planned'] for draw in tables['draws']['rows'])
        check('right in so many', near(100 * enough / len(tables['draws']['rows']), row['enough'], 1e-9), (row, enough))


def check_explained(folder):
    """Each figure is the sum of the rows that derive it, for any plan."""
    for i, text in enumerate(EXPLAINED):
        path = written(folder, text())
        done = run('plan', path, '-q', '--explain', '--format', 'json')
        check(f'explained {i}', done.returncode == DONE, done.stderr)
        tables = json.loads(done.stdout)['answers'][0]['tables']
        check_explained_costs(tables, tables['proof']['rows'][0]['value'])
        check_explained_load(tables)
        if 'draws' in tables:
            check_explained_draws(tables)
    path = written(folder, EXPLAINED[0]())
    for table, derived in (('cash', 'cash_parts'), ('years', 'fleet_parts'), ('guide', 'load')):
        done = run('plan', path, '-q', f'--explain={table}', '--format', 'json')
        check(f'{table} alone', list(json.loads(done.stdout)['answers'][0]['tables']) == [table, derived], done.stdout[:200])
    done = run('plan', path, '-q', '--explain=books')
    check('books on a terminal', 'In the books' in done.stdout and 'Each purchase in the books' in done.stdout, done.stdout)
    for table in ('nothing', 'cash_parts'):
        done = run('plan', path, '-q', f'--explain={table}')
        check(f'--explain={table}', done.returncode == BAD_INPUT and f"a plan has no figures '{table}'; available: calendar" in done.stderr, done.stderr)
    done = run('plan', path, '-q', '--explain', '-o', str(pathlib.Path(folder) / 'explained.xlsx'))
    check('no workbook explains', done.returncode == BAD_INPUT and 'a workbook has no explanations' in done.stderr, done.stderr)
    unserved = written(folder, head() + workloads() + '[plan]\nsite_power = 0.02 MW\n')
    check('no plan to explain', run('plan', unserved, '-q', '--explain').returncode == NO)


if __name__ == '__main__':
    check_all((check_workbook, check_book, check_faces, check_explained))
