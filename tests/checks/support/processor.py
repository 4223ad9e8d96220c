"""Limits on processor seconds that mean the same on any machine: they grow with how slow this one is."""
import json
import time
import zlib

WORK_S = 0.05  # the time of work() on the processor that the limits are set for
AS_SLOW_AT_MOST = 10  # an unbounded limit would not be one


def work():
    """Operations that the programs do, too: numbers to text and back, and packing bytes."""
    numbers = [i * 1.000123 for i in range(60000)]
    text = json.dumps(numbers)
    assert json.loads(text) == numbers and zlib.decompress(zlib.compress(text.encode(), 1)).decode() == text


def slowness():
    """The factor by which it takes longer here now, with the current load; 1 if it is faster."""
    began = time.process_time()
    work()
    return min(max(1.0, (time.process_time() - began) / WORK_S), AS_SLOW_AT_MOST)


def is_quick(seconds, limit_s):
    """Whether that many processor seconds are within the limit, adjusted to this machine."""
    return seconds < limit_s or seconds < limit_s * slowness()
