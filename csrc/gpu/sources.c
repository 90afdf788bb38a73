/* sources.c: reads the input of a compilation: one file and every header in the kernel folder.
 * NVRTC gets the headers by name and text, so that it compiles exactly what the cache key was computed from.
 * Next: jit.c, cache.c. */
#include "internal.h"
#include "settings.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_HEADER = 256, MAX_DEPTH = 8 };

static char *take(struct text *text)
{
    char *data = text->data;
    *text = (struct text){0};
    return data;
}

static bool ends_in_h(const char *name)
{
    size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, ".h") == 0;
}

/* Appends the names of all headers below `folder`, relative to `root`. */
static unda_status list_headers(struct sources *sources, const char *root, const char *folder, int depth)
{
    TEXT struct text path = {0};
    text_add(&path, "%s/%s", root, folder);
    DIR *dir = opendir(text_of(&path));
    if (!dir)
        FAIL(UNDA_ERR_IO, "the kernel folder %s/%s cannot be read: %s", root, folder, strerror(errno));
    unda_status status = UNDA_OK;
    for (struct dirent *entry; status == UNDA_OK && (entry = readdir(dir));) {
        TEXT struct text name = {0}, full = {0};
        struct stat info;
        text_add(&name, "%s%s%s", folder, folder[0] ? "/" : "", entry->d_name);
        text_add(&full, "%s/%s", root, text_of(&name));
        bool there = entry->d_name[0] != '.' && stat(text_of(&full), &info) == 0;
        if (there && S_ISDIR(info.st_mode) && depth < MAX_DEPTH)
            status = list_headers(sources, root, text_of(&name), depth + 1);
        else if (there && S_ISREG(info.st_mode) && ends_in_h(entry->d_name) &&
                 sources->num_header < MAX_HEADER && text_done(&name) == UNDA_OK)
            sources->header_name[sources->num_header++] = take(&name);
    }
    closedir(dir);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static unda_status read_one(const char *path, struct text *text)
{
    if (!text_read_file(text, path))
        FAIL(UNDA_ERR_IO, "the kernel source %s cannot be read: %s", path, strerror(errno));
    text_append(text, "", 0); /* an empty file is an empty text */
    return text_done(text);
}

static unda_status read_headers(struct sources *sources, const char *root)
{
    TRY(array_try(&sources->header_name, MAX_HEADER, sizeof(char *), "header names"));
    TRY(array_try(&sources->header_text, MAX_HEADER, sizeof(char *), "header texts"));
    TRY(list_headers(sources, root, "", 0));
    qsort(sources->header_name, (size_t)sources->num_header, sizeof(char *), by_name);
    for (int i = 0; i < sources->num_header; i++) {
        TEXT struct text path = {0}, text = {0};
        text_add(&path, "%s/%s", root, sources->header_name[i]);
        TRY(read_one(text_of(&path), &text));
        sources->header_text[i] = take(&text);
    }
    return UNDA_OK;
}

unda_status sources_read(struct sources *sources, const char *file)
{
    TEXT struct text root = {0};
    *sources = (struct sources){0};
    settings_kernel_dir(&root);
    if (!root.size_bytes)
        FAIL(UNDA_ERR_IO, "the kernel folder is not known; call unda_set_kernel_dir or set UNDA_KERNEL_DIR");
    text_add(&sources->path, "%s/%s", text_of(&root), file);
    TRY(text_done(&sources->path));
    TRY(read_one(text_of(&sources->path), &sources->program));
    return read_headers(sources, text_of(&root));
}

void sources_free(struct sources *sources)
{
    for (int i = 0; i < sources->num_header; i++) {
        free(sources->header_name[i]);
        if (sources->header_text)
            free(sources->header_text[i]);
    }
    array_free(sources->header_name);
    array_free(sources->header_text);
    text_clear(&sources->path);
    text_clear(&sources->program);
    *sources = (struct sources){0};
}
