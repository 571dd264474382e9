/* SPDX-License-Identifier: MIT */
/* When records of kernels that CUPTI runs again for several passes are had, over a mock libcupti, which gives them away by a
 * forced flush alone, as the real one; and that nothing else loses its times by that. Each test runs in a fork. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "backends/backend.h"
#include "backends/cupti_abi.h"
#include "base/clock.h"
#include "check_main.h"
#include "core/ranges_wanted.h"
#include "mocks/mock_cupti.h"

enum { KERNEL_CALL = 307, COPY_CALL = 306, BEGIN_CAPTURE_CALL = 539, END_CAPTURE_CALL = 497 };
enum { ALIVE = 1, COPIES = 5 }; /* contexts */

static struct {
	_Atomic uint64_t n_kernels, n_copies, n_measured, n_lost;
	atomic_uint n_waits;
	char notes[4096];
} seen;

static struct ranges_wanted wanted = {.of = RANGES_OF_KERNELS, .n = 1};

static uint32_t sink_launch(struct activity_sink *sink, const void *what)
{
	return 1;
}

static void sink_record(struct activity_sink *sink, const struct activity *a)
{
	if (a->kind == ACTIVITY_KERNEL)
		seen.n_kernels++;
	else if (a->kind == ACTIVITY_COPY)
		seen.n_copies++;
}

static void sink_unlaunch(struct activity_sink *sink, uint64_t n)
{
}

static void sink_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
	seen.n_lost += n;
}

static void sink_note(struct activity_sink *sink, const char *text)
{
	strncat(seen.notes, text, sizeof(seen.notes) - strlen(seen.notes) - 1);
}

static void sink_connect(struct activity_sink *sink)
{
}

static void sink_device(struct activity_sink *sink, const struct device_info *info)
{
}

static const struct ranges_wanted *sink_ranges(struct activity_sink *sink)
{
	return &wanted;
}

static bool sink_measured_at(struct activity_sink *sink, const struct activity *a,
			     struct range_place *ret)
{
	*ret = (struct range_place){.slot = 1};
	return true;
}

static void sink_measured(struct activity_sink *sink, const struct range_place *at,
			  uint64_t time_ns, const double *values)
{
	ck_assert_uint_lt(time_ns, 3600 * NSEC_PER_SEC); /* of a clock that was set, too */
	seen.n_measured++;
}

static const struct activity_sink_ops ops = {
	.launch = sink_launch,
	.record = sink_record,
	.unlaunch = sink_unlaunch,
	.lose = sink_lose,
	.note = sink_note,
	.connect = sink_connect,
	.device = sink_device,
	.ranges = sink_ranges,
	.measured_at = sink_measured_at,
	.measured = sink_measured,
};
static struct activity_sink sink = {.ops = &ops};

static struct {
	mock_call_fn *call;
	mock_auto_fn *automatic;
	mock_counters_fn *counters;
	mock_context_fn *context;
	mock_waiting_fn *waiting;
} mock;
static void *state;

static void count_wait(void)
{
	seen.n_waits++;
}

static void begin(enum ranges_replay replay)
{
	const struct backend_options options = {.ranges = true, .no_memory = true};
	void *library = dlopen(MOCK_CUPTI_PATH, RTLD_NOW | RTLD_LOCAL);

	setenv("PROTON_CUPTI_PATH", MOCK_CUPTI_PATH, 1);
	setenv("MOCK_CUPTI_CHIP", "GH100", 1);
	ck_assert_msg(library != NULL, "%s", dlerror());
	ck_assert_ptr_nonnull(dlopen(MOCK_CUDA_PATH, RTLD_NOW | RTLD_LOCAL));
	*(void **)&mock.call = dlsym(library, "mock_call");
	*(void **)&mock.automatic = dlsym(library, "mock_auto");
	*(void **)&mock.counters = dlsym(library, "mock_counters");
	*(void **)&mock.context = dlsym(library, "mock_context_end");
	*(void **)&mock.waiting = dlsym(library, "mock_waiting");
	mock.waiting(count_wait);
	wanted.replay = replay;
	wanted.metrics[0].name = (char *)(uintptr_t)RANGES_DURATION;
	ck_assert_int_eq(backend_cupti.start(&options, &sink, &state), 0);
}

static void flush(enum flush how)
{
	ck_assert_int_eq(backend_cupti.flush(state, how), 0);
}

static uint64_t n_forced(void)
{
	struct mock_counters c;

	mock.counters(&c);
	return c.n_forced;
}

static void kernel(uint32_t context, void (*inside)(void))
{
	mock.call(KERNEL_CALL, &(struct mock_op){.kind = ABI_KIND_CONCURRENT_KERNEL,
						 .name = "k",
						 .context = context,
						 .inside = inside});
}

static void copy(void (*inside)(void))
{
	mock.call(COPY_CALL, &(struct mock_op){.kind = ABI_KIND_MEMCPY,
					       .copy_kind = ABI_COPY_HTOD,
					       .src_kind = ABI_MEMORY_PINNED,
					       .dst_kind = ABI_MEMORY_DEVICE,
					       .bytes = 8,
					       .context = COPIES,
					       .inside = inside});
}

static void *launch_one(void *done)
{
	kernel(ALIVE, NULL);
	atomic_store((atomic_bool *)done, true);
	return NULL;
}

static void *flush_now(void *unused)
{
	backend_cupti.flush(state, FLUSH_MEASURED);
	return unused;
}

/* ---- */

START_TEST(a_period_has_them)
{
	begin(RANGES_KERNELS);
	for (int i = 0; i < 3; i++)
		kernel(ALIVE, NULL);
	flush(FLUSH_COMPLETE);
	ck_assert_uint_eq(seen.n_kernels, 3);
	ck_assert_uint_eq(seen.n_measured, 3);
	ck_assert_uint_eq(n_forced(), 1);
	flush(FLUSH_COMPLETE); /* nothing is owed */
	ck_assert_uint_eq(n_forced(), 1);
	kernel(ALIVE, NULL);
	flush(FLUSH_MEASURED);
	ck_assert_uint_eq(seen.n_kernels, 4);
	ck_assert_uint_eq(seen.n_measured, 4);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

/* In one pass ranges are pushed: records have times, and nobody waits for the device. */
START_TEST(one_pass_needs_none)
{
	begin(RANGES_ONCE);
	kernel(ALIVE, NULL);
	flush(FLUSH_COMPLETE);
	ck_assert_uint_eq(seen.n_kernels, 1);
	ck_assert_uint_eq(n_forced(), 0);
	ck_assert_uint_eq(seen.n_waits, 0);
}
END_TEST

/* In another context, too. */
START_TEST(what_runs_is_waited_for)
{
	begin(RANGES_KERNELS);
	mock.automatic(false);
	kernel(ALIVE, NULL);
	copy(NULL);
	flush(FLUSH_COMPLETE);
	ck_assert_uint_eq(n_forced(), 1);
	ck_assert_uint_eq(seen.n_copies, 1);
	ck_assert_uint_eq(seen.n_kernels, 1);
	ck_assert_uint_eq(seen.n_lost, 0);
	ck_assert_uint_eq(seen.n_waits, 2);
}
END_TEST

static void flush_beside(void)
{
	pthread_t other;

	pthread_create(&other, NULL, flush_now, NULL);
	pthread_join(other, NULL);
}

START_TEST(what_is_being_launched_is_let_be)
{
	begin(RANGES_KERNELS);
	kernel(ALIVE, NULL);
	copy(flush_beside);
	ck_assert_uint_eq(n_forced(), 0);
	ck_assert_uint_eq(seen.n_kernels, 0);
	flush(FLUSH_COMPLETE); /* launches waited for that one: the next period does not have them wait again */
	ck_assert_uint_eq(n_forced(), 0);
	flush(FLUSH_MEASURED);
	ck_assert_uint_eq(n_forced(), 1);
	ck_assert_uint_eq(seen.n_kernels, 1);
	ck_assert_uint_eq(seen.n_copies, 1);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

static pthread_t launcher;
static atomic_bool is_launched;

/* The device is waited for: what is launched now would have a record that is not complete. */
static void launch_meanwhile(void)
{
	const struct timespec nap = {0, NSEC_PER_MSEC};

	if (seen.n_waits++)
		return;
	pthread_create(&launcher, NULL, launch_one, &is_launched);
	for (int i = 0; i < 50 && !is_launched; i++)
		nanosleep(&nap, NULL);
	ck_assert(!is_launched);
}

START_TEST(nothing_is_launched_meanwhile)
{
	begin(RANGES_KERNELS);
	mock.waiting(launch_meanwhile);
	kernel(ALIVE, NULL);
	flush(FLUSH_COMPLETE);
	ck_assert_uint_eq(seen.n_kernels, 1);
	ck_assert_uint_eq(n_forced(), 1);
	pthread_join(launcher, NULL);
	flush(FLUSH_MEASURED);
	ck_assert_uint_eq(seen.n_kernels, 2);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

/* A device that waits for what is launched next. */
static void wait_for_launch(void)
{
	if (seen.n_waits++)
		return;
	pthread_create(&launcher, NULL, launch_one, &is_launched);
	pthread_join(launcher, NULL);
}

START_TEST(a_launch_does_not_wait_for_ever)
{
	begin(RANGES_KERNELS);
	mock.waiting(wait_for_launch);
	copy(NULL); /* its context is the first that is waited for */
	kernel(ALIVE, NULL);
	kernel(COPIES, NULL);
	ck_assert_uint_eq(seen.n_waits, 0);
	flush(FLUSH_MEASURED);
	ck_assert(is_launched);
	ck_assert_uint_eq(n_forced(), 0);
	flush(FLUSH_MEASURED);
	ck_assert_uint_eq(n_forced(), 1);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

static void capture(uint32_t id)
{
	mock.call(id, &(struct mock_op){.stream = 6});
}

/* Whoever waited for the device would end the capture. */
START_TEST(a_capture_is_left_alone)
{
	unsigned n;

	begin(RANGES_KERNELS);
	kernel(ALIVE, NULL);
	capture(BEGIN_CAPTURE_CALL);
	copy(NULL);
	n = seen.n_waits;
	flush(FLUSH_MEASURED);
	ck_assert_uint_eq(seen.n_waits, n);
	ck_assert_uint_eq(n_forced(), 0);
	capture(END_CAPTURE_CALL);
	flush(FLUSH_MEASURED);
	ck_assert_uint_eq(seen.n_kernels, 1);
	ck_assert_uint_eq(seen.n_copies, 1);
	ck_assert_uint_eq(n_forced(), 1);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

static void handle_signal(void)
{
	kernel(ALIVE, NULL);
}

/* A handler launches while its thread does: it has the context's lock already, and does not give it back. */
START_TEST(a_handler_of_a_signal_goes_on)
{
	uint64_t begin_ns = clock_monotonic_ns();

	begin(RANGES_ONCE);
	kernel(ALIVE, handle_signal);
	kernel(ALIVE, NULL);
	pthread_create(&launcher, NULL, launch_one, &is_launched);
	pthread_join(launcher, NULL);
	flush(FLUSH_LAST);
	ck_assert_uint_lt(clock_monotonic_ns() - begin_ns, 8 * NSEC_PER_SEC);
	ck_assert_uint_eq(seen.n_kernels, 4);
	ck_assert_uint_eq(seen.n_measured, 2);
	ck_assert_ptr_nonnull(
		strstr(seen.notes,
		       "not measured: 2 launches by handlers of signals within others, and these"));
}
END_TEST

static _Atomic int64_t set_back_s; /* CLOCK_REALTIME is behind what the kernel has by so much */

/* In place of libc's, for the backend, too. */
int clock_gettime(clockid_t id, struct timespec *ret)
{
	int r = (int)syscall(SYS_clock_gettime, id, ret);

	if (r == 0 && id == CLOCK_REALTIME)
		ret->tv_sec -= atomic_load(&set_back_s);
	return r;
}

/* Another thread launches in the context, and waits for this launch's end. */
static void launch_beside(void)
{
	const struct timespec nap = {0, NSEC_PER_MSEC};

	atomic_store(&set_back_s, 3600);
	pthread_create(&launcher, NULL, launch_one, &is_launched);
	for (int i = 0; i < 50 && !is_launched; i++)
		nanosleep(&nap, NULL);
	ck_assert(!is_launched);
}

START_TEST(a_clock_that_is_set_ends_no_wait)
{
	begin(RANGES_ONCE);
	kernel(ALIVE, launch_beside);
	pthread_join(launcher, NULL);
	flush(FLUSH_LAST);
	ck_assert_uint_eq(seen.n_kernels, 2);
	ck_assert_uint_eq(seen.n_measured, 2);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

/* Bytes that are allocated now; 0: not known. */
static size_t allocated(void)
{
#if __GLIBC_PREREQ(2, 33)
	return mallinfo2().uordblks;
#else
	return 0;
#endif
}

/* A context that is gone leaves nothing behind; the next one has its place. */
START_TEST(contexts_come_and_go)
{
	enum { CONTEXTS = 2000, FIRST = 100, LEAST = 32 << 10 };
	size_t before = 0;

	begin(_i ? RANGES_KERNELS : RANGES_ONCE);
	for (uint32_t i = 1; i <= CONTEXTS; i++) {
		kernel(FIRST + i, NULL);
		mock.context(FIRST + i);
		if (i % FIRST == 0)
			flush(FLUSH_MEASURED);
		if (i == FIRST)
			before = allocated();
	}
	ck_assert_uint_lt(allocated(), before + 10 * (size_t)LEAST);
	flush(FLUSH_LAST);
	ck_assert_uint_eq(seen.n_kernels, CONTEXTS);
	ck_assert_uint_eq(seen.n_measured, CONTEXTS);
	ck_assert_uint_eq(seen.n_lost, 0);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("range_flush");
	TCase *t = tcase_create("all");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_period_has_them);
	tcase_add_test(t, one_pass_needs_none);
	tcase_add_test(t, what_runs_is_waited_for);
	tcase_add_test(t, what_is_being_launched_is_let_be);
	tcase_add_test(t, nothing_is_launched_meanwhile);
	tcase_add_test(t, a_launch_does_not_wait_for_ever);
	tcase_add_test(t, a_capture_is_left_alone);
	tcase_add_test(t, a_handler_of_a_signal_goes_on);
	tcase_add_test(t, a_clock_that_is_set_ends_no_wait);
	tcase_add_loop_test(t, contexts_come_and_go, 0, 2);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return check_run(suite());
}
