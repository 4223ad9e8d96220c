#!/usr/bin/python3
"""The required peer: the same decode step in PyTorch, as CUDA graphs, for tests/gpu/check.

    peer_pytorch.py --model ID | --shape LAYERS,HIDDEN,HEADS,KV_HEADS,HEAD_DIM,FFN_HIDDEN,VOCAB
                    [--precision bf16|fp8-w8a8|fp8-w8a16] [--batch LIST] [--context N]
                    [--time SECONDS] [--device cuda|cpu] [--compile]

A dense Llama as kernels/decode.h describes it: one token per row and step, the greedy token fed back,
the context held and its last slot rewritten, random weights. Products with weights are F.linear
(cuBLASLt) in bf16; torch._scaled_mm with fp8 weights and activations, one scale per row where the
device has that, else per tensor; or F.linear on fp8 weights converted to bf16 in every step
(fp8-w8a16), which --compile fuses, as it does the norms, the gate, rope and the rounding to fp8.
Embedding, head and cache are bf16. Attention is scaled_dot_product_attention, grouped either by enable_gqa or
by taking the heads of a group as queries, whichever is faster here. The residual stream is bf16, as is usual in
PyTorch; ours is float.

What compares with what: bf16 with our bf16; fp8-w8a8 with our fp8 of e4m3 activations; fp8-w8a16 with
our fp8 of bf16 activations. Bytes of weights are alike in both fp8s.

First the step is verified on a small shape against float64. Each batch prints one line of JSON. Exit
status 77, with {"skipped": REASON}, where PyTorch or the device is missing.
"""
import argparse
import csv
import json
import pathlib
import statistics
import sys
import time

SKIPPED, WRONG = 77, 1
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
NAMES = ('layers', 'hidden', 'heads', 'kv_heads', 'head_dim', 'ffn_hidden', 'vocab')
SMALL = dict(zip(NAMES, (2, 256, 8, 2, 64, 512, 512)))
EPSILON, THETA = 1e-5, 1e4  # they do not affect the speed
E4M3_MAX = 448.0  # OCP 8-bit floating point specification, 2023
SEVERAL_ROWS = 3  # of a step that is verified; more rows go the same way
SAMPLE_S = 0.02  # minimum duration of a sample
# Relative norm of the logits' error: our 1e-2, plus a residual stream in bf16; with fp8 activations a value near a
# boundary rounds to its neighbor, an eighth apart.
TOLERANCES = {'bf16': 2e-2, 'fp8-w8a16': 2e-2, 'fp8-w8a8': 5e-2}


def skip(reason):
    print(json.dumps({'skipped': reason}))
    sys.exit(SKIPPED)


try:
    import torch
    import torch.nn.functional as F
except ImportError as error:
    skip(f'no PyTorch: {error}')

HAS_SDPA = hasattr(F, 'scaled_dot_product_attention')
HAS_FP8 = hasattr(torch, 'float8_e4m3fn') and hasattr(torch, '_scaled_mm')


# ---- fp8

def e4m3_type(device):
    """gfx94x multiplies an fp8 other than OCP's, with half the range."""
    architecture = getattr(torch.cuda.get_device_properties(device), 'gcnArchName', '') \
        if device.type == 'cuda' else ''
    return torch.float8_e4m3fnuz if architecture.startswith('gfx94') else torch.float8_e4m3fn


def e4m3_rounded(x):
    """Float values rounded to the nearest even e4m3, for versions of PyTorch without such a type."""
    magnitude = x.abs().clamp(min=2.0 ** -6)
    step = torch.exp2(torch.floor(torch.log2(magnitude)) - 3)
    return (torch.round(x / step) * step).clamp(-E4M3_MAX, E4M3_MAX)


def quantised(x, kind):
    """(values, scales) with one scale per row: max|x| / largest. `kind` is None without such a type."""
    wide = x.float()
    most = torch.finfo(kind).max if kind else E4M3_MAX
    scale = wide.abs().amax(dim=-1, keepdim=True).clamp(min=1e-30) / most
    return (wide / scale).to(kind) if kind else e4m3_rounded(wide / scale), scale


# ---- what --compile fuses

def dequantised(x, weights, scales):
    return F.linear(x, weights.to(torch.bfloat16)) * scales.t().to(torch.bfloat16)


def normed(x, weights):
    wide = x.float()
    scale = torch.rsqrt(wide.pow(2).mean(dim=-1, keepdim=True) + EPSILON)
    return (wide * scale * weights).to(x.dtype)


def gated(both):
    gate, up = both.chunk(2, dim=-1)
    return F.silu(gate) * up


def rotated(x, cosine, sine):
    a, b = x.float().chunk(2, dim=-1)
    return torch.cat((a * cosine - b * sine, a * sine + b * cosine), dim=-1).to(x.dtype)


class Fused:
    """The functions above, unchanged or compiled."""
    FUNCTIONS = dequantised, normed, gated, rotated, quantised
    dequantised, normed, gated, rotated, quantised = map(staticmethod, FUNCTIONS)

    @classmethod
    def compile(cls):
        """A function is compiled once for each shape, up to a limit of 8 unless raised; beyond it, it runs
        uncompiled."""
        if not hasattr(torch, 'compile'):
            skip(f'PyTorch {torch.__version__} has no torch.compile')
        from torch._dynamo import config as limits
        limits.cache_size_limit = 64
        for function in cls.FUNCTIONS:
            setattr(cls, function.__name__, staticmethod(torch.compile(function, dynamic=False)))

    @staticmethod
    def tune(converts_one_row):
        """For the shapes compiled from here on. A product of one row converts its weights on the fly, in one kernel,
        only with coordinate descent (torch/_inductor/decomposition.py, mm): without it, they are written out as
        bf16."""
        from torch._inductor import config as tuning
        tuning.coordinate_descent_tuning = converts_one_row


class Linear:
    """A product with weights in one precision; `values` are the stored values, for the reference."""

    def __init__(self, rows, columns, gain, precision, maker):
        weights = maker.normal(rows, columns, gain / columns ** 0.5)
        self.precision, self.scaling, self.device = precision, 'none', maker.device
        if precision == 'bf16':
            self.weights = weights.to(torch.bfloat16)
            return
        self.kind = e4m3_type(maker.device) if HAS_FP8 else None
        self.weights, self.scales = quantised(weights, self.kind)
        self.scaling = 'row'
        if precision == 'fp8-w8a8' and HAS_FP8 and maker.device.type == 'cuda':
            self.choose_scaling()

    def choose_scaling(self):
        """One scale per row or, if the device refuses that, one for all."""
        try:
            self(torch.ones(1, self.weights.shape[1], dtype=torch.bfloat16, device=self.device))
        except (RuntimeError, ValueError):
            values = self.weights.float() * self.scales
            self.scales = values.abs().max() / torch.finfo(self.weights.dtype).max
            self.weights = (values / self.scales).to(self.weights.dtype)
            self.scaling = 'tensor'

    def values(self):
        return self.weights.double() if self.precision == 'bf16' \
            else self.weights.float().double() * self.scales.double()

    def __call__(self, x):
        if self.precision == 'bf16':
            return F.linear(x, self.weights)
        if self.precision == 'fp8-w8a16':
            return Fused.dequantised(x, self.weights, self.scales)
        values, scale = self.rounded(x)
        if not HAS_FP8 or self.device.type != 'cuda':  # a rehearsal: the values, not the unit
            wide = F.linear(values.float(), self.weights.float())
            return (wide * scale * self.scales.t()).to(torch.bfloat16)
        turned = self.scales.t() if self.scaling == 'row' else self.scales
        return torch._scaled_mm(values, self.weights.t(), scale_a=scale, scale_b=turned,
                                out_dtype=torch.bfloat16)

    def rounded(self, x):
        if self.scaling == 'row':
            return Fused.quantised(x, self.kind)
        scale = x.abs().max().float().clamp(min=1e-30) / torch.finfo(self.weights.dtype).max
        return (x.float() / scale).to(self.weights.dtype), scale


class Maker:
    """Random tensors from one seed."""

    def __init__(self, device, seed):
        self.device = device
        self.generator = torch.Generator(device=device).manual_seed(seed)

    def normal(self, rows, columns, sigma):
        return torch.randn(rows, columns, generator=self.generator, device=self.device,
                           dtype=torch.float32) * sigma


# ---- the model

class Layer:
    def __init__(self, s, precision, maker, batch, context):
        queries, keys = s['heads'] * s['head_dim'], s['kv_heads'] * s['head_dim']
        last = (2 * s['layers']) ** -0.5  # keeps the residual stream's size
        self.qkv = Linear(queries + 2 * keys, s['hidden'], 1, precision, maker)
        self.out = Linear(s['hidden'], queries, last, precision, maker)
        self.gate_up = Linear(2 * s['ffn_hidden'], s['hidden'], 1, precision, maker)
        self.down = Linear(s['hidden'], s['ffn_hidden'], last, precision, maker)
        self.norms = [1 + 0.1 * maker.normal(1, s['hidden'], 1)[0] for _ in range(2)]
        shape = (batch, s['kv_heads'], context, s['head_dim'])
        self.keys, self.values = (maker.normal(batch * s['kv_heads'] * context, s['head_dim'], 1)
                                  .to(torch.bfloat16).reshape(shape) for _ in range(2))


class Model:
    def __init__(self, shape, precision, batch, context, device, seed=1):
        maker = Maker(device, seed)
        self.shape, self.batch, self.context, self.attention = shape, batch, context, 'rows'
        self.embedding = maker.normal(shape['vocab'], shape['hidden'], 1).to(torch.bfloat16)
        self.layers = [Layer(shape, precision, maker, batch, context) for _ in range(shape['layers'])]
        self.norm = 1 + 0.1 * maker.normal(1, shape['hidden'], 1)[0]
        self.head = Linear(shape['vocab'], shape['hidden'], 1, 'bf16', maker)
        half = shape['head_dim'] // 2
        angles = (context - 1) / THETA ** (torch.arange(half, device=device).double() / half)
        self.cosine, self.sine = (f(angles).float() for f in (torch.cos, torch.sin))
        self.tokens = torch.arange(batch, device=device) % shape['vocab']
        self.logits = None

    def rotated(self, x):
        return Fused.rotated(x, self.cosine, self.sine)

    def attend(self, queries, layer):
        """queries [batch][heads][head_dim]; the heads of one group are rows that read the same keys."""
        s = self.shape
        if self.attention == 'enable_gqa':
            return F.scaled_dot_product_attention(queries.unsqueeze(2), layer.keys, layer.values,
                                                  enable_gqa=True).squeeze(2)
        rows = queries.reshape(self.batch, s['kv_heads'], -1, s['head_dim'])
        if HAS_SDPA:
            return F.scaled_dot_product_attention(rows, layer.keys, layer.values)
        scores = rows @ layer.keys.transpose(-1, -2) * s['head_dim'] ** -0.5
        return torch.softmax(scores.float(), dim=-1).to(rows.dtype) @ layer.values

    def layer_step(self, x, layer):
        s = self.shape
        q, k, v = layer.qkv(Fused.normed(x, layer.norms[0])).split(
            [s['heads'] * s['head_dim']] + [s['kv_heads'] * s['head_dim']] * 2, dim=-1)
        layer.keys[:, :, -1] = self.rotated(k.reshape(self.batch, s['kv_heads'], -1))
        layer.values[:, :, -1] = v.reshape(self.batch, s['kv_heads'], -1)
        attended = self.attend(self.rotated(q.reshape(self.batch, s['heads'], -1)), layer)
        x = x + layer.out(attended.reshape(self.batch, -1))
        both = layer.gate_up(Fused.normed(x, layer.norms[1]))
        return x + layer.down(Fused.gated(both))

    def forward(self):
        x = self.embedding[self.tokens]
        for layer in self.layers:
            x = self.layer_step(x, layer)
        return self.head(Fused.normed(x, self.norm))

    def step(self):
        self.logits = self.forward()
        self.tokens.copy_(self.logits.argmax(dim=-1))


# ---- the reference: the formulas of kernels/decode.h in float64, implemented independently

def reference_product(linear, x):
    """float64, from the stored values; fp8 activations are rounded as in the step."""
    if linear.precision == 'fp8-w8a8':
        values, scale = linear.rounded(x.to(torch.bfloat16))
        x = values.float().double() * scale.double()
    return x @ linear.values().transpose(0, 1)


def reference_norm(x, weights):
    return x / (x.pow(2).mean(-1, keepdim=True) + EPSILON).sqrt() * weights.double()


def reference_turn(x, cosine, sine):
    half = x.shape[-1] // 2
    first, second = x[..., :half], x[..., half:]
    return torch.cat([first * cosine - second * sine, second * cosine + first * sine], -1)


def reference_attention(model, layer, q, k, v):
    """Head by head, over a cache of its own."""
    s, outputs = model.shape, []
    group = s['heads'] // s['kv_heads']
    for head in range(s['heads']):
        at = head // group
        keys, values = layer.keys[:, at].double(), layer.values[:, at].double()
        keys = torch.cat([keys[:, :-1], k[:, at:at + 1]], 1)
        values = torch.cat([values[:, :-1], v[:, at:at + 1]], 1)
        scores = torch.einsum('bd,bcd->bc', q[:, head], keys) / s['head_dim'] ** 0.5
        outputs.append(torch.einsum('bc,bcd->bd', torch.softmax(scores, -1), values))
    return torch.cat(outputs, -1)


def reference(model):
    s, batch = model.shape, model.batch
    cosine, sine = model.cosine.double(), model.sine.double()
    x = model.embedding[model.tokens].double()
    queries, keys = s['heads'] * s['head_dim'], s['kv_heads'] * s['head_dim']
    for layer in model.layers:
        qkv = reference_product(layer.qkv, reference_norm(x, layer.norms[0]))
        q = reference_turn(qkv[:, :queries].reshape(batch, s['heads'], -1), cosine, sine)
        k = reference_turn(qkv[:, queries:queries + keys].reshape(batch, s['kv_heads'], -1), cosine, sine)
        v = qkv[:, queries + keys:].reshape(batch, s['kv_heads'], -1)
        x = x + reference_product(layer.out, reference_attention(model, layer, q, k, v))
        inner = reference_product(layer.gate_up, reference_norm(x, layer.norms[1]))
        gate, up = inner[:, :s['ffn_hidden']], inner[:, s['ffn_hidden']:]
        x = x + reference_product(layer.down, gate / (1 + torch.exp(-gate)) * up)
    return reference_product(model.head, reference_norm(x, model.norm))


def relative_error(model):
    """For the worst row; NaN if anything is not finite."""
    expected = reference(model)
    found = model.forward().double()
    return ((found - expected).norm(dim=-1) / expected.norm(dim=-1)).max().item()


def verify(precision, rows, device):
    """The worst error over every way of grouping the heads."""
    worst = 0.0
    for attention in attentions(device):
        model = Model(SMALL, precision, rows, 65, device)
        model.attention = attention
        error = relative_error(model)
        if not error <= TOLERANCES[precision]:
            sys.exit(f'{precision}, {attention}: relative error {error:.3g}, '
                     f'{TOLERANCES[precision]} allowed')
        worst = max(worst, error)
    return worst


# ---- time

def synchronize(device):
    if device.type == 'cuda':
        torch.cuda.synchronize(device)


def attentions(device):
    if not HAS_SDPA or device.type != 'cuda':
        return ['rows']
    try:
        q = torch.ones(1, 2, 1, 16, dtype=torch.bfloat16, device=device)
        F.scaled_dot_product_attention(q, q[:, :1], q[:, :1], enable_gqa=True)
    except (TypeError, RuntimeError):
        return ['rows']
    return ['rows', 'enable_gqa']


def seconds_of(run, times, device):
    synchronize(device)
    start = time.perf_counter()
    for _ in range(times):
        run()
    synchronize(device)
    return (time.perf_counter() - start) / times


def captured(model, device):
    """(what makes one step, whether it is a graph): every launch of it recorded once."""
    if device.type != 'cuda':
        return model.step, False
    stream = torch.cuda.Stream(device)
    stream.wait_stream(torch.cuda.current_stream(device))
    with torch.cuda.stream(stream):
        for _ in range(3):
            model.step()
    torch.cuda.current_stream(device).wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model.step()
    return graph.replay, True


def fastest(model, device):
    """(run, is a graph) with the faster attention, which the model then keeps."""
    best = None
    for attention in attentions(device):
        model.attention = attention
        run, graph = captured(model, device)
        seconds = seconds_of(run, 5, device)
        if best is None or seconds < best[0]:
            best = seconds, attention, run, graph
    model.attention = best[1]
    return best[2], best[3]


def sampled(run, device, seconds):
    """Seconds per step, one for each sample, for that long; before that a third of it for warming up."""
    one = seconds_of(run, 2, device)
    steps = max(1, round(SAMPLE_S / one))
    end = time.perf_counter() + seconds / 3
    while time.perf_counter() < end:
        seconds_of(run, steps, device)
    samples, end = [], time.perf_counter() + seconds
    while len(samples) < 5 or time.perf_counter() < end:
        samples.append(seconds_of(run, steps, device))
    return samples


def measure(options, shape, batch, device, error):
    model = Model(shape, options.precision, batch, options.context, device)
    run, graph = fastest(model, device)
    samples = sampled(run, device, options.time)
    median = statistics.median(samples)
    weights, _, activations = options.precision.partition('-w8')
    activations = {'': 'bf16', 'a8': 'e4m3', 'a16': 'bf16'}[activations]
    return {
        'peer': 'pytorch', 'torch': torch.__version__, 'device': device_name(device),
        'model': options.model or 'shape', 'precision': options.precision, 'batch': batch,
        'context': options.context, 'graph': graph, 'compiled': options.compile,
        'attention': model.attention, 'scaling': model.layers[0].qkv.scaling,
        'types': {'weights': 'bf16' if weights == 'bf16' else 'e4m3', 'activations': activations,
                  'kv': 'bf16', 'head': 'bf16'},
        'tokens_per_s': batch / median, 'step_us': 1e6 * median,
        'layer_us': 1e6 * median / shape['layers'], 'max_error': error, 'tolerance': TOLERANCES[options.precision],
        'logits_finite': bool(torch.isfinite(model.forward()).all()), 'samples': samples,
    }


def device_name(device):
    return torch.cuda.get_device_name(device) if device.type == 'cuda' else 'cpu'


def read_shape(options):
    if options.shape:
        return dict(zip(NAMES, map(int, options.shape.split(','))))
    with open(ROOT / 'data' / 'models.csv', newline='') as file:
        for row in csv.DictReader(file):
            if row['id'] == options.model:
                return {name: int(row[name]) for name in NAMES}
    sys.exit(f'no model {options.model} in data/models.csv')


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], allow_abbrev=False)
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument('--model', help='an id of data/models.csv')
    which.add_argument('--shape', help=','.join(NAMES))
    parser.add_argument('--precision', default='bf16', choices=('bf16', 'fp8-w8a8', 'fp8-w8a16'))
    parser.add_argument('--batch', default='1', help='a list: 1,8,64')
    parser.add_argument('--context', type=int, default=512)
    parser.add_argument('--time', type=float, default=3, help='seconds of sampling')
    parser.add_argument('--device', default='cuda')
    parser.add_argument('--compile', action='store_true', help='fuse what is not a product')
    return parser.parse_args()


def find_device(options):
    if options.device != 'cpu':
        if not torch.cuda.is_available():
            skip(f'PyTorch {torch.__version__} sees no GPU')
        if options.precision != 'bf16' and not HAS_FP8:
            skip(f'PyTorch {torch.__version__} has no fp8')
    device = torch.device(options.device)
    if device.index is not None:
        torch.cuda.set_device(device)  # captured work runs on the current device
    return device


def main():
    options = read_options()
    device = find_device(options)
    batches = [int(batch) for batch in options.batch.split(',')]
    if options.compile:
        Fused.compile()
    errors = {}  # for one row, and for several
    with torch.no_grad():
        for batch in batches:
            rows = min(batch, SEVERAL_ROWS)
            if options.compile:
                Fused.tune(options.precision == 'fp8-w8a16' and rows == 1)
            if rows not in errors:
                errors[rows] = verify(options.precision, rows, device)
            result = measure(options, read_shape(options), batch, device, errors[rows])
            print(json.dumps(result), flush=True)
            if not result['logits_finite']:
                return WRONG
            if device.type == 'cuda':
                torch.cuda.empty_cache()  # what one batch had is there for the next
    return 0


if __name__ == '__main__':
    sys.exit(main())
