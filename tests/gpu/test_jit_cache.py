"""Kernels compiled at run time: the cache, the compiler's messages, NVIDIA's own compiler."""

import os
import re
import shutil
import struct

import gpu_host
import pytest
import stand_in_driver

DEVICE, COMPILE, IO = 7, 9, 12
HEADER = struct.Struct("24sq16s16s")  # magic, bytes, key, checksum: csrc/gpu/cache.c

SPILL = """extern "C" __global__ void spill(float *p)
{
    volatile float a[64];
    __shared__ float s[32];
    for (int i = 0; i < 64; i++)
        a[i] = p[i];
    s[threadIdx.x] = a[(int)p[64]];
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}
"""


@pytest.fixture
def kernels(tmp_path):
    """A kernel folder of one's own, with a header in a subfolder."""
    folder = tmp_path / "cuda"
    shutil.copytree(gpu_host.TESTS / "c" / "kernels", folder)
    (folder / "common").mkdir()
    (folder / "common" / "unused.h").write_text("#define UNUSED 1\n")
    return folder


@pytest.fixture
def load(tmp_path, kernels):
    """Load reverse.cu with a cache of its own; returns the result."""

    def run(*options, **environment):
        return gpu_host.run(
            "load", "reverse.cu", *options, kernels=kernels, cache=tmp_path / "cache", **environment
        )

    return run


def cached(tmp_path):
    """Return the only file of the cache."""
    (path,) = (tmp_path / "cache").iterdir()
    return path


def fnv(data):
    """Return the hash FNV-1a of 128 bits, by its published offset and prime, as it is in a file."""
    found = 0x6C62272E07BB014262B821756295C58D
    for byte in data:
        found = (found ^ byte) * 0x1000000000000000000013B % 2**128
    return found.to_bytes(16, "little")


# ---- hits and misses


def test_the_second_load_comes_from_the_cache(load):
    assert load().compiled
    assert not load().compiled


def test_what_the_code_depends_on_is_part_of_the_key(load, kernels):
    load()
    assert load("-DMORE=1").compiled
    assert load("-DMORE=2").compiled
    assert load(UNDA_EMULATOR_NVRTC="12").compiled
    for name in ("scale.h", "reverse.cu", "common/unused.h"):
        with (kernels / name).open("a") as file:
            file.write("/* edited */\n")
        assert load().compiled
        assert not load().compiled


def test_a_file_that_takes_no_part_is_no_part_of_the_key(load, kernels):
    load()
    (kernels / "faults.cu").write_text("edited")
    (kernels / "README.md").write_text("edited")
    assert not load().compiled


def test_a_cache_file_holds_key_size_and_checksum(load, tmp_path):
    load()
    data = cached(tmp_path).read_bytes()
    magic, size, key, checksum = HEADER.unpack(data[: HEADER.size])
    code = data[HEADER.size :]
    assert magic.rstrip(b"\0") == b"unda-cubin-2"
    assert key[::-1].hex() == cached(tmp_path).stem
    assert size == len(code)
    assert checksum == fnv(code)


def flip(data, place):
    return data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :]


@pytest.mark.first(4)
@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:50],
        lambda data: data[:-1],
        lambda data: data + b"\0",
        lambda data: flip(data, 3),
        lambda data: flip(data, 40),
        lambda data: flip(data, 50),
        lambda data: flip(data, len(data) // 2),
    ],
    ids=["empty", "no code", "cut", "longer", "magic", "key", "checksum", "code"],
)
def test_a_damaged_file_is_compiled_again_and_repaired(load, tmp_path, damage):
    load()
    good = cached(tmp_path).read_bytes()
    cached(tmp_path).write_bytes(damage(good))
    result = load()
    assert result["status"] == "0" and result.compiled
    assert (
        HEADER.unpack(cached(tmp_path).read_bytes()[: HEADER.size])[2]
        == HEADER.unpack(good[: HEADER.size])[2]
    )
    assert not load().compiled


def test_whole_code_that_the_driver_refuses_is_compiled_again(load, tmp_path):
    load()
    key = bytes.fromhex(cached(tmp_path).stem)[::-1]
    code = b"not a program" * 10
    header = HEADER.pack(b"unda-cubin-2", len(code), key, fnv(code))
    cached(tmp_path).write_bytes(header + code)
    result = load()
    assert result["status"] == "0" and result.compiled and "refused reverse.cu from the cache" in result.text
    assert not load().compiled


def test_an_unwritable_folder_only_warns(kernels):
    result = gpu_host.run("load", "reverse.cu", kernels=kernels, cache="/dev/null/cache")
    assert result["status"] == "0"
    assert "cannot be kept in /dev/null/cache: Not a directory" in result["log30"]


def test_the_folder_is_made_for_this_user_alone(load, tmp_path):
    load()
    assert (tmp_path / "cache").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode, trusted", [(0o755, True), (0o775, False), (0o757, False)])
def test_a_folder_that_others_may_write_to_is_left_alone(load, tmp_path, mode, trusted):
    load()
    (tmp_path / "cache").chmod(mode)
    before = cached(tmp_path).read_bytes()
    result = load()
    assert result["status"] == "0" and result.compiled != trusted
    assert ("may be written to by others" in result.values.get("log30", "")) != trusted
    cached(tmp_path).unlink()
    assert load().compiled
    assert list((tmp_path / "cache").iterdir()) == [] or trusted
    assert before


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to another user")
def test_a_folder_of_another_user_is_left_alone(load, tmp_path):
    load()
    os.chown(tmp_path / "cache", 12345, 12345)
    result = load()
    assert result.compiled and "belongs to another user" in result["log30"]


def test_a_fifo_in_the_folder_is_a_miss_and_blocks_nobody(load, tmp_path):
    load()
    path = cached(tmp_path)
    path.unlink()
    os.mkfifo(path)
    assert load().compiled
    assert path.is_file() and not load().compiled


def test_the_cache_can_be_switched_off(load, tmp_path):
    assert load(UNDA_CACHE="0").compiled
    assert load(UNDA_CACHE="0").compiled
    assert not (tmp_path / "cache").exists()


def test_nothing_but_whole_files_stays_in_the_cache(load, tmp_path):
    load()
    assert re.fullmatch("[0-9a-f]{32}.cubin", cached(tmp_path).name)


def test_refused_code_names_versions_and_the_extra_to_install(load):
    result = load(UNDA_EMULATOR_REFUSE="1")
    assert int(result["status"]) == DEVICE
    for text in ("driver (version 13.0)", "NVRTC 13.0", "sm_90", "unda-waves[cuda12]"):
        assert text in result["error"]


# ---- messages


@pytest.fixture(params=["stand-in", "NVIDIA"])
def compiler(request):
    """Environment of each compiler."""
    if request.param == "stand-in":
        return {}
    path = stand_in_driver.real_nvrtc()
    return {"UNDA_LIBNVRTC": path} if path else pytest.skip("NVRTC is not installed")


def test_a_compile_error_cites_file_and_line(kernels, compiler):
    (kernels / "wrong.cu").write_text('extern "C" __global__ void wrong()\n{\n    absent();\n}\n')
    result = gpu_host.run("compile", "wrong.cu", "wrong", "90", kernels=kernels, **compiler)
    assert int(result["status"]) == COMPILE
    assert f"{kernels}/wrong.cu(3): error: " in result["error"]
    assert result.text.count("absent") > 1, "in the message and in the log"


def test_an_error_in_a_header_cites_the_header(kernels, compiler):
    (kernels / "common" / "wrong.h").write_text("#define FINE 1\n\n#error nothing works\n")
    (kernels / "wrong.cu").write_text('#include "common/wrong.h"\n')
    result = gpu_host.run("compile", "wrong.cu", "wrong", "90", kernels=kernels, **compiler)
    assert int(result["status"]) == COMPILE
    assert "common/wrong.h(3)" in result["error"] and "nothing works" in result["error"]


def test_a_kernel_that_is_not_there_is_named(kernels, compiler):
    result = gpu_host.run("compile", "reverse.cu", "absent", "90", kernels=kernels, **compiler)
    assert int(result["status"]) == COMPILE and "no kernel absent was compiled" in result["error"]


def test_a_missing_source_is_named(load, kernels):
    (kernels / "reverse.cu").unlink()
    result = load()
    assert int(result["status"]) == IO and f"{kernels}/reverse.cu cannot be read" in result["error"]


def test_a_device_that_the_compiler_does_not_know_is_refused(compiler):
    result = gpu_host.run("compile", "reverse.cu", "reverse", "20", **compiler)
    assert "cannot compile for sm_20" in result["error"]


# ---- NVIDIA's own compiler


def real(file, kernel, capability, **more):
    path = stand_in_driver.real_nvrtc()
    if not path:
        pytest.skip("NVRTC is not installed")
    result = gpu_host.run("compile", file, kernel, capability, UNDA_LIBNVRTC=path, **more)
    assert result["status"] == "0", result.text
    return dict(pair.split("=") for pair in result.text.splitlines()[0].split())


@pytest.mark.parametrize("capability", ["80", "90"])
@pytest.mark.parametrize("kernel", ["copy", "fma32", "fma64"])
def test_the_limit_kernels_compile_without_spills(kernel, capability):
    found = real("common/limits.cu", kernel, capability, kernels=gpu_host.TESTS.parent / "cuda")
    assert int(found["spill"]) == 0
    assert 8 <= int(found["registers"]) <= 128


def test_spills_are_seen(kernels):
    """A volatile array lives in local memory, as spilled registers do."""
    (kernels / "spill.cu").write_text(SPILL)
    found = real("spill.cu", "spill", "90", kernels=kernels)
    assert int(found["spill"]) == 256 and int(found["shared"]) == 128


def test_no_include_leads_out_of_the_kernel_folder():
    folder = gpu_host.TESTS.parent / "cuda"
    for path in [*folder.rglob("*.h"), *folder.rglob("*.cu")]:
        for name in re.findall(r'#\s*include\s*[<"]([^>"]+)[>"]', path.read_text()):
            assert (folder / name).is_file() and ".." not in name, f"{path} includes {name}"
