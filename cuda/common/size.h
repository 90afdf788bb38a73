/* size.h: SIZE_IS follows a struct that host and device share: both compilers check that it has that many
 * bytes. */
#ifndef UNDA_SIZE_H
#define UNDA_SIZE_H

#ifdef __cplusplus
#define SIZE_IS(type, bytes) static_assert(sizeof(struct type) == (bytes), "host and device disagree")
#else
#define SIZE_IS(type, bytes) _Static_assert(sizeof(struct type) == (bytes), "host and device disagree")
#endif

#endif
