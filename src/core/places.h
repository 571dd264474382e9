/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_PLACES_H
#define PROTON_CORE_PLACES_H
/* Where the work below a calling context ran: one place, or several.
 *
 *     train ─ step ─┬─ matmul ── kernel   on A      matmul: A
 *                   └─ reduce ── kernel   on B      reduce: B     step, train: several
 *
 * Needed for metrics that a program gives a scope (flops, bytes) without naming a device. A place
 * is a number that the caller chooses, with an example of a lane there. Each process is looked at
 * by itself: eight ranks that share a tree each have their own device. Places are only added; the
 * walk up from a node ends where nothing new is learned.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/idindex.h"
#include "core/session.h"

struct places {
	struct idindex index;
	struct place {
		uint32_t node, process, lane;
		bool several;
		uint64_t place;
	} * v;
	size_t n, cap;
};

/* Does a row hold numbers that a program gave a scope? They come from the host, but the work was done on a
 * device. Host time really is of the host. */
bool places_is_loose(const struct session *s, const struct session_row *row);
void places_done(struct places *p); /* frees; may be used again, empty */
/* Work of this lane ran at a node. 0 or -ENOMEM. */
int places_note(struct places *p, const struct session *s, uint32_t node, uint32_t lane,
		uint64_t place);
/* A lane of the only place where this process has work at or below a node; SESSION_NONE: there is
 * no work, or there are several. */
uint32_t places_only(const struct places *p, uint32_t node, uint32_t process);

#endif
