/* SPDX-License-Identifier: MIT */
#ifndef PROTON_IMAGES_ZSTD_H
#define PROTON_IMAGES_ZSTD_H
/* Frames of zstd, which its library unpacks where it is: it is looked for when first needed (ADR 78), since what is loaded into somebody
 * else's program must need nothing.
 *   thread  any */
#include <stddef.h>
#include <stdint.h>

/* 0; -EBADMSG: it is broken, or is not of just this size when unpacked; -ENOTSUP: there is no such library. */
int zstd_unpack(const uint8_t *in, size_t n, uint8_t *out, size_t size);

#endif
