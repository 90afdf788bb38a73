"""The CUDA engine's host layer on the stand-in driver: libraries, queues, faults, refusals."""

import re
import shutil
import subprocess
from pathlib import Path

import gpu_host
import pytest
import stand_in_driver

ARGUMENT, DEVICE_MEMORY, NO_DEVICE, DEVICE, LOST, FORK, INTERNAL = 1, 4, 6, 7, 8, 10, 13
SANITIZERS = ("-fsanitize=address,undefined", "-fno-sanitize-recover=undefined")


def compile_library(path: Path, source: str) -> Path:
    """Compile a C source into a shared library."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = ["gcc", "-shared", "-fPIC", "-x", "c", "-", "-o", path, f"-Wl,-soname,{path.name}"]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def nvrtc_folder(path: Path) -> Path:
    """Make a folder like a pip wheel's that holds the stand-in for libnvrtc."""
    path.mkdir(parents=True)
    shutil.copy(stand_in_driver.build(gpu_host.BUILD)["UNDA_LIBNVRTC"], path / "libnvrtc.so.13")
    return path


# ---- finding libraries


def test_the_report_says_what_was_found():
    report = gpu_host.run("report").text
    chosen = stand_in_driver.build(gpu_host.BUILD)
    assert f"{chosen['UNDA_LIBCUDA']}: version 13.0" in report
    assert f"{chosen['UNDA_LIBNVRTC']}: version 13.0" in report
    assert f"{chosen['UNDA_LIBCUBLAS']}: version 13.0" in report
    assert f"{chosen['UNDA_LIBNCCL']}: version 2.32.3" in report
    assert "0: stand-in, sm_90" in report
    assert "CUDA engine: usable" in report


def test_the_report_says_what_was_tried_and_why_it_failed(tmp_path):
    not_library = tmp_path / "libcuda.so.1"
    not_library.write_text("no library")
    report = gpu_host.run("report", UNDA_LIBCUDA=str(not_library)).text
    assert f"{not_library}: file too short" in report or f"{not_library}: invalid ELF" in report
    assert "CUDA engine: not usable" in report


@pytest.mark.parametrize("variable", ["UNDA_LIBCUDA", "UNDA_LIBNVRTC"])
def test_a_library_named_by_the_environment_has_no_fallback(tmp_path, variable):
    folder = nvrtc_folder(tmp_path / "wheel")
    report = gpu_host.run("report", str(folder), **{variable: "/nowhere/library.so"}).text
    assert "/nowhere/library.so: cannot open" in report
    assert "CUDA engine: not usable" in report


def test_library_folders_are_searched_in_the_order_they_were_added(tmp_path):
    folders = [nvrtc_folder(tmp_path / name) for name in ("second", "first")]
    report = gpu_host.run("report", "/nowhere", *map(str, folders), UNDA_LIBNVRTC="").text
    assert f"{folders[0]}/libnvrtc.so.13: version" in report
    assert f"{folders[1]}/libnvrtc.so.13: version" not in report
    assert "/nowhere/libnvrtc.so.13: cannot open" in report


def test_a_library_that_is_loaded_already_comes_first(tmp_path):
    loaded, added = nvrtc_folder(tmp_path / "loaded"), nvrtc_folder(tmp_path / "added")
    preload = {"LD_PRELOAD": f"{loaded}/libnvrtc.so.13", "UNDA_LIBNVRTC": ""}
    assert f"{loaded}/libnvrtc.so.13: version" in gpu_host.run("report", str(added), **preload).text


def test_the_compilers_builtins_come_from_beside_it(tmp_path):
    folder = nvrtc_folder(tmp_path / "wheel")
    announce = 'static void __attribute__((constructor)) f(void) { puts("loaded=beside"); }'
    compile_library(folder / "libnvrtc-builtins.so.13.0", f"#include <stdio.h>\n{announce}")
    assert gpu_host.run("report", str(folder), UNDA_LIBNVRTC="")["loaded"] == "beside"


def test_a_compiler_newer_than_the_driver_is_passed_over():
    report = gpu_host.run("report", UNDA_EMULATOR_VERSION="12040").text
    assert "version 13.0 is too new for the driver, which has 12.4" in report
    assert "CUDA engine: not usable" in report
    fitting = {"UNDA_EMULATOR_VERSION": "12040", "UNDA_EMULATOR_NVRTC": "12"}
    assert "CUDA engine: usable" in gpu_host.run("report", **fitting).text


def test_a_missing_compiler_names_what_to_install():
    result = gpu_host.run("load", "reverse.cu", UNDA_LIBNVRTC="/nowhere/library.so")
    assert int(result["status"]) == NO_DEVICE
    assert "unda-waves[cuda]" in result["error"] and "unda-waves[cuda12]" in result["error"]


def test_a_function_that_the_driver_lacks_fails_when_it_is_called(tmp_path):
    source = "int cuInit(unsigned f) { return f; }"
    source += "int cuDriverGetVersion(int *v) { *v = 13000; return 0; }"
    old = compile_library(tmp_path / "libcuda.so.1", source)
    result = gpu_host.run("launch", UNDA_LIBCUDA=str(old))
    assert int(result["status"]) == NO_DEVICE
    assert "lacks the function cuDeviceGetCount" in result["error"]


def test_a_driver_without_devices_is_reported():
    assert "devices: none" in gpu_host.run("report", UNDA_EMULATOR_DEVICES="0").text
    assert int(gpu_host.run("launch", UNDA_EMULATOR_DEVICES="0")["status"]) == NO_DEVICE


@pytest.mark.parametrize(
    ("variable", "prefix", "least"),
    [("UNDA_LIBCUDA", "cu[A-Z]", 40), ("UNDA_LIBCUBLAS", "cublas", 6), ("UNDA_LIBNCCL", "nccl", 9)],
)
def test_the_stand_in_has_every_function_that_the_engine_calls(variable, prefix, least):
    library = stand_in_driver.build(gpu_host.BUILD)[variable]
    symbols = subprocess.run(["nm", "-D", library], capture_output=True, text=True, check=True).stdout
    listed = (stand_in_driver.CSRC / "gpu" / "api_list.h").read_text()
    wanted = re.findall(rf"X\({prefix}\w+, ({prefix}\w+),", listed)
    assert len(wanted) > least
    assert [name for name in wanted if f" T {name}\n" not in symbols] == []


# ---- messages by NCCL


def test_messages_arrive_whole_and_where_they_belong():
    result = gpu_host.run("messages", "3")
    assert result["messages"] == "0 " and result["wrong"] == "0" and result["status"] == "0"


def test_a_message_that_is_lost_is_seen():
    """The second half keeps what the memory of the stand-in begins with."""
    assert gpu_host.run("messages", "1", UNDA_EMULATOR_NCCL_DROP="2")["wrong"] == "500"


def test_a_failure_of_the_network_is_told_in_the_words_of_nccl_and_ends_the_connection():
    result = gpu_host.run("messages", "3", UNDA_EMULATOR_NCCL_LOST="2")
    status, words = result["messages"].split(" ", 1)
    assert int(status) == DEVICE
    assert "a message: NCCL 2.32.3 gave 6 (remote process exited or there was a network error)" in words
    assert "Connection closed by remote peer" in words
    assert "has given up its connection by NCCL after a failure" in result["later"]


def test_a_message_that_is_refused_stays_alone():
    """None of its group is queued, and the next group is."""
    result = gpu_host.run("nobody")
    assert re.search("messages=7 ncclSend: NCCL 2.32.3 gave 4 .invalid argument.", result.text)
    assert result["messages"] == "0 " and result["wrong"] == "0"


def test_a_process_that_cannot_connect_says_why():
    result = gpu_host.run("messages", "1", UNDA_EMULATOR_NCCL_INIT="1")
    assert int(result["status"]) == DEVICE
    assert "ncclCommInitRankConfig: NCCL 2.32.3 gave 2 (unhandled system error): asked for" in result["error"]


def test_nccl_that_is_missing_or_too_old_names_what_to_install(tmp_path):
    result = gpu_host.run("messages", "1", UNDA_LIBNCCL="/nowhere/libnccl.so.2")
    assert int(result["status"]) == NO_DEVICE
    assert "unda-waves[nccl]" in result.text and "/nowhere/libnccl.so.2: cannot open" in result.text
    old = gpu_host.run("messages", "1", UNDA_EMULATOR_NCCL="2604")
    assert int(old["status"]) == NO_DEVICE and "version 2.6.4, expected 2.17 or newer" in old.text
    other = stand_in_driver.build(gpu_host.BUILD)["UNDA_LIBNVRTC"]
    assert "is not NCCL (no ncclGetVersion)" in gpu_host.run("messages", "1", UNDA_LIBNCCL=other).text


# ---- queued work


@pytest.mark.parametrize("seed", ["1", "2", "3"])
@pytest.mark.parametrize("scenario", ["launch", "graph", "threads", "broken_capture"])
def test_kernels_give_the_right_values(scenario, seed):
    result = gpu_host.run(scenario, UNDA_EMULATOR_SEED=seed)
    assert result["status"] == "0"
    assert set(re.findall("wrong=(.*)", result.text)) == {"0"}


def test_a_kernel_that_is_wrong_is_seen(tmp_path):
    for path in (gpu_host.TESTS / "c" / "kernels").iterdir():
        shutil.copy(path, tmp_path)
    (tmp_path / "scale.h").write_text("#define SCALE 3\n")
    assert gpu_host.run("launch", kernels=tmp_path)["wrong"] == "999"  # all but the value 0


def test_a_kernel_without_its_barrier_is_seen(tmp_path):
    for path in (gpu_host.TESTS / "c" / "kernels").iterdir():
        (tmp_path / path.name).write_text(path.read_text().replace("__syncthreads();", ""))
    assert int(gpu_host.run("launch", kernels=tmp_path)["wrong"]) > 100


def test_copies_zeroing_and_events_keep_their_order():
    assert gpu_host.run("queue")["first"] == "1 middle=499 last=0 timed=1"


# ---- launches that wait for each other


@pytest.mark.each_value
@pytest.mark.parametrize("order", ["SEED=1", "SEED=2", "EAGER=1", "EAGER=2"])
@pytest.mark.parametrize("parties", ["2 0 1", "1 1/3 0", "0 0 1/3", "3 0 1 2", "4 1/1 0/2 3/3 2/4"])
def test_launches_of_several_devices_wait_for_each_other(parties, order):
    """Neighbours in a chain; of DEVICE/SPLIT, a second launch does the rounds after SPLIT.

    The first device is that of a launch which waits for the first neighbour.
    """
    names = parties.split()
    setting = dict([f"UNDA_EMULATOR_{order}".split("=")])
    result = gpu_host.run("talk", *names, UNDA_EMULATOR_DEVICES="5", **setting)
    assert re.findall("wrong=(.*)", result.text) == ["0"] * (len(names) - 1)
    assert result["status"] == "0"


@pytest.mark.parametrize(
    ("parties", "cause"),
    [
        ("1 0 0", "2 blocks wait for each other"),  # a device runs one launch at a time
        ("2 0 1 0", "4 blocks wait for each other"),
        ("2 0 1/-1", "2 blocks wait for each other"),  # which is not launched
        ("0 0 1 2/-1", "4 blocks wait for each other"),
    ],
)
def test_a_launch_that_waits_for_one_that_cannot_come_is_a_fault(parties, cause):
    result = gpu_host.run("talk", *parties.split(), UNDA_EMULATOR_DEVICES="3")
    assert int(result["status"]) == LOST and cause in result["error"]


@pytest.mark.parametrize(
    ("environment", "cause"),
    [
        ({"UNDA_EMULATOR_PEER": "0"}, "is not device memory"),
        ({"UNDA_EMULATOR_FAIL_LAUNCH": "2"}, "asked for by UNDA_EMULATOR_FAIL_LAUNCH"),
        ({"UNDA_EMULATOR_FAIL_LAUNCH": "3"}, "asked for by UNDA_EMULATOR_FAIL_LAUNCH"),
    ],
)
def test_a_fault_of_one_launch_ends_those_that_wait_for_it(environment, cause):
    result = gpu_host.run("talk", "0", "0/3", "1", UNDA_EMULATOR_DEVICES="2", **environment)
    assert int(result["status"]) == LOST and cause in result["error"]


# ---- faults


@pytest.mark.parametrize(
    ("kernel", "cause"),
    [
        ("overrun", "is not device memory"),
        ("misaligned", "a vector is not aligned"),
        ("missed_barrier", "barrier: thread 0 waits for its block (line"),
        ("divergent_barrier", "divergent or missed barrier"),
        ("half_shuffle", "thread 0 waits for its warp"),
        ("ring", "blocks wait for each other"),
        ("early_without_waiting", "threads waited for the kernel before"),
    ],
)
def test_a_fault_loses_the_device_with_its_first_cause(kernel, cause):
    result = gpu_host.run("fault", kernel)
    assert result["first"].startswith(f"{LOST} ") and cause in result["first"]
    assert {int(result[f"later{i}"]) for i in range(5)} == {LOST}
    assert cause in result["cause"] and "restart the process" in result["cause"]


@pytest.mark.parametrize("kernel", ["harmless", "chain", "early"])
def test_a_harmless_kernel_loses_nothing(kernel):
    result = gpu_host.run("fault", kernel)
    assert {result["first"].strip(), *(result[f"later{i}"] for i in range(5))} == {"0"}


def test_a_launch_that_fails_by_itself_loses_the_device():
    result = gpu_host.run("fault", "harmless", UNDA_EMULATOR_FAIL_LAUNCH="1")
    assert result["first"].startswith(f"{LOST} ")
    assert gpu_host.run("fault", "harmless", UNDA_EMULATOR_FAIL_LAUNCH="2")["first"].strip() == "0"


def test_out_of_device_memory_names_sizes_and_is_survived():
    result = gpu_host.run("memory", "200000000", UNDA_EMULATOR_MEMORY="100000000")
    assert result["large"].startswith(f"{DEVICE_MEMORY} geometry needs 200000000 bytes")
    assert "of 100000000 are free" in result["large"]
    assert result["wrong"] == "0"
    assert gpu_host.run("memory", "50000000", UNDA_EMULATOR_MEMORY="100000000")["large"].strip() == "0"


def test_impossible_launches_are_refused_before_the_driver_sees_them():
    result = gpu_host.run("refusals")
    for i, text in enumerate(["grid[0] is 0", "grid[0] is 2147483648", "2048 x 1 x 1", "1048576 bytes"]):
        assert result[f"shape{i}"].startswith(f"{ARGUMENT} ") and text in result[f"shape{i}"]
    assert result["args"].startswith(f"{INTERNAL} ") and "takes 24 bytes" in result["args"]
    assert result["kernel"].startswith(f"{DEVICE} ")
    assert result["memory"].startswith(f"{DEVICE} ") and "1073741824 bytes" in result["memory"]
    assert result["device"].startswith(f"{NO_DEVICE} ") and "found 1" in result["device"]


def test_a_forked_child_is_refused_and_frees_without_hanging():
    result = gpu_host.run("fork")
    assert result["child"].startswith(f"{FORK} ") and result["ended"] == "1"
    assert result["wrong"] == "0"


@pytest.mark.asan
@pytest.mark.parametrize(
    "scenario",
    [
        ["graph"],
        ["threads"],
        ["refusals"],
        ["memory", "1000000000"],
        ["report"],
        ["nobody"],
        ["talk", "0", "0", "1/3"],
    ],
)
def test_sanitizers_find_nothing(scenario):
    """AddressSanitizer (with leaks) and UBSan over host layer and stand-in; either would print."""
    result = gpu_host.run(*scenario, flags=SANITIZERS, UNDA_EMULATOR_DEVICES="2")
    assert result["status"] == "0"


# ---- the real thing


@pytest.mark.gpu
def test_the_real_nccl_moves_the_same_messages():
    library = stand_in_driver.real_nccl()
    if library is None:
        pytest.skip("there is no NCCL")
    real = {"UNDA_LIBCUDA": "", "UNDA_LIBNVRTC": stand_in_driver.real_nvrtc() or ""}
    result = gpu_host.run("messages", "3", **real, UNDA_LIBNCCL=library)
    assert result["messages"] == "0 " and result["wrong"] == "0" and result["status"] == "0"


@pytest.mark.gpu
@pytest.mark.parametrize("scenario", ["launch", "graph", "queue", "threads", "refusals", "fork"])
def test_a_real_device_does_the_same(scenario, tmp_path):
    libraries = {"UNDA_LIBCUDA": "", "UNDA_LIBNVRTC": stand_in_driver.real_nvrtc() or ""}
    report = gpu_host.run("report", **libraries).text
    assert "CUDA engine: usable" in report
    result = gpu_host.run(scenario, cache=tmp_path, **libraries)
    assert result["status"] == "0"
    assert set(re.findall("wrong=(.*)", result.text)) <= {"0"}


# ---- limits


@pytest.mark.parametrize("device", ["-1", pytest.param("0", marks=pytest.mark.slow)])
def test_limits_are_plausible(device):
    result = gpu_host.run("limits", device, kernels=gpu_host.TESTS.parent / "cuda", OMP_NUM_THREADS="1")
    copy, fma32, fma64 = map(float, re.findall(r"=(\S+)", result.text)[:3])
    assert 1e7 < copy < 1e13 and 1e7 < fma64 < 1e14 and 1e7 < fma32 < 1e14
    assert int(gpu_host.run("limits", "7")["status"]) == NO_DEVICE


def test_a_stand_in_of_another_checkout_is_not_taken_for_this_ones(tmp_path, monkeypatch):
    """Its compiler reads the other one's device.h, even if build/ was copied when both were alike."""
    monkeypatch.setattr(stand_in_driver.subprocess, "run", lambda *args, **options: None)
    own, again = (stand_in_driver.build(tmp_path / "build") for _ in range(2))
    shutil.copytree(stand_in_driver.EMULATOR, tmp_path / "other")
    monkeypatch.setattr(stand_in_driver, "EMULATOR", tmp_path / "other")
    assert own == again
    assert stand_in_driver.build(tmp_path / "build")["UNDA_LIBNVRTC"] != own["UNDA_LIBNVRTC"]
