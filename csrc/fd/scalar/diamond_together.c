/* diamond_together.c: kernel diamond on several devices, all stages of all slabs in one launch each.
 * Towers at a cut store what the neighbour needs into its memory as well, and tell it how far they are; those over there
 * follow, as towers of one device follow each other (cuda/fd/scalar/diamond.cu). Nothing waits for a whole stage, and
 * nothing is copied but what a slab looks at before the first one.
 * So kernels wait for each other. That ends, whatever runs beside: towers are taken in an order in which each comes
 * behind those that it needs, wherever these are, so that a launch only needs the others to begin. What stands before
 * them on their devices does not wait for this one, since launches that wait for others come one team at a time in a
 * process, and processes take turns on a device. Where they do not (MPS), or a launch waits for its kernel
 * (CUDA_LAUNCH_BLOCKING), where a device has two slabs, or does not reach another one's memory, and with matched layers,
 * slabs take stage by stage (diamond_slabs.c). A kernel whose neighbour does not move for half a minute, for instance
 * after a fault over there, ends with an error.
 * Not here: what is exchanged before the first stage (diamond_slabs.c), the launch (diamond.c). */
#include "../slabs.h"

#include <pthread.h>

#include "diamond.h"

#define EACH(s, c) for (int32_t c = slabs(s)->first; c < slabs(s)->end; c++)

const unda_solver *diamond_neighbor(const unda_solver *slab, int side)
{
    const unda_solver *whole = fd_tables(slab)->whole;
    return slab_of(whole, slab_beside(slabs(whole), slab_number(slab), side));
}

bool diamond_has_far(const unda_solver *slab)
{
    const struct fd *fd = fd_tables(slab);
    if (fd->num_slab < 2 || !fd->whole || fd->whole->ranks || fd->num_memory)
        return false;
    for (int32_t i = 0; i < fd->num_slab; i++)
        for (int32_t k = 0; k < i; k++)
            if (fd->slab_device[i] == fd->slab_device[k])
                return false;
    return true;
}

bool diamond_can_meet(const unda_solver *s)
{
    bool can = slabs(s)->reached;
    EACH(s, i) can = can && diamond_has_far(slab_of(s, i)) && gpu_runs_beside(fd_cuda(slab_of(s, i))->gpu);
    return can;
}

/* No kernel writes to a slab before it has cleared what its neighbours tell it, and has what it looks at. */
static unda_status queue(unda_solver *s, int64_t levels, int64_t num_stage)
{
    EACH(s, i)
    {
        const unda_solver *slab = slab_of(s, i);
        const struct diamond *d = &scalar_cuda(slab)->diamond;
        TRY(fd_cuda_sending(slab_of(s, i)));
        for (int side = 0; side < 2; side++)
            if (d->far_progress[side])
                TRY(gpu_zero_async(fd_cuda(slab)->away, d->far_progress[side],
                                   diamond_far_bytes(slab, &d->tile)));
    }
    TRY(diamond_exchange_before(s, levels));
    EACH(s, i) TRY(diamond_launch_beside(slab_of(s, i), levels, 0, num_stage));
    return UNDA_OK;
}

/* Of all, also behind one that failed. */
static unda_status wait_for_all(unda_solver *s)
{
    unda_status status = UNDA_OK;
    EACH(s, i)
    {
        unda_status ended = gpu_sync(fd_cuda(slab_of(s, i))->away);
        status = status == UNDA_OK ? ended : status;
    }
    return status;
}

static void set_together(unda_solver *s, bool together)
{
    EACH(s, i) scalar_cuda(slab_of(s, i))->diamond.together = together;
}

unda_status diamond_together(unda_solver *s, int64_t levels, int64_t num_stage)
{
    static pthread_mutex_t one_team_at_a_time = PTHREAD_MUTEX_INITIALIZER;
    pthread_mutex_lock(&one_team_at_a_time);
    set_together(s, true);
    unda_status status = queue(s, levels, num_stage), ended = wait_for_all(s);
    set_together(s, false);
    pthread_mutex_unlock(&one_team_at_a_time);
    return status == UNDA_OK ? ended : status;
}
