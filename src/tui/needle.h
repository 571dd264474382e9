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

/* 0 or -ENOMEM: there is no room for what was seen. */
int needle_init(struct needle *needle, struct tui *t, const char *text, uint8_t **seen,
		size_t *cap_seen);
/* Does the name of a node have it? */
bool needle_in(struct tui *t, const struct needle *needle, uint32_t node);

#endif
