/* staggered.c: the table of physics on the staggered grid: parities at sides, materials, energies.
 * A side at the outermost nodes is a mirror: every field continues evenly or oddly, the two fields of a
 * difference across it with opposite parity. With half a cell's weight for nodes on the side the two
 * differences are then adjoint to each other, so energy is conserved and reciprocity is exact. For the free
 * side of an elastic medium this is Levander's (1988) imaging of the stresses, with velocities imaged evenly.
 * Beyond a layer all fields are 0: an infinite grid is cut off there, which keeps the differences adjoint,
 * too. */
#include "../fd/staggered/staggered.h"

#include <math.h>
#include <stddef.h>

#define DEVICE static inline __attribute__((unused))
#define REAL   double
#define TABLE  static const
#define UNROLL

/* Mean over the corners that a field takes of one material. */
static double mean(const fd_corners corner, unsigned char stagger, int which)
{
    double sum = 0;
    int num = 0;
    for (int c = 0; c < 8; c++)
        if ((c & ~stagger) == 0) {
            sum += corner[c][which];
            num++;
        }
    return sum / num;
}

/* What a header in cuda/physics and the functions here define under names of the same form. */
#define COMMON(physics, PHYSICS)                                                                             \
    .number = UNDA_##PHYSICS, .header = "physics/staggered_" #physics ".h", .num_field = PHYSICS##_FIELDS,   \
    .num_material = PHYSICS##_MATERIAL, .first = {physics##_first0, physics##_first1},                       \
    .count = {physics##_count0, physics##_count1},                                                           \
    .num_derivative = {physics##_derivatives0, physics##_derivatives1}, .derivative = physics##_derivatives, \
    .stagger = physics##_stagger, .need = physics##_needs, .num_need = {physics##_needs0, physics##_needs1}, \
    .parity = physics##_parity, .material = physics##_material, .inertia = physics##_inertia,                \
    .gain = physics##_gain

/* ---- acoustic ---- */

#define FN(name) acoustic_##name
#include "physics/staggered_acoustic.h"

/* Free: p is odd, and the gradient along the side with it. */
static int acoustic_parity(int32_t condition, int field, int axis)
{
    int p = condition == UNDA_BOUNDARY_FREE ? -1 : 1;
    return field == 1 + axis ? -p : p;
}

static double acoustic_material(const struct fd *fd, const double *m, int which, int num_free)
{
    (void)fd;
    (void)num_free;
    return which == 0 ? m[0] : m[0] * m[1] * m[1];
}

static double acoustic_inertia(const fd_corners corner, int field)
{
    return field == 0 ? 1 / corner[0][1] : mean(corner, acoustic_stagger[field], 0);
}

static double acoustic_gain(const fd_corners corner, int field, const double *rates, int free)
{
    (void)free;
    if (field == 0)
        return rates[0] + corner[0][1] * rates[ACOUSTIC_FIELDS];
    return rates[field] / acoustic_inertia(corner, field);
}

static const struct staggered acoustic = {COMMON(acoustic, ACOUSTIC), .num_parameter = 2, .half_sign = -1};

/* ---- elastic ---- */

#undef FN
#define FN(name) elastic_##name
#include "physics/staggered_elastic.h"

/* How many of a stress's two axes are this one. */
static int along(int field, int axis)
{
    static const int axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
    return (axes[field - 3][0] == axis) + (axes[field - 3][1] == axis);
}

/* Free: the traction is odd. Fixed: the velocity. Symmetry: the normal velocity and the shear traction. */
static int elastic_parity(int32_t condition, int field, int axis)
{
    bool velocity = field < 3, normal = field == axis;
    switch (condition) {
    case UNDA_BOUNDARY_FREE:
        return velocity || along(field, axis) == 0 ? 1 : -1;
    case UNDA_BOUNDARY_FIXED:
        return velocity || (field >= 6 && along(field, axis) == 0) ? -1 : 1;
    default:
        return velocity ? (normal ? -1 : 1) : along(field, axis) == 1 ? -1 : 1;
    }
}

/* On a free side the normal stress stays 0: the strain rate along it, -lambda / (lambda + 2 mu) times the
 * others' sum, leaves of lambda 2 mu lambda / (lambda + 2 mu); on an edge of two sides the same again.
 * Velocities there are even, so that the difference of the normal one is 0 by itself. */
static double elastic_material(const struct fd *fd, const double *m, int which, int num_free)
{
    (void)fd;
    double mu = m[0] * m[2] * m[2], lambda = m[0] * m[1] * m[1] - 2 * mu;
    for (int i = 0; i < num_free; i++)
        lambda = mu > 0 ? 2 * mu * lambda / (lambda + 2 * mu) : 0;
    return which == 0 ? m[0] : which == 1 ? lambda : mu > 0 ? 1 / mu : INFINITY;
}

static double elastic_inertia(const fd_corners corner, int field)
{
    if (field < 3)
        return mean(corner, elastic_stagger[field], 0);
    double soft = mean(corner, elastic_stagger[field], 2);
    return isinf(soft) ? 0 : soft; /* shear; of normal stresses see staggered/energy.c */
}

/* Of a moment M the stress of a solid takes all; where n of its axes p are normal to free sides, along the
 * others (f) what keeps s_pp = 0: M_f - lambda' / (2 mu) sum_p M_p, lambda' as kept there. A fluid bears no
 * shear: of a moment that reaches into one its nodes take the isotropic part. Rates past the volume: strains
 * times mu along each axis, of moments beside fixed sides (row.c). */
static double elastic_gain(const fd_corners corner, int field, const double *rates, int free)
{
    if (field < 3)
        return rates[field] / elastic_inertia(corner, field);
    bool fluid = isinf(mean(corner, elastic_stagger[field], 2));
    if (field >= 6)
        return fluid ? 0 : rates[field];
    const double *strain = rates + ELASTIC_FIELDS + 1;
    double lambda = corner[0][1], mu = 1 / corner[0][2], num_normal = 3;
    double moment = fluid ? (rates[3] + rates[4] + rates[5]) / 3 : rates[field];
    for (int a = 0; a < 3; a++)
        if (free >> a & 1) {
            num_normal--;
            moment = fluid ? 0 : moment - 0.5 * lambda / mu * rates[3 + a];
        }
    if (!fluid)
        moment += lambda / mu * (strain[0] + strain[1] + strain[2]) + 2 * strain[field - 3];
    return moment - (num_normal * lambda + 2 * mu) / 3 * rates[ELASTIC_FIELDS];
}

static bool elastic_breaks(int32_t condition)
{
    return condition == UNDA_BOUNDARY_FREE || condition == UNDA_BOUNDARY_FIXED;
}

static const struct staggered_slope elastic_slopes[ELASTIC_FIELDS][2] = {
    {{0, 1, 1}, {0, 2, 2}}, {{1, 0, 0}, {1, 2, 2}}, {{2, 0, 0}, {2, 1, 1}}, {{0}}, {{0}}, {{0}},
    {{1, 2, 5}, {2, 1, 4}}, {{0, 2, 5}, {2, 0, 3}}, {{0, 1, 4}, {1, 0, 3}}};

/* Of velocities nu = lambda / (lambda + 2 mu), which is lambda' / (2 mu) with what is kept on one free side;
 * on n the kept one gives nu / (1 + (n - 1) nu), in a fluid nu is 1. Of stresses 1, and 0 in a fluid, which
 * slides along a wall. */
static double elastic_slope(const double *material, int field, int num_free)
{
    bool fluid = isinf(material[2]);
    double kept = 0.5 * material[1] * material[2];
    if (field >= 3)
        return fluid ? 0 : 1;
    return fluid ? 1 : kept / (1 - (num_free - 1) * kept);
}

/* A force stays one. A moment M_tn beside a fixed side is a strain along t, too, M_tn / mu: minus the slope
 * of s_tn is d_t s_tt. */
static void elastic_join(int source, double rate, double *rates)
{
    rates[source < 3 ? source : ELASTIC_FIELDS + 1 + source - 3] = rate;
}

static const struct staggered elastic = {COMMON(elastic, ELASTIC),
                                         .num_parameter = 3,
                                         .half_sign = 1,
                                         .stresses = 1,
                                         .breaks = elastic_breaks,
                                         .slope = elastic_slopes[0],
                                         .slope_of = elastic_slope,
                                         .join = elastic_join};

/* ---- Maxwell ---- */

#undef FN
#define FN(name) maxwell_##name
#include "physics/staggered_maxwell.h"

/* PEC: the tangential E and the normal H are odd; PMC: the others. */
static int maxwell_parity(int32_t condition, int field, int axis)
{
    bool electric = field < 3, normal = field % 3 == axis;
    return (electric == normal ? 1 : -1) * (condition == UNDA_BOUNDARY_PMC ? -1 : 1);
}

/* sigma dt / (2 eps) beyond 2^60 makes of E -E to the last bit, as 2^60 does, and must not overflow. */
static double maxwell_material(const struct fd *fd, const double *m, int which, int num_free)
{
    (void)num_free;
    if (which == 1)
        return m[1];
    return (which == 0 ? 1 : fmin(m[2] * fd->half_dt / m[0], 0x1p60)) / m[0];
}

static double maxwell_inertia(const fd_corners corner, int field)
{
    return field < 3 ? 1 / mean(corner, maxwell_stagger[field], 0) : mean(corner, maxwell_stagger[field], 1);
}

static double maxwell_gain(const fd_corners corner, int field, const double *rates, int free)
{
    (void)free;
    double inertia = maxwell_inertia(corner, field);
    double loss = field < 3 ? mean(corner, maxwell_stagger[field], 2) * inertia * inertia : 0;
    return rates[field] / (inertia + loss);
}

static const struct staggered maxwell = {COMMON(maxwell, MAXWELL), .num_parameter = 3, .half_sign = -1,
                                         .curl = 1};

const struct staggered *const staggered_physics[] = {
    [UNDA_ACOUSTIC] = &acoustic, [UNDA_ELASTIC] = &elastic, [UNDA_MAXWELL] = &maxwell};
