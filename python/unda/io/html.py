"""What notebooks show of an object: a small table, and a thumbnail where there is something to see.

A thumbnail is left out without matplotlib, and where the object is large, closed or busy. Not here: pictures
(plotting.py, trace_plots.py).
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Mapping
from html import escape
from io import BytesIO
from numbers import Real
from typing import Any

import numpy as np

from ..errors import Error
from ..problem._gridded import Gridded
from ..problem._values import ByNode, ByPlace, ByTag
from .plotting import chosen_plane, colour_top
from .trace_plots import places

_MOST_NODES = 20_000_000  # of a grid, for a thumbnail of its field
_MOST_CELLS = 30_000  # of a mesh
_PIXELS = 160  # an axis of a thumbnail of a mesh's field
_MOST_CASES = 20  # in a table

Row = tuple[str, object]


def _page(title: str, rows: Iterable[Row], draw: Callable[[Any], None] | None, **options: Any) -> str:
    """Return a table with a heading, and a picture beside it."""
    cells = "".join(
        f"<tr><th style='text-align:left'>{escape(name)}</th>"
        f"<td style='text-align:left'>{escape(str(value))}</td></tr>"
        for name, value in rows
    )
    table = f"<table><caption style='text-align:left'><b>{escape(title)}</b></caption>{cells}</table>"
    picture = "" if draw is None else _thumbnail(draw, **options)
    return f"<div style='display:flex;gap:1em;align-items:center'>{table}{picture}</div>"


def _thumbnail(draw: Callable[[Any], None], *, projection: str | None = None) -> str:
    """Return a picture as HTML, "" where it cannot be drawn."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        return ""
    figure = Figure(figsize=(2.6, 2.0), dpi=80, layout="constrained")
    FigureCanvasAgg(figure)
    ax = figure.add_subplot(projection=projection)
    try:
        draw(ax)
    except Error:  # closed meanwhile, busy in another thread
        return ""
    ax.tick_params(labelsize=6)
    file = BytesIO()
    figure.savefig(file, format="png")
    data = base64.b64encode(file.getvalue()).decode()
    return f"<img alt='thumbnail' src='data:image/png;base64,{data}'/>"


# ---- simulations


def simulation(sim: Any) -> str:
    """Return the state of a simulation, with a slice of its first field over the medium."""
    text = repr(sim)
    if not hasattr(sim, "config") or not sim._solver.is_open or text.startswith(f"{type(sim).__name__}(of "):
        return f"<pre>{escape(text)}</pre>"
    count, what = sim._size()
    memory = {where: n for where, n in sim.memory.items() if n}
    rows: list[Row] = [
        ("problem", f"{sim.medium.physics}, {sim._about()}"),
        ("medium", repr(sim.medium)),
        ("unknowns" if what == "DOF" else "nodes", f"{count:,}"),
        ("engine", f"{sim.dtype.name}, {sim._engine()}"),
        ("memory", ", ".join(f"{n / 1e6:.1f} MB on the {where}" for where, n in memory.items())),
        ("time", f"{sim.t:.6g} s, {sim.step_count} steps of {sim.dt:.4g} s"),
        ("sources", sum(one._whole is None for one, _ in sim._solver.sources) + len(sim._solver.waves)),
        ("receivers", ", ".join(f"{rec.name or ''} {len(rec)}".strip() for rec in sim.receivers) or 0),
    ]
    small = what == "DOF" or count <= _MOST_NODES
    draw = _slice_of(sim) if sim.ranks is None and small else None
    return _page(f"unda.{type(sim).__name__}", rows, draw)


def _slice_of(sim: Any) -> Callable[[Any], None]:
    """Return what draws the first field on the plane in the middle, across y where there are three axes."""
    where = sim.grid if hasattr(sim, "grid") else sim.mesh
    flat = [i for i, n in enumerate(sim.grid.shape) if n == 1] if hasattr(sim, "grid") else []
    axis = "xyz"[flat[0]] if flat else "y"
    i = "xyz".index(axis)
    field = sim.medium.fields[0]
    parameter = sim.medium._fastest or next(iter(sim.medium.parameters))

    def draw(ax: Any) -> None:
        plane = chosen_plane(sim, field, {axis: 0.5 * (where.lower[i] + where.upper[i])}, _PIXELS)
        values, under = plane.read(), plane.material(parameter)
        top = colour_top([values])
        options = {"origin": "lower", "extent": plane.extent}
        ax.imshow(under, cmap="gray", alpha=0.5, **options)
        seen = np.abs(np.nan_to_num(values)) / top
        ax.imshow(values, cmap="RdBu_r", vmin=-top, vmax=top, alpha=np.clip(1.6 * seen, 0, 1), **options)
        ax.set_title(f"{field}, {axis} = {plane.place:g} m", fontsize=7)

    return draw


# ---- meshes, media


def mesh(given: Any) -> str:
    """Return size, quality and names of a mesh, with its outer faces in the colours of their materials."""
    box = " × ".join(f"[{low:g}, {high:g}]" for low, high in zip(given.lower, given.upper, strict=True))
    rows: list[Row] = [
        ("cells", f"{given.num_elem:,} {given._kind}{', curved' if given.curved is not None else ''}"),
        ("vertices", f"{given.num_vertex:,}"),
        ("box", f"{box} m"),
        ("volume", f"{given.volume:.6g} m³"),
        ("least quality", f"{given.min_quality:.3g}, cell {given.worst_elem}"),
        ("smallest insphere", f"{given.min_insphere:.4g} m"),
        ("materials", ", ".join(given.tag_names) or "-"),
        ("boundaries", ", ".join(given.boundary_names)),
        ("periodic", ", ".join(f"{one} = {other}" for one, other in given.periodic) or "-"),
    ]
    draw = _outside(given) if given.num_elem <= _MOST_CELLS else None
    return _page("unda.Mesh", rows, draw, projection="3d")


def _outside(given: Any) -> Callable[[Any], None]:
    def draw(ax: Any) -> None:
        from matplotlib import colormaps
        from mpl_toolkits.mplot3d.art3d import Poly3DCollection

        from .partition_picture import faces_of

        faces, cell = faces_of(given)
        kinds = np.unique(given.tags, return_inverse=True)[1].ravel()
        table = colormaps["tab10"]
        shown = Poly3DCollection(
            given.vertices[faces], facecolors=table(kinds[cell] % table.N), edgecolors=(0, 0, 0, 0.4),
            linewidths=0.2, shade=False,
        )  # fmt: skip
        ax.add_collection3d(shown)
        ax.set(**{f"{axis}lim": (given.lower[i], given.upper[i]) for i, axis in enumerate("xyz")})
        ax.set_box_aspect(np.subtract(given.upper, given.lower))

    return draw


def medium(given: Any) -> str:
    """Return the parameters of a medium, with a section through an array or a bar a material."""
    rows: list[Row] = [("equations", given.physics)]
    for name, unit in given.parameters.items():
        value = given._values[name]
        rows.append((name, f"{value!r} {unit}".strip()))
    if given.per == "node":
        rows.append(("per", "node"))
    fastest = sorted(given._values, key=lambda name: name != given._fastest)  # the fastest speed first
    draws = (_section(name, given.parameters[name], given._values[name]) for name in fastest)
    return _page(f"unda.{type(given).__name__}", rows, next((one for one in draws if one is not None), None))


def _section(name: str, unit: str, value: Any) -> Callable[[Any], None] | None:
    """Return what draws the values of a parameter, None where they are the same or a function."""
    gridded = value.function if isinstance(value, ByPlace) else None
    if isinstance(value, ByTag):
        return lambda ax: _bars(ax, f"{name} [{unit}]", value.table)
    if isinstance(value, ByNode):
        array, factor = value.values, value.factor
    elif isinstance(gridded, Gridded) and len(gridded.shape) == 3:
        array, factor = gridded._values.reshape(gridded.shape), value.factor
    else:
        return None
    cut = array[array.shape[0] // 2] if array.shape[2] == 1 else array[:, array.shape[1] // 2]

    def draw(ax: Any) -> None:
        thin = tuple(slice(None, None, -(-n // 400)) for n in cut.shape)
        image = ax.imshow(factor * np.asarray(cut[thin]).T, origin="lower", cmap="viridis", aspect="auto")
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"{name} [{unit}]", fontsize=7)
        ax.figure.colorbar(image, ax=ax).ax.tick_params(labelsize=6)

    return draw


def _bars(ax: Any, title: str, table: Mapping[str, float]) -> None:
    ax.barh(list(table), list(table.values()), color="tab:blue")
    ax.set_title(title, fontsize=7)


# ---- traces, results


def receivers(rec: Any) -> str:
    """Return what receivers have recorded, with all traces of the first field."""
    dt = rec.every * rec._dt
    along = places(rec.points, rec.fibre)[1]
    where = "" if along == "receiver" else f", along {along}"
    rows: list[Row] = [
        ("points", f"{len(rec)}{where}" if len(rec) > 1 else rec.points.tolist()),
        ("fields", ", ".join(f"{name} [{rec.units[name]}]" for name in rec.fields)),
        ("samples", f"{rec.num_sample}, {dt:.4g} s apart"),
    ]
    if rec.name:
        rows.insert(0, ("name", rec.name))

    def draw(ax: Any) -> None:
        name, thin = rec.fields[0], -(-rec.num_sample // 1000)
        traces = rec[name][:: -(-len(rec) // 400), ::thin]
        if len(rec) == 1:
            ax.plot(rec.times(name)[::thin], traces[0], linewidth=0.7)
        else:
            top = colour_top([traces])
            ax.imshow(traces.T, cmap="RdBu_r", vmin=-top, vmax=top, aspect="auto",
                      extent=(0, len(rec), rec.t[-1], rec.t[0]))  # fmt: skip
            ax.set_ylabel("t [s]", fontsize=7)
        ax.set_title(f"{name} [{rec.units[name]}]", fontsize=7)

    return _page("unda.Receivers", rows, draw if rec.num_sample > 1 and len(rec) else None)


def results(given: Any) -> str:
    """Return the cases of a sweep with their values, and one value over one keyword."""
    keys = list(dict.fromkeys(key for one in given for key in one.case))
    values = [one.value if isinstance(one.value, Mapping) else {"value": one.value} for one in given]
    names = list(dict.fromkeys(
        key for one, value in zip(given, values, strict=True) if one.error is None for key in value
    ))  # fmt: skip
    head = "".join(f"<th>{escape(str(name))}</th>" for name in (*keys, *names, ""))
    lines = []
    for one, value in list(zip(given, values, strict=True))[:_MOST_CASES]:
        failed = one.error is not None
        row = [_short(one.case.get(key, "")) for key in keys]
        row += ["" if failed else _short(value.get(name, "")) for name in names]
        row.append(one.message or "")
        lines.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>")
    rest = len(given) - len(lines)
    more = f"<tr><td colspan='{len(keys) + len(names) + 1}'>and {rest} more</td></tr>" if rest else ""
    title = f"{len(given)} cases, {len(given.failures)} failed"
    table = (
        f"<table><caption style='text-align:left'><b>{title}</b></caption><tr>{head}</tr>"
        f"{''.join(lines)}{more}</table>"
    )
    pairs = _pairs(given, values, keys, names)
    picture = "" if pairs is None else _thumbnail(lambda ax: _scatter(ax, *pairs))
    return f"<div style='display:flex;gap:1em;align-items:center'>{table}{picture}</div>"


def _short(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)[:60]


def _pairs(given: Any, values: Any, keys: list[str], names: list[str]) -> Any:
    """Return the first keyword that is a number and varies, and the first value that is one, with both."""
    done = [i for i, one in enumerate(given) if one.error is None]

    def numbers(found: list[Any]) -> np.ndarray | None:
        good = all(isinstance(one, Real) and not isinstance(one, bool) for one in found)
        return np.array(found, float) if good and len(set(found)) > 1 else None

    of_keys = ((key, numbers([given[i].case.get(key) for i in done])) for key in keys)
    of_values = ((name, numbers([values[i].get(name) for i in done])) for name in names)
    x = next((one for one in of_keys if one[1] is not None), None)
    y = next((one for one in of_values if one[1] is not None), None)
    return None if x is None or y is None else (*x, *y)


def _scatter(ax: Any, name: str, x: np.ndarray, value: str, y: np.ndarray) -> None:
    ax.plot(x, y, "o", markersize=3)
    for scale, one in ((ax.set_xscale, x), (ax.set_yscale, y)):
        if one.min() > 0 and one.max() > 10 * one.min():
            scale("log")
    ax.set_xlabel(name, fontsize=7)
    ax.set_title(value, fontsize=7)
