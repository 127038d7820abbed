# SPDX-License-Identifier: Apache-2.0
"""A busy process that captures itself through libsonde.so, and reads psutil before and after.
   usage: own_process.py LIBRARY; prints {"previous", "before", "value", "after"} as JSON"""
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


busy.do_everything()
check(library.sonde_capture_open(None, ctypes.byref(capture)))
psutil_reading.take(os.getpid())  # what it loads and keeps open, it has now
previous = read()
busy.burn(time.monotonic, 0.1)
before = psutil_reading.take(os.getpid())
value = read()
after = psutil_reading.take(os.getpid())
library.sonde_capture_close(capture)
json.dump({"previous": previous, "before": before, "value": value, "after": after}, sys.stdout)
