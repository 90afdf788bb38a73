"""Run every example in full in an empty folder and store what it draws, small, in docs/pictures.

A picture's metadata say from what code it was made: tests/project/test_gallery.py sees when it is out of
date; those that are not are left alone. `two_gpus.py` runs on the stand-in driver where there is no GPU,
`mpi_earthquake.py` in two processes.
Sample run: python docs/gallery_pictures.py [--all] [NAME ..]   (needs matplotlib, pillow, dask, mpi4py).
"""

import argparse
import ast
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image, PngImagePlugin

ROOT = Path(__file__).resolve().parent.parent
PICTURES = ROOT / "docs" / "pictures"
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
WIDTH, COLORS, BYTES = 1000, 64, 130_000


def made_from(path):
    """Return a digest of the lines of an example's code, without its docstring and lines of comments.

    Not of its syntax tree, which has other texts in other versions of Python.
    """
    text = path.read_text()
    lines = text.split("\n")[ast.parse(text).body[0].end_lineno :]
    code = "\n".join(one.rstrip() for one in lines if one.strip() and not one.lstrip().startswith("#"))
    return f"sha256 {hashlib.sha256(code.encode()).hexdigest()}"


def stored(path):
    """Return from what the picture of an example was made; None if there is none."""
    picture = PICTURES / f"{path.stem}.png"
    if not picture.is_file():
        return None
    with Image.open(picture) as opened:
        return opened.info.get("Source")


def save_small(source, target, made):
    """Store a picture with few colours, no wider than a page."""
    with Image.open(source) as opened:
        picture = opened.convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.LANCZOS)
    info = PngImagePlugin.PngInfo()
    info.add_text("Source", made)
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(target, pnginfo=info, optimize=True)
    assert target.stat().st_size < BYTES, f"{target} has {target.stat().st_size} bytes"


def command(name):
    """Return how an example is run, and what its environment has besides."""
    python = [sys.executable, f"{name}.py"]
    if name == "mpi_earthquake":
        root = ["--allow-run-as-root"] if os.getuid() == 0 else []
        return ["mpiexec", *root, "--oversubscribe", "-n", "2", *python], {}
    if name == "two_gpus" and shutil.which("nvidia-smi") is None:
        sys.path.insert(0, str(ROOT / "tests"))
        import stand_in_driver

        return [*python, "5"], stand_in_driver.build(ROOT / "build" / "stand-in") | {
            "UNDA_EMULATOR_DEVICES": "2"
        }
    return python, {}


def main():
    """Draw those whose code has changed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also those that are up to date")
    parser.add_argument("name", nargs="*", default=[path.stem for path in EXAMPLES])
    arguments = parser.parse_args()
    for path in EXAMPLES:
        if path.stem not in arguments.name or (not arguments.all and stored(path) == made_from(path)):
            continue
        words, more = command(path.stem)
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(path, folder)
            subprocess.run(words, cwd=folder, env=os.environ | {"MPLBACKEND": "Agg"} | more, check=True)
            save_small(Path(folder) / f"{path.stem}.png", PICTURES / f"{path.stem}.png", made_from(path))
        print(f"{path.name}: {time.perf_counter() - begin:.0f} s", flush=True)


if __name__ == "__main__":
    main()
