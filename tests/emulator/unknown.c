/* unknown.c: a weak stand-in for every driver function of api_list.h: where driver.cpp has none of its own, the call
 * fails and names itself. */
#include "gpu/api_list.h"

int emu_unknown(const char *name);
#define X(name, symbol, arguments)                                                                 \
    __attribute__((weak, visibility("default"))) int symbol(void) { return emu_unknown(#symbol); }
CUDA_LIST(X)
