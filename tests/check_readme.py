#!/usr/bin/python3
"""Runs every command that the README shows with its output, and compares.

A block marked ```console holds lines "$ COMMAND" and the output they print; a line "..." stands for
lines left out. Last line: N passed, N failed, N skipped.
"""
import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def shown_commands():
    with open(os.path.join(ROOT, "README.md")) as file:
        text = file.read()
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


def run(command):
    environment = dict(os.environ, LC_ALL="C.UTF-8", NO_COLOR="1", COLUMNS="80")
    result = subprocess.run(command, shell=True, cwd=ROOT, env=environment, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return result.stdout.rstrip("\n")


def matches(shown, real):
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"[ ]*\n" for line in shown.split("\n")
    )
    return re.fullmatch(pattern, real + "\n") is not None


def main():
    passed = failed = 0
    for command, shown in shown_commands():
        real = run(command)
        if matches(shown, real):
            passed += 1
            continue
        failed += 1
        print(f"FAIL: $ {command}")
        print("\n".join(difflib.unified_diff(shown.split("\n"), real.split("\n"), "README", "real",
                                             lineterm="")))
    print(f"{passed} passed, {failed} failed, 0 skipped")
    sys.exit(1 if failed or not passed else 0)


if __name__ == "__main__":
    main()
