/* diamond.h: the kernel that takes many steps at once, as the CUDA engine of the scalar scheme sees it.
 * Next: diamond_plan.c (choice of the tile), diamond.c (set-up, launches), diamond_points.c, diamond_slabs.c and
 * diamond_together.c (several devices);
 * cuda/fd/scalar/diamond.cu. */
#ifndef UNDA_DIAMOND_H
#define UNDA_DIAMOND_H

#include "fd/scalar/diamond_args.h"
#include "cuda.h"

enum { MAX_DIAMOND_HALF = 4 }; /* of the order */

/* diamond_plan.c */
/* Of struct scalar_kernel: whether it pays is whether it is worth its padding and its compilation, too. */
const char *diamond_choose(const unda_solver *s, struct scalar_cuda *t);
bool diamond_pays(const unda_solver *s, const struct scalar_cuda *t);
int64_t diamond_reach(const struct diamond_tile *tile);
int64_t diamond_rows(const unda_solver *s, const struct diamond_tile *tile);
struct fd_range diamond_own_rows(const unda_solver *s, const struct diamond_tile *tile); /* of a slab */
int64_t diamond_stages(const unda_solver *s, const struct diamond_tile *tile, int64_t levels);
int diamond_sms(const unda_solver *s, const struct diamond *d);

/* diamond.c: stages [first, end) of `levels` steps at once; those before are done. */
unda_status diamond_launch(unda_solver *s, int64_t levels, int64_t first, int64_t end);
/* Of what a neighbour tells of its towers at a cut. */
int64_t diamond_far_bytes(const unda_solver *s, const struct diamond_tile *tile);

/* diamond_slabs.c: of struct fd_engine; then all that a slab looks at beyond its planes, and a launch, both beside the
 * engine's stream. */
unda_status diamond_cut(const unda_solver *s, int64_t *planes);
unda_status diamond_leap(unda_solver *whole, int64_t num_step, int64_t *done);
int64_t diamond_leap_bytes(const unda_solver *slab);
struct fd_leap_room diamond_leap_room(const unda_solver *slab);
unda_status diamond_exchange_before(unda_solver *whole, int64_t levels);
unda_status diamond_launch_beside(unda_solver *slab, int64_t levels, int64_t first, int64_t end);

/* diamond_together.c: whether a slab's kernel is one that follows those of its neighbours while all run; whether all do
 * so; all stages. */
bool diamond_has_far(const unda_solver *slab);
const unda_solver *diamond_neighbor(const unda_solver *slab, int side);
bool diamond_can_meet(const unda_solver *whole);
unda_status diamond_together(unda_solver *whole, int64_t levels, int64_t num_stage);

/* diamond_points.c */
unda_status diamond_list_sources(unda_solver *s, struct diamond *d);
unda_status diamond_list_cells(unda_solver *s, struct diamond *d);
/* Sets where the samples of the next launch are stored, whose levels count from s->step. */
unda_status diamond_upload_samples(unda_solver *s, struct diamond *d, int64_t levels);
void diamond_free_lists(struct diamond *d);

#endif
