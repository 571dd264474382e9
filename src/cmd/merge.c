/* SPDX-License-Identifier: MIT */
/* proton merge: profiles of several ranks, processes or phases as one. */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <langinfo.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "cmd/load.h"
#include "cmd/report.h"
#include "core/ranks.h"
#include "format/format.h"
#include "report/demangle.h"
#include "report/pager.h"
#include "report/table.h"

#define ROWS_DEFAULT    20
#define PATH_MAX_FRAMES 64

enum {
	OPT_OUT = 1,
	OPT_FORMAT,
	OPT_KEEP_GOING,
	OPT_RANKS,
	OPT_METRIC,
	OPT_ROWS,
	OPT_NAMES,
	OPT_WIDTH,
	OPT_ASCII,
	OPT_NO_PAGER
};

/* clang-format off */
static const struct option_def options[] = {
	{.name = "output", .letter = 'o', .arg = "OUT", .help = "write the merged profile to OUT",
	 .id = OPT_OUT},
	{.name = "format", .letter = 'f', .arg = "NAME",
	 .help = "format of OUT (hatchet, or as its name says)", .id = OPT_FORMAT},
	{.name = "keep-going", .letter = 'k',
	 .help = "name a file that cannot be read, leave it out and exit with 1 at the end",
	 .id = OPT_KEEP_GOING},
	{.name = "ranks", .help = "print how evenly each path is spread over the ranks",
	 .id = OPT_RANKS},
	{.name = "metrics", .letter = 'm', .arg = "METRIC",
	 .help = "with --ranks: of this metric, with or without its unit (time)", .id = OPT_METRIC},
	{.name = "rows", .letter = 'n', .arg = "N", .help = "with --ranks: lines at most (20)",
	 .id = OPT_ROWS},
	{.name = "names", .arg = "short|demangled|raw", .help = "how names are shown (short)",
	 .id = OPT_NAMES},
	{.name = "width", .arg = "N", .help = "cut names to this width (the terminal's)",
	 .id = OPT_WIDTH},
	{.name = "ascii", .help = "print ASCII characters only", .id = OPT_ASCII},
	{.name = "no-pager", .help = "print to the terminal itself", .rare = true, .id = OPT_NO_PAGER},
};
/* clang-format on */

const struct command_def command_merge = {
	.name = "merge",
	.usage = "[options] -o OUT FILE… | [options] --ranks FILE…",
	.summary = "make one profile of several ranks, processes or phases",
	.operands_first = true,
	.options = options,
	.n_options = ARRAY_SIZE(options),
};

struct arguments {
	const char *out, *format, *metric;
	const struct format *writer;
	struct loading loading;
	bool ranks, ascii, no_pager;
	uint8_t names;
	unsigned rows, width;
};

static int on_option(const struct option_def *option, const char *value, void *arg)
{
	struct arguments *a = arg;

	switch (option->id) {
	case OPT_OUT:
		a->out = value;
		return 0;
	case OPT_FORMAT:
		a->format = value;
		return 0;
	case OPT_KEEP_GOING:
		a->loading.keep_going = true;
		return 0;
	case OPT_RANKS:
		a->ranks = true;
		return 0;
	case OPT_METRIC:
		a->metric = value;
		return 0;
	case OPT_ROWS:
		return parse_count(value, UINT32_MAX, &a->rows);
	case OPT_NAMES:
		return parse_names(value, &a->names);
	case OPT_WIDTH:
		return parse_count(value, UINT32_MAX, &a->width);
	case OPT_NO_PAGER:
		a->no_pager = true;
		return 0;
	default:
		a->ascii = true;
		return 0;
	}
}

/* ---- the ranks ---- */

struct board {
	const struct session *s;
	const struct arguments *a;
	const struct metric *metric;
	struct ranks ranks;
	struct out *out;
	struct buf path;
};

static void put_value(struct board *b, double v)
{
	char text[HUMAN_MAX];

	metric_print(text, b->metric, v);
	put_right(b->out, text, 8);
	out_putc(b->out, ' ');
}

static void path_put(struct board *b, uint32_t node)
{
	const char *raw = session_node_name(b->s, node);
	char *readable =
		b->a->names == NAME_RAW ? NULL : demangle_name(raw, (enum name_mode)b->a->names);

	buf_puts(&b->path, readable ? readable : raw);
	free(readable);
}

static const char *path_of(struct board *b, uint32_t node)
{
	uint32_t path[PATH_MAX_FRAMES], n = 0, i;

	buf_clear(&b->path);
	if (node == SESSION_ROOT)
		return session_node_name(b->s, node);
	for (i = node; i != SESSION_ROOT && n < ARRAY_SIZE(path); i = b->s->nodes[i].parent)
		path[n++] = i;
	if (i != SESSION_ROOT)
		buf_puts(&b->path, "... > ");
	while (n-- > 0) {
		path_put(b, path[n]);
		if (n)
			buf_puts(&b->path, b->a->ascii ? " > " : " \xe2\x80\xba ");
	}
	return buf_str(&b->path);
}

static void board_row(struct board *b, uint32_t node)
{
	const struct spread *x = &b->ranks.spread[node];
	size_t columns = 4 * 9 + 7 + 12 + 10,
	       room = b->a->width > columns ? b->a->width - columns : 8;
	char text[64];

	put_value(b, x->sum);
	put_value(b, spread_mean(x));
	put_value(b, x->max);
	put_value(b, x->min);
	snprintf(text, sizeof(text), "%.2f", spread_imbalance(x));
	put_right(b->out, text, 6);
	snprintf(text, sizeof(text), "%u/%u", x->n, b->ranks.n);
	put_right(b->out, text, 10);
	out_puts(b->out, "  ");
	rank_name(b->s, x->slowest, text, sizeof(text));
	put_name(b->out, text, 10, b->a->ascii);
	out_spaces(b->out, name_width(text) < 10 ? 11 - name_width(text) : 1);
	put_name(b->out, path_of(b, node), b->a->width ? room : 0, b->a->ascii);
	out_putc(b->out, '\n');
}

/* "RANK     TOTAL  / MEAN", in order of appearance. */
static void totals_print(struct board *b)
{
	double mean = 0;
	char text[64];

	for (uint32_t i = 0; i < b->ranks.n; i++)
		mean += b->ranks.totals[i].sum / b->ranks.n;
	out_puts(b->out, "   TOTAL  OF AVG  RANK\n");
	for (uint32_t i = 0; i < b->ranks.n; i++) {
		put_value(b, b->ranks.totals[i].sum);
		snprintf(text, sizeof(text), "%.2f", mean > 0 ? b->ranks.totals[i].sum / mean : 1);
		put_right(b->out, text, 7);
		rank_name(b->s, b->ranks.totals[i].process, text, sizeof(text));
		out_puts(b->out, "  ");
		put_name(b->out, text, 0, b->a->ascii);
		out_putc(b->out, '\n');
	}
	out_putc(b->out, '\n');
}

static int board_print(struct board *b)
{
	uint32_t n, i, shown;
	struct spread_row *rows = ranks_sorted(&b->ranks, b->s, &n);

	if (!rows)
		return -ENOMEM;
	put_name(b->out, b->metric->name, 0, b->a->ascii);
	out_printf(b->out, " over %u ranks, by what waiting for the slowest costs\n\n", b->ranks.n);
	totals_print(b);
	out_puts(b->out, "     SUM     MEAN      MAX      MIN MAX/AVG    RANKS  SLOWEST    PATH\n");
	if (b->ranks.spread[SESSION_ROOT].n)
		board_row(b, SESSION_ROOT);
	shown = b->a->rows && b->a->rows < n ? b->a->rows : n;
	for (i = 0; i < shown; i++)
		board_row(b, rows[i].node);
	if (shown < n)
		out_printf(b->out, "\n%u more paths (--rows 0 prints all)\n", n - shown);
	free(rows);
	return out_flush(b->out);
}

/* Of a column that is a metric as it is; METRIC_NONE: there is none. */
static uint32_t find_metric(const struct session *s, const char *name)
{
	struct column_spec spec;

	if (column_parse(s, name, strlen(name), &spec) < 0 || spec.derived.op != DERIVED_VALUE ||
	    !spec.derived.plain || !metric_table_get(s->metrics, spec.derived.metric))
		return METRIC_NONE;
	return spec.derived.metric;
}

static int print_ranks(const struct session *s, const struct arguments *a)
{
	struct board b = {.s = s, .a = a};
	struct pager pager;
	uint32_t metric = find_metric(s, a->metric);
	int r;

	b.metric = metric_table_get(s->metrics, metric);
	r = ranks_init(&b.ranks, s, metric, NULL);
	if (r == -EINVAL) {
		complain("'%s' is no metric that adds up over ranks", a->metric);
		return STATUS_USAGE;
	}
	buf_init(&b.path, 0);
	b.out = malloc(sizeof(*b.out));
	if (r == 0)
		r = b.out ? 0 : -ENOMEM;
	if (r == 0) {
		pager_start(&pager, !a->no_pager);
		out_to_fd(b.out, STDOUT_FILENO);
		r = board_print(&b);
		pager_finish(&pager);
	}
	buf_done(&b.path);
	free(b.out);
	ranks_done(&b.ranks);
	if (r < 0)
		complain("cannot print: %s", strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

/* ---- the command ---- */

static int check_arguments(struct arguments *a, int n_files)
{
	if (!n_files) {
		complain("which files? (see 'proton merge --help')");
		return -EINVAL;
	}
	if (!a->out && !a->ranks) {
		complain("where to? (-o OUT, or --ranks to see the ranks)");
		return -EINVAL;
	}
	if (!a->out)
		return 0;
	a->writer = a->format ? format_by_name(a->format) : format_by_path(a->out);
	if (!a->writer && !a->format)
		a->writer = &format_hatchet;
	if (a->writer && a->writer->write)
		return 0;
	complain("'%s' is not a format that can be written (see 'proton export --help')",
		 a->format ? a->format : a->out);
	return -EINVAL;
}

static int save(const struct session *s, const struct arguments *a)
{
	int r = format_save(output_path(a->out), a->writer, s, NULL);

	if (r < 0)
		complain("cannot write '%s': %s", a->out, strerror(-r));
	return r < 0 ? STATUS_FAILED : STATUS_OK;
}

int cmd_merge(int argc, char **argv)
{
	struct arguments a = {.metric = "time", .rows = ROWS_DEFAULT};
	_cleanup_(session_freep) struct session *s = NULL;
	int first, status = STATUS_OK;

	a.width = terminal_width(STDOUT_FILENO);
	first = options_parse(&command_merge, argc, argv, on_option, &a);
	if (first <= 0)
		return first ? STATUS_USAGE : STATUS_OK;
	if (check_arguments(&a, argc - first) < 0)
		return STATUS_USAGE;
	a.ascii = a.ascii || strcmp(nl_langinfo(CODESET), "UTF-8");
	signal(SIGPIPE, SIG_DFL);
	s = load_merged(argv + first, argc - first, &a.loading);
	if (!s)
		return STATUS_FAILED;
	if (a.out)
		status = save(s, &a);
	if (a.ranks && status == STATUS_OK)
		status = print_ranks(s, &a);
	return status == STATUS_OK && a.loading.n_failed ? STATUS_FAILED : status;
}
