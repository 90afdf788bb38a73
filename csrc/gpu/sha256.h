/* sha256.h: the SHA-256 hash (FIPS 180-4), for cache keys and checksums.
 * Not for secret data. Next: sha256.c. */
#ifndef UNDA_GPU_SHA256_H
#define UNDA_GPU_SHA256_H

#include <stdint.h>

struct sha256 {
    uint32_t state[8];
    uint64_t num_byte;
    unsigned char block[64];
};
void sha256_begin(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, int64_t bytes);
void sha256_end(struct sha256 *hash, unsigned char digest[32]);

#endif
