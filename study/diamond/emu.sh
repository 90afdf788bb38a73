#!/bin/sh
# emu.sh NAME DEFINES: kernel as a library for the emulator
set -e
name=$1; shift
mkdir -p emu
E=/work/main/tests/emulator
g++ -std=c++17 -w -x c++ -E -DUNDA_EMULATOR=1 -I . "$@" fd/diamond.cu -o emu/$name.ii
{ echo '#include "device.h"'; echo '#include "emu_extra.h"'
sed -E 's/extern +__shared__ +(__align__ *\([^)]*\) *)?([A-Za-z0-9_ ]+) +([A-Za-z0-9_]+) *\[ *\];/\2 *const \3 = (\2 *)emu->dynamic_shared;/' emu/$name.ii
echo 'EMU_KERNEL(fd_diamond)'; echo 'EMU_KERNEL(fd_diamond_mark)'
} > emu/$name.cpp
nice -n 10 g++ -std=c++17 -O1 -w -ffp-contract=off -mfma -fPIC -fno-gnu-unique -shared -Wl,-Bsymbolic -I $E -I . emu/$name.cpp -o emu/$name.so
