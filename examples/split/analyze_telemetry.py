#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The analysis of a session, by the name the split-inference logger had for it: sonde analyze."""
import os
import sys

here = os.path.dirname(os.path.abspath(__file__))
bin_dir = os.environ.get("SONDE_BIN", os.path.join(here, "../../build/release/bin"))
os.execv(os.path.join(bin_dir, "sonde"), ["sonde", "analyze"] + sys.argv[1:])
