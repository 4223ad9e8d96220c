"""bundle: what a check has found so far, as one file from which another machine can continue.

It is rewritten after every step and replaced atomically, so that a machine that is taken away leaves the
bundle of its last finished step. A bundle that is incomplete, or not of this check, is refused with a
message.
"""
import gzip
import io
import json
import os
import shutil
import tarfile
import zlib

import running
from running import Unreadable

NAME = 'gpu-check.tar.gz'
TOP = 'gpu-check'  # the folder in it
BUNDLED = ('table.txt', 'environment.json', 'state.json', 'records', 'peer', 'stamps', 'logs')
BUNDLE_LEVEL = 3  # of gzip: it is written after each step
MAX_BYTES = 1 << 28  # unpacked: a bundle with every step is a hundredth of that
BROKEN = (OSError, EOFError, tarfile.TarError, zlib.error)


def write(out):
    new = out / f'{NAME}.new'
    with running.leaving_nothing(new):
        with tarfile.open(new, 'w:gz', compresslevel=BUNDLE_LEVEL) as archive:
            for name in BUNDLED:
                if (out / name).exists():
                    archive.add(out / name, arcname=f'{TOP}/{name}')
        with open(new, 'rb+') as file:
            os.fsync(file.fileno())
        os.replace(new, out / NAME)


def is_ours(member):
    """A file or folder of those that are bundled: not a link, and nowhere else."""
    top, *parts = member.name.split('/')
    if top != TOP or '..' in parts or not (member.isreg() or member.isdir()):
        return False
    return not parts or parts[0] in BUNDLED or (member.isdir() and not parts[0])


def unpack(path, folder):
    """Every byte is read before any is used: gzip's checksum is at the end, after what tar reads."""
    try:
        with gzip.open(path) as file:
            whole = file.read(MAX_BYTES + 1)
        if len(whole) > MAX_BYTES:
            raise Unreadable(f'{path} is no bundle of this check: it is too large')
        with tarfile.open(fileobj=io.BytesIO(whole)) as archive:
            members = archive.getmembers()
            strange = next((member.name for member in members if not is_ours(member)), None)
            if strange is not None:
                raise Unreadable(f'{path} is no bundle of this check: it has {strange!r}')
            for member in members:
                to = folder / member.name
                if member.isdir():
                    to.mkdir(parents=True, exist_ok=True)
                    continue
                to.parent.mkdir(parents=True, exist_ok=True)
                with archive.extractfile(member) as source, open(to, 'wb') as file:
                    shutil.copyfileobj(source, file)
    except BROKEN as error:
        raise Unreadable(f'{path} is no whole bundle: {error or type(error).__name__}') from None


def check_records(bundle, folder):
    """Each record is complete, as the table is made from all of them."""
    for kind in ('records', 'peer'):
        for path in (folder / kind).rglob('*.json'):
            try:
                results = json.loads(path.read_text())['results']
            except (OSError, ValueError, KeyError, TypeError):
                results = None
            if not isinstance(results, list) or not all(isinstance(one, dict) for one in results):
                raise Unreadable(f'{bundle}: its record {path.relative_to(folder)} is broken')


def is_beyond(kept, out):
    """Whether a folder has everything that a bundle finished: then the folder is the one to continue."""
    here = running.read_state(out / 'state.json')
    done = [name for name, step in kept['steps'].items() if step['status'] == running.DONE]
    return here['key'] == kept['key'] and all(
        here['steps'].get(name, {}).get('status') == running.DONE for name in done)


def put(found, to):
    """A log that this call has begun already continues the bundle's."""
    if found.is_dir():
        for one in found.iterdir():
            put(one, to / one.name)
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    if to.suffix == '.log' and to.exists():
        with open(found, 'ab') as file:
            file.write(to.read_bytes())
    os.replace(found, to)


def resume(path, out, refusal):
    """Puts a bundle's results into the folder of a check that has none. The state comes last: a call that
    is killed in between starts over with the bundle. refusal(key): why it is not of this check, or ''."""
    work = out / 'resuming'
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    try:
        unpack(path, work)
        state = work / TOP / 'state.json'
        if not state.exists():
            raise Unreadable(f'{path} has no results')
        kept = running.read_state(state)
        why = refusal(kept['key'])
        if why:
            raise Unreadable(f'{path} holds results of {why}: leave --resume out')
        check_records(path, work / TOP)
        if (out / 'state.json').exists():
            if is_beyond(kept, out):
                return
            raise Unreadable(f'{out} holds results of a check already: go on without --resume, or name '
                             'another --out')
        for name in (*(name for name in BUNDLED if name != 'state.json'), 'state.json'):
            if (work / TOP / name).exists():
                put(work / TOP / name, out / name)
    finally:
        shutil.rmtree(work, ignore_errors=True)
