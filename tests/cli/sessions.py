# SPDX-License-Identifier: Apache-2.0
"""What the tests of sessions share: making one from packets, reading its files."""
import csv
import json
import subprocess

from conftest import BUILD, ROOT

VECTORS = ROOT / "tests" / "vectors" / "split"
HEADER = ("timestamp,device,worker_instance,duration_ms,packet_id,layer_idx,operation,success,"
          "memory_used_mb,error_message")


def vectors():
    return json.loads((VECTORS / "split_session.json").read_text())


def packet(number, operation, device="cpu", layer=0, ms=1.0, success=True, **more):
    return {"packet_id": number, "layer_idx": layer, "operation": operation, "device_target": device,
            "result_device": device, "duration_ms": ms, "success": success, **more}


def log(folder, environment, packets, name="", tokens=0, prompt=0, directory="telemetry"):
    """Logs packets through the C logger; its statistics as numbers."""
    lines = "".join(json.dumps(one) + "\n" for one in packets)
    done = subprocess.run([BUILD / "bin" / "log_packets", directory, name, str(tokens), str(prompt)],
                          cwd=folder, env=environment, input=lines, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return [float(word) for word in done.stdout.split()]


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def summary(path):
    """Strict JSON: no NaN, no Infinity."""
    def refuse(word):
        raise ValueError(word)
    return json.loads(path.read_text(), parse_constant=refuse)


def only(folder, suffix):
    found = sorted((folder / "telemetry").glob(f"session_*{suffix}"))
    assert len(found) == 1, found
    return found[0]
