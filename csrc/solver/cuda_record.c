/* cuda_record.c: samples of receivers on the device. Not here: what they are (the methods' cuda_points.c). */
#include "cuda_record.h"

/* Values that a group's samples take in `out`. */
static int64_t group_room(const unda_solver *s, const struct receiver_group *group)
{
    return receiver_sample_reals(s, group) * (s->max_step / group->every + 2);
}

unda_status cuda_record_list(unda_solver *s, struct cuda_record *r, struct gpu *gpu, struct gpu_pool *pool)
{
    TRY(array_grow(&r->groups, 0, s->num_group, sizeof *r->groups, "receivers"));
    return gpu_pool_alloc(pool, gpu, &r->group, (int64_t)sizeof *r->groups * s->num_group, "receivers");
}

unda_status cuda_record_reserve(unda_solver *s, struct cuda_record *r, struct gpu *gpu, struct gpu_pool *pool)
{
    int64_t out = 0;
    for (int32_t g = 0; g < s->num_group; g++)
        out += group_room(s, s->groups[g]);
    return gpu_pool_alloc(pool, gpu, &r->out, out * s->real_bytes, "receiver samples");
}

unda_status cuda_record_begin(unda_solver *s, struct cuda_record *r, struct gpu_stream *stream)
{
    int64_t room = 0;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        int64_t stride = receiver_sample_reals(s, group);
        int64_t start = (s->step - group->first) / group->every + 1;
        r->groups[g] = (struct record_group){.first = group->first,
                                             .every = group->every,
                                             .base = room - start * stride,
                                             .stride = stride,
                                             .wide = group->wide && s->real_bytes == 4};
        room += group_room(s, group);
    }
    return gpu_upload(stream, r->group, r->groups, (int64_t)sizeof *r->groups * s->num_group);
}

unda_status cuda_record_fetch(unda_solver *s, struct cuda_record *r, struct gpu_stream *stream)
{
    gpu_ptr from = r->out;
    for (int32_t g = 0; g < s->num_group; g++) {
        const struct receiver_group *group = s->groups[g];
        int64_t sample = receiver_sample_reals(s, group) * s->real_bytes;
        int64_t count = receiver_num_since(group, s->begin, s->step);
        if (count > 0 && sample > 0)
            TRY(gpu_download(stream, (char *)group->samples + group->held * sample, from, count * sample));
        from += (gpu_ptr)(group_room(s, group) * s->real_bytes);
    }
    return UNDA_OK;
}
