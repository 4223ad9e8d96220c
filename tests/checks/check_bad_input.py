#!/usr/bin/python3
"""Gives the program input that it must refuse, and input that looks odd but is valid; checks its
messages.

    check_bad_input.py [NAME...]     every case, or those whose name contains a NAME

A case marks the places of its errors in its own text with MARK. Each must be reported once with
file, line and column, its message, the line and a caret; nothing else may be reported. Every case
runs `compare` and `report`, every other one with an existing workbook, which must not change.
PERTOKEN names the program.
Seconds: 4
"""
import functools
import os
import pathlib
import shutil
import sys
import tempfile
import zipfile

from support.golden import GOLDEN
from support.marked import BOOK, MARK, SCENARIO, bad, listing, run, swap, try_bad
from support.program import Count, ROOT, expect

MEGABYTE = 1 << 20
BASE = GOLDEN
OWN_ITEM = """
[item extra]
label = Extra
unit = USD
group = capex
formula = """


def below(line, *new, text=BASE):
    """The text with additional lines below one."""
    return swap(line + "\n", "\n".join((line,) + new) + "\n", text)


def replaced(old, new):
    return swap(old + "\n", new + "\n")


def nest(depth, inner):
    return "(" * depth + inner + ")" * depth


def data_with(table, change):
    """Prepares a copy of the catalogue in data/ in which a table's text is changed."""
    def prepare(folder):
        shutil.copytree(ROOT / "data", folder / "data", ignore=shutil.ignore_patterns("measured"))
        path = folder / "data" / table
        path.write_text(change(path.read_text(encoding="utf-8")), encoding="utf-8")
    return prepare


def table_case(name, change, message, table="accelerators.csv"):
    """A case about a catalogue; `change` puts MARK at the error."""
    text = change((ROOT / "data" / table).read_text(encoding="utf-8"))
    return bad(name, BASE, message, arguments=("--data", "data"), files={f"data/{table}": text},
               prepare=data_with(table, lambda old: text.replace(MARK, "")))


def in_row(identity, change):
    """Changes the row of an id."""
    def change_text(text):
        lines = text.split("\n")
        row = next(i for i, line in enumerate(lines) if line.startswith(identity + ","))
        lines[row] = change(lines[row])
        return "\n".join(lines)
    return change_text


def in_cell(identity, column, value):
    """Changes one cell of a row whose cells up to there contain no comma."""
    def change_text(text):
        index = text.split("\n", 1)[0].split(",").index(column)

        def change_row(row):
            cells = row.split(",")
            cells[index] = MARK + value
            return ",".join(cells)
        return in_row(identity, change_row)(text)
    return change_text


def without_column(column):
    return lambda text: MARK + swap(f",{column},", f",{column}_old,", text)


NAMES = [
    bad("unknown key", below("[common]", MARK + "suport = 4 %/yr"),
        "unknown.*suport.*did you mean 'support'"),
    bad("unknown key of an option", below("[option mi325x]", MARK + "list_prize = 1 USD"),
        "unknown.*list_prize.*did you mean 'list_price'"),
    *(bad(f"an input misspelt as {typed}", swap(f"\n{key} ", f"\n{MARK}{typed} "), f"unknown.*{typed}.*did you mean '{key}'")
      for key, typed in (("pue", "PUE"), ("utilization", "utilisation"), ("electricity_price", "electricty_price"),
                         ("accelerators", "acelerators"), ("list_price", "list_prise"), ("accelerator", "acelerator"),
                         ("accelerator", "Accelarator"))),
    *(bad(f"an input by its common name {typed}", below("[common]", f"{MARK}{typed} = 4"),
          f"unknown.*{typed}.*did you mean '{key}'")
      for key, typed in (("failure_rate", "annual_failures"), ("failure_rate", "afr"), ("engineers", "fte"),
                         ("delay_damages", "liquidated_damages"), ("grid_intensity", "carbon_intensity"),
                         ("accelerators_per_node", "gpus_per_node"), ("cache_hit", "cache_hit_rate"),
                         ("pue", "power_usage_effectiveness"), ("demand", "tokens_per_day"))),
    # A required input in the wrong section is not missing, too.
    bad("input in [scenario]", below("[scenario]", MARK + "pue = 1.25", text=swap("pue = 1.25\n", "")),
        r"'pue' belongs in \[common\] or an option"),
    bad("input in [workload]", swap("pue = 1.25\n", "") + f"\n[workload]\n{MARK}pue = 1.25\n",
        r"'pue' belongs in \[common\] or an option"),
    bad("selection in [scenario]", below("[scenario]", MARK + "precision = fp8"),
        r"'precision' belongs in an option or \[workload\]"),
    bad("price of no accelerator", swap("accelerator = h200-sxm-141\nlist_price = 35000 USD", "price = pr001",
                                        replaced("[option h200]", MARK + "[option h200]")),
        "option 'h200' needs 'accelerator'"),
    bad("price of an unknown accelerator", swap("accelerator = h200-sxm-141\nlist_price = 35000 USD",
                                                f"accelerator = {MARK}h2000\nprice = pr001"),
        "unknown accelerator 'h2000'"),
    bad("unknown key without a likeness", below("[common]", MARK + "zzyzx = 1"), "unknown.*zzyzx"),
    bad("unknown section", BASE + f"\n{MARK}[comon]\npue = 1\n",
        "unknown section.*comon.*did you mean.*common"),
    bad("unknown section with an argument", BASE + f"\n{MARK}[optoin x]\npue = 1\n",
        "unknown section.*optoin.*did you mean.*option"),
    bad("unknown accelerator", swap("= h200-sxm-141", f"= {MARK}h200-sxm-14"),
        "unknown accelerator 'h200-sxm-14'.*did you mean 'h200-sxm-141'"),
    bad("unknown model", BASE + f"\n[workload]\nmodel = {MARK}llama-2-70bb\n",
        "unknown model 'llama-2-70bb'.*did you mean 'llama-2-70b'"),
    bad("unknown baseline", replaced("baseline = h200", f"baseline = {MARK}h100"),
        "h100.*did you mean 'h200'"),
    bad("unknown case", BASE + "\n[case stressed]\npue = 1.5\n", arguments=("--case", "stresed"),
        also=("error: .*stresed.*did you mean 'stressed'",)),
    bad("unknown key of a case", BASE + f"\n[case stressed]\n{MARK}pui = 1.5\n",
        "unknown.*pui.*did you mean 'pue'"),
    bad("unknown option of a case's key", BASE + f"\n[case stressed]\n{MARK}mi325.pue = 1.5\n",
        "mi325.*did you mean 'mi325x"),
    bad("unknown key of --set", BASE, arguments=("--set", "pui=1.5"),
        also=("error: .*pui.*did you mean 'pue'",)),
    bad("unknown option of --set", BASE, arguments=("--set", "mi325.discount=20 %"),
        also=("error: .*mi325.*did you mean 'mi325x",)),
    bad("--set without a value", BASE, arguments=("--set", "pue"), also=("error: .*KEY=VALUE",)),
    bad("an option's id that is no name", swap("[option mi325x]", MARK + "[option mi-325x]"),
        "mi-325x"),
    bad("an option's id that is too long", swap("[option mi325x]", f"{MARK}[option {'m' * 25}]"),
        "m" * 25),
    bad("two options with one id", BASE + f"\n{MARK}[option h200]\ndiscount = 1 %\n",
        r"\[option h200\].*line 20"),
    bad("two options that differ in case only", BASE + f"\n{MARK}[option H200]\n"
        "accelerator = h200-sxm-141\nlist_price = 1 USD\nload_power = 700 W\n"
        "throughput = 1 token/s\n", "H200|h200"),
    bad("no option", BASE[:BASE.index("[option h200]")].replace("baseline = h200\n", ""),
        also=(rf"{SCENARIO}.*error: .*option",)),
]
VALUES = [
    bad("missing input", swap("pue = 1.25\n", "").replace("[option", MARK + "[option"),
        "h200.*needs 'pue'", "mi325x.*needs 'pue'"),
    bad("missing input of one option",
        swap("[option h200]", MARK + "[option h200]", swap("list_price = 35000 USD\n", "")),
        "h200.*needs 'list_price'"),
    bad("missing accelerator", swap("[option h200]", MARK + "[option h200]",
                                    swap("accelerator = h200-sxm-141\n", "")),
        "h200.*accelerator"),
    bad("empty value", replaced("pue = 1.25", f"pue ={MARK}"), "expected"),
    bad("wrong unit", swap("0.08 USD/kWh", f"0.08 {MARK}USD/kW"),
        "wrong unit 'USD/kW'.*USD/kWh"),
    bad("unit of a likeness", swap("0.08 USD/kWh", f"0.08 {MARK}UDS/kWh"),
        "unknown unit 'UDS'.*did you mean 'USD'"),
    bad("missing unit", swap("0.08 USD/kWh", MARK + "0.08"), "no unit.*USD/kWh"),
    bad("missing per cent", replaced("utilization = 70 %", f"utilization = {MARK}0.7"),
        "no unit.*%"),
    bad("no number", replaced("pue = 1.25", f"pue = {MARK}high"), "expected a.*number.*'high'"),
    bad("thousands separator", swap("35000 USD", MARK + "35,000 USD"), "thousands"),
    bad("not a number", replaced("pue = 1.25", f"pue = {MARK}nan"), "expected.*'nan'"),
    bad("infinity", swap("35000 USD", MARK + "inf USD"), "expected.*'inf USD'"),
    bad("beyond a double", swap("35000 USD", MARK + "1e999 USD"), "expected.*'1e999 USD'"),
    bad("hexadecimal", swap("35000 USD", f"0{MARK}x88B8 USD"), "unknown unit 'x88B8'"),
    bad("pue below 1", replaced("pue = 1.25", f"pue = {MARK}0.9"), "pue.*1"),
    bad("discount above 100 %", swap("discount = 14 %", f"discount = {MARK}101 %"),
        "discount.*100 %"),
    bad("negative power", swap("load_power = 700 W", f"load_power = {MARK}-700 W"),
        "load_power.*-700 W|load_power.*0 W"),
    bad("part of an accelerator", swap("accelerators = 800", f"accelerators = {MARK}800.5"),
        "accelerators.*(whole|integer)"),
    bad("no accelerators", swap("accelerators = 800", f"accelerators = {MARK}0"), "accelerators"),
    bad("no horizon", swap("horizon = 3 yr", f"horizon = {MARK}0 yr"), "horizon"),
    bad("throughput of zero", swap("4202 token/s", MARK + "0 token/s"), "throughput"),
    bad("no choice", below("[common]", f"colo_rate = 150 USD/kW/month\ncolo_power = {MARK}metred"),
        "expected metered or included, not 'metred'"),
    bad("a date that is none", swap("2026-11-01", MARK + "2026-13-01"), "expected.*'2026-13-01'"),
    *(bad(f"a start that is none, {text}", swap("horizon = 3 yr", f"horizon = 3 yr\nstart = {MARK}{text}"),
          f"expected a month or a day.*'{text}'") for text in ("2027", "2027-13", "2027-02-30", "mid-2027")),
    bad("out of range in a case", BASE + f"\n[case stressed]\nmi325x.discount = {MARK}140 %\n",
        "discount.*100 %"),
    bad("out of range by --set", BASE, arguments=("--set", "pue=0.5"), also=("error: .*pue",)),
    bad("own construction beside colocation",
        below("[common]", "colo_rate = 150 USD/kW/month", "build_price = 9000 USD/kW"),
        also=("error: .*h200.*build_price.*colo_rate", "error: .*mi325x.*build_price.*colo_rate")),
    bad("list price beside rent",
        below("list_price = 35000 USD", "rental_rate = 2 USD/h"),
        also=("error: .*(list_price.*rental_rate|rental_rate.*list_price)",)),
    bad("engineers without their cost",
        swap("engineer_cost = 280000 USD/yr\n", ""), also=("error: .*engineer_cost",)),
    bad("five errors in one run",
        swap("0.08 USD/kWh", f"0.08 {MARK}USD/kW",
             swap("700 W", MARK + "-700 W",
                  swap("4202 token/s", MARK + "4202",
                       swap("pue = 1.25", f"pue = {MARK}0.9",
                            below("[common]", MARK + "suport = 4 %/yr"))))),
        "suport", "pue", "USD/kWh", "load_power", "no unit"),
]
SYNTAX = [
    bad("repeated key", below("pue = 1.25", MARK + "pue = 1.3"), "'pue'.*line 11"),
    bad("repeated section", BASE + f"\n{MARK}[common]\nspares = 1 %\n", r"\[common\].*line 7"),
    bad("unclosed section", swap("[common]", "[common" + MARK), r"\]"),
    bad("section without a name", BASE + f"\n[{MARK}]\n", "section's name"),
    bad("over-long section", BASE + f"\n[{MARK}item {'x' * 50}]\n", "at most 49 bytes"),
    bad("no section", "; nothing but a comment\n", also=(rf"{SCENARIO}: error: no section",)),
    bad("key before a section", MARK + "title = x\n" + BASE, "section"),
    bad("continued value", below("pue = 1.25", f"  {MARK}and more"), "first column"),
    bad("indented key", below("pue = 1.25", f"\t{MARK}spares = 1 %"), "first column"),
    bad("prose", below("pue = 1.25", MARK + "this is no key"), "'key = value'"),
    bad("colon for equals", below("pue = 1.25", f"spares{MARK}: 1 %"), "write '='"),
    bad("key without a name", below("pue = 1.25", MARK + "= 1 %"), "name"),
    bad("line of 200 bytes", below("pue = 1.25", "a = " + "x" * 195 + MARK + "x"),
        "at most 199 bytes"),
    bad("line of a megabyte", below("pue = 1.25", "a = " + "x" * 195 + MARK + "x" * MEGABYTE),
        "at most 199 bytes"),
    bad("control character", below("pue = 1.25", f"spares = {MARK}\x1b[2J1 %"), "0x1B"),
    bad("U+FFFE in a title", BASE.replace("title = ", f"title = {MARK}\ufffe", 1), "found U[+]FFFE, which is not a character"),
    bad("U+FFFF in a comment", below("pue = 1.25", f"; a {MARK}\uffff comment"), "found U[+]FFFF"),
    bad("line ends of one carriage return", BASE[:10] + MARK + BASE[10:].replace("\n", "\r"),
        "0x0D"),
]
FILES = [
    bad("inherits itself", below("[scenario]", f"inherits = {MARK}{SCENARIO}"),
        "inherit|circle|cycle"),
    bad("inherits in a circle", below("[scenario]", "inherits = parent.ini"),
        "inherit|circle|cycle",
        files={"parent.ini": f"[scenario]\ninherits = {MARK}{SCENARIO}\n"}),
    bad("inherits what is not there", below("[scenario]", f"inherits = {MARK}missing.ini"),
        "missing.ini"),
    bad("error in an inherited file", below("[scenario]", "inherits = parent.ini"), "suport",
        files={"parent.ini": f"[common]\n{MARK}suport = 1 %/yr\n"}),
    bad("no file", None, also=(rf"{SCENARIO}: error: cannot be opened",)),
    bad("directory", None, also=(rf"{SCENARIO}: error: .*directory",),
        prepare=lambda folder: (folder / SCENARIO).mkdir()),
    bad("pipe", None, also=(rf"{SCENARIO}: error: .*pipe",),
        prepare=lambda folder: os.mkfifo(folder / SCENARIO)),
    bad("empty file", b"", also=(rf"{SCENARIO}: error: no section",)),
    bad("binary file", bytes(range(256)) * 64, also=(rf"{SCENARIO}:1:1: error: .*NUL",)),
    bad("NUL byte", BASE.encode() + b"\0\n", also=(rf"{SCENARIO}:34:1: error: .*NUL",)),
    bad("invalid UTF-8", BASE.replace("Golden", "G\xf6lden").encode("latin-1"),
        also=(rf"{SCENARIO}:2:10: error: .*UTF-8.*0xF6",)),
    bad("UTF-16", BASE.encode("utf-16"), also=(rf"{SCENARIO}:1:.*error: .*",)),
    bad("no data directory", BASE, arguments=("--data", "missing"),
        also=("missing.*error|error: .*missing",)),
    bad("no model file", BASE, arguments=("--model", "missing.ini"), also=("missing.ini.*error",)),
]
TABLES = [
    table_case("stray quote in a table", in_row("h200-sxm-141", lambda row: swap(
        "H200 SXM", f"H200 {MARK}\"SXM", row)), "quote"),
    table_case("text behind a quoted cell", in_row("h200-sxm-141", lambda row: swap(
        ",NVIDIA,", f',"NVIDIA"{MARK}x,', row)), "quote"),
    table_case("too few cells", in_row("h200-sxm-141", lambda row: row[:row.rindex(",")] + MARK),
               r"expected \d+ cells.*found \d+"),
    table_case("too many cells", in_row("h200-sxm-141", lambda row: row + "," + MARK + "x"),
               r"expected \d+ cells.*found \d+"),
    table_case("missing column", without_column("tdp_w"), "tdp_w"),
    table_case("no number in a table", in_cell("h200-sxm-141", "tdp_w", "seven"), "tdp_w|number"),
    table_case("NaN in a table", in_cell("h200-sxm-141", "tdp_w", "nan"), "tdp_w|number"),
    table_case("negative watts in a table", in_cell("h200-sxm-141", "tdp_w", "-700"), "tdp_w"),
    table_case("repeated id", in_row("mi325x-256", lambda row: MARK + swap(
        "mi325x-256", "h200-sxm-141", row)), "h200-sxm-141.*line 5"),
    bad("empty table", BASE, arguments=("--data", "data"),
        also=(r"data/accelerators.csv.*error: .*empty",),
        prepare=data_with("accelerators.csv", lambda text: "")),
    bad("missing table", BASE, arguments=("--data", "data"), also=(r"accelerators.csv: error: ",),
        prepare=lambda folder: (folder / "data").mkdir()),
]
FORMULAS = [
    bad("unknown name in a formula", BASE + OWN_ITEM + f"2 * {MARK}hardware_cots",
        "hardware_cots.*did you mean 'hardware_cost'"),
    bad("unknown function", BASE + OWN_ITEM + f"{MARK}cell(hardware_cost)",
        "cell.*did you mean 'ceil'"),
    bad("formula cut off", BASE + OWN_ITEM + f"2 *{MARK}", "end of the formula"),
    bad("two formulas in a row", BASE + OWN_ITEM + f"hardware_cost {MARK}hardware_cost",
        "operator"),
    bad("formula of too many levels", BASE + OWN_ITEM + nest(40, MARK + nest(30, "1 USD")),
        "fewer nested parentheses"),
    bad("units that cannot be added", BASE + OWN_ITEM + f"hardware_cost {MARK}+ it_power",
        "units.*USD.*W"),
    bad("unit of the formula", BASE + OWN_ITEM + f"{MARK}it_power", "extra.*W.*USD"),
    bad("formula in a circle", BASE + OWN_ITEM + f"{MARK}extra * 2", "circular reference.*extra -> extra"),
    bad("formulas in a circle",
        BASE + OWN_ITEM + "other * 2\n" + OWN_ITEM.replace("extra", "other") + f"{MARK}extra * 2",
        "circular reference.*: extra -> other -> extra"),
    bad("a circle through the model", BASE + OWN_ITEM + "capex * 2",
        also=("error: circular reference.*capex",)),
    bad("division by zero", BASE + OWN_ITEM + "1 USD / (accelerators - 800)",
        also=("error: .*(extra.*h200|h200.*extra)", "error: .*(extra.*mi325x|mi325x.*extra)")),
    bad("division by zero within a minimum", BASE + OWN_ITEM + "min(1 USD, 1 USD / (accelerators - 800))",
        also=("error: division by zero.*extra.*h200", "error: division by zero.*extra.*mi325x")),
    bad("division by zero within a condition", BASE + OWN_ITEM + "if(1 / (accelerators - 800) > 5, 1 USD, 2 USD)",
        also=("error: division by zero.*extra.*h200", "error: division by zero.*extra.*mi325x")),
    bad("a result beyond a double", BASE + OWN_ITEM + "hardware_cost * 1e300 * 1e300",
        also=("error: .*(extra.*h200|h200.*extra)", "error: .*(extra.*mi325x|mi325x.*extra)")),
    bad("a line item of an existing name",
        BASE + OWN_ITEM.replace("[item extra]", MARK + "[item capex]") + "1 USD", "capex"),
    bad("units of a number in a longer formula", BASE + OWN_ITEM + f"100 USD * nodes {MARK}+ 5 kWh",
        r"units do not match: 100 USD \* nodes [(]USD[)] and 5 kWh"),
    bad("unknown key of a line item",
        BASE + OWN_ITEM.replace("label", MARK + "lable") + "1 USD",
        "lable.*did you mean 'label'", also=("error: .*needs 'label'",)),
    bad("unknown group of a line item",
        BASE + OWN_ITEM.replace("= capex", f"= {MARK}capx") + "1 USD", "capx"),
    bad("a yearly capex item", BASE + OWN_ITEM.replace("USD\n", f"{MARK}USD/yr\n") + "1 USD/yr",
        "capex item.*USD"),
]
CASES = NAMES + VALUES + SYNTAX + FILES + TABLES + FORMULAS
FINE = [
    ("CRLF", BASE.replace("\n", "\r\n").encode()),
    ("byte order mark", b"\xef\xbb\xbf" + BASE.encode()),
    ("no line end", BASE.rstrip("\n").encode()),
    ("non-ASCII title", BASE.replace("Golden", "Gölden 金").encode()),
    ("comments and blanks", b"; c\n\n" + BASE.replace("pue =", "pue\t= ").encode() + b"# end\n"),
    ("line of 199 bytes", BASE.encode() + b"; " + b"x" * 197),
]


def check_no_error(errors):
    expect("error:" not in errors, f"an error was reported: {errors[-2000:]}")


def try_fine(text, folder):
    (folder / SCENARIO).write_bytes(text)
    _, errors = run(folder, "compare", SCENARIO, status=0)
    check_no_error(errors)
    _, errors = run(folder, "report", SCENARIO, "-o", BOOK, status=0)
    check_no_error(errors)
    expect((folder / BOOK).exists(), "no workbook")
    expect(zipfile.ZipFile(folder / BOOK).testzip() is None, "a broken workbook")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "report left files beside the workbook")


def every_test():
    for number, case in enumerate(CASES):
        yield case.name, functools.partial(try_bad, case, number % 2 > 0)
    for name, text in FINE:
        yield name, functools.partial(try_fine, text)


def in_folder(test):
    with tempfile.TemporaryDirectory(prefix="pertoken-bad-input-") as parent:
        folder = pathlib.Path(parent) / "work"
        folder.mkdir()
        test(folder)


def main():
    wanted = sys.argv[1:]
    count = Count()
    for name, test in every_test():
        if not wanted or any(word in name for word in wanted):
            count.test(name, in_folder, test)
    count.finish()


if __name__ == "__main__":
    main()
