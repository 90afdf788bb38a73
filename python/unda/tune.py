"""Choose kernel and tile by measuring them once on the user's device; the winner is remembered.

From the table's tile, one part after the other is changed while that is faster. Not here: the table
(csrc/dg/dg_kernels.c), the kernels (cuda/).
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from . import _core, _cuda
from ._core import lib
from .errors import DeviceLostError, Error
from .limits import device_info
from .simulation import PLAN

__all__ = ["tuned"]

Choice = tuple[str, dict[str, int] | None]

# Other values to try of each part of a tile.
_OTHERS = {
    "rows": lambda n: (n - 1, n + 1),
    "cols": lambda n: (n // 2, 2 * n),
    "tile": lambda n: (n // 2, 2 * n),
    "blocks": lambda n: (n - 1, n + 1, 2 * n),
}
_RUNS = 10  # launches of each candidate


def tuned(method: Any, mesh: Any, medium: Any, device: str, keywords: Mapping[str, Any]) -> Choice:
    """Return (kernel, kernel_options) for a method's other keywords on a device."""
    if device == "cpu":
        _core.logger.info("tune=True: there is nothing to choose on the CPU")
        return "auto", None
    key = _key(mesh, medium, device, keywords)
    known = _remembered().get(key)
    if known is not None:
        return known["kernel"], known["kernel_options"]

    def seconds(choice: Choice) -> tuple[float, dict[str, int]]:
        kernel, options = choice
        try:
            with method(
                mesh, medium, device=device, kernel=kernel, kernel_options=options, **keywords
            ) as sim:
                return sim._kernel_seconds(_RUNS)["stage"]["seconds"], sim.config["kernel_options"]
        except DeviceLostError:
            raise
        except Error as error:  # does not fit the device
            _core.logger.debug("tune: %s: %s", choice, error)
            return math.inf, {}

    first, plan = seconds(("fused", None))
    best, tried = first, {tuple(plan.values())}
    found = True
    while found:
        found = False
        for other in _changed(plan):
            if tuple(other.values()) in tried:
                continue
            tried.add(tuple(other.values()))
            time, _ = seconds(("fused", other))
            if time < 0.99 * best:
                best, plan, found = time, other, True
                break
    node, _ = seconds(("node", None))
    kernel, options = ("node", None) if node < best else ("fused", plan)
    best = min(best, node)
    print(
        f"unda: tuned on {key}: kernel {kernel} {options or ''}, {best * 1e6:.3g} us a stage, "
        f"{first / best:.2f} times the table's; {len(tried) + 1} candidates"
    )
    _remember(key, {"kernel": kernel, "kernel_options": options, "seconds": best})
    return kernel, options


def _changed(plan: Mapping[str, int]) -> Iterator[dict[str, int]]:
    for name, others in _OTHERS.items():
        for value in others(plan[name]):
            if value >= 1:
                yield {part: value if part == name else plan[part] for part in PLAN}


def _key(mesh: Any, medium: Any, device: str, keywords: Mapping[str, Any]) -> str:
    """Name what the best choice depends on; the size of the mesh within a factor of four."""
    info = device_info(device)
    size = 4 ** round(math.log(mesh.num_elem, 4))
    return ", ".join([
        info["device_name"], f"NVRTC {info['nvrtc']}", medium.physics, f"degree {keywords['degree']}",
        str(keywords["dtype"]), keywords["flux"], keywords["integrator"], f"about {size} cells",
        _core.text(lib.unda_source_hash())[:12],
    ])  # fmt: skip


def _file() -> Path | None:
    folder = _cuda.cache_dir()
    return Path(folder) / "tuned.json" if folder else None


def _remembered() -> dict[str, Any]:
    file = _file()
    try:
        found = json.loads(file.read_text()) if file else {}
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _remember(key: str, choice: dict[str, Any]) -> None:
    file = _file()
    if file is None:
        return
    partial = file.with_name(f"tuned.{os.getpid()}.tmp")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps({**_remembered(), key: choice}, indent=1))
        partial.replace(file)
    except OSError as error:
        _core.logger.warning("%s cannot be written: %s", file, error)
