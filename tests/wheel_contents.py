"""What a wheel must hold and be called; ``python tests/wheel_contents.py WHEEL`` checks one.

Shared by test_packaging.py and .ci/run. Not here: building wheels (setup.py).
"""

from __future__ import annotations

import re
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILT = {"libunda.so", "_cffi.py"}


def expected_files(root: Path) -> set[str]:
    """Return the files of the installed package: modules, library, header and kernels."""
    package = root / "python" / "unda"
    modules = {p.relative_to(package).as_posix() for p in package.rglob("*.py")}
    modules |= {"py.typed", "commands/cavity.npz", "study/error_curves.json"}
    samples = (p for kind in ("json", "msh", "sgy") for p in (package / "datasets").glob(f"*.{kind}"))
    modules |= {p.relative_to(package).as_posix() for p in samples}
    kernels = {p.relative_to(root).as_posix() for p in (root / "cuda").rglob("*") if p.is_file()}
    return {f"unda/{name}" for name in modules | kernels | BUILT | {"unda.h"}}


def problems(wheel: Path, root: Path = ROOT) -> list[str]:
    """Say what is wrong with a wheel's name and contents, compared with a checkout."""
    found = []
    if not re.fullmatch(r"unda_waves-[\w.]+-py3-none-(linux|manylinux)\w+\.whl", wheel.name):
        found.append(f"the wheel is {wheel.name}, expected unda_waves-VERSION-py3-none-linux_MACHINE.whl")
    names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    names = {name for name in names if not name.endswith("/")}
    expected = expected_files(root)
    # auditwheel puts the run time of OpenMP beside the package, under a name that nothing else has.
    bundled = {name for name in names if re.fullmatch(r"unda_waves\.libs/libgomp-\w+\.so\.1[.0-9]*", name)}
    if "manylinux" in wheel.name:
        names -= bundled
        if len(bundled) != 1:
            found.append(f"the wheel has {len(bundled)} files unda_waves.libs/libgomp-*.so.1, expected one")
    found += [f"the wheel lacks {name}" for name in sorted(expected - names)]
    found += [f"the wheel holds {name}, which has no place in it" for name in sorted(names - expected)]
    return found


if __name__ == "__main__":
    sys.exit("\n".join(problems(Path(sys.argv[1]))) or None)
