/* SPDX-License-Identifier: MIT */
/* The summary that is printed at the end of a recording. */
#include "config.h" // IWYU pragma: keep
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/backends.h"
#include "core/bottom_up.h"
#include "core/crowd.h"
#include "core/flat.h"
#include "core/fold.h"
#include "core/metadata.h"
#include "core/snapshot.h"
#include "core/stepped.h"
#include "intra/warp_file.h"
#include "live/recording.h"
#include "live/run_facts.h"
#include "naming/fit.h"
#include "naming/readable.h"
#include "report/print_line.h"

enum { SUMMARY_ROWS = 8, SUMMARY_NAME = 60 };

static void point_to_doctor(FILE *out)
{
	fprintf(out, "proton: 'proton doctor' says what can be seen on this machine\n");
}

/* What makes a process connect. */
#define _(id, name, door, word, title, variable, unseen, about) title ", "
static const char usable[] = BACKENDS_OF_USERS(_) "NVTX or proton.h";
#undef _

/* Say why a profile is empty, as far as is known: nothing connected, no GPU work, or work but no
 * records. Processes that could not report at all are named with the losses. */
static void summary_empty(const struct recording *rec, FILE *out)
{
	const struct session *s = receiver_session(rec->receiver);
	uint32_t connected = atomic_load(&rec->dir->control->connected);
	uint64_t launches = 0;
	size_t i;

	for (i = 0; i < s->n_processes; i++)
		launches += s->processes[i].n_launches;
	if (launches)
		fprintf(out, "proton: GPU work was launched, but no record of it came\n");
	else if (!s->n_processes && !connected && !session_loss(s, LOSS_REFUSED))
		fprintf(out,
			"proton: nothing connected: no process used %s\n"
			"proton: (not seen: static, set-id, 32-bit programs, other users, chroot, "
			"env -i)\n",
			usable);
	else if (!session_loss(s, LOSS_UNHEARD) && !session_loss(s, LOSS_REFUSED) &&
		 !session_loss(s, LOSS_VANISHED))
		fprintf(out, "proton: no GPU work: %u process%s connected, and launched nothing\n",
			connected, connected == 1 ? "" : "es");
	else
		fprintf(out, "proton: no GPU work was reported\n");
	point_to_doctor(out);
}

/* Print cells, and as much of a name as there is room for. */
static void print_row(FILE *out, const char *cells, const char *name)
{
	_cleanup_(buf_done) struct buf scratch = {0};

	name = fit_name(name, SUMMARY_NAME, "..", &scratch);
	print_line(out, "%s  %.*s", cells, (int)shown_fit(name, strlen(name), SUMMARY_NAME), name);
}

/* A usual column of a scope: of all its calling contexts, with the scopes within. */
static double scope_value(struct bottom_up *scopes, uint32_t i, enum usual_column column)
{
	struct derived metric = usual_columns[column].derived;

	metric.is_said = true;
	return bottom_up_value(scopes, i, &(struct number_ask){.metric = &metric, .slot = column});
}

/* The scope with the most host time behind `last` (BOTTOM_UP_NONE: the first), or BOTTOM_UP_NONE. */
static uint32_t next_scope(struct bottom_up *scopes, uint32_t last)
{
	double limit = last == BOTTOM_UP_NONE ? INFINITY : scope_value(scopes, last, USUAL_CPU);
	uint32_t best = BOTTOM_UP_NONE, i = BOTTOM_UP_NONE;
	double most = -1;

	while ((i = bottom_up_next_child(scopes, 0, i)) != BOTTOM_UP_NONE) {
		double time = scope_value(scopes, i, USUAL_CPU);
		bool behind = time < limit || (time == limit && i > last);

		if (!behind || !(time > most))
			continue;
		best = i;
		most = time;
	}
	return best;
}

static void scope_rows(struct bottom_up *scopes, struct snapshot *snap, FILE *out)
{
	char time[COLUMN_TEXT], calls[COLUMN_TEXT], cells[2 * HUMAN_MAX + 16];
	uint32_t at = BOTTOM_UP_NONE;

	for (int i = 0; i < SUMMARY_ROWS; i++) {
		at = next_scope(scopes, at);
		if (at == BOTTOM_UP_NONE)
			return;
		if (!i)
			fprintf(out, "     HOST  ENTERED  SCOPE\n");
		column_print(&usual_columns[USUAL_CPU], snapshot_session(snap),
			     scope_value(scopes, at, USUAL_CPU), false, time);
		column_print(&usual_columns[USUAL_ENTERED], snapshot_session(snap),
			     scope_value(scopes, at, USUAL_ENTERED), false, calls);
		snprintf(cells, sizeof(cells), "%9.*s %8.*s", HUMAN_MAX, time, HUMAN_MAX, calls);
		print_row(out, cells,
			  snapshot_name(snap, bottom_up_example(scopes, at), NAME_SHORT));
	}
}

/* For a program without GPU work: the scopes with the most host time. */
static void summary_scopes(struct snapshot *snap, FILE *out)
{
	struct numbers *numbers = numbers_new(snap, NULL);
	struct bottom_up *scopes = numbers ? bottom_up_new(snap, numbers) : NULL;

	if (scopes && bottom_up_update(scopes) == 0)
		scope_rows(scopes, snap, out);
	bottom_up_free(scopes);
	numbers_free(numbers);
}

#define WALL_TEXT (2 * HUMAN_MAX + 32)

/* "10.1s wall", or "10.1s wall (not counted for 884ms)": shares of the run are of the rest. */
static void put_wall(const struct recording *rec, char out[WALL_TEXT])
{
	uint64_t end = rec->end_ns ? rec->end_ns : clock_monotonic_ns();
	uint64_t wall = end - rec->start_ns, counted = run_facts_counted_ns(rec);
	char text[HUMAN_MAX], paused[HUMAN_MAX];

	human_time_ns(text, (double)wall);
	human_time_ns(paused, (double)(wall - MIN(counted, wall)));
	if (rec->paused_ns || rec->paused_since_ns)
		snprintf(out, WALL_TEXT, "%s wall (not counted for %s)", text, paused);
	else
		snprintf(out, WALL_TEXT, "%s wall", text);
}

static void summary_head(const struct recording *rec, struct snapshot *snap, FILE *out)
{
	const struct session *s = receiver_session(rec->receiver);
	const struct snap_column *time = snapshot_column(snap, METRIC_TIME, true);
	const struct snap_column *count = snapshot_column(snap, METRIC_COUNT, true);
	char wall[WALL_TEXT], gpu[HUMAN_MAX], ops[HUMAN_MAX];

	put_wall(rec, wall);
	human_time_ns(gpu, time->v[0]);
	human_count(ops, count->v[0]);
	if (isnan(time->v[0])) {
		print_line(out, "proton: %s: no GPU work, %s, %zu process%s", rec->source, wall,
			   s->n_processes, s->n_processes == 1 ? "" : "es");
		point_to_doctor(out);
		summary_scopes(snap, out);
		return;
	}
	print_line(out, "proton: %s: %s GPU time in %s operations, %s, %zu process%s", rec->source,
		   gpu, ops, wall, s->n_processes, s->n_processes == 1 ? "" : "es");
}

/* How busy each device was: the first thing to know about a slow program. */
static void summary_busy(const struct recording *rec, FILE *out)
{
	const struct session *s = receiver_session(rec->receiver);
	double counted = (double)run_facts_counted_ns(rec);
	char busy[HUMAN_MAX], share[HUMAN_MAX], word[DEVICE_WORD];
	size_t i, n = MIN(s->n_devices, (size_t)SUMMARY_ROWS);

	for (i = 0; i < n; i++) {
		const struct session_device *d = &s->devices[i];
		double ns = session_busy_ns(s, (uint32_t)i);

		if (!(ns > 0))
			continue;
		human_time_ns(busy, ns);
		human_percent(share, counted > 0 ? fmin(ns / counted, 1) : NAN);
		session_device_word(s, (uint32_t)i, word);
		print_line(out, "proton: %s %s: busy %s, %s %% of the run", word,
			   strtab_str(s->strings, d->name), busy, share);
	}
}

/* How long the steps of the likeliest loop took. */
static void summary_steps(const struct session *s, FILE *out)
{
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(s, &n);
	char text[STEPPED_TEXT], busy[STEPPED_TEXT], name[STEPPED_NAME], steps[HUMAN_THINGS_MAX],
		first[HUMAN_MAX];

	if (!n)
		return;
	human_things(steps, v->n, "step");
	human_time_ns(first, v->first_ns);
	print_line(out, "proton: %s of %s%s%s: %s", steps, stepped_text(v, true, text),
		   isnan(v->first_ns) ? "" : ", the first in ", isnan(v->first_ns) ? "" : first,
		   stepped_name(s, v, name));
	if (*stepped_busy_text(v, busy))
		print_line(out, "proton: %s", busy);
	if (*stepped_growth_text(v, text))
		print_line(out, "proton: %s", text);
}

/* A table of the first kernels or transfers. */
struct summary_table {
	const char *name;
	size_t rows; /* at most */
	bool transfers;
	enum usual_column columns[4];
};

static void summary_row(const struct summary_table *t, struct flat *flat, uint32_t row,
			struct snapshot *snap, FILE *out)
{
	char cell[COLUMN_TEXT], cells[4 * HUMAN_MAX + 64] = "";

	for (size_t i = 0, n = 0; i < 4; i++) {
		column_print(&usual_columns[t->columns[i]], snapshot_session(snap),
			     flat_usual(flat, row, t->columns[i]), false, cell);
		n += (size_t)snprintf(cells + n, sizeof(cells) - n, "%s%*.*s", i ? " " : "",
				      i ? 8 : 9, HUMAN_MAX, cell);
	}
	print_row(out, cells, snapshot_name(snap, flat_row(flat, row)->node, NAME_SHORT));
}

static void summary_table(const struct summary_table *t, struct flat *flat, struct snapshot *snap,
			  FILE *out)
{
	size_t shown = 0;

	for (uint32_t i = 0; i < flat_n(flat) && shown < t->rows; i++) {
		if (flat_is_transfer(flat, i) != t->transfers)
			continue;
		if (!shown++)
			fprintf(out, "%9s %8s %8s %8s  %s\n", usual_columns[t->columns[0]].title,
				usual_columns[t->columns[1]].title,
				usual_columns[t->columns[2]].title,
				usual_columns[t->columns[3]].title, t->name);
		summary_row(t, flat, i, snap, out);
	}
}

static void summary_tables(struct snapshot *snap, FILE *out)
{
	static const struct summary_table tables[] = {
		{"KERNEL", SUMMARY_ROWS, false, {USUAL_TOTAL, USUAL_SHARE, USUAL_CALLS, USUAL_AVG}},
		{"TRANSFER", SIZE_MAX, true, {USUAL_BYTES, USUAL_CALLS, USUAL_TOTAL, USUAL_GBPS}},
	};
	struct numbers *numbers = numbers_new(snap, NULL);
	struct flat *flat = numbers ? flat_new(numbers, true) : NULL;

	for (size_t i = 0; flat && flat_update(flat) == 0 && i < ARRAY_SIZE(tables); i++)
		summary_table(&tables[i], flat, snap, out);
	flat_free(flat);
	numbers_free(numbers);
}

static void summary_losses(const struct session *s, FILE *out)
{
	char text[LOSS_TEXT_MAX], folded[FOLDED_TEXT_MAX], metadata[METADATA_TEXT_MAX];
	size_t j;
	unsigned i;

	for (i = 0; i < LOSS_N; i++) {
		uint64_t n = session_loss(s, (enum loss)i);

		if (n && i != LOSS_PIPE_FULL && i != LOSS_WIRE_GAP)
			print_line(out, "proton: %s: %llu %s",
				   loss_is_loss((enum loss)i) ? "lost" : "note",
				   (unsigned long long)n,
				   crowd_loss_text(s, (enum loss)i, n, text));
	}
	if (metadata_text(s, metadata))
		print_line(out, "proton: note: %s", metadata);
	if (folded_text(s, folded))
		print_line(out, "proton: note: %s (see --no-fold-numbers)", folded);
	for (j = 0; j < s->n_notes; j++)
		print_line(out, "proton: note: %s", strtab_str(s->strings, s->notes[j].text));
}

static void summary_overhead(const struct recording *rec, FILE *out)
{
	const struct session *s = receiver_session(rec->receiver);
	uint64_t cpu = 0, memory = 0, buffers = 0;
	char t[HUMAN_MAX], m[HUMAN_MAX], b[HUMAN_MAX];
	size_t i;

	for (i = 0; i < s->n_processes; i++) {
		cpu += s->processes[i].own_cpu_ns;
		memory += s->processes[i].own_bytes;
		buffers += s->processes[i].buffer_bytes;
	}
	human_time_ns(t, (double)cpu);
	human_bytes(m, (double)memory);
	human_bytes(b, (double)buffers);
	fprintf(out,
		"proton: %zu context%s; own cost: %s CPU in the sender, %s memory, %s buffers\n",
		s->n_nodes - 1, s->n_nodes == 2 ? "" : "s", t, m, b);
}

/* Killed for a system call: it may have been one of the collector's, forbidden by the program's own
 * seccomp filter. */
static void summary_filter(const struct recording *rec, FILE *out)
{
	if (WIFSIGNALED(rec->wait_status) && WTERMSIG(rec->wait_status) == SIGSYS)
		fprintf(out,
			"proton: note: the program was killed by SIGSYS: its seccomp filter may "
			"forbid what the collector does when it starts (see --early)\n");
}

/* What no table above is about, and where it is. */
static void summary_samples(const struct recording *rec, FILE *out)
{
	if (session_has_values(receiver_session(rec->receiver), METRIC_PC_SAMPLES))
		print_line(
			out,
			"proton: 'proton report --view source %s' says where kernels waited, and for what",
			rec->file);
}

static void summary_warps(const struct recording *rec, FILE *out)
{
	const struct kept_warps_counts *c = &rec->warps;
	_cleanup_(freep) char *path = warp_file_beside(rec->file);

	if (!rec->options->wanted.warps.launches || !path)
		return;
	if (c->n_launches)
		print_line(out,
			   "proton: wrote '%s': %" PRIu64 " scopes of %" PRIu64 " warps in %" PRIu64
			   " launches; %" PRIu64 " launches were left out",
			   path, c->n_scopes, c->n_warps, c->n_launches, c->n_left_out);
	else if (!rec->warps_error)
		print_line(out, "proton: no kernel with scopes ran, whose warps --intra-trace "
				"would keep");
}

void recording_summary(const struct recording *rec, FILE *out)
{
	const struct session *s = receiver_session(rec->receiver);
	struct snapshot_spec spec = {.naming = &readable_naming};
	struct snapshot *snap = snapshot_new(s, &spec);

	if (snap && s->n_rows) {
		summary_head(rec, snap, out);
		summary_busy(rec, out);
		summary_steps(s, out);
		summary_tables(snap, out);
		summary_overhead(rec, out);
	} else {
		summary_empty(rec, out);
	}
	snapshot_free(snap);
	summary_losses(s, out);
	summary_filter(rec, out);
	if (rec->saver.error == 0) {
		print_line(out, "proton: wrote '%s'", rec->file);
		summary_samples(rec, out);
		summary_warps(rec, out);
	} else {
		print_line(out, "proton: cannot write '%s': %s", rec->file,
			   recording_strerror(rec->saver.error));
	}
}
