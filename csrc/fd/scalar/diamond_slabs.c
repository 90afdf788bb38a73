/* diamond_slabs.c: kernel diamond on several devices: the row of towers of a stage is cut along x.
 * Tower r of stage s begins at x = 2 H r, or at 2 H r - H if s is odd, where H = DTS STEP is half a diamond. It needs
 * of the stages before it those of rows r, and r - 1 (s odd) or r + 1 (s even); towers of one stage do not need each
 * other. So slabs begin at multiples B of 2 H and exchange, across each cut, what a stage has made:
 *     s even: planes [B - H - M, B - STEP) go up;
 *     s odd:  planes [B - H, B - STEP + M) go down,
 * both levels, in the rows of y that the stage passes, and memory variables of matched layers. Planes [B - H, B) are
 * made by both slabs in turn, a diamond here, a diamond there; they are the lower slab's, and up to date there after
 * the last stage.
 * Slabs on devices that reach each other's memory take all stages together (diamond_together.c). Others take stage by
 * stage, each a launch on the stream beside the engine's, so that no kernel waits for another one:
 *     kernel (made) -> waits for neighbours' `made` -> copies (sent) -> waits for neighbours' `sent` -> next stage
 * The first wait changes no bit, since what copies overwrite is the same or not read; with it no word is written while
 * a kernel reads it.
 * A process with a slab does the same by messages (rank.c). Samples of receivers in shared planes: each slab has those
 * that it made, see slab_samples.c.
 * Not here: the launch (diamond.c), single steps of slabs (slabs.c), copies of whole planes (cuda_send.c). */
#include "../slabs.h"

#include "diamond.h"

#define EACH(s, c) for (int32_t c = slabs(s)->first; c < slabs(s)->end; c++)

unda_status diamond_cut(const unda_solver *s, int64_t *planes)
{
    struct scalar_cuda t = {0};
    const char *why = diamond_choose(s, &t);
    if (why)
        FAIL(UNDA_ERR_ARG, "kernel diamond cannot run this: %s; expected kernel step", why);
    *planes = 2 * diamond_reach(&t.diamond.tile);
    return UNDA_OK;
}

/* ---- what travels ---- */

struct stage_done {
    int64_t levels, stage; /* of a launch; -1: none */
};

/* The rows of y that a stage passes in so many levels. */
static struct fd_span rows_of(const unda_solver *s, const struct diamond_tile *tile, int64_t levels,
                              int64_t stage)
{
    int64_t half = fd_tables(s)->half, reach = diamond_reach(tile), num = fd_tables(s)->axis[1].total;
    int64_t first = num - half - stage * reach; /* column 0 of level 0 */
    int64_t begin = first + half - reach, end = first + half * levels + reach;
    begin = begin > 0 ? begin : 0;
    end = end < num ? end : num;
    return (struct fd_span){begin, end > begin ? end : begin};
}

/* What travels over a cut at once, one way: planes of both levels in some rows of y, then memory variables. */
struct crossing {
    struct fd_span planes, rows, memory;
};

/* Of a stage, before the first one (-1) all that a slab looks at beyond its own planes, over the cut below plane `cut`. */
static struct crossing find_crossing(const unda_solver *s, int64_t cut, struct stage_done done, bool up)
{
    const struct diamond_tile *tile = &scalar_cuda(s)->diamond.tile;
    int64_t half = fd_tables(s)->half, shared = cut - diamond_reach(tile);
    bool before = done.stage < 0;
    struct crossing c = {.rows = before ? (struct fd_span){0, fd_tables(s)->axis[1].total}
                                        : rows_of(s, tile, done.levels, done.stage)};
    if (!before && up == (done.stage % 2 != 0))
        return (struct crossing){.rows = c.rows};
    if (up) {
        int64_t end = before ? cut : cut - tile->step;
        c.planes = (struct fd_span){shared - half, end};
        c.memory = (struct fd_span){shared, end};
    } else if (before)
        c.planes = (struct fd_span){cut, cut + half};
    else {
        c.planes = (struct fd_span){shared, cut - tile->step + half};
        c.memory = (struct fd_span){shared, cut};
    }
    return c;
}

static int64_t num_piece(const unda_solver *s, const struct crossing *c)
{
    return 2 * (c->planes.end - c->planes.begin) + fd_tables(s)->num_memory;
}

/* Where a slab has piece number i. Either slab at a cut has pieces of the same bytes. */
static struct fd_piece piece_of(const unda_solver *s, const struct crossing *c, int64_t i)
{
    const struct fd_axis *axis = fd_tables(s)->axis;
    const struct fd_cuda *t = fd_cuda(s);
    int64_t planes = c->planes.end - c->planes.begin;
    if (i >= 2 * planes)
        return scalar_cuda_memory_piece(s, (int)(i - 2 * planes), c->memory);
    int64_t x = c->planes.begin + i % planes, node = (x * axis[1].total + c->rows.begin) * axis[2].total;
    return (struct fd_piece){t->array[i / planes] + (gpu_ptr)(fd_cuda_place(s, node) * s->real_bytes),
                             (c->rows.end - c->rows.begin) * t->pitch * s->real_bytes};
}

/* To a slab of this process. Planes of a level are equally far apart. */
static unda_status send(unda_solver *from, unda_solver *to, struct stage_done done, bool up)
{
    struct crossing c = find_crossing(from, fd_tables(up ? to : from)->begin, done, up);
    struct gpu_stream *away = fd_cuda(from)->away;
    int64_t planes = c.planes.end - c.planes.begin, step = fd_cuda_plane_bytes(from);
    int64_t at_once = step <= INT32_MAX ? planes : 1;
    for (int64_t i = 0; i < 2 * planes; i += at_once) {
        struct fd_piece here = piece_of(from, &c, i);
        TRY(gpu_copy_parts_async(away, piece_of(to, &c, i).at, step, here.at, step, here.bytes, at_once));
    }
    for (int64_t i = 2 * planes; i < num_piece(from, &c); i++) {
        struct fd_piece here = piece_of(from, &c, i);
        TRY(gpu_copy_async(away, piece_of(to, &c, i).at, here.at, here.bytes));
    }
    return UNDA_OK;
}

/* To the block of a message of another process, or from there. */
static unda_status carry(unda_solver *s, const void *what, int32_t neighbor, int side, uintptr_t block,
                         bool arrives)
{
    const struct stage_done *done = what;
    int64_t cut = side ? fd_tables(s)->end : fd_tables(s)->begin;
    struct crossing c = find_crossing(s, cut, *done, (side == 1) != arrives);
    for (int64_t i = 0; i < num_piece(s, &c); i++) {
        struct fd_piece piece = piece_of(s, &c, i);
        if (piece.bytes > 0)
            TRY(fd_cuda_carry_piece(s, neighbor, piece, block, arrives));
        block += (uintptr_t)piece.bytes;
    }
    return UNDA_OK;
}

/* After a stage; no stage begins before both slabs at a cut have ended the last one and have what the other one sends. */
static unda_status exchange(unda_solver *s, struct stage_done done)
{
    if (slabs(s)->rank)
        return fd_rank_exchange(s, carry, &done);
    EACH(s, i) TRY(fd_cuda_join(slab_of(s, i)));
    for (int32_t i = slabs(s)->first; i + 1 < slabs(s)->end; i++) {
        TRY(fd_cuda_follow(slab_of(s, i), slab_of(s, i + 1)));
        TRY(fd_cuda_follow(slab_of(s, i + 1), slab_of(s, i)));
    }
    for (int32_t i = slabs(s)->first; i + 1 < slabs(s)->end; i++) {
        TRY(send(slab_of(s, i), slab_of(s, i + 1), done, true));
        TRY(send(slab_of(s, i + 1), slab_of(s, i), done, false));
    }
    EACH(s, i) TRY(fd_cuda_sent(slab_of(s, i)));
    for (int32_t i = slabs(s)->first; i + 1 < slabs(s)->end; i++) {
        TRY(fd_cuda_receive(slab_of(s, i), slab_of(s, i + 1)));
        TRY(fd_cuda_receive(slab_of(s, i + 1), slab_of(s, i)));
    }
    return UNDA_OK;
}

/* Nodes of a plane in the rows of all stages that are odd, or even. */
static int64_t nodes_passed(const unda_solver *s, const struct diamond_tile *tile, bool odd)
{
    int64_t num = 0;
    for (int64_t stage = odd; stage < diamond_stages(s, tile, tile->levels); stage += 2) {
        struct fd_span rows = rows_of(s, tile, tile->levels, stage);
        num += (rows.end - rows.begin) * fd_tables(s)->axis[2].total;
    }
    return num;
}

/* Nodes of memory variables in some planes. */
static int64_t memory_nodes(const struct fd *fd, int64_t begin, int64_t end)
{
    int64_t num = 0;
    for (int i = 0; i < fd->num_memory; i++) {
        const struct fd_memory *memory = &fd->memory[i];
        int64_t planes = fd_memory_before(fd, memory, end) - fd_memory_before(fd, memory, begin);
        num += planes * memory->num[1] * memory->num[2];
    }
    return num;
}

int64_t diamond_leap_bytes(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    const struct diamond_tile *tile = &scalar_cuda(s)->diamond.tile;
    int64_t reach = diamond_reach(tile), stages = diamond_stages(s, tile, tile->levels), num = 0;
    int64_t plane = fd->axis[1].total * fd->axis[2].total, planes = reach + fd->half - tile->step;
    if (fd_cut(fd, 1))
        num += 2 * ((reach + fd->half) * plane + planes * nodes_passed(s, tile, false)) +
               memory_nodes(fd, fd->end - reach, fd->end) +
               (stages + 1) / 2 * memory_nodes(fd, fd->end - reach, fd->end - tile->step);
    if (fd_cut(fd, 0))
        num += 2 * (fd->half * plane + planes * nodes_passed(s, tile, true)) +
               stages / 2 * memory_nodes(fd, fd->begin - reach, fd->begin);
    return num * s->real_bytes / tile->levels;
}

/* What goes up before the first stage is the most. */
struct fd_leap_room diamond_leap_room(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    const struct fd_cuda *t = fd_cuda(s);
    struct fd_leap_room room = {0};
    if (!kernel_is(&fd->whole->options, "diamond"))
        return room;
    int64_t reach = diamond_reach(&scalar_cuda(s)->diamond.tile), planes = 2 * (reach + fd->half);
    room.num_piece = planes + fd->num_memory;
    room.bytes = planes * fd->axis[1].total * t->pitch * s->real_bytes;
    for (int i = 0; i < fd->num_memory; i++)
        room.bytes += reach * scalar_cuda_memory_plane_bytes(s, i);
    return room;
}

/* ---- steps ---- */

/* Beside the engine's stream. */
unda_status diamond_launch_beside(unda_solver *s, int64_t levels, int64_t first, int64_t end)
{
    struct fd_cuda *t = fd_cuda(s);
    SWAP(t->stream, t->away);
    unda_status status = diamond_launch(s, levels, first, end);
    SWAP(t->stream, t->away);
    return status;
}

unda_status diamond_exchange_before(unda_solver *s, int64_t levels)
{
    return exchange(s, (struct stage_done){levels, -1});
}

static unda_status take_stages(unda_solver *s, int64_t levels, int64_t num)
{
    EACH(s, i) TRY(fd_cuda_sending(slab_of(s, i)));
    TRY(diamond_exchange_before(s, levels));
    for (int64_t stage = 0; stage < num; stage++) {
        EACH(s, i) TRY(diamond_launch_beside(slab_of(s, i), levels, stage, stage + 1));
        TRY(exchange(s, (struct stage_done){levels, stage}));
    }
    return UNDA_OK;
}

static unda_status take_levels(unda_solver *s, int64_t levels)
{
    const unda_solver *one = slab_of(s, slabs(s)->first);
    int64_t num = diamond_stages(one, &scalar_cuda(one)->diamond.tile, levels);
    TRY(diamond_can_meet(s) ? diamond_together(s, levels, num) : take_stages(s, levels, num));
    EACH(s, i)
    {
        struct fd_cuda *t = fd_cuda(slab_of(s, i));
        TRY(fd_cuda_join(slab_of(s, i)));
        if (levels % 2)
            SWAP(t->array[FD_P], t->array[FD_PREVIOUS]);
        slab_of(s, i)->step += levels;
    }
    return UNDA_OK;
}

unda_status diamond_leap(unda_solver *s, int64_t num_step, int64_t *done)
{
    const struct diamond_tile *tile = &scalar_cuda(slab_of(s, slabs(s)->first))->diamond.tile;
    EACH(s, i) TRY(fd_cuda_clear_samples(slab_of(s, i), num_step));
    for (*done = 0; num_step - *done >= tile->fewest;) {
        int64_t left = num_step - *done, levels = left < tile->levels ? left : tile->levels;
        TRY(take_levels(s, levels));
        *done += levels;
    }
    return UNDA_OK;
}
