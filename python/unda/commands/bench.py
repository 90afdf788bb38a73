"""Time a method on a device and compare the rate with the device's limits.

Not here: the cases (bench_dg.py, bench_fd.py, bench_sem.py), several devices (bench_scaling.py).
"""

from __future__ import annotations

import argparse

from . import bench_dg, bench_fd, bench_scaling, bench_sem

METHODS = {"dg": bench_dg, "fd": bench_fd, "sem": bench_sem, "scaling": bench_scaling}


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare a command for each method."""
    methods = parser.add_subparsers(dest="method", required=True, help="method to time")
    for name, module in METHODS.items():
        text = (module.__doc__ or "").partition("\n")[0]
        module.arguments(methods.add_parser(name, help=text, description=text))


def run(args: argparse.Namespace) -> int:
    """Run the method's benchmark."""
    return METHODS[args.method].run(args)
