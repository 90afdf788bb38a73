import ctypes as C
import sys
import time

from configs import CONFIGS, defines

n = C.CDLL("/usr/local/cuda/lib64/libnvrtc.so.13")
for name in sys.argv[1:]:
    p = C.c_void_p()
    src = open("fd/diamond.cu", "rb").read()
    t = time.time()
    assert n.nvrtcCreateProgram(C.byref(p), src, b"diamond.cu", 0, None, None) == 0
    o = [
        x.encode()
        for x in defines(CONFIGS[name])
        + [
            "-I.",
            "--std=c++17",
            "--gpu-architecture=sm_90",
            "--device-as-default-execution-space",
            "--generate-line-info",
            "--ptxas-options=-v",
        ]
    ]
    r = n.nvrtcCompileProgram(p, len(o), (C.c_char_p * len(o))(*o))
    s = C.c_size_t()
    n.nvrtcGetProgramLogSize(p, C.byref(s))
    b = C.create_string_buffer(s.value)
    n.nvrtcGetProgramLog(p, b)
    print(
        name,
        r,
        "%.0f s" % (time.time() - t),
        [l for l in b.value.decode().splitlines() if "error" in l or "Used" in l or "spill" in l][:6],
    )
