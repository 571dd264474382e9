/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "core/flat.h"
#include "core/frame.h"
#include "core/idle.h"
#include "core/made_from.h"
#include "core/places.h"
#include "core/session.h"
#include "core/pair.h"
#include "tui/change.h"
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
	struct sections base;
	uint32_t node;
	struct hist_sums hist;
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

/* Is this one of the session nodes that the subject stands for? A group stands for none. */
static bool is_subject(struct panel *p, uint32_t session_node)
{
	return snapshot_stands_for(p->tui->snap, as_detail(p)->node, session_node);
}

/* ---- text ---- */

static void add_line(struct panel *p, enum role role, const char *label, const char *s, size_t len)
{
	struct buf *out = sections_add(p, &(struct section_row){.role = role});

	buf_printf(out, "%-*s", LABEL, label);
	buf_put(out, s, len);
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
	struct buf text;

	if (session_node_of(p) == SESSION_NONE)
		return;
	f = &s->frames[s->nodes[session_node_of(p)].frame];
	if (!f->file)
		return;
	buf_init(&text, 1 << 16);
	buf_puts(&text, session_text(s, f->file));
	buf_printf(&text, ":%u", f->line);
	add_wrapped(p, "source", buf_str(&text));
	buf_done(&text);
}

/* What a kernel of torch.compile was made from. */
static void add_made_from(struct panel *p)
{
	const char *text = session_node_of(p) == SESSION_NONE
				   ? NULL
				   : made_from(panel_session(p), session_node_of(p));

	if (text)
		add_wrapped(p, "made of", *text ? text : "-");
}

/* What the tree has in a column, whether it is shown or not. */
static double tree_value(struct panel *p, enum usual_column usual, bool before)
{
	struct panel *tree = p->tui->panels[TUI_PANEL_TREE];
	struct derived_terms terms = {0};
	const struct row_ask ask = {{.metric = &usual_columns[usual].derived, .before = before},
				    &terms};

	return tree->ops->value(tree, as_detail(p)->node, &ask);
}

/* Percentiles stand beside the durations. */
static bool is_told(struct panel *p, enum usual_column usual)
{
	if (usual == USUAL_CPU_SHARE)
		return !derive_has(numbers_derive(tui_all(p->tui)),
				   &usual_columns[USUAL_TOTAL].derived);
	return !column_is_picture(&usual_columns[usual]) &&
	       usual_columns[usual].derived.op != DERIVED_QUANTILE && usual != USUAL_ASYNC &&
	       usual != USUAL_ENTERED && (usual != USUAL_NOW || p->tui->options.live);
}

/* Cells of one width, several a line; the label stands on the first one. */
struct cells {
	const char *label;
	char line[512];
	int n, per_line;
};

static void cells_end(struct panel *p, struct cells *c)
{
	if (*c->line)
		add_line(p, ROLE_NORMAL, c->label, c->line, strlen(c->line));
	c->line[0] = '\0';
	c->label = "";
}

static void cells_add(struct panel *p, struct cells *c, const char *title, const char *text)
{
	size_t len = strlen(c->line);

	snprintf(c->line + len, sizeof(c->line) - len, "%-6s %7.20s    ", title, text);
	if (++c->n % c->per_line == 0)
		cells_end(p, c);
}

static void cells_add_number(struct panel *p, struct cells *c, enum usual_column usual, double v)
{
	char text[COLUMN_TEXT];

	if (isnan(v))
		return;
	column_print(&usual_columns[usual], panel_session(p), v, false, text);
	cells_add(p, c, usual_columns[usual].title, text);
}

static struct cells cells_begin(struct panel *p, const char *label)
{
	return (struct cells){.label = label, .per_line = MAX((p->width - LABEL) / 18, 1)};
}

/* "TOTAL  A  1.38ms  B  1.83ms   +444us  +32.1%" */
static void put_compared(struct panel *p, enum usual_column usual, struct buf *out)
{
	double before = tree_value(p, usual, true), now = tree_value(p, usual, false);
	char text[COLUMN_TEXT], change[HUMAN_MAX];

	column_print(&usual_columns[usual], snapshot_session(p->tui->options.before), before, false,
		     text);
	buf_printf(out, "%-6s A %7.20s", usual_columns[usual].title, text);
	column_print(&usual_columns[usual], panel_session(p), now, false, text);
	buf_printf(out, "  B %7.20s", text);
	change_print(before, now, change);
	change_print_delta(&usual_columns[usual], panel_session(p), pair_delta(before, now), text);
	if (*change)
		buf_printf(out, "  %8.20s  %s", text, change);
	else
		buf_puts(out, "      same");
}

/* All numbers of the tree, on both sides. */
static void add_compared(struct panel *p)
{
	_cleanup_(buf_done) struct buf line = {0};
	const char *label = "numbers";

	buf_init(&line, COLUMN_TEXT);
	for (unsigned i = 0; i < USUAL_N; i++) {
		if (!is_told(p, i) ||
		    (isnan(tree_value(p, i, false)) && isnan(tree_value(p, i, true))))
			continue;
		buf_clear(&line);
		put_compared(p, i, &line);
		add_line(p, ROLE_NORMAL, label, buf_str(&line), line.len);
		label = "";
	}
}

/* Over how little of its time a rate is, where nobody knows of the rest. */
static void add_part(struct panel *p, enum usual_column usual)
{
	const struct column_spec *c = &usual_columns[usual];
	double share =
		derive_rate_part(numbers_derive(tui_all(p->tui)), &c->derived, as_detail(p)->node);
	char text[HUMAN_MAX], line[96];

	if (isnan(share))
		return;
	human_percent(text, share);
	snprintf(line, sizeof(line), "%-6s over %s %% of its time", c->title, text);
	add_line(p, ROLE_NORMAL, "", line, strlen(line));
}

/* All numbers of the tree. */
static void add_numbers(struct panel *p)
{
	struct cells c = cells_begin(p, "numbers");

	panel_refresh(p->tui->panels[TUI_PANEL_TREE]);
	if (p->tui->options.before) {
		add_compared(p);
		return;
	}
	for (unsigned i = 0; i < USUAL_N; i++)
		cells_add_number(p, &c, i, is_told(p, i) ? tree_value(p, i, false) : NAN);
	cells_end(p, &c);
	add_part(p, USUAL_GBPS);
	add_part(p, USUAL_TFPS);
}

/* The row of kernels, copies and sets that the context is one of, with others; flat_n(): none. */
static uint32_t row_of_several(struct panel *p, struct flat *flat)
{
	uint32_t node = session_node_of(p), i = 0;

	while (i < flat_n(flat) &&
	       (node == SESSION_NONE || flat_row(flat, i)->n < 2 ||
		flat_row(flat, i)->frame !=
			snapshot_function(p->tui->snap, panel_session(p)->nodes[node].frame)))
		i++;
	return i;
}

/* A row of Kernels stands for all contexts of one; details are of the one with the most time. */
static void add_several(struct panel *p)
{
	static const enum usual_column usual[] = {USUAL_SELF, USUAL_SHARE, USUAL_CALLS, USUAL_AVG,
						  USUAL_MAX};
	struct cells c = cells_begin(p, "in all");
	struct flat *flat = tui_flat(p->tui);
	uint32_t row = flat ? row_of_several(p, flat) : 0;
	char text[HUMAN_MAX];

	if (!flat || row == flat_n(flat))
		return;
	human_count(text, flat_row(flat, row)->n);
	cells_add(p, &c, "paths", text);
	for (unsigned i = 0; i < ARRAY_SIZE(usual); i++)
		cells_add_number(p, &c, usual[i], flat_usual(flat, row, usual[i]));
	cells_end(p, &c);
}

static double inclusive(struct panel *p, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(p->tui->snap, metric, true);

	return c ? c->v[as_detail(p)->node] : NAN;
}

/* How long devices waited for this, why, and how long its launches took to start. */
static void add_idle(struct panel *p)
{
	static const struct {
		uint32_t metric;
		const char *title;
		void (*human)(char out[HUMAN_MAX], double v);
	} parts[] = {
#define PART(metric, title, form, human, ...) {METRIC_##metric, title, human_##human},
		IDLE_OF_COLUMNS(PART)
#undef PART
	};
	struct cells c = cells_begin(p, "idle");
	double latency_ns = inclusive(p, METRIC_LATENCY) / inclusive(p, METRIC_LATENCY_N);
	char text[HUMAN_MAX];

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		if (!(inclusive(p, parts[i].metric) > 0))
			continue;
		parts[i].human(text, inclusive(p, parts[i].metric));
		cells_add(p, &c, parts[i].title, text);
	}
	human_time_ns(text, latency_ns);
	if (!isnan(latency_ns))
		cells_add(p, &c, "LATENCY", text);
	cells_end(p, &c);
}

static bool is_among_numbers(uint32_t metric)
{
	if (metric >= METRIC_IDLE_GAPS && metric <= METRIC_LATENCY_MAX)
		return metric != METRIC_IDLE_GRAPH && metric != METRIC_LATENCY_MAX;
	return metric < METRIC_FLOPS && metric != METRIC_DIRECTION && metric != METRIC_CPU_COUNT;
}

/* Metrics that are not among these numbers: those that the user or a file brought along. */
static void add_metrics(struct panel *p)
{
	const struct metric_table *table = panel_session(p)->metrics;
	const char *label = "metrics";

	for (uint32_t i = 0; i < metric_table_count(table); i++) {
		const struct metric *m = metric_table_get(table, i);
		const struct snap_column *c;
		char number[HUMAN_MAX], line[256];

		if (is_among_numbers(i))
			continue;
		c = snapshot_column(p->tui->snap, i, true);
		if (!c || isnan(c->v[as_detail(p)->node]))
			continue;
		if (m->type == METRIC_TEXT) {
			snprintf(
				line, sizeof(line), "%s  %s", m->name,
				session_text(panel_session(p), (uint32_t)c->v[as_detail(p)->node]));
		} else {
			metric_print(number, m, c->v[as_detail(p)->node]);
			snprintf(line, sizeof(line), "%-24s %s", m->name, number);
		}
		add_line(p, ROLE_NORMAL, label, line, strlen(line));
		label = "";
	}
}

static void list_text(struct panel *p)
{
	add_names(p);
	add_source(p);
	add_made_from(p);
	add_path(p);
	add_numbers(p);
	add_several(p);
	add_idle(p);
	add_metrics(p);
}

/* ---- durations ---- */

static void make_hist(struct panel *p)
{
	struct panel_detail *d = as_detail(p);
	const struct session *s = panel_session(p);

	hist_sums_clear(&d->hist);
	d->n_hist = 0;
	if (panel_is_since_reset(p))
		return;
	for (size_t i = 0; i < s->n_hists; i++)
		if (is_subject(p, s->hists[i].node))
			hist_sums_add(&d->hist, &s->hists[i].hist);
	d->n_hist = hist_sums_total(&d->hist);
}

static double own(struct panel *p, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(p->tui->snap, metric, false);

	return c ? c->v[as_detail(p)->node] : NAN;
}

static void list_quantiles(struct panel *p)
{
	static const double shares[] = {0.5, 0.9, 0.99};
	struct panel_detail *d = as_detail(p);
	char text[HUMAN_MAX];
	struct buf *out;

	make_hist(p);
	if (!d->n_hist)
		return;
	out = sections_add(p, &(struct section_row){.role = ROLE_NORMAL});
	for (size_t k = 0; k < ARRAY_SIZE(shares); k++) {
		human_time_ns(text, hist_quantile(&d->hist, shares[k], own(p, METRIC_TIME_MIN),
						  own(p, METRIC_TIME_MAX)));
		buf_printf(out, "p%.0f %s   ", shares[k] * 100, text);
	}
}

static const struct column hist_columns[] = {
	{"CALLS", "executions", 6, 0, human_count},
	{"%", "share", 5, 1, human_percent},
	{"UPTO%", "share of those that are at most so long", 5, 2, human_percent},
};

#define BINS_A_BAR (HIST_WIDTH / 4)

static void put_bar(struct panel *p, uint32_t bin, double n_in, struct buf *out)
{
	const struct panel_detail *d = as_detail(p);
	int n = (int)lround(n_in / (double)d->n_hist * 30);
	char text[HUMAN_MAX];

	human_time_ns(text, (double)hist_bin_start(bin));
	buf_printf(out, "from %7s  ", text);
	for (; n > 0; n--)
		buf_puts(out, p->tui->options.ascii ? "#" : "█");
}

static void list_bars(struct panel *p)
{
	const struct panel_detail *d = as_detail(p);
	double so_far = 0;

	for (uint32_t b = 0; b < HIST_BINS; b += BINS_A_BAR) {
		struct section_row row = {.v = {0, SECTION_SHARE}};

		for (uint32_t i = b; i < b + BINS_A_BAR; i++)
			row.v[0] += d->hist.n[i];
		if (row.v[0] == 0)
			continue;
		so_far += row.v[0];
		row.v[2] = so_far / (double)d->n_hist;
		put_bar(p, b, row.v[0], sections_add(p, &row));
	}
}

/* ---- places ---- */

/* What ran in one process, on one device and stream; or on the host, in one thread. */
struct work_places {
	struct work_place {
		struct session_lane lane; /* with what tells places apart, and no more */
		double time_ns, count, bytes;
	} v[MAX_PLACES];
	size_t n;
};

/* Which nodes of the picture lie at or below the subject. */
static uint8_t *mark_below(struct panel *p)
{
	const uint32_t *parents = snapshot_parents(p->tui->snap);
	uint32_t n = snapshot_n(p->tui->snap), subject = as_detail(p)->node;
	uint8_t *inside = calloc(1, n + 1u);

	for (uint32_t id = subject; inside && id < n; id++)
		inside[id] = id == subject || (id && inside[parents[id]]);
	return inside;
}

/* The same device, stream and context. */
static uint64_t place_of(const struct session_lane *l)
{
	return hash_pair(l->device, l->stream) ^ hash_u64(l->context);
}

/* Where the work ran that scopes have bytes of, as grouping by stream finds it. */
static void note_work(struct panel *p, struct places *ran)
{
	const struct session *s = panel_session(p);

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct session_row *row = &s->rows[i];

		if (snapshot_row_node(p->tui->snap, i) != SNAP_NONE && row->lane < s->n_lanes &&
		    s->lanes[row->lane].device != SESSION_NONE &&
		    places_note(ran, s, row->node, row->lane, place_of(&s->lanes[row->lane])) < 0)
			return; /* no memory: what is not known stays at the host */
	}
}

static const struct session_lane *place_lane(const struct session *s, const struct places *ran,
					     const struct session_row *row)
{
	uint32_t lane = SESSION_NONE;

	if (places_is_loose(s, row))
		lane = places_only(ran, row->node, s->lanes[row->lane].process);
	return &s->lanes[lane == SESSION_NONE ? row->lane : lane];
}

/* NULL: there are too many. */
static struct work_place *find_place(struct work_places *places, const struct session_lane *lane)
{
	size_t i;

	for (i = 0; i < places->n; i++)
		if (places->v[i].lane.process == lane->process &&
		    places->v[i].lane.device == lane->device &&
		    places->v[i].lane.stream == lane->stream &&
		    places->v[i].lane.thread == lane->thread)
			return &places->v[i];
	if (i == MAX_PLACES)
		return NULL;
	places->v[places->n++] = (struct work_place){.lane = *lane};
	return &places->v[i];
}

static void add_to(double *sum, double v)
{
	if (!isnan(v))
		*sum += v;
}

static bool has_any(const struct session *s, const struct session_row *row, const uint32_t *metrics,
		    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (session_row_number(s, row, metrics[i]) > 0)
			return true;
	return false;
}

/* Work. Scopes have none themselves, but bytes of what is below; is_parted: of which a part is hidden. */
static void add_work(struct work_places *places, const struct session *s,
		     const struct session_row *row, const struct session_lane *lane, bool is_parted)
{
	static const uint32_t work[] = {METRIC_TIME, METRIC_COUNT, METRIC_BYTES};
	struct session_lane key = {
		.process = lane->process, .device = lane->device, .stream = lane->stream};
	struct work_place *place = has_any(s, row, work, ARRAY_SIZE(work) - is_parted)
					   ? find_place(places, &key)
					   : NULL;

	if (!place)
		return;
	add_to(&place->time_ns, session_row_number(s, row, METRIC_TIME));
	add_to(&place->count, session_row_number(s, row, METRIC_COUNT));
	if (!is_parted)
		add_to(&place->bytes, session_row_number(s, row, METRIC_BYTES));
}

/* Time on the host has that of scopes within in it, so it is of the subject alone. */
static void add_host(struct work_places *places, const struct session *s,
		     const struct session_row *row, const struct session_lane *lane)
{
	static const uint32_t host[] = {METRIC_CPU_TIME, METRIC_CPU_COUNT};
	struct session_lane key = {
		.process = lane->process, .device = SESSION_NONE, .thread = lane->thread};
	struct work_place *place =
		has_any(s, row, host, ARRAY_SIZE(host)) ? find_place(places, &key) : NULL;

	if (!place)
		return;
	add_to(&place->time_ns, session_row_number(s, row, METRIC_CPU_TIME));
	add_to(&place->count, session_row_number(s, row, METRIC_CPU_COUNT));
}

static const struct column place_columns[] = {
	{"TIME", "time on the device", 7, 0, human_time_ns},
	{"%", "share", 5, 1, human_percent},
	{"CALLS", "executions", 6, 2, human_count},
	{"BYTES", "bytes moved", 6, 3, human_bytes},
};

static const struct column host_columns[] = {
	{"TIME", "time on the host, with scopes and waits within", 7, 0, human_time_ns},
	{"%", "share", 5, 1, human_percent},
	{"ENTERED", "times that it was entered", 7, 2, human_count},
	{"AVG", "time of one", 7, 3, human_time_ns},
};

static void put_place(struct panel *p, const struct session_lane *lane, struct buf *out)
{
	char stream[STREAM_WORD];

	if (lane->device < panel_session(p)->n_devices) {
		tui_put_device(p->tui, lane->device, out);
		buf_printf(out, "  %s  ", session_stream_word(lane->stream, stream));
	} else {
		buf_puts(out, lane->thread ? "" : "host  ");
	}
	if (lane->thread)
		buf_printf(out, "thread %" PRIu64 "  ", lane->thread);
	if (lane->process < panel_session(p)->n_processes)
		tui_put_process(p->tui, lane->process, out);
}

static double or_absent(double v)
{
	return v > 0 ? v : NAN;
}

static void add_places(struct panel *p, const uint8_t *inside, struct work_places *places)
{
	const struct session *s = panel_session(p);
	const uint8_t *parted = snapshot_parted(p->tui->snap);
	const uint8_t *hidden = snapshot_hidden(p->tui->snap);
	struct places ran = {.n = 0};

	note_work(p, &ran);
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct session_row *row = &s->rows[i];
		uint32_t id = snapshot_row_node(p->tui->snap, i);

		if (id != SNAP_NONE && inside[id] && !hidden[id] && row->lane < s->n_lanes)
			add_work(places, s, row, place_lane(s, &ran, row), parted && parted[id]);
	}
	places_done(&ran);
}

static void list_places(struct panel *p)
{
	_cleanup_(freep) uint8_t *inside = mark_below(p);
	struct work_places places = {.n = 0};

	if (inside && !panel_is_since_reset(p))
		add_places(p, inside, &places);
	for (size_t i = 0; i < places.n; i++) {
		const struct work_place *place = &places.v[i];
		const struct section_row row = {.v = {or_absent(place->time_ns), SECTION_SHARE,
						      or_absent(place->count),
						      or_absent(place->bytes)}};

		put_place(p, &place->lane, sections_add(p, &row));
	}
}

static void list_threads(struct panel *p)
{
	const struct session *s = panel_session(p);
	struct work_places places = {.n = 0};

	for (size_t i = 0; !panel_is_since_reset(p) && i < s->n_rows; i++)
		if (is_subject(p, s->rows[i].node) && s->rows[i].lane < s->n_lanes)
			add_host(&places, s, &s->rows[i], &s->lanes[s->rows[i].lane]);
	for (size_t i = 0; i < places.n; i++) {
		const struct work_place *place = &places.v[i];
		const struct section_row row = {
			.v = {or_absent(place->time_ns), SECTION_SHARE, or_absent(place->count),
			      place->count > 0 ? or_absent(place->time_ns / place->count) : NAN}};

		put_place(p, &place->lane, sections_add(p, &row));
	}
}

/* ---- contexts of the same name ---- */

static const struct column context_columns[] = {
	{"TIME", "time on the device", 7, 0, human_time_ns},
	{"%", "share", 5, 1, human_percent},
	{"CALLS", "executions", 6, 2, human_count},
};

static bool is_same_frame(struct panel *p, uint32_t id)
{
	const struct session *s = panel_session(p);
	uint32_t node = snapshot_node(p->tui->snap, id)->session_node, mine = session_node_of(p);

	return node != SESSION_NONE && mine != SESSION_NONE &&
	       s->nodes[node].frame == s->nodes[mine].frame;
}

static void list_contexts(struct panel *p)
{
	const struct snap_column *time = snapshot_column(p->tui->snap, METRIC_TIME, true);
	const struct snap_column *count = snapshot_column(p->tui->snap, METRIC_COUNT, true);

	for (uint32_t id = 0; time && id < snapshot_n(p->tui->snap); id++) {
		if (!is_same_frame(p, id))
			continue;
		sections_add_path(p, id,
				  &(struct section_row){.v = {time->v[id], SECTION_SHARE,
							      count ? count->v[id] : NAN}});
	}
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{.list = list_text},
	{.title = "Durations in this calling context", .list = list_quantiles},
	{
		.name = "DURATION",
		.columns = {hist_columns, ARRAY_SIZE(hist_columns), 40},
		.list = list_bars,
	},
	{
		.title = "Where it ran",
		.name = "DEVICE, STREAM, PROCESS",
		.columns = {place_columns, ARRAY_SIZE(place_columns), 40},
		.list = list_places,
		.most = MAX_PLACES,
	},
	{
		.title = "Where it was on the host, as measured",
		.name = "THREAD, PROCESS",
		.columns = {host_columns, ARRAY_SIZE(host_columns), 40},
		.list = list_threads,
		.most = MAX_PLACES,
	},
	{
		.title = "Everywhere it is called",
		.name = "PATH",
		.columns = {context_columns, ARRAY_SIZE(context_columns), 40},
		.list = list_contexts,
		.most = MAX_CONTEXTS,
		.least = 2, /* the subject alone: said above */
	},
};

void panel_detail_show(struct panel *p, uint32_t node)
{
	as_detail(p)->node = node;
	p->cursor = p->top = 0;
	p->cursor_key = 0;
	panel_spoil(p);
}

static const struct panel_key keys[] = {
	{REQ_COLUMNS, "", ""},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_detail_ops = {
	.title = "Detail",
	.size = sizeof(struct panel_detail),
	.init = sections_init,
	.done = sections_done,
	.update = sections_update,
	SECTIONS_OPS(sections),
	.keys = keys,
};
