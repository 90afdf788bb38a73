"""Is every bit what it was? A record of states and traces, for changes that must not change any of them.

``python tests/bits.py write`` runs the table (bits_dg.py, bits_fd.py, bits_hex.py) and keeps hashes of what
comes out in bits.json; ``check`` runs it again, lists what differs and by how much, and exits with 1;
``list`` names the runs. ``--only PATTERN`` takes the runs in whose key the pattern (a regular expression) is
found.

Bits belong to a kind of machine and library (`kind`): a record is written on the machine that checks it, at
the commit before the change. ``make bits`` checks two libraries: the one that ships, and one that contracts
nothing to fused multiply-adds. Which product of a sum is contracted is the compiler's choice, so that bits of
the former may change where code has only moved; those of the latter follow from the source.

Not a test: it says that bits are others, not that they are wrong.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

# NumPy's matrix products (phases of incident waves) sum in an order that OpenBLAS chooses by the processor.
FLAGS = set(re.findall(r"(?:(?<= )[fv]ma\b|avx2|avx512f)", Path("/proc/cpuinfo").read_text()))
os.environ["OPENBLAS_CORETYPE"] = "SkylakeX" if "avx512f" in FLAGS else "Haswell"

import bits_dg  # noqa: E402
import bits_fd  # noqa: E402
import bits_hex  # noqa: E402
import numpy as np  # noqa: E402
import stand_in_driver  # noqa: E402
import unda  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RECORD = Path(__file__).with_suffix(".json")

TABLE = bits_dg.runs() | bits_fd.runs() | bits_hex.runs()  # {key: (function, arguments)}
SKETCHES = 3  # numbers that tell how far two arrays are apart


# ---- what is kept of a run ----


def kept(arrays):
    """[hash, sketches]: the sums of all values, each with a random sign.

    The mean square of such sums is an estimate of the squared norm, that of their differences one of how far
    two arrays are apart (Johnson & Lindenstrauss 1984); of three sums it is mostly within a factor of three.
    """
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{array.dtype}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    flat = np.concatenate([np.ravel(array) for array in arrays]).astype(np.float64)
    signs = np.random.default_rng(0).choice((-1.0, 1.0), (SKETCHES, len(flat)))
    return [digest.hexdigest()[:16], *(float(f"{one:.13g}") for one in signs @ flat)]


def entry(key):
    """What is recorded of one run of the table, and the seconds it took."""
    function, *arguments = TABLE[key]
    begun = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(*arguments)
    except Exception as error:
        raise RuntimeError(f"{key}: {type(error).__name__}: {error}") from error
    parts = {name: kept(arrays) for name, arrays in found["parts"].items()}
    made = {"dt": found["dt"].hex(), "energy": found["energy"].hex(), **parts}
    return made, time.perf_counter() - begun


# ---- differences ----


def relative(new, old):
    """How far apart two values of an entry are, relative to their size: an estimate, 0 below about 1e-13."""
    if isinstance(new, str):
        a, b = float.fromhex(new), float.fromhex(old)
        return abs(a - b) / max(abs(a), abs(b))
    size = np.linalg.norm([new[1:], old[1:]])
    return float(np.linalg.norm(np.subtract(new[1:], old[1:])) / size * np.sqrt(2)) if size > 0 else 0.0


def differing(new, old):
    """{name: relative difference} of what is not the same in two entries; None if only one has it."""
    names = [name for name in {**old, **new} if new.get(name) != old.get(name)]
    return {n: relative(new[n], old[n]) if n in new and n in old else None for n in names}


def line(key, found):
    """One line of the table of differences, and what differs below it."""

    def far(value):
        return "missing" if value is None else f"{value:.0e}" if value > 1e-12 else "< 1e-12"

    return f"{key}\n    " + ", ".join(f"{name} {far(value)}" for name, value in found.items())


# ---- which machine and library ----


def kind():
    """Everything besides the source that bits may depend on, in words."""
    library = Path(os.environ.get("UNDA_LIBRARY") or Path(unda.__file__).parent / "libunda.so")
    made_by = set(re.findall(rb"GNU C\d+ [^\0]+", library.read_bytes()))  # written there by -g
    compilers = " | ".join(sorted(one.decode() for one in made_by)) or "an unknown compiler"
    level = "x86-64-v4" if "avx512f" in FLAGS else "x86-64-v3" if "avx2" in FLAGS else "default"
    libc = " ".join(platform.libc_ver())
    return f"{level}, {libc}, numpy {np.__version__}, {compilers}"


# ---- commands ----


def read():
    """The record: {kind: {key: entry}}."""
    return json.loads(RECORD.read_text()) if RECORD.exists() else {}


def store(record):
    """Write the record, a line a run."""
    blocks = []
    for name, entries in sorted(record.items()):
        lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(entries[key])}" for key in sorted(entries))
        blocks.append(f"{json.dumps(name)}: {{\n{lines}\n}}")
    RECORD.write_text("{\n" + ",\n".join(blocks) + "\n}\n")


def run(keys, arguments):
    """{key: entry} of all runs, in so many processes; an Exception instead of an entry that fails."""
    os.environ.update(stand_in_driver.build(ROOT / "build" / "stand-in"))  # never a real device
    made = {}
    with ProcessPoolExecutor(arguments.jobs, mp_context=get_context("spawn")) as pool:
        for key, future in [(key, pool.submit(entry, key)) for key in keys]:
            if future.exception():
                print(future.exception(), file=sys.stderr)
            else:
                made[key], seconds = future.result()
            if arguments.verbose and not future.exception():
                print(f"{seconds:6.2f} s  {key}", flush=True)
    if len(made) < len(keys):
        sys.exit(f"{len(keys) - len(made)} of {len(keys)} runs failed; nothing was recorded or compared")
    return made


def write(keys, arguments):
    """Record what the runs give, instead of what was recorded of this kind."""
    made = run(keys, arguments)
    record = read()
    entries = record.get(kind(), {}) if arguments.only else {}
    record[kind()] = entries | made
    store(record)
    print(f"recorded {len(made)} runs of: {kind()}")
    return 0


def check(keys, arguments):
    """Compare the runs with the record; return 1 where any bit is another, 2 without a record."""
    record, own = read(), kind()
    chosen = own if own in record else next(iter(record), None) if arguments.force else None
    if chosen is None:
        known = "\n    ".join(record) or "nothing"
        print(f"no record of this machine and library:\n    {own}\nrecorded:\n    {known}\n"
              "expected one of the same kind: `write` it at the commit to compare with, or --force a check "
              "against the first")  # fmt: skip
        return 2
    if chosen != own:
        print(f"compared with the record of another kind:\n    {chosen}\nthis is:\n    {own}")
    old = {key: found for key, found in record[chosen].items() if re.search(arguments.only, key)}
    new = run(keys, arguments)
    gone, fresh = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    differences = {key: differing(new[key], old[key]) for key in sorted(new.keys() & old.keys())}
    differences = {key: found for key, found in differences.items() if found}
    for key, found in differences.items():
        print(line(key, found))
    for word, keys_of in (("recorded, but no longer in the table", gone), ("not recorded", fresh)):
        print(*(f"{word}: {key}" for key in keys_of), sep="\n", end="\n" if keys_of else "")
    print(f"{len(new)} runs, {len(differences)} with other bits, {len(gone) + len(fresh)} not compared")
    return 1 if differences or gone or fresh else 0


def main():
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("command", choices=("write", "check", "list"))
    parser.add_argument("--only", default="", metavar="PATTERN")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--verbose", action="store_true", help="seconds of each run")
    parser.add_argument("--force", action="store_true", help="check against a record of another kind")
    arguments = parser.parse_args()
    keys = [key for key in TABLE if re.search(arguments.only, key)]
    if arguments.command == "list":
        print(*keys, sep="\n")
        return 0
    return {"write": write, "check": check}[arguments.command](keys, arguments)


if __name__ == "__main__":
    sys.exit(main())
