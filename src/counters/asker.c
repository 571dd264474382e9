/* SPDX-License-Identifier: MIT */
/* What runs in the child: asks the library, and tells lines (asker.h). */
#include "config.h" // IWYU pragma: keep
#include "counters/asker.h"
#include <dlfcn.h>
#include <string.h>
#include <strings.h>
#include "backends/cupti_refusals.h"
#include "counters/patterns.h"
#include "launch/child.h"

/* ---- the library and the chip ---- */

void asker_tell_seen(void *ctx, const char *loading, const char *broken)
{
	const int *fd = ctx;

	if (loading)
		probe_tell(*fd, "stage loading %s", loading);
	else
		probe_tell(*fd, "broken %s", broken);
}

static void tell_failed(int fd, const char *what, int r)
{
	const char *why = r < 0 ? strerror(-r) : cupti_refusal(CUPTI_COUNTS_RANGES, (uint32_t)r);

	if (why)
		probe_tell(fd, "failed %s: %s", what, why);
	else
		probe_tell(fd, "failed %s: error %d", what, r);
}

void *asker_start_driver(int fd)
{
	int (*init)(unsigned) = NULL;
	void *library;
	int r;

	child_forget_tools();
	probe_tell(fd, "stage loading libcuda.so.1");
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (library)
		*(void **)&init = dlsym(library, "cuInit");
	if (!init) {
		probe_tell(fd, "no-gpu no libcuda.so.1, which comes with the driver");
		return NULL;
	}
	probe_tell(fd, "stage cuInit of libcuda.so.1");
	r = init(0);
	if (r)
		probe_tell(fd, "no-gpu cuInit fails with %d", r);
	return r == 0 ? library : NULL;
}

static const char *chip_here(const struct cupti_host *h, int fd)
{
	const char *name;
	int r;

	if (!asker_start_driver(fd))
		return NULL;
	probe_tell(fd, "stage %s, asked for the chip of device 0,", h->path);
	r = cupti_host_device_chip(&h->api, 0, &name);
	if (r == 0)
		return name;
	probe_tell(fd, "no-gpu CUPTI does not tell the chip of device 0: error %d", r);
	return NULL;
}

/* *chip becomes the name as the library writes it. */
static bool tell_chips(const struct cupti_host *h, const char **chip, int fd)
{
	const char *const *names;
	size_t n;
	int r;

	probe_tell(fd, "stage %s, asked for its chips,", h->path);
	r = cupti_host_chips(&h->api, &names, &n);
	if (r)
		tell_failed(fd, "list of chips", r);
	for (size_t i = 0; r == 0 && i < n; i++) {
		probe_tell(fd, "known %s", names[i]);
		if (*chip && !strcasecmp(*chip, names[i]))
			*chip = names[i];
	}
	return r == 0;
}

bool counters_host_open(struct counters_host *h, const char *chip, enum counting_kind counting,
			int fd)
{
	int r;

	if (cupti_host_open(&h->host, asker_tell_seen, &fd) < 0)
		return false;
	probe_tell(fd, "library %u\t%s", h->host.version, h->host.path);
	if (!tell_chips(&h->host, &chip, fd))
		return false;
	if (!chip)
		chip = chip_here(&h->host, fd);
	if (!chip)
		return false;
	probe_tell(fd, "stage %s, asked for the metrics of %s,", h->host.path, chip);
	r = cupti_chip_open(&h->host.api, chip, counting, &h->chip);
	if (r == ABI_HOST_BAD_CHIP)
		probe_tell(fd, "no-chip %s", chip);
	else if (r == ABI_HOST_NOT_SUPPORTED)
		probe_tell(fd, "failed %s has no %s", chip, counting_titles[counting]);
	else if (r)
		tell_failed(fd, "metrics of the chip", r);
	else
		probe_tell(fd, "chip %s", chip);
	return r == 0;
}

/* ---- plans ---- */

static bool chip_has(void *ctx, const char *name)
{
	struct cupti_metric m;

	return cupti_chip_metric(ctx, name, &m) == 0;
}

static int chip_passes(void *ctx, const char *const *names, size_t n, size_t *ret)
{
	return cupti_chip_passes(ctx, names, n, ret);
}

int counters_host_plan(struct cupti_chip *chip, const struct metric_set *set, struct plan *ret)
{
	return plan_make(set, &(struct plan_source){chip_has, chip_passes, chip}, ret);
}

static void tell_metric(int fd, enum counter_role role, enum plan_state state, size_t passes,
			const char *name, const struct cupti_metric *m)
{
	probe_tell(fd, "metric %d\t%d\t%d\t%zu\t%s\t%s\t%s\t%s", (int)role, (int)state,
		   (int)m->type, passes, name, m->hardware, m->unit, m->description);
}

static void tell_plan(struct cupti_chip *chip, const struct metric_set *set, int fd)
{
	struct plan plan;
	int r = counters_host_plan(chip, set, &plan);

	for (size_t i = 0; i < plan.n && plan.rows; i++) {
		struct cupti_metric m = {ABI_METRIC_COUNTER, "", "", ""};

		(void)cupti_chip_metric(chip, plan.rows[i].name, &m);
		tell_metric(fd, COUNTER_PLANNED, plan.rows[i].state, plan.rows[i].passes,
			    plan.rows[i].name, &m);
	}
	if (r)
		tell_failed(fd, "passes of all together", r);
	else
		probe_tell(fd, "together %zu", plan.passes);
	plan_done(&plan);
}

/* ---- lists ---- */

struct base_names {
	const char **v;
	size_t n;
};

static bool has_name(const struct base_names *bases, const char *name)
{
	for (int type = 0; type < ABI_N_METRIC_TYPES; type++)
		for (size_t i = 0; i < bases[type].n; i++)
			if (!strcmp(bases[type].v[i], name))
				return true;
	return false;
}

static bool is_asked(const struct counters_question *q, const struct base_names *bases,
		     const char *name)
{
	for (size_t i = 0; i < q->n_patterns; i++) {
		const char *pattern = q->patterns[i];

		if (!strcmp(pattern, name) ||
		    (!has_name(bases, pattern) && pattern_matches(pattern, name)))
			return true;
	}
	return !q->n_patterns;
}

/* Of a base metric alone; 0: the library does not say. */
static size_t passes_of(const struct cupti_chip *chip, const char *name, enum abi_metric_type type)
{
	_cleanup_(buf_done) struct buf full = {0};
	size_t passes = 0;
	const char *text;

	buf_printf(&full, "%s%s", name, cupti_usual_submetric(type));
	text = buf_str(&full);
	return cupti_chip_passes(chip, &text, 1, &passes) == 0 ? passes : 0;
}

/* Types are alike in what can stand behind their metrics: the first one is asked. */
static void tell_submetrics(const struct cupti_chip *chip, enum abi_metric_type type,
			    const char *name, int fd)
{
	const char **names;
	size_t n;

	if (cupti_chip_submetrics(chip, type, name, &names, &n))
		return;
	for (size_t i = 0; i < n; i++)
		probe_tell(fd, "submetric %d\t%s", (int)type, names[i]);
}

static void tell_base(const struct counters_question *q, const struct cupti_chip *chip,
		      const struct base_names *bases, const char *name, int fd)
{
	bool asked = is_asked(q, bases, name);
	struct cupti_metric m;
	size_t passes = 0;

	if (cupti_chip_metric(chip, name, &m))
		return;
	if (asked && q->passes)
		passes = passes_of(chip, name, m.type);
	tell_metric(fd, asked ? COUNTER_ASKED : COUNTER_OTHER, PLAN_COUNTED, passes, name, &m);
}

/* Patterns that are whole metrics with what stands behind them. */
static void tell_named(const struct counters_question *q, struct cupti_chip *chip,
		       const struct base_names *bases, int fd)
{
	_cleanup_(freep) const char **names = calloc(q->n_patterns + 1, sizeof(*names));
	struct metric_set *set;
	size_t n = 0;

	for (size_t i = 0; names && i < q->n_patterns; i++)
		if (!has_name(bases, q->patterns[i]) && chip_has(chip, q->patterns[i]))
			names[n++] = q->patterns[i];
	set = n ? metric_set_of(names, n, q->counting) : NULL;
	if (set)
		tell_plan(chip, set, fd);
	metric_set_free(set);
}

static void tell_list(const struct counters_question *q, struct cupti_chip *chip, int fd)
{
	struct base_names bases[ABI_N_METRIC_TYPES] = {{NULL, 0}};

	for (int type = 0; type < ABI_N_METRIC_TYPES; type++) {
		int r = cupti_chip_metrics(chip, (enum abi_metric_type)type, &bases[type].v,
					   &bases[type].n);

		if (r) {
			tell_failed(fd, "list of metrics", r);
			return;
		}
	}
	for (int type = 0; type < ABI_N_METRIC_TYPES; type++)
		for (size_t i = 0; i < bases[type].n; i++) {
			if (i == 0)
				tell_submetrics(chip, (enum abi_metric_type)type, bases[type].v[0],
						fd);
			tell_base(q, chip, bases, bases[type].v[i], fd);
		}
	tell_named(q, chip, bases, fd);
}

void ask_counters_host(const void *ctx, int fd)
{
	const struct counters_question *q = ctx;
	struct counters_host h;

	if (!counters_host_open(&h, q->chip, q->counting, fd))
		return;
	if (q->set)
		tell_plan(&h.chip, q->set, fd);
	else
		tell_list(q, &h.chip, fd);
}
