/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/durations.h"
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "tui/panel.h"
#include "tui/tui_impl.h"

#define HEADINGS 2 /* rows above the buckets: what it is, percentiles */
#define MAX_PER  4 /* buckets a row: an octave; more would hide what is to be seen */

/* How long the executions took of what the cursor was on in the panel before: a histogram with one,
 * two or four rows an octave, as the screen has room. */
struct panel_durations {
	struct panel base;
	uint32_t node;    /* of the session */
	bool one_context; /* else all with the same name */
	struct durations d;
	uint32_t per;   /* buckets a row */
	uint32_t first; /* bucket of the first row */
	double most;    /* in one row */
	struct layout layout;
	bool made, made_in_one; /* what `d` is of */
	uint32_t made_node;
};

static const struct quantile {
	const char *word;
	double share;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

static struct panel_durations *as_durations(struct panel *p)
{
	return (struct panel_durations *)p;
}

/* ---- columns; i is the first bucket of a row ---- */

static double value_from(struct panel *p, uint32_t i)
{
	(void)p;
	return (double)hist_bucket_start(i);
}

/* In the buckets [from, to). */
static double count(struct panel *p, uint32_t from, uint32_t to)
{
	double n = 0;

	for (uint32_t i = from; i < MIN(to, HIST_BUCKETS); i++)
		n += as_durations(p)->d.n[i];
	return n;
}

static double value_calls(struct panel *p, uint32_t i)
{
	return count(p, i, i + as_durations(p)->per);
}

static double value_share(struct panel *p, uint32_t i)
{
	return value_calls(p, i) / (double)as_durations(p)->d.n_all;
}

static double value_up_to(struct panel *p, uint32_t i)
{
	return count(p, 0, i + as_durations(p)->per) / (double)as_durations(p)->d.n_all;
}

static const struct column columns[] = {
	{"FROM", "shortest duration of the row", 7, 0, human_time_ns, value_from, NULL},
	{"CALLS", "executions", 6, 1, human_count, value_calls, NULL},
	{"%", "share of the executions", 5, 2, human_percent, value_share, NULL},
	{"UPTO%", "share of those that took no longer", 5, 3, human_percent, value_up_to, NULL},
};

/* ---- rows ---- */

static void set_subject(struct panel *p, uint32_t session_node)
{
	as_durations(p)->node = session_node;
	p->cursor_key = HEADINGS;
	p->top = 0;
	panel_spoil(p);
}

/* What grouping made stands for no context of the session: then all are meant. */
static void show(struct panel *p, uint32_t node)
{
	uint32_t session_node;

	if (node == SNAP_NONE || node >= snapshot_n(p->tui->snap))
		return;
	session_node = snapshot_node(p->tui->snap, node)->session_node;
	set_subject(p, session_node == SESSION_NONE ? SESSION_ROOT : session_node);
}

static uint32_t bucket_of(struct panel *p, size_t row)
{
	return as_durations(p)->first + (uint32_t)(row - HEADINGS) * as_durations(p)->per;
}

/* Rows from the first bucket that has something to the last, as few as fit the screen. */
static void make_rows(struct panel *p)
{
	struct panel_durations *pd = as_durations(p);
	uint32_t first = 0, last = HIST_BUCKETS - 1, room = (uint32_t)MAX(p->height - HEADINGS, 1);

	while (!pd->d.n[first])
		first++;
	while (!pd->d.n[last])
		last--;
	for (pd->per = 1; pd->per < MAX_PER; pd->per *= 2)
		if (last / pd->per - first / pd->per < room)
			break;
	pd->first = first - first % pd->per;
	p->n_rows = HEADINGS + last / pd->per - first / pd->per + 1;
	pd->most = 0;
	for (uint32_t i = pd->first; i <= last; i += pd->per)
		pd->most = MAX(pd->most, value_calls(p, i));
}

/* A frozen screen shows what was there; the session goes on. */
static bool stands_still(const struct panel_durations *pd)
{
	return pd->base.tui->frozen && pd->made && pd->made_node == pd->node &&
	       pd->made_in_one == pd->one_context;
}

static bool make(struct panel_durations *pd, const struct session *s)
{
	pd->made = s->n_hists > 0 && durations_make(&pd->d, s, pd->node, !pd->one_context) == 0;
	pd->made_node = pd->node;
	pd->made_in_one = pd->one_context;
	return pd->made;
}

static void update(struct panel *p)
{
	struct panel_durations *pd = as_durations(p);

	p->n_rows = 0;
	if (!stands_still(pd) && !make(pd, snapshot_session(p->tui->snap)))
		return;
	if (pd->d.n_all == 0)
		return;
	make_rows(p);
	layout_make(&pd->layout, p, &p->columns, p->width, -1);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return row < HEADINGS ? row : HEADINGS + bucket_of(p, row);
}

static bool is_heading(struct panel *p, size_t row)
{
	(void)p;
	return row < HEADINGS;
}

static const char *subject(struct panel *p)
{
	uint32_t n = snapshot_n(p->tui->snap);

	for (uint32_t id = 0; id < n; id++)
		if (snapshot_node(p->tui->snap, id)->session_node == as_durations(p)->node)
			return tui_node_name(p->tui, id);
	return session_node_name(snapshot_session(p->tui->snap), as_durations(p)->node);
}

static const char *row_name(struct panel *p, size_t row)
{
	return row == 0 ? subject(p) : "";
}

static uint32_t row_node(struct panel *p, size_t row)
{
	uint32_t n = snapshot_n(p->tui->snap);

	(void)row;
	for (uint32_t id = 0; id < n; id++)
		if (snapshot_node(p->tui->snap, id)->session_node == as_durations(p)->node)
			return id;
	return SNAP_NONE;
}

/* ---- drawing ---- */

static void draw_head(struct panel *p, struct pen *pen)
{
	layout_head(&as_durations(p)->layout, pen, &p->columns, "EXECUTIONS THAT TOOK SO LONG", -1,
		    false);
}

/* What it is of, and how many executions are not in it. */
static void draw_title(struct panel *p, struct pen *pen)
{
	const struct panel_durations *pd = as_durations(p);
	char n[HUMAN_MAX], all[HUMAN_MAX];
	struct pen field = *pen;

	field.end = MIN(pen->end, pen->x + MAX(p->width / 2, 16));
	pen_name(&field, ROLE_TITLE,
		 &(struct pen_name){.text = subject(p), .cut = TEXT_CUT_MIDDLE});
	pen->x = field.x;
	human_count(n, (double)pd->d.n_all);
	human_count(all, pd->d.n_calls);
	pen_printf(pen, ROLE_NORMAL, "  %s calls", n);
	if (pd->d.n_calls > (double)pd->d.n_all)
		pen_printf(pen, ROLE_WARNING, " of %s", all);
	pen_put(pen, ROLE_DIM, pd->one_context ? "  in this context" : "  in all contexts");
	if (p->tui->is_reset)
		pen_put(pen, ROLE_DIM, " of the whole run");
}

/* Inside a bucket it is a guess, but never beyond what was measured. */
static uint64_t quantile(struct panel *p, const struct quantile *q)
{
	const struct durations *d = &as_durations(p)->d;
	uint64_t ns = hist_quantile(d->n, q->share);

	ns = d->max_ns ? MIN(ns, d->max_ns) : ns;
	return MAX(ns, d->min_ns);
}

static void draw_quantiles(struct panel *p, struct pen *pen)
{
	const struct durations *d = &as_durations(p)->d;
	char text[HUMAN_MAX];

	if (d->min_ns) {
		human_time_ns(text, (double)d->min_ns);
		pen_printf(pen, ROLE_NORMAL, "min %s  ", text);
	}
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		human_time_ns(text, (double)quantile(p, &quantiles[i]));
		pen_printf(pen, ROLE_NORMAL, "%s %s  ", quantiles[i].word, text);
	}
	if (d->max_ns) {
		human_time_ns(text, (double)d->max_ns);
		pen_printf(pen, ROLE_NORMAL, "max %s", text);
	}
}

/* Which percentiles lie in a row. */
static void draw_marks(struct panel *p, struct pen *pen, uint32_t bucket)
{
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		uint32_t in = hist_bucket(quantile(p, &quantiles[i]));

		if (in >= bucket && in < bucket + as_durations(p)->per)
			pen_printf(pen, ROLE_HOT, " %s", quantiles[i].word);
	}
}

/* Room for the marks stays behind the longest bar. What is there at all has a bar. */
static void draw_bar(struct panel *p, struct pen *pen, uint32_t bucket)
{
	const struct panel_durations *pd = as_durations(p);
	int room = MAX(pen_left(pen) - 13, 1);
	double n = value_calls(p, bucket);
	int width = (int)lround(n / pd->most * room);

	pen_repeat(pen, ROLE_BAR, pen->canvas->look->glyphs->bar, n > 0 ? MAX(width, 1) : 0);
	draw_marks(p, pen, bucket);
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	if (row == 0) {
		draw_title(p, pen);
	} else if (row < HEADINGS) {
		draw_quantiles(p, pen);
	} else {
		layout_cells(&as_durations(p)->layout, pen, p, &p->columns, bucket_of(p, row));
		draw_bar(p, pen, bucket_of(p, row));
	}
}

static void explain(struct panel *p, struct buf *out)
{
	const struct session *s = snapshot_session(p->tui->snap);

	if (s->n_nodes <= 1)
		tui_explain_empty(p->tui, out);
	else if (s->n_hists == 0 && p->tui->options.live)
		buf_puts(out, "no durations yet: what runs twice gets a histogram, sent once a "
			      "second");
	else if (s->n_hists == 0)
		buf_puts(out, "no durations: this profile holds totals only\n(what proton records "
			      "holds a histogram of each kernel that ran more than once)");
	else
		buf_printf(out, "no durations of %s: %s", subject(p),
			   as_durations(p)->d.n_calls > 0 ? "the profile holds their sum only"
							  : "nothing below it ran on a device");
}

/* ---- requests ---- */

static bool request(struct panel *p, enum request request)
{
	struct panel_durations *pd = as_durations(p);

	if (request != REQ_FORM)
		return false;
	pd->one_context = !pd->one_context;
	tui_message(p->tui, pd->one_context ? "executions in this calling context"
					    : "executions in all contexts of this name");
	panel_spoil(p);
	return true;
}

const struct panel_ops panel_durations_ops = {
	.title = "Durations",
	.tab = "Dur",
	.size = sizeof(struct panel_durations),
	.columns = {columns, ARRAY_SIZE(columns), 35},
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.is_heading = is_heading,
	.draw_head = draw_head,
	.draw_row = draw_row,
	.explain = explain,
	.request = request,
	.show = show,
};
