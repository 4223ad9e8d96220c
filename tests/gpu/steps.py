"""steps: how each step of a check is run. Their order is in order.py."""
import csv
import dataclasses
import json
import pathlib
import re
import shutil
import time
from typing import Callable

import machine
import running
import sanitizer
import table
import workloads
from running import DONE, FAILED, MISSING, PARTIAL, PENDING, Outcome

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEER = pathlib.Path(__file__).resolve().parent / 'peer_pytorch.py'
SKIPPED = 77  # exit status of a program that lacks what it needs
BUSY = 1  # exit status of `probe check` if a result is out of tolerance
NO_VERDICT = 4  # of `probe run --verify-only` if there was no time for every variant
SANITIZERS = sanitizer.TOOLS
UNKNOWN = re.compile(r'\bdo(?:es)? not support\b')  # of the probe, about what the kernels lack
SLICES = re.compile(r'; --layers ([0-9,]+) measures (?:a slice|slices)')  # of the probe, if memory is too small
PEER_ROUNDS = 2
NO_PEER = re.compile(r'^no PyTorch\b|\bsees no GPU$')  # of peer_pytorch.py, whatever the variant
VERIFY_WAY = 'verify-way '  # begins the names of steps that compare a variant with the oracle
OWN = 'own'  # choice of the kernels
FASTEST = 'fastest'  # of the kernels' variants, found on the device before a record is made
BEST = 'best: '  # begins the ladder's result for each workload
NOT_BEGUN = re.compile(r'(\d+) of (\d+) workloads were not begun$')  # of the ladder, whose time was up
# Of the probe, for each comparison with the oracle: precision, batch, context; error, tolerance.
COMPARED = re.compile(r'^(\S+) +(\d+) +(\d+) +(?:\d+ +){5}(\S+) +(\S+) +(?:ok|WRONG)', re.MULTILINE)
LADDER_REST_S = 20  # a round in progress when its time is up, and opening the device
# For each of our precisions: the activations of ours, and the options of the peer that computes the same.
PEER_VARIANTS = {'bf16': (('', ('bf16',)), ('', ('bf16', '--compile'))),
                 'fp8': (('fp8', ('fp8-w8a8',)), ('fp8', ('fp8-w8a8', '--compile')),
                         ('', ('fp8-w8a16', '--compile')))}


class Context:
    """What all steps share."""

    def __init__(self, arguments, state, budget, device, shown):
        self.out, self.probe, self.ladder = arguments.out, arguments.probe, arguments.ladder
        self.peer_python, self.tiny = arguments.peer_python, arguments.tiny
        self.state, self.budget, self.device, self.meters = state, budget, device, shown['meters']
        self.name, self.devices = machine.name_of(device), shown['devices']
        self.wanted = arguments.device
        self.data = self.out / 'data'
        self.quick_s = 0.2 if arguments.tiny else workloads.QUICK_S
        self.measured = False  # by this call
        self.refusing = {}  # the tools that cannot run here, as this call has found, and why
        write_data(self.data)

    def log(self, name):
        return self.out / 'logs' / f'{name}.log'

    def some(self, list_of, count):
        """The first few of a list of workloads in a rehearsal, made small."""
        return workloads.tiny(list_of, count) if self.tiny else list_of

    def peers(self):
        return self.some(workloads.PEERS, 1)

    def model(self, short, tiny=False):
        return 'tiny' if tiny or self.tiny else workloads.MODELS[short]


@dataclasses.dataclass(frozen=True)
class Step:
    name: str
    needs_s: float  # it is not begun with less
    limit_s: float  # it is ended after that long
    run: Callable
    each_device: bool = False  # also if another device of its kind has done it
    repeats: bool = False  # what the steps before it have measured: not begun while one of them is left


def write_data(folder):
    """The catalogue with an additional tiny model, which only this check has."""
    if folder.exists():
        shutil.rmtree(folder)
    shutil.copytree(ROOT / 'data', folder, ignore=shutil.ignore_patterns('measured'))
    path = folder / 'models.csv'
    with open(path, newline='') as file:
        rows = list(csv.DictReader(file))
    rows.append({**next(row for row in rows if row['id'] == 'tinyllama-1.1b'), 'id': 'tiny',
                 **workloads.TINY})
    with open(path, 'w', newline='') as file:
        writer = csv.DictWriter(file, rows[0], lineterminator='\n')
        writer.writeheader()
        writer.writerows(rows)


# ---- environment and bandwidth

def read_environments(path, uuid):
    """Of the machines before this one, whose devices participated."""
    try:
        kept = json.loads(path.read_text())
        return [one for one in ({**kept, 'earlier': None}, *(kept.get('earlier') or []))
                if one['device']['uuid'] != uuid]
    except (OSError, ValueError, TypeError, KeyError):
        return []


def environment(context, limit_s):
    path = context.out / 'environment.json'
    described = machine.describe(context.device, context.meters, context.log('environment'))
    earlier = read_environments(path, context.device['uuid'])
    running.write_whole(path, json.dumps({**described, 'earlier': earlier}, indent=1))
    others = machine.others_on(context.device, described['tools'])
    return Outcome(DONE, context.device['name'] + (f'; in use by others: {"; ".join(others)}' if others else ''))


def read_bandwidth(context, limit_s):
    shown = machine.listed(context.probe, True, context.name, limit_s, context.log('bandwidth'))
    device = machine.choose(shown['devices'], context.name)
    if not device or not device['read_bandwidth']:
        return Outcome(FAILED, shown['words'] or 'not measured')
    value = device['read_bandwidth']
    return Outcome(DONE, f'{1e-9 * value:.0f} GB/s', bytes_per_s=value,
                   operations_per_s=device['operations_per_s'])


def measure_drift(context):
    """The read bandwidth again, after everything that this call has measured."""
    if not context.measured:
        return
    if context.state.is_elsewhere('bandwidth-after'):
        context.state.set_aside('bandwidth-after')
    start = time.monotonic()
    outcome = read_bandwidth(context, context.budget.rest() - 1)
    context.state.keep('bandwidth-after', outcome, time.monotonic() - start, context.budget.spent())


# ---- runs of the probe

def out_of_time(context, limit_s):
    """Whether the budget ended a step, which then continues next time, or the step's own limit."""
    if context.budget.left() < 1:
        return Outcome(PENDING, 'stopped by the budget; call again to go on')
    return Outcome(FAILED, f'stopped after {limit_s:.0f} s')


def run_command(context, workload, seconds, folder, *, layers='', device='', variant='', watts=True):
    command = [context.probe, 'run', '-q', '--device', device or context.name, '--data', context.data,
               '--model', context.model(workload.model), '--precision', workload.precision,
               '--batch', ','.join(map(str, workload.batch)),
               '--context', ','.join(map(str, workload.context)), '--kv', workload.kv,
               '--time', seconds, '-o', folder]
    if workload.activations:
        command += ['--activations', workload.activations]
    if workload.prompts:
        command += ['--prefill', ','.join(map(str, workload.prompts))]
    command += ['--variant', variant or OWN]
    layers = layers or workload.layers
    if layers and not context.tiny:
        command += ['--layers', layers]
    return command if watts else [*command, '--no-power']


def probed(context, name, command, limit_s, folder, environment=None):
    """Runs the probe; records are kept also if the run was ended, and the next run resumes it."""
    folder.mkdir(parents=True, exist_ok=True)
    context.measured = True
    done = running.run(command, limit_s, context.log(name), environment)
    if done.status is None:
        return out_of_time(context, limit_s)
    return Outcome(FAILED, done.last_line()) if done.status else Outcome(DONE, '')


def comparisons(name, output):
    """How many comparisons with the oracle the probe reports, and the worst of them; None if there is none."""
    rows = [(precision, batch, length, float(error), float(tolerance))
            for precision, batch, length, error, tolerance in COMPARED.findall(output)]
    if not rows:
        return None
    precision, batch, length, error, tolerance = max(rows, key=lambda row: row[-2] / row[-1])
    return {'count': len(rows), 'max_error': error, 'tolerance': tolerance,
            'what': f'{name} {precision}, batch {batch}, context {length}'}


def verifying(workload, variant=''):
    """Each kernel that the workload needs compared with the oracle; nothing is timed."""
    def run(context, limit_s):
        command = [*run_command(context, workload, 0.1, context.out / 'verified', variant=variant), '--verify-only']
        context.measured = True
        done = running.run(command, limit_s, context.log('verify'))
        if done.status is None:
            return out_of_time(context, limit_s)
        status = {0: DONE, NO_VERDICT: MISSING}.get(done.status, FAILED)
        return Outcome(status, '' if status == DONE else done.last_line(),
                       compared=comparisons(context.model(workload.model), done.output))
    return run


def found_words(context, workload, where):
    """The result of a run with one batch and context."""
    if len(workload.batch) * len(workload.context) > 1:
        return ''
    result = table.find(table.results_in(where), context, workload, workload.context[0])
    if not result:
        return 'no result was written'
    tokens = f'{result["tokens_per_s"]:.1f} token/s, ' if result['whole_model'] else ''
    return (f'{tokens}{1e6 * result["layer_seconds"]:.2f} us/layer'
            + (', R void' if result['read_bandwidth_share'] is None else f', {result["read_bandwidth_share"]:.3f} R')
            + table.words_of(result['load_power_w'], ', {:.0f} W'))


def trusted(context, variant):
    """None but the kernels' own choice where one was wrong, or never ended."""
    return '' if context.state.failed(VERIFY_WAY) else variant


def measuring(workload, folder, seconds, variant='', watts=True):
    """If the device cannot hold the whole model, it is measured in the slices that the probe suggests."""
    def run(context, limit_s):
        where, name = context.out / 'records' / folder, folder or 'records'
        end = time.monotonic() + limit_s
        chosen = trusted(context, variant)
        command = run_command(context, workload, seconds, where, variant=chosen, watts=watts)
        outcome = probed(context, name, command, limit_s, where)
        fitting = SLICES.search(outcome.words) if outcome.status == FAILED else None
        if not fitting:
            words = outcome.words or found_words(context, workload, where)
            return Outcome(outcome.status, words)
        layers = fitting[1].split(',')[-1] if workload.layers else fitting[1]
        command = run_command(context, workload, seconds, where, layers=layers, variant=chosen, watts=watts)
        outcome = probed(context, name, command, end - time.monotonic(), where)
        return Outcome(outcome.status, outcome.words or f'slices of {layers} layers: '
                       + found_words(context, workload, where))
    return run


def if_known(measure):
    """A step whose model or precision the device's kernels may lack: then it is missing, with their
    message."""
    def run(context, limit_s):
        outcome = measure(context, limit_s)
        if outcome.status == FAILED and UNKNOWN.search(outcome.words):
            return Outcome(MISSING, outcome.words)
        return outcome
    return run


def sanitizing(tool):
    def run(context, limit_s):
        program = machine.find_tool('compute-sanitizer')
        if context.device['backend'] != 'cuda' or not program:
            return Outcome(MISSING, 'no compute-sanitizer for this device')
        if not sanitizer.LIBRARY.exists() or not sanitizer.PLUGIN.exists():
            return Outcome(MISSING, f'{sanitizer.LIBRARY.name} or {sanitizer.PLUGIN.name} is not built')
        if program in context.refusing:  # then so would its other tools
            return Outcome(MISSING, context.refusing[program])
        return sanitizer.check(context, tool, program, limit_s)
    return run


def is_of_here(context, path):
    """A record of another device of the same kind can only be measured again on that device."""
    device = json.loads(path.read_text()).get('device', {})
    return device.get('uuid', '') in ('', *(device['uuid'] for device in context.devices))


def rechecking(context, limit_s):
    """Measures every record again, after those of a call that was stopped; all must be within tolerance."""
    kept = {} if context.state.is_elsewhere('recheck') else context.state.data('recheck')
    checked, differ = list(kept.get('checked', [])), list(kept.get('differ', []))
    context.measured = True
    folder = context.out / 'records'
    found = [*sorted(folder.glob('*.json')), *sorted((folder / workloads.RANKS_FOLDER).glob('*/*.json'))]
    records = [path for path in found if is_of_here(context, path)]
    end = time.monotonic() + limit_s
    for record in records:
        name = f'{record.relative_to(folder)}, {record.stat().st_size} bytes'  # it may have been continued since
        if name in checked:
            continue
        done = running.run([context.probe, 'check', record, '-q', '--time', 3], end - time.monotonic(),
                           context.log('recheck'))
        if done.status is None:
            outcome = out_of_time(context, limit_s)
            return Outcome(outcome.status, outcome.words, checked=checked, differ=differ)
        if done.status not in (0, BUSY):
            return Outcome(FAILED, f'{record.name}: {done.last_line()}')
        checked.append(name)
        differ += [record.name] if done.status == BUSY else []
    if not records:
        return Outcome(MISSING, 'no records of this device' if found else 'no records')
    if differ:
        return Outcome(FAILED, f'out of tolerance: {", ".join(differ)}')
    others = len(found) - len(records)
    return Outcome(DONE, f'{len(records)} records within tolerance'
                   + (f'; {others} are of another device' if others else ''))


# ---- the ladder and the peer

def ladder_options(context, limit_s):
    return ['--time', f'{max(limit_s - LADDER_REST_S, 1):.0f}', *(['--tiny'] if context.tiny else [])]


def ladder(context, limit_s):
    return climb(context, limit_s, 'ladder')


def found_before(context, name):
    """What an earlier call found of a ladder that it had no time to finish."""
    kept = context.state.data(name) if context.state.data(name).get('rows') else {}
    where = f' (on {context.state.steps[name]["uuid"]})' if kept and context.state.is_elsewhere(name) else ''
    return [f'{line}{where}' for line in kept.get('lines', [])], kept.get('rows', []), kept.get('of', 0)


def climb(context, limit_s, name, rows=()):
    """The ladder's workloads of these numbers, or all: those that an earlier call had no time for. What was found
    before it was stopped is kept, and all of its tables are in the log."""
    if not context.ladder.exists():
        return Outcome(MISSING, f'{context.ladder.name} is not built')
    lines, left, of = found_before(context, name)
    rows, context.measured = left or list(rows), True
    done = running.run([context.ladder, *ladder_options(context, limit_s), context.name, *rows], limit_s,
                       context.log(name))
    lines += [line[len(BEST):] for line in done.output.splitlines() if line.startswith(BEST)]
    wrong = [line.strip() for line in done.output.splitlines() if 'WRONG: ' in line]
    found = {'lines': list(dict.fromkeys(lines)), 'wrong': wrong}
    if done.status is None:
        outcome = out_of_time(context, limit_s)
        return Outcome(outcome.status, outcome.words, **found, rows=left, of=of)
    if done.status != 0:
        return Outcome(FAILED, '; '.join(wrong) or done.last_line(), **found)
    not_begun = NOT_BEGUN.search(done.last_line())
    if not not_begun:
        return Outcome(DONE, '', **found)
    count, here = map(int, not_begun.groups())
    of = of or here
    rows = (rows or list(range(1, here + 1)))[-count:]
    return Outcome(PARTIAL, f'{of - count} of {of} workloads; the next call goes on', **found, rows=rows, of=of,
                   left=count)


def peer_results(done, limit_s):
    """The peer's results, one for each batch, also those before it was stopped; and why others are missing."""
    said = [json.loads(line) for line in done.output.splitlines() if line.startswith('{')]
    results = [one for one in said if 'tokens_per_s' in one and one.get('logits_finite', True)]
    skipped = [one['skipped'] for one in said if 'skipped' in one]
    why = f'not done in {limit_s:.0f} s' if done.status is None else (skipped or [done.last_line()])[0]
    return {'results': results, 'failed': why if done.status != 0 else ''}


def peer_command(context, workload, variant):
    command = [context.peer_python, PEER, '--device', 'cpu' if context.device['backend'] == 'cpu'
               else f'cuda:{context.device["index"]}', '--precision', *variant,
               '--batch', ','.join(map(str, workload.batch)), '--context', workload.context[0],
               '--time', 0.2 if context.tiny else 3]
    if context.tiny:
        return command + ['--shape', ','.join(map(str, workloads.TINY.values()))]
    return command + ['--model', workloads.MODELS[workload.model]]


def ours_beside(context, workload, activations, where, limit_s):
    """(our decode rates, one for each batch, None), or (None, why not). They are all measured now: a record that an
    interrupted round has left is of another time, or of another device."""
    shutil.rmtree(where, ignore_errors=True)
    command = run_command(context, dataclasses.replace(workload, activations=activations),
                          0.2 if context.tiny else 3, where, variant=trusted(context, FASTEST), watts=False)
    outcome = probed(context, 'peer-ours', command, limit_s, where)
    if outcome.status != DONE:
        return None, outcome
    ours = [{name: result[name] for name in ('batch', 'tokens_per_s', 'types')} for result in table.results_in(where)]
    return (ours, None) if len(ours) == len(workload.batch) else (None, Outcome(FAILED, 'no record was written'))


def peer_measured(context, workload, variant, limit_s):
    """The decode rates of a variant of the peer. A variant that takes too long to compile does not cost the
    others their time."""
    return peer_results(running.run(peer_command(context, workload, variant), limit_s, context.log('peer')), limit_s)


def comparing(workload, number):
    """One round: every variant of the peer, each a process for all batches, and ours with the same activations right
    after the first of them."""
    def run(context, limit_s):
        if PEER in context.refusing:
            return Outcome(MISSING, context.refusing[PEER])
        end = time.monotonic() + limit_s
        found, ours = [], {}
        for activations, variant in PEER_VARIANTS[workload.precision]:
            peer = peer_measured(context, workload, variant, (end - time.monotonic()) / 2)
            if NO_PEER.search(peer['failed']):  # importing PyTorch takes seconds, so it is not asked again
                context.refusing[PEER] = peer['failed']
                return Outcome(MISSING, peer['failed'])
            found.append({'variant': ' '.join(variant), 'activations': activations, **peer})
            if not peer['results'] or activations in ours:
                continue
            where = context.out / 'peer' / f'{workload.name()}-{activations or "own"}-{number}'
            ours[activations], failure = ours_beside(context, workload, activations, where, end - time.monotonic())
            if failure:
                return failure
        if not ours and any(one['failed'].startswith('not done in') for one in found):
            return out_of_time(context, limit_s)
        if not ours:
            return Outcome(MISSING, '; '.join(sorted({one['failed'] for one in found})))
        return Outcome(DONE, '', peer=found, ours=ours)
    return run
