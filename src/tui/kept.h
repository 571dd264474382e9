/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_KEPT_H
#define PROTON_TUI_KEPT_H
/* What the filter leaves: calling contexts that have its text in a name of their path. All views
 * but the tree count these and no others. Made when a view first asks for it after a new
 * picture. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "tui/prompt.h"

struct flat;
struct numbers;
struct tui;

/* Kernels and transfers of some numbers. All 0: not asked for yet. */
struct kept_flat {
	struct flat *flat;
	uint64_t generation; /* of the numbers that it is of */
};

struct kept {
	uint8_t *nodes, *frames; /* by node: kept?; by frame: does its name match? */
	size_t cap_nodes, cap_frames;
	size_t n_elsewhere;      /* that are kept for a form of their names that is not shown */
	struct numbers *numbers; /* of the nodes that are kept */
	struct numbers *all;     /* of all of them */
	uint64_t all_generation; /* generation of the picture that `all` is of */
	struct kept_flat flat;   /* of all */
	uint64_t generation;     /* generation of the picture that `numbers` is of */
	char filter[PROMPT_MAX]; /* `numbers` was made with it */
	uint8_t names;           /* and with these: enum name_mode */
	bool made;
};

struct derived;
struct filter_left;

/* Is there a limit that rows have to reach? *ret: the metric that it is about. */
bool tui_limit(const struct tui *t, struct derived *ret);
/* The numbers of all that the filter leaves. What these three return is the screen's. */
struct numbers *tui_numbers(struct tui *t);
/* What of the profile it leaves, beside the selectors: paths with its text. False: out of memory. */
bool tui_kept_left(struct tui *t, struct filter_left *ret);
/* The numbers of all that is in the picture: the tree and the kernels leave rows out, not numbers. */
struct numbers *tui_all(struct tui *t);
/* Kernels and transfers of this picture; NULL: out of memory. */
struct flat *tui_flat(struct tui *t);
/* The same of other numbers, always the same ones; whose `k` is frees k->flat. */
struct flat *kept_flat_of(const struct tui *t, struct kept_flat *k, struct numbers *numbers);
/* Make what is kept of a new screen, whether it compares or not. 0 or -ENOMEM. */
int kept_init(struct tui *t);
void kept_done(struct kept *k);

#endif
