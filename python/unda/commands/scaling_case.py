"""One problem on one device or on several, of each method: what `unda bench scaling` times.

Not here: which runs stand beside each other (bench_scaling.py), boxes and grids of each method (dg_case.py,
sem_case.py, fd_case.py).
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

import numpy as np

from .._core import lib
from ..problem._shapes import SHAPES
from ..problem.mesh import Mesh, box_mesh
from . import dg_case, fd_case, sem_case


class Case(NamedTuple):
    """A method, what it computes on (cells or a scheme of grids), and its degree or order."""

    method: str
    kind: str
    degree: int


CASES = {
    "tet3": Case("dg", "tet", 3), "tet7": Case("dg", "tet", 7), "hex3": Case("dg", "hex", 3),
    "hex7": Case("dg", "hex", 7), "sem4": Case("sem", "hex", 4), "scalar4": Case("fd", "scalar", 4),
    "elastic4": Case("fd", "elastic", 4), "diamond4": Case("fd", "diamond", 4),
}  # fmt: skip
#: Of "elastic4": nodes of CPML on five sides, under a free top.
_LAYERS = 10
#: Of "diamond4": planes along x, at least, five of its towers' units of 12.
_UNITS = 60
#: Rows of cells or planes whose bits are compared, all along the problem.
_COMPARED = 200


def problem(case: Case, nodes: float, times: int = 1) -> Mesh | tuple[int, ...]:
    """Return a perturbed cube, or a grid, of about so many nodes, or a box that is as many times as long.

    A box is longer along x: of so many devices each has a cube, and cuts are as large for any number.
    """
    if case.method == "fd":
        n = max(16, round(nodes ** (1 / 3)))
        if case.kind == "diamond":  # z in one block, x at most a tower for each multiprocessor
            x, _, z = (min(n, most) for most in fd_case.DIAMOND_SHAPES[case.degree])
            x = max(x, _UNITS)
            return times * x, max(16, round(nodes / x / z)), z
        return times * n, n, n
    if case.method == "sem":  # cells share nodes: each has about degree^3 of its own
        cubes = nodes / case.degree**3
    else:
        num_node = int(lib.unda_element_num_node(SHAPES[case.kind], case.degree))
        cubes = nodes / num_node / (6 if case.kind == "tet" else 1)
    n = max(1, round(cubes ** (1 / 3)))
    shape = "hex" if case.method == "sem" else case.kind
    return box_mesh((0, 0, 0), (times, 1, 1), (times * n, n, n), shape=shape, perturb=0.2, seed=1)


def simulation(case: Case, of: Any, options: dict[str, Any], device: Any, **more: Any) -> Any:
    """Return a simulation of a problem, with a state that is not zero.

    Parameters
    ----------
    case : Case
    of : Mesh or tuple
        What `problem` returned.
    options : dict
        dtype; of DG physics and integrator.
    device : str or list of str
    **more
        Other keywords of the method: transport of DG and SEM.
    """
    dtype = options["dtype"]
    if case.method == "dg":
        keywords = {"degree": case.degree, "dtype": dtype, "integrator": options["integrator"]}
        sim: Any = dg_case.simulation(of, options["physics"], keywords, device, **more)
        dg_case.set_wave(sim)
        return sim
    if case.method == "sem":
        return sem_case.simulation(of, "elastic", {"degree": case.degree, "dtype": dtype}, device, **more)
    about = {
        "physics": "scalar" if case.kind == "diamond" else case.kind, "order": case.degree, "dtype": dtype,
        "kernel": "diamond" if case.kind == "diamond" else "step", "varies": "constant",
        "layers": _LAYERS if case.kind == "elastic" else 0,
    }  # fmt: skip
    return fd_case.simulation(of, about, device, receivers=100, **more)


def _state(sim: Any) -> np.ndarray:
    """Return some of the state, all along the problem: 32 cells in a row, or planes of each field."""
    on_grid = hasattr(sim, "grid")
    num = sim.grid.shape[0] if on_grid else sim.mesh.num_elem
    rest = sim.grid.shape[1:] if on_grid else (sim.num_node, len(sim.fields))
    numbers = [sim._arrays(name) for name in sim.fields] if on_grid else [lib.UNDA_STATE]
    count = 1 if on_grid else min(num, 32)
    firsts = range(0, num - count + 1, max(1, num // _COMPARED))
    return np.stack(
        [
            sim._solver.read(number, first, np.empty((count, *rest), sim.dtype))
            for number in numbers
            for first in firsts
        ]
    )


def _kernels(sim: Any) -> float | None:
    """Return seconds of the kernels of a stage; None where nobody times them."""
    if sim.config["device"] == "cpu" or (hasattr(sim, "grid") and sim.team):
        return None
    return float(sim.profile(10)["stage"]["seconds"])


def stages_a_step(sim: Any) -> float:
    """Return stages of towers (csrc/fd/scalar/diamond_plan.c) a step of kernel diamond."""
    of, half = sim.config["kernel_options"], sim.config["order"] // 2
    reach = of["dts"] * of["step"]
    return float(-(-(sim.padded[1] - half + reach + half * of["levels"]) // reach) / of["levels"])


def time_step(sim: Any, seconds: float) -> float:
    """Return the seconds of a step: after warm-up the median of five calls."""
    begin = time.perf_counter()
    sim.step(16)
    count = int(np.clip(seconds / 5 / (time.perf_counter() - begin) * 16, 1, 2000))
    # of kernel diamond whole launches: those of few levels are slow
    launch = sim.config.get("kernel_options", {}).get("levels", 0) or 16
    count = max(1, count // launch) * launch
    took = []
    for _ in range(5):
        begin = time.perf_counter()
        sim.step(count)
        took.append((time.perf_counter() - begin) / count)
    return float(np.median(took))


def measure(sim: Any, seconds: float) -> dict[str, Any]:
    """Time steps; return a row, with the state after 20 steps under "state"."""
    sim.step(20)
    state = _state(sim)
    step, stages = time_step(sim, seconds), int(sim._solver.info().num_stage)
    (size, unit), kernels = sim._size(), _kernels(sim)
    most, border = sim.team._load() if sim.team else (0, 0.0)
    messages: float = 2 if sim.config.get("scheme") == "staggered" else 1
    if sim.config["kernel"] == "diamond":
        messages = stages_a_step(sim)
        # stage by stage nothing hides what one sends; towers that follow each other send as they go
        together = (
            sim.team and sim.team.transport == "peer" and len(set(sim.team.devices)) == len(sim.team.devices)
        )
        border = float(bool(sim.team) and not together)
    return {
        "ms": 1e3 * step, "rate": 1e-9 * size * stages / step, "unit": f"G{unit}/s",
        "num_elem": size if unit == "cell" else sim.mesh.num_elem, "stages": stages,
        "kernel": sim.config["kernel"], "state": state,
        "outside": None if kernels is None else 100 * max(0.0, 1 - kernels * stages / step),
        "transport": sim.team.transport if sim.team else "-",
        "devices": len(sim.team.members) if sim.team else 1,
        "megabytes": 1e-6 * sim.team._bytes() if sim.team else 0.0,
        "most_bytes": most, "border": border,
        "messages": messages,
    }  # fmt: skip


def compared(one: np.ndarray, other: np.ndarray) -> str:
    """Return "True" where two states have the same bits, else the greatest difference beside the largest."""
    if one.tobytes() == other.tobytes():
        return "True"
    largest = float(np.abs(one).max()) or 1.0
    return f"off by {float(np.abs(one.astype(float) - other).max()) / largest:.0e}"
