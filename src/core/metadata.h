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
/* Each behind its siblings: who looks for a kernel at a first child does not find it. Ids stay. */
void metadata_put_last(struct session *s);

#define METADATA_TEXT_MAX 128
/* "hidden as launch metadata: 1007 operations, 3.71ms …": a device was busy with it, but no time of what is
 * shown has it. NULL: nothing of it ran on a device, or no memory. */
const char *metadata_text(const struct session *s, char out[METADATA_TEXT_MAX]);

#endif
