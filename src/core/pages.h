/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PAGES_H
#define PROTON_CORE_PAGES_H
/* Pages of unified memory, as a trace has them: each time that some moved, or were missed, is an operation of its own.
 * No call launched it, it runs in no stream, and the device does no work for it.
 *
 *   node    a > alloc managed > migration HtoD as asked     (FRAME_PAGES) below who allocated them: what, and why
 *   lane    process and device; of none where the host missed them
 *   amount  bytes, or how many, where other operations have how long ago they were launched
 *
 * The collector writes the names, and readers take them apart: they are all here. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/activity.h"

/* What stands on a lane of its own: number, in full, where there is little room, meaning. */
/* clang-format off */
#define PAGES_LANES(_)                                                                             \
	_(TO_DEVICE, "pages to GPU",  "to GPU",  "pages of unified memory that moved to the device")  \
	_(TO_HOST,   "pages to CPU",  "to CPU",  "… that moved back to the host")                  \
	_(TO_PEER,   "pages to peer", "to peer", "… that moved to another device")                 \
	_(MISSED,    "page faults",   "faults",  "… that were missed, and looked for")             \
	_(THRASHING, "thrashing",     "thrash",  "… that went to and fro, and one side had to wait")  \
	_(REMOTE,    "remote maps",   "remote",  "… that were mapped where they are, over the link") \
	_(OTHER,     "other pages",   "other",   "… of which only a newer version knows more")
/* clang-format on */
enum pages_lane {
	PAGES_NONE,
#define _(name, ...) PAGES_##name,
	PAGES_LANES(_)
#undef _
		PAGES_N_LANES
};
extern const char *const pages_lane_words[PAGES_N_LANES], *const pages_lane_briefs[PAGES_N_LANES];

/* How much an operation is: in bytes, by number, or of how long it took alone. */
enum pages_unit { PAGES_BYTES, PAGES_NUMBER, PAGES_TIME };

struct pages_kind {
	uint8_t what, cause; /* enum unified_what, enum unified_cause */
	uint8_t lane, unit;  /* enum pages_lane, enum pages_unit */
};

#define PAGES_NAME_MAX 32
/* Returns out. */
const char *pages_name(unsigned what, unsigned cause, char out[PAGES_NAME_MAX]);
enum pages_unit pages_unit(unsigned what);
/* What a name says. Of one that is not ours it is PAGES_OTHER. */
struct pages_kind pages_kind(const char *name);

#endif
