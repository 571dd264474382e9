/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include "base/buf.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

/* Devices, processes, and what is known about each device. */
struct panel_devices {
	struct panel base;
	struct sections sections;
};

/* ---- devices ---- */

static const struct usage_entry *device(struct panel *p, uint32_t i)
{
	return &p->tui->usage.devices[i];
}

static double device_busy(struct panel *p, uint32_t i)
{
	return device(p, i)->busy;
}

static double device_time(struct panel *p, uint32_t i)
{
	return device(p, i)->sum.time_ns;
}

static double device_count(struct panel *p, uint32_t i)
{
	return device(p, i)->sum.count;
}

static double device_rate(struct panel *p, uint32_t i)
{
	return device(p, i)->count_rate;
}

static double device_bytes(struct panel *p, uint32_t i)
{
	return device(p, i)->sum.copy_bytes;
}

static double device_copy(struct panel *p, uint32_t i)
{
	return device(p, i)->copy_rate / 1e9;
}

static bool no_window(struct panel *p)
{
	return !p->tui->options.live;
}

static const struct column device_columns[] = {
	{"BUSY%", "share of the last window in which it had work", 5, 0, usage_percent, device_busy,
	 no_window},
	{"TIME", "time on the device", 7, 1, human_time_ns, device_time, NULL},
	{"OPS", "kernels, copies and sets", 6, 2, human_count, device_count, NULL},
	{"OPS/s", "in the last window, per second", 6, 3, human_count, device_rate, no_window},
	{"COPIED", "bytes copied", 6, 5, human_bytes, device_bytes, NULL},
	{"GB/s", "copied in the last window", 5, 4, human_rate, device_copy, no_window},
};

static size_t n_devices(struct panel *p)
{
	return p->tui->usage.n_devices;
}

static const char *device_name(struct panel *p, uint32_t i)
{
	struct buf *out = sections_text(p);

	tui_put_device(p->tui, i, out);
	return buf_str(out);
}

/* What is known about it, on one line. */
static const char *device_facts(struct panel *p, uint32_t i)
{
	const struct session *s = panel_session(p);
	const struct session_device *d = &s->devices[i];
	struct buf *out = sections_text(p);
	char text[HUMAN_MAX];

	tui_put_device(p->tui, i, out);
	buf_puts(out, ":");
	if (*strtab_str(s->strings, d->arch))
		buf_printf(out, " arch %s", strtab_str(s->strings, d->arch));
	if (d->num_sms)
		buf_printf(out, "  %u multiprocessors", d->num_sms);
	if (d->clock_khz)
		buf_printf(out, "  %u MHz", d->clock_khz / 1000);
	if (d->memory_bytes) {
		human_bytes(text, (double)d->memory_bytes);
		buf_printf(out, "  memory %sB", text);
	}
	if (d->memory_clock_khz && d->bus_width_bits)
		buf_printf(out, " %u bits at %u MHz", d->bus_width_bits,
			   d->memory_clock_khz / 1000);
	if (*strtab_str(s->strings, d->driver))
		buf_printf(out, "  driver %s", strtab_str(s->strings, d->driver));
	if (*strtab_str(s->strings, d->uuid))
		buf_printf(out, "  %s", strtab_str(s->strings, d->uuid));
	if (*strtab_str(s->strings, d->host))
		buf_printf(out, "  on %s", strtab_str(s->strings, d->host));
	return buf_str(out);
}

/* ---- processes ---- */

static const struct session_process *process(struct panel *p, uint32_t i)
{
	return &panel_session(p)->processes[i];
}

static double process_time(struct panel *p, uint32_t i)
{
	return p->tui->usage.processes[i].sum.time_ns;
}

static double process_busy(struct panel *p, uint32_t i)
{
	return p->tui->usage.processes[i].busy;
}

static double process_launches(struct panel *p, uint32_t i)
{
	return process(p, i)->launches_counted ? (double)process(p, i)->n_launches : NAN;
}

static double process_in_flight(struct panel *p, uint32_t i)
{
	const struct session_process *pr = process(p, i);

	if (!pr->launches_counted || pr->end != PROCESS_RUNS)
		return NAN;
	return pr->n_launches > pr->n_records ? (double)(pr->n_launches - pr->n_records) : 0;
}

static double process_lost(struct panel *p, uint32_t i)
{
	double n = 0;

	for (unsigned k = 0; k < LOSS_N; k++)
		n += (double)process(p, i)->losses[k];
	return n;
}

static bool no_launches(struct panel *p)
{
	for (uint32_t i = 0; i < p->tui->usage.n_processes; i++)
		if (process(p, i)->launches_counted)
			return false;
	return true;
}

static const struct column process_columns[] = {
	{"BUSY%", "share of the last window in which its devices had work", 5, 1, usage_percent,
	 process_busy, no_window},
	{"TIME", "time on devices", 7, 0, human_time_ns, process_time, NULL},
	{"LAUNCHES", "kernels, copies and sets asked for", 8, 3, human_count, process_launches,
	 no_launches},
	{"FLIGHT", "launches without a record yet", 6, 4, human_count, process_in_flight,
	 no_launches},
	{"LOST", "losses of all kinds, see the panel Losses", 5, 2, human_count, process_lost,
	 NULL},
};

static size_t n_processes(struct panel *p)
{
	return p->tui->usage.n_processes;
}

static const char *process_name(struct panel *p, uint32_t i)
{
	static const char *const ends[] = {"runs", "ended", "vanished"};
	const struct session_process *pr = process(p, i);
	struct buf *out = sections_text(p);

	buf_printf(out, "%s  ", pr->paused ? "paused" : ends[MIN(pr->end, 2)]);
	tui_put_process(p->tui, i, out);
	return buf_str(out);
}

static enum role process_role(struct panel *p, uint32_t i)
{
	const struct session_process *pr = process(p, i);

	return pr->end == PROCESS_VANISHED ? ROLE_WARNING
	       : pr->end == PROCESS_ENDED  ? ROLE_DIM
					   : ROLE_NORMAL;
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = "Devices",
		.name = "DEVICE",
		.columns = {device_columns, ARRAY_SIZE(device_columns), 40},
		.n = n_devices,
		.row_name = device_name,
		.empty = "no device has been seen",
	},
	{
		.title = "Processes",
		.name = "PROCESS",
		.columns = {process_columns, ARRAY_SIZE(process_columns), 40},
		.n = n_processes,
		.row_name = process_name,
		.row_role = process_role,
		.empty = "no process is known",
	},
	{
		.title = "What the devices are",
		.n = n_devices,
		.row_name = device_facts,
	},
};

static int init(struct panel *p)
{
	sections_init(&((struct panel_devices *)p)->sections, p, sections, ARRAY_SIZE(sections));
	return 0;
}

const struct panel_ops panel_devices_ops = {
	.title = "Devices",
	.tab = "Dev",
	.size = sizeof(struct panel_devices),
	.init = init,
	.done = sections_done,
	.update = sections_update,
	SECTIONS_OPS,
};
