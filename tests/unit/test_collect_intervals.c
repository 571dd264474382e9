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
#include "collect/internal.h"
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
	rig_dir->control->features |= CONTROL_TRACE;
	rig_dir->control->trace_max = max;
	ck_assert_int_eq(collect_start(DOOR_API), 0);
}

static bool is_one_record(void *arg)
{
	(void)arg;
	return rig_session->processes[0].n_records == 1;
}

/* While the host waits no device is busy, and nothing is in a trace: it is host time. */
START_TEST(test_waits)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_SYNC,
			     .name = "wait",
			     .start_ns = 1000,
			     .end_ns = 3000,
			     .uncounted = true};

	trace_start(10);
	record(1, 1000, 1500);
	sink->ops->record(sink, &a);
	rig_until_sum("wait", METRIC_CPU_TIME, 2000);
	rig_until_sum("wait", METRIC_CPU_COUNT, 1);
	until_busy(500);
	ck_assert_int_eq(rig_sum("wait", METRIC_TIME), -1);
	ck_assert_uint_eq(session_node_kind(rig_session, rig_node("wait")), FRAME_SYNC);
	rig_until(is_one_record, NULL, "the count of records, which comes last");
	ck_assert_uint_eq(rig_losses(LOSS_INTERVALS), 0);
}
END_TEST

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
static size_t read_trace(struct wire_interval *v, size_t max)
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
	static struct wire_interval v[N_THREADS * N_EACH + 1];
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
		uint32_t thread = collector->lane[v[i].lane].stream;
		uint64_t at = (v[i].start_ns - 1000) / 20;

		ck_assert_uint_lt(thread, N_THREADS);
		ck_assert_uint_lt(at, N_EACH);
		ck_assert_uint_eq(v[i].end_ns - v[i].start_ns, 10);
		ck_assert_uint_eq(seen[thread][at]++, 0);
		ck_assert_uint_lt(v[i].node, table_n(&collector->nodes));
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
	struct wire_interval v[16];
	uint64_t size = 10 * sizeof(*v), i;

	trace_start(10);
	for (i = 0; i < 25; i++)
		record(1, 1000 + 10 * i, 1005 + 10 * i);
	rig_until(has_segment, &size, "the trace");
	until_busy(125); /* which knows no limit */
	ck_assert_uint_eq(read_trace(v, 16), 10);
	ck_assert_uint_eq(v[9].start_ns, 1090);
	ck_assert_uint_eq(rig_losses(LOSS_TRACE_FULL), 15);
}
END_TEST

/* Backend n has sent n + 1 operations. */
static bool all_traced(void *arg)
{
	unsigned seen = 0;

	for (size_t i = 0; wire_decoder_segment(rig_decoder(), i, &segment); i++)
		if (segment.id < N_SOURCES &&
		    segment.size == (segment.id + 1) * sizeof(struct wire_interval))
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
	static struct wire_interval v[FIT + MORE];
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
	ck_assert_uint_eq(v[n - 1].start_ns, 1000 + 10 * (n - 1));
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

TCase *collect_intervals_case(void)
{
	TCase *tc = tcase_create("intervals");

	tcase_add_checked_fixture(tc, NULL, rig_close);
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_busy);
	tcase_add_test(tc, test_overlap);
	if (WITH_FORK)
		tcase_add_test(tc, test_overlap_of_a_child);
	tcase_add_test(tc, test_waits);
	tcase_add_test(tc, test_trace);
	tcase_add_test(tc, test_trace_limit);
	tcase_add_test(tc, test_trace_of_each_backend);
	tcase_add_test(tc, test_trace_disk_full);
	tcase_add_test(tc, test_ring_wraps);
	return tc;
}
