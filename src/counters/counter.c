/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/counter.h"
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_abi.h"
#include "base/clock.h"
#include "base/util.h"
#include "core/counted_samples.h"
#include "counters/asker.h"
#include "counters/driver.h"
#include "counters/live.h"
#include "counters/metric_set.h"
#include "counters/pm.h"

/* Between two reads: for so many samples, for each read costs 0.7 ms and more of the processor. */
#define ASKED_NS (NSEC_PER_SEC / 50) /* between looks whether a collector asks for them */
#define NO       COUNTERS_NONE ": "

struct counter {
	struct counter_page *page;
	int fd;
	struct cupti_host host;
	struct cupti_pm_api api;
	struct subject {
		struct pm pm;
		struct counter_ring *ring;
		struct counted_samples *samples; /* NULL: collectors have none */
		enum counter_id ids[COUNTED_N];  /* of the names of pm */
		struct counted time;             /* that goes on */
		uint64_t end_ns;                 /* of the last sample; 0: there was none */
	} subjects[COUNTER_DEVICES];
	bool is_seen[COUNTER_DEVICES]; /* of those that are wanted */
	uint32_t n;                    /* subjects; those that failed have no ring */
	uint32_t n_counting;
};

static void beat(struct counter *c)
{
	atomic_fetch_add_explicit(&c->page->beats, 1, memory_order_relaxed);
}

static void stage(struct counter *c, const char *what)
{
	beat(c);
	probe_tell(c->fd, "stage %s, %s,", c->host.path, what);
}

/* ---- trouble ---- */

/* What all devices have alike is told once. */
static bool is_of_all(int r)
{
	return r == ABI_NO_PRIVILEGE || r == ABI_NO_PRIVILEGE_VIRTUAL;
}

static void tell_trouble(struct counter *c, const struct pm *pm, int r, bool has_counted)
{
	_cleanup_(buf_done) struct buf scratch = {0};
	const char *text = pm_trouble(pm, r, &scratch);

	if (has_counted)
		probe_tell(c->fd, "note " COUNTERS_NOTES " of GPU%zu are missing from here on: %s",
			   pm->device, text);
	else if (is_of_all(r))
		probe_tell(c->fd, "note " NO "%s", text);
	else
		probe_tell(c->fd, "note " COUNTERS_NONE " of GPU%zu: %s", pm->device, text);
}

/* ---- times ---- */

static void put_time(struct counter *c, struct subject *s)
{
	struct counter_ring *ring = s->ring;
	uint32_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);

	if (written - atomic_load_explicit(&ring->taken, memory_order_acquire) < COUNTER_TIMES) {
		ring->times[written % COUNTER_TIMES] = s->time;
		atomic_store_explicit(&ring->written, written + 1, memory_order_release);
	} else {
		atomic_fetch_add(&c->page->lost, s->time.n);
	}
	counted_init(&s->time);
}

/* For collectors, which are told that it is there when it is. */
static void put_sample(struct counted_samples *to, const struct counted *sample)
{
	uint64_t written = atomic_load_explicit(&to->written, memory_order_relaxed);
	struct counted_sample *at = &to->v[written % to->kept];

	at->start_ns = sample->start_ns;
	at->end_ns = sample->end_ns;
	for (unsigned i = 0; i < COUNTED_N; i++)
		at->v[i] = (float)sample->v[i];
	atomic_store_explicit(&to->written, written + 1, memory_order_release);
}

struct sink {
	struct counter *c;
	struct subject *s;
};

/* How many intervals lie between two samples that should follow each other. */
static void count_lost(const struct sink *to, uint64_t start_ns, uint64_t interval_ns)
{
	uint64_t end_ns = to->s->end_ns;

	if (end_ns && start_ns > end_ns)
		atomic_fetch_add(&to->c->page->lost,
				 (start_ns - end_ns + interval_ns / 2) / interval_ns);
}

static void take_sample(void *ctx, const struct pm *pm, uint64_t start_ns, uint64_t end_ns,
			const double *values)
{
	const struct sink *to = ctx;
	struct counted sample;

	counted_init(&sample);
	sample.start_ns = start_ns;
	sample.end_ns = end_ns;
	sample.counted_ns = end_ns - start_ns;
	sample.n = 1;
	for (size_t i = 0; i < pm->n; i++)
		if (to->s->ids[i] < COUNTED_N)
			sample.v[to->s->ids[i]] =
				live_value(to->s->ids[i], values[i], sample.counted_ns);
	count_lost(to, start_ns, pm->interval_ns);
	to->s->end_ns = end_ns;
	if (!counted_check(&sample))
		return;
	if (to->s->samples)
		put_sample(to->s->samples, &sample);
	counted_add(&to->s->time, &sample);
	if (to->s->time.counted_ns >= COUNTER_ROW_NS)
		put_time(to->c, to->s);
}

/* ---- devices ---- */

/* The file of a device's samples, of real blocks: a hole on a full disk would be a SIGBUS. NULL: why is in
 * errno. */
static struct counted_samples *map_samples(const struct counter *c, const char *uuid,
					   uint64_t bytes)
{
	char path[sizeof(c->page->dir) + sizeof(COUNTED_SAMPLES_NAME) + CUDA_UUID_TEXT];
	struct counted_samples *samples = MAP_FAILED;
	int fd, r;

	snprintf(path, sizeof(path), "%s/" COUNTED_SAMPLES_NAME, c->page->dir, uuid);
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return NULL;
	r = posix_fallocate(fd, 0, (off_t)bytes);
	if (r == 0)
		samples = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	r = r ? r : errno;
	close(fd);
	errno = r;
	return samples == MAP_FAILED ? NULL : samples;
}

static struct counted_samples *make_samples(const struct counter *c, const struct subject *s)
{
	uint64_t kept = counted_samples_kept(c->page->interval_ns);
	struct counted_samples *samples;

	if (!c->page->dir[0] || !s->ring->uuid[0])
		return NULL;
	samples = map_samples(c, s->ring->uuid, counted_samples_bytes(kept));
	if (!samples) {
		probe_tell(c->fd,
			   "note " COUNTERS_NOTES
			   " of GPU%zu are those of the device alone, not of "
			   "kernels: no room for its samples: %s",
			   s->pm.device, strerror(errno));
		return NULL;
	}
	samples->n_values = COUNTED_N;
	samples->interval_ns = c->page->interval_ns;
	samples->kept = kept;
	__atomic_store_n(&samples->magic, COUNTED_SAMPLES_MAGIC, __ATOMIC_RELEASE);
	return samples;
}

/* Is it to be sampled: without a choice all are. */
static bool is_wanted(struct counter *c, const char *uuid)
{
	bool any = c->page->n_wanted;

	for (uint32_t i = 0; i < c->page->n_wanted; i++)
		if (!strcmp(c->page->wanted[i].uuid, uuid)) {
			c->is_seen[i] = true;
			return true;
		}
	return !any;
}

static void open_device(struct counter *c, const struct metric_set *set, void *driver,
			uint32_t device)
{
	struct subject *s = &c->subjects[device];
	struct driver_device of;
	int r;

	driver_device(driver, device, &of);
	if (!is_wanted(c, of.uuid))
		return;
	stage(c, "asked to sample a device");
	r = pm_open(&s->pm, &c->host, &c->api, device, c->page->interval_ns, set);
	if (r) {
		tell_trouble(c, &s->pm, r, false);
		pm_close(&s->pm);
		return;
	}
	for (size_t i = 0; i < s->pm.n; i++)
		s->ids[i] = live_counter(s->pm.names[i]);
	counted_init(&s->time);
	s->ring = &c->page->rings[device];
	memcpy(s->ring->uuid, of.uuid, sizeof(s->ring->uuid));
	s->samples = make_samples(c, s);
	c->n_counting++;
}

static void open_devices(struct counter *c, const struct metric_set *set, void *driver)
{
	c->n = MIN(driver_n_devices(driver), COUNTER_DEVICES);
	if (!c->n)
		probe_tell(c->fd, "note " NO "the driver knows no device");
	/* Who stops us looks at the state after that: either we see it or it waits for us. */
	atomic_store(&c->page->state, COUNTER_HOLDS);
	for (uint32_t i = 0; i < c->n && !atomic_load(&c->page->stop); i++)
		open_device(c, set, driver, i);
	for (uint32_t i = 0; c->n && i < c->page->n_wanted; i++)
		if (!c->is_seen[i] && !atomic_load(&c->page->stop))
			probe_tell(c->fd,
				   "note " COUNTERS_NONE " of GPU%d: the driver does not show "
				   "it as a whole: it may be divided (MIG)",
				   (int)c->page->wanted[i].number);
	atomic_store_explicit(&c->page->n, c->n, memory_order_release);
}

/* One that fails is left alone from then on. */
static void read_device(struct counter *c, struct subject *s)
{
	struct sink to = {c, s};
	int r = pm_read(&s->pm, take_sample, &to);

	if (r == 0 || r == ABI_PM_OVERFLOW)
		return;
	tell_trouble(c, &s->pm, r, s->end_ns);
	pm_close(&s->pm);
	s->ring = NULL;
	c->n_counting--;
}

static void read_devices(struct counter *c)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->subjects[i].ring)
			read_device(c, &c->subjects[i]);
}

/* The hardware is given back. */
static void close_devices(struct counter *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		struct subject *s = &c->subjects[i];

		if (!s->ring)
			continue;
		if (s->time.n)
			put_time(c, s);
		pm_close(&s->pm);
	}
}

static bool is_asked(const struct counter *c)
{
	bool any = false;

	for (uint32_t i = 0; i < c->n; i++)
		any = (c->subjects[i].samples &&
		       atomic_exchange(&c->subjects[i].samples->asked, 0)) ||
		      any;
	return any;
}

/* Until the next read, or until we are to end. */
static void pass_time(struct counter *c)
{
	uint64_t now = clock_monotonic_ns(), end_ns = now + pm_period_ns(c->page->interval_ns);

	for (; now < end_ns && !is_asked(c); now = clock_monotonic_ns()) {
		uint64_t look_ns = MIN(now + ASKED_NS, end_ns);
		const struct timespec look = {(time_t)(look_ns / NSEC_PER_SEC),
					      (long)(look_ns % NSEC_PER_SEC)};

		if (sem_clockwait(&c->page->wake, CLOCK_MONOTONIC, &look) == 0)
			return;
	}
}

static void count(struct counter *c)
{
	stage(c, "which samples");
	while (c->n_counting && !atomic_load(&c->page->stop)) {
		read_devices(c);
		beat(c);
		pass_time(c);
	}
	read_devices(c);
	close_devices(c);
}

void counter_main(const void *ctx, int fd)
{
	struct counter *c = calloc(1, sizeof(*c));
	struct metric_set *set;
	void *driver;

	if (!c || metric_set_find("live", &set) < 0)
		return;
	c->page = (struct counter_page *)(uintptr_t)ctx;
	c->fd = fd;
	if (c->page->n_wanted)
		driver_show_all();
	driver = asker_start_driver(fd);
	beat(c);
	if (!driver)
		return;
	if (cupti_host_open(&c->host, asker_tell_seen, &fd) < 0)
		probe_tell(fd, "note " NO
			       "no libcupti of CUDA 12.6 or later was found, which knows them");
	else if (!pm_bind(&c->host, &c->api))
		probe_tell(fd, "note " NO "%s cannot sample them", c->host.path);
	else
		open_devices(c, set, driver);
	if (c->n_counting)
		count(c);
	atomic_store(&c->page->state, COUNTER_OVER);
}
