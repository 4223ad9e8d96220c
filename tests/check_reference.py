#!/usr/bin/python3
"""The decode step written a second time, from decode.h and weights.h alone, against the logits that
build/tests/test_reference prints. Every rounding and the hash are done anew here: by searching all
values of a type, and with the normal distribution of Python's library for the table."""

import bisect
import json
import math
import statistics
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).resolve().parent.parent / "build/tests/test_reference"
MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
TENSORS = ("embedding attention_norm wq wk wv wo ffn_norm gate up down final_norm head "
           "keys values").split()
UPPER = [max(1, round(32.05 * statistics.NormalDist().inv_cdf((i + 0.5) / 256)))
         for i in range(128, 256)]
BELL = [-q for q in reversed(UPPER)] + UPPER
E4M3 = [f * 2.0**-9 for f in range(8)] + [(8 + f) * 2.0**(e - 10) for e in range(1, 16)
                                          for f in range(8) if (e, f) != (15, 7)]


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def bits(x, count):
    """x with `count` significant bits, to nearest even; round() does that."""
    if x == 0:
        return 0.0
    step = 2.0 ** (math.frexp(x)[1] - count)
    return round(x / step) * step


def e4m3(x):
    above = min(bisect.bisect_left(E4M3, abs(x)), len(E4M3) - 1)
    codes = {max(above - 1, 0), above}
    return math.copysign(E4M3[min(codes, key=lambda c: (abs(abs(x) - E4M3[c]), c % 2))], x)


def quantise(kind, x):
    if kind == "f32":
        return x
    if kind == "bf16":
        return [bits(v, 8) for v in x]
    scale = max(map(abs, x)) / (127 if kind == "int8" else 448)
    to = round if kind == "int8" else e4m3
    return [to(v / scale) * scale for v in x]


class Model:
    def __init__(self, given):
        self.__dict__.update(given)
        self.q_width, self.k_width = self.heads * self.head_dim, self.kv_heads * self.head_dim

    def draw(self, tensor, layer, first, count):
        key = mix(self.seed ^ ((layer << 8 | TENSORS.index(tensor)) + 1) * GOLDEN & MASK)
        return [BELL[mix(key ^ i * GOLDEN & MASK) & 255] for i in range(first, first + count)]

    def matrix(self, tensor, layer, rows, columns):
        variance = 1 if tensor == "embedding" else columns
        variance *= 2 * self.layers if tensor in ("wo", "down") else 1
        scale = bits(1 / (32 * math.sqrt(variance)), 24)
        kind = self.head if tensor in ("embedding", "head") else self.weights
        hold = {"bf16": lambda q: bits(bits(q * scale, 24), 8), "int8": lambda q: q * scale,
                "e4m3": lambda q: e4m3(q) * scale}[kind]
        return [[hold(q) for q in self.draw(tensor, layer, row * columns, columns)]
                for row in range(rows)]

    def times(self, tensor, layer, rows, x):
        return [math.fsum(a * b for a, b in zip(row, x))
                for row in self.matrix(tensor, layer, rows, len(x))]

    def norm(self, tensor, layer, x, kind):
        root = math.sqrt(math.fsum(v * v for v in x) / len(x) + self.epsilon)
        weight = self.draw(tensor, layer, 0, len(x))
        return quantise(kind, [v / root * (1 + q / 1024) for v, q in zip(x, weight)])

    def heads_of(self, x, turned):
        heads = [x[i:i + self.head_dim] for i in range(0, len(x), self.head_dim)]
        half = self.head_dim // 2
        for head in heads if turned else []:
            for i in range(half):
                turn = (self.context - 1) * self.theta ** (-2 * i / self.head_dim)
                pair = complex(head[i], head[i + half]) * complex(math.cos(turn), math.sin(turn))
                head[i], head[i + half] = pair.real, pair.imag
        return heads

    def cached(self, tensor, layer, row, new):
        """Per position and head; the last position is `new`."""
        kind = e4m3 if self.kv == "e4m3" else lambda v: bits(v, 8)
        first = row * self.context * self.k_width
        old = self.draw(tensor, layer, first, (self.context - 1) * self.k_width)
        flat = [kind(q / 32) for q in old] + [kind(v) for head in new for v in head]
        return [self.heads_of(flat[t * self.k_width:(t + 1) * self.k_width], False)
                for t in range(self.context)]

    def attention(self, layer, row, n):
        queries = self.heads_of(self.times("wq", layer, self.q_width, n), True)
        keys = self.heads_of(self.times("wk", layer, self.k_width, n), True)
        values = self.heads_of(self.times("wv", layer, self.k_width, n), False)
        keys, values = (self.cached("keys", layer, row, keys),
                        self.cached("values", layer, row, values))
        out = []
        for h, query in enumerate(queries):
            kv = h // (self.heads // self.kv_heads)
            weight = [math.exp(math.sumprod(query, key[kv]) / math.sqrt(self.head_dim))
                      for key in keys]
            out += [math.sumprod(weight, [v[kv][i] for v in values]) / sum(weight)
                    for i in range(self.head_dim)]
        return out
