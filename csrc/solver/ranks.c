/* ranks.c: united values of processes; their messages. Not here: what travels (exchange.h, fd/slabs.c). */
#include "ranks.h"

#include <math.h>
#include <string.h>

enum { BATCH = 1 << 28 }; /* bytes at a time: libraries of messages count in 32 bits */

unda_status ranks_check_requests(const unda_requests *r)
{
    if (r->num < 0 || (r->num && (!r->request || !r->start || !r->wait)))
        FAIL(UNDA_ERR_ARG, "num is %d, or request, start or wait of unda_requests is NULL", r->num);
    return UNDA_OK;
}

unda_status ranks_start(const unda_requests *r)
{
    if (r && r->num && r->start(r->num, r->request))
        FAIL(UNDA_ERR_INTERNAL, "%d messages of a stage could not be started", r->num);
    return UNDA_OK;
}

unda_status ranks_wait(const unda_requests *r)
{
    if (r && r->num && r->wait(r->num, r->request, r->status))
        FAIL(UNDA_ERR_INTERNAL, "%d messages of a stage did not arrive", r->num);
    return UNDA_OK;
}

unda_status ranks_unite(const unda_ranks *ranks, void *bytes, int64_t num_byte)
{
    for (int64_t at = 0; at == 0 || at < num_byte; at += BATCH) {
        int64_t num = num_byte - at < BATCH ? num_byte - at : BATCH;
        if (ranks->unite(ranks->of, num, (char *)bytes + at))
            FAIL(UNDA_ERR_INTERNAL, "process %d of %d could not go on with the others", ranks->which,
                 ranks->num_rank);
    }
    return UNDA_OK;
}

unda_status ranks_least(const unda_ranks *ranks, int num, double *value)
{
    SCRATCH double *all = NULL;
    int64_t count = (int64_t)num * ranks->num_rank;
    TRY(array_try(&all, count, sizeof *all, "values of processes"));
    memcpy(all + (int64_t)num * ranks->which, value, sizeof *value * (size_t)num);
    TRY(ranks_unite(ranks, all, count * (int64_t)sizeof *all));
    for (int64_t i = 0; i < count; i++)
        value[i % num] = fmin(value[i % num], all[i]);
    return UNDA_OK;
}
