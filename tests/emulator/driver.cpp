/* driver.cpp: a stand-in for libcuda on the CPU, for tests. Device memory is mapped but inaccessible outside launches
 * and copies, ends at an inaccessible page and starts as NaN; queued work runs only when someone waits for it.
 * Environment: UNDA_EMULATOR_MEMORY [bytes], _DEVICES, _VERSION, _CAPABILITY (9 for 9.0), _REFUSE=1 (no cubin fits),
 * _FAIL_LAUNCH=n (the n-th launch is an illegal address), _EAGER=1 or 2, 3 or 4 (every other stream, or pair of
 * streams, runs at once as far as an event is recorded), _CLOCK=1 (a launch takes a second, all else no time),
 * _TOGETHER=1 (a launch may ask for all its blocks at once), _MPS=1 (processes share devices), _RESIDENT=n (blocks of
 * a multiprocessor), _PEER=0 (no device reaches another's memory), _BANDWIDTH=n (of a device's memory [KB/s]; 0: not
 * known), _L2 [bytes], _COPY=n (a copy from or to the host takes n ms more, as events have it), _SEED.
 * A device runs one launch at a time. Those of several devices may wait for each other, but none that is in a graph:
 * while all blocks under way look for what does not come, other devices' streams are run up to their next launches.
 * What a graph has of several streams runs in a random order that its events allow.
 * _OPEN=1 (device memory is accessible always, as an MPI that knows devices has it).
 * Next: block.cpp (running a launch), nvrtc.cpp, cublas.cpp, nccl.cpp. */
#include "runtime.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

/* Every entry holds the one lock, gives a sticky error again, and most need a context. */
#define API extern "C" __attribute__((visibility("default"))) int
#define ENTER std::lock_guard<std::recursive_mutex> guard(mutex); if (sticky) return sticky
#define IN_CONTEXT ENTER; if (contexts.empty()) return INVALID_CONTEXT

namespace {
enum {
    INVALID_VALUE = 1, OUT_OF_MEMORY, NOT_INITIALIZED, NO_DEVICE = 100, INVALID_DEVICE, INVALID_IMAGE = 200,
    INVALID_CONTEXT, NO_BINARY = 209, INVALID_HANDLE = 400, NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700,
    OUT_OF_RESOURCES, PEER_ALREADY = 704, PEER_UNSUPPORTED = 217, TOO_LARGE = 720, CAPTURE_UNSUPPORTED = 900,
    CAPTURE_UNMATCHED = 903, CAPTURE_UNJOINED = 904, CAPTURE_ISOLATION = 905
};
const size_t page = 4096, shared_limit = 232448;
typedef uint64_t u64;
/* What is queued. touches: the addresses in device memory that it needs, none where any may be; waits_for: the stream
 * that must do more before it, or nullptr. OTHER: may not be done while launches are under way. */
enum kind { OTHER, BRIEF, LAUNCH };
struct stream;
struct work {
    std::function<int()> does;
    std::vector<u64> touches = {};
    kind what = OTHER;
    std::function<stream *()> waits_for = {};
    int device = -1;
};
struct node { work does; std::set<size_t> after; };
typedef std::vector<node> graph;
struct memory { char *map; size_t map_bytes, bytes; int device; bool open; };
/* into: where its work is captured, last: the nodes that the next one comes after. under_way: a launch of it is. */
struct stream { std::deque<work> queue; graph *into; std::set<size_t> last; int number, device; bool under_way; };
/* recorded, done: how many times; or it was captured, after these nodes. */
struct event { void *where; long recorded, done; double time; graph *into; std::set<size_t> last; };
struct module { void *handle; int file; };

std::recursive_mutex mutex;
std::map<u64, memory> memories; /* by address */
std::map<void *, stream> streams;
size_t used, host_bytes;
double copy_seconds;
constexpr int NUM_SM = 4;
int sticky, num_stream, num_launch, device_tag[64];
bool initialised;
std::set<int> open; /* devices: their kernels may access what they reach */
std::set<std::pair<int, int>> peers; /* device and one whose memory it reaches */
char detail[256] = "emulated error";
thread_local std::vector<void *> contexts;
thread_local int num_capture; /* as in the engine's capture mode, only this thread is restricted */

long setting(const char *name, long otherwise) {
    const char *value = getenv((std::string("UNDA_EMULATOR_") + name).c_str());
    return value ? atol(value) : otherwise;
}
size_t total_bytes() { return (size_t)setting("MEMORY", 256l << 20); }
double seconds() {
    auto now = std::chrono::steady_clock::now().time_since_epoch();
    return copy_seconds + (setting("CLOCK", 0) ? num_launch : std::chrono::duration<double>(now).count());
}
int closed() { return setting("OPEN", 0) ? PROT_READ | PROT_WRITE : PROT_NONE; }
void set_open(memory &m, bool opened) {
    mprotect(m.map + page, m.map_bytes - 2 * page, opened ? PROT_READ | PROT_WRITE : closed());
    m.open = opened;
}
void close_all() {
    for (auto &m : memories)
        if (m.second.open)
            set_open(m.second, false);
    open.clear();
}
/* Devices with a launch under way. */
std::set<int> busy() {
    std::set<int> devices;
    for (auto &s : streams)
        if (s.second.under_way)
            devices.insert(s.second.device);
    return devices;
}
bool reached(const memory &m, const std::set<int> &devices) {
    return std::any_of(devices.begin(), devices.end(),
                       [&](int device) { return m.device == device || peers.count({device, m.device}); });
}
void open_for(const std::set<int> &devices) {
    if (open == devices)
        return;
    close_all();
    open = devices;
}
/* A simulation has some fifty arrays, and most of what is queued are copies of one: that one alone is opened. */
void run_work(const work &first) {
    if (first.touches.empty() || !open.empty()) {
        std::set<int> devices = busy();
        devices.insert(first.device);
        open_for(devices);
    }
    /* Also the other end of a copy between devices that do not reach each other, which the driver makes all the same. */
    std::vector<memory *> again; /* to be closed */
    for (u64 address : first.touches)
        if (memory &m = std::prev(memories.upper_bound(address))->second; !m.open) {
            set_open(m, true);
            if (!reached(m, open))
                again.push_back(&m);
        }
    sticky = sticky ? sticky : first.does();
    for (memory *m : again)
        set_open(*m, false);
}
stream *needed_by(const stream &s) {
    return !s.queue.empty() && s.queue.front().waits_for ? s.queue.front().waits_for() : nullptr;
}
/* Does what is first in a stream's queue, where it stays as long as it waits. */
void run_one(stream &s) {
    while (stream *other = needed_by(s))
        run_one(*other);
    if (s.queue.empty())
        return;
    work first = std::move(s.queue.front());
    s.queue.pop_front();
    run_work(first);
}
/* The nodes of a graph, each after those that it must follow, else in any order. */
int run_graph(const graph &g) {
    static std::mt19937 random((unsigned)setting("SEED", 1));
    std::vector<size_t> left(g.size()), ready;
    std::vector<std::vector<size_t>> next(g.size());
    for (size_t i = 0; i < g.size(); i++) {
        left[i] = g[i].after.size();
        for (size_t before : g[i].after)
            next[before].push_back(i);
        if (!left[i])
            ready.push_back(i);
    }
    while (!ready.empty() && !sticky) {
        std::swap(ready[random() % ready.size()], ready.back());
        size_t i = ready.back();
        ready.pop_back();
        run_work(g[i].does);
        for (size_t after : next[i])
            if (!--left[after])
                ready.push_back(after);
    }
    return sticky;
}
/* Runs what is queued; device memory is closed again when it ends. */
int run(stream &s) {
    while (!s.queue.empty())
        run_one(s);
    close_all();
    return sticky;
}
int run_all() {
    for (auto &s : streams)
        if (!s.second.into)
            run(s.second);
    return sticky;
}
bool inside(u64 address, size_t bytes) {
    std::lock_guard<std::recursive_mutex> guard(mutex);
    auto m = memories.upper_bound(address);
    return m != memories.begin() && (--m, address + bytes <= m->first + m->second.bytes);
}
int add(void *handle, work one) {
    if (!streams.count(handle))
        return INVALID_HANDLE;
    stream &s = streams[handle];
    one.device = s.device;
    if (!s.into)
        return s.queue.push_back(std::move(one)), 0;
    s.into->push_back({std::move(one), s.last});
    return s.last = {s.into->size() - 1}, 0;
}
int device_of_context() { return (int)((int *)contexts.back() - device_tag); }
int copy(std::vector<u64> device, void *to, const void *from, size_t bytes, void *s) {
    IN_CONTEXT;
    for (u64 address : device)
        if (!inside(address, bytes))
            return INVALID_VALUE;
    double took = device.size() == 1 ? 1e-3 * (double)setting("COPY", 0) : 0;
    host_bytes += device.size() == 1 ? bytes : 0;
    return add(s, {[=] { return copy_seconds += took, memcpy(to, from, bytes), 0; }, device, BRIEF});
}
/* While launches are under way: does one of the things that a stream needs for its next launch; false: none can be. */
bool advance(stream &s) {
    if (s.queue.empty() || s.under_way)
        return false;
    if (stream *other = needed_by(s))
        return advance(*other);
    kind what = s.queue.front().what;
    bool can = what == BRIEF || (what == LAUNCH && !busy().count(s.device));
    return can && (run_one(s), true);
}
int look_up(const std::map<int, int> &values, int which, int *value) {
    return values.count(which) ? *value = values.at(which), 0 : (int)INVALID_VALUE;
}
} // namespace

int emu_join() {
    int before = num_launch;
    std::map<int, stream *> as_made;
    for (auto &s : streams)
        as_made[s.second.number] = &s.second;
    for (auto &s : as_made)
        while (num_launch == before && advance(*s.second)) {
        }
    open_for(busy()); /* no longer for what has joined and left */
    return sticky ? sticky : num_launch > before ? 0 : (int)EMU_NOBODY;
}

/* A simulation has some fifty arrays, of which a kernel accesses a few: each is opened when it is. */
bool emu_open(const void *place) {
    u64 address = (u64)place;
    auto at = memories.upper_bound(address);
    if (at == memories.end() || address < (u64)at->second.map) { /* else before its first byte, on the same page */
        if (at == memories.begin())
            return false;
        --at;
    }
    memory &m = at->second;
    if (m.open || address - (u64)m.map < page || address - (u64)m.map >= m.map_bytes - page || !reached(m, open))
        return false;
    set_open(m, true);
    return true;
}

/* ---- for the stand-ins of cuBLAS and NCCL ---- */
API emu_device() { std::lock_guard<std::recursive_mutex> guard(mutex); return contexts.empty() ? -1 : device_of_context(); }
extern "C" __attribute__((visibility("default"))) bool emu_inside(u64 address, size_t bytes) { return inside(address, bytes); }
API emu_queue(void *s, std::function<int()> *does, const u64 *touches, int num) {
    IN_CONTEXT;
    return add(s, {std::move(*does), {touches, touches + num}});
}

/* ---- device, context ---- */
API cuInit(unsigned) { ENTER; initialised = true; return setting("DEVICES", 1) ? 0 : NO_DEVICE; }
API cuDriverGetVersion(int *v) { *v = (int)setting("VERSION", 13000); return 0; }
API cuGetErrorName(int, const char **name) { *name = "stand-in driver error"; return 0; }
API cuGetErrorString(int, const char **text) { *text = detail; return 0; }
API cuDeviceGetCount(int *n) { ENTER; *n = (int)setting("DEVICES", 1); return initialised ? 0 : NOT_INITIALIZED; }
API cuDeviceGet(int *d, int i) { ENTER; *d = i; return i < setting("DEVICES", 1) ? 0 : INVALID_DEVICE; }
API cuDeviceGetName(char *name, int bytes, int) { ENTER; snprintf(name, bytes, "stand-in"); return 0; }
API cuDeviceGetPCIBusId(char *bus, int bytes, int d) { ENTER; snprintf(bus, bytes, "0000:%02x:00.0", d); return 0; }
API cuDeviceTotalMem_v2(size_t *bytes, int) { ENTER; *bytes = total_bytes(); return 0; }
API cuDeviceGetAttribute(int *value, int which, int) {
    ENTER;
    return look_up({{16, NUM_SM}, {36, (int)setting("BANDWIDTH", 0)}, {37, 4}, {38, (int)setting("L2", 1 << 20)}, {39, 2048}, {75, (int)setting("CAPABILITY", 9)}, {76, 0}, {95, (int)setting("TOGETHER", 0)}, {97, (int)shared_limit}, {133, (int)setting("MPS", 0)}}, which, value);
}
API cuDevicePrimaryCtxRetain(void **c, int d) { ENTER; *c = &device_tag[d]; return 0; }
API cuDeviceCanAccessPeer(int *can, int one, int other) { ENTER; *can = one != other && setting("PEER", 1); return 0; }
API cuCtxEnablePeerAccess(void *other, unsigned flags) {
    IN_CONTEXT;
    std::pair<int, int> both{device_of_context(), (int)((int *)other - device_tag)};
    if (flags || both.first == both.second || !setting("PEER", 1))
        return flags ? INVALID_VALUE : PEER_UNSUPPORTED;
    return peers.insert(both).second ? 0 : (int)PEER_ALREADY;
}
API cuCtxPushCurrent_v2(void *c) { ENTER; contexts.push_back(c); return c ? 0 : INVALID_CONTEXT; }
API cuCtxPopCurrent_v2(void **c) { IN_CONTEXT; *c = contexts.back(); contexts.pop_back(); return 0; }

/* ---- memory ---- */
API cuMemGetInfo_v2(size_t *free, size_t *total) { IN_CONTEXT; *total = total_bytes(); *free = *total - used; return 0; }
API cuMemAlloc_v2(u64 *address, size_t bytes) {
    IN_CONTEXT;
    if (bytes == 0 || num_capture || bytes > total_bytes() - used)
        return bytes == 0 ? INVALID_VALUE : num_capture ? CAPTURE_UNSUPPORTED : OUT_OF_MEMORY;
    size_t padded = (bytes + 15) & ~(size_t)15, map_bytes = (padded + page - 1) / page * page + 2 * page;
    char *map = (char *)mmap(nullptr, map_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *begin = map + map_bytes - page - padded;
    memset(begin, 0xff, bytes);
    mprotect(map, map_bytes, PROT_NONE);
    memories[*address = (u64)begin] = {map, map_bytes, bytes, device_of_context(), false};
    set_open(memories[*address], false);
    used += bytes;
    return 0;
}
API cuMemFree_v2(u64 address) {
    IN_CONTEXT;
    if (!memories.count(address) || num_capture)
        return num_capture ? CAPTURE_UNSUPPORTED : INVALID_VALUE;
    int result = run_all();
    munmap(memories[address].map, memories[address].map_bytes);
    used -= memories[address].bytes;
    memories.erase(address);
    return result;
}
API cuPointerGetAttribute(void *value, int which, u64 address) {
    ENTER;
    auto at = memories.upper_bound(address);
    if (at == memories.begin() || address >= (--at)->first + at->second.bytes)
        return INVALID_VALUE;
    if (which == 11 || which == 12) {
        *(u64 *)value = which == 11 ? at->first : at->second.bytes;
        return 0;
    }
    return look_up({{2, 2}, {9, at->second.device}}, which, (int *)value);
}
API cuMemHostAlloc(void **p, size_t bytes, unsigned) { IN_CONTEXT; *p = calloc(bytes, 1); return *p ? 0 : OUT_OF_MEMORY; }
API cuMemFreeHost(void *p) { IN_CONTEXT; int result = run_all(); free(p); return result; }
API cuMemcpyHtoDAsync_v2(u64 to, void *from, size_t n, void *s) { return copy({to}, (void *)to, from, n, s); }
API cuMemcpyDtoHAsync_v2(void *to, u64 from, size_t n, void *s) { return copy({from}, to, (void *)from, n, s); }
API cuMemcpyDtoDAsync_v2(u64 to, u64 from, size_t n, void *s) {
    return copy({to, from}, (void *)to, (void *)from, n, s);
}
struct copy_side { size_t x, y; int kind; char *host; u64 device; void *array; size_t pitch; };
struct copy_2d { copy_side from, to; size_t width, height; };
API cuMemcpy2DAsync_v2(const copy_2d *given, void *s) {
    IN_CONTEXT;
    copy_2d c = *given;
    std::vector<u64> touches;
    for (copy_side *side : {&c.from, &c.to}) {
        bool device = side->kind == 2;
        if ((!device && side->kind != 1) || side->x || side->y || side->pitch < c.width || side->pitch > INT32_MAX ||
            (device && !inside(side->device, (c.height - 1) * side->pitch + c.width)))
            return INVALID_VALUE;
        if (device) {
            touches.push_back(side->device);
            side->host = (char *)side->device;
        }
    }
    if (c.from.kind == c.to.kind && c.from.device < c.to.device + c.width && c.to.device < c.from.device + c.width)
        return INVALID_VALUE; /* parts overlap */
    host_bytes += touches.size() == 1 ? c.width * c.height : 0;
    auto does = [=] {
        for (size_t i = 0; i < c.height; i++)
            memcpy(c.to.host + i * c.to.pitch, c.from.host + i * c.from.pitch, c.width);
        return 0;
    };
    return add(s, {does, touches, BRIEF});
}
API cuMemsetD8Async(u64 to, unsigned char value, size_t bytes, void *s) {
    IN_CONTEXT;
    auto does = [=] { return memset((void *)to, value, bytes), 0; };
    return inside(to, bytes) ? add(s, {does, {to}, BRIEF}) : (int)INVALID_VALUE;
}

/* ---- streams, events, graphs ---- */
API cuStreamCreate(void **s, unsigned) {
    IN_CONTEXT;
    *s = malloc(1);
    streams[*s] = {{}, nullptr, {}, num_stream++, device_of_context(), false};
    return 0;
}
API cuStreamCreateWithPriority(void **s, unsigned flags, int) { return cuStreamCreate(s, flags); }
API cuStreamSynchronize(void *s) {
    IN_CONTEXT;
    return !streams.count(s) ? (int)INVALID_HANDLE : streams[s].into ? (int)CAPTURE_UNSUPPORTED : run(streams[s]);
}
/* The first answer is that there is work left. */
API cuStreamQuery(void *s) {
    static int num;
    IN_CONTEXT;
    if (!streams.count(s))
        return INVALID_HANDLE;
    return streams[s].queue.empty() ? 0 : num++ % 2 ? cuStreamSynchronize(s) : (int)NOT_READY;
}
API cuStreamBeginCapture_v2(void *s, int) {
    IN_CONTEXT;
    int result = cuStreamSynchronize(s);
    num_capture += result == 0;
    return result ? result : (streams[s].into = new graph, streams[s].last = {}, 0);
}
API cuStreamEndCapture(void *s, void **g) {
    IN_CONTEXT;
    if (!streams.count(s) || !streams[s].into)
        return CAPTURE_UNMATCHED;
    num_capture--;
    graph *made = streams[s].into;
    std::set<size_t> ends;
    for (size_t i = 0; i < made->size(); i++)
        ends.insert(i);
    for (auto &one : *made)
        for (size_t before : one.after)
            ends.erase(before);
    bool joined = std::includes(streams[s].last.begin(), streams[s].last.end(), ends.begin(), ends.end());
    for (auto &one : streams)
        if (one.second.into == made)
            one.second.into = nullptr;
    if (!joined) /* work of another stream that this one does not wait for */
        return delete made, (int)CAPTURE_UNJOINED;
    return *g = made, 0;
}
API cuStreamDestroy_v2(void *s) {
    IN_CONTEXT;
    int result = cuStreamSynchronize(s);
    return result ? result : (streams.erase(s), free(s), 0);
}
API cuGraphInstantiateWithFlags(void **out, void *g, u64) { IN_CONTEXT; *out = new graph(*(graph *)g); return 0; }
API cuGraphDestroy(void *g) { IN_CONTEXT; delete (graph *)g; return 0; }
API cuGraphExecDestroy(void *g) { IN_CONTEXT; int result = run_all(); delete (graph *)g; return result; }
API cuGraphLaunch(void *g, void *s) {
    IN_CONTEXT;
    return add(s, {[=] { return run_graph(*(graph *)g); }});
}
API cuEventCreate(void **e, unsigned) { IN_CONTEXT; *e = new event(); return 0; }
API cuEventDestroy_v2(void *e) { IN_CONTEXT; int result = run_all(); delete (event *)e; return result; }
API cuEventRecord(void *handle, void *s) {
    IN_CONTEXT;
    event *e = (event *)handle;
    if (!streams.count(s))
        return INVALID_HANDLE;
    e->into = streams[s].into, e->last = streams[s].last;
    if (e->into)
        return 0;
    if (num_capture)
        return CAPTURE_UNSUPPORTED;
    e->where = s, e->recorded++;
    int result = add(s, {[=] { return e->time = seconds(), e->done++, 0; }, {}, BRIEF});
    int eager = setting("EAGER", 0), number = streams[s].number; /* as early as it may, else as late */
    if (result == 0 && eager == (eager < 3 ? 1 + number % 2 : 3 + number / 2 % 2))
        run(streams[s]);
    return result;
}
/* The other stream is run as far as it was queued when the event was recorded. */
API cuStreamWaitEvent(void *s, void *handle, unsigned) {
    IN_CONTEXT;
    event *e = (event *)handle;
    if (!streams.count(s))
        return INVALID_HANDLE;
    if (e->into) { /* the stream joins the capture */
        stream &one = streams[s];
        if (one.into && one.into != e->into)
            return CAPTURE_UNSUPPORTED;
        if (!one.into && !one.queue.empty())
            run(one);
        one.last = one.into ? one.last : std::set<size_t>();
        one.into = e->into;
        one.last.insert(e->last.begin(), e->last.end());
        return 0;
    }
    if (streams.count(s) && streams[s].into)
        return CAPTURE_ISOLATION;
    void *where = e->where;
    long wanted = e->recorded;
    auto waits_for = [=]() -> stream * {
        bool left = e->done < wanted && streams.count(where) && !streams[where].queue.empty() && !sticky;
        return left ? &streams[where] : nullptr;
    };
    return add(s, {[] { return 0; }, {}, BRIEF, waits_for});
}
API cuEventSynchronize(void *handle) {
    IN_CONTEXT;
    event *e = (event *)handle;
    return e->done == e->recorded ? 0 : cuStreamSynchronize(e->where);
}
API cuEventElapsedTime(float *ms, void *begin, void *end) {
    IN_CONTEXT;
    event *a = (event *)begin, *b = (event *)end;
    *ms = (float)(1e3 * (b->time - a->time));
    return a->done && b->done && a->done == a->recorded && b->done == b->recorded ? 0 : NOT_READY;
}

/* ---- modules, launches ---- */
API cuModuleLoadData(void **m, const void *image) {
    IN_CONTEXT;
    if (memcmp(image, "\177ELF", 4) != 0 || setting("REFUSE", 0))
        return setting("REFUSE", 0) ? NO_BINARY : INVALID_IMAGE;
    /* The section table of an ELF-64 file stands at its end. */
    const char *data = (const char *)image;
    size_t bytes = *(const u64 *)(data + 40) + *(const uint16_t *)(data + 58) * *(const uint16_t *)(data + 60);
    int file = memfd_create("kernel", MFD_CLOEXEC);
    bool good = write(file, image, bytes) == (ssize_t)bytes;
    void *handle = good ? dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL) : nullptr;
    /* The file stays open: dlopen would take a second module of the same name for the first one. */
    return handle ? *m = new module{handle, file}, 0 : (close(file), (int)INVALID_IMAGE);
}
API cuModuleUnload(void *m) {
    IN_CONTEXT;
    int result = run_all();
    dlclose(((module *)m)->handle);
    close(((module *)m)->file);
    delete (module *)m;
    return result;
}
API cuModuleGetFunction(void **out, void *m, const char *name) {
    IN_CONTEXT;
    *out = dlsym(((module *)m)->handle, (std::string("emu_kernel_") + name).c_str());
    return *out ? 0 : NOT_FOUND;
}
API cuFuncGetAttribute(int *value, int which, void *f) {
    IN_CONTEXT;
    const emu_kernel &kernel = *(emu_kernel *)f;
    return look_up({{0, 1024}, {1, (int)(kernel.shared_end - kernel.shared_begin)}, {3, 0}, {4, 32}}, which, value);
}
API cuFuncSetAttribute(void *f, int which, int value) {
    IN_CONTEXT;
    if (which == 9 && value >= 0 && value <= 100)
        return 0; /* a share of shared memory, in per cent */
    bool good = which == 8 && (size_t)value <= shared_limit;
    return good ? ((emu_kernel *)f)->dynamic_limit = (unsigned)value, 0 : (int)INVALID_VALUE;
}
API cuFuncGetParamInfo(void *f, size_t i, size_t *offset, size_t *bytes) {
    IN_CONTEXT;
    return i == 0 ? *offset = 0, *bytes = ((emu_kernel *)f)->bytes, 0 : (int)INVALID_VALUE;
}
/* Few: each block under way has stacks of its own. */
API cuOccupancyMaxActiveBlocksPerMultiprocessor(int *num, void *f, int threads, size_t dynamic) {
    IN_CONTEXT;
    if (threads < 1 || threads > 1024 || dynamic > ((emu_kernel *)f)->dynamic_limit)
        return INVALID_VALUE;
    return *num = std::min(std::min((int)setting("RESIDENT", 6), 2048 / threads), dynamic ? (int)(shared_limit / dynamic) : 32), 0;
}
/* For tests: how many kernels ran so far, how many bytes were copied from the host or to it. */
API emu_num_launch() {
    return num_launch;
}
API emu_host_bytes() {
    return (int)host_bytes;
}
static int launch(void *f, emu_dim grid, emu_dim block, unsigned shared, void *s, void **parameters, bool early) {
    IN_CONTEXT;
    const emu_kernel *kernel = (emu_kernel *)f;
    unsigned threads = block.x * block.y * block.z;
    if (grid.x * grid.y * grid.z == 0 || threads == 0 || threads > 1024 || block.z > 64 || !parameters)
        return INVALID_VALUE;
    if (shared > kernel->dynamic_limit)
        return OUT_OF_RESOURCES;
    std::vector<char> argument((char *)parameters[0], (char *)parameters[0] + kernel->bytes);
    bool captured = streams.count(s) && streams[s].into;
    auto does = [=] {
        if (++num_launch == setting("FAIL_LAUNCH", 0))
            return snprintf(detail, sizeof detail, "asked for by UNDA_EMULATOR_FAIL_LAUNCH"), (int)ILLEGAL_ADDRESS;
        bool *under_way = captured ? nullptr : &streams[s].under_way;
        return emu_run({kernel, grid, block, shared, argument.data(), early, under_way}, detail, sizeof detail);
    };
    return add(s, {does, {}, LAUNCH});
}
API cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *s, void **parameters, void **extra) {
    return extra ? (int)INVALID_VALUE : launch(f, {gx, gy, gz}, {bx, by, bz}, shared, s, parameters, false);
}
/* Kernels run one after the other, but those that may start early must say that they wait. */
struct launch_attribute {
    int id, unused, value[16];
};
struct launch_config {
    emu_dim grid, block;
    unsigned shared;
    void *stream;
    const launch_attribute *attribute;
    unsigned num_attribute;
};
API cuLaunchKernelEx(const launch_config *c, void *f, void **parameters, void **extra) {
    if (extra || c->num_attribute != 1 || c->attribute->value[0] != 1)
        return INVALID_VALUE;
    if (c->attribute->id == 6)
        return launch(f, c->grid, c->block, c->shared, c->stream, parameters, true);
    int of_sm = 0, result = cuOccupancyMaxActiveBlocksPerMultiprocessor(&of_sm, f, (int)(c->block.x * c->block.y * c->block.z), c->shared);
    if (c->attribute->id != 2 || result)
        return INVALID_VALUE;
    if (c->grid.x * c->grid.y * c->grid.z > (unsigned)(NUM_SM * of_sm))
        return TOO_LARGE;
    return launch(f, c->grid, c->block, c->shared, c->stream, parameters, false);
}
