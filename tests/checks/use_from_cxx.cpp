// SPDX-License-Identifier: Apache-2.0
// A C++ program that includes every public header (all.h is made by check_cxx) and captures once.
#include "all.h"

#include <cstdio>
#include <cstring>
#include <memory>

int main()
{
    sonde_capture_options options = SONDE_CAPTURE_OPTIONS_DEFAULT;
    options.types = SONDE_CAPTURE_PROCESS;
    sonde_capture *opened = nullptr;
    if (sonde_capture_open(&options, &opened) != SONDE_OK)
        return 1;
    std::unique_ptr<sonde_capture, decltype(&sonde_capture_close)> capture(opened,
                                                                           sonde_capture_close);
    const sonde_telemetry *now = nullptr;
    uint64_t rss_bytes = 0;
    if (sonde_capture_read(capture.get(), &now) != SONDE_OK ||
        sonde_telemetry_uint(now, SONDE_FIELD_PROCESS_RSS, &rss_bytes) != SONDE_OK || !rss_bytes)
        return 1;
    sonde_settings *settings = nullptr;
    const char text[] = "telemetry_capture: {mem: true}";
    if (sonde_settings_parse(text, std::strlen(text), "text", &settings, nullptr) != SONDE_OK)
        return 1;
    sonde_settings_free(settings);
    std::printf("C++ with sonde %s: %s\n", sonde_version(), sonde_status_text(SONDE_OK));
    return 0;
}
