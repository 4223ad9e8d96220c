"""Limits on processor seconds that mean the same on any machine: they grow with how slow this one is."""
import json
import mmap
import tempfile
import time
import zlib

WORK_S = 0.06  # the time of work() on the machine that the limits are set for: a system's calls are cheap there
AS_SLOW_AT_MOST = 10  # an unbounded limit would not be one


def compute():
    """Numbers to text and back, and packing bytes."""
    numbers = [i * 1.000123 for i in range(60000)]
    text = json.dumps(numbers)
    assert json.loads(text) == numbers and zlib.decompress(zlib.compress(text.encode(), 1)).decode() == text


def touch_memory():
    """Pages of it for the first time: in a virtual machine each may cost ten times as much."""
    with mmap.mmap(-1, 8 << 20) as memory:
        for at in range(0, len(memory), mmap.PAGESIZE):
            memory[at] = 1


def read_files():
    with tempfile.TemporaryDirectory() as folder:
        for number in range(300):
            with open(f'{folder}/{number}', 'w+') as file:
                file.write('x' * 1000)
                file.seek(0)
                file.read()


def work():
    """What the programs do, too."""
    compute()
    touch_memory()
    read_files()


def slowness():
    """The factor by which it takes longer here now, with the current load; 1 if it is faster."""
    began = time.process_time()
    work()
    return min(max(1.0, (time.process_time() - began) / WORK_S), AS_SLOW_AT_MOST)


def is_quick(seconds, limit_s):
    """Whether that many processor seconds are within the limit, adjusted to this machine."""
    return seconds < limit_s or seconds < limit_s * slowness()
