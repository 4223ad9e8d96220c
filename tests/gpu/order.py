"""order: the steps of a check, most valuable first."""
import groups
import workloads
from steps import (PEER_ROUNDS, SANITIZERS, Step, comparing, environment, ladder, measuring,
                   read_bandwidth, rechecking, sanitizing)


def measured_steps(kind, needs_s, limit_s, list_of, folder, seconds):
    return [Step(f'{kind} {workload.name()}', needs_s, limit_s, measuring(workload, folder, seconds))
            for workload in list_of]


def steps_of(context):
    """The first record comes before what takes minutes: the probe verifies what it measures.

    In a rehearsal a few of each kind.
    """
    tiny, some, peers = context.tiny, context.some, context.peers()
    short = 0.1 if tiny else 0.5
    first, *others = some(workloads.RECORDS, 2)
    seconds = 0.2 if tiny else 10
    return [
        Step('environment', 5, 300, environment),
        Step('bandwidth-before', 5, 120, read_bandwidth),
        *measured_steps('record', 5 if tiny else 30, 400, [first], '', seconds),
        *measured_steps('verify', 5 if tiny else 20, 180, some(workloads.VERIFIED, 1), 'verify', short),
        *(Step(f'sanitizer {tool}', 5 if tiny else 20, 60, sanitizing(tool)) for tool in SANITIZERS),
        *measured_steps('record', 5 if tiny else 60, 400, others, '', seconds),
        *groups.steps_of(context),
        Step('ladder', 5 if tiny else 60, 300, ladder),
        *(Step(f'peer {workload.name()} {number}', 5 if tiny else 60, 300, comparing(workload, number))
          for number in range(1, PEER_ROUNDS + 1) for workload in peers),
        *groups.shares_of(context),
        *measured_steps('attention', 90, 400, some(workloads.ATTENTION, 0), 'attention', 5),
        *measured_steps('grid', 90, 600, some(workloads.GRID, 0), 'grid', 2),
        Step('recheck', 5 if tiny else 60, 600, rechecking),
    ]
