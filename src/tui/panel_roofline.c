/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/roofline.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/shown.h"
#include "tui/names.h"
#include "tui/parts.h"
#include "tui/panel.h"
#include "tui/tui_impl.h"

#define LABEL       8   /* columns left of the plot */
#define MIN_DECADES 2.0 /* that an axis shows */
#define MAX_TICKS   64
#define PAGE        10 /* points that a longer step passes over */
#define TICK_WIDTH  6  /* columns that a tick of the lower axis needs */
#define TICK_HEIGHT 2  /* rows that a tick of the left axis needs */
#define NAME_LEAST  8  /* columns that a name of a point needs, unless it is shorter */
#define NAME_MOST   28

/* A plot of what is executed against what the device could do: operations a second over operations
 * a byte, both logarithmic. The roofs are those of the selected point's device; points of devices with
 * other roofs are crosses. */
struct panel_roofline {
	struct panel base;
	struct roofline roofline;
	struct peaks *peaks;
	enum roofline_of of;
	bool chosen; /* by the user; else scopes are shown when no kernel has a point */
	uint32_t selected_node;
	uint32_t selected_frame;
	size_t selected;
	struct axis { /* log10 */
		double from, to;
	} x, y;
	bool *is_apart; /* by device: its roofs are not those that are drawn */
	size_t cap_apart;
	uint32_t n_apart;
};

/* "core": without tensor cores, as the columns of data/peaks.txt are called. */
static const char *const roof_words[] = {"8 bit",       "16 bit",      "32 bit",
					 "64 bit",      "8 bit core",  "16 bit core",
					 "32 bit core", "64 bit core", "unknown width"};

static struct panel_roofline *as_roofline(struct panel *p)
{
	return (struct panel_roofline *)p;
}

static const struct roofline_point *selected(struct panel *p)
{
	return &as_roofline(p)->roofline.points[as_roofline(p)->selected];
}

static int init(struct panel *p)
{
	as_roofline(p)->peaks = peaks_new();
	return as_roofline(p)->peaks ? 0 : -1;
}

static void done(struct panel *p)
{
	roofline_done(&as_roofline(p)->roofline);
	free(as_roofline(p)->is_apart);
	peaks_free(as_roofline(p)->peaks);
}

/* ---- roofs ---- */

/* The user's, or those that are built in. */
static const struct peaks *peaks_of(struct panel *p)
{
	return p->tui->options.peaks ? p->tui->options.peaks : as_roofline(p)->peaks;
}

/* Of several devices the one that worked most, for what does not say where it ran. */
static uint32_t busiest_device(const struct tui *t)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < t->usage.n_devices; i++)
		if (t->usage.devices[i].sum.time_ns > t->usage.devices[best].sum.time_ns)
			best = i;
	return t->usage.n_devices ? best : SESSION_NONE;
}

static uint32_t roof_device(struct panel *p)
{
	uint32_t device = selected(p)->device;

	return device == SESSION_NONE ? busiest_device(p->tui) : device;
}

static double bandwidth(struct panel *p)
{
	return peaks_bandwidth(peaks_of(p), panel_session(p), roof_device(p));
}

static double peak(struct panel *p, unsigned roof)
{
	return roofline_peak(peaks_of(p), panel_session(p), roof_device(p), roof);
}

/* Is there a point below this roof? Others would say nothing. */
static bool is_roof_used(struct panel *p, unsigned roof)
{
	const struct roofline *r = &as_roofline(p)->roofline;

	for (size_t i = 0; i < r->n; i++)
		if (r->points[i].roof == roof)
			return true;
	return false;
}

static bool is_same(double a, double b)
{
	return a == b || (isnan(a) && isnan(b));
}

static bool has_same_roofs(struct panel *p, uint32_t a, uint32_t b)
{
	const struct session *s = panel_session(p);

	for (unsigned roof = 0; roof < ROOFLINE_ROOFS; roof++)
		if (!is_same(roofline_peak(peaks_of(p), s, a, roof),
			     roofline_peak(peaks_of(p), s, b, roof)))
			return false;
	return is_same(peaks_bandwidth(peaks_of(p), s, a), peaks_bandwidth(peaks_of(p), s, b));
}

static void tell_apart(struct panel *p)
{
	struct panel_roofline *pr = as_roofline(p);
	uint32_t n = panel_session(p)->n_devices, here = roof_device(p);

	pr->n_apart = 0;
	if (here >= n || ARRAY_ROOM(pr->is_apart, pr->cap_apart, n) < 0)
		return;
	for (pr->n_apart = n; n-- > 0;)
		pr->is_apart[n] = !has_same_roofs(p, n, here);
}

static bool is_apart(const struct panel_roofline *pr, const struct roofline_point *point)
{
	return point->device < pr->n_apart && pr->is_apart[point->device];
}

/* ---- axes ---- */

static void axis_include(struct axis *a, double v)
{
	if (!(v > 0))
		return;
	a->from = fmin(a->from, log10(v));
	a->to = fmax(a->to, log10(v));
}

/* A margin, and at least so many decades: more of them below than above. */
static void axis_finish(struct axis *a)
{
	a->from = fmin(a->from, a->to - MIN_DECADES) - 0.15;
	a->to += 0.15;
}

/* Room for all points, the roofs above them and where these meet. */
static void make_axes(struct panel *p)
{
	struct panel_roofline *pr = as_roofline(p);
	double bytes = bandwidth(p);

	tell_apart(p);
	pr->x = pr->y = (struct axis){INFINITY, -INFINITY};
	for (size_t i = 0; i < pr->roofline.n; i++) {
		axis_include(&pr->x, roofline_intensity(&pr->roofline.points[i]));
		axis_include(&pr->y, roofline_rate(&pr->roofline.points[i]));
	}
	for (unsigned roof = 0; roof < ROOFLINE_ROOFS; roof++) {
		if (!is_roof_used(p, roof))
			continue;
		axis_include(&pr->x, peak(p, roof) / bytes);
		axis_include(&pr->y, peak(p, roof));
	}
	axis_finish(&pr->x);
	axis_finish(&pr->y);
}

static int plot_width(const struct panel *p)
{
	return MAX(p->width - LABEL, 1);
}

static int plot_height(const struct panel *p)
{
	return MAX(p->height - 1, 1); /* the last line is the axis */
}

static double axis_at(const struct axis *a, double v)
{
	return (log10(v) - a->from) / (a->to - a->from);
}

static int column_of(struct panel *p, double intensity)
{
	return (int)lround(axis_at(&as_roofline(p)->x, intensity) * (plot_width(p) - 1));
}

/* Row 0 is the highest. Beyond the plot: -1 or its height, for what leaves it there. */
static int row_of(struct panel *p, double rate)
{
	double share = axis_at(&as_roofline(p)->y, rate);
	int height = plot_height(p);

	if (share > 1)
		return -1;
	return share < 0 ? height : height - 1 - (int)lround(share * (height - 1));
}

static double intensity_of(struct panel *p, int column)
{
	const struct axis *a = &as_roofline(p)->x;

	return pow(10, a->from + (a->to - a->from) * column / MAX(plot_width(p) - 1, 1));
}

/* ---- rows: lines of the plot ---- */

static void make_points(struct panel *p)
{
	struct panel_roofline *pr = as_roofline(p);
	struct numbers *numbers = tui_numbers(p->tui);

	if (roofline_make(&pr->roofline, p->tui->snap, numbers, peaks_of(p), pr->of) < 0)
		pr->roofline.n = 0;
	if (pr->roofline.n || pr->chosen)
		return;
	if (roofline_make(&pr->roofline, p->tui->snap, numbers, peaks_of(p), ROOFLINE_SCOPES) < 0)
		pr->roofline.n = 0;
	if (pr->roofline.n)
		pr->of = ROOFLINE_SCOPES;
}

static bool is_selected(const struct panel_roofline *pr, const struct roofline_point *point)
{
	return pr->of == ROOFLINE_SCOPES ? point->node == pr->selected_node
					 : point->frame == pr->selected_frame;
}

static void select_point(struct panel *p, size_t i)
{
	struct panel_roofline *pr = as_roofline(p);

	pr->selected = i;
	pr->selected_node = selected(p)->node;
	pr->selected_frame = selected(p)->frame;
}

static void update(struct panel *p)
{
	struct panel_roofline *pr = as_roofline(p);
	size_t i = 0;

	p->n_rows = 0;
	make_points(p);
	if (pr->roofline.n == 0)
		return;
	while (i < pr->roofline.n && !is_selected(pr, &pr->roofline.points[i]))
		i++;
	select_point(p, i < pr->roofline.n ? i : 0);
	make_axes(p);
	p->n_rows = (size_t)MAX(p->height, 2);
}

static uint64_t row_key(struct panel *p, size_t row)
{
	(void)p;
	return row;
}

static const char *row_name(struct panel *p, size_t row)
{
	(void)row;
	return tui_node_name(p->tui, selected(p)->node);
}

static uint32_t row_node(struct panel *p, size_t row)
{
	(void)row;
	return selected(p)->node;
}

/* ---- drawing ---- */

/* What lies in one cell of the plot. */
struct cell {
	const char *glyph;
	enum role role;
	int point; /* the one here that took longest; -1: none */
};

/* The line of a roof in one row: its slope up to where it meets a peak, then flat. */
static void put_roofs(struct panel *p, const struct look *look, struct cell *cells, int row)
{
	double bytes = bandwidth(p);

	for (int x = 0; x < plot_width(p); x++) {
		double at = intensity_of(p, x), highest = 0;

		for (unsigned roof = 0; roof < ROOFLINE_ROOFS; roof++) {
			double flat = is_roof_used(p, roof) ? peak(p, roof) : NAN;

			if (isnan(flat))
				continue;
			highest = fmax(highest, flat);
			if (row_of(p, flat) == row && !(at * bytes < flat))
				cells[x] = (struct cell){look->glyphs->rule, ROLE_BAR, -1};
		}
		if (!isnan(bytes) && row_of(p, at * bytes) == row &&
		    !(highest > 0 && at * bytes > highest))
			cells[x] = (struct cell){look->glyphs->slope, ROLE_BAR, -1};
	}
}

/* A tenth of the time of all is a large point, a hundredth a middling one. */
static void put_points(struct panel *p, const struct look *look, struct cell *cells, int row)
{
	const struct roofline *r = &as_roofline(p)->roofline;
	double all = 0;

	for (size_t i = 0; i < r->n; i++)
		all += r->points[i].time_ns;
	for (size_t i = r->n; i-- > 0;) { /* the longest one lies above the others */
		const struct roofline_point *point = &r->points[i];
		double share = point->time_ns / all;
		int x = CLAMP(column_of(p, roofline_intensity(point)), 0, plot_width(p) - 1);

		if (row_of(p, roofline_rate(point)) != row ||
		    cells[x].point == (int)as_roofline(p)->selected)
			continue;
		cells[x] = is_apart(as_roofline(p), point) ? (struct cell){"x", ROLE_DIM, (int)i}
			   : share >= 0.1
				   ? (struct cell){look->glyphs->points[0], ROLE_HOT, (int)i}
				   : (struct cell){look->glyphs->points[share >= 0.01 ? 1 : 2],
						   ROLE_KERNEL, (int)i};
	}
}

static bool is_selected_here(struct panel *p, int row)
{
	return row_of(p, roofline_rate(selected(p))) == row;
}

/* The selected point is seen whatever lies above it. */
static void put_selected(struct panel *p, const struct look *look, struct cell *cells, int row)
{
	int x = CLAMP(column_of(p, roofline_intensity(selected(p))), 0, plot_width(p) - 1);

	if (!is_selected_here(p, row))
		return;
	if (look->mono)
		cells[x].glyph = look->glyphs->cursor;
	cells[x].role = ROLE_SELECTED;
	cells[x].point = (int)as_roofline(p)->selected;
}

static bool is_blank(const struct cell *cells, int from, int n)
{
	while (n > 0 && !strcmp(cells[from + n - 1].glyph, " "))
		n--;
	return n == 0;
}

/* Where a name of so many columns has room beside a point: right of it, else left of it, with a blank
 * around it; -1: nowhere. */
static int name_place(const struct panel *p, const struct cell *cells, int x, int n)
{
	if (x + 1 + n + 2 <= plot_width(p) && is_blank(cells, x + 1, n + 2))
		return x + 2;
	if (x - n - 2 >= 0 && is_blank(cells, x - n - 2, n + 2))
		return x - n - 1;
	return -1;
}

static void draw_point_name(struct panel *p, struct pen *pen, struct cell *cells, int x,
			    const char *name)
{
	int whole = (int)MIN(shown_columns(name, strlen(name)), (size_t)NAME_MOST), n = whole, at;
	struct pen field;

	while ((at = name_place(p, cells, x, n)) < 0 && n > NAME_LEAST)
		n--;
	if (at < 0)
		return;
	field = pen_at(pen->canvas, pen->y, LABEL + at, n);
	pen_name(&field, ROLE_DIM, &(struct pen_name){.text = name, .cut = TEXT_CUT_MIDDLE});
	for (int i = 0; i < n; i++)
		cells[at + i].glyph = "";
}

/* Those that took longest first. */
static void draw_point_names(struct panel *p, struct pen *pen, struct cell *cells, int row)
{
	const struct roofline *r = &as_roofline(p)->roofline;

	for (size_t i = 0; i < r->n; i++) {
		const struct roofline_point *point = &r->points[i];
		int x = CLAMP(column_of(p, roofline_intensity(point)), 0, plot_width(p) - 1);

		if (row_of(p, roofline_rate(point)) == row && cells[x].point == (int)i)
			draw_point_name(p, pen, cells, x, tui_node_name(p->tui, point->node));
	}
}

/* The name of a roof at the end of its flat part. */
static void draw_roof_names(struct panel *p, struct pen *pen, int row)
{
	char text[HUMAN_MAX], name[48];

	for (unsigned roof = 0; roof < ROOFLINE_ROOFS; roof++) {
		double flat = is_roof_used(p, roof) ? peak(p, roof) : NAN;
		struct pen at;

		if (isnan(flat) || row_of(p, flat) != row)
			continue;
		human_count(text, flat);
		snprintf(name, sizeof(name), " %s %s ", roof_words[roof], text);
		if (plot_width(p) < 3 * (int)strlen(name))
			continue;
		at = pen_at(pen->canvas, pen->y, p->width - (int)strlen(name) - 1,
			    (int)strlen(name));
		pen_put(&at, ROLE_DIM, name);
	}
}

/* ---- ticks ---- */

/* How a decade is divided, the finest first, and how close its closest two ticks are then. */
static const struct tick_steps {
	double closest; /* share of a decade */
	unsigned n;
	unsigned v[3];
} tick_steps[] = {{0.301, 3, {1, 2, 5}}, {0.477, 2, {1, 3}}, {1, 1, {1}}};

/* The finest that leaves a tick `least` cells, where the axis has `cells`. */
static const struct tick_steps *choose_steps(const struct axis *a, int cells, int least)
{
	double decade = cells / (a->to - a->from);
	unsigned i = 0;

	while (i + 1 < ARRAY_SIZE(tick_steps) && tick_steps[i].closest * decade < least)
		i++;
	return &tick_steps[i];
}

/* "0.5", "20", "500", "20K", "1P": a round number without zeros behind the point. */
static void print_tick(char out[HUMAN_MAX], double v)
{
	char *dot, *end;

	if (v < 1) {
		snprintf(out, HUMAN_MAX, "%.*f", (int)ceil(-log10(v) - 1e-9), v);
		return;
	}
	human_count(out, v);
	dot = strchr(out, '.');
	end = out + strcspn(out, "kKMGTPEZY");
	if (dot && dot < end && strspn(dot + 1, "0") >= (size_t)(end - dot - 1))
		memmove(dot, end, strlen(end) + 1);
}

/* The tick in a part of an axis, given as shares of its length; 0: there is none. */
static double tick_in(const struct axis *a, const struct tick_steps *steps, double from, double to)
{
	double low = a->from + (a->to - a->from) * from, high = a->from + (a->to - a->from) * to;

	for (int exponent = (int)floor(low); exponent <= high; exponent++)
		for (unsigned i = 0; i < steps->n; i++) {
			double at = exponent + log10(steps->v[i]);

			if (at >= low && at < high)
				return steps->v[i] * pow(10, exponent);
		}
	return 0;
}

static void draw_label(struct panel *p, struct pen *pen, int row)
{
	const struct axis *y = &as_roofline(p)->y;
	double height = MAX(plot_height(p) - 1, 1), middle = (plot_height(p) - 1 - row) / height;
	double v = tick_in(y, choose_steps(y, plot_height(p), TICK_HEIGHT), middle - 0.5 / height,
			   middle + 0.5 / height);
	char text[HUMAN_MAX] = "";

	if (v > 0)
		print_tick(text, v);
	pen_right(pen, ROLE_DIM, LABEL - 2, text);
	pen_put(pen, ROLE_DIM, " ");
	pen_put(pen, ROLE_DIM, pen->canvas->look->glyphs->edge);
}

/* Texts below the plot that leave a blank between them. */
struct ticks {
	struct axis_mark {
		int x, width;
		enum role role;
		char text[HUMAN_MAX + 4];
	} v[MAX_TICKS];
	unsigned n;
};

/* False: there is no room for it. */
static bool add_tick(struct ticks *t, const struct axis_mark *tick, int width)
{
	unsigned i = 0;

	while (i < t->n && t->v[i].x < tick->x)
		i++;
	if (t->n == MAX_TICKS || tick->x < 0 || tick->x + tick->width > width ||
	    (i > 0 && t->v[i - 1].x + t->v[i - 1].width >= tick->x) ||
	    (i < t->n && tick->x + tick->width >= t->v[i].x))
		return false;
	memmove(&t->v[i + 1], &t->v[i], (t->n - i) * sizeof(*t->v));
	t->v[i] = *tick;
	t->n++;
	return true;
}

/* From where on a kernel is bound by what the device computes: first for the roof of the selected
 * point, then for the others as there is room. */
static void add_ridges(struct panel *p, struct ticks *t, const struct glyphs *g)
{
	for (unsigned i = 0; i < ROOFLINE_ROOFS; i++) {
		unsigned roof = (selected(p)->roof + i) % ROOFLINE_ROOFS;
		double at = is_roof_used(p, roof) ? peak(p, roof) / bandwidth(p) : NAN;
		struct axis_mark tick = {.role = ROLE_TITLE};
		char text[HUMAN_MAX];

		if (isnan(at))
			continue;
		human_rate(text, at);
		snprintf(tick.text, sizeof(tick.text), "%s%s", g->ascending, text);
		tick.width = 1 + (int)strlen(text);
		tick.x = MIN(column_of(p, at), plot_width(p) - tick.width);
		add_tick(t, &tick, plot_width(p));
	}
}

static void add_round(struct panel *p, struct ticks *t)
{
	const struct axis *a = &as_roofline(p)->x;
	const struct tick_steps *steps = choose_steps(a, plot_width(p), TICK_WIDTH);

	for (unsigned i = 0; i < steps->n; i++) /* whole decades first */
		for (int exponent = (int)floor(a->from); exponent <= a->to; exponent++) {
			struct axis_mark tick = {.role = ROLE_DIM};
			double v = steps->v[i] * pow(10, exponent);

			print_tick(tick.text, v);
			tick.width = (int)strlen(tick.text);
			tick.x = column_of(p, v);
			add_tick(t, &tick, plot_width(p));
		}
}

/* Below the plot: "20   50   100  200  ▲312  500". */
static void draw_axis(struct panel *p, struct pen *pen)
{
	struct ticks t = {.n = 0};

	add_ridges(p, &t, pen->canvas->look->glyphs);
	add_round(p, &t);
	pen_right(pen, ROLE_DIM, LABEL - 1, "flop/B");
	for (unsigned i = 0; i < t.n; i++) {
		pen_skip(pen, ROLE_DIM, LABEL + t.v[i].x - pen->x);
		pen_put(pen, t.v[i].role, t.v[i].text);
	}
}

static void draw_cells(struct pen *pen, const struct cell *cells, int width)
{
	for (int i = 0; i < width; i++) {
		int x = pen->x;

		pen_put(pen, cells[i].role, cells[i].glyph);
		if (cells[i].point >= 0)
			pen_hit(pen, x, HIT_PART, cells[i].point);
	}
}

static void draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct look *look = pen->canvas->look;
	_cleanup_(freep) struct cell *cells = calloc((size_t)plot_width(p), sizeof(*cells));

	pen->x = 0;
	pen->selected = false;
	if (!cells)
		return;
	if ((int)row == plot_height(p)) {
		draw_axis(p, pen);
		return;
	}
	for (int x = 0; x < plot_width(p); x++)
		cells[x] = (struct cell){" ", ROLE_NORMAL, -1};
	put_roofs(p, look, cells, (int)row);
	put_points(p, look, cells, (int)row);
	put_selected(p, look, cells, (int)row);
	draw_label(p, pen, (int)row);
	draw_cells(pen, cells, plot_width(p));
	draw_point_names(p, pen, cells, (int)row);
	draw_roof_names(p, pen, (int)row);
}

/* How much of what the device could do, where that is known. */
static void add_shares(struct panel *p, struct line_parts *parts, enum role role)
{
	const struct roofline_point *point = selected(p);
	double bytes = roofline_traffic(point) / bandwidth(p);
	double flops =
		point->roof == ROOFLINE_NO_ROOF ? NAN : roofline_rate(point) / peak(p, point->roof);
	bool is_measured = !isnan(
		peaks_measured(peaks_of(p), panel_session(p), roof_device(p), MEASURED_MEMORY));
	char text[HUMAN_MAX];

	if (!isnan(flops)) {
		human_percent(text, flops);
		parts_add(parts, role, 2, "%s%% of %s peak", text, roof_words[point->roof]);
	}
	if (!isnan(bytes)) {
		human_percent(text, bytes);
		parts_add(parts, role, 4,
			  is_measured ? "%s%% of measured bandwidth" : "%s%% of bandwidth", text);
	}
}

#define NEARLY_ALL 0.99

/* Over how little of its time the rate is, where nobody knows of the rest. */
static void add_part(struct panel *p, struct line_parts *parts, enum role role)
{
	double share = selected(p)->flops_ns / selected(p)->time_ns;
	char text[HUMAN_MAX];

	if (!(share < NEARLY_ALL))
		return;
	human_percent(text, share);
	parts_add(parts, role, 2, "over %s %% of its time", text);
}

/* "405T flop/s  663 flop/B  41.0% of 16 bit peak …" */
static void add_point(struct panel *p, struct line_parts *parts, enum role role)
{
	char text[HUMAN_MAX];

	human_count(text, roofline_rate(selected(p)));
	parts_add(parts, role, 1, "%s flop/s", text);
	add_part(p, parts, role);
	human_rate(text, roofline_intensity(selected(p)));
	parts_add(parts, role, 3, "%s flop/B", text);
	add_shares(p, parts, role);
}

/* Roofs that are missing, and why; false: none are. */
static bool put_no_roof(struct panel *p, struct buf *out)
{
	const struct session *s = panel_session(p);
	uint32_t device = roof_device(p);
	uint8_t roof = selected(p)->roof;

	if (device >= s->n_devices) {
		buf_puts(out, "no roofs: the profile names no device");
	} else if (roof == ROOFLINE_NO_ROOF) {
		buf_puts(out, "no peak: flops of unknown width");
	} else if (isnan(peak(p, roof))) {
		buf_puts(out, "no peak is known of ");
		tui_put_device(p->tui, device, out);
	} else {
		return false;
	}
	return true;
}

/* What the selected point is, then its numbers. */
static void draw_selected(struct panel *p, struct pen *pen, enum role role)
{
	const char *name = tui_node_name(p->tui, selected(p)->node);
	struct line_parts parts = {.fill = role == ROLE_TITLE ? ROLE_NORMAL : role};
	struct pen field = *pen;
	char time[HUMAN_MAX];

	pen_skip(&field, role, 1);
	field.end = MIN(field.end, field.x + MAX(p->width * 2 / 5, 20));
	pen_name(&field, role, &(struct pen_name){.text = name, .cut = TEXT_CUT_MIDDLE});
	pen->x = field.x;
	pen_skip(pen, parts.fill, 2);
	human_time_ns(time, selected(p)->time_ns);
	parts_add(&parts, parts.fill, 0, "%s", time);
	add_point(p, &parts, parts.fill);
	parts_draw(&parts, pen);
}

/* What is marked on the axis. */
static bool has_ridge(struct panel *p)
{
	for (unsigned roof = 0; roof < ROOFLINE_ROOFS; roof++)
		if (is_roof_used(p, roof) && !isnan(peak(p, roof) / bandwidth(p)))
			return true;
	return false;
}

static size_t n_of_others(const struct panel_roofline *pr)
{
	size_t n = 0;

	for (size_t i = 0; i < pr->roofline.n; i++)
		n += is_apart(pr, &pr->roofline.points[i]);
	return n;
}

/* What sizes of points mean, where that has room. */
static void put_sizes(struct panel *p, const struct glyphs *glyphs, struct buf *out)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (!as_roofline(p)->roofline.n)
		return;
	buf_printf(&text, "  %s 10 %% of the time  %s 1 %%  %s less", glyphs->points[0],
		   glyphs->points[1], glyphs->points[2]);
	if (out->len + text.len <= (size_t)MAX(p->width, 0))
		buf_puts(out, buf_str(&text));
}

static void put_head(struct panel *p, const struct glyphs *glyphs, struct buf *out)
{
	struct panel_roofline *pr = as_roofline(p);
	size_t n = pr->roofline.n;

	buf_printf(out, " flop/s  %zu %s%s  ", n, pr->of == ROOFLINE_KERNELS ? "kernel" : "scope",
		   n == 1 ? "" : "s");
	if (!put_no_roof(p, out))
		tui_put_device(p->tui, roof_device(p), out);
	if (n_of_others(pr))
		buf_printf(out, "  x: %zu under other roofs", n_of_others(pr));
	if (pr->roofline.n_without_flops)
		buf_printf(out, "  %zu without flops", pr->roofline.n_without_flops);
	if (pr->roofline.n_without_bytes)
		buf_printf(out, "  %zu without bytes", pr->roofline.n_without_bytes);
	if (has_ridge(p)) /* a legend of what is drawn without a word beside it */
		buf_printf(out, "%s  %s ridge", n_of_others(pr) ? "" : "  / mem",
			   glyphs->ascending);
	put_sizes(p, glyphs, out);
}

static void draw_head(struct panel *p, struct pen *pen)
{
	struct buf text;

	if (p->height < 8) { /* there is no foot that tells what is selected */
		draw_selected(p, pen, ROLE_HEAD);
		pen_fill(pen, ROLE_HEAD);
		return;
	}
	buf_init(&text, 4096);
	put_head(p, pen->canvas->look->glyphs, &text);
	pen_put(pen, ROLE_HEAD, buf_str(&text));
	pen_fill(pen, ROLE_HEAD);
	buf_done(&text);
}

static void draw_foot(struct panel *p, struct pen *pen)
{
	draw_selected(p, pen, ROLE_TITLE);
}

/* Which of the three that a point needs nothing has. */
static void explain(struct panel *p, struct buf *out)
{
	struct derive *d = numbers_derive(tui_numbers(p->tui));
	bool no_flops = !derive_has(d, &usual_columns[USUAL_FLOPS].derived);
	bool no_bytes = !derive_has(d, &usual_columns[USUAL_BYTES].derived);

	if (snapshot_n(p->tui->snap) <= 1) {
		panel_explain_empty(p, out);
		return;
	}
	if (!derive_has(d, &usual_columns[USUAL_TOTAL].derived))
		buf_puts(out, "no time: nothing ran on a device\n");
	if (no_flops)
		buf_puts(out, "no flops: nothing in this profile counts floating-point "
			      "operations\n");
	if (no_bytes)
		buf_puts(out, "no bytes: nothing in this profile counts bytes\n");
	if (no_flops || no_bytes)
		buf_puts(out, "(metrics of a scope, or of a Triton kernel's launch_metadata, do: "
			      "flops16, flops32 ..., bytes)\n");
	else
		buf_printf(out, "no %s has flops, bytes and time together\nx looks at %s",
			   as_roofline(p)->of == ROOFLINE_KERNELS ? "kernel" : "scope",
			   as_roofline(p)->of == ROOFLINE_KERNELS ? "scopes" : "kernels");
}

/* ---- requests ---- */

static void do_form(struct panel *p)
{
	struct panel_roofline *pr = as_roofline(p);

	pr->of = pr->of == ROOFLINE_KERNELS ? ROOFLINE_SCOPES : ROOFLINE_KERNELS;
	pr->chosen = true;
	tui_message(p->tui, "points are %s", pr->of == ROOFLINE_KERNELS ? "kernels" : "scopes");
	panel_spoil(p);
}

/* The next point to the right or left of the selected one. */
static void step_aside(struct panel *p, int by)
{
	const struct roofline *r = &as_roofline(p)->roofline;
	double here = roofline_intensity(selected(p)), best = INFINITY;
	size_t to = as_roofline(p)->selected;

	for (size_t i = 0; i < r->n; i++) {
		double away = (roofline_intensity(&r->points[i]) - here) * by;
		/* Of equal ones the next in the list, so that each is reached. */
		bool beyond = away > 0 || (away == 0 && (by > 0 ? i > as_roofline(p)->selected
								: i < as_roofline(p)->selected));

		if (beyond && (away < best || (away == best && by < 0))) {
			best = away;
			to = i;
		}
	}
	select_point(p, to);
}

/* By so many points, to those that took less or more time. */
static void step(struct panel *p, long by)
{
	long to = (long)as_roofline(p)->selected + by, n = (long)as_roofline(p)->roofline.n;

	select_point(p, (size_t)CLAMP(to, 0, n - 1));
}

static bool move_point(struct panel *p, enum request request)
{
	switch (request) {
	case REQ_DOWN:
		step(p, 1);
		return true;
	case REQ_UP:
		step(p, -1);
		return true;
	case REQ_PAGE_DOWN:
	case REQ_HALF_DOWN:
		step(p, PAGE);
		return true;
	case REQ_PAGE_UP:
	case REQ_HALF_UP:
		step(p, -PAGE);
		return true;
	case REQ_FIRST:
		select_point(p, 0);
		return true;
	case REQ_LAST:
		step(p, (long)as_roofline(p)->roofline.n);
		return true;
	case REQ_RIGHT:
		step_aside(p, 1);
		return true;
	case REQ_LEFT:
		step_aside(p, -1);
		return true;
	default:
		return false;
	}
}

static bool request(struct panel *p, enum request request)
{
	if (request == REQ_FORM) {
		do_form(p);
		return true;
	}
	if (p->n_rows == 0 || !move_point(p, request))
		return false;
	make_axes(p); /* another device has other roofs */
	return true;
}

static void pick(struct panel *p, int part)
{
	if ((size_t)part < as_roofline(p)->roofline.n)
		select_point(p, (size_t)part);
}

/* The point of its function. */
static bool go_to(struct panel *p, uint32_t node)
{
	const struct roofline *r = &as_roofline(p)->roofline;
	uint32_t n;
	const uint32_t *frames = numbers_functions(tui_numbers(p->tui), &n);

	for (size_t i = 0; frames && i < r->n; i++)
		if (r->points[i].node == node || r->points[i].frame == frames[node]) {
			select_point(p, i);
			make_axes(p); /* another device has other roofs */
			return true;
		}
	return false;
}

static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	size_t n = as_roofline(p)->roofline.n, i = as_roofline(p)->selected;
	bool match_case = text_is_smart_case(p->tui->search);

	for (size_t k = 0; k < n; k++) {
		i = panel_step(i, n, forward, ret_wrapped);
		if (tui_node_has(p->tui, as_roofline(p)->roofline.points[i].node, p->tui->search,
				 match_case)) {
			select_point(p, i);
			return true;
		}
	}
	return false;
}

static const struct panel_key keys[] = {
	{REQ_RIGHT, NULL, "the next point at the right"},
	{REQ_LEFT, NULL, "the next point at the left"},
	{REQ_DOWN, NULL, "the next point, by time"},
	{REQ_FORM, NULL, "points are kernels, or scopes"},
	{REQ_TOGGLE, NULL, "show this point in the tree"},
	{REQ_NONE, NULL, NULL},
};

const struct panel_ops panel_roofline_ops = {
	.title = "Roofline",
	.tab = "Roof",
	.size = sizeof(struct panel_roofline),
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.draw_head = draw_head,
	.draw_row = draw_row,
	.draw_foot = draw_foot,
	.explain = explain,
	.request = request,
	.pick = pick,
	.find = find,
	.go_to = go_to,
	.keys = keys,
	.is_filtered = true,
};
