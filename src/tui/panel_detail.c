/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "core/frame.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/row_columns.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

#define MAX_PLACES   64
#define MAX_CONTEXTS 64
#define LABEL        9 /* columns of a label, with its blank */

/* Everything known about one node: names, numbers, durations, where it ran, where else its name
 * is called. Made from the session when shown, and anew with each picture. */
struct panel_detail {
	struct panel base;
	struct sections sections;
	uint32_t node;
	struct buf text;
	struct text_line {
		size_t at; /* in text */
		enum role role;
	} * lines;
	size_t n_lines, cap_lines;
	struct source_place { /* one process, device and stream */
		struct session_lane lane;
		double time_ns, count, bytes;
	} places[MAX_PLACES];
	size_t n_places;
	struct context {
		uint32_t node;
		double time_ns, count;
	} contexts[MAX_CONTEXTS]; /* by time, descending */
	size_t n_contexts;
	double all_time_ns; /* over all contexts of the name */
	uint32_t hist[HIST_BUCKETS];
	uint32_t bars[HIST_BUCKETS]; /* the buckets to show */
	size_t n_bars;
	uint64_t n_hist;
};

static struct panel_detail *as_detail(struct panel *p)
{
	return (struct panel_detail *)p;
}

static uint32_t session_node_of(struct panel *p)
{
	return snapshot_node(p->tui->snap, as_detail(p)->node)->session_node;
}

/* ---- text ---- */

static void add_line(struct panel *p, enum role role, const char *label, const char *s, size_t len)
{
	struct panel_detail *d = as_detail(p);

	if (ARRAY_ROOM(d->lines, d->cap_lines, d->n_lines + 1) < 0)
		return;
	d->lines[d->n_lines++] = (struct text_line){d->text.len, role};
	buf_printf(&d->text, "%-*s", LABEL, label);
	buf_put(&d->text, s, len);
	buf_putc(&d->text, '\0');
}

/* The bytes of a string that fit into some columns, at least one character. */
static size_t fitting(const char *s, size_t len, int width, bool ascii)
{
	const char *p = s, *end = s + len;
	struct text_glyph g;

	while (p < end) {
		const char *next = text_next(p, end, ascii, &g);

		width -= g.columns;
		if (width < 0 && p > s)
			break;
		p = next;
	}
	return (size_t)(p - s);
}

/* A text over as many lines as it needs. */
static void add_wrapped(struct panel *p, const char *label, const char *s)
{
	size_t len = strlen(s), n;
	int width = MAX(p->width - LABEL - 1, 8);

	do {
		n = fitting(s, len, width, p->tui->options.ascii);
		add_line(p, ROLE_NORMAL, label, s, n);
		label = "";
		s += n;
		len -= n;
	} while (len > 0);
}

/* The whole name, and the linker's when it is another. */
static void add_names(struct panel *p)
{
	uint32_t id = as_detail(p)->node;
	const char *whole, *raw;

	if (id == 0) {
		add_wrapped(p, "name", tui_node_name(p->tui, id));
		return;
	}
	whole = snapshot_name(p->tui->snap, id, NAME_DEMANGLED);
	raw = snapshot_name(p->tui->snap, id, NAME_RAW);
	add_wrapped(p, "name", whole);
	if (strcmp(raw, whole) != 0)
		add_wrapped(p, "symbol", raw);
}

static void add_path(struct panel *p)
{
	uint32_t path[64], id = as_detail(p)->node;
	const char *label = "path";
	unsigned n = 0;

	for (; id != SNAP_NONE && n < ARRAY_SIZE(path);
	     id = snapshot_node(p->tui->snap, id)->parent)
		path[n++] = id;
	if (id != SNAP_NONE) {
		add_line(p, ROLE_DIM, label, "(more above)", 12);
		label = "";
	}
	while (n > 0) {
		char line[512];

		id = path[--n];
		snprintf(line, sizeof(line), "%-8s  %s",
			 frame_kind_word(snapshot_node(p->tui->snap, id)->kind),
			 tui_node_name(p->tui, id));
		add_line(p, kind_role(snapshot_node(p->tui->snap, id)->kind), label, line,
			 strlen(line));
		label = "";
	}
}

static void add_source(struct panel *p)
{
	const struct session *s = panel_session(p);
	const struct session_frame *f;
	char line[32];

	if (session_node_of(p) == SESSION_NONE)
		return;
	f = &s->frames[s->nodes[session_node_of(p)].frame];
	if (f->file) {
		struct buf *out = sections_text(p);

		snprintf(line, sizeof(line), ":%u", f->line);
		buf_puts(out, strtab_str(s->strings, f->file));
		buf_puts(out, line);
		add_wrapped(p, "source", buf_str(out));
	}
}

/* What the tree has in a column, whether it is shown or not. */
static double tree_value(struct panel *p, enum usual_column usual)
{
	struct panel *tree = p->tui->panels[TUI_PANEL_TREE];
	struct derived_terms terms = {0};
	const struct row_ask ask = {{.metric = &usual_columns[usual].derived}, &terms};

	return tree->ops->value(tree, as_detail(p)->node, &ask);
}

/* Percentiles stand beside the durations. */
static bool is_told(struct panel *p, enum usual_column usual)
{
	if (usual == USUAL_CPU_SHARE)
		return isnan(tree_value(p, USUAL_TOTAL));
	return usual_columns[usual].derived.op != DERIVED_QUANTILE && usual != USUAL_ASYNC &&
	       usual != USUAL_ENTERED && (usual != USUAL_NOW || p->tui->options.live);
}

/* The tree's numbers again, all of them, some a line. */
static void add_numbers(struct panel *p)
{
	int per_line = MAX((p->width - LABEL) / 18, 1), n = 0;
	char line[512] = "", text[COLUMN_TEXT];
	const char *label = "numbers";

	panel_refresh(p->tui->panels[TUI_PANEL_TREE]);
	for (unsigned i = 0; i < USUAL_N; i++) {
		double v = is_told(p, i) ? tree_value(p, i) : NAN;

		if (isnan(v))
			continue;
		column_print(&usual_columns[i], panel_session(p), v, false, text);
		snprintf(line + strlen(line), sizeof(line) - strlen(line), "%-6s %7.20s    ",
			 usual_columns[i].title, text);
		if (++n % per_line)
			continue;
		add_line(p, ROLE_NORMAL, label, line, strlen(line));
		line[0] = '\0';
		label = "";
	}
	if (*line)
		add_line(p, ROLE_NORMAL, label, line, strlen(line));
}

/* What has no column: metrics that the user or a file brought along. */
static void add_metrics(struct panel *p)
{
	const struct metric_table *table = panel_session(p)->metrics;
	const char *label = "metrics";

	for (uint32_t i = 0; i < metric_table_count(table); i++) {
		const struct metric *m = metric_table_get(table, i);
		const struct snap_column *c;
		char number[HUMAN_MAX], line[256];

		if (i < METRIC_FLOPS && i != METRIC_DIRECTION && i != METRIC_CPU_COUNT)
			continue; /* among the numbers above */
		c = snapshot_column(p->tui->snap, i, true);
		if (!c || isnan(c->v[as_detail(p)->node]))
			continue;
		if (m->type == METRIC_TEXT) {
			snprintf(line, sizeof(line), "%s  %s", m->name,
				 strtab_str(panel_session(p)->strings,
					    (uint32_t)c->v[as_detail(p)->node]));
		} else {
			metric_print(number, m, c->v[as_detail(p)->node]);
			snprintf(line, sizeof(line), "%-24s %s", m->name, number);
		}
		add_line(p, ROLE_NORMAL, label, line, strlen(line));
		label = "";
	}
}

static void make_text(struct panel *p)
{
	struct panel_detail *d = as_detail(p);

	buf_clear(&d->text);
	d->n_lines = 0;
	add_names(p);
	add_source(p);
	add_path(p);
	add_numbers(p);
	add_metrics(p);
}

static size_t n_lines(struct panel *p)
{
	return as_detail(p)->n_lines;
}

static const char *line_text(struct panel *p, uint32_t i)
{
	return as_detail(p)->text.error ? "" : as_detail(p)->text.data + as_detail(p)->lines[i].at;
}

static enum role line_role(struct panel *p, uint32_t i)
{
	return as_detail(p)->lines[i].role;
}

/* ---- durations ---- */

/* What is known of the whole run alone does not stand beside numbers since a reset. */
static bool is_since_reset(struct panel *p)
{
	return snapshot_is_reset(p->tui->snap);
}

static void make_hist(struct panel *p)
{
	struct panel_detail *d = as_detail(p);
	const struct session *s = panel_session(p);
	uint32_t node = session_node_of(p);

	memset(d->hist, 0, sizeof(d->hist));
	d->n_hist = 0;
	d->n_bars = 0;
	if (is_since_reset(p))
		return;
	for (size_t i = 0; i < s->n_hists && node != SESSION_NONE; i++)
		for (unsigned b = 0; s->hists[i].node == node && b < HIST_BUCKETS; b++)
			d->hist[b] += s->hists[i].n[b];
	for (uint32_t b = 0; b < HIST_BUCKETS; b++) {
		d->n_hist += d->hist[b];
		if (d->hist[b])
			d->bars[d->n_bars++] = b;
	}
}

static double hist_count(struct panel *p, uint32_t i)
{
	return as_detail(p)->hist[as_detail(p)->bars[i]];
}

static double hist_share(struct panel *p, uint32_t i)
{
	return hist_count(p, i) / (double)as_detail(p)->n_hist;
}

/* Share of all that are at most so long. */
static double hist_below(struct panel *p, uint32_t i)
{
	double n = 0;

	for (uint32_t k = 0; k <= i; k++)
		n += hist_count(p, k);
	return n / (double)as_detail(p)->n_hist;
}

static const struct column hist_columns[] = {
	{"CALLS", "executions", 6, 0, human_count, hist_count, NULL},
	{"%", "share", 5, 1, human_percent, hist_share, NULL},
	{"UPTO%", "share of those that are at most so long", 5, 2, human_percent, hist_below, NULL},
};

static size_t n_bars(struct panel *p)
{
	return as_detail(p)->n_bars;
}

static const char *bar_name(struct panel *p, uint32_t i)
{
	struct buf *out = sections_text(p);
	char text[HUMAN_MAX];
	int n = (int)lround(hist_share(p, i) * 30);

	human_time_ns(text, (double)hist_bucket_start(as_detail(p)->bars[i]));
	buf_printf(out, "from %7s  ", text);
	for (; n > 0; n--)
		buf_puts(out, p->tui->options.ascii ? "#" : "█");
	return buf_str(out);
}

static size_t n_quantiles(struct panel *p)
{
	return as_detail(p)->n_hist ? 1 : 0;
}

static double own(struct panel *p, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(p->tui->snap, metric, false);

	return c ? c->v[as_detail(p)->node] : NAN;
}

static const char *quantile_name(struct panel *p, uint32_t i)
{
	static const double shares[] = {0.5, 0.9, 0.99};
	struct buf *out = sections_text(p);
	char text[HUMAN_MAX];

	for (size_t k = 0; k < ARRAY_SIZE(shares); k++) {
		human_time_ns(text, hist_quantile_within(as_detail(p)->hist, shares[k],
							 own(p, METRIC_TIME_MIN),
							 own(p, METRIC_TIME_MAX)));
		buf_printf(out, "p%.0f %s   ", shares[k] * 100, text);
	}
	return buf_str(out);
}

/* ---- places ---- */

/* Which session nodes lie at or below the subject. */
static uint8_t *mark_below(struct panel *p)
{
	const struct session *s = panel_session(p);
	uint32_t node = session_node_of(p);
	uint8_t *inside = node == SESSION_NONE ? NULL : calloc(1, s->n_nodes + 1);

	for (size_t i = node; inside && i < s->n_nodes; i++)
		inside[i] = i == node ||
			    (s->nodes[i].parent != SESSION_NONE && inside[s->nodes[i].parent]);
	return inside;
}

static struct source_place *find_place(struct panel_detail *d, const struct session_lane *lane)
{
	size_t i;

	for (i = 0; i < d->n_places; i++)
		if (d->places[i].lane.process == lane->process &&
		    d->places[i].lane.device == lane->device &&
		    d->places[i].lane.stream == lane->stream)
			return &d->places[i];
	if (i == MAX_PLACES)
		return NULL;
	d->places[d->n_places++] = (struct source_place){.lane = *lane};
	return &d->places[i];
}

static void add_row(struct panel *p, const struct session_row *row)
{
	const struct session *s = panel_session(p);
	const struct session_set *set = &s->sets[row->set];
	struct source_place *place =
		row->lane < s->n_lanes ? find_place(as_detail(p), &s->lanes[row->lane]) : NULL;

	for (uint32_t i = 0; place && i < set->n; i++) {
		double v;

		if (!s->present[row->values + i])
			continue;
		v = metric_number(metric_table_get(s->metrics, set->metrics[i]),
				  s->values[row->values + i]);
		if (set->metrics[i] == METRIC_TIME)
			place->time_ns += v;
		else if (set->metrics[i] == METRIC_COUNT)
			place->count += v;
		else if (set->metrics[i] == METRIC_BYTES)
			place->bytes += v;
	}
}

static int place_compare(const void *a, const void *b)
{
	const struct source_place *x = a, *y = b;

	return x->time_ns < y->time_ns ? 1 : x->time_ns > y->time_ns ? -1 : 0;
}

static void make_places(struct panel *p)
{
	struct panel_detail *d = as_detail(p);
	const struct session *s = panel_session(p);
	_cleanup_(freep) uint8_t *inside = mark_below(p);

	d->n_places = 0;
	for (size_t i = 0; inside && !is_since_reset(p) && i < s->n_rows; i++)
		if (inside[s->rows[i].node])
			add_row(p, &s->rows[i]);
	qsort(d->places, d->n_places, sizeof(d->places[0]), place_compare);
}

static double place_time(struct panel *p, uint32_t i)
{
	return as_detail(p)->places[i].time_ns > 0 ? as_detail(p)->places[i].time_ns : NAN;
}

static double place_share(struct panel *p, uint32_t i)
{
	double sum = 0;

	for (size_t k = 0; k < as_detail(p)->n_places; k++)
		sum += as_detail(p)->places[k].time_ns;
	return sum > 0 ? place_time(p, i) / sum : NAN;
}

static double place_count(struct panel *p, uint32_t i)
{
	return as_detail(p)->places[i].count > 0 ? as_detail(p)->places[i].count : NAN;
}

static double place_bytes(struct panel *p, uint32_t i)
{
	return as_detail(p)->places[i].bytes > 0 ? as_detail(p)->places[i].bytes : NAN;
}

static const struct column place_columns[] = {
	{"TIME", "time on the device", 7, 0, human_time_ns, place_time, NULL},
	{"%", "share", 5, 1, human_percent, place_share, NULL},
	{"CALLS", "executions", 6, 2, human_count, place_count, NULL},
	{"BYTES", "bytes moved", 6, 3, human_bytes, place_bytes, NULL},
};

static size_t n_places(struct panel *p)
{
	return as_detail(p)->n_places;
}

static const char *place_name(struct panel *p, uint32_t i)
{
	const struct session_lane *lane = &as_detail(p)->places[i].lane;
	struct buf *out = sections_text(p);

	if (lane->device < panel_session(p)->n_devices)
		tui_put_device(p->tui, lane->device, out);
	else
		buf_puts(out, "host");
	buf_printf(out, "  stream %u  ", lane->stream);
	if (lane->process < panel_session(p)->n_processes)
		tui_put_process(p->tui, lane->process, out);
	return buf_str(out);
}

/* ---- contexts of the same name ---- */

static void add_context(struct panel_detail *d, const struct context *c)
{
	size_t i = d->n_contexts < MAX_CONTEXTS ? d->n_contexts++ : MAX_CONTEXTS;

	if (i == MAX_CONTEXTS) {
		if (d->contexts[MAX_CONTEXTS - 1].time_ns >= c->time_ns)
			return;
		i--;
	}
	for (; i > 0 && d->contexts[i - 1].time_ns < c->time_ns; i--)
		d->contexts[i] = d->contexts[i - 1];
	d->contexts[i] = *c;
}

static bool is_same_frame(struct panel *p, uint32_t id)
{
	const struct session *s = panel_session(p);
	uint32_t node = snapshot_node(p->tui->snap, id)->session_node, mine = session_node_of(p);

	return node != SESSION_NONE && mine != SESSION_NONE &&
	       s->nodes[node].frame == s->nodes[mine].frame;
}

static void make_contexts(struct panel *p)
{
	struct panel_detail *d = as_detail(p);
	const struct snap_column *time = snapshot_column(p->tui->snap, METRIC_TIME, true);
	const struct snap_column *count = snapshot_column(p->tui->snap, METRIC_COUNT, true);

	d->n_contexts = 0;
	d->all_time_ns = 0;
	for (uint32_t id = 0; time && id < snapshot_n(p->tui->snap); id++) {
		struct context c = {id, time->v[id], count ? count->v[id] : NAN};

		if (!is_same_frame(p, id))
			continue;
		if (isnan(c.time_ns))
			c.time_ns = 0;
		d->all_time_ns += c.time_ns;
		add_context(d, &c);
	}
	if (d->n_contexts == 1) /* the subject alone: said above */
		d->n_contexts = 0;
}

static double context_time(struct panel *p, uint32_t i)
{
	return as_detail(p)->contexts[i].time_ns;
}

static double context_share(struct panel *p, uint32_t i)
{
	return as_detail(p)->contexts[i].time_ns / as_detail(p)->all_time_ns;
}

static double context_count(struct panel *p, uint32_t i)
{
	return as_detail(p)->contexts[i].count;
}

static const struct column context_columns[] = {
	{"TIME", "time on the device", 7, 0, human_time_ns, context_time, NULL},
	{"%", "share", 5, 1, human_percent, context_share, NULL},
	{"CALLS", "executions", 6, 2, human_count, context_count, NULL},
};

static size_t n_contexts(struct panel *p)
{
	return as_detail(p)->n_contexts;
}

static const char *context_name(struct panel *p, uint32_t i)
{
	struct buf *out = sections_text(p);

	tui_put_path(p->tui, as_detail(p)->contexts[i].node, out);
	return buf_str(out);
}

static uint32_t context_node(struct panel *p, uint32_t i)
{
	return as_detail(p)->contexts[i].node;
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{.n = n_lines, .row_name = line_text, .row_role = line_role},
	{.title = "Durations", .n = n_quantiles, .row_name = quantile_name},
	{
		.name = "DURATION",
		.columns = {hist_columns, ARRAY_SIZE(hist_columns), 40},
		.n = n_bars,
		.row_name = bar_name,
	},
	{
		.title = "Where it ran",
		.name = "DEVICE, STREAM, PROCESS",
		.columns = {place_columns, ARRAY_SIZE(place_columns), 40},
		.n = n_places,
		.row_name = place_name,
	},
	{
		.title = "Everywhere it is called",
		.name = "PATH",
		.columns = {context_columns, ARRAY_SIZE(context_columns), 40},
		.n = n_contexts,
		.row_name = context_name,
		.row_node = context_node,
	},
};

static int init(struct panel *p)
{
	buf_init(&as_detail(p)->text, 1 << 22);
	sections_init(&as_detail(p)->sections, p, sections, ARRAY_SIZE(sections));
	return 0;
}

static void done(struct panel *p)
{
	buf_done(&as_detail(p)->text);
	free(as_detail(p)->lines);
	sections_done(p);
}

static void update(struct panel *p)
{
	make_text(p);
	make_hist(p);
	make_places(p);
	make_contexts(p);
	sections_update(p);
}

void panel_detail_show(struct panel *p, uint32_t node)
{
	as_detail(p)->node = node;
	p->cursor = p->top = 0;
	p->cursor_key = 0;
	panel_spoil(p);
}

const struct panel_ops panel_detail_ops = {
	.title = "Detail",
	.size = sizeof(struct panel_detail),
	.init = init,
	.done = done,
	.update = update,
	SECTIONS_OPS,
};
