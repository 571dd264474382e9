/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_FILTERS_H
#define PROTON_TUI_FILTERS_H
/* Which calling contexts the picture is made of: those that an expression includes, without those
 * that another one excludes (core/filter.h). All panels and all totals count only these. */
#include <stdbool.h>
#include <stddef.h>
#include "core/filter.h"
#include "tui/prompt.h"

#define FILTER_TEXT PROMPT_MAX /* longest expression */

enum filter_kind { FILTER_INCLUDE, FILTER_EXCLUDE, FILTER_N };

struct filters {
	struct {
		char text[FILTER_TEXT];    /* "" = none */
		char applied[FILTER_TEXT]; /* what the picture is masked by */
		struct name_pattern pattern;
	} v[FILTER_N];
};

void filters_done(struct filters *f);
/* "" = none. -EINVAL with why in ret_why (size bytes): the one before stays. */
int filters_set(struct filters *f, enum filter_kind kind, const char *text, char *ret_why,
		size_t size);
bool filters_any(const struct filters *f);
/* Does what is applied leave nothing, though it would match within names? */
bool filters_leave_nothing(const struct filters *f, struct snapshot *snap);
/* Mask the present picture, and `before`, the other side of a comparison (or NULL), by the same
 * nodes. 0 or -ENOMEM; or -ECANCELED: it was stopped, and the filters are again those that the
 * picture is masked by. */
int filters_apply(struct filters *f, struct snapshot *snap, struct snapshot *before);

#endif
