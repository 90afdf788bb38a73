/* dg.c: the tables of nodal DG that both engines use: geometry, materials, neighbours, stable time step.
 * Everything in float64, relative to each element's first vertex, so that large coordinates cost no digits.
 * Not here: fields and stages (dg_cpu.inc.h, dg_cuda.c). */
#include "dg.h"

#include "common/index.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Edges e_j = x_j - x_0 of an internal element, rows j. */
static void edges(const unda_mesh *mesh, int64_t elem, double e[3][3])
{
    const int64_t *v = mesh->sorted + 4 * elem;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            e[j][i] = mesh->vertices[3 * v[j + 1] + i] - mesh->vertices[3 * v[0] + i];
}

static void cross(const double *a, const double *b, double *c)
{
    c[0] = a[1] * b[2] - a[2] * b[1];
    c[1] = a[2] * b[0] - a[0] * b[2];
    c[2] = a[0] * b[1] - a[1] * b[0];
}

/* grad r_1 = e_2 x e_3 / det and cyclically; det = +-6 V by the sorted order of the vertices. */
static double gradients_of(double e[3][3], double g[9])
{
    for (int j = 0; j < 3; j++)
        cross(e[(j + 1) % 3], e[(j + 2) % 3], g + 3 * j);
    double det = e[0][0] * g[0] + e[0][1] * g[1] + e[0][2] * g[2];
    for (int i = 0; i < 9; i++)
        g[i] /= det;
    return det;
}

static double gradients(const unda_mesh *mesh, int64_t elem, double g[9])
{
    double e[3][3];
    edges(mesh, elem, e);
    return gradients_of(e, g);
}

double dg_volume(const unda_mesh *mesh, int64_t elem)
{
    double g[9];
    return fabs(gradients(mesh, elem, g)) / 6;
}

void dg_coordinates(const struct dg *dg, int64_t elem, double *x)
{
    const unda_mesh *mesh = dg->mesh;
    double e[3][3];
    const double *x0 = mesh->vertices + 3 * mesh->sorted[4 * elem];
    edges(mesh, elem, e);
    for (int n = 0; n < dg->num_node; n++) {
        const double *r = dg->element->nodes + 3 * n;
        for (int i = 0; i < 3; i++)
            x[3 * n + i] = x0[i] + (r[0] * e[0][i] + r[1] * e[1][i] + r[2] * e[2][i]);
    }
}

void dg_basis(const struct dg *dg, int64_t elem, const double *x, double *basis, double *gradient)
{
    const unda_mesh *mesh = dg->mesh;
    int n = dg->num_node;
    const double *x0 = mesh->vertices + 3 * mesh->sorted[4 * elem];
    double g[9], r[3], slope[3 * MAX_NODE]; /* g: of the reference coordinates r, whatever a record holds */
    gradients(mesh, elem, g);
    for (int j = 0; j < 3; j++)
        r[j] = g[3 * j] * (x[0] - x0[0]) + g[3 * j + 1] * (x[1] - x0[1]) + g[3 * j + 2] * (x[2] - x0[2]);
    element_basis(dg->element, r, basis, gradient ? slope : NULL);
    for (int i = 0; gradient && i < 3; i++)
        for (int node = 0; node < n; node++)
            gradient[i * n + node] =
                g[i] * slope[node] + g[3 + i] * slope[n + node] + g[6 + i] * slope[2 * n + node];
}

/* |grad lambda_f| of the four faces; returns det. */
static double scales(const unda_mesh *mesh, int64_t elem, double scale[4])
{
    double g[9], det = gradients(mesh, elem, g), sum[3] = {0, 0, 0};
    for (int j = 0; j < 3; j++) {
        scale[j + 1] = sqrt(g[3 * j] * g[3 * j] + g[3 * j + 1] * g[3 * j + 1] + g[3 * j + 2] * g[3 * j + 2]);
        for (int i = 0; i < 3; i++)
            sum[i] += g[3 * j + i];
    }
    scale[0] = sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
    return det;
}

/* Materials, and each element's record. */
static unda_status copy_material(struct dg *dg, const unda_mesh *mesh, const double *material)
{
    const struct physics *physics = dg->physics;
    int num_material = physics->num_material;
    if (!material)
        FAIL(UNDA_ERR_ARG, "material is NULL, expected [%lld][%d]", (long long)dg->num_elem, num_material);
    for (int64_t e = 0; e < dg->num_elem; e++) {
        const double *from = material + num_material * mesh->order[e];
        const char *why = physics->refuse(from);
        if (why) {
            char found[128];
            for (int i = 0, n = 0; i < num_material; i++)
                n += snprintf(found + n, sizeof found - (size_t)n, i ? ", %g" : "%g", from[i]);
            FAIL(UNDA_ERR_ARG, "material of element %lld: %s, found %s", (long long)mesh->order[e], why,
                 found);
        }
        memcpy(dg->material + num_material * e, from, sizeof(double) * num_material);
        double edge[3][3], gradient[9];
        edges(mesh, e, edge);
        double det = gradients_of(edge, gradient);
        memcpy(dg->record + dg->num_word * e, physics->grad_div ? gradient : edge[0], sizeof gradient);
        physics->coefficients(from, det, dg->record + dg->num_word * e + 9);
    }
    return UNDA_OK;
}

/* Neighbour codes of common/index.h, and what a face needs of the materials on both sides: boundaries have
 * the same on both. */
static unda_status connect(struct dg *dg, const unda_mesh *mesh, const int32_t *boundary)
{
    const struct physics *physics = dg->physics;
    int conditions = physics->conditions | 1 << UNDA_BOUNDARY_ABSORBING | 1 << UNDA_BOUNDARY_EXACT;
    for (int64_t i = 0; i < 4 * dg->num_elem; i++) {
        int32_t neighbor = mesh->neighbor[i];
        int64_t behind = i / 4;
        double scale[4], det = scales(mesh, i / 4, scale);
        if (neighbor >= 0) {
            behind = neighbor / 4;
        } else {
            int32_t condition = boundary ? boundary[-1 - neighbor] : UNDA_BOUNDARY_ABSORBING;
            if (condition < 0 || condition > UNDA_BOUNDARY_EXACT || !(1 << condition & conditions))
                FAIL(UNDA_ERR_ARG, "boundary %d has condition %d, expected one that %s media have",
                     -1 - neighbor, condition, physics->name);
            neighbor = -1 - condition;
            if (condition == UNDA_BOUNDARY_EXACT)
                neighbor -= (int32_t)dg->num_exact_face++;
        }
        dg->neighbor[i] = neighbor;
        physics->face_coefficients(dg->material + physics->num_material * (i / 4),
                                   dg->material + physics->num_material * behind, scale[i % 4], det,
                                   dg->face_coef + physics->num_face_coef * i);
    }
    TRY(array_try(&dg->exact_face, dg->num_exact_face, sizeof(int64_t), "exact faces"));
    for (int64_t i = 0; i < 4 * dg->num_elem; i++)
        if (dg->neighbor[i] <= -1 - BOUNDARY_EXACT)
            dg->exact_face[-1 - BOUNDARY_EXACT - dg->neighbor[i]] = i;
    return UNDA_OK;
}

/* One kind of wave in an element: speed and impedance. */
struct wave {
    double speed, impedance;
};

static struct wave wave_of(const struct dg *dg, int64_t elem, int kind)
{
    double speed[MAX_WAVE], impedance[MAX_WAVE];
    dg->physics->waves(dg->material + dg->physics->num_material * elem, speed, impedance);
    return (struct wave){speed[kind], impedance[kind]};
}

/* The speed that limits dt. The central flux couples p and v across a face with sqrt(K- / rho+), in the
 * energy norm sqrt(Z-/Z+ c- c+), above both speeds where impedances differ; the upwind flux does not. */
static double limiting_speed(const struct dg *dg, const unda_mesh *mesh, int64_t elem, int kind)
{
    struct wave in = wave_of(dg, elem, kind);
    double limit = in.speed;
    for (int64_t i = 4 * elem; dg->flux == UNDA_CENTRAL && i < 4 * elem + 4; i++) {
        if (mesh->neighbor[i] < 0)
            continue;
        struct wave out = wave_of(dg, mesh->neighbor[i] / 4, kind);
        if (in.impedance > 0 && out.impedance > 0) { /* not S at a fluid: nothing is coupled */
            double contrast = fmax(in.impedance / out.impedance, out.impedance / in.impedance);
            limit = fmax(limit, sqrt(contrast * in.speed * out.speed));
        }
    }
    return limit;
}

static const double WALL_WEIGHT = 1.2;

/* Layers of flat cells, which the meshes of benchmarks/stability.py do not have, bring the spectrum this much
 * closer to the limit (by flux; random boxes, periodic ones too, down to 1:100); absorbing faces, upwind
 * among central ones, a little more. */
static const double LAYERS[2] = {[UNDA_UPWIND] = 0.9, [UNDA_CENTRAL] = 0.78};
static const double CENTRAL_ABSORBING_WEIGHT = 1.25;

/* dq/dt = -q is damped up to this step. */
static const double REAL_AXIS[2] = {[UNDA_LSRK4] = 4.6, [UNDA_AB3] = 6. / 11};

/* How much more than between equal elements a face may hold an element back: the damping of its p and vn by
 * the upwind flux is 2 Z / (Z- + Z+) times as strong with Z the larger impedance, and a wall is like a
 * neighbour without any impedance. */
static double face_weight(const struct dg *dg, int64_t face, int kind)
{
    int32_t neighbor = dg->neighbor[face];
    if (neighbor == -1 - BOUNDARY_ABSORBING)
        return dg->flux == UNDA_CENTRAL ? CENTRAL_ABSORBING_WEIGHT : 1;
    if (neighbor < 0)
        return neighbor <= -1 - BOUNDARY_EXACT ? 1 : WALL_WEIGHT;
    double z_in = wave_of(dg, face / 4, kind).impedance, z_out = wave_of(dg, neighbor / 4, kind).impedance;
    return z_in > 0 ? 2 * fmax(z_in, z_out) / (z_in + z_out) : 0;
}

/* Where an element also loses energy by itself (conduction), the two rates add up: the stable region holds
 * the triangle between the ends of its axes. */
static void stable_steps(struct dg *dg, const unda_mesh *mesh, int integrator)
{
    const struct physics *physics = dg->physics;
    double limit = LAYERS[dg->flux] * dg_stable(integrator, dg->flux, dg->element->degree);
    for (int64_t e = 0; e < dg->num_elem; e++) {
        double scale[4], rate = 0;
        scales(mesh, e, scale);
        for (int kind = 0; kind < physics->num_wave; kind++) {
            double sum = 0;
            for (int face = 0; face < 4; face++)
                sum += face_weight(dg, 4 * e + face, kind) * scale[face];
            rate = fmax(rate, limiting_speed(dg, mesh, e, kind) * sum / limit);
        }
        if (physics->num_decay)
            rate += dg->record[dg->num_word * e + 9 + physics->num_coef - 1] / REAL_AXIS[integrator];
        dg->elem_dt[e] = 1 / rate;
    }
}

/* Units whose coefficients a real cannot hold: they would become 0 or infinity on the way to the engine. */
static unda_status check_range(const struct dg *dg, const unda_mesh *mesh, int precision)
{
    const struct physics *physics = dg->physics;
    double low = precision == UNDA_FLOAT32 ? FLT_MIN : DBL_MIN;
    double high = precision == UNDA_FLOAT32 ? FLT_MAX : DBL_MAX;
    for (int64_t e = 0; e < dg->num_elem; e++) {
        const double *coef = dg->record + dg->num_word * e + 9;
        const double *face = dg->face_coef + 4 * physics->num_face_coef * e;
        double least = dg->elem_dt[e], most = least;
        for (int i = 0; i < physics->num_coef + 4 * physics->num_face_coef; i++) {
            double x = fabs(i < physics->num_coef ? coef[i] : face[i - physics->num_coef]);
            least = x > 0 ? fmin(least, x) : least; /* exact zeros stay zeros */
            most = fmax(most, x);
        }
        if (!(least >= low && most <= high))
            FAIL(UNDA_ERR_ARG,
                 "element %lld: its coefficients reach from %.3g to %.3g, beyond %s; use other units%s",
                 (long long)mesh->order[e], least, most, precision == UNDA_FLOAT32 ? "float32" : "float64",
                 precision == UNDA_FLOAT32 ? " or float64" : "");
    }
    return UNDA_OK;
}

static unda_status fill(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *o)
{
    int64_t num_elem = mesh->num_elem;
    const struct physics *physics = dg->physics;
    TRY(element_new(&dg->element, mesh->shape, o->degree));
    TRY(array_try(&dg->material, num_elem * physics->num_material, sizeof(double), "materials"));
    TRY(array_try(&dg->record, num_elem * dg->num_word, sizeof(double), "geometry"));
    TRY(array_try(&dg->face_coef, num_elem * 4 * physics->num_face_coef, sizeof(double),
                  "face coefficients"));
    TRY(array_try(&dg->neighbor, num_elem * 4, sizeof(int32_t), "neighbours"));
    TRY(array_try(&dg->elem_dt, num_elem, sizeof(double), "time steps"));
    TRY(copy_material(dg, mesh, o->material));
    TRY(connect(dg, mesh, o->boundary));
    stable_steps(dg, mesh, o->integrator);
    return check_range(dg, mesh, o->precision);
}

unda_status dg_sizes(struct dg *dg, const unda_mesh *mesh, const unda_solver_options *o)
{
    if (o->physics < 0 || o->physics >= num_physics)
        FAIL(UNDA_ERR_ARG, "physics is %d, expected 0 (%s) to %d (%s): the library solves no others",
             o->physics, physics_table[0]->name, num_physics - 1, physics_table[num_physics - 1]->name);
    int n = o->degree;
    dg->physics = physics_table[o->physics];
    dg->flux = o->flux;
    dg->num_elem = mesh ? mesh->num_elem : 0;
    dg->num_node = (n + 1) * (n + 2) * (n + 3) / 6;
    dg->num_face_node = (n + 1) * (n + 2) / 2;
    dg->integration = (struct integration){.kind = integrators[o->integrator], .num_elem = dg->num_elem};
    dg->num_word = ELEM_WORDS(dg->physics->num_coef);
    return UNDA_OK;
}

int64_t dg_host_bytes(const struct dg *dg)
{
    const struct physics *p = dg->physics;
    int64_t reals = p->num_material + dg->num_word + 4 * p->num_face_coef + 1;
    return dg->num_elem * (reals * (int64_t)sizeof(double) + 4 * (int64_t)sizeof(int32_t));
}

unda_status dg_new(struct dg **out, const unda_mesh *mesh, const unda_solver_options *o)
{
    if (mesh->shape != UNDA_TET)
        FAIL(UNDA_ERR_ARG, "DG needs a mesh of tetrahedra");
    struct dg *dg;
    TRY(array_try(&dg, 1, sizeof *dg, "DG tables"));
    mesh_hold(mesh);
    dg->mesh = mesh;
    unda_status status = dg_sizes(dg, mesh, o);
    if (status == UNDA_OK)
        status = fill(dg, mesh, o);
    if (status != UNDA_OK) {
        dg_free(dg);
        return status;
    }
    *out = dg;
    return UNDA_OK;
}

void dg_free(struct dg *dg)
{
    if (!dg)
        return;
    unda_mesh_free((unda_mesh *)dg->mesh);
    element_free(dg->element);
    array_free(dg->incident);
    array_free(dg->material);
    array_free(dg->record);
    array_free(dg->face_coef);
    array_free(dg->neighbor);
    array_free(dg->exact_face);
    array_free(dg->elem_dt);
    array_free(dg);
}

bool dg_decays(const struct dg *dg)
{
    const struct physics *physics = dg->physics;
    for (int64_t e = 0; physics->num_decay && e < dg->num_elem; e++)
        if (dg->record[dg->num_word * e + 9 + physics->num_coef - 1] != 0)
            return true;
    return false;
}

double dg_stable(int integrator, int flux, int degree)
{
    /* [integrator][flux][degree], from benchmarks/stability.py. */
    static const double limits[2][2][MAX_DEGREE + 1] = {
        [UNDA_LSRK4] = {[UNDA_UPWIND] = {0, 0.8272, 0.5165, 0.3557, 0.2587, 0.1964, 0.1535, 0.1231, 0.1008,
                                         0.08391},
                        [UNDA_CENTRAL] = {0, 1.066, 0.5979, 0.383, 0.2663, 0.1959, 0.15, 0.1185, 0.09598,
                                          0.07932}},
        [UNDA_AB3] = {[UNDA_UPWIND] = {0, 0.09689, 0.0605, 0.04166, 0.0303, 0.023, 0.01798, 0.01442, 0.0118,
                                       0.009826},
                      [UNDA_CENTRAL] = {0, 0.2116, 0.1286, 0.08296, 0.05769, 0.04243, 0.03249, 0.02566,
                                        0.02079, 0.01718}},
    };
    return limits[integrator][flux][degree];
}

int64_t dg_flops(const struct dg *dg, int integrator)
{
    const struct physics *p = dg->physics;
    int64_t node = dg->num_node, face_node = dg->num_face_node;
    int jumps = p->num_jump[dg->flux];
    int64_t update = integrator == UNDA_AB3 ? 6 : 4; /* a value */
    return node * (node * p->volume_flops + p->reference_flops + p->num_field * update) +
           4 * node * (face_node * 2 * jumps + p->spread_flops[dg->flux]) +
           4 * face_node * p->jump_flops[dg->flux];
}

int64_t dg_bytes(const struct dg *dg, int integrator, int real_bytes)
{
    const struct physics *p = dg->physics;
    int arrays = integrator == UNDA_AB3 ? 5 : 4; /* read q and residuals, write q and one residual */
    int64_t tables = 9 + p->num_coef + 4 * p->num_face_coef;
    return real_bytes * (arrays * (int64_t)dg->num_node * p->num_field + tables) +
           4 * (int64_t)sizeof(int32_t);
}
