/* dt.c: the stable step of a staggered scheme in a heterogeneous medium. From one half step to
 * the next fields obey u(t + dt) - 2 u(t) + u(t - dt) = -dt^2 A u, A = R D' K D of inverse inertias R,
 * stiffnesses K and differences D; stable up to dt = 2 / sqrt(rho(A)). The formula of stencil.c uses the
 * fastest wave at any node; but the mean of two densities, or an outer weight of a difference, combines the
 * inertia of one material with the stiffness of another, and rho(A) may be larger. For waves that alternate
 * from point to point all weights of a difference have one sign, so |A| is A with |weights|, sums instead of
 * differences and even images, and for any x > 0
 *
 *     rho(A) <= rho(|A|) <= max_i (|A| x)_i / x_i   (Collatz 1942; Wielandt 1950).
 *
 * x = sqrt(R) / h_i for v_i scales A to a symmetric matrix, whose rows are all alike in a uniform medium.
 * Repeating x = |A| x lowers the bound to rho(|A|), which is rho(A) except for images of the other sign,
 * zeros beyond layers and periods of odd length. A negative lambda counts as 0, which increases K. For a curl
 * (Maxwell) the bound is max R max K times the formula's sum: exact if either is constant. Layers count
 * without their damping. Computed plane by plane, with the rows of the CPU engine; x is stored twice, and 2 M
 * + 1 planes of K D x, in float32. One of many processes does so for its slab: of x, and of K D x, of which it has all
 * planes, M planes are its neighbours' on both sides; the largest ratio is that of all. */
#include "../../base/parallel.h"
#include "cpu.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { MOST_SWEEP = 30, MOST_COUNT = 6 };
enum { LARGE = 1 << 13 }; /* values of a plane: with fewer, starting threads costs more than they save */
#define ENOUGH   0.998    /* stop after a sweep that lowers the bound by less than this */
#define ROUNDING 1e-5     /* of float32 in what a sweep finds */

/* Materials of planes x and x + 1 (none below 0): [ny + 1][nz + 1] each, so that every node has a
 * neighbour. */
struct pair {
    float *values[FD_MAX_MATERIAL];
    int64_t plane[2];
    int first; /* which of the two is x */
};

struct bound {
    bool cut;      /* a slab: of x there are planes from `first` on, neighbours' included; as many slots */
    int64_t first; /* 0 where the grid is whole */
    int64_t slots;
    int threads;
    double least;                         /* spacing [m] */
    float weight[3][MAX_HALF + 1];        /* |D_m| least / h */
    int64_t row, plane, field;            /* values of a row with images along z; of a plane; of all planes */
    float *now, *next;                    /* x and |A| x: fields of pass 0, [field][x][y][row] */
    float *stress;                        /* K D x, fields of pass 1: [field][slot][y][row] */
    int64_t slot_plane[2 * MAX_HALF + 1]; /* which plane is there */
    struct pair medium[2];                /* of each pass */
    void *raw;                            /* a plane as the engine has it */
    float *scratch;                       /* differences of a row, of each thread */
};

/* Images of all fields are even; none where the axis closes on itself. */
static int64_t image(const struct fd_axis *axis, int half, int64_t i)
{
    int32_t even[2] = {1, 1}, periodic[2] = {SIDE_PERIODIC, SIDE_PERIODIC};
    int sign;
    return fd_mirror(axis, half, axis->side[0] == SIDE_PERIODIC ? periodic : even, i, &sign);
}

static int64_t pair_plane(const struct fd *fd)
{
    return (fd->axis[1].total + 1) * (fd->axis[2].total + 1);
}

static void bound_fill(const unda_solver *s, struct bound *b)
{
    const struct fd *fd = fd_tables(s);
    double weight[MAX_HALF + 1];
    fd_staggered_difference(fd->half, weight);
    b->least = fmin(fd->axis[0].h, fmin(fd->axis[1].h, fd->axis[2].h));
    b->cut = fd_cut(fd, 0) || fd_cut(fd, 1);
    b->first = b->cut ? fd->begin - fd->half : 0;
    b->slots = fd->axis[0].total < 2 * fd->half + 1 ? fd->axis[0].total : 2 * fd->half + 1;
    if (b->cut)
        b->slots = fd->end - fd->begin + 2 * fd->half;
    b->threads = parallel_threads(s->options.threads);
    b->row = fd->axis[2].total + 2 * fd->half;
    b->plane = b->row * fd->axis[1].total;
    b->field = b->plane * (b->cut ? b->slots : fd->axis[0].total);
    for (int a = 0; a < 3; a++)
        for (int m = 1; m <= fd->half; m++)
            b->weight[a][m] = fd->axis[a].total > 1 ? (float)(fabs(weight[m]) * b->least / fd->axis[a].h) : 0;
}

/* Row y of a field at plane x. Of fields of pass 1 as many neighbouring planes are there as there are slots;
 * those beyond periodic sides are planes of their own. */
static float *row_at(const struct fd *fd, const struct bound *b, int field, int64_t x, int64_t y)
{
    const struct staggered *p = fd->physics;
    int64_t slot = (x % b->slots + b->slots) % b->slots, in = y * b->row + fd->half;
    return staggered_pass(p, field)
               ? b->stress + ((field - p->first[1]) * b->slots + slot) * b->plane + in
               : b->now + (field - p->first[0]) * b->field + (fd_held(fd, x) - b->first) * b->plane + in;
}

CLONES static void add_pairs(float *restrict out, float weight, const float *one, const float *other,
                             int64_t num)
{
#pragma omp simd
    for (int64_t z = 0; z < num; z++)
        out[z] += weight * (one[z] + other[z]);
}

/* Of a derivative in a row:
 *   sum_m |D_m| least / h (f at m - 1/2 to both sides). */
static void differences(const struct fd *fd, const struct bound *b,
                        const struct staggered_derivative *derivative, int64_t x, int64_t y, float *out)
{
    int on = staggered_half(fd->physics, derivative->target, derivative->axis);
    const int *half = fd->field[derivative->source].half;
    bool periodic = fd->axis[0].side[0] == SIDE_PERIODIC;
    memset(out, 0, (size_t)fd->axis[2].total * sizeof *out);
    for (int m = 1; m <= fd->half; m++) {
        const float *from[2];
        for (int low = 0; low < 2; low++) {
            int64_t at[3] = {x, y, 0};
            at[derivative->axis] += low ? on - m : m - 1 + on;
            if (!periodic || !staggered_pass(fd->physics, derivative->source))
                at[0] = image(&fd->axis[0], half[0], at[0]);
            from[low] = row_at(fd, b, derivative->source, at[0], image(&fd->axis[1], half[1], at[1])) + at[2];
        }
        add_pairs(out, b->weight[derivative->axis][m], from[0], from[1], fd->axis[2].total);
    }
}

static void fill_row_images(const struct fd *fd, int field, float *row)
{
    const struct fd_axis *axis = &fd->axis[2];
    int half = fd->field[field].half[2];
    for (int64_t i = 1; i <= fd->half; i++)
        row[-i] = row[image(axis, half, -i)];
    for (int64_t i = axis->total - (axis->side[0] != SIDE_PERIODIC && half); i < axis->total + fd->half; i++)
        row[i] = row[image(axis, half, i)];
}

CLONES static void drop_signs(float *row, int64_t num)
{
#pragma omp simd
    for (int64_t z = 0; z < num; z++)
        row[z] = fabsf(row[z]);
}

/* What a pass makes of fields of 0 and the differences d of its derivatives in row y, without signs. */
static void update_row(const struct fd *fd, const struct bound *b, int pass, int64_t y, float *d,
                       float *const *out)
{
    const struct staggered *p = fd->physics;
    const struct pair *medium = &b->medium[pass];
    int64_t num = fd->axis[2].total, plane = pair_plane(fd);
    struct staggered_cpu rows = {.base = {.stride = {medium->first ? -plane : plane, num + 1, 1}}};
    void *difference[FD_MAX_DERIVATIVE];
    for (int i = 0; i < fd->num_material; i++)
        rows.base.material[i] = medium->values[i] + medium->first * plane + y * (num + 1);
    for (int i = 0; i < p->num_derivative[pass]; i++)
        difference[i] = d + i * b->row;
    for (int i = 0; i < p->count[pass]; i++) {
        memset(out[i], 0, (size_t)num * sizeof(float));
        rows.base.array[p->first[pass] + i] = out[i];
    }
    staggered_cpu_f32.update[p->number][pass](&rows, difference, 0, num);
    for (int i = 0; i < p->count[pass]; i++)
        drop_signs(out[i], num);
}

/* A power of 4 near this number: such a factor does not change the digits of sums, products and roots. */
static double power_of_four(double x)
{
    return ldexp(1, 2 * (int)floor(0.5 * ilogb(x)));
}

/* The divisor of rho, a stiffness (1) or a compliance (2) with which float32 holds it in any units. */
static double unit_of(const struct fd *fd, int which)
{
    double rho = power_of_four(fd->material_first[0]),
           stiffness = rho * power_of_four(fd->speed_max) * power_of_four(fd->speed_max);
    return which == 0 ? rho : which == 1 ? stiffness : 1 / stiffness;
}

static unda_status read_material(unda_solver *s, struct bound *b, int which, int64_t x, float *to)
{
    const struct fd *fd = fd_tables(s);
    double unit = 1 / unit_of(fd, which);
    int64_t num_y = fd->axis[1].total, num_z = fd->axis[2].total;
    TRY(fd_planes(s, FD_MATERIAL + which, fd_held(fd, x), 1, b->raw, NULL));
#pragma omp parallel for num_threads(b->threads) if (b->plane > LARGE)
    for (int64_t y = 0; y <= num_y; y++) {
        int64_t from = (y < num_y ? y : 0) * num_z;
        float *row = to + y * (num_z + 1);
        for (int64_t z = 0; z < num_z; z++) {
            double value = real_get(s, b->raw, from + z);
            row[z] = (float)fmax(value * unit, 0);
        }
        row[num_z] = row[0];
    }
    return UNDA_OK;
}

/* Materials of planes x and x + 1, as a pass takes them. */
static unda_status read_materials(unda_solver *s, struct bound *b, int pass, int64_t x)
{
    const struct staggered *p = fd_tables(s)->physics;
    struct pair *medium = &b->medium[pass];
    const int64_t plane[2] = {x, (x + 1) % fd_tables(s)->axis[0].total};
    if (medium->plane[1 - medium->first] == x)
        medium->first = 1 - medium->first;
    for (int on = 0; on < 2; on++) {
        int slot = on ^ medium->first;
        bool done[FD_MAX_MATERIAL] = {false};
        if (medium->plane[slot] == plane[on])
            continue;
        for (int i = 0; i < p->num_need[pass]; i++) {
            int which = p->need[pass * p->num_need[0] + i].material;
            if (!done[which])
                TRY(read_material(s, b, which, plane[on],
                                  medium->values[which] + slot * pair_plane(fd_tables(s))));
            done[which] = true;
        }
        medium->plane[slot] = plane[on];
    }
    return UNDA_OK;
}

/* The fields of pass 1 of plane x, whose materials are those of plane `plane`. */
static unda_status stress_plane(unda_solver *s, struct bound *b, int64_t x, int64_t plane)
{
    const struct fd *fd = fd_tables(s);
    const struct staggered *p = fd->physics;
    TRY(read_materials(s, b, 1, plane));
#pragma omp parallel for num_threads(b->threads) if (b->plane > LARGE)
    for (int64_t y = 0; y < fd->axis[1].total; y++) {
        float *d = b->scratch + omp_get_thread_num() * FD_MAX_DERIVATIVE * b->row, *out[MOST_COUNT];
        for (int i = 0; i < p->num_derivative[1]; i++)
            differences(fd, b, &p->derivative[p->num_derivative[0] + i], x, y, d + i * b->row);
        for (int i = 0; i < p->count[1]; i++)
            out[i] = row_at(fd, b, p->first[1] + i, x, y);
        update_row(fd, b, 1, y, d, out);
        for (int i = 0; i < p->count[1]; i++)
            fill_row_images(fd, p->first[1] + i, out[i]);
    }
    return UNDA_OK;
}

/* The same, unless they are there or beyond a wall or layer. */
static unda_status need_stress(unda_solver *s, struct bound *b, int64_t x)
{
    const struct fd *fd = fd_tables(s);
    int64_t plane = image(&fd->axis[0], 0, x), *there = &b->slot_plane[(x % b->slots + b->slots) % b->slots];
    if (*there == plane || (x != plane && fd->axis[0].side[0] != SIDE_PERIODIC))
        return UNDA_OK;
    TRY(stress_plane(s, b, x, plane));
    *there = plane;
    return UNDA_OK;
}

/* Gives both neighbours the M outermost own planes of a field, and takes theirs. */
static unda_status swap_field(unda_solver *s, const struct bound *b, int field)
{
    const struct fd *fd = fd_tables(s);
    for (int64_t m = 0; m < fd->half; m++) { /* slots go around */
        float *out[2], *in[2];
        for (int side = 0; side < 2; side++) {
            out[side] = row_at(fd, b, field, side ? fd->end - 1 - m : fd->begin + m, 0) - fd->half;
            in[side] = row_at(fd, b, field, side ? fd->end + m : fd->begin - 1 - m, 0) - fd->half;
        }
        TRY(fd_rank_swap(s, (void **)out, (void **)in, b->plane * (int64_t)sizeof(float)));
    }
    return UNDA_OK;
}

/* All fields of pass 1 of a slab, from x as neighbours have it as well. */
static unda_status cut_stresses(unda_solver *s, struct bound *b)
{
    const struct fd *fd = fd_tables(s);
    const struct staggered *p = fd->physics;
    for (int i = 0; i < p->count[0]; i++)
        TRY(swap_field(s, b, p->first[0] + i));
    for (int64_t x = fd->begin; x < fd->end; x++)
        TRY(stress_plane(s, b, x, x));
    for (int i = 0; i < p->count[1]; i++)
        TRY(swap_field(s, b, p->first[1] + i));
    return UNDA_OK;
}

/* The largest ratio of a row of |A| x to one of x; |A| x is multiplied by `scale`, any positive number. */
CLONES static float compare(float *restrict next, const float *now, float scale, int64_t num)
{
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t z = 0; z < num; z++) {
        float ratio = next[z] / now[z], value = next[z] * scale;
        most = ratio > most ? ratio : most;
        next[z] = value > 1e-30F ? value : 1e-30F;
    }
    return most;
}

/* Row y of plane x of |A| x, divided by `largest`; returns its largest ratio to x. largest = 0: sets
 * x = sqrt(R) / h_i instead. */
static float next_row(const struct fd *fd, const struct bound *b, int64_t x, int64_t y, double largest)
{
    const struct staggered *p = fd->physics;
    float *d = b->scratch + omp_get_thread_num() * FD_MAX_DERIVATIVE * b->row, *out[MOST_COUNT], most = 0;
    for (int i = 0; i < p->num_derivative[0]; i++)
        if (largest > 0)
            differences(fd, b, &p->derivative[i], x, y, d + i * b->row);
        else
            for (int64_t z = 0; z < fd->axis[2].total; z++)
                d[i * b->row + z] = 1;
    for (int i = 0; i < p->count[0]; i++)
        out[i] = b->next + i * b->field + (x - b->first) * b->plane + y * b->row + fd->half;
    update_row(fd, b, 0, y, d, out);
    for (int i = 0; i < p->count[0]; i++) {
        int field = p->first[0] + i;
        int64_t num[3];
        for (int a = 0; a < 3; a++)
            num[a] = fd->axis[a].total - (fd->field[field].half[a] && fd->axis[a].side[0] != SIDE_PERIODIC);
        if (largest == 0)
            for (int64_t z = 0; z < num[2]; z++)
                out[i][z] = sqrtf(out[i][z]) * (float)(b->least / fd->axis[i].h);
        else if (x < num[0] && y < num[1])
            most = fmaxf(most, compare(out[i], row_at(fd, b, field, x, y), (float)(1 / largest), num[2]));
        fill_row_images(fd, field, out[i]);
    }
    return most;
}

static unda_status sweep(unda_solver *s, struct bound *b, double scale, double *largest)
{
    const struct fd *fd = fd_tables(s);
    float most = 0;
    for (int i = 0; i <= 2 * MAX_HALF; i++)
        b->slot_plane[i] = -1;
    if (b->cut && scale > 0)
        TRY(cut_stresses(s, b));
    for (int64_t x = fd->begin; x < fd->end; x++) {
        for (int64_t m = -fd->half; m <= fd->half && scale > 0 && !b->cut; m++)
            TRY(need_stress(s, b, x + m));
        TRY(read_materials(s, b, 0, x));
#pragma omp parallel for num_threads(b->threads) reduction(max : most) if (b->plane > LARGE)
        for (int64_t y = 0; y < fd->axis[1].total; y++)
            most = fmaxf(most, next_row(fd, b, x, y, scale));
    }
    SWAP(b->now, b->next);
    *largest = most;
    return fd_rank_most(s, largest);
}

/* Iterates until the bound is the formula's, or no longer decreases. */
static unda_status lower(unda_solver *s, struct bound *b, double formula, double *bound)
{
    double unit = b->least * b->least * unit_of(fd_tables(s), 0) / unit_of(fd_tables(s), 1), last, most;
    for (int i = 0; i < 4; i++)
        b->medium[i / 2].plane[i % 2] = -1;
    TRY(sweep(s, b, 0, &most));
    *bound = INFINITY;
    for (int i = 0; i < MOST_SWEEP; i++) {
        last = *bound;
        TRY(sweep(s, b, (i ? last : formula) * unit, &most));
        *bound = fmin(last, most / unit);
        if (*bound <= formula * (1 + ROUNDING) || *bound > ENOUGH * last)
            break;
    }
    return UNDA_OK;
}

/* The largest value of a material, or the least one. */
static unda_status find_extreme(unda_solver *s, int which, bool largest, double *found)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    SCRATCH void *plane = NULL;
    TRY(array_try(&plane, axis[1].total * axis[2].total, s->real_bytes, "stable step"));
    *found = largest ? 0 : INFINITY;
    for (int64_t x = fd_tables(s)->begin; x < fd_tables(s)->end; x++) {
        TRY(fd_planes(s, FD_MATERIAL + which, x, 1, plane, NULL));
        for (int64_t k = 0; k < axis[1].total * axis[2].total; k++)
            *found = (largest ? fmax : fmin)(*found, real_get(s, plane, k));
    }
    double sign = largest ? 1 : -1, most = sign * *found;
    TRY(fd_rank_most(s, &most));
    *found = sign * most;
    return UNDA_OK;
}

/* For a curl, the largest 1 / eps over the least mu takes the place of c^2 in the formula. */
static unda_status curl_bound(unda_solver *s, double formula, double *bound)
{
    double inverse_eps, mu, speed = fd_tables(s)->speed_max;
    TRY(find_extreme(s, 0, true, &inverse_eps));
    TRY(find_extreme(s, 1, false, &mu));
    *bound = formula * inverse_eps / mu / (speed * speed);
    return UNDA_OK;
}

static unda_status medium_bound(unda_solver *s, double formula, double *bound)
{
    const struct fd *fd = fd_tables(s);
    const struct staggered *p = fd->physics;
    if (p->curl)
        return curl_bound(s, formula, bound);
    struct bound b = {.slots = 0};
    bound_fill(s, &b);
    int64_t fields = p->count[0] * b.field, stresses = p->count[1] * b.slots * b.plane;
    int64_t scratch = b.threads * FD_MAX_DERIVATIVE * b.row, medium = 2 * pair_plane(fd);
    SCRATCH float *values = NULL;
    SCRATCH void *raw = NULL;
    TRY(array_try(&values, 2 * fields + stresses + scratch + 2 * fd->num_material * medium, sizeof *values,
                  "stable step"));
    TRY(array_try(&raw, fd->axis[1].total * fd->axis[2].total, s->real_bytes, "stable step"));
    b.raw = raw;
    b.now = values;
    b.next = b.now + fields;
    b.stress = b.next + fields;
    b.scratch = b.stress + stresses;
    for (int i = 0; i < 2 * fd->num_material; i++)
        b.medium[i / fd->num_material].values[i % fd->num_material] = b.scratch + scratch + i * medium;
    return lower(s, &b, formula, bound);
}

unda_status fd_staggered_medium_dt(unda_solver *s, double *dt)
{
    const struct fd *fd = fd_tables(s);
    double top = fd_staggered_stable(fd), formula = 4 / (top * top), found = 0;
    bool mixed = fd->physics->curl
                     ? fd->varies[0] && fd->varies[1]
                     : fd->varies[0] || (fd->physics->stresses && (fd->varies[1] || fd->varies[2]));
    TRY(fd_need_material(s));
    if (!mixed)
        return UNDA_OK;
    TRY(fd_rank_slab(s, &s));
    TRY(medium_bound(s, formula, &found));
    if (found > formula * (1 + ROUNDING)) /* the same digits in either precision */
        *dt = fmin(*dt, top / sqrt(ceil(found / formula * 1e4) * 1e-4));
    return UNDA_OK;
}
