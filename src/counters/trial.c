/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/trial.h"
#include <math.h>
#include <string.h>
#include "backends/cupti_bind.h"
#include "backends/cupti_pc_sampler.h"
#include "backends/cupti_range_profiler.h"
#include "backends/cupti_refusals.h"
#include "base/clock.h"
#include "base/human.h"
#include "base/util.h"
#include "core/backends.h"
#include "counters/asker.h"
#include "counters/counting.h"
#include "counters/driver.h"
#include "counters/pm.h"

struct trial {
	int fd;
	uint32_t device;
	struct cupti_host host;
	void *driver;
	uint64_t begin_ns, began_ns;
};

static bool trial_open(struct trial *t, const void *ctx, int fd)
{
	const uint32_t *place = ctx;
	struct driver_device device;

	*t = (struct trial){.fd = fd, .device = *place};
	t->driver = asker_start_driver(fd);
	if (!t->driver || cupti_host_open(&t->host, asker_tell_seen, &fd) < 0)
		return false;
	driver_device(t->driver, t->device, &device);
	probe_tell(fd, "device %s", device.name);
	t->begin_ns = clock_monotonic_ns();
	return true;
}

static void stage(const struct trial *t, const char *what)
{
	probe_tell(t->fd, "stage %s, %s,", t->host.path, what);
}

static void tell_refused(const struct trial *t, enum cupti_counting what, int r, const char *at)
{
	const char *why = r < 0 ? strerror(-r) : cupti_refusal(what, (uint32_t)r);

	if (why)
		probe_tell(t->fd, "refused %d %s", r, why);
	else
		probe_tell(t->fd, "refused %d %s fails with %d", r, at, r);
}

static void began(struct trial *t)
{
	t->began_ns = clock_monotonic_ns();
}

/* All is given back. */
static void tell_worked(const struct trial *t, const char *what)
{
	uint64_t now_ns = clock_monotonic_ns();

	probe_tell(t->fd, "worked %llu %llu %s",
		   (unsigned long long)(t->began_ns - t->begin_ns) / 1000,
		   (unsigned long long)(now_ns - t->began_ns) / 1000, what);
}

/* ---- samples of counters ---- */

void trial_counters(const void *ctx, int fd)
{
	_cleanup_(buf_done) struct buf text = {0};
	char interval[HUMAN_MAX];
	struct cupti_pm_api api;
	struct metric_set *set;
	struct trial t;
	struct pm pm;
	int r;

	if (!trial_open(&t, ctx, fd) || metric_set_find("live", &set) < 0)
		return;
	if (!pm_bind(&t.host, &api)) {
		probe_tell(fd, "refused 0 %s cannot sample them", t.host.path);
		return;
	}
	stage(&t, "asked to sample a device");
	r = pm_open(&pm, &t.host, &api, t.device, COUNTERS_USUAL_NS, set);
	if (r)
		probe_tell(fd, "refused %d %s", r, pm_trouble(&pm, r, &text));
	began(&t);
	stage(&t, "asked to sample a device no longer");
	pm_close(&pm);
	if (r)
		return;
	human_time_ns(interval, COUNTERS_USUAL_NS);
	buf_printf(&text, "a sample each %s", interval);
	tell_worked(&t, buf_str(&text));
}

/* ---- ranges and code, which take a context ---- */

static void *take_context(struct trial *t)
{
	const char *why;
	void *context;
	int result;

	probe_tell(t->fd, "stage making a context");
	context = driver_context(t->driver, t->device, &why, &result);
	if (!context && result)
		probe_tell(t->fd, "untried %s (error %d)", why, result);
	else if (!context)
		probe_tell(t->fd, "untried %s", why);
	return context;
}

struct counted_range {
	bool has_value;
};

static void take_range(void *ctx, size_t i, size_t n, const char *name, const double *values)
{
	struct counted_range *counted = ctx;

	(void)i, (void)n, (void)name;
	counted->has_value = isfinite(values[0]);
}

/* One range, with nothing in it: the time that it takes is counted all the same. */
static int count_range(struct trial *t, struct range_profiler *p, struct counted_range *counted)
{
	size_t n = 0, n_dropped = 0;
	int r = range_profiler_begin(p);

	began(t);
	r = r ? r : range_profiler_push(p, "proton doctor");
	r = r ? r : range_profiler_pop(p);
	return r ? r : range_profiler_drain(p, take_range, counted, &n, &n_dropped);
}

void trial_ranges(const void *ctx, int fd)
{
	static const char *const names[] = {"gpu__time_duration.sum"};
	struct counted_range counted = {false};
	struct range_profiler_api api;
	struct range_profiler p;
	struct trial t;
	void *context;
	int r;

	if (!trial_open(&t, ctx, fd))
		return;
	if (!range_profiler_bind(t.host.library, &api)) {
		probe_tell(fd, "refused 0 %s cannot count ranges", t.host.path);
		return;
	}
	context = take_context(&t);
	if (!context)
		return;
	stage(&t, "asked to count a range");
	r = range_profiler_open(&p, &api, context, names, ARRAY_SIZE(names), false);
	r = r ? r : count_range(&t, &p, &counted);
	stage(&t, "asked to count no longer");
	range_profiler_close(&p);
	driver_put_context(t.driver, t.device);
	if (r)
		tell_refused(&t, CUPTI_COUNTS_RANGES, r, p.at);
	else if (!counted.has_value)
		probe_tell(fd, "refused 0 a range was begun, and has no value");
	else
		tell_worked(&t, "a range counted");
}

void trial_code(const void *ctx, int fd)
{
	static const struct pc_sampler_settings settings = {.period = PC_SAMPLING_USUAL,
							    .buffer_mib = PC_SAMPLER_BUFFER_MIB};
	struct pc_sampler sampler = {.at = NULL};
	struct cupti_api api;
	struct trial t;
	char text[80];
	void *context;
	uint32_t r;

	if (!trial_open(&t, ctx, fd))
		return;
	if (cupti_bind(t.host.library, &api) || !pc_sampler_has(&api)) {
		probe_tell(fd, "refused 0 %s cannot sample it", t.host.path);
		return;
	}
	context = take_context(&t);
	if (!context)
		return;
	stage(&t, "asked to sample code");
	r = pc_sampler_open(&sampler, &api, t.host.version, context, &settings);
	began(&t);
	stage(&t, "asked to sample code no longer");
	if (r == ABI_OK) {
		r = pc_sampler_read(&sampler);
		pc_sampler_close(&sampler);
	}
	driver_put_context(t.driver, t.device);
	if (r) {
		tell_refused(&t, CUPTI_SAMPLES_CODE, (int)r, sampler.at);
		return;
	}
	snprintf(text, sizeof(text), "a sample each 2^%u cycles, a buffer of %d MiB",
		 PC_SAMPLING_USUAL, PC_SAMPLER_BUFFER_MIB);
	tell_worked(&t, text);
}
