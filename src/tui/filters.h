/* SPDX-License-Identifier: MIT */
#ifndef PROTON_TUI_FILTERS_H
#define PROTON_TUI_FILTERS_H
/* Which calling contexts the picture is made of: those that a selector includes, without those
 * that another one excludes (core/filter.h). All panels and all totals count only these. */
#include <stdbool.h>
#include <stddef.h>
#include "core/filter.h"
#include "tui/prompt.h"

#define FILTER_TEXT PROMPT_MAX /* longest selector */

enum filter_kind { FILTER_INCLUDE, FILTER_EXCLUDE, FILTER_N };

struct filters {
	struct {
		char text[FILTER_TEXT];    /* "" = none */
		char applied[FILTER_TEXT]; /* what the picture is masked by */
		struct selector *selector; /* NULL = none */
	} v[FILTER_N];
};

void filters_done(struct filters *f);
/* "" = none. -EINVAL with *error, or -ENOMEM: the one before stays. s: a selector must compare columns
 * that this session has; NULL: any, as a running program may get it later. */
int filters_set(struct filters *f, enum filter_kind kind, const char *text, const struct session *s,
		struct selector_error *error);
bool filters_any(const struct filters *f);
/* Mask the present picture, and `before`, the other side of a comparison (or NULL), by the same
 * nodes. 0 or -ENOMEM; or -ECANCELED: it was stopped, and the filters are again those that the
 * picture is masked by. */
int filters_apply(struct filters *f, struct snapshot *snap, struct snapshot *before,
		  const struct peaks *peaks);
/* Why may they leave nothing? */
enum filter_hint filters_hint(const struct filters *f, struct snapshot *snap);

#endif
