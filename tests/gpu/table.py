"""table: what was measured beside what is aimed at, and what is missing."""
import json
import statistics
import textwrap

import workloads
from running import DONE

WIDTH = 96
ROW = '{:<52} {:>6} {:>7} {:>9} {:>9}  {}'
POWER_ROW = '{:<52} {:>6} {:>7} {:>9} {:>9}'
H200 = 'NVIDIA H200'


def results_of(context, folder=''):
    """All results of the records in a folder."""
    records = sorted((context.out / 'records' / folder).glob('*.json'))
    return [result for path in records for result in json.loads(path.read_text())['results']]


def is_of(context, result, workload, batch, context_length):
    kv = {'bf16': 'bf16', 'fp8': 'e4m3'}[workload.kv]
    return (result['model']['id'] == context.model(workload.model)
            and result['precision'] == workload.precision and result['types']['kv'] == kv
            and result['batch'] == batch and result['context'] == context_length)


def find(results, context, workload, context_length):
    """The newest result of a workload with one batch, or None."""
    fitting = [r for r in results if is_of(context, r, workload, workload.batch[0], context_length)]
    return max(fitting, key=lambda result: result['finished'], default=None)


def difference(context, workload):
    """(share of the read bandwidth, µs per layer, words) of what the longer context adds, or None."""
    results = results_of(context, 'attention')
    short, long = (find(results, context, workload, length) for length in workload.context)
    if not short or not long or long['step_seconds'] <= short['step_seconds']:
        return None
    seconds = long['step_seconds'] - short['step_seconds']
    more = long['bytes_per_step'] - short['bytes_per_step']
    return more / seconds / long['read_bandwidth'], 1e6 * seconds / long['layers_measured'], ''


def measured(context, target):
    if target.difference:
        return difference(context, target.workload)
    result = find(results_of(context), context, target.workload, target.workload.context[0])
    words = result and result.get('slices') and f'from slices of up to {result["layers_measured"]} layers'
    return result and (result['read_bandwidth_share'], 1e6 * result['layer_seconds'], words or '')


def verdict(value, must, stretch):
    return 'stretch met' if value >= stretch else 'met' if value >= must else 'BELOW'


def target_row(context, target):
    """Of the device that the targets are for; of others the share alone."""
    found = measured(context, target)
    judged = context.device['name'] == H200
    aims = (f'{target.must:.2f}', f'{target.stretch:.2f}') if judged else ('', '')
    if not found:
        return ROW.format(target.words, *aims, '-', '-', 'unmeasured')
    share, layer_us, words = found
    judgement = [verdict(share, target.must, target.stretch)] if judged else []
    return ROW.format(target.words, *aims, f'{share:.3f}', f'{layer_us:.2f}',
                      ', '.join(judgement + [words] * bool(words)))


def bandwidth_rows(context):
    before = context.state.data('bandwidth-before').get('bytes_per_s')
    after = context.state.data('bandwidth-after').get('bytes_per_s')
    if not before:
        yield 'Read bandwidth R: unmeasured'
        return
    words = f'Read bandwidth R: {1e-12 * before:.3f} TB/s before'
    if after:
        drift = after / before - 1
        words += f', {1e-12 * after:.3f} after: drift {100 * drift:+.2f} %'
        words += '' if abs(drift) <= workloads.DRIFT else ', MORE THAN 1 %'
    else:
        words += ', not measured after'
    yield words
    name = context.device['name']
    if name == H200:
        good = before >= workloads.H200_READ_BANDWIDTH
        yield (f'An H200 must read {1e-12 * workloads.H200_READ_BANDWIDTH} TB/s: '
               f'{"met" if good else "BELOW"}')
    for start, published, source in workloads.READ_CEILINGS:
        if name.startswith(start):
            yield (f'{before / published:.3f} of the {1e-12 * published:.2f} TB/s that are published for it '
                   f'({source})')


# ---- the ladder and the peer

def ladder_rows(context):
    """The fastest variant of each workload beside the default; the whole tables are in the log."""
    return sentences(context.state.data('ladder').get('lines', []))


def peer_rounds(context, workload):
    names = (name for name in context.state.steps if name.startswith(f'peer {workload.name()} '))
    return [context.state.data(name) for name in names if context.state.status(name) == DONE]


def types_words(types):
    return f'{types["weights"]} x {types["activations"]}'


def peer_rows(context, workload):
    rounds = peer_rounds(context, workload)
    if not rounds:
        yield ROW.format(workload.name(), '1.00', '', '-', '', 'unmeasured')
    for variant in dict.fromkeys(one['variant'] for data in rounds for one in data['peer']):
        found = [(data['ours'][one['activations']], one) for data in rounds for one in data['peer']
                 if one['variant'] == variant]
        pairs = [(ours, peer) for ours, peer in found if 'tokens_per_s' in peer]
        label = f'{workload.name()} / {variant}'
        if not pairs:
            yield ROW.format(label, '1.00', '', '-', '', f'unmeasured: {found[-1][1]["failed"]}')
            continue
        ratio = statistics.median(ours['tokens_per_s'] / peer['tokens_per_s'] for ours, peer in pairs)
        ours, peer = pairs[-1]
        alike = ours['types']['activations'] == peer['types']['activations']
        words = 'met' if ratio >= workloads.PEER_RATIO else 'BELOW'
        words += '' if alike else f': unlike, {types_words(ours["types"])} and {types_words(peer["types"])}'
        yield ROW.format(label, '1.00', '', f'{ratio:.3f}', f'{len(pairs)} pairs', words)


def missing_peer(context):
    words = {step['words'] for name, step in context.state.steps.items()
             if name.startswith('peer ') and step['status'] == 'missing'}
    return [f'The peer is missing ({"; ".join(sorted(words))}): that we are not slower is not shown.'
            ] if words else []


# ---- power, verification, steps

def number(value, form):
    return '-' if value is None else format(value, form)


def power_row(result):
    sampled, load = result['sampled_power_w'], result['load_power_w']
    name = f'{result["model"]["id"]} {result["precision"]}, batch {result["batch"]}, context ' \
           f'{result["context"]}'
    apart = '-' if sampled is None else f'{100 * (sampled / load - 1):+.1f} %'
    return POWER_ROW.format(name, number(result['idle_power_w'], '.0f'), f'{load:.0f}', apart,
                            number(result['joules_per_token'], '.3g'))


def power_rows(context):
    results = results_of(context)
    rows = [power_row(result) for result in results if result['load_power_w'] is not None]
    if rows:
        return [POWER_ROW.format('', 'idle', 'load', 'sampled', 'J/token'), *rows]
    meters = sorted({result['energy_meter'] for result in results})
    return sentences([f'unmeasured{": " if meters else ""}{"; ".join(meters)}'])


def worst_error(context):
    results = [r for folder in ('', 'verify', 'attention', 'grid') for r in results_of(context, folder)]
    if not results:
        return 'Verified against the oracle: nothing yet'
    worst = max(results, key=lambda r: r['verification']['max_error'] / r['verification']['tolerance'])
    checked = worst['verification']
    return (f'Verified against the oracle: {len(results)} results; the worst error is '
            f'{checked["max_error"]:.2e} of {checked["tolerance"]:.0e} allowed ({worst["model"]["id"]} '
            f'{worst["precision"]}, batch {worst["batch"]}, context {worst["context"]})')


def step_rows(context, plan):
    """The steps that are not done, those of one kind and reason together."""
    groups = {}
    for step in plan:
        kept = context.state.steps.get(step.name, {'status': 'not run', 'words': ''})
        if kept['status'] != DONE:
            kind, _, what = step.name.partition(' ')
            groups.setdefault((kind, kept['status'], kept['words']), []).append(what)
    for (kind, status, words), names in groups.items():
        which = f' ({", ".join(names)})' if any(names) else ''
        yield f'{kind}{which}: {status}{": " if words else ""}{words}'


def sentences(rows):
    return [line for row in rows for line in textwrap.wrap(row, WIDTH, subsequent_indent='  ')]


def section(title, lines):
    return ['', title, *('  ' + line for line in lines)] if lines else []


def make(context, plan):
    done = sum(context.state.status(step.name) == DONE for step in plan)
    name = context.device['name']
    head = [f'GPU check of {name}: {done} of {len(plan)} steps done']
    if context.tiny:
        head.append('A rehearsal on a small shape: these are no figures of the device.')
    elif name != H200:
        head.append(f'The targets are of one {H200}; this is another device: shares of its own R alone.')
    lines = head + [
        *sentences([*bandwidth_rows(context), worst_error(context)]),
        *section('Share of R', [ROW.format('', *(('must', 'stretch') if name == H200 else ('', '')),
                                           'measured', 'us/layer', '')]
                 + [target_row(context, target) for target in workloads.TARGETS]),
        *section('Ladder: the fastest variant of each workload (logs/ladder.log has all)',
                 ladder_rows(context)),
        *section('Our token/s over those of PyTorch with CUDA graphs, median of interleaved pairs',
                 [row for workload in context.peers() for row in peer_rows(context, workload)]
                 + sentences(missing_peer(context))),
        *section('Watts', power_rows(context)),
        *section('Not done', sentences(step_rows(context, plan))),
    ]
    return '\n'.join(line.rstrip() for line in lines) + '\n'
