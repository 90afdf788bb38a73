/* ranks.c: united values of processes. Not here: messages of a stage (exchange.h). */
#include "ranks.h"

#include <math.h>
#include <string.h>

enum { BATCH = 1 << 20 }; /* words at a time: libraries of messages count in 32 bits */

static unda_status unite(const unda_ranks *ranks, int64_t num_word, uint64_t *word)
{
    for (int64_t at = 0; at == 0 || at < num_word; at += BATCH) {
        int64_t num = num_word - at < BATCH ? num_word - at : BATCH;
        if (ranks->unite(ranks->of, num, word + at))
            FAIL(UNDA_ERR_INTERNAL, "process %d of %d could not go on with the others", ranks->which,
                 ranks->num_rank);
    }
    return UNDA_OK;
}

unda_status ranks_unite(const unda_ranks *ranks, void *bytes, int64_t num_byte)
{
    uint64_t last = 0;
    int64_t whole = num_byte / 8, rest = num_byte % 8;
    char *end = (char *)bytes + 8 * whole;
    if (whole || !rest)
        TRY(unite(ranks, whole, bytes));
    if (!rest)
        return UNDA_OK;
    memcpy(&last, end, (size_t)rest);
    TRY(unite(ranks, 1, &last));
    memcpy(end, &last, (size_t)rest);
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
