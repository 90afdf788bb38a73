/* fiber.h: switching stacks: a few lines of assembly, ucontext where there are none; AddressSanitizer is told.
 * Next: block.cpp, the only user. */
#pragma once
#include <cstddef>
#include <cstdint>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#else
#define __sanitizer_start_switch_fiber(fake, low, bytes) (void)(fake)
#define __sanitizer_finish_switch_fiber(fake, low, bytes) (void)(fake)
#endif
#ifndef __x86_64__
#include <ucontext.h>
#endif

struct fiber {
#ifdef __x86_64__
    void *stopped = nullptr; /* top of its stack while it does not run */
#else
    ucontext_t stopped;
#endif
    const void *low = nullptr;
    size_t bytes = 0;
};

#ifdef __x86_64__
extern "C" void emu_switch(void **from, void *to);
asm(".text; .globl emu_switch; .hidden emu_switch; emu_switch:"
    "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; mov %rsp, (%rdi); mov %rsi, %rsp;"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
#endif

inline void fiber_make(fiber *f, void *low, size_t bytes, void (*entry)()) {
    f->low = low;
    f->bytes = bytes;
#ifdef __x86_64__
    uintptr_t *top = (uintptr_t *)(((uintptr_t)low + bytes) & ~(uintptr_t)15) - 8;
    for (int i = 0; i < 8; i++)
        top[i] = i == 6 ? (uintptr_t)entry : 0; /* six registers, then where emu_switch returns to */
    f->stopped = top;
#else
    getcontext(&f->stopped);
    f->stopped.uc_stack = {low, 0, bytes};
    makecontext(&f->stopped, entry, 0);
#endif
}

/* Leaves `from`, which never runs again if last, for `to`. */
inline void fiber_switch(fiber *from, fiber *to, bool last = false) {
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(last ? nullptr : &fake, to->low, to->bytes);
#ifdef __x86_64__
    emu_switch(&from->stopped, to->stopped);
#else
    swapcontext(&from->stopped, &to->stopped);
#endif
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
