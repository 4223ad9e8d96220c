"""order: the steps of a check, most valuable first: of the whole check, or of one of four calls of a few
minutes each.

A tells whether the kernels are correct and how fast they are, B which of their variants are better, C
gives records with watts and the targets, D the peer, several GPUs and other sizes. Steps that two of them
share are done once.
"""
import groups
import trial
import workloads
from steps import (FASTEST, PEER_ROUNDS, SANITIZERS, VERIFY_WAY, Step, comparing, environment, if_known, ladder,
                   measuring, read_bandwidth, rechecking, sanitizing, verifying)

WHOLE_S = 600  # from this budget on, a check without --plan runs everything, not call by call
IN_A = ('memcheck', 'racecheck')  # of the sanitizer tools
NOT_IN_A = [tool for tool in SANITIZERS if tool not in IN_A]


def measured_steps(kind, needs_s, limit_s, list_of, folder, seconds, variant='', watts=True):
    return [Step(f'{kind} {workload.name()}', needs_s, limit_s, measuring(workload, folder, seconds, variant, watts))
            for workload in list_of]


def beginning(context):
    """For each participating device."""
    return [Step('environment', 5, 300, environment, each_device=True),
            Step('bandwidth-before', 5, 120, read_bandwidth, each_device=True)]


def records(context):
    return measured_steps('record', 5 if context.tiny else 60, 400, context.some(workloads.RECORDS, 2), '',
                          0.2 if context.tiny else 10, FASTEST)


def quick(context):
    """With the kernels' own choice: the first figures do not wait for others to be tried."""
    return measured_steps('quick', 5 if context.tiny else 15, 60, context.some(workloads.QUICK, 2), 'quick',
                          context.quick_s)


def families(context):
    short = 0.1 if context.tiny else 0.5
    return [*(Step(f'record {workload.name()}', 60, 400, if_known(measuring(workload, '', 10, FASTEST)))
              for workload in context.some(workloads.FAMILIES, 0)),
            *(Step(f'prompts {workload.name()}', 5 if context.tiny else 60, 400,
                   if_known(measuring(workload, 'prompts', short, watts=False)))
              for workload in context.some(workloads.PROMPTS, 1))]


def verified(context):
    return [Step(f'verify {workload.name()}', 5 if context.tiny else 10, 120, verifying(workload))
            for workload in context.some(workloads.VERIFIED, 1)]


def sanitized(context, tools):
    return [Step(f'sanitizer {tool}', 5 if context.tiny else 20, 60, sanitizing(tool)) for tool in tools]


def verified_ways(context):
    needs_s = 5 if context.tiny else 15
    return [Step(f'{VERIFY_WAY}{trial.way_name(way)}', needs_s, 60, trial.verifying_way(way)) for way in trial.WAYS]


def timed_ways(context):
    """The duration of a large batch in each way that the device has for it."""
    return [Step(f'way {workload.name()} {trial.way_name(way)}', 5 if context.tiny else 15, 60,
                 trial.timing(workload, way, context.quick_s))
            for workload in context.some([workloads.WAYS], 1)
            for way in trial.WAYS if trial.MANY_ROWS in trial.WAY_BATCHES[way]]


def looking_inside(context):
    needs_s = 5 if context.tiny else 20
    return [Step('fences', 5, 30, trial.fencing), Step('ncu', needs_s, 90, trial.profiling),
            Step('stamps', needs_s, 60, trial.stamping)]


def peers(context, rounds):
    return [Step(f'peer {workload.name()} {number}', 5 if context.tiny else 90, 600, comparing(workload, number))
            for number in rounds for workload in context.peers()]


def ending(context):
    return [Step('recheck', 5 if context.tiny else 60, 600, rechecking, repeats=True)]


def attention(context):
    return measured_steps('attention', 60, 400, context.some(workloads.ATTENTION, 0), 'attention', 5, watts=False)


def whole_ladder(context):
    return [Step('ladder', 5 if context.tiny else 60, 300, ladder)]


def grids(context):
    return measured_steps('grid', 90, 600, context.some(workloads.GRID, 0), 'grid', 2)


# ---- the calls

def call_a(context):
    first, *others = quick(context)
    return [*beginning(context), first, *verified_ways(context), *sanitized(context, IN_A), *others,
            *timed_ways(context), Step('ladder-rows', first.needs_s, 90, trial.few_rows), *looking_inside(context)]


def call_b(context):
    return [*beginning(context), *verified(context), *whole_ladder(context), *sanitized(context, NOT_IN_A)]


def call_c(context):
    return [*beginning(context), *records(context), *attention(context), *families(context),
            *groups.shares_of(context), *ending(context)]


def call_d(context):
    return [*beginning(context), *peers(context, [1]), *groups.steps_of(context), *grids(context),
            *peers(context, range(2, PEER_ROUNDS + 1))]


def whole(context):
    """The first record comes before what takes minutes: the probe verifies what it measures. The others can have
    any variant, so each is compared with the oracle before. Then all that the targets need, and its repetition,
    before what tells more."""
    return [*beginning(context), quick(context)[0], *verified(context), *verified_ways(context),
            *sanitized(context, IN_A), *records(context), *attention(context), *peers(context, [1]),
            *families(context), *groups.steps_of(context), *ending(context), *timed_ways(context),
            *looking_inside(context), *whole_ladder(context), *groups.shares_of(context),
            *sanitized(context, NOT_IN_A), *grids(context), *peers(context, range(2, PEER_ROUNDS + 1))]


CALLS = {'A': call_a, 'B': call_b, 'C': call_c, 'D': call_d, 'all': whole}


def steps_of(context, plan=''):
    """The steps of a call or, if none is named, of all: with a short budget call by call. In a rehearsal a
    few of each kind."""
    if not plan and context.budget.seconds >= WHOLE_S:
        plan = 'all'
    names = [plan] if plan else ['A', 'B', 'C', 'D']
    steps = {step.name: step for name in names for step in CALLS[name](context)}
    return list(steps.values())
