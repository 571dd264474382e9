/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/picture.h"
#include <errno.h>
#include "base/clock.h"
#include "core/selector.h"
#include "intra/warp_source.h"
#include "tui/tui_impl.h"

void tui_spoil(struct tui *t)
{
	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		panel_spoil(t->panels[i]);
	panel_spoil(t->detail);
	panel_spoil(t->columns);
}

void tui_picture(struct tui *t)
{
	/* What is over, or is not counted, has no window in which anything could have grown. */
	bool is_still = snapshot_session(t->snap)->ended || t->status.paused;
	uint64_t now_ns = is_still ? 0 : clock_monotonic_ns();

	t->windows++;
	snapshot_update(t->snap, now_ns);
	if (snapshot_is_outdated(t->snap))
		tui_regroup(t, snapshot_group(t->snap));
	if (filters_any(&t->filters))
		filters_apply(&t->filters, t->snap, t->options.before, t->options.peaks);
	usage_update(&t->usage, snapshot_session(t->snap), now_ns);
	advice_age(t);
	steps_age(t);
	if (t->options.warps && t->options.warps->look && !menu_is_open(&t->menu))
		t->options.warps->look(t->options.warps);
	tui_spoil(t);
}

/* Ids start anew. */
static void forget_ids(struct tui *t)
{
	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		panel_forget(t->panels[i]);
	t->overlay = NULL;
	t->carried = SNAP_NONE;
}

int tui_regroup(struct tui *t, enum group group)
{
	int r = snapshot_regroup(t->snap, group);

	forget_ids(t);
	return r;
}

int tui_show_contexts(struct tui *t, enum context_view view)
{
	int r = snapshot_show_contexts(t->snap, view);

	forget_ids(t);
	return r;
}

/* Why the filters leave nothing. */
static void say_nothing(struct tui *t)
{
	static const char *const hints[FILTER_N_HINTS] = {
		[FILTER_NO_HINT] = "nothing is left",
		[FILTER_ANCHORED] = "nothing begins so: '.*' in front matches anywhere in a name",
		[FILTER_NO_BLANKS] = "no name is so: a comparison has blanks, as 'time > 1ms'",
	};
	const char *include = t->filters.v[FILTER_INCLUDE].text;
	enum filter_hint hint = *t->filter ? FILTER_NO_HINT : filters_hint(&t->filters, t->snap);

	if (hint == FILTER_NO_STARS)
		tui_message(t, "no name is so: as a path it is '%s%s'", include,
			    selector_stars(include));
	else
		tui_message(t, "%s", hints[hint]);
}

/* What the filters leave, and where that is nothing, why. While more is typed, beside it. */
void tui_say_left(struct tui *t)
{
	struct filter_left left;
	char text[FILTER_LEFT_MAX];
	char elsewhere[64] = "";

	if (!tui_is_filtered(t))
		return;
	if (!*t->filter)
		filter_left(t->snap, t->filters.v[FILTER_INCLUDE].selector, &left);
	else if (!tui_kept_left(t, &left))
		return;
	filter_left_text(&left, text);
	if (*t->filter && t->kept.n_elsewhere)
		snprintf(elsewhere, sizeof(elsewhere), "; some in names that %.20s shows",
			 keymap_words(&t->keys, REQ_NAMES));
	if (prompt_is_open(&t->prompt))
		snprintf(t->prompt.note, sizeof(t->prompt.note), "%s%s", text, elsewhere);
	else if (left.rows)
		tui_message(t, "left: %s%s", text, elsewhere);
	else
		say_nothing(t);
}

void tui_refilter(struct tui *t)
{
	int r;

	work_begin(t, "filtering");
	r = filters_apply(&t->filters, t->snap, t->options.before, t->options.peaks);
	work_end(t);
	if (r == -ECANCELED)
		tui_message(t, "stopped: the filters are as they were");
	else if (r < 0)
		tui_message(t, "out of memory");
	else
		tui_say_left(t);
	tui_spoil(t);
}
