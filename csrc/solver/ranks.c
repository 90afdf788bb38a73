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

unda_status ranks_share(const unda_ranks *ranks, void *bytes, int64_t num_byte)
{
    if (ranks->which > 0 && num_byte > 0)
        memset(bytes, 0, (size_t)num_byte);
    return ranks_unite(ranks, bytes, num_byte);
}

enum { PIECE = 1 << 23 }; /* bytes of which others have a copy while they pass */

unda_status ranks_give(const unda_ranks *ranks, int32_t whom, char **bytes, int64_t *num_byte)
{
    bool passes = ranks->which > 0 && ranks->which != whom;
    SCRATCH char *room = NULL;
    TRY(ranks_share(ranks, num_byte, sizeof *num_byte));
    int64_t piece = *num_byte < PIECE ? *num_byte : PIECE;
    if (passes)
        TRY(array_try(&room, piece, 1, "what another process gets"));
    if (ranks->which > 0 && !passes)
        TRY(array_try(bytes, *num_byte, 1, "what this process gets"));
    for (int64_t at = 0; at < *num_byte; at += piece) {
        int64_t num = *num_byte - at < piece ? *num_byte - at : piece;
        if (passes)
            memset(room, 0, (size_t)num);
        TRY(ranks_unite(ranks, passes ? room : *bytes + at, num));
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
