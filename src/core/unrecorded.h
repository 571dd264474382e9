/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_UNRECORDED_H
#define PROTON_CORE_UNRECORDED_H
/* When nothing that a process did on devices was recorded, as one list: in the order of time, without overlaps.
 *
 *   told       ├── paused ──┤     ├── window ──┤
 *                    ├─ aside ──┤                      (one that lies in another stands behind it)
 *   work                  ├──┤         ├┤              (whatever is known of such a time is known)
 *   the list   ├── paused ┤  ├aside  ├─┤├──────┤
 *
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

struct unrecorded_span {
	uint64_t start_ns, end_ns;
	uint64_t before_ns; /* the sum of those before it */
	uint8_t reason;     /* enum unrecorded_reason */
};

struct unrecorded {
	struct unrecorded_span *v;
	size_t n, cap;
};

/* Those of a process, and those of which nobody says whose they are; for SESSION_NONE, which may be any, all. shift_ns: from its clock to that of the list. 0 or -ENOMEM. */
int unrecorded_init(struct unrecorded *u, const struct session *s, uint32_t process,
		    uint64_t shift_ns);
void unrecorded_done(struct unrecorded *u);
/* The first that ends after a moment; NULL: there is none. */
const struct unrecorded_span *unrecorded_from(const struct unrecorded *u, uint64_t ns);
/* The one that a moment is in; NULL: it is in none. */
const struct unrecorded_span *unrecorded_at(const struct unrecorded *u, uint64_t ns);
/* The first that has a part of [from, to); NULL: none has. */
const struct unrecorded_span *unrecorded_within(const struct unrecorded *u, uint64_t from_ns,
						uint64_t to_ns);
/* How much of [from, to) was not recorded. */
uint64_t unrecorded_ns(const struct unrecorded *u, uint64_t from_ns, uint64_t to_ns);

/* Into an empty list: n spans in any order, which are sorted by this; what one before has counts for that. 0 or -ENOMEM. */
int unrecorded_flatten(struct unrecorded *u, struct unrecorded_span *v, size_t n);
/* For a list that is made piece by piece, in the order of time: what does not go on where the last one ended, for the
 * same reason, is one more. 0 or -ENOMEM. */
int unrecorded_append(struct unrecorded *u, uint64_t start_ns, uint64_t end_ns, uint8_t reason);

/* "paused", "outside the window" … */
extern const char *const unrecorded_words[UNRECORDED_N];
/* Which of them a text is; UNRECORDED_UNKNOWN: none. */
enum unrecorded_reason unrecorded_reason_of(const char *word);

#endif
