/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "core/crowd.h"
#include "report/table.h"

struct report {
	struct snapshot *snap;
	const struct session *s;
	const struct report_options *o;
	struct out *out;
	struct device_sums *devices; /* while these are printed */
};

const char *report_section_word(unsigned i)
{
	static const char *const words[] = {
#define _(name, bit, word, title) [bit] = word,
		REPORT_SECTIONS(_)
#undef _
		"all",
	};

	return i < ARRAY_SIZE(words) ? words[i] : NULL;
}

unsigned report_section_parse(const char *word)
{
	const char *known;

	if (!strcmp(word, "all"))
		return REPORT_ALL;
	for (unsigned i = 0; (known = report_section_word(i)); i++)
		if (!strcmp(known, word))
			return 1u << i;
	return 0;
}

/* ---- tables of numbers with a name ---- */

static double all_time(const struct report *r)
{
	const struct snap_column *time = snapshot_column(r->snap, METRIC_TIME, true);

	return time ? time->v[0] : NAN;
}

static void put_numbers(const struct report *r, const struct report_columns *columns,
			const struct report_numbers *n, const char *name)
{
	size_t used = 2, room = 0;
	char text[HUMAN_MAX];

	for (unsigned i = 0; i < columns->n; i++) {
		column_print(text, columns->ids[i], column_value(columns->ids[i], n));
		put_right(r->out, text, COLUMN_WIDTH);
		used += COLUMN_WIDTH;
	}
	out_puts(r->out, "  ");
	if (r->o->width)
		room = r->o->width > used + 8 ? r->o->width - used : 8;
	put_name(r->out, name, room, r->o->ascii);
	out_putc(r->out, '\n');
}

static void put_omitted(const struct report *r, size_t n, size_t shown)
{
	if (n > shown)
		out_printf(r->out, "(%zu more)\n", n - shown);
}

static void flat_numbers(const struct snap_flat *f, double all_ns, struct report_numbers *ret)
{
	*ret = (struct report_numbers){all_ns,   f->time_ns, f->count,  f->bytes,
				f->flops, f->min_ns,  f->max_ns, NAN};
}

/* A column is worth its place when one row has a value in it. */
static void flat_columns(const struct snap_flat *flat, size_t n, double all_ns,
			 struct report_columns *columns)
{
	static const unsigned usual[] = {COLUMN_TOTAL, COLUMN_SHARE, COLUMN_CALLS, COLUMN_AVG,
					 COLUMN_MIN,   COLUMN_MAX,   COLUMN_BYTES, COLUMN_GBPS,
					 COLUMN_FLOPS, COLUMN_TFPS};
	struct report_numbers numbers;

	columns->n = 0;
	for (size_t c = 0; c < ARRAY_SIZE(usual); c++) {
		for (size_t i = 0; i < n; i++) {
			flat_numbers(&flat[i], all_ns, &numbers);
			if (isnan(column_value(usual[c], &numbers)))
				continue;
			columns->ids[columns->n++] = usual[c];
			break;
		}
	}
}

static int put_kernels(const struct report *r)
{
	double all_ns = all_time(r);
	struct report_columns columns;
	struct report_numbers numbers;
	size_t n, shown = 0;
	const struct snap_flat *flat = snapshot_flat(r->snap, &n);

	if (!n) {
		out_puts(r->out, "none\n");
		return 0;
	}
	flat_columns(flat, n, all_ns, &columns);
	put_header(r->out, r->s, &columns, r->o);
	for (; shown < n && !(r->o->rows && shown >= r->o->rows); shown++) {
		flat_numbers(&flat[shown], all_ns, &numbers);
		if (r->o->threshold > 0 && !(numbers.time_ns / all_ns >= r->o->threshold))
			break;
		put_numbers(r, &columns, &numbers,
			    snapshot_name(r->snap, flat[shown].node, (enum name_mode)r->o->names));
	}
	put_omitted(r, n, shown);
	return 0;
}

static int put_transfers(const struct report *r)
{
	static const struct report_columns columns = {{COLUMN_TOTAL, COLUMN_SHARE, COLUMN_CALLS,
						COLUMN_AVG, COLUMN_BYTES, COLUMN_GBPS,
						COLUMN_ASYNC},
					       7};
	size_t n, i;
	const struct snap_transfer *t = snapshot_transfers(r->snap, &n);
	double all_ns = all_time(r);

	if (!n) {
		out_puts(r->out, "none\n");
		return 0;
	}
	put_header(r->out, r->s, &columns, r->o);
	for (i = 0; i < n && !(r->o->rows && i >= r->o->rows); i++) {
		struct report_numbers numbers = {all_ns, t[i].time_ns, t[i].ops, t[i].bytes,
					  NAN,    NAN,          NAN,      t[i].async};

		put_numbers(r, &columns, &numbers, t[i].name);
	}
	put_omitted(r, n, i);
	return 0;
}

/* ---- tables of words ---- */

#define CELL_MAX  256
#define CELLS_MAX 12

struct cell {
	const char *title;
	bool left;
	void (*print)(const struct report *r, size_t row, char out[CELL_MAX]);
};

static size_t cell_width(const struct report *r, const struct cell *cell, size_t n_rows)
{
	size_t width = strlen(cell->title);
	char text[CELL_MAX];

	for (size_t i = 0; i < n_rows; i++) {
		cell->print(r, i, text);
		width = MAX(width, name_width(text));
	}
	return width;
}

static void put_cell(const struct report *r, const struct cell *cell, const char *text,
		     size_t width, bool last)
{
	if (!cell->left)
		put_right(r->out, text, width);
	else
		put_left(r->out, text, last ? 0 : width);
	out_puts(r->out, last ? "\n" : "  ");
}

static int put_words(const struct report *r, const struct cell *cells, size_t n_cells,
		     size_t n_rows)
{
	size_t widths[CELLS_MAX];
	char text[CELL_MAX];

	if (!n_rows) {
		out_puts(r->out, "none\n");
		return 0;
	}
	if (r->o->color)
		out_puts(r->out, "\033[1m");
	for (size_t c = 0; c < n_cells; c++) {
		widths[c] = cell_width(r, &cells[c], n_rows);
		put_cell(r, &cells[c], cells[c].title, widths[c], c + 1 == n_cells);
	}
	if (r->o->color)
		out_puts(r->out, "\033[0m");
	for (size_t i = 0; i < n_rows; i++) {
		for (size_t c = 0; c < n_cells; c++) {
			cells[c].print(r, i, text);
			put_cell(r, &cells[c], text, widths[c], c + 1 == n_cells);
		}
	}
	return 0;
}

static void copy_string(const struct report *r, uint32_t string, char out[CELL_MAX])
{
	const char *s = strtab_str(r->s->strings, string);

	snprintf(out, CELL_MAX, "%s", *s ? s : "-");
}

static void copy_number(char out[CELL_MAX], uint64_t v)
{
	if (v)
		snprintf(out, CELL_MAX, "%" PRIu64, v);
	else
		snprintf(out, CELL_MAX, "-");
}

/* What ran on a device; NaN: nothing of it is known. */
struct device_sums {
	double time_ns, calls;
};

static void sum_value(const struct session *s, const struct session_row *row, uint32_t i,
		      double *sum)
{
	if (s->present[row->values + i])
		*sum = (isnan(*sum) ? 0 : *sum) + (double)s->values[row->values + i].u64;
}

static void sum_row(const struct session *s, const struct session_row *row,
		    struct device_sums *sums)
{
	const struct session_set *set = &s->sets[row->set];

	for (uint32_t i = 0; i < set->n; i++) {
		if (set->metrics[i] == METRIC_TIME)
			sum_value(s, row, i, &sums->time_ns);
		else if (set->metrics[i] == METRIC_COUNT)
			sum_value(s, row, i, &sums->calls);
	}
}

/* Kernels, copies and what else ran there: all that a lane of the device has, for all devices at
 * once, as there may be many of them and many rows. NULL: no memory. */
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
		if (device < s->n_devices)
			sum_row(s, &s->rows[i], &sums[device]);
	}
	return sums;
}

#define DEVICE_CELL(name, statement)                                                               \
	static void device_##name(const struct report *r, size_t row, char out[CELL_MAX])          \
	{                                                                                          \
		const struct session_device *d = &r->s->devices[row];                              \
		statement;                                                                         \
	}
DEVICE_CELL(id, snprintf(out, CELL_MAX, "%.200s %d", strtab_str(r->s->strings, d->type), d->index))
DEVICE_CELL(arch, copy_string(r, d->arch, out))
DEVICE_CELL(sms, copy_number(out, d->num_sms))
DEVICE_CELL(clock, copy_number(out, d->clock_khz / 1000))
DEVICE_CELL(memory_clock, copy_number(out, d->memory_clock_khz / 1000))
DEVICE_CELL(bus, copy_number(out, d->bus_width_bits))
DEVICE_CELL(memory, human_bytes(out, d->memory_bytes ? (double)d->memory_bytes : NAN))
DEVICE_CELL(time, (void)d; human_time_ns(out, r->devices[row].time_ns))
DEVICE_CELL(busy, (void)d; human_time_ns(out, session_busy_ns(r->s, (uint32_t)row)))
DEVICE_CELL(calls, (void)d; human_count(out, r->devices[row].calls))
DEVICE_CELL(host, copy_string(r, d->host, out))
DEVICE_CELL(name, copy_string(r, d->name, out))

static int put_devices(const struct report *r)
{
	static const struct cell cells[] = {
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

	struct report with_sums = *r;
	int ret;

	with_sums.devices = device_sums_new(r->s);
	if (!with_sums.devices)
		return -ENOMEM;
	ret = put_words(&with_sums, cells, ARRAY_SIZE(cells), r->s->n_devices);
	free(with_sums.devices);
	return ret;
}

#define PROCESS_CELL(name, statement)                                                              \
	static void process_##name(const struct report *r, size_t row, char out[CELL_MAX])         \
	{                                                                                          \
		const struct session_process *p = &r->s->processes[row];                           \
		statement;                                                                         \
	}
static uint64_t losses_of(const struct session_process *p)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < LOSS_N; i++)
		n += p->losses[i];
	return n;
}

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

PROCESS_CELL(pid, copy_number(out, p->pid))
PROCESS_CELL(ppid, copy_number(out, p->ppid))
PROCESS_CELL(rank, print_rank(p->rank, out))
PROCESS_CELL(host, copy_string(r, p->host, out))
PROCESS_CELL(end, print_end(p, out))
PROCESS_CELL(launches, human_count(out, p->launches_counted ? (double)p->n_launches : NAN))
PROCESS_CELL(records, human_count(out, (double)p->n_records))
PROCESS_CELL(lost, human_count(out, (double)losses_of(p)))
PROCESS_CELL(command, copy_string(r, p->cmdline ? p->cmdline : p->exe, out))

static int put_processes(const struct report *r)
{
	static const struct cell cells[] = {
		{"PID", false, process_pid},         {"PPID", false, process_ppid},
		{"RANK", false, process_rank},       {"HOST", true, process_host},
		{"STATE", true, process_end},        {"LAUNCHES", false, process_launches},
		{"RECORDS", false, process_records}, {"LOST", false, process_lost},
		{"COMMAND", true, process_command},
	};

	return put_words(r, cells, ARRAY_SIZE(cells), r->s->n_processes);
}

/* ---- lists ---- */

static int put_losses(const struct report *r)
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
		out_puts(r->out, "none\n");
	return 0;
}

static int put_notes(const struct report *r)
{
	static const char *const words[] = {"", "warning: ", "error: "};

	for (size_t i = 0; i < r->s->n_notes; i++) {
		const struct session_note *n = &r->s->notes[i];

		if (n->process < r->s->n_processes)
			out_printf(r->out, "pid %u: ", r->s->processes[n->process].pid);
		out_puts(r->out, n->level < ARRAY_SIZE(words) ? words[n->level] : "");
		put_name(r->out, strtab_str(r->s->strings, n->text), 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if (!r->s->n_notes)
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

static double root_value(const struct report *r, uint32_t metric)
{
	const struct snap_column *c = snapshot_column(r->snap, metric, true);

	return c ? c->v[0] : NAN;
}

static int put_summary(const struct report *r)
{
	const struct session *s = r->s;
	uint64_t duration = s->end_ns > s->start_ns ? s->end_ns - s->start_ns : 0;
	size_t kernels;

	snapshot_flat(r->snap, &kernels);
	if (s->source) {
		out_printf(r->out, "%-16s ", "profile of");
		put_name(r->out, strtab_str(s->strings, s->source), 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if (s->start_ns && duration)
		put_summary_number(r, "duration", (double)duration, human_time_ns);
	put_summary_number(r, "processes", (double)s->n_processes, human_count);
	put_summary_number(r, "devices", (double)s->n_devices, human_count);
	put_summary_number(r, "contexts", (double)snapshot_n(r->snap), human_count);
	put_summary_number(r, "kernels", (double)kernels, human_count);
	put_summary_number(r, "executions", root_value(r, METRIC_COUNT), human_count);
	put_summary_number(r, "device time", root_value(r, METRIC_TIME), human_time_ns);
	put_summary_number(r, "lost", (double)session_loss_total(s), human_count);
	return 0;
}

static int put_tree(const struct report *r)
{
	return report_tree(r->snap, r->o, r->out);
}

/* ---- the report ---- */

static const struct {
	unsigned bit;
	const char *title;
	int (*put)(const struct report *r);
} sections[] = {
	{REPORT_SUMMARY, "Summary", put_summary}, {REPORT_TREE, "Calling contexts", put_tree},
	{REPORT_KERNELS, "Kernels", put_kernels}, {REPORT_TRANSFERS, "Transfers", put_transfers},
	{REPORT_DEVICES, "Devices", put_devices}, {REPORT_PROCESSES, "Processes", put_processes},
	{REPORT_LOSSES, "Losses", put_losses},    {REPORT_NOTES, "Notes", put_notes},
};

static void put_title(const struct report *r, const char *title, bool first)
{
	if (!first)
		out_putc(r->out, '\n');
	if (r->o->color)
		out_puts(r->out, "\033[1m");
	out_printf(r->out, "## %s", title);
	if (r->o->color)
		out_puts(r->out, "\033[0m");
	out_putc(r->out, '\n');
}

int report_text(struct snapshot *snap, const struct report_options *options, struct out *out)
{
	static const struct report_options defaults;
	const struct report_options *o = options ? options : &defaults;
	struct report r = {snap, snapshot_session(snap), o, out};
	/* A filter is about the tree, and so is a comparison. */
	unsigned usual = o->include || o->exclude || o->least != 0 || o->before
				 ? REPORT_TREE
				 : REPORT_TREE | REPORT_KERNELS | REPORT_TRANSFERS | REPORT_LOSSES |
					   REPORT_NOTES;
	unsigned wanted = o->sections ? o->sections : usual;
	bool first = true;
	int ret;

	for (size_t i = 0; i < ARRAY_SIZE(sections); i++) {
		if (!(wanted & sections[i].bit))
			continue;
		/* A single table needs no title. */
		if (wanted & (wanted - 1))
			put_title(&r, sections[i].title, first);
		ret = sections[i].put(&r);
		if (ret < 0)
			return ret;
		first = false;
	}
	return 0;
}
