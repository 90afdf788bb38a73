/* block.cpp: runs a launch: blocks in random order, each block's threads as fibers that run in random order between
 * the places where they wait. A block runs to its end before the next one begins, unless its threads look for what
 * other blocks do (emu->yield): from there on blocks, and warps of a block, take turns at random.
 * If all blocks look in vain, a launch of another device joins (emu_join): within that call emu_run runs it, and the
 * blocks of all launches under way take turns until it has ended.
 * Shared memory starts as NaN in every block. A barrier that some thread misses or passes at another line is a
 * fault, as are blocks that wait for each other, and a bad address. UNDA_EMULATOR_SEED changes the orders.
 * Next: driver.cpp. */
#include "fiber.h"
#include "runtime.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <sys/mman.h>
#include <vector>

namespace {
enum { ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719, MAX_THREAD = 1024, PAGE = 4096, STACK = 256 * 1024, PATIENCE = 100 };
enum state { READY, WAITING, DONE };
struct lane {
    fiber own;
    emu_dim index;
    state where;
    int line;
    unsigned mask; /* of the lanes it waits for; 0: the block */
    unsigned long long value, inbox[32];
};
/* A launch under way. left: blocks that have not ended. */
struct launch {
    const emu_launch *given;
    emu_runtime runtime;
    int num_thread;
    size_t left;
    std::vector<int> order; /* of a block's threads, the last one */
};
/* A block under way: its threads with their stacks, and its shared memory while others run. */
struct block {
    std::vector<lane> lanes{MAX_THREAD};
    char *stacks;
    launch *of;
    emu_dim index;
    std::vector<char> fixed, dynamic;
};

std::vector<std::unique_ptr<block>> under_way, idle;
block *running;
launch *now; /* and */
lane *lanes; /* of the running block */
int current, num_yield;
bool prepared;
bool talks; /* a thread of a launch under way has yielded */
fiber scheduler;
char message[256];
std::mt19937 random_bits;
sigjmp_buf *escape; /* of the launch that joined last; nullptr: none is under way */

/* Memory whose last byte lies before an inaccessible page; stacks have one below each. */
char *map(size_t bytes) {
    return (char *)mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}
[[noreturn]] void fault(int result, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    siglongjmp(*escape, result);
}
char *new_stacks() {
    char *stacks = map((size_t)MAX_THREAD * STACK);
    bool good = stacks != MAP_FAILED;
    for (int t = 0; t < MAX_THREAD && good; t++)
        good = mprotect(stacks + (size_t)t * STACK, PAGE, PROT_NONE) == 0;
    if (!good)
        fault(LAUNCH_FAILED, "no memory for the stacks of another block");
    return stacks;
}
void on_signal(int number, siginfo_t *info, void *) {
    if (number == SIGILL) /* compile.sh asks for it */
        fault(ILLEGAL_ADDRESS, "a vector is not aligned");
    if (emu_open(info->si_addr))
        return;
    fault(ILLEGAL_ADDRESS, "%p is not device memory", info->si_addr);
}

/* ---- in a thread ---- */
const unsigned long long *wait(unsigned mask, unsigned long long value, int line) {
    if (mask && !(mask >> current % 32 & 1))
        fault(LAUNCH_FAILED, "line %d: a lane calls a warp function whose mask leaves it out", line);
    lane &own = lanes[current];
    own.where = WAITING;
    own.line = line;
    own.mask = mask;
    own.value = value;
    fiber_switch(&own.own, &scheduler);
    return own.inbox;
}
void yield() {
    talks = true;
    num_yield++;
    fiber_switch(&lanes[current].own, &scheduler); /* and stays ready */
}
void thread_main() {
    __sanitizer_finish_switch_fiber(nullptr, &scheduler.low, &scheduler.bytes);
    now->given->kernel->call(now->given->argument);
    lanes[current].where = DONE;
    fiber_switch(&lanes[current].own, &scheduler, true);
}

/* ---- between threads ---- */
/* Lets a warp go on if every lane of the mask that exists waits at the same line. */
bool release_warp(const lane &one, int first) {
    unsigned long long values[32];
    memset(values, 0xff, sizeof values);
    int end = std::min(32, now->num_thread - first);
    for (int i = 0; i < end; i++)
        if (one.mask >> i & 1) {
            const lane &other = lanes[first + i];
            if (other.where != WAITING || other.line != one.line || other.mask != one.mask)
                return false;
            values[i] = other.value;
        }
    for (int i = 0, mask = (int)one.mask; i < end; i++)
        if (mask >> i & 1) {
            memcpy(lanes[first + i].inbox, values, sizeof values);
            lanes[first + i].where = READY;
        }
    return true;
}
bool release_warps() {
    bool any = false;
    for (int t = 0; t < now->num_thread; t++)
        any |= lanes[t].where == WAITING && lanes[t].mask && release_warp(lanes[t], t / 32 * 32);
    return any;
}
void release_block() {
    auto does = [](const lane &l) {
        return l.where == DONE ? "has ended" : l.mask ? "waits for its warp" : "waits for its block";
    };
    unsigned long long count = 0;
    for (int t = 0; t < now->num_thread; t++) {
        if (lanes[t].where != WAITING || lanes[t].mask || lanes[t].line != lanes[0].line)
            fault(LAUNCH_FAILED, "divergent or missed barrier: thread 0 %s (line %d), thread %d %s (line %d)",
                  does(lanes[0]), lanes[0].line, t, does(lanes[t]), lanes[t].line);
        count += lanes[t].value;
    }
    for (int t = 0; t < now->num_thread; t++) {
        lanes[t].inbox[0] = count;
        lanes[t].where = READY;
    }
}
/* Makes a block the running one: its shared memory in place of the last one's. */
void resume(block *next) {
    if (next == running)
        return;
    if (running) {
        const emu_kernel &kernel = *now->given->kernel;
        char *dynamic = (char *)now->runtime.dynamic_shared;
        running->fixed.assign(kernel.shared_begin, kernel.shared_end);
        running->dynamic.assign(dynamic, dynamic + now->given->dynamic_bytes);
    }
    running = next;
    now = next->of;
    lanes = next->lanes.data();
    now->runtime.block_idx = next->index;
    *now->given->kernel->slot = &now->runtime;
    std::copy(next->fixed.begin(), next->fixed.end(), now->given->kernel->shared_begin);
    std::copy(next->dynamic.begin(), next->dynamic.end(), (char *)now->runtime.dynamic_shared);
}
void start_block(launch &of, const emu_dim &index) {
    const emu_launch &given = *of.given;
    if (idle.empty()) {
        idle.push_back(std::make_unique<block>());
        idle.back()->stacks = new_stacks();
    }
    under_way.push_back(std::move(idle.back()));
    idle.pop_back();
    block *b = under_way.back().get();
    b->of = &of;
    b->index = index;
    b->fixed.clear();
    b->dynamic.clear();
    resume(b);
    std::fill(given.kernel->shared_begin, given.kernel->shared_end, '\xff');
    memset(of.runtime.dynamic_shared, 0xff, given.dynamic_bytes);
    for (int t = 0; t < of.num_thread; t++) {
        unsigned x = given.block.x, y = given.block.y, u = (unsigned)t;
        lanes[t].index = {u % x, u / x % y, u / x / y};
        lanes[t].where = READY;
        lanes[t].line = 0;
        fiber_make(&lanes[t].own, b->stacks + (size_t)t * STACK + PAGE, STACK - PAGE, thread_main);
    }
}
/* Runs the running block until it has ended, which it returns, or it is another one's turn; moved: whether a thread
 * did more than look again. */
bool run_block(bool &moved) {
    std::vector<int> &order = now->order;
    for (;;) {
        std::shuffle(order.begin(), order.end(), random_bits);
        int ran = 0;
        unsigned warps = talks ? (unsigned)random_bits() : ~0u; /* others run ahead, and blocks see it */
        num_yield = 0;
        for (int t : order)
            if (lanes[t].where == READY && (warps >> t / 32 & 1)) {
                current = t;
                ran++;
                now->runtime.thread_idx = lanes[t].index;
                fiber_switch(&scheduler, &lanes[t].own);
            }
        moved |= ran > num_yield;
        if (release_warps())
            continue;
        if (std::all_of(order.begin(), order.end(), [](int t) { return lanes[t].where == DONE; }))
            return true;
        if (std::none_of(order.begin(), order.end(), [](int t) { return lanes[t].where == READY; }))
            release_block();
        else if (ran == num_yield)
            return false;
        if (talks && random_bits() % 4 == 0)
            return false;
    }
}
/* Takes a block that has ended away; its launch leaves with the last one. */
void end_block(size_t which) {
    idle.push_back(std::move(under_way[which]));
    under_way.erase(under_way.begin() + (long)which);
    running = nullptr;
    if (--now->left == 0 && now->given->under_way)
        *now->given->under_way = false;
}
/* Until all blocks of this launch have ended, those of the launches that it has joined take turns, too. */
int run_blocks(launch &own) {
    const emu_dim &grid = own.given->grid;
    std::vector<unsigned> blocks(own.left); /* that have not begun */
    std::iota(blocks.begin(), blocks.end(), 0u);
    std::shuffle(blocks.begin(), blocks.end(), random_bits);
    int in_vain = 0;
    while (own.left > 0) {
        size_t which = random_bits() % (under_way.size() + (blocks.empty() ? 0 : 1));
        if (!talks || which == under_way.size()) {
            unsigned b = blocks.back();
            blocks.pop_back();
            which = under_way.size();
            start_block(own, {b % grid.x, b / grid.x % grid.y, b / grid.x / grid.y});
        }
        resume(under_way[which].get());
        bool moved = false;
        if (run_block(moved))
            end_block(which);
        in_vain = moved ? 0 : in_vain + 1;
        if (blocks.empty() && in_vain > PATIENCE * (int)under_way.size()) {
            int result = own.given->under_way ? emu_join() : (int)EMU_NOBODY;
            if (result == EMU_NOBODY)
                fault(LAUNCH_FAILED, "%d blocks wait for each other", (int)under_way.size());
            if (result)
                return result;
            in_vain = 0;
        }
    }
    return 0;
}
void prepare() {
    const char *seed = getenv("UNDA_EMULATOR_SEED");
    random_bits.seed(seed ? (unsigned)atoi(seed) : 1);
    prepared = true;
}
} // namespace

int emu_run(const emu_launch &given, char *detail, unsigned long bytes) {
    if (!prepared)
        prepare();
    sigjmp_buf own_escape, *outer = escape;
    if (!outer) {
        std::move(under_way.begin(), under_way.end(), std::back_inserter(idle)); /* of a launch that failed */
        under_way.clear();
        running = nullptr;
        talks = false;
    }
    size_t pages = (given.dynamic_bytes + PAGE - 1) / PAGE * PAGE;
    char *room = map(pages + PAGE);
    mprotect(room + pages, PAGE, PROT_NONE);
    void *dynamic = room + ((pages - given.dynamic_bytes) & ~(size_t)15);
    int num_thread = (int)(given.block.x * given.block.y * given.block.z);
    launch own = {&given, {{}, {}, given.block, given.grid, dynamic, wait, yield, 0}, num_thread,
                  (size_t)given.grid.x * given.grid.y * given.grid.z, std::vector<int>(num_thread)};
    std::iota(own.order.begin(), own.order.end(), 0);
    auto threads = (unsigned long long)own.left * (unsigned)num_thread;
    struct sigaction ours = {}, before[2];
    ours.sa_sigaction = on_signal;
    ours.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &ours, &before[0]);
    sigaction(SIGILL, &ours, &before[1]);
    escape = &own_escape;
    if (given.under_way)
        *given.under_way = true;
    int result = sigsetjmp(own_escape, 1);
    if (result == 0) {
        result = run_blocks(own);
        if (result == 0 && given.early && own.runtime.num_waited != threads)
            fault(LAUNCH_FAILED, "%llu of %llu threads waited for the kernel before", own.runtime.num_waited, threads);
    } else {
        snprintf(detail, bytes, "%s", message);
    }
    escape = outer;
    if (given.under_way)
        *given.under_way = false;
    sigaction(SIGSEGV, &before[0], nullptr);
    sigaction(SIGILL, &before[1], nullptr);
    munmap(room, pages + PAGE);
    return result;
}
