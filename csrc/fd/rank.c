/* rank.c: a grid in one of many processes: its slab's messages, and what it agrees upon with the others. A message has a
 * block for each cut between two slabs, with room for what leaves over a cut after any pass:
 *     post     border planes -> block of their side; messages leave
 *     arrive   messages are there; blocks -> ghosts
 * The blocks of a message stand as their sender has them, so that two processes, which are each other's neighbours on both
 * sides of a periodic grid, send one message of both. By NCCL planes go from borders to ghosts at once, without blocks.
 * Not here: the order of a step, sources (slabs.c), receivers (slab_samples.c), how messages travel (solver/messages.c,
 * solver/cuda_ranks.c). */
#include "rank.h"

#include "../solver/messages.h"
#include "../solver/ranks.h"
#include "slabs.h"

#include <stdio.h>
#include <string.h>

struct fd_rank {
    unda_ranks ranks;
    int64_t block;                     /* bytes */
    int32_t num_neighbor, neighbor[2]; /* their processes, that of the slab below first */
    struct fd_travel travel;           /* what was posted last, or: */
    fd_rank_carry carry;               /* NULL: planes of `travel` */
    const void *what;
    struct exchange exchange;
    struct exchange_link link[2];
    void *owned;
};

static struct fd_rank *rank(const unda_solver *s)
{
    return slabs(s)->rank;
}
static unda_solver *own(const unda_solver *s)
{
    return slab_of(s, slabs(s)->first);
}
static bool cut(const unda_solver *s, int side)
{
    return fd_cut(fd_tables(own(s)), side);
}
/* Two processes of a periodic grid: one message has both blocks. */
static bool both(const unda_solver *s)
{
    return slabs(s)->num == 2 && cut(s, 0) && cut(s, 1);
}
/* Which neighbour is beyond a side; none: -1. */
static int32_t beyond(const unda_solver *s, int side)
{
    return !cut(s, side) ? -1 : both(s) ? 0 : side && cut(s, 0);
}
/* Where the block of a side stands among all messages. */
static int64_t block_at(const unda_solver *s, int side, bool arrives)
{
    return (both(s) ? side != arrives : beyond(s, side)) * rank(s)->block;
}

/* ---- creation ---- */

/* Planes of all arrays that travel that a slab sends over its side. */
static int64_t num_plane(const struct fd_travel *travel, int side)
{
    int64_t sum = 0;
    for (int32_t i = 0; i < travel->num; i++)
        sum += side ? travel->below[i] : travel->above[i];
    return sum;
}

static int64_t most_planes(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    int64_t shared = slabs(s)->slab[slabs(s)->num - 1].fd.shared;
    int64_t most =
        fd->half > shared ? fd->half : shared; /* of one array, as for the energy, or of a material */
    for (int pass = 0; pass < fd->scheme->num_pass; pass++)
        for (int side = 0; side < 2; side++) {
            struct fd_travel travel = fd_travel_after(s, pass);
            int64_t num = num_plane(&travel, side);
            most = num > most ? num : most;
        }
    return most;
}

/* Of a block. */
static int64_t most_bytes(const unda_solver *s)
{
    int64_t bytes = most_planes(s) * fd_slab_engine(s)->plane_bytes(own(s)), leap = 0;
    if (fd_slab_engine(s)->leap_room)
        leap = fd_slab_engine(s)->leap_room(own(s)).bytes;
    return leap > bytes ? leap : bytes;
}

unda_status fd_rank_new(unda_solver *s, const unda_ranks *ranks)
{
    struct fd_rank *r;
    TRY(array_try(&r, 1, sizeof *r, "messages"));
    slabs(s)->rank = r;
    r->ranks = *ranks;
    r->ranks.place = NULL;
    r->block = most_bytes(s);
    for (int side = 0; side < 2; side++)
        if (beyond(s, side) == r->num_neighbor) {
            r->link[r->num_neighbor].bytes = (1 + both(s)) * r->block;
            r->exchange.bytes += r->link[r->num_neighbor].bytes;
            r->neighbor[r->num_neighbor++] = slab_beside(slabs(s), slabs(s)->first, side);
        }
    r->exchange.link = r->link;
    own(s)->exchange = &r->exchange;
    return fd_slab_engine(s)->join_rank(own(s), &r->ranks, r->neighbor, r->num_neighbor);
}

void fd_rank_free(unda_solver *s)
{
    if (rank(s))
        arrays_free(&rank(s)->owned);
    array_free(rank(s));
    slabs(s)->rank = NULL;
}

/* ---- what all agree upon ---- */

unda_status fd_rank_unite(const unda_solver *s, void *bytes, int64_t num_byte)
{
    return rank(s) ? ranks_unite(&rank(s)->ranks, bytes, num_byte) : UNDA_OK;
}

unda_status fd_rank_least(const unda_solver *s, double *value)
{
    return rank(s) ? ranks_least(&rank(s)->ranks, 1, value) : UNDA_OK;
}

/* ---- messages ---- */

/* Planes over a side from its border to a block, or from the neighbour's block to ghosts. */
static unda_status carry(unda_solver *s, int side, uintptr_t block, bool arrives)
{
    const struct fd_engine *engine = fd_slab_engine(s);
    const struct fd_travel *travel = &rank(s)->travel;
    const struct fd *fd = fd_tables(own(s));
    if (rank(s)->carry)
        return rank(s)->carry(own(s), rank(s)->what, beyond(s, side), side, block, arrives);
    for (int32_t i = 0; i < travel->num; i++) {
        struct fd_range planes = {0, (side == 1) != arrives ? travel->below[i] : travel->above[i]};
        planes.first = !arrives ? (side ? fd->end - planes.num : fd->begin)
                       : side   ? fd->end
                                : fd->begin - planes.num;
        if (planes.num > 0)
            TRY(engine->carry(own(s), beyond(s, side), travel->held[i], planes, block, arrives));
        block += (uintptr_t)(planes.num * engine->plane_bytes(own(s)));
    }
    return UNDA_OK;
}

/* Of messages by NCCL both ends are given at once; those of a neighbour on both sides arrive as it sends them. */
unda_status fd_rank_pack(unda_solver *slab, int32_t neighbor, uintptr_t to)
{
    unda_solver *s = fd_tables(slab)->whole;
    for (int side = 0; side < 2; side++)
        if (beyond(s, side) == neighbor)
            TRY(carry(s, side, to + (uintptr_t)(both(s) * side * rank(s)->block), false));
    for (int side = 1; side >= 0 && rank(s)->ranks.nccl; side--)
        if (beyond(s, side) == neighbor)
            TRY(carry(s, side, 0, true));
    return UNDA_OK;
}

unda_status fd_rank_unpack(unda_solver *slab, uintptr_t from)
{
    unda_solver *s = fd_tables(slab)->whole;
    for (int side = 0; side < 2 && !rank(s)->ranks.nccl; side++)
        if (cut(s, side))
            TRY(carry(s, side, from + (uintptr_t)block_at(s, side, true), true));
    return UNDA_OK;
}

unda_status fd_rank_begin(unda_solver *slab)
{
    const struct exchange *x = slab->exchange;
    for (int32_t i = 0; i < rank(fd_tables(slab)->whole)->num_neighbor; i++)
        TRY(fd_rank_pack(slab, i, x->link[i].to[0]));
    return x->transport->begin(slab);
}

unda_status fd_rank_end(unda_solver *slab)
{
    const struct exchange *x = slab->exchange;
    TRY(x->transport->end(slab));
    return fd_rank_unpack(slab, x->from[0]);
}

unda_status fd_rank_post(unda_solver *s, const struct fd_travel *travel)
{
    rank(s)->travel = *travel;
    return own(s)->engine->exchange_begin(own(s));
}

unda_status fd_rank_arrive(unda_solver *s)
{
    return own(s)->engine->exchange_end(own(s));
}

unda_status fd_rank_exchange(unda_solver *s, fd_rank_carry carry, const void *what)
{
    rank(s)->carry = carry;
    rank(s)->what = what;
    unda_status status = own(s)->engine->exchange_begin(own(s));
    if (status == UNDA_OK)
        status = own(s)->engine->exchange_end(own(s));
    rank(s)->carry = NULL;
    return status;
}

unda_status fd_rank_message(const unda_solver *s, int32_t which, unda_message *message)
{
    const struct fd_rank *r = rank(s);
    return messages_get(&r->exchange, r->num_neighbor, r->neighbor, which, message);
}

unda_status fd_rank_set_requests(unda_solver *s, const unda_requests *requests)
{
    return messages_set_requests(&rank(s)->owned, &rank(s)->exchange, requests);
}

unda_status fd_rank_member(const unda_solver *s, int32_t which, unda_member *member)
{
    if (which != 0)
        FAIL(UNDA_ERR_ARG, "which is %d, expected 0: this process's slab", which);
    TRY(fd_slabs_member(s, slabs(s)->first, member));
    snprintf(member->transport, sizeof member->transport, "%s", rank(s)->exchange.transport->name);
    return UNDA_OK;
}

/* ---- stable step, energy ---- */

unda_status fd_rank_slab(unda_solver *s, unda_solver **slab)
{
    *slab = s;
    if (fd_tables(s)->num_slab == 0 || !rank(s))
        return UNDA_OK;
    TRY(fd_rank_unite(s, NULL, 0));
    TRY(fd_slabs_open(s));
    TRY(fd_slabs_settle(s));
    *slab = own(s);
    return UNDA_OK;
}

/* Of all the grid, if that is shared by processes. */
static unda_solver *shared(const unda_solver *slab)
{
    unda_solver *whole = fd_tables(slab)->whole;
    return whole && rank(whole) ? whole : NULL;
}

unda_status fd_rank_swap(unda_solver *slab, void *const out[2], void *const in[2], int64_t bytes)
{
    const unda_solver *s = shared(slab);
    SCRATCH char *send = NULL;
    SCRATCH char *receive = NULL;
    if (!s)
        return UNDA_OK;
    TRY(array_try(&send, slab->exchange->bytes, 1, "planes for other processes"));
    TRY(array_try(&receive, slab->exchange->bytes, 1, "planes of other processes"));
    for (int64_t at = 0, num; at < bytes; at += num) {
        num = bytes - at < rank(s)->block ? bytes - at : rank(s)->block;
        for (int side = 0; side < 2; side++)
            if (cut(s, side))
                memcpy(send + block_at(s, side, false), (const char *)out[side] + at, (size_t)num);
        TRY(messages_swap(slab, send, receive));
        for (int side = 0; side < 2; side++)
            if (cut(s, side))
                memcpy((char *)in[side] + at, receive + block_at(s, side, true), (size_t)num);
    }
    return UNDA_OK;
}

unda_status fd_rank_most(const unda_solver *slab, double *value)
{
    double least = -*value;
    if (shared(slab))
        TRY(fd_rank_least(shared(slab), &least));
    *value = -least;
    return UNDA_OK;
}

/* Each process in turn goes on with the sum of those before: the order of one. */
unda_status fd_rank_energy(unda_solver *s, double *energy)
{
    const struct fd *fd = fd_tables(s);
    double sum = 0;
    TRY(fd_need_material(s));
    TRY(fd_rank_unite(s, NULL, 0));
    TRY(fd_slabs_open(s));
    for (int array = 0; array < fd->num_array; array++) {
        struct fd_travel travel = fd_travel_all(fd, array);
        TRY(fd_slabs_travel(s, &travel));
    }
    TRY(fd_slabs_settle(s));
    for (int32_t i = 0; i < slabs(s)->num; i++) {
        double sum_here = sum;
        sum = 0;
        if (i == slabs(s)->first) {
            TRY(fd_add_energies(own(s), &sum_here));
            sum = sum_here;
        }
        TRY(fd_rank_unite(s, &sum, sizeof sum));
    }
    *energy = fd_energy_of(fd, sum);
    return UNDA_OK;
}
