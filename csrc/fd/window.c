/* window.c: a sliding window of planes of an array, in float64, for any engine. */
#include "fd.h"

void fd_window_free(struct fd_window *w)
{
    for (int i = 0; i < w->num; i++)
        array_free(w->values[i]);
    array_free(w->raw);
}

unda_status fd_window_new(const unda_solver *s, struct fd_window *w, int num)
{
    int64_t count = fd_tables(s)->axis[1].total * fd_tables(s)->axis[2].total;
    w->num = num;
    TRY(array_try(&w->raw, count, s->real_bytes, "planes"));
    for (int i = 0; i < num; i++) {
        w->plane[i] = -1;
        TRY(array_try(&w->values[i], count, sizeof(double), "planes"));
    }
    return UNDA_OK;
}

unda_status fd_window_read(unda_solver *s, struct fd_window *w, int array, int num, const int64_t *plane,
                           const double **values)
{
    int64_t count = fd_tables(s)->axis[1].total * fd_tables(s)->axis[2].total;
    bool wanted[2 * MAX_HALF + 1] = {false};
    for (int i = 0; i < num; i++)
        for (int slot = 0; slot < w->num; slot++)
            wanted[slot] |= w->plane[slot] == plane[i];
    for (int i = 0; i < num; i++) {
        int slot = 0;
        while (slot < w->num && w->plane[slot] != plane[i])
            slot++;
        if (slot == w->num) {
            for (slot = 0; wanted[slot];)
                slot++;
            wanted[slot] = true;
            w->plane[slot] = plane[i];
            TRY(fd_planes(s, array, plane[i], 1, w->raw, NULL));
            for (int64_t k = 0; k < count; k++)
                w->values[slot][k] = real_get(s, w->raw, k);
        }
        values[i] = w->values[slot];
    }
    return UNDA_OK;
}
