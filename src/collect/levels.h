/* SPDX-License-Identifier: MIT */
#ifndef PROTON_COLLECT_LEVELS_H
#define PROTON_COLLECT_LEVELS_H
/* How much memory of each device the program holds, at each change, where the run is traced. As many changes as the
 * trace may have operations; what comes faster than it is sent is counted (LOSS_LEVELS), and the next one is right again.
 *
 *   memory_places ── level_change() ──> ring ── levels_send(), the sender ──> SAMPLES
 *
 *   thread  level_change(): one at a time (allocations.c) */
#include <stdint.h>

struct wire_encoder;

/* The device holds `bytes` from at_ns on (CLOCK_REALTIME). */
void level_change(uint32_t device, uint64_t at_ns, uint64_t bytes);
/* Of the first n_devices devices, which proton knows. 0 or what the encoder says: the same are tried again. */
int levels_send(struct wire_encoder *e, uint32_t n_devices);
void levels_forked(void);

#endif
