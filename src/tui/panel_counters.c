/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "core/counter_rows.h"
#include "tui/counter_past.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

enum { NUMBER_WIDTH = 6, UNIT_WIDTH = 4, NARROW = 60, WIDE = 110 };

/* What hardware counters say of each device, with their past. */
struct panel_counters {
	struct sections base;
	struct counter_rows rows;
	bool has_several; /* devices */
};

static struct panel_counters *as_counters(struct panel *p)
{
	return (struct panel_counters *)p;
}

static bool is_there(const struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);

	return s->n_counters > 0 || s->counters_asked;
}

/* ---- columns; each has the row's number ---- */

static const struct counter_row *row_at(struct panel *p, double number)
{
	return &as_counters(p)->rows.v[(size_t)number];
}

#define NUMBER_COLUMN(of)                                                                          \
	static void print_##of(struct panel *p, double number, char out[COLUMN_TEXT])              \
	{                                                                                          \
		const struct counter_row *row = row_at(p, number);                                 \
		char text[HUMAN_MAX];                                                              \
                                                                                                   \
		(void)counter_row_text(row, row->of, text);                                        \
		snprintf(out, COLUMN_TEXT, "%s", text);                                            \
	}
NUMBER_COLUMN(now)
NUMBER_COLUMN(mean)
NUMBER_COLUMN(min)
NUMBER_COLUMN(max)

static void print_unit(struct panel *p, double number, char out[COLUMN_TEXT])
{
	char text[HUMAN_MAX];

	snprintf(out, COLUMN_TEXT, "%s",
		 counter_row_text(row_at(p, number), row_at(p, number)->mean, text));
}

static void draw_past(struct panel *p, struct pen *pen, double number, int width)
{
	const struct counter_row *row = row_at(p, number);

	const enum counter_id id = counter_row_id(row);
	enum sensor sensor, limit;

	if (id != COUNTED_N) {
		counter_past_draw(p->tui, pen, row->device, &id, 1, width);
		return;
	}
	sensor = counter_row_sensor(row, &limit);
	sensor_past_draw(p->tui, pen, row->device, sensor, limit, width);
}

/* Of a run that is over nothing is now. */
static bool lacks_now(struct panel *p, const struct column *c)
{
	return !panel_session(p)->counting;
}

/* What is now says most where there is little room. */
static bool lacks_mean(struct panel *p, const struct column *c)
{
	return p->width < NARROW && !lacks_now(p, c);
}

static bool lacks_narrow_past(struct panel *p, const struct column *c)
{
	return p->width >= NARROW;
}

static bool lacks_past(struct panel *p, const struct column *c)
{
	return p->width < NARROW || p->width >= WIDE;
}

static bool lacks_wide_past(struct panel *p, const struct column *c)
{
	return p->width < WIDE;
}

#define PAST_HELP                                                                                     \
	"means of times side by side, the newest at the right: of the last two minutes, or of a run " \
	"that is over; percents of 100, sensors of their limit, else of the highest"

static const struct column columns[] = {
	{"NOW", "mean of the last second", NUMBER_WIDTH, 0, .print = print_now,
	 .is_absent = lacks_now},
	{"MEAN", "of all that was counted", NUMBER_WIDTH, 0, .print = print_mean,
	 .is_absent = lacks_mean},
	{"MIN", "the lowest of its times, which of a long run are long", NUMBER_WIDTH, 3,
	 .print = print_min},
	{"MAX", "the highest of these", NUMBER_WIDTH, 2, .print = print_max},
	{"UNIT", "of all numbers of the row", UNIT_WIDTH, 0, .print = print_unit},
	{"PAST", PAST_HELP, 11, 0, .draw = draw_past, .is_absent = lacks_narrow_past},
	{"PAST", PAST_HELP, 24, 1, .draw = draw_past, .is_absent = lacks_past},
	{"PAST", PAST_HELP, 60, 1, .draw = draw_past, .is_absent = lacks_wide_past},
};

/* ---- rows ---- */

static void list_rows(struct panel *p)
{
	struct panel_counters *pc = as_counters(p);

	for (size_t i = 0; i < pc->rows.n; i++) {
		const struct counter_row *of = &pc->rows.v[i];
		struct section_row row = {.role = ROLE_NORMAL};
		char word[DEVICE_WORD];
		struct buf *name;

		for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
			row.v[k] = (double)i;
		name = sections_add(p, &row);
		if (pc->has_several) {
			session_device_word(panel_session(p), of->device, word);
			buf_printf(name, "%s ", word);
		}
		buf_puts(name, counter_row_title(of));
	}
}

static const char *say_none(struct panel *p)
{
	return counter_rows_why_none(panel_session(p));
}

static bool is_about_devices(const char *note)
{
	static const char *const about[] = {COUNTERS_NONE, COUNTERS_NOTES, SENSORS_NOTES};

	for (size_t i = 0; i < ARRAY_SIZE(about); i++)
		if (!strncmp(note, about[i], strlen(about[i])))
			return true;
	return false;
}

/* What else is said of them, such as that one device has none. */
static void list_notes(struct panel *p)
{
	static const struct section_row row = {.role = ROLE_WARNING};
	const struct session *s = panel_session(p);

	for (size_t i = 0; as_counters(p)->rows.n && i < s->n_notes; i++) {
		const char *text = session_text(s, s->notes[i].text);

		if (is_about_devices(text))
			sections_add_text(p, text, sections_room(p), &row);
	}
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = COUNTER_ROWS_TITLE,
		.name = "COUNTER",
		.columns = {columns, ARRAY_SIZE(columns), 20, 8},
		.list = list_rows,
		.say_empty = say_none,
		.of_b = true,
		.of_all = true,
	},
	{.list = list_notes},
};

static void update(struct panel *p)
{
	struct panel_counters *pc = as_counters(p);

	counter_rows_done(&pc->rows);
	if (counter_rows_make(&pc->rows, panel_session(p)) < 0)
		counter_rows_done(&pc->rows);
	pc->has_several = pc->rows.n && pc->rows.v[0].device != pc->rows.v[pc->rows.n - 1].device;
	sections_update(p);
}

static void done(struct panel *p)
{
	counter_rows_done(&as_counters(p)->rows);
	sections_done(p);
}

const struct panel_ops panel_counters_ops = {
	.title = "Counters",
	.is_of_run = true,
	.is_there = is_there,
	.is_of_devices = true,
	.size = sizeof(struct panel_counters),
	.init = sections_init,
	.done = done,
	.update = update,
	.keys = sections_keys,
	SECTIONS_OPS(sections),
};
