/* nccl.cpp: a stand-in for libnccl: messages between processes of one machine through sockets, queued on a stream of the
 * stand-in driver. As strict as the manual: device memory, sends and receives in groups, one process a device, nothing is
 * queued when a communicator is destroyed.
 * Environment: UNDA_EMULATOR_NCCL (version, 23203), _NCCL_INIT=1 (this process cannot connect), _NCCL_DROP=n (the n-th message
 * that this process receives is lost: memory stays as it was), _NCCL_LOST=n (its n-th group meets a dead network).
 * Next: driver.cpp. */
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <functional>
#include <map>
#include <poll.h>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <utility>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {
enum { SUCCESS, SYSTEM_ERROR = 2, INVALID_ARGUMENT = 4, INVALID_USAGE, REMOTE_ERROR, NUM_RESULT };
enum { SECONDS = 30 }; /* in which all processes connect */
struct id { char bytes[128]; };
struct communicator {
    int num_rank, which, error, num_queued; /* error: of what was queued */
    std::vector<int> socket;                /* [num_rank] */
    bool aborted = false;                   /* freed with what is queued last */
};
struct message { communicator *of; char *at; uint64_t bytes; size_t done; int rank; bool sends; void *stream; uint64_t told = 0; };
const size_t head = sizeof(uint64_t); /* before a message its size is told */
struct greeting { int rank, device; };

char last[256];
int depth, group_error, num_group, num_received;
std::vector<message> group;

long setting(const char *name, long otherwise) {
    const char *value = getenv((std::string("UNDA_EMULATOR_NCCL") + name).c_str());
    return value ? atol(value) : otherwise;
}
int fail(int result, const char *why) { return snprintf(last, sizeof last, "%s", why), result; }

/* A function of the stand-in driver, which this process has loaded. */
template <class F> F *driver(const char *name) {
    const char *path = getenv("UNDA_LIBCUDA");
    void *library = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : nullptr;
    return library ? (F *)dlsym(library, name) : nullptr;
}

/* ---- connecting ---- */

socklen_t address_of(const id &given, int rank, sockaddr_un *address) { /* of no file */
    *address = {AF_UNIX, {}};
    return (socklen_t)(offsetof(sockaddr_un, sun_path) + 1 +
                       snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "%.60s-%d", given.bytes, rank));
}
bool all(int socket, void *at, size_t bytes, bool sends) {
    for (size_t done = 0; done < bytes;) {
        ssize_t n = sends ? send(socket, (char *)at + done, bytes - done, MSG_NOSIGNAL) : recv(socket, (char *)at + done, bytes - done, 0);
        if (n <= 0)
            return false;
        done += (size_t)n;
    }
    return true;
}
int reach(const id &given, int rank) {
    sockaddr_un address;
    socklen_t bytes = address_of(given, rank, &address);
    int one = socket(AF_UNIX, SOCK_STREAM, 0);
    for (int i = 0; i < 1000 * SECONDS; i++, usleep(1000))
        if (connect(one, (sockaddr *)&address, bytes) == 0)
            return one;
    return close(one), -1;
}
/* Reaches lower processes, is reached by higher ones; each tells its device. */
int connect_all(communicator *c, const id &given, int device) {
    sockaddr_un address;
    socklen_t bytes = address_of(given, c->which, &address);
    int door = socket(AF_UNIX, SOCK_STREAM, 0), result = SUCCESS;
    if (bind(door, (sockaddr *)&address, bytes) || listen(door, c->num_rank))
        return close(door), fail(INVALID_ARGUMENT, "two processes have one number");
    for (int i = 0; i < c->num_rank - 1; i++) {
        pollfd waits = {door, POLLIN, 0};
        bool lower = i < c->which;
        int one = lower ? reach(given, i) : poll(&waits, 1, 1000 * SECONDS) == 1 ? accept(door, nullptr, nullptr) : -1;
        greeting own = {c->which, device}, other = {-1, -1};
        if (one < 0 || !all(one, &own, sizeof own, true) || !all(one, &other, sizeof other, false) || other.rank < 0 ||
            other.rank >= c->num_rank || c->socket[other.rank] >= 0)
            return close(door), fail(REMOTE_ERROR, "a process did not come");
        c->socket[other.rank] = one;
        if (other.device == device) {
            snprintf(last, sizeof last, "Duplicate GPU detected : rank %d and rank %d both on CUDA device %x", own.rank, other.rank, device);
            result = INVALID_USAGE;
        }
    }
    return close(door), result;
}
void close_all(communicator *c) {
    for (int one : c->socket)
        if (one >= 0)
            close(one);
    delete c;
}

/* ---- messages ---- */

bool is_whole(const message &m) { return m.done == head + m.bytes; }
/* What can be moved of a message now; false: the other process is gone, or has a message of another size. */
bool move(message &m) {
    int one = m.of->socket[m.rank];
    bool in_head = m.done < head;
    char *at = in_head ? (char *)(m.sends ? &m.bytes : &m.told) + m.done : m.at + m.done - head;
    size_t left = (in_head ? head : head + m.bytes) - m.done;
    ssize_t n = m.sends ? send(one, at, left, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(one, at, left, MSG_DONTWAIT);
    m.done += n > 0 ? (size_t)n : 0;
    if (m.done == head && in_head && !m.sends && m.told != m.bytes)
        return false;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}
bool exchange(std::vector<message> &messages) {
    for (;;) {
        std::vector<pollfd> waits;
        std::vector<message *> waiting;
        std::map<std::pair<int, bool>, bool> taken; /* messages to one process go one after the other */
        for (auto &m : messages)
            if (!is_whole(m) && !taken[{m.rank, m.sends}]) {
                taken[{m.rank, m.sends}] = true;
                waits.push_back({m.of->socket[m.rank], (short)(m.sends ? POLLOUT : POLLIN), 0});
                waiting.push_back(&m);
            }
        if (waits.empty())
            return true;
        poll(waits.data(), waits.size(), -1);
        for (size_t i = 0; i < waits.size(); i++)
            if (waits[i].revents && !move(*waiting[i]))
                return false;
    }
}
/* To itself: what is sent first is received first. */
bool exchange_here(std::vector<message> &messages) {
    for (auto &to : messages)
        for (auto &from : messages)
            if (!to.sends && from.sends && to.rank == to.of->which && from.rank == to.rank && !is_whole(to) && !is_whole(from)) {
                if (to.bytes != from.bytes)
                    return false;
                memcpy(to.at, from.at, to.bytes);
                to.done = from.done = head + to.bytes;
            }
    return true;
}
int run(std::vector<message> messages) {
    communicator *c = messages[0].of;
    std::vector<std::vector<char>> lost;
    c->num_queued--;
    for (auto &m : messages)
        if (!m.sends && ++num_received == setting("_DROP", 0)) {
            lost.emplace_back(m.bytes);
            m.at = lost.back().data();
        }
    if (c->error == SUCCESS && (++num_group == setting("_LOST", 0) || !exchange_here(messages) || !exchange(messages)))
        c->error = fail(REMOTE_ERROR, "Connection closed by remote peer");
    if (c->aborted && !c->num_queued)
        delete c;
    return 0;
}
int queue_group() {
    auto *add = driver<int(void *, std::function<int()> *, const uint64_t *, int)>("emu_queue");
    std::map<void *, std::vector<message>> streams;
    for (auto &m : group)
        streams[m.stream].push_back(m);
    group.clear();
    if (group_error) /* of one of its messages: none is queued */
        return std::exchange(group_error, SUCCESS);
    for (auto &one : streams) {
        std::vector<uint64_t> touches;
        for (auto &m : one.second)
            touches.push_back((uint64_t)m.at);
        std::vector<message> messages = one.second;
        std::function<int()> work = [messages] { return run(messages); };
        messages[0].of->num_queued++;
        if (!add || add(one.first, &work, touches.data(), (int)touches.size()))
            return fail(INVALID_ARGUMENT, "no stream of this driver");
    }
    return SUCCESS;
}
int put(void *of, const void *at, size_t bytes, int type, int rank, void *stream, bool sends) {
    communicator *c = (communicator *)of;
    auto *inside = driver<bool(uint64_t, size_t)>("emu_inside");
    if (!depth)
        return fail(INVALID_USAGE, "a send or a receive outside of a group waits for its counterpart");
    if (type != 0 || rank < 0 || rank >= c->num_rank || !stream || !bytes || !inside || !inside((uint64_t)at, bytes))
        return group_error = fail(INVALID_ARGUMENT, "a message is no bytes of device memory, or goes to nobody");
    group.push_back({c, (char *)at, bytes, 0, rank, sends, stream});
    return SUCCESS;
}
} // namespace

API ncclGetVersion(int *version) { return *version = (int)setting("", 23203), SUCCESS; }
extern "C" __attribute__((visibility("default"))) const char *ncclGetErrorString(int result) {
    static const char *text[NUM_RESULT] = {"no error", "unhandled cuda error", "unhandled system error", "internal error", "invalid argument", "invalid usage", "remote process exited or there was a network error"};
    return result < NUM_RESULT ? text[result] : "unknown result code";
}
extern "C" __attribute__((visibility("default"))) const char *ncclGetLastError(void *) { return last; }
API ncclGetUniqueId(id *made) {
    static int num;
    *made = {};
    snprintf(made->bytes, sizeof made->bytes, "stand-in-nccl-%d-%d", (int)getpid(), num++);
    return SUCCESS;
}
struct config { size_t size; unsigned magic, version; int blocking, cluster_size, least_blocks, most_blocks; const char *network; };
API ncclCommInitRankConfig(void **out, int num_rank, id given, int which, const config *how) {
    if (how->size != sizeof *how || how->magic != 0xcafebeef || how->version < 21700 || how->most_blocks < 1)
        return fail(INVALID_ARGUMENT, "not a configuration");
    auto *device = driver<int()>("emu_device");
    int here = device ? device() : -1;
    *out = nullptr;
    if (which < 0 || which >= num_rank || here < 0)
        return fail(INVALID_ARGUMENT, "a number of a process, or no device is current");
    if (setting("_INIT", 0))
        return fail(SYSTEM_ERROR, "asked for by UNDA_EMULATOR_NCCL_INIT");
    auto *c = new communicator{num_rank, which, SUCCESS, 0, std::vector<int>(num_rank, -1)};
    int result = connect_all(c, given, here);
    return result ? (close_all(c), result) : (*out = c, SUCCESS);
}
API ncclCommDestroy(void *c) {
    if (((communicator *)c)->num_queued || ((communicator *)c)->error)
        _exit(fail(77, "destroyed while messages are queued, or after a failure: NCCL would wait"));
    return close_all((communicator *)c), SUCCESS;
}
API ncclCommAbort(void *of) {
    communicator *c = (communicator *)of;
    for (int one : c->socket)
        if (one >= 0)
            close(one);
    c->socket.assign(c->num_rank, -1); /* what is still queued finds nobody */
    c->aborted = true, c->error = REMOTE_ERROR;
    return c->num_queued ? SUCCESS : (delete c, SUCCESS);
}
API ncclCommGetAsyncError(void *c, int *result) { return *result = ((communicator *)c)->error, SUCCESS; }
API ncclGroupStart() { return depth++, SUCCESS; }
API ncclGroupEnd() { return --depth ? SUCCESS : queue_group(); }
API ncclSend(const void *at, size_t count, int type, int rank, void *c, void *stream) { return put(c, at, count, type, rank, stream, true); }
API ncclRecv(void *at, size_t count, int type, int rank, void *c, void *stream) { return put(c, at, count, type, rank, stream, false); }
