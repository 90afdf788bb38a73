/* record_first.h: the first blocks of a step's first kernel record what the step before it left. The others compute
 * meanwhile, and store nothing over it before it has been read, of which they learn by a counter. All blocks are on the
 * device at once (csrc/sem/cuda_points.c), and those that record wait for nobody. Included by sem/tiles.cu and
 * sem/cells.cu. */
#ifndef UNDA_SEM_RECORD_FIRST_H
#define UNDA_SEM_RECORD_FIRST_H

#include "sem/record.h"

DEVICE void record_first(const sem_record_args &a)
{
    record<2>(a, (int)blockIdx.x); /* of four terms a lane: tiles take longer, and want the registers */
    __syncthreads();
    if (threadIdx.x == 0)
        add_release(a.num_read, 1);
}

/* Of thread 0: returns once all that the step before left has been read. The caller then waits for its block. Relaxed
 * loads will do: nothing is read that others wrote, and a store does not come before the branch that it hangs on. */
DEVICE void wait_for_readers(const sem_record_args &a)
{
    if (a.num_block == 0 || threadIdx.x > 0)
        return;
    int num_read = load_relaxed(a.num_read);
    const int all = (int)((a.clock[1] + a.step - a.clock[2] + 1) * a.num_block);
    while (num_read != all) {
        look_again();
        num_read = load_relaxed(a.num_read);
    }
}

#endif
