/* ranks.h: what processes that share a problem tell each other: in a stage by messages, whose requests the caller has made;
 * outside of one by the bitwise or, which keeps every bit where all but one give 0. Next: ranks.c. */
#ifndef UNDA_RANKS_H
#define UNDA_RANKS_H

#include "../base/base.h"

/* Refuses requests that cannot be started. */
unda_status ranks_check_requests(const unda_requests *requests);
/* Starts all messages; waits for them. NULL: there are none. */
unda_status ranks_start(const unda_requests *requests);
unda_status ranks_wait(const unda_requests *requests);

/* Bytes that are 0 where another process has them become whole, on each process; none at all: they meet. */
unda_status ranks_unite(const unda_ranks *ranks, void *bytes, int64_t num_byte);
/* Others have what process 0 has. */
unda_status ranks_share(const unda_ranks *ranks, void *bytes, int64_t num_byte);
/* A process `whom` has what process 0 has: there *bytes is made by array_try. */
unda_status ranks_give(const unda_ranks *ranks, int32_t whom, char **bytes, int64_t *num_byte);
/* Each process gives num values, which become the least that any of them gave. */
unda_status ranks_least(const unda_ranks *ranks, int num, double *value);

#endif
