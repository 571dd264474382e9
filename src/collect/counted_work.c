/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "collect/counted_work.h"
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "backends/pages.h"
#include "base/clock.h"
#include "base/named_file.h"
#include "base/util.h"
#include "collect/idle.h"
#include "collect/internal.h"
#include "collect/patience.h"
#include "collect/slots.h"
#include "core/attribution.h"
#include "core/counted_samples.h"

enum { LONG_MAX_KEPT = 1 << 12, SPANS_MAX = 1 << 14 };
#define HOLD_NS      (NSEC_PER_SEC) /* for others to say that they are there … */
#define HOLD_MOST_NS (2 * HOLD_NS) /* … and what they had there; one that was killed never does */
#define LOOK_NS      (NSEC_PER_SEC / 4) /* between looks for the samples of a device */
#define FRESH_NS     (NSEC_PER_SEC) /* older ones are all that will come: nobody samples any more */
enum {
	LAST_MS = 300
}; /* for the last ones of a process, of all devices; they are there within 50, as a rule */

/* What is kept of a counter: how long it would have been at all that it can be, in the samples. */
static const struct {
	enum counter_id id;
	uint32_t metric;
} kept[] = {
	{COUNTED_SM_ACTIVE, METRIC_SM_ACTIVE},  {COUNTED_SM_ISSUE, METRIC_SM_ISSUE},
	{COUNTED_TENSOR, METRIC_TENSOR_ACTIVE}, {COUNTED_FMA, METRIC_FMA_ISSUE},
	{COUNTED_DRAM_READ, METRIC_DRAM_READ},  {COUNTED_DRAM_WRITE, METRIC_DRAM_WRITE},
	{COUNTED_L2_HIT, METRIC_L2_HIT},        {COUNTED_WARPS, METRIC_WARPS_ACTIVE},
};

/* owner: who takes intervals */
static struct of_device {
	struct attribution work; /* without room before the first operation */
	struct counted_samples *samples;
	struct counted_user *me;
	uint64_t kept;    /* samples for which there is room, as it was when it was mapped */
	uint64_t taken;   /* samples */
	uint64_t look_ns; /* when their file is looked for again */
	uint64_t from_ns, until_ns; /* of the operations so far */
	bool is_last;               /* samples of these were asked for, as the last ones */
} devices[MAX_DEVICES];

static bool is_wanted(void)
{
	return collector->control && collector->control->wanted.counters_ns && idle_is_wanted();
}

/* ---- operations ---- */

static bool make_room(struct of_device *d)
{
	struct attributed *room;
	struct span *spans;

	if (d->work.v)
		return true;
	room = pages_reserve(LONG_MAX_KEPT * sizeof(*room));
	spans = pages_reserve(2 * SPANS_MAX * sizeof(*spans));
	if (!room || !spans)
		return false;
	/* Samples may be somewhat shorter than they should be. */
	attribution_init(&d->work, collector->control->wanted.counters_ns / 2, room, LONG_MAX_KEPT,
			 spans, SPANS_MAX);
	return true;
}

void counted_work_add(uint32_t device, const struct wire_epoch_interval *v, uint32_t n)
{
	struct of_device *d = &devices[device % MAX_DEVICES];

	if (device >= MAX_DEVICES || !is_wanted() || !make_room(d))
		return;
	for (uint32_t i = 0; i < n; i++) {
		const struct wire_interval *of = &v[i].of;

		attribution_add(&d->work,
				&(struct attributed){of->start_ns, of->end_ns,
						     (uint64_t)of->node << 32 | of->lane});
		if (!d->from_ns || of->start_ns < d->from_ns)
			d->from_ns = of->start_ns;
		d->until_ns = MAX(d->until_ns, of->end_ns);
		d->is_last = false;
	}
}

/* ---- samples ---- */

/* For how many samples there is room; 0: it is not one that was made to the end. A file that is shorter than it says
 * would be a SIGBUS in the program. */
static uint64_t room_of(int fd, uint64_t bytes)
{
	struct counted_samples head;
	uint64_t kept;

	if (pread(fd, &head, sizeof(head), 0) != sizeof(head) ||
	    head.magic != COUNTED_SAMPLES_MAGIC || head.n_values != COUNTED_N)
		return 0;
	kept = head.kept;
	return kept <= bytes / sizeof(struct counted_sample) && counted_samples_bytes(kept) <= bytes
		       ? kept
		       : 0;
}

static void samples_map(struct of_device *d, const char *uuid)
{
	char path[sizeof(collector->dir) + sizeof(COUNTED_SAMPLES_NAME) + 64];
	struct stat st;
	void *p;
	int fd;

	snprintf(path, sizeof(path), "%s/" COUNTED_SAMPLES_NAME, collector->dir, uuid);
	fd = regular_open(path, O_RDWR | O_NOFOLLOW, &st);
	if (fd < 0)
		return;
	d->kept = room_of(fd, (uint64_t)st.st_size);
	p = d->kept ? mmap(NULL, counted_samples_bytes(d->kept), PROT_READ | PROT_WRITE, MAP_SHARED,
			   fd, 0)
		    : MAP_FAILED;
	close(fd);
	if (p != MAP_FAILED)
		d->samples = p;
}

/* NULL: there is no room, and nobody knows that we are there. */
static struct counted_user *sign_in(struct counted_samples *samples)
{
	for (unsigned i = 0; i < COUNTED_USERS; i++) {
		uint64_t none = 0;

		if (atomic_compare_exchange_strong(&samples->users[i].instance, &none,
						   collector->instance))
			return &samples->users[i];
	}
	return NULL;
}

static bool look_for_samples(struct of_device *d, uint32_t device, uint64_t now_ns)
{
	uint32_t uuid = collector->device[device].uuid;

	if (d->samples || now_ns < d->look_ns || !uuid)
		return d->samples;
	d->look_ns = now_ns + LOOK_NS;
	samples_map(d, collector->string[uuid].s);
	if (d->samples)
		d->me = sign_in(d->samples);
	return d->samples;
}

/* False: its place is another's by now, or it is none. */
static bool copy_sample(const struct of_device *d, uint64_t i, struct counted_sample *ret)
{
	*ret = d->samples->v[i % d->kept];
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&d->samples->written, memory_order_relaxed) - i < d->kept &&
	       ret->end_ns > ret->start_ns;
}

static bool had_work(const struct counted_user *user, const struct counted_sample *sample)
{
	return atomic_load(&user->known_ns) < sample->end_ns ||
	       (atomic_load(&user->from_ns) < sample->end_ns &&
		atomic_load(&user->until_ns) > sample->start_ns);
}

/* Had another process work there, or may it have had some, of which it has not said? */
static bool is_shared(const struct of_device *d, const struct counted_sample *sample)
{
	for (unsigned i = 0; i < COUNTED_USERS; i++) {
		struct counted_user *user = &d->samples->users[i];

		if (!atomic_load(&user->instance))
			return false;
		if (user != d->me && had_work(user, sample))
			return true;
	}
	return !d->me;
}

/* ---- values ---- */

static void add(uint64_t who, uint32_t metric, uint64_t n)
{
	uint32_t set = set_intern_one(metric), slot = WIRE_NONE;

	if (set != WIRE_NONE)
		slot = slot_intern((uint32_t)(who >> 32), (uint32_t)who, set, 0);
	if (slot == WIRE_NONE)
		return;
	slot_add_u64(slot, 0, n);
	bitmap_set(collector->dirty, slot);
}

/* Hardware tells somewhat more than all, as its counters are not read at one time: that is all. NaN: it was not
 * counted. */
static void add_share(uint64_t who, uint32_t metric, double percent, uint64_t ns)
{
	if (percent >= 0)
		add(who, metric, (uint64_t)(MIN(percent, 100.0) / 100 * (double)ns + 0.5));
}

static void charge(uint64_t who, const struct counted_sample *sample)
{
	uint64_t ns = sample->end_ns - sample->start_ns;

	add(who, METRIC_SAMPLES, 1);
	add(who, METRIC_SAMPLED, ns);
	for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
		add_share(who, kept[i].metric, (double)sample->v[kept[i].id], ns);
	add_share(who, METRIC_DRAM,
		  (double)sample->v[COUNTED_DRAM_READ] + (double)sample->v[COUNTED_DRAM_WRITE], ns);
}

static void take_sample(struct of_device *d, const struct counted_sample *sample)
{
	uint64_t who[ATTRIBUTED_MOST];
	bool alone = false;
	uint32_t n = attribution_of(&d->work, sample->start_ns, sample->end_ns, who, &alone);

	if (n && alone && !is_shared(d, sample)) {
		charge(who[0], sample);
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		add(who[i], METRIC_SAMPLES_BESIDE, 1);
}

static void take_samples(struct of_device *d, uint64_t until_ns)
{
	uint64_t written = atomic_load_explicit(&d->samples->written, memory_order_acquire);
	struct counted_sample sample;

	if (written - d->taken >= d->kept)
		d->taken = written - d->kept + 1;
	for (; d->taken != written; d->taken++) {
		if (!copy_sample(d, d->taken, &sample))
			continue;
		if (sample.end_ns > until_ns)
			break;
		take_sample(d, &sample);
		attribution_forget(&d->work, sample.start_ns);
	}
}

/* Until when everybody has said what he had there. */
static uint64_t known_ns(const struct of_device *d)
{
	uint64_t least_ns = UINT64_MAX;

	for (unsigned i = 0; i < COUNTED_USERS; i++) {
		struct counted_user *user = &d->samples->users[i];

		if (!atomic_load(&user->instance))
			break;
		if (user != d->me)
			least_ns = MIN(least_ns, atomic_load(&user->known_ns));
	}
	return least_ns;
}

/* Samples until then are judged. The last word of a process waits for nobody. */
static uint64_t judged_ns(const struct of_device *d, uint64_t until_ns, uint64_t now_ns)
{
	uint64_t others_ns;

	if (until_ns == UINT64_MAX)
		return until_ns;
	others_ns = MAX(known_ns(d), now_ns - HOLD_MOST_NS);
	return MIN(MIN(until_ns, others_ns), now_ns - HOLD_NS);
}

/* When the newest one ended; 0: there is none. */
static uint64_t newest_ns(const struct of_device *d)
{
	uint64_t written = atomic_load_explicit(&d->samples->written, memory_order_acquire);
	struct counted_sample sample;

	return written && copy_sample(d, written - 1, &sample) ? sample.end_ns : 0;
}

/* The helper reads some times a second. A process that ends does not come back for what is read then, which is all of a
 * short one: the hardware is to be read now. */
static void await_last(struct of_device *d, uint64_t now_ns, struct patience *p)
{
	const struct timespec nap = {0, NSEC_PER_MSEC};

	if (d->is_last || newest_ns(d) + FRESH_NS < now_ns)
		return;
	d->is_last = true;
	atomic_store(&d->samples->asked, 1);
	while (newest_ns(d) < d->until_ns && patience_ms(p))
		nanosleep(&nap, NULL);
}

static void settle(uint32_t device, struct of_device *d, uint64_t now_ns, struct patience *last)
{
	uint64_t until_ns = idle_until_ns(collector->device[device].source);

	if (!look_for_samples(d, device, now_ns))
		return;
	if (d->me) {
		atomic_store(&d->me->until_ns, d->until_ns);
		atomic_store(&d->me->from_ns, d->from_ns);
		atomic_store(&d->me->known_ns, until_ns);
	}
	if (until_ns == UINT64_MAX)
		await_last(d, now_ns, last);
	take_samples(d, judged_ns(d, until_ns, now_ns));
}

void counted_work_break(void)
{
	uint64_t now_ns = clock_realtime_ns();

	for (uint32_t i = 0; i < MAX_DEVICES; i++)
		if (devices[i].work.v)
			attribution_forget(&devices[i].work, now_ns);
}

void counted_work_settle(bool is_whole)
{
	uint64_t now_ns = clock_realtime_ns();
	struct patience last = patience(LAST_MS);

	if (!is_whole)
		counted_work_break();
	for (uint32_t i = 0; i < MAX_DEVICES; i++)
		if (devices[i].work.v)
			settle(i, &devices[i], now_ns, &last);
}

/* A child has work of its own, and has not signed in. */
void counted_work_forked(void)
{
	for (uint32_t i = 0; i < MAX_DEVICES; i++) {
		struct of_device *d = &devices[i];
		struct attribution old = d->work;

		if (d->samples)
			munmap(d->samples, counted_samples_bytes(d->kept));
		*d = (struct of_device){.taken = 0};
		if (old.v)
			attribution_init(&d->work, old.least_ns, old.v, old.max, old.others.v,
					 old.others.max);
	}
}
