# SPDX-License-Identifier: Apache-2.0
"""Every command that the split-inference logger's guide shows, as it stands there, on a session made
by Sonde, with the figures it should give."""
import os
import shutil
import subprocess
import time

import pytest

from conftest import BUILD, ROOT, SANITIZE
from sessions import log, only, packet, rows, summary

# ten packets: 6 on the CPU, 3 on the iGPU, 1 failed there; layers -1, 0 and 1
PACKETS = [packet(1, "embedding", "cpu", -1, 0.5), packet(2, "attention_qkv_proj", "igpu", 0, 2.0),
           packet(3, "router_logits", "cpu", 0, 0.25), packet(4, "expert_ffn", "igpu", 0, 6.0),
           packet(5, "attention_qkv_proj", "igpu", 1, 3.0),
           packet(6, "attention_qkv_proj", "igpu", 1, 0.125, False, error_message="iGPU out of memory"),
           packet(7, "router_logits", "cpu", 1, 0.25), packet(8, "expert_ffn", "cpu", 1, 12.0),
           packet(9, "final_layernorm", "cpu", 1, 0.0625), packet(10, "lm_head", "cpu", 1, 1.0)]


@pytest.fixture
def shell(folder, environment):
    log(folder, environment, PACKETS, tokens=4, prompt=2)

    def run(command):
        done = subprocess.run(["bash", "-c", command], cwd=folder, env=environment, timeout=60,
                              capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout
    return run


def test_count_operations_per_device(shell):
    out = shell("awk -F',' 'NR>1 {print $2}' telemetry/session_*.csv | sort | uniq -c")
    assert [line.split() for line in out.splitlines()] == [["6", "cpu"], ["4", "igpu"]]


def test_find_slowest_operations(shell):
    out = shell("awk -F',' 'NR>1 {print $4, $7}' telemetry/session_*.csv | sort -rn | head -n 10")
    assert out.splitlines()[:3] == ["12.000000 expert_ffn", "6.000000 expert_ffn",
                                    "3.000000 attention_qkv_proj"]
    assert len(out.splitlines()) == 10


def test_average_time_per_layer(shell):
    out = shell("awk -F',' 'NR>1 {sum[$6]+=$4; count[$6]++} END {for(l in sum) print l, "
                "sum[l]/count[l]}' telemetry/session_*.csv | sort -n")
    assert out == "-1 0.5\n0 2.75\n1 2.73958\n"


def test_view_latest_csv(shell, folder):
    out = shell("cat telemetry/session_*.csv | tail -n 20")
    assert out == only(folder, ".csv").read_text()


def test_view_json_summary(shell):
    out = shell("cat telemetry/session_*.json | jq '.operation_breakdown'")
    assert '"attention_qkv_proj"' in out
    out = shell("cat telemetry/session_*.json | jq -c '.operation_breakdown.attention_qkv_proj'")
    assert out == ('{"count":3,"total_time_ms":5,"avg_time_ms":2.5,"min_time_ms":2,"max_time_ms":3,'
                   '"cpu_count":0,"igpu_count":2,"failed_count":1}\n')


def test_count_total_operations(shell):
    assert shell("wc -l telemetry/session_*.csv").split()[0] == "11"  # with the header


def test_check_success_rate(shell):
    out = shell("""awk -F',' 'NR>1 {if($8=="True") s++; t++} END {print s/t*100"%"}' """
                "telemetry/session_*.csv")
    assert out == "90%\n"


def test_find_errors(shell):
    out = shell('grep "False" telemetry/session_*.csv')
    assert out.count("\n") == 1 and ",6,1,attention_qkv_proj,False,0.00,iGPU out of memory" in out


def test_directory_permissions(shell, folder):
    shell("mkdir -p telemetry\nchmod 755 telemetry")
    assert os.access(folder / "telemetry", os.W_OK)


def test_pandas(shell, folder, environment):
    """The block of the guide, with the name of this session and a file instead of a window. One line
    is added: pandas takes a column for colours only when it is a category, whoever wrote the CSV."""
    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    code = f"""
import matplotlib
matplotlib.use("Agg")
import pandas as pd

df = pd.read_csv('{only(folder, ".csv")}')

# Average time per device
print(df.groupby('device')['duration_ms'].mean())

# Operations per layer
print(df.groupby('layer_idx')['operation'].count())

# Plot timeline
import matplotlib.pyplot as plt
df['timestamp'] = pd.to_datetime(df['timestamp'], unit='s')
df['device'] = df['device'].astype('category')
df.plot(x='timestamp', y='duration_ms', kind='scatter', c='device', colormap='viridis')
plt.savefig('timeline.png')
print(df['success'].dtype, df['timestamp'].dt.year.min() > 2000)
"""
    done = subprocess.run(["/usr/bin/python3", "-c", code], cwd=folder, env=environment, timeout=120,
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "cpu     2.34375\nigpu    2.78125" in done.stdout
    assert "-1    1" in done.stdout and "bool True" in done.stdout
    assert (folder / "timeline.png").stat().st_size > 1000


@pytest.fixture
def split(folder, environment):
    """The guide's "Run Inference with Telemetry", in the folder of the example."""
    if SANITIZE:
        pytest.skip("the example's scripts are run once, with the release build")
    for name in ("run_scheduler.sh", "run_orchestrator.sh", "analyze_telemetry.py"):
        shutil.copy(ROOT / "examples" / "split" / name, folder)
    env = {**environment, "SONDE_BIN": str(BUILD / "bin")}
    scheduler = subprocess.Popen(["./run_scheduler.sh"], cwd=folder, env=env,
                                 stdout=subprocess.DEVNULL)
    try:
        done = subprocess.run(["./run_orchestrator.sh"], cwd=folder, env=env, timeout=60,
                              capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        yield folder, env, done.stdout
    finally:
        scheduler.terminate()
        scheduler.wait(timeout=30)


def test_run_inference_with_telemetry(split):
    folder, env, out = split
    log_rows, total = rows(only(folder, ".csv")), summary(only(folder, ".json"))
    assert f"packets: {len(log_rows)}, " in out and len(log_rows) == 460
    failed = [row for row in log_rows if row["success"] == "False"]
    assert [(row["device"], row["error_message"]) for row in failed] == [("igpu", "iGPU out of memory")]
    assert (total["failed_packets"], total["fallbacks"], total["tokens_generated"]) == (1, 1, 12)
    assert sum(total["expert_selection_distribution"].values()) == 2 * 4 * 17
    listing = subprocess.run(["bash", "-c", "ls -la telemetry/"], cwd=folder, env=env,
                             capture_output=True, text=True, timeout=10).stdout
    assert listing.count("session_") == 3


def test_analyze_latest_session(split):
    folder, env, _ = split
    latest = subprocess.run(["python3", "analyze_telemetry.py"], cwd=folder, env=env, timeout=60,
                            capture_output=True, text=True)
    named = subprocess.run(["python3", "analyze_telemetry.py", only(folder, ".csv")], cwd=folder,
                           env=env, timeout=60, capture_output=True, text=True)
    assert (latest.returncode, named.returncode) == (0, 0)
    for out in (latest.stdout, named.stdout):
        assert "Total operations: 460" in out and "Error: iGPU out of memory" in out


def test_rows_appear_while_the_program_runs(folder, environment):
    """Real-time streaming: rows and a valid summary are there before the end."""
    process = subprocess.Popen([BUILD / "bin" / "log_packets", "telemetry", "live", "0", "0"],
                               cwd=folder, env=environment, stdin=subprocess.PIPE,
                               stdout=subprocess.DEVNULL, text=True)
    try:
        process.stdin.write('{"packet_id":1,"operation":"early"}\n')
        process.stdin.flush()
        path = folder / "telemetry" / "live.csv"
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and (not path.exists() or path.read_text().count("\n") < 2):
            time.sleep(0.02)
        assert rows(path)[0]["operation"] == "early"
    finally:
        process.stdin.close()
        assert process.wait(timeout=30) == 0
