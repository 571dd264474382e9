/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_KEPT_H
#define PROTON_TUI_KEPT_H
/* What the filter leaves: calling contexts that have its text in a name of their path. Views that
 * are not the tree count these and no others. Made when a view first asks after a new picture. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct numbers;
struct tui;

struct kept {
	uint8_t *nodes, *frames; /* by node: kept?; by frame: does its name match? */
	size_t cap_nodes, cap_frames;
	struct numbers *numbers; /* of the nodes that are kept */
	bool fresh;
};

/* The numbers of all that the filter leaves. */
struct numbers *tui_numbers(struct tui *t);
void kept_done(struct kept *k);

#endif
