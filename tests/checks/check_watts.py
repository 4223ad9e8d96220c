#!/usr/bin/python3
"""Watts over time, from a meter to the workbook's chart.

The probe is started as its users start it, on a test GPU (stand_ins/plugins/metered.c) whose watts come from the
fake libnvidia-ml: none of that is kept. Its record's readings must add up to the energy of their window, and be in
the workbook, next to the datasheet's TDP; a gap must stay one, and where nothing was measured the workbook must say
so and draw nothing.
Deep: two random changes in the recalculation rather than one.
Seconds: 16
"""
import copy
import re
import shutil
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / 'workbook'))
import check_charts  # noqa: E402
import check_recalculation  # noqa: E402
import check_rules  # noqa: E402
import gnumeric  # noqa: E402
import harness  # noqa: E402
import libreoffice  # noqa: E402
import metered  # noqa: E402
import rules  # noqa: E402
import rules_of_figures  # noqa: E402
import xlsx  # noqa: E402
from subject import Subject  # noqa: E402
from support.probing import SCHEMA, probe, record_in, write_data  # noqa: E402
from support.program import (BAD_INPUT, Count, DEEP, PROBE, Skip, expect, expect_exit, near, run,  # noqa: E402
                             skip_all)
from support.records import digest_of, load, save  # noqa: E402

BUILD = PROBE.parent
PLUGIN = BUILD / 'tests' / 'metered' / 'metered.so'
LIBRARY = BUILD / 'tests' / 'fake' / 'libnvidia-ml.so'
TDP_W = 700.0
FEW_CHANGES = 2
ATTEMPTS = 3  # a machine too busy to read the meter for half a second makes a gap
SCENARIO = """\
[scenario]
title = Measured watts
date = 2026-11-20
baseline = metered
""" + check_charts.SITE + """accelerators_per_node = 8
list_price = 30000 USD

[option metered]
accelerator = h200-sxm-141
model = tiny
precision = bf16
scenario = decode
batch = 1
context = 512

[option typed]
accelerator = h200-sxm-141
throughput = 4000 token/s
"""


def has_gap(record):
    return any(None in window['power_w'] for window in record['results'][0]['readings'].values())


class Machine:
    """A folder with a catalogue, the plugin, the library and the probe's records."""

    def __init__(self, folder):
        self.folder, self.data = folder, folder / 'data'
        write_data(self.data)
        for source, target in ((PLUGIN, 'plugins/metered.so'), (LIBRARY, 'libraries/libnvidia-ml.so.1')):
            (folder / target).parent.mkdir()
            shutil.copy(source, folder / target)
        self.environment = {'PERTOKEN_PLUGINS': folder / 'plugins', 'LD_LIBRARY_PATH': folder / 'libraries'}
        for attempt in range(ATTEMPTS):
            self.record = self.measured(folder / f'records-{attempt}')
            if not has_gap(self.record):
                break

    def measured(self, folder):
        done = self.probe('run', '--device', 'cuda:0', '--model', 'tiny', '--data', self.data,
                          '--time', '0.3', '-o', folder)
        expect(done.returncode == 0, done.stderr)
        return load(record_in(folder))

    def probe(self, *arguments):
        return probe(*arguments, environment=self.environment)

    def scenario(self, name, record):
        """The scenario with a record of its own, for harness and the checks that use it."""
        records = self.folder / name
        records.mkdir()
        save(records / 'record.json', record)
        path = self.folder / f'{name}.ini'
        path.write_text(SCENARIO)
        harness.PLACES[path] = ['--measurements', records, '--data', self.data, '--mixed']
        return path

    def book(self, name, record):
        return xlsx.read(harness.report(self.scenario(name, record), self.folder / f'{name}.xlsx'))


def edited(record, change):
    """A copy of the record with a changed result; its digest is renewed when it is saved."""
    other = copy.deepcopy(record)
    change(other['results'][0])
    return other


def joules(window):
    starts = [0, *window['end_s']]
    return sum(power * (end - start) for start, end, power in
               zip(starts, window['end_s'], window['power_w']) if power is not None)


# ---- the record

def test_record(machine):
    record, result = machine.record, machine.record['results'][0]
    expect(record['schema'] == SCHEMA and record['digest'] == digest_of(record), 'header')
    expect(result['energy_meter'].startswith('nvml, 1 GPU: total energy'), result['energy_meter'])
    idle, load = result['readings']['idle'], result['readings']['load']
    for window in (idle, load):
        expect(30 <= len(window['power_w']) == len(window['end_s']) <= 240, len(window['power_w']))
        expect(window['end_s'] == sorted(set(window['end_s'])), 'times')
        expect(None not in window['power_w'] and window['sensed'], 'all of it was sensed')
    expect(all(80 < power < 100 for power in idle['power_w']), idle)
    expect(all(320 < power < 440 for power in load['power_w']), load)
    third = len(load['power_w']) // 3
    early, late = sum(load['power_w'][:third]) / third, sum(load['power_w'][-third:]) / third
    expect(early + 3 < late, f'it warms up: {early} W, then {late} W')
    expect(near(load['end_s'][-1], result['energy_window_s']), 'the window')
    expect(near(joules(load), result['sampled_power_w'] * result['energy_window_s']), 'the energy')
    expect(near(joules(load), result['energy_j'], 0.1), 'the counter')


def test_hand_edited_readings(machine):
    def more(result):
        result['readings']['load']['power_w'][7] *= 1.01
    path = machine.folder / 'edited.json'
    save(path, edited(machine.record, more))
    expect_exit(machine.probe('check', path), BAD_INPUT, 'the mean of the readings is not the window')


def test_joules_per_token(machine):
    """Watts and tokens per second are of the same seconds: at a PUE of 1 and full load they give the record's joules."""
    def slower_under_the_meter(result):
        result['window_tokens_per_s'] = 0.75 * result['tokens_per_s']
        result['joules_per_token'] = result['load_power_w'] / result['window_tokens_per_s']
    record = edited(machine.record, slower_under_the_meter)
    path = machine.scenario('joules', record)
    said = explained(path, 'metered.energy_per_token', '--set=pue=1', '--set=metered.utilization=100 %',
                     '--set=metered.host_power=0 W')
    joules = re.search(r'^energy_per_token = (\S+) J/token', said, re.M)
    expect(joules and near(float(joules[1]), record['results'][0]['joules_per_token'], 1e-9), said)


def explained(path, item, *arguments):
    done = run('explain', path, item, '-q', *arguments, *harness.places(path))
    expect(done.returncode == 0, done.stderr)
    return done.stdout


def test_explain(machine):
    path = machine.scenario('explained', machine.record)
    said = explained(path, 'metered.load_power')
    count = len(machine.record['results'][0]['readings']['load']['power_w'])
    expect(f'nvml, 1 GPU: total energy and instant power; {count} readings from ' in said, said)


def test_throughput_typed_over(machine):
    """As in a cell of the workbook: the watts stay. If no record fits, there are none to keep."""
    path = machine.scenario('over', machine.record)
    change = '--set=metered.decode_throughput=500 token/s/gpu'
    said = explained(path, 'metered.load_power', change)
    watts = re.search(r'^load_power = (\S+) W/gpu', said, re.M)
    expect(watts and near(float(watts[1]), machine.record['results'][0]['load_power_w']), said)
    expect('decode_throughput = 500 ' in explained(path, 'metered.decode_throughput', change), 'typed')
    said = explained(path, 'metered.load_power', change, '--set=metered.context=64')
    expect('load_power = 700 ' in said, said)


# ---- the workbook

def words_of(sheet):
    return {sheet.text(row, 1): sheet.text(row, 2) for row in range(1, sheet.last_row() + 1)}


def chart_of(book):
    charts = check_charts.charts_of(book, book.sheets['Evidence'])
    expect(len(charts) <= 1, 'more than one chart')
    return charts[0] if charts else None


def test_sheet(machine):
    book = machine.book('shown', machine.record)
    evidence, result = book.sheets['Evidence'], machine.record['results'][0]
    words = words_of(evidence)
    expect(words['Meter'] == result['energy_meter'] and words['Device'] == 'NVIDIA H200', words)
    expect(words['Scope'] == 'the device only', words)
    expect(words['Measured on'] == result['finished'][:10], words)
    expect('tiny bf16, batch 1, context 512' in words['Load'], words)
    expect("the sensors' own watts" in words['Readings'] and 'gap' not in words['Readings'], words)
    said = [evidence.text(row, 2) for row in range(1, evidence.last_row() + 1)
            if evidence.text(row, 1) == 'Watts over time']
    expect(said == ['measured: the chart above, the readings below', 'not measured'], said)
    row = metered.lines_row(evidence, 'metered')
    for at in (row, row + 1):
        cell = evidence.cell(at, metered.TDP)
        expect(cell.formula and cell.value == TDP_W, f'TDP: {cell.value} by {cell.formula}')


def test_chart(machine):
    book = machine.book('drawn', machine.record)
    evidence, result = book.sheets['Evidence'], machine.record['results'][0]
    chart, place, text = chart_of(book)
    check_charts.check_chart(book, evidence, chart, place, text)
    expect(chart.title == 'Measured watts over time, metered', chart.title)
    expect(chart.axes == ['seconds since the window began', 'W'], chart.axes)
    drawn = {series.name: check_charts.values(book, series.y) for series in chart.series}
    ends = {series.name: check_charts.values(book, series.x) for series in chart.series}
    for shown, wanted in ((drawn['idle'], result['readings']['idle']['power_w']),
                          (drawn['under load'], result['readings']['load']['power_w']),
                          (ends['under load'], result['readings']['load']['end_s']),
                          (drawn['mean under load'], 2 * [result['load_power_w']])):
        expect(len(shown) == len(wanted) and all(map(near, shown, wanted)), f'{shown} for {wanted}')
    expect(drawn['TDP (datasheet)'] == [TDP_W, TDP_W], drawn['TDP (datasheet)'])
    expect(ends['TDP (datasheet)'][0] == 0, 'the line begins at 0')


def test_overview(machine):
    """On Outputs, where the options are compared: the readings, next to the datasheet's value."""
    book = machine.book('compared', machine.record)
    outputs, result = book.sheets['Outputs'], machine.record['results'][0]
    charts = [found for found in check_charts.charts_of(book, outputs) if 'watts' in found[0].title]
    expect(len(charts) == 1, f'{len(charts)} charts of watts')
    check_charts.check_chart(book, outputs, *charts[0])
    drawn = {series.name: check_charts.values(book, series.y) for series in charts[0][0].series}
    expect(set(drawn) == {'metered', 'metered: TDP (datasheet)'}, drawn)
    wanted = result['readings']['load']['power_w']
    expect(len(wanted) == len(drawn['metered']) and all(map(near, drawn['metered'], wanted)), drawn['metered'])
    expect(drawn['metered: TDP (datasheet)'] == [TDP_W, TDP_W], drawn)
    unmeasured = machine.book('compared-none', edited(machine.record, without_meter))
    expect(not any('watts' in found[0].title
                   for found in check_charts.charts_of(unmeasured, unmeasured.sheets['Outputs'])), 'drawn')


def test_gap(machine):
    def gap(result):
        for i in range(20, 25):
            result['readings']['load']['power_w'][i] = None
    record = edited(machine.record, gap)
    book = machine.book('gap', record)
    evidence = book.sheets['Evidence']
    expect('; 5 gaps, where the meter was not read' in words_of(evidence)['Readings'], 'the words')
    rows = {row: power for row, name, _, power in metered.readings(evidence, 'metered', record['results'][0])
            if name == 'under load'}
    for row, power in rows.items():
        shown = evidence.value(row, metered.WATTS)
        said = evidence.text(row, metered.TDP) == 'a gap: the meter was not read'
        expect(shown is None and said if power is None else near(shown, power) and not said, f'row {row}')
    drawing = next(data for part, data in book.parts.items()
                   if '/charts/' in part and b'Measured watts' in data)
    expect(b'dispBlanksAs val="gap"' in drawing or b'dispBlanksAs' not in drawing, 'a gap that is closed')
    found = list(rules_of_figures.rule_02(Subject(book, measured={'metered': record['results'][0]})))
    expect(not found, found)


def without_meter(result):
    for name in ('idle_power_w', 'load_power_w', 'sampled_power_w', 'joules_per_token', 'energy_j',
                 'energy_window_s', 'power_slope_w_per_s', 'window_tokens_per_s'):
        result[name] = None
    result['energy_meter'] = 'none: nvml: libnvidia-ml.so.1 was not found'
    for window in result['readings'].values():
        window['end_s'], window['power_w'] = [], []


def test_not_measured(machine):
    book = machine.book('none', edited(machine.record, without_meter))
    words = [cell.value for cell in book.sheets['Evidence'].cells.values()]
    expect('not measured (none: nvml: libnvidia-ml.so.1 was not found)' in words, words)
    expect(chart_of(book) is None and 'Flat lines' not in words, 'something was drawn')
    expect(not list(rules_of_figures.rule_02(Subject(book))), 'numbers')


def test_older_record(machine):
    def without_what_is_newer(result):
        for name in ('readings', 'tensor_parallel', 'step_form', 'variants', 'prefills', 'mixed', 'routing',
                     'share_ci95_low', 'share_ci95_high', 'window_tokens_per_s', 'shares'):
            del result[name]
        for name in ('experts', 'latent', 'layer', 'rope'):
            del result['model'][name]
        del result['together']['telemetry'], result['types']['experts'], result['telemetry']['links']
        del result['together']['wall_power_w'], result['flags']['window_differs']
        rate = result['batch'] / result['step_seconds']  # of the median step
        result.update(tokens_per_s=rate, ci95_low=0.9 * rate, ci95_high=1.1 * rate)
    record = edited(machine.record, without_what_is_newer)
    del record['device']['reported_cache_bytes'], record['environment']['node']
    book = machine.book('older', {**record, 'schema': 3})
    words = [cell.value for cell in book.sheets['Evidence'].cells.values()]
    expect('not in the record: it was written before records had readings' in words, words)
    expect(chart_of(book) is None, 'something was drawn')


def test_rules(machine):
    scenario = machine.scenario('ruled', machine.record)
    judged = check_rules.subject(scenario, machine.folder,
                                 check_rules.runs(scenario, machine.folder, 'first'))
    judged.measured = {'metered': machine.record['results'][0]}
    broken = {number: list(rule(judged)) for number, rule in rules.RULES}
    expect(not any(broken.values()), {number: found[:3] for number, found in broken.items() if found})
    expect(len(list(rules_of_figures.rule_02(Subject(judged.book)))) > 100, 'numbers that nobody measured')
    evidence = judged.book.sheets['Evidence']
    row = metered.lines_row(evidence, 'metered')
    reading = 2 + metered.row_of(evidence, 'metered: readings of the meter')
    for at, change in (((reading, metered.WATTS), {'value': 91.25}), ((reading + 3, metered.SECONDS), {'value': None}),
                       ((row, metered.WATTS), {'value': 411.0}), ((1, 9), {'value': 7.0})):
        before = evidence.cells.get(at)
        evidence.cells[at] = xlsx.Cell(change['value'])
        expect(list(rules_of_figures.rule_02(judged)), f'rule 2 does not notice {change} in {at}')
        if before:
            evidence.cells[at] = before
        else:
            del evidence.cells[at]


def test_recalculation(machine):
    if reason := libreoffice.missing() or gnumeric.missing():
        raise Skip(reason)
    harness.EXAMPLES[:] = [machine.scenario('recalculated', machine.record)]
    check_recalculation.FEW = FEW_CHANGES if DEEP else 1
    folder = machine.folder / 'recalculation'
    folder.mkdir()
    tally = check_recalculation.check(False, folder)
    expect(sum(tally.states.values()) > 2 and not tally.failed + tally.refused, 'see above')


TESTS = [test_record, test_hand_edited_readings, test_joules_per_token, test_explain,
         test_throughput_typed_over, test_sheet, test_chart, test_overview, test_gap,
         test_not_measured, test_older_record, test_rules, test_recalculation]


def main():
    for needed in (PROBE, PLUGIN, LIBRARY):
        if not needed.exists():
            skip_all(f'{needed} is not built')
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder))
        if has_gap(machine.record):
            skip_all('this machine is too busy to read a meter without gaps')
        for test in TESTS:
            count.test(test.__name__, test, machine)
    count.finish()


if __name__ == '__main__':
    main()
