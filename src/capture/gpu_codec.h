/* SPDX-License-Identifier: Apache-2.0 */
/* GPUs of a reading as bytes: a part of what telemetry_codec.h writes. */
#ifndef SONDE_CAPTURE_GPU_CODEC_H
#define SONDE_CAPTURE_GPU_CODEC_H

#include "base/byte_reader.h"
#include "capture/telemetry.h"

/* Nothing is written when GPUs were not asked for. What does not fit before end is left out, and
   counted: a GPU's list of processes goes first, then GPUs. */
uint8_t *sonde__gpus_encode(uint8_t *out, const uint8_t *end, const sonde_telemetry *t,
                            uint64_t *cut);

/* The GPUs into *out, which owns them then: sonde__gpus_free. */
void sonde__gpus_decode(sonde__bytes *in, sonde_telemetry *out);
void sonde__gpus_free(sonde_telemetry *t);

#endif
