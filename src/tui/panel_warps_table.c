/* SPDX-License-Identifier: MIT */
/* The table of scopes below the lanes: what each takes, over all warps of the launch, and which blocks stand out. It is the
 * legend of the letters, too. */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "tui/panel_warps.h"
#include "tui/tui_impl.h"

#define MOST_ROWS  12
#define NARROW     60
#define NAME_LEAST 10
#define COLUMN     7

/* ---- which of them ---- */

struct chosen {
	size_t v[MOST_ROWS]; /* stats, in the order of their tree */
	size_t n;
};

static int compare_indices(const void *a, const void *b)
{
	return COMPARE(*(const size_t *)a, *(const size_t *)b);
}

static bool is_chosen(const struct chosen *c, size_t i)
{
	for (size_t k = 0; k < c->n; k++)
		if (c->v[k] == i)
			return true;
	return false;
}

static bool is_more(const struct warp_stat *a, const struct warp_stat *b)
{
	return a->share > b->share || (isnan(b->share) && !isnan(a->share));
}

/* The one under the cursor, and those with most time. */
static struct chosen choose(const struct panel_warps *pw, const struct warp_stat *here, size_t room)
{
	const struct warp_stats *s = &pw->stats;
	struct chosen c = {.n = 0};

	room = MIN(MIN(room, MOST_ROWS), s->n_stats);
	if (here && room)
		c.v[c.n++] = (size_t)(here - s->stats);
	while (c.n < room) {
		size_t best = SIZE_MAX;

		for (size_t i = 0; i < s->n_stats; i++)
			if (!is_chosen(&c, i) &&
			    (best == SIZE_MAX || is_more(&s->stats[i], &s->stats[best])))
				best = i;
		c.v[c.n++] = best;
	}
	qsort(c.v, c.n, sizeof(c.v[0]), compare_indices);
	return c;
}

/* ---- a row ---- */

static double mean(const struct warp_stat *stat)
{
	if (stat->event == WARP_EVENT_VALUE)
		return stat->n ? stat->value / (double)stat->n : NAN;
	return stat->n ? stat->cycles / (double)stat->n : NAN;
}

/* Values have no unit that is known; what takes no time has no times. */
static void put_number(const struct panel_warps *pw, const struct warp_stat *stat, double number,
		       char out[HUMAN_MAX])
{
	if (isnan(number))
		snprintf(out, HUMAN_MAX, "-");
	else if (stat->event == WARP_EVENT_VALUE && (number < 1000 || number >= 1e12))
		snprintf(out, HUMAN_MAX, "%.3g", number);
	else if (stat->event == WARP_EVENT_VALUE)
		human_count(out, number);
	else
		warps_put_cycles(pw, number, out);
}

enum { N_NUMBERS = 6 };
static const struct {
	const char *title;
	bool is_narrow; /* on a narrow screen, too */
} numbers[N_NUMBERS] = {
	{"SHARE", true}, {"COUNT", false}, {"MEAN", true},
	{"MIN", false},  {"P99", true},    {"MAX", false},
};

static void number_texts(const struct panel_warps *pw, const struct warp_stat *stat,
			 char out[N_NUMBERS][HUMAN_MAX])
{
	bool is_value = stat->event == WARP_EVENT_VALUE;

	if (isnan(stat->share))
		snprintf(out[0], HUMAN_MAX, "-");
	else
		human_percent(out[0], stat->share);
	human_count(out[1], (double)(stat->n + stat->n_open));
	put_number(pw, stat, mean(stat), out[2]);
	put_number(pw, stat, is_value ? stat->value_min : stat->min, out[3]);
	put_number(pw, stat, is_value ? NAN : stat->p99, out[4]);
	put_number(pw, stat, is_value ? stat->value_max : stat->max, out[5]);
}

/* "CTA 41 2.1x, 173 1.9x": the worst first. */
static void put_outliers(const struct panel_warps *pw, const struct warp_stat *stat,
			 struct buf *out)
{
	const struct warp_outlier *o = &pw->stats.outliers[stat->outliers];

	for (size_t i = 0; i < stat->n_outliers; i++)
		buf_printf(out, "%s%llu %.1fx", i ? ", " : "", (unsigned long long)o[i].block,
			   o[i].times);
}

static void put_name(const struct panel_warps *pw, const struct warp_stat *stat, struct buf *out)
{
	static const char *const words[] = {
		[WARP_EVENT_SCOPE] = "",
		[WARP_EVENT_ASYNC] = " ~",
		[WARP_EVENT_MARK] = " (mark)",
		[WARP_EVENT_VALUE] = " (value)",
	};

	buf_printf(out, "%*s%s%s", (int)MIN(2 * stat->depth, 16), "", warps_name(pw, stat->name),
		   words[stat->event]);
	if (stat->n_open)
		buf_printf(out, " (%llu not left)", (unsigned long long)stat->n_open);
}

static void draw_sample(const struct panel_warps *pw, struct pen *pen, const struct warp_stat *stat)
{
	const struct glyphs *g = pen->canvas->look->glyphs;
	unsigned class = pw->tracks.class_of[stat->name];

	pen_skip(pen, ROLE_NORMAL, 1);
	if (stat->event == WARP_EVENT_MARK || stat->event == WARP_EVENT_VALUE)
		pen_put(pen, ROLE_TITLE, stat->event == WARP_EVENT_MARK ? g->ascending : g->found);
	else
		pen_put(pen, warps_ground(pw, class), (const char[]){pw->letters[class], '\0'});
}

/* Columns that the name has where blocks stand behind it. */
static int name_width(const struct panel_warps *pw, int left)
{
	return pw->stats.n_outliers ? MAX(left * 3 / 5, NAME_LEAST) : left;
}

static void draw_names(struct panel *p, struct pen *pen, const struct warp_stat *stat,
		       enum role role)
{
	const struct panel_warps *pw = as_warps(p);
	struct pen name = pen_at(pen->canvas, pen->y, pen->x, name_width(pw, pen_left(pen)));
	struct buf text;

	buf_init(&text, 256);
	put_name(pw, stat, &text);
	pen_name(&name, role, &(struct pen_name){.text = buf_str(&text), .cut = TEXT_CUT_MIDDLE});
	pen_fill(&name, ROLE_NORMAL);
	pen->x = name.x;
	buf_clear(&text);
	put_outliers(pw, stat, &text);
	pen_skip(pen, ROLE_NORMAL, 1);
	pen_name(pen, ROLE_WARNING, &(struct pen_name){.text = buf_str(&text)});
	buf_done(&text);
}

static void draw_stat(struct panel *p, struct pen *pen, const struct warp_stat *stat, bool is_here)
{
	const struct panel_warps *pw = as_warps(p);
	char texts[N_NUMBERS][HUMAN_MAX];

	number_texts(pw, stat, texts);
	draw_sample(pw, pen, stat);
	for (unsigned i = 0; i < N_NUMBERS; i++)
		if (p->width >= NARROW || numbers[i].is_narrow)
			pen_right(pen, ROLE_NUMBER, COLUMN, texts[i]);
	pen_put(pen, ROLE_NORMAL, is_here ? pen->canvas->look->glyphs->cursor : " ");
	draw_names(p, pen, stat, is_here ? ROLE_TITLE : ROLE_NORMAL);
}

/* ---- the table ---- */

static void draw_titles(struct panel *p, struct pen *pen, size_t n)
{
	const struct panel_warps *pw = as_warps(p);
	const char *key = keymap_words(&p->tui->keys, REQ_HOT_CHILD);
	struct pen name;

	pen_skip(pen, ROLE_HEAD, 2);
	for (unsigned i = 0; i < N_NUMBERS; i++)
		if (p->width >= NARROW || numbers[i].is_narrow)
			pen_right(pen, ROLE_HEAD, COLUMN, numbers[i].title);
	pen_skip(pen, ROLE_HEAD, 1);
	name = pen_at(pen->canvas, pen->y, pen->x, name_width(pw, pen_left(pen)));
	pen_put(&name, ROLE_HEAD, "SCOPE");
	if (n < pw->stats.n_stats)
		pen_printf(&name, ROLE_HEAD, " (%zu of %zu)", n, pw->stats.n_stats);
	pen_fill(&name, ROLE_HEAD);
	pen->x = name.x;
	if (pw->stats.n_outliers)
		pen_printf(pen, ROLE_HEAD, " LATE CTAS (%.*s)", (int)strcspn(key, " "), key);
	pen_fill(pen, ROLE_HEAD);
}

int warps_foot_rows(struct panel *p, int rows)
{
	int most = MIN(rows / 3, MOST_ROWS + 2);

	panel_refresh(p);
	as_warps(p)->foot = MIN(2 + (int)MIN(as_warps(p)->stats.n_stats, MOST_ROWS), most);
	return as_warps(p)->foot;
}

void warps_draw_foot(struct panel *p, struct pen *pen)
{
	const struct panel_warps *pw = as_warps(p);
	struct warps_here here = warps_here(p);
	const struct warp_stat *stat =
		here.spot.segment ? warps_stat(pw, here.spot.warp, here.spot.segment->scope) : NULL;
	struct chosen c = choose(pw, stat, (size_t)pw->foot - 2);

	warps_draw_here(p, pen, ROLE_NORMAL);
	for (size_t i = 0; i <= c.n; i++) {
		struct pen line = pen_at(pen->canvas, pen->y + 1 + (int)i, 0, pen->canvas->cols);
		const struct warp_stat *of = i ? &pw->stats.stats[c.v[i - 1]] : NULL;

		if (of)
			draw_stat(p, &line, of, of == stat);
		else
			draw_titles(p, &line, c.n);
	}
}
