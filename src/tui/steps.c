/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/steps.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include "base/human.h"
#include "base/util.h"
#include "core/step_slow.h"
#include "tui/tui_impl.h"

void steps_age(struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);
	struct steps_known *k = &t->steps;
	struct stepped *v;
	uint32_t n;

	if (k->generation == s->generation + 1)
		return;
	k->generation = s->generation + 1;
	v = stepped_new(s, &n);
	k->any = n > 0;
	if (k->any) {
		k->of = *v;
		stepped_name(s, v, k->name);
	}
	free(v);
}

static void add_gap(const struct stepped *of, struct line_parts *parts)
{
	char text[HUMAN_MAX];

	if (!(of->apart_ns >= of->mean_ns / 100))
		return;
	human_time_ns(text, of->apart_ns);
	parts_add(parts, ROLE_NORMAL, 6, "%s between", text);
}

/* How much of it devices worked. */
static void add_busy(const struct stepped *of, struct line_parts *parts)
{
	char mean[HUMAN_MAX], slowest[HUMAN_MAX], number[STEPPED_NUMBER];

	if (isnan(of->busy_ns))
		return;
	human_time_ns(mean, of->busy_ns);
	human_time_ns(slowest, of->slowest_busy_ns);
	if (isnan(of->slowest_busy_ns))
		parts_add(parts, ROLE_NORMAL, 3, "busy %s", mean);
	else
		parts_add(parts, ROLE_NORMAL, 3, "busy %s (%s of #%s)", mean, slowest,
			  stepped_number(of, of->slowest, number));
}

/* Why the slowest was slow, and what will not go on for ever. */
static void add_trouble(const struct stepped *of, struct line_parts *parts)
{
	const char *why = stepped_why_word(stepped_why_slowest(of));
	char more[HUMAN_MAX];

	if (why && of->max_ns >= STEP_SLOW_RATIO * of->median_ns)
		parts_add(parts, ROLE_NORMAL, 1, "%s", why);
	human_bytes(more, of->held.growth);
	if (of->held.growth > 0)
		parts_add(parts, ROLE_NORMAL, 1, "+%sB held a step", more);
}

void steps_draw(struct tui *t, const struct canvas *canvas, int y)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	struct line_parts parts = {.less_than_name = 1, .fill = ROLE_NORMAL};
	const struct stepped *of = &t->steps.of;
	char text[STEPPED_TEXT], number[HUMAN_MAX], median[HUMAN_MAX], p95[HUMAN_MAX];

	parts_add(&parts, ROLE_HEADER, 0, "step %s", stepped_text(of, canvas->look->ascii, text));
	add_trouble(of, &parts);
	human_count(number, of->n);
	human_time_ns(median, of->median_ns);
	human_time_ns(p95, of->p95_ns);
	parts_add(&parts, ROLE_NORMAL, 2, "%s steps", number);
	add_busy(of, &parts);
	parts_add(&parts, ROLE_NORMAL, 4, "median %s, p95 %s", median, p95);
	add_gap(of, &parts);
	parts_add_name(&parts, ROLE_DIM, 3, "", t->steps.name, false);
	parts_draw(&parts, &pen);
}

void steps_add_part(struct tui *t, struct line_parts *parts)
{
	char mean[HUMAN_MAX], max[HUMAN_MAX];

	if (!t->steps.any)
		return;
	human_time_ns(mean, t->steps.of.mean_ns);
	human_time_ns(max, t->steps.of.max_ns);
	parts_add(parts, ROLE_HEADER, 5, "step %s (max %s)", mean, max);
}
