# SPDX-License-Identifier: Apache-2.0
"""A busy process that captures itself through libsonde.so, and reads psutil before and after.
   usage: own_process.py LIBRARY ROUNDS; prints a list of {"previous", "before", "value", "after"}"""
import ctypes
import json
import os
import sys
import time

import busy
import psutil_reading

library = ctypes.CDLL(sys.argv[1])
capture = ctypes.c_void_p()


def check(status):
    if status != 0:
        library.sonde_status_text.restype = ctypes.c_char_p
        sys.exit(library.sonde_status_text(status).decode())


def read():
    telemetry, text, length = ctypes.c_void_p(), ctypes.c_char_p(), ctypes.c_size_t()
    check(library.sonde_capture_read(capture, ctypes.byref(telemetry)))
    check(library.sonde_capture_json(capture, ctypes.byref(text), ctypes.byref(length)))
    return json.loads(text.value[:length.value])


def take_round():
    previous = read()
    busy.burn(time.monotonic, 0.1)
    before = psutil_reading.take(os.getpid())
    value = read()
    after = psutil_reading.take(os.getpid())
    return {"previous": previous, "before": before, "value": value, "after": after}


busy.do_everything()
check(library.sonde_capture_open(None, ctypes.byref(capture)))
psutil_reading.take(os.getpid())  # what it loads and keeps open, it has now
rounds = [take_round() for _ in range(int(sys.argv[2]))]
library.sonde_capture_close(capture)
json.dump(rounds, sys.stdout)
