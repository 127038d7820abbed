# SPDX-License-Identifier: Apache-2.0
"""GPUs through stand-ins for the vendors' libraries: the shapes are Flowcept's."""
import json

import pytest

from conftest import BUILD, ROOT, SANITIZE

VECTORS = ROOT / "tests" / "vectors" / "flowcept"
LIBRARIES = {"LD_LIBRARY_PATH": str(BUILD / "lib" / "standin_new")}
NVIDIA = ["used", "temperature", "power", "name", "id"]
AMD = ["used", "activity", "power", "temperature", "others", "id"]


@pytest.fixture
def gpu(capture, folder):
    def run(metrics, **env):
        (folder / "settings.yaml").write_text(
            "telemetry_capture:\n  gpu: [" + ", ".join(metrics) + "]\n")
        return capture(env={**LIBRARIES, **env})
    return run


def test_nvidia_equals_flowcept(gpu):
    golden = json.loads((VECTORS / "gpu_nvidia_fakelib.json").read_text())
    telemetry = gpu(NVIDIA, ROCR_VISIBLE_DEVICES="")
    # two AMD devices that may not be seen come first
    assert telemetry["gpu"] == {"gpu_2": golden["gpu_0"], "gpu_3": golden["gpu_1"]}
    assert [list(one) for one in telemetry["gpu"].values()] == [list(one) for one in golden.values()]
    assert list(telemetry) == ["gpu", "sonde"]


def test_amd_equals_flowcept(gpu):
    golden = json.loads((VECTORS / "gpu_amd_fakelib.json").read_text())
    telemetry = gpu(AMD, CUDA_VISIBLE_DEVICES="")
    missing = telemetry["sonde"]["missing"]
    for name, one in golden.items():
        assert one["activity"].pop("mm_activity") == "N/A"
        assert missing[f"gpu.{name}.activity.mm_activity"] == "unsupported"
    golden["gpu_1"]["id"] = "d9ff7408-0000-1000-80b2-000000000001"  # of its own
    assert telemetry["gpu"] == golden and len(missing) == 2
    assert [list(one) for one in telemetry["gpu"].values()] == [list(one) for one in golden.values()]


def test_two_of_eight_and_both_vendors(gpu):
    telemetry = gpu(["used"], CUDA_VISIBLE_DEVICES="1", ROCR_VISIBLE_DEVICES="0")
    assert telemetry["gpu"] == {"gpu_0": {"gpu_ix": 0, "used": 10960896}, "gpu_3": {"used": 1234567890}}
    assert telemetry["sonde"]["gpu"]["gpu_3"] == {"vendor": "nvidia", "index": 1, "read_by": "nvml"}


def test_what_sonde_adds(gpu):
    own = gpu(["total", "utilization", "clocks", "energy"])["sonde"]["gpu"]
    assert own["gpu_2"] == {"vendor": "nvidia", "index": 0, "read_by": "nvml", "total": 42949672960,
                            "utilization": {"gpu": 97, "memory": 33},
                            "clocks": {"graphics": 1410, "memory": 1215}, "energy": 98.765}
    assert own["gpu_0"]["total"] == 68702699520 and own["gpu_0"]["clocks"]["memory"] == 1600


def test_processes(gpu):
    one = gpu(["process_memory"], ROCR_VISIBLE_DEVICES="")["sonde"]["gpu"]["gpu_2"]
    assert one["processes"] == [{"pid": 4242, "used": 1000}]


def test_by_type_and_as_a_table(sonde):
    done = sonde("capture", "--types", "gpu", "--table", env=LIBRARIES)
    assert done.code == 0 and "gpu_0" in done.out and "activity.gfx_activity 12.0 %" in done.out
    assert "[unsupported]" in done.out


def test_doctor(sonde):
    done = sonde("doctor", env=LIBRARIES)
    assert done.code == 0 and "NVIDIA A100-SXM4-40GB" in done.out
    absent = sonde("doctor").out
    assert "gpu  " in absent and ("libnvidia-ml.so.1" in absent or SANITIZE)


def test_in_machine_info(sonde, folder):
    (folder / "settings.yaml").write_text("telemetry_capture:\n  gpu: [used]\n  machine_info: true\n")
    info = json.loads(sonde("capture", "--machine", "--json", env=LIBRARIES).out)
    assert info["gpu"]["gpu_2"] == {"used": 1234567890}
