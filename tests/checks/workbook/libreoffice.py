"""Drives one headless LibreOffice through UNO: load, edit cells, recalculate, read back."""
import importlib.util
import os
import shutil
import subprocess
import time
from pathlib import Path

# Without this, LibreOffice trusts a workbook's cached values, and a recalculation proves nothing. With it, opening one
# recalculates it.
PROFILE = '''<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load">
<prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value></prop></item>
</oor:items>
'''
START_SECONDS = 60


def missing():
    """Why LibreOffice cannot be used, or None."""
    if not shutil.which('soffice'):
        return 'soffice (LibreOffice) is not installed'
    return None if importlib.util.find_spec('uno') else 'python3-uno is not installed'


class Office:
    """A LibreOffice of our own, with a profile in the given folder; a context manager."""

    def __init__(self, folder):
        self.profile = Path(folder, 'profile').resolve()
        self.process = self.desktop = None

    def __enter__(self):
        user = self.profile / 'user'
        user.mkdir(parents=True)
        (user / 'registrymodifications.xcu').write_text(PROFILE)
        pipe = f'pertoken{os.getpid()}'
        self.process = subprocess.Popen(
            ['soffice', '--headless', '--norestore', '--nologo', '--nofirststartwizard',
             f'-env:UserInstallation={self.profile.as_uri()}', f'--accept=pipe,name={pipe};urp;'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            self.desktop = self.connect(pipe)
        except BaseException:
            self.stop()
            raise
        return self

    def connect(self, pipe):
        import uno
        local = uno.getComponentContext()
        resolver = local.ServiceManager.createInstanceWithContext(
            'com.sun.star.bridge.UnoUrlResolver', local)
        deadline = time.monotonic() + START_SECONDS
        while True:
            try:
                context = resolver.resolve(f'uno:pipe,name={pipe};urp;StarOffice.ComponentContext')
                return context.ServiceManager.createInstanceWithContext(
                    'com.sun.star.frame.Desktop', context)
            except Exception:  # UNO's exceptions are created at run time
                if self.process.poll() not in (None, 0) or time.monotonic() > deadline:
                    raise RuntimeError('LibreOffice did not start')
                time.sleep(0.05)

    def __exit__(self, *_):
        try:
            self.desktop.terminate()
        except Exception:  # it may be gone before it answers
            pass
        self.stop()

    def stop(self):
        """soffice is a shell script over the program: end the whole group that we started."""
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 15)
            self.process.wait()

    def open(self, path):
        import uno
        from com.sun.star.beans import PropertyValue
        hidden = PropertyValue()
        hidden.Name, hidden.Value = 'Hidden', True
        document = self.desktop.loadComponentFromURL(
            uno.systemPathToFileUrl(os.path.abspath(path)), '_blank', 0, (hidden,))
        if document is None:
            raise RuntimeError(f'LibreOffice cannot open {path}')
        return Document(document)


class Document:
    def __init__(self, document):
        self.document, self.original = document, {}
        self.sheets = {name: document.Sheets.getByName(name)
                       for name in document.Sheets.ElementNames}
        for sheet in self.sheets.values():
            if sheet.isProtected():
                sheet.unprotect('')

    def set(self, values):
        """Sets {(sheet, row, column): number or text or '=formula'}; what was set before and is not among them is as it
        was when opened."""
        self.document.lockControllers()
        self.document.enableAutomaticCalculation(False)
        for (sheet, row, column), value in {**self.original, **values}.items():
            cell = self.sheets[sheet].getCellByPosition(column - 1, row - 1)
            # a number's Formula is rounded for display: keep its value instead
            there = cell.Value if cell.Type.value == 'VALUE' else cell.Formula
            self.original.setdefault((sheet, row, column), there)
            if value == there:
                continue
            if isinstance(value, float):
                cell.Value = value
            else:
                cell.Formula = value
        self.document.calculate()
        self.document.enableAutomaticCalculation(True)
        self.document.unlockControllers()

    def read(self):
        """actual(sheet, row, column) for compare(): the current values."""
        data = {}
        for name, sheet in self.sheets.items():
            cursor = sheet.createCursor()
            cursor.gotoEndOfUsedArea(False)
            end = cursor.RangeAddress
            used = sheet.getCellRangeByPosition(0, 0, end.EndColumn, end.EndRow)
            data[name] = used.getDataArray()

        def actual(name, row, column):
            rows = data[name]
            used = row <= len(rows) and column <= len(rows[0])
            return rows[row - 1][column - 1] if used else None
        return actual

    def close(self):
        self.document.close(True)
