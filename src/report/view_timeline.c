/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* When operations ran, as a picture: a line for each stream and thread, in each column the share of it that
 * was busy, and for each device as one, with letters for why nothing ran; below it the longest of these gaps. What
 * a filter leaves out is not drawn. */
#include <math.h>
#include <stdlib.h>
#include "base/human.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/busy.h"
#include "core/levels.h"
#include "core/pages.h"
#include "core/runs.h"
#include "core/strips.h"
#include "report/rows.h"
#include "report/words.h"

#define LABEL       18
#define USUAL_WIDTH 100 /* where there is no terminal */
#define MAX_COLUMNS 1000
#define LITTLE      0.001 /* of the time: what is drawn of less says nothing */
#define MOST_GAPS   5     /* of a device */

struct picture {
	struct report *r;
	struct strips strips;
	struct strip_view view;
	struct strip_cell *cells;
	struct busy
		*busy; /* by lane that is the first of its device; without strips: of the host */
	bool has_letters, has_unrecorded;
};

static uint8_t class_of(void *ctx, uint32_t node, uint32_t lane)
{
	const struct report *r = ctx;
	const struct session_interval v = {.node = node, .lane = lane};
	uint32_t id = interval_node(r->snap, &v);

	return id == SNAP_NONE || numbers_counts(r->numbers, id) ? 0 : STRIP_LEAST;
}

static const char *level(const struct picture *p, double share)
{
	static const char *const levels[2][8] = {{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
						 {".", ":", "-", "=", "+", "*", "#", "@"}};

	return levels[p->r->o->ascii][CLAMP((int)(share * 8 + 0.5) - 1, 0, 7)];
}

static const char *unrecorded_fill(const struct picture *p)
{
	return p->r->o->ascii ? "/" : "░";
}

/* All of the device that a lane is of; NULL: it is of the host. */
static const struct busy *busy_of(const struct picture *p, uint32_t lane)
{
	const struct busy *b;

	if (p->strips.lanes[lane].is_host)
		return NULL;
	b = &p->busy[strips_device_lane(&p->strips, lane)];
	return b->t ? b : NULL;
}

/* How much of [from, to) is known of a lane. */
static uint64_t known_ns(const struct picture *p, uint32_t lane, uint64_t from_ns, uint64_t to_ns)
{
	const struct busy *b = busy_of(p, lane);

	return b ? busy_known_ns(b, from_ns, to_ns) : to_ns - from_ns;
}

static bool is_unrecorded(const struct picture *p, uint32_t lane, unsigned column)
{
	const struct busy *b = busy_of(p, lane);

	return b && busy_unrecorded(b, &p->view, column) != UNRECORDED_N;
}

static const char *level_of(const struct picture *p, const struct strip *strip, unsigned i)
{
	const struct strip_cell *cell = &p->cells[i];
	uint64_t ns = known_ns(p, strip->lane, strip_column_ns(&p->view, i),
			       strip_column_ns(&p->view, i + 1));
	double share = (double)(cell->busy_ns - cell->least_ns) / (double)MAX(ns, 1);

	if (!cell->n && is_unrecorded(p, strip->lane, i))
		return unrecorded_fill(p);
	if (!cell->n || cell->class == STRIP_LEAST)
		return " ";
	return level(p, share);
}

/* ---- rows ---- */

static void put_device(struct picture *p, const struct strip_lane *lane)
{
	char word[DEVICE_WORD] = "a device";

	if (lane->device != SESSION_NONE)
		session_device_word(p->r->s, lane->device, word);
	out_puts(p->r->out, word);
}

/* "GPU0, pid 4711, rank 2" */
static void put_place(struct picture *p, const struct strip_lane *lane)
{
	const struct session *s = p->r->s;
	struct out *out = p->r->out;

	if (lane->is_host && lane->device == SESSION_NONE)
		out_puts(out, "host");
	else
		put_device(p, lane);
	if (lane->process != SESSION_NONE && s->processes[lane->process].pid)
		out_printf(out, ", pid %u", s->processes[lane->process].pid);
	if (lane->process != SESSION_NONE && s->processes[lane->process].rank >= 0)
		out_printf(out, ", rank %d", s->processes[lane->process].rank);
}

static void put_label(struct picture *p, const char *label)
{
	out_printf(p->r->out, "%-*.*s ", LABEL - 1, LABEL - 1, label);
}

static void put_strip_label(struct picture *p, const struct strip *strip)
{
	const struct strip_lane *lane = &p->strips.lanes[strip->lane];
	char label[64], stream[STREAM_WORD];

	if (strip->line)
		snprintf(label, sizeof(label), "    +%u", strip->line);
	else if (lane->pages)
		snprintf(label, sizeof(label), "  %s", pages_lane_words[lane->pages]);
	else if (lane->is_host)
		snprintf(label, sizeof(label), "  thread %llu", (unsigned long long)lane->thread);
	else if (strips_have_contexts(&p->strips, lane))
		snprintf(label, sizeof(label), "  c%u %s", lane->context,
			 session_stream_word(lane->stream, stream));
	else
		snprintf(label, sizeof(label), "  %s", session_stream_word(lane->stream, stream));
	put_label(p, label);
}

static void put_percent(struct picture *p, double share)
{
	char percent[HUMAN_MAX];

	human_percent(percent, share);
	out_printf(p->r->out, " %5s%s\n", percent, isnan(share) ? "" : "%");
}

/* The cells of a strip; how much of the time it was busy, of what is known; NaN: nothing is. */
static double look_at(struct picture *p, const struct strip *strip)
{
	uint64_t busy_ns = 0, of_ns = known_ns(p, strip->lane, p->view.from_ns, p->view.to_ns);

	strips_cells(&p->strips, strip, &p->view, p->cells);
	for (unsigned i = 0; i < p->view.n; i++)
		busy_ns += p->cells[i].busy_ns - p->cells[i].least_ns;
	return of_ns ? (double)busy_ns / (double)of_ns : NAN;
}

/* All lines of a lane of pages: bytes, or how many there were of what has none. */
static double lane_amount(const struct picture *p, const struct strip_lane *lane,
			  bool *ret_is_bytes)
{
	const struct strips *t = &p->strips;
	uint32_t least = lane->pages > PAGES_TO_PEER;
	double amount = 0;

	*ret_is_bytes = !least;
	for (uint32_t k = 0; k < lane->n_strips; k++) {
		const struct strip *strip = &t->strips[lane->first_strip + k];

		for (size_t i = 0; i < strip->n; i++)
			if (t->classes[strip->first + i] != STRIP_LEAST)
				amount += MAX(strip_interval(t, strip, i)->amount, least);
	}
	return amount;
}

/* Nobody was busy with it: how much it was stands in the place of that. */
static void put_amount(struct picture *p, const struct strip *strip)
{
	bool is_bytes;
	double amount = lane_amount(p, &p->strips.lanes[strip->lane], &is_bytes);
	char text[HUMAN_MAX] = "";

	if (!strip->line && is_bytes)
		human_bytes(text, amount);
	else if (!strip->line)
		human_count(text, amount);
	out_printf(p->r->out, " %6s\n", text);
}

static void put_strip(struct picture *p, const struct strip *strip)
{
	double share = look_at(p, strip);

	put_strip_label(p, strip);
	for (unsigned i = 0; i < p->view.n; i++)
		out_puts(p->r->out, level_of(p, strip, i));
	if (p->strips.lanes[strip->lane].pages)
		put_amount(p, strip);
	else
		put_percent(p, share);
}

/* Of pages single ones say something. */
static bool says_little(struct picture *p, const struct strip_lane *lane)
{
	double share = 0;

	if (lane->pages)
		return false;
	for (uint32_t i = 0; i < lane->n_strips; i++)
		share += look_at(p, &p->strips.strips[lane->first_strip + i]);
	return share < LITTLE;
}

/* Lanes [from, to) are of one place. Of those that say little one is shown, and more are told as so many. */
static void put_lanes(struct picture *p, size_t from, size_t to)
{
	const struct strips *t = &p->strips;
	size_t n_little = 0;

	for (size_t i = from; i < to; i++)
		n_little += says_little(p, &t->lanes[i]);
	for (size_t i = from; i < to; i++) {
		const struct strip_lane *lane = &t->lanes[i];

		if (n_little > 1 && says_little(p, lane))
			continue;
		for (uint32_t k = 0; k < lane->n_strips; k++)
			put_strip(p, &t->strips[lane->first_strip + k]);
	}
	if (n_little > 1)
		out_printf(p->r->out, "  %zu %s below %g%%\n", n_little,
			   t->lanes[from].is_host ? "threads" : "streams", LITTLE * 100);
}

/* ---- devices as one ---- */

static void put_blanks(struct picture *p, unsigned n)
{
	out_printf(p->r->out, "%*s", (int)n, "");
}

static void put_busy_run(struct picture *p, const struct busy_run *run, unsigned from)
{
	if (run->share > 0) {
		out_puts(p->r->out, level(p, run->share));
	} else if (run->unrecorded != UNRECORDED_N) {
		for (unsigned k = from; k < run->end; k++)
			out_puts(p->r->out, unrecorded_fill(p));
		p->has_unrecorded = true;
	} else if (run->reason == GAP_N_PARTS) {
		put_blanks(p, run->end - from);
	} else {
		put_blanks(p, run->middle - from);
		out_puts(p->r->out, gap_words[run->reason].letter);
		put_blanks(p, run->end - run->middle - 1);
		p->has_letters = true;
	}
}

static int put_busy(struct picture *p, uint32_t lane)
{
	struct busy *b = &p->busy[lane];
	struct busy_run run;

	if (busy_init(b, &p->strips, lane) < 0)
		return -ENOMEM;
	put_label(p, "  busy");
	for (unsigned k = 0; k < p->view.n; k = run.end) {
		run = busy_run(b, &p->view, k);
		put_busy_run(p, &run, k);
	}
	put_percent(p, busy_share(b, p->view.from_ns, p->view.to_ns));
	return 0;
}

/* The most of each column, of the most that there ever was, which stands at the end. */
static int put_memory(struct picture *p, const struct strip_lane *lane)
{
	struct levels l;
	char peak[HUMAN_MAX];
	int r = levels_init(&l, p->strips.s, lane->process, lane->device, lane->shift_ns);

	if (r < 0 || !l.n) {
		levels_done(&l);
		return r;
	}
	put_label(p, "  mem, and most");
	for (unsigned k = 0; k < p->view.n; k++) {
		double share = levels_most(&l, strip_column_ns(&p->view, k),
					   strip_column_ns(&p->view, k + 1)) /
			       l.peak;

		out_puts(p->r->out, share > 0 ? level(p, share) : " ");
	}
	human_bytes(peak, l.peak);
	out_printf(p->r->out, " %6s\n", peak);
	levels_done(&l);
	return 0;
}

/* ---- why nothing ran ---- */

struct gap_table {
	struct picture *p;
	struct busy_gap gaps[MOST_GAPS];
};

static void gap_length(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct gap *gap = &((const struct gap_table *)ctx)->gaps[row].of;

	human_time_ns(out, (double)(gap->end - gap->start));
}

static void gap_at(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct gap_table *t = ctx;

	human_time_ns(out, (double)(t->gaps[row].of.start - t->p->strips.zero_ns));
}

static void gap_why(const void *ctx, size_t row, char out[CELL_MAX])
{
	struct buf text;

	buf_init(&text, CELL_MAX);
	busy_put_parts(&((const struct gap_table *)ctx)->gaps[row], &text);
	snprintf(out, CELL_MAX, "%s", text.len ? buf_str(&text) : "-");
	buf_done(&text);
}

static void gap_thread(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct gap_table *t = ctx;
	const struct strip_place *late = &t->gaps[row].after;
	const struct session_interval *v = strip_interval(&t->p->strips, late->strip, late->i);
	uint64_t thread = t->p->strips.s->lanes[v->lane].thread;

	snprintf(out, CELL_MAX, thread ? "%llu" : "-", (unsigned long long)thread);
}

/* What came after it, for who launches late lets the device wait; by itself where its path is too long. */
static void gap_before(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct gap_table *t = ctx;
	const struct strip_place *late = &t->gaps[row].after;
	const struct session_interval *v = strip_interval(&t->p->strips, late->strip, late->i);
	uint32_t node = interval_node(t->p->r->snap, v);
	struct buf text;

	buf_init(&text, 0);
	if (node == SNAP_NONE)
		buf_puts(&text, session_node_name(t->p->strips.s, v->node));
	else
		rows_path(t->p->r, node, &text);
	snprintf(out, CELL_MAX, "%s",
		 text.len < CELL_MAX || node == SNAP_NONE ? buf_str(&text)
							  : report_name(t->p->r, node));
	buf_done(&text);
}

static void put_gaps(struct picture *p, uint32_t lane)
{
	static const struct word_column columns[] = {
		{"LENGTH", false, gap_length}, {"AT", false, gap_at},
		{"WHY", true, gap_why},        {"THREAD", false, gap_thread, 1},
		{"BEFORE", true, gap_before},
	};
	struct gap_table t = {.p = p};
	size_t n = busy_longest(&p->busy[lane], t.gaps, MOST_GAPS);

	if (!n)
		return;
	out_puts(p->r->out, "\nLongest times in which nothing ran on ");
	put_place(p, &p->strips.lanes[lane]);
	out_putc(p->r->out, '\n');
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), n, &t}, p->r->o, p->r->out);
}

static void put_letters(struct picture *p)
{
	if (p->has_letters) {
		out_puts(p->r->out, "nothing ran:");
		for (size_t i = 0; i < GAP_N_PARTS; i++)
			if (gap_words[i].letter)
				out_printf(p->r->out, "  %s %s", gap_words[i].letter,
					   gap_words[i].word);
	}
	if (p->has_unrecorded)
		out_printf(p->r->out, "%s%s not recorded", p->has_letters ? "  " : "",
			   unrecorded_fill(p));
	if (p->has_letters || p->has_unrecorded)
		out_putc(p->r->out, '\n');
}

/* ---- what is not known ---- */

#define MOST_UNRECORDED 10 /* of a process */

/* "  1.2s of it, from 3.4s: paused" */
static void put_span(struct picture *p, const struct unrecorded_span *span)
{
	char length[HUMAN_MAX], at[HUMAN_MAX];

	human_time_ns(length, (double)(span->end_ns - span->start_ns));
	human_time_ns(at, (double)(span->start_ns - p->strips.zero_ns));
	out_printf(p->r->out, "  %s from %s on: %s\n", length, at, unrecorded_words[span->reason]);
}

static void put_process(struct picture *p, uint32_t process)
{
	const struct session *s = p->r->s;

	if (s->n_processes > 1 && process != SESSION_NONE)
		out_printf(p->r->out, " of pid %u", s->processes[process].pid);
}

/* "  but GPU0 is known to have worked for 10us of it, which counts": by the devices that a process used. */
static void put_known(struct picture *p, uint32_t process)
{
	const struct strips *t = &p->strips;
	char text[HUMAN_MAX];

	for (uint32_t i = 0; i < t->n_lanes; i++) {
		uint64_t ns =
			p->busy[i].t && t->lanes[i].process == process
				? busy_unrecorded_ns(&p->busy[i], p->view.from_ns, p->view.to_ns)
				: 0;

		if (!ns)
			continue;
		human_time_ns(text, (double)ns);
		out_puts(p->r->out, "  but ");
		put_device(p, &t->lanes[i]);
		out_printf(p->r->out, " is known to have worked for %s of it, which counts\n",
			   text);
	}
}

/* What of a process's time in the picture was not recorded, and why. */
static int put_unrecorded(struct picture *p, const struct strip_lane *lane)
{
	struct unrecorded all;
	uint64_t from_ns = p->view.from_ns, to_ns = p->view.to_ns, ns;
	char text[HUMAN_MAX];
	size_t n = 0;
	int r = unrecorded_init(&all, p->r->s, lane->process, lane->shift_ns);

	ns = r == 0 ? unrecorded_ns(&all, from_ns, to_ns) : 0;
	if (ns) {
		human_time_ns(text, (double)ns);
		out_printf(p->r->out, "\nNot all that ran was recorded for %s", text);
		put_process(p, lane->process);
		out_puts(p->r->out, ", which is no part of BUSY% and no gap:\n");
	}
	for (const struct unrecorded_span *span = unrecorded_within(&all, from_ns, to_ns);
	     ns && span && from_ns < to_ns; span = unrecorded_within(&all, from_ns, to_ns)) {
		struct unrecorded_span part = *span;

		part.start_ns = MAX(span->start_ns, from_ns);
		part.end_ns = MIN(span->end_ns, to_ns);
		if (n++ < MOST_UNRECORDED)
			put_span(p, &part);
		from_ns = part.end_ns;
	}
	if (n > MOST_UNRECORDED)
		out_printf(p->r->out, "  and %zu more\n", n - MOST_UNRECORDED);
	if (ns)
		put_known(p, lane->process);
	unrecorded_done(&all);
	return r;
}

/* Of each process once: lanes of one stand together. */
static int put_all_unrecorded(struct picture *p)
{
	const struct strips *t = &p->strips;
	int r = 0;

	for (uint32_t i = 0; r == 0 && i < t->n_lanes; i++)
		if (i == 0 || t->lanes[i].process != t->lanes[i - 1].process)
			r = put_unrecorded(p, &t->lanes[i]);
	return r;
}

/* A file that was written before they were kept does not say when: there a gap may be long that is none. */
static void put_unseen(struct picture *p)
{
	uint64_t unseen_ns = p->r->s->n_unrecorded ? 0 : runs_unseen_ns(p->r->s);
	char text[HUMAN_MAX];

	if (!unseen_ns)
		return;
	human_time_ns(text, (double)unseen_ns);
	out_printf(
		p->r->out,
		"\n(what ran was not recorded for %s of the run: such a time looks as if nothing had run)\n",
		text);
}

/* ---- the whole ---- */

/* A heading and what is below it; the next lane behind these. */
static int put_group(struct picture *p, size_t from, size_t *ret_to)
{
	const struct strips *t = &p->strips;
	size_t to = from + 1;
	int r = 0;

	while (to < t->n_lanes && strips_same_place(&t->lanes[from], &t->lanes[to]))
		to++;
	put_place(p, &t->lanes[from]);
	out_putc(p->r->out, '\n');
	if (!t->lanes[from].is_host) {
		r = put_busy(p, (uint32_t)from);
		r = r < 0 ? r : put_memory(p, &t->lanes[from]);
	}
	put_lanes(p, from, to);
	*ret_to = to;
	return r;
}

static int put_picture(struct picture *p)
{
	const struct strips *t = &p->strips;
	size_t next = 0;
	int r = 0;
	char from[HUMAN_MAX], all[HUMAN_MAX], each[HUMAN_MAX], head[3 * HUMAN_MAX + 64];

	human_time_ns(from, (double)(p->view.from_ns - t->zero_ns));
	human_time_ns(all, (double)(p->view.to_ns - p->view.from_ns));
	human_time_ns(each, (double)(p->view.to_ns - p->view.from_ns) / p->view.n);
	snprintf(head, sizeof(head), "%s, from %s after the run began; a column is %s", all, from,
		 each);
	out_printf(p->r->out, "%-*s  BUSY%% IN ALL\n", LABEL - 7 + (int)p->view.n, head);
	while (r == 0 && next < t->n_lanes)
		r = put_group(p, next, &next);
	put_letters(p);
	for (uint32_t i = 0; r == 0 && i < t->n_lanes; i++)
		if (p->busy[i].t)
			put_gaps(p, i);
	r = r ? r : put_all_unrecorded(p);
	put_unseen(p);
	return r;
}

static int draw(struct picture *p)
{
	unsigned width = p->r->o->width ? p->r->o->width : USUAL_WIDTH;
	unsigned n = width > LABEL + 8 + 10 ? width - LABEL - 8 : 10;

	p->view =
		(struct strip_view){p->strips.first_ns, p->strips.last_ns + 1, MIN(n, MAX_COLUMNS)};
	p->view.to_ns = MAX(p->view.to_ns, p->view.from_ns + p->view.n);
	p->cells = calloc(p->view.n, sizeof(*p->cells));
	p->busy = calloc(p->strips.n_lanes, sizeof(*p->busy));
	if (!p->cells || !p->busy || strips_sort(&p->strips, class_of, p->r) < 0)
		return -ENOMEM;
	return put_picture(p);
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
	for (size_t i = 0; p.busy && i < p.strips.n_lanes; i++)
		busy_done(&p.busy[i]);
	free(p.busy);
	free(p.cells);
	strips_done(&p.strips);
	return e;
}
