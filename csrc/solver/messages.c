/* messages.c: requests of messages, started and waited for; where the messages are. */
#include "messages.h"

#include "ranks.h"

#include <string.h>

unda_status messages_begin(unda_solver *part)
{
    const unda_requests *r = part->exchange->requests;
    if (part->exchange->bytes && !r)
        FAIL(UNDA_ERR_ARG, "this process has messages and no requests, expected unda_solver_set_requests");
    return ranks_start(r);
}

unda_status messages_end(unda_solver *part)
{
    return ranks_wait(part->exchange->requests);
}

unda_status messages_swap(unda_solver *part, const void *out, void *in)
{
    const struct exchange *x = part->exchange;
    if (x->transport->swap)
        return x->transport->swap(part, out, in);
    if (x->bytes)
        memcpy(x->message[0], out, (size_t)x->bytes);
    TRY(messages_begin(part));
    TRY(messages_end(part));
    if (x->bytes)
        memcpy(in, x->message[1], (size_t)x->bytes);
    return UNDA_OK;
}

static const struct transport messages = {.name = "mpi", .begin = messages_begin, .end = messages_end};

/* Where the message of a neighbour stands among all. */
static int64_t begin_of(const struct exchange *x, int32_t which)
{
    int64_t at = 0;
    for (int32_t i = 0; i < which; i++)
        at += x->link[i].bytes;
    return at;
}

void messages_place(struct exchange *x, int32_t num_neighbor, uintptr_t send, uintptr_t receive)
{
    x->message[0] = (char *)send;
    x->message[1] = (char *)receive;
    for (int turn = 0; turn < 2; turn++)
        x->from[turn] = receive;
    for (int32_t i = 0; i < num_neighbor; i++)
        x->link[i].to[0] = x->link[i].to[1] = send + (uintptr_t)begin_of(x, i);
}

unda_status messages_on_host(void **owned, struct exchange *x, int32_t num_neighbor)
{
    void *send, *receive;
    x->transport = &messages;
    TRY(array_own(owned, &send, x->bytes, 1, "messages to other processes"));
    TRY(array_own(owned, &receive, x->bytes, 1, "messages of other processes"));
    messages_place(x, num_neighbor, (uintptr_t)send, (uintptr_t)receive);
    return UNDA_OK;
}

unda_status messages_get(const struct exchange *x, int32_t num_neighbor, const int32_t *neighbor,
                         int32_t which, unda_message *message)
{
    if (which < 0 || which >= num_neighbor)
        FAIL(UNDA_ERR_ARG, "which is %d, expected a neighbour within 0..%d", which, num_neighbor - 1);
    int64_t at = begin_of(x, which);
    *message = (unda_message){.size_bytes = sizeof *message,
                              .num_byte = x->link[which].bytes,
                              .rank = neighbor[which],
                              .send = x->message[0] + at,
                              .receive = x->message[1] + at};
    return UNDA_OK;
}

unda_status messages_set_requests(void **owned, struct exchange *x, const unda_requests *requests)
{
    TRY(ranks_check_requests(requests));
    if (!x->requests)
        TRY(array_own(owned, &x->requests, 1, sizeof *requests, "requests"));
    *x->requests = *requests;
    return UNDA_OK;
}
