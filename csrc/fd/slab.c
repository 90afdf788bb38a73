/* slab.c: the part of a grid that one solver computes: planes of x, in the numbers of the whole grid; its nodes
 * of lists of points. Not here: several slabs together (slabs.c). */
#include "layer.h"

int64_t fd_memory_before(const struct fd *fd, const struct fd_memory *memory, int64_t x)
{
    const struct fd_axis *axis = &fd->axis[0];
    int64_t first[2] = {memory->begin, 0}, count[2] = {memory->count, 0}, sum = 0;
    if (memory->axis != 0)
        return x;
    if (!fd->physics) { /* matched layers at both sides, see fd_matched_at */
        first[0] = 1;
        first[1] = axis->total - 1 - axis->matched[1];
        count[0] = axis->matched[0];
        count[1] = axis->matched[1];
    }
    for (int i = 0; i < 2; i++) {
        int64_t before = x - first[i];
        sum += before < 0 ? 0 : before < count[i] ? before : count[i];
    }
    return sum;
}

void fd_own(struct fd *fd, int64_t begin, int64_t end)
{
    fd->begin = begin;
    fd->end = end;
    for (int i = 0; i < fd->num_memory; i++) {
        struct fd_memory *memory = &fd->memory[i];
        memory->first = fd_memory_before(fd, memory, begin);
        memory->planes = fd_memory_before(fd, memory, end) - memory->first;
    }
}

int fd_spans(const struct fd *fd, enum fd_part part, struct fd_span span[2])
{
    int num = 0;
    int64_t low = fd->begin + (fd_cut(fd, 0) ? fd->half : 0), high = fd->end - (fd_cut(fd, 1) ? fd->half : 0);
    low = low < fd->end ? low : fd->end;
    high = high > low ? high : low;
    const struct fd_span border[2] = {{fd->begin, low}, {high, fd->end}}, inside = {low, high};
    for (int i = 0; i < 2 && part == FD_BORDER; i++)
        if (border[i].begin < border[i].end)
            span[num++] = border[i];
    if (part == FD_INSIDE && low < high)
        span[num++] = inside;
    return num;
}

int64_t fd_num_before(const int64_t *node, int64_t num, int64_t place)
{
    int64_t low = 0, high = num;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (node[middle] < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct fd_range fd_nodes_in(const struct fd *fd, const int64_t *node, int64_t num, struct fd_span span)
{
    int64_t plane = fd->axis[1].total * fd->axis[2].total;
    int64_t first = fd_num_before(node, num, span.begin * plane);
    return (struct fd_range){first, fd_num_before(node, num, span.end * plane) - first};
}

unda_status fd_own_terms(unda_solver *s, int f, void **owner, struct fd_terms *terms)
{
    const struct fd *fd = fd_tables(s);
    TRY(fd_terms_new(fd_whole(s), f, owner, terms));
    struct fd_range own = fd_nodes_in(fd, terms->node, terms->num_node, fd_planes_of(fd));
    terms->node += own.first;
    terms->first += own.first;
    terms->num_node = own.num;
    return UNDA_OK;
}
