#!/bin/bash
# build.sh NAMES: cubins, two at a time
python3 configs.py "$@" | xargs -P 2 -L 1 sh -c 'n=$0; ./cc.sh $n "$@" 2>&1 | grep -E "error|Used|stack" | sed "s/^/$n: /"'
