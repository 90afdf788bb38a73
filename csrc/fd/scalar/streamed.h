/* streamed.h: grids larger than the device's memory, as the CUDA engine of the scalar scheme sees them.
 * Next: streamed_plan.c, streamed.c. */
#ifndef UNDA_STREAMED_H
#define UNDA_STREAMED_H

#include "cuda.h"

/* streamed_plan.c: whether the state is streamed (then t->streamed.slab is not 0), and how: rows and levels
 * within the free memory of the device. other_bytes: what it holds beside the state. */
unda_status streamed_choose(unda_solver *s, struct scalar_cuda *t, int64_t other_bytes);

/* streamed.c: page-locked host memory that holds the state; the engine's functions where it is streamed. */
int64_t streamed_bytes(const unda_solver *s, const struct scalar_cuda *t);
unda_status streamed_create(unda_solver *s);
void streamed_destroy(unda_solver *s);
void streamed_clear(unda_solver *s, int array);
unda_status streamed_run(unda_solver *s, int64_t num_step);
unda_status streamed_half_step(unda_solver *s);

/* Advances by `levels` steps: `work` is called for each window in turn and uses the engine's arrays and
 * stream. */
struct streamed_pass {
    int64_t levels;
    unda_status (*work)(unda_solver *s, const struct streamed_pass *pass, int64_t window);
};
/* Rows of y that a window takes from level n of a pass to the next, [first, end); none if end <= first. */
void streamed_rows(const unda_solver *s, int64_t window, int64_t n, int64_t *first, int64_t *end);

static inline int streamed_arrays(const unda_solver *s)
{
    return fd_tables(s)->uniform ? 2 : 3;
}

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static inline int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Rows above the finished ones that are still read (2 M), or are on their way to the host. */
static inline int64_t streamed_rows_above(const struct fd *fd, const struct streamed *w)
{
    return most(2 * fd->half, w->slab);
}

#endif
