/* cache.c: compiled kernels on disk, so that each is compiled once per machine.
 * One file per key: a header (magic, size, key, checksum) and the code. A file that does not match is a miss;
 * files are written under a temporary name and renamed. Their code runs on the device, so a folder that
 * others may write to is not used. Next: launch.c (the caller), settings.c (the folder). */
#include "internal.h"
#include "settings.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char magic[24] = "unda-cubin-2";

struct header {
    char magic[24];
    int64_t size_bytes; /* of the code */
    hash128 key, checksum;
};
_Static_assert(sizeof(struct header) == 64, "the cache file's header has no padding");

/* FNV-1a (Fowler, Noll & Vo 1991). A cryptographic hash is not needed: only this user writes to the folder, so
 * that keys can be equal by chance only. */
static const hash128 hash_start = (hash128)0x6c62272e07bb0142 << 64 | 0x62b821756295c58d;

static void hash_add(hash128 *hash, const void *data, int64_t bytes)
{
    const hash128 prime = ((hash128)1 << 88) + 0x13b;
    const unsigned char *from = data;
    for (int64_t i = 0; i < bytes; i++)
        *hash = (*hash ^ from[i]) * prime;
}

static void add_text(hash128 *hash, const char *text)
{
    hash_add(hash, text, (int64_t)strlen(text) + 1); /* with its end: no two lists look alike */
}

hash128 cache_key(const struct sources *sources, const struct gpu_source *source, int architecture)
{
    hash128 hash = hash_start;
    add_text(&hash, unda_version());
    hash_add(&hash, (int[]){architecture, nvrtc.version, sources->num_header, source->num_option},
             4 * sizeof(int));
    for (int i = 0; i < sources->num_header; i++) {
        add_text(&hash, sources->header_name[i]);
        add_text(&hash, sources->header_text[i]);
    }
    add_text(&hash, source->file);
    add_text(&hash, text_of(&sources->program));
    for (int i = 0; i < source->num_option; i++)
        add_text(&hash, source->options[i]);
    return hash;
}

/* FOLDER/KEY.cubin; false when the cache is off. */
static bool file_path(hash128 key, struct text *folder, struct text *path)
{
    settings_cache_dir(folder);
    if (!folder->size_bytes)
        return false;
    text_add(path, "%s/%016llx%016llx.cubin", text_of(folder), (unsigned long long)(key >> 64),
             (unsigned long long)key);
    return text_done(path) == UNDA_OK;
}

static struct header make_header(hash128 key, const void *data, int64_t bytes)
{
    struct header header = {.size_bytes = bytes, .key = key, .checksum = hash_start};
    memcpy(header.magic, magic, sizeof magic);
    hash_add(&header.checksum, data, bytes);
    return header;
}

/* Says whether a folder is this user's, and only this user may write to it; if it is not, says so once. A
 * folder that is not there yet will be made so. */
static bool trusted(const char *folder)
{
    static atomic_bool told;
    struct stat found;
    if (stat(folder, &found) != 0)
        return true;
    bool own = found.st_uid == geteuid(), closed = (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
    if (own && closed)
        return true;
    if (!atomic_exchange(&told, true))
        log_add(
            UNDA_LOG_WARNING,
            "compiled kernels are neither taken from %s nor kept there: it %s; expected a folder that only "
            "this user may write to (chmod go-w, or another one by UNDA_CACHE_DIR)",
            folder, own ? "may be written to by others" : "belongs to another user");
    return false;
}

/* ---- reading ---- */

static bool unpack(const struct text *file, hash128 key, struct text *image)
{
    struct header found;
    int64_t bytes = file->size_bytes - (int64_t)sizeof found;
    if (bytes <= 0)
        return false;
    memcpy(&found, file->data, sizeof found);
    const char *data = file->data + sizeof found;
    struct header expected = make_header(key, data, bytes);
    if (memcmp(&found, &expected, sizeof found) != 0)
        return false;
    text_append(image, data, bytes);
    return text_done(image) == UNDA_OK;
}

bool cache_read(hash128 key, struct text *image)
{
    TEXT struct text folder = {0}, path = {0}, file = {0};
    if (!file_path(key, &folder, &path) || !trusted(text_of(&folder)) ||
        !text_read_file(&file, text_of(&path)))
        return false;
    bool hit = unpack(&file, key, image);
    if (!hit)
        log_add(UNDA_LOG_WARNING, "the cache file %s is damaged; compiling again", text_of(&path));
    return hit;
}

/* ---- writing ---- */

/* Makes a folder and those above it. A folder that is there is fine; another failure shows when the file is
 * opened. */
static void make_folder(const char *path)
{
    char *copy = strdup(path);
    if (!copy)
        return;
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(copy, 0700);
        *slash = '/';
    }
    (void)mkdir(copy, 0700);
    free(copy);
}

static bool write_all(int file, const void *data, int64_t bytes)
{
    const char *from = data;
    while (bytes > 0) {
        ssize_t written = write(file, from, (size_t)bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += written;
        bytes -= written;
    }
    return true;
}

/* A file under its final name is always whole: written aside, flushed to the disk, renamed. */
static bool write_file(const char *path, const struct header *header, const struct text *image)
{
    struct text partial = {0};
    text_add(&partial, "%s.XXXXXX", path);
    int file = text_done(&partial) == UNDA_OK ? mkstemp(partial.data) : -1;
    if (file < 0) {
        text_clear(&partial);
        return false;
    }
    bool good = write_all(file, header, sizeof *header) && write_all(file, image->data, image->size_bytes) &&
                fsync(file) == 0;
    good = close(file) == 0 && good;
    good = good && rename(partial.data, path) == 0;
    int error = errno;
    if (!good)
        (void)unlink(partial.data);
    text_clear(&partial);
    errno = error;
    return good;
}

void cache_write(hash128 key, const struct text *image)
{
    TEXT struct text folder = {0}, path = {0};
    if (!file_path(key, &folder, &path) || !trusted(text_of(&folder)))
        return;
    struct header header = make_header(key, image->data, image->size_bytes);
    make_folder(text_of(&folder));
    if (!write_file(text_of(&path), &header, image))
        log_add(UNDA_LOG_WARNING, "compiled kernels cannot be kept in %s: %s", text_of(&folder),
                strerror(errno));
}
