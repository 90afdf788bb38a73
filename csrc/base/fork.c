/* fork.c: refuses work in a child forked after an engine ran.
 * Neither libgomp nor CUDA survives a fork: the child would hang at its first
 * parallel region. Next: base.h; who calls fork_mark: the engines. */
#include "base.h"

#include <stdatomic.h>
#include <unistd.h>

static _Atomic long engine_process; /* the first process that ran an engine; 0: none did */

void fork_mark(void)
{
    long none = 0;
    atomic_compare_exchange_strong(&engine_process, &none, (long)getpid());
}

unda_status fork_check(void)
{
    long process = atomic_load(&engine_process);
    if (process != 0 && process != (long)getpid())
        FAIL(UNDA_ERR_FORK, "process %ld was forked from %ld after an engine ran there; use spawn or threads",
             (long)getpid(), process);
    return UNDA_OK;
}
