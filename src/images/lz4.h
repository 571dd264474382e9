/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_LZ4_H
#define PROTON_IMAGES_LZ4_H
/* A block of LZ4, without a frame around it.
 *   thread  any
 *   errors  false: it is broken, or is not of just this size when unpacked */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool lz4_unpack(const uint8_t *in, size_t n, uint8_t *out, size_t size);

#endif
