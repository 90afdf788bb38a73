"""Run tests/c/gpu_host.c, one scenario a process, on the stand-in driver or chosen libraries.

Not here: checks (test_gpu_loading.py, test_jit_cache.py). Next: c/gpu_host.c, c/talk.c.
"""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import stand_in_driver

TESTS = Path(__file__).resolve().parent
BUILD = TESTS.parent / "build" / "stand-in"


@dataclass
class Result:
    """What a scenario printed: its text, and its ``key=value`` lines (the last of each key)."""

    text: str
    values: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        pairs = [line.split("=", 1) for line in self.text.splitlines() if "=" in line]
        self.values = {pair[0]: pair[1] for pair in pairs}

    def __getitem__(self, key: str) -> str:
        return self.values[key]

    @property
    def compiled(self) -> bool:
        """Whether a kernel was compiled rather than taken from the cache."""
        return "log10=compiled" in self.text


def run(
    *arguments: str,
    kernels: Path = TESTS / "c" / "kernels",
    cache: Path | str | None = None,
    flags: tuple[str, ...] = (),
    **environment: str,
) -> Result:
    """Run one scenario; keyword arguments are further environment variables ("" removes one)."""
    program = stand_in_driver.host_program(BUILD, *flags)
    kept = {key: value for key, value in os.environ.items() if not key.startswith("UNDA_")}
    chosen = stand_in_driver.build(BUILD, *flags) | {"UNDA_KERNEL_DIR": str(kernels)}
    chosen |= {"UNDA_CACHE_DIR": str(cache)} if cache else {}
    chosen = {key: value for key, value in (kept | chosen | environment).items() if value}
    done = subprocess.run(
        [program, *arguments], env=chosen, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "", "the library never prints"
    return Result(done.stdout)
