/* walk.c: which element nodes are one node. Next: walk.h. */
#include "walk.h"

void sem_walker_fill(struct sem_walker *w, const struct sem *sem, const unda_mesh *mesh)
{
    const struct element *el = sem->space.element;
    *w = (struct sem_walker){
        .sem = sem, .mesh = mesh, .num = el->num_node, .num_face_node = el->num_face_node};
    for (int node = 0; node < w->num; node++)
        w->inside[node] = true;
    for (int i = 0; i < 6 * MAX_NODE; i++)
        w->place[i / 6][i % 6] = -1;
    for (int i = 0; i < 6 * w->num_face_node; i++) {
        w->place[el->face_node[i]][i / w->num_face_node] = (int16_t)(i % w->num_face_node);
        w->inside[el->face_node[i]] = false;
    }
}

static unda_status add_spot(struct sem_spots *spots, int64_t spot)
{
    for (int64_t i = 0; i < spots->num; i++)
        if (spots->list[i] == spot)
            return UNDA_OK;
    if (spots->num == spots->room) {
        TRY(array_grow(&spots->list, spots->num, 2 * spots->room + 64, sizeof *spots->list, "node numbers"));
        spots->room = 2 * spots->room + 64;
    }
    spots->list[spots->num++] = spot;
    return UNDA_OK;
}

unda_status sem_walk(const struct sem_walker *w, int64_t spot, struct sem_spots *spots, bool *first)
{
    const int32_t *face_node = w->sem->space.element->face_node;
    spots->num = 0;
    TRY(add_spot(spots, spot));
    for (int64_t i = 0; i < spots->num; i++) {
        int64_t elem = sem_spot_elem(spots->list[i]);
        const int16_t *place = w->place[sem_spot_node(spots->list[i])];
        bool before = spots->list[i] < spot && sem_is_kin(w, spots->list[i], spot);
        if (first)
            *first = !before;
        if (first && before)
            break;
        for (int face = 0; face < 6; face++) {
            if (place[face] < 0)
                continue;
            int32_t other = w->mesh->neighbor[6 * elem + face];
            if (other < 0)
                continue;
            int side = other % 6 + 6 * w->mesh->turn[6 * elem + face];
            TRY(add_spot(spots, sem_spot(other / 6, face_node[side * w->num_face_node + place[face]])));
        }
    }
    return UNDA_OK;
}
