"""Recalculates a workbook with Gnumeric's ssconvert."""
import shutil
import subprocess

import xlsx


def missing():
    """Why Gnumeric cannot be used, or None."""
    return None if shutil.which('ssconvert') else 'ssconvert (Gnumeric) is not installed'


def recalculate(source, target):
    """Writes source, recalculated, to target; returns actual(sheet, row, column) for compare()."""
    done = subprocess.run(['ssconvert', '--recalc', source, target], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f'ssconvert failed on {source}: {done.stderr.strip()}')
    return xlsx.Values(target).value
