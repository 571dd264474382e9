/* SPDX-License-Identifier: MIT */
/* A device that waits, each time for another reason, and each time another device: collect_idle LIBCUDA, with the
 * mock libcupti. It prints what is to be charged: the scope, then of each part in us the least and the most that it
 * may be, for when a call was made is known as well as the clock was read before and after it; and of all from a call to
 * its work. Work starts seconds after its call, so that it does on a machine that does not let us run for long, too
 * (MOCK_CUPTI_SLOW). See tests/scripts/collect_idle.sh. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { KERNEL_CALL = 307, COPY_CALL = 276, SYNC_CALL = 126, WAIT_S = 60 };
#define MS 1000000LL
#define S  (1000 * MS)
enum { RESOLUTION_NS = 16 }; /* in which the time of a launch is kept */

enum part { LATE, SYNC, COPY, LAUNCH, QUEUED, GRAPH, N_PARTS };

static mock_call_fn *call;
static mock_auto_fn *complete_at_once;
static mock_complete_fn *complete;
static mock_counters_fn *counters;
static uint32_t device;
static long long latency_least, latency_most;

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000 * MS + t.tv_nsec;
}

/* When a call was made: between these. */
struct moment {
	int64_t from, until;
};

static struct moment run(uint32_t cbid, struct mock_op op, int64_t start, int64_t end)
{
	struct moment m = {now_ns(), 0};

	op.device = device;
	op.context = device + 1;
	op.start_ns = (uint64_t)start;
	op.end_ns = (uint64_t)end;
	call(cbid, &op);
	m.until = now_ns();
	return m;
}

static struct moment kernel(uint32_t stream, int64_t start, int64_t end)
{
	const struct mock_op op = {
		.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "work", .stream = stream};

	return run(KERNEL_CALL, op, start, end);
}

/* It started after its call. */
static struct moment kernel_timed(int64_t start, int64_t end)
{
	struct moment m = kernel(7, start, end);

	latency_least += start - m.until;
	latency_most += start - m.from + RESOLUTION_NS;
	return m;
}

static long long at_least(int64_t a, int64_t b)
{
	return (a > b ? a : b) / 1000;
}

static long long at_most(int64_t a, int64_t b)
{
	return (a < b ? a : b) / 1000;
}

/* From the end of all work to the start of what was launched by then. */
static void expect_late(const char *scope, enum part late, int64_t g, int64_t s, struct moment l)
{
	printf("%s %lld", scope, (long long)(s - g) / 1000);
	for (unsigned i = 0; i < N_PARTS; i++)
		if (i == late)
			printf(" %lld-%lld", at_least(l.from - RESOLUTION_NS - g, 0),
			       at_most(l.until - g, s - g) + 1);
		else if (i == LAUNCH)
			printf(" %lld-%lld", at_least(s - l.until, 0),
			       at_most(s - l.from + RESOLUTION_NS, s - g) + 1);
		else
			printf(" 0-0");
	putchar('\n');
}

static void expect(const char *scope, enum part part, int64_t g, int64_t s)
{
	printf("%s %lld", scope, (long long)(s - g) / 1000);
	for (unsigned i = 0; i < N_PARTS; i++)
		printf(" %lld-%lld", i == part ? (long long)(s - g) / 1000 : 0,
		       i == part ? (long long)(s - g) / 1000 : 0);
	putchar('\n');
}

static void begin(const char *scope)
{
	device++;
	proton_enter_scope(scope);
}

static void late(void)
{
	int64_t n = now_ns(), s = n + 20 * S;
	struct moment l;

	begin("late");
	kernel(7, n - 50 * MS, n - 40 * MS);
	l = kernel_timed(s, s + MS);
	expect_late("late", LATE, n - 40 * MS, s, l);
	proton_exit_scope();
}

/* A copy that the call waited for; then one that it did not wait for. */
static void copy(bool async)
{
	int64_t n = now_ns(), s = n + 20 * S;
	const struct mock_op op = {.kind = ABI_KIND_MEMCPY,
				   .bytes = 4096,
				   .copy_kind = ABI_COPY_HTOD,
				   .src_kind = ABI_MEMORY_PAGEABLE,
				   .dst_kind = ABI_MEMORY_DEVICE,
				   .async = async,
				   .stream = 7};
	const char *scope = async ? "async" : "copy";
	struct moment l;

	begin(scope);
	run(COPY_CALL, op, n - 50 * MS, n - 40 * MS);
	l = kernel_timed(s, s + MS);
	expect_late(scope, async ? LATE : COPY, n - 40 * MS, s, l);
	proton_exit_scope();
}

/* The host waited until the work was over, where that is recorded; not so for that of the others, which ended before. */
static void sync_late(void)
{
	int64_t n = now_ns(), s = n + 20 * S;
	const struct mock_op wait = {
		.kind = ABI_KIND_SYNCHRONIZATION, .sync_type = ABI_SYNC_STREAM, .stream = 7};
	struct moment l;

	begin("sync");
	kernel(7, n - 5 * MS, n - 2 * MS);
	run(SYNC_CALL, wait, n - 4 * MS, n - MS);
	l = kernel_timed(s, s + MS);
	expect_late("sync", SYNC, n - 2 * MS, s, l);
	proton_exit_scope();
}

/* It was launched long before it could start, and started long after. */
static void queued(void)
{
	int64_t n = now_ns(), g = n + 60 * S, s = g + 60 * S;

	begin("queued");
	kernel_timed(n + 20 * S, n + 21 * S);
	kernel_timed(n + 21 * S, g);
	kernel_timed(s, s + MS);
	expect("queued", QUEUED, g, s);
	proton_exit_scope();
}

/* The time is that of the launch: a thread that is late to start would launch when the gap is over, and settled. */
static void *run_beside(void *arg)
{
	int64_t *n = arg;

	proton_enter_scope("beside");
	*n = now_ns();
	kernel(9, *n - 4 * MS, *n + 60 * S);
	proton_exit_scope();
	return NULL;
}

static void await_flushes(uint64_t n)
{
	int64_t end = now_ns() + WAIT_S * 1000 * MS;
	struct mock_counters c;

	counters(&c);
	n += c.n_flushes;
	while (c.n_flushes < n && now_ns() < end) {
		nanosleep(&(struct timespec){0, MS}, NULL);
		counters(&c);
	}
	if (c.n_flushes < n)
		exit(4);
}

/* What another thread launched fills the gap; nobody knows before it is over, which is after much else was told. */
static void beside(void)
{
	int64_t n, later;
	pthread_t thread;

	begin("filled");
	complete_at_once(false);
	pthread_create(&thread, NULL, run_beside, &n);
	pthread_join(thread, NULL);
	complete_at_once(true);
	kernel(7, n - 5 * MS, n - 3 * MS);
	later = now_ns(); /* than its buffer was taken */
	kernel(7, later, later + 5 * MS);
	await_flushes(3);
	complete(1, false);
	proton_exit_scope();
}

int main(int argc, char **argv)
{
	const char *cupti = getenv("PROTON_CUPTI_PATH");
	uint32_t (*init)(uint32_t);

	if (argc != 2 || !cupti)
		return 2;
	*(void **)&init = find(argv[1], "cuInit");
	init(0);
	*(void **)&call = find(cupti, "mock_call");
	*(void **)&complete_at_once = find(cupti, "mock_auto");
	*(void **)&complete = find(cupti, "mock_complete");
	*(void **)&counters = find(cupti, "mock_counters");
	late();
	copy(false);
	copy(true);
	sync_late();
	queued();
	beside();
	printf("latency %lld %lld\n", latency_least, latency_most);
	return 0;
}
