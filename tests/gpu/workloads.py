"""workloads: what is measured on a GPU, most valuable first, and what it is compared with."""
from dataclasses import dataclass

# Ids of data/models.csv. With --tiny all are one small shape that only this check has.
MODELS = {'8b': 'llama-3.1-8b', '70b': 'llama-2-70b', '7b': 'mistral-7b', 'small': 'smollm-135m',
          '8x7b': 'mixtral-8x7b'}
TINY = {'layers': 2, 'hidden': 128, 'heads': 4, 'kv_heads': 2, 'head_dim': 32, 'ffn_hidden': 384,
        'vocab': 512}


@dataclass(frozen=True)
class Workload:
    model: str
    precision: str
    batch: tuple
    context: tuple
    kv: str = 'bf16'
    layers: int = 0  # 0: all
    prompts: tuple = ()  # measured beside decoding, in positions
    activations: str = ''  # fp8; otherwise the device's own choice, on GPUs bf16

    def name(self):
        def words(values):
            return '+'.join(map(str, values))
        return (f'{self.model}-{self.precision}-batch{words(self.batch)}-context{words(self.context)}'
                + (f'-activations{self.activations}' if self.activations else '')
                + (f'-kv{self.kv}' if self.kv != 'bf16' else '')
                + (f'-{self.layers}layers' if self.layers else '')
                + (f'-prompts{words(self.prompts)}' if self.prompts else ''))


def one(model, precision, batch, context, kv='bf16', layers=0, activations=''):
    return Workload(model, precision, (batch,), (context,), kv, layers, activations=activations)


# Verified, not judged by speed: the paths of small and large batches, whole and split contexts.
VERIFIED = [Workload('small', precision, (1, 2, 4, 7, 16, 33), (65, 1000), kv, activations=activations)
            for precision, kv, activations in (('bf16', 'bf16', ''), ('fp8', 'bf16', ''), ('bf16', 'fp8', ''),
                                               ('fp8', 'fp8', ''), ('fp8', 'bf16', 'fp8'))]

RECORDS = [
    one('8b', 'fp8', 1, 512), one('8b', 'bf16', 1, 512), one('70b', 'fp8', 1, 512),
    one('70b', 'fp8', 64, 4096, 'fp8'), one('8b', 'bf16', 64, 512),
    one('70b', 'fp8', 64, 4096, 'fp8', activations='fp8'), one('8b', 'fp8', 64, 512),
    one('70b', 'fp8', 64, 512, 'fp8'), one('7b', 'fp8', 1, 512),
]

# The first that a short trial measures, and a large batch on so few layers that it takes seconds.
QUICK, QUICK_S = RECORDS[:3], 2  # seconds of sampling
WAYS = one('70b', 'fp8', 64, 4096, 'fp8', 4)

# A mixture of experts and a 4-bit model, if the device's kernels support them.
FAMILIES = [one('8x7b', 'fp8', 1, 512), one('8b', 'mxfp4', 1, 512)]

# Prompts into the cache from which a row then decodes.
PROMPTS = [Workload('8b', 'bf16', (1,), (2048,), prompts=(512, 2048))]

# Attention alone, as the difference between two contexts; half the layers, so that both caches fit.
ATTENTION = [Workload('70b', 'fp8', (64,), (512, 4096), kv, 40) for kv in ('bf16', 'fp8')]

# On several equal GPUs: one model on all of them, and one on each at once. On one: its share of eight.
RANKS = (2, 4, 8)
RANKS_FOLDER = 'tensor-parallel'  # of the records
TENSOR_PARALLEL = [one('70b', 'fp8', 64, 4096, 'fp8'), one('70b', 'fp8', 1, 512)]
TOGETHER = one('8b', 'fp8', 64, 512)
SHARE_OF, TINY_SHARE_OF = 8, 2

# The peer's cache is bf16: scaled_dot_product_attention does not support fp8 keys.
PEERS = [Workload('8b', 'bf16', (1, 8, 64, 128), (512,)), Workload('8b', 'fp8', (1, 8, 64, 128), (512,)),
         one('70b', 'fp8', 1, 512)]

# A star around batch 64 and context 4096.
GRID = [workload for model, precision in (('8b', 'bf16'), ('8b', 'fp8'))
        for workload in (Workload(model, precision, (4, 8, 16, 32, 128, 256), (4096,)),
                         Workload(model, precision, (64,), (512, 1024, 2048, 4096, 8192, 16384)))]


@dataclass(frozen=True)
class Target:
    """A share of the device's own read bandwidth, for one H200 (performance targets of the
    project)."""
    words: str
    workload: Workload
    must: float
    stretch: float
    difference: bool = False  # of the workload's two contexts


TARGETS = [
    Target('8B bf16, batch 1', RECORDS[1], 0.90, 0.94),
    Target('8B fp8, batch 1', RECORDS[0], 0.83, 0.90),
    Target('Llama-2-70B fp8, batch 1', RECORDS[2], 0.94, 0.97),
    Target('Llama-2-70B fp8, batch 64, context 4096, fp8 KV', RECORDS[3], 0.75, 0.85),
    Target('attention, bf16 KV, batch 64, context 4096 less 512', ATTENTION[0], 0.88, 0.92, True),
    Target('attention, fp8 KV, batch 64, context 4096 less 512', ATTENTION[1], 0.80, 0.88, True),
]
H200_READ_BANDWIDTH = 4.45e12  # bytes/s that an H200 must read
# Read speeds measured by others, by the beginning of the device's name: BabelStream Dot.
READ_CEILINGS = [('NVIDIA H100 80GB HBM3', 3.18e12, 'Azure AI-benchmarking-guide, ND_H100_v5')]
PEER_RATIO, PEER_BATCH = 1.0, 64  # never slower than the peer, up to this batch; above it there is no verdict
DRIFT = 0.01  # of the read bandwidth, before and after


def tiny(workloads, count):
    """The first few, on a small shape: a rehearsal of the steps, not of their figures."""
    return [Workload(w.model, w.precision, tuple(dict.fromkeys(min(b, 2) for b in w.batch)),
                     tuple(dict.fromkeys(64 if c < 1000 else 96 for c in w.context)), w.kv,
                     prompts=tuple(p // 32 for p in w.prompts), activations=w.activations)
            for w in workloads[:count]]
