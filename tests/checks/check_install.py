#!/usr/bin/python3
"""`make install`, `uninstall` and `dist`: everything in its place, usable from elsewhere, removed without a
trace.

The manual pages and completions are compared with --help. Shells and man are skipped if they are not installed.
Deep: the pack of sources, twice.
Seconds: 4, deep 11
"""
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from support.program import BAD_INPUT, Count, DEEP, DONE, ROOT, Skip, expect, expect_exit, run

SAID = re.compile(r'--[a-z][a-z-]*')


def make(*arguments):
    done = run('GPU=no', '-s', *arguments, program='make', timeout=600)
    expect_exit(done, DONE)
    return done


def commands(program):
    return re.findall(r'^  ([a-z][a-z-]*)  ', run('--help', program=program).stdout, re.M)


def pages(prefix):
    """Each manual page with the help that it was made from."""
    for program in ('pertoken', 'pertoken-probe'):
        yield program, run('--help', program=prefix / 'bin' / program).stdout
        for command in commands(prefix / 'bin' / program):
            if command != 'probe':
                yield f'{program}-{command}', run(command, '--help', program=prefix / 'bin' / program).stdout


def test_manual(prefix):
    """A page for both programs and every command, with every option and every word of the help."""
    folder = prefix / 'share/man/man1'
    expected = dict(pages(prefix))
    expect({path.stem for path in folder.iterdir()} == set(expected), sorted(path.stem for path in folder.iterdir()))
    for name, said in expected.items():
        page = (folder / f'{name}.1').read_text().replace('\\-', '-').replace('\\e', '\\').replace('\\&', '')
        expect(set(SAID.findall(said)) <= set(SAID.findall(page)), f'{name} lacks options')
        missing = {word for word in re.findall(r'[\w/.]+', said.partition('\n')[2].replace('Example:', ''))
                   if word not in page}
        expect(not missing, f'{name} lacks {missing}')
        summary = re.search(r'^[A-Z].*', said.partition('\n')[2], re.M)[0].rstrip('.')
        expect(f'\n{name} - {summary}' in page, f'{name}: the summary is not that of --help')
        if shutil.which('man'):
            done = subprocess.run(['man', '--warnings', '-E', 'UTF-8', '-l', '-Tutf8', folder / f'{name}.1'],
                                  capture_output=True, encoding='utf-8', check=False)
            expect(done.returncode == 0 and not done.stderr, f'{name}: {done.stderr}')


COMPLETED = [('pertoken com', 'compare'), ('pertoken probe ru', 'run'), ('pertoken-probe met', 'meter'),
             ('pertoken compare x.ini --mix', '--mixed'), ('pertoken new mi355', 'mi355x-288'),
             ('pertoken new b200 --model mixtral-8x2', 'mixtral-8x22b'), ('pertoken catalog thr', 'throughput'),
             ('pertoken compare examples/mi325x-vs-h200.ini --case half', 'half_used'),
             ('pertoken solve examples/mi325x-vs-h200.ini --option = m', 'mi325x'), ('pertoken new x --template st', 'stages'),
             ('pertoken compare examples/mi325x-vs-h200.ini --set mi325x.d', 'mi325x.discount='),
             ('pertoken compare examples/mi325x-vs-h200.ini --set util', 'utilization='),
             ('pertoken catalog add thr', 'throughput'), ('pertoken catalog add prices price_b', 'price_basis='),
             ('pertoken solve examples/mi325x-vs-h200.ini --for mi325x.list', 'mi325x.list_price'),
             ('pertoken explain examples/mi325x-vs-h200.ini mi325x.net_p', 'mi325x.net_price'),
             ('pertoken catalog prices --where price_b', 'price_basis='), ('pertoken simulate x.ini --method s', 'sobol'),
             ('pertoken compare ~/own.ini --case half', 'half_used'), ('pertoken compare nothing.ini --set util', '')]


def needs_catalogue(line):
    return re.match(r'pertoken (explain|catalog|new (?!x ))', line)


def home(folder):
    """A home of a user, with a scenario."""
    shutil.copy(ROOT / 'examples/mi325x-vs-h200.ini', pathlib.Path(folder) / 'own.ini')
    return {'HOME': folder}


def test_manual_statuses(prefix):
    """The tables of docs/commands.md: exit statuses on every page, variables and files on those of the programs."""
    docs = (ROOT / 'docs/commands.md').read_text()
    rows = {'EXIT STATUS': ['0', '1', '2', '3', '4'], 'ENVIRONMENT': re.findall(r'^\| `([A-Z_]+)`', docs, re.M),
            'FILES': ['../share/pertoken/data', '../lib/pertoken']}
    for path in (prefix / 'share/man/man1').iterdir():
        parts = re.split(r'^\.SH (.*)\n', path.read_text().replace('\\-', '-'), flags=re.M)
        sections = dict(zip(parts[1::2], parts[2::2]))
        for title, names in rows.items():
            expected = names if title == 'EXIT STATUS' or path.stem in ('pertoken', 'pertoken-probe') else []
            found = [name.lstrip('\\&').partition(',')[0] for name in re.findall(r'^\.B (.*)', sections.get(title, ''), re.M)]
            expect(found == [name for name in expected], f'{path.name}, {title}: {found}')


def test_bash(prefix):
    script = prefix / 'share/bash-completion/completions/pertoken'
    ask = f'source {script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _pertoken 2>/dev/null; echo "${{COMPREPLY[*]}}"'
    with tempfile.TemporaryDirectory() as folder:
        for line, expected in COMPLETED:
            for path in (f"{prefix / 'bin'}:{os.environ['PATH']}", '/usr/bin:/bin'):
                found = run('-c', ask, 'bash', *line.split(), program='bash', environment={'PATH': path, **home(folder)}).stdout.strip()
                if path == '/usr/bin:/bin' and needs_catalogue(line) and not shutil.which('pertoken', path=path):
                    expect(found == '' or 'add' in line, f'{line}: {found} without a program')
                else:
                    expect(found == expected, f'{line}: {found}, not {expected}')


def test_options_of_shells(prefix):
    """zsh's and fish's completions include every option of every command."""
    zsh = (prefix / 'share/zsh/site-functions/_pertoken').read_text()
    fish = (prefix / 'share/fish/vendor_completions.d/pertoken.fish').read_text()
    for name, said in pages(prefix):
        if name in ('pertoken', 'pertoken-probe'):
            continue
        command = name.removeprefix('pertoken-').replace('probe-', 'probe ')
        summary = re.search(r'^[A-Z].*', said.partition('\n')[2], re.M)[0].rstrip('.')
        expect(summary.replace("'", "\\'") in fish, f'fish: {command} is not said to {summary}')
        of_zsh = zsh.split(f"  '{command}')\n", 1)[1].split(';;', 1)[0]
        for option in set(re.findall(r'^ +(?:-.,? )?(--[a-z-]+)', said, re.M)):
            expect(option in of_zsh, f'zsh: {command} {option}')
            expect(f'-l {option[2:]}' in fish, f'fish: {command} {option}')
    expect("'--published=[Where the files were published; " in zsh and "-l published -r -d 'Where the" in fish, 'a value of two words')


def test_zsh(prefix):
    """Its syntax, and what its functions offer, with and without a catalogue."""
    script = prefix / 'share/zsh/site-functions/_pertoken'
    check_syntax('zsh', script)
    ask = ('compadd() { print -l -- "$@" }; _arguments() { : }; words=(pertoken compare examples/mi325x-vs-h200.ini); '
           f'CURRENT=4; service=pertoken; source {script}; $1')
    for function, expected in (('_pertoken_models', 'mixtral-8x22b'), ('_pertoken_tables', 'throughput'), ('_pertoken_cases', 'half_used'),
                               ('_pertoken_options', 'mi325x'), ('_pertoken_inputs', 'mi325x.discount='), ('_pertoken_targets', 'mi325x.discount'),
                               ('_pertoken_items', 'mi325x.net_price')):
        for path in (f"{prefix / 'bin'}:{os.environ['PATH']}", '/usr/bin:/bin'):
            offered = run('-fc', ask, 'zsh', function, program=shutil.which('zsh'), environment={'PATH': path}).stdout.split()
            if function in ('_pertoken_models', '_pertoken_tables', '_pertoken_items') and path == '/usr/bin:/bin' and not shutil.which('pertoken', path=path):
                expect(expected not in offered, 'models without a catalogue')
            else:
                expect(expected in offered, f'{function}: {offered}')


def test_fish(prefix):
    """The same lines as in bash, and none without a catalogue."""
    script = prefix / 'share/fish/vendor_completions.d/pertoken.fish'
    check_syntax('fish', script)
    with tempfile.TemporaryDirectory() as folder:
        for line, expected in COMPLETED:
            if '= m' not in line:
                check_fish_line(prefix, script, home(folder), line, expected)


def check_fish_line(prefix, script, environment, line, expected):
    for path in (f"{prefix / 'bin'}:{os.environ['PATH']}", '/usr/bin:/bin'):
        done = run('--no-config', '-c', f"source {script}; complete -C '{line}'", program=shutil.which('fish'),
                   environment={'PATH': path, **environment})
        offered = [text.split('\t')[0] for text in done.stdout.splitlines()]
        if path == '/usr/bin:/bin' and needs_catalogue(line) and not shutil.which('pertoken', path=path):
            expect(expected not in offered and not done.stderr, f'{line}: {offered} {done.stderr}')
        else:
            expect(expected in offered or not expected and 'utilization=' not in offered, f'{line}: {offered}')


def check_syntax(shell, script):
    if not shutil.which(shell):
        raise Skip(f'{shell} is not here')
    expect_exit(run('-n', script, program=shell), DONE)


def test_elsewhere(prefix):
    """From another folder, with the installed data."""
    with tempfile.TemporaryDirectory() as folder:
        done = run('new', 'mi325x', 'h200', '--model', 'llama-2-70b', '--count', 8, '-o', 'own.ini', '-v',
                   program=prefix / 'bin/pertoken', cwd=folder)
        expect_exit(done, DONE, 'costs least')
        expect_exit(run('report', 'own.ini', '-q', program=prefix / 'bin/pertoken', cwd=folder), DONE)
        expect_exit(run('probe', 'list', program=prefix / 'bin/pertoken', cwd=folder), DONE)
        expect_exit(run('compare', 'nothing.ini', program=prefix / 'bin/pertoken', cwd=folder), BAD_INPUT)


def test_over_another(prefix):
    """Installing over an older version, then removing it; foreign files stay."""
    with tempfile.TemporaryDirectory() as folder:
        root, other = pathlib.Path(folder), pathlib.Path(folder) / 'usr/share/man/man1/other.1'
        (root / 'usr/bin').mkdir(parents=True)
        (root / 'usr/bin/pertoken').write_text('older')
        other.parent.mkdir(parents=True)
        other.write_text('not ours')
        make('install', f'DESTDIR={root}', 'PREFIX=/usr')
        expect_exit(run('--version', program=root / 'usr/bin/pertoken'), DONE, 'pertoken ')
        make('uninstall', f'DESTDIR={root}', 'PREFIX=/usr')
        left = {path for path in root.rglob('*') if not path.is_dir()}
        expect(left == {other}, left)
        expect(not (root / 'usr/bin').exists(), 'an empty folder is left')
        make('uninstall', f'DESTDIR={root}', 'PREFIX=/usr')


def test_dist(_):
    """The same bytes twice, with every file that git has and no others."""
    if not DEEP:
        return
    if not (ROOT / '.git').exists():
        raise Skip('no git repository')
    packed = [pathlib.Path(ROOT / make('dist').stdout.strip()).read_bytes() for _ in range(2)]
    expect(packed[0] == packed[1], 'two packs differ')
    with tempfile.TemporaryFile() as file:
        file.write(gzip.decompress(packed[0]))
        file.seek(0)
        names = {name.partition('/')[2] for name in tarfile.open(fileobj=file).getnames()} - {''}
    listed = set(run('-C', ROOT, 'ls-tree', '-rt', '--name-only', '-z', 'HEAD', program='git').stdout.split('\0')) - {''}
    expect(names == listed, names ^ listed)


def test_containerfile(_):
    """It copies all parts of the sources, and nothing that was built."""
    listed = run('-C', ROOT, 'ls-tree', '--name-only', 'HEAD', program='git')
    if listed.returncode:
        raise Skip('no git repository')
    text = (ROOT / 'packaging/Containerfile').read_text()
    copied = {name for line in re.findall(r'^COPY (?!--from)(.*)', text, re.M) for name in line.split()[:-1]}
    present = {name for name in listed.stdout.split() if not name.startswith('.')}
    expect(copied == present, copied ^ present)


def main():
    count = Count()
    with tempfile.TemporaryDirectory() as folder:
        make('install', f'DESTDIR={folder}', 'PREFIX=/usr')
        count.tests(globals(), pathlib.Path(folder) / 'usr')
    count.finish()


if __name__ == '__main__':
    main()
