/* library.c: information about the library: interface number, version,
 * struct sizes, source hash. No state. Next: unda.h, and python/unda/_core.py,
 * which compares these at import. */
#include "base.h"

#include <string.h>
#include <time.h>

/* The Makefile gives both; programs of the tests compile this file without it. */
#ifndef UNDA_SOURCE_HASH
#define UNDA_SOURCE_HASH ""
#endif
#ifndef UNDA_VERSION
#define UNDA_VERSION "unknown"
#endif

int32_t unda_abi(void)
{
    return UNDA_ABI;
}

const char *unda_version(void)
{
    return UNDA_VERSION;
}

const char *unda_source_hash(void)
{
    return UNDA_SOURCE_HASH;
}

int64_t unda_sizeof(const char *struct_name)
{
#define ENTRY(type) {#type, sizeof(type)}
    static const struct {
        const char *name;
        size_t size;
    } table[] = {
        ENTRY(unda_mesh_input),     ENTRY(unda_box),
        ENTRY(unda_mesh_info),      ENTRY(unda_mesh_arrays),
        ENTRY(unda_element_arrays), ENTRY(unda_solver_options),
        ENTRY(unda_fd_options),     ENTRY(unda_solver_info),
        ENTRY(unda_receivers),      ENTRY(unda_drive),
        ENTRY(unda_next),           ENTRY(unda_blowup),
        ENTRY(unda_profile),        ENTRY(unda_device_info),
        ENTRY(unda_limits),         ENTRY(unda_kernel_resources),
        ENTRY(unda_kernel_info),    ENTRY(unda_shared),
        ENTRY(unda_source),         ENTRY(unda_team),
        ENTRY(unda_member),         ENTRY(unda_ranks),
        ENTRY(unda_message),        ENTRY(unda_requests),
        ENTRY(unda_link),           ENTRY(unda_monitor),
        ENTRY(unda_view),
    };
#undef ENTRY
    for (size_t i = 0; struct_name && i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].name, struct_name) == 0)
            return (int64_t)table[i].size;
    return -1;
}

double clock_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}
