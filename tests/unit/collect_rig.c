/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect_rig.h"
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/internal.h"
#include "wire/decode.h"
#include "wire/wire.h"

struct session_dir *rig_dir;
struct session *rig_session;
static struct wire_decoder *decoder;
static unsigned char torn[PIPE_BUF]; /* the beginning of a frame whose rest was not read yet */
static size_t n_torn;

void rig_open(void)
{
	ck_assert_int_eq(session_dir_new(&rig_dir), 0);
	setenv(CONTROL_ENV, rig_dir->path, 1);
	rig_dir->control->period_ms = 10;
	rig_session = session_new();
	decoder = wire_decoder_new(rig_session);
}

void rig_start(void)
{
	rig_open();
	ck_assert_int_eq(collect_start(DOOR_API), 0);
	ck_assert(collect_on);
}

void rig_close(void)
{
	if (!rig_dir)
		return;
	atomic_store(&rig_dir->control->alive, 0);
	session_dir_remove(rig_dir->path);
}

struct wire_decoder *rig_decoder(void)
{
	return decoder;
}

void rig_forget(void)
{
	rig_pump();
	wire_decoder_free(decoder);
	session_free(rig_session);
	rig_session = session_new();
	decoder = wire_decoder_new(rig_session);
}

/* Where frames begin and end in what was read. */
static void check_frames(const unsigned char *p, size_t n)
{
	static unsigned char all[PIPE_BUF + 65536];
	struct wire_header h;
	size_t at = 0, length;

	memcpy(all, torn, n_torn);
	memcpy(all + n_torn, p, n);
	n += n_torn;
	while (n - at >= sizeof(h)) {
		memcpy(&h, all + at, sizeof(h));
		ck_assert_uint_eq(h.magic, WIRE_MAGIC);
		ck_assert_uint_ge(h.length, sizeof(h));
		ck_assert_uint_le(h.length, PIPE_BUF);
		length = (h.length + 7u) & ~(size_t)7;
		if (length > n - at)
			break;
		at += length;
	}
	n_torn = n - at;
	ck_assert_uint_lt(n_torn, sizeof(torn));
	memcpy(torn, all + at, n_torn);
}

void rig_pump(void)
{
	static unsigned char chunk[65536];
	ssize_t n;

	while ((n = read(rig_dir->stream_fd, chunk, sizeof(chunk))) > 0) {
		check_frames(chunk, (size_t)n);
		ck_assert_int_eq(wire_decoder_feed(decoder, chunk, (size_t)n), 0);
	}
}

void rig_until(bool (*condition)(void *arg), void *arg, const char *what)
{
	const struct timespec ms = {0, 1000000};
	uint64_t end = clock_monotonic_ns() + 60 * NSEC_PER_SEC;

	for (rig_pump(); !condition(arg); rig_pump()) {
		ck_assert_msg(clock_monotonic_ns() < end, "%s: not within a minute", what);
		nanosleep(&ms, NULL);
	}
}

void rig_scope(const char *name)
{
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, name, strlen(name));
	collect_pop(COLLECT_TAG_SCOPE);
}

uint32_t rig_node(const char *name)
{
	for (uint32_t i = 0; i < rig_session->n_nodes; i++)
		if (!strcmp(session_node_name(rig_session, i), name))
			return i;
	return SESSION_NONE;
}

long rig_sum(const char *name, uint32_t metric)
{
	union metric_value v;
	long sum = -1;

	for (uint32_t i = 0; i < rig_session->n_nodes; i++)
		if (!strcmp(session_node_name(rig_session, i), name) &&
		    session_value(rig_session, i, metric, &v))
			sum = (sum < 0 ? 0 : sum) + (long)v.u64;
	return sum;
}

struct sum {
	const char *name;
	uint32_t metric;
	long wanted;
};

static bool is_paused_as(void *arg)
{
	return rig_session->n_processes && rig_session->processes[0].paused == *(bool *)arg;
}

void rig_pause(bool paused)
{
	atomic_store(&rig_dir->control->paused, paused);
	rig_until(is_paused_as, &paused, "paused or not");
}

static bool sum_is(void *arg)
{
	const struct sum *s = arg;

	return rig_sum(s->name, s->metric) == s->wanted;
}

void rig_until_sum(const char *name, uint32_t metric, long wanted)
{
	struct sum s = {name, metric, wanted};

	rig_until(sum_is, &s, name);
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
}

uint64_t rig_losses(enum loss loss)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < atomic_load(&collector->n_threads); i++)
		n += atomic_load(&collector->thread[i].losses[loss]);
	return n;
}
