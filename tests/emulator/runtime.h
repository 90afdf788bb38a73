/* runtime.h: what compiled kernels (shared libraries), the scheduler (block.cpp) and the driver know of each other.
 * Not here: the CUDA language (device.h). Next: driver.cpp. */
#pragma once

struct emu_dim {
    unsigned x, y, z;
};
struct emu_runtime {
    emu_dim thread_idx, block_idx, block_dim, grid_dim;
    void *dynamic_shared;
    int (*barrier)(int value, int line); /* waits for the block; how many threads gave a value other than 0 */
    /* Waits for the lanes of mask; their values [32]. line: of the call in the source. */
    const unsigned long long *(*exchange)(unsigned mask, unsigned long long value, int line);
    void (*trap)(const char *message);
};
/* A kernel library exports `emu_runtime *emu`, `emu_shared` and, for each kernel, `emu_kernel_NAME`. */
struct emu_kernel {
    void (*call)(void **parameters);
    int num_parameter;
    const unsigned long *parameter_bytes; /* [num_parameter] */
};
struct emu_range {
    char *begin, *end; /* static shared memory */
};
struct emu_launch {
    const emu_kernel *kernel;
    emu_runtime **slot; /* the library's pointer to the runtime */
    emu_range shared;
    emu_dim grid, block;
    unsigned dynamic_bytes;
    void **parameters;
};
/* Runs a launch: 0 or the CUresult of the fault, described in detail [bytes]. */
int emu_run(const emu_launch &launch, char *detail, unsigned long bytes);
