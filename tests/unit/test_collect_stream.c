/* SPDX-License-Identifier: MIT */
/* The sender: requests of the control page, full pipes, forks, many writers, lost descriptors. */
#include "config.h" // IWYU pragma: keep
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "collect/host_clock.h"
#include "collect/internal.h"
#include "collect/slots.h"
#include "refuse.h"
#include "test_collect.h"
#include "wire/decode.h"
#include "wire/wire.h"

static bool says_paused(void *arg)
{
	return rig_session->n_processes && rig_session->processes[0].paused == *(bool *)arg;
}

static void until_paused(bool wanted)
{
	rig_until(says_paused, &wanted, wanted ? "paused" : "resumed");
}

START_TEST(test_pause)
{
	rig_start();
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	atomic_store(&rig_dir->control->paused, 1);
	until_paused(true);
	rig_scope("a");
	collect_metric_u64("m", 1, false);
	collect_range(FRAME_RANGE, "range", 5, 1);
	atomic_store(&rig_dir->control->paused, 0);
	until_paused(false);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 2);
	ck_assert_uint_eq(rig_node("range"), SESSION_NONE);
}

/* What a pause is within is timed without it, and counted wherever it ends. */
START_TEST(test_pause_within)
{
	uint64_t stands;

	rig_start();
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "outer", 5);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "inner", 5);
	atomic_store(&rig_dir->control->paused, 1);
	until_paused(true);
	stands = host_clock_ns();
	usleep(2000);
	ck_assert_uint_eq(host_clock_ns(), stands);
	collect_pop(COLLECT_TAG_SCOPE);
	atomic_store(&rig_dir->control->paused, 0);
	until_paused(false);
	ck_assert_uint_lt(host_clock_ns(), clock_monotonic_ns() - 2000000);
	collect_pop(COLLECT_TAG_SCOPE);
	rig_until_sum("outer", METRIC_CPU_COUNT, 1);
	ck_assert_int_eq(rig_sum("inner", METRIC_CPU_COUNT), 1);
	ck_assert_int_ge(rig_sum("outer", METRIC_CPU_TIME), rig_sum("inner", METRIC_CPU_TIME));
}
END_TEST

START_TEST(test_reset)
{
	rig_start();
	rig_scope("a");
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 2);
	atomic_fetch_add(&rig_dir->control->reset, 1);
	rig_until_sum("a", METRIC_CPU_COUNT, 0);
	rig_until_sum("a", METRIC_CPU_TIME, 0);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
}

/* What there is now is there after a reset too, and so is the most that there was. */
START_TEST(test_reset_leaves_gauges)
{
	static const uint8_t rules[] = {METRIC_SUM, METRIC_GAUGE, METRIC_PEAK};
	static const char *const names[] = {"sum", "live", "peak"};
	uint32_t slot[3], i;

	rig_start();
	for (i = 0; i < 3; i++) {
		slot[i] = slot_intern(0, lane_intern(WIRE_NONE, 0, 0, 0),
				      set_intern_one(metric_intern(names[i], "B", METRIC_U64,
								   METRIC_INCLUSIVE, rules[i])),
				      0);
		slot_add_u64(slot[i], 0, 10 + i);
		slot_touch(slot[i]);
	}
	sender_start();
	for (i = 0; i < 3; i++)
		rig_until_sum("ROOT", METRIC_N_BUILTIN + i, 10 + i);
	atomic_fetch_add(&rig_dir->control->reset, 1);
	rig_until_sum("ROOT", METRIC_N_BUILTIN, 0);
	sender_finish();
	rig_pump();
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(rig_sum("ROOT", METRIC_N_BUILTIN + i), i ? 10 + i : 0);
		ck_assert_uint_eq(metric_table_get(rig_session->metrics, METRIC_N_BUILTIN + i)->add,
				  rules[i]);
	}
}

START_TEST(test_resync)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {
		.kind = ACTIVITY_COPY, .direction = COPY_HOST_TO_DEVICE, .bytes = 64, .end_ns = 5};

	rig_start();
	rig_scope("a");
	a.launch = sink->ops->launch(sink, NULL);
	sink->ops->record(sink, &a);
	collect_metric_f64("mine", 1.5, false);
	collect_metric_u64("whole", 5, false);
	collect_note(NOTE_INFO, "a sentence");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	rig_until_sum("memcpy HtoD", METRIC_BYTES, 64);
	rig_forget();
	ck_assert_uint_eq(rig_node("a"), SESSION_NONE);
	atomic_fetch_add(&rig_dir->control->resync, 1);
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	rig_until_sum("memcpy HtoD", METRIC_BYTES, 64);
	ck_assert_uint_eq(rig_session->n_devices, 1);
	ck_assert_uint_eq(rig_session->n_notes, 1);
	ck_assert_int_eq(rig_sum("ROOT", metric_table_find(rig_session->metrics, "whole")), 5);
	ck_assert_uint_eq(rig_session->processes[0].pid, getpid());
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 2);
}

static bool has_note(void *text)
{
	for (size_t i = 0; i < rig_session->n_notes; i++)
		if (!strcmp(strtab_str(rig_session->strings, rig_session->notes[i].text), text))
			return true;
	return false;
}

/* What a program gives a metric and cannot be kept is told of, once. */
START_TEST(test_metric_misused)
{
	static const char *const notes[] = {
		("metric 'whole' began as a whole number: fractions of it are rounded, negative "
		 "values left out"),
		"metric 'direction' is what proton measures: the program's own is 'user:direction'",
		"metric 'time (ns)' is what proton measures: the program's own is 'user:time (ns)'",
		"metric 'Time (inc)' is what proton measures: the program's own is 'user:Time (inc)'",
		"metric 'device_id' is what proton measures: the program's own is 'user:device_id'",
		"metric 'large' adds up to more than 64 bits hold: its sum stays at 2^64 - 1",
	};

	rig_start();
	collect_metric_u64("whole", 5, false);
	collect_metric_f64("whole", 2, false);
	collect_metric_f64("any", 0.5, false);
	collect_metric_f64("any", -3, false);
	collect_metric_u64("any", 1, false);
	for (int i = 0; i < 3; i++) {
		collect_metric_f64("whole", -1, false); /* no integer of these is what they are */
		collect_metric_f64("whole", 1e30, false);
		collect_metric_f64("whole", 0.5, false); /* rounded */
		collect_metric_u64("direction", 4000000000, false);
		collect_metric_u64("time (ns)", 5, false);
		collect_metric_f64("Time (inc)", 0.25, false);
		collect_metric_u64("device_id", 1, true);
		collect_metric_u64("large", UINT64_MAX / 2, false);
	}
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	for (size_t i = 0; i < ARRAY_SIZE(notes); i++)
		rig_until(has_note, (void *)notes[i], notes[i]);
	ck_assert_uint_eq(rig_session->n_notes, ARRAY_SIZE(notes));
	ck_assert_uint_eq(rig_session->losses[LOSS_WIRE_ERROR], 0);
	ck_assert_int_eq(rig_sum("ROOT", metric_table_find(rig_session->metrics, "whole")), 7 + 3);
	ck_assert_int_eq(rig_sum("ROOT", METRIC_TIME), -1); /* none */
	ck_assert_int_eq(rig_sum("ROOT", metric_table_find(rig_session->metrics, "user:time (ns)")),
			 15);
}
END_TEST

static bool has_hist(void *arg)
{
	return rig_session->n_hists > 0;
}

/* Histograms have a slower beat; a flush brings them at once. */
START_TEST(test_flush)
{
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = "k", .end_ns = 5};

	rig_start();
	rig_dir->control->period_ms = 500;
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	for (int i = 0; i < 3; i++) {
		a.launch = sink->ops->launch(sink, NULL);
		sink->ops->record(sink, &a);
	}
	rig_until_sum("k", METRIC_COUNT, 3);
	atomic_fetch_add(&rig_dir->control->flush, 1);
	rig_until(has_hist, NULL, "a histogram"); /* ten periods would be five seconds */
	ck_assert_uint_lt(collector->control->flush, 2);
}

static bool has_all(void *arg)
{
	return rig_session->n_hists == 1 &&
	       hist_total(&rig_session->hists[0].hist) == *(uint64_t *)arg;
}

/* Executions that take long and short in turns: each is counted where it belongs, from the second on with
 * the first. A reset leaves none of any octave. */
START_TEST(test_octaves)
{
	static const uint64_t took[] = {0, 31, 1000, 5000000, UINT64_MAX / 2};
	struct activity_sink *sink = collect_sink(SOURCE_FAKE);
	struct activity a = {.kind = ACTIVITY_KERNEL, .name = "k"};
	uint64_t n = 20 * ARRAY_SIZE(took), none = 0;
	struct hist_sums sums = {0};

	rig_start();
	for (uint64_t i = 0; i < n; i++) {
		a.launch = sink->ops->launch(sink, NULL);
		a.end_ns = took[i % ARRAY_SIZE(took)];
		sink->ops->record(sink, &a);
	}
	atomic_fetch_add(&rig_dir->control->flush, 1);
	rig_until(has_all, &n, "all durations");
	hist_sums_add(&sums, &rig_session->hists[0].hist);
	for (size_t i = 0; i < ARRAY_SIZE(took); i++)
		ck_assert_uint_eq(sums.n[hist_bin(took[i])], 20);
	ck_assert_uint_eq(rig_session->hists[0].hist.n, 4); /* 0 and 31 are of one octave */
	atomic_fetch_add(&rig_dir->control->reset, 1);
	atomic_fetch_add(&rig_dir->control->flush, 1);
	rig_until(has_all, &none, "that they are forgotten");
}
END_TEST

START_TEST(test_stop)
{
	rig_start();
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	atomic_store(&rig_dir->control->stop, 1);
	until_paused(true);
	rig_scope("a");
	rig_scope("a");
	sender_finish();
	rig_pump();
	ck_assert_int_eq(rig_sum("a", METRIC_CPU_COUNT), 1);
}

/* proton is gone: the program goes on, and its end is not held up. */
START_TEST(test_nobody)
{
	rig_start();
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	atomic_store(&rig_dir->control->alive, 0);
	close(rig_dir->stream_fd);
	for (int i = 0; i < 1000; i++)
		rig_scope("b");
	clock_fake(clock_monotonic_ns()); /* it stands: what waits for a time never comes back */
	sender_finish();
	clock_fake(0);
}

/* ---- a full pipe ---- */

static bool pipe_was_full(void *arg)
{
	return rig_losses(LOSS_PIPE_FULL) > 0;
}

static void until_full(void)
{
	uint64_t end = clock_monotonic_ns() + 60 * NSEC_PER_SEC;

	while (!pipe_was_full(NULL) && clock_monotonic_ns() < end)
		usleep(1000);
	ck_assert(pipe_was_full(NULL));
}

enum { N_NAMES = 40, NAME_LENGTH = 100000 };

/* Valid until the next call. */
static const char *long_name(int i)
{
	static char name[NAME_LENGTH + 1];

	memset(name, 'x', NAME_LENGTH);
	name[0] = (char)('A' + i);
	return name;
}

/* 4 MB of names are more than any pipe holds. */
static void enter_names(void)
{
	for (int i = 0; i < N_NAMES; i++)
		rig_scope(long_name(i));
}

START_TEST(test_pipe_full)
{
	rig_start();
	for (int round = 0; round < 50; round++)
		enter_names();
	/* Nobody reads. A scope that waited for room would not have come back. */
	until_full();
	enter_names(); /* they grow meanwhile */
	rig_until_sum(long_name(0), METRIC_CPU_COUNT, 51);
	rig_until_sum(long_name(N_NAMES - 1), METRIC_CPU_COUNT, 51);
	ck_assert_uint_eq(rig_session->n_nodes, N_NAMES + 1);
}

static void feed_file(const char *name)
{
	static char data[1 << 23];
	char path[512];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", rig_dir->path, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	n = read(fd, data, sizeof(data));
	close(fd);
	ck_assert_int_gt(n, 0);
	ck_assert_int_eq(wire_decoder_feed(rig_decoder(), data, (size_t)n), 0);
	ck_assert_uint_eq(wire_decoder_pending(rig_decoder()), 0);
}

/* At the end a reader that sleeps is waited for, but not for long: a file has what did not fit. */
START_TEST(test_pipe_full_at_exit)
{
	char name[WIRE_REST_NAME_MAX];
	uint64_t start;

	rig_start();
	enter_names();
	until_full();
	start = clock_monotonic_ns();
	sender_finish(); /* comes back */
	ck_assert_uint_lt(clock_monotonic_ns() - start, 60 * NSEC_PER_SEC);
	rig_pump();
	ck_assert_int_eq(rig_session->processes[0].end, PROCESS_RUNS);
	snprintf(name, sizeof(name), WIRE_REST_NAME, collector->instance);
	feed_file(name);
	ck_assert_int_eq(rig_session->processes[0].end, PROCESS_ENDED);
	for (int i = 0; i < N_NAMES; i++)
		ck_assert_int_eq(rig_sum(long_name(i), METRIC_CPU_COUNT), 1);
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
	ck_assert_uint_eq(atomic_load(&rig_dir->control->n_unsent), 0);
}

/* exec is tried with a full pipe, and fails: what the file had comes through the pipe after all. */
START_TEST(test_pipe_full_at_exec)
{
	char path[512], name[WIRE_REST_NAME_MAX];

	rig_start();
	enter_names();
	until_full();
	sender_exec();
	snprintf(name, sizeof(name), WIRE_REST_NAME, collector->instance);
	snprintf(path, sizeof(path), "%s/%s", rig_dir->path, name);
	ck_assert_int_eq(access(path, F_OK), 0);
	sender_exec_failed();
	for (int i = 0; i < N_NAMES; i++)
		rig_until_sum(long_name(i), METRIC_CPU_COUNT, 1);
	ck_assert_int_lt(access(path, F_OK), 0);
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
}

/* ---- descriptors ---- */

/* Kernels before 5.9 do not know close_range(); some containers do not allow unshare(). */
static void refuse_isolation(bool unshare_too)
{
	ck_assert_int_eq(refuse(SYS_close_range, SECCOMP_RET_ERRNO | ENOSYS), 0);
	if (unshare_too)
		ck_assert_int_eq(refuse(SYS_unshare, SECCOMP_RET_ERRNO | EPERM), 0);
}

/* A descriptor of the FIFO in this table that is not the reader's. */
static int sender_descriptor(void)
{
	struct stat want, st;
	int fd;

	ck_assert_int_eq(fstat(rig_dir->stream_fd, &want), 0);
	for (fd = 3; fd < 4096; fd++)
		if (fd != rig_dir->stream_fd && fstat(fd, &st) == 0 && st.st_ino == want.st_ino &&
		    st.st_dev == want.st_dev)
			return fd;
	return -1;
}

/* Behind the back of TSan, which takes this for the mistake that it is. */
static void steal(int fd)
{
	syscall(SYS_close, fd);
}

static unsigned n_entries(const char *path)
{
	DIR *d = opendir(path);
	unsigned n = 0;

	ck_assert(d != NULL);
	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* How many descriptors the thread of this name has. */
static unsigned thread_descriptors(const char *wanted)
{
	DIR *d = opendir("/proc/self/task");
	char path[512], name[32] = "";
	struct dirent *e;
	unsigned n = 0;
	FILE *f;

	while ((e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		f = *e->d_name == '.' ? NULL : fopen(path, "re");
		if (!f)
			continue;
		ck_assert(fgets(name, sizeof(name), f) != NULL);
		fclose(f);
		snprintf(path, sizeof(path), "/proc/self/task/%s/fd", e->d_name);
		if (!strncmp(name, wanted, strlen(wanted)))
			n = n_entries(path) - 2;
	}
	closedir(d);
	return n;
}

/* Nothing of the sender is in the program's descriptor table, and nothing of the program's in its:
 * where the kernel makes an empty one, and where it only copies. */
START_TEST(test_descriptors_apart)
{
	unsigned before;

	rig_start();
	before = n_entries("/proc/self/fd");
	if (_i)
		refuse_isolation(false);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	ck_assert_int_eq(sender_descriptor(), -1);
	ck_assert_uint_eq(n_entries("/proc/self/fd"), before);
	ck_assert_uint_eq(thread_descriptors("proton-sender"), 4); /* 0, 1, 2 and the FIFO */
	close_range(rig_dir->stream_fd + 1, ~0u, 0);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 2);
}

/* Where all threads have one table. */
START_TEST(test_descriptor_taken)
{
	struct stat st;
	char path[512];
	int fd, file;

	rig_start();
	refuse_isolation(true);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
	fd = sender_descriptor();
	ck_assert_int_ge(fd, 500); /* far from those that programs count on */
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	snprintf(path, sizeof(path), "%s/mine", rig_dir->path);
	file = open(path, O_RDWR | O_CREAT, 0600);
	ck_assert_int_eq(syscall(SYS_dup3, file, fd, 0),
			 fd); /* as after close() and many open()s */
	steal(file);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 2);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert(S_ISREG(st.st_mode));
	ck_assert_int_eq(st.st_size, 0);
	steal(fd);
	steal(sender_descriptor());
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 3);
	ck_assert_int_ge(sender_descriptor(), 0);
	unlink(path);
}

/* ---- forks, many writers ---- */

static bool processes_ended(void *arg)
{
	size_t n = 0;

	for (size_t i = 0; i < rig_session->n_processes; i++)
		n += rig_session->processes[i].end == PROCESS_ENDED;
	return n == *(size_t *)arg;
}

START_TEST(test_fork)
{
	size_t n_ended = 1;
	uint64_t forked_ns;
	pid_t child;
	int status;

	rig_start();
	for (int i = 0; i < 3; i++)
		rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 3);
	collect_push(FRAME_SCOPE, COLLECT_TAG_SCOPE, "open", 4);
	usleep(20000);
	forked_ns = clock_monotonic_ns();
	child = fork();
	if (child == 0) {
		ck_assert_int_eq(collect_pop(COLLECT_TAG_SCOPE), 0);
		rig_scope("child");
		_exit(rig_losses(LOSS_SCOPE_MISMATCH) ? 1 : 0); /* ours: delivers first */
	}
	waitpid(child, &status, 0);
	forked_ns = clock_monotonic_ns() - forked_ns;
	ck_assert_int_eq(status, 0);
	rig_until(processes_ended, &n_ended, "the child's end");
	ck_assert_uint_eq(rig_session->n_processes, 2);
	ck_assert_int_eq(rig_sum("a", METRIC_CPU_COUNT), 3); /* those are the parent's alone */
	ck_assert_int_eq(rig_sum("child", METRIC_CPU_COUNT), 1);
	/* What was open then is open in both, was entered once, and has a child's time of the child. */
	ck_assert_int_eq(rig_sum("open", METRIC_CPU_COUNT), 0);
	ck_assert_int_gt(rig_sum("open", METRIC_CPU_TIME), 0);
	ck_assert_int_le(rig_sum("open", METRIC_CPU_TIME), (long)forked_ns);
	collect_pop(COLLECT_TAG_SCOPE);
	rig_scope("a");
	rig_until_sum("a", METRIC_CPU_COUNT, 4);
	rig_until_sum("open", METRIC_CPU_COUNT, 1);
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
}

/* A child of a child, and one that ends without a word. */
START_TEST(test_fork_deep)
{
	size_t n_ended = 2;
	int status;
	pid_t child;

	rig_start();
	rig_scope("a");
	child = fork();
	if (child == 0) {
		rig_scope("child");
		child = fork();
		if (child == 0) {
			rig_scope("grandchild");
			_exit(0);
		}
		waitpid(child, &status, 0);
		_exit(status);
	}
	waitpid(child, &status, 0);
	ck_assert_int_eq(status, 0);
	rig_until(processes_ended, &n_ended, "both ends");
	ck_assert_int_eq(rig_sum("child", METRIC_CPU_COUNT), 1);
	ck_assert_int_eq(rig_sum("grandchild", METRIC_CPU_COUNT), 1);
	rig_until_sum("a", METRIC_CPU_COUNT, 1);
}

enum { N_WRITERS = 8, N_SCOPES = 3000 };

static void write_many(int me, int go)
{
	char name[64];

	ck_assert_int_eq(collect_start(DOOR_API), 0);
	for (int i = 0; i < N_SCOPES; i++) {
		snprintf(name, sizeof(name), "a rather long name of writer %d, number %d", me,
			 i % 1000);
		rig_scope(name);
		rig_scope("shared");
	}
	/* At the end a full pipe is waited for, but not for as long as a loaded machine may need. */
	_exit(read(go, name, 1) == 0 ? 0 : 1);
}

START_TEST(test_writers)
{
	size_t n_ended = N_WRITERS;
	pid_t pids[N_WRITERS];
	int status, go[2];

	rig_open();
	rig_dir->control->wanted.all_names = 1;
	ck_assert_int_eq(pipe(go), 0);
	for (int i = 0; i < N_WRITERS; i++) {
		pids[i] = fork();
		if (pids[i] == 0) {
			close(go[1]);
			write_many(i, go[0]);
		}
	}
	rig_until_sum("shared", METRIC_CPU_COUNT, N_WRITERS * N_SCOPES);
	close(go[1]);
	rig_until(processes_ended, &n_ended, "the ends of all writers");
	for (int i = 0; i < N_WRITERS; i++) {
		waitpid(pids[i], &status, 0);
		ck_assert_int_eq(status, 0);
	}
	ck_assert_uint_eq(rig_session->n_processes, N_WRITERS);
	ck_assert_int_eq(rig_sum("shared", METRIC_CPU_COUNT), N_WRITERS * N_SCOPES);
	ck_assert_uint_eq(rig_session->n_nodes, 1 + 1 + N_WRITERS * 1000);
	ck_assert_uint_eq(session_loss(rig_session, LOSS_WIRE_ERROR), 0);
	ck_assert_int_eq(rig_sum("a rather long name of writer 7, number 999", METRIC_CPU_COUNT),
			 3);
}

TCase *collect_stream_case(void)
{
	TCase *c = tcase_create("stream");

	tcase_add_checked_fixture(c, NULL, rig_close);
	tcase_set_timeout(c, 120);
	tcase_add_test(c, test_pause);
	tcase_add_test(c, test_pause_within);
	tcase_add_test(c, test_reset);
	tcase_add_test(c, test_reset_leaves_gauges);
	tcase_add_test(c, test_resync);
	tcase_add_test(c, test_metric_misused);
	tcase_add_test(c, test_flush);
	tcase_add_test(c, test_octaves);
	tcase_add_test(c, test_stop);
	tcase_add_test(c, test_nobody);
	tcase_add_test(c, test_pipe_full);
	tcase_add_test(c, test_pipe_full_at_exit);
	tcase_add_test(c, test_pipe_full_at_exec);
	tcase_add_loop_test(c, test_descriptors_apart, 0, 2);
	tcase_add_test(c, test_descriptor_taken);
	tcase_add_test(c, test_writers);
	if (WITH_FORK) {
		tcase_add_test(c, test_fork);
		tcase_add_test(c, test_fork_deep);
	}
	return c;
}
