/* device_read.c: a field of the present state to an array on a device, one launch for each part, which writes to the first
 * one's memory. Lists of rows stay on the devices, so that later calls copy nothing from the host. Not here: where fields
 * are (dg/view.c, sem/view.c, fd/view.c). */
#include "device_read.h"

struct reader {
    struct gpu_module *module;
    struct gpu_kernel rows, box;
    struct gpu_pool pool;
    bool listed[NUM_READ_TABLE];
    gpu_ptr row[NUM_READ_TABLE], node[NUM_READ_TABLE];
};

/* Of all parts that are here. */
struct device_reads {
    int32_t num;
    struct reader *reader; /* [num] */
    struct device_piece *piece;
};

unda_status device_read_check(int32_t field, int32_t num_field)
{
    if (field < 0 || field >= num_field)
        FAIL(UNDA_ERR_ARG, "field is %d, expected 0..%d", field, num_field - 1);
    return UNDA_OK;
}

static unda_solver *part_of(unda_solver *s, int32_t i)
{
    if (s->method->part)
        return s->method->part(s, i);
    return i == 0 ? s : NULL;
}

void device_read_free(unda_solver *s)
{
    struct device_reads *reads = s->device_reads;
    for (int32_t i = 0; reads && i < reads->num; i++) {
        gpu_pool_free(&reads->reader[i].pool);
        gpu_module_free(reads->reader[i].module);
    }
    if (reads) {
        array_free(reads->reader);
        array_free(reads->piece);
    }
    array_free(reads);
    s->device_reads = NULL;
}

static unda_status make(unda_solver *s)
{
    struct device_reads *reads;
    if (s->device_reads)
        return UNDA_OK;
    TRY(array_try(&reads, 1, sizeof *reads, "readers"));
    s->device_reads = reads; /* which frees it, whatever happens */
    while (part_of(s, reads->num))
        reads->num++;
    int32_t num = reads->num;
    reads->num = 0;
    TRY(array_try(&reads->piece, num, sizeof *reads->piece, "readers"));
    TRY(array_try(&reads->reader, num, sizeof *reads->reader, "readers"));
    reads->num = num;
    return UNDA_OK;
}

/* Where parts have the field; *bytes of all. *can: whether it is on devices that reach the first one's memory. */
static unda_status find(unda_solver *s, int32_t field, int64_t *bytes, bool *can)
{
    struct device_reads *reads = s->device_reads;
    const struct device_piece *first = reads->piece;
    *bytes = 0;
    *can = true;
    for (int32_t i = 0; i < reads->num; i++) {
        struct device_piece *piece = &reads->piece[i];
        unda_solver *part = part_of(s, i);
        bool reached = true;
        *piece = (struct device_piece){.table = READ_BOX};
        TRY(part->engine->piece(part, field, piece));
        const int32_t *box = piece->args.num_axis;
        piece->args.num =
            piece->table == READ_BOX ? (int64_t)box[0] * box[1] * box[2] : piece->num_row * piece->args.width;
        *bytes += piece->args.num * s->real_bytes;
        if (piece->gpu && first->gpu && piece->gpu != first->gpu)
            TRY(gpu_reach(piece->gpu, first->gpu, &reached));
        *can = *can && piece->gpu && reached;
    }
    return UNDA_OK;
}

static unda_status compile(struct reader *reader, const struct device_piece *piece, int32_t real_bytes)
{
    struct gpu_defines defines = {.num = 0};
    if (reader->module)
        return UNDA_OK;
    gpu_define(&defines, "REAL=%s", real_bytes == 4 ? "float" : "double");
    struct gpu_source source = {"common/read.cu", defines.list, defines.num};
    TRY(gpu_module_new(&reader->module, piece->gpu, &source));
    TRY(gpu_kernel_get(&reader->rows, reader->module, "read_rows", 0));
    return gpu_kernel_get(&reader->box, reader->module, "read_box", 0);
}

static unda_status list(unda_solver *s, int32_t i)
{
    struct reader *reader = &s->device_reads->reader[i];
    const struct device_piece *piece = &s->device_reads->piece[i];
    unda_solver *part = part_of(s, i);
    SCRATCH int64_t *row = NULL;
    SCRATCH int32_t *node = NULL;
    int table = piece->table;
    if (table == READ_BOX || reader->listed[table])
        return UNDA_OK;
    bool shared = part->engine->reads_nodes;
    TRY(array_try(&row, piece->num_row, sizeof *row, "rows"));
    TRY(array_try(&node, shared ? piece->args.num : 0, sizeof *node, "nodes of rows"));
    part->engine->list_rows(part, s, table, row, node);
    TRY(gpu_pool_copy(&reader->pool, piece->stream, &reader->row[table], row,
                      piece->num_row * (int64_t)sizeof *row, "rows"));
    if (shared)
        TRY(gpu_pool_copy(&reader->pool, piece->stream, &reader->node[table], node,
                          piece->args.num * (int64_t)sizeof *node, "nodes of rows"));
    reader->listed[table] = true;
    return UNDA_OK;
}

/* Threads along z, of which a box may have few nodes, then rows of y. */
static struct gpu_shape box_shape(const int32_t num[3])
{
    enum { MOST = 65535 };
    int lanes = 1;
    while (lanes < 64 && lanes * READ_VALUES < num[2])
        lanes *= 2;
    int rows = GPU_BLOCK / lanes;
    int64_t along_y = (num[1] + rows - 1) / rows;
    return (struct gpu_shape){.grid = {(num[2] + lanes * READ_VALUES - 1) / (lanes * READ_VALUES),
                                       along_y < MOST ? along_y : MOST, num[0] < MOST ? num[0] : MOST},
                              .block = {lanes, rows, 1}};
}

static unda_status launch(unda_solver *s, int32_t i, gpu_ptr to)
{
    const struct reader *reader = &s->device_reads->reader[i];
    struct device_piece *piece = &s->device_reads->piece[i];
    bool box = piece->table == READ_BOX;
    struct gpu_shape shape = box ? box_shape(piece->args.num_axis) : gpu_threads(piece->args.num);
    piece->args.to = POINTER(to + (gpu_ptr)(piece->first * s->real_bytes));
    if (!box) {
        piece->args.row = POINTER(reader->row[piece->table]);
        piece->args.node = POINTER(reader->node[piece->table]);
    }
    return gpu_launch(box ? &reader->box : &reader->rows, piece->stream, &shape, &piece->args,
                      sizeof piece->args);
}

static unda_status read(unda_solver *s, gpu_ptr to)
{
    struct device_reads *reads = s->device_reads;
    for (int32_t i = 0; i < reads->num; i++) {
        if (reads->piece[i].args.num == 0)
            continue;
        TRY(compile(&reads->reader[i], &reads->piece[i], s->real_bytes));
        TRY(list(s, i));
        TRY(launch(s, i, to));
    }
    for (int32_t i = 0; i < reads->num; i++)
        TRY(gpu_sync(reads->piece[i].stream));
    return UNDA_OK;
}

unda_status unda_solver_read_device(unda_solver *s, int32_t field, uint64_t address, int64_t bytes,
                                    int32_t *done)
{
    ENTER(s);
    int64_t expected;
    bool can;
    if (!done)
        FAIL(UNDA_ERR_ARG, "done is NULL");
    *done = 0;
    const unda_solver *first = part_of(s, 0);
    if (!first->engine->piece)
        return UNDA_OK;
    if (s->engine->settle)
        TRY(s->engine->settle(s));
    TRY(make(s));
    TRY(find(s, field, &expected, &can));
    if (!can)
        return UNDA_OK;
    if (bytes != expected)
        FAIL(UNDA_ERR_ARG, "bytes is %lld, expected %lld, of all values of the field", (long long)bytes,
             (long long)expected);
    if (address % (uint64_t)s->real_bytes)
        FAIL(UNDA_ERR_ARG, "address is %llu, expected a multiple of %d", (unsigned long long)address,
             s->real_bytes);
    TRY(gpu_check_memory(s->device_reads->piece[0].gpu, address, bytes));
    TRY(read(s, address));
    *done = 1;
    return UNDA_OK;
}
