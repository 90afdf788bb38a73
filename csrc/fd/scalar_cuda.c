#include "fd.h"
const struct fd_engine fd_scalar_cuda = {.base = {.name = "cuda"}};
