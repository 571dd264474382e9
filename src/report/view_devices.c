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
#include "core/device_order.h"
#include "core/metadata.h"
#include "core/process_order.h"
#include "core/runs.h"
#include "core/sensors.h"
#include "report/report_impl.h"
#include "report/rows.h"
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
	double time_ns, calls, copied;
};

struct devices {
	const struct session *s;
	struct device_sums *sums; /* by device */
	const uint32_t *order;    /* row -> device */
};

static void sum_value(const struct session *s, const struct session_row *row, uint32_t metric,
		      double *sum)
{
	uint32_t at = session_row_place(s, row, metric);

	if (at != SESSION_NONE && s->present[at])
		add_present(sum, (double)s->values[at].u64);
}

/* By device: sums over all rows of its lanes, so over kernels, copies and everything else but launch
 * metadata, as in the tree. One pass for all devices: there may be many devices and many rows. NULL: no
 * memory. */
static struct device_sums *device_sums_new(const struct session *s)
{
	_cleanup_(freep) uint8_t *metadata = metadata_nodes(s);
	struct device_sums *sums = metadata ? malloc((s->n_devices + 1) * sizeof(*sums)) : NULL;
	uint32_t device;

	for (size_t i = 0; sums && i < s->n_devices; i++)
		sums[i] = (struct device_sums){NAN, NAN, NAN};
	for (size_t i = 0; sums && i < s->n_rows; i++) {
		if (s->rows[i].lane >= s->n_lanes || metadata[s->rows[i].node])
			continue;
		device = s->lanes[s->rows[i].lane].device;
		if (device >= s->n_devices)
			continue;
		sum_value(s, &s->rows[i], METRIC_TIME, &sums[device].time_ns);
		sum_value(s, &s->rows[i], METRIC_COUNT, &sums[device].calls);
		if (session_node_kind(s, s->rows[i].node) == FRAME_COPY)
			sum_value(s, &s->rows[i], METRIC_BYTES, &sums[device].copied);
	}
	return sums;
}

/* Of a run that is over. A record is taken when its work has ended, which may be later. */

#define DEVICE_CELL(name, statement)                                                               \
	static void device_##name(const void *ctx, size_t row, char out[CELL_MAX])                 \
	{                                                                                          \
		const struct devices *all = ctx;                                                   \
		const struct session *s = all->s;                                                  \
		uint32_t device = all->order[row];                                                 \
		const struct session_device *d = &s->devices[device];                              \
		statement;                                                                         \
	}
DEVICE_CELL(id, (void)d; session_device_word(s, device, out))
DEVICE_CELL(arch, copy_string(s, d->arch, out))
DEVICE_CELL(sms, copy_number(out, d->num_sms))
DEVICE_CELL(clock, copy_number(out, d->clock_khz / 1000))
DEVICE_CELL(memory_clock, copy_number(out, d->memory_clock_khz / 1000))
DEVICE_CELL(bus, copy_number(out, d->bus_width_bits))
DEVICE_CELL(memory, (void)d; human_bytes(out, session_device_memory(s, device)))
DEVICE_CELL(time, (void)d; human_time_ns(out, all->sums[device].time_ns))
DEVICE_CELL(busy, (void)d; human_time_ns(out, session_busy_ns(s, device)))
DEVICE_CELL(busy_share, (void)d; human_percent(out, s->ended ? runs_busy_share(s, device) : NAN))
DEVICE_CELL(copied, (void)d; human_bytes(out, all->sums[device].copied))
DEVICE_CELL(calls, (void)d; human_count(out, all->sums[device].calls))
DEVICE_CELL(host, copy_string(s, d->host, out))
DEVICE_CELL(name, copy_string(s, d->name, out))

/* ---- sensors ---- */

/* What a sensor told; NaN: it did not. */
static double told(const struct session *s, size_t device, enum sensor sensor)
{
	const struct sensors *x = session_sensors_find(s, (uint32_t)device);

	return x && x->v[sensor] > 0 ? x->v[sensor] : NAN;
}

static double cut_share(const struct session *s, size_t device)
{
	const struct sensors *x = session_sensors_find(s, (uint32_t)device);

	return x ? sensors_cut_share(x) : NAN;
}

#define SENSOR_WORD(name, statement)                                                               \
	static void sensor_##name(const void *ctx, size_t row, char out[CELL_MAX])                 \
	{                                                                                          \
		const struct session *s = ((const struct devices *)ctx)->s;                        \
		uint32_t device = ((const struct devices *)ctx)->order[row];                       \
		statement;                                                                         \
	}
SENSOR_WORD(clock, human_count(out, told(s, device, SENSOR_CLOCK_MEAN)))
SENSOR_WORD(power, human_count(out, told(s, device, SENSOR_POWER_MEAN)))
SENSOR_WORD(heat, human_count(out, told(s, device, SENSOR_TEMPERATURE_MAX)))
SENSOR_WORD(memory, human_bytes(out, told(s, device, SENSOR_MEMORY_MAX)))
SENSOR_WORD(slowed, human_percent(out, cut_share(s, device)))
SENSOR_WORD(others, human_count(out, told(s, device, SENSOR_OTHERS_MAX)))

/* Means while it worked; the most of what cannot be added up. Nothing where no device told anything. */
static void put_sensors(const struct report *r, const struct devices *all)
{
	static const struct word_column columns[] = {
		{"DEVICE", true, device_id},      {"MHZ", false, sensor_clock},
		{"WATT", false, sensor_power},    {"CELSIUS", false, sensor_heat},
		{"MEMORY", false, sensor_memory}, {"SLOWED%", false, sensor_slowed},
		{"OTHERS", false, sensor_others},
	};
	uint32_t device = 0;

	while (device < r->s->n_devices && !session_sensors_find(r->s, device))
		device++;
	if (device == r->s->n_devices)
		return;
	out_puts(r->out, "\nTheir sensors\n");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), r->s->n_devices, all, true},
		  r->o, r->out);
}

/* ---- the time of the run ---- */

struct parts_table {
	const struct session *s;
	struct run_parts *of;
	uint32_t *devices; /* of which they are known */
	size_t n;
};

#define PARTS_CELL(id, title, value, human, ...)                                                   \
	static void parts_##id(const void *ctx, size_t row, char out[CELL_MAX])                    \
	{                                                                                          \
		const struct run_parts *d = &((const struct parts_table *)ctx)->of[row];           \
                                                                                                   \
		human_##human(out, value);                                                         \
	}
RUN_PARTS_COLUMNS(PARTS_CELL)
#define PARTS_WORD(id, title, ...) {title, false, parts_##id},

static void parts_device(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct parts_table *t = ctx;

	session_device_word(t->s, t->devices[row], out);
}

static int put_parts(const struct report *r, const uint32_t *order)
{
	static const struct word_column columns[] = {
		RUN_PARTS_COLUMNS(PARTS_WORD){"DEVICE", true, parts_device}};
	_cleanup_(freep) struct run_parts *of = calloc(r->s->n_devices + 1, sizeof(*of));
	_cleanup_(freep) uint32_t *devices = calloc(r->s->n_devices + 1, sizeof(*devices));
	struct parts_table t = {r->s, of, devices, 0};

	if (!of || !devices)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->s->n_devices; i++)
		if (runs_parts(r->s, order[i], &of[t.n]))
			devices[t.n++] = order[i];
	if (!t.n)
		return 0;
	out_putc(r->out, '\n');
	rows_put_caption(r, RUN_PARTS_TITLE);
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), t.n, &t}, r->o, r->out);
	return 0;
}

/* ---- copies beside other work ---- */

static void overlap_copying(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct devices *all = ctx;
	double copies, hidden;
	bool is_known = session_overlap(all->s, all->order[row], &copies, &hidden);

	human_time_ns(out, is_known ? copies : NAN);
}

static void overlap_hidden(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct devices *all = ctx;
	double copies, hidden;
	bool is_known = session_overlap(all->s, all->order[row], &copies, &hidden);

	human_percent(out, is_known ? hidden / copies : NAN);
}

static void overlap_share(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct devices *all = ctx;

	human_percent(out, session_overlap_share(all->s, all->order[row]));
}

static void put_overlap(const struct report *r, const struct devices *all)
{
	static const struct word_column columns[] = {
		{"DEVICE", true, device_id},
		{"COPYING", false, overlap_copying},
		{"HIDDEN%", false, overlap_hidden},
		{"OVERLAP%", false, overlap_share},
	};
	double copies, hidden;

	if (!session_overlap(r->s, SESSION_NONE, &copies, &hidden))
		return;
	out_puts(r->out, "\nTheir copies, and what ran beside them\n");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), r->s->n_devices, all}, r->o,
		  r->out);
}

/* ---- what was measured ---- */

struct measured_table {
	const struct report *r;
	const uint32_t *devices;
};

static void print_measured(const void *ctx, size_t row, enum peak_measured what, char out[CELL_MAX])
{
	const struct measured_table *t = ctx;

	human_rate(out, peaks_measured(t->r->o->peaks, t->r->s, t->devices[row], what) / 1e9);
}

#define MEASURED_WORD(id, key, what)                                                               \
	static void measured_##id(const void *ctx, size_t row, char out[CELL_MAX])                 \
	{                                                                                          \
		print_measured(ctx, row, MEASURED_##id, out);                                      \
	}
MEASURED_RATES(MEASURED_WORD)

static void measured_device(const void *ctx, size_t row, char out[CELL_MAX])
{
	const struct measured_table *t = ctx;

	session_device_word(t->r->s, t->devices[row], out);
}

/* Of those that proton doctor --measure has seen on this machine. */
static int put_measured(const struct report *r, const uint32_t *order)
{
	static const struct word_column columns[] = {
		{"TO IT", false, measured_TO_DEVICE},
		{"FROM IT", false, measured_TO_HOST},
		{"PAGEABLE TO IT", false, measured_PAGEABLE_TO_DEVICE, 2},
		{"FROM IT", false, measured_DEVICE_TO_PAGEABLE, 1},
		{"ITS MEMORY", false, measured_MEMORY},
		{"DEVICE", true, measured_device},
	};
	_cleanup_(freep) uint32_t *devices = calloc(r->s->n_devices + 1, sizeof(*devices));
	const struct measured_table t = {r, devices};
	size_t n = 0;

	if (!devices)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->s->n_devices; i++)
		for (unsigned k = 0; k < N_MEASURED; k++)
			if (!isnan(peaks_measured(r->o->peaks, r->s, order[i],
						  (enum peak_measured)k))) {
				devices[n++] = order[i];
				break;
			}
	if (!n)
		return 0;
	out_putc(r->out, '\n');
	rows_put_caption(r, "Measured by proton doctor --measure, GB/s");
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), n, &t}, r->o, r->out);
	return 0;
}

/* ---- what is known about them ---- */

int view_devices(struct report *r)
{
	static const struct word_column columns[] = {
		{"DEVICE", true, device_id},
		{"ARCH", true, device_arch, 5},
		{"SMS", false, device_sms, 6},
		{"MHZ", false, device_clock, 7},
		{"MEM MHZ", false, device_memory_clock, 8},
		{"BUS BITS", false, device_bus, 9},
		{"MEMORY", false, device_memory, 3},
		{"BUSY", false, device_busy},
		{"BUSY%", false, device_busy_share},
		{"TIME", false, device_time},
		{"CALLS", false, device_calls, 2},
		{"COPIED", false, device_copied, 1},
		{"HOST", true, device_host, 4},
		{"NAME", true, device_name},
	};
	_cleanup_(freep) struct device_sums *sums = device_sums_new(r->s);
	_cleanup_(freep) uint32_t *order = device_order_new(r->s);
	const struct devices all = {r->s, sums, order};
	char metadata[METADATA_TEXT_MAX];
	int e;

	if (!sums || !order)
		return -ENOMEM;
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), r->s->n_devices, &all, true},
		  r->o, r->out);
	if (metadata_text(r->s, metadata))
		out_printf(r->out, "(%s)\n", metadata);
	put_overlap(r, &all);
	put_sensors(r, &all);
	e = put_parts(r, order);
	if (e == 0)
		e = put_idle(r);
	return e < 0 ? e : put_measured(r, order);
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

struct processes {
	const struct session *s;
	const uint32_t *order; /* row -> process */
};

#define PROCESS_WORD(name, statement)                                                              \
	static void process_##name(const void *ctx, size_t row, char out[CELL_MAX])                \
	{                                                                                          \
		const struct processes *all = ctx;                                                 \
		const struct session *s = all->s;                                                  \
		const struct session_process *p = &s->processes[all->order[row]];                  \
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

int view_processes(struct report *r)
{
	static const struct word_column columns[] = {
		{"PID", false, process_pid},         {"PPID", false, process_ppid},
		{"RANK", false, process_rank},       {"HOST", true, process_host},
		{"STATE", true, process_end},        {"LAUNCHES", false, process_launches},
		{"RECORDS", false, process_records}, {"LOST", false, process_lost},
		{"COMMAND", true, process_command},
	};

	_cleanup_(freep) uint32_t *order = process_order_new(r->s);
	const struct processes all = {r->s, order};

	if (!order)
		return -ENOMEM;
	put_words(&(struct word_table){columns, ARRAY_SIZE(columns), r->s->n_processes, &all}, r->o,
		  r->out);
	return 0;
}
