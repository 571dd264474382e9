/* SPDX-License-Identifier: MIT */
/* The cupti backend by itself, as an injection library (CUDA_INJECTION64_PATH): counts what arrives
 * and prints `got NAME=VALUE` lines at exit, for cuda_check.sh. PROBE_ATTRIBUTE=1: callbacks from
 * the start; PROBE_FLUSH_MS (100): how often the backend is flushed; PROBE_OUT: where to print. */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>

#include "backends/backend.h"
#include "base/clock.h"
#include "base/util.h"

enum { N_LOSSES = LOSS_N, N_LATENCIES = 64 };

static struct {
	_Atomic int64_t n_launches, n_records;
	_Atomic uint64_t n_kind[ACTIVITY_N_KINDS], n_graph, n_root;
	_Atomic uint64_t n_copies[COPY_N_DIRECTIONS], bytes[COPY_N_DIRECTIONS], set_bytes;
	_Atomic uint64_t loss[N_LOSSES];
	_Atomic uint64_t kernel_ns,
		latency[N_LATENCIES]; /* delivery after a kernel's end, by log2 */
	_Atomic uint64_t n_of_thread[4], n_wrong_thread;
	_Atomic uint32_t launch_of_thread[4]; /* launch context of kernel_of_thread<i> */
	_Atomic uint32_t n_contexts;
	atomic_bool connected;
	void *state;
	uint64_t max_buffer_bytes;
} probe;

static __thread uint32_t my_context;

static uint32_t sink_launch(struct activity_sink *sink, const void *what)
{
	if (!my_context)
		my_context = atomic_fetch_add(&probe.n_contexts, 1) + 1;
	atomic_fetch_add_explicit(&probe.n_launches, 1, memory_order_relaxed);
	return my_context;
}

static void sink_unlaunch(struct activity_sink *sink, uint64_t n)
{
	atomic_fetch_sub(&probe.n_launches, (int64_t)n);
}

static void see_thread_kernel(const struct activity *a)
{
	const char *number = strstr(a->name, "kernel_of_threadILi");
	uint32_t before = 0;
	int i;

	if (!number)
		return;
	i = number[strlen("kernel_of_threadILi")] - '0';
	if (i < 0 || i > 3)
		return;
	probe.n_of_thread[i]++;
	if (!a->launch)
		return;
	atomic_compare_exchange_strong(&probe.launch_of_thread[i], &before, a->launch);
	if (before && before != a->launch)
		probe.n_wrong_thread++;
}

static void see_kernel(const struct activity *a)
{
	uint64_t now_ns = clock_realtime_ns();
	uint64_t late_us = now_ns > a->end_ns ? (now_ns - a->end_ns) / 1000 : 0;

	probe.kernel_ns += a->end_ns - a->start_ns;
	probe.latency[late_us ? 63 - __builtin_clzll(late_us) : 0]++;
	see_thread_kernel(a);
}

static void sink_record(struct activity_sink *sink, const struct activity *a)
{
	probe.n_kind[a->kind]++;
	probe.n_records += !a->uncounted;
	probe.n_graph += a->graph != 0;
	probe.n_root += a->launch == 0;
	if (a->kind == ACTIVITY_KERNEL) {
		see_kernel(a);
	} else if (a->kind == ACTIVITY_COPY) {
		probe.n_copies[a->direction]++;
		probe.bytes[a->direction] += a->bytes;
	} else {
		probe.set_bytes += a->bytes;
	}
}

static void sink_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
	probe.loss[loss] += n;
}

static int out(void)
{
	const char *path = getenv("PROBE_OUT");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1;

	return fd < 0 ? 2 : fd;
}

static void got(int fd, const char *name, const char *suffix, int64_t value)
{
	dprintf(fd, "got %s%s=%lld\n", name, suffix, (long long)value);
}

static void sink_device(struct activity_sink *sink, const struct device_info *d)
{
	dprintf(out(), "got device=%d '%s' %s %s driver %s, %u SMs, %u kHz, %u kHz x %u bit\n",
		d->index, d->name ? d->name : "?", d->arch ? d->arch : "?", d->uuid ? d->uuid : "?",
		d->driver ? d->driver : "?", d->num_sms, d->clock_khz, d->memory_clock_khz,
		d->bus_width_bits);
}

static void sink_note(struct activity_sink *sink, const char *text)
{
	dprintf(out(), "got note=%s\n", text);
}

static void print_losses(int fd)
{
	static const char *const names[N_LOSSES] = {
#define _(name, number, word, sentence) [number] = word,
		LOSSES(_)
#undef _
	};

	for (int i = 0; i < N_LOSSES; i++)
		if (probe.loss[i])
			got(fd, "loss_", names[i], (int64_t)probe.loss[i]);
}

static void print_copies(int fd)
{
	static const char *const names[COPY_N_DIRECTIONS] = {"Unknown",      "HostToDevice",
							     "DeviceToHost", "DeviceToDevice",
							     "HostToHost",   "PeerToPeer"};

	for (int i = 0; i < COPY_N_DIRECTIONS; i++) {
		if (!probe.n_copies[i])
			continue;
		got(fd, names[i], "_count", (int64_t)probe.n_copies[i]);
		got(fd, names[i], "_bytes", (int64_t)probe.bytes[i]);
	}
}

static void print_latency(int fd)
{
	uint64_t n = 0, total = probe.n_kind[ACTIVITY_KERNEL];
	int i = 0;

	while (i < N_LATENCIES && (n += probe.latency[i]) * 20 < total * 19)
		i++;
	got(fd, "latency_p95_below_ms", "", (INT64_C(2) << i) / 1000);
}

static void print_threads(int fd)
{
	static const char *const suffix[] = {"0", "1", "2", "3"};

	for (int i = 0; i < 4; i++)
		if (probe.n_of_thread[i])
			got(fd, "kernels_of_thread_", suffix[i], (int64_t)probe.n_of_thread[i]);
	got(fd, "wrong_thread", "", (int64_t)probe.n_wrong_thread);
}

static void finish(void)
{
	static atomic_bool finished;
	int fd;

	if (atomic_exchange(&finished, true))
		return;
	fd = out();
	for (int i = 0; i < 3; i++)
		backend_cupti.flush(probe.state, false);
	got(fd, "in_flight", "", probe.n_launches - probe.n_records);
	backend_cupti.flush(probe.state, true);
	got(fd, "kernels", "", (int64_t)probe.n_kind[ACTIVITY_KERNEL]);
	got(fd, "kernel_time_ns", "", (int64_t)probe.kernel_ns);
	got(fd, "memset_count", "", (int64_t)probe.n_kind[ACTIVITY_SET]);
	got(fd, "memset_bytes", "", (int64_t)probe.set_bytes);
	print_copies(fd);
	print_losses(fd);
	print_threads(fd);
	print_latency(fd);
	got(fd, "launches_counted", "", probe.n_launches);
	got(fd, "records_in_graphs", "", (int64_t)probe.n_graph);
	got(fd, "records_of_root", "", (int64_t)probe.n_root);
	got(fd, "buffer_bytes", "", (int64_t)backend_cupti.buffer_bytes(probe.state));
}

static void *flush_often(void *unused)
{
	const char *ms = getenv("PROBE_FLUSH_MS");
	long period_ms = ms ? atol(ms) : 100;
	const struct timespec pause = {period_ms / 1000, period_ms % 1000 * 1000000};

	for (;;) {
		nanosleep(&pause, NULL);
		backend_cupti.flush(probe.state, false);
	}
	return NULL;
}

static void sink_connect(struct activity_sink *sink)
{
	pthread_t thread;

	atexit(finish);
	if (!atomic_exchange(&probe.connected, true))
		pthread_create(&thread, NULL, flush_often, NULL);
}

__attribute__((visibility("default"))) int InitializeInjection(void);

int InitializeInjection(void)
{
	static const struct activity_sink_ops ops = {
		.launch = sink_launch,
		.record = sink_record,
		.unlaunch = sink_unlaunch,
		.lose = sink_lose,
		.device = sink_device,
		.note = sink_note,
		.connect = sink_connect,
	};
	static struct activity_sink sink = {.ops = &ops};
	const char *attribute = getenv("PROBE_ATTRIBUTE");
	struct backend_options options = {.count_launches = attribute && attribute[0] == '1'};
	const char *why = NULL;

	if (backend_cupti.probe(&options, &why) < 0)
		dprintf(out(), "got probe=%s\n", why);
	backend_cupti.start(&options, &sink, &probe.state);
	return 1;
}
