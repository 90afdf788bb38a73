/* gpu_host.c: scenarios for the CUDA host layer, run one a process by tests/test_gpu_*.py (a lost device
 * stays lost). Usage: gpu_host SCENARIO ARGUMENT...; prints "key=value" lines; a failed call prints status=
 * and error= and ends. The kernels are those of tests/c/kernels. Not here: numerics. */
#include "gpu/gpu.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1000, BLOCK = 128, NUM_BLOCK = 8 };

struct reverse_args { /* kernels/reverse.cu */
    const double *from;
    double *to;
    long long count;
};
struct rig {
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_module *module;
    struct gpu_kernel kernel;
    gpu_ptr from, to;
    double host[COUNT];
};

static unda_status rig_new(struct rig *rig, const char *file, const char *kernel)
{
    for (int i = 0; i < COUNT; i++)
        rig->host[i] = i;
    TRY(gpu_open(&rig->gpu, 0));
    TRY(gpu_stream_new(&rig->stream, rig->gpu));
    TRY(gpu_module_new(&rig->module, rig->gpu, &(struct gpu_source){.file = file}));
    TRY(gpu_kernel_get(&rig->kernel, rig->module, kernel, BLOCK * (int)sizeof(double)));
    TRY(gpu_alloc(rig->gpu, &rig->from, sizeof rig->host, "from"));
    TRY(gpu_alloc(rig->gpu, &rig->to, sizeof rig->host, "to"));
    return gpu_upload(rig->stream, rig->from, rig->host, sizeof rig->host);
}

static void rig_free(struct rig *rig)
{
    gpu_free(rig->gpu, rig->from);
    gpu_free(rig->gpu, rig->to);
    gpu_module_free(rig->module);
    gpu_stream_free(rig->stream);
    gpu_close(rig->gpu);
}

static unda_status launch(struct rig *rig, gpu_ptr from, gpu_ptr to, long long count)
{
    struct reverse_args args = {(const double *)(uintptr_t)from, (double *)(uintptr_t)to, count};
    struct gpu_shape shape = {.grid = {NUM_BLOCK},
                              .block = {BLOCK},
                              .shared_bytes = BLOCK * sizeof(double),
                              .early = !strncmp(rig->kernel.name, "early", 5)};
    return gpu_launch(&rig->kernel, rig->stream, &shape, &args, sizeof args);
}

/* Whether the downloaded values are those of `turns` reversals within blocks of BLOCK, scaled by 2 each. */
static unda_status check_values(struct rig *rig, gpu_ptr from, int turns)
{
    double got[COUNT];
    int wrong = 0;
    TRY(gpu_download(rig->stream, got, from, sizeof got));
    for (int i = 0; i < COUNT; i++) {
        int begin = i / BLOCK * BLOCK, end = begin + BLOCK < COUNT ? begin + BLOCK : COUNT;
        double expected = turns % 2 ? begin + end - 1 - i : i;
        wrong += got[i] != expected * (1 << turns);
    }
    printf("wrong=%d\n", wrong);
    return UNDA_OK;
}

/* ---- scenarios ---- */

static unda_status run_launch(struct rig *rig, char **argument)
{
    (void)argument;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    TRY(launch(rig, rig->from, rig->to, COUNT));
    return check_values(rig, rig->to, 1);
}

/* Products of mma.cu: A [16][16], B [16][8] of numbers whose products and sums are exact; FP16 of numbers halfway
 * between two, subnormal and too large. */
static unda_status run_products(struct rig *rig, char **argument)
{
    (void)argument;
    static const double number[8] = {1 + 0x1p-11, 1 + 0x3p-11, 0x1p-25,  0x3p-25,
                                     -0x1.8p-24,  65519,       -2.7e-5f, 0x1p-14 - 0x1p-25},
                        expected[8] = {1, 1 + 0x1p-9, 0, 0x1p-23, -0x1p-23, 65504, -0x1.c5p-16, 0x1p-14};
    double got[COUNT], *a = rig->host, *b = a + 256;
    int wrong = 0;
    TRY(rig_new(rig, "mma.cu", "mma"));
    for (int i = 0; i < 256 + 128; i++)
        a[i] = (i * 37 % 101 - 50) / 8.0;
    memcpy(b + 128, number, sizeof number);
    TRY(gpu_upload(rig->stream, rig->from, rig->host, sizeof rig->host));
    TRY(launch(rig, rig->from, rig->to, COUNT));
    TRY(gpu_download(rig->stream, got, rig->to, sizeof got));
    for (int i = 0; i < 16 * 8; i++) {
        double sum[3] = {0};
        for (int k = 0; k < 16; k++)
            for (int depth = 0; depth < 3; depth++)
                sum[depth] += k < 16 >> depth ? a[i / 8 * 16 + k] * b[k * 8 + i % 8] : 0;
        wrong += (got[i] != sum[0]) + (got[128 + i] != sum[1]) + (i < 64 && got[256 + i] != sum[2]);
    }
    printf("wrong=%d\n", wrong);
    for (int i = 0; i < 8; i++)
        printf("half%d=%d\n", i, got[320 + i] == expected[i]);
    return UNDA_OK;
}

/* Two turns a graph, launched twice. */
static unda_status run_graph(struct rig *rig, char **argument)
{
    (void)argument;
    struct gpu_graph *graph = NULL;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    TRY(gpu_capture_begin(rig->stream));
    TRY(launch(rig, rig->from, rig->to, COUNT));
    TRY(launch(rig, rig->to, rig->from, COUNT));
    TRY(gpu_capture_end(rig->stream, &graph));
    TRY(check_values(rig, rig->from, 0));
    TRY(gpu_graph_launch(graph, rig->stream));
    TRY(gpu_graph_launch(graph, rig->stream));
    unda_status status = check_values(rig, rig->from, 4);
    gpu_graph_free(graph);
    return status;
}

/* Copies, zeroing, page-locked memory and events in one queue. */
static unda_status run_queue(struct rig *rig, char **argument)
{
    (void)argument;
    double *locked = NULL, seconds = -1;
    struct gpu_event *begin, *end;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    TRY(gpu_host_alloc(rig->gpu, &locked, sizeof rig->host, "locked"));
    TRY(gpu_event_new(&begin, rig->gpu));
    TRY(gpu_event_new(&end, rig->gpu));
    TRY(gpu_event_record(begin, rig->stream));
    TRY(gpu_zero_async(rig->stream, rig->to, sizeof rig->host));
    TRY(gpu_copy_async(rig->stream, rig->to, rig->from, sizeof rig->host / 2));
    TRY(gpu_download_async(rig->stream, locked, rig->to, sizeof rig->host));
    TRY(gpu_event_record(end, rig->stream));
    TRY(gpu_event_seconds(begin, end, &seconds));
    printf("first=%g middle=%g last=%g timed=%d\n", locked[1], locked[COUNT / 2 - 1], locked[COUNT - 1],
           seconds > 0);
    gpu_event_free(begin);
    gpu_event_free(end);
    gpu_host_free(rig->gpu, locked);
    return UNDA_OK;
}

/* A failed allocation, then a smaller one in the same process. */
static unda_status run_memory(struct rig *rig, char **argument)
{
    gpu_ptr large = 0;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    unda_status status = gpu_alloc(rig->gpu, &large, atoll(argument[0]), "geometry");
    printf("large=%d %s\n", status, unda_error());
    TRY(launch(rig, rig->from, rig->to, COUNT));
    return check_values(rig, rig->to, 1);
}

/* A kernel of faults.cu, then calls of every kind. */
static unda_status run_fault(struct rig *rig, char **argument)
{
    TRY(rig_new(rig, "faults.cu", argument[0]));
    TRY(launch(rig, rig->from, rig->to, COUNT));
    unda_status status = gpu_sync(rig->stream);
    printf("first=%d %s\n", status, unda_error());
    struct gpu_event *event = NULL;
    gpu_ptr more = 0;
    unda_status later[] = {gpu_sync(rig->stream), launch(rig, rig->from, rig->to, COUNT),
                           gpu_alloc(rig->gpu, &more, 8, "more"), gpu_event_new(&event, rig->gpu),
                           gpu_check()};
    for (int i = 0; i < 5; i++)
        printf("later%d=%d\n", i, later[i]);
    printf("cause=%s\n", unda_error());
    gpu_event_free(event);
    gpu_free(rig->gpu, more);
    return UNDA_OK;
}

/* What the layer refuses before the driver sees it. */
static unda_status run_refusals(struct rig *rig, char **argument)
{
    (void)argument;
    struct reverse_args args = {0};
    struct gpu_kernel kernel;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    struct gpu_shape none = {.block = {BLOCK}}, large = {.grid = {1ll << 31}, .block = {BLOCK}},
                     wide = {.grid = {1}, .block = {2048}}, fine = {.grid = {1}, .block = {BLOCK}},
                     shared = {.grid = {1}, .block = {BLOCK}, .shared_bytes = 1 << 20};
    const struct gpu_shape *shapes[] = {&none, &large, &wide, &shared};
    for (int i = 0; i < 4; i++)
        printf("shape%d=%d %s\n", i, gpu_launch(&rig->kernel, rig->stream, shapes[i], &args, sizeof args),
               unda_error());
    printf("args=%d %s\n", gpu_launch(&rig->kernel, rig->stream, &fine, &args, 8), unda_error());
    printf("kernel=%d %s\n", gpu_kernel_get(&kernel, rig->module, "absent", 0), unda_error());
    printf("memory=%d %s\n", gpu_kernel_get(&kernel, rig->module, "reverse", 1 << 30), unda_error());
    struct gpu *gpu;
    printf("device=%d %s\n", gpu_open(&gpu, 99), unda_error());
    return UNDA_OK;
}

/* A captured failure leaves the stream usable. */
static unda_status run_broken_capture(struct rig *rig, char **argument)
{
    (void)argument;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    TRY(gpu_capture_begin(rig->stream));
    printf("sync=%d\n", gpu_sync(rig->stream) != UNDA_OK);
    TRY(gpu_capture_end(rig->stream, NULL));
    TRY(launch(rig, rig->from, rig->to, COUNT));
    return check_values(rig, rig->to, 1);
}

static unda_status run_fork(struct rig *rig, char **argument)
{
    (void)argument;
    int state = 0;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("child=%d %s\n", launch(rig, rig->from, rig->to, COUNT), unda_error());
        rig_free(rig);
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, &state, 0);
    printf("ended=%d\n", WIFEXITED(state) && WEXITSTATUS(state) == 0);
    TRY(launch(rig, rig->from, rig->to, COUNT));
    return check_values(rig, rig->to, 1);
}

static void *thread_main(void *result)
{
    struct rig *rig = calloc(1, sizeof *rig);
    unda_status status = run_graph(rig, NULL);
    rig_free(rig);
    free(rig);
    *(unda_status *)result = status;
    return NULL;
}

/* One process sends to another one, `turns` times; to itself, whose number is 0, it gets what it has sent. */
static unda_status send_to(struct rig *rig, int32_t rank, int turns)
{
    char id[UNDA_NCCL_ID_BYTES];
    unda_nccl *nccl = NULL;
    TRY(unda_nccl_new_id(id));
    TRY(unda_nccl_new(&nccl, 0, id, 1, 0));
    gpu_ptr half = sizeof rig->host / 2;
    struct gpu_message halves[] = {{0, rig->from, rig->to, (int64_t)half},
                                   {rank, rig->from + half, rig->to + half, (int64_t)half}};
    unda_status status = UNDA_OK;
    for (int i = 0; i < turns && status == UNDA_OK; i++) {
        status = gpu_nccl_exchange(nccl, rig->stream, halves, 2);
        status = status == UNDA_OK ? gpu_nccl_sync(nccl, rig->stream) : status;
    }
    printf("messages=%d %s\n", status, status == UNDA_OK ? "" : unda_error());
    if (status != UNDA_OK)
        printf("later=%d %s\n", gpu_nccl_exchange(nccl, rig->stream, halves, 2), unda_error());
    unda_nccl_free(nccl);
    return status;
}

/* ARGUMENT times. */
static unda_status run_messages(struct rig *rig, char **argument)
{
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    TRY(send_to(rig, 0, atoi(argument[0])));
    return check_values(rig, rig->to, 0);
}

/* To a process that is not there; then, by another connection, to itself. */
static unda_status run_nobody(struct rig *rig, char **argument)
{
    (void)argument;
    TRY(rig_new(rig, "reverse.cu", "reverse"));
    printf("nobody=%d %s\n", send_to(rig, 5, 1), unda_error());
    TRY(send_to(rig, 0, 1));
    return check_values(rig, rig->to, 0);
}

static unda_status run_threads(struct rig *rig, char **argument)
{
    (void)rig;
    (void)argument;
    pthread_t threads[4];
    unda_status status[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread_main, &status[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        TRY(status[i]);
    }
    return UNDA_OK;
}

static unda_status run_load(struct rig *rig, char **argument)
{
    TRY(gpu_open(&rig->gpu, 0));
    return gpu_module_new(&rig->module, rig->gpu,
                          &(struct gpu_source){.file = argument[0],
                                               .options = (const char *const *)(argument + 1),
                                               .num_option = argument[1] ? 1 : 0});
}

/* FILE KERNEL CAPABILITY, without a device. */
static unda_status run_compile(struct rig *rig, char **argument)
{
    (void)rig;
    unda_kernel_resources found;
    TRY(gpu_compile_only(&(struct gpu_source){.file = argument[0]}, argument[1], atoi(argument[2]), &found));
    printf("registers=%d spill=%d shared=%d cubin=%lld\n", found.registers, found.spill_bytes,
           found.shared_bytes, (long long)found.cubin_bytes);
    return UNDA_OK;
}

static unda_status run_limits(struct rig *rig, char **argument)
{
    (void)rig;
    unda_limits limits = {.size_bytes = sizeof limits};
    TRY(unda_device_limits(atoi(argument[0]), 0, &limits));
    printf("copy=%g fma32=%g fma64=%g\n", limits.copy_bytes_per_second, limits.fma32_per_second,
           limits.fma64_per_second);
    return UNDA_OK;
}

static unda_status run_report(struct rig *rig, char **argument)
{
    (void)rig;
    for (; *argument; argument++)
        TRY(unda_add_library_dir(*argument));
    printf("%s", unda_device_report());
    return UNDA_OK;
}

/* ---- launches that wait for each other (kernels/talk.cu) ---- */

enum {
    ROUNDS = 5,
    TALK_BLOCKS = 2,
    TALK_THREADS = 64,
    TALK_VALUES = TALK_BLOCKS * TALK_THREADS,
    MAX_PARTY = 4
};

struct talk_args { /* kernels/talk.cu */
    gpu_ptr value, box[2], flag[2], other_box[2], other_flag[2];
    int64_t begin, end;
};
/* split: its launches do the rounds before, and the others; -1: none is launched. */
struct party {
    int device, split;
    struct gpu *gpu;
    struct gpu_stream *stream;
    struct gpu_event *ready;
    struct gpu_module *module;
    struct gpu_kernel kernel;
    gpu_ptr value, box[2], flag[2];
    double host[TALK_VALUES];
};

static unda_status party_new(struct party *party, int which)
{
    enum { BYTES = ROUNDS * TALK_VALUES * (int)sizeof(double), SHARED = TALK_THREADS * (int)sizeof(double) };
    TRY(gpu_open(&party->gpu, party->device));
    TRY(gpu_stream_new(&party->stream, party->gpu));
    TRY(gpu_event_new_order(&party->ready, party->gpu));
    TRY(gpu_module_new(&party->module, party->gpu, &(struct gpu_source){.file = "talk.cu"}));
    TRY(gpu_kernel_get(&party->kernel, party->module, "talk", SHARED));
    TRY(gpu_alloc(party->gpu, &party->value, sizeof party->host, "values"));
    for (int side = 0; side < 2; side++) {
        TRY(gpu_alloc(party->gpu, &party->box[side], BYTES, "messages"));
        TRY(gpu_alloc(party->gpu, &party->flag[side], ROUNDS * TALK_BLOCKS * 8, "flags"));
        TRY(gpu_zero_async(party->stream, party->flag[side], ROUNDS * TALK_BLOCKS * 8));
    }
    for (int i = 0; i < TALK_VALUES; i++)
        party->host[i] = i + 1000 * which;
    TRY(gpu_upload_async(party->stream, party->value, party->host, sizeof party->host));
    return gpu_event_record(party->ready, party->stream);
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
    gpu_stream_free(party->stream);
    gpu_close(party->gpu);
}

/* The launches of one, after those beside it are ready, and the download of its values. */
static unda_status party_launch(struct party *parties, int num, int which)
{
    struct party *own = &parties[which];
    struct talk_args args = {.value = own->value};
    bool reached;
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
    struct gpu_shape shape = {
        .grid = {TALK_BLOCKS}, .block = {TALK_THREADS}, .shared_bytes = TALK_THREADS * sizeof(double)};
    int64_t ends[] = {own->split, ROUNDS};
    for (int i = 0; i < 2; i++, args.begin = args.end) {
        args.end = ends[i];
        if (args.end > args.begin)
            TRY(gpu_launch(&own->kernel, own->stream, &shape, &args, sizeof args));
    }
    return gpu_download_async(own->stream, own->host, own->value, sizeof own->host);
}

/* values [num][TALK_VALUES] after all rounds: integers, which doubles hold. */
static void talk_expected(double (*value)[TALK_VALUES], int num)
{
    double old[MAX_PARTY][TALK_VALUES];
    for (int p = 0; p < num; p++)
        for (int i = 0; i < TALK_VALUES; i++)
            value[p][i] = i + 1000 * p;
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(old, value, sizeof *value * (size_t)num);
        for (int p = 0; p < num; p++)
            for (int i = 0; i < TALK_VALUES; i++) {
                int mirror = i / TALK_THREADS * TALK_THREADS + TALK_THREADS - 1 - i % TALK_THREADS;
                value[p][i] =
                    2 * old[p][mirror] + (p > 0 ? old[p - 1][i] : 0) + (p + 1 < num ? 3 * old[p + 1][i] : 0);
            }
    }
}

static unda_status talk(struct party *parties, int num)
{
    for (int i = 0; i < num; i++)
        TRY(party_new(&parties[i], i));
    for (int i = 0; i < num; i++)
        if (parties[i].split >= 0)
            TRY(party_launch(parties, num, i));
    for (int i = 0; i < num; i++)
        TRY(gpu_sync(parties[i].stream));
    double expected[MAX_PARTY][TALK_VALUES];
    talk_expected(expected, num);
    for (int i = 0; i < num; i++)
        printf("wrong=%d\n", memcmp(parties[i].host, expected[i], sizeof expected[i]) != 0);
    return UNDA_OK;
}

/* ARGUMENT...: DEVICE or DEVICE/SPLIT of neighbours in a chain, waited for in this order. */
static unda_status run_talk(struct rig *rig, char **argument)
{
    (void)rig;
    struct party parties[MAX_PARTY] = {0};
    int num = 0;
    for (; num < MAX_PARTY && argument[num]; num++)
        sscanf(argument[num], "%d/%d", &parties[num].device, &parties[num].split);
    unda_status status = talk(parties, num);
    for (int i = 0; i < num; i++)
        party_free(&parties[i]);
    return status;
}

static const struct {
    const char *name;
    unda_status (*run)(struct rig *rig, char **argument);
} scenarios[] = {
    {"launch", run_launch},     {"products", run_products},
    {"graph", run_graph},       {"queue", run_queue},
    {"memory", run_memory},     {"fault", run_fault},
    {"refusals", run_refusals}, {"fork", run_fork},
    {"threads", run_threads},   {"load", run_load},
    {"compile", run_compile},   {"limits", run_limits},
    {"report", run_report},     {"broken_capture", run_broken_capture},
    {"messages", run_messages}, {"nobody", run_nobody},
    {"talk", run_talk},
};

int main(int argc, char **argv)
{
    static struct rig rig;
    unda_status status = UNDA_ERR_ARG;
    for (size_t i = 0; argc > 1 && i < sizeof scenarios / sizeof *scenarios; i++)
        if (strcmp(argv[1], scenarios[i].name) == 0)
            status = scenarios[i].run(&rig, argv + 2);
    if (status != UNDA_OK)
        printf("error=%s\nlog=%s\n", unda_error(), unda_error_log());
    rig_free(&rig);
    char text[512];
    int32_t level;
    while (unda_log_pop(&level, text, sizeof text))
        printf("log%d=%s\n", level, text);
    printf("status=%d\n", status);
    return 0;
}
