/* nvrtc.cpp: a stand-in for libnvrtc: compiles kernels for the CPU with g++ (compile.sh) into a shared library, which
 * driver.cpp loads as if it were a cubin. UNDA_EMULATOR_NVRTC is the major version,
 * UNDA_EMULATOR_NVRTC_CACHE the folder of a cache as NVRTC has one from 12.9 on.
 * EMULATOR_DIR: this folder, set when it is built. Next: compile.sh, device.h. */
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {
enum { OUT_OF_MEMORY = 1, COMPILATION = 6 };
typedef std::filesystem::path folder; /* a program: its files, and what compile.sh makes of them */

std::string read(const folder &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}
std::string image(void *p) { return read(*(folder *)p / "kernel.so"); }
std::string log(void *p) { return read(*(folder *)p / "log"); }
void write(const folder &path, const std::string &text) {
    create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
}
} // namespace

API nvrtcVersion(int *major, int *minor) {
    const char *version = getenv("UNDA_EMULATOR_NVRTC");
    return *major = version ? atoi(version) : 13, *minor = 0;
}
API nvrtcGetNumSupportedArchs(int *count) { return *count = 3, 0; }
API nvrtcGetSupportedArchs(int *archs) { return archs[0] = 70, archs[1] = 80, archs[2] = 90, 0; }
API nvrtcCreateProgram(void **out, const char *text, const char *name, int count, const char *const *headers,
                       const char *const *names) {
    char dir[] = "/tmp/unda-emulator-XXXXXX";
    if (!mkdtemp(dir))
        return OUT_OF_MEMORY;
    write(folder(dir) / "program.cu", std::string("# 1 \"") + name + "\"\n" + text);
    for (int i = 0; i < count; i++)
        write(folder(dir) / "include" / names[i], headers[i]);
    return *out = new folder(dir), 0;
}
API nvrtcDestroyProgram(void **p) {
    remove_all(*(folder *)*p);
    return delete (folder *)*p, 0;
}
API nvrtcCompileProgram(void *p, int count, const char *const *options) {
    std::string command = EMULATOR_DIR "/compile.sh " + ((folder *)p)->string(), defines;
    bool afresh = false;
    for (int i = 0; i < count; i++) { /* but for the defines options mean nothing here */
        afresh |= strcmp(options[i], "--no-cache") == 0;
        defines += strncmp(options[i], "-D", 2) == 0 ? std::string(" '") + options[i] + "'" : "";
    }
    int major, minor, result = nvrtcVersion(&major, &minor) || (afresh && major < 13);
    result = result || system((command + defines).c_str()) ? COMPILATION : 0;
    if (const char *cache = getenv("UNDA_EMULATOR_NVRTC_CACHE")) { /* what is in it is not stated again in the log */
        size_t key = std::hash<std::string>()(read(*(folder *)p / "program.cu") + defines);
        folder known = folder(cache) / std::to_string(key);
        if (exists(known) && !afresh)
            write(*(folder *)p / "log", "");
        write(known, "");
    }
    return result;
}
API nvrtcGetCUBINSize(void *p, size_t *bytes) { return *bytes = image(p).size(), 0; }
API nvrtcGetCUBIN(void *p, char *out) { return image(p).copy(out, std::string::npos), 0; }
API nvrtcGetProgramLogSize(void *p, size_t *bytes) { return *bytes = log(p).size() + 1, 0; }
API nvrtcGetProgramLog(void *p, char *out) { return strcpy(out, log(p).c_str()), 0; }
