"""groups: what several equal GPUs of a machine do together, or one of them for its share.

One model on N of them (tensor parallel), a model on each at once (data parallel), and the duration of
an all-reduce. With one GPU these are left out, and one rank's share of eight is measured instead.
"""
import machine
import running
import table
import workloads
from running import DONE, FAILED, MISSING, Outcome
from steps import SLICES, Step, found_words, probed, run_command

EXCHANGE = 'all-reduce'  # the step's name
TOGETHER = f'together {workloads.TOGETHER.name()}'


def equal_devices(context):
    """The names of the GPUs that are like the measured one; if one was named, only that one."""
    if ':' in context.wanted or context.device['backend'] not in machine.ACCELERATORS:
        return [context.name]
    return [machine.name_of(device) for device in context.devices
            if all(device[key] == context.device[key] for key in ('backend', 'name'))]


def why_alone(context):
    if context.device['backend'] not in machine.ACCELERATORS:
        return f'{context.name} is no GPU'
    return f'--device {context.wanted} names one GPU' if ':' in context.wanted else 'one GPU here'


def joined(names):
    """cuda:0,1 for cuda:0 and cuda:1."""
    return names[0] + ''.join(',' + name.partition(':')[2] for name in names[1:])


def left_out(words):
    return lambda context, limit_s: Outcome(running.LEFT_OUT, words)


# ---- steps

def exchanging(names):
    def run(context, limit_s):
        """How fast each reads its memory, and how long an all-reduce among them takes."""
        context.measured = True
        shown = machine.listed(context.probe, True, joined(names), limit_s, context.log(EXCHANGE))
        exchange = shown['all_reduce']
        if not exchange:
            return Outcome(FAILED, shown['words'] or 'not measured')
        data = {'bandwidths': [device['read_bandwidth'] for device in shown['devices']
                               if machine.name_of(device) in names], **exchange}
        if exchange['why']:
            return Outcome(MISSING, exchange['why'], **data)
        return Outcome(DONE, table.all_reduce_words(exchange), **data)
    return run


def parallel(names, workload):
    def run(context, limit_s):
        if context.state.status(EXCHANGE) == MISSING:
            return Outcome(MISSING, context.state.data(EXCHANGE)['why'])
        where = context.out / 'records' / workloads.RANKS_FOLDER / str(len(names))
        command = run_command(context, workload, 0.2 if context.tiny else 10, where, device=joined(names))
        outcome = probed(context, workloads.RANKS_FOLDER, [*command, '--tensor-parallel', len(names)],
                         limit_s, where)
        if outcome.status == FAILED and SLICES.search(outcome.words):
            return Outcome(running.LEFT_OUT, outcome.words.partition(';')[0])
        return Outcome(outcome.status, outcome.words or found_words(context, workload, where))
    return run


def together(names):
    def run(context, limit_s):
        where, workload = context.out / 'records' / 'together', context.some([workloads.TOGETHER], 1)[0]
        command = run_command(context, workload, 0.2 if context.tiny else 3, where, device=joined(names))
        return probed(context, 'together', command, limit_s, where)
    return run


def sharing(workload, of):
    def run(context, limit_s):
        where = context.out / 'records' / 'share'
        command = run_command(context, workload, 0.2 if context.tiny else 5, where)
        outcome = probed(context, 'share', [*command, '--shard', f'1/{of}'], limit_s, where)
        return Outcome(outcome.status, outcome.words or found_words(context, workload, where))
    return run


# ---- their order

def steps_of(context):
    names, needs_s = equal_devices(context), 5 if context.tiny else 90
    alone = why_alone(context) if len(names) < 2 else ''
    list_of = context.some(workloads.TENSOR_PARALLEL, 1)

    def step(name, limit_s, run, words=alone):
        return Step(name, 0 if words else needs_s, limit_s, left_out(words) if words else run)

    def ranks(count, workload):
        few = f'{len(names)} equal GPUs here' if len(names) < count else ''
        return step(f'{workloads.RANKS_FOLDER} {workload.name()} {count}', 400,
                    parallel(names[:count], workload), alone or few)
    return [step(EXCHANGE, 120, exchanging(names)),
            *(ranks(count, workload) for count in workloads.RANKS for workload in list_of),
            step(TOGETHER, 600, together(names))]


def shares_of(context):
    """Nothing for several GPUs: their own exchanges are measured."""
    of = workloads.TINY_SHARE_OF if context.tiny else workloads.SHARE_OF
    if len(equal_devices(context)) > 1:
        return []
    return [Step(f'share 1/{of} {workload.name()}', 5 if context.tiny else 60, 300, sharing(workload, of))
            for workload in context.some(workloads.TENSOR_PARALLEL, 1)]
