#!/bin/sh
# compile.sh DIR DEFINE...: "compiles" DIR/program.cu for the stand-in driver into DIR/kernel.so, messages into DIR/log,
# worded like NVRTC's: file(line): error: text. Called by nvrtc.cpp. Next: device.h.
dir=$1 here=$(dirname "$0")
shift
unset LD_PRELOAD # a sanitizer of the caller is none of g++'s business
compile="${CXX:-g++} -std=c++17 -w -x c++"
set -e
trap 'sed -E -i "s#$dir/include/##g; s#^([^: ]+):([0-9]+):([0-9]+:)? #\1(\2): #" "$dir/log"' EXIT
exec 2>"$dir/log"
$compile -E -I "$dir/include" "$@" "$dir/program.cu" -o "$dir/program.ii"
# Kernels: the names after __global__ void.
names=$(tr '\n' ' ' <"$dir/program.ii" | sed -E 's/__launch_bounds__ *\(([^()]|\([^()]*\))*\)//g' |
    grep -oE '__global__ +void +[A-Za-z0-9_]+' | sed 's/.* //')
{
    echo '#include "device.h"'
    # extern __shared__ T name[]; is a pointer to the block's dynamic memory.
    sed -E 's/extern +__shared__ +(__align__ *\([^)]*\) *)?([A-Za-z0-9_ ]+) +([A-Za-z0-9_]+) *\[ *\];/'\
'\2 *const \3 = (\2 *)emu->dynamic_shared;/' "$dir/program.ii"
    for name in $names; do echo "EMU_KERNEL($name)"; done
} >"$dir/final.cpp"
# Names of one module are its own: no unique symbols, none taken from the process.
# Vectors that are not aligned are a fault on a device.
# Most kernels run for a moment: -Og compiles in half the time, the more so without what gains them nothing, and they
# need nothing of C++ but libm to link.
$compile -Og -fno-forward-propagate -fno-shrink-wrap -fno-dce -fsanitize=alignment -fsanitize-undefined-trap-on-error -fPIC -fno-gnu-unique -shared -nostdlib \
    -Wl,-Bsymbolic -I "$here" "$dir/final.cpp" -lm -o "$dir/kernel.so"
for name in $names; do
    echo "ptxas info : Compiling entry function '$name' for 'stand-in'" >&2
    echo "0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads; Used 32 registers" >&2
done
