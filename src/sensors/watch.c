/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "sensors/watch.h"
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/util.h"
#include "sensors/look.h"
#include "sensors/watcher.h"

#define PERIOD_NS (NSEC_PER_SEC / 4)
#define STALE_NS  (3 * NSEC_PER_SEC)  /* the helper looks twice a second */
#define SILENT_NS (10 * NSEC_PER_SEC) /* a library may take seconds to start */
#define ABSENT_NS (2 * NSEC_PER_SEC)  /* longer, and we were stopped, the helper perhaps with us */

_Static_assert(ARRAY_SIZE(((struct watch *)0)->devices) == WATCH_DEVICES,
	       "a place for each device");

static void map_page(struct watch *w)
{
	void *page = mmap(NULL, sizeof(*w->page), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	w->off = page == MAP_FAILED;
	if (!w->off)
		w->page = page;
}

static void help(const void *ctx, int fd)
{
	const struct watch *w = ctx;

	(void)fd; /* what it has to say is on the page */
	watch_devices(w->page, getppid(), w->path);
}

/* Once: where it cannot be made there are no numbers, and nobody is told. */
static void start(struct watch *w)
{
	w->off = !probe_begin(help, w, &w->told, &w->helper);
}

static bool is_watched(const struct watch *w, uint32_t device)
{
	for (uint32_t i = 0; i < w->n; i++)
		if (w->devices[i].device == device)
			return true;
	return false;
}

static void add_device(struct watch *w, uint32_t device, uint32_t source, const char *uuid)
{
	if (!w->page)
		map_page(w);
	if (w->off || w->n == WATCH_DEVICES)
		return;
	w->page->devices[w->n].source = source;
	memcpy(w->page->devices[w->n].uuid, uuid, strlen(uuid) + 1);
	w->devices[w->n++] = (struct watch_device){.device = device};
	atomic_store_explicit(&w->page->n, w->n, memory_order_release);
	if (w->n == 1)
		start(w);
}

static void find_devices(struct watch *w, const struct session *s)
{
	for (uint32_t i = 0; i < s->n_devices && !w->off; i++) {
		const char *uuid = strtab_str(s->strings, s->devices[i].uuid);
		const char *type = strtab_str(s->strings, s->devices[i].type);
		uint32_t source = look_source_of(type, uuid);

		if (*uuid && strlen(uuid) < sizeof(w->page->devices->uuid) &&
		    source < LOOK_SOURCES && !is_watched(w, i))
			add_device(w, i, source, uuid);
	}
}

/* The helper has somebody else's library in it, which may write where it likes: its page is read as any
 * file is. One that hangs or is gone says nothing new: what it said last is then not how things are. */
static void take_device(struct watch *w, uint32_t i, struct session *s, uint64_t now_ns)
{
	struct watch_device *d = &w->devices[i];
	struct sensors said, *known;
	bool told = watched_read(w->page, i, &said);

	if (told && said.v[SENSOR_LOOKS] > d->looks) {
		d->looks = said.v[SENSOR_LOOKS];
		d->new_ns = now_ns;
	}
	known = d->new_ns ? session_sensors_of(s, d->device) : NULL;
	if (!known)
		return;
	if (told) {
		*known = (struct sensors){0};
		sensors_add(known, &said);
	}
	if (now_ns - d->new_ns > STALE_NS)
		sensors_forget_now(known);
}

static void take(struct watch *w, struct session *s)
{
	uint64_t now_ns = clock_monotonic_ns();

	for (uint32_t i = 0; i < w->n; i++)
		take_device(w, i, s, now_ns);
}

/* ---- trouble ---- */

/* The helper's library, or whatever that has made of our page. */
static const char *asked(const struct watch *w)
{
	uint32_t source = atomic_load_explicit(&w->page->asked, memory_order_relaxed);

	return source >= 1 && source <= LOOK_SOURCES ? look_sources[source - 1]->library
						     : "the process that asks for them";
}

/* One that found no library has ended by itself: most machines have none. As process 1 of a container we reap all processes
 * elsewhere: then it is not known how it ended. */
static void note_end(const struct watch *w, struct session *s)
{
	_cleanup_(buf_done) struct buf text = {0};
	const char *signal = sigabbrev_np(w->told.detail);

	buf_printf(&text, SENSORS_NOTES "are missing from here on: %s ", asked(w));
	if (w->told.end == PROBE_DIED)
		buf_printf(&text, "ended with SIG%s", signal ? signal : "?");
	else if (w->told.end == PROBE_LEFT)
		buf_printf(&text, "ended with status %d", w->told.detail);
	else
		return;
	session_note(s, SESSION_NONE, NOTE_WARNING, buf_str(&text));
}

static void note_silence(struct watch *w, struct session *s, uint64_t now_ns)
{
	_cleanup_(buf_done) struct buf text = {0};
	uint32_t beats = atomic_load_explicit(&w->page->beats, memory_order_relaxed);

	if (beats != w->beats)
		w->silent_ns = 0;
	else if (w->last_ns)
		w->silent_ns += MIN(now_ns - w->last_ns, ABSENT_NS);
	w->beats = beats;
	w->last_ns = now_ns;
	if (w->is_told || w->silent_ns < SILENT_NS)
		return;
	w->is_told = true;
	buf_printf(&text, SENSORS_NOTES "say nothing: %s has not answered for %u s", asked(w),
		   (unsigned)(SILENT_NS / NSEC_PER_SEC));
	session_note(s, SESSION_NONE, NOTE_WARNING, buf_str(&text));
}

static void look_after(struct watch *w, struct session *s, uint64_t now_ns)
{
	if (probe_look(&w->helper, &w->told))
		note_end(w, s);
	else
		note_silence(w, s, now_ns);
}

void watch_update(struct watch *w, struct session *s)
{
	uint64_t now = clock_monotonic_ns();

	if (w->off || now < w->next_ns)
		return;
	w->next_ns = now + PERIOD_NS;
	find_devices(w, s);
	if (w->page)
		take(w, s);
	if (w->helper.pid)
		look_after(w, s, now);
}

void watch_finish(struct watch *w, struct session *s)
{
	if (w->page)
		take(w, s);
	if (w->helper.pid)
		look_after(w, s, clock_monotonic_ns());
	watch_done(w);
}

void watch_done(struct watch *w)
{
	if (w->helper.pid && !probe_look(&w->helper, &w->told))
		probe_stop(&w->helper, 0, &w->told);
	probe_done(&w->told);
	if (w->page)
		munmap(w->page, sizeof(*w->page));
	w->page = NULL;
	w->off = true;
}
