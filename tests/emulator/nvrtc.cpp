/* nvrtc.cpp: a stand-in for libnvrtc: compiles kernels for the CPU with g++ and device.h into a shared library, which
 * driver.cpp loads as if it were a cubin. Messages look like NVRTC's: file(line): error: text.
 * EMULATOR_DIR: this folder, set when it is built. Next: device.h. */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <vector>

#define API extern "C" __attribute__((visibility("default"))) int

namespace {
enum { OUT_OF_MEMORY = 1, INVALID_OPTION = 5, COMPILATION = 6 };
struct program {
    std::string text, name, log, image;
    std::vector<std::pair<std::string, std::string>> headers; /* name, text */
};

std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream all;
    all << file.rdbuf();
    return all.str();
}
void write(const std::string &path, const std::string &text) { std::ofstream(path, std::ios::binary) << text; }
int shell(const std::string &command) { return system(command.c_str()); }

/* Kernel names: the identifier before the parameter list that follows __global__. */
std::vector<std::string> kernel_names(const std::string &text) {
    static const std::regex head(R"(__global__\s+(?:__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?void\s+)"
                                 R"((?:__launch_bounds__\s*\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?(\w+)\s*\()");
    std::vector<std::string> names;
    for (std::sregex_iterator i(text.begin(), text.end(), head), end; i != end; ++i)
        names.push_back((*i)[1]);
    return names;
}

/* extern __shared__ T name[]; becomes a pointer; then the entries of all kernels. */
std::string translate(const std::string &text, std::string *log) {
    static const std::regex dynamic(R"(extern\s+__shared__\s+(?:__align__\s*\([^)]*\)\s*)?([\w \t]+?)\s+(\w+)\s*\[\s*\]\s*;)");
    std::string out = "#include \"device.h\"\n" + std::regex_replace(text, dynamic, "$1 *const $2 = ($1 *)emu->dynamic_shared;");
    for (const std::string &name : kernel_names(text)) {
        out += "\nEMU_KERNEL(" + name + ")";
        *log += "ptxas info    : Compiling entry function '" + name + "' for 'stand-in'\n"
                "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\nptxas info    : Used 32 registers\n";
    }
    return out + "\n";
}

/* Only defines matter here; any option that the real compiler would not know is refused. */
bool read_options(int count, const char *const *options, std::string *defines) {
    static const char *const known[] = {"--gpu-architecture=sm_", "--std=c++17", "--generate-line-info",
                                        "--device-as-default-execution-space", "--fmad=", "--ptxas-options=-v"};
    for (int i = 0; i < count; i++) {
        bool good = strncmp(options[i], "-D", 2) == 0;
        if (good)
            *defines += std::string(" '") + options[i] + "'";
        for (const char *one : known)
            good = good || strncmp(options[i], one, strlen(one)) == 0;
        if (!good)
            return false;
    }
    return true;
}

bool build(program *p, const std::string &dir, const std::string &defines) {
    for (auto &header : p->headers) {
        std::string path = dir + "/include/" + header.first;
        shell("mkdir -p " + path.substr(0, path.rfind('/')));
        write(path, header.second);
    }
    write(dir + "/program.cu", "# 1 \"" + p->name + "\"\n" + p->text);
    const char *chosen = getenv("CXX");
    std::string compiler = (chosen ? chosen : "g++") + std::string(" -std=c++17 -w -x c++ "), log;
    std::string errors = " 2> " + dir + "/log";
    if (shell(compiler + "-E -I " + dir + "/include" + defines + " " + dir + "/program.cu -o " + dir + "/program.ii" + errors) == 0) {
        write(dir + "/final.cpp", translate(read(dir + "/program.ii"), &log));
        if (shell(compiler + "-O1 -fPIC -shared -I " EMULATOR_DIR " " + dir + "/final.cpp -o " + dir + "/kernel.so" + errors) == 0)
            p->image = read(dir + "/kernel.so");
    }
    std::regex position(R"(([^\s:]+):(\d+):(?:\d+:)? )"), folder(dir + "/include/");
    p->log = std::regex_replace(std::regex_replace(read(dir + "/log"), folder, ""), position, "$1($2): ") + (p->image.empty() ? "" : log);
    return !p->image.empty();
}
} // namespace

API nvrtcVersion(int *major, int *minor) {
    const char *version = getenv("UNDA_EMULATOR_NVRTC");
    *major = version ? atoi(version) : 13;
    *minor = 0;
    return 0;
}
API nvrtcGetNumSupportedArchs(int *count) { *count = 2; return 0; }
API nvrtcGetSupportedArchs(int *archs) { archs[0] = 80; archs[1] = 90; return 0; }
API nvrtcCreateProgram(void **out, const char *text, const char *name, int count, const char *const *headers, const char *const *names) {
    program *p = new program{text, name, "", "", {}};
    for (int i = 0; i < count; i++)
        p->headers.emplace_back(names[i], headers[i]);
    *out = p;
    return 0;
}
API nvrtcDestroyProgram(void **p) { delete (program *)*p; *p = nullptr; return 0; }
API nvrtcCompileProgram(void *p, int count, const char *const *options) {
    std::string defines;
    if (!read_options(count, options, &defines))
        return INVALID_OPTION;
    char dir[] = "/tmp/unda-emulator-XXXXXX";
    if (!mkdtemp(dir))
        return OUT_OF_MEMORY;
    bool good = build((program *)p, dir, defines);
    shell(std::string("rm -rf ") + dir);
    return good ? 0 : COMPILATION;
}
API nvrtcGetCUBINSize(void *p, size_t *bytes) { *bytes = ((program *)p)->image.size(); return 0; }
API nvrtcGetCUBIN(void *p, char *out) { memcpy(out, ((program *)p)->image.data(), ((program *)p)->image.size()); return 0; }
API nvrtcGetProgramLogSize(void *p, size_t *bytes) { *bytes = ((program *)p)->log.size() + 1; return 0; }
API nvrtcGetProgramLog(void *p, char *out) { memcpy(out, ((program *)p)->log.c_str(), ((program *)p)->log.size() + 1); return 0; }
