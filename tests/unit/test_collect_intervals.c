/* SPDX-License-Identifier: MIT */
/* When operations ran: busy times, and the bulk files of a trace. */
#include "config.h" // IWYU pragma: keep
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/util.h"
#include "base/clock.h"
#include "collect/internal.h"
#include "collect/trace_windows.h"
#include "core/busy.h"
#include "core/strips.h"
#include "test_collect.h"
#include "wire/decode.h"
#include "wire/wire.h"

static void record_activity(unsigned source, struct activity a)
{
	struct activity_sink *sink = collect_sink(source);

	a.launch = sink->ops->launch(sink, NULL);
	sink->ops->record(sink, &a);
}

static void record_of(unsigned source, uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	record_activity(source, (struct activity){.kind = ACTIVITY_KERNEL,
						  .name = "k",
						  .stream = stream,
						  .start_ns = start_ns,
						  .end_ns = end_ns});
}

static void copy(uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	record_activity(SOURCE_FAKE, (struct activity){.kind = ACTIVITY_COPY,
						       .bytes = 64,
						       .stream = stream,
						       .start_ns = start_ns,
						       .end_ns = end_ns});
}

static void record(uint32_t stream, uint64_t start_ns, uint64_t end_ns)
{
	record_of(SOURCE_FAKE, stream, start_ns, end_ns);
}

static bool busy_is(void *arg)
{
	return rig_session->n_uses == 1 && rig_session->uses[0].busy_ns == *(uint64_t *)arg;
}

static void until_busy(uint64_t ns)
{
	rig_until(busy_is, &ns, "busy time");
}

/* Of one process: busy, copying, hidden. */
struct wanted {
	size_t process;
	uint64_t ns[3];
};

static bool use_is(void *arg)
{
	const struct wanted *w = arg;

	for (size_t i = 0; i < rig_session->n_uses; i++) {
		const struct session_use *use = &rig_session->uses[i];

		if (use->process == w->process)
			return use->busy_ns == w->ns[0] && use->copies_ns == w->ns[1] &&
			       use->hidden_ns == w->ns[2];
	}
	return false;
}

static void until_use(size_t process, uint64_t busy, uint64_t copying, uint64_t hidden)
{
	struct wanted w = {process, {busy, copying, hidden}};
	char what[80];

	snprintf(what, sizeof(what), "busy %" PRIu64 ", copying %" PRIu64 ", hidden %" PRIu64, busy,
		 copying, hidden);
	rig_until(use_is, &w, what);
}

static void trace_start(uint32_t max)
{
	rig_open();
	rig_dir->control->wanted.trace = 1;
	rig_dir->control->wanted.trace_max = max;
	ck_assert_int_eq(collect_start(DOOR_API), 0);
}

static bool is_one_record(void *arg)
{
	(void)arg;
	return rig_session->processes[0].n_records == 1;
}

/* Two streams, the records of the second late and in part at the same time. */
START_TEST(test_busy)
{
	uint64_t t;

	rig_start();
	for (t = 1000; t < 2000; t += 100)
		record(1, t, t + 50);
	until_busy(500);
	record(2, 1000, 1020); /* within another */
	record(2, 1040, 1060); /* half */
	record(2, 1120, 1310); /* over two and their gaps */
	until_busy(500 + 10 + 100);
	atomic_fetch_add(&rig_dir->control->reset, 1);
	until_busy(0);
	record(1, 3000, 3007);
	until_busy(7);
	rig_until_sum("k", METRIC_COUNT, 1);
}
END_TEST

/* How much of copies ran beside other work, of which some was there before the first and some comes late. */
START_TEST(test_overlap)
{
	rig_start();
	record(1, 1000, 2000);
	until_use(0, 1000, 0, 0);
	copy(2, 1500, 2500);
	until_use(0, 1500, 1000, 500);
	copy(3, 1400, 1600); /* beside a copy and the kernel */
	until_use(0, 1500, 1100, 600);
	record(1, 2400, 2600);
	until_use(0, 1600, 1100, 700);
	atomic_fetch_add(&rig_dir->control->reset, 1);
	until_use(0, 0, 0, 0);
	record(1, 2000, 2700); /* it was busy until 2600 */
	until_use(0, 100, 0, 0);
	copy(2, 2500, 2800);
	until_use(0, 200, 200, 100);
	ck_assert_uint_eq(rig_losses(LOSS_WIRE_ERROR), 0);
}
END_TEST

static void named(const char *name, uint64_t start_ns, uint64_t end_ns)
{
	record_activity(SOURCE_FAKE, (struct activity){.kind = ACTIVITY_KERNEL,
						       .name = name,
						       .stream = 1,
						       .start_ns = start_ns,
						       .end_ns = end_ns,
						       .launched_ns = start_ns - 10});
}

static void settled(uint64_t until_ns)
{
	collect_sink(SOURCE_FAKE)->ops->settled(collect_sink(SOURCE_FAKE), until_ns);
}

/* A gap counts when all is there that began before its end. What is not seen has none beside it. */
START_TEST(test_gaps)
{
	rig_start();
	settled(1);
	named("a", 1000, 1100);
	named("b", 1500, 1600);
	settled(1400);
	until_busy(200);
	named("filled", 1200, 1450);
	until_busy(450);
	ck_assert_int_eq(rig_sum("b", METRIC_IDLE), -1);
	settled(2000);
	rig_until_sum("b", METRIC_IDLE, 50);
	rig_until_sum("filled", METRIC_IDLE, 100);
	ck_assert_int_eq(rig_sum("b", METRIC_IDLE_LATE), 40);
	ck_assert_int_eq(rig_sum("b", METRIC_IDLE_LAUNCH), 10);
	ck_assert_int_eq(rig_sum("b", METRIC_LATENCY), 10);
	ck_assert_int_eq(rig_sum("a", METRIC_IDLE), -1);
}
END_TEST

START_TEST(test_gaps_of_what_is_not_seen)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);

	rig_start();
	settled(1);
	named("a", 1000, 1100);
	until_busy(100);
	rig_pause(true);
	named("lost", 1700, 1800);
	rig_pause(false);
	named("c", 2500, 2600);
	named("d", 2700, 2800);
	settled(3000);
	rig_until_sum("d", METRIC_IDLE, 100);
	ck_assert_int_eq(rig_sum("c", METRIC_IDLE), -1);
	sink->ops->lose(sink, LOSS_DROPPED, 1);
	named("e", 3500, 3600);
	until_busy(400);
	named("f", 3900, 4000);
	named("g", 4300, 4400);
	settled(5000);
	rig_until_sum("g", METRIC_IDLE, 300);
	ck_assert_int_eq(rig_sum("e", METRIC_IDLE), -1);
	ck_assert_int_eq(rig_sum("f", METRIC_IDLE), -1);
	ck_assert_int_eq(rig_sum("lost", METRIC_IDLE), -1);
}
END_TEST

/* By when it was asked for, and when it was so, by CLOCK_MONOTONIC. */
struct switched {
	uint64_t asked_ns, done_ns;
};

static struct switched pause_now(bool paused)
{
	struct switched at = {.asked_ns = clock_monotonic_ns()};

	rig_pause(paused);
	at.done_ns = clock_monotonic_ns();
	return at;
}

static bool are_over(void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < rig_session->n_unrecorded; i++)
		n += rig_session->unrecorded[i].end_ns != 0;
	return rig_session->n_unrecorded == *(size_t *)arg && n == *(size_t *)arg;
}

#define SAME_MOMENT_NS (50 * NSEC_PER_MSEC) /* by two clocks, one of which may be set meanwhile */

/* Between two times that were read; those before there was such a clock are its beginning. */
static void check_around(uint64_t ns, const struct switched *at, int64_t later_ns)
{
	const int64_t least_ns = (int64_t)(at->asked_ns - SAME_MOMENT_NS) + later_ns,
		      most_ns = (int64_t)(at->done_ns + SAME_MOMENT_NS) + later_ns;

	ck_assert_int_ge((int64_t)ns, MAX(least_ns, INT64_C(0)));
	ck_assert_int_le((int64_t)ns, MAX(most_ns, INT64_C(0)));
}

static void check_within(uint64_t ns, const struct switched *at)
{
	ck_assert_uint_ge(ns, at->asked_ns);
	ck_assert_uint_le(ns, at->done_ns);
}

/* A pause is told with its times, and has all of what came in it and is not kept: one goes back to what began before
 * it, one on to what ends behind it. A reader that comes late is told of all. */
START_TEST(test_pauses)
{
	const uint64_t far = 100 * NSEC_PER_SEC;
	struct switched from[3], to[3], ran[3];
	const struct session_unrecorded *u;
	size_t n = 3;
	uint64_t now;

	rig_start();
	record(1, 1000, 1100);
	until_busy(100);
	for (unsigned i = 0; i < 3; i++) {
		from[i] = pause_now(true);
		ran[i].asked_ns = clock_monotonic_ns();
		now = clock_realtime_ns();
		ran[i].done_ns = clock_monotonic_ns();
		if (i == 1)
			record(1, now - far, now - far + 1000);
		if (i == 2)
			record(1, now, now + far);
		to[i] = pause_now(false);
	}
	rig_until(are_over, &n, "three pauses that are over");
	for (unsigned turn = 0; turn < 2; turn++) {
		u = rig_session->unrecorded;
		for (size_t i = 0; i < n; i++)
			ck_assert_uint_eq(u[i].reason, UNRECORDED_PAUSED);
		check_within(u[0].start_ns, &from[0]);
		check_within(u[0].end_ns, &to[0]);
		check_around(u[1].start_ns, &ran[1], -(int64_t)far);
		check_within(u[1].end_ns, &to[1]);
		check_within(u[2].start_ns, &from[2]);
		check_around(u[2].end_ns, &ran[2], (int64_t)far);
		rig_forget();
		atomic_fetch_add(&rig_dir->control->resync, 1);
		rig_until(are_over, &n, "three pauses, told again");
	}
	until_busy(100);
}
END_TEST

/* ---- a world of pauses ---- */

enum { N_PAUSES = 6, N_OPERATIONS = 12, CELL_NS = 20000, NEAR_NS = 1000000 };

/* One pause, and the time that what was not kept in it takes, by CLOCK_MONOTONIC. */
struct world_pause {
	struct switched from, to;
	uint64_t first_ns, last_ns;
};

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 33) % below;
}

/* Operations of some milliseconds around now; those that are kept go into a session of their own. */
static void run_some(struct session *s, struct world_pause *pause)
{
	uint64_t around = clock_realtime_ns() - 10 * NSEC_PER_MSEC,
		 shift_ns = clock_to_monotonic_ns();

	for (unsigned i = 0; i < N_OPERATIONS; i++) {
		uint64_t start = around + draw(20 * NSEC_PER_MSEC),
			 end = start + 1 + draw(4 * NSEC_PER_MSEC);
		const struct session_interval v = {start + shift_ns, end + shift_ns, 1, 0, 0, {0}};

		record((uint32_t)draw(3), start, end);
		if (s)
			ck_assert_int_eq(session_interval_add(s, &v), 0);
		if (pause && !i)
			pause->first_ns = v.start_ns;
		if (pause) {
			pause->first_ns = MIN(pause->first_ns, v.start_ns);
			pause->last_ns = MAX(pause->last_ns, v.end_ns);
		}
	}
}

static struct session *world_session(void)
{
	struct session *s = session_new();
	const struct session_device device = {.type = strtab_adds(s->strings, "CUDA")};
	struct session_lane lane = {.process = session_process_add(s, 1),
				    .device = session_device_intern(s, &device)};

	ck_assert_uint_eq(session_node(s, SESSION_ROOT, FRAME_KERNEL, "k"), 1);
	ck_assert_uint_eq(session_lane_intern(s, &lane), 0);
	return s;
}

static bool has_kept(const struct session *s, uint64_t from_ns, uint64_t to_ns)
{
	for (size_t i = 0; i < s->n_intervals; i++)
		if (s->intervals[i].start_ns < to_ns && s->intervals[i].end_ns > from_ns)
			return true;
	return false;
}

enum certain { MUST_BE_KNOWN, MUST_NOT_BE_KNOWN, MAY_BE };

/* What is known of a moment: nothing in a pause, and of what was not kept in one; else all. */
static enum certain certain_at(const struct world_pause *p, uint64_t ns)
{
	enum certain is = MUST_BE_KNOWN;

	for (unsigned i = 0; i < N_PAUSES; i++) {
		uint64_t first = MIN(p[i].first_ns, p[i].from.asked_ns) - NEAR_NS,
			 last = MAX(p[i].last_ns, p[i].to.done_ns) + NEAR_NS;

		if (ns > MIN(p[i].first_ns, p[i].from.done_ns) + NEAR_NS &&
		    ns < MAX(p[i].last_ns, p[i].to.asked_ns) - NEAR_NS)
			return MUST_NOT_BE_KNOWN;
		if (ns > first && ns < last)
			is = MAY_BE;
	}
	return is;
}

/* Each cell of a map against what is said to be known. */
static void check_world(const struct session *s, const struct world_pause *p)
{
	struct strips t;
	struct busy b;
	size_t n[3] = {0};

	ck_assert_int_eq(strips_init(&t, s), 0);
	ck_assert_int_eq(busy_init(&b, &t, 0), 0);
	for (uint64_t ns = t.first_ns; ns < t.last_ns; ns += CELL_NS) {
		uint64_t known_ns = busy_known_ns(&b, ns, ns + CELL_NS);
		enum certain is = certain_at(p, ns + CELL_NS / 2);

		if (has_kept(s, ns, ns + CELL_NS))
			continue;
		n[is]++;
		ck_assert(is != MUST_BE_KNOWN || known_ns == CELL_NS);
		ck_assert(is != MUST_NOT_BE_KNOWN || known_ns == 0);
	}
	ck_assert_uint_gt(n[MUST_NOT_BE_KNOWN], 0);
	busy_done(&b);
	strips_done(&t);
}

/* What is kept and what is not, at random, told before and after it ran. */
START_TEST(test_world_of_pauses)
{
	struct session *s = world_session();
	struct world_pause pauses[N_PAUSES] = {0};
	size_t n = N_PAUSES;

	random_state = (uint64_t)_i + 1;
	rig_start();
	record(1, 1000, 1100);
	until_busy(100);
	for (unsigned i = 0; i < N_PAUSES; i++) {
		run_some(s, NULL);
		pauses[i].from = pause_now(true);
		run_some(NULL, &pauses[i]);
		pauses[i].to = pause_now(false);
	}
	run_some(s, NULL);
	rig_until(are_over, &n, "all pauses");
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(session_unrecorded_set(s, &rig_session->unrecorded[i]), 0);
	check_world(s, pauses);
	session_free(s);
}
END_TEST

/* … also where the collector was paused before it had anything to say, and stays so. */
START_TEST(test_pause_from_the_beginning)
{
	rig_open();
	atomic_store(&rig_dir->control->paused, 1);
	ck_assert_int_eq(collect_start(DOOR_API), 0);
	rig_scope("begin");
	rig_pause(true);
	ck_assert_uint_eq(rig_session->n_unrecorded, 1);
	ck_assert_uint_eq(rig_session->unrecorded[0].reason, UNRECORDED_PAUSED);
	ck_assert_uint_eq(rig_session->unrecorded[0].start_ns, 0);
	ck_assert_uint_eq(rig_session->unrecorded[0].end_ns, 0);
}
END_TEST

#if !defined(__SANITIZE_THREAD__) /* which has no threads after a fork of several */
static bool is_told_of_child(void *arg)
{
	const struct session_unrecorded *u = rig_session->unrecorded;

	(void)arg;
	return rig_session->n_unrecorded == 2 && u[1].process == 1 && u[1].end_ns;
}

/* A child of a process that is paused is so until it looks for the first time, though all go on by then. */
START_TEST(test_pause_of_a_parent)
{
	pid_t pid;
	int status;

	rig_start();
	record(1, 1000, 1100);
	until_busy(100);
	rig_pause(true);
	pid = fork();
	if (pid == 0) {
		atomic_store(&rig_dir->control->paused, 0);
		record(1, 1200, 1300);
		_exit(!sender_deliver());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	rig_until(is_told_of_child, NULL, "the pause of a child");
	ck_assert_uint_eq(rig_session->unrecorded[1].reason, UNRECORDED_PAUSED);
	ck_assert_uint_eq(rig_session->unrecorded[1].start_ns, 0);
	until_busy(100);
}
END_TEST
#endif

/* What is told late ran before the pause, and what it is followed by behind it: something that was not kept may have
 * run in between. */
START_TEST(test_gaps_across_a_pause)
{
	const uint64_t ms = NSEC_PER_MSEC, base = clock_realtime_ns() - 10 * NSEC_PER_SEC,
		       behind = base + 3600 * NSEC_PER_SEC;

	rig_start();
	settled(1);
	named("a", base, base + 100 * ms);
	until_busy((long)(100 * ms));
	rig_pause(true);
	named("lost", base + 1000 * ms, base + 2000 * ms);
	rig_pause(false);
	named("late", base + 500 * ms, base + 600 * ms);
	named("later", base + 700 * ms, base + 800 * ms);
	named("b", behind, behind + 100);
	named("c", behind + 150, behind + 200);
	settled(behind + NSEC_PER_SEC);
	rig_until_sum("c", METRIC_IDLE, 50);
	ck_assert_int_eq(rig_sum("b", METRIC_IDLE), -1);
	rig_until_sum("later", METRIC_IDLE, (long)(100 * ms));
}
END_TEST

START_TEST(test_gaps_after_a_reset)
{
	rig_start();
	settled(1);
	named("a", 1000, 1100);
	named("b", 1500, 1600);
	settled(2000);
	rig_until_sum("b", METRIC_IDLE, 400);
	atomic_fetch_add(&rig_dir->control->reset, 1);
	until_busy(0);
	named("b", 2500, 2600);
	named("b", 2650, 2660);
	settled(3000);
	rig_until_sum("b", METRIC_IDLE, 50);
	ck_assert_int_eq(rig_sum("b", METRIC_IDLE_GAPS), 1);
}
END_TEST

/* A child begins with nothing. */
START_TEST(test_overlap_of_a_child)
{
	pid_t pid;
	int status;

	rig_start();
	record(1, 1000, 2000);
	copy(2, 1500, 2500);
	until_use(0, 1500, 1000, 500);
	pid = fork();
	if (pid == 0) {
		copy(2, 1000, 1300);
		record(1, 1200, 1400);
		_exit(!sender_deliver());
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	until_use(1, 400, 300, 100);
	until_use(0, 1500, 1000, 500);
	ck_assert_uint_eq(rig_losses(LOSS_WIRE_ERROR), 0);
}
END_TEST

static struct wire_segment_state segment;

static bool has_segment(void *arg)
{
	return wire_decoder_segment(rig_decoder(), 0, &segment) && segment.size == *(uint64_t *)arg;
}

/* The file that was announced, whole. */
static size_t read_trace(struct wire_epoch_interval *v, size_t max)
{
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", rig_dir->path, segment.path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = read(fd, v, max * sizeof(*v));
	close(fd);
	ck_assert_int_ge(n, 0);
	return (size_t)n / sizeof(*v);
}

enum { N_THREADS = 8, N_EACH = 20000 };

static void *thread_main(void *arg)
{
	uint64_t i;

	for (i = 0; i < N_EACH; i++)
		record((uint32_t)(uintptr_t)arg, 1000 + 20 * i, 1010 + 20 * i);
	return NULL;
}

/* Every operation of every thread is in the file once, under the ids that the wire defines. All run
 * at the same times, on streams of their own. */
START_TEST(test_trace)
{
	static struct wire_epoch_interval v[N_THREADS * N_EACH + 1];
	static uint8_t seen[N_THREADS][N_EACH], busy[N_EACH];
	uint64_t size = sizeof(v) - sizeof(*v), busy_ns = 0;
	pthread_t threads[N_THREADS];
	size_t i, n;

	trace_start(N_THREADS * N_EACH);
	for (i = 0; i < N_THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, (void *)i);
	for (i = 0; i < N_THREADS; i++)
		pthread_join(threads[i], NULL);
	rig_until_sum("k", METRIC_COUNT, N_THREADS * N_EACH);
	size -= rig_losses(LOSS_INTERVALS) * sizeof(*v); /* a slow machine */
	rig_until(has_segment, &size, "the trace");
	n = read_trace(v, ARRAY_SIZE(v));
	ck_assert_uint_eq(n, size / sizeof(*v));
	for (i = 0; i < n; i++) {
		uint32_t thread = collector->lane[v[i].of.lane].stream;
		uint64_t at = (v[i].of.start_ns - 1000) / 20;

		ck_assert_uint_lt(thread, N_THREADS);
		ck_assert_uint_lt(at, N_EACH);
		ck_assert_uint_eq(v[i].of.end_ns - v[i].of.start_ns, 10);
		ck_assert_uint_eq(seen[thread][at]++, 0);
		ck_assert_uint_lt(v[i].of.node, table_n(&collector->nodes));
		busy[at] = 10;
	}
	for (i = 0; i < N_EACH; i++)
		busy_ns += busy[i];
	until_busy(busy_ns);
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
}
END_TEST

START_TEST(test_trace_limit)
{
	struct wire_epoch_interval v[16];
	uint64_t size = 10 * sizeof(*v), i;

	trace_start(10);
	for (i = 0; i < 25; i++)
		record(1, 1000 + 10 * i, 1005 + 10 * i);
	rig_until(has_segment, &size, "the trace");
	until_busy(125); /* which knows no limit */
	ck_assert_uint_eq(read_trace(v, 16), 10);
	ck_assert_uint_eq(v[9].of.start_ns, 1090);
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_FULL), 15);
}
END_TEST

static bool is_full_since(void *arg)
{
	const struct session_unrecorded *u = rig_session->unrecorded;
	uint64_t ns = *(uint64_t *)arg;

	return rig_session->n_unrecorded == 1 && u->reason == UNRECORDED_FULL && !u->end_ns &&
	       u->start_ns + SAME_MOMENT_NS >= ns && u->start_ns <= ns + SAME_MOMENT_NS;
}

/* From the first operation on that is not in it, in whatever order they come. */
START_TEST(test_trace_is_full)
{
	uint64_t base = clock_realtime_ns(), shift_ns = clock_to_monotonic_ns(), at_ns;

	trace_start(2);
	record(1, base, base + 10);
	record(1, base + 10 * NSEC_PER_SEC, base + 10 * NSEC_PER_SEC + 10);
	until_busy(20);
	ck_assert_uint_eq(rig_session->n_unrecorded, 0);
	record(1, base + 8 * NSEC_PER_SEC, base + 8 * NSEC_PER_SEC + 10);
	at_ns = base + 8 * NSEC_PER_SEC + shift_ns;
	rig_until(is_full_since, &at_ns, "since the first that is missing");
	record(2, base + 3 * NSEC_PER_SEC, base + 3 * NSEC_PER_SEC + 10);
	record(1, base + 20 * NSEC_PER_SEC, base + 20 * NSEC_PER_SEC + 10);
	at_ns = base + 3 * NSEC_PER_SEC + shift_ns;
	rig_until(is_full_since, &at_ns, "since an earlier one");
}
END_TEST

/* The file of a number that holds so many. */
struct wanted_file {
	uint32_t id;
	uint64_t n;
};

static bool has_file(void *arg)
{
	const struct wanted_file *w = arg;

	for (size_t i = 0; wire_decoder_segment(rig_decoder(), i, &segment); i++)
		if (segment.id == w->id)
			return segment.size == w->n * sizeof(struct wire_epoch_interval);
	return false;
}

static void launched(uint64_t launched_ns, uint64_t start_ns)
{
	record_activity(SOURCE_FAKE, (struct activity){.kind = ACTIVITY_KERNEL,
						       .name = "k",
						       .launched_ns = launched_ns,
						       .start_ns = start_ns,
						       .end_ns = start_ns + 10});
}

/* A call that came after the start, by another clock, came at once; one too long before is not known. */
START_TEST(test_trace_of_launches)
{
	const uint64_t base = 10 * NSEC_PER_SEC, ns[] = {base - 300, 0, base + 5, 1, base - 1};
	static const uint32_t latency_ns[] = {300, 0, 1, 0, 1};
	struct wanted_file want = {SOURCE_FAKE, ARRAY_SIZE(ns)};
	struct wire_epoch_interval v[ARRAY_SIZE(ns)];

	trace_start(100);
	for (size_t i = 0; i < ARRAY_SIZE(ns); i++)
		launched(ns[i], base);
	rig_until(has_file, &want, "the trace");
	ck_assert_uint_eq(read_trace(v, ARRAY_SIZE(v)), ARRAY_SIZE(v));
	for (size_t i = 0; i < ARRAY_SIZE(ns); i++) {
		ck_assert_uint_eq(v[i].latency_ns, latency_ns[i]);
		ck_assert_uint_eq(v[i].epoch, 0);
	}
}
END_TEST

static void *scope_in_thread(void *arg)
{
	(void)arg;
	ck_assert_int_ge(collect_push(FRAME_SCOPE, 3, "other", 5), 0);
	ck_assert_int_ge(collect_pop(3), 0);
	return NULL;
}

/* While the host waits no device is busy: it is host time, and in the trace on the thread's own lane. */
START_TEST(test_waits)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_SYNC,
			     .name = "wait",
			     .start_ns = 1000,
			     .end_ns = 3000,
			     .uncounted = true};
	struct wanted_file want = {N_SOURCES, 1};
	struct wire_epoch_interval v;
	uint64_t to_monotonic_ns = clock_to_monotonic_ns();

	trace_start(10);
	record(1, 1000, 1500);
	sink->ops->record(sink, &a);
	rig_until_sum("wait", METRIC_CPU_TIME, 2000);
	rig_until_sum("wait", METRIC_CPU_COUNT, 1);
	until_busy(500);
	ck_assert_int_eq(rig_sum("wait", METRIC_TIME), -1);
	ck_assert_uint_eq(session_node_kind(rig_session, rig_node("wait")), FRAME_SYNC);
	rig_until(is_one_record, NULL, "the count of records, which comes last");
	rig_until(has_file, &want, "the trace");
	ck_assert_uint_eq(read_trace(&v, 1), 1);
	ck_assert_uint_eq(v.of.end_ns - v.of.start_ns, 2000);
	ck_assert_uint_lt(v.of.start_ns - to_monotonic_ns + NSEC_PER_SEC, 2 * NSEC_PER_SEC);
	ck_assert_uint_eq(collector->lane[v.of.lane].device, WIRE_NONE);
	ck_assert_uint_eq(rig_losses(LOSS_INTERVALS), 0);
}
END_TEST

/* Scopes are in the trace when they are left, each on its thread and at the time of the machine; they keep no
 * device busy. */
START_TEST(test_trace_of_scopes)
{
	struct wanted_file want = {N_SOURCES, 3};
	struct wire_epoch_interval v[3];
	uint64_t before, after;
	pthread_t thread;

	trace_start(100);
	before = clock_monotonic_ns();
	ck_assert_int_ge(collect_push(FRAME_SCOPE, 3, "outer", 5), 0);
	ck_assert_int_ge(collect_push(FRAME_SCOPE, 3, "inner", 5), 0);
	record(1, 1000, 1100);
	ck_assert_int_ge(collect_pop(3), 0);
	pthread_create(&thread, NULL, scope_in_thread, NULL);
	pthread_join(thread, NULL);
	ck_assert_int_ge(collect_pop(3), 0);
	after = clock_monotonic_ns();
	rig_until(has_file, &want, "scopes of the trace");
	ck_assert_uint_eq(read_trace(v, 3), 3);
	until_busy(100);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_uint_ge(v[i].of.start_ns + NSEC_PER_MSEC, before);
		ck_assert_uint_ge(v[i].of.end_ns, v[i].of.start_ns);
		ck_assert_uint_le(v[i].of.end_ns, after + NSEC_PER_MSEC);
		ck_assert_uint_eq(collector->lane[v[i].of.lane].device, WIRE_NONE);
	}
	ck_assert_uint_le(v[2].of.start_ns, v[0].of.start_ns);
	ck_assert_uint_ge(v[2].of.end_ns, v[0].of.end_ns);
	ck_assert_uint_eq(v[0].of.lane, v[2].of.lane);
	ck_assert_uint_ne(v[0].of.lane, v[1].of.lane);
	ck_assert_uint_eq(rig_losses(LOSS_INTERVALS), 0);
}
END_TEST

static bool is_named(uint32_t node, const char *name)
{
	const struct string_entry *e =
		&collector->string[collector->frame[collector->node[node].frame].string];

	return e->len == strlen(name) && !memcmp(e->s, name, e->len);
}

/* Pages of unified memory are beside what ran, on the clock of that: no device is busy with them. What has no room in
 * one operation has several. */
START_TEST(test_trace_of_pages)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const uint64_t bytes = UINT64_C(5) << 30, base = 10 * NSEC_PER_SEC;
	const struct memory_event moved = {.operation = MEMORY_UNIFIED,
					   .kind = MEMORY_MANAGED,
					   .what = UNIFIED_TO_DEVICE,
					   .cause = UNIFIED_AS_ASKED,
					   .bytes = bytes,
					   .n = 1,
					   .at_ns = base,
					   .took_ns = 700},
				  missed = {.operation = MEMORY_UNIFIED,
					    .kind = MEMORY_MANAGED,
					    .what = UNIFIED_CPU_FAULT,
					    .device = DEVICE_HOST,
					    .n = 1,
					    .at_ns = base + 900};
	struct wanted_file want = {N_SOURCES, 3};
	struct wire_epoch_interval v[3];

	trace_start(100);
	record(1, base + 100, base + 600);
	until_busy(500);
	sink->ops->memory(sink, &moved);
	sink->ops->memory(sink, &missed);
	sink->ops->memory_until(sink, UINT64_MAX / 2);
	rig_until(has_file, &want, "the trace");
	rig_until_sum("unified memory", METRIC_TO_DEVICE, (int64_t)bytes);
	ck_assert_uint_eq(read_trace(v, 3), 3);
	for (unsigned i = 0; i < 2; i++) {
		ck_assert(is_named(v[i].of.node, "migration HtoD as asked"));
		ck_assert_uint_eq(v[i].of.start_ns, v[0].of.start_ns);
		ck_assert_uint_eq(v[i].of.end_ns - v[i].of.start_ns, 700);
		ck_assert_uint_eq(collector->lane[v[i].of.lane].device, 0);
		ck_assert_uint_eq(collector->lane[v[i].of.lane].stream, STREAM_NONE);
	}
	ck_assert_uint_eq((uint64_t)v[0].latency_ns + v[1].latency_ns, bytes);
	ck_assert(is_named(v[2].of.node, "CPU page fault"));
	ck_assert_uint_eq(v[2].latency_ns, 1);
	ck_assert_uint_eq(v[2].of.start_ns, v[2].of.end_ns);
	ck_assert_uint_eq(v[2].of.start_ns - v[0].of.start_ns, 900);
	ck_assert_uint_eq(collector->lane[v[2].of.lane].device, WIRE_NONE);
	record(1, base + 1000, base + 1100);
	until_busy(600);
	ck_assert_uint_eq(rig_losses(LOSS_SCOPES), 0);
}
END_TEST

/* An amount that no device has ends, too. */
START_TEST(test_trace_of_too_many_pages)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const struct memory_event e = {.operation = MEMORY_UNIFIED,
				       .kind = MEMORY_MANAGED,
				       .what = UNIFIED_TO_DEVICE,
				       .bytes = UINT64_C(1) << 63,
				       .n = 1,
				       .at_ns = 10 * NSEC_PER_SEC,
				       .took_ns = 700};
	struct wanted_file want = {N_SOURCES, 257};

	trace_start(1000);
	record(1, e.at_ns + 100, e.at_ns + 600);
	until_busy(500);
	sink->ops->memory(sink, &e);
	sink->ops->memory_until(sink, UINT64_MAX / 2);
	rig_until(has_file, &want, "the trace");
}
END_TEST

/* Without a trace there is nothing of them but sums. */
START_TEST(test_no_pages_without_a_trace)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	const struct memory_event e = {.operation = MEMORY_UNIFIED,
				       .what = UNIFIED_TO_HOST,
				       .bytes = 4096,
				       .n = 1,
				       .at_ns = 5000,
				       .took_ns = 10};

	rig_start();
	record(1, 1000, 1100);
	sink->ops->memory(sink, &e);
	sink->ops->memory_until(sink, UINT64_MAX / 2);
	rig_until_sum("unified memory", METRIC_TO_HOST, 4096);
	until_busy(100);
	ck_assert_uint_eq(atomic_load(&collector->intervals.head), 1);
	ck_assert_uint_eq(rig_node("migration DtoH"), SESSION_NONE);
}
END_TEST

/* However many scopes there are, they have half of a trace, and each loss is told by what was lost. */
START_TEST(test_scopes_leave_a_share)
{
	struct wanted_file scopes = {N_SOURCES, 5}, work = {SOURCE_FAKE, 5};
	uint64_t i;

	trace_start(10);
	record(1, 100, 105);
	for (i = 0; i < 30; i++)
		ck_assert_uint_lt(interval_push_scope(0, 0, 1000 + i, 1001 + i), MAX_INTERVALS);
	rig_until(has_file, &scopes, "scopes of the trace");
	for (i = 0; i < 30; i++)
		record(1, 1000 + 10 * i, 1005 + 10 * i);
	until_busy(155);
	rig_until(has_file, &work, "operations of the trace");
	ck_assert_uint_eq(rig_losses(LOSS_SCOPES_FULL), 25);
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_FULL), 26);
}
END_TEST

/* However many scopes wait for the sender, operations have room, and no scope is said to be one. */
START_TEST(test_scopes_leave_room)
{
	enum { AT_ONCE = 2 * MAX_INTERVALS };
	uint32_t most = 0;

	trace_start(100);
	record(1, 1000, 1100);
	for (int tries = 0; tries < 100 && !rig_losses(LOSS_SCOPES); tries++)
		for (int i = 0; i < AT_ONCE; i++)
			most = MAX(most, interval_push_scope(0, 0, 1000, 1100));
	ck_assert_uint_lt(most, MAX_INTERVALS / 4 * 3);
	ck_assert_uint_gt(rig_losses(LOSS_SCOPES), 0);
	record(1, 2000, 2100);
	until_busy(200);
	ck_assert_uint_eq(rig_losses(LOSS_INTERVALS), 0);
}
END_TEST

/* What was asked for is a trace of the run: without it there are none. */
START_TEST(test_no_scopes_without_a_trace)
{
	rig_start();
	scope_in_thread(NULL);
	record(1, 1000, 1100);
	until_busy(100);
	ck_assert(!wire_decoder_segment(rig_decoder(), 0, &segment));
	ck_assert_uint_eq(atomic_load(&collector->intervals.head), 1);
}
END_TEST

/* Backend n has sent n + 1 operations. */
static bool all_traced(void *arg)
{
	unsigned seen = 0;

	for (size_t i = 0; wire_decoder_segment(rig_decoder(), i, &segment); i++)
		if (segment.id < N_SOURCES &&
		    segment.size == (segment.id + 1) * sizeof(struct wire_epoch_interval))
			seen |= 1u << segment.id;
	return seen == (1u << N_SOURCES) - 1;
}

/* Every backend of the list has its device, by its own type, and its trace. */
START_TEST(test_trace_of_each_backend)
{
	trace_start(1000);
	for (unsigned source = 0; source < N_SOURCES; source++)
		for (uint64_t i = 0; i <= source; i++)
			record_of(source, 1, 1000 + 10 * i, 1005 + 10 * i);
	rig_until(all_traced, NULL, "a trace of each backend");
	for (unsigned source = 0; source < N_SOURCES; source++) {
		const struct device_entry *d =
			&collector->device[device_intern((uint8_t)source, 0)];

		ck_assert_uint_eq(d->source, source);
		ck_assert_str_eq(collector->string[d->type].s, backend_of(source)->device_type);
	}
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_UNWRITTEN), 0);
	ck_assert_uint_eq(rig_losses(LOSS_INTERVALS), 0);
}
END_TEST

/* No room on the disk: an error of ours, no signal in the program, whole entries in the file. The
 * limit is wide, because Check has files of its own. */
START_TEST(test_trace_disk_full)
{
	enum { FIT = 40000, MORE = 1000 };
	static struct wire_epoch_interval v[FIT + MORE];
	struct rlimit limit = {FIT * sizeof(*v) + 7, RLIM_INFINITY};
	uint64_t size, i, n;

	trace_start(1000000);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (i = 0; i < FIT / 2; i++)
		record(1, 1000 + 10 * i, 1005 + 10 * i);
	until_busy(5 * i);
	size = i * sizeof(*v);
	rig_until(has_segment, &size, "the trace");
	for (; i < FIT + MORE; i++)
		record(1, 1000 + 10 * i, 1005 + 10 * i);
	until_busy(5 * i);
	n = read_trace(v, ARRAY_SIZE(v));
	ck_assert_uint_ge(n, FIT - 512); /* pieces go in or stay out whole */
	ck_assert_uint_le(n, FIT);
	ck_assert_uint_eq(v[n - 1].of.start_ns, 1000 + 10 * (n - 1));
	size = n * sizeof(*v);
	rig_until(has_segment, &size, "what went in");
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_UNWRITTEN), i - n);
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_FULL), 0);
}
END_TEST

/* The sender has nobody to send to: who records empties the ring. */
START_TEST(test_ring_wraps)
{
	enum { N = 3 * MAX_INTERVALS };
	uint64_t i;

	rig_start();
	atomic_store(&rig_dir->control->alive, 0);
	for (i = 0; i < N; i++)
		record(1, 1000 + 10 * i, 1005 + 10 * i);
	ck_assert_uint_eq(rig_losses(LOSS_INTERVALS), 0);
	atomic_store(&rig_dir->control->alive, 1);
	rig_until_sum("k", METRIC_COUNT, N);
	until_busy(UINT64_C(5) * N);
}
END_TEST

/* ---- windows of a trace ---- */

/* Windows are looked for by who takes intervals, which is the sender where something is traced. A test that looks for
 * them itself traces nothing. */
static void window_start(const struct trace_window *window, bool trace)
{
	rig_open();
	rig_dir->control->wanted.trace = trace;
	rig_dir->control->wanted.trace_max = 1000;
	rig_dir->control->wanted.window = *window;
	ck_assert_int_eq(collect_start(DOOR_API), 0);
}

/* Is what ran from one moment to another, on CLOCK_MONOTONIC, in the trace? */
static bool is_kept(uint64_t start_ns, uint64_t end_ns)
{
	struct wire_epoch_interval v = {{start_ns, end_ns, 0, 0}, 0, 0};

	return trace_windows_keep(&v, 1, 0) == 1;
}

static const struct trace_window step_window = {
	.kind = TRACE_WINDOW_NVTX, .name_len = 4, .name = "step"};

static uint64_t push_step(void)
{
	ck_assert_int_ge(collect_push(FRAME_NVTX, 5, "step", 4), 0);
	return clock_monotonic_ns();
}

/* Busy times and sums are of the whole run. What was there in part is there; records come in the clock of
 * their backend. */
START_TEST(test_window_of_time)
{
	const struct trace_window window = {
		.kind = TRACE_WINDOW_TIME, .from_ns = 2 * NSEC_PER_SEC, .to_ns = 4 * NSEC_PER_SEC};
	static const uint64_t ms[][2] = {
		{1000, 1500}, {1900, 2100}, {3000, 3100}, {3900, 4100}, {4500, 4600}};
	struct wire_epoch_interval v[8];
	uint64_t run, size = 3 * sizeof(*v);

	window_start(&window, true);
	run = clock_realtime_ns() - 10 * NSEC_PER_SEC;
	atomic_store(&rig_dir->control->start_ns, run + clock_to_monotonic_ns());
	for (size_t i = 0; i < ARRAY_SIZE(ms); i++)
		record(1, run + ms[i][0] * NSEC_PER_MSEC, run + ms[i][1] * NSEC_PER_MSEC);
	until_busy(1100 * NSEC_PER_MSEC);
	rig_until_sum("k", METRIC_COUNT, ARRAY_SIZE(ms));
	rig_until(has_segment, &size, "the trace");
	ck_assert_uint_eq(read_trace(v, ARRAY_SIZE(v)), 3);
	for (size_t i = 0; i < 3; i++)
		ck_assert_uint_eq(v[i].of.start_ns, run + ms[i + 1][0] * NSEC_PER_MSEC);
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_FULL), 0);
}
END_TEST

/* Without an end, and before the run's beginning is known. */
START_TEST(test_window_without_end)
{
	const struct trace_window window = {
		.kind = TRACE_WINDOW_TIME, .from_ns = 100, .to_ns = UINT64_MAX};

	window_start(&window, false);
	ck_assert(!is_kept(5000, 6000));
	atomic_store(&rig_dir->control->start_ns, 1000);
	ck_assert(!is_kept(1000, 1099));
	ck_assert(is_kept(1000, 1100));
	ck_assert(is_kept(UINT64_MAX / 2, UINT64_MAX / 2));
}
END_TEST

/* Work of a device is of the step that launched it; pages, which nobody launched, are of that in which they moved,
 * however many they are. */
START_TEST(test_window_of_steps)
{
	const struct trace_window window = {.kind = TRACE_WINDOW_STEPS, .from_ns = 3, .to_ns = 3};
	struct wire_epoch_interval v = {{0, 0, 0, 0}, 0, 0};
	uint32_t number, device;
	uint64_t inside;

	window_start(&window, false);
	record(1, 1000, 1100);
	device = collector->lane[collector->slot[0].lane].device;
	number = trace_window_step(3);
	inside = clock_monotonic_ns();
	trace_window_leave(number);
	v.latency_ns = 1000000000;
	v.of.start_ns = inside + v.latency_ns;
	v.of.end_ns = v.of.start_ns + 1;
	v.of.lane = lane_intern(device, 0, 1, 0);
	ck_assert_uint_eq(trace_windows_keep(&v, 1, 0), 1);
	v.of.lane = lane_of_no_stream(device);
	ck_assert_uint_eq(trace_windows_keep(&v, 1, 0), 0);
	v.of.start_ns = v.of.end_ns = inside;
	ck_assert_uint_eq(trace_windows_keep(&v, 1, 0), 1);
}
END_TEST

/* Ranges of other names open none; one in another is closed by the outer one; the first that is left need
 * not be the last that was entered. */
START_TEST(test_window_of_ranges)
{
	uint64_t before, first, inside, after;

	window_start(&step_window, false);
	before = clock_monotonic_ns();
	ck_assert(!is_kept(before, before + 1000));
	collect_push(FRAME_NVTX, 5, "steps", 5);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "step", 4);
	ck_assert(!is_kept(clock_monotonic_ns(), clock_monotonic_ns() + 1000));
	first = push_step();
	push_step();
	collect_pop(5);
	inside = clock_monotonic_ns();
	ck_assert(is_kept(first, first));
	ck_assert(is_kept(inside, inside + 1000));
	ck_assert(is_kept(before, inside)); /* it ran when the window was opened */
	collect_pop(5);
	after = clock_monotonic_ns();
	ck_assert(!is_kept(after + 1, after + 1000));
	ck_assert(is_kept(inside, after + 1000));
	ck_assert(is_kept(first, first)); /* records come late */
	ck_assert(!is_kept(before - 1000, before - 1));
	collect_pop(COLLECT_TAG_SCOPE);
	collect_pop(5);
	trace_window_leave(trace_window_enter("step", 4)); /* a range that no thread is in */
	inside = clock_monotonic_ns();
	ck_assert(!is_kept(after + 1, after + 1));
	ck_assert(is_kept(after, inside));
}
END_TEST

static void *in_step(void *arg)
{
	(void)arg;
	for (int i = 0; i < 3000; i++) {
		push_step();
		ck_assert_int_ge(collect_pop(5), 0);
	}
	return NULL;
}

/* More than are remembered, by several threads at once: the newest are, and the others are a loss. */
START_TEST(test_many_windows)
{
	pthread_t threads[4];
	uint64_t open, now;
	uint32_t window;

	window_start(&step_window, false);
	window = trace_window_enter("step", 4);
	open = clock_monotonic_ns();
	ck_assert(is_kept(open, open));
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, in_step, NULL), 0);
	for (size_t i = 0; i < ARRAY_SIZE(threads); i++)
		pthread_join(threads[i], NULL);
	now = clock_monotonic_ns();
	ck_assert(is_kept(now, now)); /* one that is open is never forgotten */
	trace_window_leave(window);
	now = clock_monotonic_ns();
	ck_assert(!is_kept(now + 1, now + 1));
	ck_assert(is_kept(open, open));
	rig_scope("k"); /* something to send the loss with */
	rig_until_sum("k", METRIC_CPU_COUNT, 1);
	ck_assert_uint_gt(rig_losses(LOSS_WINDOWS), 0);
	ck_assert_uint_le(rig_losses(LOSS_WINDOWS), 12001 - 4096);
}
END_TEST

START_TEST(test_window_of_the_profiler)
{
	const struct trace_window window = {.kind = TRACE_WINDOW_PROFILER};
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	uint64_t before, inside, after;

	window_start(&window, false);
	before = clock_monotonic_ns();
	sink->ops->profiler(sink, false); /* it never ran */
	sink->ops->profiler(sink, true);
	sink->ops->profiler(sink, true);
	inside = clock_monotonic_ns();
	ck_assert(is_kept(inside, inside));
	sink->ops->profiler(sink, false);
	after = clock_monotonic_ns();
	ck_assert(is_kept(inside, inside));
	ck_assert(!is_kept(after + 1, after + 1));
	ck_assert(!is_kept(before - 1, before - 1));
	sink->ops->profiler(sink, true);
	ck_assert(is_kept(after + NSEC_PER_SEC, after + NSEC_PER_SEC));
	ck_assert_int_eq(trace_window_enter("step", 4), 0);
}
END_TEST

/* The child is in the range that its thread is in, and not in those of other threads. */
START_TEST(test_window_of_a_child)
{
	uint32_t other;
	pid_t pid;
	int status;

	window_start(&step_window, false);
	other = trace_window_enter("step", 4);
	push_step();
	pid = fork();
	if (pid == 0) {
		uint64_t now = clock_monotonic_ns();
		bool good = is_kept(now, now);

		collect_pop(5);
		trace_window_leave(other); /* means nothing here */
		now = clock_monotonic_ns();
		_exit(good && !is_kept(now + 1, now + 1) ? 0 : 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	ck_assert(is_kept(clock_monotonic_ns(), clock_monotonic_ns()));
}
END_TEST

TCase *collect_intervals_case(void)
{
	TCase *tc = tcase_create("intervals");

	tcase_add_checked_fixture(tc, NULL, rig_close);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_busy);
	tcase_add_test(tc, test_overlap);
	if (WITH_FORK)
		tcase_add_test(tc, test_overlap_of_a_child);
	tcase_add_test(tc, test_gaps);
	tcase_add_test(tc, test_gaps_of_what_is_not_seen);
	tcase_add_test(tc, test_gaps_after_a_reset);
	tcase_add_test(tc, test_pauses);
	tcase_add_loop_test(tc, test_world_of_pauses, 0, 4);
	tcase_add_test(tc, test_pause_from_the_beginning);
#if !defined(__SANITIZE_THREAD__)
	tcase_add_test(tc, test_pause_of_a_parent);
#endif
	tcase_add_test(tc, test_gaps_across_a_pause);
	tcase_add_test(tc, test_trace_is_full);
	tcase_add_test(tc, test_waits);
	tcase_add_test(tc, test_trace);
	tcase_add_test(tc, test_trace_limit);
	tcase_add_test(tc, test_trace_of_launches);
	tcase_add_test(tc, test_trace_of_scopes);
	tcase_add_test(tc, test_trace_of_pages);
	tcase_add_test(tc, test_trace_of_too_many_pages);
	tcase_add_test(tc, test_no_pages_without_a_trace);
	tcase_add_test(tc, test_scopes_leave_a_share);
	tcase_add_test(tc, test_scopes_leave_room);
	tcase_add_test(tc, test_no_scopes_without_a_trace);
	tcase_add_test(tc, test_trace_of_each_backend);
	tcase_add_test(tc, test_trace_disk_full);
	tcase_add_test(tc, test_ring_wraps);
	tcase_add_test(tc, test_window_of_time);
	tcase_add_test(tc, test_window_without_end);
	tcase_add_test(tc, test_window_of_steps);
	tcase_add_test(tc, test_window_of_ranges);
	tcase_add_test(tc, test_many_windows);
	tcase_add_test(tc, test_window_of_the_profiler);
	if (WITH_FORK)
		tcase_add_test(tc, test_window_of_a_child);
	return tc;
}
