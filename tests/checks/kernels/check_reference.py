#!/usr/bin/python3
"""The decode step written a second time, from decode.h and weights.h alone, against the logits that
build/tests/test_reference prints. Formats are rounded to by searching their values, and the table
comes from the normal distribution of Python's library."""

import bisect
import functools
import json
import math
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from support.program import Count, DONE, ROOT, expect, run, skip_all  # noqa: E402

PROGRAM = ROOT / "build/tests/test_reference"
MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15
TENSORS = ("embedding attention_norm wq wk wv wo ffn_norm gate up down final_norm head "
           "keys values").split()
NORMAL = statistics.NormalDist(0, 32.05)
UPPER = [max(1, round(NORMAL.inv_cdf((i + 0.5) / 256))) for i in range(128, 256)]
BELL = [-q for q in reversed(UPPER)] + UPPER
E4M3 = [f * 2.0**-9 for f in range(8)] + [(8 + f) * 2.0 ** (e - 10) for e in range(1, 16)
                                          for f in range(8)][:-1]


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def bits(x, count):
    """x with `count` significant bits, to nearest even as round() does."""
    step = 2.0 ** (math.frexp(x)[1] - count)
    return round(x / step) * step


def bf16(x):
    return bits(x, 8)


def e4m3(x):
    above = min(bisect.bisect_left(E4M3, abs(x)), len(E4M3) - 1)
    code = min({max(above - 1, 0), above}, key=lambda c: (abs(abs(x) - E4M3[c]), c % 2))
    return math.copysign(E4M3[code], x)


def quantise(kind, x):
    if kind in ("f32", "bf16"):
        return [bf16(v) for v in x] if kind == "bf16" else x
    x = [bits(v, 24) for v in x]
    scale = bits(max(map(abs, x)) / (127 if kind == "int8" else 448), 24)
    return [(round if kind == "int8" else e4m3)(bits(v / scale, 24)) * scale for v in x]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def draw(m, tensor, layer, first, count):
    key = mix(m.seed ^ ((layer << 8 | TENSORS.index(tensor)) + 1) * GOLDEN & MASK)
    return [BELL[mix(key ^ i * GOLDEN & MASK) & 255] for i in range(first, first + count)]


@functools.lru_cache(maxsize=None)
def matrix(m, tensor, layer, rows, columns):
    variance = 1 if tensor == "embedding" else columns
    variance *= 2 * m.layers if tensor in ("wo", "down") else 1
    scale = bits(1 / (32 * math.sqrt(variance)), 24)
    kind = m.head if tensor in ("embedding", "head") else m.weights
    hold = {"bf16": lambda q: bf16(bits(q * scale, 24)), "int8": lambda q: q * scale,
            "e4m3": lambda q: e4m3(q) * scale}[kind]
    return [[hold(q) for q in draw(m, tensor, layer, row * columns, columns)]
            for row in range(rows)]


def times(m, tensor, layer, rows, x):
    return [dot(row, x) for row in matrix(m, tensor, layer, rows, len(x))]


def norm(m, tensor, layer, x, kind):
    root = math.sqrt(dot(x, x) / len(x) + m.epsilon)
    return quantise(kind, [v / root * (1 + q / 1024)
                           for v, q in zip(x, draw(m, tensor, layer, 0, len(x)))])


def rope(m, x):
    """As products of complex numbers."""
    half, out = m.head_dim // 2, list(x)
    for i in (i for i in range(len(x)) if i % m.head_dim < half):
        turn = (m.context - 1) * m.theta ** (-2 * (i % m.head_dim) / m.head_dim)
        pair = complex(x[i], x[i + half]) * complex(math.cos(turn), math.sin(turn))
        out[i], out[i + half] = pair.real, pair.imag
    return out


def cached(m, tensor, layer, row, new):
    """The kept values of a row of the batch, position after position; the last is `new`."""
    old = draw(m, tensor, layer, row * m.context * len(new), (m.context - 1) * len(new))
    return [(e4m3 if m.kv == "e4m3" else bf16)(v) for v in [q / 32 for q in old] + new]


def attention(m, layer, row, n):
    width, k_width = m.head_dim, m.kv_heads * m.head_dim
    query = rope(m, times(m, "wq", layer, m.heads * width, n))
    keys = cached(m, "keys", layer, row, rope(m, times(m, "wk", layer, k_width, n)))
    values, out = cached(m, "values", layer, row, times(m, "wv", layer, k_width, n)), []
    for h in range(m.heads):
        at = [t * k_width + h * m.kv_heads // m.heads * width for t in range(m.context)]
        share = [math.exp(dot(query[h * width:], keys[a:a + width]) / math.sqrt(width))
                 for a in at]
        out += [dot(share, [values[a + i] for a in at]) / sum(share) for i in range(width)]
    return out


def step(m, row, token):
    x, kind = matrix(m, "embedding", 0, m.vocab, m.hidden)[token], m.activations
    for layer in range(m.layers):
        n = norm(m, "attention_norm", layer, x, kind)
        wo = times(m, "wo", layer, m.hidden, quantise(kind, attention(m, layer, row, n)))
        x = [a + b for a, b in zip(x, wo)]
        n = norm(m, "ffn_norm", layer, x, kind)
        gate, up = (times(m, tensor, layer, m.ffn, n) for tensor in ("gate", "up"))
        product = quantise(kind, [g / (1 + math.exp(-g)) * u for g, u in zip(gate, up)])
        x = [a + b for a, b in zip(x, times(m, "down", layer, m.hidden, product))]
    kind = "bf16" if m.head == "bf16" and kind in ("int8", "e4m3") else kind
    return times(m, "head", 0, m.vocab, norm(m, "final_norm", 0, x, kind))


class Model:
    def __init__(self, line):
        self.__dict__.update(json.loads(line))

    def error(self):
        """After two steps, largest over all logits."""
        mine = []
        for row in range(self.batch):
            first = step(self, row, (self.seed + row) % self.vocab)
            mine += step(self, row, first.index(max(first)))
        return max(abs(a - b) for a, b in zip(mine, self.logits, strict=True))


def main():
    if not PROGRAM.exists():
        skip_all(f"{PROGRAM.name} is not built")
    printed = run("print", program=PROGRAM)
    expect(printed.returncode == DONE, printed.stderr)
    count = Count()
    for line in printed.stdout.splitlines():
        error = Model(line).error()
        print(f"largest difference: {error:.1e}")
        count.check("differs from the oracle", error < 1e-12, line[:100])
    count.finish()


if __name__ == "__main__":
    main()
