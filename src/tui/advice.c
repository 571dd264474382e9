/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/advice.h"
#include <math.h>
#include <string.h>
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
	findings_make(&a->findings, s, t->options.peaks);
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

uint32_t advice_node(struct tui *t, const struct finding *finding)
{
	const struct session *s = snapshot_session(t->snap);
	uint32_t row = finding->n_nodes ? session_first_row(s, finding->nodes[0]) : SESSION_NONE;

	return row == SESSION_NONE ? SNAP_NONE : snapshot_row_node(t->snap, row);
}

/* The numbers that made it speak, without the price that stands before them. */
static const char *numbers_beyond(const char *evidence, const char *price)
{
	size_t len = strlen(price);

	return strncmp(evidence, price, len) || strncmp(evidence + len, ", ", 2)
		       ? evidence
		       : evidence + len + 2;
}

/* The length of its first clause. */
static size_t clause(const char *text)
{
	size_t len = strcspn(text, ",;:");

	while (text[len] && text[len + 1] != ' ')
		len += 1 + strcspn(text + len + 1, ",;:");
	return len;
}

/* What made it speak: numbers go whole, so it falls out in parts, before the key. */
static void add_evidence(struct line_parts *parts, const char *text)
{
	size_t len = clause(text);

	parts_add(parts, ROLE_NORMAL, 4, "%.*s", (int)len, text);
	if (text[len])
		parts_add(parts, ROLE_NORMAL, 5, "%s", text + len + 2);
}

/* What it is and where, at what price, of what. */
void advice_draw(struct tui *t, const struct canvas *canvas, int y)
{
	struct line_parts parts = {.less_than_name = 3, .fill = ROLE_NORMAL};
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	const struct findings *f = &t->advice.findings;
	const struct finding *first = f->v;
	uint32_t node = advice_node(t, first);
	char time[HUMAN_MAX], share[HUMAN_MAX];

	human_time_ns(time, finding_told_ns(first));
	human_percent(share, finding_told_ns(first) / f->whole_ns);
	parts_add(&parts, ROLE_WARNING, 0, "%s%s", t->options.before ? "B: " : "",
		  finding_title(first->rule));
	if (node != SNAP_NONE)
		parts_add_name(&parts, ROLE_NORMAL, 2, "", tui_node_name(t, node), false);
	if (!isnan(finding_told_ns(first)))
		parts_add(&parts, ROLE_WARNING, 1, "%s%s, %s %% of %s",
			  first->at_most ? "at most " : "", time, share,
			  f->is_wall ? "the run" : "device time");
	add_evidence(&parts, numbers_beyond(first->evidence, time));
	if (f->n > 1)
		parts_add(&parts, ROLE_DIM, 3, "%s: all %zu findings",
			  keymap_words(&t->keys, REQ_PANEL_14), f->n);
	else
		parts_add(&parts, ROLE_DIM, 3, "%s: what to do",
			  keymap_words(&t->keys, REQ_PANEL_14));
	parts_draw(&parts, &pen);
}
