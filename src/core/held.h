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
	/* Of pools, which have nothing else; reserved: NaN: it is none. */
	double reserved, used, reserved_peak, used_peak;
	double unused;                       /* when it had reserved the most */
	double grown;                        /* by what was allocated */
	double fragmented, fragmented_times; /* … although enough was free in it */
	bool is_partial; /* what no process is known of may be of it, or of another: it has no sums */
};

/* What the code of one file has allocated of a kind of memory on a device. */
struct held_by {
	uint32_t process, device; /* as above */
	uint32_t node;            /* one of those: "alloc device from libcublas.so.12" */
	double live, at_peak, allocs, allocated, frees, freed, left;
};

struct held_list {
	struct held *v;
	size_t n, cap;
	struct held_by *by; /* what is held most comes first; none: nobody said who allocates */
	size_t n_by, cap_by;
};

/* Finds all anew: pools behind the rest. 0 or -ENOMEM (there are none then). Zeroed at first. */
int held_make(struct held_list *list, const struct session *s);
void held_done(struct held_list *list);
/* Why nobody saw what is allocated: a sentence, borrowed from the session; NULL: none is known. */
const char *held_why_none(const struct session *s);
/* Why what is held may be wrong: a sentence; NULL: it is not. */
const char *held_why_unsure(const struct session *s);
/* Has anybody seen what unified memory did? */
bool held_has_unified(const struct session *s);
/* Why nobody saw it: a sentence, borrowed from the session; NULL: it was seen, or there is none. */
const char *held_why_no_unified(const struct session *s, const struct held_list *list);
#define HELD_UNSURE                                                                                \
	"not certain: what was allocated and released while a profiler inside the program had "    \
	"CUPTI (aside_ms) is not known"
/* What is to be said of tensors that scopes left behind: a sentence; NULL: there are none. */
const char *held_left_remark(const struct session *s);
#define HELD_LEFT_TENSORS                                                                              \
	"tensors lie in memory that PyTorch's allocator keeps: a leak is in their rows, AT MOST, for " \
	"Python releases them when it ends"
#define HELD_LEFT_TITLE    "What scopes leave behind when they end"
#define HELD_UNIFIED_TITLE "Unified memory, by who allocated it"
#define HELD_GROWTH_TITLE  "Calling contexts that make pools grow"
static inline bool held_is_pool(const struct held *h)
{
	return h->reserved == h->reserved; /* not NaN */
}
/* "GPU0 device", "GPU0 pool", "host pinned"; with the process where there are several. */
#define HELD_NAME 192
void held_name(const struct session *s, const struct held *h, char out[HELD_NAME]);
/* "libcublas.so.12, GPU0 device". */
void held_by_name(const struct session *s, const struct held_by *b, char out[HELD_NAME]);
/* Is what a calling context of this name allocates of the pool of that name? */
bool held_is_of_pool(const char *name, const char *pool);
/* The file whose code has allocated, of the name of a calling context that allocates; NULL: not known. */
const char *held_allocator(const char *name);
#define HELD_BY_TITLE "Files whose code allocates"

#endif
