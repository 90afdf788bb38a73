/* runtime.h: what compiled kernels (shared libraries), the scheduler (block.cpp) and the driver know of each other.
 * Not here: the CUDA language (device.h). Next: driver.cpp. */
#pragma once

struct emu_dim {
    unsigned x, y, z;
};
struct emu_runtime {
    emu_dim thread_idx, block_idx, block_dim, grid_dim;
    void *dynamic_shared;
    /* Waits for the lanes of mask, whose values [32] it returns, or if mask is 0 for the block: then for
     * how many threads value is not 0. line: of the call in the source. */
    const unsigned long long *(*wait)(unsigned mask, unsigned long long value, int line);
    void (*yield)(); /* in a loop that waits for another block */
    unsigned long long num_waited; /* threads that have waited for the kernels before this one */
};
/* A kernel library exports one, `emu_kernel_NAME`, for each kernel. */
struct emu_kernel {
    void (*call)(const void *argument);
    unsigned long bytes;               /* of its one argument */
    emu_runtime **slot;                /* the library's pointer to the runtime */
    char *shared_begin, *shared_end;   /* static shared memory */
    unsigned dynamic_limit;            /* dynamic shared memory allowed [bytes] */
};
struct emu_launch {
    const emu_kernel *kernel;
    emu_dim grid, block;
    unsigned dynamic_bytes;
    const void *argument;
    bool early; /* all threads must wait for the kernels before this one */
    bool *under_way; /* kept true until its last block has ended; nullptr: no other launch may join it */
};
enum { EMU_NOBODY = -1 };
/* Of the driver, for blocks that all wait in vain: runs a stream of another device up to the end of its next launch,
 * by emu_run. 0, EMU_NOBODY if there is none, or the CUresult of a fault. */
int emu_join();
/* Of the driver, for an access by a kernel: whether it may be made again, now that the memory there is accessible. */
bool emu_open(const void *place);
/* Runs a launch: 0 or the CUresult of the fault, described in detail [bytes]. */
int emu_run(const emu_launch &launch, char *detail, unsigned long bytes);
