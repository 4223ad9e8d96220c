"""table: the measured values compared with the targets, and what is missing."""
import dataclasses
import json
import statistics
import textwrap

import stamps
import workloads
from running import DONE, LEFT_OUT, MISSING

WIDTH = 96
ROW = '{:<52} {:>6} {:>7} {:>9} {:>9}  {}'
GROUP_ROW = '{:<52} {:>9} {:>9} {:>7} {:>9}  {}'
PROMPT_ROW = '{:<37} {:>6} {:>9} {:>9}  {}'
COUNTED_ROW = '{:<44} {:>9} {:>7} {:>7} {:>7} {:>9}'
POWER_ROW = '{:<56} {:>6} {:>7} {:>9} {:>9}'
H200 = 'NVIDIA H200'
NOT_RUN = {'status': 'not run', 'words': ''}


def results_in(folder):
    """Each with the UUID of its record's device."""
    records = [json.loads(path.read_text()) for path in sorted(folder.glob('*.json'))]
    return [{**result, 'uuid': record.get('device', {}).get('uuid', '')}
            for record in records for result in record['results']]


def results_of(context, folder=''):
    """All results of the records in a folder of the check's."""
    return results_in(context.out / 'records' / folder)


def words_of(value, form):
    return '' if value is None else form.format(value)


def is_of(context, result, workload, batch, context_length):
    kv = {'bf16': 'bf16', 'fp8': 'e4m3'}[workload.kv]
    return (result['model']['id'] == context.model(workload.model)
            and result['precision'] == workload.precision and result['types']['kv'] == kv
            and (result['types']['activations'] == 'e4m3') == (workload.activations == 'fp8')
            and result['batch'] == batch and result['context'] == context_length)


def find(results, context, workload, context_length):
    """The newest result of a workload with one batch, or None."""
    fitting = [r for r in results if is_of(context, r, workload, workload.batch[0], context_length)]
    return max(fitting, key=lambda result: result['finished'], default=None)


def difference(context, workload):
    """As measured(), for what the longer context adds."""
    results = results_of(context, 'attention')
    short, long = (find(results, context, workload, length) for length in workload.context)
    if not short or not long or long['step_seconds'] <= short['step_seconds']:
        return None
    seconds = long['step_seconds'] - short['step_seconds']
    more, read = long['bytes_per_step'] - short['bytes_per_step'], long['read_bandwidth']
    return read and more / seconds / read, 1e6 * seconds / long['layers_measured'], ''


def find_either(context, workload):
    """(result of a record or, without one, of a quick one; what to say of that)."""
    for folder, words in (('', []), ('quick', [quick_words(context)])):
        result = find(results_of(context, folder), context, workload, workload.context[0])
        if result:
            return result, words
    return None, []


def measured(context, target):
    """(share of the read bandwidth, None if that is void; µs per layer; words), or None."""
    if target.difference:
        return difference(context, target.workload)
    result, words = find_either(context, target.workload)
    if not result:
        return None
    words += [f'from slices of up to {result["layers_measured"]} layers'] if result.get('slices') else []
    variant = result.get('step_form', {}).get('variant')
    words += [variant] * bool(variant)
    words += [f'on {result["uuid"]}'] if result['uuid'] and len(context.state.uuids()) > 1 else []
    return result['read_bandwidth_share'], 1e6 * result['layer_seconds'], ', '.join(words)


def quick_words(context):
    return f'{context.quick_s:g} s of samples'


def verdict(value, must, stretch):
    return 'stretch met' if value >= stretch else 'met' if value >= must else 'BELOW'


def target_row(context, target):
    """For the device that the targets are for; for others only the share."""
    found = measured(context, target)
    judged = context.device['name'] == H200
    aims = (f'{target.must:.2f}', f'{target.stretch:.2f}') if judged else ('', '')
    if not found:
        return ROW.format(target.words, *aims, '-', '-', 'unmeasured')
    share, layer_us, words = found
    judgement = ['R void'] if share is None else [verdict(share, target.must, target.stretch)] if judged else []
    return ROW.format(target.words, *aims, number(share, '.3f'), f'{layer_us:.2f}',
                      ', '.join(judgement + [words] * bool(words)))


def bandwidth_rows(context):
    """For each device separately: two of a kind read at different speeds."""
    uuids = [uuid for uuid in context.state.uuids() if context.state.of_device('bandwidth-before', uuid)]
    if not uuids:
        yield 'Read bandwidth R: unmeasured'
    for uuid in uuids:
        yield from rows_of_bandwidth(context, uuid, f' of {uuid}' if len(uuids) > 1 else '')


def rows_of_bandwidth(context, uuid, which):
    before = context.state.of_device('bandwidth-before', uuid).get('bytes_per_s')
    after = context.state.of_device('bandwidth-after', uuid).get('bytes_per_s')
    if not before:
        yield f'Read bandwidth R{which}: unmeasured'
        return
    words = f'Read bandwidth R{which}: {1e-12 * before:.3f} TB/s before'
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


# ---- several GPUs

def all_reduce_words(exchange):
    sizes = ', '.join(f'{size["bytes"] / 1024:.0f} KiB {1e6 * size["seconds"]:.1f} us'
                      for size in exchange['sizes'])
    return f'{sizes} ({exchange["library"]})'


def exchange_rows(data):
    bandwidths = [value for value in data.get('bandwidths', []) if value]
    if len(bandwidths) > 1:
        yield (f'{len(bandwidths)} GPUs read {1e-12 * min(bandwidths):.3f} to '
               f'{1e-12 * max(bandwidths):.3f} TB/s each')
    if data.get('sizes'):
        yield f'An all-reduce among them: {all_reduce_words(data)}'


def group_row(result, what, tokens_per_s, load_w, words):
    name = f'{result["model"]["id"]} {result["precision"]}, batch {result["batch"]}, {what}'
    joules = load_w / tokens_per_s if load_w and tokens_per_s else None
    return GROUP_ROW.format(name, number(tokens_per_s, '.1f'),
                            f'{1e6 * result["layer_seconds"]:.2f}' if what[0] != 'e' else '-',
                            number(load_w, '.0f'), number(joules, '.3g'), words)


def rank_row(result):
    ranks = result['tensor_parallel']
    return group_row(result, f'on {ranks["devices"]} together', result['tokens_per_s'],
                     result['load_power_w'],
                     words_of(ranks['all_reduce_s'] and 1e6 * ranks['all_reduce_s'], 'all-reduce {:.1f} us'))


def share_row(result):
    return group_row(result, f'a share of 1/{result["shard"]["of"]}', None, result['load_power_w'],
                     words_of(result['read_bandwidth_share'], '{:.3f} R'))


def together_row(results):
    """From the results of each device, each of which contains what all of them did at once."""
    both, alone = results[0]['together'], sum(result['tokens_per_s'] for result in results)
    total = both['total_tokens_per_s']
    apart = 100 * (1 - both['slowest'] / both['fastest'])
    return group_row(results[0], f'each of {both["devices"]} at once', total, both['load_power_w'],
                     f'{100 * total / alone:.1f} % of one by one, {apart:.1f} % apart')


def spread_words(told):
    """From each GPU's telemetry: which ran slowest, which got hottest, and what throttled any of
    them."""
    clocks = [(telemetry['core_clock_hz']['median'], i) for i, telemetry in enumerate(told)
              if telemetry['core_clock_hz']['median']]
    heats = [(telemetry['core_temperature_c']['max'], i) for i, telemetry in enumerate(told)
             if telemetry['core_temperature_c']['max']]
    words = [f'{1e-6 * clock:.0f} MHz {which} (the GPU at {i})' for which, (clock, i) in
             (('slowest', min(clocks)), ('fastest', max(clocks)))] if clocks else []
    words += [f'hottest {heat:.0f} C (at {i})' for heat, i in [max(heats)]] if heats else []
    return words + [f'{throttle["reason"]} {throttle["seconds"]:.1f} s (at {i})'
                    for i, telemetry in enumerate(told) for throttle in telemetry['throttles']]


def spread_rows(ranks, together):
    """By their positions in the record's members, or in the order of --device."""
    groups = [(f'on {r["tensor_parallel"]["devices"]} together, batch {r["batch"]}',
               [member['telemetry'] for member in r['tensor_parallel']['members']]) for r in ranks]
    if together:
        groups.append((f'each of {len(together)} at once', [r['together']['telemetry'] for r in together]))
    for what, told in groups:
        words = spread_words(told)
        if words:
            yield f'{what}: {", ".join(words)}'


def group_rows(context):
    folders = sorted((context.out / 'records' / workloads.RANKS_FOLDER).glob('*'))
    together = [r for r in results_of(context, 'together') if r['together']['devices']]
    ranks = [result for folder in folders for result in results_in(folder)]
    rows = [*(rank_row(result) for result in ranks),
            *([together_row(together)] if together else []),
            *(share_row(result) for result in results_of(context, 'share'))]
    head = [GROUP_ROW.format('', 'token/s', 'us/layer', 'load W', 'J/token', '')] if rows else []
    return (sentences(exchange_rows(context.state.data('all-reduce'))) + head + rows
            + sentences(spread_rows(ranks, together)))


# ---- the ladder and the peer

def ladder_rows(context):
    """The fastest variant of each workload compared with the default; the complete tables are in the
    log."""
    whole, few = (context.state.data(name).get('lines', []) for name in ('ladder', 'ladder-rows'))
    return sentences(whole or few)


def peer_rounds(context, workload):
    names = (name for name in context.state.steps if name.startswith(f'peer {workload.name()} '))
    return [context.state.data(name) for name in names if context.state.status(name) == DONE]


def types_words(types):
    return f'{types["weights"]} x {types["activations"]}'


def of_batch(results, batch):
    return next((one for one in results if one['batch'] == batch), None)


def peer_row(label, batch, pairs):
    """The median of the pairs of our result and the peer's."""
    ratio = statistics.median(ours['tokens_per_s'] / peer['tokens_per_s'] for ours, peer in pairs)
    ours, peer = (one['types'] for one in pairs[-1])
    words = [] if batch > workloads.PEER_BATCH else ['met' if ratio >= workloads.PEER_RATIO else 'BELOW']
    if ours['activations'] != peer['activations']:
        words.append(f'unlike, {types_words(ours)} and {types_words(peer)}')
    return ROW.format(label, peer_must(batch), '', f'{ratio:.3f}', f'{len(pairs)} pair{"s" * (len(pairs) > 1)}',
                      ': '.join(words))


def peer_must(batch):
    return '' if batch > workloads.PEER_BATCH else f'{workloads.PEER_RATIO:.2f}'


def peer_rows(context, workload):
    rounds = peer_rounds(context, workload)
    variants = list(dict.fromkeys(one['variant'] for data in rounds for one in data['peer']))
    for batch in workload.batch:
        name = dataclasses.replace(workload, batch=(batch,)).name()
        if not rounds:
            yield ROW.format(name, peer_must(batch), '', '-', '', 'unmeasured')
        for variant in variants:
            label, found = f'{name} / {variant}', [(data['ours'].get(one['activations'], []), one) for data in rounds
                                                   for one in data['peer'] if one['variant'] == variant]
            pairs = [(of_batch(ours, batch), of_batch(peer['results'], batch)) for ours, peer in found]
            pairs = [(ours, peer) for ours, peer in pairs if ours and peer]
            yield peer_row(label, batch, pairs) if pairs else ROW.format(
                label, peer_must(batch), '', '-', '', f'unmeasured: {found[-1][1]["failed"]}')


def missing_peer(context):
    words = {step['words'] for name, step in context.state.steps.items()
             if name.startswith('peer ') and step['status'] == 'missing'}
    return [f'The peer is missing ({"; ".join(sorted(words))}): that we are not slower is not shown.'
            ] if words else []


# ---- power, verification, steps

def doubts_of(record, result):
    """What a record says about its own conditions."""
    others = record.get('environment', {}).get('device_state', {}).get('other_processes')
    return [*(name.replace('_', ' ') for name, is_set in result.get('flags', {}).items() if is_set),
            *(['other processes on the device'] if others else []),
            *(['launches one by one'] if result.get('step_form', {}).get('fallback') else [])]


def doubt_rows(context):
    """A figure that meets a target is worth less if its record has a flag."""
    found, count = {}, 0
    for path in sorted((context.out / 'records').rglob('*.json')):
        record = json.loads(path.read_text())
        for result in record['results']:
            count += 1
            for doubt in doubts_of(record, result):
                name = f'{result["model"]["id"]} {result["precision"]}, batch {result["batch"]}'
                found.setdefault(doubt, []).append(name)
    for doubt, names in found.items():
        yield f'{doubt}: {len(names)} of {count} results ({"; ".join(dict.fromkeys(names))})'


def number(value, form):
    return '-' if value is None else format(value, form)


def prompt_rows(context):
    """Also of a rehearsal on the processor, whose kernels support prompts as well."""
    rows = [PROMPT_ROW.format(f'{result["model"]["id"]} {result["precision"]}', prompt['positions'],
                              f'{prompt["tokens_per_s"]:.0f}', f'{1e3 * prompt["seconds"]:.1f}', prompt['library'])
            for result in results_of(context, 'prompts') for prompt in result['prefills']]
    return [PROMPT_ROW.format('', 'input', 'token/s', 'TTFT ms', 'products'), *rows] if rows else []


def power_row(result, how=''):
    sampled, load = result['sampled_power_w'], result['load_power_w']
    narrow = ', fp8 activations' if result['types']['activations'] == 'e4m3' else ''
    name = f'{result["model"]["id"]} {result["precision"]}{narrow}, batch {result["batch"]}, ' \
           f'context {result["context"]}{how}'
    apart = '-' if sampled is None else f'{100 * (sampled / load - 1):+.1f} %'
    return POWER_ROW.format(name, number(result['idle_power_w'], '.0f'), f'{load:.0f}', apart,
                            number(result['joules_per_token'], '.3g'))


def what_of(result):
    """What tells one workload from another, as a record states it."""
    return (result['model']['id'], result['precision'], result['batch'], result['context'], result['types']['kv'],
            result['types']['activations'])


def power_rows(context):
    """Of the records, and of quick results where there is no record."""
    metered, quick = ([result for result in results if result['load_power_w'] is not None]
                      for results in (results_of(context), results_of(context, 'quick')))
    known = {what_of(result) for result in metered}
    rows = [*(power_row(result) for result in metered),
            *(power_row(result, f', {quick_words(context)}') for result in quick if what_of(result) not in known)]
    if rows:
        return [POWER_ROW.format('', 'idle', 'load', 'sampled', 'J/token'), *rows]
    meters = sorted({result['energy_meter'] for folder in ('', 'quick') for result in results_of(context, folder)})
    return sentences([f'unmeasured{": " if meters else ""}{"; ".join(meters)}'])


def compared(context):
    """Every comparison with the oracle: of a record's result, or a step's that only verifies."""
    for folder in ('', 'quick', 'prompts', 'attention', 'grid'):
        for result in results_of(context, folder):
            yield {**result['verification'], 'count': 1, 'what': f'{result["model"]["id"]} {result["precision"]}, '
                   f'batch {result["batch"]}, context {result["context"]}'}
    for step in context.state.steps.values():
        if step['data'].get('compared'):
            yield step['data']['compared']


def worst_error(context):
    found = list(compared(context))
    if not found:
        return 'Verified against the oracle: nothing yet'
    worst = max(found, key=lambda one: one['max_error'] / one['tolerance'])
    return (f'Verified against the oracle: {sum(one["count"] for one in found)} comparisons; the worst error is '
            f'{worst["max_error"]:.2e} of {worst["tolerance"]:.0e} allowed ({worst["what"]})')


def step_rows(context, plan):
    """The steps that are not done, those with the same kind and reason together."""
    groups = {}
    for step in plan:
        kept = context.state.steps.get(step.name, NOT_RUN)
        if kept['status'] != DONE:
            kind, _, what = step.name.partition(' ')
            groups.setdefault((kind, kept['status'], kept['words']), []).append(what)
    for (kind, status, words), names in groups.items():
        which = f' ({", ".join(names)})' if any(names) else ''
        yield f'{kind}{which}: {status}{": " if words else ""}{words}'


def library_rows(context):
    """For a GPU, which of its driver's libraries do not load: without them there are no watts, or
    nothing at all."""
    kept = context.state.steps.get('libraries', NOT_RUN)
    if kept['status'] == 'missing' and context.device['backend'] != 'cpu':
        yield f'Libraries: {kept["words"]}'


def time_rows(context, plan):
    """What was built for this check, and when the first record was complete."""
    built = context.state.steps.get('build')
    if built:
        yield from sentences([f'The programs: {built["words"]}'])
    first = next((context.state.steps[step.name] for step in plan if step.name.startswith(('record ', 'quick '))
                  and context.state.status(step.name) == DONE), None)
    if first:
        yield f'The first record: {first["since_start"]:.0f} s after the check was called'


def device_rows(context):
    """Which step ran on which device, if several of a kind participated."""
    uuids = context.state.uuids()
    for uuid in uuids if len(uuids) > 1 else []:
        yield f'{uuid}: ' + ', '.join(name for name, step in context.state.steps.items()
                                      if step['uuid'] == uuid and step['status'] == DONE)


# ---- a short trial's

def quick_rows(context):
    """Records of a few seconds, and a large batch on few layers in each way."""
    found = [(result, 'quick') for result in results_of(context, 'quick')]
    for folder in sorted((context.out / 'records' / 'ways').glob('*')):
        found += [(result, folder.name) for result in results_in(folder)]
    return [ROW.format(f'{how}: {result["model"]["id"]} {result["precision"]}, batch {result["batch"]}', '', '',
                       number(result['read_bandwidth_share'], '.3f'), f'{1e6 * result["layer_seconds"]:.2f}',
                       f'context {result["context"]}, {result["layers_measured"]} layers')
            for result, how in found]


def counted_rows(context):
    launches = context.state.data('ncu').get('launches', [])
    rows = [COUNTED_ROW.format(one['kernel'][:44], f'{1e-3 * one.get("time", 0):.2f}',
                               f'{1e-12 * one.get("DRAM read", 0):.3f}', f'{one.get("warps active", 0):.0f} %',
                               f'{one.get("issue slots used", 0):.0f} %', f'{one.get("registers", 0):.0f}')
            for one in launches]
    return [COUNTED_ROW.format('', 'us', 'TB/s', 'warps', 'issue', 'registers'), *rows] if rows else []


def stamp_rows(context):
    return stamps.rows(context.state.data('stamps').get('kernels', []))


def sentences(rows):
    return [line for row in rows for line in textwrap.wrap(row, WIDTH, subsequent_indent='  ')]


def section(title, lines):
    return ['', title, *('  ' + line for line in lines)] if lines else []


def make(context, plan):
    statuses = [context.state.status(step.name) for step in plan]
    name, out, lacking = context.device['name'], statuses.count(LEFT_OUT), statuses.count(MISSING)
    head = [f'GPU check of {name}: {statuses.count(DONE)} of {len(plan) - out} steps done'
            + (f', {lacking} lack what they need here' if lacking else '')
            + (f', {out} are not for this machine' if out else ''), *time_rows(context, plan)]
    if context.tiny:
        head.append('A rehearsal on a small shape: these are no figures of the device.')
    elif name != H200:
        head.append(f'The targets are of one {H200}; this is another device: shares of its own R alone.')
    lines = head + [
        *sentences([*library_rows(context), *bandwidth_rows(context), worst_error(context)]),
        *section('Share of R', [ROW.format('', *(('must', 'stretch') if name == H200 else ('', '')),
                                           'measured', 'us/layer', '')]
                 + [target_row(context, target) for target in workloads.TARGETS]),
        *section('Records of seconds', quick_rows(context)),
        *section('Fences behind copies', context.state.data('fences').get('lines', [])),
        *section('By ncu', counted_rows(context)),
        *section('By stamps, of the last run of each kernel: medians in us (stamps/stamps.csv has every block)',
                 stamp_rows(context)),
        *section('Prompts', prompt_rows(context)),
        *section('Several GPUs', group_rows(context)),
        *section('Ladder: the fastest variant of each workload (logs/ladder.log has all)',
                 ladder_rows(context)),
        *section('Our token/s over those of PyTorch with CUDA graphs, median of interleaved pairs',
                 [row for workload in context.peers() for row in peer_rows(context, workload)]
                 + sentences(missing_peer(context))),
        *section('Watts', power_rows(context)),
        *section('What the records say against themselves', sentences(doubt_rows(context))),
        *section('Devices of one kind, each with its steps', sentences(device_rows(context))),
        *section('Not done', sentences(step_rows(context, plan))),
    ]
    return '\n'.join(line.rstrip() for line in lines) + '\n'
