"""The functions of a kernel under the roof of their device: table and picture.

Flops are those that the method needs, bytes compulsory: each input of a function once, each output once.
The roof is the lower of the device's multiply-add rate and its copy bandwidth times the flops a byte, both
measured in the same run. Not here: who measures (bench_dg_gaps.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..method.speed import RESOURCES
from .measuring import grouped


def placed(
    profile: Mapping[str, Mapping[str, float]], limits: Mapping[str, float], dtype: str
) -> dict[str, dict[str, float]]:
    """Place each function under the roof.

    Parameters
    ----------
    profile : dict
        What `DG.profile` returned: of each function ``seconds``, ``launches`` a step, ``flops``, ``bytes``;
        what has no flops is left out.
    limits : dict
        Of `device_limits`.
    dtype : {"float32", "float64"}

    Returns
    -------
    dict of str to dict
        Of each function ``ms`` (a step), ``flops`` and ``bytes`` of a launch, ``flops_per_byte``,
        ``gflops``, ``gbytes_per_second``, ``roofline_gflops``, ``percent_of_roofline``, and what `profile`
        says that it has of the device.

    Examples
    --------
    >>> limits = {"copy": 4e12, "fma32": 60e12}
    >>> work = {"seconds": 1e-3, "launches": 5, "flops": 1e9, "bytes": 2e9}
    >>> placed({"dg_lines": work}, limits, "float32")["dg_lines"]["percent_of_roofline"]
    50.0
    """
    found = {}
    for name, one in profile.items():
        if not one.get("flops"):
            continue
        intensity = one["flops"] / one["bytes"]
        roof = min(limits[f"fma{dtype[-2:]}"], intensity * limits["copy"])
        found[name] = {
            "ms": 1e3 * one["seconds"] * one["launches"],
            "flops": one["flops"],
            "bytes": one["bytes"],
            "flops_per_byte": intensity,
            "gflops": one["flops"] / one["seconds"] / 1e9,
            "gbytes_per_second": one["bytes"] / one["seconds"] / 1e9,
            "roofline_gflops": roof / 1e9,
            "percent_of_roofline": 100 * one["flops"] / one["seconds"] / roof,
            **{word: one[word] for word in RESOURCES if word in one},
        }
    return found


def by_function(rows: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each of the ``functions`` of rows."""
    return [
        {**row, "function": name.removeprefix("dg_"), "function_name": name, **part}
        for row in rows
        for name, part in row["functions"].items()
    ]


def draw(ax: Any, rows: Iterable[dict[str, Any]], limits: Mapping[str, float]) -> None:
    """Draw the functions of rows, and the roofs of both precisions."""
    import matplotlib

    table = by_function(rows)
    places = [row["flops_per_byte"] for row in table]
    for dtype, line in (("float32", "k-"), ("float64", "k:")):
        most = limits[f"fma{dtype[-2:]}"]
        ridge = most / limits["copy"]
        x = [0.5 * min([ridge, *places]), ridge, 2 * max([ridge, *places])]
        ax.loglog(x, [min(most, one * limits["copy"]) / 1e9 for one in x], line)
    colors: dict[str, Any] = {}
    ax.set_prop_cycle(color=[matplotlib.colormaps["tab20"](i) for i in range(20)])
    kinds = grouped(table, lambda row: (f"{row['kernel']} {row['function']}", row["dtype"]))
    for (name, dtype), of in kinds.items():
        drawn = ax.plot(of["flops_per_byte"], of["gflops"], "o" if dtype == "float32" else "x", ms=4,
                        color=colors.get(name), label=None if name in colors else name)  # fmt: skip
        colors[name] = drawn[0].get_color()
    ax.set(xlabel="flops over compulsory bytes (o float32, x float64)", ylabel="GFLOP/s")
    ax.legend(fontsize=5)
