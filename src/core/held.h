/* SPDX-License-Identifier: MIT */
#ifndef PROTON_CORE_HELD_H
#define PROTON_CORE_HELD_H
/* What a program has allocated, all of each kind of memory on a device (or of the host) together, and pools of it. A
 * process has rows of its own: nobody knows the most that several had at a time.
 *   thread  one */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "core/session.h"

struct held {
	uint32_t process, device; /* SESSION_NONE: not known; the host's */
	uint32_t node; /* of the session; its name is that of the kind: "alloc device", "pool 2" */
	double live, peak;
	double peak_at_ns; /* since the process was first seen */
	double allocs, allocated, frees, freed, left;
	double reserved, used,
		reserved_peak; /* of pools, which have nothing else; NaN: it is none */
};

struct held_list {
	struct held *v;
	size_t n, cap;
};

/* Finds all anew: pools behind the rest. 0 or -ENOMEM (there are none then). Zeroed at first. */
int held_make(struct held_list *list, const struct session *s);
void held_done(struct held_list *list);
/* Why nobody saw what is allocated: a sentence, borrowed from the session; NULL: none is known. */
const char *held_why_none(const struct session *s);
static inline bool held_is_pool(const struct held *h)
{
	return h->reserved == h->reserved; /* not NaN */
}
/* "GPU0 device", "GPU0 pool", "host pinned"; with the process where there are several. */
#define HELD_NAME 96
void held_name(const struct session *s, const struct held *h, char out[HELD_NAME]);

#endif
