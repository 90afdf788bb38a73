"""Choose kernel and tile by measuring them once on the user's device; the winner is remembered.

Starting from the table's tile, one option after the other is changed as long as that is faster. Not here: the
tables (csrc/dg/kernels.c, csrc/fd/scalar/diamond_plan.c), the kernels (cuda/).
"""

from __future__ import annotations

import json
import math
import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from .. import _core, _cuda
from .._core import lib
from .._files import read_file, replacing
from ..errors import ArgumentError, DeviceLostError, Error
from ..limits import device_info, device_number
from ..problem.grid import Block
from . import speed
from ._options import METRICS, PART_WORDS, PRECISIONS, Given, kernels
from .fd_options import fd_options

Plan = dict[str, Any]  # of numbers and words (PART_WORDS)
Choice = tuple[Any, Plan | None]  # a kernel of the table, and parts

# Other values of a part to try, by its unda_tuned.
_OTHERS: dict[int, Callable[[int], tuple[int, ...]]] = {
    lib.UNDA_TUNED_NOT: lambda n: (),
    lib.UNDA_TUNED_BY_ONE: lambda n: (n - 1, n + 1),
    lib.UNDA_TUNED_BY_HALF: lambda n: (n // 2, 2 * n),
    lib.UNDA_TUNED_BOTH: lambda n: (n - 1, n + 1, 2 * n),
    lib.UNDA_TUNED_POWERS: lambda n: tuple(2**i for i in range(8)),
}
_FAR_SLOWER = 2.0  # a kernel whose own table is slower than this times the best is not tuned
_RUNS = 10  # launches of each candidate
_MANY_STEPS = 64  # of a call, so many that several may be one launch
_BY_SIZE = "resident"  # an option that the library chooses for each mesh
_STEPS = 40  # of each candidate on a grid, where a launch is one
_MOST_LEVELS = 512  # of a launch: longer ones would delay Ctrl-C
_SPILL_BYTES = 32  # of a thread; spilling a vector or two may pay


class _Memory:
    """The choices made so far, by key, in a file beside the compiled kernels.

    A file that cannot be read, or holds something else, counts as empty. One that cannot be written is a
    warning, and the choice is measured again next time.
    """

    def __init__(self, device: str, *about: str) -> None:
        info = device_info(device)
        where = info["device_name"], f"driver {info['driver']}", f"NVRTC {info['nvrtc']}"
        self.key = ", ".join([*where, *about, _source()])

    def recall(self, method: Any, domain: Any, medium: Any, keywords: Mapping[str, Any]) -> Choice | None:
        """Return what is remembered, if a simulation of this kind takes it."""
        found = _remembered().get(self.key)
        if not isinstance(found, dict) or not isinstance(found.get("kernel"), str):
            return None
        kernel, options = found["kernel"], found.get("kernel_options")
        if options is not None and not (
            isinstance(options, dict)
            and all(type(value) is int or name in PART_WORDS for name, value in options.items())
        ):
            return None
        try:
            method.forecast(domain, medium, kernel=kernel, kernel_options=options, **keywords)
        except Error as error:
            _core.logger.info("tune: what is remembered of %s is of no use: %s", self.key, error)
            return None
        return kernel, options

    def keep(self, choice: Choice, best: float, first: float, num: int, what: str) -> None:
        """Print a choice, and add it to the file, which is complete at any time."""
        print(
            f"unda: tuned on {self.key}: kernel {choice[0]} {choice[1] or ''}, {best * 1e6:.3g} us a {what}, "
            f"{first / best:.2f} times the table's; {num} candidates"
        )
        file = _file()
        if file is None:
            return
        entry = {"kernel": choice[0], "kernel_options": choice[1], "seconds": best}
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            text = json.dumps({**_remembered(), self.key: entry}, indent=1)
            with replacing(file) as out:
                out.write(text.encode())
        except OSError as error:
            _core.logger.warning("%s cannot be written: %s", file, error)


def _source() -> str:
    return _core.text(lib.unda_source_hash())[:12]


def _file() -> Path | None:
    folder = _cuda.cache_dir()
    return Path(folder) / "tuned.json" if folder and _trusted(folder) else None


@cache
def _complain(folder: str, why: str) -> None:
    _core.logger.warning(
        "choices of tune=True are neither taken from %s nor kept there: it %s; expected a folder that only "
        "this user may write to (chmod go-w, or another one by UNDA_CACHE_DIR)",
        folder,
        why,
    )


def _trusted(folder: str) -> bool:
    """Return whether a folder belongs to this user alone (csrc/gpu/cache.c), or does not exist yet."""
    try:
        found = os.stat(folder)
    except OSError:
        return True
    own, closed = found.st_uid == os.geteuid(), not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    if not (own and closed):
        _complain(folder, "may be written to by others" if own else "belongs to another user")
    return own and closed


def _remembered() -> dict[str, Any]:
    file = _file()
    try:
        found = json.loads(read_file(file)) if file else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


class _Search:
    """Times candidates, each once; remembers how many there were."""

    def __init__(self, measure: Callable[[str, Plan | None], tuple[float, Plan]]) -> None:
        self.measure = measure
        self.num = 0

    def seconds(self, kernel: str, plan: Plan | None) -> tuple[float, Plan]:
        """Return the time of a candidate and its whole plan; infinity for one that the device refuses."""
        self.num += 1
        try:
            return self.measure(kernel, plan)
        except DeviceLostError:
            raise
        except Error as error:
            _core.logger.debug("tune: %s %s: %s", kernel, plan, error)
            return math.inf, {}

    def climb(
        self, kernel: str, best: float, plan: Plan, near: Callable[[Plan], Iterator[Plan]]
    ) -> tuple[float, Plan]:
        """Move to a faster neighbouring plan until there is none."""
        tried = {tuple(sorted(plan.items()))}
        found = bool(plan)
        while found:
            found = False
            for other in near(plan):
                name = tuple(sorted(other.items()))
                if name in tried:
                    continue
                tried.add(name)
                seconds, whole = self.seconds(kernel, other)
                tried.add(tuple(sorted(whole.items())))
                if seconds < 0.99 * best:
                    best, plan, found = seconds, whole, True
                    break
        return best, plan


# ---- meshes


def tuned(
    method: Any, mesh: Any, medium: Any, device: str, keywords: Mapping[str, Any], kernel: str = "auto"
) -> Choice:
    """Return (kernel, kernel_options) for a method's other keywords on a device; kernel: the user's."""
    if device == "cpu":
        _core.logger.info("tune=True: there is nothing to choose on the CPU")
        return kernel, None
    about = {**keywords, "device": device}
    size = 4 ** round(math.log(mesh.num_elem, 4))  # the best choice depends on it within a factor of four
    memory = _Memory(
        device, *_shape(method, mesh, medium, about), medium.physics, medium.per,
        f"degree {keywords['degree']}", str(keywords["dtype"]), keywords["flux"], keywords["integrator"],
        f"about {size} cells", *([] if kernel == "auto" else [f"kernel {kernel}"]),
    )  # fmt: skip
    known = memory.recall(method, mesh, medium, about)
    if known is not None and kernel in ("auto", known[0]):
        return known
    if kernel != "auto":  # a word that is none, a kernel for another shape
        method.forecast(mesh, medium, kernel=kernel, **about)

    def measure(kernel: str, options: Plan | None) -> tuple[float, Plan]:
        with method(mesh, medium, device=device, kernel=kernel, kernel_options=options, **keywords) as sim:
            sim._stepping.ahead(_MANY_STEPS)  # with what calls of many steps use
            return _stage_seconds(sim), sim.config["kernel_options"]

    search = _Search(measure)
    shape = lib.UNDA_HEX if mesh.shape == "hex" else lib.UNDA_TET
    options = _core.new_struct(
        "unda_solver_options", method=lib.UNDA_DG, device=device_number(device), shape=shape
    )
    best, first = math.inf, math.inf
    choice: Choice = (kernel, None)
    for one, parts in kernels(options, tried=kernel == "auto").items():
        if kernel not in ("auto", one):
            continue
        # "auto" takes "fused" with products on tensor cores where that is faster, but not by its name
        starts = [None, {"products": 2}] if "products" in parts else [None]
        begin, plan = min((search.seconds(one, start) for start in starts), key=itemgetter(0))
        if begin > _FAR_SLOWER * best:
            continue
        seconds, plan = search.climb(one, begin, plan, partial(_changed, parts=parts))
        first = min(first, begin)
        if seconds < best:
            best, choice = seconds, (one, {name: plan[name] for name in plan if name != _BY_SIZE})
    if math.isinf(best):  # none runs: making the simulation says why
        return choice
    memory.keep(choice, best, first, search.num, "stage")
    return choice


def _stage_seconds(sim: Any) -> float:
    """Time a stage as calls of many steps take it."""
    found = speed.kernel_seconds(sim, _RUNS)
    many = found.get("dg_resident")
    if many is None:
        return found["stage"]["seconds"]
    return many["seconds"] * many["launches"] / int(sim._solver.info().num_stage)


def _shape(method: Any, mesh: Any, medium: Any, keywords: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the shape of the cells; of hexahedra also their metric, the first that is exact."""
    for word in METRICS if mesh.shape == "hex" else ():
        try:
            method.forecast(mesh, medium, kernel_options={"metric": word}, **keywords)
        except ArgumentError:
            continue
        return mesh.shape, word
    return (mesh.shape,)


def _changed(plan: Plan, parts: Mapping[str, int]) -> Iterator[Plan]:
    for name, tuned in parts.items():
        if name in PART_WORDS:
            words = PART_WORDS[name] if tuned != lib.UNDA_TUNED_NOT else ()
            yield from ({**plan, name: word} for word in words if word != plan[name])
            continue
        for value in _OTHERS[tuned](plan[name]):
            if value >= 1:
                yield {**plan, name: value}


# ---- grids


def tuned_grid(
    method: Any, grid: Any, medium: Any, device: str, kernel: str, fixed: Mapping[str, int] | None,
    **keywords: Any,
) -> tuple[Any, Mapping[str, int] | None]:  # fmt: skip
    """Return (kernel, kernel_options) for `FD` on a device; what the user fixed stays."""
    if device == "cpu":
        _core.logger.info("tune=True: there is nothing to choose on the CPU")
        return kernel, fixed
    options, memory = _grid_memory(method, grid, medium, device, kernel, fixed, keywords)
    table = kernels(options)
    fixed = {name: value for name, value in (fixed or {}).items() if value}  # 0: not fixed
    keywords = {**keywords, "device": device}
    tried = list(table) if kernel == "auto" else [kernel]
    every = {name for parts in table.values() for name in parts}
    mine = {
        one: {name: fixed[name] for name in fixed if name not in every - set(table.get(one, ()))}
        for one in tried
    }
    known = memory.recall(method, grid, medium, keywords)
    if known and known[0] in tried and mine[known[0]].items() <= (known[1] or {}).items():
        return known
    scratch = _Scratch(method, grid, medium, keywords)
    search = _Search(scratch.measure)
    best, first, choice = math.inf, math.inf, (kernel, fixed)
    for one in tried:
        begin, plan = scratch.begin(one, mine[one], search if one == "diamond" != kernel else None)
        seconds, plan = search.climb(one, begin, plan, partial(_near, fixed=mine[one], num_z=scratch.num_z))
        if seconds < best:
            best, first, choice = seconds, begin, (one, {**plan, **mine[one]})
    memory.keep(choice, best, first, search.num, "step")
    return choice


def _grid_memory(
    method: Any, grid: Any, medium: Any, device: str, kernel: str, fixed: Mapping[str, int] | None,
    keywords: Mapping[str, Any],
) -> tuple[Any, _Memory]:  # fmt: skip
    """Return the library's options, and the memory of what the choice depends on; refuses what `FD` would."""
    given = Given.of(method, grid, medium, device=device, kernel=kernel, kernel_options=fixed, **keywords)
    given.sample_dt = None
    options, grid_options, sides, scheme, _ = fd_options(given)
    layers = [int(width) for width in grid_options.layer]
    kinds = sorted({type(side).__name__ for side in sides.values() if not isinstance(side, str)})
    periodic = [name for name, side in sides.items() if side == "periodic"]
    return options, _Memory(
        device, f"FD {scheme.name}", medium.physics, f"order {grid_options.order}",
        PRECISIONS[options.precision], "constant" if grid_options.uniform else "variable",
        f"layers {layers} {kinds}", f"periodic {periodic}", " x ".join(map(str, grid.shape)),
        f"window {grid_options.window}", f"kernel {kernel}",
        f"fixed {dict(sorted((fixed or {}).items()))}",
    )  # fmt: skip


class _Scratch:
    """Simulations that are only timed: at rest, in the material of the first node, which is given quickly.

    Attributes
    ----------
    num_z : int
        Nodes along z with layers.
    """

    def __init__(self, method: Any, grid: Any, medium: Any, keywords: Mapping[str, Any]) -> None:
        class Timed(method):  # type: ignore[misc]
            def _give_material(self) -> None:
                node = self.medium.on(Block(self.grid, 0, 1))
                plane = np.repeat(node, self.grid.shape[1] * self.grid.shape[2], axis=0)
                for x in range(self.grid.shape[0]):
                    self._solver.call(lib.unda_solver_set_material, x, 1, _core.pointer(plane))

            def _settle_dt(self) -> None:  # the same medium everywhere
                pass

        self.make = lambda **more: Timed(grid, medium, **keywords, **more)
        self.num_z, self.spill, self.most_spill = 0, 0, math.inf

    def begin(self, kernel: str, fixed: Plan, search: _Search | None) -> tuple[float, Plan]:
        """Measure the table's plan of a kernel; a failure is raised, or with a search, no candidate."""
        self.most_spill = math.inf
        found = (search.seconds if search else self.measure)(kernel, fixed)
        self.most_spill = max(_SPILL_BYTES, self.spill)
        return found

    def measure(self, kernel: str, options: Plan | None) -> tuple[float, Plan]:
        """Return the seconds of a step and the whole plan; infinity if registers spill."""
        with self.make(kernel=kernel, kernel_options=options) as sim:
            self.num_z, self.spill = sim.padded[2], int(sim._solver.info().spill_bytes)
            if self.spill > self.most_spill:
                _core.logger.debug("tune: %s %s: spills %d bytes", kernel, options, self.spill)
                return math.inf, {}
            return _step_seconds(sim), sim.config["kernel_options"]


def _step_seconds(sim: Any) -> float:
    """Time the steps of a launch, or some steps, after as many to load the code."""
    num = sim._stepping.launch if sim._stepping.launch > 1 else _STEPS
    sim._stepping.advance(num)
    begin = time.perf_counter()
    sim._stepping.advance(num)
    return (time.perf_counter() - begin) / num


def _near(plan: Plan, fixed: Mapping[str, int], num_z: int) -> Iterator[Plan]:
    """Yield neighbouring plans, without changing what is fixed."""
    for change in _diamonds(plan, num_z) if "dts" in plan else _blocks(plan):
        other = {**plan, **change}
        if min(change.values()) >= 1 and all(other.get(name) == plan.get(name) for name in fixed):
            yield other


def _blocks(plan: Plan) -> Iterator[Plan]:
    """Yield other blocks of kernel step."""
    for name in ("rows", "planes", "width"):
        if name in plan:
            yield {name: plan[name] // 2}
            yield {name: 2 * plan[name]}
    if "lanes" in plan:
        yield {"lanes": 48 - plan["lanes"]}
        yield {"blocks": plan["blocks"] - 1}
        yield {"blocks": plan["blocks"] + 1}


def _diamonds(plan: Plan, num_z: int) -> Iterator[Plan]:
    """Yield other diamonds: as wide in other steps, one step wider, another split along z, other code."""
    dts, step, num = plan["dts"], plan["step"], -(-num_z // plan["zb"])
    yield {"dts": dts - 1}
    yield {"dts": dts + 1}
    yield {"dts": dts // 2, "step": 2 * step}
    yield {"dts": 2 * dts, "step": step // 2}
    for blocks in (num - 1, num + 1):
        if blocks:
            yield {"zb": -(-num_z // blocks)}
    yield {"old": 1} if plan["old"] == 2 else {"old": 2, "unroll": 2}
    yield {"unroll": 3 - plan["unroll"], "old": 1}
    yield {"chunk": plan["chunk"] // 2}
    yield {"chunk": 2 * plan["chunk"]}
    if "variable" in plan:
        yield {"variable": 3 - plan["variable"]}
    yield {"levels": plan["levels"] // 2}
    yield {"levels": min(2 * plan["levels"], max(_MOST_LEVELS, plan["levels"]))}
