/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "core/idle.h"
#include "core/runs.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* Devices, processes, and what is known about each device. */

/* ---- devices ---- */

/* A saved profile may say how long its run took; a run that goes on will have a window. */
static bool lacks_busy(struct panel *p, const struct column *c)
{
	return !p->tui->options.live && sections_lack(p, c);
}

static const struct column device_columns[] = {
	{"BUSY%", "share of the last window, or of a run that is over, in which it had work", 5, 0,
	 usage_percent, .is_absent = lacks_busy},
	{"TIME", "time on the device", 7, 1, human_time_ns},
	{"CALLS", "kernels, copies and sets", 6, 2, human_count},
	{"CALLS/s", "in the last window, per second", 7, 3, human_count,
	 .is_absent = sections_lack_window},
	{"COPIED", "bytes copied", 6, 5, human_bytes},
	{"GB/s", "copied in the last window", 5, 4, human_rate, .is_absent = sections_lack_window},
	{"COPYING", "time in which copies ran; overlaps count once", 7, 7, human_time_ns,
	 .is_absent = sections_lack},
	{"HIDDEN%", "share of that in which other work ran there, too", 7, 6, human_percent,
	 .is_absent = sections_lack},
	{"OVERLAP%", "share of the time of other work in which copies ran, too", 8, 8,
	 human_percent, .is_absent = sections_lack},
};

/* The part of a sum; NaN where there were no copies, or nobody knows. */
static double of_copies(const struct usage_sum *sum, double part)
{
	return sum->copying_ns > 0 ? part : NAN;
}

static void list_devices(struct panel *p)
{
	for (uint32_t k = 0; k < p->tui->usage.n_devices; k++) {
		uint32_t i = p->tui->usage.order[k];
		const struct usage_entry *e = &p->tui->usage.devices[i];
		const struct usage_sum *sum = &e->sum;
		double others_ns = sum->busy_ns - sum->copying_ns + sum->hidden_ns;
		const struct section_row row = {
			.v = {e->busy, sum->time_ns, sum->count, e->count_rate,
			      sum->copy_bytes > 0 ? sum->copy_bytes : NAN, /* as reports have it */
			      e->copy_rate / 1e9, of_copies(sum, sum->copying_ns),
			      of_copies(sum, sum->hidden_ns / sum->copying_ns),
			      of_copies(sum, others_ns > 0 ? sum->hidden_ns / others_ns : NAN)}};

		tui_put_device(p->tui, i, sections_add(p, &row));
	}
}

/* What is known about it. */
static void put_facts(struct panel *p, uint32_t i, struct buf *out)
{
	const struct session *s = panel_session(p);
	const struct session_device *d = &s->devices[i];
	char text[HUMAN_MAX];

	tui_put_device(p->tui, i, out);
	buf_puts(out, ":");
	if (*session_text(s, d->arch))
		buf_printf(out, " arch %s", session_text(s, d->arch));
	if (d->num_sms)
		buf_printf(out, "  %u multiprocessors", d->num_sms);
	if (d->clock_khz)
		buf_printf(out, "  %u MHz", d->clock_khz / 1000);
	if (session_device_memory(s, i) > 0) {
		human_bytes(text, session_device_memory(s, i));
		buf_printf(out, "  memory %sB", text);
	}
	if (d->memory_clock_khz && d->bus_width_bits)
		buf_printf(out, " %u bits at %u MHz", d->bus_width_bits,
			   d->memory_clock_khz / 1000);
	if (*session_text(s, d->driver))
		buf_printf(out, "  driver %s", session_text(s, d->driver));
	if (*session_text(s, d->uuid))
		buf_printf(out, "  %s", session_text(s, d->uuid));
	if (*session_text(s, d->host))
		buf_printf(out, "  on %s", session_text(s, d->host));
}

static void list_facts(struct panel *p)
{
	static const struct section_row row = {.role = ROLE_NORMAL};

	for (uint32_t i = 0; i < p->tui->usage.n_devices; i++) {
		_cleanup_(buf_done) struct buf text = {0};

		put_facts(p, p->tui->usage.order[i], &text);
		sections_add_text(p, buf_str(&text), sections_room(p), &row);
	}
}

/* ---- sensors ---- */

static const struct column sensor_columns[] = {
	{"CLOCK", "of the multiprocessors, MHz: now, or the mean while it worked", 5, 1,
	 human_count, .is_absent = sections_lack},
	{"POWER", "W: now, or the mean while it worked", 5, 2, human_count,
	 .is_absent = sections_lack},
	{"TEMP", "degrees Celsius: now, or the highest", 4, 3, human_count,
	 .is_absent = sections_lack},
	{"MEMORY", "used, by all who use the device: now, or at most", 6, 4, human_bytes,
	 .is_absent = sections_lack},
	{"SLOWED%", "share of its work for which heat or power made it slower", 7, 0, human_percent,
	 .is_absent = sections_lack},
	{"OTHERS", "processes at most that are not of this run", 6, 5, human_count,
	 .is_absent = sections_lack},
};

/* What a sensor told; NaN: it did not. */
static double told(const struct sensors *s, enum sensor sensor)
{
	return s->v[sensor] > 0 ? s->v[sensor] : NAN;
}

static void list_sensors(struct panel *p)
{
	const struct tui *t = p->tui;
	bool is_live = t->options.live && t->status.run != TUI_RUN_ENDED;

	for (uint32_t k = 0; k < t->usage.n_devices; k++) {
		uint32_t i = t->usage.order[k];
		const struct sensors *s = session_sensors_find(panel_session(p), i);
		struct section_row row = {.role = ROLE_NORMAL};

		if (!s)
			continue;
		row.v[0] = told(s, is_live ? SENSOR_CLOCK : SENSOR_CLOCK_MEAN);
		row.v[1] = told(s, is_live ? SENSOR_POWER : SENSOR_POWER_MEAN);
		row.v[2] = told(s, is_live ? SENSOR_TEMPERATURE : SENSOR_TEMPERATURE_MAX);
		row.v[3] = told(s, is_live ? SENSOR_MEMORY : SENSOR_MEMORY_MAX);
		row.v[4] = sensors_cut_share(s);
		row.v[5] = told(s, SENSOR_OTHERS_MAX);
		tui_put_device(p->tui, i, sections_add(p, &row));
	}
}

/* ---- the time of the run ---- */

#define PARTS_COLUMN(id, title, value, human, width, rank, help)                                   \
	{title, help, width, rank, human_##human, .is_absent = sections_lack},
#define PARTS_VALUE(id, title, value, ...) value,

static const struct column parts_columns[] = {RUN_PARTS_COLUMNS(PARTS_COLUMN)};

static void list_parts(struct panel *p)
{
	for (uint32_t k = 0; k < p->tui->usage.n_devices; k++) {
		uint32_t i = p->tui->usage.order[k];
		struct run_parts parts, *d = &parts;

		if (runs_parts(panel_session(p), i, d))
			tui_put_device(
				p->tui, i,
				sections_add(p, &(struct section_row){
							.v = {RUN_PARTS_COLUMNS(PARTS_VALUE)}}));
	}
}

/* ---- what they waited for ---- */

#define IDLE_COLUMN(id, title, value, human, width, rank, help)                                    \
	{title, help, width, rank, human_##human, .is_absent = sections_lack},
#define IDLE_OF_COLUMN(metric, title, form, human, width, rank, help)                              \
	{title, help, width, rank, human_##human, .is_absent = sections_lack},
#define IDLE_VALUE(id, title, value, ...) value,
#define IDLE_METRIC(metric, title, ...)   METRIC_##metric,

static const struct column idle_columns[] = {IDLE_COLUMNS(IDLE_COLUMN)};
static const struct column idle_of_columns[] = {IDLE_OF_COLUMNS(IDLE_OF_COLUMN)};
static const uint32_t idle_of_metrics[] = {IDLE_OF_COLUMNS(IDLE_METRIC)};

static void list_idle(struct panel *p)
{
	_cleanup_(freep) struct idle *of = idle_new(panel_session(p));

	for (uint32_t k = 0; of && k < p->tui->usage.n_devices; k++) {
		uint32_t i = p->tui->usage.order[k];
		const struct idle *d = &of[i];

		if (!isnan(d->ns) || !isnan(d->launches))
			tui_put_device(p->tui, i,
				       sections_add(p, &(struct section_row){
							       .v = {IDLE_COLUMNS(IDLE_VALUE)}}));
	}
}

static void list_idle_of(struct panel *p)
{
	struct snapshot *snap = p->tui->snap;
	const struct snap_column *columns[ARRAY_SIZE(idle_of_metrics)];

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		columns[i] = snapshot_column(snap, idle_of_metrics[i], false);
	for (uint32_t id = 0; columns[0] && id < snapshot_n(snap); id++) {
		struct section_row row = {.role = ROLE_NORMAL};

		if (!(columns[0]->v[id] > 0))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
			row.v[i] = columns[i] ? columns[i]->v[id] : NAN;
		sections_add_path(p, id, &row);
	}
}

/* ---- processes ---- */

static bool no_launches(struct panel *p, const struct column *c)
{
	const struct session *s = panel_session(p);

	for (uint32_t i = 0; i < p->tui->usage.n_processes; i++)
		if (s->processes[i].launches_counted)
			return false;
	return true;
}

static const struct column process_columns[] = {
	{"BUSY%",
	 "share of the last window, or of a run that is over, in which its devices had work", 5, 1,
	 usage_percent, .is_absent = lacks_busy},
	{"TIME", "time on devices", 7, 0, human_time_ns},
	{"LAUNCHES", "kernels and whole graphs asked for; with OpenCL copies, too", 8, 3,
	 human_count, .is_absent = no_launches},
	{"FLIGHT", "launches of which it is not known yet when they ran", 6, 4, human_count,
	 .is_absent = no_launches},
	{"LOST", "what the process lost, see the panel Losses", 5, 2, human_count},
};

static double n_in_flight(const struct session_process *pr)
{
	if (!pr->launches_counted || pr->end != PROCESS_RUNS)
		return NAN;
	return pr->n_launches > pr->n_records ? (double)(pr->n_launches - pr->n_records) : 0;
}

static void list_processes(struct panel *p)
{
	static const char *const ends[] = {"runs", "ended", "vanished"};
	static const enum role roles[] = {ROLE_NORMAL, ROLE_DIM, ROLE_WARNING};

	for (uint32_t i = 0; i < p->tui->usage.n_processes; i++) {
		const struct usage_entry *e = &p->tui->usage.processes[i];
		const struct session_process *pr = &panel_session(p)->processes[i];
		double launches = pr->launches_counted ? (double)pr->n_launches : NAN;
		const struct section_row row = {
			.v = {e->busy, e->sum.time_ns, launches, n_in_flight(pr),
			      (double)session_process_lost(pr)},
			.role = roles[MIN(pr->end, 2)],
		};
		struct buf *name = sections_add(p, &row);

		buf_printf(name, "%s  ", pr->paused ? "paused" : ends[MIN(pr->end, 2)]);
		tui_put_process(p->tui, i, name);
	}
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = "Devices",
		.name = "DEVICE",
		.columns = {device_columns, ARRAY_SIZE(device_columns), 40},
		.list = list_devices,
		.empty = "no device has been seen",
		.of_program = true,
	},
	{
		.title = RUN_PARTS_TITLE,
		.name = "DEVICE",
		.columns = {parts_columns, ARRAY_SIZE(parts_columns), 24},
		.list = list_parts,
	},
	{
		.title = IDLE_TITLE,
		.name = "DEVICE",
		.columns = {idle_columns, ARRAY_SIZE(idle_columns), 24},
		.list = list_idle,
	},
	{
		.title = IDLE_OF_TITLE,
		.name = "CALLING CONTEXT",
		.columns = {idle_of_columns, ARRAY_SIZE(idle_of_columns), 24},
		.list = list_idle_of,
		.most = 20,
	},
	{
		.title = "Processes",
		.name = "PROCESS",
		.columns = {process_columns, ARRAY_SIZE(process_columns), 40},
		.list = list_processes,
		.empty = "no process is known",
		.of_program = true,
	},
	{
		.title = "Their sensors",
		.name = "DEVICE",
		.columns = {sensor_columns, ARRAY_SIZE(sensor_columns), 40},
		.list = list_sensors,
	},
	{.title = "What the devices are", .list = list_facts},
};

const struct panel_ops panel_devices_ops = {
	.title = "Devices",
	.tab = "Dev",
	.is_of_run = true,
	.is_of_devices = true,
	.size = sizeof(struct sections),
	.init = sections_init,
	.done = sections_done,
	.update = sections_update,
	.keys = sections_context_keys,
	SECTIONS_OPS(sections),
};
