/* nvrtc.cpp: a stand-in for libnvrtc: compiles kernels for the CPU with g++ (compile.sh) into a shared library, which
 * driver.cpp loads as if it were a cubin. UNDA_EMULATOR_NVRTC is the major version.
 * EMULATOR_DIR: this folder, set when it is built. Next: compile.sh, device.h. */
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {
enum { OUT_OF_MEMORY = 1, COMPILATION = 6 };
struct program {
    std::string text, name, log, image;
    std::map<std::string, std::string> headers; /* by name */
};
std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
}
void write(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }

bool build(program *p, const std::string &dir, const std::string &defines) {
    for (auto &header : p->headers) {
        std::string path = dir + "/include/" + header.first;
        if (system(("mkdir -p " + path.substr(0, path.rfind('/'))).c_str()))
            return false;
        write(path, header.second);
    }
    write(dir + "/program.cu", "# 1 \"" + p->name + "\"\n" + p->text);
    bool good = system((EMULATOR_DIR "/compile.sh " + dir + defines).c_str()) == 0;
    p->log = read(dir + "/log");
    p->image = good ? read(dir + "/kernel.so") : "";
    return good;
}
} // namespace

API nvrtcVersion(int *major, int *minor) {
    const char *version = getenv("UNDA_EMULATOR_NVRTC");
    return *major = version ? atoi(version) : 13, *minor = 0;
}
API nvrtcGetNumSupportedArchs(int *count) { return *count = 2, 0; }
API nvrtcGetSupportedArchs(int *archs) { return archs[0] = 80, archs[1] = 90, 0; }
API nvrtcCreateProgram(void **out, const char *text, const char *name, int count, const char *const *headers,
                       const char *const *names) {
    program *p = new program{text, name, "", "", {}};
    for (int i = 0; i < count; i++)
        p->headers[names[i]] = headers[i];
    return *out = p, 0;
}
API nvrtcDestroyProgram(void **p) { return delete (program *)*p, 0; }
API nvrtcCompileProgram(void *p, int count, const char *const *options) {
    std::string defines; /* the other options mean nothing here */
    for (int i = 0; i < count; i++)
        defines += strncmp(options[i], "-D", 2) == 0 ? std::string(" '") + options[i] + "'" : "";
    char dir[] = "/tmp/unda-emulator-XXXXXX";
    if (!mkdtemp(dir))
        return OUT_OF_MEMORY;
    bool good = build((program *)p, dir, defines);
    return system((std::string("rm -rf ") + dir).c_str()) || !good ? COMPILATION : 0;
}
API nvrtcGetCUBINSize(void *p, size_t *bytes) { return *bytes = ((program *)p)->image.size(), 0; }
API nvrtcGetCUBIN(void *p, char *out) { return ((program *)p)->image.copy(out, std::string::npos), 0; }
API nvrtcGetProgramLogSize(void *p, size_t *bytes) { return *bytes = ((program *)p)->log.size() + 1, 0; }
API nvrtcGetProgramLog(void *p, char *out) { return strcpy(out, ((program *)p)->log.c_str()), 0; }
