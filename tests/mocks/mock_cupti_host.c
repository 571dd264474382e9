/* SPDX-License-Identifier: MIT */
/* The host API of the mock CUPTI: two chips with a few metrics each, and one with none and
 * without PM sampling. Four counters of one unit of the
 * hardware fit in a pass; a throughput takes eight.
 *
 * Environment: MOCK_CUPTI_CHIP (the chip of device 0; not set: there is none), MOCK_CUPTI_HOST (crash or
 * fail: what it does when it is asked about a chip), MOCK_CUPTI_ROOM (so many counters fit in a pass, instead). */
#include "config.h" // IWYU pragma: keep
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "backends/cupti_abi.h"
#include "backends/cupti_host_abi.h"
#include "base/util.h"

#define EXPORT __attribute__((visibility("default")))

enum { PER_PASS = 4, N_ADDED_MAX = 64 };

/* The last is in no list: a device may have it, whose metrics are those of data/metric-sets/live. */
static const char *const chips[] = {"GH100", "GA102", "GV100", "LIVE100"};
enum { GH100 = 1, GA102 = 2, BOTH = 3, GV100 = 4, LIVE100 = 8, N_LISTED = 3 };
enum { RANGE = 1, PM = 2 };

static const struct metric {
	const char *name, *hardware, *unit, *description;
	enum abi_metric_type type;
	unsigned on, by; /* chips, profilers */
} metrics[] = {
	{"dram__bytes", "dram", "byte", "# of bytes accessed in DRAM", ABI_METRIC_COUNTER, BOTH,
	 RANGE | PM},
	{"dram__bytes_read", "dram", "byte", "# of bytes read from DRAM", ABI_METRIC_COUNTER, GH100,
	 RANGE | PM},
	{"dram__bytes_op_read", "dram", "byte", "# of bytes read from DRAM", ABI_METRIC_COUNTER,
	 GA102, RANGE | PM},
	{"dram__sectors", "dram", "l2_sector", "", ABI_METRIC_COUNTER, BOTH, RANGE},
	{"dram__throughput", "dram", "percent", "DRAM throughput, \"all\" of it",
	 ABI_METRIC_THROUGHPUT, BOTH, RANGE | PM},
	{"gpu__time_duration", "gpu", "nanosecond", "time", ABI_METRIC_COUNTER, BOTH, RANGE},
	{"gr__cycles_active", "gr", "sys_cycle", "# of cycles where GR was active",
	 ABI_METRIC_COUNTER, BOTH, PM},
	{"lts__refused", "lts", "", "nobody can count it", ABI_METRIC_COUNTER, BOTH, RANGE},
	{"lts__t_sector_hit_rate", "lts", "percent", "proportion of L2 sector lookups that hit",
	 ABI_METRIC_RATIO, BOTH, RANGE},
	{"sm__cycles_active", "sm", "sm_cycle", "# of cycles with a warp\033[31m in flight",
	 ABI_METRIC_COUNTER, BOTH, RANGE | PM},
	{"smsp__sass_inst_executed", "smsp", "instruction", "of code that is added to kernels",
	 ABI_METRIC_COUNTER, GA102, RANGE},
	{"TPC.Triage.sm__cycles_active", "sm", "sm_cycle", "", ABI_METRIC_COUNTER, GH100, PM},
	{"sm__cycles_active", "sm", "", "", ABI_METRIC_THROUGHPUT, LIVE100, PM},
	{"sm__inst_executed_realtime", "sm", "", "", ABI_METRIC_THROUGHPUT, LIVE100, PM},
	{"sm__pipe_tensor_cycles_active_realtime", "sm", "", "", ABI_METRIC_THROUGHPUT, LIVE100,
	 PM},
	{"TPC.TriageCompute.tpc__warps_active_realtime", "sm", "", "", ABI_METRIC_THROUGHPUT,
	 LIVE100, PM},
	{"sm__inst_executed_pipe_fma_realtime", "sm", "", "", ABI_METRIC_THROUGHPUT, LIVE100, PM},
	{"dram__read_throughput", "dram", "", "", ABI_METRIC_THROUGHPUT, LIVE100, PM},
	{"dram__write_throughput", "dram", "", "", ABI_METRIC_THROUGHPUT, LIVE100, PM},
	{"lts__average_t_sector_hit_rate_realtime", "lts", "", "", ABI_METRIC_RATIO, LIVE100, PM},
	{"pcie__read_bytes", "pcie", "", "", ABI_METRIC_COUNTER, LIVE100, PM},
	{"pcie__write_bytes", "pcie", "", "", ABI_METRIC_COUNTER, LIVE100, PM},
	{"nvlrx__bytes", "nvl", "", "", ABI_METRIC_COUNTER, LIVE100, PM},
	{"gpc__cycles_elapsed", "gpc", "", "", ABI_METRIC_COUNTER, LIVE100, PM},
};

static const char *counter_submetrics[] = {".avg", ".avg.per_second", ".max", ".max.per_second",
					   ".sum", ".sum.per_second"};
static const char *ratio_submetrics[] = {".pct", ".ratio"};
static const char *throughput_submetrics[] = {".avg.pct_of_peak_sustained_elapsed"};
static const struct {
	const char **names;
	size_t n;
} submetrics[ABI_N_METRIC_TYPES] = {
	[ABI_METRIC_COUNTER] = {counter_submetrics, ARRAY_SIZE(counter_submetrics)},
	[ABI_METRIC_RATIO] = {ratio_submetrics, ARRAY_SIZE(ratio_submetrics)},
	[ABI_METRIC_THROUGHPUT] = {throughput_submetrics, ARRAY_SIZE(throughput_submetrics)},
};

struct host_object {
	unsigned chip, profiler; /* as bits of metrics */
	const char *names[ABI_N_METRIC_TYPES][ARRAY_SIZE(metrics)];
	const struct metric *added[N_ADDED_MAX];
	size_t n_added;
};

/* CUPTI refuses a size that is not to the end of the last field. */
#define CHECK(p, type, last)                                                                       \
	do {                                                                                       \
		if ((p)->size != ABI_HOST_SIZE(type, last))                                        \
			return ABI_BAD_ARGUMENT;                                                   \
	} while (0)

/* ---- chips ---- */

EXPORT uint32_t cuptiProfilerHostGetSupportedChips(struct abi_host_chips *p);
uint32_t cuptiProfilerHostGetSupportedChips(struct abi_host_chips *p)
{
	CHECK(p, abi_host_chips, ret_names);
	p->ret_n = N_LISTED;
	p->ret_names = chips;
	return 0;
}

static void misbehave(void)
{
	const char *how = getenv("MOCK_CUPTI_HOST");

	if (how && !strcmp(how, "crash")) {
		signal(SIGSEGV, SIG_DFL);
		raise(SIGSEGV);
	}
}

EXPORT uint32_t cuptiProfilerHostInitialize(struct abi_host_init *p);
uint32_t cuptiProfilerHostInitialize(struct abi_host_init *p)
{
	struct host_object *o;

	CHECK(p, abi_host_init, ret_host);
	misbehave();
	for (size_t i = 0; i < ARRAY_SIZE(chips); i++) {
		if (strcmp(chips[i], p->chip) != 0)
			continue;
		if (1u << i == GV100 && p->profiler == ABI_PROFILER_PM_SAMPLING)
			return ABI_HOST_NOT_SUPPORTED;
		o = calloc(1, sizeof(*o));
		if (!o)
			return ABI_UNKNOWN;
		o->chip = 1u << i;
		o->profiler = p->profiler == ABI_PROFILER_PM_SAMPLING ? PM : RANGE;
		p->ret_host = o;
		return 0;
	}
	return ABI_HOST_BAD_CHIP;
}

EXPORT uint32_t cuptiProfilerHostDeinitialize(struct abi_host_free *p);
uint32_t cuptiProfilerHostDeinitialize(struct abi_host_free *p)
{
	CHECK(p, abi_host_free, host);
	free(p->host);
	return 0;
}

/* ---- metrics ---- */

static bool has(const struct host_object *o, const struct metric *m)
{
	return m->on & o->chip && m->by & o->profiler;
}

/* A metric by its name; what stands behind it, NULL: nothing. */
static const struct metric *find(const struct host_object *o, const char *name,
				 const char **ret_behind)
{
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++) {
		size_t len = strlen(metrics[i].name);

		if (!has(o, &metrics[i]) || strncmp(metrics[i].name, name, len) != 0)
			continue;
		*ret_behind = NULL;
		if (!name[len])
			return &metrics[i];
		for (size_t k = 0; k < submetrics[metrics[i].type].n; k++) {
			*ret_behind = submetrics[metrics[i].type].names[k];
			if (!strcmp(*ret_behind, name + len))
				return &metrics[i];
		}
	}
	return NULL;
}

EXPORT uint32_t cuptiProfilerHostGetBaseMetrics(struct abi_host_metrics *p);
uint32_t cuptiProfilerHostGetBaseMetrics(struct abi_host_metrics *p)
{
	struct host_object *o = p->host;
	const char *how = getenv("MOCK_CUPTI_HOST");

	CHECK(p, abi_host_metrics, ret_n);
	if (p->type >= ABI_N_METRIC_TYPES)
		return ABI_BAD_ARGUMENT;
	if (how && !strcmp(how, "fail"))
		return ABI_UNKNOWN;
	p->ret_names = o->names[p->type];
	p->ret_n = 0;
	for (size_t i = 0; i < ARRAY_SIZE(metrics); i++)
		if (has(o, &metrics[i]) && metrics[i].type == p->type)
			p->ret_names[p->ret_n++] = metrics[i].name;
	return 0;
}

EXPORT uint32_t cuptiProfilerHostGetSubMetrics(struct abi_host_submetrics *p);
uint32_t cuptiProfilerHostGetSubMetrics(struct abi_host_submetrics *p)
{
	const char *behind;

	CHECK(p, abi_host_submetrics, ret_names);
	if (p->type >= ABI_N_METRIC_TYPES || !find(p->host, p->name, &behind))
		return ABI_HOST_BAD_NAME;
	p->ret_n = submetrics[p->type].n;
	p->ret_names = submetrics[p->type].names;
	return 0;
}

EXPORT uint32_t cuptiProfilerHostGetMetricProperties(struct abi_host_properties *p);
uint32_t cuptiProfilerHostGetMetricProperties(struct abi_host_properties *p)
{
	const struct metric *m;
	const char *behind;

	CHECK(p, abi_host_properties, ret_type);
	m = find(p->host, p->name, &behind);
	if (!m)
		return ABI_HOST_BAD_NAME;
	p->ret_description = m->description;
	p->ret_hardware = m->hardware;
	p->ret_unit = *m->unit ? m->unit : NULL;
	p->ret_type = m->type;
	return 0;
}

/* ---- passes ---- */

EXPORT uint32_t cuptiProfilerHostConfigAddMetrics(struct abi_host_add *p);
uint32_t cuptiProfilerHostConfigAddMetrics(struct abi_host_add *p)
{
	struct host_object *o = p->host;
	const char *behind;

	CHECK(p, abi_host_add, n);
	for (size_t i = 0; i < p->n; i++) {
		const struct metric *m = find(o, p->names[i], &behind);

		if (!m || !behind || o->n_added == N_ADDED_MAX)
			return ABI_BAD_ARGUMENT;
		if (strstr(m->name, "refused"))
			return ABI_HOST_NOT_SUPPORTED;
		o->added[o->n_added++] = m;
	}
	return 0;
}

static size_t per_pass(void)
{
	const char *room = getenv("MOCK_CUPTI_ROOM");

	return room ? strtoul(room, NULL, 10) : PER_PASS;
}

/* Counters of a unit that are in use: what is asked for twice counts once. */
static size_t used_of(const struct host_object *o, const char *hardware)
{
	size_t used = 0;

	for (size_t i = 0; i < o->n_added; i++) {
		const struct metric *m = o->added[i];
		bool before = false;

		for (size_t k = 0; k < i; k++)
			before = before || o->added[k] == m;
		if (!before && !strcmp(m->hardware, hardware))
			used += m->type == ABI_METRIC_THROUGHPUT && o->chip != LIVE100
					? 2 * per_pass()
					: 1;
	}
	return used;
}

static size_t passes_of(const struct host_object *o)
{
	size_t most = 0;

	for (size_t i = 0; i < o->n_added; i++)
		most = MAX(most, used_of(o, o->added[i]->hardware));
	return (most + per_pass() - 1) / per_pass();
}

EXPORT uint32_t cuptiProfilerHostGetConfigImageSize(struct abi_host_image_size *p);
uint32_t cuptiProfilerHostGetConfigImageSize(struct abi_host_image_size *p)
{
	CHECK(p, abi_host_image_size, ret_bytes);
	p->ret_bytes = sizeof(size_t);
	return 0;
}

/* The image is the number of passes. */
EXPORT uint32_t cuptiProfilerHostGetConfigImage(struct abi_host_image *p);
uint32_t cuptiProfilerHostGetConfigImage(struct abi_host_image *p)
{
	size_t n = passes_of(p->host);

	CHECK(p, abi_host_image, image);
	if (p->bytes != sizeof(n))
		return ABI_BAD_ARGUMENT;
	memcpy(p->image, &n, sizeof(n));
	return 0;
}

EXPORT uint32_t cuptiProfilerHostGetNumOfPasses(struct abi_host_passes *p);
uint32_t cuptiProfilerHostGetNumOfPasses(struct abi_host_passes *p)
{
	CHECK(p, abi_host_passes, ret_n);
	if (p->bytes != sizeof(p->ret_n))
		return ABI_BAD_ARGUMENT;
	memcpy(&p->ret_n, p->image, sizeof(p->ret_n));
	return 0;
}

/* ---- devices ---- */

static bool is_initialised;

EXPORT uint32_t cuptiProfilerInitialize(struct abi_profiler_init *p);
uint32_t cuptiProfilerInitialize(struct abi_profiler_init *p)
{
	CHECK(p, abi_profiler_init, reserved);
	is_initialised = getenv("MOCK_CUPTI_CHIP");
	return is_initialised ? 0 : ABI_UNKNOWN;
}

/* The real one crashes, too. */
EXPORT uint32_t cuptiDeviceGetChipName(struct abi_chip_of_device *p);
uint32_t cuptiDeviceGetChipName(struct abi_chip_of_device *p)
{
	CHECK(p, abi_chip_of_device, ret_name);
	if (!is_initialised) {
		fprintf(stderr,
			"mock_cupti: cuptiDeviceGetChipName before cuptiProfilerInitialize\n");
		abort();
	}
	p->ret_name = getenv("MOCK_CUPTI_CHIP");
	return 0;
}
