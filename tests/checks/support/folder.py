"""A folder of made-up files that a program reads, and into which it writes records of them."""
import json
import pathlib
import tempfile


class Folder:
    def __init__(self):
        self.kept = tempfile.TemporaryDirectory()
        self.path = pathlib.Path(self.kept.name)
        self.records = self.path / 'records'

    def write(self, name, content):
        """A file of text, or of JSON."""
        (self.path / name).write_text(content if isinstance(content, str) else json.dumps(content))
        return self.path / name
