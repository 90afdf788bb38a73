/* scalar_cuda.h: what the files of the CUDA engine of the scalar scheme share.
 * Next: scalar_cuda.c (arrays, steps), scalar_cuda_points.c (sources, receivers), cuda/fd (the kernels). */
#ifndef UNDA_SCALAR_CUDA_H
#define UNDA_SCALAR_CUDA_H

#include "../gpu/gpu.h"
#include "fd.h"
#include "fd/scalar_args.h"

enum { BLOCK = 256, TILE_Y = 4 };
#define POINTER(address) ((void *)(uintptr_t)(address))

/* A group of receivers on the device. */
struct scalar_group {
    gpu_ptr place, node, weight; /* nodes of all points, each once; which are a point's; weights of axes */
    gpu_ptr values, out;         /* [sample][node], [sample][point][field] of one call */
    int64_t num_node, room;      /* room: samples */
};

/* The tile of kernel diamond (cuda/fd/diamond.cu). */
struct diamond_tile {
    int dts, step, zb, old, unroll, chunk, variable;
    int num_zb, levels, shared_bytes;
};
struct diamond {
    struct diamond_tile tile;
    struct gpu_module *module;
    struct gpu_kernel kernel, mark_kernel;
    gpu_ptr progress; /* ticket, then [tower] */
    gpu_ptr mark, source_first, source_z, source_id, source_weight;
    gpu_ptr cell_first, cell_z, cell_id, cell_group;
    gpu_ptr sample, due; /* [levels + 1][group]: where values go; [levels + 1]: whether there are any */
    gpu_ptr *sample_host;
    unsigned char *due_host;
    int64_t num_cell, version; /* version: of the solver's points that the lists hold */
};

struct scalar_cuda {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_module *step_module, *point_module;
    struct gpu_kernel step, inject, gather, weigh, find_bad, halve;
    int64_t pitch, plane, pad_x, pad_y; /* nodes from row to row, plane to plane; beside the grid */
    int tile_y, chunk;
    gpu_ptr memory[3], damp_memory[3]; /* of p, p, speed; of damp */
    gpu_ptr p[2], speed, damp[3], bad; /* at node (0, 0, 0); p[0] now, p[1] one step back */
    bool many;                         /* kernel diamond */
    struct diamond diamond;
    void *staging; /* host: one plane */
    /* Sources: nodes and their terms. */
    gpu_ptr source_place, source_first, source_number, source_weight, amplitude;
    int64_t num_source_node, amplitude_bytes, source_version;
    void *amplitude_real; /* host */
    int64_t amplitude_count;
    struct scalar_group *groups;
    int32_t num_group;
    int64_t group_version, group_step; /* of the solver's points and reserved steps that they hold */
};

static inline struct scalar_cuda *tables(const unda_solver *s)
{
    return s->data;
}
/* Place in an array of the node that counts so in [total x][total y][total z]. */
static inline int64_t scalar_place(const unda_solver *s, int64_t node)
{
    const struct fd_axis *y = &s->fd->axis[1], *z = &s->fd->axis[2];
    int64_t row = node / z->total;
    return row / y->total * tables(s)->plane + row % y->total * tables(s)->pitch + node % z->total;
}

/* scalar_cuda_points.c */
unda_status scalar_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values);
unda_status scalar_drive(unda_solver *s, const unda_drive *drive);
unda_status scalar_reserve(unda_solver *s);
unda_status scalar_inject(unda_solver *s, gpu_ptr p, int64_t time); /* after a step */
unda_status scalar_take(unda_solver *s, gpu_ptr p, int64_t begin);  /* receivers that are due at s->step */
unda_status scalar_fetch(unda_solver *s, int64_t begin);            /* after the last step of a call */
/* Samples that a group has had from step `begin` to `step`. */
int64_t scalar_samples_since(const struct receiver_group *group, int64_t begin, int64_t step);
struct scalar_term {
    int64_t node;
    int32_t source;
    double weight;
};
/* Terms of all sources by node, then by source; array_free. */
unda_status scalar_list_terms(const unda_solver *s, struct scalar_term **terms, int64_t *num);
void scalar_points_free(unda_solver *s);

#endif
