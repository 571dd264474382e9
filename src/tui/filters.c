/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/filters.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

void filters_done(struct filters *f)
{
	for (unsigned i = 0; i < FILTER_N; i++)
		selector_free(f->v[i].selector);
	memset(f, 0, sizeof(*f));
}

int filters_set(struct filters *f, enum filter_kind kind, const char *text, const struct session *s,
		struct selector_error *error)
{
	_cleanup_(selector_freep) struct selector *selector = NULL;
	int r = *text ? selector_new(text, &selector, error) : 0;

	if (r == 0 && selector && s)
		r = selector_check(selector, s, error);
	if (r < 0)
		return r == -ENOENT ? -EINVAL : r;
	snprintf(f->v[kind].text, sizeof(f->v[kind].text), "%s", text);
	selector_free(f->v[kind].selector);
	f->v[kind].selector = selector;
	selector = NULL;
	return 0;
}

bool filters_any(const struct filters *f)
{
	return f->v[FILTER_INCLUDE].selector || f->v[FILTER_EXCLUDE].selector;
}

enum filter_hint filters_hint(const struct filters *f, struct snapshot *snap)
{
	return filter_hint(f->v[FILTER_INCLUDE].selector, snap);
}

/* The mask of what is hidden now; NULL: out of memory. */
static uint8_t *present_mask(const struct snapshot *snap)
{
	const uint8_t *hidden = snapshot_hidden(snap);
	uint32_t n = snapshot_n(snap);
	uint8_t *mask = malloc(MAX(n, 1u));

	for (uint32_t i = 0; mask && i < n; i++)
		mask[i] = !hidden[i];
	return mask;
}

static bool compares(const struct filter *f)
{
	return (f->include && selector_is_condition(f->include)) ||
	       (f->exclude && selector_is_condition(f->exclude));
}

/* Conditions are of all values, not of those that they left before. Where that is stopped, what is
 * masked stays so. */
static int make_mask(const struct filter *f, struct snapshot *snap, uint8_t **ret)
{
	_cleanup_(freep) uint8_t *present = NULL;
	int r;

	if (compares(f)) {
		present = present_mask(snap);
		if (!present)
			return -ENOMEM;
		snapshot_mask(snap, NULL);
	}
	r = filter_make(f, snap, ret);
	if (r < 0 && present)
		snapshot_mask(snap, present);
	if (r == 0 && snapshot_n(snap)) /* what keeps nothing still leaves the root to stand on */
		(*ret)[0] = 1;
	return r;
}

static void put_back(struct filters *f)
{
	char text[FILTER_TEXT];
	struct selector_error error;

	for (unsigned i = 0; i < FILTER_N; i++) {
		memcpy(text, f->v[i].applied, sizeof(text));
		if (filters_set(f, i, text, NULL, &error) < 0)
			filters_set(f, i, "", NULL, &error);
	}
}

int filters_apply(struct filters *f, struct snapshot *snap, struct snapshot *before,
		  const struct peaks *peaks)
{
	const struct filter filter = {f->v[FILTER_INCLUDE].selector, f->v[FILTER_EXCLUDE].selector,
				      peaks};
	_cleanup_(freep) uint8_t *mask = NULL;
	int r = filter_any(&filter) ? make_mask(&filter, snap, &mask) : 0;

	if (r < 0) {
		put_back(f);
		return r;
	}
	snapshot_mask(snap, mask);
	if (before)
		snapshot_mask(before, mask);
	for (unsigned i = 0; i < FILTER_N; i++)
		memcpy(f->v[i].applied, f->v[i].text, sizeof(f->v[i].applied));
	return 0;
}
