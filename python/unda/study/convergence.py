"""Orders of convergence: a problem run for degrees and meshes, as a table and a picture.

Not here: many runs side by side (sweep.py), the picture (io/study_plot.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from .._check import integer, number
from ..errors import ArgumentError
from ..exact import ExactSolution
from ..method._run_control import Cases
from ..method.dg import DG
from ..method.fd import FD
from ..problem.grid import Grid
from ..problem.mesh import Mesh

Row = dict[str, Any]


def convergence(
    problem: ExactSolution | Callable[..., Any],
    degrees: int | Iterable[int],
    meshes: Iterable[Any],
    *,
    until: float | None = None,
    method: Any = None,
    progress: bool | None = None,
    **keywords: Any,
) -> Convergence:
    """Run a problem on finer and finer meshes, and say how fast its errors fall.

    Parameters
    ----------
    problem : exact solution or callable
        An exact solution is set, run and compared with. Another problem is ``problem(degree, mesh)``, which
        returns an error or a dict of errors by name.
    degrees : int or iterable of int
        Degrees; of `FD` orders.
    meshes : iterable of Mesh, Grid, or anything that `problem` takes
        At least two, of different sizes. The size h is (V / K)^(1/3) of K cells, the spacing of a grid, and
        1 / n of a number n.
    until : float
        Of exact solutions: the time at which errors are taken [s].
    method : {unda.DG, unda.SEM, unda.FD}, optional
        Of exact solutions; by default `FD` on grids, else `DG`.
    progress : bool, optional
        Show a bar; by default on a terminal and in notebooks.
    **keywords
        Of exact solutions: for `method`. By default ``dtype="float64"``, and `DG` has the solution at all
        sides that are not periodic.

    Returns
    -------
    Convergence
        Rows, orders, `table()`, `plot()`; prints as the table.

    Raises
    ------
    ArgumentError
        Fewer than two sizes, an error that is no positive number, keywords that nobody takes.

    Notes
    -----
    The order of a pair of meshes is log(e1 / e2) / log(h1 / h2), that of a degree the least-squares slope of
    log e over log h. Errors of exact solutions are relative L2 norms of each field, in double precision. DG
    and SEM of degree N give N + 1 in smooth problems, but N in fields of SEM that are derivatives: stresses,
    and in fluids velocities. With leapfrog, of SEM and FD, the step too must fall, and so it does with h:
    their order is 2 unless ``cfl`` is small.

    See Also
    --------
    sweep : runs of any function, on several devices or machines.

    Examples
    --------
    >>> import unda
    >>> wave = unda.exact.plane_wave(unda.Acoustic(rho=1.0, c=1.0), k=(6.2832, 0, 0))
    >>> meshes = [unda.box_mesh((0, 0, 0), (1, 1, 1), (n, n, n)) for n in (2, 4)]
    >>> found = unda.convergence(wave, [2, 3], meshes, until=0.1, device="cpu")
    >>> found.orders("p")[3] > 3
    True
    """
    sizes = [(size_of(mesh), mesh) for mesh in meshes]
    if len({size for size, _ in sizes}) < 2:
        raise ArgumentError(
            f"meshes have the sizes {[h for h, _ in sizes]}, expected two or more different ones"
        )
    sizes.sort(key=lambda pair: -pair[0])
    given = [degrees] if isinstance(degrees, (int, np.integer)) else degrees
    orders = [integer("degree", degree, 1) for degree in given]
    if not orders:
        raise ArgumentError("degrees is empty, expected one or more")
    run = _runner(problem, until, method, keywords)
    rows: list[Row] = []
    with Cases(len(orders) * len(sizes), progress) as shown:
        for degree in orders:
            for h, mesh in sizes:
                rows.append({"degree": degree, "h": h, "errors": _errors(run(degree, mesh), degree, h)})
                shown.update(1)
    in_metres = all(isinstance(mesh, (Mesh, Grid)) for _, mesh in sizes)
    return Convergence(rows, size="h [m]" if in_metres else "h = 1/n")


def size_of(mesh: Any) -> float:
    """Return the size h [m] of a mesh's cells, of a grid's spacing; 1 / n of a number."""
    if isinstance(mesh, Mesh):
        return float((mesh.volume / mesh.num_elem) ** (1 / 3))
    if isinstance(mesh, Grid):
        own = [h for h, n in zip(mesh.spacing, mesh.shape, strict=True) if n > 1]
        return float(np.prod(own) ** (1 / len(own))) if own else mesh.spacing[0]
    return 1.0 / number("mesh", mesh, positive=True)


def _runner(
    problem: Any, until: float | None, method: Any, keywords: Mapping[str, Any]
) -> Callable[[int, Any], Any]:
    """Return the function of degree and mesh that gives errors."""
    if not isinstance(problem, ExactSolution):
        if not callable(problem):
            raise ArgumentError(f"problem is {problem!r}, expected an exact solution or a function")
        idle = [*keywords, *(["until"] if until is not None else []), *(["method"] if method else [])]
        if idle:
            raise ArgumentError(
                f"{', '.join(idle)}: expected with exact solutions only, a function has its own"
            )
        return lambda degree, mesh: problem(degree, mesh)
    if until is None:
        raise ArgumentError("until is None, expected the time [s] at which errors are taken")
    end = number("until", until, "s", positive=True)

    def run(degree: int, mesh: Any) -> dict[str, float]:
        chosen = method or (FD if isinstance(mesh, Grid) else DG)
        options: dict[str, Any] = {"dtype": "float64", ("order" if chosen is FD else "degree"): degree}
        if chosen is DG and mesh.boundary_names:
            options["boundary"] = {"*": problem}
        with chosen(mesh, problem.medium, **options | dict(keywords)) as sim:
            sim.set(problem)
            sim.run(until=end, progress=False)
            errors: dict[str, float] = sim.error(problem, relative=True)
        return {name: one for name, one in errors.items() if np.isfinite(one)}

    return run


def _errors(found: Any, degree: int, h: float) -> dict[str, float]:
    named = found if isinstance(found, Mapping) else {"error": found}
    errors = {}
    for name, one in named.items():
        errors[str(name)] = number(f"{name} of degree {degree}, h = {h:.3g}", one)
        if errors[str(name)] < 0:
            raise ArgumentError(f"{name} of degree {degree}, h = {h:.3g} is {one!r}, expected an error >= 0")
    return errors


def slope(sizes: Iterable[float], errors: Iterable[float]) -> float:
    """Return the least-squares slope of log error over log size; NaN where errors are 0."""
    h, e = np.array(list(sizes)), np.array(list(errors))
    seen = e > 0
    if len(set(h[seen])) < 2:
        return float("nan")
    return float(np.polyfit(np.log(h[seen]), np.log(e[seen]), 1)[0])


class Convergence:
    """Errors by degree and mesh size; what `convergence` returns.

    Attributes
    ----------
    rows : list of dict
        "degree", "h" ([m], or 1/n of numbers) and "errors" of each run, by field; coarse meshes first.
    size : str
        What h is, for the picture.
    fields : tuple of str
        Names of the errors, the largest first.

    Examples
    --------
    >>> import unda
    >>> found = unda.convergence(lambda degree, n: n ** -(degree + 1.0), [1, 2], [4, 8])
    >>> found.orders()
    {1: 2.0, 2: 3.0}
    >>> print(found)
    degree      h    error  order
         1   0.25   0.0625
         1  0.125   0.0156   2.00
         1                   2.00  least squares
         2   0.25   0.0156
         2  0.125  0.00195   3.00
         2                   3.00  least squares
    """

    def __init__(self, rows: list[Row], size: str = "h [m]") -> None:
        self.rows, self.size = rows, size
        names = dict.fromkeys(name for row in rows for name in row["errors"])
        largest = {name: max(row["errors"].get(name, 0.0) for row in rows) for name in names}
        # Fields that are 0 in the solution have an error, but no order: rounding.
        self.fields = tuple(sorted(names, key=lambda name: -largest[name]))

    def _field(self, field: str | None) -> str:
        if field is None:
            return self.fields[0]
        if field not in self.fields:
            raise ArgumentError(f"field is {field!r}, expected one of {list(self.fields)}")
        return field

    def curve(self, degree: int, field: str | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return sizes ([m], or 1/n of numbers) and errors of a degree, coarse meshes first.

        Parameters
        ----------
        degree : int
        field : str, optional
            One of `fields`; the one with the largest error if omitted.

        Returns
        -------
        h, error : arrays, shape (num_mesh,)

        Raises
        ------
        ArgumentError
            If there is no such field or degree.
        """
        name = self._field(field)
        own = [row for row in self.rows if row["degree"] == degree and name in row["errors"]]
        if not own:
            raise ArgumentError(f"degree is {degree!r}, expected one of {self.degrees}")
        return np.array([row["h"] for row in own]), np.array([row["errors"][name] for row in own])

    @property
    def degrees(self) -> list[int]:
        """The degrees, as given."""
        return list(dict.fromkeys(row["degree"] for row in self.rows))

    def orders(self, field: str | None = None) -> dict[int, float]:
        """Return the least-squares order of each degree.

        Parameters
        ----------
        field : str, optional
            One of `fields`; the one with the largest error if omitted.

        Returns
        -------
        dict of int to float
        """
        return {degree: round(slope(*self.curve(degree, field)), 12) for degree in self.degrees}

    def table(self, field: str | None = None) -> str:
        """Return sizes, errors and orders as text.

        Parameters
        ----------
        field : str, optional
            One of `fields`; the one with the largest error if omitted.

        Returns
        -------
        str
        """
        name = self._field(field)
        lines = [("degree", "h", name, "order", "")]
        for degree in self.degrees:
            h, e = self.curve(degree, field)
            for i, (size, error) in enumerate(zip(h, e, strict=True)):
                order = slope(h[i - 1 : i + 1], e[i - 1 : i + 1]) if i else None
                lines.append(
                    (str(degree), f"{size:.3g}", f"{error:.3g}", "" if order is None else f"{order:.2f}", "")
                )
            lines.append((str(degree), "", "", f"{slope(h, e):.2f}", "least squares"))
        wide = [max(len(line[i]) for line in lines) for i in range(4)]
        return "\n".join(
            "  ".join([*(word.rjust(n) for word, n in zip(line[:4], wide, strict=True)), line[4]]).rstrip()
            for line in lines
        )

    def plot(self, field: str | None = None, ax: Any = None, **matplotlib: Any) -> Any:
        """Draw errors over sizes with logarithmic axes, a curve for each degree with its order.

        Parameters
        ----------
        field : str, optional
            One of `fields`; the one with the largest error if omitted.
        ax : matplotlib.axes.Axes, optional
            Where; a new figure by default.
        **matplotlib
            For ``ax.loglog``.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        ImportError
            Without matplotlib: ``pip install 'unda-waves[plot]'``.
        """
        from ..io.study_plot import plot_convergence

        return plot_convergence(self, self._field(field), ax, matplotlib)

    def __repr__(self) -> str:
        return self.table()
