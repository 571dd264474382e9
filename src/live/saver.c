/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/saver.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "format/format.h"
#include "format/place.h"

#define SHARE 100        /* a save of t ns is followed by t * SHARE ns without one */
#define NEVER UINT64_MAX /* no generation of a session */

int saver_init(struct saver *v, const char *path, uint64_t period_ns)
{
	*v = (struct saver){.period_ns = period_ns ? period_ns : NSEC_PER_SEC};
	v->path = strdup(path);
	v->next_ns = clock_monotonic_ns() + v->period_ns;
	return v->path ? 0 : -ENOMEM;
}

/* After a child that failed, the next save must not be skipped as unchanged. A child that was
 * killed has left its temporary file: remove it. */
static void child_ended(struct saver *v, int status)
{
	v->error = WIFEXITED(status) ? -WEXITSTATUS(status) : -EIO;
	if (!WIFEXITED(status))
		place_forget(v->path, v->child, v->started_ns);
	if (v->error == 0) {
		v->n_saves++;
	} else {
		v->n_failed++;
		v->generation = NEVER;
	}
	v->child = 0;
}

static void child_wait(struct saver *v)
{
	int status;

	while (waitpid(v->child, &status, 0) < 0)
		if (errno != EINTR) {
			v->child = 0;
			return;
		}
	child_ended(v, status);
}

void saver_done(struct saver *v)
{
	if (v->child > 0) {
		kill(v->child, SIGKILL);
		child_wait(v);
	}
	free(v->path);
	v->path = NULL;
}

/* May the file be written more than once? A FIFO or /dev/stdout is written at the end only. */
static bool saver_repeats(const struct saver *v)
{
	struct stat st;

	return stat(v->path, &st) < 0 || S_ISREG(st.st_mode);
}

/* If nothing is written after this, the file must say that it is a part. */
static int save(const struct saver *v, struct session *s, const struct write_options *options)
{
	s->losses[LOSS_UNFINISHED] = !s->ended;
	return format_save(v->path, &format_hatchet, s, options);
}

int saver_save_part(const struct saver *v, struct session *s)
{
	/* A trace grows without end and would make saves rare: it is written at the end. */
	const struct write_options options = {.no_trace = true, .tag = v->started_ns};

	return save(v, s, &options);
}

static int save_session(const struct saver *v, void *ctx)
{
	return saver_save_part(v, ctx);
}

static void child_main(const struct saver *v, saver_fn *save, void *ctx)
{
	/* Ctrl-C is for the program; this child only finishes its file. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	_exit(-save(v, ctx) & 0xff);
}

void saver_start(struct saver *v, uint64_t generation, saver_fn *save, void *ctx)
{
	uint64_t now = clock_monotonic_ns();
	pid_t pid;

	v->next_ns = now + v->period_ns;
	v->started_ns = now;
	if (generation == v->generation || !saver_repeats(v))
		return;
	pid = fork();
	if (pid == 0)
		child_main(v, save, ctx);
	if (pid < 0) {
		v->error = -errno;
		return;
	}
	v->child = pid;
	v->generation = generation;
}

static void saver_reap(struct saver *v)
{
	struct rusage usage;
	uint64_t cost;
	int status;
	pid_t pid = wait4(v->child, &status, WNOHANG, &usage);

	/* As process 1 of a container we reap all processes elsewhere, this child too. */
	if (pid < 0 && errno == ECHILD) {
		v->child = 0;
		v->generation = NEVER;
	}
	if (pid != v->child || pid <= 0)
		return;
	child_ended(v, status);
	cost = (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
	v->next_ns = v->started_ns + MAX(v->period_ns, cost * SHARE);
}

bool saver_is_due(struct saver *v)
{
	if (v->child > 0)
		saver_reap(v);
	return v->child == 0 && clock_monotonic_ns() >= v->next_ns;
}

void saver_poll(struct saver *v, struct session *s)
{
	if (saver_is_due(v))
		saver_start(v, s->generation, save_session, s);
}

void saver_settle(struct saver *v)
{
	if (v->child > 0)
		child_wait(v);
}

int saver_finish(struct saver *v, struct session *s)
{
	/* Its rename must not come after ours. */
	saver_settle(v);
	v->error = save(v, s, &(struct write_options){.no_trace = v->no_trace});
	return v->error;
}

int saver_wait_ms(const struct saver *v)
{
	uint64_t now = clock_monotonic_ns();

	if (v->child > 0)
		return 50;
	return now >= v->next_ns ? 0
				 : (int)MIN((v->next_ns - now) / NSEC_PER_MSEC + 1, UINT64_C(1000));
}
