"""Does the suite see one wrong token? ``make mutate``: each fault of mutations.py must make a test fail.

Every fault, alone, is put into a copy of the checkout, which is built and tested until the first failure.
What nothing notices is printed as SURVIVED, again at the end, and the exit status is 1. One to two hours on
two cores; ``make mutate WORDS=acoustic.h`` tries the faults of one file, ``WORDS="--jobs N"`` has N copies at
a time, by default one a core, ``WORDS="--share 2/3"`` tries every third fault, from the second one on.
SIGTERM or Ctrl-C end it with what was found so far.

Not here: the faults and who is to see them (mutations.py).
"""

from __future__ import annotations

import argparse
import filecmp
import os
import queue
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

import mutations
import stand_in_driver

ROOT = Path(__file__).resolve().parent.parent
LIMIT_SECONDS = 900  # for the tests of one fault, which take a minute or two
LIMIT_CPU_SECONDS = 300  # for each process of them: a loop without an end is seen sooner
STAND_IN = "stand-in"  # of build/, named by where it is: each copy makes its own

Fault = tuple[str, str, str]


class Stopped(Exception):
    """The run is to end before its time."""


class Commands:
    """Commands that run now, each in a process group of its own, which ends with it."""

    def __init__(self, kernels: Path):
        self._kernels = kernels
        self._lock = threading.RLock()  # stop() may interrupt who holds it
        self._running: set[subprocess.Popen[str]] = set()
        self.stopped = False

    def run(self, command: list[str], copy: Path, limited: bool = True) -> tuple[int | None, str]:
        """Return exit status and output of a command in a copy; None if it did not end in time."""
        paths = [str(copy / "python"), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "OMP_NUM_THREADS": "1",
            "CUDA_VISIBLE_DEVICES": "",  # with or without a device: the stand-in
            "UNDA_STAND_IN_CACHE": str(self._kernels),
        }
        with self._lock:
            if self.stopped:
                raise Stopped
            process = subprocess.Popen(
                command, cwd=copy, env=environment, text=True, start_new_session=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            self._running.add(process)
        if limited:
            most = LIMIT_CPU_SECONDS
            resource.prlimit(process.pid, resource.RLIMIT_CPU, (most, most + 5))
        try:
            output, _ = process.communicate(timeout=LIMIT_SECONDS if limited else None)
            status: int | None = process.returncode
        except subprocess.TimeoutExpired:
            output, status = "", None
        with self._lock:
            self._running.discard(process)
        kill(process)
        process.wait()
        if self.stopped:
            raise Stopped
        return status, output

    def stop(self) -> None:
        """Begin nothing more, and end what runs."""
        with self._lock:
            self.stopped = True
            for process in self._running:
                kill(process)


def kill(process: subprocess.Popen[str]) -> None:
    """Kill a process and those that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def copied(source: Path, copy: Path) -> Path:
    """Copy a checkout without what belongs to git, results, and the stand-in driver."""
    ignored = shutil.ignore_patterns(".*", "results", "__pycache__", "dist", STAND_IN)
    shutil.copytree(source, copy, ignore=ignored)
    return copy


def restore(copy: Path, whole: Path) -> None:
    """Make a copy the whole one again, with its times: what the fault left alone is not compiled again."""
    for folder, folders, files in os.walk(whole):
        folders[:] = [name for name in folders if name not in ("__pycache__", STAND_IN)]
        there = copy / Path(folder).relative_to(whole)
        there.mkdir(parents=True, exist_ok=True)
        for name in files:
            one, other = Path(folder, name), there / name
            if not other.exists() or not filecmp.cmp(one, other):  # by size and time, then by bytes
                partial = there / f"{name}.restored"
                shutil.copy2(one, partial)
                partial.replace(other)  # a process that has the old library mapped keeps it


def build(run: Commands, copy: Path, jobs: int) -> bool:
    """Build the library of a copy; say whether it could be."""
    return run.run(["make", "-s", "lib", f"PY={sys.executable}", f"JOBS={jobs}"], copy)[0] == 0


def tested(copy: Path, names: Iterable[str], *options: str) -> list[str]:
    """Return the command that runs these files of tests."""
    files = [str(next((copy / "tests").glob(f"*/{name}.py")).relative_to(copy)) for name in names]
    return [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--mpi",
        "--asan",
        "--build",
        *options,
        *files,
    ]


def listed(word: str, output: str) -> list[str]:
    """Return what pytest's summary lists under a word: FAILED, ERROR, PASSED."""
    return re.findall(rf"^{word} (.+?)(?: - .*)?$", output, re.MULTILINE)


class Trial:
    """The whole copy, and what its tests say without any fault."""

    def __init__(self, run: Commands, folder: Path, chosen: list[Fault], cores: int):
        self.run, self.folder = run, folder
        self.whole = copied(ROOT, folder / "whole")
        if not build(run, self.whole, cores):
            raise SystemExit("without any fault the library does not build")
        names = sorted({name for path, _, _ in chosen for name in mutations.seen_by(path)})
        options = ["-rpfE", "--continue-on-collection-errors", "-n", str(cores)]
        status, output = run.run(tested(self.whole, names, *options), self.whole, limited=False)
        if status not in (0, 1):
            raise SystemExit(f"without any fault pytest ends with {status}:\n{output[-2000:]}")
        #: Tests that fail anyway say nothing of a fault; nor do files of which none can run here.
        self.useless = listed("FAILED", output) + listed("ERROR", output)
        self.useful_files = {Path(name.split("::")[0]).stem for name in listed("PASSED", output)}
        self._dependences = [file.read_text() for file in (self.whole / "build" / "lib-c").rglob("*.d")]

    def num_object(self, path: str) -> int:
        """How many objects are compiled from a file."""
        return sum(path in one for one in self._dependences)

    def can_see(self, path: str) -> list[str]:
        """Return the files of tests that are to see a fault in a file, and can."""
        return [name for name in mutations.seen_by(path) if name in self.useful_files]

    def seen(self, copy: Path, fault: Fault) -> str:
        """Return the first test that fails in a copy with a fault, or what the build says; "" if all pass."""
        path, old, new = fault
        file = copy / path
        file.write_text(file.read_text().replace(old, new))
        try:
            if not build(self.run, copy, 1):
                return "does not build"
            left_out = [f"--deselect={name}" for name in self.useless]
            status, output = self.run.run(tested(copy, self.can_see(path), "-x", *left_out), copy)
        finally:
            restore(copy, self.whole)
        if status is None:
            return f"does not end within {LIMIT_SECONDS} s"
        found = [*listed("FAILED", output), *listed("ERROR", output), f"pytest ends with {status}"]
        file, colons, test = found[0].partition("::")
        return Path(file).name + colons + test if status else ""


def side_by_side(num: int, work: Callable[[int], None]) -> None:
    """Do work(0) .. work(num - 1) in as many threads."""
    threads = [threading.Thread(target=work, args=(i,)) for i in range(num)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def try_all(trial: Trial, chosen: list[Fault], jobs: int) -> tuple[int, list[Fault]]:
    """Try faults, `jobs` at a time; return how many were tried, and those that nothing saw."""
    waiting: queue.SimpleQueue[Fault] = queue.SimpleQueue()
    for fault in sorted(chosen, key=lambda fault: -trial.num_object(fault[0])):  # the longest begin first
        waiting.put(fault)
    tried: list[str] = []
    survivors: list[Fault] = []

    def work(number: int) -> None:
        copy = copied(trial.whole, trial.folder / str(number))
        while True:
            try:
                fault = waiting.get_nowait()
                seen = trial.seen(copy, fault)
            except (queue.Empty, Stopped):
                return
            tried.append(seen)
            if not seen:
                survivors.append(fault)
            path, old, new = fault
            print(f"{seen or 'SURVIVED':60} {path}: {old!r} -> {new!r}", flush=True)

    side_by_side(jobs, work)
    return len(tried), survivors


def share(text: str) -> tuple[int, int]:
    """Read K/N: of N shares the K-th, counted from 1."""
    which, _, num = text.partition("/")
    if not (which.isdigit() and num.isdigit() and 1 <= int(which) <= int(num)):
        raise argparse.ArgumentTypeError(f"found {text!r}, expected K/N with 1 <= K <= N")
    return int(which), int(num)


def checked(words: list[str], which: int, num_share: int) -> list[Fault]:
    """Return a share of the faults of files whose path has one of the words; each stands in one place."""
    named = [one for one in mutations.MUTATIONS if not words or any(word in one[0] for word in words)]
    chosen = named[which - 1 :: num_share]
    for path, old, _ in chosen:
        if (num := (ROOT / path).read_text().count(old)) != 1:
            raise SystemExit(f"{path} has {old!r} {num} times, expected once")
    return chosen


def main(arguments: list[str]) -> int:
    """Try the chosen faults, say which survived; 0 if all were tried and none did."""
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("words", nargs="*", help="try the faults of files whose path has one of these")
    parser.add_argument(
        "--jobs", type=int, default=cores, help="faults tried at a time [one a core: %(default)s]"
    )
    parser.add_argument(
        "--share", type=share, default=(1, 1), metavar="K/N", help="try every N-th fault, from the K-th on"
    )
    given = parser.parse_args(arguments)
    chosen = checked(given.words, *given.share)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        run = Commands(folder / "kernels")
        known = Path(stand_in_driver.build(ROOT / "build" / STAND_IN)["UNDA_CACHE_DIR"])
        if known.exists():
            shutil.copytree(known, folder / "kernels")
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: run.stop())
        try:
            trial = Trial(run, folder, chosen, cores)
        except Stopped:
            print("stopped before the first fault")
            return 1
        for test in trial.useless:
            print(f"fails without any fault: {test}", flush=True)
        can_try = [fault for fault in chosen if trial.can_see(fault[0])]
        num, survivors = try_all(trial, can_try, given.jobs)
    for path, old, new in chosen:
        if (path, old, new) in survivors:
            print(f"SURVIVED {path}: {old!r} -> {new!r}")
        elif (path, old, new) not in can_try:
            print(f"not tried, none of its tests runs here: {path}: {old!r} -> {new!r}")
    print(f"{len(chosen)} faults, {num} tried, {len(survivors)} survived")
    return num < len(chosen) or len(survivors) > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
