/* layer_faces.c: faces of tetrahedra in layers: normals, materials on both sides, and what the pass does there (layer.c).
 * Next: cpu_layer_faces.inc.h. */
#include "dg.h"

#include <math.h>

/* A component of a unit normal that is rounding alone. */
static const double SMALL = 1e-6;

int64_t dg_layers_num_face(const struct dg *dg)
{
    return dg->metric_nodes ? 0 : dg->layers.num_elem * dg->space.num_face * FACE_NUMBER;
}

int64_t dg_layers_num_face_coef(const struct dg *dg)
{
    return dg->metric_nodes ? 0 : dg->layers.num_elem * dg_num_face_coef(dg);
}

/* Solid on one side, fluid on the other: the upwind flux of an axis is not that of the face. */
static bool is_contact(const struct dg *dg, int64_t face)
{
    for (int m = 0; m < dg->face_materials && dg->physics->num_wave > 1; m++) {
        const double *side[2];
        double speed[MAX_WAVE], one[MAX_WAVE], other[MAX_WAVE];
        dg_sides(dg, face, m, side);
        dg->physics->waves(side[0], speed, one);
        dg->physics->waves(side[1], speed, other);
        if ((one[1] > 0) != (other[1] > 0))
            return true;
    }
    return false;
}

/* Not a sponge alone. A profile is one number a cell here. */
static bool is_stretched(const struct dg *dg, int64_t item)
{
    const double *profile = dg->layers.profile + item * LAYER_NUMBER * dg->space.num_node;
    return profile[LAYER_GAIN * dg->space.num_node] > 0 || profile[LAYER_LESS * dg->space.num_node] < 0;
}

/* Kind of a face of normal n; axes: along which its cell is stretched. */
static int kind_of(const struct dg *dg, int64_t face, const double *n, const bool axes[3])
{
    int across = (n[0] != 0) + (n[1] != 0) + (n[2] != 0);
    bool layered = (axes[0] && n[0] != 0) || (axes[1] && n[1] != 0) || (axes[2] && n[2] != 0);
    if (dg->flux != UNDA_UPWIND || !layered)
        return FACE_MEAN;
    if (across == 1)
        return FACE_AXIS;
    return dg->space.neighbor[face] < 0 || is_contact(dg, face) ? FACE_MEAN : FACE_SPLIT;
}

/* n = m / |m|, without what is rounding; returns |m|. */
static double put_normal(const double m[3], double n[3])
{
    double length = sqrt(m[0] * m[0] + m[1] * m[1] + m[2] * m[2]), sum = 0;
    for (int i = 0; i < 3; i++) {
        n[i] = fabs(m[i]) < SMALL * length ? 0 : m[i] / length;
        sum += n[i] * n[i];
    }
    for (int i = 0; i < 3; i++)
        n[i] /= sqrt(sum);
    return length;
}

/* t_1 across n and the axis it is least along, t_2 = n x t_1. */
static void put_tangents(const double n[3], double t[6])
{
    int axis = fabs(n[0]) <= fabs(n[1]) ? 0 : 1;
    axis = fabs(n[2]) < fabs(n[axis]) ? 2 : axis;
    int j = (axis + 1) % 3, k = (axis + 2) % 3;
    double length = sqrt(n[j] * n[j] + n[k] * n[k]);
    t[axis] = 0;
    t[j] = n[k] / length;
    t[k] = -n[j] / length;
    for (int i = 0; i < 3; i++)
        t[3 + i] = n[(i + 1) % 3] * t[(i + 2) % 3] - n[(i + 2) % 3] * t[(i + 1) % 3];
}

unda_status dg_layers_faces(struct dg *dg)
{
    struct dg_layers *l = &dg->layers;
    const struct physics *physics = dg->physics;
    int num_face = dg->space.num_face, num_coef = physics->num_face_coef;
    if (dg_layers_num_face(dg) == 0)
        return UNDA_OK;
    TRY(array_own(&dg->owned, &l->face, dg_layers_num_face(dg), sizeof(double), "layers"));
    TRY(array_own(&dg->owned, &l->face_coef, dg_layers_num_face_coef(dg), sizeof(double), "layers"));
    for (int64_t i = 0; i < l->num_elem * num_face; i++) {
        int64_t cell = i / num_face, face = (int64_t)l->elem[cell] * num_face + i % num_face;
        const double *g = l->gradient + 9 * cell;
        double m[3] = {0, 0, 0}, *to = l->face + FACE_NUMBER * i;
        bool axes[3] = {false, false, false};
        for (int item = l->first[cell]; item < l->first[cell + 1]; item++)
            axes[l->axis[item]] = is_stretched(dg, item);
        for (int j = 0; j < 3; j++)
            for (int k = 0; k < 3; k++)
                m[k] += dg->space.mesh->table->normal[i % num_face][j] * g[3 * j + k];
        to[FACE_LENGTH] = put_normal(m, to + FACE_NORMAL);
        to[FACE_KIND] = kind_of(dg, face, to + FACE_NORMAL, axes);
        put_tangents(to + FACE_NORMAL, to + FACE_TANGENT);
        for (int at = 0; at < dg->face_materials; at++) {
            const double *side[2];
            double *coef = l->face_coef + num_coef * (dg->face_materials * i + at);
            dg_sides(dg, face, at, side);
            physics->face_coefficients(side[0], side[1], coef);
            dg_join_metric(physics->face_coef_power, num_coef, 1, coef);
        }
    }
    return UNDA_OK;
}
