#!/usr/bin/python3
"""Outputs that cannot be written: exit status and message, and that what is there stays as it was.

    check_unwritable.py [NAME...]

PERTOKEN names the program.
Seconds: 1
"""
import os
import resource
import signal
import stat
import subprocess
import zipfile

from support import program
from support.golden import GOLDEN
from support.marked import BOOK, OLD_BOOK, SCENARIO, listing
from support.program import BAD_INPUT, Count, MACHINE_FAILED, PERTOKEN, ROOT, Skip, expect

NOBODY = 65534


def write_base(folder):
    (folder / SCENARIO).write_text(GOLDEN, encoding="utf-8")


def refused_report(folder, target, **options):
    """A report that must fail with a message, as bad input or as a failing machine."""
    done = program.run("report", SCENARIO, "-o", target, "--data", ROOT / "data", cwd=folder, **options)
    expect(done.returncode in (BAD_INPUT, Count, MACHINE_FAILED),
           f"exit {done.returncode} for -o {target}: {done.stderr[-2000:]}")
    messages = [line for line in done.stderr.split("\n") if "error: " in line]
    expect(len(messages) == 1, f"{len(messages)} errors for -o {target}: {done.stderr}")
    expect(target in messages[0], f"{target!r} is not named: {messages[0]}")
    return done.returncode


def test_missing_folder(folder):
    write_base(folder)
    refused_report(folder, "missing/out.xlsx")
    expect(listing(folder) == [SCENARIO], "files were left")


def test_folder_as_target(folder):
    write_base(folder)
    (folder / BOOK).mkdir()
    refused_report(folder, BOOK)
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


def test_pipe_as_target(folder):
    """A pipe may be refused or written to, but not replaced."""
    write_base(folder)
    os.mkfifo(folder / BOOK)
    with open(folder / BOOK, "r+b", buffering=0), open(folder / "copy", "wb") as copy:
        reader = subprocess.Popen(["cat", BOOK], cwd=folder, stdout=copy)
        try:
            done = program.run("report", SCENARIO, "-o", BOOK, cwd=folder)
        finally:
            reader.terminate()
            reader.wait()
    expect(stat.S_ISFIFO((folder / BOOK).lstat().st_mode), "the pipe was replaced by a file")
    expect(listing(folder) == sorted(["copy", BOOK, SCENARIO]), "files were left")
    expect(done.returncode in (0, BAD_INPUT, Count, MACHINE_FAILED), f"exit {done.returncode}")
    if done.returncode == 0:
        expect(zipfile.is_zipfile(folder / "copy"), "no workbook came through the pipe")


def test_proc_as_target(folder):
    write_base(folder)
    expect(refused_report(folder, "/proc/pertoken-test.xlsx") == MACHINE_FAILED, "expected exit 3")


def as_nobody(folder):
    """Options for a run as a user who is subject to permissions; the folder becomes readable to
    that user."""
    if os.geteuid() != 0:
        return {}
    folder.chmod(0o755)
    options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    try:
        subprocess.run([PERTOKEN, "--help"], capture_output=True, check=True, timeout=60, **options)
        subprocess.run(["test", "-r", ROOT / "data" / "models.csv"], check=True, **options)
    except (OSError, subprocess.SubprocessError):
        raise Skip("the program cannot be run as another user") from None
    return options


def test_unwritable_folder(folder):
    write_base(folder)
    (folder / BOOK).write_bytes(OLD_BOOK)
    options = as_nobody(folder)
    folder.chmod(0o555)
    try:
        expect(refused_report(folder, BOOK, **options) == MACHINE_FAILED, "expected exit 3")
    finally:
        folder.chmod(0o755)
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "the existing workbook was changed")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


def test_unwritable_file(folder):
    write_base(folder)
    (folder / BOOK).write_bytes(OLD_BOOK)
    (folder / BOOK).chmod(0o444)
    options = as_nobody(folder)
    folder.chmod(0o777)
    refused_report(folder, BOOK, **options)
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "the read-only workbook was replaced")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


def test_file_size_limit(folder):
    """A disk that accepts 4 KiB of a file and no more."""
    write_base(folder)
    (folder / BOOK).write_bytes(OLD_BOOK)

    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))

    status = refused_report(folder, BOOK, preexec_fn=limit, restore_signals=False)
    expect(status == MACHINE_FAILED, f"exit {status}, expected 3")
    expect((folder / BOOK).read_bytes() == OLD_BOOK, "the existing workbook was changed")
    expect(listing(folder) == sorted([BOOK, SCENARIO]), "files were left")


FULL_DISK = """
mount -t tmpfs -o size=16k tmpfs disk || exit 77
printf old >disk/out.xlsx
"$0" report scenario.ini -o disk/out.xlsx --data "$1"
status=$?
[ "$(ls -A disk) $(cat disk/out.xlsx)" = "out.xlsx old" ] || exit 78
exit $status
"""


def test_full_disk(folder):
    """A disk of 16 KiB, in a mount namespace that is removed afterwards."""
    write_base(folder)
    (folder / "disk").mkdir()
    arguments = ["-rm", "sh", "-c", FULL_DISK, PERTOKEN, ROOT / "data"]
    try:
        done = program.run(*arguments, program="unshare", cwd=folder)
    except FileNotFoundError:
        raise Skip("needs unshare") from None
    if done.returncode in (1, 77) and "pertoken" not in done.stderr:
        raise Skip("no disk can be mounted here")
    expect(done.returncode != 78, "the disk does not hold just the existing workbook")
    expect(done.returncode == MACHINE_FAILED, f"exit {done.returncode}: {done.stderr}")
    expect("error:" in done.stderr, "no message")


def test_no_target(folder):
    write_base(folder)
    refused_report(folder, "")
    expect(listing(folder) == [SCENARIO], "files were left")


def test_before_computing(folder):
    """What takes long is refused before it: no warning is printed, which precedes every answer."""
    examples = ROOT / "examples"
    for command, *arguments in (("simulate", examples / "uncertainty.ini"), ("wait", examples / "wait.ini"),
                                ("simulate", examples / "uncertainty.ini", "--shard", "1/2"),
                                ("solve", examples / "uncertainty.ini", "--option", "mi325x", "--for", "list_price")):
        answered = program.run(command, *arguments, cwd=folder)
        expect(answered.returncode == 0 and "warning" in answered.stderr, f"{command}: {answered.stderr}")
        bad = [("missing/x.json", "cannot write 'missing/x.json'")]
        if "--shard" not in arguments:
            bad.append(("x.html", "writes no page"))
        for target, said in bad:
            done = program.run(command, *arguments, "-o", target, cwd=folder)
            expect(done.returncode in (BAD_INPUT, MACHINE_FAILED) and said in done.stderr
                   and "warning" not in done.stderr, f"{command} -o {target}: exit {done.returncode}: {done.stderr}")
    plan = examples / "plan" / "twelve-quarters.ini"
    for target, said in (("x.html", "writes no page"), ("missing/x.xlsx", "cannot write"),
                         ("missing/x.csv", "cannot write")):
        done = program.run("plan", plan, "-o", target, cwd=folder, timeout=20)
        expect(said in done.stderr, f"plan -o {target}: {done.stderr}")
    expect(listing(folder) == [], "files were left")


if __name__ == "__main__":
    count = Count()
    count.tests_in_folders(globals())
    count.finish()
