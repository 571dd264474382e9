/* SPDX-License-Identifier: MIT */
/* PM sampling of the mock CUPTI: a sample an interval, by the clock, whose values are planted. As with the
 * real one the first of a session is false, and its time is of before.
 *
 * Environment: MOCK_CUPTI_PM, words with blanks between them:
 *   N          what Enable fails with: 35, 40, 26, 7, 43 …
 *   cycles     it cannot be triggered by time
 *   full       what is a percentage is somewhat more than all
 *   overflow   the hardware's buffer is full, once
 *   broken     decoding fails from the fifth time on
 *   crash      as soon as MOCK_CUPTI_PM_MARK, a file, is there
 *   hang       at the fifth decoding; hang-open: when it is enabled; slow-open: that takes half a second
 * MOCK_CUPTI_PM_MARK: a file that is made when it hangs. */
#include "config.h" // IWYU pragma: keep
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "backends/cupti_pm_abi.h"
#include "base/util.h"
#include "mock_cupti.h"

#define EXPORT __attribute__((visibility("default")))

enum { DEVICES = 8, SAMPLES = 8192, TROUBLE_AT = 5 };

/* Of device 0; a percent more with each device. */
static const struct {
	const char *in; /* the metric's name */
	double value;
} planted[] = {
	{"sm__cycles_active", 62.5},
	{"sm__inst_executed_realtime", 37.5},
	{"sm__pipe_tensor", 50},
	{"tpc__warps_active", 25},
	{"dram__read", 12.5},
	{"dram__write", 0}, /* is a number, too */
	{"lts__average", 75},
	{"pcie__read_bytes", -1}, /* bytes: one a nanosecond, by the sample's length */
	{"pcie__write_bytes", -0.5},
	{"nvlrx__bytes", -16},
	{"gpc__cycles", 1.755e9},
};

static struct sampling {
	bool is_enabled, is_configured, is_running, has_first;
	size_t device;
	uint64_t interval_ns, begun_ns, told_ns;
	uint32_t room; /* of its counter data image */
	unsigned n_decoded;
	bool has_overflown;
} samplings[DEVICES];

/* The counter data image. */
struct data {
	struct sampling *of;
	size_t n;
	struct {
		uint64_t start_ns, end_ns;
	} samples[SAMPLES];
};

#define CHECK(p, type, last)                                                                       \
	do {                                                                                       \
		if ((p)->size != ABI_HOST_SIZE(type, last) || (p)->reserved)                       \
			return ABI_BAD_ARGUMENT;                                                   \
	} while (0)

static bool is_said(const char *word)
{
	const char *all = getenv("MOCK_CUPTI_PM"), *at = all;
	size_t len = strlen(word);

	for (; at && (at = strstr(at, word)); at += len)
		if ((at == all || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return true;
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void hang(void)
{
	const char *mark = getenv("MOCK_CUPTI_PM_MARK");
	FILE *f = mark ? fopen(mark, "w") : NULL;

	if (f)
		fclose(f);
	for (;;)
		pause();
}

/* ---- a device ---- */

EXPORT uint32_t cuptiPmSamplingGetCounterAvailability(struct abi_pm_availability *p);
uint32_t cuptiPmSamplingGetCounterAvailability(struct abi_pm_availability *p)
{
	CHECK(p, abi_pm_availability, image);
	if (p->image && p->bytes != 3)
		return ABI_BAD_ARGUMENT;
	p->bytes = 3;
	if (p->image)
		memset(p->image, 0xa5, 3);
	return 0;
}

EXPORT uint32_t cuptiPmSamplingEnable(struct abi_pm_enable *p);
uint32_t cuptiPmSamplingEnable(struct abi_pm_enable *p)
{
	const char *how = getenv("MOCK_CUPTI_PM");
	struct sampling *s = &samplings[p->device];

	CHECK(p, abi_pm_enable, ret_sampling);
	if (how && atoi(how))
		return (uint32_t)atoi(how);
	if (is_said("hang-open"))
		hang();
	if (is_said("slow-open"))
		nanosleep(&(struct timespec){0, 500000000}, NULL);
	if (p->device >= DEVICES || s->is_enabled)
		return ABI_BAD_OPERATION;
	*s = (struct sampling){.is_enabled = true, .device = p->device};
	p->ret_sampling = s;
	return 0;
}

EXPORT uint32_t cuptiPmSamplingDisable(struct abi_pm_object *p);
uint32_t cuptiPmSamplingDisable(struct abi_pm_object *p)
{
	struct sampling *s = p->sampling;

	CHECK(p, abi_pm_object, sampling);
	s->is_enabled = false;
	return 0;
}

EXPORT uint32_t cuptiPmSamplingSetConfig(struct abi_pm_config *p);
uint32_t cuptiPmSamplingSetConfig(struct abi_pm_config *p)
{
	struct sampling *s = p->sampling;
	size_t passes;

	CHECK(p, abi_pm_config, append);
	if (p->trigger == ABI_PM_TIME && is_said("cycles"))
		return ABI_UNSUPPORTED;
	if (!s->is_enabled || p->image_bytes != sizeof(passes) || !p->buffer_bytes || !p->interval)
		return ABI_BAD_ARGUMENT;
	memcpy(&passes, p->image, sizeof(passes));
	if (passes != 1)
		return ABI_UNSUPPORTED;
	s->interval_ns = p->interval;
	s->is_configured = true;
	return 0;
}

EXPORT uint32_t cuptiPmSamplingStart(struct abi_pm_object *p);
uint32_t cuptiPmSamplingStart(struct abi_pm_object *p)
{
	struct sampling *s = p->sampling;

	CHECK(p, abi_pm_object, sampling);
	if (!s->is_configured || s->is_running)
		return ABI_BAD_OPERATION;
	s->is_running = true;
	s->has_first = false;
	s->begun_ns = s->told_ns = now_ns();
	return 0;
}

EXPORT uint32_t cuptiPmSamplingStop(struct abi_pm_object *p);
uint32_t cuptiPmSamplingStop(struct abi_pm_object *p)
{
	struct sampling *s = p->sampling;

	CHECK(p, abi_pm_object, sampling);
	if (!s->is_running)
		return ABI_BAD_OPERATION;
	s->is_running = false;
	return 0;
}

/* ---- its samples ---- */

EXPORT uint32_t cuptiPmSamplingGetCounterDataSize(struct abi_pm_data_size *p);
uint32_t cuptiPmSamplingGetCounterDataSize(struct abi_pm_data_size *p)
{
	CHECK(p, abi_pm_data_size, ret_bytes);
	if (!p->n || !p->max_samples || p->max_samples > SAMPLES)
		return ABI_BAD_ARGUMENT;
	((struct sampling *)p->sampling)->room = p->max_samples;
	p->ret_bytes = sizeof(struct data);
	return 0;
}

EXPORT uint32_t cuptiPmSamplingCounterDataImageInitialize(struct abi_pm_data_init *p);
uint32_t cuptiPmSamplingCounterDataImageInitialize(struct abi_pm_data_init *p)
{
	struct data *d = (struct data *)(void *)p->data;

	CHECK(p, abi_pm_data_init, data);
	if (p->bytes != sizeof(*d))
		return ABI_BAD_ARGUMENT;
	d->of = p->sampling;
	d->n = 0;
	return 0;
}

static void crash(void)
{
	const char *mark = getenv("MOCK_CUPTI_PM_MARK");

	if (!mark || access(mark, F_OK) < 0)
		return;
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void put_samples(struct sampling *s, struct data *d)
{
	uint64_t now = now_ns();

	if (!s->has_first && now >= s->told_ns + s->interval_ns) {
		s->has_first = true;
		d->samples[d->n].start_ns =
			s->begun_ns / 1000; /* since the machine started, or so */
		s->told_ns += s->interval_ns;
		d->samples[d->n++].end_ns = s->told_ns;
	}
	for (; d->n < s->room && now >= s->told_ns + s->interval_ns; d->n++) {
		d->samples[d->n].start_ns = s->told_ns;
		s->told_ns += s->interval_ns;
		d->samples[d->n].end_ns = s->told_ns;
	}
}

EXPORT uint32_t cuptiPmSamplingDecodeData(struct abi_pm_decode *p);
uint32_t cuptiPmSamplingDecodeData(struct abi_pm_decode *p)
{
	struct data *d = (struct data *)(void *)p->data;
	struct sampling *s = p->sampling;

	CHECK(p, abi_pm_decode, ret_overflow);
	if (!s->is_running || d->of != s)
		return ABI_BAD_OPERATION;
	if (is_said("crash"))
		crash();
	if (++s->n_decoded == TROUBLE_AT && is_said("hang"))
		hang();
	if (s->n_decoded >= TROUBLE_AT && is_said("broken"))
		return ABI_UNKNOWN;
	put_samples(s, d);
	p->ret_stop = d->n == s->room ? ABI_PM_STOP_FULL : ABI_PM_STOP_END;
	p->ret_overflow = s->n_decoded >= TROUBLE_AT && !s->has_overflown && is_said("overflow");
	s->has_overflown = s->has_overflown || p->ret_overflow;
	return p->ret_overflow ? ABI_PM_OVERFLOW : 0;
}

EXPORT uint32_t cuptiPmSamplingGetCounterDataInfo(struct abi_pm_data_info *p);
uint32_t cuptiPmSamplingGetCounterDataInfo(struct abi_pm_data_info *p)
{
	const struct data *d = (const struct data *)(const void *)p->data;

	CHECK(p, abi_pm_data_info, ret_completed);
	p->ret_total = d->of->room;
	p->ret_populated = p->ret_completed = d->n;
	return 0;
}

EXPORT uint32_t cuptiPmSamplingCounterDataGetSampleInfo(struct abi_pm_sample *p);
uint32_t cuptiPmSamplingCounterDataGetSampleInfo(struct abi_pm_sample *p)
{
	const struct data *d = (const struct data *)(const void *)p->data;

	CHECK(p, abi_pm_sample, ret_end_ns);
	if (p->i >= d->n)
		return ABI_BAD_ARGUMENT;
	p->ret_start_ns = d->samples[p->i].start_ns;
	p->ret_end_ns = d->samples[p->i].end_ns;
	return 0;
}

static double value_of(const struct data *d, size_t i, const char *name)
{
	double ns = (double)(d->samples[i].end_ns - d->samples[i].start_ns);

	for (size_t k = 0; k < ARRAY_SIZE(planted); k++)
		if (strstr(name, planted[k].in) && planted[k].value >= 0 && is_said("full"))
			return 100.25;
		else if (strstr(name, planted[k].in))
			return (planted[k].value < 0 ? -planted[k].value * ns : planted[k].value) *
			       (1 + 0.01 * (double)d->of->device);
	return 0;
}

EXPORT uint32_t cuptiProfilerHostEvaluateToGpuValues(struct abi_host_evaluate *p);
uint32_t cuptiProfilerHostEvaluateToGpuValues(struct abi_host_evaluate *p)
{
	const struct data *d = (const struct data *)(const void *)p->data;

	CHECK(p, abi_host_evaluate, values);
	if (p->host && mock_ranges_evaluate(p))
		return 0;
	if (!p->host || p->i >= d->n)
		return ABI_BAD_ARGUMENT;
	for (size_t i = 0; i < p->n; i++)
		p->values[i] = value_of(d, p->i, p->names[i]);
	return 0;
}
