/* row.c: the weights of the nodes around a point: a product of weights along the three axes.
 * Along an axis: a sinc windowed by Kaiser's function of radius 4 and b = 6.31 (Hicks 2002), accurate to 7e-4
 * at 8 nodes per wavelength and 1.3e-3 at 4. Nodes beyond a side are images.
 * Near free and fixed sides of an elastic medium fields are not mirror images. There the weights are those of
 * the polynomial through the nodes inside and the data at the side itself: the value of a field that has
 * nodes there or vanishes there, and for other fields the slope (Birkhoff interpolation),
 *     free:  d_n v_n = -lambda / (lambda + 2 mu) sum_t d_t v_t    (no normal traction),
 *     fixed: d_n s_tn = -d_t s_tt                                 (no acceleration, s_tu = 0),
 * n the normal, t and u along the side: the row of v_n includes v_t, and that of s_tn includes s_tt, at their
 * nodes on the side. So a row is a sum of products, each over the nodes of one field. */
#include "staggered/staggered.h"

#include "../base/parallel.h"

#include <math.h>
#include <string.h>

static const double RADIUS = 4, SHAPE = 6.31, I0_SHAPE = 89.276344036462888; /* bessel_i0(SHAPE) */
/* Nodes of a polynomial at a side: more swing between the last two, fewer are less exact. */
enum { SIDED_WIDTH = 6, MAX_UNKNOWN = POINT_WIDTH + 2 };
/* Cells beside such a side within which weights of a window are made to sum to 1, from which they are 4e-4 away; they
 * become what they are elsewhere within one more, so that no two points side by side differ by that. */
static const double NEAR = 4;
/* A place so near to a node, in cells, stands on it: what is chosen by place must not depend on roundings. */
static const double ON_NODE = 1e-9;

/* The windowed sinc at the nodes from `base` on, around `place`. Kaiser's window is I_0, the modified Bessel
 * function of the first kind and order 0 (Abramowitz & Stegun 1964, 9.6.12), whose further terms are below
 * 1e-17 of the sum up to SHAPE. */
static void kaiser_sinc(double place, int64_t base, double *value)
{
    enum { NUM_TERM = 24 };
    const double pi = 3.14159265358979323846;
    double d[POINT_WIDTH], x[POINT_WIDTH], term[POINT_WIDTH], sum[POINT_WIDTH];
    for (int i = 0; i < POINT_WIDTH; i++) {
        d[i] = place - (double)(base + i);
        double inside = 1 - d[i] * d[i] / (RADIUS * RADIUS);
        x[i] = SHAPE * sqrt(inside > 0 ? inside : 0);
        term[i] = sum[i] = 1;
    }
    for (int k = 1; k <= NUM_TERM; k++)
        for (int i = 0; i < POINT_WIDTH; i++) {
            term[i] *= x[i] * x[i] / (4.0 * k * k);
            sum[i] += term[i];
        }
    for (int i = 0; i < POINT_WIDTH; i++)
        value[i] = x[i] == 0 ? 0 : (d[i] == 0 ? 1 : sin(pi * d[i]) / (pi * d[i])) * sum[i] / I0_SHAPE;
}

static void add_weight(int32_t *node, double *weight, int64_t at, double value)
{
    int i = 0;
    while (weight[i] != 0 && node[i] != at)
        i++;
    node[i] = (int32_t)at;
    weight[i] += value;
}

/* ---- polynomials ---- */

/* The value (0) or a derivative (1, 2) of x^power. */
static double monomial(double x, int power, int derivative)
{
    double factor = 1;
    for (int i = 0; i < derivative; i++)
        factor *= power - i;
    return power < derivative ? 0 : factor * pow(x, power - derivative);
}

/* Solves a w = b, b in column `num` of a, where w takes its place: Gauss, largest pivots. */
static void solve(int num, double (*a)[MAX_UNKNOWN + 1])
{
    for (int k = 0; k < num; k++) {
        int best = k;
        for (int i = k + 1; i < num; i++)
            if (fabs(a[i][k]) > fabs(a[best][k]))
                best = i;
        for (int j = 0; j <= num; j++)
            SWAP(a[k][j], a[best][j]);
        for (int i = k + 1; i < num; i++) {
            double factor = a[i][k] / a[k][k];
            for (int j = k; j <= num; j++)
                a[i][j] -= factor * a[k][j];
        }
    }
    for (int k = num - 1; k >= 0; k--) {
        for (int j = k + 1; j < num; j++)
            a[k][num] -= a[k][j] * a[j][num];
        a[k][num] /= a[k][k];
    }
}

/* What the polynomial through data at `place`s, of which `is_slope` are its slopes, has at x: the weight of
 * each datum, such that all powers below `num` come out. */
static void polynomial(int num, const double *place, const bool *is_slope, double x, int derivative,
                       double *weight)
{
    const double scale = 1.0 / RADIUS;
    double matrix[MAX_UNKNOWN][MAX_UNKNOWN + 1];
    for (int power = 0; power < num; power++) {
        for (int i = 0; i < num; i++)
            matrix[power][i] =
                monomial((place[i] - place[0]) * scale, power, is_slope[i]) * (is_slope[i] ? scale : 1);
        matrix[power][num] = monomial((x - place[0]) * scale, power, derivative) * pow(scale, derivative);
    }
    solve(num, matrix);
    for (int i = 0; i < num; i++)
        weight[i] = matrix[i][num];
}

/* ---- along an axis ---- */

/* Weights of a field along an axis, and of its slopes at the two sides, which count where they are known;
 * near: 1 near a broken side, of any axis, 0 away from all. */
struct line {
    int32_t *node;
    double *weight, slope[2];
    bool know_slope;
    double near;
};

/* The last node that is not beyond a place. */
static int64_t node_below(double place)
{
    return (int64_t)floor(place + ON_NODE);
}

/* Places of a polynomial: `width` around the point, those beyond broken sides put inside. */
static void choose_places(const struct fd *fd, int f, int a, double place, int width, int64_t *first,
                          int64_t *end)
{
    const struct fd_field *field = &fd->field[f];
    int64_t beyond = fd->axis[a].total - field->half[a];
    *first = node_below(place) - width / 2 + 1;
    if (field->broken[a][1] && *first + width > beyond)
        *first = beyond - width;
    if (field->broken[a][0] && *first < 0)
        *first = 0;
    *end = *first + width;
    if (field->broken[a][1] && *end > beyond)
        *end = beyond;
}

static void polynomial_line(const struct fd *fd, int f, int a, double place, int derivative, int width,
                            struct line *line)
{
    const struct fd_axis *axis = &fd->axis[a];
    const struct fd_field *field = &fd->field[f];
    double data[MAX_UNKNOWN], weight[MAX_UNKNOWN], unit = pow(axis->h, -derivative);
    bool is_slope[MAX_UNKNOWN] = {false};
    int64_t first, end;
    int num = 0, side_of[MAX_UNKNOWN];
    choose_places(fd, f, a, place, width, &first, &end);
    for (int64_t i = first; i < end; i++)
        data[num++] = (double)i;
    for (int side = 0; side < 2 && field->half[a]; side++) {
        bool beside = side ? end == axis->total - 1 : first == 0, even = field->sign[a][side] > 0;
        if (!field->broken[a][side] || !beside || (even && !line->know_slope))
            continue;
        is_slope[num] = even; /* else 0 on the side */
        side_of[num] = side;
        data[num] = side ? (double)(axis->total - 1) - 0.5 : -0.5;
        if (!even && !derivative && fabs(place - data[num]) < ON_NODE)
            return;
        num++;
    }
    polynomial(num, data, is_slope, place, derivative, weight);
    for (int i = 0; i < num; i++) {
        int sign;
        if (first + i >= end) {
            if (is_slope[i])
                line->slope[side_of[i]] = weight[i] * unit * axis->h;
            continue;
        }
        int64_t at = fd_mirror(axis, field->half[a], field->sign[a], first + i, &sign);
        if (sign * weight[i] != 0)
            add_weight(line->node, line->weight, at, sign * weight[i] * unit);
    }
}

/* Weights of the value (0) or a derivative (1, 2) of a field along axis a. */
static void line_of(const struct fd *fd, int f, int a, double x, int derivative, struct line *line)
{
    const struct fd_axis *axis = &fd->axis[a];
    const struct fd_field *field = &fd->field[f];
    double half = axis->total > 1 ? 0.5 * field->half[a] : 0;
    double place = (x - axis->origin) / axis->h + (double)axis->first - half, whole = nearbyint(place);
    int64_t base = node_below(place) - POINT_WIDTH / 2 + 1;
    bool on_node = fabs(place - whole) < ON_NODE || axis->total == 1;
    for (int i = 0; i < POINT_WIDTH; i++) {
        line->node[i] = 0;
        line->weight[i] = 0;
    }
    line->slope[0] = line->slope[1] = 0;
    if (derivative && axis->total == 1)
        return;
    bool low = field->broken[a][0] && base < 0;
    bool high = field->broken[a][1] && base + POINT_WIDTH > axis->total - field->half[a];
    if (derivative || ((low || high) && !on_node)) {
        int width = low || high ? SIDED_WIDTH : POINT_WIDTH;
        polynomial_line(fd, f, a, place, derivative, width, line);
        return;
    }
    double sum = 0, window[POINT_WIDTH] = {1};
    if (on_node)
        base = (int64_t)whole;
    else
        kaiser_sinc(place, base, window);
    for (int i = 0; i < POINT_WIDTH; i++)
        sum += window[i];
    for (int i = 0; i < POINT_WIDTH; i++) {
        int sign;
        int64_t at = fd_mirror(axis, field->half[a], field->sign[a], base + i, &sign);
        double value = sign * window[i] / (1 - line->near + line->near * sum);
        if (value != 0)
            add_weight(line->node, line->weight, at, value);
    }
}

/* ---- products ---- */

/* Adds `factor` times a derivative at `from` to what stands in a line. */
static void add_line(const struct fd *fd, int f, int a, double from, int derivative, double factor,
                     struct fd_product *product)
{
    int32_t node[POINT_WIDTH];
    double weight[POINT_WIDTH];
    struct line line = {.node = node, .weight = weight, .near = 1};
    line_of(fd, f, a, from, derivative, &line);
    for (int i = 0; i < POINT_WIDTH; i++)
        if (weight[i] != 0)
            add_weight(product->node[a], product->weight[a], node[i], factor * weight[i]);
}

/* Splits the nodes along z at the widest gap between them: runs low .. low + num - 1. Nodes that have no
 * weight stay in the middle of a run. */
static void split(const struct fd_product *p, int32_t *low, int32_t *num)
{
    int32_t node[POINT_WIDTH], count = 0, cut = 0;
    for (int k = 0; k < POINT_WIDTH; k++) {
        if (p->weight[2][k] == 0)
            continue;
        int at = count++;
        for (; at > 0 && node[at - 1] > p->node[2][k]; at--)
            node[at] = node[at - 1];
        node[at] = p->node[2][k];
    }
    for (int i = 1; i < count; i++)
        if (node[i] - node[i - 1] > (cut ? node[cut] - node[cut - 1] : 1))
            cut = i;
    low[0] = count ? node[0] : 0;
    low[1] = node[cut];
    num[0] = count ? node[cut ? cut - 1 : count - 1] - low[0] + 1 : 0;
    num[1] = cut ? node[count - 1] - low[1] + 1 : 0;
}

int fd_product_runs(const struct fd *fd, const struct fd_product *p, struct fd_run *run, int32_t *place)
{
    int32_t low[2], num[2];
    int count = 0;
    split(p, low, num);
    for (int k = 0; k < POINT_WIDTH; k++)
        place[k] = num[1] && p->node[2][k] >= low[1] ? ~(p->node[2][k] - low[1]) : p->node[2][k] - low[0];
    for (int line = 0; line < POINT_LINES; line++) {
        int i = line / POINT_WIDTH, j = line % POINT_WIDTH;
        int64_t first = (p->node[0][i] * fd->axis[1].total + p->node[1][j]) * fd->axis[2].total;
        for (int n = 0; n < 2 && p->weight[0][i] != 0 && p->weight[1][j] != 0; n++)
            if (num[n])
                run[count++] = (struct fd_run){first + low[n], num[n], n * POINT_LINES + line};
    }
    return count;
}

static double side_place(const struct fd_axis *axis, int side)
{
    return axis->origin + (double)((side ? axis->total - 1 : 0) - axis->first) * axis->h;
}

/* The product that gives slopes[side] times the slope of a field along `normal` there, but for the medium's
 * part in it: minus the derivative along `along` of field `source`. Where the line along `along` has slopes
 * of its own (others), the two products count the mixed derivative twice: one of them takes it back. */
static void join(const struct fd *fd, const struct staggered_slope *slope, const double *x,
                 const double *slopes, const double *others, struct fd_product *product)
{
    product->field = slope->source;
    for (int a = 0; a < 3; a++) {
        struct line line = {.node = product->node[a], .weight = product->weight[a], .near = 1};
        if (a != slope->normal)
            line_of(fd, slope->source, a, x[a], a == slope->along, &line);
    }
    for (int side = 0; side < 2; side++)
        if (others[side] != 0 && slope->normal < slope->along)
            add_line(fd, slope->source, slope->along, side_place(&fd->axis[slope->along], side), 2,
                     -others[side], product);
    memset(product->weight[slope->normal], 0, sizeof product->weight[0]);
    for (int side = 0; side < 2; side++) {
        product->node[slope->normal][side] = side ? (int32_t)fd->axis[slope->normal].total - 1 : 0;
        product->weight[slope->normal][side] = -slopes[side];
    }
}

/* 1 within NEAR cells of a broken side of field f, 0 from one cell more on. */
static double nearness(const struct fd *fd, int f, const double *x)
{
    double near = 0;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++)
            if (fd->field[f].broken[a][side])
                near = fmax(near, NEAR + 1 - fabs(x[a] - side_place(&fd->axis[a], side)) / fd->axis[a].h);
    return fmin(near, 1);
}

int fd_num_part(const struct fd *fd)
{
    return fd->physics && fd->physics->slope ? FD_MAX_PART : 1;
}

/* row: [part], `num` apart. like: see fd_rows; those of this point. */
static void point_row(const struct fd *fd, int f, const double *x, int64_t num,
                      const struct fd_product *const like[3], struct fd_product *row)
{
    double slopes[3][2];
    double near = nearness(fd, f, x);
    row->field = f;
    for (int a = 0; a < 3; a++) {
        struct line line = {row->node[a], row->weight[a], {0}, true, near};
        if (like[a] && near == 0) {
            memcpy(line.node, like[a]->node[a], sizeof row->node[a]);
            memcpy(line.weight, like[a]->weight[a], sizeof row->weight[a]);
        } else
            line_of(fd, f, a, x[a], 0, &line);
        memcpy(slopes[a], line.slope, sizeof line.slope);
    }
    for (int part = 1; part < fd_num_part(fd); part++) {
        const struct staggered_slope *slope = &fd->physics->slope[(FD_MAX_PART - 1) * f + part - 1];
        const double *here = slopes[slope->normal];
        row[part * num].field = -1;
        if (fd->axis[slope->along].total > 1 && (here[0] != 0 || here[1] != 0))
            join(fd, slope, x, here, slopes[slope->along], &row[part * num]);
    }
}

/* ---- the medium's part in slopes ---- */

/* The four nodes on a side around a point, and what a linear interpolation takes of them. */
static void side_nodes(const struct fd *fd, int normal, int side, const double *x, int64_t *node,
                       double *share)
{
    int64_t at[3][2];
    double part[3][2];
    for (int a = 0; a < 3; a++) {
        const struct fd_axis *axis = &fd->axis[a];
        double place = a == normal       ? (double)(side ? axis->total - 1 : 0)
                       : axis->total > 1 ? (x[a] - axis->origin) / axis->h + (double)axis->first
                                         : 0;
        int64_t low = (int64_t)floor(fmin(fmax(place, 0), (double)(axis->total - 1)));
        at[a][0] = low;
        at[a][1] = low + 1 < axis->total ? low + 1 : axis->side[0] == SIDE_PERIODIC ? 0 : low;
        part[a][1] = place - (double)low;
        part[a][0] = 1 - part[a][1];
    }
    int p = (normal + 1) % 3, q = (normal + 2) % 3;
    for (int i = 0; i < 4; i++) {
        int64_t place[3];
        place[normal] = at[normal][0];
        place[p] = at[p][i & 1];
        place[q] = at[q][i >> 1];
        node[i] = (place[0] * fd->axis[1].total + place[1]) * fd->axis[2].total + place[2];
        share[i] = part[p][i & 1] * part[q][i >> 1];
    }
}

enum { EACH = 8 * (FD_MAX_PART - 1) }; /* [part - 1][side][4] nodes of a point */

/* Which slope the nodes from number i on are for, and where its product stands. */
static const struct staggered_slope *slope_at(const struct fd *fd, int f, int64_t i)
{
    return &fd->physics->slope[(FD_MAX_PART - 1) * f + (int)(i / 8 % (FD_MAX_PART - 1))];
}

/* Multiplies the weights at sides by the medium's part there. values: [material][point][part - 1][side][4]. */
static void weigh_slopes(const struct fd *fd, int f, int64_t num, const double *points,
                         struct fd_product *row, const int64_t *node, const double *values)
{
    for (int64_t i = 0; i < EACH * num; i += 4) {
        int side = i / 4 % 2, normal = slope_at(fd, f, i)->normal;
        struct fd_product *product = &row[(1 + i / 8 % (FD_MAX_PART - 1)) * num + i / EACH];
        double factor = 0, share[4];
        int64_t unused[4];
        if (product->field < 0)
            continue;
        side_nodes(fd, normal, side, points + 3 * (i / EACH), unused, share);
        for (int k = 0; k < 4; k++) {
            double material[FD_MAX_MATERIAL];
            for (int which = 0; which < fd->num_material; which++)
                material[which] = values[which * EACH * num + i + k];
            factor += share[k] *
                      fd->physics->slope_of(material, f, __builtin_popcount(fd_free_sides(fd, node[i + k])));
        }
        product->weight[normal][side] *= factor;
    }
}

/* So many one thread takes, while the others still spin. */
enum { FEW_POINTS = 200 };

bool fd_rows_alike(const struct fd *fd, int f, int g, int a)
{
    const struct fd_field *one = &fd->field[f], *other = &fd->field[g];
    return one->half[a] == other->half[a] && one->sign[a][0] == other->sign[a][0] &&
           one->sign[a][1] == other->sign[a][1] &&
           memcmp(one->broken, other->broken, sizeof one->broken) == 0;
}

unda_status fd_rows(unda_solver *s, int f, int64_t num, const double *points,
                    const struct fd_product *const like[3], struct fd_product *row)
{
    const struct fd *fd = fd_tables(s);
    bool joined = false;
    int32_t threads = parallel_few(s->options.threads);
    double share[4];
#pragma omp parallel for schedule(static) num_threads(threads) if (num > FEW_POINTS)
    for (int64_t i = 0; i < num; i++) {
        const struct fd_product *here[3];
        for (int a = 0; a < 3; a++)
            here[a] = like[a] ? like[a] + i : NULL;
        point_row(fd, f, points + 3 * i, num, here, &row[i]);
    }
    for (int64_t i = num; i < fd_num_part(fd) * num && !joined; i++)
        joined = row[i].field >= 0;
    if (!joined)
        return UNDA_OK;
    SCRATCH int64_t *node = NULL;
    SCRATCH double *values = NULL;
    TRY(fd_need_material(s));
    TRY(array_try(&node, EACH * num, sizeof *node, "points"));
    TRY(array_try(&values, EACH * fd->num_material * num, sizeof *values, "points"));
    for (int64_t i = 0; i < EACH * num; i += 4)
        side_nodes(fd, slope_at(fd, f, i)->normal, i / 4 % 2, points + 3 * (i / EACH), node + i, share);
    for (int which = 0; which < fd->num_material; which++)
        TRY(fd_engine(s)->gather(s, FD_MATERIAL + which, EACH * num, node, values + which * EACH * num));
    weigh_slopes(fd, f, num, points, row, node, values);
    return UNDA_OK;
}
