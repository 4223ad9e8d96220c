#!/usr/bin/python3
"""What the probe must refuse, and in which words: options, models that do not fit, directories.

    check_probe_refusals.py [NAME...]

PROBE names the program.
Seconds: 1
"""
import os

from support.probing import KV_BYTES, MODEL, RUN, free_bytes, probe, run_probe_tests
from support.program import BAD_INPUT, MACHINE_FAILED, ROOT, expect, expect_exit

BAD = [
    ((*RUN, '--shard', '2/3'), 'expected --shard 1/N, such as 1/8'),
    ((*RUN, '--shard', '1/1'), 'from 2 to 1024'),
    ((*RUN, '--shard', '1/2'), 'smollm-135m has 9 heads, which cannot be divided among 2'),
    ((*RUN, '--tensor-parallel', '1'), 'from 2 to 64'),
    ((*RUN, '--tensor-parallel', '3'), '--tensor-parallel 3 needs as many devices, but --device cpu names 1'),
    ((*RUN, '--tensor-parallel', '3', '--shard', '1/3'), '--tensor-parallel all of them'),
    ((*RUN, '--all-reduce', '12 us'), '--all-reduce needs --shard'),
    ((*RUN, '--shard', '1/3', '--all-reduce', '12 us'), 'a time needs its source'),
    ((*RUN, '--shard', '1/3', '--all-reduce', '12 W', '--all-reduce-note', 'x'), "such as '12 us'"),
    ((*RUN, '--redfish', 'bmc'), 'expected --redfish https://HOST/redfish/v1/Chassis/1/Power'),
    ((*RUN, '--redfish', 'https://root:calvin@bmc/redfish'), 'name and password in ~/.netrc'),
    ((*RUN, '--redfish', 'https://bmc/p', '--wall-power', '5 W'), 'and --wall-power both supply wall power'),
    ((*RUN, '--device', 'cpu:0,0'), "device 'cpu:0' is named twice"),
    ((*RUN, '--device', 'cpu:0,1'), "no device 'cpu:1'"),
    (('lst',), "unknown command 'lst'; did you mean 'list'?"),
    (('run',), 'expected --model ID'),
    (('run', 'x', '--model', MODEL), 'one argument too many'),
    (('check',), 'expected RECORD'),
    (('check', '/nonexistent.json'), 'No such file'),
    (('check', str(ROOT / 'data' / 'models.csv')), 'expected a complete measurement record in JSON'),
    (('check', 'x', '--tolerance', '4'), 'has no unit'),
    (('check', 'x', '--tolerance', '-4 %'), 'to below'),
    (('check', 'x', '--tolerance', '100 %'), 'to below'),
    (('list', '--device', 'cpx'), "unknown device 'cpx'; did you mean 'cpu'?"),
    (('list', '--device', 'zzz'), "unknown device 'zzz', expected one of: cpu"),
    (('list', '--device', 'cpu:9'), "no device 'cpu:9': cpu has"),
    (('list', '--device', 'cpu:0,0'), "device 'cpu:0' is named twice"),
    (('list', '--device', ''), "unknown device ''"),
    (('list', '--verify-only'), 'unrecognized option'),
    (('run', '--verify-only'), 'expected --model ID'),
    (RUN + ('--verify-only', '--model', 'zzz'), "unknown model 'zzz'"),
    (('list', '--format', 'xml'), 'expected --format table, csv or json'),
    (RUN + ('--model', 'tinylama-1.1b'), "did you mean 'tinyllama-1.1b'?"),
    (RUN + ('--model', 'zzz'), "unknown model 'zzz'"),
    (RUN + ('--model', 'gpt-oss-20b', '--layers', '3'),
     'cuts the pattern of gpt-oss-20b: its layers repeat in groups of 2; the next depth that does not is 4'),
    (RUN + ('--model', 'gpt-oss-20b', '--layers', '2,5,8'), 'the next depth that does not is 6'),
    (RUN + ('--model', 'deepseek-v3', '--layers', '3,6'),
     'its first 3 layers have no experts; the next depth that does not is 4'),
    (RUN + ('--model', 'gpt-oss-20b', '--precision', 'int4'),
     'gpt-oss-20b cannot be run in int4: its row in models.csv excludes that precision; choose one of bf16, int8, '
     'fp8, mxfp4, fp4, mxfp6, mxfp6-e3m2'),
    (RUN + ('--model', 'gpt-oss-20b', '--precision', 'int8-g128'), 'excludes that precision'),
    (RUN + ('--model', 'mixtral-8x7b', '--shard', '1/3'),
     'mixtral-8x7b has 32 heads, which cannot be divided among 3 devices'),
    (RUN + ('--model', 'deepseek-v3', '--shard', '1/3'), 'deepseek-v3 has 128 heads, which cannot be divided among 3'),
    (RUN + ('--model', 'qwen3-235b-a22b', '--precision', 'int4', '--shard', '1/16'),
     'qwen3-235b-a22b in int4 cannot be divided among 16 devices: the 1536 columns of each expert are fewer blocks '
     'of 128 weights with one scale than 16 devices'),
    (RUN + ('--routing', 'uniform'), 'smollm-135m has none'),
    (RUN + ('--routing', 'skewed'), 'expected --routing model, uniform or skewed:N'),
    (RUN + ('--routing', 'skewed:'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:-1'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:nan'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:1.2x'), 'expected --routing'),
    (RUN + ('--routing', 'skewed:11'), 'N from 0 to 10'),
    (RUN + ('--precision', 'mxfp4', '--activations', 'int8'),
     '--activations int8 does not go with mxfp4: choose bf16 or fp8, or leave it out'),
    (RUN + ('--model', 'gpt-oss-20b', '--precision', 'mxfp4', '--activations', 'fp8'),
     'does not go with mxfp4 in gpt-oss-20b, which holds only its experts in it and the rest in bf16: choose bf16'),
    (RUN + ('--precision', 'int8', '--activations', 'bf16'),
     'the CPU kernels do not multiply weights in int8 by activations in bf16'),
    (RUN + ('--batch', '5000'), 'the CPU kernels need a batch of 1 to 4096, not 5000'),
    (RUN + ('--activations', 'fp6'), 'expected --activations bf16, fp8, int8 or weights'),
    (RUN + ('--precision', 'nvfp4,fp4'), '--precision names fp4 twice'),
    (RUN + ('--data', '/nonexistent'), '/nonexistent'),
    (RUN + ('--device', 'cpx'), "unknown device 'cpx'; did you mean 'cpu'?"),
    (RUN + ('--device', 'gpu'), "unknown device 'gpu'; did you mean 'auto'?"),
    (RUN + ('--device', 'cpu:9'), "no device 'cpu:9'"),
    (RUN + ('--precision', 'fp16'), "unknown precision 'fp16'"),
    (RUN + ('--precision', 'bf16,bf16'), '--precision names bf16 twice'),
    (RUN + ('--precision', ''), "unknown precision ''"),
    (RUN + ('--kv', 'int8'), 'expected --kv bf16 or fp8'),
    (RUN + ('--head', 'int4'), 'expected --head bf16 or weights'),
    (RUN + ('--batch', '0'), 'expected --batch to be whole numbers from 1'),
    (RUN + ('--batch', '-1'), 'expected --batch to be whole numbers from 1'),
    (RUN + ('--batch', '1,,2'), 'expected --batch'),
    (RUN + ('--batch', '1,1'), '--batch names 1 twice'),
    (RUN + ('--batch', '1e3'), 'expected --batch'),
    (RUN + ('--batch', '99999999999999999999'), 'expected --batch'),
    (RUN + ('--context', '0'), 'expected --context'),
    (RUN + ('--context', '512x'), 'expected --context'),
    (RUN + ('--context', '999999999'), 'expected --context'),
    (RUN + ('--prefill', '1024', '--context', '512'), 'a prompt of 1024 tokens is longer than the cache of 512'),
    (RUN + ('--prefill', '64', '--chunk', '0'), 'expected --chunk'),
    (RUN + ('--chunk', '16'), '--chunk needs --prefill'),
    (RUN + ('--prefill', '64', '--layers', '4,8'), 'choose one'),
    (RUN + ('--layers', '8,4'), 'ascending'),
    (RUN + ('--layers', '1,2,3,4'), 'one depth, or two or three'),
    (RUN + ('--layers', '31'), 'smollm-135m has 30 layers, but --layers asks for 31'),
    (RUN + ('--threads', '-1'), 'expected --threads'),
    (RUN + ('--threads', '1025'), 'expected --threads to be whole numbers from 0 to 1024'),
    (RUN + ('--seed', '-1'), 'expected --seed'),
    (RUN + ('--seed', '+1'), 'expected --seed'),
    (RUN + ('--batch', '+1'), 'expected --batch to be whole numbers from 1'),
    (RUN + ('--time', '0'), 'expected --time'),
    (RUN + ('--time', 'nan'), 'expected --time'),
    (RUN + ('--soak=1',), 'expected --soak'),
    (RUN + ('--wall-power', '512'), 'has no unit'),
    (RUN + ('--wall-power', '0 W'), 'above'),
    (RUN + ('--wall-power', '-3 W'), 'above'),
    (RUN + ('--wall-power', '512 USD'), '--wall-power'),
    (RUN + ('--wall-note', 'PDU A3'), '--wall-note needs --wall-power'),
    (RUN + ('--no-power', '--soak=6'), '--no-power measures no watts: leave out --power-limit, --soak'),
    (RUN + ('--no-power', '--wall-power', '512 W'), '--no-power measures no watts'),
    (('check', 'x', '--soak'), 'unrecognized option'),
    (RUN + ('--model', 'llama-3.1-405b', '--batch', '64', '--context', '131072'), 'bytes) is free'),
    (RUN + ('--batch', '65536', '--context', '16777216'), 'smollm-135m bf16, batch 65536'),
]


def test_bad_input(directory):
    for arguments, fragment in BAD:
        where = directory / 'nothing'
        result = probe(*arguments, *(('-o', where) if arguments[0] == 'run' else ()))
        try:
            expect_exit(result, BAD_INPUT, fragment)
            expect(not list(where.glob('*')), 'something was written')
        except AssertionError as error:
            raise AssertionError(f'{arguments}: {error}') from None


def test_too_large_suggests_layers(directory):
    context = free_bytes() * 3 // 2 // (64 * KV_BYTES)  # half as much again as there is
    result = probe(*RUN, '--batch', 64, '--context', context, '-o', directory / 'large')
    expect_exit(result, BAD_INPUT, 'needs', 'bytes), but only', 'measures slices of it')


def test_bad_directories(directory):
    (directory / 'file').write_text('')
    kernels = ['/sys'] if os.path.ismount('/sys') else []
    for where, what in [('/proc/nothing', 'create'), (directory / 'file', 'write to'),
                        (directory / 'file' / 'below', 'create'), *((one, 'write to') for one in kernels)]:
        expect_exit(probe(*RUN, '-o', where), MACHINE_FAILED, f"cannot {what} the directory '{where}'")
    full = directory / 'made' / 'full'
    expect_exit(probe(*RUN, '-o', full, file_limit=0), MACHINE_FAILED, 'cannot write to the directory', 'File too large')
    expect(not list(full.iterdir()), 'the lock was left')


if __name__ == '__main__':
    run_probe_tests(globals())
