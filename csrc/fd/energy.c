/* energy.c: the energy that a scheme conserves, summed plane by plane in a fixed order and in float64: this
 * takes little memory, and is the same code for all engines. Not here: what a plane adds (scalar/energy.c,
 * staggered/energy.c). */
#include "energy.h"

enum { MOST_PLANE = 2 * MAX_HALF + 1 };

/* Planes of an array around the one at work. */
struct window {
    int64_t plane[MOST_PLANE];
    double *values[MOST_PLANE];
    int num;
};

struct work {
    struct window window[FD_MAX_FIELD + FD_MAX_MATERIAL]; /* of arrays, then of materials */
    struct fd_planes planes;
    void *raw; /* one plane as the engine has it */
};

/* values[i] is plane number plane[i], one for each place in the window; those that are there already are not
 * read again. */
static unda_status read_window(unda_solver *s, struct window *w, void *raw, int array, const int64_t *plane,
                               const double **values)
{
    int64_t count = fd_tables(s)->axis[1].total * fd_tables(s)->axis[2].total;
    bool wanted[MOST_PLANE] = {false};
    for (int i = 0; i < w->num; i++)
        for (int slot = 0; slot < w->num; slot++)
            wanted[slot] |= w->plane[slot] == plane[i];
    for (int i = 0; i < w->num; i++) {
        int slot = 0;
        while (slot < w->num && w->plane[slot] != plane[i])
            slot++;
        if (slot == w->num) {
            for (slot = 0; wanted[slot];)
                slot++;
            wanted[slot] = true;
            w->plane[slot] = plane[i];
            TRY(fd_planes(s, array, fd_held(fd_tables(s), plane[i]), 1, raw, NULL));
            for (int64_t k = 0; k < count; k++)
                w->values[slot][k] = real_get(s, raw, k);
        }
        values[i] = w->values[slot];
    }
    return UNDA_OK;
}

static unda_status read_planes(unda_solver *s, struct work *w, int64_t x)
{
    const struct fd *fd = fd_tables(s);
    struct fd_planes *planes = &w->planes;
    int64_t plane[MOST_PLANE] = {0};
    for (int i = 0; i < fd->num_array; i++) {
        for (int m = 0; m <= 2 * fd->half; m++)
            plane[m] = fd_mirror(&fd->axis[0], fd->field[i].half[0], fd->field[i].sign[0], x + m - fd->half,
                                 &planes->sign[i][m]);
        TRY(read_window(s, &w->window[i], w->raw, i, plane, planes->state[i]));
    }
    plane[0] = x;
    plane[1] = (x + 1) % fd->axis[0].total;
    for (int i = 0; i < fd->num_material; i++)
        TRY(read_window(s, &w->window[fd->num_array + i], w->raw, FD_MATERIAL + i, plane,
                        planes->material[i]));
    return UNDA_OK;
}

unda_status fd_add_energies(unda_solver *s, double *sum)
{
    const struct fd *fd = fd_tables(s);
    int64_t count = fd->axis[1].total * fd->axis[2].total, around = 2 * fd->half + 1;
    SCRATCH double *values = NULL;
    SCRATCH void *raw = NULL;
    TRY(fd_need_material(s));
    TRY(array_try(&values, (fd->num_array * around + fd->num_material * 2) * count, sizeof *values,
                  "planes"));
    TRY(array_try(&raw, count, s->real_bytes, "planes"));
    struct work w = {.raw = raw};
    for (int i = 0, planes = 0; i < fd->num_array + fd->num_material; i++) {
        w.window[i].num = i < fd->num_array ? (int)around : 2;
        for (int k = 0; k < w.window[i].num; k++) {
            w.window[i].plane[k] = -1;
            w.window[i].values[k] = values + planes++ * count;
        }
    }
    for (int64_t x = fd->begin; x < fd->end; x++) {
        TRY(read_planes(s, &w, x));
        fd->scheme->add_energy(fd, &w.planes, x, sum);
    }
    return UNDA_OK;
}

double fd_energy_of(const struct fd *fd, double sum)
{
    return sum * fd->axis[0].h * fd->axis[1].h * fd->axis[2].h /
           (fd->scheme->energy_unit ? fd->scheme->energy_unit(fd) : 2);
}

unda_status fd_energy(unda_solver *s, double *energy)
{
    double sum = 0;
    TRY(fd_add_energies(s, &sum));
    *energy = fd_energy_of(fd_tables(s), sum);
    return UNDA_OK;
}
