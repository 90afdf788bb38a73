/* cuda.h: shared by the files of the CUDA engine of spectral elements.
 * Next: cuda.c (memory, its life), cuda_fill.c (tables), cuda_force.c (launches), cuda_step.c (the order of a step),
 * kernels.c (assembly, sizes of tiles, compilation), cuda_state.c (state in and out), cuda_points.c (sources,
 * receivers), cuda_stable.c (the stable step), tiles.h, cuda/sem (the kernels). */
#ifndef UNDA_SEM_CUDA_H
#define UNDA_SEM_CUDA_H

#include "../gpu/gpu.h"
#include "../solver/cuda_exchange.h"
#include "../solver/cuda_record.h"
#include "method.h"
#include "sem/args.h"
#include "tiles.h"

/* How forces are summed at nodes that tiles share. */
enum { IN_ORDER, BY_COLORS, ATOMICALLY };

/* Sizes of a kernel for one solver. */
struct sem_plan {
    const struct kernel *kernel;
    int assembly, cells, blocks, ahead;    /* elements of a tile; blocks on an SM, at least; see tiles.cu */
    bool flat;                             /* columns of cells follow one another without a gap */
    bool planes;                           /* a thread owns a plane of nodes, else a column */
    int dim, width, threads, shared_bytes; /* width: words of a node in memory */
    int warp_cells;                        /* elements of a warp; 0: they begin anywhere in one */
    int most_slot, most_inner;             /* nodes of a tile, those inside it, at most */
    struct sem_pitch pitch;
};

/* Of nodes that other parts have as well: cuda/sem/args.h. */
struct sem_cuda_cut {
    gpu_ptr item, word, first_place, place, first_term, term;
};

struct sem_cuda_region {
    struct sem_plan plan;
    struct sem_tiles tiles;
    struct gpu_module *module;
    struct gpu_kernel tile_kernel, shared_kernel, pad_kernel;
    /* The same that keep v or a of a step's end while nodes go on; module NULL: no monitor has asked for them. */
    struct gpu_module *keep_module;
    struct gpu_kernel keep_tile_kernel, keep_shared_kernel;
    gpu_ptr u, v, a; /* in those of all regions */
    gpu_ptr inverse_mass, metric, coef, shared, tile, entry, words;
    gpu_ptr first_sum, sum, side, rest, inverse, damping, partner, area;
    int64_t num_border; /* tiles that are launched before the forces of common nodes travel: the first ones */
    int64_t num_warp;   /* of all tiles, where threads own planes */
    struct sem_cuda_cut cut;
    int64_t num_part; /* of sources */
    gpu_ptr source_first, source_elem, source_column, source_weight;
};

enum { SEM_GRAPH_STEPS = 16 };
/* Of the device's clock: sampled times used up, steps done before this batch of launches, before this call; blocks that have
 * recorded in first kernels of steps (cuda/sem/record_first.h). */
enum { NUM_READ = 3, NUM_CLOCK };

struct sem_cuda {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_event *order; /* of a part: between its stream and the first part's (cuda_team.c) */
    struct gpu_module *node_module;
    struct gpu_kernel begin, record, find_bad, advance, combine, product, pack, unpack;
    struct gpu_wants wants; /* what create allocates */
    int64_t num;            /* unknowns of both regions: solid, then fluid */
    gpu_ptr level[NUM_LEVEL], kept[NUM_LEVEL], pressure, clock, bad, part;
    struct sem_cuda_region region[NUM_REGION];
    struct gpu_pool lists; /* sources and receivers */
    gpu_ptr channel, channel_at, channel_weight, channel_kept;
    int num_channel;
    int record_blocks; /* of a step's first kernel, which record what the step before left; 0: that has its own kernel */
    bool unrecorded; /* the present step is left to the first kernel of the next one */
    struct cuda_record samples;
    struct gpu_pool room; /* of a call */
    gpu_ptr amplitude;
    struct gpu_graph *graph; /* SEM_GRAPH_STEPS steps */
    int64_t base_step;       /* step number of the device's clock */
    int mode;                /* of the step that is being queued */
    /* The state on the host, in the regions' numbering: what is there is also on the device, unless it was written. */
    void *mirror[NUM_REGION][NUM_LEVEL];
    bool mirrored, wrote;
    bool zero; /* the state was neither written nor stepped yet */
    void *owned;
};

static inline struct sem_cuda *sem_cuda_tables(const unda_solver *s)
{
    return s->data;
}
/* Small problems are bound by launches: many steps go as one, and kernels start while the one before ends. */
static inline bool sem_is_small(const unda_solver *s)
{
    return sem_cuda_tables(s)->num * 3 * s->real_bytes < 60000000;
}
/* Between the kernels of parts stand those of the exchange, on another stream. */
static inline bool sem_starts_early(const unda_solver *s)
{
    return sem_is_small(s) && !s->exchange;
}
/* Unknowns of a region on the device, filled up to a multiple of four, and where they begin among all. */
static inline int64_t sem_num_unknown(const struct sem_cuda *t, int region)
{
    return (t->region[region].tiles.num_node * t->region[region].plan.width + 3) / 4 * 4;
}
static inline int64_t sem_first_unknown(const struct sem_cuda *t, int region)
{
    return region == FLUID ? sem_num_unknown(t, SOLID) : 0;
}
/* Of an unknown of a region, its place in a device's level. */
static inline int64_t sem_device_unknown(const unda_solver *s, int region, int64_t at)
{
    int dim = sem_tables(s)->region[region].dim;
    return sem_first_unknown(sem_cuda_tables(s), region) +
           (int64_t)sem_cuda_tables(s)->region[region].tiles.node[at / dim] *
               sem_cuda_tables(s)->region[region].plan.width +
           at % dim;
}

/* Of an element's metric where threads own columns. */
static inline int sem_metric_reals(const struct sem *sem)
{
    return sem->metric_kind == UNDA_METRIC_STORED ? (sem->metric_words + 3) / 4 * 4 : sem->metric_words;
}

/* Warps that work on a tile. */
static inline int32_t sem_num_warp(const struct sem_plan *plan, const struct sem_tiles *tiles, int64_t tile)
{
    int32_t num = tiles->first_elem[tile + 1] - tiles->first_elem[tile];
    return plan->planes ? (num + plan->warp_cells - 1) / plan->warp_cells : 0;
}

/* kernels.c */
unda_status sem_plan_choose(const unda_solver *s, int region, struct sem_plan *plan);
/* Sizes that depend on the tiles. */
void sem_plan_fit(const unda_solver *s, const struct sem_tiles *tiles, struct sem_plan *plan);
unda_status sem_plan_compile(unda_solver *s, int region);
/* Those of SEM_KEEP_V and SEM_KEEP_A, where forces are not added atomically. */
unda_status sem_plan_compile_keeping(unda_solver *s, int region);
unda_status sem_plan_compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources);

/* cuda_fill.c */
unda_status sem_fill_region(unda_solver *s, int region);

/* cuda_force.c: what becomes of the forces, cuda/sem/args.h; one color of tiles, nodes that tiles share, all. */
struct sem_pass {
    int mode;
    double dt;
    int64_t time;         /* row of the amplitudes, -1: no sources */
    int keep[NUM_REGION]; /* of SEM_STEP: the level of its end that is left in a's memory, LEVEL_U: none */
};
unda_status sem_launch_tiles(unda_solver *s, int region, const struct sem_pass *pass, int64_t begin,
                             int64_t end);
unda_status sem_launch_shared(unda_solver *s, int region, const struct sem_pass *pass);
/* Inverse masses behind the unknowns of nodes; for whoever wrote all of u. */
unda_status sem_launch_pads(unda_solver *s, int region);
unda_status sem_launch_all(unda_solver *s, const struct sem_pass *pass);
/* The same of a part: tiles on its border; the others; what is left once forces on common nodes were added up. */
unda_status sem_launch_border(unda_solver *s, const struct sem_pass *pass);
unda_status sem_launch_inner(unda_solver *s, const struct sem_pass *pass);
unda_status sem_launch_ends(unda_solver *s, const struct sem_pass *pass);
unda_status sem_launch_accelerate(unda_solver *s, int64_t time);
unda_status sem_launch_stiffness(unda_solver *s, int region, const void *u, void *force);
/* a = -A (chi, u) of the state on the device, a of the fluid -K chi. */
unda_status sem_launch_operator(unda_solver *s);
unda_status sem_launch_fluid(unda_solver *s);

/* cuda_step.c; what was captured holds no longer. */
unda_status sem_step_run(unda_solver *s, int64_t num_step);
unda_status sem_step_begin(unda_solver *s);
unda_status sem_launch_begin(unda_solver *s); /* of the nodes alone */
/* Moves the device's clock to the present step, `time` sampled times on. */
unda_status sem_step_advance(unda_solver *s, int64_t time);
bool sem_step_wants_graph(const unda_solver *s);
void sem_graph_free(struct sem_cuda *t);

/* exchange_cuda.c */
void sem_cuda_list_cut(const struct sem *sem, int region, struct sem_cuda_region *r, struct gpu_wants *wants);
unda_status sem_cuda_fill_cut(unda_solver *s, int region);
unda_status sem_cuda_join(unda_solver *const *part, int32_t num_part, int transport);
unda_status sem_cuda_join_rank(unda_solver *part, const unda_ranks *ranks);

/* cuda_team.c */
unda_status sem_cuda_run_team(unda_solver *team, int64_t num_step);
unda_status sem_cuda_accelerate_team(unda_solver *team, int64_t time);
unda_status sem_cuda_launch_team(unda_solver *team, const struct sem_pass *pass);

/* view.c */
unda_status sem_cuda_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row);
unda_status sem_cuda_piece(unda_solver *s, int32_t field, struct device_piece *piece);
void sem_list_rows(const unda_solver *s, const unda_solver *whole, int table, int64_t *row, int32_t *node);

/* cuda_profile.c */
unda_status sem_profile(unda_solver *s, int64_t num_run, unda_profile *profile);

/* cuda_stable.c */
enum { SEM_PRODUCT_BLOCKS = 1024 };
extern const struct sem_krylov sem_cuda_krylov, sem_cuda_krylov_team;

/* cuda_state.c */
unda_status sem_state_level(unda_solver *s, int region, int level, void **values);
void sem_state_wrote(unda_solver *s);
bool sem_state_is_zero(const unda_solver *s);
unda_status sem_state_flush(unda_solver *s); /* what was written goes to the device */
void sem_state_changed(unda_solver *s);      /* on the device */
unda_status sem_state_copy(unda_solver *s, int to, int from);
unda_status sem_state_find_bad(unda_solver *s, int64_t *index);
/* A region's values [node][dim], of the host's numbering, to and from the device. */
unda_status sem_state_upload(unda_solver *s, int region, gpu_ptr to, const void *from);
unda_status sem_state_download(unda_solver *s, int region, void *to, gpu_ptr from);

/* cuda_points.c */
unda_status sem_points_list(unda_solver *s);
unda_status sem_points_reserve(unda_solver *s);
unda_status sem_points_drive(unda_solver *s, const unda_drive *drive);
unda_status sem_points_record(unda_solver *s, int step);
/* The same of the present step, or leaves it to the first kernel of the next one; what was left and no step took; what
 * a kernel about to be launched takes, if anything is left. */
unda_status sem_points_record_later(unda_solver *s);
unda_status sem_points_record_rest(unda_solver *s);
struct sem_record_args sem_points_take(unda_solver *s);
void sem_points_free(unda_solver *s);

#endif
