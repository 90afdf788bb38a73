"""The command ``unda`` (also ``python -m unda``): info, bench, verify.

Each command is a module of commands/ with ``arguments(parser)`` and ``run(args) -> exit status``.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from ._core import version
from .commands import bench, info, verify
from .errors import Error

COMMANDS = {"info": info, "bench": bench, "verify": verify}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line and return its exit status."""
    parser = argparse.ArgumentParser(prog="unda", description="Waves in the time domain.")
    parser.add_argument("--version", action="version", version=f"unda {version()}")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        text = (module.__doc__ or "").partition("\n")[0]
        module.arguments(commands.add_parser(name, help=text, description=text))
    args = parser.parse_args(argv)
    try:
        status = COMMANDS[args.command].run(args)
        sys.stdout.flush()
        return status
    except Error as error:
        print(f"unda {args.command}: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:  # the reader has closed the pipe: `unda info | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1


if __name__ == "__main__":
    sys.exit(main())
