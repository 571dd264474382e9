/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "cmd/join.h"
#include <errno.h>
#include <string.h>
#include "base/clock.h"
#include "base/util.h"
#include "cmd/commands.h"
#include "core/graph_shares.h"
#include "live/gather.h"
#include "live/recording.h"
#include "report/print_line.h"

struct joined {
	const struct join *o;
	struct gather *gather;
	struct session *s;
	char target[160];
	bool over;
};

static const char *gather_strerror(int r)
{
	switch (r) {
	case -EPERM:
		return "it is another user's";
	case -ENOTSOCK:
		return "something that is no socket is there";
	case -EADDRINUSE:
		return "somebody listens there";
	default:
		return strerror(-r);
	}
}

/* ---- what is told of them ---- */

/* "train.py", "train.py and 3 more": of the runs that came. */
static const char *target_of(struct joined *j)
{
	const struct session *s = j->s;
	const char *command, *name;

	if (!s->n_runs)
		return !strcmp(j->o->source, "-") ? "standard input" : j->o->source;
	command = strtab_str(s->strings, s->runs[0].strings[RUN_COMMAND]);
	name = path_name(command);
	if (s->n_runs == 1)
		snprintf(j->target, sizeof(j->target), "%s", name);
	else
		snprintf(j->target, sizeof(j->target), "%.100s and %zu more", name, s->n_runs - 1);
	return j->target;
}

/* How a run ended, as wait() says it; -1: that is not known. */
static int wait_status_of(const struct session *s)
{
	const struct session_run *run = s->runs;

	if (s->n_runs != 1 || run->end != PROCESS_ENDED)
		return -1;
	return run->signal ? (int)(run->signal & 0x7f) : (int)(run->exit_status & 0xff) << 8;
}

static uint64_t longest_ns(const struct session *s)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < s->n_runs; i++)
		ns = MAX(ns, s->runs[i].wall_ns);
	return ns;
}

static void tell_status(void *data, struct tui_status *ret)
{
	struct joined *j = data;

	ret->run = TUI_RUN_ENDED;
	if (!j->over)
		ret->run = gather_n_streams(j->gather) ? TUI_RUN_RUNNING : TUI_RUN_STARTING;
	ret->target = target_of(j);
	ret->pid = j->s->n_processes ? j->s->processes[0].pid : 0;
	ret->n_children = j->s->n_processes > 1 ? (uint32_t)j->s->n_processes - 1 : 0;
	ret->wait_status = wait_status_of(j->s);
	ret->up_ns = longest_ns(j->s);
}

static const char *tell_news(void *data)
{
	struct joined *j = data;

	return gather_news(j->gather);
}

static void greet(void *data, struct tui *t)
{
	struct joined *j = data;

	if (strcmp(j->o->source, "-") != 0)
		tui_message(t, "waiting for streams: proton record --forward %s APP", j->o->source);
}

/* ---- the streams ---- */

/* At a socket others may begin it anew. */
static int read_streams(void *data)
{
	struct joined *j = data;
	struct graph_shares *shares = j->o->shares;
	int r = gather_read(j->gather);
	bool over;

	if (shares && graph_shares_apply(shares, j->s) < 0)
		r = -ENOMEM;
	over = gather_is_over(j->gather);
	j->s->ended = over;
	if (over && !j->over && shares && graph_shares_settle(shares, j->s) < 0)
		r = -ENOMEM;
	if (over && !j->over)
		j->s->end_ns = clock_realtime_ns();
	j->over = over;
	return r;
}

static int streams_fd(void *data)
{
	struct joined *j = data;

	return gather_fd(j->gather);
}

static bool are_behind(void *data)
{
	struct joined *j = data;

	return gather_is_behind(j->gather);
}

static bool have_begun(void *data)
{
	struct joined *j = data;

	return gather_n_streams(j->gather);
}

int join_run(const struct join *join)
{
	static const struct followed streams = {.source = TUI_OF_STREAMS,
						.read = read_streams,
						.fd = streams_fd,
						.is_behind = are_behind,
						.has_begun = have_begun,
						.news = tell_news,
						.status = tell_status,
						.greet = greet};
	struct joined j = {.o = join};
	int r = gather_new(join->source, &j.gather);

	if (r < 0) {
		complain("cannot read streams from '%s': %s", join->source, gather_strerror(r));
		return STATUS_FAILED;
	}
	j.s = gather_session(j.gather);
	r = follow_run(&join->follow, &streams, &j, j.s);
	/* Nothing that came was a stream: then what was said of it is all that there is. */
	if (r == STATUS_OK && j.over && !gather_n_streams(j.gather))
		r = STATUS_FAILED;
	gather_free(j.gather);
	return r;
}
