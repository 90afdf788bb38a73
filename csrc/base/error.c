/* error.c: status and message of the last failure, kept for each thread.
 * Errors are returned to the caller; log lines are not (log.c).
 * Next: the FAIL and TRY macros in base.h. */
#include "base.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MESSAGE_BYTES = 2048, LOG_BYTES = 32768 };

/* Fixed size: lack of memory can be reported, and a thread that ends leaks
 * nothing. */
static _Thread_local char message[MESSAGE_BYTES];
static _Thread_local char compiler_log[LOG_BYTES];

unda_status error_set(unda_status status, const char *file, int line, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int length = vsnprintf(message, sizeof message, format, list);
    va_end(list);
    if (length < 0)
        length = 0;
    if ((size_t)length < sizeof message) {
        const char *root = strstr(file, "csrc/");
        snprintf(message + length, sizeof message - (size_t)length, " [%s:%d]", root ? root + 5 : file, line);
    }
    return status;
}

void error_set_log(const char *text)
{
    snprintf(compiler_log, sizeof compiler_log, "%s", text);
}

const char *unda_error(void)
{
    return message;
}

const char *unda_error_log(void)
{
    return compiler_log;
}

const char *unda_status_text(unda_status status)
{
    switch (status) {
#define UNDA_X(name, value, text)                                                                            \
    case name:                                                                                               \
        return text;
        UNDA_STATUS_LIST(UNDA_X)
#undef UNDA_X
    }
    return "unknown status";
}
