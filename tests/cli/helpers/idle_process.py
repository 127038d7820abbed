# SPDX-License-Identifier: Apache-2.0
"""A process that only exists: says "ready" and waits for the end of its input."""
import sys

print("ready", flush=True)
sys.stdin.read()
