/* talk.c: the scenario of launches on several devices that wait for each other, round by round, in a chain of
 * neighbours (kernels/talk.cu). Next: gpu_host.c. */
#include "talk.h"

#include "gpu/gpu.h"

#include <stdio.h>
#include <string.h>

enum { ROUNDS = 5, BLOCKS = 2, THREADS = 64, VALUES = BLOCKS * THREADS, MAX_PARTY = 5 };

struct talk_args { /* kernels/talk.cu */
    gpu_ptr value, box[2], flag[2], other_box[2], other_flag[2];
    int64_t begin, end;
};
/* split: its launches do the rounds before, and the others; -1: none is launched. */
struct party {
    int device, split;
    struct gpu *gpu;
    struct gpu_stream *stream, *copies;
    struct gpu_event *ready, *done;
    struct gpu_module *module;
    struct gpu_kernel kernel;
    gpu_ptr value, box[2], flag[2];
    double host[VALUES];
};

static unda_status party_new(struct party *party, int which)
{
    enum { BYTES = ROUNDS * VALUES * (int)sizeof(double), SHARED = THREADS * (int)sizeof(double) };
    TRY(gpu_open(&party->gpu, party->device));
    TRY(gpu_stream_new(&party->stream, party->gpu));
    TRY(gpu_stream_new(&party->copies, party->gpu));
    TRY(gpu_event_new_order(&party->ready, party->gpu));
    TRY(gpu_event_new_order(&party->done, party->gpu));
    TRY(gpu_module_new(&party->module, party->gpu, &(struct gpu_source){.file = "talk.cu"}));
    TRY(gpu_kernel_get(&party->kernel, party->module, "talk", SHARED));
    TRY(gpu_alloc(party->gpu, &party->value, sizeof party->host, "values"));
    for (int side = 0; side < 2; side++) {
        TRY(gpu_alloc(party->gpu, &party->box[side], BYTES, "messages"));
        TRY(gpu_alloc(party->gpu, &party->flag[side], ROUNDS * BLOCKS * 8, "flags"));
        TRY(gpu_zero_async(party->copies, party->flag[side], ROUNDS * BLOCKS * 8));
    }
    for (int i = 0; i < VALUES; i++)
        party->host[i] = i + 1000 * which;
    TRY(gpu_upload_async(party->copies, party->value, party->host, sizeof party->host));
    return gpu_event_record(party->ready, party->copies);
}

static void party_free(struct party *party)
{
    gpu_free(party->gpu, party->value);
    for (int side = 0; side < 2; side++) {
        gpu_free(party->gpu, party->box[side]);
        gpu_free(party->gpu, party->flag[side]);
    }
    gpu_module_free(party->module);
    gpu_event_free(party->ready);
    gpu_event_free(party->done);
    gpu_stream_free(party->stream);
    gpu_stream_free(party->copies);
    gpu_close(party->gpu);
}

static unda_status talk_launch(struct party *party, const struct talk_args *args)
{
    struct gpu_shape shape = {.grid = {BLOCKS}, .block = {THREADS}, .shared_bytes = THREADS * sizeof(double)};
    return gpu_launch(&party->kernel, party->stream, &shape, args, sizeof *args);
}

/* The launches of one, after those beside it are ready. */
static unda_status party_launch(struct party *parties, int num, int which)
{
    struct party *own = &parties[which];
    struct talk_args args = {.value = own->value};
    bool reached;
    TRY(gpu_stream_wait(own->stream, own->ready));
    for (int side = 0; side < 2; side++) {
        int other = which + (side ? 1 : -1);
        if (other < 0 || other == num)
            continue;
        TRY(gpu_reach(own->gpu, parties[other].gpu, &reached));
        TRY(gpu_stream_wait(own->stream, parties[other].ready));
        args.box[side] = own->box[side];
        args.flag[side] = own->flag[side];
        args.other_box[side] = parties[other].box[!side];
        args.other_flag[side] = parties[other].flag[!side];
    }
    int64_t ends[] = {own->split, ROUNDS};
    for (int i = 0; i < 2; i++, args.begin = args.end) {
        args.end = ends[i];
        if (args.end > args.begin)
            TRY(talk_launch(own, &args));
    }
    return UNDA_OK;
}

/* The last one does a round alone with the values of the first, once it has talked; then all come back. */
static unda_status talk_last(struct party *parties, int num)
{
    struct party *last = &parties[num];
    struct talk_args alone = {.value = parties[0].value, .end = 1};
    bool reached;
    TRY(gpu_reach(last->gpu, parties[0].gpu, &reached));
    TRY(gpu_event_record(parties[0].done, parties[0].stream));
    TRY(gpu_stream_wait(last->stream, parties[0].done));
    TRY(talk_launch(last, &alone));
    TRY(gpu_sync(last->stream));
    for (int i = 0; i < num; i++)
        TRY(gpu_download(parties[i].stream, parties[i].host, parties[i].value, sizeof parties[i].host));
    return UNDA_OK;
}

/* One round of `num` neighbours: of integers, which doubles hold. */
static void talk_expected(double (*value)[VALUES], int num)
{
    double old[MAX_PARTY][VALUES];
    memcpy(old, value, sizeof *value * (size_t)num);
    for (int p = 0; p < num; p++)
        for (int i = 0; i < VALUES; i++) {
            int mirror = i / THREADS * THREADS + THREADS - 1 - i % THREADS;
            value[p][i] =
                2 * old[p][mirror] + (p > 0 ? old[p - 1][i] : 0) + (p + 1 < num ? 3 * old[p + 1][i] : 0);
        }
}

static unda_status talk(struct party *parties, int num)
{
    double expected[MAX_PARTY][VALUES];
    TRY(party_new(&parties[num], num)); /* so that its launch would be taken before the others' */
    for (int i = 0; i < num; i++) {
        TRY(party_new(&parties[i], i));
        memcpy(expected[i], parties[i].host, sizeof expected[i]);
    }
    for (int i = 0; i < num; i++)
        if (parties[i].split >= 0)
            TRY(party_launch(parties, num, i));
    TRY(talk_last(parties, num));
    for (int round = 0; round < ROUNDS; round++)
        talk_expected(expected, num);
    talk_expected(expected, 1);
    for (int i = 0; i < num; i++)
        printf("wrong=%d\n", memcmp(parties[i].host, expected[i], sizeof expected[i]) != 0);
    return UNDA_OK;
}

unda_status talk_scenario(char **argument)
{
    struct party parties[MAX_PARTY] = {{0}};
    int num = 0;
    for (; num < MAX_PARTY - 1 && argument[num + 1]; num++)
        sscanf(argument[num + 1], "%d/%d", &parties[num].device, &parties[num].split);
    sscanf(argument[0], "%d", &parties[num].device);
    unda_status status = talk(parties, num);
    for (int i = 0; i <= num; i++)
        party_free(&parties[i]);
    return status;
}
