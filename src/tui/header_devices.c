/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "core/runs.h"
#include "intra/warp_source.h"
#include "tui/chart.h"
#include "tui/counter_meters.h"
#include "tui/header.h"
#include "tui/names.h"
#include "tui/parts.h"
#include "tui/sensor_meters.h"
#include "tui/sensor_texts.h"
#include "tui/tui_impl.h"
#include "tui/usage_chart.h"

/* The lines about devices: how busy each is, now and over the last minutes.
 *
 *     GPU0 H200  busy  43.2% ▁▁▂▅█▇▇▆▁▁▁▃  copy  1.20 GB/s ▁▁▁▁▃▁▁     2m
 *          SM 62% ▁▃▅▆▆  tensor 50% ▁▂▄▄▄  DRAM r/w 43/12% ▁▃▅▆▆  L2 hits 75% ▂▅▆▆▆     hardware counters
 *          clock 1980 of 1980 MHz ▆▆▆▇▇  power 612 of 700 W ▂▃▅▆▆  61°C ▄▄▅▅▅  memory 131GB of 151GB ▁▅▅▅▅
 *     GPU0 H200  busy 9.32s  92.2% of the run  time 9.41s  copied 12.3GB     it has ended */

#define DEVICE_LINES      4 /* more are put into the last of them */
#define DEVICE_LINES_HIGH 8 /* the same, on a screen of so many rows: a node's worth of devices */
#define HIGH_ROWS         45

enum {
	NARROW = 60,       /* columns below which words are few */
	LIVE_NUMBERS = 32, /* "  busy 100.0%   copy 9.99 GB/s " */
	CHART_MIN = 6,
	NAME_LEAST = 14,    /* columns that a name gets before charts get anything */
	SENSORS_INDENT = 5, /* below the name of the device */
	SPAN_WIDTH = 5,     /* " 120s" */
	SPAN_COLS = 100     /* columns of a screen from which the charts say how long they are */
};

static void put_busy(char text[HUMAN_MAX], double busy, int digits)
{
	snprintf(text, HUMAN_MAX, "%.*f%%", digits, MIN(busy, 1) * 100);
}

/* Has it ended in the picture? A frozen one may be of before. */
static bool is_over(const struct tui *t)
{
	return t->status.run == TUI_RUN_ENDED && (!t->frozen || t->usage.is_over);
}

/* A window says something while the program runs; after its end the whole run does. */
static bool in_window(const struct tui *t, const struct usage_entry *e)
{
	return t->options.live && t->options.source != TUI_OF_DEVICES && !is_over(t) &&
	       !isnan(e->busy);
}

static void put_chart(const struct tui *t, struct pen *pen, const float *past, double full,
		      int width)
{
	struct chart chart = usage_chart(t, past, full);

	if (width < CHART_MIN)
		return;
	pen_skip(pen, ROLE_NORMAL, 1);
	chart_draw(&chart, pen, width - 1);
}

/* How long it shows: what its leftmost column is of. */
static void put_span(const struct tui *t, struct pen *pen, int width)
{
	struct chart chart = usage_chart(t, t->usage.past->busy, 1);
	double seconds =
		(double)(chart_span(&chart, width - 1) * usage_window_ns(t)) / (double)NSEC_PER_SEC;

	pen_printf(pen, ROLE_DIM, " %.0fs", seconds);
}

/* Where there is no line for counters, they are in place of the charts and of copies. */
static bool put_counted(const struct tui *t, struct pen *pen, uint32_t i)
{
	struct counted now;
	char text[HUMAN_MAX];

	if (!session_counters_now(snapshot_session(t->snap), i, &now))
		return false;
	put_busy(text, t->usage.devices[i].busy, pen->canvas->cols < NARROW ? 0 : 1);
	pen_printf(pen, ROLE_NORMAL, "  busy %s  ", text);
	return counter_meters_draw(t, pen, i);
}

static void put_live(const struct tui *t, struct pen *pen, uint32_t i)
{
	const struct usage_entry *e = &t->usage.devices[i];
	const struct usage_past *past = &t->usage.past[i];
	int span = pen->canvas->cols >= SPAN_COLS ? SPAN_WIDTH : 0;
	int rest = pen_left(pen) - LIVE_NUMBERS - span, copies = rest / 2;
	char text[HUMAN_MAX];

	if (copies < CHART_MIN)
		copies = 0;
	put_busy(text, e->busy, 1);
	pen_printf(pen, ROLE_NORMAL, "  busy %6s", text);
	put_chart(t, pen, past->busy, 1, rest - copies);
	human_rate(text, e->copy_rate / 1e9);
	pen_printf(pen, ROLE_NORMAL, "  copy %5s GB/s", text);
	put_chart(t, pen, past->copy_rate, 0, copies);
	if (span && copies)
		put_span(t, pen, copies);
}

static void put_name(struct tui *t, struct pen *pen, uint32_t i, int room)
{
	struct pen field = *pen;
	struct buf name;

	buf_init(&name, 1024);
	tui_put_device(t, i, &name);
	field.end = MIN(pen->end, pen->x + room);
	pen_name(&field, ROLE_HEADER, &(struct pen_name){.text = buf_str(&name)});
	buf_done(&name);
	pen->x = field.x;
}

static void draw_live(struct tui *t, struct pen *pen, uint32_t i, bool has_counters_below)
{
	/* A long name leaves room for charts, and the whole of the numbers. */
	int room = pen_left(pen) - LIVE_NUMBERS;

	put_name(t, pen, i, MAX(MIN(room, MAX(room - pen->canvas->cols / 3, NAME_LEAST)), 0));
	if (has_counters_below || !put_counted(t, pen, i))
		put_live(t, pen, i);
}

/* Where no program was started, what it does is not known: what its sensors say. */
static void draw_alone(struct tui *t, struct pen *pen, uint32_t i)
{
	struct line_parts parts = {.less_than_name = 5, .fill = ROLE_NORMAL};
	struct sensor_text texts[SENSOR_TEXTS];
	unsigned n = sensor_texts(t, i, texts);
	struct buf name;

	buf_init(&name, PART_TEXT);
	tui_put_device(t, i, &name);
	parts_add_name(&parts, ROLE_HEADER, 0, "", buf_str(&name), false);
	buf_done(&name);
	for (unsigned k = 0; k < n; k++)
		parts_add(&parts, texts[k].role, 1 + texts[k].priority, "%s", texts[k].text);
	parts_draw(&parts, pen);
}

/* What it did in all; how much of the run that is, where the profile says how long it took. */
static void draw_whole(struct tui *t, struct pen *pen, uint32_t i)
{
	const struct usage_sum *sum = &t->usage.devices[i].sum;
	/* Of a frozen picture of before the end nobody knows the share of the run. */
	double share = is_over(t) || t->status.run == TUI_RUN_FILE
			       ? runs_busy_share(snapshot_session(t->snap), i)
			       : NAN;
	struct line_parts parts = {.less_than_name = 5, .fill = ROLE_NORMAL};
	char text[HUMAN_MAX];
	bool has_share, is_narrow;
	struct buf name;

	buf_init(&name, PART_TEXT);
	tui_put_device(t, i, &name);
	parts_add_name(&parts, ROLE_HEADER, 0, t->options.before ? "B: " : "", buf_str(&name),
		       false);
	buf_done(&name);
	has_share = sum->busy_ns > 0 && share >= 0;
	is_narrow =
		has_share && pen_left(pen) < NARROW; /* there the share is all that it says of it */
	if (t->is_reset)                             /* which the tree is not then */
		parts_add(&parts, ROLE_WARNING, 2, "whole run:");
	if (sum->busy_ns > 0 && !is_narrow) {
		human_time_ns(text, sum->busy_ns);
		parts_add(&parts, ROLE_NORMAL, 2, "busy %s", text);
	}
	if (has_share) {
		put_busy(text, share, 1);
		parts_add(&parts, ROLE_NORMAL, 1, "%s%s of the run", is_narrow ? "busy " : "",
			  text);
	}
	human_time_ns(text, sum->time_ns);
	parts_add(&parts, ROLE_NORMAL, 4, "time %s", text);
	human_bytes(text, sum->copy_bytes);
	if (sum->copy_bytes > 0)
		parts_add(&parts, ROLE_NORMAL, 3, "copied %sB", text);
	parts_draw(&parts, pen);
}

/* One of several on a line, in so many columns: number, its share, the past where there is room. */
/* The same where no program was started: its power. */
static void draw_alone_short(struct tui *t, struct pen *pen, uint32_t i)
{
	const struct sensors *s = session_sensors_find(snapshot_session(t->snap), i);
	char word[DEVICE_WORD];

	session_device_word(snapshot_session(t->snap), i, word);
	pen_put(pen, ROLE_HEADER, word);
	if (s && s->v[SENSOR_POWER] > 0)
		pen_printf(pen, ROLE_NORMAL, " %.0f W", s->v[SENSOR_POWER]);
	pen_skip(pen, ROLE_NORMAL, 2);
}

static void draw_device_short(struct tui *t, struct pen *pen, uint32_t i, int width)
{
	const struct usage_entry *e = &t->usage.devices[i];
	bool live = in_window(t, e);
	char text[HUMAN_MAX], word[DEVICE_WORD];

	session_device_word(snapshot_session(t->snap), i, word);
	pen_printf(pen, ROLE_HEADER, "%s ", word);
	/* Of what is over, of the whole run. */
	if (isnan(e->busy))
		human_time_ns(text, e->sum.time_ns);
	else
		put_busy(text, e->busy, live ? 0 : 1);
	pen_printf(pen, ROLE_NORMAL, live ? "%4s" : isnan(e->busy) ? "time %s" : "busy %s", text);
	if (live && !counter_meters_put_first(t, pen, i, width - 12))
		put_chart(t, pen, t->usage.past[i].busy, 1, MIN(width - 12, 30));
	pen_skip(pen, ROLE_NORMAL, 2);
}

#define SHORT_LEAST 15 /* columns of "GPU0 busy 12.3%" */
#define MORE        5  /* and of what tells how many more there are: "  +12" */

/* Devices from i on, as many as the line takes, and all copies where there is room. */
static void draw_device_line(struct tui *t, struct pen *pen, uint32_t i)
{
	uint32_t n = (uint32_t)t->usage.n_devices;
	bool is_alone = t->options.source == TUI_OF_DEVICES;
	double copy = 0;
	char text[HUMAN_MAX];
	int width;

	if (t->is_reset && is_over(t) && pen_left(pen) >= 40)
		pen_put(pen, ROLE_WARNING, "whole run: ");
	width = pen_left(pen) / (int)(n - i);
	for (; i < n && pen_left(pen) >= SHORT_LEAST + (i + 1 < n ? MORE : 0); i++)
		if (is_alone)
			draw_alone_short(t, pen, t->usage.order[i]);
		else
			draw_device_short(t, pen, t->usage.order[i], width);
	if (i < n)
		pen_printf(pen, ROLE_HEADER, "+%u", n - i);
	for (i = 0; i < n; i++)
		copy += t->usage.devices[i].copy_rate;
	human_rate(text, copy / 1e9);
	if (t->options.live && !is_alone && !isnan(copy) && pen_left(pen) >= 16)
		pen_printf(pen, ROLE_NORMAL, "copy %s GB/s", text);
}

int header_device_lines(const struct tui *t, int rows, int most)
{
	most = MIN(most, rows >= HIGH_ROWS ? DEVICE_LINES_HIGH : DEVICE_LINES);
	return (int)CLAMP((int)t->usage.n_devices, 1, most);
}

/* Devices that have a line of their own, when there are so many lines. */
static uint32_t n_alone(const struct tui *t, int lines)
{
	uint32_t n = (uint32_t)t->usage.n_devices;

	return n > (uint32_t)lines ? (uint32_t)lines - 1 : n;
}

/* What is told of a device below its line: of each a line, where it has something to say. */
static const struct teller {
	unsigned (*texts)(const struct tui *t, uint32_t device,
			  struct sensor_text out[SENSOR_TEXTS]);
	/* Instead, where it can. */
	bool (*draw)(const struct tui *t, struct pen *pen, uint32_t device);
} tellers[] = {{sensor_texts, sensor_meters_draw}, {counter_texts, counter_meters_draw}};
enum { TELLER_COUNTERS = 1 };

unsigned header_told(const struct tui *t, int lines, int room)
{
	struct sensor_text texts[SENSOR_TEXTS];
	unsigned told = 0;

	for (size_t k = ARRAY_SIZE(tellers); k-- > 0;) {
		int n = 0;

		if (t->options.source == TUI_OF_DEVICES && tellers[k].texts == sensor_texts)
			continue; /* its own line has them */
		for (uint32_t i = 0; i < n_alone(t, lines); i++)
			n += tellers[k].texts(t, t->usage.order[i], texts) > 0;
		if (n > room)
			continue;
		told |= 1u << k;
		room -= n;
	}
	return told;
}

static void draw_texts(struct pen *pen, const struct sensor_text *texts, unsigned n)
{
	struct line_parts parts = {.fill = ROLE_NORMAL};

	for (unsigned i = 0; i < n; i++)
		parts_add(&parts, texts[i].role, texts[i].priority, "%s", texts[i].text);
	parts_draw(&parts, pen);
}

/* The lines below its device's; how many there are. */
static int draw_told(const struct tui *t, const struct canvas *canvas, int y, uint32_t device,
		     unsigned told)
{
	struct sensor_text texts[SENSOR_TEXTS];
	int lines = 0;

	for (size_t k = 0; k < ARRAY_SIZE(tellers); k++) {
		unsigned n = told & 1u << k ? tellers[k].texts(t, device, texts) : 0;
		struct pen pen = pen_at(canvas, y + lines, 0, canvas->cols);

		if (!n)
			continue;
		pen_skip(&pen, ROLE_NORMAL, SENSORS_INDENT);
		if (!tellers[k].draw(t, &pen, device))
			draw_texts(&pen, texts, n);
		pen_fill(&pen, ROLE_NORMAL);
		lines++;
	}
	return lines;
}

/* "GPU0, GPU3: where launches with scopes of warps ran": of these devices nothing else is known. */
static void draw_devices_of_warps(const struct warp_trace *t, struct pen *pen)
{
	uint64_t drawn = 0;

	for (size_t i = 0; i < t->n_launches; i++) {
		int32_t device = t->launches[i].device;

		if (device < 0 || device >= 64 || drawn >> device & 1)
			continue;
		pen_printf(pen, ROLE_NORMAL, "%sGPU%d", drawn ? ", " : "", device);
		drawn |= UINT64_C(1) << device;
	}
	pen_put(pen, ROLE_DIM,
		drawn ? ": scopes of warps, and nothing else of it is in the file"
		      : "scopes of warps, and not on which device they ran");
}

static void draw_no_device(const struct tui *t, struct pen *pen)
{
	const struct warp_trace *warps = t->options.warps ? t->options.warps->list : NULL;

	if (t->options.live)
		pen_put(pen, ROLE_DIM, "no device has been seen");
	else if (warps && warps->n_launches)
		draw_devices_of_warps(warps, pen);
	else
		pen_put(pen, ROLE_DIM, "no device is in the file");
}

int header_draw_devices(struct tui *t, const struct canvas *canvas, int y, int lines, unsigned told)
{
	uint32_t n = (uint32_t)t->usage.n_devices;
	int first = y;

	for (uint32_t line = 0; line < (uint32_t)lines; line++) {
		struct pen pen = pen_at(canvas, y++, 0, canvas->cols);
		uint32_t device = line < n ? t->usage.order[line] : 0;

		if (n == 0)
			draw_no_device(t, &pen);
		else if (line >= n_alone(t, lines))
			draw_device_line(t, &pen, line);
		else if (t->options.source == TUI_OF_DEVICES)
			draw_alone(t, &pen, device);
		else if (in_window(t, &t->usage.devices[device]))
			draw_live(t, &pen, device, told & 1u << TELLER_COUNTERS);
		else
			draw_whole(t, &pen, device);
		pen_fill(&pen, ROLE_NORMAL);
		if (line < n_alone(t, lines))
			y += draw_told(t, canvas, y, device, told);
	}
	return y - first;
}
