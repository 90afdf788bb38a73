"""Common parts of the benchmarks: command-line options, the head of a result, its file.

Not here: the cases (bench_dg.py, bench_fd.py).
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .. import _cuda
from .._files import replacing
from ..errors import ArgumentError
from ..limits import device_info

#: Of a table: title, key and format of each column; None is a dash.
Columns = Sequence[tuple[str, str, str]]


def integers(text: str) -> list[int]:
    """Return the integers of "1:8" or "3,5"."""
    if ":" in text:
        first, last = text.split(":")
        return list(range(int(first), int(last) + 1))
    return [int(word) for word in text.split(",")]


def positive(text: str) -> float:
    """Return a number above 0."""
    value = float(text)
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return value


def words(*known: str) -> Callable[[str], str]:
    """Return a check of a list of these words, separated by commas."""

    def check(text: str) -> str:
        unknown = [word for word in text.split(",") if word not in known]
        if unknown:
            raise argparse.ArgumentTypeError(f"{', '.join(unknown)} is none of {', '.join(known)}")
        return text

    return check


def machine_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that all benchmarks have."""
    parser.add_argument(
        "--dtype", type=words("float32", "float64"), default="float32", help="float32,float64"
    )
    parser.add_argument("--device", default="auto")
    parser.add_argument("--threads", type=int, help="CPU threads")


def keep_usual(parser: argparse.ArgumentParser) -> None:
    """Keep what options are when none is given, for `refuse_idle`; after all are declared."""
    parser.set_defaults(usual=vars(parser.parse_args([])))


def refuse_idle(args: argparse.Namespace, names: str, only: str) -> None:
    """Refuse options that were given and would do nothing: those of these names work `only` so."""
    for name in names.split():
        value = getattr(args, name)
        if value != args.usual[name]:
            text = (
                ""
                if value is True
                else f" is {','.join(map(str, value)) if isinstance(value, list) else value}"
            )
            raise ArgumentError(f"--{name}{text}, expected {only} only: here it would do nothing")


def timed(sim: Any, count: int, case: Mapping[str, Any], limits: Mapping[str, float]) -> dict[str, Any]:
    """Time steps of a simulation; return its case with the columns that all tables have.

    A call in which a kernel was compiled is not what is asked for: another one is timed.
    """
    compiled = -1.0
    while (info := sim._solver.info()).compile_seconds != compiled:
        compiled = info.compile_seconds
        begin = time.perf_counter()
        sim.step(count)
        step = (time.perf_counter() - begin) / count
    return {
        **case, "steps": count, "ms": 1e3 * step, **sim.rate(step / info.num_stage, limits),
        "compile_seconds": info.compile_seconds, "kernel": sim.config["kernel"],
        "kernel_options": sim.config["kernel_options"],
    }  # fmt: skip


def commit() -> str | None:
    """Return the commit of the checkout that this runs from, with + where files differ from it."""
    if "UNDA_COMMIT" in os.environ:  # for a copy without its history
        return os.environ["UNDA_COMMIT"]
    root = str(_cuda.package_dir().parent.parent)
    command = ["git", "-C", root, "describe", "--always", "--abbrev=12", "--dirty=+"]
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return None


def save(path: Path, result: dict[str, Any]) -> None:
    """Write a result so that the name holds the old file or the whole new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(result, indent=1) + "\n"
    with replacing(path) as file:
        file.write(text.encode())


def origin(device: str, threads: int | None = None) -> dict[str, Any]:
    """Return where, when and of what a result is."""
    about = device_info(device)
    return {
        "device": about["device_name"], "driver": about["driver"], "nvrtc": about.get("nvrtc"),
        "commit": commit(), "date": datetime.datetime.now(datetime.timezone.utc).date().isoformat(),
        "threads": None if device != "cpu" else threads or len(os.sched_getaffinity(0)),
    }  # fmt: skip


def heading(device: str, limits: dict[str, float], threads: int | None) -> dict[str, Any]:
    """Print what the device can do; return where, when and of what the result is."""
    found = origin(device, threads)
    print(
        f"{found['device']}: copy {limits['copy'] / 1e9:.0f} GB/s, FMA "
        f"{limits['fma32'] / 1e9:.0f} GFLOP/s float32, {limits['fma64'] / 1e9:.0f} float64"
    )
    return {**found, "limits": limits}


def begun(path: Path, head: dict[str, Any], *, append: bool) -> dict[str, Any]:
    """Return a result without rows yet, or to append with those that a file of the same head has."""
    if not (append and path.exists()):
        return {**head, "rows": []}
    found = json.loads(path.read_text())
    for key in head.keys() - {
        "limits",
        "limits_cpu",
    }:  # writing a result makes the checkout differ from its commit
        if str(found.get(key)).rstrip("+") != str(head[key]).rstrip("+"):
            raise ArgumentError(
                f"{path} has {key} {found.get(key)!r}, expected {head[key]!r} to append to it"
            )
    return dict(found)


def print_titles(columns: Columns) -> None:
    """Print the head of a table."""
    print(" ".join(f"{title:>12}" for title, _, _ in columns))


def print_row(row: Mapping[str, Any], columns: Columns) -> None:
    """Print a line of a table."""
    words = ("-" if row[key] is None else f"{row[key]:{form}}" for _, key, form in columns)
    print(" ".join(f"{word:>12}" for word in words), flush=True)


def measured(
    rows: Iterable[dict[str, Any]],
    columns: Columns,
    path: Path,
    head: dict[str, Any],
    draw: Callable[[Path, dict[str, Any]], None],
    *,
    append: bool = False,
) -> None:
    """Print each row (title, key, format of columns) as soon as it is known, keep what is done, draw it."""
    result = begun(path, head, append=append)
    print_titles(columns)
    for row in rows:
        result["rows"].append(row)
        print_row(row, columns)
        save(path, result)
    try:
        draw(path.with_suffix(".png"), result)
    except ImportError:
        again = f": unda bench fd --draw {path} makes it elsewhere" if head["benchmark"] == "fd" else ""
        print(f"wrote {path}; without matplotlib no PNG{again}")
    else:
        print(f"wrote {path} and {path.with_suffix('.png')}")


@contextmanager
def figure(
    path: Path, title: str, size: tuple[float, float] = (6.4, 4.0), columns: int = 1, lines: int = 1
) -> Iterator[Any]:
    """Give the axes of a figure, one beside the other, line by line if several; write it as a PNG file."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    made, axes = plt.subplots(lines, columns, figsize=size, layout="constrained")
    made.suptitle(title, fontsize="medium")
    yield axes
    made.savefig(path, dpi=120)
    plt.close(made)


def grouped(rows: Iterable[dict[str, Any]], key: Callable[[dict[str, Any]], Any]) -> dict[Any, Any]:
    """Return the rows of each key in columns, {name: values}, in the order of the rows."""
    groups: dict[Any, dict[str, list[Any]]] = {}
    for row in rows:
        for name, value in row.items():
            groups.setdefault(key(row), {}).setdefault(name, []).append(value)
    return groups
