/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/filters.h"
#include <errno.h>
#include <string.h>
#include "base/util.h"

void filters_done(struct filters *f)
{
	for (unsigned i = 0; i < FILTER_N; i++)
		if (*f->v[i].text)
			name_pattern_done(&f->v[i].pattern);
	memset(f, 0, sizeof(*f));
}

int filters_set(struct filters *f, enum filter_kind kind, const char *text, char *ret_why,
		size_t size)
{
	struct name_pattern pattern;
	int r = *text ? name_pattern_init(&pattern, text, ret_why, size) : 0;

	if (r < 0)
		return r;
	if (*f->v[kind].text)
		name_pattern_done(&f->v[kind].pattern);
	snprintf(f->v[kind].text, sizeof(f->v[kind].text), "%s", text);
	if (*text)
		f->v[kind].pattern = pattern;
	return 0;
}

bool filters_any(const struct filters *f)
{
	return *f->v[FILTER_INCLUDE].text || *f->v[FILTER_EXCLUDE].text;
}

bool filters_leave_nothing(const struct filters *f, struct snapshot *snap)
{
	const uint8_t *hidden = snapshot_hidden(snap);

	if (!*f->v[FILTER_INCLUDE].text)
		return false;
	for (uint32_t i = 1; i < snapshot_n(snap); i++)
		if (!hidden[i])
			return false;
	return name_pattern_is_inside(&f->v[FILTER_INCLUDE].pattern, snap);
}

static int make_mask(const struct filters *f, struct snapshot *snap, uint8_t *mask)
{
	int r = 0;

	if (*f->v[FILTER_INCLUDE].text)
		r = filter_include(mask, snap, &f->v[FILTER_INCLUDE].pattern);
	if (r == 0 && *f->v[FILTER_EXCLUDE].text)
		r = filter_exclude(mask, snap, &f->v[FILTER_EXCLUDE].pattern);
	if (snapshot_n(snap)) /* what keeps nothing still leaves the root to stand on */
		mask[0] = 1;
	return r;
}

static void put_back(struct filters *f)
{
	char text[FILTER_TEXT], why[64];

	for (unsigned i = 0; i < FILTER_N; i++) {
		memcpy(text, f->v[i].applied, sizeof(text));
		if (filters_set(f, i, text, why, sizeof(why)) < 0)
			filters_set(f, i, "", why, sizeof(why));
	}
}

int filters_apply(struct filters *f, struct snapshot *snap, struct snapshot *before)
{
	_cleanup_(freep) uint8_t *mask = NULL;
	int r = 0;

	if (filters_any(f)) {
		mask = filter_all(snap);
		if (!mask)
			return -ENOMEM;
		r = make_mask(f, snap, mask);
	}
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
