"""What a run of a given accuracy will take: nodes a wavelength, step, memory and seconds of each method.

Not here: the errors that it goes by (curves.py), the speeds (pace.py), the run that checks a plan (waves.py).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from .._check import choice, number, vector
from ..errors import ArgumentError
from ..limits import choose_device, device_info, limits_once
from ..method._options import PRECISIONS
from ..problem.grid import Grid
from ..problem.medium import Acoustic, Elastic, Maxwell
from ..problem.mesh import Mesh
from . import curves, waves
from .pace import Pace, pace_of
from .plan_monitors import monitors_of, with_monitors, without_monitor

_METHODS = {
    "DG": ("DG tet", "DG hex"),
    "SEM": ("SEM hex",),
    "FD": ("FD staggered", "FD scalar"),
}
_LEAPFROG = ("SEM", "FD")
_CFL = 0.9  # default of all methods
_ROUNDING = {"float32": 2e-5, "float64": 1e-12}  # some hundred roundings
_FINER = 1.02  # between resolutions that are tried
_MARGIN = 1.25  # for errors between two measured resolutions
_PHASE = 2.0  # of interpolation in cells: errors were measured at whole periods, where the wave has one phase


@dataclass(frozen=True)
class Proposal:
    """One method of a plan.

    Attributes
    ----------
    method : {"DG", "SEM", "FD"}
    kind : str
        Shape of the cells ("tet", "hex"), or scheme of FD ("staggered", "scalar").
    degree : int
        Degree, or order of FD.
    nodes : float
        In the shortest wavelength: over the spacing (V / Np)^(1/3), as `Report.nodes_per_wavelength`.
    spacing : float
        Of nodes [m].
    cell : float
        Edge of a hexahedron, or of a brick of six tetrahedra [m]; of FD the spacing.
    num_node : int
        Nodes of the domain, without layers.
    dt : float
        Step [s], stable where the domain's fastest wave is.
    steps : int
        Until the end.
    error : float
        Relative L2 error of the worst group of fields that is to be expected of a wave at fmax after the
        distance; of SEM that of velocity.
    host, device_memory : int
        Bytes.
    seconds : float
        Of the steps.
    monitor_seconds : float
        Of these those of monitors, by the bytes that they move.

    Examples
    --------
    >>> one = unda.plan(water, 100.0, distance=60.0)["DG hex"]  # doctest: +SKIP
    >>> one.degree, one.cell, one.options["dt"]  # doctest: +SKIP
    >>> one.check() <= one.error  # doctest: +SKIP
    True
    """

    method: str
    kind: str
    degree: int
    nodes: float
    spacing: float
    cell: float
    num_node: int
    dt: float
    steps: int
    error: float
    host: int
    device_memory: int
    seconds: float
    _check: tuple[str, float, float, str, str]  # wave, steps a period, wavelengths, device, dtype
    monitor_seconds: float = 0.0

    @property
    def options(self) -> dict[str, Any]:
        """Keywords of the method's class: degree, or order and scheme; dt [s]."""
        if self.method == "FD":
            return {"order": self.degree, "scheme": self.kind, "dt": self.dt}
        return {"degree": self.degree, "dt": self.dt}

    def check(self, *, way: float | None = None) -> float:
        """Run the proposal: a plane wave at fmax around a periodic box of a few wavelengths.

        Parameters
        ----------
        way : float, optional
            Wavelengths to travel; by default the distance of the plan.

        Returns
        -------
        float
            The largest error on the way, along an axis and along the diagonal: to be compared with `error`.
        """
        wave, steps, distance, device, dtype = self._check
        runs = [
            waves.travel(
                f"{self.method} {self.kind}", self.degree, wave, direction, self.nodes,
                distance if way is None else way, steps=steps, device=device, dtype=dtype,
                most=most, at_least=True,
            )
            for direction, most in (("axis", 5), ("diagonal", 2))
        ]  # fmt: skip
        return max(max(run.errors) for run in runs)


class Plan:
    """Proposals, the fastest first, and by name, ``found["DG hex"]``; prints as a table. What `plan` returns.

    Attributes
    ----------
    proposals : tuple of Proposal
    missing : dict of str to str
        Methods without a proposal, and why.

    Examples
    --------
    >>> print(unda.plan(water, 100.0, distance=60.0))  # doctest: +SKIP
    """

    def __init__(self, proposals: Sequence[Proposal], missing: dict[str, str], about: str) -> None:
        self.proposals = tuple(sorted(proposals, key=lambda one: one.seconds))
        self.missing, self._about = missing, about

    def __len__(self) -> int:
        return len(self.proposals)

    def __iter__(self) -> Iterator[Proposal]:
        return iter(self.proposals)

    def __getitem__(self, key: int | str) -> Proposal:
        if not isinstance(key, str):
            return self.proposals[key]
        for one in self:
            if key == f"{one.method} {one.kind}":
                return one
        names = [f"{one.method} {one.kind}" for one in self]
        why = f": {self.missing[key]}" if key in self.missing else ""
        raise KeyError(f"no proposal {key!r}, there are {names}{why}")

    def table(self) -> str:
        """Return the proposals as text."""
        head = ("method", "degree", "nodes/wavelength", "cell [m]", "nodes", "dt [s]", "steps", "memory [GB]",
                "seconds", "error")  # fmt: skip
        rows = [head]
        for one in self:
            rows.append((
                f"{one.method} {one.kind}", str(one.degree), f"{one.nodes:.1f}", f"{one.cell:.3g}",
                f"{one.num_node:.3g}", f"{one.dt:.3g}", str(one.steps),
                f"{(one.host + one.device_memory) / 1e9:.3g}", f"{one.seconds:.3g}", f"{one.error:.2g}",
            ))  # fmt: skip
        wide = [max(len(row[i]) for row in rows) for i in range(len(head))]
        lines = ["  ".join(word.rjust(n) for word, n in zip(row, wide, strict=True)) for row in rows]
        lines += [
            f"{one.method} {one.kind}: monitors take {one.monitor_seconds:.2g} of these seconds"
            for one in self.proposals
            if one.monitor_seconds
        ]
        lines += [f"{name}: {why}" for name, why in self.missing.items()]
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"{self._about}\n{self.table()}"


def plan(
    medium: Any,
    fmax: float,
    *,
    error: float = 0.01,
    distance: float,
    box: Sequence[float] | None = None,
    duration: float | None = None,
    on: Grid | Mesh | None = None,
    device: str = "auto",
    dtype: Literal["float32", "float64"] = "float32",
    threads: int | None = None,
    monitors: Sequence[Any] = (),
) -> Plan:
    """Say which resolution a problem needs, and what its run takes, by DG, SEM and FD on this device.

    Errors are those that a plane wave at fmax was measured to have over its way, on cells of one size; speeds
    are measured now, on a small problem of the same kind.

    Parameters
    ----------
    medium : Acoustic, Elastic or Maxwell
    fmax : float
        Highest frequency that matters [Hz]; of a Ricker wavelet 2.5 times its own.
    error : float
        Relative error of such a wave after the distance.
    distance : float
        How far waves travel [m].
    box : sequence of 3 floats, optional
        Sides of the domain [m]; by default each is `distance`.
    duration : float, optional
        Simulated time [s]; by default what the slowest wave takes over the distance.
    on : Grid or Mesh, optional
        Where a medium is given that is not homogeneous.
    device : str
        As for the methods.
    dtype : {"float32", "float64"}
    threads : int, optional
        CPU threads.
    monitors : sequence, optional
        Monitors of all nodes: "max", "min", "rms", or a dict of kind, field, frequencies and every as
        `add_monitor` takes them. Methods without such a field are not proposed.

    Returns
    -------
    Plan
        At most one proposal for each of "DG tet", "DG hex", "SEM hex", "FD staggered" and "FD scalar", the
        fastest first; `Plan.missing` says why others have none. `Proposal.check` runs one on a small box.

    Raises
    ------
    ArgumentError
        Bad numbers, a medium of several values without `on`; monitors with a region, or of a field that no
        method has.

    Notes
    -----
    The shortest wavelength is that of the slowest wave at fmax; the fastest wave limits the step. Not
    contained: sources and receivers, interfaces that a grid does not follow (first order in the spacing,
    docs/fd_staggered.md), cells of unlike sizes, as a mesher makes them. FD has layers of ten nodes at all
    sides. docs/studies.md says more; curves: ``benchmarks/error_curves.py``.

    Examples
    --------
    >>> import unda
    >>> water = unda.Acoustic(rho=1000.0, c=1500.0)
    >>> found = unda.plan(water, 100.0, error=0.02, distance=60.0, device="cpu")  # doctest: +SKIP
    >>> one = found["FD scalar"]  # doctest: +SKIP
    >>> sim = unda.FD(unda.Grid((64, 64, 64), one.spacing), water, **one.options)  # doctest: +SKIP
    """
    f = number("fmax", fmax, "Hz", positive=True)
    wanted = number("error", error, positive=True)
    reach = number("distance", distance, "m", positive=True)
    choice("dtype", dtype, PRECISIONS)
    sides = (reach,) * 3 if box is None else vector("box", box, "m")
    if min(sides) <= 0:
        raise ArgumentError(f"box is {sides}, expected three positive lengths [m]")
    slowest, model, uniform = _speeds(medium, on)
    fastest = float(model.speed_max(Grid((1, 1, 1), 1.0)))
    end = reach / slowest if duration is None else number("duration", duration, "s", positive=True)
    place = choose_device(device)
    asked = monitors_of(monitors, model)
    need = _Need(
        slowest / f, fastest, f, wanted - _ROUNDING[dtype], reach * f / slowest, tuple(sides), end, uniform
    )
    if need.error <= 0:
        raise ArgumentError(
            f"error is {wanted}, which {dtype} rounds away; expected more, or dtype='float64'"
        )
    found, missing = [], {}
    copied = limits_once(place)["copy"] if asked else 0.0
    for family, kinds in _METHODS.items():
        for name in kinds:
            proposal = _propose(name, family, model, need, place, dtype, threads)
            lacks = "" if isinstance(proposal, str) else without_monitor(name, asked, model)
            if isinstance(proposal, str) or lacks:
                missing[name] = lacks or str(proposal)
            else:
                found.append(
                    with_monitors(proposal, asked, model, f, place, dtype, copied) if asked else proposal
                )
    across = " x ".join(f"{side:g}" for side in sides)
    about = (
        f"{need.way:.3g} wavelengths of {need.wavelength:.3g} m, error {wanted:g}, {end:.3g} s in {across} m,"
        f" {dtype} on {place}, {device_info(place)['device_name']}"
    )
    return Plan(found, missing, about)


@dataclass(frozen=True)
class _Need:
    """What is asked for."""

    wavelength: float  # the shortest [m]
    fastest: float  # [m/s]
    fmax: float  # [Hz]
    error: float
    way: float  # wavelengths
    box: tuple[float, ...]  # [m]
    duration: float  # [s]
    uniform: bool


def _speeds(medium: Any, on: Any) -> tuple[float, Any, bool]:
    """Return the slowest speed, a homogeneous medium with the fastest, and whether it is the medium."""
    if not isinstance(medium, (Acoustic, Elastic, Maxwell)):
        raise ArgumentError(f"medium is {medium!r}, expected unda.Acoustic, unda.Elastic or unda.Maxwell")
    if on is not None and not isinstance(on, (Grid, Mesh)):
        raise ArgumentError(f"on is {on!r}, expected a Grid or a Mesh")
    try:
        medium.scalar()
        return float(medium.speed_min(Grid((1, 1, 1), 1.0))), medium, True
    except ArgumentError:
        if on is None:
            raise ArgumentError(
                f"{medium!r} has more than one value: say where, on= a Grid or Mesh"
            ) from None
    slow, fast = float(medium.speed_min(on)), float(medium.speed_max(on))
    if medium.physics == "acoustic":
        return slow, Acoustic(rho=1000.0, c=fast), False
    if medium.physics == "elastic":
        return slow, Elastic(rho=1000.0, vp=fast, vs=fast / math.sqrt(3.0)), False
    return slow, Maxwell(eps=1.0 / fast, mu=1.0 / fast), False


def _propose(
    name: str, family: str, medium: Any, need: _Need, device: str, dtype: str, threads: int | None
) -> Proposal | str:
    """Return the fastest way of a method, or why there is none."""
    if waves.medium_of(name, curves.WAVES[medium.physics]) is None:
        return f"has no {medium.physics} waves"
    if name == "FD scalar" and not need.uniform:
        return "has one density: `FD staggered` is proposed for media that vary"
    rated = []
    for degree in curves.degrees(name, medium.physics):
        pace = Pace(name, degree, medium, device, dtype, threads)
        best = _cheapest(family, curves.space_curves(name, degree, medium.physics), pace, need)
        if best is not None:
            rated.append((best.cost * pace.rough, best, pace))
    if not rated:
        asked = f"an error of {need.error:.2g} after {need.way:.3g} wavelengths in {dtype}"
        return f"{asked} is beyond what was measured"
    # The rough order is that of operations: the first two are measured, and the faster one is proposed.
    first = sorted(rated, key=lambda one: one[0])[:2]
    return min((_proposal(name, best, pace, need) for _, best, pace in first), key=lambda one: one.seconds)


@dataclass(frozen=True)
class _Way:
    """A resolution that is enough."""

    nodes: float
    steps: float  # a period of fmax
    error: float
    cost: float  # nodes times steps, of a wavelength's cube and period


def _cheapest(family: str, lines: list[curves.Curve], pace: Pace, need: _Need) -> _Way | None:
    """Return the resolution with the fewest nodes times steps whose error is small enough."""
    if not lines or any(len(one.resolution) < 2 for one in lines):
        return None
    low = max(float(one.resolution[0]) for one in lines)
    high = min(float(one.resolution[-1]) for one in lines)
    best = None
    for nodes in np.geomspace(low, high, max(2, math.ceil(math.log(high / low) / math.log(_FINER)))):
        at = [one.line(float(nodes)) for one in lines]
        phase = 1.0 if family == "FD" else _PHASE
        floor, slope = max(one.floor for one in at), max(one.slope for one in at)
        space = curves.Line(_MARGIN * phase * floor, _MARGIN * slope)
        # Steps a period where the fastest wave allows the longest step.
        least = 1.0 / (need.fmax * _CFL * pace.courant * need.wavelength / nodes / need.fastest)
        steps: float | None = least
        if family in _LEAPFROG:
            steps = _enough_steps(space, least, need, pace)
        if steps is None:
            continue
        total = space + (_taken(steps, least, pace) if family in _LEAPFROG else curves.Line(0.0, 0.0))
        if total.at(need.way) > need.error:
            continue
        way = _Way(float(nodes), float(steps), total.at(need.way), float(nodes**3 * steps))
        best = way if best is None or way.cost < best.cost else best
    return best


def _enough_steps(space: curves.Line, least: float, need: _Need, pace: Pace) -> float | None:
    """Return the fewest steps a period, from `least` on, with which the error is small enough."""
    if space.at(need.way) >= need.error:
        return None
    for steps in least * np.geomspace(1.0, 1e3, 700):
        if (space + _taken(float(steps), least, pace)).at(need.way) <= need.error:
            return float(steps)
    return None


def _taken(steps: float, least: float, pace: Pace) -> curves.Line:
    """Return what so many steps a period add to the error, `least` being those of the default step.

    The scalar scheme keeps p alone (cuda/physics/scalar.h). Rounding by eps / 4, the mean, is a change
    eps / (4 dt) of its rate, which becomes eps / (4 omega dt) of p; in N wavelengths, if all have one sign,
    N steps^2 eps / (8 pi). One sum is rounded like p. With x = 2 pi / steps, T = c^2 dt^2 times the weight of
    the centre in the Laplacian: weights of pairs, times the 2 p that these are near, are 1.5 T together; sums
    from the centre behind first pairs to the last pair T / 4 (tests/fd/test_fd_rounding.py); p - p_old and
    the sum with it x each; and 3 (M + 1) sums contain the difference that first pairs make, at most 2 x^2,
    since W_a1 is less than 2 c^2 dt^2 / h_a^2.
    """
    line = curves.step_line(steps)
    if pace.name != "FD scalar":
        return line
    half = pace.degree // 2
    centre = 6.0 * float(np.sum(1.0 / np.arange(1, half + 1) ** 2))  # of h^2 laplace, csrc/fd/stencil.c
    part, x = centre * (_CFL * pace.courant * least / steps) ** 2, 2 * math.pi / steps
    num = 1.0 + 1.75 * part + 2 * x + 6 * (half + 1) * x**2
    return line + curves.Line(0.0, num * steps**2 * float(np.finfo(pace.dtype).eps) / (8 * math.pi))


def _proposal(name: str, best: _Way, pace: Pace, need: _Need) -> Proposal:
    """Return what a resolution takes."""
    family, kind = name.split()
    spacing = need.wavelength / best.nodes
    cell = spacing if family == "FD" else waves.brick_of(kind, pace.degree, spacing)
    dt = 1.0 / (need.fmax * best.steps)
    steps = math.ceil(need.duration / dt)
    counts = [max(1, math.ceil(side / cell)) for side in need.box]
    found = pace_of(pace)
    if family == "FD":
        shape = [count + 1 for count in counts]
        num = math.prod(shape)
        computed = math.prod(count + 2 * found.layer for count in shape)
        host, on_device = found.grid_memory(shape, need.uniform)
    else:
        num = computed = math.prod(counts) * round(waves.brick_of(kind, pace.degree, 1.0) ** 3)
        host, on_device = found.mesh_memory(math.prod(counts))
    check = curves.WAVES[pace.medium.physics], best.steps, need.way, pace.device, pace.dtype
    return Proposal(
        family, kind, pace.degree, best.nodes, spacing, cell, num, dt, steps,
        best.error + _ROUNDING[pace.dtype], host, on_device, found.step(computed) * steps, check,
    )  # fmt: skip
