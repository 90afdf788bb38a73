"""Measure the error of a plane wave on its way, by method, degree and nodes a wavelength.

Each run takes a sinusoidal plane wave around a periodic box, along an axis and along the diagonal, and
compares it with the exact one. To its errors e(N) after N wavelengths belongs a line that none exceeds,

    e(N) <= floor + slope N,

slope from the second half of the way. Error is that of a group of fields (p; v; stress; E; H) relative to its
norm, the worst of them; of SEM velocity's. Cells are bricks of one size, or six tetrahedra each. DG has its
default step. SEM and FD have steps so short that space alone errs; `time` is what the step adds.

    python benchmarks/error_curves.py --out benchmarks/results/error_curves.json   (half an hour on two cores)
    python benchmarks/error_curves.py --table python/unda/study/error_curves.json  (from that file)
"""

import argparse
import json
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import unda
from unda.study.waves import medium_of, travel

RESULTS = Path(__file__).with_name("results") / "error_curves.json"
WAVES = ("acoustic", "elastic s", "maxwell")  # the slowest of each physics
NODES = (4, 5, 6, 7, 8, 9, 10, 11.5, 13, 16, 20, 26, 32, 40)
WAY = 10  # wavelengths
LEAST = 5e-5  # finer resolutions are not looked at
LARGEST = 0.3  # a line describes smaller errors
METHODS = {
    "DG tet": range(2, 7),
    "DG hex": range(2, 8),
    "SEM hex": range(3, 7),
    "FD staggered": (2, 4, 6, 8, 12, 16),
    "FD scalar": (2, 4, 6, 8, 12, 16),
}


def directions(method):
    """Return where waves go to; along an axis differences are worst."""
    return ("axis",) if method.startswith("FD") else ("axis", "diagonal")


def curve(case):
    """Return rows of one method, degree, wave and direction, from few nodes a wavelength to many."""
    method, degree, wave, direction = case
    rows, seen, last = [], set(), 3e-3
    most = 40 if method.startswith("FD") else 21 if direction == "axis" else 16
    least = 4 if method.startswith("FD") else 6
    for wanted in [one for one in NODES if least <= one <= most]:
        options = {"dt_factor": 1.0} if method.startswith("DG") else {"adds": max(0.03 * last, 2e-7)}
        options["most"] = 4 if direction == "axis" else 1
        run = travel(method, degree, wave, direction, wanted, WAY, **options)
        if run.nodes in seen:
            continue
        seen.add(run.nodes)
        rows.append({"nodes": run.nodes, "dt": run.dt, "way": run.way, "errors": run.errors})
        if max(run.errors) > LARGEST:  # it grows no more, or a phase has come round
            continue
        last = min(last, line(run.way, run.errors)[1])
        if run.errors[-1] < LEAST:
            break
    return rows


def times():
    """Return errors by steps a period, where space does not err: what leapfrog and Newmark add."""
    rows = []
    for steps in (26, 40, 80, 160, 320, 640):
        run = travel("FD staggered", 16, "acoustic", "axis", 10, WAY, steps=steps)
        rows.append({"steps": steps, "way": run.way, "errors": run.errors})
    return rows


def line(way, errors):
    """Return floor and slope of the line that no error exceeds, the slope as large as scatter allows."""
    way, errors = np.array(way), np.array(errors)
    late = slice(len(way) // 2, None)
    slope, start = np.polyfit(way[late], errors[late], 1)
    scatter = np.std(errors[late] - slope * way[late] - start)
    slope = max(slope, 0.0) + 2 * scatter / np.ptp(way[late])
    return max(float(np.max(errors - slope * way)), 0.0), float(slope)


def short(value):
    return float(f"{value:.3g}")


def table(record):
    """Return what `unda.plan` reads: nodes, floors and slopes."""
    curves = {}
    for one in record["curves"]:
        rows = [row for row in one["runs"] if max(row["errors"]) <= LARGEST]
        lines = [line(row["way"], row["errors"]) for row in rows]
        key = " ".join([one["method"], str(one["degree"]), one["wave"], one["direction"]])
        curves[key] = {
            "nodes": [short(row["nodes"]) for row in rows],
            "floor": [short(floor) for floor, _ in lines],
            "slope": [short(slope) for _, slope in lines],
        }
    lines = [line(row["way"], row["errors"]) for row in record["time"]]
    return {
        "source": "benchmarks/error_curves.py", "unda": record["unda"], "curves": curves,
        "time": {
            "steps": [row["steps"] for row in record["time"]],
            "floor": [short(floor) for floor, _ in lines],
            "slope": [short(slope) for _, slope in lines],
        },
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, help="measure, and write all errors")
    parser.add_argument("--table", type=Path, help="write what unda.plan reads")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument(
        "--only", choices=list(METHODS), help="of one method; what --out has of others is kept"
    )
    args = parser.parse_args()
    if args.out:
        cases = [
            (method, degree, wave, direction)
            for method, degrees in METHODS.items()
            if args.only in (None, method)
            for degree in degrees
            for wave in WAVES
            for direction in directions(method)
            if medium_of(method, wave) is not None
        ]
        record = {"unda": unda.__version__, "way": WAY, "time": [], "curves": []}
        if args.only and args.out.exists():
            kept = json.loads(args.out.read_text())["curves"]
            record["curves"] = [one for one in kept if one["method"] != args.only]
        with ProcessPoolExecutor(args.jobs) as pool:
            for case, rows in zip(cases, pool.map(curve, cases), strict=True):
                method, degree, wave, direction = case
                record["curves"].append(
                    {"method": method, "degree": degree, "wave": wave, "direction": direction, "runs": rows}
                )
                args.out.write_text(json.dumps(record) + "\n")
                print(*case, *(f"{row['nodes']:.3g}: {row['errors'][-1]:.1e}" for row in rows), flush=True)
        record["time"] = times()
        args.out.write_text(json.dumps(record) + "\n")
    if args.table:
        record = json.loads((args.out or RESULTS).read_text())
        lines = (
            json.dumps(table(record), indent=0).replace(",\n", ", ").replace("[\n", "[").replace("\n]", "]")
        )
        args.table.write_text(lines.replace('}, "', '},\n"').replace('{\n"', '{"') + "\n")


if __name__ == "__main__":
    main()
