/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "tui/advice.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* What costs time that it need not: each finding, where most of it is, and what to do. */

#define ADVICE_WIDTH  60 /* columns of a line of advice: longer ones are hard to read */
#define NUMBERS_WIDTH 19 /* before remarks */

/* One of the two says what shares are of, as in reports. */
static bool is_of_devices(struct panel *p, const struct column *c)
{
	(void)c;
	return !p->tui->advice.findings.is_wall;
}

static bool is_of_run(struct panel *p, const struct column *c)
{
	return !is_of_devices(p, c);
}

static const struct column columns[] = {
	{"PRICE", "what it costs; no more than that can be saved", 7, 0, human_time_ns},
	{"OF RUN", "share of the run's time without pauses", 6, 1, human_percent,
	 .is_absent = is_of_devices},
	{"OF GPU", "share of all time on devices: the run's wall time is not known", 6, 1,
	 human_percent, .is_absent = is_of_run},
};

/* Columns for text beside the numbers. */
static int room(const struct panel *p)
{
	return (p->width ? p->width : 80) - NUMBERS_WIDTH;
}

/* The title, and in more rows what of it there is no room for. */
static void list_finding(struct panel *p, const struct finding *finding)
{
	static const enum role roles[] = {[FINDING_MEASURED] = ROLE_WARNING,
					  [FINDING_LIKELY] = ROLE_WARNING,
					  [FINDING_MAYBE] = ROLE_NORMAL};
	const struct findings *f = &p->tui->advice.findings;
	const struct section_row row = {
		.v = {finding_told_ns(finding), finding_told_ns(finding) / f->whole_ns,
		      finding_told_ns(finding) / f->whole_ns},
		.role = isnan(finding->price_ns) ? ROLE_ALARM : roles[finding->sure],
	};
	struct buf *name = sections_add_of(p, advice_node(p->tui, finding), &row);
	_cleanup_(buf_done) struct buf title = {0};
	size_t len;

	buf_puts(&title, finding_title(finding->rule));
	if (!isnan(finding->price_ns))
		buf_printf(&title, " (%s%s)", finding_sure_word(finding->sure),
			   finding->at_most ? ", at most" : "");
	len = sections_row_of_text(buf_str(&title), MAX(room(p), 1));
	buf_put(name, buf_str(&title), len);
	len += strspn(buf_str(&title) + len, " ");
	sections_add_text(p, buf_str(&title) + len, room(p),
			  &(struct section_row){.role = row.role, .is_remark = true});
}

static void list_evidence(struct panel *p, const struct finding *finding)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (finding->device < p->tui->usage.n_devices) {
		tui_put_device(p->tui, finding->device, &text);
		buf_puts(&text, ": ");
	}
	buf_puts(&text, finding->evidence);
	sections_add_text(p, buf_str(&text), room(p), &(struct section_row){.is_remark = true});
}

/* Its context in the picture: a row of the session says which it is. */
static void list_context(struct panel *p, uint32_t node)
{
	uint32_t row = session_first_row(panel_session(p), node);
	uint32_t shown = row == SESSION_NONE ? SNAP_NONE : snapshot_row_node(p->tui->snap, row);

	if (shown != SNAP_NONE)
		sections_add_path(p, shown, &(struct section_row){.is_remark = true});
}

static void list_advice(struct panel *p, const char *text)
{
	sections_add_text(p, text, MIN(room(p), ADVICE_WIDTH),
			  &(struct section_row){.role = ROLE_DIM, .is_remark = true});
}

static void list(struct panel *p)
{
	const struct findings *f = &p->tui->advice.findings;

	for (size_t i = 0; i < f->n; i++) {
		list_finding(p, &f->v[i]);
		list_evidence(p, &f->v[i]);
		for (unsigned k = 0; k < f->v[i].n_nodes; k++)
			list_context(p, f->v[i].nodes[k]);
		/* Said once behind several of a kind. */
		if (i + 1 == f->n || f->v[i + 1].rule != f->v[i].rule)
			list_advice(p, finding_advice(&f->v[i]));
	}
}

static const char *say_none(struct panel *p)
{
	const struct findings *f = &p->tui->advice.findings;

	if (f->nothing_measured)
		return "nothing was measured";
	return f->host_alone ? "nothing ran on a device, which is what findings are about"
			     : "nothing that costs time needlessly shows in these sums";
}

static const struct section sections[] = {
	{
		.name = "FINDING",
		.columns = {columns, ARRAY_SIZE(columns), 40},
		.list = list,
		.empty = "none",
		.say_empty = say_none,
	},
};

static void update(struct panel *p)
{
	advice_make(p->tui);
	sections_update(p);
}

const struct panel_ops panel_findings_ops = {
	.title = "Findings",
	.tab = "Find",
	.is_of_run = true,
	.size = sizeof(struct sections),
	.init = sections_init,
	.done = sections_done,
	.update = update,
	.keys = sections_context_keys,
	SECTIONS_OPS(sections),
};
