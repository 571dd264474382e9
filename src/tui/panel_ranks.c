/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "core/numbers.h"
#include "core/ranks.h"
#include "tui/names.h"
#include "tui/sections.h"
#include "tui/tui_impl.h"

#define PATHS_MAX 1000u /* who looks further down than this has another question */

/* The board of ranks: what each has in all, and on which paths the others wait for the slowest. */
struct panel_ranks {
	struct sections base;
	struct ranks ranks;
	struct spread_row *paths; /* by what they cost */
	uint32_t n_paths;
	double mean;
	uint64_t generation; /* of the numbers that all of it is of */
};

static struct panel_ranks *as_ranks(struct panel *p)
{
	return (struct panel_ranks *)p;
}

static bool is_there(const struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);
	size_t n = 0;

	for (size_t i = 0; i < s->n_processes; i++)
		n += s->processes[i].rank >= 0 || s->ended;
	return n > 1;
}

/* ---- ranks ---- */

static const struct column rank_columns[] = {
	{"TOTAL", "time on the device, without collectives", 7, 0, human_time_ns},
	{"/MEAN", "of the mean of all ranks", 5, 1, human_rate},
	{"COLLECT", "time in collectives, with what it waits there for others", 7, 2, human_time_ns,
	 .is_absent = sections_lack},
};

static void put_rank(struct panel *p, uint32_t process, bool is_slowest, struct buf *out)
{
	const struct session *s = panel_session(p);
	const struct session_process *of = process < s->n_processes ? &s->processes[process] : NULL;
	size_t before = out->len;
	char rank[64];

	rank_name(s, process, rank, sizeof(rank));
	/* Without a rank it is known by its pid, which the rest says as well. */
	if (!of || !of->pid || of->rank >= 0)
		buf_puts(out, rank);
	if (is_slowest) /* before what is long */
		buf_puts(out, out->len > before ? "  slowest" : "slowest");
	if (of && of->pid) {
		buf_puts(out, out->len > before ? "  " : "");
		tui_put_process(p->tui, process, out);
	}
}

static void list_ranks(struct panel *p)
{
	const struct panel_ranks *pr = as_ranks(p);
	const struct ranks *ranks = &pr->ranks;

	for (uint32_t i = 0; i < ranks->n; i++) {
		const struct rank_total *t = &ranks->totals[i];
		bool slowest = ranks->n > 1 && t->process == ranks->spread[SESSION_ROOT].slowest;
		const struct section_row row = {
			.v = {t->sum, pr->mean > 0 ? t->sum / pr->mean : NAN,
			      t->collectives > 0 ? t->collectives : NAN},
			.role = slowest ? ROLE_WARNING : ROLE_NORMAL,
		};

		put_rank(p, t->process, slowest, sections_add(p, &row));
	}
}

/* ---- paths ---- */

#define SLOWEST_MAX 12 /* what its column has room for */

/* The number is the path's node. A file's name without what all of them end in; what is too long loses
 * its beginning. */
static void print_slowest(struct panel *p, double node, char out[COLUMN_TEXT])
{
	char name[256], *dot;
	const char *end = name;

	slowest_name(panel_session(p), &as_ranks(p)->ranks.spread[(uint32_t)node], name,
		     sizeof(name));
	dot = strrchr(name, '.');
	if (dot && strlen(name) > SLOWEST_MAX)
		*dot = '\0';
	if (strlen(name) <= SLOWEST_MAX) {
		snprintf(out, COLUMN_TEXT, "%.*s", SLOWEST_MAX, name);
		return;
	}
	for (end += strlen(name) - SLOWEST_MAX + 1; (*end & 0xc0) == 0x80;)
		end++; /* not from within a character */
	snprintf(out, COLUMN_TEXT, "~%.*s", SLOWEST_MAX - 1, end);
}

/* How the forms of core/ranks.h are printed, of time. */
#define FORMAT_TIME  human_time_ns
#define FORMAT_RATE  human_rate
#define FORMAT_COUNT human_count
#define FORMAT_WORD  NULL

static const struct column path_columns[] = {
#define _(id, title_, form, width_, rank, help_)                                                   \
	{                                                                                          \
		.title = title_,                                                                   \
		.help = help_,                                                                     \
		.width = width_,                                                                   \
		.priority = rank,                                                                  \
		.format = FORMAT_##form,                                                           \
		.print = SPREAD_##id == SPREAD_SLOWEST ? print_slowest : NULL,                     \
	},
	SPREAD_COLUMNS(_)
#undef _
};

static void list_path(struct panel *p, uint32_t node)
{
	const struct spread *spread = &as_ranks(p)->ranks.spread[node];
	struct section_row row = {.role = ROLE_NORMAL};

	_Static_assert(SPREAD_N <= SECTION_NUMBERS, "a row has all numbers of a path");
	for (unsigned k = 0; k < SPREAD_N; k++)
		row.v[k] = k == SPREAD_SLOWEST ? node : spread_value(spread, k);
	if (node == SESSION_ROOT)
		buf_puts(sections_add(p, &row), "ROOT");
	else if (snapshot_is_plain(p->tui->snap)) /* view nodes are session nodes */
		sections_add_path(p, node, &row);
	else
		buf_puts(sections_add(p, &row), session_node_name(panel_session(p), node));
}

static void list_paths(struct panel *p)
{
	const struct panel_ranks *pr = as_ranks(p);

	if (pr->ranks.n < 2)
		return;
	if (pr->ranks.spread[SESSION_ROOT].n)
		list_path(p, SESSION_ROOT);
	for (uint32_t i = 0; i < MIN(pr->n_paths, PATHS_MAX); i++)
		list_path(p, pr->paths[i].node);
}

/* ---- the panel ---- */

static const struct section sections[] = {
	{
		.title = "Ranks",
		.name = "RANK",
		.columns = {rank_columns, ARRAY_SIZE(rank_columns), 40},
		.list = list_ranks,
		.empty = "no rank has spent time on a device",
	},
	{
		.title = "Where ranks wait for the slowest",
		.name = "PATH",
		.columns = {path_columns, ARRAY_SIZE(path_columns), 40},
		.list = list_paths, /* one rank waits for nobody */
		.empty = "one rank has nobody to wait for: open the files of several",
	},
};

static void forget(struct panel_ranks *pr)
{
	ranks_done(&pr->ranks);
	free(pr->paths);
	pr->paths = NULL;
	pr->n_paths = 0;
}

static void done(struct panel *p)
{
	forget(as_ranks(p));
	sections_done(p);
}

/* Which rows of the session the filters leave; NULL: out of memory. */
static uint8_t *rows_counted(struct panel *p, const struct numbers *numbers)
{
	size_t n = panel_session(p)->n_rows;
	uint8_t *counted = malloc(MAX(n, 1u));

	for (size_t i = 0; counted && i < n; i++) {
		uint32_t node = snapshot_row_node(p->tui->snap, i);

		counted[i] = node != SNAP_NONE && numbers_counts(numbers, node);
	}
	return counted;
}

/* Does all work belong to one process? */
static bool is_alone(const struct session *s)
{
	for (size_t i = 1; i < s->n_lanes; i++)
		if (s->lanes[i].process != s->lanes[0].process)
			return false;
	return s->n_lanes > 0;
}

/* There is nothing to compare: the whole is known without a look at each row. */
static void make_alone(struct panel *p, struct numbers *numbers)
{
	struct panel_ranks *pr = as_ranks(p);
	const double *time = derive_used(numbers_derive(numbers), METRIC_TIME, true);

	pr->ranks.totals = calloc(1, sizeof(*pr->ranks.totals));
	if (!pr->ranks.totals || !time || isnan(time[0]))
		return;
	pr->ranks.totals[0] = (struct rank_total){panel_session(p)->lanes[0].process, time[0], 0};
	pr->ranks.n = 1;
}

static void make_several(struct panel *p, const struct numbers *numbers)
{
	struct panel_ranks *pr = as_ranks(p);
	_cleanup_(freep) uint8_t *counted = rows_counted(p, numbers);

	if (counted && ranks_init(&pr->ranks, panel_session(p), METRIC_TIME, counted) == 0)
		pr->paths = ranks_sorted(&pr->ranks, panel_session(p), &pr->n_paths);
}

static void make(struct panel *p, struct numbers *numbers)
{
	struct panel_ranks *pr = as_ranks(p);

	forget(pr);
	if (is_alone(panel_session(p)))
		make_alone(p, numbers);
	else
		make_several(p, numbers);
	pr->mean = 0;
	for (uint32_t i = 0; i < pr->ranks.n; i++)
		pr->mean += pr->ranks.totals[i].sum / pr->ranks.n;
	pr->generation = numbers_generation(numbers);
}

static void update(struct panel *p)
{
	struct numbers *numbers = tui_numbers(p->tui);

	if (as_ranks(p)->generation != numbers_generation(numbers))
		make(p, numbers);
	sections_update(p);
}

const struct panel_ops panel_ranks_ops = {
	.title = "Ranks",
	.is_there = is_there,
	.size = sizeof(struct panel_ranks),
	.init = sections_init,
	.done = done,
	.update = update,
	.keys = sections_context_keys,
	SECTIONS_OPS(sections),
	.is_filtered = true,
};
