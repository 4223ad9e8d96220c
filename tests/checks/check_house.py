#!/usr/bin/python3
"""Does the program have the structure described in docs/architecture.md?

Its table of rooms gives the arrows: a file includes what is in its own room, or in a room that this one
stands on, directly or indirectly. In addition: no circular includes (a header and its source count as
one), no room with more than MAX_MODULES of them, every function that the page's walks name is defined
in the file that they name, what a header declares is used by a file other than its own source, and no
line is longer than MAX_COLUMNS, comments included, which clang-format leaves as they are. No script of the
tests gives a name twice, to functions or to constants: the later one would replace the other without a word;
nor has it a test that nothing runs.
"""
import ast
import collections
import graphlib
import re

from support.program import Count, ROOT

PAGE = ROOT / 'docs' / 'architecture.md'
PROGRAM = ('base', 'model', 'kernels', 'probe', 'reports')
MAX_MODULES = 25
MAX_COLUMNS = 100
INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.M)
DECLARED = re.compile(r'^(?!static|typedef|return|#)(?:[a-z]\w* +\**)+\**(\w+)\(', re.M)
HOP = re.compile(r'`([\w/]+\.\w+):(\w+)`')


def rooms_of(text):
    """Each room of the table with the rooms that it names: | `room/` | what | `room/`, ... |"""
    rooms = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        if line.startswith('| `') and cells[0].endswith('/`') and len(cells) == 3:
            rooms[cells[0].strip('`/')] = [name.rstrip('/') for name in re.findall(r'`([^`]+)`', cells[2])]
    return rooms


def beneath(rooms):
    """Each room with all rooms that it stands on, directly or not."""
    found = {}
    for room in graphlib.TopologicalSorter(rooms).static_order():
        found[room] = set(rooms[room]).union(*(found[below] for below in rooms[room]))
    return found


def sources():
    for folder in PROGRAM:
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.c', '.h', '.cu'):
                yield path.relative_to(ROOT)


def modules_of(room):
    """The names of a folder's own sources; the parts of the page and of the build are not counted
    twice."""
    return {path.stem for path in (ROOT / room).iterdir() if path.is_file()}


def check_arrows(count, rooms, files):
    below = beneath(rooms)
    for path, included in files.items():
        room = str(path.parent)
        count.check(path, room in rooms, f'{room}/ is not in the table')
        for name in included:
            other = name.rpartition('/')[0]
            if other.startswith('tests'):  # the kernels' platform for the tests' emulator
                continue
            count.check(path, other == room or other in below.get(room, ()),
                        f'includes {name}, and {room}/ does not stand on {other}/')


def check_circles(count, files):
    graph = collections.defaultdict(set)
    for path, included in files.items():
        module = str(path.with_suffix(''))
        graph[module] |= {name.rpartition('.')[0] for name in included} - {module}
    try:
        graphlib.TopologicalSorter(graph).prepare()
        count.check('circles', True)
    except graphlib.CycleError as error:
        count.check('circles', False, ' -> '.join(error.args[1]))


def check_walks(count, text):
    hops = HOP.findall(text)
    count.check('walks', len(hops) >= 10, f'{len(hops)} hops')
    for name, function in hops:
        path = ROOT / name
        found = path.exists() and re.search(rf'^(?!\s).*\b{function}\(', path.read_text(), re.M)
        count.check(f'{name}:{function}', found, 'is not defined there')


def check_public(count, files):
    """A function that no other file names should be private to its source."""
    named = collections.defaultdict(set)
    for path in [*files, *(path.relative_to(ROOT) for path in (ROOT / 'tests').rglob('*.[ch]*'))]:
        for name in set(re.findall(r'\w+', (ROOT / path).read_text())):
            named[name].add(path.with_suffix(''))
    for path in files:
        if path.suffix == '.h' and 'device' not in path.parts:
            for name in DECLARED.findall((ROOT / path).read_text()):
                count.check(f'{path}: {name}', named[name] - {path.with_suffix('')}, 'no other file names it')


def check_columns(count):
    for folder in (*PROGRAM, 'tests'):
        for path in sorted((ROOT / folder).rglob('*')):
            if path.suffix in ('.c', '.h', '.cu', '.cc'):
                longest = max(map(len, path.read_text().splitlines()), default=0)
                count.check(path.relative_to(ROOT), longest <= MAX_COLUMNS, f'a line of {longest} columns')


LEFTOVER = re.compile(r'\.(orig|rej|bak|swp|tmp)$|~$')


def check_leftovers(count):
    """What patches and editors leave beside a file is no part of the project."""
    for folder in (*PROGRAM, 'tests', 'docs', 'data', 'examples'):
        for path in sorted((ROOT / folder).rglob('*')):
            if LEFTOVER.search(path.name):
                count.check(path.relative_to(ROOT), False, 'left over from a patch or an editor')


def names_given(node):
    """What a statement at the top of a script gives a name to."""
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else []
    return [part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name) and
            isinstance(part.ctx, ast.Store)]


def check_replaced(count):
    for path in sorted((ROOT / 'tests').rglob('*.py')):
        names = collections.Counter(name for node in ast.parse(path.read_text()).body for name in names_given(node))
        twice = [name for name, times in names.items() if times > 1]
        count.check(path.relative_to(ROOT), not twice, f'defined twice: {", ".join(twice)}')


def check_forgotten(count):
    """A test that is not in its script's list, and is not found by its name, never runs."""
    texts = {path: path.read_text() for path in [*(ROOT / 'tests').rglob('*.py'), ROOT / 'tests/gpu/check']}
    named = collections.Counter(name for text in texts.values() for name in re.findall(r'\w+', text))
    prefixes = {name for text in texts.values() for name in re.findall(r"'([a-z]+_)'", text)}
    for path, text in sorted(texts.items()):
        lost = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)
                and not node.decorator_list and named[node.name] == 1
                and not (node.name.partition('_')[0] + '_' in prefixes
                         and ('globals()' in text or not path.name.startswith('check_')))]
        count.check(path.relative_to(ROOT), not lost, f'nothing names {", ".join(lost)}')


def main():
    count = Count()
    text = PAGE.read_text()
    rooms = rooms_of(text)
    files = {path: INCLUDE.findall((ROOT / path).read_text()) for path in sources()}
    check_arrows(count, rooms, files)
    check_circles(count, files)
    for room in sorted({str(path.parent) for path in files}):
        size = len(modules_of(room))
        count.check(room, size <= MAX_MODULES, f'{size} modules')
    for room in rooms:
        count.check(room, (ROOT / room).is_dir(), 'the table has it, the program has not')
    check_walks(count, text)
    check_public(count, files)
    check_columns(count)
    check_leftovers(count)
    check_replaced(count)
    check_forgotten(count)
    count.finish()


if __name__ == '__main__':
    main()
