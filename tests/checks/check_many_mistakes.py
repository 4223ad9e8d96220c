#!/usr/bin/python3
"""Ten thousand mistakes in one file: the first are shown, and how many more there are, in seconds and in little memory.

    check_many_mistakes.py [NAME...]

PERTOKEN names the program.
Deep: every kind of mistake on two more faces, which take turns: all read the file alike. Else the table alone.
Seconds: 10, deep 40
"""
import os
import pathlib
import re
import resource
import subprocess
import sys
import tempfile

from support.processor import is_quick
from support.program import BAD_INPUT, Count, DEEP, PERTOKEN, ROOT, expect

MANY, SHOWN = 10000, 50
MAX_S, MAX_KB = 5, 500 * 1024
HEAD = """[scenario]
title = Many
[common]
accelerators = 8
accelerators_per_node = 8
load_power = 700 W
pue = 1.3
utilization = 50 %
electricity_price = 0.1 USD/kWh
throughput = 1000 token/s
"""
ONE = '[option one]\naccelerator = h200-sxm-141\nlist_price = 20000 USD\n'


def many(text):
    """The text once for each number from 0, which replaces N."""
    return ''.join(text.replace('N', str(i)) for i in range(MANY))


def option(keys):
    return many(f'[option oN]\naccelerator = h200-sxm-141\n{keys}')


# What the file contains, how many errors it must have, and the message of most.
FILES = {
    'a number without unit': (option('list_price = 2\n'), MANY, 'has no unit'),
    'an unknown key': (option('list_price = 2 USD\nlist_prise = 2 USD\n'), MANY, "did you mean 'list_price'"),
    'an unknown accelerator': (many('[option oN]\naccelerator = abacus\nlist_price = 2 USD\n'), MANY, 'unknown accelerator'),
    'nothing in an option': (many('[option oN]\n'), MANY, "needs 'accelerator'"),
    'an unknown section': (ONE + many('[optoin oN]\n'), MANY, "did you mean [option"),
    'one option': (ONE + many('[option one]\n'), MANY, 'was already opened'),
    'no line of a file': (ONE + many('nonsense N\n'), MANY, "expected 'key = value'"),
    'a range without option': (ONE + '[range]\n' + many('oN.list_price = pert(1, 2, 3) USD\n'), MANY, 'there is no option'),
    'a case without option': (ONE + many('[case cN]\noN.pue = 1.2\n'), MANY, 'there is no option'),
    'an item of nothing': (ONE + many('[item iN]\nlabel = i\nunit = USD/yr\ngroup = opex\nformula = nopeN\n'), MANY, "'nope"),
    'options unlike': (''.join(f'[option o{i}]\naccelerator = h200-sxm-141\nlist_price = 2 USD\nprecision = {p}\n'
                               for i, p in enumerate(('fp8', 'bf16') * (MANY // 2))), MANY // 2, 'are not comparable'),
}
FACES = {
    'table': ('compare',), 'json': ('compare', '--format', 'json'), 'csv': ('compare', '--format', 'csv'),
    'report': ('report', '-o', 'out.xlsx'), 'page': ('page', '-o', 'out.html'), 'simulate': ('simulate',),
    'sensitivity': ('sensitivity',), 'rent': ('rent',), 'route': ('route',),
}
OTHERS = [face for face in FACES if face != 'table']


def run_limited(folder, arguments):
    """Exit status, output, CPU seconds and peak memory in kilobytes."""
    with open(folder / 'said', 'wb') as said:
        process = subprocess.Popen([PERTOKEN, *map(str, arguments)], cwd=folder, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=said,
                                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)))
        _, status, used = os.wait4(process.pid, 0)
    return status >> 8, (folder / 'said').read_text(), used.ru_utime + used.ru_stime, used.ru_maxrss


def test_file(folder, text, wanted, words, faces):
    path = folder / 'many.ini'
    path.write_text(HEAD + text)
    for face in faces:
        command, *rest = FACES[face]
        status, said, seconds, kilobytes = run_limited(folder, (command, path, '--data', ROOT / 'data', *rest))
        expect(status == BAD_INPUT, f'{face}: exit {status}: {said[-300:]}')
        more = re.search(r'and (\d+) more errors\n', said)
        expect(said.count(words) >= SHOWN // 2 and more and SHOWN + int(more[1]) >= wanted,
               f'{face}: {said.count(words)} times {words}, and {more and more[0]}, not {wanted}')
        expect(is_quick(seconds, MAX_S), f'{face}: {seconds:.1f} s')
        expect(kilobytes < MAX_KB, f'{face}: {kilobytes} KB')


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        for number, (name, (text, wanted, words)) in enumerate(FILES.items()):
            if not sys.argv[1:] or any(part in name for part in sys.argv[1:]):
                turn = [OTHERS[(2 * number + k) % len(OTHERS)] for k in range(2)] if DEEP else []
                count.test(name, test_file, pathlib.Path(folder), text, wanted, words, ['table', *turn])
    count.finish()


if __name__ == '__main__':
    main()
