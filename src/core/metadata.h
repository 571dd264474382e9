/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_METADATA_H
#define PROTON_CORE_METADATA_H
/* What Triton's Proton runs to learn about a launch stands below a frame of its own. It is no work of
 * the program: what is for people leaves it out. */
#include <stdbool.h>
#include <stdint.h>
#include "core/session.h"

bool metadata_is_frame(const struct session *s, uint32_t frame);
bool metadata_is_there(const struct session *s);
/* By node: is it, or a node above it, of such a frame? Malloc'd; NULL: out of memory. */
uint8_t *metadata_nodes(const struct session *s);

#endif
