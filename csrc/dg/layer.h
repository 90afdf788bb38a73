/* layer.h: absorbing layers of DG: which cells they have and what stands at their nodes, for both engines.
 * Next: layer.c, layer_faces.c, cpu_layer.c, cuda/dg/layer.h. */
#ifndef UNDA_DG_LAYER_H
#define UNDA_DG_LAYER_H

#include "../solver/integrator.h"
#include "../space/space.h"
#include "common/layer_args.h"

struct dg;

/* Cells in layers, by ascending internal number, and their items: pairs of a cell and an axis along which it is stretched.
 * All in float64. */
struct dg_layers {
    bool given; /* there are any in the whole problem, of which this may be a part */
    unda_layer side[6];
    int64_t num_elem, num_item;
    int32_t *elem;    /* [num_elem] */
    int32_t *first;   /* [num_elem + 1]: items of each */
    int32_t *axis;    /* [num_item] */
    double *profile;  /* [num_item][LAYER_NUMBER][num_node] */
    double *gradient; /* [num_elem][9][1 or num_node]: grad r_j, rows j [1/m] */
    double *coef;     /* [num_elem][num_coef][material_nodes]: of the material alone */
    double *face;     /* of tetrahedra: [num_elem][num_face][FACE_NUMBER] */
    double
        *face_coef; /* of tetrahedra, of a unit normal: [num_elem][num_face][face_materials][num_face_coef] */
    double *rate;   /* [num_elem]: how fast fields or memory variables decay [1/s] */
};

/* Checks layers [6], or NULL for none, and counts cells and items; mesh may be NULL. */
unda_status dg_layers_count(struct dg *dg, const unda_mesh *mesh, const unda_layer *layer);
/* The arrays, once materials and metrics are there. */
unda_status dg_layers_fill(struct dg *dg);
/* Nodes of a cell whose gradients differ: 1, or all where its map is not affine. */
int dg_gradient_nodes(const struct dg *dg);
/* layer_faces.c: numbers of face and of face_coef, 0 on hexahedra; the two arrays. */
int64_t dg_layers_num_face(const struct dg *dg);
int64_t dg_layers_num_face_coef(const struct dg *dg);
unda_status dg_layers_faces(struct dg *dg);
/* Bytes of them; numbers of all memory variables. */
int64_t dg_layers_bytes(const struct dg *dg);
int64_t dg_num_memory(const struct dg *dg);
/* The cells [*begin, *end) of layers among elements [first, last). */
void dg_layers_range(const struct dg_layers *layers, int64_t first, int64_t last, int64_t *begin,
                     int64_t *end);
/* The numbers among the arguments of the pass that follows a stage; the engine adds its arrays. */
struct dg_layer_args dg_layer_arguments(const unda_solver *s, const struct stage *stage);
/* Memory variables of an element as users see them, [3][num_node][num_trace] of reals, from [item][num_trace][pitch], or to it;
 * with neither they become 0. */
void dg_memory_move(const unda_solver *s, int64_t elem, int64_t pitch, void *psi, void *out, const void *in);

#endif
