/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "test_api_stub.h"
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/backend.h"
#include "backends/cuda_arena.h"
#include "backends/opencl.h"
#include "base/util.h"
#include "collect/alone.h"
#include "collect/collect.h"
#include "collect/trace_windows.h"
#include "collect/device_metrics.h"
#include "collect/phases.h"
#include "collect/sessions.h"

__attribute__((visibility("default"))) stub_get_fn stub_get;
static void stub_check_loader(void);
static void stub_flush(void);
static struct stub stub = {.check_loader = stub_check_loader, .flush = stub_flush};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

_Atomic bool collect_on;

struct stub *stub_get(void)
{
	return &stub;
}

static void _printf_(1, 2) stub_log(const char *format, ...)
{
	va_list ap;
	int n;

	if (stub.quiet)
		return;
	pthread_mutex_lock(&lock);
	va_start(ap, format);
	n = vsnprintf(stub.log + stub.log_len, sizeof(stub.log) - stub.log_len, format, ap);
	va_end(ap);
	if (n > 0 && stub.log_len + (size_t)n < sizeof(stub.log))
		stub.log_len += (size_t)n;
	pthread_mutex_unlock(&lock);
}

/* --- sink ------------------------------------------------------------------------------------- */

static uint32_t stub_launch(struct activity_sink *sink, const void *what)
{
	return (uint32_t)__atomic_add_fetch(&stub.n_launches, 1, __ATOMIC_RELAXED);
}

static void stub_record(struct activity_sink *sink, const struct activity *a)
{
	uint32_t i = __atomic_fetch_add(&stub.n_records, 1, __ATOMIC_RELAXED);

	if (i >= STUB_RECORDS)
		return;
	stub.records[i].activity = *a;
	snprintf(stub.records[i].name, sizeof(stub.records[i].name), "%s", a->name ? a->name : "");
	stub.records[i].activity.name = NULL;
}

static void stub_unlaunch(struct activity_sink *sink, uint64_t n)
{
	__atomic_fetch_add(&stub.n_unlaunches, n, __ATOMIC_RELAXED);
}

static void stub_lose(struct activity_sink *sink, enum loss loss, uint64_t n)
{
	__atomic_fetch_add(&stub.n_losses[loss], n, __ATOMIC_RELAXED);
}

static void stub_device(struct activity_sink *sink, const struct device_info *info)
{
	stub.device = *info;
	snprintf(stub.device_name, sizeof(stub.device_name), "%s", info->name ? info->name : "");
	stub.n_devices++;
}

static void stub_note(struct activity_sink *sink, const char *text)
{
	snprintf(stub.note, sizeof(stub.note), "%s", text);
}

static void stub_connect(struct activity_sink *sink)
{
}

static void stub_memory(struct activity_sink *sink, const struct memory_event *e)
{
	stub_log("memory %u %llu\n", e->operation, (unsigned long long)e->bytes);
}

static struct activity_sink_ops stub_ops = {
	.launch = stub_launch,
	.record = stub_record,
	.unlaunch = stub_unlaunch,
	.lose = stub_lose,
	.device = stub_device,
	.note = stub_note,
	.connect = stub_connect,
};

static struct activity_sink stub_sink = {.ops = &stub_ops};

/* --- collector -------------------------------------------------------------------------------- */

static void stub_check_loader(void)
{
	opencl_check_loader(&stub_sink);
}

static void stub_flush(void)
{
	backend_opencl.flush(NULL, FLUSH_ALL);
}

static bool api_started;

static const char *const door_names[] = {
#define _(id, functions) [DOOR_##id] = #id,
	DOORS(_)
#undef _
};

int collect_start(enum collect_door door)
{
	static const struct backend_options options;
	void *state;

	const char *refuse = getenv("PROTON_STUB_REFUSE");

	if (refuse)
		return strcmp(refuse, "yet") ? -1 : -ENXIO;
	/* Threads that come together start it once, as the real one has it. */
	if (door == DOOR_API && __atomic_exchange_n(&api_started, true, __ATOMIC_SEQ_CST))
		return 0;
	if (getenv("PROTON_STUB_MEMORY"))
		stub_ops.memory = stub_memory;
	collect_on = true;
	stub_log("start %s\n", door_names[door]);
	return door == DOOR_OPENCL ? backend_opencl.start(&options, &stub_sink, &state) : 0;
}

/* Count and bytes of one kind of records. */
static void dump(FILE *f, const char *key, enum activity_kind kind, unsigned direction,
		 const char *name)
{
	uint64_t n = 0, bytes = 0;

	for (uint32_t i = 0; i < MIN(stub.n_records, STUB_RECORDS); i++) {
		const struct stub_record *r = &stub.records[i];

		if (r->activity.kind != kind || r->activity.direction != direction ||
		    strcmp(r->name, name) != 0)
			continue;
		n++;
		bytes += r->activity.bytes;
	}
	if (kind == ACTIVITY_KERNEL && n)
		fprintf(f, "%s%s=%llu\n", key, name, (unsigned long long)n);
	else if (n)
		fprintf(f, "%s=%llu\n%s.bytes=%llu\n", key, (unsigned long long)n, key,
			(unsigned long long)bytes);
}

__attribute__((destructor)) static void stub_out(void)
{
	static const char *const directions[] = {"copy.Unknown", "copy.HostToDevice",
						 "copy.DeviceToHost", "copy.DeviceToDevice"};
	const char *path = getenv("PROTON_STUB_OUT");
	FILE *f = path ? fopen(path, "we") : NULL;
	char seen[64][64];
	unsigned n_seen = 0, k;

	if (!f)
		return;
	stub_flush();
	for (uint32_t i = 0; i < MIN(stub.n_records, STUB_RECORDS); i++) {
		for (k = 0; k < n_seen && strcmp(seen[k], stub.records[i].name) != 0; k++)
			;
		if (k < n_seen || n_seen == ARRAY_SIZE(seen) || !*stub.records[i].name)
			continue;
		strcpy(seen[n_seen++], stub.records[i].name);
		dump(f, "kernel.", ACTIVITY_KERNEL, 0, stub.records[i].name);
	}
	for (unsigned d = 0; d < ARRAY_SIZE(directions); d++)
		dump(f, directions[d], ACTIVITY_COPY, d, "");
	dump(f, "set", ACTIVITY_SET, 0, "");
	fprintf(f, "launches=%llu\nunlaunches=%llu\nrecords=%u\n",
		(unsigned long long)stub.n_launches, (unsigned long long)stub.n_unlaunches,
		stub.n_records);
	for (unsigned i = 0; i < LOSS_N; i++)
		if (stub.n_losses[i])
			fprintf(f, "loss.%u=%llu\n", i, (unsigned long long)stub.n_losses[i]);
	fclose(f);
}

struct activity_sink *collect_sink(unsigned source)
{
	return &stub_sink;
}

/* As the collector does: one stack a thread, entries of several tags. */
static __thread struct stub_entry {
	uint64_t tag;
} stack[64];
static __thread int depth;

int collect_depth(uint64_t tag)
{
	int n = 0;

	for (int i = 0; i < depth; i++)
		n += stack[i].tag == tag;
	return n;
}

int collect_push(enum frame_kind kind, uint64_t tag, const char *name, size_t len)
{
	__atomic_fetch_add(&stub.n_pushes, 1, __ATOMIC_RELAXED);
	if (depth == ARRAY_SIZE(stack))
		return -1;
	stack[depth].tag = tag;
	stub_log("push %u %.*s\n", kind, (int)len, name);
	return depth++;
}

int collect_pop(uint64_t tag)
{
	int i = depth - 1;

	__atomic_fetch_add(&stub.n_pops, 1, __ATOMIC_RELAXED);
	while (i >= 0 && stack[i].tag != tag)
		i--;
	stub_log("pop %d\n", i);
	if (i < 0)
		return -1;
	memmove(stack + i, stack + i + 1, (size_t)(depth - i - 1) * sizeof(stack[0]));
	return --depth;
}

void collect_metric_f64(const char *name, double v, bool replace)
{
	stub_log("%s f64 %s %g\n", replace ? "set" : "add", name, v);
}

void collect_property_text(const char *name, const char *text)
{
	stub_log("set text %s %s\n", name, text);
}

void collect_metric_float(const char *name, double v)
{
	stub_log("add float %s %g\n", name, v);
}

int collect_metric_device(uint32_t node, const char *name, const struct device_numbers *d)
{
	(void)node;
	stub_log("add %zu of device %s\n", d->n, name);
	return 0;
}

bool collect_memory_log(void)
{
	return false;
}

size_t collect_memory_read(uint64_t *from, void *ret, size_t n)
{
	(void)ret;
	(void)n;
	*from = 0;
	return 0;
}

void collect_scope_timed(void)
{
	stub_log("timed\n");
}

void collect_metric_u64(const char *name, uint64_t v, bool replace)
{
	stub_log("%s u64 %s %llu\n", replace ? "set" : "add", name, (unsigned long long)v);
}

void collect_state(const char *name, size_t len)
{
	stub_log("state %.*s\n", name ? (int)len : 1, name ? name : "-");
}

int collect_launch_begin(const char *name, size_t len)
{
	stub_log("begin %.*s\n", (int)len, len ? name : "");
	return 0;
}

int collect_launch_end(void)
{
	stub_log("end\n");
	return -1;
}

int collect_session_start(const char *name, const struct proton_session_options *options)
{
	stub_log("start session %s %s\n", name, options ? options->context : "-");
	return 7;
}

int collect_session_activate(int session)
{
	stub_log("activate %d\n", session);
	return PROTON_OK;
}

int collect_session_deactivate(int session, bool flush)
{
	stub_log("deactivate %d%s\n", session, flush ? " flush" : "");
	return PROTON_OK;
}

int collect_session_flush(int session)
{
	stub_log("flush %d\n", session);
	return PROTON_OK;
}

int collect_session_finalize(int session, const char *format)
{
	stub_log("finalize %d %s\n", session, format ? format : "-");
	return PROTON_UNWRITTEN;
}

int collect_phase_advance(int session)
{
	stub_log("advance %d\n", session);
	return 1;
}

int collect_phase_is_complete(int session, int phase)
{
	stub_log("complete %d %d\n", session, phase);
	return 0;
}

int collect_phase_clear(int session, int phase, int up_to)
{
	stub_log("clear %d %d %d\n", session, phase, up_to);
	return PROTON_OK;
}

int collect_session_data(int session, int phase, const char *format, char **ret_data,
			 size_t *ret_size)
{
	stub_log("data %d %d %s\n", session, phase, format ? format : "-");
	*ret_size = 2;
	*ret_data = strdup("[]");
	return PROTON_OK;
}

void collect_data_free(char *data)
{
	stub_log("free %s\n", data ? data : "-");
	free(data);
}

void cuda_arena_follow(void)
{
}

int collect_context_depth(void)
{
	return depth;
}

const char *collect_session_error(void)
{
	return "as the stub says";
}

void collect_session_refuse(const char *sentence)
{
	stub_log("refuse %s\n", sentence);
}

void collect_scope_missed(bool enters)
{
	stub_log("missed %s\n", enters ? "enter" : "leave");
}

/* Nobody profiles, and the program does not either. */
int alone_start(const struct proton_session_options *options)
{
	return -ENXIO;
}

const char *alone_error(void)
{
	return NULL;
}

bool alone_is_on(void)
{
	return false;
}

bool alone_is_attended(void)
{
	return true;
}

void alone_begin(const struct proton_session_options *options)
{
}

void collect_range(enum frame_kind kind, const char *name, size_t len, uint64_t host_ns)
{
	stub_log("range %u %.*s %s\n", kind, (int)len, name, host_ns ? "timed" : "0");
}

/* Of ranges that no thread is in: what is left was entered. */
uint32_t trace_window_enter(const char *name, size_t len)
{
	return 7;
}

void trace_window_leave(uint32_t window)
{
	if (window != 7)
		stub_log("window %u\n", window);
}
