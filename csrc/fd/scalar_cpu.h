/* scalar_cpu.h: what the files of the CPU engine of the scalar scheme share.
 * Next: scalar_cpu.c (arrays, threads), scalar_cpu.inc.h (rows). */
#ifndef UNDA_SCALAR_CPU_H
#define UNDA_SCALAR_CPU_H

#include "fd.h"

/* Arrays [x][y][z] have M ghost nodes on every side: images of nodes inside. REAL. */
struct scalar_cpu {
    int64_t stride[3], origin, count; /* origin: of node (0, 0, 0); count: values of an array */
    void *p[2];                       /* [0] now, [1] one step back: the next one goes there */
    void *speed;                      /* NULL where uniform */
    void *damp[3];                    /* g along each axis */
    uint8_t *damped[3];               /* which of them are not 1 */
    bool damped_z;                    /* whether any along z is */
    double *amplitude;                /* [time][source] */
    int64_t amplitude_room;
};

/* Steps nodes [begin, end) of x and y, all z. */
typedef void (*scalar_rows)(const struct fd *fd, const struct scalar_cpu *t, const int64_t *begin,
                            const int64_t *end);
/* Ghosts of p[which]: of rows of one plane, beside it in z and y; then of planes, beside the grid in x. */
typedef void (*scalar_ghosts)(const struct fd *fd, const struct scalar_cpu *t, int which, int64_t x);

struct scalar_cpu_code {
    scalar_rows rows;
    scalar_ghosts plane_ghosts, ghost_plane;
};
extern const struct scalar_cpu_code scalar_cpu_f32, scalar_cpu_f64;

#endif
