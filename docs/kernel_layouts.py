"""Draw docs/kernel_layouts.svg: what a thread and a block of each kernel on tetrahedra own.

A column is an element, a line a node. Not here: the text (docs/kernels.md), the kernels (cuda/dg).

Sample run: python docs/kernel_layouts.py
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

SIZE, WIDTH, HEIGHT = 11, 384, 236
EMPTY, BLOCK, THREAD, MATRIX, PAD = "#ffffff", "#cfe0f3", "#e07b1a", "#dcead6", "#b9b9b9"
INK = "#333333"


class Panel:
    """A panel of the picture; positions are in its own pixels."""

    def __init__(self, x: int, y: int, title: str, lines: Iterable[str]) -> None:
        self.x, self.y = x, y
        self.parts: list[str] = []
        self.text(8, 18, title, size=14, weight="bold")
        for i, line in enumerate(lines):
            self.text(8, 182 + 14 * i, line, size=11)

    def text(self, x: float, y: float, text: str, size: int = 10, weight: str = "normal") -> None:
        """Write a line."""
        self.parts.append(
            f'<text x="{self.x + x:g}" y="{self.y + y:g}" font-size="{size}" font-weight="{weight}" '
            f'fill="{INK}" stroke="none">{text}</text>'
        )

    def box(self, x: float, y: float, w: float, h: float, fill: str) -> None:
        """Draw a filled rectangle."""
        self.parts.append(
            f'<rect x="{self.x + x:g}" y="{self.y + y:g}" width="{w:g}" height="{h:g}" fill="{fill}"/>'
        )

    def grid(
        self,
        x: float,
        y: float,
        elements: int,
        nodes: int,
        fill: Callable[[int, int], str],
        size: float = SIZE,
    ) -> None:
        """Draw nodes of elements, each filled by fill(element, node)."""
        for e in range(elements):
            for n in range(nodes):
                self.box(x + size * e, y + size * n, size, size, fill(e, n))

    def arrow(self, x: float, y: float, dx: float, dy: float) -> None:
        """Draw an arrow: the order in memory."""
        self.parts.append(
            f'<line x1="{self.x + x:g}" y1="{self.y + y:g}" '
            f'x2="{self.x + x + dx:g}" y2="{self.y + y + dy:g}" '
            f'stroke="{INK}" stroke-width="1.2" marker-end="url(#tip)"/>'
        )


def element(x: int, y: int) -> Panel:
    """One element a thread."""
    p = Panel(x, y, "element", [
        "A thread owns an element, rows of the matrices in turns;",
        "all read one entry at once. State and jumps of 8 to 128",
        "elements in shared memory. In memory elements are innermost.",
    ])  # fmt: skip
    p.grid(30, 50, 24, 10, lambda e, n: THREAD if e == 3 else BLOCK if e < 16 else EMPTY)
    p.arrow(30, 42, 170, 0)
    p.text(206, 45, "in memory")
    return p


def node(x: int, y: int) -> Panel:
    """One node a thread."""
    p = Panel(x, y, "node", [
        "A thread owns a node; volume, surface and update are",
        "three kernels. Matrices through the caches. In memory",
        "an element's nodes follow, four fields each together.",
    ])  # fmt: skip
    p.grid(30, 50, 24, 10, lambda e, n: THREAD if (e, n) == (3, 4) else BLOCK if e < 6 else EMPTY)
    p.arrow(22, 50, 0, 105)
    p.text(30, 45, "a block: a few elements")
    return p


def gemm(x: int, y: int) -> Panel:
    """Products of large matrices."""
    p = Panel(x, y, "gemm", [
        "cuBLAS multiplies all elements at once: gradient,",
        "divergence, lift. Between the products kernels with a node",
        "a thread. In memory a field is a matrix, a column an element.",
    ])  # fmt: skip
    p.box(20, 40, 34, 102, MATRIX)
    p.text(24, 94, "3Np")
    p.text(60, 96, "×", size=14)
    p.box(84, 74, 90, 34, BLOCK)
    p.text(104, 94, "fields, K")
    p.text(178, 94, "=", size=14)
    p.box(196, 40, 90, 102, BLOCK)
    p.box(196, 142, 90, 8, PAD)
    p.text(210, 94, "gradients")
    p.text(196, 163, "padding (grey)")
    p.arrow(78, 74, 0, 34)
    return p


def microblock(x: int, y: int) -> Panel:
    """Microblocks."""
    p = Panel(x, y, "microblock", [
        "KM elements fill whole warps, field by field (grey:",
        "padding). Gather over pairs of faces, lift, derivatives:",
        "a thread a node of WI microblocks, WP side by side, WS in turn.",
    ])  # fmt: skip
    for block in range(4):
        for i in range(16):
            for j in range(2):
                at = 16 * j + i
                fill = (
                    PAD if at >= 30 else THREAD if at == 13 and block < 2 else BLOCK if block < 2 else EMPTY
                )
                p.box(24 + 18 * i, 44 + 32 * block + SIZE * j, 18, SIZE, fill)
        for edge in (10, 20, 30):
            row, column = divmod(edge, 16)
            p.box(24 + 18 * column - 1, 44 + 32 * block + SIZE * row, 2, SIZE, INK)
    p.arrow(24, 38, 170, 0)
    p.text(202, 41, "in memory")
    return p


def fused(x: int, y: int) -> Panel:
    """All of a stage in one kernel."""
    p = Panel(x, y, "fused", [
        "One kernel. A thread owns ROWS nodes of COLS elements;",
        "state and jumps of the tile in shared memory, matrices",
        "through the caches. In memory as node.",
    ])  # fmt: skip
    p.grid(
        30,
        50,
        24,
        10,
        lambda e, n: THREAD if e in (1, 3, 5, 7) and n in (2, 7) else BLOCK if e < 8 else EMPTY,
    )
    p.arrow(22, 50, 0, 105)
    p.text(30, 45, "a tile of 8 elements")
    return p


def blocks(x: int, y: int) -> Panel:
    """Four blocks."""
    p = Panel(x, y, "blocks", [
        "fused in sums over nodes that symmetries swap: four small",
        "matrices, a quarter of the products. A thread owns",
        "rows of a matrix, COLS elements, all three directions.",
    ])  # fmt: skip
    p.box(24, 44, 108, 108, MATRIX)
    p.text(44, 100, "Np × Np, dense")
    p.text(142, 100, "→", size=16)
    at = 0
    for n in (42, 28, 22, 16):
        p.box(176 + at, 44 + at, n, n, MATRIX)
        at += n
    p.box(176, 44, 42, 10, THREAD)
    p.text(234, 58, "orbits of nodes")
    return p


def tensor(x: int, y: int) -> Panel:
    """Tensor cores."""
    p = Panel(x, y, "tensor", [
        "fused on tensor cores: a warp owns 16 elements times",
        "tiles of 8 nodes, a lane two elements and two nodes of",
        "each. Numbers are pairs of FP16. In memory as node.",
    ])  # fmt: skip
    p.grid(30, 50, 24, 10, lambda e, n: (
        THREAD if e in (2, 10) and n in (2, 3) else MATRIX if e < 16 and n < 8 else BLOCK if e < 16 else EMPTY
    ))  # fmt: skip
    p.arrow(22, 50, 0, 105)
    p.text(30, 45, "a warp: 16 elements × 8 nodes (green)")
    return p


PANELS = (element, node, gemm, microblock, fused, blocks, tensor)


def picture() -> str:
    """Return the picture, which is the same on every machine."""
    columns = 3
    lines = -(-(len(PANELS) + 1) // columns)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{columns * WIDTH}" height="{lines * HEIGHT}" '
        'font-family="sans-serif">',
        '<defs><marker id="tip" markerWidth="8" markerHeight="8" refX="6" refY="3" orient="auto">'
        f'<path d="M0,0 L6,3 L0,6 z" fill="{INK}" stroke="none"/></marker></defs>',
        f'<rect width="{columns * WIDTH}" height="{lines * HEIGHT}" fill="white"/>',
        '<g stroke="#888888" stroke-width="0.7">',
    ]
    for i, draw in enumerate(PANELS):
        parts += draw(WIDTH * (i % columns), HEIGHT * (i // columns)).parts
    key = Panel(WIDTH * (len(PANELS) % columns), HEIGHT * (len(PANELS) // columns), "", [])
    for i, (fill, text) in enumerate((
        (THREAD, "what one thread computes"), (BLOCK, "what its block computes"),
        (MATRIX, "matrix, or a tile of a warp"),
        (PAD, "padding"), (EMPTY, "other blocks"),
    )):  # fmt: skip
        key.box(30, 50 + 22 * i, 14, 14, fill)
        key.text(52, 61 + 22 * i, text, size=12)
    key.arrow(30, 168, 24, 0)
    key.text(62, 172, "order in memory", size=12)
    return "\n".join([*parts, *key.parts, "</g>", "</svg>"]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".svg").write_text(picture(), encoding="utf-8")
