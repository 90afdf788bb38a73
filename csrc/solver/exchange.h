/* exchange.h: what a part of a mesh sends to its neighbours in a stage, and receives of them.
 * A part's engine packs what stands at its cut faces [cut face][face node][field], the faces of each neighbour together
 * (mesh/part.h), and puts what it receives where its ghosts have their nodes:
 *
 *     exchange_begin   packs the present state to link[i].to[turn]; then begin of the transport, if it has one
 *     exchange_end     end of the transport, if it has one; unpacks from[turn]; turn is the other one then
 *     border           a stage of border elements, the first `end`; NULL: the engine's
 *
 * Buffers stay where they are. Two take turns, so that a part may send while its neighbour still unpacks what it sent
 * before: it cannot be two stages ahead, since it waits for what the neighbour sends.
 * Next: dg/exchange_cpu.c; cuda_exchange.h, on devices; dg/team.c, which calls both. */
#ifndef UNDA_EXCHANGE_H
#define UNDA_EXCHANGE_H

#include "solver.h"

/* A neighbour, in the order of struct mesh_part. */
struct exchange_link {
    int64_t bytes;   /* of one message */
    uintptr_t to[2]; /* where it is packed: in the neighbour's `from`, or where the transport takes it */
};

/* How messages travel that were not packed to where they go. */
struct transport {
    const char *name;
    unda_status (*begin)(unda_solver *part); /* may be NULL */
    unda_status (*end)(unda_solver *part);   /* may be NULL */
    /* Of messages in a device's memory: host memory `out` in their place, and `in` of the neighbours; else NULL. */
    unda_status (*swap)(unda_solver *part, const void *out, void *in);
};

struct exchange {
    const struct transport *transport;
    struct exchange_link *link; /* [num_neighbor of the mesh's part] */
    uintptr_t from[2];          /* [cut face]: messages of all neighbours, in their order */
    int64_t bytes;              /* of all messages that are sent, or received */
    int64_t inner;              /* bytes that cells inside read and write in a stage, no less */
    int turn;
    unda_status (*border)(unda_solver *part, const struct stage *stage, int64_t end);
    void *of; /* the engine's own */
    /* Of a process (messages.h): requests of its messages; where these are, sent and received, in memory of the host or
     * the device. */
    unda_requests *requests;
    char *message[2];
};

#endif
