/* cuda.h: shared by the files of the CUDA engine of the scalar scheme.
 * Any kernel of the engine's table (step, diamond) runs on the whole state on the device, or on a window of a
 * state in host memory (streamed).
 * Next: scalar/cuda.c (set-up, state), scalar/step.c (kernel step), diamond.c (many steps at once),
 * streamed.c (large grids), scalar/cuda_layers.c, cuda/fd (the kernels). */
#ifndef UNDA_SCALAR_CUDA_H
#define UNDA_SCALAR_CUDA_H

#include "../../solver/kernel.h"
#include "../../solver/monitor.h"
#include "../cpu.h"
#include "../cuda.h"
#include "../layer.h"

enum { MOST_GIVEN = 65535 }; /* steps of a launch or a pass */

/* The tile of kernel diamond (cuda/fd/scalar/diamond.cu). */
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
    /* Of a slab that can take all stages together with those below and above it: [stage][block], how far their towers at
     * the cut are; 0: none. Whether the next launch does. */
    gpu_ptr far_progress[2];
    bool together;
    struct gpu_pool lists;
    gpu_ptr mark, source_first, source_z, source_id, source_weight; /* in `lists`; mark 0: there are none */
    gpu_ptr cell_first, cell_z, cell_id, cell_group;
    gpu_ptr sample, due; /* [levels + 1][group]: where values go; [levels + 1]: whether there are any */
    gpu_ptr *sample_host;
    unsigned char *due_host;
};

/* A state in host memory, of which a window of rows along y is on the device (streamed.c). */
struct streamed {
    int64_t slab;       /* rows copied at once; 0: the whole state is on the device */
    int64_t levels;     /* steps of a pass, at most */
    int64_t rows, low;  /* rows on the device; the lowest of them */
    int64_t reach;      /* rows that a stage of towers reaches beyond its middle; 0: kernel step */
    struct fd_cpu host; /* [total x][total y][pitch]: p, one level back, speeds */
    gpu_ptr memory[3];  /* device memory of the window, at which the arrays of struct fd_cuda point */
    struct gpu_stream *up, *down;
    const char *why_not; /* refused although the state does not fit */
};

struct scalar_cuda;
struct streamed_pass;

/* A kernel: how the state is advanced. */
struct scalar_kernel {
    struct kernel base; /* first: an entry of fd_engine's list is one of these */
    /* Says why it cannot run the problem, or returns NULL, with its tile in t and the nodes beside the grid
     * that it needs. NULL: it runs every problem and needs none. */
    const char *(*choose)(const unda_solver *s, struct scalar_cuda *t);
    /* Whether "auto" takes it; asked only of kernels that can run. NULL: yes. */
    bool (*pays)(const unda_solver *s, const struct scalar_cuda *t);
    unda_status (*create)(unda_solver *s);
    void (*destroy)(unda_solver *s);
    unda_status (*list_points)(unda_solver *s);           /* NULL: nothing beyond what all need */
    unda_status (*run)(unda_solver *s, int64_t num_step); /* steps of the whole grid */
    /* Runs the steps of a pass in one window (streamed.h). */
    unda_status (*window)(unda_solver *s, const struct streamed_pass *pass, int64_t window);
    void (*describe)(const unda_solver *s, unda_solver_info *info);
    unda_status (*profile)(unda_solver *s, struct fd_cuda_profile *what); /* adds its parts */
    unda_status (*compile)(const unda_solver *s, const struct scalar_cuda *t, int compute_capability,
                           unda_kernel_resources *resources);
};
extern const struct scalar_kernel scalar_step, scalar_diamond;

/* A sample that the next step takes, which has the values: of the present level, or of that and the one before. */
struct fd_later {
    const struct monitor *monitor; /* NULL: none */
    struct monitor_sample sample;
};
/* Kernel step with samples of monitors: extremes that it takes; levels that stay, so that the next one goes to an array of
 * its own. The first can do both. */
enum { SCALAR_EXTREME, SCALAR_APART, NUM_MONITORED };
struct scalar_monitored {
    struct gpu_module *module;
    struct gpu_kernel step, step_layers;
};

struct scalar_cuda {
    struct fd_cuda base; /* array [0] now, [1] one step back: the next one goes there */
    const struct scalar_kernel *kernel;
    struct gpu_module *step_module;
    struct gpu_kernel step, step_layers;
    struct scalar_monitored monitored[NUM_MONITORED]; /* module NULL: no monitor has asked for it */
    struct fd_later later;
    gpu_ptr next;                /* where the next level goes */
    int64_t pad_x, pad_y, pad_z; /* nodes beside the grid; along z on one side */
    int tile_y, chunk;
    gpu_ptr damp_memory[3], damp[3]; /* damp: at node 0 */
    gpu_ptr memory[3], table[3];     /* of matched layers along x, y, z: struct scalar_matched */
    struct diamond diamond;
    struct streamed streamed;
};

/* scalar/cuda.c */
int64_t scalar_cuda_level_bytes(const unda_solver *s, const struct scalar_cuda *t);

/* scalar/step.c: one step of rows [first, end) of y in planes of x, on the device; no sources, no swap. */
unda_status scalar_step_launch(unda_solver *s, struct fd_span planes, int64_t first, int64_t end);
/* Compiles what takes samples with steps. */
unda_status scalar_step_compile_monitor(unda_solver *s, int kind);

/* scalar/cuda_layers.c */
/* Damping factors beside the grid, at either end. */
int64_t scalar_cuda_damp_margin(const struct scalar_cuda *t);
unda_status scalar_cuda_set_damping(unda_solver *s, bool on); /* g of the layers, or 1 everywhere */
/* Bytes of the memory variables of matched layers along an axis. */
int64_t scalar_cuda_memory_bytes(const unda_solver *s, const struct scalar_cuda *t, int axis);
/* The arguments of matched layers along x, y, z. */
void scalar_cuda_matched(const unda_solver *s, struct scalar_matched matched[3]);
/* Queues copies of those of planes of x to another slab, after border planes. */
struct fd_piece scalar_cuda_memory_piece(const unda_solver *s, int number, struct fd_span planes);
int64_t scalar_cuda_memory_plane_bytes(const unda_solver *s, int number);
/* Of struct fd_engine. */
unda_status scalar_cuda_memory(unda_solver *s, int number, int64_t first, int64_t count, void *out,
                               const void *in);

static inline struct scalar_cuda *scalar_cuda(const unda_solver *s)
{
    return s->data;
}

#endif
