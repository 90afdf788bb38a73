"""Run the notebooks in an empty folder and store their outputs, small: few colours, no progress bars.

A notebook's metadata say from what cells its outputs were made: tests/project/test_notebooks.py sees when
they are out of date, and those that are not are left alone.
Sample run: python docs/run_notebooks.py [--all] [NOTEBOOK ..]   (needs the extra `docs`).
"""

import argparse
import base64
import hashlib
import io
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECONDS = 120  # that a notebook may take on two cores
BYTES = 400_000  # of a notebook with its outputs
COLORS, WIDTH = 64, 900  # of stored pictures


def made_from(notebook):
    """Return a digest of the cells."""
    text = "\0".join(cell.cell_type + "\0" + cell.source for cell in notebook.cells)
    return hashlib.sha256(text.encode()).hexdigest()


def run(notebook, folder):
    """Run the cells in a folder; their outputs are in the notebook then."""
    from jupyter_client.kernelspec import KernelSpecManager
    from nbclient import NotebookClient
    from traitlets.config import Config

    KernelSpecManager.ensure_native_kernel = True  # the Python that runs this, whatever is installed
    # Sockets that are files, in a short path: two kernels that start at once can be given the same port.
    with tempfile.TemporaryDirectory() as sockets:
        config = Config(KernelManager={"transport": "ipc", "ip": f"{sockets}/kernel"})
        NotebookClient(
            notebook, timeout=600, kernel_name="python3", config=config,
            resources={"metadata": {"path": str(folder)}},
        ).execute()  # fmt: skip


def smaller(data):
    """Return a PNG of as many colours and pixels as pages need."""
    from PIL import Image

    picture = Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB")
    if picture.width > WIDTH:
        picture = picture.resize((WIDTH, round(picture.height * WIDTH / picture.width)), Image.LANCZOS)
    made = io.BytesIO()
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(made, "PNG", optimize=True)
    return base64.b64encode(made.getvalue()).decode() + "\n"


def fewer(data):
    """Return a GIF of every third frame, in few colours and half as wide."""
    from PIL import Image, ImageSequence

    film = Image.open(io.BytesIO(base64.b64decode(data)))
    size = film.width // 2, film.height // 2
    frames = [frame.convert("RGB").resize(size, Image.LANCZOS) for frame in ImageSequence.Iterator(film)][::3]
    small = [frame.quantize(16, dither=Image.Dither.NONE) for frame in frames]
    made = io.BytesIO()
    time = 3 * film.info.get("duration", 50)
    small[0].save(made, "GIF", save_all=True, append_images=small[1:], duration=time, loop=0, optimize=True)
    return base64.b64encode(made.getvalue()).decode() + "\n"


def shrink(notebook):
    """Keep what pages show: text that was printed, results, pictures."""
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        kept = []
        for output in cell.get("outputs", []):
            if output.output_type == "stream" and output.name == "stderr":
                continue  # progress bars
            data = output.get("data", {})
            if "application/vnd.jupyter.widget-view+json" in data:
                continue
            if "image/png" in data:
                data["image/png"] = smaller(data["image/png"])
            if "image/gif" in data:
                data["image/gif"] = fewer(data["image/gif"])
            output.pop("metadata", None) if output.output_type == "stream" else None
            kept.append(output)
        if cell.cell_type == "code":
            cell.outputs = kept
    notebook.metadata.pop("widgets", None)


def main():
    """Run those whose cells have changed."""
    import nbformat

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="also those whose outputs are up to date")
    parser.add_argument("notebook", nargs="*", type=Path, default=NOTEBOOKS)
    arguments = parser.parse_args()
    for path in arguments.notebook:
        notebook = nbformat.read(path, as_version=4)
        digest = made_from(notebook)
        if not arguments.all and notebook.metadata.get("unda", {}).get("made_from") == digest:
            continue
        begin = time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            run(notebook, folder)
        seconds = time.perf_counter() - begin
        shrink(notebook)
        notebook.metadata["unda"] = {"made_from": digest, "seconds": round(seconds)}
        nbformat.write(notebook, path)
        print(f"{path.name}: {seconds:.0f} s, {path.stat().st_size / 1000:.0f} kB", flush=True)
        assert seconds < SECONDS and path.stat().st_size < BYTES, "a notebook is to be quicker, or smaller"


if __name__ == "__main__":
    main()
