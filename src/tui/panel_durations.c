/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/durations.h"
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "tui/names.h"
#include "tui/panel.h"
#include "tui/tui_impl.h"

#define MAX_PER HIST_WIDTH /* bins a row: an octave; more would hide what is to be seen */

/* How long the executions took of what was in the cursor's row in the panel before: a histogram
 * with one row an octave, or as many more as the screen has room for. */
struct panel_durations {
	struct panel base;
	uint32_t node;              /* what it is about */
	uint32_t session_node;      /* the same: it stays when ids start anew */
	bool one_context;           /* else all with the same name */
	struct durations d, before; /* before: of what is compared with */
	uint32_t per;               /* bins a row */
	uint32_t first;             /* bin of the first row */
	double most;                /* in one row, on either side */
	bool made, made_in_one;     /* what `d` is of */
	uint32_t made_node;
	uint64_t generation; /* of the numbers */
};

static const struct quantile {
	const char *word;
	double share;
} quantiles[] = {{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}};

static struct panel_durations *as_durations(struct panel *p)
{
	return (struct panel_durations *)p;
}

static bool is_compared(const struct panel *p)
{
	return p->tui->options.before != NULL;
}

/* Rows above the histogram: percentiles of each side, column titles. */
static size_t headings(const struct panel *p)
{
	return is_compared(p) ? 3 : 2;
}

/* ---- columns; i is the first bin of a row ---- */

static double value_from(struct panel *p, uint32_t i)
{
	(void)p;
	return (double)hist_bin_start(i);
}

/* In the bins [from, to). */
static double count(const struct durations *d, uint32_t from, uint32_t to)
{
	double n = 0;

	for (uint32_t i = from; i < MIN(to, HIST_BINS); i++)
		n += d->sums.n[i];
	return n;
}

static double value_calls(struct panel *p, uint32_t i)
{
	return count(&as_durations(p)->d, i, i + as_durations(p)->per);
}

static double value_before(struct panel *p, uint32_t i)
{
	return count(&as_durations(p)->before, i, i + as_durations(p)->per);
}

static bool is_alone(struct panel *p, const struct column *c)
{
	(void)c;
	return !is_compared(p);
}

static double value_share(struct panel *p, uint32_t i)
{
	return value_calls(p, i) / (double)as_durations(p)->d.n_all;
}

static double value_up_to(struct panel *p, uint32_t i)
{
	return count(&as_durations(p)->d, 0, i + as_durations(p)->per) /
	       (double)as_durations(p)->d.n_all;
}

static const struct column columns[] = {
	{"FROM", "shortest duration of the row", 7, 0, human_time_ns, value_from, NULL},
	{"A CALLS", "executions in what is compared with", 7, 1, human_count, value_before,
	 .is_absent = is_alone},
	{"CALLS", "executions", 6, 1, human_count, value_calls, NULL},
	{"%", "share of the executions", 5, 2, human_percent, value_share, NULL},
	{"UPTO%", "share of those that took no longer", 5, 3, human_percent, value_up_to,
	 .is_running = true},
};

/* ---- rows ---- */

static void set_subject(struct panel *p, uint32_t node)
{
	as_durations(p)->node = node;
	as_durations(p)->session_node = snapshot_node(p->tui->snap, node)->session_node;
	p->cursor_key = headings(p);
	p->is_placed = true;
	p->top = 0;
	panel_spoil(p);
}

static void show(struct panel *p, uint32_t node)
{
	if (node != SNAP_NONE && node < snapshot_n(p->tui->snap))
		set_subject(p, node);
}

static void forget(struct panel *p)
{
	as_durations(p)->node = SNAP_NONE;
	as_durations(p)->made = false;
}

/* After a regrouping: the first context with this path. For a group that is gone, the root. */
static void find_again(struct panel *p)
{
	struct panel_durations *pd = as_durations(p);
	uint32_t n = snapshot_n(p->tui->snap);

	if (pd->node < n)
		return;
	for (pd->node = 0; pd->node < n && pd->session_node != SESSION_NONE; pd->node++)
		if (snapshot_node(p->tui->snap, pd->node)->session_node == pd->session_node)
			return;
	set_subject(p, 0);
}

static uint32_t bin_of(struct panel *p, size_t row)
{
	return as_durations(p)->first + (uint32_t)(row - headings(p)) * as_durations(p)->per;
}

/* The bins that have something, into what is there already. */
static void widen(const struct hist_sums *sums, uint64_t n_all, uint32_t *first, uint32_t *last)
{
	uint32_t from = sums->from, to = sums->to;

	if (n_all == 0)
		return;
	while (!sums->n[from])
		from++;
	while (!sums->n[to - 1])
		to--;
	*first = MIN(*first, from);
	*last = MAX(*last, to - 1);
}

/* Rows from the first bin that has something to the last, as few as fit the screen. */
static void make_rows(struct panel *p)
{
	struct panel_durations *pd = as_durations(p);
	uint32_t first = HIST_BINS, last = 0, room = (uint32_t)MAX(p->height - (int)headings(p), 1);

	widen(&pd->d.sums, pd->d.n_all, &first, &last);
	widen(&pd->before.sums, pd->before.n_all, &first, &last);
	for (pd->per = 1; pd->per < MAX_PER; pd->per *= 2)
		if (last / pd->per - first / pd->per < room)
			break;
	pd->first = first - first % pd->per;
	p->n_rows = headings(p) + last / pd->per - first / pd->per + 1;
	pd->most = 0;
	for (uint32_t i = pd->first; i <= last; i += pd->per)
		pd->most = MAX(pd->most, MAX(value_calls(p, i), value_before(p, i)));
}

/* Are they still of the same subject and picture? A frozen screen goes on showing its picture while
 * the session grows. */
static bool is_made(const struct panel_durations *pd, const struct numbers *numbers)
{
	return pd->made && pd->generation == numbers_generation(numbers) &&
	       pd->made_node == pd->node && pd->made_in_one == pd->one_context;
}

static bool make(struct panel_durations *pd, struct numbers *numbers)
{
	struct snapshot *snap = pd->base.tui->snap, *old = pd->base.tui->options.before;

	pd->made = snapshot_session(snap)->n_hists > 0 &&
		   durations_make(&pd->d, snap, numbers, pd->node, !pd->one_context) == 0;
	memset(&pd->before, 0, sizeof(pd->before));
	if (pd->made && old)
		pd->made = durations_make(&pd->before, old, numbers_before(numbers), pd->node,
					  !pd->one_context) == 0;
	pd->generation = numbers_generation(numbers);
	pd->made_node = pd->node;
	pd->made_in_one = pd->one_context;
	return pd->made;
}

static void update(struct panel *p)
{
	struct panel_durations *pd = as_durations(p);
	struct numbers *numbers = tui_numbers(p->tui);

	p->n_rows = 0;
	if (snapshot_n(p->tui->snap) == 0)
		return;
	find_again(p);
	if (!is_made(pd, numbers) && !make(pd, numbers))
		return;
	if (pd->d.n_all + pd->before.n_all == 0)
		return;
	make_rows(p);
	panel_fit(p, -1);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	return row < headings(p) ? row : headings(p) + bin_of(p, row);
}

static bool is_heading(struct panel *p, size_t row)
{
	return row < headings(p);
}

static const char *subject(struct panel *p)
{
	return tui_node_name(p->tui, as_durations(p)->node);
}

static const char *row_name(struct panel *p, size_t row)
{
	return row == 0 ? subject(p) : "";
}

static uint32_t row_node(struct panel *p, size_t row)
{
	(void)row;
	return as_durations(p)->node;
}

/* ---- drawing ---- */

/* Of a scope it is not counted how often it was entered, but what ran below it. */
static bool is_executed(struct panel *p)
{
	uint8_t kind = snapshot_node(p->tui->snap, as_durations(p)->node)->kind;

	return kind == FRAME_KERNEL || kind == FRAME_COPY || kind == FRAME_SET ||
	       kind == FRAME_GRAPH_RUN;
}

/* Which executions are counted: "7488 calls of 7880  in all contexts, filtered". */
static void put_counted(struct panel *p, struct buf *out)
{
	const struct panel_durations *pd = as_durations(p);
	char n[HUMAN_MAX], all[HUMAN_MAX];

	human_count(n, (double)pd->d.n_all);
	human_count(all, pd->d.n_calls);
	buf_printf(out, "  %s calls", n);
	if (pd->d.n_calls > (double)pd->d.n_all)
		buf_printf(out, " of %s", all);
	if (!is_executed(p))
		buf_puts(out, " below it");
	buf_puts(out, pd->one_context ? "  in this context" : "  in all contexts");
	if (tui_is_filtered(p->tui))
		buf_puts(out, ", filtered");
	if (pd->d.is_shared)
		buf_printf(out, ", of every %s", group_word(snapshot_group(p->tui->snap)));
	if (p->tui->is_reset)
		buf_puts(out, " of the whole run");
	if (!is_executed(p))
		buf_puts(out, "  kernels, copies and sets");
}

/* What does not fit goes by whole phrases, which two blanks part. */
static void trim(struct buf *text, int columns)
{
	for (size_t at = text->len; at-- > 1 && (int)text->len > columns;)
		if (text->data[at] == ' ' && text->data[at - 1] == ' ')
			text->len = at - 1;
}

/* The name gets the room that the rest leaves. */
static void draw_head(struct panel *p, struct pen *pen)
{
	const struct panel_durations *pd = as_durations(p);
	struct pen field;
	struct buf text;

	pen->x++; /* above the rows, which have a mark there */
	field = *pen;
	buf_init(&text, 256);
	put_counted(p, &text);
	field.end = MIN(pen->end, MAX(pen->end - (int)text.len, pen->x + MIN(p->width / 2, 20)));
	pen_name(&field, ROLE_TITLE,
		 &(struct pen_name){.text = subject(p), .cut = TEXT_CUT_MIDDLE});
	pen->x = field.x;
	trim(&text, pen_left(pen));
	pen_put(pen, pd->d.n_calls > (double)pd->d.n_all ? ROLE_WARNING : ROLE_NORMAL,
		buf_str(&text));
	buf_done(&text);
}

static uint64_t quantile(const struct durations *d, const struct quantile *q)
{
	return (uint64_t)hist_quantile(&d->sums, q->share, d->min_ns ? (double)d->min_ns : NAN,
				       d->max_ns ? (double)d->max_ns : NAN);
}

/* "min 724us", or "" where it is not known. */
static void print_part(char out[HUMAN_MAX + 8], const char *word, uint64_t ns)
{
	char text[HUMAN_MAX];

	*out = '\0';
	if (!ns)
		return;
	human_time_ns(text, (double)ns);
	snprintf(out, HUMAN_MAX + 8, "%s %s  ", word, text);
}

enum { PART_MIN, PART_QUANTILES, PART_MAX = PART_QUANTILES + ARRAY_SIZE(quantiles), N_PARTS };

/* As many as there is room for: a part of a number would be another one. */
static void draw_quantiles(struct pen *pen, const struct durations *d)
{
	static const uint8_t first_to_go[] = {PART_MIN, PART_QUANTILES + 1, PART_MAX,
					      PART_QUANTILES};
	char parts[N_PARTS][HUMAN_MAX + 8];
	size_t width = 0;

	if (d->n_all == 0) {
		pen_put(pen, ROLE_DIM, "no durations");
		return;
	}
	print_part(parts[PART_MIN], "min", d->min_ns);
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++)
		print_part(parts[PART_QUANTILES + i], quantiles[i].word,
			   quantile(d, &quantiles[i]));
	print_part(parts[PART_MAX], "max", d->max_ns);
	for (size_t i = 0; i < N_PARTS; i++)
		width += strlen(parts[i]);
	for (size_t i = 0; i < ARRAY_SIZE(first_to_go) && (int)width - 2 > pen_left(pen); i++) {
		width -= strlen(parts[first_to_go[i]]);
		*parts[first_to_go[i]] = '\0';
	}
	for (size_t i = 0; i < N_PARTS; i++)
		pen_put(pen, ROLE_NORMAL, parts[i]);
}

/* Which percentiles lie in a row. */
static void draw_marks(struct panel *p, struct pen *pen, uint32_t bin)
{
	for (size_t i = 0; i < ARRAY_SIZE(quantiles); i++) {
		uint32_t in = hist_bin(quantile(&as_durations(p)->d, &quantiles[i]));

		if (as_durations(p)->d.n_all && in >= bin && in < bin + as_durations(p)->per)
			pen_printf(pen, ROLE_HOT, " %s", quantiles[i].word);
	}
}

#define MARKS 13 /* columns behind the longest bar: percentiles, or what the scale is */

static int bar_room(const struct pen *pen)
{
	return MAX(pen_left(pen) - MARKS, 1);
}

/* Columns of a bar. Logarithmic: what is there at all is seen, few long ones beside thousands. */
static int bar_width(const struct panel_durations *pd, double n, int room)
{
	return n > 0 ? MAX((int)lround(log1p(n) / log1p(pd->most) * room), 1) : 0;
}

/* Room for the marks stays behind the longest bar. What was more before ends the bar, pale. */
static void draw_bar(struct panel *p, struct pen *pen, uint32_t bin)
{
	const struct panel_durations *pd = as_durations(p);
	const struct glyphs *g = pen->canvas->look->glyphs;
	int room = bar_room(pen), width = bar_width(pd, value_calls(p, bin), room);

	pen_repeat(pen, ROLE_BAR, g->bar, width);
	pen_repeat(pen, ROLE_BAR_REST, g->bar_rest,
		   bar_width(pd, value_before(p, bin), room) - width);
	draw_marks(p, pen, bin);
}

/* "1", "10", "100", "1K" … */
static int print_power(unsigned power, char out[8])
{
	static const char *const zeros[] = {"", "0", "00"}, *const units[] = {"", "K", "M", "G",
									      "T"};

	return snprintf(out, 8, "1%s%s", zeros[power % 3], units[power / 3]);
}

#define POWERS 15 /* that have a unit */

/* Where bars of so many calls end, above them: nobody takes them for linear then. Those that have no
 * room beside the ones before are left out. */
static void draw_scale(struct panel *p, struct pen *pen)
{
	const struct panel_durations *pd = as_durations(p);
	int start = pen->x, room = bar_room(pen);
	double n = 1;

	for (unsigned power = 0; power < POWERS && n <= pd->most; power++, n *= 10) {
		char text[8];
		int len = print_power(power, text), end = start + bar_width(pd, n, room);

		if (end - len < pen->x + (pen->x > start))
			continue;
		pen_skip(pen, ROLE_HEAD, end - len - pen->x);
		pen_put(pen, ROLE_HEAD, text);
	}
	pen_skip(pen, ROLE_HEAD, start + room - pen->x);
	pen_put(pen, ROLE_HEAD, " CALLS, LOG");
	pen_fill(pen, ROLE_HEAD);
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	if (row + 1 < headings(p)) {
		if (is_compared(p))
			pen_put(pen, ROLE_TITLE, row == 0 ? "A  " : "B  ");
		draw_quantiles(pen, is_compared(p) && row == 0 ? &as_durations(p)->before
							       : &as_durations(p)->d);
	} else if (row < headings(p)) {
		pen->x--; /* over the mark of the cursor */
		fit_titles(&p->shown, pen, &p->columns, -1, false);
		draw_scale(p, pen);
	} else {
		fit_cells(&p->shown, pen, p, &p->columns, bin_of(p, row));
		draw_bar(p, pen, bin_of(p, row));
	}
}

static void explain(struct panel *p, struct buf *out)
{
	const struct session *s = panel_session(p);

	if (snapshot_n(p->tui->snap) <= 1)
		panel_explain_empty(p, out);
	else if (s->n_hists == 0 && p->tui->options.live)
		buf_puts(out, "no durations yet: what runs twice gets a histogram, sent once a "
			      "second");
	else if (s->n_hists == 0)
		buf_puts(out, "no durations: this profile holds totals only\n(what proton records "
			      "holds a histogram of each kernel that ran more than once)");
	else
		buf_printf(out, "no durations of %s: %s", subject(p),
			   as_durations(p)->d.n_calls > 0 ? "the profile holds their sum only"
			   : tui_is_filtered(p->tui)      ? "nothing of it passes the filter"
							  : "nothing below it ran on a device");
}

/* ---- requests ---- */

static void do_form(struct panel *p)
{
	struct panel_durations *pd = as_durations(p);

	pd->one_context = !pd->one_context;
	tui_message(p->tui, pd->one_context ? "executions in this calling context"
					    : "executions in all contexts of this name");
	panel_spoil(p);
}

/* Its columns are there to be chosen, not to sort by. */
static bool request(struct panel *p, enum request request)
{
	if (request == REQ_FORM)
		do_form(p);
	else if (request >= REQ_SORT_MENU && request <= REQ_SORT_FLOPS)
		tui_message(p->tui, "the shortest executions come first");
	else
		return false;
	return true;
}

static const struct panel_key keys[] = {
	{REQ_FORM, NULL, "in all contexts of its name, or in this one"},
	{REQ_SORT_MENU, "", ""},
	{REQ_TOGGLE, NULL, "show it in the tree"},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_durations_ops = {
	.title = "Durations",
	.tab = "Dur",
	.size = sizeof(struct panel_durations),
	.columns = {columns, ARRAY_SIZE(columns), 35},
	.compares = true,
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
	.forget = forget,
	.keys = keys,
	.is_filtered = true,
	.is_grouped = true,
};
