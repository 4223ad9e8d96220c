"""Decode steps that use every kernel of the GPU backends, at shapes that are not multiples of a tile.

A case is a line for tests/stand_ins/hip/decode.c: weights (and activations), cache, batch, context, and a
shape with a tuning, or a row of tests/support/kernels/pieces.h.
"""
SMALL = '6 2 40 72 101 203'  # heads, KV heads, elements of a head, hidden, FFN, vocabulary
LONG = '8 1 128 72 101 203'  # sums over that many columns are split
TOGETHER = '12 4 20 72 108 100'  # four devices can share it

FORMATS = ['int8', 'mxfp4', 'nvfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'int8_group', 'int4_group']
PAIRS = ['bf16', 'e4m3-bf16', 'e4m3']
EVERY_PIECE = '"all biases, layer norm, clamped SwiGLU, parallel"'
FALCON = '"Falcon: one kv head, parallel, layer norm, GELU"'
WINDOWS = '"sinks, windows, YaRN"'
MIXTRAL = '"Mixtral: softmax of the chosen"'
GPT_OSS = '"gpt-oss: biases of everything, clamped SwiGLU, windows, sinks, YaRN"'

REGISTERS = 'matrix=registers'  # where a step would take wgmma
LLAMAS = ['calibrate', f'bf16 bf16 1 70 {SMALL}', f'bf16 e4m3 2 70 {SMALL}',
          f'bf16 bf16 3 70 {SMALL} {REGISTERS}', f'bf16 bf16 5 200 {LONG} {REGISTERS}',
          f'bf16 bf16 17 70 {SMALL} {REGISTERS}', f'bf16 bf16 33 70 {SMALL} {REGISTERS}',
          f'bf16 bf16 64 20 {SMALL} {REGISTERS}', f'bf16 bf16 1 300 {SMALL} attention_splits=3',
          f'e4m3 e4m3 1 70 {SMALL}', f'e4m3 e4m3 2 70 {LONG}', f'e4m3 bf16 3 70 {SMALL} {REGISTERS}',
          f'e4m3-head e4m3 5 70 {SMALL} {REGISTERS}', f'e4m3 e4m3 17 70 {LONG} {REGISTERS}',
          f'e4m3 bf16 33 70 {SMALL} {REGISTERS}', f'e4m3 bf16 64 20 {SMALL} {REGISTERS}',
          f'e4m3-bf16 bf16 1 70 {SMALL}', f'e4m3-bf16 e4m3 2 70 {SMALL}',
          f'e4m3-bf16 bf16 4 70 {SMALL} {REGISTERS}', f'e4m3-bf16 bf16 5 70 {LONG} {REGISTERS}',
          f'e4m3-bf16 bf16 17 70 {SMALL} {REGISTERS}', f'e4m3-bf16 bf16 33 70 {SMALL} {REGISTERS}',
          f'e4m3-bf16 bf16 64 20 {SMALL} {REGISTERS}']
FEW_BITS = [f'{w} bf16 {b} 70 {SMALL}' for b, ws in (
    (1, ('int8', 'mxfp4-head', 'nvfp4', 'mxfp6_e2m3-head', 'mxfp6_e3m2', 'int8_group-head', 'int4_group')),
    (17, ('int8-bf16-head', 'mxfp4-bf16', 'nvfp4-bf16-head', 'mxfp6_e2m3', 'mxfp6_e3m2-head', 'int8_group',
          'int4_group-bf16-head')),
    (64, ('int8', 'mxfp4', 'nvfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'int8_group', 'int4_group'))) for w in ws]
RANKS = [f'4x bf16 bf16 1 70 {TOGETHER}', f'2x e4m3 e4m3 5 70 {TOGETHER}']
# For a batch of 17 a warp takes 32 columns, for 33 it takes 64.
FAMILIES = [f'{pair} {kv} {batch} 21 {EVERY_PIECE}'
            for pair, kv in zip(PAIRS, ('bf16', 'e4m3', 'bf16')) for batch in (1, 2, 4, 5, 17, 33)] + [
    f'bf16 bf16 1 90 {WINDOWS}', f'bf16 e4m3 2 90 {WINDOWS}', f'bf16 bf16 2 90 128 {WINDOWS}',
    f'bf16 e4m3 1 90 128 {WINDOWS}'] + [
    f'{weights}{also} bf16 {batch} 21 {EVERY_PIECE}' for weights in FORMATS for also, batch in (('', 5), ('-bf16-head', 33))] + [
    f'int8 bf16 1 21 {FALCON}', f'int4_group-bf16 bf16 17 21 {FALCON}']
# By vectors; with one item per expert, of 16 columns; items of 64.
EXPERTS = [f'{pair} bf16 {batch} 5 {piece}' for pair in PAIRS
           for batch, piece in ((1, MIXTRAL), (2, GPT_OSS), (4, MIXTRAL), (7, MIXTRAL), (40, GPT_OSS))] + [
    f'bf16/{weights} bf16 {batch} 5 {piece}' for weights in FORMATS
    for batch, piece in ((1, MIXTRAL), (40, GPT_OSS))] + [
    'bf16 bf16 3 5 "sigmoid router of groups, shared expert, dense layers first"',
    'bf16 bf16 3 5 "softmax of all, a bias"', 'int8/int8_group bf16 40 5 "one expert of one"',
    f'int8 bf16 5 5 {GPT_OSS}', f'mxfp4-bf16 bf16 2 5 {GPT_OSS}']
# By vectors; by matrix tiles of 16 columns and of 64; prompts. For backends that have latent_bf16.
LATENT = [f'{pair} {kv} {batch} 64 "latent attention"'
          for pair, kv, batch in (('bf16', 'bf16', 1), ('bf16', 'e4m3', 2), ('e4m3-bf16', 'bf16', 4), ('bf16', 'e4m3', 5),
                                  ('bf16', 'bf16', 33))] + [
    'bf16 bf16 2 64 "DeepSeek: latent attention with queries of low rank, groups of experts, YaRN"',
    '12in5 bf16 bf16 2 20 "latent attention"', '41in41 e4m3-bf16 e4m3 1 64 "latent attention"',
    '9in3 bf16 bf16 1 10 "DeepSeek: latent attention with queries of low rank, groups of experts, YaRN"']
# Prompts by vectors and by matrix tiles, across the boundary of a cache block; with every padded head size
# in WIDE.
PROMPTS = [f'70in33 bf16 bf16 2 80 {LONG}', f'9in2 bf16 e4m3 2 20 {LONG}', f'12in5 e4m3 e4m3 1 80 {SMALL}',
           f'23in23 e4m3-bf16 bf16 2 80 {SMALL}', f'30in17 bf16 bf16 1 90 {WINDOWS}', '9in9 bf16 bf16 1 10 "norms of heads"',
           f'9in9 bf16 bf16 1 10 {MIXTRAL}', f'9in5 int8 bf16 2 10 {FALCON}']
# With products by the vendor's library, which in E4M3 needs rows in multiples of 16.
PRODUCTS = ['9by9 e4m3 e4m3 2 20 2 1 16 64 96 101', f'23by17 bf16 bf16 2 30 {SMALL}',
            f'9by9 bf16 bf16 1 10 {EVERY_PIECE}']
CASES = LLAMAS + FEW_BITS + RANKS + FAMILIES + EXPERTS + PROMPTS + PRODUCTS


def is_told(case, said):
    """Is the result right, and by the vendor's library if the case requires it?"""
    return said.startswith('ok ') and (case not in PRODUCTS or 'BLASLt' in said)

# For backends that allow heads wider than 128.
WIDE = ['bf16 bf16 4 70 4 2 192 72 101 203', 'e4m3-bf16 e4m3 2 70 2 1 256 72 101 203',
        '21in16 bf16 bf16 2 30 4 2 192 72 101 203', '21in5 bf16 e4m3 1 30 2 1 256 72 101 203',
        f'bf16 bf16 1 90 192 {WINDOWS}', f'bf16 e4m3 1 90 256 {WINDOWS}']
# For backends in which a step may be one launch.
STREAMING = [f'{weights} {kv} {batch} 70 3 1 80 {sizes} 203 step=streaming'
             for weights, kv, batch, sizes in (('bf16', 'bf16', 1, '72 101'), ('bf16', 'bf16', 3, '72 101'),
                                               ('e4m3-bf16', 'e4m3', 2, '72 101'), ('bf16', 'bf16', 1, '1096 2100'),
                                               ('mxfp4-bf16', 'bf16', 1, '1096 300'), ('nvfp4-bf16', 'e4m3', 2, '1096 101'),
                                               ('int4_group-bf16', 'bf16', 4, '520 1100'), ('int8-bf16', 'bf16', 1, '1096 101'),
                                               ('mxfp6_e2m3-bf16', 'bf16', 3, '72 300'), ('mxfp6_e3m2-bf16', 'e4m3', 1, '520 137'),
                                               ('int8_group-bf16', 'bf16', 2, '1096 300'))]
STREAMING += [f'{weights} {kv} {batch} 70 3 1 {head_dim} 72 101 203 step=streaming'  # shorter heads
              for weights, kv, batch, head_dim in (('bf16', 'bf16', 2, 64), ('e4m3-bf16', 'e4m3', 1, 42))]
STREAMING += [f'{weights} bf16 {batch} 70 128 {MIXTRAL} step=streaming'
              for weights, batch in (('bf16', 1), ('e4m3-bf16', 3), ('bf16/mxfp4', 2), ('bf16/int4_group', 4))]
STREAMING_ON_AMD = [line for line in STREAMING if line.startswith(('bf16', 'e4m3', 'mxfp4', 'int4_group'))]
# For backends in which warpgroups multiply: each takes 16, 32 or 64 columns of such a batch, or 128 in
# BF16. Blocks in clusters, and by themselves.
WGMMA = [f'{pair} bf16 {batch} 3 {SMALL} matrix=wgmma wgmma_beside=2' for pair in PAIRS
         for batch in (5, 17, 33) + ((65,) if pair == 'bf16' else ())] + [
    f'{pair} bf16 17 3 {SMALL} matrix=wgmma wgmma_beside=1 matrix_splits=2' for pair in PAIRS] + [  # which merge sums
    f'{pair} bf16 {batch} 3 {SMALL} matrix=wgmma wgmma_beside=1'  # which beside each other take half the columns
    for pair, batch in (('bf16', 65), ('e4m3', 33))]
CLUSTERS = f'bf16 bf16 7 3 {LONG} matrix=wgmma wgmma_beside=2 wgmma_parts=1'  # with more steps than stages
PARTS = f'bf16 bf16 7 3 {LONG} matrix=wgmma wgmma_beside=1 wgmma_parts=2'  # which share no activations
STRIPS = 'matrix=wgmma wgmma_strips=2 wgmma_beside=1 wgmma_parts=1'  # two strips of rows for the same activations
WGMMA += [f'{pair} bf16 50 3 {SMALL} {STRIPS}' for pair in PAIRS] + [f'e4m3-bf16 bf16 64 3 {LONG} {STRIPS} matrix_splits=2']
WGMMA += [CLUSTERS, PARTS] + [f'{pair} bf16 17 3 {LONG} matrix=wgmma wgmma_beside=1 wgmma_parts=2' for pair in PAIRS]
