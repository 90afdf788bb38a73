/* scalar_cuda.h: shared by the files of the CUDA engine of the scalar scheme.
 * Next: scalar_cuda.c (steps), diamond.c (many steps at once), streamed.c (large grids), cuda/fd (the
 * kernels). */
#ifndef UNDA_SCALAR_CUDA_H
#define UNDA_SCALAR_CUDA_H

#include "fd_cuda.h"

enum { MOST_GIVEN = 65535 }; /* steps of a launch or a pass */

/* The tile of kernel diamond (cuda/fd/diamond.cu). */
struct diamond_tile {
    int dts, step, zb, old, unroll, chunk, variable;
    int num_zb, shared_bytes;
    int levels, fewest; /* steps of a launch: at most; fewer at the end of a call are taken one by one */
};
struct diamond {
    struct diamond_tile tile;
    struct gpu_module *module;
    struct gpu_kernel kernel, mark_kernel;
    gpu_ptr progress; /* ticket, then [tower][block], then the owners of these */
    gpu_ptr mailbox;  /* of blocks along z for each other; 0 where there is one */
    gpu_ptr mark, source_first, source_z, source_id, source_weight;
    gpu_ptr cell_first, cell_z, cell_id, cell_group;
    gpu_ptr sample, due; /* [levels + 1][group]: where values go; [levels + 1]: whether there are any */
    gpu_ptr *sample_host;
    unsigned char *due_host;
    int64_t version; /* of the solver's points that the lists hold */
};

/* The state in host memory, a window of rows of y on the device (streamed.c). */
struct streamed {
    int64_t slab;      /* rows that come at once; 0: the whole state is on the device */
    int64_t levels;    /* steps of a pass, at most */
    int64_t rows, low; /* rows on the device; the lowest of them */
    int64_t reach;     /* rows that a stage of towers reaches beyond its middle; 0: kernel step */
    void *host[3];     /* [total x][total y][pitch]: p, one level back, speeds */
    gpu_ptr memory[3]; /* the same on the device, where the arrays of struct fd_cuda are aimed */
    struct gpu_stream *up, *down;
    const char *why_not; /* refused although the state does not fit */
};

struct scalar_cuda {
    struct fd_cuda base; /* array [0] now, [1] one step back: the next one goes there */
    struct gpu_module *step_module;
    struct gpu_kernel step, step_layers;
    int64_t pad_x, pad_y; /* nodes beside the grid */
    int tile_y, chunk;
    gpu_ptr damp_memory[3], damp[3]; /* damp: at node 0 */
    gpu_ptr memory, table;           /* of matched layers along x, y, z: struct scalar_matched */
    bool many;                       /* kernel diamond */
    struct diamond diamond;
    struct streamed streamed;
};

/* The arguments of matched layers along x, y, z. */
void scalar_cuda_matched(const unda_solver *s, struct scalar_matched matched[3]);

static inline struct scalar_cuda *scalar_cuda(const unda_solver *s)
{
    return s->data;
}

#endif
