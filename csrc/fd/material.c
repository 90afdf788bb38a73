/* material.c: materials of nodes: read plane by plane, checked, continued into the layers and passed to the
 * engine in its precision. Not here: the coefficients that a scheme stores (scalar/scheme.c, physics/staggered.c). */
#include "fd.h"

#include "../base/parallel.h"

unda_status fd_need_material(const unda_solver *s)
{
    if (!fd_tables(s)->uniform && fd_tables(s)->num_given < fd_tables(s)->axis[0].num)
        FAIL(UNDA_ERR_ARG, "material is given for %lld of %lld planes; expected all before sources and steps",
             (long long)fd_tables(s)->num_given, (long long)fd_tables(s)->axis[0].num);
    return UNDA_OK;
}

/* The user's node from which a node takes its material: layers continue the outermost node's. */
static int64_t nearest(const struct fd_axis *axis, int64_t i)
{
    int64_t at = i - axis->first;
    return at < 0 ? 0 : at >= axis->num ? axis->num - 1 : at;
}

enum { LARGE = 1 << 15 }; /* nodes: with fewer, starting threads costs more than they save */

/* What an engine stores of one node's material, in its precision. */
static double kept(const unda_solver *s, const double *material, int which, int num_free)
{
    double value = fd_tables(s)->scheme->material(fd_tables(s), material, which, num_free);
    return s->real_bytes == 4 ? (double)(float)value : value;
}

/* Planes [from, to) of one array, with their layers, from the user's planes, of which `first` is the first
 * one in memory. Notes whether any value differs from the first. */
static void fill_planes(const unda_solver *s, const double *material, int64_t first, int which, int64_t from,
                        int64_t to, void *planes)
{
    struct fd *fd = fd_tables(s);
    const struct fd_axis *ax = &fd->axis[0], *ay = &fd->axis[1], *az = &fd->axis[2];
    int32_t num = fd->num_parameter, num_thread = parallel_few(s->options.threads);
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
            real_put(s, planes, row * az->total + z, value);
        }
    }
    fd->varies[which] = differ;
}

/* Refuses the first node that the scheme refuses, for any number of threads: they search for it, and then
 * it is checked again here, where the message is made. */
static unda_status check_materials(const unda_solver *s, int64_t nodes, const double *material)
{
    struct fd *fd = fd_tables(s);
    int32_t num = fd->num_parameter, num_thread = parallel_few(s->options.threads);
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

/* Fills all planes that stand for planes of the user's, `most` at a time: the planes themselves, and those
 * of the layers before the first and after the last. */
static unda_status set_planes(unda_solver *s, int64_t first, int64_t count, const double *material,
                              int64_t most, void *planes)
{
    struct fd *fd = fd_tables(s);
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

unda_status fd_set_material(unda_solver *s, int64_t first, int64_t count, const double *material)
{
    enum { MOST_BYTES = 8 << 20 }; /* of planes at a time, but one at least */
    const struct fd_axis *axis = fd_tables(s)->axis;
    if (fd_tables(s)->uniform)
        FAIL(UNDA_ERR_ARG, "the material is uniform; expected unda_fd_options.uniform = 0");
    TRY(fd_check_planes(first, count, axis[0].num));
    TRY(check_materials(s, count * axis[1].num * axis[2].num, material));
    if (count == 0)
        return UNDA_OK;
    int64_t plane = axis[1].total * axis[2].total, most = MOST_BYTES / (plane * s->real_bytes);
    most = most < 1 ? 1 : most > axis[0].total ? axis[0].total : most;
    SCRATCH void *planes = NULL;
    TRY(array_try(&planes, most * plane, s->real_bytes, "materials"));
    return set_planes(s, first, count, material, most, planes);
}
