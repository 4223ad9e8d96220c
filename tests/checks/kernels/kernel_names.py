"""The GPUs' kernels by their names, and what is known of each: kernels/gpu/arguments and device/kernels.cu."""
import re

PAIRS = ['bf16_bf16', 'e4m3_bf16', 'e4m3_e4m3']
ENDS = ['norm_store', 'round_add', 'norm_swiglu', 'norm_biased', 'round_biased', 'norm_gated']
VECTOR = [f'vector_{p}_{e}_{b}' for p in PAIRS for e in ENDS for b in (1, 2, 4)]
MATRIX = [f'matrix_{p}_{e}_{c}' for p in PAIRS
          for e in ('store', 'add', 'swiglu', 'biased', 'gated') for c in (16, 32, 64)]
WGMMA_STRIPS = [f'wgmma_strips_{p}_{e}_64' for p in PAIRS for e in ('store', 'add', 'swiglu')]
WGMMA = [f'wgmma_{p}_{e}_{c}' for p in PAIRS for e in ('store', 'add', 'swiglu')
         for c in (16, 32, 64, 128) if p == 'bf16_bf16' or c < 128] + WGMMA_STRIPS
EXPERT_VECTOR = [f'expert_vector_{p}_{e}_{b}' for p in PAIRS
                 for e in ('norm_gated', 'round_biased') for b in (1, 2, 4)]
FORMATS = ['int8', 'mxfp4', 'nvfp4', 'mxfp6_e2m3', 'mxfp6_e3m2', 'int8_group', 'int4_group']
EXPERT_UNITS = [f'expert_matrix_{f}_bf16_{e}_{c}' for f in FORMATS for e in ('gated', 'biased') for c in (16, 64)]
EXPERT_MATRIX = [f'expert_matrix_{p}_{e}_{c}' for p in PAIRS for e in ('gated', 'biased')
                 for c in (16, 64)] + EXPERT_UNITS
EXPERTS = EXPERT_VECTOR + EXPERT_MATRIX
UNITS = [f'matrix_{f}_bf16_{e}_{c}' for f in FORMATS for e in ('store', 'add', 'swiglu', 'biased', 'gated')
         for c in (16, 64)]
OF_UNITS = set(UNITS + EXPERT_UNITS) | {f'embed_{f}' for f in FORMATS}
ATTENTION = [f'attention_{kv}{f}_{d}' for kv in ('bf16', 'e4m3') for f in ('', '_family')
             for d in (64, 128, 256)]
PROMPTS = [f'attention_{kv}_prompt_{d}' for kv in ('bf16', 'e4m3') for d in (64, 128, 256)] + [
    'latent_bf16_prompt', 'latent_e4m3_prompt']
LATENT = ['latent_bf16', 'latent_e4m3']
HEADS_VECTOR = [f'heads_vector_bf16_bf16_round_store_{b}' for b in (1, 2, 4)]
HEADS_MATRIX = [f'heads_matrix_bf16_bf16_store_{c}' for c in (16, 64)]
HEADS = HEADS_VECTOR + HEADS_MATRIX
READ = [f'read_{v}' for v in range(3)]
STEP = {f'streaming_{batch}' for batch in (1, 2, 4)}  # whole steps
TILE = [f'{k}_{p}' for k in ('rate', 'tile_check') for p in PAIRS]
SMALL = ([f'round_{x}_{p}' for x in ('bf16', 'e4m3', 'paired') for p in ('norm', 'round')] +
         ['round_bf16_layer', 'round_e4m3_layer'] +
         [f'round_{x}_as_bf16_{p}' for x in ('int8', 'e4m3') for p in ('norm', 'layer', 'round')] +
         [f'embed_{f}' for f in ['bf16', 'e4m3', *FORMATS]] +
         ['sample', 'sample_key', 'fill_bf16', 'fill_e4m3', 'fill_f32', 'fill_units', 'fill_value', 'route', 'gather',
          'combine', 'turn_bf16', 'turn_e4m3', 'latent_bf16_entries', 'latent_e4m3_entries'] +
         [f'finish_{e}' for e in ('store', 'add', 'swiglu', 'biased', 'gated')])
EVERY = set(VECTOR + MATRIX + UNITS + EXPERTS + WGMMA + ATTENTION + PROMPTS + LATENT + HEADS + READ + TILE + SMALL)
# Kernels whose loads in flight are counted; not those with units, whose conversions are between loads and
# waits.
COUNTED = set(VECTOR + MATRIX + EXPERTS + ATTENTION + PROMPTS + LATENT + HEADS) - set(EXPERT_UNITS)
STREAMING = set(VECTOR + MATRIX + UNITS + EXPERTS + ATTENTION + LATENT + HEADS + READ)
# On NVIDIA by copies into a ring of shared memory, in groups of which all but the oldest stay under way:
# MATRIX_DEPTH, less one.
COPYING = set(MATRIX + EXPERT_MATRIX + HEADS_MATRIX) - set(EXPERT_UNITS)
# The same for keys and values: ATTENTION_COPIED_BATCHES, less one.
COPYING_CACHE = set(ATTENTION + PROMPTS) - {'latent_bf16_prompt', 'latent_e4m3_prompt'}
COPY = 'cp.async.cg.shared.global'
GROUPS_LEFT = 3
# Without a matrix unit, heads of 256 need more registers than there are.
OPTIONAL = {t: {a for a in ATTENTION + PROMPTS if a.endswith('_256')} for t in ('gfx1100', 'gfx1201')}
# Kernels whose E4M3 is converted to BF16 by bits: e4m3_bits.h.
BY_BITS = re.compile(r'(matrix|wgmma|wgmma_strips|tile_check)_e4m3_bf16|attention_e4m3|latent_e4m3(?!_entries)')
# Kernels whose results the next product takes rounded to BF16. (The caches of attention are stored so, too.)
PASSES = re.compile(r'^(vector|matrix|wgmma)_.*(swiglu|gated)_\d+$|^finish_(swiglu|gated)$|^attention_(?!.*prompt)')
# Kernels of which no two blocks fit on a multiprocessor, so that each has its own: by registers. (For
# wgmma_*, by shared memory: test_plan_division.) Of vector products of one row two run on each.
ALONE = {name for name in VECTOR + EXPERT_VECTOR + HEADS_VECTOR if not name.endswith('_1')}
# If clang makes a wave wait for several of its loads at once, the average in flight before and after
# counts.
PAIRED = re.compile(r'(?:expert_)?vector_.*(swiglu|gated)_\d$|attention_e4m3(_family|_prompt)?_64$')
