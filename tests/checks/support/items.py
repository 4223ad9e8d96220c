"""The items that compare tells of a scenario's options, and what they must be."""
from support.program import expect, run_json


def told(path, text, *arguments):
    """{option: items} of a scenario, which is written to the path."""
    path.write_text(text, encoding='utf-8')
    return {one['id']: one['items'] for one in run_json('compare', path, *arguments)['options']}


def near(found, wanted, what, least=1):
    """To 1e-9 of what is wanted, and of at least so much."""
    expect(found is not None and abs(found - wanted) <= 1e-9 * max(abs(wanted), least), f'{what}: {found}, not {wanted}')


def expect_items(items, wanted, least=1):
    """wanted: {item: number, or numbers of the periods}."""
    for name, values in wanted.items():
        found = items.get(name)
        if not isinstance(values, list):
            values, found = [values], [found]
        expect(found is not None and len(found) == len(values), f'{name}: {found}, not {values}')
        for place, (value, number) in enumerate(zip(values, found)):
            near(number, value, f'{name}[{place}]', least)
