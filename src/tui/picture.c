/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/picture.h"
#include <errno.h>
#include "base/clock.h"
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
	/* What is over has no window in which anything could have grown. */
	uint64_t now_ns = snapshot_session(t->snap)->ended ? 0 : clock_monotonic_ns();

	t->windows++;
	snapshot_update(t->snap, now_ns);
	if (snapshot_is_outdated(t->snap))
		tui_regroup(t, snapshot_group(t->snap));
	if (filters_any(&t->filters))
		filters_apply(&t->filters, t->snap, t->options.before);
	usage_update(&t->usage, snapshot_session(t->snap), now_ns);
	advice_age(t);
	tui_spoil(t);
}

int tui_regroup(struct tui *t, enum group group)
{
	int r = snapshot_regroup(t->snap, group);

	for (unsigned i = 0; i < TUI_N_PANELS; i++)
		panel_forget(t->panels[i]);
	t->overlay = NULL;
	t->carried = SNAP_NONE;
	return r;
}

void tui_refilter(struct tui *t)
{
	int r;

	work_begin(t, "filtering");
	r = filters_apply(&t->filters, t->snap, t->options.before);
	work_end(t);
	if (r == -ECANCELED)
		tui_message(t, "stopped: the filters are as they were");
	else if (r < 0)
		tui_message(t, "out of memory");
	else if (filters_leave_nothing(&t->filters, t->snap))
		tui_message(t, "nothing begins so: '.*' in front matches anywhere in a name");
	tui_spoil(t);
}
