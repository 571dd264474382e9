/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_NEEDLE_H
#define PROTON_TUI_NEEDLE_H
/* A text that is looked for in the names of calling contexts. Those of one function have the same
 * name: it is looked at once. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tui;

struct needle {
	const char *text;
	bool match_case;
	const uint32_t *frame_of; /* by node */
	uint8_t *seen;            /* by frame; owned by whoever looks */
};

/* SEEN_ELSEWHERE: not in the name as it is shown, but in another form of it. */
enum { SEEN_NOT = 0, SEEN_WITHOUT, SEEN_WITH, SEEN_ELSEWHERE };

/* *seen, of *cap_seen bytes, is the caller's; it grows as needed and must outlive the needle. 0 or
 * -ENOMEM. */
int needle_init(struct needle *needle, struct tui *t, const char *text, uint8_t **seen,
		size_t *cap_seen);
/* Look at the name of a node, which was not looked at before. */
void needle_look(struct tui *t, const struct needle *needle, uint32_t node);

/* Does the name of a node have it? Inline, for loops over a million nodes. */
static inline bool needle_in(struct tui *t, const struct needle *needle, uint32_t node)
{
	const uint8_t *seen = &needle->seen[needle->frame_of[node]];

	if (*seen == SEEN_NOT)
		needle_look(t, needle, node);
	return *seen >= SEEN_WITH;
}

/* Where it has it, only in another form than the one that is shown? */
static inline bool needle_is_elsewhere(const struct needle *needle, uint32_t node)
{
	return needle->seen[needle->frame_of[node]] == SEEN_ELSEWHERE;
}

#endif
