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

#ifdef __x86_64__
typedef void *context; /* top of the stack of what does not run */
extern "C" void emu_switch(context *from, context to);
asm(".text; .globl emu_switch; .hidden emu_switch; emu_switch:"
    "push %rbp; push %rbx; push %r12; push %r13; push %r14; push %r15; mov %rsp, (%rdi); mov %rsi, %rsp;"
    "pop %r15; pop %r14; pop %r13; pop %r12; pop %rbx; pop %rbp; ret");
inline void context_switch(context *from, context *to) { emu_switch(from, *to); }
inline void context_make(context *c, void *low, size_t bytes, void (*entry)()) {
    uintptr_t *top = (uintptr_t *)(((uintptr_t)low + bytes) & ~(uintptr_t)15) - 8;
    top[6] = (uintptr_t)entry; /* after six registers, whatever they hold: where emu_switch returns to */
    *c = top;
}
#else
#include <ucontext.h>
typedef ucontext_t context;
inline void context_switch(context *from, context *to) { swapcontext(from, to); }
inline void context_make(context *c, void *low, size_t bytes, void (*entry)()) {
    getcontext(c);
    c->uc_stack = {low, 0, bytes};
    makecontext(c, entry, 0);
}
#endif

struct fiber {
    context stopped;
    const void *low = nullptr;
    size_t bytes = 0;
};
inline void fiber_make(fiber *f, void *low, size_t bytes, void (*entry)()) {
    *f = {{}, low, bytes};
    context_make(&f->stopped, low, bytes, entry);
}
/* Leaves `from`, which never runs again if last, for `to`. */
inline void fiber_switch(fiber *from, fiber *to, bool last = false) {
    void *fake = nullptr;
    __sanitizer_start_switch_fiber(last ? nullptr : &fake, to->low, to->bytes);
    context_switch(&from->stopped, &to->stopped);
    __sanitizer_finish_switch_fiber(fake, nullptr, nullptr);
}
