/* base.h: basics for every file of the library: errors (FAIL, TRY), logging, arrays, the fork guard.
 * No numerics. Next: error.c, log.c, array.c, parallel.h. */
#ifndef UNDA_BASE_H
#define UNDA_BASE_H

#include "../unda.h"

#include <stdbool.h>

/* Records status and message for this thread and returns status. */
unda_status error_set(unda_status status, const char *file, int line, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void error_set_log(const char *text); /* copied: the compiler's log */

#define FAIL(status, ...) return error_set((status), __FILE__, __LINE__, __VA_ARGS__)
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        unda_status try_status = (call);                                                                     \
        if (try_status != UNDA_OK)                                                                           \
            return try_status;                                                                               \
    } while (0)
/* For options structs: the caller's size must be ours. */
#define CHECK_SIZE(pointer, type)                                                                            \
    do {                                                                                                     \
        if (!(pointer))                                                                                      \
            FAIL(UNDA_ERR_ARG, #type " is NULL");                                                            \
        if ((pointer)->size_bytes != (int64_t)sizeof(type))                                                  \
            FAIL(UNDA_ERR_ARG, #type ".size_bytes is %lld, expected %lld", (long long)(pointer)->size_bytes, \
                 (long long)sizeof(type));                                                                   \
    } while (0)

void log_add(unda_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* 64-byte aligned, zeroed; count * size is checked for overflow. NULL only when out of memory
 * (count 0 gives a valid pointer). Freed by array_free. */
void *array_new(int64_t count, int64_t size);
void array_free(void *array);
/* *(void **)out = array_new(...), UNDA_ERR_MEMORY with the bytes wanted. */
unda_status array_try(void *out, int64_t count, int64_t size, const char *what);
/* The array at *(void **)array becomes one of `count` elements, the first `kept` those of before; it remains
 * where there is no memory. */
unda_status array_grow(void *array, int64_t kept, int64_t count, int64_t size, const char *what);
/* Copies an array to a caller, unless that does not ask for it: `to` is NULL. */
void array_give(void *to, const void *from, int64_t count, int64_t size);
/* The median of 1 or more numbers, the larger of the two in the middle; sorts them. */
double array_median(double *array, int64_t count);
/* `SCRATCH double *values = NULL;` frees the array where its name goes out of scope, on every way out. */
#define SCRATCH __attribute__((cleanup(array_free_at)))
void array_free_at(void *pointer_to_array);

/* The end of a constructor: what `call` says of the object `made`, which it completes, is the status; *out is
 * the object then, or it is freed. */
#define COMPLETE(out, made, free, call)                                                                      \
    ({                                                                                                       \
        unda_status completed = (call);                                                                      \
        if (completed == UNDA_OK)                                                                            \
            *(out) = (made);                                                                                 \
        else                                                                                                 \
            free(made);                                                                                      \
        completed;                                                                                           \
    })

/* Arrays of one owner, which are freed together: a list that begins NULL. `OWNER void *owned = NULL;` frees it
 * where the name goes out of scope. */
unda_status array_own(void **owner, void *out, int64_t count, int64_t size, const char *what);
void arrays_free(void **owner);
#define OWNER __attribute__((cleanup(arrays_free)))

/* Marks this process as one that ran an engine (OpenMP or CUDA) / refuses in a forked child. */
void fork_mark(void);
unda_status fork_check(void);

double clock_seconds(void); /* monotonic */

#define SWAP(a, b)                                                                                           \
    do {                                                                                                     \
        __typeof__(a) swapped = (a);                                                                         \
        (a) = (b);                                                                                           \
        (b) = swapped;                                                                                       \
    } while (0)

#endif
