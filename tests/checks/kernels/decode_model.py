"""An independent implementation of the decode step, from decode.h and weights.h and the models' own
code, in the form in which these compute it: keys and values expanded from latent vectors for every
position, rotated pairs as complex numbers, experts gathered token by token, prompts with a causal
mask. Rounding to a format searches its values, and the table of weights comes from the normal
distribution of Python's library."""

import bisect
import functools
import itertools
import json
import math
import re
import statistics
from pathlib import Path

HEADER = Path(__file__).resolve().parents[3] / "kernels/weights.h"
TENSORS = [name.lower() for name in re.findall(r"^  TENSOR_(\w+),", HEADER.read_text(), re.M)]
MASK, GOLDEN = 2**64 - 1, 0x9E3779B97F4A7C15
NORMAL = statistics.NormalDist(0, 32.05)
UPPER = [max(1, round(NORMAL.inv_cdf((i + 0.5) / 256))) for i in range(128, 256)]
BELL = [-q for q in reversed(UPPER)] + UPPER



def magnitudes(exponent_bits, fraction_bits, bias):
    """The values of a small float's codes, without its sign: subnormals, then the rest."""
    ones = 2**fraction_bits
    return ([f / ones * 2.0 ** (1 - bias) for f in range(ones)]
            + [(1 + f / ones) * 2.0 ** (e - bias) for e in range(1, 2**exponent_bits)
               for f in range(ones)])


E4M3 = magnitudes(4, 3, 7)[:-1]  # the last is not a number
# Elements in blocks: their size, and for those of the OCP MX specification the magnitudes and the
# exponent of the largest (section 5.3), for the others the largest.
MX = {"mxfp4": (32, magnitudes(2, 1, 1), 2), "mxfp6_e2m3": (32, magnitudes(2, 3, 1), 2),
      "mxfp6_e3m2": (32, magnitudes(3, 2, 3), 4)}
NVFP4 = 16, magnitudes(2, 1, 1)
GROUPS = {"int8_group": (128, 127), "int4_group": (128, 7)}
RMS, LAYER = range(2)
SWIGLU, CLAMPED, GELU = range(3)
PLAIN, LLAMA3, YARN = range(3)
SOFTMAX_CHOSEN, SOFTMAX_ALL, SIGMOID = range(3)
QKV, OUTPUT, MLP, ROUTER = 1, 2, 4, 8


def mix(x):
    x = (x ^ x >> 33) * 0xFF51AFD7ED558CCD & MASK
    x = (x ^ x >> 33) * 0xC4CEB9FE1A85EC53 & MASK
    return x ^ x >> 33


def bits(x, count):
    """x with `count` significant bits, rounded to nearest even as round() does."""
    step = 2.0 ** (math.frexp(x)[1] - count)
    return round(x / step) * step


def bf16(x):
    return bits(x, 8)


def nearest(values, x):
    """Of two equally near values, the one with an even code."""
    above = min(bisect.bisect_left(values, abs(x)), len(values) - 1)
    code = min({max(above - 1, 0), above}, key=lambda c: (abs(abs(x) - values[c]), c % 2))
    return math.copysign(values[code], x)


def e4m3(x):
    return nearest(E4M3, x)


def in_blocks(kind, row, most):
    """A row of weights as blocks with a scale each; `most` is the largest value that NVFP4's tensor
    could hold."""
    size = MX[kind][0] if kind in MX else NVFP4[0] if kind == "nvfp4" else GROUPS[kind][0]
    out = []
    for first in range(0, len(row), size):
        block = row[first:first + size]
        m = max(map(abs, block))
        if kind in MX:
            scale = 2.0 ** (math.frexp(m)[1] - 1 - MX[kind][2])
            out += [nearest(MX[kind][1], v / scale) * scale for v in block]
        elif kind == "nvfp4":
            tensor = bits(most / 2688, 24)
            scale = e4m3(bits(bits(m / 6, 24) / tensor, 24)) * tensor
            out += [nearest(NVFP4[1], bits(v / bits(scale, 24), 24)) * scale for v in block]
        else:
            largest = GROUPS[kind][1]
            scale = bf16(bits(m / largest, 24))
            out += [max(-largest, min(round(bits(v / scale, 24)), largest)) * scale for v in block]
    return out


def quantise(kind, x):
    if kind == "f32":
        return x
    x = [bits(v, 24) for v in x]
    if kind == "bf16":
        return [bf16(v) for v in x]
    scale = bits(max(map(abs, x)) / (127 if kind == "int8" else 448), 24)
    return [(round if kind == "int8" else e4m3)(bits(v / scale, 24)) * scale for v in x]


def dot(a, b):
    return math.fsum(x * y for x, y in zip(a, b))


def add(*vectors):
    return [math.fsum(values) for values in zip(*vectors)]


def softmax(x):
    e = [math.exp(v - max(x)) for v in x]
    return [v / math.fsum(e) for v in e]


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


class Group:
    """A part of the shape, as decode.h nests it."""

    def __init__(self, values):
        self.__dict__.update(values)


class Model:
    """One line of family_print; `changes` are other values for its fields, such as `rope.factor`."""

    def __init__(self, line, **changes):
        values = json.loads(line)
        for name, value in changes.items():
            at, _, last = ("." + name).rpartition(".")
            (values[at[1:]] if at else values)[last] = value
        for name, value in values.items():
            setattr(self, name, Group(value) if isinstance(value, dict) else value)
        self.turned = self.latent.rope_dim if self.latent.rank else self.head_dim
        self.fine = values.get("fine", "f32" if self.activations == "f32" else "bf16")
        self.seen = []  # the experts chosen, in the order of layers and rows

    # Weights

    def draw(self, tensor, layer, first, count):
        key = mix(self.seed ^ ((layer << 8 | TENSORS.index(tensor)) + 1) * GOLDEN & MASK)
        return [BELL[mix(key ^ i * GOLDEN & MASK) & 255] for i in range(first, first + count)]

    def sigma(self, tensor, fan_in):
        writer = re.search(r"wo$|down|o_bias", tensor)
        deep = math.sqrt(2 * self.layers) if writer else 1
        if tensor == "sinks":
            return 2
        if tensor.endswith("bias"):
            return 1 / 16 if tensor == "router_bias" else 1 / 4 / deep
        if tensor in ("embedding", "keys", "values", "latents"):
            return 1
        clamped = self.mlp == CLAMPED
        loud = 4 if clamped and re.search("gate|up", tensor) else 1
        loud = 1 / 8 if clamped and "down" in tensor else loud
        return loud / math.sqrt(fan_in) / deep

    def kind(self, tensor):
        if tensor in ("embedding", "head"):
            return self.head
        if tensor.startswith("expert"):
            return self.routed
        return "bf16" if tensor in ("router", "k_b", "v_b") else self.weights

    @functools.cache
    def matrix(self, tensor, layer, rows, columns, part=0):
        """The part-th matrix of this size in a tensor: of experts, or of heads."""
        scale = bits(self.sigma(tensor, columns) / 32, 24)
        hold = {"bf16": lambda q: bf16(bits(q * scale, 24)), "int8": lambda q: q * scale,
                "e4m3": lambda q: e4m3(q) * scale}.get(self.kind(tensor))
        first, out = part * rows * columns, []
        for row in range(rows):
            drawn = self.draw(tensor, layer, first + row * columns, columns)
            out.append([hold(q) for q in drawn] if hold else
                       in_blocks(self.kind(tensor), [bits(q * scale, 24) for q in drawn],
                                 bits(BELL[-1] * scale, 24)))
        return out

    def floats(self, tensor, layer, count, part=0):
        scale = bits(self.sigma(tensor, 1) / 32, 24)
        return [bits(q * scale, 24) for q in self.draw(tensor, layer, part * count, count)]

    def times(self, tensor, layer, rows, x, part=0, bias=0):
        out = [dot(row, x) for row in self.matrix(tensor, layer, rows, len(x), part)]
        name = tensor[1:] if tensor[0] == "w" else tensor
        return add(out, self.floats(name + "_bias", layer, rows, part)) if bias & self.biases else out

    # Norms

    def rms(self, tensor, layer, x):
        root = math.sqrt(dot(x, x) / len(x) + self.norm_epsilon)
        return [v / root * (1 + q / 1024) for v, q in zip(x, self.draw(tensor, layer, 0, len(x)))]

    def normalised(self, tensor, layer, x):
        if self.norm == RMS:
            return self.rms(tensor, layer, x)
        mean = statistics.fmean(x)
        root = math.sqrt(statistics.pvariance(x, mean) + self.norm_epsilon)
        weight = self.draw(tensor, layer, 0, len(x))
        bias = self.floats(tensor + "_bias", layer, len(x))
        return [(v - mean) / root * (1 + q / 1024) + b for v, q, b in zip(x, weight, bias)]

    # Rotary embeddings, after transformers' modeling_rope_utils

    def frequencies(self):
        r, dim, base = self.rope, self.turned, self.rope_theta
        plain = [1 / base ** (i / dim) for i in range(0, dim, 2)]
        if r.scaling == LLAMA3:
            return [self.llama3(f) for f in plain]
        if r.scaling == PLAIN:
            return plain

        def correction(rotations):
            return (dim * math.log(r.original_context / (rotations * 2 * math.pi))
                    / (2 * math.log(base)))

        low, high = correction(r.high), correction(r.low)
        if r.whole:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, dim - 1)
        extrapolated = [1 - min(max((i - low) / (high - low), 0), 1) for i in range(dim // 2)]
        return [f / r.factor * (1 - e) + f * e for f, e in zip(plain, extrapolated)]

    def llama3(self, f):
        r, wave = self.rope, 2 * math.pi / f
        if wave > r.original_context / r.low:
            return f / r.factor
        if wave < r.original_context / r.high:
            return f
        smooth = (r.original_context / wave - r.low) / (r.high - r.low)
        return (1 - smooth) * f / r.factor + smooth * f

    def turn(self, x, position):
        """As products of complex numbers."""
        half, out = len(x) // 2, list(x)
        grown = (self.rope.magnitude or 1) if self.rope.scaling == YARN else 1
        for i, f in enumerate(self.frequencies()):
            a, b = (2 * i, 2 * i + 1) if self.rope.interleaved else (i, i + half)
            angle = position * f
            pair = complex(x[a], x[b]) * complex(math.cos(angle), math.sin(angle)) * grown
            out[a], out[b] = pair.real, pair.imag
        return out

    # Attention: one head at a time over lists of keys and values, a position each

    def mix_values(self, query, keys, values, sink):
        scale = (self.score_scale or 1) / math.sqrt(self.head_dim)
        scores = [dot(query, key) * scale for key in keys]
        share = softmax(scores + ([sink] if sink is not None else []))
        return [dot(share, column) for column in zip(*values)]

    def cached(self, tensor, layer, row, position, width):
        first = (row * self.context + position) * width
        return self.kept([q / 32 for q in self.draw(tensor, layer, first, width)])

    def kept(self, x):
        return [(e4m3 if self.kv == "e4m3" else bf16)(bits(v, 24)) for v in x]

    def window_of(self, layer):
        full = self.full_every and (layer + 1) % self.full_every == 0
        return self.window if self.window and not full else self.context

    def heads_of(self, x):
        return [x[i:i + self.head_dim] for i in range(0, len(x), self.head_dim)]

    def attention(self, layer, row, first, inputs):
        """The input of wo, for each position from `first` on."""
        attend = self.latent_heads if self.latent.rank else self.plain_heads
        return attend(layer, row, first, inputs)

    def plain_heads(self, layer, row, first, inputs):
        width, k_width = self.head_dim, self.kv_heads * self.head_dim
        keys, values = ([self.cached(tensor, layer, row, t, k_width) for t in range(first)]
                        for tensor in ("keys", "values"))
        queries = []
        for position, n in enumerate(inputs, first):
            query, key = (self.heads_of(self.times(tensor, layer, rows, n, bias=QKV))
                          for tensor, rows in (("wq", self.heads * width), ("wk", k_width)))
            if self.qk_norm:
                query = [self.rms("q_norm", layer, head) for head in query]
                key = [self.rms("k_norm", layer, head) for head in key]
            queries.append([self.turn(head, position) for head in query])
            keys.append(self.kept(itertools.chain(*(self.turn(head, position) for head in key))))
            values.append(self.kept(self.times("wv", layer, k_width, n, bias=QKV)))
        sinks = self.floats("sinks", layer, self.heads) if self.sinks else [None] * self.heads
        out = []
        for position, heads in enumerate(queries, first):
            mask = range(max(0, position + 1 - self.window_of(layer)), position + 1)
            mixed = []
            for h, query in enumerate(heads):
                at = slice(h * self.kv_heads // self.heads * width,
                           h * self.kv_heads // self.heads * width + width)
                mixed += self.mix_values(query, [keys[t][at] for t in mask],
                                         [values[t][at] for t in mask], sinks[h])
            out.append(mixed)
        return out

    def latent_heads(self, layer, row, first, inputs):
        rank, turned, still = self.latent.rank, self.turned, self.head_dim - self.turned
        entries = [self.cached("latents", layer, row, t, rank + turned) for t in range(first)]
        queries = []
        for position, n in enumerate(inputs, first):
            compressed = self.times("kv_a", layer, rank + turned, n)
            entries.append(self.kept(self.rms("kv_a_norm", layer, compressed[:rank])
                                     + self.turn(compressed[rank:], position)))
            if self.latent.query_rank:
                low = self.times("q_a", layer, self.latent.query_rank, n)
                low = quantise(self.activations, self.rms("q_a_norm", layer, low))
                query = self.times("q_b", layer, self.heads * self.head_dim, low)
            else:
                query = self.times("wq", layer, self.heads * self.head_dim, n)
            queries.append(self.heads_of(query))
        out = [[] for _ in inputs]
        for h in range(self.heads):
            keys = [self.times("k_b", layer, still, entry[:rank], part=h) + entry[rank:]
                    for entry in entries]
            for i, heads in enumerate(queries):
                seen = first + i + 1
                query = quantise(self.fine, heads[h][:still]) + self.turn(heads[h][still:], first + i)
                latent = self.mix_values(query, keys[:seen],
                                         [entry[:rank] for entry in entries[:seen]], None)
                out[i] += self.times("v_b", layer, self.latent.value_dim,
                                     quantise(self.fine, latent), part=h)
        return out

    # MLPs

    def activate(self, gate, up):
        if self.mlp == GELU:
            return [u * 0.5 * math.erfc(-u / math.sqrt(2)) for u in up]
        if self.mlp == SWIGLU:
            return [g * sigmoid(g) * u for g, u in zip(gate, up)]
        gate, up = [min(g, 7) for g in gate], [max(min(u, 7), -7) for u in up]
        return [(u + 1) * g * sigmoid(1.702 * g) for g, u in zip(gate, up)]

    def dense(self, prefix, layer, width, x, part=0, bias=MLP):
        gate = (None if self.mlp == GELU else
                self.times(prefix + "gate", layer, width, x, part, bias))
        up = self.times(prefix + "up", layer, width, x, part, bias)
        inner = quantise(self.activations, self.activate(gate, up))
        return self.times(prefix + "down", layer, self.hidden, inner, part, bias)

    def mixture(self, layer, m, forced):
        e, x = self.experts, quantise(self.activations, m)
        router = self.times("router", layer, e.count, quantise(self.fine, m),
                            bias=0 if e.router == SIGMOID else ROUTER)
        chosen, weights = self.deepseek(layer, router) if e.router == SIGMOID else self.softmaxes(router)
        if forced:
            chosen = forced
        weights = weights(chosen)
        self.seen.append(sorted(chosen, key=lambda k: (-weights[k], k)))
        out = [[weights[k] * v for v in self.dense("expert_", layer, e.hidden, x, part=k)]
               for k in chosen]
        if e.shared_hidden:
            out.append(self.dense("shared_", layer, e.shared_hidden, x, bias=0))
        return add(*out)

    def softmaxes(self, router):
        """Mixtral's and gpt-oss's among the chosen; OLMoE's among all."""
        chosen = sorted(range(len(router)), key=lambda k: (-router[k], k))[:self.experts.chosen]

        def weights(taken):
            among = taken if self.experts.router == SOFTMAX_CHOSEN else range(len(router))
            return dict(zip(among, softmax([router[k] for k in among])))

        return chosen, weights

    def deepseek(self, layer, router):
        """DeepSeek-V3's MoEGate."""
        e = self.experts
        scores = [sigmoid(v) for v in router]
        bias = (self.floats("router_bias", layer, e.count) if self.biases & ROUTER
                else [0] * e.count)
        choice, size = add(scores, bias), e.count // (e.groups or 1)
        groups = [sum(sorted(choice[g:g + size])[-2:]) for g in range(0, e.count, size)]
        kept = sorted(range(len(groups)), key=lambda g: (-groups[g], g))[:e.kept_groups or 1]
        chosen = sorted((k for k in range(e.count) if k // size in kept),
                        key=lambda k: (-choice[k], k))[:e.chosen]

        def weights(taken):
            total = math.fsum(scores[k] for k in taken)
            return {k: scores[k] / total * (e.scale or 1) for k in taken}

        return chosen, weights

    def feed(self, layer, x, forced):
        m = self.normalised("ffn_norm", layer, x)
        if self.experts.count and layer >= self.experts.dense_layers:
            return self.mixture(layer, m, forced)
        self.seen.append([-1] * self.experts.chosen)
        return self.dense("", layer, self.ffn_hidden, quantise(self.activations, m))

    # The whole model

    def forced(self, step, layer, row):
        """The entry of a table [steps][layers][batch][chosen]."""
        chosen = self.experts.chosen
        at = ((step * self.layers + layer) * self.batch + row) * chosen
        return self.table[at:at + chosen] if hasattr(self, "table") else None

    def run(self, row, first, tokens, steps):
        """Logits after the last of tokens at the positions from `first` on; the cache before them is
        the seed's. `steps` are the entries of forced routing."""
        embedding = self.matrix("embedding", 0, self.vocab, self.hidden)
        xs = [embedding[token] for token in tokens]
        for layer in range(self.layers):
            inputs = [quantise(self.activations, self.normalised("attention_norm", layer, x))
                      for x in xs]
            outputs = [self.times("wo", layer, self.hidden, quantise(self.activations, mixed),
                                  bias=OUTPUT)
                       for mixed in self.attention(layer, row, first, inputs)]
            between = xs if self.parallel else [add(x, o) for x, o in zip(xs, outputs)]
            fed = [self.feed(layer, x, self.forced(step, layer, row))
                   for x, step in zip(between, steps)]
            xs = [add(x, o, f) for x, o, f in zip(xs, outputs, fed)]
        narrow = self.head == "bf16" and self.activations in ("int8", "e4m3")
        last = self.normalised("final_norm", 0, xs[-1])
        return self.times("head", 0, self.vocab,
                          quantise("bf16" if narrow else self.activations, last))

    def held_steps(self):
        """Logits after two steps at the last position, and the experts of the second in the order of
        family_print: by layers, then rows."""
        logits, chosen = [], []
        for row in range(self.batch):
            first = self.run(row, self.context - 1, [(self.seed + row) % self.vocab], [0])
            self.seen = []
            logits += self.run(row, self.context - 1, [first.index(max(first))], [1])
            chosen.append(self.seen)
        return logits, [k for layer in range(self.layers) for row in chosen for k in row[layer]]

    def prompted(self):
        """Logits of a step from token 0 after the prompt, for the last row."""
        tokens = [*self.prompt, 0]
        return self.run(self.batch - 1, 0, tokens, [*range(len(self.prompt)), 0])
