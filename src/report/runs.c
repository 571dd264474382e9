/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/runs.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/human.h"
#include "base/util.h"
#include "core/device_order.h"
#include "report/table.h"

enum { KEY_WIDTH = 12, LEAST_WIDTH = 20, LINE_MOST = 4096 };

/* ---- the head of a report ---- */

/* What no terminal limits is limited all the same: a command may have megabytes. */
static size_t line_room(const struct run_print *p)
{
	size_t width = p->width ? p->width : LINE_MOST;

	return MAX(width, (size_t)(KEY_WIDTH + LEAST_WIDTH)) - KEY_WIDTH;
}

static void put_line(struct out *out, const char *key, struct buf *text, const struct run_print *p)
{
	if (text->len) {
		out_printf(out, "%-*s", KEY_WIDTH, key);
		put_name(out, buf_str(text), line_room(p), p->ascii);
		out_putc(out, '\n');
	}
	buf_clear(text);
}

/* A line with numbers, which are not cut: as many lines as it needs. */
static void put_lines(struct out *out, const char *key, struct buf *text, const struct run_print *p)
{
	out_printf(out, "%-*s", KEY_WIDTH, key);
	put_wrapped(out, buf_str(text), KEY_WIDTH, KEY_WIDTH + line_room(p));
	out_putc(out, '\n');
}

static void put_start(struct buf *out, uint64_t start_ns)
{
	time_t seconds = (time_t)(start_ns / NSEC_PER_SEC);
	char text[32];
	struct tm tm;

	if (start_ns && localtime_r(&seconds, &tm) &&
	    strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &tm))
		buf_puts(out, text);
}

static void put_part(struct buf *out, const char *before, const char *text)
{
	if (*text)
		buf_printf(out, "%s%s%s", out->len ? ", " : "", before, text);
}

/* "2026-11-22 23:52:40, 12.4s, exit 0, not counted for 3.01s" */
static void put_time(const struct session_run *run, struct buf *out)
{
	_cleanup_(buf_done) struct buf end = {0};
	char text[HUMAN_MAX] = "";

	put_start(out, run->start_ns);
	if (run->wall_ns)
		human_time_ns(text, (double)run->wall_ns);
	put_part(out, "", text);
	run_put_end(run, &end);
	put_part(out, "", buf_str(&end));
	if (!run->paused_ns)
		return;
	human_time_ns(text, (double)run->paused_ns);
	put_part(out, "not counted for ", text);
}

/* "on gpu17, in /home/u/project, by proton 0.1.0" */
static void put_where(const struct session *s, const struct session_run *run, struct buf *out)
{
	put_part(out, "on ", strtab_str(s->strings, run->strings[RUN_HOST]));
	put_part(out, "in ", strtab_str(s->strings, run->strings[RUN_FOLDER]));
	put_part(out, "by proton ", strtab_str(s->strings, run->strings[RUN_VERSION]));
}

static void put_run(const struct session *s, const struct session_run *run,
		    const struct run_print *p, struct out *out)
{
	_cleanup_(buf_done) struct buf text = {0};

	run_put_command(s, run, &text);
	put_line(out, "command", &text, p);
	buf_puts(&text, strtab_str(s->strings, run->strings[RUN_LABEL]));
	put_line(out, "label", &text, p);
	put_time(run, &text);
	put_line(out, "run", &text, p);
	put_where(s, run, &text);
	put_line(out, "where", &text, p);
	run_put_environment(s, run, &text);
	put_line(out, "environment", &text, p);
}

/* How busy the devices were: the first thing to know about a slow program. */
static void put_busy(const struct session *s, size_t device, const struct run_print *p,
		     struct out *out)
{
	const struct session_device *d = &s->devices[device];
	double busy = session_busy_ns(s, (uint32_t)device);
	double share = runs_busy_share(s, (uint32_t)device);
	_cleanup_(buf_done) struct buf text = {0};
	char number[HUMAN_MAX], word[DEVICE_WORD];

	session_device_word(s, (uint32_t)device, word);
	buf_puts(&text, word);
	if (d->name)
		buf_printf(&text, " %s", strtab_str(s->strings, d->name));
	if (busy > 0) {
		human_time_ns(number, busy);
		buf_printf(&text, ", busy %s", number);
	}
	if (busy > 0 && share >= 0) {
		human_percent(number, share);
		buf_printf(&text, ", %s %% of the run", number);
	}
	put_lines(out, "device", &text, p);
}

int report_runs(const struct session *s, const struct run_print *p, struct out *out)
{
	_cleanup_(freep) uint32_t *order = device_order_new(s);

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_runs; i++)
		put_run(s, &s->runs[i], p, out);
	for (size_t i = 0; s->n_runs && i < s->n_devices; i++)
		put_busy(s, order[i], p, out);
	return 0;
}
