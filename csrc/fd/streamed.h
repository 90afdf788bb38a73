/* streamed.h: grids larger than the device's memory, as the CUDA engine of the scalar scheme sees them.
 * Next: streamed.c. */
#ifndef UNDA_STREAMED_H
#define UNDA_STREAMED_H

#include "scalar_cuda.h"

/* Whether the state is streamed (then t->streamed.slab is not 0), and how: rows and levels within the free
 * memory of the device. other_bytes: what it holds beside the state. */
unda_status streamed_choose(unda_solver *s, struct scalar_cuda *t, int64_t other_bytes);
int64_t streamed_host_bytes(const unda_solver *s, const struct scalar_cuda *t);
/* Takes over the arrays of the engine, which are there; makes the state on the host, all 0. */
unda_status streamed_create(unda_solver *s);
void streamed_free(unda_solver *s); /* gives the arrays back */

/* `levels` steps: what `work` does with each window, in turn, on the engine's arrays and stream. */
struct streamed_pass {
    int64_t levels, time, begin; /* from step `time` of the call that began at step `begin` */
    unda_status (*work)(unda_solver *s, const struct streamed_pass *pass, int64_t window);
};
unda_status streamed_run(unda_solver *s, const struct streamed_pass *pass);
void streamed_swap(unda_solver *s); /* the levels, after an odd number of steps */
/* Rows of y that a window takes from level n of a pass to the next, [first, end); none if end <= first. */
void streamed_rows(const unda_solver *s, int64_t window, int64_t n, int64_t *first, int64_t *end);

/* Of struct fd_engine; the level one step back alone. */
unda_status streamed_box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in);
unda_status streamed_gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values);
unda_status streamed_find_bad(unda_solver *s, int64_t *index);
void streamed_clear(unda_solver *s, int array);
void streamed_halve(unda_solver *s, int array);

#endif
