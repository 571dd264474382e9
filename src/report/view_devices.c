/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
/* What is known about devices and processes. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/human.h"
#include "base/util.h"
#include "report/report_impl.h"
#include "report/words.h"

static void copy_string(const struct session *s, uint32_t string, char out[CELL_MAX])
{
	const char *text = session_text(s, string);

	snprintf(out, CELL_MAX, "%s", *text ? text : "-");
}

static void copy_number(char out[CELL_MAX], uint64_t v)
{
	if (v)
		snprintf(out, CELL_MAX, "%" PRIu64, v);
	else
		snprintf(out, CELL_MAX, "-");
}

/* ---- devices ---- */

/* The work that ran on a device; NaN: not known. */
struct device_sums {
	double time_ns, calls;
};

struct devices {
	const struct session *s;
	struct device_sums *sums; /* by device */
};

static void sum_value(const struct session *s, const struct session_row *row, uint32_t metric,
		      double *sum)
{
	uint32_t at = session_row_place(s, row, metric);

	if (at != SESSION_NONE && s->present[at])
		add_present(sum, (double)s->values[at].u64);
}

/* By device: sums over all rows of its lanes, so over kernels, copies and everything else. One pass
 * for all devices: there may be many devices and many rows. NULL: no memory. */
static struct device_sums *device_sums_new(const struct session *s)
{
	struct device_sums *sums = malloc((s->n_devices + 1) * sizeof(*sums));
	uint32_t device;

	for (size_t i = 0; sums && i < s->n_devices; i++)
		sums[i] = (struct device_sums){NAN, NAN};
	for (size_t i = 0; sums && i < s->n_rows; i++) {
		if (s->rows[i].lane >= s->n_lanes)
			continue;
		device = s->lanes[s->rows[i].lane].device;
		if (device >= s->n_devices)
			continue;
		sum_value(s, &s->rows[i], METRIC_TIME, &sums[device].time_ns);
		sum_value(s, &s->rows[i], METRIC_COUNT, &sums[device].calls);
	}
	return sums;
}

#define DEVICE_WORD(name, statement)                                                               \
	static void device_##name(const void *ctx, size_t row, char out[CELL_MAX])                 \
	{                                                                                          \
		const struct devices *all = ctx;                                                   \
		const struct session *s = all->s;                                                  \
		const struct session_device *d = &s->devices[row];                                 \
		statement;                                                                         \
	}
DEVICE_WORD(id, snprintf(out, CELL_MAX, "%.200s %d", session_text(s, d->type), d->index))
DEVICE_WORD(arch, copy_string(s, d->arch, out))
DEVICE_WORD(sms, copy_number(out, d->num_sms))
DEVICE_WORD(clock, copy_number(out, d->clock_khz / 1000))
DEVICE_WORD(memory_clock, copy_number(out, d->memory_clock_khz / 1000))
DEVICE_WORD(bus, copy_number(out, d->bus_width_bits))
DEVICE_WORD(memory, human_bytes(out, d->memory_bytes ? (double)d->memory_bytes : NAN))
DEVICE_WORD(time, (void)d; human_time_ns(out, all->sums[row].time_ns))
DEVICE_WORD(busy, (void)d; human_time_ns(out, session_busy_ns(s, (uint32_t)row)))
DEVICE_WORD(calls, (void)d; human_count(out, all->sums[row].calls))
DEVICE_WORD(host, copy_string(s, d->host, out))
DEVICE_WORD(name, copy_string(s, d->name, out))

int view_devices(const struct report *r)
{
	static const struct word_column columns[] = {
		{"DEVICE", true, device_id},
		{"ARCH", true, device_arch},
		{"SMS", false, device_sms},
		{"MHZ", false, device_clock},
		{"MEM MHZ", false, device_memory_clock},
		{"BUS BITS", false, device_bus},
		{"MEMORY", false, device_memory},
		{"BUSY", false, device_busy},
		{"TIME", false, device_time},
		{"CALLS", false, device_calls},
		{"HOST", true, device_host},
		{"NAME", true, device_name},
	};
	_cleanup_(freep) struct device_sums *sums = device_sums_new(r->s);
	const struct devices all = {r->s, sums};

	if (!sums)
		return -ENOMEM;
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), r->s->n_devices, &all}, r->o,
		  r->out);
	return 0;
}

/* ---- processes ---- */

static void print_rank(int32_t rank, char out[CELL_MAX])
{
	if (rank < 0)
		snprintf(out, CELL_MAX, "-");
	else
		snprintf(out, CELL_MAX, "%d", rank);
}

static void print_end(const struct session_process *p, char out[CELL_MAX])
{
	static const char *const words[] = {"runs", "ended", "vanished"};

	snprintf(out, CELL_MAX, "%s", p->end < ARRAY_SIZE(words) ? words[p->end] : "?");
}

/* What a collector has counted; profiles of other programs had none. */
static void print_counted(const struct session *s, const struct session_process *p, double v,
			  char out[CELL_MAX])
{
	human_count(out, s->ended && !session_process_collected(p) ? NAN : v);
}

#define PROCESS_WORD(name, statement)                                                              \
	static void process_##name(const void *ctx, size_t row, char out[CELL_MAX])                \
	{                                                                                          \
		const struct session *s = ctx;                                                     \
		const struct session_process *p = &s->processes[row];                              \
		statement;                                                                         \
	}
PROCESS_WORD(pid, copy_number(out, p->pid))
PROCESS_WORD(ppid, copy_number(out, p->ppid))
PROCESS_WORD(rank, print_rank(p->rank, out))
PROCESS_WORD(host, copy_string(s, p->host, out))
PROCESS_WORD(end, print_end(p, out))
PROCESS_WORD(launches, print_counted(s, p, p->launches_counted ? (double)p->n_launches : NAN, out))
PROCESS_WORD(records, print_counted(s, p, (double)p->n_records, out))
PROCESS_WORD(lost, print_counted(s, p, (double)session_process_lost(p), out))
PROCESS_WORD(command, copy_string(s, p->cmdline ? p->cmdline : p->exe, out))

int view_processes(const struct report *r)
{
	static const struct word_column columns[] = {
		{"PID", false, process_pid},         {"PPID", false, process_ppid},
		{"RANK", false, process_rank},       {"HOST", true, process_host},
		{"STATE", true, process_end},        {"LAUNCHES", false, process_launches},
		{"RECORDS", false, process_records}, {"LOST", false, process_lost},
		{"COMMAND", true, process_command},
	};

	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), r->s->n_processes, r->s}, r->o,
		  r->out);
	return 0;
}
