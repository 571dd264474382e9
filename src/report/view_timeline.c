/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* When operations ran, as a picture: a line for each stream and thread, in each column the share of it that
 * was busy. What a filter leaves out is not drawn. */
#include <stdlib.h>
#include "base/human.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/strips.h"
#include "report/report_impl.h"

#define LABEL       18
#define USUAL_WIDTH 100 /* where there is no terminal */
#define MAX_COLUMNS 1000

struct picture {
	struct report *r;
	struct strips strips;
	struct strip_view view;
	struct strip_cell *cells;
};

static uint8_t class_of(void *ctx, uint32_t node, uint32_t lane)
{
	const struct report *r = ctx;
	const struct session_interval v = {.node = node, .lane = lane};
	uint32_t id = interval_node(r->snap, &v);

	return id == SNAP_NONE || numbers_counts(r->numbers, id) ? 0 : STRIP_LEAST;
}

static const char *level_of(const struct picture *p, unsigned i)
{
	static const char *const levels[2][8] = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
						 {".", ":", "-", "=", "+", "*", "#", "@"}};
	const struct strip_cell *cell = &p->cells[i];
	uint64_t ns = strip_column_ns(&p->view, i + 1) - strip_column_ns(&p->view, i);
	double share = (double)(cell->busy_ns - cell->least_ns) / (double)MAX(ns, 1);

	if (!cell->n || cell->class == STRIP_LEAST)
		return " ";
	return levels[p->r->o->ascii][CLAMP((int)(share * 8 + 0.5) - 1, 0, 7)];
}

static void put_place(struct picture *p, const struct strip_lane *lane)
{
	const struct session *s = p->r->s;
	struct out *out = p->r->out;
	char word[DEVICE_WORD];

	if (lane->device != SESSION_NONE) {
		session_device_word(s, lane->device, word);
		out_puts(out, word);
	} else {
		out_puts(out, lane->is_host ? "host" : "a device");
	}
	if (lane->process != SESSION_NONE && s->processes[lane->process].pid)
		out_printf(out, ", pid %u", s->processes[lane->process].pid);
	if (lane->process != SESSION_NONE && s->processes[lane->process].rank >= 0)
		out_printf(out, ", rank %d", s->processes[lane->process].rank);
	out_putc(out, '\n');
}

static void put_label(struct picture *p, const struct strip *strip)
{
	const struct strip_lane *lane = &p->strips.lanes[strip->lane];
	char label[64];

	if (strip->line)
		snprintf(label, sizeof(label), "    +%u", strip->line);
	else if (lane->is_host)
		snprintf(label, sizeof(label), "  thread %llu", (unsigned long long)lane->thread);
	else if (strips_have_contexts(&p->strips, lane))
		snprintf(label, sizeof(label), "  c%u stream %u", lane->context, lane->stream);
	else
		snprintf(label, sizeof(label), "  stream %u", lane->stream);
	out_printf(p->r->out, "%-*.*s ", LABEL - 1, LABEL - 1, label);
}

static void put_strip(struct picture *p, const struct strip *strip)
{
	uint64_t busy_ns = 0;
	char percent[HUMAN_MAX];

	put_label(p, strip);
	strips_cells(&p->strips, strip, &p->view, p->cells);
	for (unsigned i = 0; i < p->view.n; i++) {
		out_puts(p->r->out, level_of(p, i));
		busy_ns += p->cells[i].busy_ns - p->cells[i].least_ns;
	}
	human_percent(percent, (double)busy_ns / (double)(p->view.to_ns - p->view.from_ns));
	out_printf(p->r->out, " %5s%%\n", percent);
}

static void put_picture(struct picture *p)
{
	const struct strips *t = &p->strips;
	const struct strip_lane *last = NULL;
	char from[HUMAN_MAX], all[HUMAN_MAX], each[HUMAN_MAX], head[3 * HUMAN_MAX + 64];

	human_time_ns(from, (double)(p->view.from_ns - t->zero_ns));
	human_time_ns(all, (double)(p->view.to_ns - p->view.from_ns));
	human_time_ns(each, (double)(p->view.to_ns - p->view.from_ns) / p->view.n);
	snprintf(head, sizeof(head), "%s, from %s after the run began; a column is %s", all, from,
		 each);
	out_printf(p->r->out, "%-*s  BUSY%%\n", LABEL + (int)p->view.n, head);
	for (size_t i = 0; i < t->n_strips; i++) {
		const struct strip_lane *lane = &t->lanes[t->strips[i].lane];

		if (!last || last->process != lane->process || last->device != lane->device ||
		    last->is_host != lane->is_host)
			put_place(p, lane);
		put_strip(p, &t->strips[i]);
		last = lane;
	}
}

static int draw(struct picture *p)
{
	unsigned width = p->r->o->width ? p->r->o->width : USUAL_WIDTH;
	unsigned n = width > LABEL + 8 + 10 ? width - LABEL - 8 : 10;

	p->view =
		(struct strip_view){p->strips.first_ns, p->strips.last_ns + 1, MIN(n, MAX_COLUMNS)};
	p->view.to_ns = MAX(p->view.to_ns, p->view.from_ns + p->view.n);
	p->cells = calloc(p->view.n, sizeof(*p->cells));
	if (!p->cells || strips_sort(&p->strips, class_of, p->r) < 0)
		return -ENOMEM;
	put_picture(p);
	return 0;
}

int view_timeline(struct report *r)
{
	struct picture p = {.r = r};
	int e = strips_init(&p.strips, r->s);

	if (e == -ENODATA) {
		out_puts(r->out,
			 "no trace: 'proton record --trace' keeps when each operation ran\n");
		return 0;
	}
	if (e == 0)
		e = draw(&p);
	free(p.cells);
	strips_done(&p.strips);
	return e;
}
