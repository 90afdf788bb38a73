/* cuda.h: shared by the files of the CUDA engine of DG.
 * Next: cuda.c (tables, stages, graphs), kernels.c (choice and compilation of kernels), cuda_state.c
 * (state in and out), cuda_points.c (sources, exact data, receivers), cuda/dg (the kernels). */
#ifndef UNDA_DG_CUDA_H
#define UNDA_DG_CUDA_H

#include "../solver/cuda_exchange.h"
#include "../solver/cuda_record.h"
#include "kernel.h"

enum { NUM_UPDATE = 3, NUM_VARIANT = 2 * NUM_UPDATE, NUM_GRAPH = 2, GRAPH_STEPS = 16 };

/* A batch of GRAPH_STEPS steps, captured; valid while each buffer stands where it stood. */
struct batch {
    gpu_ptr buffer[NUM_BUF];
    struct gpu_graph *graph;
};

/* What such launches keep for monitors (resident_monitor.c): in memory of a call. */
struct resident_samples {
    gpu_ptr slot;  /* [elem]: its number among the elements that have a monitor, or -1 */
    gpu_ptr rows;  /* [monitor][row]: those numbers of the rows of each monitor */
    gpu_ptr state; /* [num]: states of num_slot elements */
    int64_t num, num_slot;
};

/* Many steps in one launch (cuda_resident.c). */
struct resident {
    int most_step; /* of a launch; below 2: not used */
    bool asked;    /* by the option */
    struct plan plan;
    struct gpu_module *module; /* NULL: not yet compiled */
    bool incident, sampled;    /* it knows incident waves; monitors */
    struct gpu_kernel kernel;
    int64_t num_block;
    struct gpu_pool pool;
    gpu_ptr matrix, mailbox;
    gpu_ptr slot, row_slot; /* lists: of each element, of each row of receivers' weights */
    gpu_ptr source_range, incident_range;
    gpu_ptr
        history; /* room: the states of num_slot elements of num_step steps, as dg_resident_args has them */
    /* room: [step][place], integrals over time after each step; [stage of any step][place], what they are integrals of */
    gpu_ptr integral, value;
    struct resident_samples samples;
    int64_t num_step;
    int32_t num_slot;  /* elements with receivers */
    int32_t num_level; /* states that are kept of a step: of each stage where receivers integrate over time */
    uint32_t tag;      /* stages so far */
};

/* Cut faces of a part, num_face * elem + face, and, for measurements, what fills its messages (exchange_cuda.c). */
struct dg_cuda_cut {
    gpu_ptr own, ghost; /* [cut face] */
    struct gpu_pool pool;
    double more; /* bytes of filling for each byte of traces; 0: none */
    gpu_ptr filling, filling_from[2];
    char *filling_host[2];
    struct gpu_pool filling_pool;
};

/* Absorbing layers (layer_cuda.c), as csrc/dg/layer.h has them, [..][node]. */
enum { NUM_LAYER_PASS = 3 };
struct dg_cuda_layers {
    struct gpu_module *module;
    struct gpu_kernel kernel[NUM_LAYER_PASS]; /* by LAYER_FOR_NEXT, .. */
    gpu_ptr profile, gradient, coef, face, face_coef, matrix, elem, first, axis, block;
    int32_t *host_block; /* [num_block + 1]: as `block`, of tetrahedra */
    int64_t num_block;
    int profile_nodes;    /* as in dg_layer_args */
    gpu_ptr psi[NUM_BUF]; /* memory variables, and what the buffers are of them; NEW has none */
};

struct dg_cuda {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_event *order; /* of a part: between its stream and the first part's (cuda_team.c) */
    struct gpu_blas *blas;   /* of a kernel that needs it */
    struct gpu_module *stage_module[NUM_VARIANT], *state_module;
    struct gpu_kernel stage_kernel[NUM_VARIANT][MAX_FUNCTION], gather, traces, record, integrate,
        integrate_stages, find_bad, advance;
    struct plan plan;
    struct resident resident;
    int64_t num_block;
    struct gpu_wants wants; /* what create allocates */
    gpu_ptr buffer[NUM_BUF];
    gpu_ptr elem_record, metric, face_coef, neighbor, face_node, matrix, table, rhs, products, workspace,
        clock, bad, packed, list;
    int64_t packed_count;  /* elements that packed and list hold */
    struct gpu_pool lists; /* sources, incident waves, receivers */
    gpu_ptr source_weight, source_elem, source_column, source_range, incident, incident_range;
    gpu_ptr channel, channel_elem, channel_weight;
    int num_channel, num_place;
    gpu_ptr place;              /* of integrals over time, all groups' in turn */
    gpu_ptr integrals[NUM_BUF]; /* [place]: as struct dg_points has them; NEW has none */
    struct cuda_record samples;
    struct gpu_pool room; /* of a call */
    gpu_ptr amplitude, exact;
    struct batch batch[NUM_GRAPH];
    int next_batch;
    int64_t base_step; /* step number of the device's clock */
    struct dg_cuda_cut cut;
    struct dg_cuda_layers layers;
};

static inline struct dg_cuda *tables(const unda_solver *s)
{
    return s->data;
}
/* Kernels with incident waves are variants of their own, since others run faster without. */
static inline int variant(const unda_solver *s, int update)
{
    return update + (dg_tables(s)->has_waves ? NUM_UPDATE : 0);
}

/* Bytes of a state, with the unused elements of its layout. */
static inline int64_t state_bytes(const unda_solver *s, const struct plan *plan)
{
    int64_t unit = plan->km ? plan->km : plan->kernel->layout->unit,
            num = space_num_total(&dg_tables(s)->space);
    int64_t bytes = plan->pitch ? (int64_t)plan->pitch * dg_tables(s)->physics->num_field * s->real_bytes
                                : unit * dg_elem_bytes(s);
    return (num + unit - 1) / unit * bytes;
}

/* kernels.c */
void plan_define(const unda_solver *s, const struct plan *plan,
                 struct gpu_defines *defines); /* REAL, LAYOUT */
/* What compiles a stage. */
struct gpu_source plan_source(const unda_solver *s, const struct plan *plan, int update,
                              struct gpu_defines *defines);
struct block_shape plan_block(const struct plan *plan, int function);
unda_status plan_compile(unda_solver *s, int update); /* unless that was done */
unda_status plan_compile_only(unda_solver *s, int compute_capability, unda_kernel_resources *resources);

/* view.c */
unda_status dg_cuda_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row);
unda_status dg_cuda_piece(unda_solver *s, int32_t field, struct device_piece *piece);
void dg_list_rows(const unda_solver *s, const unda_solver *whole, int table, int64_t *row, int32_t *node);

/* cuda_state.c */
unda_status state_move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                       const void *in);
unda_status state_copy(unda_solver *s, int to, int from);
unda_status state_find_bad(unda_solver *s, int64_t *index);
/* from [count][num] to groups of four, GROUP_INDEX of common/index.h. */
unda_status upload_groups(unda_solver *s, gpu_ptr to, const double *from, int64_t count, int num, int step);

/* cuda_points.c */
unda_status points_list(unda_solver *s);
unda_status points_reserve(unda_solver *s);
unda_status points_drive(unda_solver *s, const unda_drive *drive);
unda_status points_begin(unda_solver *s);                                /* before the first step of a call */
unda_status points_integrate(unda_solver *s, const struct stage *stage); /* before each stage */
/* A stage of integrals or whole steps, as a has them: states, r and what counts stages. */
unda_status points_launch_integrate(unda_solver *s, struct integral_args *a);
unda_status points_launch_record(unda_solver *s, void *of); /* after each step */
unda_status points_fetch(unda_solver *s);                   /* after the last */
struct record_args points_record_args(const unda_solver *s);
void points_free(unda_solver *s);

/* cuda.c: what was captured holds no longer; the arguments of a stage. */
void batches_free(struct dg_cuda *t);
struct dg_args dg_cuda_arguments(const unda_solver *s, const struct stage *stage);

unda_status dg_cuda_advance(unda_solver *s, int64_t time);    /* the device's clock to the present step */
bool dg_cuda_graph_pays(const unda_solver *s, int64_t bytes); /* of a state of so many bytes on a device */

/* exchange_cuda.c */
unda_status dg_cuda_join(unda_solver *const *part, int32_t num_part, int transport);
unda_status dg_cuda_join_rank(unda_solver *part, const unda_ranks *ranks);
void dg_cuda_join_bytes(const struct exchange *x, int64_t num_cut, bool by_host, int64_t *host,
                        int64_t *device);
/* Messages of a part are `more` times as long and once, from its next step on (ghosts.c). */
unda_status dg_cuda_exchange_fill(unda_solver *s, double more);
void dg_cuda_exchange_free(unda_solver *s);

/* cuda.c: what a kernel has of the device, as number `at` of a profile. */
unda_status dg_cuda_resources(const unda_solver *s, const struct gpu_kernel *kernel, struct block_shape one,
                              int at, unda_profile *profile);

/* layer_cuda.c: lists and fills the arrays of layers; the pass over the elements [first, last), which goes before some
 * stages and after the others: called at both places; what is done to buffers, done to their memory variables. */
void layer_list(const unda_solver *s, struct dg_cuda *t);
int64_t layer_host_bytes(const struct dg *dg);
unda_status layer_fill(unda_solver *s, struct dg_cuda *t);
void layer_free(struct dg_cuda *t);
unda_status layer_pass(unda_solver *s, const struct stage *stage, int64_t first, int64_t last, bool before);
/* Adds the kernels of the pass, where there are layers. */
unda_status layer_profile(unda_solver *s, int64_t num_run, unda_profile *profile);
void layer_swap(unda_solver *s, int a, int b);
unda_status layer_copy(unda_solver *s, int to, int from);
unda_status layer_move(unda_solver *s, int buffer, int64_t count, const int64_t *elem, void *out,
                       const void *in);

/* cuda_team.c */
unda_status dg_cuda_run_team(unda_solver *team, int64_t num_step);

/* resident_plan.c: whether it is used, and how; from now on it is not. */
unda_status resident_plan(unda_solver *s);
void resident_give_up(unda_solver *s);
int64_t resident_mailbox_bytes(const unda_solver *s);
/* Bytes on the device that a solver with this plan of a stage would have for it besides, on an H100. */
int64_t resident_forecast(const unda_solver *s, const struct plan *stage);
/* Resources of the kernel, where the option of the plan asks for it; else they stay as they are. */
unda_status resident_compile_only(const unda_solver *s, const struct plan *stage, int compute_capability,
                                  unda_kernel_resources *resources);
/* cuda_resident.c: what it needs of receivers (elements of their rows) and sources, and of calls of max_step steps. */
unda_status resident_list(unda_solver *s, const int64_t *elem, int64_t rows);
unda_status resident_reserve(unda_solver *s);
/* Whether the next num_step steps go in launches of many; takes as many as it can of them, and records. */
bool resident_takes(const unda_solver *s, int64_t num_step);
unda_status resident_run(unda_solver *s, int64_t num_step, int64_t *time);
void resident_free(struct resident *r);
/* Adds a launch of many steps, where there are such launches. */
unda_status resident_profile(unda_solver *s, int64_t num_run, unda_profile *profile);
/* resident_monitor.c: room for the samples of num_step steps, whose bytes come first; so many of these steps are a launch
 * now; what a launch is told; adds the samples of num_step steps that a launch has taken. */
int64_t resident_sample_bytes(const unda_solver *s, int64_t num_step);
unda_status resident_sample_reserve(unda_solver *s, int64_t num_step);
int64_t resident_sample_steps(const unda_solver *s, int64_t num_step);
void resident_sample_args(const unda_solver *s, struct dg_resident_args *a);
unda_status resident_add_samples(unda_solver *s, int64_t num_step);

#endif
