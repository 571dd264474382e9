/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "core/crowd.h"
#include "core/fold.h"
#include "core/loss.h"
#include "core/metadata.h"
#include "core/samples.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* What is missing from the picture, what the collectors say, and what they cost. */

static const struct column loss_columns[] = {
	{"COUNT", "how often", 8, 0, human_count},
};

/* Those that happened. */
static void list_losses(struct panel *p)
{
	char text[LOSS_TEXT_MAX];

	for (unsigned i = 0; i < LOSS_N; i++) {
		uint64_t n = session_loss(panel_session(p), i);
		const struct section_row row = {.v = {(double)n}, .role = ROLE_WARNING};

		if (!n)
			continue;
		crowd_loss_text(panel_session(p), i, n, text);
		buf_puts(sections_add(p, &row), text);
	}
}

/* Percentiles are of less than all executions: of a run that was killed, or lost some. */
static void list_covered(struct panel *p)
{
	char text[SAMPLES_TEXT_MAX];

	if (panel_session(p)->ended && samples_text(panel_session(p), text))
		sections_add_text(p, text, sections_room(p),
				  &(struct section_row){.role = ROLE_WARNING});
}

/* Names that share a row. */
static void list_folded(struct panel *p)
{
	char text[FOLDED_TEXT_MAX];

	if (folded_text(panel_session(p), text))
		sections_add_text(p, text, sections_room(p),
				  &(struct section_row){.role = ROLE_NORMAL});
}

/* Devices were busy with it, beside the time that is shown. */
static void list_metadata(struct panel *p)
{
	char text[METADATA_TEXT_MAX];

	if (metadata_text(panel_session(p), text))
		sections_add_text(p, text, sections_room(p),
				  &(struct section_row){.role = ROLE_NORMAL});
}

static void list_notes(struct panel *p)
{
	static const enum role roles[] = {ROLE_NORMAL, ROLE_WARNING, ROLE_ALARM};
	const struct session *s = panel_session(p);

	list_covered(p);
	list_folded(p);
	list_metadata(p);
	for (size_t i = 0; i < s->n_notes; i++) {
		const struct session_note *n = &s->notes[i];
		const struct section_row row = {.role = roles[MIN(n->level, 2)]};
		_cleanup_(buf_done) struct buf text = {0};

		if (n->process < s->n_processes && s->processes[n->process].pid)
			buf_printf(&text, "pid %u: ", s->processes[n->process].pid);
		buf_puts(&text, session_text(s, n->text));
		sections_add_text(p, buf_str(&text), sections_room(p), &row);
	}
}

/* ---- own cost ---- */

static const struct column cost_columns[] = {
	{"CPU", "time of the collector's own threads", 7, 0, human_time_ns},
	{"MEMORY", "of the collector, without activity buffers", 6, 1, human_bytes},
	{"BUFFERS", "activity buffers", 7, 2, human_bytes},
};

static void list_collectors(struct panel *p)
{
	const struct session *s = panel_session(p);

	for (uint32_t i = 0; i < s->n_processes; i++) {
		const struct session_process *pr = &s->processes[i];
		const struct section_row row = {.v = {(double)pr->own_cpu_ns, (double)pr->own_bytes,
						      (double)pr->buffer_bytes}};
		struct buf *name;

		if (s->ended && !session_process_collected(pr))
			continue;
		name = sections_add(p, &row);
		buf_puts(name, "collector in ");
		tui_put_process(p->tui, i, name);
	}
}

static void list_own(struct panel *p)
{
	const struct tui_status *st = &p->tui->status;
	struct buf *out = sections_add(p, &(struct section_row){.role = ROLE_NORMAL});
	char text[HUMAN_MAX];

	buf_puts(out, "proton: ");
	if (!isnan(st->own_cpu)) {
		human_percent(text, st->own_cpu);
		buf_printf(out, "%s %% of one core, ", text);
	}
	human_bytes(text, (double)session_memory(panel_session(p)));
	buf_printf(out, "the profile has %sB in %zu calling contexts", text,
		   panel_session(p)->n_nodes);
}

/* ---- the panel ---- */

static const char *say_no_collector(struct panel *p)
{
	return p->tui->options.live && !panel_session(p)->ended
		       ? "no collector has connected yet"
		       : "no collector of proton made this profile";
}

static const char *say_no_losses(struct panel *p)
{
	return session_losses_known(panel_session(p))
		       ? "nothing was lost"
		       : "not known: another program made this profile";
}

static const struct section sections[] = {
	{
		.title = "Losses",
		.name = "WHAT",
		.columns = {loss_columns, ARRAY_SIZE(loss_columns), 40},
		.list = list_losses,
		.empty = "nothing was lost",
		.say_empty = say_no_losses,
	},
	{
		.title = "Notes",
		.list = list_notes,
		.empty = "the collectors have nothing to say",
	},
	{
		.title = "Own cost",
		.name = "WHO",
		.columns = {cost_columns, ARRAY_SIZE(cost_columns), 40},
		.list = list_collectors,
		.empty = "no collector of proton made this profile",
		.say_empty = say_no_collector,
	},
	{.list = list_own},
};

const struct panel_ops panel_losses_ops = {
	.title = "Losses",
	.tab = "Loss",
	.is_of_devices = true,
	.size = sizeof(struct sections),
	.init = sections_init,
	.done = sections_done,
	.update = sections_update,
	.keys = sections_keys,
	SECTIONS_OPS(sections),
};
