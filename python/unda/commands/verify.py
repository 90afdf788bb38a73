"""Compare unda with exact solutions on this machine: errors, observed orders, pass or fail.

Not here: the exact solutions (exact/), the test suite's many more cases (tests/).
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .. import exact
from ..errors import ArgumentError
from ..limits import choose_device
from ..method.dg import DG
from ..problem.medium import Acoustic
from ..problem.mesh import box_mesh
from ..problem.source import VolumeInjection
from ..problem.timefunction import ricker
from .cavity import cavity
from .loh1 import NODES, loh1
from .measuring import origin, save

Row = dict[str, Any]


def _row(check: str, degree: int, error: float, wanted: str, passed: bool, order: float | None = None) -> Row:
    return {"check": check, "degree": degree, "error": error, "order": order, "wanted": wanted,
            "passed": passed}  # fmt: skip


def _order(sizes: list[float], errors: list[float]) -> float:
    """Slope of log error over log size, least squares."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])


def _converge(
    name: str, wave: exact.ExactSolution, degree: int, cells: list[int], until: float, *,
    periodic: bool = False, **options: Any,
) -> Row:  # fmt: skip
    """Run from an exact solution on in perturbed boxes of n^3 bricks, and compare the order of p's error."""
    errors = []
    for n in cells:
        mesh = box_mesh((0, 0, 0), (1, 1, 1), (n, n, n), perturb=0.15, seed=n, periodic=(periodic,) * 3)
        with DG(mesh, wave.medium, degree=degree, dtype="float64", **options) as sim:
            sim.set(wave)
            sim.run(until=until, progress=False)
            errors.append(sim.error(wave, relative=True)["p"])
    order = _order([1 / n for n in cells], errors)
    least = degree + 0.5
    return _row(name, degree, errors[-1], f"order >= {least}", order >= least, order)


def plane_wave(device: str, quick: bool) -> Iterator[Row]:
    """Oblique plane wave through a periodic box, perturbed meshes (verification V1)."""
    wave = exact.plane_wave(Acoustic(rho=1.3, c=0.8), k=2 * np.pi * np.array([1, 1, -1]))
    for degree in (2, 3) if quick else (1, 2, 3, 4, 5):
        cells = [3, 4, 6] if degree > 3 else [4, 6, 8]
        yield _converge("plane wave", wave, degree, cells, 0.4, periodic=True, device=device)


def box_modes(device: str, quick: bool) -> Iterator[Row]:
    """Modes of a box with rigid and with free walls (verification V4)."""
    medium = Acoustic(rho=1.0, c=1.0)
    for wall in ("rigid", "free"):
        mode = exact.box_mode(medium, (0, 0, 0), (1, 1, 1), n=(1, 2, 1), walls={"*": wall})
        for degree in (2,) if quick else (2, 3, 4):
            boundary = {"*": wall}
            yield _converge(f"{wall} box", mode, degree, [3, 4, 6], 0.3, boundary=boundary, device=device)


def point_source(device: str, quick: bool) -> Iterator[Row]:
    """Trace of a point source, true amplitude (verification V11)."""
    medium, f0 = Acoustic(rho=1.0, c=1.0), 1.0
    degree, fmax = 4, 2.5 * f0
    points = np.array([[1.2, 0.3, 0.2]]) if quick else np.array([[2.0, 0.3, 0.2]])
    reach = float(np.abs(points).max()) + 0.5
    spacing = 1.0 / fmax / 8  # c = 1: eight nodes in the shortest wavelength
    n = int(np.ceil(2 * reach / (spacing * (6 * 35) ** (1 / 3))))
    mesh = box_mesh((-reach,) * 3, (reach,) * 3, (n, n, n), perturb=0.1, seed=1)
    f = ricker(f0)
    source = VolumeInjection((0.013, 0.021, -0.017), f)
    solution = exact.point_source(medium, source)
    with DG(mesh, medium, degree=degree, boundary={"*": solution}, device=device) as sim:
        sim.add_source(source)
        rec = sim.add_receivers(points, ["p"])
        end = f.span[1] if f.span else 3 / f0
        sim.run(until=end + float(np.linalg.norm(points)), progress=False)
        error = float(np.max(rec.misfit(solution)))
    yield _row("point source", degree, error, "error <= 0.01", error <= 0.01)


def energy(device: str, quick: bool) -> Iterator[Row]:
    """Energy in a rigid box with random materials: conserved (central flux), never growing (upwind)."""
    mesh = box_mesh((0, 0, 0), (1, 1, 1), (3, 3, 3), perturb=0.2, seed=1)
    random = np.random.default_rng(1)
    medium = Acoustic(rho=random.uniform(0.5, 2, mesh.num_elem), c=random.uniform(0.5, 2, mesh.num_elem))
    for flux in ("central", "upwind"):
        with DG(mesh, medium, degree=3, flux=flux, boundary={"*": "rigid"}, dtype="float64",
                cfl=0.2, device=device) as sim:  # fmt: skip
            sim.set(p=lambda x, y, z: np.exp(-20 * ((x - 0.5) ** 2 + (y - 0.4) ** 2 + z**2)))
            before = sim.energy()
            sim.step(100 if quick else 1000)
            change = sim.energy() / before - 1
        if flux == "central":
            yield _row(f"energy, {flux}", 3, change, "|change| < 1e-4", abs(change) < 1e-4)
        else:
            yield _row(f"energy, {flux}", 3, change, "change <= 0", -1 < change <= 0)


CHECKS: dict[str, Callable[..., Iterator[Row]]] = {
    "plane": plane_wave, "box": box_modes, "point": point_source, "energy": energy, "cavity": cavity,
    "loh1": loh1,
}  # fmt: skip
UNASKED = [name for name in CHECKS if name != "loh1"]  # which takes half an hour on a CPU


def _check_name(word: str) -> str:
    if word not in CHECKS:
        raise argparse.ArgumentTypeError(f"{word!r} is none of {', '.join(CHECKS)}")
    return word


def _positive(word: str) -> float:
    value = float(word)
    if not 0.0 < value < np.inf:
        raise argparse.ArgumentTypeError(f"{word} is not a positive number")
    return value


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    known = f"{', '.join(CHECKS)}; if none is named {', '.join(UNASKED)}"
    parser.add_argument("checks", nargs="*", type=_check_name, metavar="CHECK", help=known)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--quick", action="store_true", help="fewer degrees and meshes")
    parser.add_argument("--method", choices=tuple(NODES), help="of loh1; sem if not given")
    parser.add_argument("--nodes", type=_positive, help="of loh1, in the shortest wavelength")
    parser.add_argument("--distance", type=_positive,
                        help="of the farthest receiver of loh1 [m], thousands; 1000 if not given, original "
                        "10000")  # fmt: skip
    parser.add_argument("--json", nargs="?", const="", metavar="FILE",
                        help="write JSON too, row by row; without a name only print JSON")  # fmt: skip


def _options(args: argparse.Namespace, checks: list[str]) -> dict[str, dict[str, Any]]:
    """Return {check: options of that check}; refuse those of checks that are not run."""
    given = {name: getattr(args, name) for name in ("method", "nodes", "distance")}
    given = {name: value for name, value in given.items() if value is not None}
    if given and "loh1" not in checks:
        words = " and ".join(f"--{name}" for name in given)
        raise ArgumentError(
            f"{words} with the checks {', '.join(checks)}, which have no such option; expected with loh1 only"
        )
    return {"loh1": {"method": "sem", "nodes": None, "distance": 1000.0} | given}


def _print(row: Row) -> None:
    order = "" if row["order"] is None else f"{row['order']:.2f}"
    verdict = "ok" if row["passed"] else "FAILED"
    print(f"{row['check']:<18} {row['degree']:>2} {row['error']:>11.3e} {order:>6}  "
          f"{verdict} ({row['wanted']})", flush=True)  # fmt: skip
    for name in ("elements", "errors", "paper_errors"):
        if name in row:
            values = " ".join(f"{value:>9.4g}" for value in row[name])
            order = f"  order {row['paper_order']}" if name == "paper_errors" else ""
            print(f"    {name.replace('_', ' '):<14} {values}{order}", flush=True)


def run(args: argparse.Namespace) -> int:
    """Print each row as soon as it is known; 1 if any failed."""
    if args.json in CHECKS:
        raise ArgumentError(
            f"--json is {args.json}, a check; expected a name of a file, or checks before --json"
        )
    device = choose_device(args.device)
    checks, quiet = args.checks or UNASKED, args.json == ""
    options = _options(args, checks)
    result = {"verify": checks, "quick": args.quick, **origin(device), "rows": []}
    if args.json:
        save(Path(args.json), result)  # whether it can be written is known at once
    if not quiet:
        print(f"{'check':<18} {'N':>2} {'error':>11} {'order':>6}  on {device}")
    for name in checks:
        begin = time.perf_counter()
        for row in CHECKS[name](device, args.quick, **options.get(name, {})):
            result["rows"].append({**row, "seconds": time.perf_counter() - begin})
            if not quiet:
                _print(row)
            if args.json:
                save(Path(args.json), result)
            begin = time.perf_counter()
    if quiet:
        print(json.dumps(result, indent=1))
    return 0 if all(row["passed"] for row in result["rows"]) else 1
