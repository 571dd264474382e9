/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "base/buf.h"
#include "core/crowd.h"
#include "core/loss.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* What is missing from the picture, what the collectors say, and what they cost. */
struct panel_losses {
	struct panel base;
	struct sections sections;
	struct loss_row {
		uint64_t n;
		char text[LOSS_TEXT_MAX];
	} losses[LOSS_N]; /* those that happened */
	size_t n_losses;
};

static struct panel_losses *as_losses(struct panel *p)
{
	return (struct panel_losses *)p;
}

/* ---- losses ---- */

static double loss_count(struct panel *p, uint32_t i)
{
	return (double)as_losses(p)->losses[i].n;
}

static const struct column loss_columns[] = {
	{"COUNT", "how often", 8, 0, human_count, loss_count, NULL},
};

static size_t n_losses(struct panel *p)
{
	return as_losses(p)->n_losses;
}

static const char *loss_name(struct panel *p, uint32_t i)
{
	return as_losses(p)->losses[i].text;
}

static enum role loss_role(struct panel *p, uint32_t i)
{
	return ROLE_WARNING;
}

/* ---- notes ---- */

static size_t n_notes(struct panel *p)
{
	return panel_session(p)->n_notes;
}

static const char *note_name(struct panel *p, uint32_t i)
{
	const struct session *s = panel_session(p);
	const struct session_note *n = &s->notes[i];
	struct buf *out = sections_text(p);

	if (n->process < s->n_processes)
		buf_printf(out, "pid %u: ", s->processes[n->process].pid);
	buf_puts(out, strtab_str(s->strings, n->text));
	return buf_str(out);
}

static enum role note_role(struct panel *p, uint32_t i)
{
	static const unsigned char roles[] = {ROLE_NORMAL, ROLE_WARNING, ROLE_ALARM};

	return roles[MIN(panel_session(p)->notes[i].level, 2)];
}

/* ---- own cost ---- */

static double cost_cpu(struct panel *p, uint32_t i)
{
	return (double)panel_session(p)->processes[i].own_cpu_ns;
}

static double cost_memory(struct panel *p, uint32_t i)
{
	return (double)panel_session(p)->processes[i].own_bytes;
}

static double cost_buffers(struct panel *p, uint32_t i)
{
	return (double)panel_session(p)->processes[i].buffer_bytes;
}

static const struct column cost_columns[] = {
	{"CPU", "time of the collector's own threads", 7, 0, human_time_ns, cost_cpu, NULL},
	{"MEMORY", "of the collector, without activity buffers", 6, 1, human_bytes, cost_memory,
	 NULL},
	{"BUFFERS", "activity buffers", 7, 2, human_bytes, cost_buffers, NULL},
};

static size_t n_costs(struct panel *p)
{
	return panel_session(p)->n_processes;
}

static const char *cost_name(struct panel *p, uint32_t i)
{
	struct buf *out = sections_text(p);

	buf_puts(out, "collector in ");
	tui_put_process(p->tui, i, out);
	return buf_str(out);
}

static size_t n_own(struct panel *p)
{
	return 1;
}

static const char *own_name(struct panel *p, uint32_t i)
{
	const struct tui_status *st = &p->tui->status;
	struct buf *out = sections_text(p);
	char text[HUMAN_MAX];

	buf_puts(out, "proton: ");
	if (!isnan(st->own_cpu)) {
		human_percent(text, st->own_cpu);
		buf_printf(out, "%s %% of one core, ", text);
	}
	if (st->own_bytes) {
		human_bytes(text, (double)st->own_bytes);
		buf_printf(out, "%sB of memory, ", text);
	}
	human_bytes(text, (double)session_memory(panel_session(p)));
	buf_printf(out, "the profile has %sB in %zu calling contexts", text,
		   panel_session(p)->n_nodes);
	return buf_str(out);
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = "Losses",
		.name = "WHAT",
		.columns = {loss_columns, ARRAY_SIZE(loss_columns), 40},
		.n = n_losses,
		.row_name = loss_name,
		.row_role = loss_role,
		.empty = "nothing was lost",
	},
	{
		.title = "Notes",
		.n = n_notes,
		.row_name = note_name,
		.row_role = note_role,
		.empty = "the collectors have nothing to say",
	},
	{
		.title = "Own cost",
		.name = "WHO",
		.columns = {cost_columns, ARRAY_SIZE(cost_columns), 40},
		.n = n_costs,
		.row_name = cost_name,
	},
	{.n = n_own, .row_name = own_name},
};

static int init(struct panel *p)
{
	sections_init(&as_losses(p)->sections, p, sections, ARRAY_SIZE(sections));
	return 0;
}

static void update(struct panel *p)
{
	struct panel_losses *pl = as_losses(p);

	pl->n_losses = 0;
	for (unsigned i = 0; i < LOSS_N; i++) {
		uint64_t n = session_loss(panel_session(p), i);

		if (!n)
			continue;
		pl->losses[pl->n_losses].n = n;
		crowd_loss_text(panel_session(p), i, n, pl->losses[pl->n_losses++].text);
	}
	sections_update(p);
}

const struct panel_ops panel_losses_ops = {
	.title = "Losses",
	.tab = "Loss",
	.size = sizeof(struct panel_losses),
	.init = init,
	.done = sections_done,
	.update = update,
	SECTIONS_OPS,
};
