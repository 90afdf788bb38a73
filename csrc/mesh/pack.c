/* pack.c: a mesh as a block of memory, which travels between processes: a head, then its arrays one after another.
 * Not a file format: the bytes are those of this machine and of this version. Next: part.c. */
#include "internal.h"

#include <stddef.h>
#include <string.h>

struct head {
    char magic[8];
    int64_t abi, num_byte;
    uint64_t sum; /* of all words behind it */
    unda_mesh_info info;
};
static const char magic[8] = "undamsh";

enum { MAX_ARRAY = 24 };
struct array {
    void *at; /* the address of the pointer */
    int64_t count, size;
};

/* The arrays of a mesh whose counts are known; returns how many. */
static int list_arrays(struct unda_mesh *mesh, bool curved, struct array list[MAX_ARRAY])
{
    int num = 0;
    int64_t elem = mesh->num_elem, face = elem * mesh->table->num_face, side = mesh->num_boundary_face;
    struct mesh_part *part = &mesh->part;
    bool is_part = part->num_part > 0;
#define LIST(member, number)                                                                                 \
    list[num++] = (struct array)                                                                             \
    {                                                                                                        \
        &(member), (number), sizeof *(member)                                                                \
    }
    LIST(mesh->vertices, 3 * mesh->num_vertex);
    LIST(mesh->cells, elem * mesh->table->num_vertex);
    LIST(mesh->sorted, elem * mesh->table->num_vertex);
    LIST(mesh->tags, elem);
    LIST(mesh->boundary_faces, side * mesh->table->num_face_vertex);
    LIST(mesh->boundary_ids, side);
    LIST(mesh->boundary_place, side);
    LIST(mesh->order, elem);
    LIST(mesh->place, elem);
    LIST(mesh->neighbor, face);
    LIST(mesh->turn, face);
    LIST(mesh->volumes, elem);
    LIST(mesh->quality, elem);
    if (curved)
        LIST(mesh->curved, 81 * elem);
    if (is_part) {
        LIST(part->global, elem);
        LIST(part->neighbor, part->num_neighbor);
        LIST(part->first, part->num_neighbor + 1);
        LIST(part->own, part->num_cut);
        LIST(part->ghost, part->num_cut);
    }
#undef LIST
    return num;
}

unda_status pack_allocate(struct unda_mesh *mesh, bool curved)
{
    struct array list[MAX_ARRAY];
    int num = list_arrays(mesh, curved, list);
    for (int i = 0; i < num; i++)
        TRY(array_own(&mesh->owned, list[i].at, list[i].count, list[i].size, "mesh"));
    return UNDA_OK;
}

/* Each array begins at a multiple of 8 bytes. */
static int64_t bytes_of(const struct array *one)
{
    return (one->count * one->size + 7) / 8 * 8;
}

static int64_t block_bytes(struct unda_mesh *mesh, bool curved)
{
    struct array list[MAX_ARRAY];
    int64_t bytes = sizeof(struct head);
    int num = list_arrays(mesh, curved, list);
    for (int i = 0; i < num; i++)
        bytes += bytes_of(&list[i]);
    return bytes;
}

static uint64_t sum_of(const char *block, int64_t num_byte)
{
    uint64_t sum = 0, word;
    for (int64_t at = offsetof(struct head, info); at < num_byte; at += 8) {
        memcpy(&word, block + at, 8);
        sum = mix(sum ^ word) + 1;
    }
    return sum;
}

unda_status unda_mesh_pack(const unda_mesh *given, int64_t *num_byte, void *block)
{
    TRY(fork_check());
    if (!given || !num_byte)
        FAIL(UNDA_ERR_ARG, "mesh or num_byte is NULL");
    struct unda_mesh *mesh = (struct unda_mesh *)given; /* read only */
    struct array list[MAX_ARRAY];
    struct head head = {.abi = UNDA_ABI, .num_byte = block_bytes(mesh, mesh->curved), .info = mesh->info};
    memcpy(head.magic, magic, sizeof magic);
    char *at = block;
    if (!block) {
        *num_byte = head.num_byte;
        return UNDA_OK;
    }
    if (*num_byte != head.num_byte)
        FAIL(UNDA_ERR_ARG, "the block has %lld bytes, expected the %lld of this mesh", (long long)*num_byte,
             (long long)head.num_byte);
    int num = list_arrays(mesh, mesh->curved, list);
    memcpy(at, &head, sizeof head);
    at += sizeof head;
    for (int i = 0; i < num; at += bytes_of(&list[i++])) {
        void *from;
        memcpy(&from, list[i].at, sizeof from);
        memset(at + list[i].count * list[i].size, 0,
               (size_t)(bytes_of(&list[i]) - list[i].count * list[i].size));
        if (list[i].count)
            memcpy(at, from, (size_t)(list[i].count * list[i].size));
    }
    head.sum = sum_of(block, head.num_byte);
    memcpy(block, &head, sizeof head);
    return UNDA_OK;
}

static unda_status check_block(struct head *head, int64_t num_byte, const void *block)
{
    if (num_byte < (int64_t)sizeof *head)
        FAIL(UNDA_ERR_ARG, "the block has %lld bytes, a mesh at least %lld", (long long)num_byte,
             (long long)sizeof *head);
    memcpy(head, block, sizeof *head);
    if (memcmp(head->magic, magic, sizeof magic) != 0 || head->abi != UNDA_ABI)
        FAIL(UNDA_ERR_ARG, "the block is no mesh that this version packed (interface %d)", UNDA_ABI);
    if (head->num_byte != num_byte)
        FAIL(UNDA_ERR_ARG, "the block has %lld bytes, expected %lld", (long long)num_byte,
             (long long)head->num_byte);
    if (head->sum != sum_of(block, num_byte))
        FAIL(UNDA_ERR_ARG, "the block was changed: its sum differs");
    return UNDA_OK;
}

static unda_status unpack(struct unda_mesh *mesh, const struct head *head, const char *block)
{
    const unda_mesh_info *info = &head->info;
    struct array list[MAX_ARRAY];
    mesh->info = *info;
    mesh->shape = info->shape;
    mesh->table = &shape_tables[info->shape];
    mesh->num_boundary = info->num_boundary;
    mesh->num_vertex = info->num_vertex;
    mesh->num_elem = info->num_elem;
    mesh->num_boundary_face = info->num_boundary_face;
    mesh->num_owned = info->num_owned;
    mesh->part = (struct mesh_part){.which = info->which,
                                    .num_part = info->num_part,
                                    .num_border = info->num_border,
                                    .num_neighbor = info->num_neighbor_part,
                                    .num_cut = info->num_cut_face};
    TRY(pack_allocate(mesh, info->curved));
    int num = list_arrays(mesh, info->curved, list);
    block += sizeof *head;
    for (int i = 0; i < num; block += bytes_of(&list[i++])) {
        void *to;
        memcpy(&to, list[i].at, sizeof to);
        memcpy(to, block, (size_t)(list[i].count * list[i].size));
    }
    return UNDA_OK;
}

unda_status unda_mesh_unpack(unda_mesh **out, int64_t num_byte, const void *block)
{
    TRY(fork_check());
    struct head head;
    struct unda_mesh *mesh;
    if (!out || !block)
        FAIL(UNDA_ERR_ARG, "mesh or block is NULL");
    TRY(check_block(&head, num_byte, block));
    TRY(array_try(&mesh, 1, sizeof *mesh, "mesh"));
    atomic_init(&mesh->holders, 1);
    return COMPLETE(out, mesh, unda_mesh_free, unpack(mesh, &head, block));
}
