#!/usr/bin/python3
"""stamps: a summary of the time stamps of each kernel, from a backend built with them
(kernels/gpu/device/stamp.h).

    tests/gpu/stamps.py FILE

For each kernel, from the last run of each of its launches: blocks, the multiprocessors that had one, the
maximum number of blocks on one of them at a time, and medians in microseconds: from the preceding launch's
last exit to the first entry (negative: it began during that launch), from entry to the release of the wait
for the preceding launch, from there to the first product, and from the first entry to the last exit.
"""
import csv
import statistics
import sys
from dataclasses import dataclass

COLUMNS = ['launch', 'kernel', 'block', 'multiprocessor', 'entry_ns', 'released_ns', 'multiplied_ns', 'exit_ns']
BETWEEN_STEPS_US = 100  # a longer gap is not between two kernels of a step
HEAD = ('', 'blocks', 'SMs', 'on one', 'gap', 'wait', 'product', 'all')
ROW = '{:<38} {:>7} {:>5} {:>7} {:>8} {:>8} {:>8} {:>8}'


@dataclass(frozen=True)
class Block:
    launch: int
    kernel: str
    multiprocessor: int
    entry: int  # nanoseconds; 0 if not reached
    released: int
    multiplied: int
    exit: int


def read(path):
    """The blocks that completed. ValueError for a file without stamps."""
    with open(path, newline='') as file:
        rows = csv.reader(file)
        if next(rows, None) != COLUMNS:
            raise ValueError('not a file of stamps')
        found = [Block(int(launch), kernel, *map(int, rest)) for launch, kernel, _, *rest in rows]
    return [block for block in found if block.entry and block.exit]


def most_at_once(blocks):
    """The maximum number of blocks that one multiprocessor had at a time."""
    most = 0
    for multiprocessor in {block.multiprocessor for block in blocks}:
        events = sorted(event for block in blocks if block.multiprocessor == multiprocessor
                        for event in ((block.exit, -1), (block.entry, 1)))
        now = 0
        for _, change in events:
            now += change
            most = max(most, now)
    return most


def microseconds(later, earlier):
    return 1e-3 * (later - earlier)


def median(values):
    return statistics.median(values) if values else None


def launch_of(blocks, before):
    """Times of one launch; `before`: the last exit of the preceding launch, or None."""
    first = min(block.entry for block in blocks)
    gap = microseconds(first, before) if before is not None else None
    return {
        'blocks': len(blocks), 'multiprocessors': len({block.multiprocessor for block in blocks}),
        'at_once': most_at_once(blocks),
        'gap': gap if gap is not None and gap < BETWEEN_STEPS_US else None,
        'wait': median([microseconds(b.released, b.entry) for b in blocks if b.released]),
        'product': median([microseconds(b.multiplied, b.released or b.entry) for b in blocks if b.multiplied]),
        'all': microseconds(max(block.exit for block in blocks), first)}


def launches_of(blocks):
    """(kernel, its times) for each launch, in the order in which they began."""
    groups = {}
    for block in blocks:
        groups.setdefault(block.launch, []).append(block)
    before = None
    for group in sorted(groups.values(), key=lambda group: min(block.entry for block in group)):
        yield group[0].kernel, launch_of(group, before)
        before = max(block.exit for block in group)


def summarise(blocks):
    """For each kernel, in the order of their first launches. ValueError if there are no stamps."""
    kernels = {}
    for kernel, launch in launches_of(blocks):
        kernels.setdefault(kernel, []).append(launch)
    if not kernels:
        raise ValueError('no block has stamps')
    return [{'kernel': kernel, 'launches': len(launches),
             'blocks': max(launch['blocks'] for launch in launches),
             'multiprocessors': min(launch['multiprocessors'] for launch in launches),
             'at_once': max(launch['at_once'] for launch in launches),
             **{name: median([launch[name] for launch in launches if launch[name] is not None])
                for name in ('gap', 'wait', 'product', 'all')}} for kernel, launches in kernels.items()]


def rows(kernels):
    def words(value):
        return '-' if value is None else f'{value:.2f}'
    lines = [ROW.format(f'{one["kernel"]} x{one["launches"]}'[:38], one['blocks'], one['multiprocessors'],
                        one['at_once'], *(words(one[name]) for name in ('gap', 'wait', 'product', 'all')))
             for one in kernels]
    return [ROW.format(*HEAD), *lines] if lines else []


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.split('\n\n')[1].strip())
    try:
        print('\n'.join(line.rstrip() for line in rows(summarise(read(sys.argv[1])))))
    except (OSError, ValueError) as error:
        sys.exit(f'{sys.argv[1]}: {error}')


if __name__ == '__main__':
    main()
