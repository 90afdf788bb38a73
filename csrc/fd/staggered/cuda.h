/* cuda.h: shared by the files of the staggered schemes' CUDA engine. Next: staggered/cuda.c
 * (set-up, state, steps, profile), staggered/launch.c (ghosts and the launches of a pass),
 * cuda/fd/staggered/staggered.cu. */
#ifndef UNDA_STAGGERED_CUDA_H
#define UNDA_STAGGERED_CUDA_H

#include "../cuda.h"
#include "../layer.h"
#include "staggered.h"
#include "boxes.h"

struct staggered_cuda {
    struct fd_cuda base;
    struct gpu_module *module;
    struct gpu_kernel pass[2][STAGGERED_PARTS], ghosts;
    /* The second pass of pressures whose next level goes elsewhere (fd/levels.c), if a monitor has asked for it. */
    struct gpu_module *apart_module;
    struct gpu_kernel apart[STAGGERED_PARTS];
    gpu_ptr next;                                    /* 0: it stays */
    gpu_ptr memory[2 * FD_MAX_DERIVATIVE], table[3]; /* as cpml of struct fd_axis */
    int64_t count, material_version; /* values of an array; which arrays have up-to-date ghosts */
    struct staggered_tile tile;
    struct gpu_stream *beside; /* streams of walls and layers, which run beside the interior */
    struct gpu_event *before, *after;
};

static inline struct staggered_cuda *tables(const unda_solver *s)
{
    return s->data;
}

/* From the beginning of a memory variable's row to z = 0. */
static inline int64_t staggered_memory_origin(const unda_solver *s, const struct staggered_cuda *t,
                                              int number)
{
    return fd_tables(s)->memory[number].axis == 2
               ? 0
               : (t->base.origin % t->base.pitch + t->base.pitch) % t->base.pitch;
}

static inline struct staggered_planes staggered_all(const unda_solver *s)
{
    return (struct staggered_planes){1, {fd_planes_of(fd_tables(s))}};
}

/* Axes (bits) of fields of a pass that need ghosts: those of its derivatives, or half a cell
 * on (there its last place is an image), if anything is beyond their sides; sides: those of x, too. Returns
 * whether any does. */
bool staggered_ghost_axes(const unda_solver *s, int pass, bool sides, int *axes);
/* Fills ghosts of the fields of a pass beside rows of some planes and (sides) beyond the sides of x; of
 * materials, where these have changed. */
unda_status staggered_fill_pass(unda_solver *s, int pass, struct staggered_planes planes, bool sides);
unda_status staggered_fill_materials(unda_solver *s);
/* One part of a pass, or all of them in some planes. */
unda_status staggered_launch_part(unda_solver *s, int pass, enum staggered_part part);
unda_status staggered_launch_pass(unda_solver *s, int pass, struct staggered_planes planes);

#endif
