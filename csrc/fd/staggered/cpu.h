/* cpu.h: shared by the files of the CPU engine of the staggered schemes.
 * Next: staggered/cpu.c (arrays, threads), staggered/cpu_step.c (rows), staggered/cpu_pass.inc.h (each physics). */
#ifndef UNDA_STAGGERED_CPU_H
#define UNDA_STAGGERED_CPU_H

#include "../cpu.h"
#include "staggered.h"

struct staggered_cpu {
    struct fd_cpu base;
    void *table[3];  /* as cpml of struct fd_axis, REAL */
    void *weight[3]; /* dt D_m / h along each axis: [m], REAL */
    char *scratch;   /* differences of the row being computed, for each thread */
    int64_t scratch_row, scratch_bytes;
    int64_t material_version; /* whose ghosts are there */
};

/* Fields of one pass in one row, from its derivatives; num nodes from `at` on. */
typedef void (*staggered_update)(const struct staggered_cpu *t, void *const *difference, int64_t at,
                                 int64_t num);
/* Row (x, y) of a pass: differences, layers, update. */
typedef void (*staggered_row)(const struct fd *fd, const struct staggered_cpu *t, int pass, int64_t x,
                              int64_t y, char *scratch);
struct staggered_cpu_code {
    staggered_row row;
    const staggered_update *update[3]; /* of each physics, [pass] */
};
extern const struct staggered_cpu_code staggered_cpu_f32, staggered_cpu_f64;
extern const staggered_update staggered_acoustic_f32[2], staggered_acoustic_f64[2];
extern const staggered_update staggered_elastic_f32[2], staggered_elastic_f64[2];
extern const staggered_update staggered_maxwell_f32[2], staggered_maxwell_f64[2];

#endif
