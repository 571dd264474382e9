/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_MATCHES_H
#define PROTON_TUI_MATCHES_H
/* Which calling contexts have the searched text in their name, and which have such a context above
 * or below them: so a search finds what is folded or too narrow to be drawn, too. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tui/prompt.h"

struct bottom_up;
struct tui;

enum {
	MATCH_SELF = 1,
	MATCH_BELOW = 2, /* the name of a descendant has it */
	MATCH_ABOVE = 4, /* the name of an ancestor other than the root has it */
};

/* The matches of the search, made when they are asked for and kept while nothing changes. */
struct matches {
	uint8_t *nodes, *seen;
	size_t cap_nodes, cap_seen;
	size_t n;            /* nodes that match by themselves, */
	size_t n_elsewhere;  /* and of these in a form of the name that is not shown */
	uint64_t generation; /* of the picture */
	char text[PROMPT_MAX];
	uint8_t names; /* enum name_mode */
	bool made;
};

/* MATCH_* by node, valid until the next call; NULL: out of memory, or stopped (t->work.stopped). */
const uint8_t *tui_matches(struct tui *t);
/* Is there a match among what lies below a node of a tree of callers (core/bottom_up.h)? tui_matches()
 * has made them. */
bool tui_matches_callers(struct tui *t, const struct bottom_up *b, uint32_t node);
void matches_done(struct matches *m);

#endif
