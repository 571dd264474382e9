/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/advice.h"
#include <math.h>
#include "base/clock.h"
#include "tui/names.h"
#include "tui/parts.h"
#include "tui/tui_impl.h"

#define EVERY_NS  (5 * NSEC_PER_SEC)
#define MANY_ROWS 50000 /* they take 20 ms: more than a key may need */

void advice_make(struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);
	struct advice *a = &t->advice;

	if (a->made_ns && a->generation == s->generation)
		return;
	findings_make(&a->findings, s);
	a->generation = s->generation;
	a->made_ns = clock_monotonic_ns();
}

void advice_age(struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);

	if (s->n_rows <= MANY_ROWS && (s->ended || !t->advice.made_ns ||
				       clock_monotonic_ns() - t->advice.made_ns >= EVERY_NS))
		advice_make(t);
}

void advice_done(struct advice *a)
{
	findings_done(&a->findings);
}

void advice_draw(struct tui *t, const struct canvas *canvas, int y)
{
	struct line_parts parts = {.less_than_name = 3, .fill = ROLE_NORMAL};
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	const struct finding *first = t->advice.findings.v;
	char time[HUMAN_MAX], share[HUMAN_MAX];

	human_time_ns(time, first->price_ns);
	human_percent(share, first->price_ns / t->advice.findings.whole_ns);
	parts_add(&parts, ROLE_WARNING, 0, "%s", finding_title(first->rule));
	if (!isnan(first->price_ns))
		parts_add(&parts, ROLE_WARNING, 1, "%s %s%%", time, share);
	parts_add_name(&parts, ROLE_NORMAL, 2, "", first->evidence, false);
	if (t->advice.findings.n > 1)
		parts_add(&parts, ROLE_DIM, 3, "%s: all %zu findings",
			  keymap_words(&t->keys, REQ_PANEL_14), t->advice.findings.n);
	else
		parts_add(&parts, ROLE_DIM, 3, "%s: what to do",
			  keymap_words(&t->keys, REQ_PANEL_14));
	parts_draw(&parts, &pen);
}
