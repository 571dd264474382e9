/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/counter_rows.h"
#include "core/filter.h"
#include "core/source.h"
#include "report/report_impl.h"
#include "report/table.h"

static int put_tree(struct report *r)
{
	int e = report_tree(r->snap, r->mask, r->o, r->out);

	if (snapshot_n(r->snap) <= 1 && !r->o->include && !r->o->exclude)
		out_puts(r->out, REPORT_NOTHING "\n");
	return e;
}

/* ---- the report ---- */

struct text {
	const char *title;
	int (*put)(struct report *r);
	bool of_all; /* of the whole run, whatever a filter leaves: it says so */
};

/* In the order of the views; without a function: the screen alone has it. */
static const struct text texts[VIEW_N] = {
	[VIEW_RUN] = {"Run", view_run, true},
	[VIEW_SUMMARY] = {"Summary", view_summary},
	[VIEW_STEPS] = {"Steps", view_steps, true},
	[VIEW_TREE] = {"Calling contexts", put_tree},
	[VIEW_KERNELS] = {"Kernels, copies and sets", view_kernels},
	[VIEW_LAUNCHES] = {"Launches", view_launches},
	[VIEW_SOURCE] = {SOURCE_TITLE, view_source},
	[VIEW_TRANSFERS] = {"Transfers", view_transfers},
	[VIEW_BOTTOM_UP] = {"Bottom-up", view_bottom_up},
	[VIEW_CALLERS] = {"Callers", view_callers},
	[VIEW_FLAME] = {"Flame", view_flame},
	[VIEW_MEMORY] = {"Memory", view_memory},
	[VIEW_HOST] = {"Host", view_host},
	[VIEW_API] = {"Calls of the GPU's library", view_api},
	[VIEW_RANKS] = {"Ranks", view_ranks},
	[VIEW_FINDINGS] = {"Findings", view_findings, true},
	[VIEW_DEVICES] = {"Devices", view_devices, true},
	[VIEW_COUNTERS] = {COUNTER_ROWS_TITLE, view_counters, true},
	[VIEW_PROCESSES] = {"Processes", view_processes, true},
	[VIEW_LOSSES] = {"Losses", view_losses, true},
	[VIEW_NOTES] = {"Notes", view_notes, true},
	[VIEW_TIMELINE] = {"Timeline", view_timeline},
	[VIEW_WARPS] = {"Warps", view_warps, true},
};

bool report_has_text(enum view view)
{
	return view < VIEW_N && texts[view].put;
}

unsigned report_all_views(void)
{
	unsigned views = 0;

	for (unsigned i = 0; i < VIEW_N; i++)
		if (texts[i].put && i != VIEW_CALLERS /* of which function? */ &&
		    i != VIEW_TIMELINE && i != VIEW_WARPS)
			views |= 1u << i;
	return views;
}

const char *report_view_word(unsigned i)
{
	unsigned view;

	for (view = 0; view < VIEW_N; view++)
		if (texts[view].put && i-- == 0)
			return view_word((enum view)view);
	return i == 0 ? "all" : NULL;
}

static void put_title(const struct report *r, const char *title, bool first)
{
	if (!first)
		out_putc(r->out, '\n');
	if (r->o->color)
		out_puts(r->out, "\033[1m");
	out_printf(r->out, "## %s", title);
	if (r->o->color)
		out_puts(r->out, "\033[0m");
	out_putc(r->out, '\n');
}

/* ---- filters ---- */

/* What is left is said first. */
static void put_left_rows(const struct report *r)
{
	char text[FILTER_LEFT_MAX];
	struct filter_left left;

	snapshot_mask(r->snap, r->mask);
	filter_left(r->snap, r->o->include, &left);
	snapshot_mask(r->snap, NULL);
	filter_left_text(&left, text);
	out_printf(r->out, "left: %s\n\n", text);
}

static int make_mask(struct report *r)
{
	const struct filter f = {r->o->include, r->o->exclude, r->o->peaks};
	int e;

	if (!filter_any(&f))
		return 0;
	e = filter_make(&f, r->snap, &r->mask);
	if (e < 0)
		return e;
	if (!r->mask[0])
		return -ENODATA;
	put_left_rows(r);
	return 0;
}

/* What all views but the tree are made of. The tree leaves out by itself, and may keep its totals. */
static int make_tables(struct report *r, unsigned wanted)
{
	int e = 0;

	if (r->mask && !r->o->before)
		snapshot_mask(r->snap, r->mask);
	numbers_update(r->numbers, NULL);
	if (wanted &
	    (REPORT_SUMMARY | REPORT_KERNELS | REPORT_TRANSFERS | REPORT_MEMORY | REPORT_COUNTERS))
		e = flat_update(r->flat);
	return e;
}

/* The picture that a view is of; *made: tables were made of what expressions leave. */
static int choose_picture(struct report *r, unsigned view, unsigned wanted, bool *made)
{
	if (view == VIEW_TREE) {
		if (*made)
			snapshot_mask(r->snap, NULL);
		*made = false;
		return 0;
	}
	if (*made)
		return 0;
	*made = true;
	return make_tables(r, wanted);
}

static int put_views(struct report *r, unsigned wanted)
{
	bool first = true, made = false;
	int e = 0;

	for (unsigned i = 0; i < VIEW_N && e == 0; i++) {
		if (!(wanted & 1u << i))
			continue;
		e = choose_picture(r, i, wanted, &made);
		if (e < 0)
			break;
		/* A single table needs no title. */
		if (wanted & (wanted - 1))
			put_title(r, texts[i].title, first);
		if (r->mask && texts[i].of_all)
			out_puts(r->out, REPORT_OF_ALL);
		e = texts[i].put(r);
		first = false;
	}
	return e;
}

int report_text(struct snapshot *snap, const struct report_options *options, struct out *out)
{
	static const struct report_options defaults;
	const struct report_options *o = options ? options : &defaults;
	struct numbers *numbers = numbers_new(snap, o->peaks);
	struct report r = {.snap = snap,
			   .s = snapshot_session(snap),
			   .o = o,
			   .out = out,
			   .numbers = numbers,
			   .flat = numbers ? flat_new(numbers, !o->before) : NULL};
	/* Comparisons and least values apply to the tree alone; who filters looks for something. */
	unsigned usual = o->include || o->exclude || o->least.value != 0 || o->before
				 ? REPORT_TREE
				 : REPORT_TREE | REPORT_KERNELS | REPORT_TRANSFERS | REPORT_LOSSES |
					   REPORT_NOTES;
	unsigned wanted = o->views ? o->views : usual;
	int e = r.flat ? 0 : -ENOMEM;

	/* Other programs' profiles do not say it. */
	if (!o->views && usual != REPORT_TREE && r.s->n_runs)
		wanted |= REPORT_RUN;
	if (!o->views && usual != REPORT_TREE && session_has_values(r.s, METRIC_STEPS))
		wanted |= REPORT_STEPS;
	if (!o->views && usual != REPORT_TREE && r.s->n_counters)
		wanted |= REPORT_COUNTERS;
	if (!o->views && usual != REPORT_TREE && o->warps)
		wanted |= REPORT_WARPS;
	r.views = wanted;
	r.words = wanted & REPORT_TREE ? NULL : o->columns;
	if (e == 0)
		e = make_mask(&r);
	if (e == 0)
		e = put_views(&r, wanted);
	free(r.mask);
	flat_free(r.flat);
	numbers_free(numbers);
	return e;
}
