#!/usr/bin/python3
"""Writes a llama model of random weights as GGUF: a server runs it like one with meaningful output.

    random_gguf.py FILE [tiny | tinyllama-1.1b] [f32 | f16 | q8_0]

Speed and memory depend on the shape and the types, which are the model's; its answers are noise. The format:
github.com/ggml-org/ggml, docs/gguf.md, version 3.
"""
import array
import random
import struct
import sys

# layers, hidden, heads, heads of the KV cache, hidden of the feed-forward, vocabulary, context
SHAPES = {
    'tiny': (2, 64, 4, 2, 128, 384, 4096),
    'small': (8, 512, 8, 4, 1536, 1024, 4096),
    'tinyllama-1.1b': (22, 2048, 32, 4, 5632, 32000, 65536),  # as in data/models.csv
}
ALIGNMENT = 32
POOL = 1 << 18  # values that are repeated: a model of a gigabyte is written in seconds
F32, F16, Q4_0, Q8_0, BF16, MXFP4 = 0, 1, 2, 8, 30, 39  # ggml_type
# Bytes of a block, and its number of values.
BYTES = {F32: (4, 1), F16: (2, 1), BF16: (2, 1), Q4_0: (18, 32), Q8_0: (34, 32), MXFP4: (17, 32)}
FILE_TYPES = {F32: 0, F16: 1, Q8_0: 7}
UINT32, FLOAT32, BOOL, STRING, ARRAY = 4, 6, 7, 8, 9
NORMAL, UNKNOWN, CONTROL, BYTE = 1, 2, 3, 6  # kinds of token


def text(value):
    data = value.encode()
    return struct.pack('<Q', len(data)) + data


def metadata(name, kind, value):
    packed = {UINT32: lambda: struct.pack('<I', value), FLOAT32: lambda: struct.pack('<f', value),
              BOOL: lambda: struct.pack('<?', value), STRING: lambda: text(value),
              ARRAY: lambda: value}[kind]()
    return text(name) + struct.pack('<I', kind) + packed


def array_of(kind, values, one):
    return struct.pack('<IQ', kind, len(values)) + b''.join(map(one, values))


def vocabulary(size):
    """Three control tokens, the bytes, and made-up words: any text can be tokenized, usually into few tokens."""
    tokens = ['<unk>', '<s>', '</s>', *(f'<0x{byte:02X}>' for byte in range(256))]
    kinds = [UNKNOWN, CONTROL, CONTROL, *[BYTE] * 256]
    words = [f'▁w{number}' for number in range(size - len(tokens))]
    return tokens + words, kinds + [NORMAL] * len(words)


def tensors(shape, weights):
    layers, hidden, heads, kv_heads, ffn, vocab, _ = shape
    kv = hidden // heads * kv_heads
    yield 'token_embd.weight', (hidden, vocab), weights
    for layer in range(layers):
        of = f'blk.{layer}.'
        yield of + 'attn_norm.weight', (hidden,), F32
        for name, rows in (('attn_q', hidden), ('attn_k', kv), ('attn_v', kv), ('attn_output', hidden)):
            yield f'{of}{name}.weight', (hidden, rows), weights
        yield of + 'ffn_norm.weight', (hidden,), F32
        yield of + 'ffn_gate.weight', (hidden, ffn), weights
        yield of + 'ffn_up.weight', (hidden, ffn), weights
        yield of + 'ffn_down.weight', (ffn, hidden), weights
    yield 'output_norm.weight', (hidden,), F32
    yield 'output.weight', (hidden, vocab), weights


def size_of(dimensions, kind):
    count = 1
    for dimension in dimensions:
        count *= dimension
    block, values = BYTES[kind]
    return count // values * block


def pool_of(kind, deviation, draw):
    if kind == Q8_0:
        scale = struct.pack('<e', deviation / 64)
        return b''.join(scale + draw.randbytes(32) for _ in range(POOL // 32))
    values = [draw.gauss(0, deviation) for _ in range(POOL)]
    return array.array('f', values).tobytes() if kind == F32 else struct.pack(f'<{POOL}e', *values)


def write_gguf(path, shape='tiny', weights=F32, seed=1):
    layers, hidden, heads, kv_heads, ffn, vocab, context = SHAPES[shape]
    tokens, kinds = vocabulary(vocab)
    number = {'context_length': context, 'embedding_length': hidden, 'block_count': layers,
              'feed_forward_length': ffn, 'attention.head_count': heads,
              'attention.head_count_kv': kv_heads, 'rope.dimension_count': hidden // heads, 'vocab_size': vocab}
    pairs = [
        metadata('general.architecture', STRING, 'llama'), metadata('general.name', STRING, f'random {shape}'),
        metadata('general.file_type', UINT32, FILE_TYPES[weights]),
        *(metadata(f'llama.{name}', UINT32, value) for name, value in number.items()),
        metadata('llama.attention.layer_norm_rms_epsilon', FLOAT32, 1e-5),
        metadata('tokenizer.ggml.model', STRING, 'llama'),
        metadata('tokenizer.ggml.tokens', ARRAY, array_of(STRING, tokens, text)),
        metadata('tokenizer.ggml.scores', ARRAY,
                 array_of(FLOAT32, range(vocab), lambda rank: struct.pack('<f', -rank))),
        metadata('tokenizer.ggml.token_type', ARRAY, array_of(5, kinds, lambda kind: struct.pack('<i', kind))),
        metadata('tokenizer.ggml.unknown_token_id', UINT32, 0), metadata('tokenizer.ggml.bos_token_id', UINT32, 1),
        metadata('tokenizer.ggml.eos_token_id', UINT32, 2), metadata('tokenizer.ggml.add_bos_token', BOOL, False),
    ]
    write_file(path, pairs, list(tensors(SHAPES[shape], weights)),
               {weights: pool_of(weights, hidden ** -0.5, random.Random(seed))})


def write_file(path, pairs, listed, pools):
    """The pairs of `metadata`, and the tensors (name, dimensions, kind): ones in vectors, which are F32, else their
    kind's pool of bytes, repeated."""
    head, offset = struct.pack('<4sIQQ', b'GGUF', 3, len(listed), len(pairs)) + b''.join(pairs), 0
    for name, dimensions, kind in listed:
        head += text(name) + struct.pack(f'<I{len(dimensions)}QIQ', len(dimensions), *dimensions, kind, offset)
        offset += -(-size_of(dimensions, kind) // ALIGNMENT) * ALIGNMENT
    with open(path, 'wb') as out:
        out.write(head + bytes(-len(head) % ALIGNMENT))
        for _, dimensions, kind in listed:
            size = size_of(dimensions, kind)
            source = pools[kind] if len(dimensions) > 1 else struct.pack('<f', 1) * dimensions[0]
            for start in range(0, size, len(source)):
                out.write(source[:size - start])
            out.write(bytes(-size % ALIGNMENT))


def main(arguments):
    path, shape, weights = arguments + ['tiny', 'f32'][len(arguments) - 1:]
    write_gguf(path, shape, {'f32': F32, 'f16': F16, 'q8_0': Q8_0}[weights])


if __name__ == '__main__':
    main(sys.argv[1:])
