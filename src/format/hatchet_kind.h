/* SPDX-License-Identifier: MIT */
#ifndef PROTON_FORMAT_HATCHET_KIND_H
#define PROTON_FORMAT_HATCHET_KIND_H
/* What a node of a Hatchet file is, when the file does not say: a guess from its name and from the
 * metrics it has. The writer leaves out what this guess gives back. */
#include <stdbool.h>
#include <stddef.h>
#include "core/frame.h"

enum hatchet_hint { /* which keys the node's metrics have */
		    HINT_TIME = 1,
		    HINT_COUNT = 2,
		    HINT_DEVICE = 4,
		    HINT_DIRECTION = 8,
		    HINT_CYCLES = 16,
		    HINT_SAMPLES = 32,
};
/* The hint of a metric key, 0 for most. */
unsigned hatchet_hint(const char *key, size_t len);
enum frame_kind hatchet_guess_kind(const char *name, size_t len, unsigned hints);
/* Is this a metric that upstream measures itself, and thus lists at the root? */
bool hatchet_is_measured(const char *key);
/* Is this a key of nodes? Readers take an object of the list whose first key is one for a tree. */
bool hatchet_is_node_key(const char *key);

#endif
