"""What Modave, St-Cyr & Warburton (2016) state in tables and text, of an NVIDIA GTX 980.

Not here: what is measured (bench_dg_modave.py).
"""

from __future__ import annotations

#: Section 4.3: the net throughput that the text states, % of the peak of a GTX 980; of one node a thread the
#: text gives both physics, of cuBLAS too.
NET = {
    ("gemm", "acoustic"): 31.4, ("gemm", "elastic"): 35.7, ("node", "acoustic"): 21.7,
    ("node", "elastic"): 33.0
}  # fmt: skip
#: Section 4.3 and 5: the degree at which a kernel takes least time a node.
FASTEST = {("element", "acoustic"): 3, ("node", "acoustic"): 3, ("gemm", "acoustic"): 7}
#: Table 4: the best rows for Np and for 3 Np.
PADDED = {
    1: (4, 16), 2: (10, 32), 3: (20, 64), 4: (35, 128), 5: (56, 256), 6: (128, 256), 7: (128, 384),
    8: (256, 512)
}  # fmt: skip
#: Table 5: registers a thread, occupancy, [%] of the most warps, and hit rate of global loads in L1 [%]
#: (global_hit_rate of nvprof), by function and degree; of element the local memory of a thread [KB], too.
TABLE5: dict[tuple[str, str], dict[int, tuple[float, ...]]] = {
    ("element", "volume"): {
        1: (56, 45, 53, 0), 2: (64, 35, 51, 0), 3: (128, 24, 51, 0), 4: (186, 12, 51, 0),
        5: (255, 12, 51, 0.02),
    },
    ("element", "surface"): {
        1: (116, 24, 27, 0), 2: (149, 12, 24, 0), 3: (225, 12, 24, 0), 4: (255, 12, 24, 0.07),
        5: (255, 12, 25, 0.41),
    },
    ("element", "update"): {
        1: (72, 36, 52, 0.07), 2: (214, 12, 50, 0.16), 3: (255, 12, 50, 0.38), 4: (40, 74, 50, 0.55),
        5: (40, 71, 49, 0.88),
    },
    ("node", "volume"): {
        1: (32, 93, 76), 2: (35, 88, 91), 3: (37, 61, 95), 4: (32, 90, 97), 5: (37, 73, 95),
        6: (37, 74, 94), 7: (37, 67, 91), 8: (32, 98, 87),
    },
    ("node", "surface"): {
        1: (32, 67, 62), 2: (32, 95, 75), 3: (32, 92, 80), 4: (31, 93, 84), 5: (31, 94, 76),
        6: (32, 89, 85), 7: (32, 88, 83), 8: (31, 85, 82),
    },
    ("gemm", "volume"): {
        1: (27, 49, 41), 2: (27, 48, 48), 3: (27, 48, 40), 4: (27, 91, 44), 5: (27, 91, 50),
        6: (27, 90, 46), 7: (27, 92, 50), 8: (27, 85, 50),
    },
    ("gemm", "surface"): {
        1: (26, 50, 59), 2: (26, 50, 53), 3: (26, 49, 55), 4: (26, 49, 52), 5: (26, 49, 63),
        6: (26, 49, 59), 7: (26, 94, 58), 8: (26, 93, 62),
    },
    ("node", "update"): {
        1: (30, 87, 53), 2: (32, 88, 48), 3: (32, 77, 53), 4: (32, 93, 51), 5: (32, 91, 58),
        6: (32, 92, 55), 7: (32, 88, 56), 8: (32, 87, 56),
    },
}  # fmt: skip
TABLE5["gemm", "update"] = TABLE5["node", "update"]
#: Section 4.3: percentage of the achievable performance, the roof: of the volume and surface kernels at high
#: degrees, of updates at all.
OF_ROOF = {
    ("node", "volume"): 23, ("node", "surface"): 30, ("node", "update"): 70, ("gemm", "volume"): 67,
    ("gemm", "surface"): 52, ("gemm", "update"): 70,
}  # fmt: skip
#: Section 4.3: times as long a node for elastic as for acoustic waves, least and most over the degrees.
ELASTIC_OVER_ACOUSTIC = {"node": (1.8, 2.25), "gemm": (2.14, 2.49)}
#: Section 4.2: throughput of products, % of the peak, by product and degree.
OF_PEAK = {("gradient", 7): 60, ("divergence", 7): 60, ("lift", 7): 60, ("gradient", 8): 65}
