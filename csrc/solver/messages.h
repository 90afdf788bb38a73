/* messages.h: messages of a stage between processes: one to each neighbour of a part, and one from each, by requests that
 * the caller has made. All of a stage are complete before the next ones begin, so that one buffer does for either way.
 * Next: messages.c; ranks.h, what processes tell each other outside of stages. */
#ifndef UNDA_MESSAGES_H
#define UNDA_MESSAGES_H

#include "exchange.h"

/* Begin and end of a transport. */
unda_status messages_begin(unda_solver *part);
unda_status messages_end(unda_solver *part);
/* Outside of stages: `out` to neighbours, `in` from them, host memory of exchange.bytes as messages stand one after the
 * other. */
unda_status messages_swap(unda_solver *part, const void *out, void *in);
/* Messages in the order of neighbours, whose links have their bytes: packed at `send`, on the host or a device, and
 * received at `receive`. */
void messages_place(struct exchange *x, int32_t num_neighbor, uintptr_t send, uintptr_t receive);
/* Both, in host memory; the transport is that of messages. */
unda_status messages_on_host(void **owned, struct exchange *x, int32_t num_neighbor);
unda_status messages_get(const struct exchange *x, int32_t num_neighbor, const int32_t *neighbor,
                         int32_t which, unda_message *message);
unda_status messages_set_requests(void **owned, struct exchange *x, const unda_requests *requests);

#endif
