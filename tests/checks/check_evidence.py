#!/usr/bin/python3
"""Evidence packed for another party, in the way both use it: pertoken evidence pack and verify.

Python's tarfile, sha256sum and the user's own ssh-keygen judge what is packed; it is then changed the way somebody
with something to hide would.

Seconds: 4
"""
import csv
import hashlib
import io
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
from pathlib import Path

from support.program import BAD_INPUT, Count, DONE, NO, PERTOKEN, ROOT, Skip, expect, expect_exit, run, run_json

SCENARIO = 'examples/mi325x-vs-h200.ini'
RECORDS = 'examples/fleet/records'


def pack(folder, *more, name='evidence.tar'):
    path = Path(folder) / name
    expect_exit(run('evidence', 'pack', '-o', path, SCENARIO, RECORDS, '-q', *more), DONE)
    return path


def members(path):
    with tarfile.open(path) as archive:
        return {member.name: archive.extractfile(member).read() for member in archive}


def repack(path, files, **changes):
    """Another archive of these files, in ustar, filled up to 20 blocks, with these changes to each header."""
    with tarfile.open(path, 'w', format=tarfile.USTAR_FORMAT) as archive:
        for name, content in files.items():
            header = tarfile.TarInfo(name)
            header.size = len(content)
            for key, value in changes.get(name, {}).items():
                setattr(header, key, value)
            archive.addfile(header, io.BytesIO(content) if header.isreg() else None)
    return path


def states(path, status):
    answer = run_json('evidence', 'verify', path, statuses=(status,))
    return {row['file']: row['state'] for row in answer['tables']['files']['rows'] if row['state'] != 'as packed'}


def test_what_is_packed(folder):
    """Everything that a comparison reads is there, byte for byte, and gives the same figures elsewhere."""
    files = members(pack(folder))
    expect(next(iter(files)) == 'MANIFEST', list(files)[0])
    expect(files['files/mi325x-vs-h200.ini'] == (ROOT / SCENARIO).read_bytes(), 'the scenario')
    for path in (ROOT / RECORDS).glob('*.json'):
        expect(files[f'files/fleet/records/{path.name}'] == path.read_bytes(), path.name)
    for name in ('prices.csv', 'accelerators.csv', 'throughput.csv'):
        expect(files[f'data/{name}'] == (ROOT / 'data' / name).read_bytes(), name)
    about = json.loads(files['about.json'])
    expect(about['kernels'] == ['00ff'], about)
    expect(about['program_sha256'] == hashlib.sha256(PERTOKEN.read_bytes()).hexdigest(), 'of the program that packed it')
    there = Path(folder) / 'there'
    with tarfile.open(Path(folder) / 'evidence.tar') as archive:
        archive.extractall(there)
    here, elsewhere = (run_json('compare', scenario, '--data', data)
                       for scenario, data in ((SCENARIO, 'data'),
                                              (there / 'files/mi325x-vs-h200.ini', there / 'data')))
    expect([option['items'] for option in here['options']] == [option['items'] for option in elsewhere['options']],
           'other figures')


def test_inherited(folder):
    """Inherited files have the same relative place."""
    child = Path(folder) / 'mine' / 'child.ini'
    (child.parent / 'base').mkdir(parents=True)
    shutil.copy(ROOT / SCENARIO, child.parent / 'base' / 'parent.ini')
    child.write_text('[scenario]\ninherits = base/parent.ini\n')
    path = Path(folder) / 'child.tar'
    expect_exit(run('evidence', 'pack', '-o', path, child, '-q'), DONE)
    expect({'files/child.ini', 'files/base/parent.ini'} <= set(members(path)), sorted(members(path)))


def test_unlike(folder):
    """What is compared only with --mixed is packed without: packing ranks nothing."""
    child, path = Path(folder) / 'unlike.ini', Path(folder) / 'unlike.tar'
    child.write_text((ROOT / SCENARIO).read_text().replace('evidence = tp0090', 'scenario = offline'))
    expect_exit(run('compare', child, '-q'), BAD_INPUT)
    expect_exit(run('evidence', 'pack', '-o', path, child, '-q'), DONE)
    expect('files/unlike.ini' in members(path), sorted(members(path)))


RESULTS = ROOT / 'examples' / 'imports'


def imported(folder):
    """A record of two result files, which are in a folder below another file of no use."""
    raw, records = Path(folder) / 'raw', Path(folder) / 'records'
    (raw / 'deep').mkdir(parents=True)
    for number, at in ((16, raw), (64, raw / 'deep')):
        shutil.copy(RESULTS / f'made-up-{number}.json', at)
    (raw / 'other.json').write_text('{}')
    expect_exit(run('import', *sorted(raw.rglob('made-up-*.json')), '--accelerator', 'h200-sxm-141', '--accelerators', 1,
                    '--precision', 'bf16', '--model', 'llama-3.1-8b', '-o', records, '-q'), DONE)
    return raw, records


def cited(path):
    return {row['file']: row.get('member') for row in run_json('evidence', 'verify', path, statuses=(DONE, NO))
            ['tables']['cited']['rows']}


def test_result_files(folder):
    """The files that a record is made from go along if they are named or found, and no others; what is absent is told."""
    raw, records = imported(folder)
    path, first, deep = Path(folder) / 'e.tar', raw / 'made-up-16.json', raw / 'deep' / 'made-up-64.json'
    whole = {'made-up-16.json': 'files/raw/made-up-16.json', 'made-up-64.json': 'files/raw/deep/made-up-64.json'}
    for arguments, wanted, told in (((), dict.fromkeys(whole), '2, of which 2 are not in the archive:'),
                                    ((first,), {**whole, 'made-up-64.json': None}, 'is not in the archive: made-up-64.json.'),
                                    (('--files', raw), whole, 'made from: 2, all in the archive'),
                                    ((deep, '--files', raw), whole, 'made from: 2, all in the archive')):
        for command in (('pack', '-o', path, records, *arguments), ('verify', path)):
            said = ' '.join(run('evidence', *command).stdout.split())
            expect(told in said, f'{told} is not in {said}')
        expect(cited(path) == wanted, f'{arguments}: {cited(path)}')
        packed = members(path)
        for name in wanted.values():
            expect(not name or packed[name] == (raw / Path(name).relative_to('files/raw')).read_bytes(), f'{name}')
        expect(not any(name.endswith('other.json') for name in packed), sorted(packed))
    packed = members(path)
    packed[whole['made-up-16.json']] += b' '
    expect_exit(run('evidence', 'verify', repack(Path(folder) / 'x.tar', packed)), NO, '1 changed', 'made-up-16.json')
    expect(cited(Path(folder) / 'x.tar')['made-up-16.json'] is None, 'a changed file counts as the one')
    deep.write_bytes(deep.read_bytes() + b' ')
    for arguments, told in (((deep,), "made-up-64.json' is neither a record nor a file"), ((raw / 'other.json',), 'none has its SHA-256'),
                            (('--files', raw / 'none'), 'cannot be read')):
        expect_exit(run('evidence', 'pack', '-o', path, records, *arguments), BAD_INPUT, told)
    expect_exit(run('evidence', 'verify', path, '--files', raw), BAD_INPUT, "--files is for 'evidence pack'")


def test_offered(folder):
    """An offer, the scenario that quotes it and records of servers: together they give the same result elsewhere."""
    offer, scenario, served = (ROOT / 'examples' / 'acceptance' / name for name in ('serving.ini', 'quoted.ini', 'served'))
    path, there = Path(folder) / 'offer.tar', Path(folder) / 'there'
    expect_exit(run('evidence', 'pack', '-o', path, offer, scenario, served, '-q'), DONE)
    files = members(path)
    for name in ('serving.ini', 'quoted.ini', 'offer.ini'):  # the last one because a scenario quotes it
        expect(files[f'files/{name}'] == (offer.parent / name).read_bytes(), f'{name}: {sorted(files)}')
    for record in served.glob('*.json'):
        expect(files[f'files/served/{record.name}'] == record.read_bytes(), record.name)
    with tarfile.open(path) as archive:
        archive.extractall(there)
    for command in (('accept', 'serving.ini', 'served'), ('compare', 'quoted.ini')):
        here, elsewhere = (run_json(command[0], *(at / name for name in command[1:]), *more, statuses=(DONE, NO, 4))
                           for at, more in ((offer.parent, ()), (there / 'files', ('--data', there / 'data'))))
        for answer in (here, elsewhere):
            for told in ('reproduce', 'data', 'command', 'scenario', 'stamp'):
                answer.pop(told, None)
        expect(here.get('tables') == elsewhere.get('tables') and here.get('options') == elsewhere.get('options'),
               f'{command[0]}: other figures')
    edited = (there / 'files' / 'offer.ini')
    edited.write_text(edited.read_text().replace('27500', '26500'))
    changed = repack(Path(folder) / 'changed.tar', {**files, 'files/offer.ini': edited.read_bytes()})
    expect(states(changed, NO) == {'files/offer.ini': 'changed'}, states(changed, NO))


def test_digests(folder):
    files = members(pack(folder))
    lines = files['MANIFEST'].decode().splitlines()
    expected = [f'{hashlib.sha256(content).hexdigest()}  {name}' for name, content in sorted(files.items())
                if name != 'MANIFEST']
    expect(lines == expected, 'the manifest')
    answer = run_json('evidence', 'verify', Path(folder) / 'evidence.tar')
    expect(answer['manifest'] == hashlib.sha256(files['MANIFEST']).hexdigest(), answer['manifest'])
    with tarfile.open(Path(folder) / 'evidence.tar') as archive:
        archive.extractall(folder)
    expect(subprocess.run(['sha256sum', '--check', '--quiet', '--strict', 'MANIFEST'], cwd=folder).returncode == 0,
           'sha256sum finds another digest')


def test_reproducible(folder):
    first = pack(folder).read_bytes()
    expect(pack(folder, name='again.tar').read_bytes() == first, 'the second archive differs')


def test_spoilt(folder):
    path = pack(folder)
    files, record = members(path), 'files/fleet/records/node-03-2.json'
    expect(states(repack(path, files), DONE) == {}, 'packed again as it was')
    faster = {**files, record: files[record].replace(b'1046', b'1146')}
    expect(faster[record] != files[record], 'nothing to change')
    expect(states(repack(path, faster), NO) == {record: 'changed'}, 'a faster device')
    expect(states(repack(path, {name: files[name] for name in files if name != record}), NO) == {record: 'missing'},
           'a slow device left out')
    expect(states(repack(path, {**files, 'files/more': b''}), NO) == {'files/more': 'added'}, 'a file more')
    done = run('evidence', 'verify', repack(path, faster))
    expect_exit(done, NO, '1 changed; not signed', record)


PRICES = 'data/prices.csv'


def rows(path, status=NO):
    """The reports about rows: row, column and state, and the current content."""
    answer = run_json('evidence', 'verify', path, statuses=(status,))
    table = answer['tables'].get('rows', {'rows': []})['rows']
    expect(all(row['file'] == PRICES for row in table), table)
    return [tuple(row.get(key) or '' for key in ('row', 'column', 'state', 'found')) for row in table]


def written(table):
    text = io.StringIO()
    csv.writer(text, lineterminator='\n').writerows(table)
    return text.getvalue().encode()


def with_cell(table, row, column, text):
    return [[text if (r, name) == (row, column) else cell for name, cell in zip(table[0], line)]
            for r, line in enumerate(table)]


def test_rows(folder):
    """Every change to a table is named: its row and column, rows and columns added or removed."""
    path = pack(folder)
    files = members(path)
    table = list(csv.reader(files[PRICES].decode().splitlines()))
    first, second, last = (table[number][0] for number in (1, 2, -1))
    source = table[0].index('source_title')
    without = [line[:source] + line[source + 1:] for line in table]
    kinds = [
        ('a price', with_cell(table, 2, 'price_low', '123456'), [(second, 'price_low', 'changed', '123456')]),
        ('two cells of two rows', with_cell(with_cell(table, 1, 'kind', 'other'), 2, 'confidence', ''),
         [(first, 'kind', 'changed', 'other'), (second, 'confidence', 'changed', '')]),
        ('a row left out', table[:2] + table[3:], [(second, '', 'missing', '')]),
        ('a row more', table + [['px', *table[1][1:]]], [('px', '', 'added', '')]),
        ('a row twice', table + [table[1]], [(first, '', 'added', '')]),
        ('a row of another name', with_cell(table, 1, 'id', 'px'), [('px', '', 'added', ''), (first, '', 'missing', '')]),
        ('a blank name', with_cell(table, len(table) - 1, 'id', ''), [('', '', 'added', ''), (last, '', 'missing', '')]),
        ('a column left out', without, [('', 'source_title', 'missing', '')]),
        ('a column more', [[*line, 'x'] for line in table], [('', 'x', 'added', '')]),
        ('another order', [table[0], *reversed(table[1:])], [('', '', 'the same cells, ordered or written differently', '')]),
        ('a quote', [*table, ['a"b']], None),
    ]
    for what, tampered, expected in kinds:
        content = written(tampered) if expected is not None else files[PRICES] + b'a"b,\n'
        changed = repack(path, {**files, PRICES: content})
        found = rows(changed)
        if expected is None:
            expect(len(found) == 1 and found[0][2] == 'no longer a table' and 'line' in found[0][3], (what, found))
        else:
            expect(found == expected, (what, found[:5], expected))
        expect_exit(run('evidence', 'verify', changed), NO, 'In tables')
    for content in (b'', b'\xff', b'a\0b', b'a,b\n1,2\n'):
        found = rows(repack(path, {**files, PRICES: content}))
        expect([row[2] for row in found] == ['no longer a table'], (content, found))
    expect(rows(repack(path, files), DONE) == [], 'rows of an archive as packed')


def test_rows_used(folder):
    """Each input from a table's row is listed with it, and named if that row was changed."""
    path = pack(folder)
    files = members(path)
    listed = list(csv.DictReader(io.StringIO(files['used.csv'].decode())))
    found = {(row['option'], row['input']): (row['file'], row['row']) for row in listed}
    expect(found['h200', 'throughput'] == ('data/throughput.csv', 'tp0022') and
           found['mi325x', 'load_power'] == ('data/accelerators.csv', 'mi325x-256'), str(found))
    expect(('mi325x', 'list_price') not in found, 'what is typed comes from no row')
    expect({row['scenario'] for row in listed} == {'files/mi325x-vs-h200.ini'}, str(listed))
    for file, row in found.values():
        ids = [one['id'] for one in csv.DictReader(io.StringIO(files[file].decode()))]
        expect(ids.count(row) == 1, f'{row} of {file}')
    throughput = 'data/throughput.csv'
    table = list(csv.reader(io.StringIO(files[throughput].decode())))
    for id_, used in (('tp0022', 'h200.throughput'), ('tp0023', None)):
        line = next(n for n, row in enumerate(table) if row[0] == id_)
        changed = repack(path, {**files, throughput: written(with_cell(table, line, 'notes', 'other'))})
        difference, = run_json('evidence', 'verify', changed, statuses=(NO,))['tables']['rows']['rows']
        expect(difference['row'] == id_ and difference.get('used') == used, str(difference))
        told = 'Inputs from rows that differ: h200.throughput (tp0022)' in run('evidence', 'verify', changed).stdout
        expect(told == bool(used), f'{id_}: {told}')
    rented = members(pack(folder, ROOT / 'examples' / 'rent-or-own.ini', name='rents.tar'))['used.csv'].decode()
    offers = [list(row.values())[1:] for row in csv.DictReader(io.StringIO(rented)) if row['option'] == 'rent h100']
    expect(offers == [['rent h100', key, 'data/prices.csv', row] for key, row in
                      (('on_demand', 'pr138'), ('one_year', 'pr229'), ('three_years', 'pr370'))], f'rents: {offers}')
    hidden = {**files, 'used.csv': files['used.csv'].replace(b'tp0022', b'tp0023')}
    line = next(n for n, row in enumerate(table) if row[0] == 'tp0023')
    changed = repack(path, {**hidden, throughput: written(with_cell(table, line, 'notes', 'other'))})
    found = run_json('evidence', 'verify', changed, statuses=(NO,))['tables']['rows']['rows']
    expect(all(row.get('used') is None for row in found), 'a list of uses that was changed counts for nothing')


def test_rows_not_told(folder):
    """Digests that were themselves changed name nothing, nor do those of an archive without any; somebody else's is
    read with care; the contents of a table have no effect on a terminal."""
    path = pack(folder)
    files = members(path)
    changed = {**files, PRICES: files[PRICES] + b'\n'}
    expect(len(rows(repack(path, changed))) == 1, 'a blank line')
    for content in (b'{}', files['rows.json'] + b' '):
        expect(rows(repack(path, {**changed, 'rows.json': content})) == [], 'of digests that were changed')
    expect(rows(repack(path, {name: content for name, content in changed.items() if name != 'rows.json'})) == [],
           'of digests that are missing')
    old = dict(files)
    del old['rows.json']
    for digests in (None, [], {PRICES: 1}, {PRICES: {'rows': {}}}, {PRICES: {'columns': [1, 'id'], 'rows': {'p': 1}}},
                    {PRICES: {'columns': ['id'] * 3, 'rows': {'p': ''}}}):
        own = {**old, **({'rows.json': json.dumps(digests).encode()} if digests is not None else {})}
        lines = sorted(f'{hashlib.sha256(content).hexdigest()}  {name}\n' for name, content in own.items()
                       if name != 'MANIFEST')
        own['MANIFEST'] = ''.join(sorted(lines, key=lambda line: line[66:])).encode()
        expect(states(repack(path, own), DONE) == {}, digests)
        expect(states(repack(path, {**own, PRICES: b'id,a\np,2\n'}), NO) == {PRICES: 'changed'}, digests)
    table = list(csv.reader(files[PRICES].decode().splitlines()))
    shown = run('evidence', 'verify', repack(path, {**files, PRICES: written(with_cell(table, 1, 'kind', '\x1b[2J'))}))
    expect('\x1b[2J' not in shown.stdout and 'kind' in shown.stdout, shown.stdout)
    many = run('evidence', 'verify', repack(path, {**files, PRICES: written(table[:1])}))
    expect_exit(many, NO, f'{len(table) - 1 - 40} more differences')


def test_refused(folder):
    path = pack(folder)
    files = members(path)
    link = {'about.json': {'type': tarfile.SYMTYPE, 'linkname': '/etc/passwd', 'size': 0}}
    expect_exit(run('evidence', 'verify', repack(path, files, **link)), BAD_INPUT, 'links')
    for name in ('../up', '/root', 'a/../../up'):
        expect_exit(run('evidence', 'verify', repack(path, {**files, name: b'x'})), BAD_INPUT, 'leads outside the folder')
    expect_exit(run('evidence', 'verify', repack(path, {**files, 'MANIFEST': b'nonsense\n'})), BAD_INPUT, 'line 1')
    expect_exit(run('evidence', 'verify', repack(path, dict(reversed(files.items())))), BAD_INPUT, 'begins with')
    path.write_bytes(pack(folder).read_bytes()[:-600])
    expect_exit(run('evidence', 'verify', path), BAD_INPUT, 'evidence.tar')
    expect_exit(run('evidence', 'verify', ROOT / SCENARIO), BAD_INPUT, 'ustar')
    expect_exit(run('evidence', 'verify', Path(folder) / 'none'), BAD_INPUT, 'cannot be read')
    expect_exit(run('evidence', 'verify', '/dev/null'), BAD_INPUT, 'expected a regular file, found a device or pipe')
    expect_exit(run('evidence', 'verify', folder), BAD_INPUT, 'expected a file, found a directory')
    repack(path, files).write_bytes(path.read_bytes() + bytes(511) + b'x')
    expect_exit(run('evidence', 'verify', path), BAD_INPUT, "data after the archive's end")
    expect_exit(run('evidence', 'pack', SCENARIO), BAD_INPUT, 'expected -o FILE')
    expect_exit(run('evidence', 'unpack', path), BAD_INPUT, "not 'unpack'")


def test_an_edited_record(folder):
    """Is not packed in the first place."""
    edited = Path(folder) / 'edited.json'
    edited.write_text((ROOT / RECORDS / 'node-03-2.json').read_text().replace('1046', '1146'))
    path = Path(folder) / 'x.tar'
    expect_exit(run('evidence', 'pack', '-o', path, edited), BAD_INPUT, 'digest')
    expect(not path.exists(), 'it was packed')


def test_signed(folder):
    """By ssh-keygen, and checked by it: the right key, an unknown one, another's, a changed file."""
    if not shutil.which('ssh-keygen'):
        raise Skip('ssh-keygen is not installed')
    keys = {}
    for name in ('alice', 'mallory'):
        keys[name] = Path(folder) / name
        subprocess.run(['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-C', name, '-f', keys[name]], check=True)
    signers = Path(folder) / 'signers'
    signers.write_text('alice@example.org ' + keys['alice'].with_suffix('.pub').read_text())
    path = pack(folder, '--sign', keys['alice'])
    judge = ['ssh-keygen', '-Y', 'verify', '-n', 'pertoken-evidence', '-f', signers, '-I', 'alice@example.org', '-s',
             f'{path}.sig']
    with open(path, 'rb') as archive:
        expect(subprocess.run(judge, stdin=archive, capture_output=True).returncode == 0, 'ssh-keygen does not agree')
    expect_exit(run('evidence', 'verify', path), DONE, 'holder unknown')
    expect_exit(run('evidence', 'verify', path, '--signers', signers), DONE, 'signed by alice@example.org')
    signature = Path(f'{path}.sig')
    kept = signature.read_bytes()
    path.write_bytes(path.read_bytes().replace(b'"version": "0', b'"version": "9'))
    expect_exit(run('evidence', 'verify', path, '--signers', signers), NO, 'the signature does not match')
    expect_exit(run('evidence', 'verify', path), NO, 'the signature does not match')
    pack(folder, '--sign', keys['mallory'])
    expect_exit(run('evidence', 'verify', path, '--signers', signers), NO, 'not by an accepted signer')
    expect(signature.read_bytes() != kept, 'the first signature is still there')
    signature.unlink()
    expect_exit(run('evidence', 'verify', path), DONE, 'not signed')
    expect_exit(run('evidence', 'verify', path, '--signers', signers), NO, 'not signed')
    expect_exit(run('evidence', 'pack', '-o', path, SCENARIO, '--sign', Path(folder) / 'none'), BAD_INPUT,
                'could not sign')


# The name of a signer who would pass for a key that is not theirs.
FALSE_STATUS = '[GNUPG:] VALIDSIG ' + 40 * '0'


def test_signed_with_gpg(folder):
    """The same by GnuPG, with keys in a temporary home: right, unknown, another's, and changed afterwards."""
    if not shutil.which('gpg') or not shutil.which('gpgv'):
        raise Skip('gpg and gpgv are not installed')
    home, empty = Path(folder) / 'home', Path(folder) / 'empty'
    for one in (home, empty):
        one.mkdir(mode=0o700)

    def gpg(*arguments):
        return subprocess.run(['gpg', '--batch', '--quiet', *arguments], env={**os.environ, 'GNUPGHOME': str(home)},
                              check=True, capture_output=True).stdout
    try:
        try:
            for name in ('alice@example.org', f'{FALSE_STATUS} <mallory@example.org>'):
                gpg('--passphrase', '', '--quick-generate-key', name, 'ed25519', 'sign')
        except subprocess.CalledProcessError as failed:
            raise Skip(f'gpg makes no keys here: {failed.stderr.decode().strip()}') from failed
        check_gpg(Path(folder), home, empty, gpg)
    finally:
        subprocess.run(['gpgconf', '--homedir', home, '--kill', 'all'], capture_output=True, check=False)
        subprocess.run(['gpgconf', '--homedir', empty, '--kill', 'all'], capture_output=True, check=False)


def check_gpg(folder, home, empty, gpg):
    ours, theirs = {'environment': {'GNUPGHOME': home}}, {'environment': {'GNUPGHOME': empty}}
    path, signers, others = folder / 'evidence.tar', folder / 'signers.gpg', folder / 'others.gpg'
    signers.write_bytes(gpg('--export', 'alice@example.org'))
    others.write_bytes(gpg('--export', 'mallory@example.org'))

    def sign(name):
        return run('evidence', 'pack', '-o', path, SCENARIO, RECORDS, '--sign', f'gpg:{name}@example.org', **ours)
    expect_exit(sign('alice'), DONE, 'signed by alice@example.org')
    gpg('--verify', f'{path}.asc', path)
    fingerprint = next(line.split(':')[9] for line in gpg('--with-colons', '--list-keys', 'alice').decode().splitlines()
                       if line.startswith('fpr'))
    expect_exit(run('evidence', 'verify', path, **ours), DONE, fingerprint)
    expect_exit(run('evidence', 'verify', path, **theirs), DONE, 'was not checked')
    expect_exit(run('evidence', 'verify', path, '--signers', signers, **theirs), DONE, 'signed by alice@example.org')
    expect_exit(run('evidence', 'verify', path, '--signers', others, **theirs), NO, 'not by an accepted signer')
    kept = path.read_bytes()
    path.write_bytes(kept.replace(b'"version": "0', b'"version": "9'))
    for more in ((), ('--signers', signers)):
        expect_exit(run('evidence', 'verify', path, *more, **ours), NO, 'the signature does not match', 'about.json')
    expect_exit(sign('mallory'), DONE)
    expect_exit(run('evidence', 'verify', path, '--signers', signers, **ours), NO, 'not by an accepted signer')
    done = run('evidence', 'verify', path, '--signers', others, **theirs)
    expect_exit(done, DONE, 'signed by')
    expect('GnuPG key ' + 40 * '0' not in ' '.join(done.stdout.split()), f'a name passes for a key\n{done.stdout}')
    Path(f'{path}.asc').unlink()
    expect_exit(run('evidence', 'verify', path, '--signers', signers, **ours), NO, 'not signed')
    expect_exit(sign('nobody'), BAD_INPUT, "gpg could not sign with the key of 'nobody@example.org'")


def main():
    count = Count()
    for name, test in list(globals().items()):
        if name.startswith('test_'):
            with tempfile.TemporaryDirectory() as folder:
                count.test(name[5:], test, folder)
    count.finish()


if __name__ == '__main__':
    main()
