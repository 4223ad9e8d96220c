#!/usr/bin/python3
"""Runs every command that the README shows with its output, and compares.

A block marked ```console holds lines "$ COMMAND" and the output they print; a line "..." stands for
lines left out. Last line: N passed, N failed, N skipped.
"""
import difflib
import re
import subprocess

from support.program import Count, ROOT, expect, settings


def shown_commands():
    with open(ROOT / "README.md") as file:
        text = file.read()
    for block in re.findall(r"^```console\n(.*?)^```", text, re.S | re.M):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output.rstrip("\n")


def run(command):
    environment = settings({'NO_COLOR': 1})
    done = subprocess.run(command, shell=True, cwd=ROOT, env=environment, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return done.stdout.rstrip('\n')


def matches(shown, real):
    pattern = "".join(
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"[ ]*\n" for line in shown.split("\n")
    )
    return re.fullmatch(pattern, real + "\n") is not None


def check(command, shown):
    real = run(command)
    difference = difflib.unified_diff(shown.split("\n"), real.split("\n"), "README", "real", lineterm="")
    expect(matches(shown, real), "\n".join(difference))


def main():
    count = Count()
    for command, shown in shown_commands():
        count.test(f"$ {command}", check, command, shown)
    count.finish()


if __name__ == "__main__":
    main()
