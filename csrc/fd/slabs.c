/* slabs.c: several slabs of one grid as one engine. Each slab is a solver of planes [begin, end) of x, with
 * the tables of the whole grid and M planes of its neighbours on both sides; x is the slowest axis, so that what
 * travels is contiguous. A pass of a step:
 *     border planes, those within M of a cut -> their copies begin -> all others -> copies end.
 * Every node is computed by the same operations whatever the cuts. All that looks at a state from outside
 * (energies, files, points, materials) sees the whole grid, through `box`, `gather` and `memory`.
 * Not here: what one slab owns (slab.c), receivers (slab_samples.c), copies (cpu.c, cuda_send.c), processes with a slab
 * each (rank.c). */
#include "slabs.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct fd_engine *one(const unda_solver *s) /* of a slab */
{
    return fd_slab_engine(s);
}

#define EACH(s, c) for (int32_t c = slabs(s)->first; c < slabs(s)->end; c++)

/* ---- set-up ---- */

static unda_status check(const unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    const int32_t *device = fd->slab_device;
    int64_t planes = 2 * fd->half + 2, num = fd->axis[0].total;
    bool cpu = s->options.device == UNDA_DEVICE_CPU;
    for (int32_t i = 0; i < fd->num_slab; i++)
        if (device[i] < UNDA_DEVICE_CPU || (device[i] == UNDA_DEVICE_CPU) != cpu)
            FAIL(UNDA_ERR_ARG,
                 "device of slab %d is %d and options.device %d, expected CUDA devices, or %d of all", i,
                 device[i], s->options.device, UNDA_DEVICE_CPU);
    if (fd->num_slab > 1 && num < planes * fd->num_slab)
        FAIL(UNDA_ERR_ARG,
             "%d slabs of a grid of %lld planes along x, expected at least %lld planes each (2 M + 2 of "
             "order 2 M): "
             "fewer devices or processes, or a longer axis x",
             fd->num_slab, (long long)num, (long long)planes);
    if (kernel_is(&s->options, "tiled"))
        FAIL(UNDA_ERR_ARG,
             "kernel %s takes several steps at once, after which slabs of a grid would need more than M "
             "planes of each other; expected kernel step, or diamond of CUDA devices, on %s",
             s->options.kernel, s->ranks ? "several processes" : "several devices");
    if (fd->options.window > 0)
        FAIL(UNDA_ERR_ARG,
             "window is %d, expected 0 or -1 on several devices: each of them holds its slab whole",
             fd->options.window);
    return UNDA_OK;
}

/* What slabs know of the whole grid may have changed. */
static void update(unda_solver *s, int32_t i)
{
    unda_solver *c = slab_of(s, i);
    struct fd *fd = &slabs(s)->slab[i].fd;
    int64_t begin = fd->begin, end = fd->end, shared = fd->shared;
    struct fd_cpu *host = fd->host;
    *fd = *fd_tables(s);
    fd->host = host;
    fd->whole = s;
    fd->options.window = 0;
    fd->shared = shared;
    fd_own(fd, begin, end);
    c->dt = s->dt;
    c->dt_stable = s->dt_stable;
    c->t0 = s->t0;
    c->step = c->begin = s->step;
    c->max_step = s->max_step;
    c->sources = s->sources;
    c->num_source = s->num_source;
    c->groups = s->groups;
    c->num_group = s->num_group;
}

/* Where slab i begins: at a multiple of `unit` planes. */
static int64_t first_plane(const struct fd *fd, int64_t unit, int32_t i)
{
    int64_t num = fd->axis[0].total;
    return i == fd->num_slab ? num : num / unit * i / fd->num_slab * unit;
}

/* Kernels that take many steps of all slabs at once have them begin at multiples of *unit planes. */
static unda_status find_unit(const unda_solver *s, int64_t *unit, int64_t *shared)
{
    const struct fd *fd = fd_tables(s);
    *unit = 0;
    if (one(s)->cut)
        TRY(one(s)->cut(s, unit));
    *shared = *unit / 2;
    *unit = *unit ? *unit : 1;
    for (int32_t i = 0; i < fd->num_slab && fd->num_slab > 1; i++) {
        int64_t planes = first_plane(fd, *unit, i + 1) - first_plane(fd, *unit, i);
        if (planes < 2 * fd->half + 2)
            FAIL(
                UNDA_ERR_ARG,
                "%d slabs of a grid of %lld planes along x, in units of %lld of kernel %s: slab %d has %lld, "
                "expected at least %d (2 M + 2 of order 2 M): fewer devices, or a longer axis x",
                fd->num_slab, (long long)fd->axis[0].total, (long long)*unit, s->options.kernel, i,
                (long long)planes, 2 * fd->half + 2);
    }
    return UNDA_OK;
}

static unda_status cut(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    struct slabs *t;
    int64_t unit, shared;
    TRY(check(s));
    TRY(find_unit(s, &unit, &shared));
    TRY(array_try(&t, 1, sizeof *t, "slabs"));
    s->data = t;
    TRY(array_try(&t->slab, fd->num_slab, sizeof *t->slab, "slabs"));
    t->num = fd->num_slab;
    t->first = s->ranks ? s->ranks->which : 0;
    t->end = s->ranks ? t->first + 1 : t->num;
    for (int32_t i = 0; i < t->num; i++) {
        unda_solver *c = slab_of(s, i);
        *c = (unda_solver){.options = s->options,
                           .method = s->method,
                           .engine = &one(s)->base,
                           .tables = &t->slab[i].fd,
                           .real_bytes = s->real_bytes};
        if (!shared)
            snprintf(c->options.kernel, sizeof c->options.kernel, "step");
        c->options.device = fd->slab_device[i];
        t->slab[i].fd.begin = first_plane(fd, unit, i);
        t->slab[i].fd.end = first_plane(fd, unit, i + 1);
        t->slab[i].fd.shared = i ? shared : 0;
        update(s, i);
    }
    return UNDA_OK;
}

static void destroy(unda_solver *s)
{
    struct slabs *t = slabs(s);
    EACH(s, i)
    if (slab_of(s, i)->data)
        slab_of(s, i)->engine->destroy(slab_of(s, i));
    fd_rank_free(s);
    array_free(t->slab);
    array_free(t->values);
    arrays_free(&t->samples_owned);
    array_free(t);
    s->data = NULL;
}

static void destroy_at(unda_solver **s)
{
    if ((*s)->data)
        destroy(*s);
}

unda_status fd_slabs_forecast(unda_solver *s, int64_t *host_bytes, int64_t *device_bytes)
{
    __attribute__((cleanup(destroy_at))) unda_solver *until_return = s;
    TRY(cut(until_return));
    *host_bytes = 0;
    EACH(s, i)
    {
        TRY(one(s)->base.forecast(slab_of(s, i)));
        *host_bytes += slab_of(s, i)->host_bytes;
        device_bytes[i] = slab_of(s, i)->device_bytes;
    }
    return UNDA_OK;
}

/* Of neighbours around the grid, which need it only where x is periodic. */
static unda_status reach_neighbors(unda_solver *s)
{
    slabs(s)->reached = true;
    EACH(s, i)
    {
        for (int side = 0; side < 2 && one(s)->reach; side++) {
            bool reached;
            TRY(one(s)->reach(slab_of(s, i), slab_of(s, slab_beside(slabs(s), i, side)), &reached));
            slabs(s)->reached = slabs(s)->reached && reached;
        }
    }
    return UNDA_OK;
}

static unda_status create(unda_solver *s)
{
    TRY(cut(s));
    EACH(s, i) TRY(one(s)->base.create(slab_of(s, i)));
    TRY(s->ranks ? fd_rank_new(s, s->ranks) : reach_neighbors(s));
    EACH(s, i)
    {
        const unda_solver *c = slab_of(s, i);
        s->host_bytes += c->host_bytes;
        s->device_bytes += c->device_bytes;
        s->num_launch += c->num_launch;
        s->compile_seconds += c->compile_seconds;
        s->threads = c->threads;
    }
    return UNDA_OK;
}

static unda_status retime(unda_solver *s)
{
    EACH(s, i)
    {
        update(s, i);
        if (one(s)->base.retime)
            TRY(one(s)->base.retime(slab_of(s, i)));
    }
    return UNDA_OK;
}

static void describe(const unda_solver *s, unda_solver_info *info)
{
    one(s)->base.describe(slab_of(s, slabs(s)->first), info);
}

static unda_status compile(unda_solver *s, int compute_capability, unda_kernel_resources *resources)
{
    if (!one(s)->base.compile)
        FAIL(UNDA_ERR_ARG, "device is %d: the CPU engine compiles no kernels, expected 0 or more",
             UNDA_DEVICE_CPU);
    return one(s)->base.compile(s, compute_capability, resources);
}

static unda_status profile(unda_solver *s, int64_t num_run, unda_profile *out)
{
    (void)num_run;
    (void)out;
    FAIL(UNDA_ERR_ARG, "the grid is cut into %d slabs: expected the kernels of one device, whole",
         slabs(s)->num);
}

/* ---- state ---- */

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}
static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Planes of slabs that are not here read as 0, and are not written. */
static unda_status box(unda_solver *s, int array, const struct fd_box *box, void *out, const void *in)
{
    int64_t plane = box->num[1] * box->num[2] * s->real_bytes, end = box->first[0] + box->num[0];
    if (out && slabs(s)->rank)
        memset(out, 0, (size_t)(box->num[0] * plane));
    EACH(s, i)
    {
        const struct fd *fd = &slabs(s)->slab[i].fd;
        struct fd_box part = *box;
        part.first[0] = most(box->first[0], fd->begin);
        part.num[0] = least(end, fd->end) - part.first[0];
        int64_t skip = (part.first[0] - box->first[0]) * plane;
        if (part.num[0] > 0)
            TRY(one(s)->box(slab_of(s, i), array, &part, out ? (char *)out + skip : NULL,
                            in ? (const char *)in + skip : NULL));
    }
    return UNDA_OK;
}

static unda_status memory(unda_solver *s, int number, int64_t first, int64_t count, void *out, const void *in)
{
    const struct fd_memory *whole = &fd_tables(s)->memory[number];
    int64_t plane = whole->num[1] * whole->num[2] * s->real_bytes;
    if (out && slabs(s)->rank)
        memset(out, 0, (size_t)(count * plane));
    EACH(s, i)
    {
        const struct fd_memory *own = &slabs(s)->slab[i].fd.memory[number];
        int64_t from = most(first, own->first), num = least(first + count, own->first + own->planes) - from;
        int64_t skip = (from - first) * plane;
        if (num > 0)
            TRY(one(s)->memory(slab_of(s, i), number, from, num, out ? (char *)out + skip : NULL,
                               in ? (const char *)in + skip : NULL));
    }
    return UNDA_OK;
}

/* Nodes one after the other of one slab at once; all processes ask for the same ones. */
static unda_status gather(unda_solver *s, int array, int64_t count, const int64_t *node, double *values)
{
    const struct slabs *t = slabs(s);
    if (t->rank)
        memset(values, 0, sizeof *values * (size_t)count);
    for (int64_t at = 0, end; at < count; at = end) {
        int32_t owner = fd_slab_with(s, node[at]);
        for (end = at + 1; end < count && fd_slab_with(s, node[end]) == owner;)
            end++;
        if (owner >= t->first && owner < t->end)
            TRY(one(s)->gather(slab_of(s, owner), array, end - at, node + at, values + at));
    }
    return fd_rank_unite(s, values, count * (int64_t)sizeof *values);
}

static unda_status clear(unda_solver *s)
{
    EACH(s, i) TRY(one(s)->clear(slab_of(s, i)));
    return UNDA_OK;
}

static unda_status find_bad(unda_solver *s, int64_t *index)
{
    *index = -1;
    EACH(s, i)
    {
        int64_t found;
        TRY(one(s)->base.find_bad(slab_of(s, i), &found));
        if (found >= 0 && (*index < 0 || found < *index))
            *index = found;
    }
    double least = *index < 0 ? INFINITY : (double)*index; /* a whole number below 2^53 */
    TRY(fd_rank_least(s, &least));
    *index = isfinite(least) ? (int64_t)least : -1;
    return UNDA_OK;
}

/* ---- what travels ---- */

/* Planes below and above a slab that its nodes need of an array. */
static void planes_needed(const struct fd *fd, int array, int64_t *below, int64_t *above)
{
    *below = *above = fd->half;
    if (array >= FD_MATERIAL) { /* means between nodes */
        *below = 0;
        *above = 1;
    } else if (fd->physics) { /* differences half a cell away */
        *below -= !fd->field[array].half[0];
        *above -= fd->field[array].half[0];
    }
}

/* Adds an array to what travels. held: the number of the array that holds it now. */
static void add_array(const struct fd *fd, struct fd_travel *travel, int array, int held)
{
    int32_t i = travel->num++;
    travel->array[i] = array;
    travel->held[i] = held;
    planes_needed(fd, array, &travel->below[i], &travel->above[i]);
}

/* Sends planes of an array across all cuts. */
static unda_status send_array(unda_solver *s, const struct fd_travel *travel, int which)
{
    int64_t below = travel->below[which], above = travel->above[which];
    int held = travel->held[which];
    EACH(s, i)
    {
        const struct fd *fd = &slabs(s)->slab[i].fd;
        int32_t low = slab_beside(slabs(s), i, 0), high = slab_beside(slabs(s), i, 1);
        if (fd_cut(fd, 0) && above > 0)
            TRY(one(s)->send(slab_of(s, i), slab_of(s, low), held, fd->begin, slabs(s)->slab[low].fd.end,
                             above));
        if (fd_cut(fd, 1) && below > 0)
            TRY(one(s)->send(slab_of(s, i), slab_of(s, high), held, fd->end - below,
                             slabs(s)->slab[high].fd.begin - below, below));
    }
    return UNDA_OK;
}

static unda_status post(unda_solver *s, const struct fd_travel *travel)
{
    if (slabs(s)->rank)
        return fd_rank_post(s, travel);
    for (int32_t i = 0; i < travel->num; i++)
        TRY(send_array(s, travel, i));
    return UNDA_OK;
}

static unda_status arrive(unda_solver *s)
{
    return slabs(s)->rank ? fd_rank_arrive(s) : UNDA_OK;
}

static unda_status sending(unda_solver *s)
{
    EACH(s, i) TRY(one(s)->sending ? one(s)->sending(slab_of(s, i)) : UNDA_OK);
    return UNDA_OK;
}

static unda_status receive(unda_solver *s)
{
    EACH(s, i) TRY(one(s)->sent ? one(s)->sent(slab_of(s, i)) : UNDA_OK);
    EACH(s, i)
    {
        for (int side = 0; side < 2 && one(s)->receive && !slabs(s)->rank; side++)
            if (fd_cut(&slabs(s)->slab[i].fd, side))
                TRY(one(s)->receive(slab_of(s, i), slab_of(s, slab_beside(slabs(s), i, side))));
    }
    return UNDA_OK;
}

/* Whether pass number `pass` makes an array of which differences along x are taken. */
static bool travels(const struct fd *fd, int pass, int array)
{
    return fd->physics ? fd_staggered_travels(fd, pass, array) : array == FD_P;
}

/* What travels after a pass; fresh: of step number `time`, else as the state holds it. */
static struct fd_travel after_pass(const unda_solver *s, int pass, bool fresh, int64_t time)
{
    const struct fd *fd = fd_tables(s);
    struct fd_travel travel = {.num = 0};
    for (int array = 0; array < fd->num_field; array++)
        if (travels(fd, pass, array))
            add_array(fd, &travel, array, fresh ? one(s)->fresh(array, time) : array);
    return travel;
}

unda_status fd_slabs_member(const unda_solver *s, int32_t which, unda_member *member)
{
    const struct slabs *t = slabs(s);
    if (which < 0 || which >= t->num)
        FAIL(UNDA_ERR_ARG, "which is %d, expected a slab within 0..%d", which, t->num - 1);
    const struct fd *fd = &t->slab[which].fd;
    int64_t cuts = fd_cut(fd, 0) + fd_cut(fd, 1), planes = 0, shared = t->slab[t->num - 1].fd.shared;
    for (int pass = 0; pass < fd->scheme->num_pass; pass++)
        for (int array = 0; array < fd->num_field; array++)
            if (travels(fd, pass, array)) {
                int64_t below, above;
                planes_needed(fd, array, &below, &above);
                planes += (fd_cut(fd, 0) ? above : 0) + (fd_cut(fd, 1) ? below : 0);
            }
    *member = (unda_member){.size_bytes = sizeof *member,
                            .device = fd->slab_device[which],
                            .num_neighbor = (int32_t)(t->num == 2 && cuts ? 1 : cuts),
                            .num_elem = fd->end - fd->begin,
                            .num_border = cuts * fd->half + fd_cut(fd, 1) * shared,
                            .num_ghost = cuts * fd->half + fd_cut(fd, 0) * shared,
                            .num_cut_face = cuts,
                            .exchange_bytes =
                                shared ? one(s)->leap_bytes(&t->slab[which].solver)
                                       : planes * fd->axis[1].total * fd->axis[2].total * s->real_bytes,
                            .device_bytes = t->slab[which].solver.device_bytes};
    snprintf(member->transport, sizeof member->transport,
             !one(s)->reach ? "memory"
             : t->reached   ? "peer"
                            : "host");
    return UNDA_OK;
}

struct fd_travel fd_travel_after(const unda_solver *s, int pass)
{
    return after_pass(s, pass, false, 0);
}

struct fd_travel fd_travel_all(const struct fd *fd, int array)
{
    return (struct fd_travel){
        .num = 1, .array = {array}, .held = {array}, .below = {fd->half}, .above = {fd->half}};
}

unda_status fd_slabs_travel(unda_solver *s, const struct fd_travel *travel)
{
    TRY(post(s, travel));
    return arrive(s);
}

unda_status fd_slabs_open(unda_solver *s)
{
    const struct fd *fd = fd_tables(s);
    EACH(s, i)
    {
        update(s, i);
        TRY(one(s)->open(slab_of(s, i)));
    }
    TRY(sending(s));
    for (int pass = 0; pass < fd->scheme->num_pass; pass++) {
        struct fd_travel state = fd_travel_after(s, pass);
        TRY(fd_slabs_travel(s, &state));
    }
    for (int i = 0; i < fd->num_material && slabs(s)->material_version != fd->material_version; i++) {
        struct fd_travel material = {.num = 0};
        add_array(fd, &material, FD_MATERIAL + i, FD_MATERIAL + i);
        material.below[0] = most(material.below[0], slabs(s)->slab[slabs(s)->num - 1].fd.shared);
        TRY(fd_slabs_travel(s, &material));
    }
    slabs(s)->material_version = fd->material_version;
    return receive(s);
}

unda_status fd_slabs_settle(unda_solver *s)
{
    EACH(s, i) TRY(one(s)->settle ? one(s)->settle(slab_of(s, i)) : UNDA_OK);
    return UNDA_OK;
}

/* ---- steps ---- */

static unda_status pass(unda_solver *s, int pass, int64_t time)
{
    const struct fd_travel made = after_pass(s, pass, true, time);
    EACH(s, i) TRY(one(s)->pass(slab_of(s, i), pass, time, FD_BORDER));
    TRY(post(s, &made));
    EACH(s, i) TRY(one(s)->pass(slab_of(s, i), pass, time, FD_INSIDE));
    TRY(arrive(s));
    return receive(s);
}

/* Many steps at once, as far as the kernel takes them; what is left is taken one by one. */
static unda_status leap(unda_solver *s, int64_t num_step, int64_t *done)
{
    *done = 0;
    if (!one(s)->leap)
        return UNDA_OK;
    TRY(one(s)->leap(s, num_step, done));
    if (*done == 0 || *done == num_step)
        return UNDA_OK;
    struct fd_travel state = fd_travel_after(s, 0);
    TRY(fd_slabs_travel(s, &state));
    return receive(s);
}

static unda_status run(unda_solver *s, int64_t num_step)
{
    int32_t list = 0;
    int64_t done;
    TRY(fd_slabs_open(s));
    TRY(leap(s, num_step, &done));
    for (int64_t time = done; time < num_step; time++) {
        for (int p = 0; p < fd_tables(s)->scheme->num_pass; p++)
            TRY(pass(s, p, time));
        EACH(s, i) TRY(one(s)->close(slab_of(s, i), time));
    }
    EACH(s, i) TRY(one(s)->finish(slab_of(s, i), num_step));
    s->step += num_step;
    for (int32_t g = 0; g < s->num_group; g++)
        for (int32_t n = 0; n < fd_num_nodes(s->groups[g]); n++)
            TRY(fd_slabs_take_samples(s, list++, s->groups[g], fd_nodes_of(s->groups[g], n)));
    return UNDA_OK;
}

static unda_status rest(unda_solver *s)
{
    TRY(fd_need_material(s));
    TRY(fd_rank_unite(s, NULL, 0));
    TRY(fd_slabs_open(s));
    TRY(fd_slabs_settle(s));
    EACH(s, i) TRY(one(s)->rest(slab_of(s, i)));
    return UNDA_OK;
}

/* ---- points ---- */

static unda_status drive(unda_solver *s, const unda_drive *given)
{
    EACH(s, i)
    {
        update(s, i);
        TRY(one(s)->base.drive(slab_of(s, i), given));
    }
    return fd_rank_unite(s, NULL, 0); /* none begins steps that another cannot take */
}

static unda_status list_points(unda_solver *s)
{
    TRY(fd_slabs_list_points(s));
    EACH(s, i)
    {
        update(s, i);
        TRY(one(s)->base.list_points(slab_of(s, i)));
    }
    return UNDA_OK;
}

static unda_status reserve(unda_solver *s)
{
    int64_t num = 0;
    EACH(s, i)
    {
        update(s, i);
        TRY(one(s)->base.reserve(slab_of(s, i)));
    }
    for (int32_t g = 0; g < s->num_group; g++)
        for (int32_t n = 0; n < fd_num_nodes(s->groups[g]); n++)
            num = most(num, fd_nodes_of(s->groups[g], n)->num_node);
    return array_grow(&slabs(s)->values, 0, num, sizeof(double), "receiver samples");
}

#define SLABS(kernel_list, device)                                                                           \
    {.base = {.name = device,                                                                                \
              .kernels = kernel_list,                                                                        \
              .create = create,                                                                              \
              .destroy = destroy,                                                                            \
              .drive = drive,                                                                                \
              .run = run,                                                                                    \
              .find_bad = find_bad,                                                                          \
              .list_points = list_points,                                                                    \
              .reserve = reserve,                                                                            \
              .retime = retime,                                                                              \
              .describe = describe,                                                                          \
              .profile = profile,                                                                            \
              .compile = compile},                                                                           \
     .box = box,                                                                                             \
     .gather = gather,                                                                                       \
     .clear = clear,                                                                                         \
     .rest = rest,                                                                                           \
     .memory = memory}
static const struct fd_engine engines[2][2] = {
    {SLABS(fd_scalar_cpu_kernels, "cpu"), SLABS(fd_scalar_cuda_kernels, "cuda")},
    {SLABS(fd_staggered_cpu_kernels, "cpu"), SLABS(fd_staggered_cuda_kernels, "cuda")}};

const struct engine *fd_slabs_engine(const unda_solver_options *o)
{
    return &engines[o->fd && o->fd->scheme == UNDA_STAGGERED][o->device != UNDA_DEVICE_CPU].base;
}
