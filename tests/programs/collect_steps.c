/* SPDX-License-Identifier: MIT */
/* Loops of scopes, or with the mock libcupti of kernels: collect_steps KIND N [LIBCUDA]. Of the loop that counts it prints how many steps there were without the
 * first, then the least and the most that all of them took, in ns, by a clock that is read within and around each,
 * and the numbers that may be that of the slowest. See tests/scripts/collect_steps.sh. */
#include "config.h" // IWYU pragma: keep
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "mocks/mock_cupti.h"
#include "programs/symbols.h"
#include "proton/proton.h"

enum { SLOW = 7, US = 1000, KERNEL_CALL = 307, COPY_CALL = 276, N_LAYERS = 6, MIB = 1 << 20 };

static mock_call_fn *call;

static struct {
	uint64_t n, least, most;
	uint64_t slow_least,
		others_most; /* of the one that is made to be slow, and of all others */
} seen;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void work(uint64_t ns)
{
	uint64_t end = now_ns() + ns;

	while (now_ns() < end)
		;
}

/* What is in a step, and has numbers, too. */
static void layers(unsigned n)
{
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "layer %u", i);
		proton_enter_scope(name);
		proton_exit_scope();
	}
}

static void step(const char *name, unsigned i, unsigned n_layers)
{
	uint64_t around = now_ns(), within, inner;

	proton_enter_scope(name);
	within = now_ns();
	work((i == SLOW ? 20000 : 100) * US);
	layers(n_layers);
	inner = now_ns() - within;
	proton_exit_scope();
	around = now_ns() - around;
	if (!i)
		return;
	seen.n++;
	seen.least += inner;
	seen.most += around;
	if (i == SLOW)
		seen.slow_least = inner;
	else if (around > seen.others_most)
		seen.others_most = around;
}

static void count_up(const char *format, unsigned n, unsigned n_layers)
{
	char name[64];

	for (unsigned i = 0; i < n; i++) {
		/* the formats are those of main() */
		snprintf(name, sizeof(name), "%s%u", format, i);
		step(name, i, n_layers);
	}
}

static void same_name(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		step("train", i, 2);
}

/* Numbers that say which, and no loop: each time from the beginning. */
static void blocks(unsigned n)
{
	char name[32];

	for (unsigned i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "block %u", i % 6);
		proton_enter_scope(name);
		proton_exit_scope();
	}
}

static void *more_steps(void *arg)
{
	char name[32];

	for (unsigned i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "step %u", 1000 + i);
		proton_enter_scope(name);
		work(10 * US);
		proton_exit_scope();
	}
	return arg;
}

/* A thread has steps of the same name while one of ours is open. */
static void overlap(unsigned n)
{
	pthread_t thread;

	for (unsigned i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "step %u", i);
		proton_enter_scope(name);
		if (i == 3 && pthread_create(&thread, NULL, more_steps, NULL) == 0)
			pthread_join(thread, NULL);
		proton_exit_scope();
		seen.n += i > 0;
	}
}

/* A child that is in its parent's step leaves that, and goes on with its own. */
static void fork_within(unsigned n)
{
	pid_t pid;

	proton_enter_scope("step 0");
	pid = fork();
	if (pid == 0) {
		proton_exit_scope();
		count_up("step ", n, 0);
		exit(0);
	}
	waitpid(pid, NULL, 0);
	proton_exit_scope();
	count_up("step ", n, 0);
}

static void epochs(unsigned n)
{
	char name[32];

	for (unsigned i = 0; i < 5; i++) {
		snprintf(name, sizeof(name), "epoch %u", i);
		proton_enter_scope(name);
		for (unsigned k = 0; k < n; k++) {
			snprintf(name, sizeof(name), "batch %u", k);
			proton_enter_scope(name);
			work(20 * US);
			proton_exit_scope();
			seen.n += i + k > 0;
		}
		proton_exit_scope();
	}
}

static uint64_t realtime_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void kernel_of(const char *name, uint64_t start_ns, uint64_t end_ns)
{
	struct mock_op op = {.kind = ABI_KIND_CONCURRENT_KERNEL,
			     .name = name,
			     .context = 1,
			     .stream = 7,
			     .start_ns = start_ns,
			     .end_ns = end_ns};

	call(KERNEL_CALL, &op);
}

static void kernel(const char *name, uint64_t start_ns)
{
	kernel_of(name, start_ns, start_ns + 5 * US);
}

/* No scopes: what a model launches, step by step, 10 us apart, and one time with a pause. What is before the loop, and
 * once within it, is something else. */
static void kernels(unsigned n)
{
	uint64_t at = realtime_ns() + 1000000;

	for (unsigned i = 0; i < 50; i++, at += 10 * US)
		kernel(i % 7 < 3 ? "load" : "init", at);
	for (unsigned i = 0; i < n; i++) {
		kernel("embed", at);
		for (unsigned k = 0; k < N_LAYERS; k++) {
			kernel("attention", at += 10 * US);
			kernel("mlp", at += 10 * US);
		}
		kernel("head", at += 10 * US);
		if (i == n / 2)
			at += 5000 * US;
		at += 10 * US;
		if (i == n / 3)
			for (unsigned k = 0; k < 5; k++, at += 10 * US)
				kernel("save", at);
	}
}

/* As kernels(): of n steps three in which the device waits for 2 ms and more, and two in which a kernel runs so long. */
static void slow(unsigned n)
{
	uint64_t at = realtime_ns() + 1000000;

	for (unsigned i = 0; i < n; i++) {
		kernel("embed", at);
		for (unsigned k = 0; k < N_LAYERS; k++) {
			kernel("attention", at += 10 * US);
			kernel("mlp", at += 10 * US);
		}
		at += 10 * US;
		if (i == n / 2 || i == n / 2 + 10)
			kernel_of("head", at, at + (2000 + i) * US);
		else
			kernel("head", at);
		if (i == n / 2 || i % (n / 3) == n / 4 || i == n / 2 + 10)
			at += (2000 + i) * US;
		at += 10 * US;
	}
}

/* Half of each step, which another thread launches the other half of to the same stream: what runs, not who launched it,
 * is the step. */
struct half {
	const char *first, *others;
	uint64_t at;
	unsigned n;
};

static void *launch_half(void *arg)
{
	struct half *half = arg;

	for (unsigned i = 0; i < half->n; i++, half->at += 2 * (N_LAYERS + 1) * 10 * US) {
		kernel(half->first, half->at);
		for (unsigned k = 1; k <= N_LAYERS; k++)
			kernel(half->others, half->at + k * 10 * US);
	}
	return NULL;
}

static void halves(unsigned n)
{
	/* So late that nothing runs before it is launched, however busy the machine is. */
	struct half forward = {"embed", "attention", realtime_ns() + UINT64_C(60000000) * US, n},
		    backward = {"loss", "gradient", forward.at + (N_LAYERS + 1) * 10 * US, n};
	pthread_t thread;

	if (pthread_create(&thread, NULL, launch_half, &backward) != 0)
		abort();
	launch_half(&forward);
	pthread_join(thread, NULL);
}

/* Names in no order, which repeats nothing. */
static void noise(unsigned n)
{
	static const char *const names[] = {"a", "b", "c", "d", "e"};
	uint64_t at = realtime_ns() + 1000000, state = 1;

	for (unsigned i = 0; i < n * 10; i++, at += 10 * US) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		kernel(names[(state >> 33) % 5], at);
	}
}

/* A kernel in each, named as the step is. */
static void traced(unsigned n)
{
	static char names[64][16];

	proton_enter_scope("epoch 0");
	for (unsigned i = 0; i < n && i < 64; i++) {
		snprintf(names[i], sizeof(names[i]), "step %u", i);
		proton_enter_scope(names[i]);
		snprintf(names[i], sizeof(names[i]), "k%u", i);
		work(2000 * US);
		kernel(names[i], realtime_ns() - 1000 * US);
		proton_exit_scope();
	}
	proton_exit_scope();
}

/* A kernel of 300 us in each, which begins after the step did and is over before it ends; the host is late in one, and
 * in another one there are three kernels, of which two run at the same time. They begin so late that they are launched
 * before, however busy the machine is. */
static void devices(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct mock_op op = {
			.kind = ABI_KIND_CONCURRENT_KERNEL, .name = "k", .context = 1, .stream = 7};
		char name[32];

		snprintf(name, sizeof(name), "step %u", i);
		proton_enter_scope(name);
		op.start_ns = realtime_ns() + (i == SLOW / 2 ? 100000 : 5000) * US;
		op.end_ns = op.start_ns + 300 * US;
		call(KERNEL_CALL, &op);
		for (unsigned k = 1; i == SLOW / 2 && k < 3; k++) {
			op.stream = 7 + k;
			op.start_ns += k == 2 ? 500 * US : 100 * US;
			op.end_ns = op.start_ns + 300 * US;
			call(KERNEL_CALL, &op);
		}
		while (realtime_ns() < op.end_ns + 200 * US)
			;
		work((i == SLOW ? 300000 : 0) * US);
		proton_exit_scope();
	}
}

static void copy(uint8_t kind, uint64_t bytes)
{
	bool is_up = kind == ABI_COPY_HTOD, is_down = kind == ABI_COPY_DTOH;
	uint64_t now = realtime_ns();
	struct mock_op op = {.kind = ABI_KIND_MEMCPY,
			     .copy_kind = kind,
			     .src_kind = is_up ? ABI_MEMORY_PINNED : ABI_MEMORY_DEVICE,
			     .dst_kind = is_down ? ABI_MEMORY_PINNED : ABI_MEMORY_DEVICE,
			     .bytes = bytes,
			     .context = 1,
			     .stream = 7,
			     .start_ns = now,
			     .end_ns = now + (is_up ? 20000 : 20) * US};

	call(COPY_CALL, &op);
	work(100 * US);
}

static struct {
	uint32_t (*alloc)(uint64_t *ret, size_t bytes);
	uint32_t (*release)(uint64_t address);
} cuda;

static uint64_t alloc(size_t bytes)
{
	uint64_t address;

	if (cuda.alloc(&address, bytes))
		abort();
	return address;
}

/* Copies of known bytes, of those to the device 64 KiB more each time where they grow, and memory that comes and goes
 * in each step. 4 MiB more are held at the end of each where it grows; else of the first four, as by a cache. */
static void moves(unsigned n, bool grow)
{
	for (unsigned i = 0; i < n; i++) {
		char name[32];
		uint64_t passing;

		snprintf(name, sizeof(name), "step %u", i);
		proton_enter_scope(name);
		passing = alloc(8 * MIB);
		work(100 * US);
		copy(ABI_COPY_HTOD, MIB + (grow ? i * (MIB / 16) : 0));
		copy(ABI_COPY_HTOD, MIB);
		copy(ABI_COPY_DTOH, MIB / 2);
		copy(ABI_COPY_DTOD, MIB / 4);
		proton_exit_scope();
		work(100 * US);
		/* between two steps, and so in none; but it is held at the end of the next ones */
		copy(ABI_COPY_HTOD, 16 * MIB);
		if (grow || i < 4)
			alloc(4 * MIB);
		cuda.release(passing);
		work(100 * US);
	}
}

/* A kernel in each, and 10 ms between two. */
static void apart(unsigned n)
{
	const struct timespec pause = {0, 10000 * US};

	proton_enter_scope("train");
	for (unsigned i = 0; i < n; i++) {
		char name[32];

		snprintf(name, sizeof(name), "step %u", i);
		proton_enter_scope(name);
		kernel("k", realtime_ns() - 10 * US);
		proton_exit_scope();
		nanosleep(&pause, NULL);
	}
	proton_exit_scope();
}

static void open_mock(const char *libcuda)
{
	uint32_t (*init)(uint32_t);

	*(void **)&init = find(libcuda, "cuInit");
	init(0);
	*(void **)&call = find(getenv("PROTON_CUPTI_PATH"), "mock_call");
	*(void **)&cuda.alloc = find(libcuda, "cuMemAlloc_v2");
	*(void **)&cuda.release = find(libcuda, "cuMemFree_v2");
}

int main(int argc, char **argv)
{
	unsigned n = argc >= 3 ? (unsigned)atoi(argv[2]) : 0;
	const char *kind = n ? argv[1] : "";

	if (argc == 4)
		open_mock(argv[3]);
	if (!strcmp(kind, "kernels"))
		kernels(n);
	else if (!strcmp(kind, "halves"))
		halves(n);
	else if (!strcmp(kind, "noise"))
		noise(n);
	else if (!strcmp(kind, "traced"))
		traced(n);
	else if (!strcmp(kind, "devices"))
		devices(n);
	else if (!strcmp(kind, "grows"))
		moves(n, true);
	else if (!strcmp(kind, "stays"))
		moves(n, false);
	else if (!strcmp(kind, "apart"))
		apart(n);
	else if (!strcmp(kind, "slow"))
		slow(n);
	else if (!strcmp(kind, "numbers"))
		count_up("epoch 1 step ", n, 2);
	else if (!strcmp(kind, "steps"))
		count_up("step ", n, 6);
	else if (!strcmp(kind, "profiler"))
		count_up("ProfilerStep#", n, 6);
	else if (!strcmp(kind, "loops"))
		count_up("loop ", n, 6);
	else if (!strcmp(kind, "train"))
		same_name(n);
	else if (!strcmp(kind, "blocks"))
		blocks(n);
	else if (!strcmp(kind, "overlap"))
		overlap(n);
	else if (!strcmp(kind, "fork"))
		fork_within(n);
	else if (!strcmp(kind, "epochs"))
		epochs(n);
	else if (!strcmp(kind, "open")) {
		count_up("step ", n, 0);
		proton_enter_scope("step 1000000"); /* and never left */
		work(30000 * US);
	} else
		return 2;
	printf("%llu %llu %llu %s\n", (unsigned long long)seen.n, (unsigned long long)seen.least,
	       (unsigned long long)seen.most, seen.slow_least > seen.others_most ? "7" : "any");
	return 0;
}
