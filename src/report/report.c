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
#include "core/filter.h"
#include "core/flat.h"
#include "report/sorting.h"
#include "core/samples.h"
#include "report/runs.h"
#include "report/table.h"

struct report {
	struct snapshot *snap;
	const struct session *s;
	const struct report_options *o;
	struct out *out;
	const char
		*flat_words; /* columns asked for, of a report without the tree; NULL: the usual */
	struct flat *flat;
	struct device_sums *devices; /* only while the table of devices is printed */
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

/* ---- kernels and transfers ---- */

/* Those asked for, or the usual ones that a row has a value for. */
struct flat_table {
	struct walk_entry *rows;
	size_t n;
	struct report_columns columns;
	unsigned n_omitted;
};

/* In the cache of the rows' numbers: the usual columns have the first places. */
enum { SLOT_ORDER = USUAL_N, SLOT_COLUMNS };

static double flat_number(const struct report *r, const struct report_column *c, size_t i,
			  uint32_t row)
{
	const struct number_ask ask = {.metric = &c->spec.derived,
				       .slot = SLOT_COLUMNS + (unsigned)i};

	return flat_value(r->flat, row, &ask);
}

static void format_number(const struct report *r, const struct flat_table *t, size_t i,
			  uint32_t row, char text[COLUMN_TEXT])
{
	const struct report_column *c = &t->columns.v[i];

	column_print(&c->spec, r->s, flat_number(r, c, i, row), true, text);
}

static const char *flat_name(const struct report *r, uint32_t row)
{
	return snapshot_name(r->snap, flat_row(r->flat, row)->node, (enum name_mode)r->o->names);
}

static void put_numbers(const struct report *r, const struct flat_table *t, uint32_t row)
{
	char text[COLUMN_TEXT];

	for (size_t i = 0; i < t->columns.n; i++) {
		format_number(r, t, i, row, text);
		column_put(r->out, &t->columns.v[i], text, r->o);
	}
	out_puts(r->out, "  ");
	put_name(r->out, flat_name(r, row), name_room(r->o, report_columns_width(&t->columns)),
		 r->o->ascii);
	out_putc(r->out, '\n');
}

static bool has_number(const struct report *r, const struct flat_table *t, enum usual_column usual)
{
	for (size_t k = 0; k < t->n; k++)
		if (!isnan(flat_usual(r->flat, t->rows[k].node, usual)))
			return true;
	return false;
}

static int flat_columns(const struct report *r, struct flat_table *t,
			const enum usual_column *usual, size_t n_usual)
{
	char text[COLUMN_TEXT];
	int e = 0;

	if (r->flat_words)
		e = report_columns_add_words(&t->columns, r->s, r->flat_words);
	for (size_t i = 0; !r->flat_words && i < n_usual && e == 0; i++)
		if (has_number(r, t, usual[i]))
			e = report_columns_add_usual(&t->columns, usual[i]);
	if (!r->flat_words)
		t->n_omitted = report_columns_narrow(&t->columns, r->o->width);
	for (size_t i = 0; r->flat_words && i < t->columns.n && e == 0; i++)
		for (size_t k = 0; k < t->n; k++) {
			format_number(r, t, i, t->rows[k].node, text);
			column_make_room(&t->columns.v[i], text, r->o);
		}
	return e;
}

static bool is_small(const struct report *r, uint32_t row)
{
	return r->o->threshold > 0 &&
	       !(flat_usual(r->flat, row, USUAL_SHARE) >= r->o->threshold * 100);
}

/* Those that are large enough, in their order. */
static int flat_rows(const struct report *r, struct flat_table *t, bool transfers,
		     size_t *ret_small)
{
	int (*compare)(const void *, const void *);
	struct sorting sorting;

	if (sorting_parse(&sorting, r->s, r->o->sort) < 0)
		return -EINVAL;
	for (uint32_t i = 0; i < flat_n(r->flat); i++) {
		const struct number_ask ask = {.metric = &sorting.column.derived,
					       .slot = SLOT_ORDER};

		if (transfers && !flat_is_transfer(r->flat, i))
			continue;
		if (is_small(r, i))
			++*ret_small;
		else
			t->rows[t->n++] = sorting_entry(
				&sorting, r->s, i,
				sorting.by_column ? flat_value(r->flat, i, &ask) : NAN,
				sorting.by_name ? flat_name(r, i) : "");
	}
	compare = sorting_compare(&sorting);
	if (compare && t->n)
		qsort(t->rows, t->n, sizeof(*t->rows), compare);
	return 0;
}

static void put_table(const struct report *r, const struct flat_table *t, size_t n_small)
{
	size_t n = r->o->rows ? MIN(t->n, r->o->rows) : t->n;

	put_header(r->out, &t->columns, r->o);
	for (size_t i = 0; i < n; i++)
		put_numbers(r, t, t->rows[i].node);
	if (t->n + n_small > n)
		out_printf(r->out, "(%zu more)\n", t->n + n_small - n);
	put_omitted(r->out, t->n_omitted);
}

static int put_rows(const struct report *r, bool transfers, const enum usual_column *usual,
		    size_t n_usual)
{
	_cleanup_(freep) struct walk_entry *rows = malloc((flat_n(r->flat) + 1) * sizeof(*rows));
	struct flat_table t = {.rows = rows};
	size_t n_small = 0;
	int e = rows ? flat_rows(r, &t, transfers, &n_small) : -ENOMEM;

	if (e == 0)
		e = flat_columns(r, &t, usual, n_usual);
	if (e == 0 && t.n + n_small)
		put_table(r, &t, n_small);
	else if (e == 0)
		out_puts(r->out, "none\n");
	report_columns_done(&t.columns);
	return e;
}

static int put_kernels(const struct report *r)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_SHARE, USUAL_CALLS, USUAL_AVG,
						  USUAL_MIN,   USUAL_MAX,   USUAL_BYTES, USUAL_GBPS,
						  USUAL_FLOPS, USUAL_TFPS};

	return put_rows(r, false, usual, ARRAY_SIZE(usual));
}

static int put_transfers(const struct report *r)
{
	static const enum usual_column usual[] = {USUAL_TOTAL, USUAL_SHARE, USUAL_CALLS, USUAL_AVG,
						  USUAL_BYTES, USUAL_GBPS,  USUAL_ASYNC};

	return put_rows(r, true, usual, ARRAY_SIZE(usual));
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
	const char *s = session_text(r->s, string);

	snprintf(out, CELL_MAX, "%s", *s ? s : "-");
}

static void copy_number(char out[CELL_MAX], uint64_t v)
{
	if (v)
		snprintf(out, CELL_MAX, "%" PRIu64, v);
	else
		snprintf(out, CELL_MAX, "-");
}

/* The work that ran on a device; NaN: not known. */
struct device_sums {
	double time_ns, calls;
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

#define DEVICE_CELL(name, statement)                                                               \
	static void device_##name(const struct report *r, size_t row, char out[CELL_MAX])          \
	{                                                                                          \
		const struct session_device *d = &r->s->devices[row];                              \
		statement;                                                                         \
	}
DEVICE_CELL(id, snprintf(out, CELL_MAX, "%.200s %d", session_text(r->s, d->type), d->index))
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
static void print_counted(const struct report *r, const struct session_process *p, double v,
			  char out[CELL_MAX])
{
	human_count(out, r->s->ended && !session_process_collected(p) ? NAN : v);
}

PROCESS_CELL(pid, copy_number(out, p->pid))
PROCESS_CELL(ppid, copy_number(out, p->ppid))
PROCESS_CELL(rank, print_rank(p->rank, out))
PROCESS_CELL(host, copy_string(r, p->host, out))
PROCESS_CELL(end, print_end(p, out))
PROCESS_CELL(launches, print_counted(r, p, p->launches_counted ? (double)p->n_launches : NAN, out))
PROCESS_CELL(records, print_counted(r, p, (double)p->n_records, out))
PROCESS_CELL(lost, print_counted(r, p, (double)session_process_lost(p), out))
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
	double covered = samples_covered(r->s);
	char share[HUMAN_MAX];

	human_percent(share, covered);
	if (covered < 1)
		out_printf(r->out, "percentiles are of %s %% of the executions\n", share);
	for (size_t i = 0; i < r->s->n_notes; i++) {
		const struct session_note *n = &r->s->notes[i];

		if (n->process < r->s->n_processes && r->s->processes[n->process].pid)
			out_printf(r->out, "pid %u: ", r->s->processes[n->process].pid);
		out_puts(r->out, n->level < ARRAY_SIZE(words) ? words[n->level] : "");
		put_name(r->out, session_text(r->s, n->text), 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if (!r->s->n_notes && !(covered < 1))
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
	if (s->source) {
		out_printf(r->out, "%-16s ", "profile of");
		put_name(r->out, session_text(s, s->source), 0, r->o->ascii);
		out_putc(r->out, '\n');
	}
	if (s->start_ns && duration)
		put_summary_number(r, "duration", (double)duration, human_time_ns);
	put_summary_number(r, "processes", (double)s->n_processes, human_count);
	put_summary_number(r, "devices", (double)s->n_devices, human_count);
	put_summary_number(r, "contexts", (double)snapshot_n(r->snap), human_count);
	put_summary_number(r, "kernels", (double)flat_n(r->flat), human_count);
	put_summary_number(r, "executions", root_value(r, METRIC_COUNT), human_count);
	put_summary_number(r, "device time", root_value(r, METRIC_TIME), human_time_ns);
	put_summary_number(r, "lost", (double)session_loss_total(s), human_count);
	return 0;
}

static int put_tree(const struct report *r)
{
	int e = report_tree(r->snap, r->o, r->out);

	if (snapshot_n(r->snap) <= 1 && !r->o->include && !r->o->exclude)
		out_puts(r->out, "nothing was recorded: 'proton doctor' says what can be seen on a "
				 "machine\n");
	return e;
}

static int put_run(const struct report *r)
{
	if (r->s->n_runs)
		report_runs(r->s, &(struct run_print){r->o->width, r->o->ascii}, r->out);
	else
		out_puts(r->out, "not known\n");
	return 0;
}

/* ---- the report ---- */

static const struct {
	unsigned bit;
	const char *title;
	int (*put)(const struct report *r);
} sections[] = {
	{REPORT_RUN, "Run", put_run},
	{REPORT_SUMMARY, "Summary", put_summary},
	{REPORT_TREE, "Calling contexts", put_tree},
	{REPORT_KERNELS, "Kernels", put_kernels},
	{REPORT_TRANSFERS, "Transfers", put_transfers},
	{REPORT_DEVICES, "Devices", put_devices},
	{REPORT_PROCESSES, "Processes", put_processes},
	{REPORT_LOSSES, "Losses", put_losses},
	{REPORT_NOTES, "Notes", put_notes},
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

/* Take what expressions leave out out of the picture, for all but the tree: it does so by itself, and may
 * keep its totals. */
static int take_out_names(struct snapshot *snap, const struct report_options *o)
{
	_cleanup_(freep) uint8_t *mask = NULL;

	if (o->before || !(o->include || o->exclude))
		return 0;
	mask = filter_names(snap, o->include, o->exclude);
	if (!mask)
		return -ENOMEM;
	if (!mask[0])
		return -ENODATA;
	snapshot_mask(snap, mask);
	return 0;
}

/* What all sections but the tree are made of. */
static int make_tables(struct report *r, unsigned wanted)
{
	int e = take_out_names(r->snap, r->o);

	if (e == 0 && wanted & (REPORT_SUMMARY | REPORT_KERNELS | REPORT_TRANSFERS))
		e = flat_update(r->flat);
	return e;
}

/* The picture that a section is of; *made: tables were made of what expressions leave. */
static int choose_picture(struct report *r, unsigned section, unsigned wanted, bool *made)
{
	if (section == REPORT_TREE) {
		if (*made)
			snapshot_mask(r->snap, NULL);
		*made = false;
		return 0;
	}
	if (*made)
		return 0;
	*made = true;
	return make_tables(r, wanted);
}

static int put_sections(struct report *r, unsigned wanted)
{
	bool first = true, made = false;
	int e = 0;

	for (size_t i = 0; i < ARRAY_SIZE(sections) && e == 0; i++) {
		if (!(wanted & sections[i].bit))
			continue;
		e = choose_picture(r, sections[i].bit, wanted, &made);
		if (e < 0)
			break;
		/* A single table needs no title. */
		if (wanted & (wanted - 1))
			put_title(r, sections[i].title, first);
		e = sections[i].put(r);
		first = false;
	}
	return e;
}

int report_text(struct snapshot *snap, const struct report_options *options, struct out *out)
{
	static const struct report_options defaults;
	const struct report_options *o = options ? options : &defaults;
	struct numbers *numbers = numbers_new(snap, o->peaks);
	struct report r = {.snap = snap,
			   .s = snapshot_session(snap),
			   .o = o,
			   .out = out,
			   .flat = numbers ? flat_new(numbers) : NULL};
	/* Comparisons and least values apply to the tree alone; who filters looks for something. */
	unsigned usual = o->include || o->exclude || o->least != 0 || o->before
				 ? REPORT_TREE
				 : REPORT_TREE | REPORT_KERNELS | REPORT_TRANSFERS | REPORT_LOSSES |
					   REPORT_NOTES;
	unsigned wanted = o->sections ? o->sections : usual;
	int e = r.flat ? 0 : -ENOMEM;

	/* Other programs' profiles do not say it. */
	if (!o->sections && usual != REPORT_TREE && r.s->n_runs)
		wanted |= REPORT_RUN;
	r.flat_words = wanted & REPORT_TREE ? NULL : o->columns;
	if (e == 0)
		e = put_sections(&r, wanted);
	flat_free(r.flat);
	numbers_free(numbers);
	return e;
}
