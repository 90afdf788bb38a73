/* fd_method.c: finite differences as a method of the solver: options, axes, materials and state in the user's
 * numbering. Not here: what is particular to a scheme (scalar.c, staggered.c), points (points.c), steps (the
 * engines). */
#include "fd.h"

#include "../base/parallel.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

/* ---- creation ---- */

static const struct fd_scheme *const schemes[] = {
    [UNDA_SCALAR] = &fd_scalar, [UNDA_STAGGERED] = &fd_staggered};
enum { NUM_SCHEME = sizeof schemes / sizeof *schemes };

/* Bits 1 << unda_boundary, by unda_physics. */
enum { EVERYWHERE = 1 << UNDA_BOUNDARY_ABSORBING | 1 << UNDA_BOUNDARY_PERIODIC };
static const uint32_t fd_conditions[] = {
    [UNDA_ACOUSTIC] = EVERYWHERE | 1 << UNDA_BOUNDARY_FREE | 1 << UNDA_BOUNDARY_RIGID,
    [UNDA_ELASTIC] =
        EVERYWHERE | 1 << UNDA_BOUNDARY_FREE | 1 << UNDA_BOUNDARY_FIXED | 1 << UNDA_BOUNDARY_SYMMETRY,
    [UNDA_MAXWELL] = EVERYWHERE | 1 << UNDA_BOUNDARY_PEC | 1 << UNDA_BOUNDARY_PMC};

static unda_status check_axis(const unda_solver_options *o, int a)
{
    const unda_fd_options *f = o->fd;
    char name = "xyz"[a];
    if (f->shape[a] < 1 || f->shape[a] > INT32_MAX / 2)
        FAIL(UNDA_ERR_ARG, "shape along %c is %lld, expected 1..%d", name, (long long)f->shape[a],
             INT32_MAX / 2);
    if (!(isfinite(f->spacing[a]) && f->spacing[a] > 0) || !isfinite(f->origin[a]))
        FAIL(UNDA_ERR_ARG, "spacing along %c is %g, origin %g, expected finite numbers, spacing > 0", name,
             f->spacing[a], f->origin[a]);
    for (int side = 0; side < 2; side++) {
        int32_t condition = o->boundary[2 * a + side];
        uint32_t known = fd_conditions[o->physics];
        if (condition < 0 || condition > 31 || !(known >> condition & 1))
            FAIL(UNDA_ERR_ARG, "boundary %c%s is %d, expected a condition of physics %d (bits %#x)", name,
                 side ? "max" : "min", condition, o->physics, known);
        int64_t layer = f->layer[2 * a + side];
        double reflection = f->reflection[2 * a + side];
        if (condition == UNDA_BOUNDARY_ABSORBING &&
            (layer < 1 || layer > INT32_MAX / 8 || !(reflection > 0 && reflection < 1)))
            FAIL(UNDA_ERR_ARG, "layer at %c%s has %lld nodes and reflection %g, expected 1..%d and 0..1",
                 name, side ? "max" : "min", (long long)layer, reflection, INT32_MAX / 8);
    }
    if ((o->boundary[2 * a] == UNDA_BOUNDARY_PERIODIC) != (o->boundary[2 * a + 1] == UNDA_BOUNDARY_PERIODIC))
        FAIL(UNDA_ERR_ARG, "one side of %c is periodic; expected both or none", name);
    return UNDA_OK;
}

static unda_status check(const unda_solver_options *o)
{
    const unda_fd_options *f = o->fd;
    CHECK_SIZE(f, unda_fd_options);
    if (f->scheme < 0 || f->scheme >= NUM_SCHEME || o->physics < 0 || o->physics > UNDA_MAXWELL)
        FAIL(UNDA_ERR_ARG, "physics is %d, scheme %d, expected 0..%d and 0..%d", o->physics, f->scheme,
             UNDA_MAXWELL, NUM_SCHEME - 1);
    TRY(schemes[f->scheme]->check(o));
    if (f->order < 2 || f->order > 2 * MAX_HALF || f->order % 2)
        FAIL(UNDA_ERR_ARG, "order is %d, expected an even number, 2..%d", f->order, 2 * MAX_HALF);
    if (!(isfinite(f->speed_max) && f->speed_max > 0))
        FAIL(UNDA_ERR_ARG, "speed_max is %g, expected a finite number > 0", f->speed_max);
    bool tiled = o->kernel == UNDA_KERNEL_TILED && o->device == UNDA_DEVICE_CPU;
    bool diamond = o->kernel == UNDA_KERNEL_DIAMOND && o->device != UNDA_DEVICE_CPU;
    if (o->kernel != UNDA_KERNEL_AUTO && o->kernel != UNDA_KERNEL_STEP && !tiled && !diamond)
        FAIL(UNDA_ERR_ARG, "kernel is %d, expected %d (auto), %d (step) or %d (%s)", o->kernel,
             UNDA_KERNEL_AUTO, UNDA_KERNEL_STEP,
             o->device == UNDA_DEVICE_CPU ? UNDA_KERNEL_TILED : UNDA_KERNEL_DIAMOND,
             o->device == UNDA_DEVICE_CPU ? "tiled" : "diamond");
    if (tiled && o->boundary &&
        (o->boundary[0] == UNDA_BOUNDARY_PERIODIC || o->boundary[2] == UNDA_BOUNDARY_PERIODIC))
        FAIL(UNDA_ERR_ARG, "x or y is periodic, along which kernel tiled marches; expected kernel step");
    if (f->window < -1)
        FAIL(UNDA_ERR_ARG, "window is %d, expected rows of y, 0 (none) or -1 (auto)", f->window);
    if (f->window > 0 && (f->scheme != UNDA_SCALAR || o->device == UNDA_DEVICE_CPU))
        FAIL(UNDA_ERR_ARG,
             "window is %d, expected 0 or -1: only the scalar scheme on CUDA devices has windows", f->window);
    int most = f->scheme == UNDA_STAGGERED ? 64 : 16;
    if (o->plan[0] < 0 || o->plan[0] > most || o->plan[1] < 0)
        FAIL(UNDA_ERR_ARG, "plan is {%d, %d}, expected 0..%d rows of a block or steps of a tile, >= 0 planes",
             o->plan[0], o->plan[1], most);
    if (!o->boundary)
        FAIL(UNDA_ERR_ARG, "boundary is NULL, expected [6]");
    for (int a = 0; a < 3; a++)
        TRY(check_axis(o, a));
    return UNDA_OK;
}

static void fill_axis(const struct fd *fd, struct fd_axis *axis, const unda_solver_options *o, int a)
{
    const unda_fd_options *f = o->fd;
    int64_t layer[2];
    for (int side = 0; side < 2; side++) {
        int32_t condition = o->boundary[2 * a + side];
        bool absorbs = condition == UNDA_BOUNDARY_ABSORBING;
        layer[side] = absorbs ? f->layer[2 * a + side] + fd->scheme->end_node : 0;
        axis->side[side] = condition == UNDA_BOUNDARY_PERIODIC ? SIDE_PERIODIC
                           : condition == UNDA_BOUNDARY_FREE || (absorbs && fd->scheme->end_node)
                               ? SIDE_FREE
                               : SIDE_RIGID;
    }
    axis->num = f->shape[a];
    axis->first = layer[0];
    axis->total = layer[0] + axis->num + layer[1];
    axis->h = f->spacing[a];
    axis->origin = f->origin[a];
}

static const struct engine *engine(const unda_solver_options *o)
{
    const unda_fd_options *f = o->fd;
    return f && f->scheme > 0 && f->scheme < NUM_SCHEME ? schemes[f->scheme]->engine(o) : fd_scalar.engine(o);
}

static unda_status sizes(unda_solver *s, const unda_solver_options *o)
{
    TRY(check(o));
    TRY(array_try(&s->fd, 1, sizeof *s->fd, "FD tables"));
    struct fd *fd = s->fd;
    double nodes = 1;
    fd->scheme = schemes[o->fd->scheme];
    fd->half = o->fd->order / 2;
    fd->uniform = o->fd->uniform;
    fd->speed_max = o->fd->speed_max;
    fd->window = o->fd->window;
    fd->num_node = 1;
    for (int a = 0; a < 3; a++) {
        fill_axis(fd, &fd->axis[a], o, a);
        nodes *= (double)fd->axis[a].total;
        if (nodes > 0x1p59)
            FAIL(UNDA_ERR_ARG, "the grid has %g nodes with its layers, expected at most 2^59", nodes);
        fd->num_node *= fd->axis[a].total;
    }
    TRY(fd->scheme->sizes(s, o));
    if (!isfinite(s->dt_stable))
        FAIL(UNDA_ERR_ARG, "the grid has one node along each axis, expected more along one at least");
    return UNDA_OK;
}

static unda_status create(unda_solver *s, const unda_solver_options *o)
{
    TRY(sizes(s, o));
    struct fd *fd = s->fd;
    if (!fd->uniform)
        return array_try(&fd->given, fd->axis[0].num, 1, "materials");
    if (!o->material)
        FAIL(UNDA_ERR_ARG, "material is NULL, expected one value of each parameter (uniform)");
    return fd->scheme->check_material(fd, o->material);
}

/* dt is known: the rest of the tables. */
static unda_status prepare(unda_solver *s, const unda_solver_options *o)
{
    return s->fd->scheme->prepare(s, o);
}

static void destroy(unda_solver *s)
{
    if (!s->fd)
        return;
    for (int a = 0; a < 3; a++) {
        array_free(s->fd->axis[a].damp);
        for (int half = 0; half < 2; half++) {
            array_free(s->fd->axis[a].cpml[half].b);
            array_free(s->fd->axis[a].cpml[half].a);
            array_free(s->fd->axis[a].cpml[half].k);
        }
    }
    array_free(s->fd->given);
    array_free(s->fd);
    s->fd = NULL;
}

static void info(const unda_solver *s, unda_solver_info *info)
{
    const struct fd *fd = s->fd;
    info->num_field = fd->num_field;
    info->num_node = 1;
    info->num_elem = fd->axis[0].num * fd->axis[1].num * fd->axis[2].num;
    for (int a = 0; a < 3; a++)
        info->padded[a] = fd->axis[a].total;
    fd->scheme->info(s, info);
}

/* ---- times ---- */

static int64_t num_time(const unda_solver *s, int64_t num_step)
{
    (void)s;
    return num_step;
}

static void times(const unda_solver *s, int64_t num_step, double *times)
{
    for (int64_t i = 0; i < num_step; i++)
        times[i] = s->t0 + (s->step + i) * s->dt;
}

/* ---- state ---- */

static unda_status check_planes(int64_t first, int64_t count, int64_t num)
{
    if (first < 0 || count < 0 || first > num - count)
        FAIL(UNDA_ERR_ARG, "first is %lld, count is %lld, expected planes within 0..%lld", (long long)first,
             (long long)count, (long long)num - 1);
    return UNDA_OK;
}

/* The user's part of a plane with layers. */
static void crop(const unda_solver *s, const char *whole, char *out)
{
    const struct fd_axis *y = &s->fd->axis[1], *z = &s->fd->axis[2];
    int64_t bytes = z->num * s->real_bytes;
    for (int64_t j = 0; j < y->num; j++)
        memcpy(out + j * bytes, whole + ((y->first + j) * z->total + z->first) * s->real_bytes,
               (size_t)bytes);
}

static void copy_signed(const unda_solver *s, void *array, int64_t to, int64_t from, int sign)
{
    if (s->real_bytes == 4)
        ((float *)array)[to] = (float)sign * ((float *)array)[from];
    else
        ((double *)array)[to] = sign * ((double *)array)[from];
}

/* Half a cell beyond a wall a field is an image, whatever an engine has there; sign: of the plane. */
static void fill_images(const unda_solver *s, int field, int sign, void *whole)
{
    const struct fd_axis *ay = &s->fd->axis[1], *az = &s->fd->axis[2];
    const struct fd_field *f = &s->fd->field[field];
    for (int64_t y = 0; y < ay->total; y++)
        for (int64_t z = 0; z < az->total; z++) {
            int sign_y, sign_z;
            int64_t j = fd_mirror(ay, f->half[1], f->sign[1], y, &sign_y);
            int64_t k = fd_mirror(az, f->half[2], f->sign[2], z, &sign_z);
            if (j != y || k != z)
                copy_signed(s, whole, y * az->total + z, j * az->total + k, sign_y * sign_z);
        }
    for (int64_t i = 0; i < ay->total * az->total && sign < 0; i++)
        copy_signed(s, whole, i, i, sign);
}

static unda_status read_field(unda_solver *s, int array, int64_t first, int64_t count, char *out)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t bytes = axis[1].num * axis[2].num * s->real_bytes;
    int field = array < s->fd->num_field ? array : 0;
    char *whole;
    TRY(array_try(&whole, axis[1].total * axis[2].total, s->real_bytes, "planes"));
    unda_status status = UNDA_OK;
    for (int64_t i = 0; i < count && status == UNDA_OK; i++) {
        const struct fd_field *f = &s->fd->field[field];
        int sign;
        int64_t from = fd_mirror(&axis[0], f->half[0], f->sign[0], axis[0].first + first + i, &sign);
        status = fd_planes(s, array, from, 1, whole, NULL);
        if (status != UNDA_OK)
            break;
        fill_images(s, field, sign, whole);
        crop(s, whole, out + i * bytes);
    }
    array_free(whole);
    return status;
}

/* What is odd about a side is zero there, whatever is written: the outermost nodes of a box along `a`. */
static unda_status zero_pinned(unda_solver *s, int array, const struct fd_box *all, int a)
{
    int field = array < s->fd->num_field ? array : 0;
    for (int side = 0; side < 2; side++) {
        struct fd_box box = *all;
        box.first[a] += side ? box.num[a] - 1 : 0;
        box.num[a] = 1;
        if (!fd_pinned(s->fd, field, a, box.first[a]))
            continue;
        void *zero;
        TRY(array_try(&zero, box.num[0] * box.num[1] * box.num[2], s->real_bytes, "planes"));
        unda_status status = fd_engine(s)->box(s, array, &box, NULL, zero);
        array_free(zero);
        TRY(status);
    }
    return UNDA_OK;
}

static unda_status write_field(unda_solver *s, int array, int64_t first, int64_t count, const void *in)
{
    const struct fd_axis *axis = s->fd->axis;
    struct fd_box box = {{axis[0].first + first, axis[1].first, axis[2].first},
                         {count, axis[1].num, axis[2].num}};
    if (count == 0)
        return UNDA_OK;
    TRY(fd_engine(s)->box(s, array, &box, NULL, in));
    for (int a = 0; a < 3; a++)
        TRY(zero_pinned(s, array, &box, a));
    return UNDA_OK;
}

static unda_status move_field(unda_solver *s, int array, int64_t first, int64_t count, void *out,
                              const void *in)
{
    TRY(check_planes(first, count, s->fd->axis[0].num));
    return out ? read_field(s, array, first, count, out) : write_field(s, array, first, count, in);
}

static unda_status move(unda_solver *s, int32_t array, int64_t first, int64_t count, void *out,
                        const void *in)
{
    const struct fd *fd = s->fd;
    int num = fd->scheme->num_array(fd), slab = array - UNDA_WHOLE - num;
    if (array >= UNDA_FIELD && array < UNDA_FIELD + num)
        return move_field(s, array - UNDA_FIELD, first, count, out, in);
    if (slab >= 0 && slab < fd->num_slab) {
        TRY(check_planes(first, count, fd->slab[slab].num[0]));
        return fd_engine(s)->slab(s, slab, first, count, out, in);
    }
    if (array < UNDA_WHOLE || slab >= 0)
        FAIL(UNDA_ERR_ARG, "array is %d, expected one of unda_array that this solver has", array);
    TRY(check_planes(first, count, fd->axis[0].total));
    return fd_planes(s, array - UNDA_WHOLE, first, count, out, in);
}

static unda_status blown_up(unda_solver *s, int64_t index, unda_blowup *blowup)
{
    const struct fd_axis *axis = s->fd->axis;
    int64_t rest = index % s->fd->num_node, node[3];
    blowup->field = (int32_t)(index / s->fd->num_node);
    for (int a = 2; a >= 0; a--) {
        node[a] = rest % axis[a].total - axis[a].first;
        rest /= axis[a].total;
    }
    s->have_good = false;
    for (int a = 0; a < 3; a++)
        if (node[a] < 0 || node[a] >= axis[a].num)
            return UNDA_OK;
    blowup->elem = (node[0] * axis[1].num + node[1]) * axis[2].num + node[2];
    return UNDA_OK;
}

static unda_status need_fd(const unda_solver *s)
{
    if (!s->fd)
        FAIL(UNDA_ERR_ARG, "the method is %s, expected FD", s->method->name);
    return UNDA_OK;
}

unda_status unda_solver_clear_state(unda_solver *s)
{
    TRY(solver_enter(s));
    unda_status status = need_fd(s);
    if (status == UNDA_OK)
        status = fd_engine(s)->clear(s);
    s->have_good = false;
    return solver_leave(s, status);
}

unda_status unda_solver_rest(unda_solver *s)
{
    TRY(solver_enter(s));
    unda_status status = need_fd(s);
    if (status == UNDA_OK)
        status = fd_engine(s)->rest(s);
    s->have_good = false;
    return solver_leave(s, status);
}

static unda_status array_shape(const unda_solver *s, int32_t array, int64_t *shape)
{
    TRY(need_fd(s));
    const struct fd *fd = s->fd;
    int number = array - UNDA_WHOLE, num = fd->scheme->num_array(fd);
    if (number < 0 || number >= num + fd->num_slab)
        FAIL(UNDA_ERR_ARG, "array is %d, expected %d..%d", array, UNDA_WHOLE,
             UNDA_WHOLE + num + fd->num_slab - 1);
    for (int a = 0; a < 3; a++)
        shape[a] = number < num ? fd->axis[a].total : fd->slab[number - num].num[a];
    return UNDA_OK;
}

unda_status unda_solver_array_shape(unda_solver *s, int32_t array, int64_t *shape)
{
    if (!shape)
        FAIL(UNDA_ERR_ARG, "shape is NULL, expected [3]");
    TRY(solver_enter(s));
    return solver_leave(s, array_shape(s, array, shape));
}

/* ---- materials ---- */

unda_status fd_need_material(const unda_solver *s)
{
    if (!s->fd->uniform && s->fd->num_given < s->fd->axis[0].num)
        FAIL(UNDA_ERR_ARG, "material is given for %lld of %lld planes; expected all before sources and steps",
             (long long)s->fd->num_given, (long long)s->fd->axis[0].num);
    return UNDA_OK;
}

/* The user's node that a node takes its material from: layers continue the outermost one's. */
static int64_t nearest(const struct fd_axis *axis, int64_t i)
{
    int64_t at = i - axis->first;
    return at < 0 ? 0 : at >= axis->num ? axis->num - 1 : at;
}

enum { LARGE = 1 << 15 }; /* nodes: with fewer, threads take longer to start */

/* What an engine keeps of one node's material, in its precision. */
static double kept(const unda_solver *s, const double *material, int which, int num_free)
{
    double value = s->fd->scheme->material(s->fd, material, which, num_free);
    return s->real_bytes == 4 ? (double)(float)value : value;
}

/* One array's planes [from, to) with their layers, of the user's from plane `first` on. Notes whether there
 * is ever another value than the first. */
static void fill_planes(const unda_solver *s, const double *material, int64_t first, int which, int64_t from,
                        int64_t to, void *planes)
{
    struct fd *fd = s->fd;
    const struct fd_axis *ax = &fd->axis[0], *ay = &fd->axis[1], *az = &fd->axis[2];
    int32_t num = fd->scheme->num_parameter(fd), num_thread = parallel_few(s->options.threads);
    int differ = fd->varies[which];
    bool large = (to - from) * ay->total * az->total > LARGE;
    if (!fd->have_first[which])
        fd->material_first[which] =
            kept(s, material, which, fd_free_node(ax, from) + fd_free_node(ay, 0) + fd_free_node(az, 0));
    fd->have_first[which] = true;
#pragma omp parallel for schedule(dynamic, 64) num_threads(num_thread) reduction(| : differ) if (large)
    for (int64_t row = 0; row < (to - from) * ay->total; row++) {
        int64_t x = from + row / ay->total, y = row % ay->total;
        const double *line = material + num * az->num * ((nearest(ax, x) - first) * ay->num + nearest(ay, y));
        int num_free = fd_free_node(ax, x) + fd_free_node(ay, y);
        for (int64_t z = 0; z < az->total; z++) {
            double value = kept(s, line + num * nearest(az, z), which, num_free + fd_free_node(az, z));
            differ |= value != fd->material_first[which];
            if (s->real_bytes == 4)
                ((float *)planes)[row * az->total + z] = (float)value;
            else
                ((double *)planes)[row * az->total + z] = value;
        }
    }
    fd->varies[which] = differ;
}

/* Refuses the first node that the scheme refuses, whatever the threads: they look for it, then it is looked
 * at again here, where the message belongs. */
static unda_status check_materials(const unda_solver *s, int64_t nodes, const double *material)
{
    struct fd *fd = s->fd;
    int32_t num = fd->scheme->num_parameter(fd), num_thread = parallel_few(s->options.threads);
    int64_t bad = nodes;
    if (nodes == 0)
        return UNDA_OK;
    TRY(fd->scheme->check_material(fd, material));
#pragma omp parallel for schedule(dynamic, 16384) num_threads(num_thread)                                    \
    reduction(min : bad) if (nodes > LARGE)
    for (int64_t k = 1; k < nodes; k++)
        if (k < bad && fd->scheme->check_material(fd, material + num * k) != UNDA_OK)
            bad = k;
    return bad < nodes ? fd->scheme->check_material(fd, material + num * bad) : UNDA_OK;
}

/* Fills all planes that planes of the user's stand for, `most` at a time: their own, and the layers' beyond
 * the first and the last. */
static unda_status set_planes(unda_solver *s, int64_t first, int64_t count, const double *material,
                              int64_t most, void *planes)
{
    struct fd *fd = s->fd;
    const struct fd_axis *x = &fd->axis[0];
    int64_t from = first == 0 ? 0 : x->first + first;
    int64_t to = first + count == x->num ? x->total : x->first + first + count;
    for (int64_t at = from; at < to; at += most)
        for (int which = 0; which < fd->num_material; which++) {
            int64_t end = at + most < to ? at + most : to;
            fill_planes(s, material, first, which, at, end, planes);
            TRY(fd_planes(s, FD_MATERIAL + which, at, end - at, NULL, planes));
        }
    for (int64_t i = first; i < first + count; i++) {
        fd->num_given += !fd->given[i];
        fd->given[i] = 1;
    }
    fd->material_version++;
    return UNDA_OK;
}

static unda_status set_material(unda_solver *s, int64_t first, int64_t count, const double *material)
{
    enum { MOST_BYTES = 8 << 20 }; /* of planes at a time, but one at least */
    TRY(need_fd(s));
    const struct fd_axis *axis = s->fd->axis;
    if (s->fd->uniform)
        FAIL(UNDA_ERR_ARG, "the material is uniform; expected unda_fd_options.uniform = 0");
    TRY(check_planes(first, count, axis[0].num));
    TRY(check_materials(s, count * axis[1].num * axis[2].num, material));
    if (count == 0)
        return UNDA_OK;
    int64_t plane = axis[1].total * axis[2].total, most = MOST_BYTES / (plane * s->real_bytes);
    most = most < 1 ? 1 : most > axis[0].total ? axis[0].total : most;
    void *planes;
    TRY(array_try(&planes, most * plane, s->real_bytes, "materials"));
    unda_status status = set_planes(s, first, count, material, most, planes);
    array_free(planes);
    return status;
}

unda_status unda_solver_set_material(unda_solver *s, int64_t first, int64_t count, const double *material)
{
    if (!material)
        FAIL(UNDA_ERR_ARG, "material is NULL");
    TRY(solver_enter(s));
    return solver_leave(s, set_material(s, first, count, material));
}

static unda_status energy(unda_solver *s, double *energy)
{
    return s->fd->scheme->energy(s, energy);
}

const struct method fd_method = {.name = "FD",
                                 .engine = engine,
                                 .sizes = sizes,
                                 .create = create,
                                 .prepare = prepare,
                                 .destroy = destroy,
                                 .info = info,
                                 .num_time = num_time,
                                 .times = times,
                                 .move = move,
                                 .source_new = fd_source_new,
                                 .source_free = fd_source_free,
                                 .points_check = fd_points_check,
                                 .points_new = fd_points_new,
                                 .points_free = fd_points_free,
                                 .sample = fd_sample,
                                 .energy = energy,
                                 .blown_up = blown_up};
