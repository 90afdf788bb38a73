/* kernel.h: the interface of a DG kernel on CUDA devices: one object per file, listed at the end.
 * A block takes `tile` elements, a stage runs the kernel's functions one after the other on ranges of blocks.
 * Next: kernel_fused.c, kernel_node.c; cuda/dg (what they compute). */
#ifndef UNDA_DG_KERNEL_H
#define UNDA_DG_KERNEL_H

#include "../gpu/gpu.h"
#include "method.h"

enum { MAX_FUNCTION = 6 };

struct plan;
/* How states stand in device memory: cuda/layout. */
struct layout {
    const char *file;
    int unit;    /* a state has room for a whole number of so many elements */
    bool padded; /* plan.km elements have room for plan.pitch nodes, which the layout is told */
    /* Fills num and stride of a view of a field (unda_solver_view), [block][element of the block][node], as state_index of
     * the file has them; returns where its first value is. */
    int64_t (*place_view)(const unda_solver *s, const struct plan *plan, int32_t field, unda_view *view);
};
extern const struct layout layout_nodes;
/* Numbers of a view, and their strides. */
static inline void view_shape(unda_view *view, const int64_t num[3], const int64_t stride[3])
{
    for (int a = 0; a < 3; a++) {
        view->num[a] = num[a];
        view->stride[a] = stride[a];
    }
}

struct block_shape {
    int threads, shared_bytes;
    int tile,
        parts; /* elements, of which plan.tile is a multiple, and blocks that share them; 0: plan.tile, 1 */
};

struct dg_kernel;
/* A kernel and the values of its parts for one solver. */
struct plan {
    const struct dg_kernel *kernel;
    int part[UNDA_MAX_PART];         /* in the order of kernel->base.part */
    int tile, threads, shared_bytes; /* elements, threads, bytes of dynamic shared memory of a block */
    /* of functions whose blocks have other threads and memory than these; 0 threads: they have not */
    struct block_shape own[MAX_FUNCTION];
    /* rows of the matrices that are stored side by side, see plan_pack_rows */
    int rows;
    int resident; /* blocks that an SM's shared memory has room for, the rest is L1; 0: the driver decides */
    int64_t num_matrix, num_table; /* numbers of the kernel's matrices and of its table on the device */
    int tile_pad, tile_room;       /* TILE_PAD of cuda/dg/tile.h, 0: its rule; TILE_ROOM */
    int pitch;                     /* nodes that km elements have room for, where the layout is padded */
    int km;                        /* 0: 1 */
    bool tf32;                     /* matrix products by a library may round to TF32 */
};

struct dg_kernel {
    struct kernel base;
    const char *file;
    const struct layout *layout;
    int num_function;
    const char *function[MAX_FUNCTION];
    int work[MAX_FUNCTION]; /* what each does of a stage: WORK_VOLUME | .. of dg.h */
    int capability;         /* compute capability that it needs, 80 for 8.0; 0: any */
    bool has_rhs;           /* its functions pass the right-hand side to each other in device memory */
    /* Whether "auto" takes it before those that follow in the list; NULL: always. */
    bool (*preferred)(const unda_solver *s);
    /* Default values of the parts for a physics, precision and degree. */
    void (*table)(const unda_solver *s, int part[UNDA_MAX_PART]);
    /* Derives the rest of the plan from its parts; refuses parts that do not fit together. */
    unda_status (*settle)(const unda_solver *s, struct plan *plan);
    /* Adds the kernel's own defines to those of every kernel. */
    void (*define)(const unda_solver *s, const struct plan *plan, struct gpu_defines *defines);
    /* Fills matrix [num_matrix] and table [num_table], which are zero, in the kernel's own order; NULL: it has none. */
    unda_status (*pack)(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table);
    /* NULL, or reals that its functions pass to each other besides the right-hand side. */
    int64_t (*scratch)(const unda_solver *s, const struct plan *plan);
    /* Operations and bytes of a function, an element; NULL: those of its work. */
    void (*count)(const unda_solver *s, int part, double *flops, double *bytes);
    /* NULL: all its functions are in its file. */
    const struct dg_library *library;
};
/* What a kernel needs that leaves some of its functions to cuBLAS. */
struct dg_library {
    bool product[MAX_FUNCTION]; /* which */
    /* Queues product number `part` of the elements [begin, end) on the stream. */
    unda_status (*multiply)(unda_solver *s, int part, int64_t begin, int64_t end);
    /* Reals an element that products read and write besides states. */
    int64_t (*reals)(const unda_solver *s, const struct plan *plan);
    /* Operations and bytes of any function, an element. */
    void (*count)(const unda_solver *s, int part, double *flops, double *bytes);
};
static inline bool plan_is_product(const struct plan *plan, int function)
{
    return plan->kernel->library && plan->kernel->library->product[function];
}
/* All kernels, each in kernel_NAME.c (f1 and f1s beside base); "auto" takes the first one of the shape that is
 * preferred. */
#define DG_KERNELS(of)                                                                                       \
    of(tensor) of(blocks) of(fused) of(node) of(element) of(gemm) of(microblock) of(columns) of(lines)       \
        of(base) of(f1) of(f1s)
#define DG_KERNEL(name) extern const struct dg_kernel dg_kernel_##name;
DG_KERNELS(DG_KERNEL)

/* kernels.c. Bytes of struct tile of cuda/dg/tile.h for such a plan; cols: elements a thread. */
int plan_tile_bytes(const unda_solver *s, const struct plan *plan, int cols);
/* Words between the fields of one node and the next there: PAD. */
int plan_tile_pad(const unda_solver *s, const struct plan *plan, int cols);
/* The plan that options ask for; needs only the sizes and the capability in dg_tables(s): "auto" takes no kernel that
 * needs a higher one. */
unda_status plan_choose(const unda_solver *s, struct plan *plan);
/* Whether products in float64 may be left to tensor cores: on a device, or one that is not known, that has them. */
bool plan_has_double_tensor_cores(const unda_solver *s);
/* cuda_resident.c: whether many steps of kernel fused in one launch pay for so few elements: then "auto" takes it. Of an
 * H100, so that a forecast, which knows no device, has the same kernel. */
bool plan_is_resident(const unda_solver *s);
/* Refuses a device that lacks what the kernel needs. */
unda_status plan_check_device(const struct plan *plan, int compute_capability);
/* Derivative [node][3][group][rows], lift [face][face node][group][rows]; group g holds rows g, g + groups, ...
 * plan_count_rows: num_matrix of such a plan. */
void plan_count_rows(const unda_solver *s, struct plan *plan);
unda_status plan_pack_rows(const unda_solver *s, const struct plan *plan, double *matrix, int32_t *table);
/* place_view of cuda/layout/fields.h. */
int64_t plan_place_fields(const unda_solver *s, const struct plan *plan, int32_t field, unda_view *view);
/* Defines of kernels that go along lines: METRIC_KIND, LINE_DERIVATIVE, LINE_WEIGHT, LINE_POINT. */
void plan_define_lines(const unda_solver *s, struct gpu_defines *defines);

#endif
