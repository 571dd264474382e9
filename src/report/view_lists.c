/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What was lost, what collectors have to say, the profile in a few numbers, what was run. */
#include <inttypes.h>
#include <math.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/util.h"
#include "core/crowd.h"
#include "core/fold.h"
#include "core/metadata.h"
#include "core/runs.h"
#include "core/samples.h"
#include "core/stepped.h"
#include "report/report_impl.h"
#include "report/runs.h"
#include "report/table.h"

#define SUMMARY_INDENT 17 /* of what the summary has, behind what it is */

int view_losses(struct report *r)
{
	char text[LOSS_TEXT_MAX];
	bool any = false;

	for (unsigned i = 0; i < LOSS_N; i++) {
		uint64_t n = session_loss(r->s, (enum loss)i);

		if (!n)
			continue;
		out_printf(r->out, "%12" PRIu64 "  ", n);
		put_name(r->out, crowd_loss_text(r->s, (enum loss)i, n, text), 0, r->o->ascii);
		out_putc(r->out, '\n');
		any = true;
	}
	if (!any)
		out_puts(r->out, session_losses_known(r->s) ? "none\n" : "not known\n");
	return 0;
}

int view_notes(struct report *r)
{
	static const char *const words[] = {"", "warning: ", "error: "};
	char covered[SAMPLES_TEXT_MAX], folded[FOLDED_TEXT_MAX], metadata[METADATA_TEXT_MAX];
	bool is_part = samples_text(r->s, covered), any = is_part || r->s->n_notes;

	if (folded_text(r->s, folded)) {
		put_name(r->out, folded, 0, r->o->ascii);
		out_putc(r->out, '\n');
		any = true;
	}
	if (is_part)
		out_printf(r->out, "%s\n", covered);
	if (metadata_text(r->s, metadata)) {
		out_printf(r->out, "%s\n", metadata);
		any = true;
	}
	for (size_t i = 0; i < r->s->n_notes; i++) {
		const struct session_note *n = &r->s->notes[i];

		if (n->process < r->s->n_processes && r->s->processes[n->process].pid)
			out_printf(r->out, "pid %u: ", r->s->processes[n->process].pid);
		out_puts(r->out, n->level < ARRAY_SIZE(words) ? words[n->level] : "");
		put_name(r->out, session_text(r->s, n->text), 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if (!any)
		out_puts(r->out, "none\n");
	return 0;
}

static void put_summary_number(const struct report *r, const char *what, double v,
			       void (*print)(char *, double))
{
	char text[HUMAN_MAX];

	print(text, v);
	out_printf(r->out, "%-16s %s\n", what, text);
}

/* That a filter leaves. */
static double n_contexts(const struct report *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < snapshot_n(r->snap); i++)
		n += !r->mask || r->mask[i];
	return n;
}

/* Of one sort of rows by name: kernels, or copies and sets. */
static double n_named(const struct report *r, bool transfers)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < flat_n(r->flat); i++)
		n += flat_is_transfer(r->flat, i) == transfers;
	return n;
}

static double root_value(const struct report *r, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(r->snap, metric, true);

	return c ? c->v[0] : NAN;
}

/* Of several runs, which may have gone one after the other, it is no time in which anything was busy. */
static void put_duration(const struct report *r, double ns)
{
	char text[HUMAN_MAX];

	human_time_ns(text, ns);
	out_printf(r->out, "%-16s %s", "duration", text);
	if (r->s->n_runs > 1)
		out_printf(r->out, ", from the first start of %zu runs to the last end",
			   r->s->n_runs);
	out_putc(r->out, '\n');
}

/* Of the likeliest loop, in lines that fit; nothing where there is none. */
static void put_steps(const struct report *r)
{
	_cleanup_(buf_done) struct buf line = {0};
	uint32_t n;
	_cleanup_(freep) struct stepped *v = stepped_new(r->s, &n);
	char text[STEPPED_TEXT], busy[STEPPED_TEXT], name[STEPPED_NAME], count[HUMAN_THINGS_MAX];

	if (!n)
		return;
	human_things(count, v->n, "step");
	buf_printf(&line, "%s of %s: %s", count, stepped_text(v, r->o->ascii, text),
		   stepped_name(r->s, v, name));
	if (*stepped_busy_text(v, busy))
		buf_printf(&line, "; %s", busy);
	if (*stepped_growth_text(v, text))
		buf_printf(&line, "; %s", text);
	out_printf(r->out, "%-*s", SUMMARY_INDENT, "steps");
	if (r->o->width)
		put_wrapped(r->out, buf_str(&line), SUMMARY_INDENT,
			    MAX(r->o->width, 2 * SUMMARY_INDENT));
	else
		put_name(r->out, buf_str(&line), 0, r->o->ascii);
	out_putc(r->out, '\n');
}

int view_summary(struct report *r)
{
	const struct session *s = r->s;
	uint64_t duration = s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0;

	if (runs_wall_ns(s)) /* what other views call the time of the run */
		duration = runs_wall_ns(s);
	if (s->source) {
		out_printf(r->out, "%-16s ", "profile of");
		put_name(r->out, session_text(s, s->source), 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if ((s->start_ns || runs_wall_ns(s)) && duration)
		put_duration(r, (double)duration);
	put_steps(r);
	put_summary_number(r, "processes", (double)s->n_processes, human_count);
	put_summary_number(r, "devices", (double)s->n_devices, human_count);
	put_summary_number(r, "contexts", n_contexts(r), human_count);
	put_summary_number(r, "kernels", n_named(r, false), human_count);
	put_summary_number(r, "copies and sets", n_named(r, true), human_count);
	put_summary_number(r, "executions", root_value(r, METRIC_COUNT), human_count);
	put_summary_number(r, "device time", root_value(r, METRIC_TIME), human_time_ns);
	put_summary_number(r, "lost", session_losses_known(s) ? (double)session_loss_total(s) : NAN,
			   human_count);
	return 0;
}

int view_run(struct report *r)
{
	if (r->s->n_runs)
		return report_runs(r->s, &(struct run_print){r->o->width, r->o->ascii}, r->out);
	out_puts(r->out, "not known\n");
	return 0;
}
