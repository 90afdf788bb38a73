/* cpu.h: shared by the files of the CPU engine of the scalar scheme.
 * Next: scalar/cpu.c (threads), scalar/cpu_step.c (rows). */
#ifndef UNDA_SCALAR_CPU_H
#define UNDA_SCALAR_CPU_H

#include "../cpu.h"
#include "../layer.h"

#include <stdatomic.h>

struct scalar_cpu {
    struct fd_cpu base; /* array [0] now, [1] one step back: the next one goes there */
    void *damp[3];      /* g along each axis; along z, of whole vectors of nodes */
    uint8_t *damped[3]; /* which of them are not 1 */
    bool damped_z;      /* whether any along z is */
    void *speed;        /* a row, of a uniform medium */
    struct scalar_cpu_matched {
        void *memory[3]; /* of both half nodes and the node: [x][y][z], of matched nodes along this axis */
        void *table;     /* as match of struct fd_axis */
        int64_t stride[2], first; /* first: plane of x that begins there */
    } matched[3];
    bool is_matched;
    void *addition; /* [threads][row]: what matched layers add to a row */
    int64_t row;
    int depth, block_y; /* steps of a time tile (1: kernel step), rows of a block */
    int64_t num_block;
    _Atomic int64_t *passed; /* [num_block]: planes that the front of a block has passed */
};

/* Rows [begin, end) of plane x, all z: the next level over the one before. */
typedef void (*scalar_rows)(const struct fd *fd, const struct scalar_cpu *t, const void *now, void *next,
                            int64_t x, int64_t begin, int64_t end);
/* Stores every ghost that is an image of these rows. */
typedef void (*scalar_ghosts)(const struct fd *fd, const struct scalar_cpu *t, void *p, int64_t x,
                              int64_t begin, int64_t end);

struct scalar_cpu_code {
    scalar_rows rows;
    scalar_ghosts ghosts;
};
extern const struct scalar_cpu_code scalar_cpu_f32, scalar_cpu_f64;

#endif
