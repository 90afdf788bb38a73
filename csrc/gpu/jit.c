/* jit.c: compiles kernels with NVRTC, for one architecture, into code that the driver loads directly.
 * Not here: the cache (cache.c), loading onto a device (launch.c). Next: sources.c, api.c. */
#include "internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- architecture ---- */

/* Code for sm_80 runs on sm_86: within a major release an older target serves a newer device. */
static int newest_target(int capability, const int *targets, int num_target)
{
    int best = 0;
    for (int i = 0; i < num_target; i++)
        if (targets[i] <= capability && targets[i] / 10 == capability / 10 && targets[i] > best)
            best = targets[i];
    return best;
}

unda_status jit_architecture(int compute_capability, int *architecture)
{
    int num_target = 0;
    SCRATCH int *targets = NULL;
    TRY(nvrtc_load());
    TRY(NVRTC(nvrtcGetNumSupportedArchs, &num_target));
    TRY(array_try(&targets, num_target, sizeof *targets, "architectures"));
    TRY(NVRTC(nvrtcGetSupportedArchs, targets));
    int best = newest_target(compute_capability, targets, num_target);
    if (best == 0)
        FAIL(UNDA_ERR_NO_DEVICE,
             "NVRTC %d.%d cannot compile for sm_%d; install unda-waves[cuda] for new devices, "
             "unda-waves[cuda12] for old ones",
             nvrtc.version / 1000, nvrtc.version % 1000 / 10, compute_capability);
    *architecture = best;
    return UNDA_OK;
}

/* ---- compiling ---- */

/* The first line of the log like "cuda/dg/fused.cu(12): error: ..." */
static void first_error(const char *log, char *line, size_t bytes)
{
    const char *word = strstr(log, "error: "), *begin = word ? word : log;
    while (begin > log && begin[-1] != '\n')
        begin--;
    snprintf(line, bytes, "%.*s", (int)strcspn(begin, "\n"), begin);
}

static unda_status read_log(void *program, struct text *log)
{
    size_t bytes = 0;
    TRY(NVRTC(nvrtcGetProgramLogSize, program, &bytes));
    SCRATCH char *data = NULL;
    TRY(array_try(&data, (int64_t)bytes + 1, 1, "compiler log"));
    TRY(NVRTC(nvrtcGetProgramLog, program, data));
    text_add(log, "%s", data);
    return UNDA_OK;
}

static unda_status read_image(void *program, struct text *image)
{
    size_t bytes = 0;
    SCRATCH char *data = NULL;
    TRY(NVRTC(nvrtcGetCUBINSize, program, &bytes));
    if (bytes == 0)
        FAIL(UNDA_ERR_COMPILE, "NVRTC gave no code");
    TRY(array_try(&data, (int64_t)bytes, 1, "compiled code"));
    TRY(NVRTC(nvrtcGetCUBIN, program, data));
    text_append(image, data, (int64_t)bytes);
    return text_done(image);
}

/* The options that every kernel gets; those of the source follow. -v makes the assembler state registers and
 * spills, which it does not of code that NVRTC, from 12.9 on, has in a cache of its own: stated. result is
 * NVRTC's: the log says why it is not 0. */
static unda_status run_compiler(void *program, const struct gpu_source *source, int architecture, bool stated,
                                int *result)
{
    char target[32];
    const char *fixed[] = {
        target,        "--std=c++17",       "--generate-line-info", "--device-as-default-execution-space",
        "--fmad=true", "--ptxas-options=-v"};
    enum { NUM_FIXED = sizeof fixed / sizeof *fixed };
    SCRATCH const char **options = NULL;
    if (source->num_option < 0)
        FAIL(UNDA_ERR_INTERNAL, "%s has more defines than struct gpu_defines has room for", source->file);
    int num = NUM_FIXED + source->num_option;
    snprintf(target, sizeof target, "--gpu-architecture=sm_%d", architecture);
    TRY(array_try(&options, num + 1, sizeof *options, "options"));
    memcpy(options, fixed, sizeof fixed);
    for (int i = 0; i < source->num_option; i++)
        options[NUM_FIXED + i] = source->options[i];
    if (stated && nvrtc.version >= 12090)
        options[num++] = "--no-cache";
    *result = NVRTC_RESULT(nvrtcCompileProgram, program, num, options);
    return UNDA_OK;
}

static unda_status compile_program(void *program, const struct gpu_source *source, int architecture,
                                   struct text *image, bool stated, struct text *log)
{
    int result = 0;
    TRY(run_compiler(program, source, architecture, stated, &result));
    TRY(read_log(program, log));
    if (result != 0) {
        char line[512];
        first_error(text_of(log), line, sizeof line);
        error_set_log(text_of(log));
        FAIL(UNDA_ERR_COMPILE, "%s for sm_%d: %s", source->file, architecture, line);
    }
    return read_image(program, image);
}

unda_status jit_compile(const struct sources *sources, const struct gpu_source *source, int architecture,
                        struct text *image, struct text *log)
{
    TEXT struct text own = {0};
    void *program = NULL;
    TRY(nvrtc_load());
    TRY(NVRTC(nvrtcCreateProgram, &program, text_of(&sources->program), text_of(&sources->path),
              sources->num_header, (const char *const *)sources->header_text,
              (const char *const *)sources->header_name));
    unda_status status = compile_program(program, source, architecture, image, log, log ? log : &own);
    (void)NVRTC_RESULT(nvrtcDestroyProgram, &program);
    return status;
}

/* ---- compiling without a device ---- */

/* The number before `unit` in a line like "256 bytes stack frame, 0 bytes spill stores"; 0 if it is not
 * there. */
static int number_before(const char *begin, const char *end, const char *unit)
{
    const char *word = strstr(begin, unit);
    if (!word || word >= end)
        return 0;
    while (word > begin && word[-1] == ' ')
        word--;
    while (word > begin && word[-1] >= '0' && word[-1] <= '9')
        word--;
    return atoi(word);
}

/* Reads the assembler's statement on one kernel, which runs from its "Compiling entry function" to the next,
 * or on all whose names begin so if it ends in an underscore: the most of each number. */
static unda_status read_statement(const char *log, const char *kernel, unda_kernel_resources *resources)
{
    TEXT struct text head = {0};
    bool all = kernel[strlen(kernel) - 1] == '_';
    text_add(&head, "Compiling entry function '%s%s", kernel, all ? "" : "'");
    const char *begin = strstr(log, text_of(&head));
    if (!begin)
        FAIL(UNDA_ERR_COMPILE, "no kernel %s was compiled; the compiler said: %.400s", kernel, log);
    while (begin) {
        const char *next = strstr(begin + 1, "Compiling entry function");
        const char *end = next ? next : begin + strlen(begin);
        int found[3] = {number_before(begin, end, " registers"),
                        number_before(begin, end, " bytes stack frame"),
                        number_before(begin, end, " bytes smem")};
        int32_t *most[3] = {&resources->registers, &resources->spill_bytes, &resources->shared_bytes};
        for (int i = 0; i < 3; i++)
            *most[i] = found[i] > *most[i] ? found[i] : *most[i];
        begin = strstr(begin + 1, text_of(&head));
    }
    return UNDA_OK;
}

void gpu_define(struct gpu_defines *defines, const char *format, ...)
{
    enum { MOST = sizeof defines->list / sizeof *defines->list };
    char *text = defines->text + defines->used;
    int room = (int)sizeof defines->text - defines->used - 2;
    va_list list;
    if (defines->num < 0 || defines->num == MOST || room < 1) {
        defines->num = -1;
        return;
    }
    memcpy(text, "-D", 2);
    va_start(list, format);
    int length = vsnprintf(text + 2, (size_t)room, format, list);
    va_end(list);
    defines->used += 3 + length;
    defines->list[defines->num++] = text;
    if (length >= room)
        defines->num = -1;
}

unda_status gpu_compile_only(const struct gpu_source *source, const char *kernel, int compute_capability,
                             unda_kernel_resources *resources)
{
    SOURCES struct sources sources = {0};
    TEXT struct text image = {0}, log = {0};
    int architecture;
    TRY(nvrtc_load());
    double start = clock_seconds();
    TRY(sources_read(&sources, source->file));
    TRY(jit_architecture(compute_capability, &architecture));
    TRY(jit_compile(&sources, source, architecture, &image, &log));
    unda_kernel_resources found = {.size_bytes = sizeof found,
                                   .compile_seconds = clock_seconds() - start,
                                   .cubin_bytes = image.size_bytes};
    TRY(read_statement(text_of(&log), kernel, &found));
    *resources = found;
    cache_write(cache_key(&sources, source, architecture), &image);
    return UNDA_OK;
}
