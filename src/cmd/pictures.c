/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/pictures.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "cmd/profile_options.h"
#include "core/column.h"
#include "format/format.h"
#include "report/print_line.h"

/* Filters apply to the tree alone: unfiltered tables beside it would not match it. */
static unsigned picture_views(const struct report_options *o)
{
	unsigned views = REPORT_SUMMARY | REPORT_TREE | REPORT_LOSSES;

	if (o->include || o->exclude || o->least.value != 0)
		return views;
	return views | REPORT_KERNELS | REPORT_TRANSFERS;
}

/* Leave out the columns or the order, for one metric that is missing; say so the first time. */
static void leave_missing(struct pictures *p, const struct session *s, struct report_options *text)
{
	const char *words = text->columns ? text->columns : "", *word;
	bool in_columns;
	char near[200];
	size_t len;
	int why;

	word = column_unknown(s, words, &len, &why, near, sizeof(near));
	in_columns = word || !text->sort;
	if (!in_columns)
		len = strlen(word = text->sort);
	if (word && !p->told_columns)
		complain("'%.*s' is no metric yet: the usual %s until it is",
			 (int)MIN(len, (size_t)100), word,
			 in_columns ? "columns are printed" : "order is kept");
	p->told_columns = true;
	if (in_columns)
		text->columns = NULL;
	else
		text->sort = NULL;
}

/* Of ranks, and of the flame graph. */
static void leave_what_does_not_add_up(struct pictures *p, struct report_options *text)
{
	if (!p->told_columns)
		complain("'%.100s' does not add up, which this view needs: it is of the time",
			 text->columns);
	p->told_columns = true;
	text->columns = NULL;
}

/* A metric that was asked for may appear later: until then print the usual columns, in the usual
 * order. */
static void print_text(struct pictures *p, struct profile_options *profile, const struct session *s)
{
	struct report_options text = profile->report;
	int r;

	text.views = p->views ? p->views : picture_views(&text);
	text.rows = 20;
	text.peaks = profile_peaks(profile);
	while ((r = report_print(s, &text, profile->group)) < 0) {
		if (r == -EINVAL && (text.columns || text.sort))
			leave_missing(p, s, &text);
		else if (r == -EDOM && text.columns)
			leave_what_does_not_add_up(p, &text);
		else
			break;
	}
}

static bool reader_left(void)
{
	struct pollfd p = {.fd = STDOUT_FILENO};

	return poll(&p, 1, 0) == 1 && (p.revents & (POLLERR | POLLHUP));
}

/* The reader of the pictures has left (`| head`). Print no more; the run goes on. */
static void stop_printing(struct pictures *p)
{
	int null_fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	if (null_fd >= 0)
		dup3(null_fd, STDOUT_FILENO, O_CLOEXEC);
	closep(&null_fd);
	fflush(stdout);
	clearerr(stdout);
	p->unread = true;
}

bool pictures_take_view(struct pictures *p, const char *word)
{
	enum view view = word ? view_find(word, strlen(word)) : VIEW_N;

	if (!word)
		return true;
	if (p->json_lines)
		complain("--view: a picture as JSON (--json-lines) has all that there is");
	else if (view == VIEW_CALLERS)
		complain("--view callers: of which function is chosen on the screen; "
			 "'proton report' takes callers=NAME");
	else if (!report_has_text(view))
		complain("--view %s is on the screen alone: it is no text (--batch)", word);
	else
		p->views = 1u << view;
	return p->views;
}

bool pictures_are_over(const struct pictures *p)
{
	return p->unread || (p->n_pictures && p->n_printed >= p->n_pictures);
}

void pictures_print(struct pictures *p, struct profile_options *profile, struct session *s)
{
	struct write_options compact = {.compact = true};

	if (pictures_are_over(p))
		return;
	p->n_printed++;
	if (p->json_lines) {
		format_save("/dev/stdout", &format_json, s, &compact);
	} else {
		print_text(p, profile, s);
		printf("\n");
		fflush(stdout);
	}
	if (reader_left())
		stop_printing(p);
}

/* A metric may come later; a unit that its word has does not, nor does what is no metric. */
static bool is_in_vain(const struct session *s, const char *words, const char *option)
{
	char near[200];
	size_t len;
	int why;

	for (; words && (words = column_unknown(s, words, &len, &why, near, sizeof(near)));
	     words += len + (words[len] == ','))
		if (why == -EINVAL || column_is_hopeless(words, len))
			return complain_column(s, words, option);
	return false;
}

bool pictures_in_vain(struct profile_options *profile, const struct session *s)
{
	const struct report_options *o = &profile->report;
	const struct least least = {.word = o->columns, .at = o->least};

	return complain_least(&least, s) || complain_selectors(profile, s, true) ||
	       is_in_vain(s, o->columns, "-m") || is_in_vain(s, o->sort, "-s");
}

void own_cpu_measure(struct own_cpu *c)
{
	uint64_t now = clock_monotonic_ns(), cpu = 0;
	struct rusage u;
	int who[] = {RUSAGE_SELF, RUSAGE_CHILDREN};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(who); i++) {
		getrusage(who[i], &u);
		cpu += (uint64_t)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) * NSEC_PER_SEC +
		       (uint64_t)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) * NSEC_PER_USEC;
	}
	if (now - c->at_ns < NSEC_PER_SEC / 2 && c->at_ns)
		return;
	c->share = c->at_ns ? (double)(cpu - c->cpu_ns) / (double)(now - c->at_ns) : NAN;
	c->cpu_ns = cpu;
	c->at_ns = now;
}
