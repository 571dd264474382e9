/* SPDX-License-Identifier: MIT */
#ifndef PROTON_BACKENDS_COPY_PAIRS_H
#define PROTON_BACKENDS_COPY_PAIRS_H
/* Which copies were made before: between the same two addresses, of the same size.
 *
 * The newest pairs are remembered, two that meet in one place take it by turns. What is copied from the host again
 * is compared now and then, 1 KiB of it in 16 places: whether it has changed is not to be seen from addresses.
 *   thread  any, inside the call that copies
 *   errors  none: what cannot be read is not compared */
#include <stdbool.h>
#include <stdint.h>

/* Of a copy that begins now; from_host: the source is memory of the host. Bits of enum copy_pattern. */
unsigned copy_pairs_see(uint64_t dst, uint64_t src, uint64_t bytes, bool from_host);

#endif
