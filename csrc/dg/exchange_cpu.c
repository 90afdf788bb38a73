/* exchange_cpu.c: traces at cut faces, on the CPU: each part packs them into its neighbours' memory.
 * Parts take turns (team.c), so nothing needs to be waited for. Next: exchange_cuda.c. */
#include "../solver/exchange.h"
#include "cpu.h"
#include "rank.h"

#include <string.h>

static const struct transport memory = {.name = "memory"};

/* Where node m of a cut face, num_face * elem + face, stands in the state. */
static char *node_at(const unda_solver *s, int64_t face, int m)
{
    const struct space *space = &dg_tables(s)->space;
    int node = space->element->face_node[face % space->num_face * space->num_face_node + m];
    return (char *)dg_cpu_tables(s)->buffer[BUF_Q] +
           (face / space->num_face * dg_num_value(s) + dg_cpu_place(s, node, 0)) * s->real_bytes;
}

/* Traces of faces to `packed`, or from it. */
static void move_traces(unda_solver *s, int64_t num, const int64_t *face, char *packed, bool unpack)
{
    const struct dg *dg = dg_tables(s);
    int num_node = dg->space.num_face_node, num_field = dg->physics->num_field;
    int64_t step = dg_cpu_place(s, 0, 1) * s->real_bytes, real = s->real_bytes;
    for (int64_t i = 0; i < num; i++)
        for (int m = 0; m < num_node; m++) {
            char *at = node_at(s, face[i], m);
            for (int f = 0; f < num_field; f++, at += step, packed += real)
                memcpy(unpack ? at : packed, unpack ? packed : at, (size_t)real);
        }
}

unda_status dg_cpu_exchange_begin(unda_solver *s)
{
    const struct mesh_part *cut = &dg_tables(s)->space.mesh->part;
    struct exchange *x = s->exchange;
    for (int32_t i = 0; i < cut->num_neighbor; i++)
        move_traces(s, cut->first[i + 1] - cut->first[i], cut->own + cut->first[i],
                    (char *)x->link[i].to[x->turn], false);
    return x->transport->begin ? x->transport->begin(s) : UNDA_OK;
}

unda_status dg_cpu_exchange_end(unda_solver *s)
{
    const struct mesh_part *cut = &dg_tables(s)->space.mesh->part;
    struct exchange *x = s->exchange;
    if (x->transport->end)
        TRY(x->transport->end(s));
    move_traces(s, cut->num_cut, cut->ghost, (char *)x->from[x->turn], true);
    x->turn ^= 1;
    return UNDA_OK;
}

void dg_cpu_join_bytes(const struct exchange *x, int64_t num_cut, bool by_host, int64_t *host,
                       int64_t *device)
{
    (void)num_cut, (void)by_host, (void)device;
    *host += 2 * x->bytes;
}

unda_status dg_cpu_join(unda_solver *const *part, int32_t num_part, int transport)
{
    (void)transport; /* there is one */
    for (int32_t p = 0; p < num_part; p++) {
        struct exchange *x = part[p]->exchange;
        x->transport = &memory;
        for (int turn = 0; turn < 2; turn++) {
            void *from;
            TRY(array_own(&dg_cpu_tables(part[p])->owned, &from, x->bytes, 1, "traces at cut faces"));
            x->from[turn] = (uintptr_t)from;
        }
        dg_cpu_join_bytes(x, 0, false, &part[p]->host_bytes, NULL);
    }
    dg_link_parts(part, num_part);
    return UNDA_OK;
}

/* All messages are complete before the next ones begin. */
unda_status dg_cpu_join_rank(unda_solver *part, const unda_ranks *ranks)
{
    (void)ranks; /* there is one way */
    return messages_on_host(&dg_cpu_tables(part)->owned, part->exchange,
                            dg_tables(part)->space.mesh->part.num_neighbor);
}
