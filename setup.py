"""Build steps that pyproject.toml cannot say: compile libunda.so, fill the wheel and name it.

How the library is compiled stands in the Makefile and nowhere else. Metadata: pyproject.toml.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py

ROOT = Path(__file__).resolve().parent


class NativeDistribution(Distribution):
    """Say that there is compiled code, or setuptools skips build_ext and ships no library."""

    def has_ext_modules(self) -> bool:
        return True


class BuildPython(build_py):
    """Copy the modules into a fresh folder: modules deleted since the last build must not ship."""

    def run(self) -> None:
        if not self.editable_mode:
            shutil.rmtree(Path(self.build_lib) / "unda", ignore_errors=True)
        super().run()


class BuildLibrary(build_ext):
    """Run ``make lib``; unless the install is editable, copy its products beside the modules."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.extensions = []

    def run(self) -> None:
        # A make that runs pip must not lend its job server to this one.
        kept = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
        subprocess.run(["make", "lib", f"PY={sys.executable}"], cwd=ROOT, env=kept, check=True)
        if not (self.inplace or self.editable_mode):
            for source, target in self._products():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, target)

    def get_source_files(self) -> list[str]:
        return []  # MANIFEST.in lists them

    def get_outputs(self) -> list[str]:
        return [str(target) for _, target in self._products()]

    def get_output_mapping(self) -> dict[str, str]:
        return {}  # nothing to link: an editable install finds all of it in the checkout

    def _products(self) -> list[tuple[Path, Path]]:
        package = Path(self.build_lib) / "unda"
        built = [ROOT / "python" / "unda" / name for name in ("libunda.so", "_cffi.py")]
        header = ROOT / "csrc" / "unda.h"
        kernels = [path for path in sorted((ROOT / "cuda").rglob("*")) if path.is_file()]
        pairs = [(path, package / path.name) for path in [*built, header]]
        return pairs + [(path, package / path.relative_to(ROOT)) for path in kernels]


class PlatformWheel(bdist_wheel):
    """Name the wheel py3-none-<platform>: the library is loaded by CFFI and knows no Python."""

    def get_tag(self) -> tuple[str, str, str]:
        return "py3", "none", super().get_tag()[2]


setup(
    distclass=NativeDistribution,
    cmdclass={"build_py": BuildPython, "build_ext": BuildLibrary, "bdist_wheel": PlatformWheel},
)
