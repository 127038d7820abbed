# SPDX-License-Identifier: Apache-2.0
"""A process to look at: says "ready" and waits for the end of its input."""
import sys

import busy

busy.do_everything()
print("ready", flush=True)
sys.stdin.read()
