"""The parameters of kernel microblock that take least time, function by function (Klöckner et al. 2009).

Flux gather, flux lift and local differentiation have parameters of their own but for the microblock's size
and the segment, so a candidate is one of each, timed apart: a few simulations of every size of microblocks
find the best of each function. Not here: the kernel's own choice (csrc/dg/kernel_microblock.c), the table
(bench_dg_klockner.py), whole kernels by measurement (method/tune.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ..errors import ArgumentError
from ..method import speed
from ..problem.mesh import Mesh
from .dg_case import simulation

Options = dict[str, Any]
FUNCTIONS = ("dg_gather", "dg_lift", "dg_local")
NUM_FIELD = 6  # of light
#: Parts of each function alone; all share km, and matrices in shared memory the segment.
PARTS = {
    "dg_gather": ("mb", "flux_wp"),
    "dg_lift": ("lift_strategy", "lift_wp", "lift_wi", "lift_ws", "lift_fields"),
    "dg_local": ("strategy", "wp", "wi", "ws", "fields"),
}
_STRATEGY = {"dg_lift": "lift_strategy", "dg_local": "strategy"}
_WARP, _MOST, _THREADS, _ELEMENTS = 32, 512, 256, 32


def num_node(degree: int) -> int:
    """Return Np, the nodes of a tetrahedron."""
    return (degree + 1) * (degree + 2) * (degree + 3) // 6


def _pitch(degree: int, km: int) -> int:
    return -(-km * num_node(degree) // _WARP) * _WARP


def sizes(degree: int) -> list[int]:
    """Return the sizes of microblocks to try: the paper's rule, half as large, and no microblocks.

    The rule: the least number of elements that leaves fewer than 5 % of the threads without a node; of up to
    512 nodes, or the number of those that leaves the fewest.
    """
    fitting = [km for km in range(1, _MOST) if km == 1 or _pitch(degree, km) <= _MOST]
    used = {km: km * num_node(degree) / _pitch(degree, km) for km in fitting}
    rule = next((km for km in fitting if used[km] > 0.95), max(fitting, key=lambda km: used[km]))
    return list(dict.fromkeys((rule, -(-rule // 2), 1)))


def _gathers(degree: int, km: int) -> Iterator[Options]:
    """Blocks of about 32 elements, half and twice as many; 256 threads, half and a quarter."""
    for elements in (_ELEMENTS, _ELEMENTS // 2, 2 * _ELEMENTS):
        for threads in (_THREADS, _THREADS // 2, _THREADS // 4):
            pairs = max(1, threads // ((degree + 1) * (degree + 2) // 2))
            yield {"mb": max(1, elements // km), "flux_wp": pairs}


def _products(degree: int, km: int) -> Iterator[Options]:
    """Divisions of work; with the field in shared memory blocks of about 256 threads."""
    wp, half = max(1, _THREADS // _pitch(degree, km)), NUM_FIELD // 2
    for wi, fields in ((1, NUM_FIELD), (2, NUM_FIELD), (1, half), (2, half), (4, 2)):
        yield {"strategy": "field", "wp": wp, "wi": wi, "ws": 1, "fields": fields, "segment": 2}
    for parallel, wi, ws, segment in ((1, 1, 4, 2), (4, 1, 8, 1)):
        yield {
            "strategy": "matrix",
            "wp": parallel,
            "wi": wi,
            "ws": ws,
            "segment": segment,
            "fields": NUM_FIELD,
        }


def candidates(degree: int) -> list[Options]:
    """Return options to time: the library's own, then the i-th parameters of each function for each km."""
    found: list[Options] = [{}]
    for km in sizes(degree):
        gathers = list(_gathers(degree, km))
        for i, one in enumerate(_products(degree, km)):
            lift = {f"lift_{name}": value for name, value in one.items() if name != "segment"}
            found.append({"km": km, **gathers[i], **one, **lift})
    return found


def function_seconds(
    mesh: Mesh, case: Mapping[str, Any], device: str, tried: Iterable[Options], runs: int
) -> Iterator[Options]:
    """Yield of each candidate that the device takes all its options and the seconds of each function."""
    for options in tried:
        try:
            with simulation(mesh, "maxwell", {**case, "kernel_options": options}, device) as sim:
                found = speed.kernel_seconds(sim, runs)
                whole = dict(sim.config["kernel_options"])
        except ArgumentError:  # blocks with too many threads or too much memory
            continue
        yield {"options": whole, **{name: found[name]["seconds"] for name in FUNCTIONS}}


def best(found: list[Options], *, microblocks: bool = True, matrix: bool = True) -> Options:
    """Return the options whose functions took least time.

    Parameters
    ----------
    found : list of dict
        Of `function_seconds`, of one degree.
    microblocks : bool
        False: only with km 1.
    matrix : bool
        False: only with fields in shared memory.

    Returns
    -------
    dict
        ``options``, and ``seconds``, the sum of the three.
    """
    chosen: Options = {"options": {}, "seconds": math.inf}
    places = {(one["options"]["km"], one["options"]["segment"]) for one in found}
    for km, segment in sorted(places):
        if km != 1 and not microblocks:
            continue
        options: Options = {"km": km, "segment": segment}
        seconds = 0.0
        for name in FUNCTIONS:
            fitting = [
                one for one in found
                if one["options"]["km"] == km and _fits(one["options"], _STRATEGY.get(name), segment, matrix)
            ]  # fmt: skip
            least = min(fitting, key=lambda one: float(one[name]), default=None)
            seconds += least[name] if least else math.inf
            options |= {part: least["options"][part] for part in PARTS[name]} if least else {}
        if seconds < chosen["seconds"]:
            chosen = {"options": options, "seconds": seconds}
    return chosen


def _fits(options: Options, strategy: str | None, segment: int, matrix: bool) -> bool:
    """Say whether parameters of a function may stand beside this segment: those of fields always may."""
    if strategy is None or options[strategy] == "field":
        return True
    return matrix and bool(options["segment"] == segment)
