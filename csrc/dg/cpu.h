/* cpu.h: the CPU engine's tables, and the stage function of each precision, physics and flux.
 * Next: cpu.c (threads, buffers), cpu_stage.inc.h (the stage). */
#ifndef UNDA_DG_CPU_H
#define UNDA_DG_CPU_H

#include "../cpu/lines.h"
#include "method.h"

enum { ROWS = 4 }; /* rows of a matrix worked on at once; padded with zeros */

struct dg_cpu_blocks; /* cpu_blocks.h */

/* Absorbing layers (layer.h), [..][pitch] or one a cell where nodes are alike. */
struct dg_cpu_layers {
    int pitch; /* nodes of a cell, filled up to whole vectors */
    void *profile, *gradient, *coef, *matrix;
    void *face, *face_coef; /* of tetrahedra, as in struct dg_layers */
    void *psi
        [NUM_BUF]; /* [item][num_trace][pitch]: memory variables and what the buffers are of them; NEW has none */
    void *work; /* [thread][LAYER_VALUES][pitch] */
};

/* All in REAL; element order internal. */
struct dg_cpu {
    void *owned; /* the arrays, but for the sampled data */
    int num_node, num_face_node, lanes;
    int num_word, num_face_coef;    /* of an element: its record, coefficients of its faces */
    int num_line_node, line_rows;   /* of hexahedra: nodes of a line, rows of its matrix at once */
    int slab;                       /* planes of nodes at once */
    int metric_nodes, metric_words; /* as in struct dg */
    double inv_end_weight;          /* 1 / the weight of a line's last point */
    bool has_local, upwind, trilinear, by_node; /* by_node: materials are */
    bool by_cell;     /* hexahedra one at a time (cpu_cell.inc.h): arrays of nodes are [elem][value][node] */
    bool read_ahead;  /* of hexahedra: states do not stay in the last cache from stage to stage */
    void *derivative; /* [row block][node][3][ROWS]; of lines [row block][node of the line][line_rows] */
    void *lift;       /* [row block][face][face node][ROWS] */
    struct dg_cpu_blocks *blocks; /* in place of both, where it pays; else NULL */
    void *record, *face_coef;
    void *cell_coef,
        *cell_face_coef; /* of cells one at a time, [elem][coef][node], [elem][face][coef][face node] */
    void *metric;        /* [block of lanes][metric_words][lane] */
    void *coordinate;    /* [node][3]: of hexahedra, where metrics are computed from maps */
    int32_t
        *face_node; /* [side + 1][face node]: nodes of each side; the last, 0, 1, 2, ..., serves exact data */
    void *buffer[NUM_BUF]; /* [elem][node][field] */
    void *work;            /* [thread][work_bytes] */
    int64_t work_bytes, num_block;
    void *amplitude, *exact; /* of the present call: [time][source], [time][slot][face node][field] */
    struct dg_cpu_layers layers;
    struct dg_parts parts;
    void *listed; /* their arrays */
};

static inline struct dg_cpu *dg_cpu_tables(const unda_solver *s)
{
    return s->data;
}
/* Where value f of node n stands in an element's [num_field][num_node], or in [num_node][num_field]. */
static inline int64_t dg_cpu_place(const unda_solver *s, int64_t node, int64_t f)
{
    const struct dg *dg = dg_tables(s);
    return dg_cpu_tables(s)->by_cell ? f * dg->space.num_node + node : node * dg->physics->num_field + f;
}
/* view.c */
unda_status dg_cpu_view(unda_solver *s, int32_t field, unda_view *view, int64_t *row);

/* points_cpu.c: after a step, the receivers that are due; before a stage, integrals. */
unda_status dg_cpu_record_due(unda_solver *s, void *of);
unda_status dg_cpu_integrate(unda_solver *s, const struct stage *stage);

/* exchange_cpu.c */
unda_status dg_cpu_join(unda_solver *const *part, int32_t num_part, int transport);
unda_status dg_cpu_join_rank(unda_solver *part, const unda_ranks *ranks);
void dg_cpu_join_bytes(const struct exchange *x, int64_t num_cut, bool by_host, int64_t *host,
                       int64_t *device);
unda_status dg_cpu_exchange_begin(unda_solver *s);
unda_status dg_cpu_exchange_end(unda_solver *s);

/* Stage of one block of elements. */
typedef void (*dg_cpu_block)(const struct dg_cpu *t, const struct dg_args *a, int kind, int64_t first,
                             int64_t block, void *work);
/* Stages that lift one jump, that lift both jumps, that take materials by node; on hexahedra the last two. */
extern const dg_cpu_block dg_cpu_acoustic_f32[3], dg_cpu_acoustic_f64[3];
extern const dg_cpu_block dg_cpu_elastic_f32[3], dg_cpu_elastic_f64[3];
extern const dg_cpu_block dg_cpu_maxwell_f32[3], dg_cpu_maxwell_f64[3];
extern const dg_cpu_block dg_cpu_hex_acoustic_f32[3], dg_cpu_hex_acoustic_f64[3];
extern const dg_cpu_block dg_cpu_hex_elastic_f32[3], dg_cpu_hex_elastic_f64[3];
extern const dg_cpu_block dg_cpu_hex_maxwell_f32[3], dg_cpu_hex_maxwell_f64[3];
/* Of hexahedra one at a time (cpu_cell.inc.h): by lines of 4 or 8 nodes; upwind, central, materials by node. */
extern const dg_cpu_block dg_cpu_cells_acoustic_f32[2][3], dg_cpu_cells_acoustic_f64[2][3];
extern const dg_cpu_block dg_cpu_cells_elastic_f32[2][3], dg_cpu_cells_elastic_f64[2][3];
extern const dg_cpu_block dg_cpu_cells_maxwell_f32[2][3], dg_cpu_cells_maxwell_f64[2][3];

#endif
