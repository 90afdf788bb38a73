/* text.c: growing strings (text.h). Arrays of numbers: base/array.c.
 * Next: sources.c and cache.c, the users. */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool reserve(struct text *text, int64_t bytes)
{
    int64_t want = text->size_bytes + bytes + 1;
    if (text->failed || want <= text->room_bytes)
        return !text->failed;
    int64_t room = want > 2 * text->room_bytes ? want : 2 * text->room_bytes;
    char *data = realloc(text->data, (size_t)room);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->room_bytes = room;
    return true;
}

void text_append(struct text *text, const void *data, int64_t bytes)
{
    if (!reserve(text, bytes))
        return;
    if (bytes > 0)
        memcpy(text->data + text->size_bytes, data, (size_t)bytes);
    text->size_bytes += bytes;
    text->data[text->size_bytes] = '\0';
}

void text_add(struct text *text, const char *format, ...)
{
    va_list list, again;
    va_start(list, format);
    va_copy(again, list);
    int bytes = vsnprintf(NULL, 0, format, list);
    if (bytes >= 0 && reserve(text, bytes)) {
        vsnprintf(text->data + text->size_bytes, (size_t)bytes + 1, format, again);
        text->size_bytes += bytes;
    }
    va_end(again);
    va_end(list);
}

unda_status text_done(const struct text *text)
{
    if (text->failed)
        FAIL(UNDA_ERR_MEMORY, "out of memory for a text of %lld bytes", (long long)text->size_bytes);
    return UNDA_OK;
}

const char *text_of(const struct text *text)
{
    return text->data ? text->data : "";
}

void text_clear(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

bool text_read_file(struct text *text, const char *path)
{
    /* Opening a FIFO or a device would wait for its other end. */
    int number = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    struct stat found;
    if (number < 0 || fstat(number, &found) != 0 || !S_ISREG(found.st_mode)) {
        int error = number < 0 ? errno : EINVAL;
        if (number >= 0)
            close(number);
        errno = error;
        return false;
    }
    FILE *file = fdopen(number, "rb");
    if (!file) {
        close(number);
        return false;
    }
    char part[8192];
    size_t bytes;
    while ((bytes = fread(part, 1, sizeof part, file)) > 0)
        text_append(text, part, (int64_t)bytes);
    int error = ferror(file) ? errno : 0;
    fclose(file);
    errno = error;
    return error == 0;
}
