"""How large is unda? ``python tests/lines_of_code.py``: lines of code in csrc, cuda and python.

Comments, docstrings and blank lines do not count. ``--build`` also compiles the library afresh, in a folder
of its own, and prints the CPU seconds of each object, and times ``import unda``. Not a test.
"""

from __future__ import annotations

import ast
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import tokenize
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SUFFIXES = {"csrc": (".c", ".h"), "cuda": (".cu", ".h"), "python": (".py",)}
MADE = {"_cffi.py"}  # by the build
#: A comment, or what may hold the signs of one: strings and characters.
C_TOKEN = re.compile(r"/\*.*?\*/|//[^\n]*|(\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')", re.DOTALL)


def c_lines(text):
    """Lines of C or CUDA that hold more than comments."""
    bare = C_TOKEN.sub(lambda found: found[1] or "\n" * found[0].count("\n"), text)
    return sum(bool(line.strip()) for line in bare.splitlines())


def python_lines(path):
    """Lines of Python that hold more than comments and docstrings."""
    with tokenize.open(path) as file:
        text = file.read()
    held = set()
    blank = (tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT)
    for token in tokenize.generate_tokens(iter(text.splitlines(keepends=True)).__next__):
        if token.type not in (*blank, tokenize.ENDMARKER):
            held.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            if ast.get_docstring(node, clean=False) is not None:
                held.difference_update(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    return len(held)


def count(folder):
    """(files, lines of code) of one folder."""
    paths = [p for p in (ROOT / folder).rglob("*") if p.suffix in SUFFIXES[folder] and p.name not in MADE]
    lines = [python_lines(p) if p.suffix == ".py" else c_lines(p.read_text()) for p in paths]
    return len(paths), sum(lines)


def cpu_seconds(command):
    """CPU seconds that a command and all it starts take."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, cwd=ROOT, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compile_times():
    """{object: CPU seconds to compile it}, of an empty build folder."""
    with tempfile.TemporaryDirectory() as folder:
        make = ["make", "-s", f"BUILD={folder}", f"LIBRARY={folder}/libunda.so", f"PY={sys.executable}"]
        subprocess.run([*make, f"{folder}/flags", f"{folder}/source_hash"], check=True, cwd=ROOT)
        objects = subprocess.check_output([*make, "objects"], text=True, cwd=ROOT).split()
        return {str(Path(one).relative_to(folder)): cpu_seconds([*make, one]) for one in objects}


def import_seconds():
    """The least of five times that `import unda` takes in a new process, beyond an empty one."""

    def least(code):
        taken = []
        for _ in range(5):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", code], check=True)
            taken.append(time.perf_counter() - begun)
        return min(taken)

    os.environ["PYTHONPATH"] = str(ROOT / "python")
    return least("import unda") - least("pass")


def main():
    """Print the tables."""
    total = 0
    for folder in SUFFIXES:
        files, lines = count(folder)
        total += lines
        print(f"{folder:8s} {files:4d} files {lines:7d} lines of code")
    print(f"{'total':8s} {'':10s} {total:7d}")
    if "--build" in sys.argv[1:]:
        times = compile_times()
        for path, seconds in sorted(times.items(), key=lambda one: -one[1])[:20]:
            print(f"{seconds:7.2f} s  {path}")
        print(f"{sum(times.values()):7.2f} s  CPU time of {len(times)} objects")
        print(f"{import_seconds():7.2f} s  import unda")


if __name__ == "__main__":
    main()
