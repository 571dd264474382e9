/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/counter_meters.h"
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "core/session.h"
#include "tui/counter_past.h"
#include "tui/tui_impl.h"

enum {
	GAP = 2,         /* between two of them */
	SPARK_LEAST = 6, /* columns, the blanks around it among them */
	SPARK_GOOD = 10, /* before there is more of anything else */
	SPARK_MOST = 24,
	METER_PERCENT = 5,  /* " 100%": what moves would draw the eye */
	METER_PERCENTS = 8, /* " 100/12%" */
	METERS_MOST = 8
};

/* Numbers that belong together, of which the first must be there. */
static const struct counter_group {
	const char *title;
	const char *meter; /* its word as a meter; NULL: it is none */
	enum counter_id of[2];
	unsigned n;
	int priority;
} groups[] = {
	{"SM", "SM", {COUNTED_SM_ACTIVE}, 1, 0},
	{"issue", NULL, {COUNTED_SM_ISSUE}, 1, 1},
	{"tensor", "tensor", {COUNTED_TENSOR}, 1, 1},
	{"DRAM rd/wr", "DRAM r/w", {COUNTED_DRAM_READ, COUNTED_DRAM_WRITE}, 2, 2},
	{"L2 hits", "L2 hits", {COUNTED_L2_HIT}, 1, 3},
	{"PCIe rd/wr", NULL, {COUNTED_PCIE_READ, COUNTED_PCIE_WRITE}, 2, 4},
	{"NVLink rx/tx", NULL, {COUNTED_NVLINK_RX, COUNTED_NVLINK_TX}, 2, 5},
	{"GPC", NULL, {COUNTED_GPC_CLOCK}, 1, 6},
};
_Static_assert(ARRAY_SIZE(groups) <= SENSOR_TEXTS && ARRAY_SIZE(groups) <= METERS_MOST,
	       "a place for each");

/* ---- words ---- */

/* Units of one letter stand close to their number. */
static const char *blank_before(const char *unit)
{
	return unit[0] && unit[1] && unit[0] != '/' ? " " : "";
}

/* False: the device has none of it. */
static bool put_group(const struct counter_group *g, const struct counted *mean,
		      struct sensor_text *out)
{
	char first[HUMAN_MAX], second[HUMAN_MAX] = "";
	const char *unit = counted_text(first, g->of[0], mean->v[g->of[0]]);

	if (isnan(mean->v[g->of[0]]))
		return false;
	if (g->n > 1)
		(void)counted_text(second, g->of[1], mean->v[g->of[1]]);
	*out = (struct sensor_text){.role = ROLE_NORMAL, .priority = g->priority};
	snprintf(out->text, sizeof(out->text), "%s %s%s%s%s%s", g->title, first,
		 g->n > 1 ? "/" : "", second, blank_before(unit), unit);
	return true;
}

unsigned counter_texts(const struct tui *t, uint32_t device, struct sensor_text out[SENSOR_TEXTS])
{
	struct counters_range range;
	unsigned n = 0;

	if (!session_counters_range(snapshot_session(t->snap), device, &range))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		n += put_group(&groups[i], &range.mean, &out[n]);
	return n;
}

/* ---- meters ---- */

static int meter_width(const struct counter_group *g)
{
	return (int)strlen(g->meter) + (g->n > 1 ? METER_PERCENTS : METER_PERCENT);
}

static void put_meter(struct pen *pen, const struct counter_group *g, const struct counted *now)
{
	int end = pen->x + meter_width(g);

	pen_printf(pen, ROLE_NORMAL, "%s %.0f", g->meter, now->v[g->of[0]]);
	if (g->n > 1 && !isnan(now->v[g->of[1]]))
		pen_printf(pen, ROLE_NORMAL, "/%.0f", now->v[g->of[1]]);
	pen_put(pen, ROLE_NORMAL, "%");
	pen_skip(pen, ROLE_NORMAL, MAX(end - pen->x, 0));
}

/* What has room on a line: meters first, other words as long as these keep a past that can be read. */
struct fit {
	const struct counter_group *meters[METERS_MOST];
	struct sensor_text others[METERS_MOST];
	unsigned n, n_others, n_sparks;
	int spark;
};

static void fit(const struct counted *now, int room, struct fit *f)
{
	int left = room + GAP;

	*f = (struct fit){.n = 0};
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++)
		if (groups[i].meter && !isnan(now->v[groups[i].of[0]]) &&
		    meter_width(&groups[i]) + GAP <= left) {
			left -= meter_width(&groups[i]) + GAP;
			f->meters[f->n++] = &groups[i];
		}
	for (size_t i = 0; i < ARRAY_SIZE(groups); i++) {
		struct sensor_text *text = &f->others[f->n_others];

		if (groups[i].meter || !put_group(&groups[i], now, text) ||
		    (int)strlen(text->text) + GAP + (int)f->n * SPARK_GOOD > left)
			continue;
		left -= (int)strlen(text->text) + GAP;
		f->n_others++;
	}
	f->n_sparks = (unsigned)CLAMP(left / SPARK_LEAST, 0, (int)f->n);
	f->spark = f->n_sparks ? MIN(left / (int)f->n_sparks, SPARK_MOST) : 0;
}

bool counter_meters_draw(const struct tui *t, struct pen *pen, uint32_t device)
{
	struct counted now;
	struct fit f;

	if (!session_counters_now(snapshot_session(t->snap), device, &now))
		return false;
	fit(&now, pen_left(pen), &f);
	for (unsigned i = 0; i < f.n; i++) {
		const struct counter_group *g = f.meters[i];

		pen_skip(pen, ROLE_NORMAL, i ? GAP : 0);
		put_meter(pen, g, &now);
		if (i >= f.n_sparks)
			continue;
		pen_skip(pen, ROLE_NORMAL, 1);
		counter_past_draw(t, pen, device, g->of, g->n, f.spark - 1);
	}
	for (unsigned i = 0; i < f.n_others; i++) {
		pen_skip(pen, ROLE_NORMAL, GAP);
		pen_put(pen, f.others[i].role, f.others[i].text);
	}
	return true;
}

bool counter_meters_put_first(const struct tui *t, struct pen *pen, uint32_t device, int width)
{
	const struct counter_group *g = &groups[0];
	int spark = MIN(width - 1 - meter_width(g), SPARK_MOST);
	struct counted now;

	if (!session_counters_now(snapshot_session(t->snap), device, &now) ||
	    isnan(now.v[g->of[0]]))
		return false;
	pen_skip(pen, ROLE_NORMAL, 1);
	put_meter(pen, g, &now);
	if (spark < SPARK_LEAST)
		return true;
	pen_skip(pen, ROLE_NORMAL, 1);
	counter_past_draw(t, pen, device, g->of, g->n, spark - 1);
	return true;
}
