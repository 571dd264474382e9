/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "sensors/watcher.h"
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/util.h"
#include "launch/launch.h"
#include "sensors/look.h"

#define PERIOD_NS (NSEC_PER_SEC / 2)

/* What the helper knows of a device. */
struct subject {
	const struct look_source *source;
	uint32_t number; /* … of look_sources */
	void *handle;    /* the source's; NULL: it does not know it */
	double errors;   /* that were told last; NaN: none yet */
	unsigned others; /* processes not of this run, at the last look */
	struct sensors sum;
};

struct watcher {
	struct watch_page *page;
	pid_t parent;
	const char *session;
	enum { UNTRIED, OPEN, ABSENT } sources[LOOK_SOURCES];
	struct subject subjects[WATCH_DEVICES];
	uint32_t n; /* subjects so far */
};

/* ---- whose processes use a device ---- */

/* Of our user, and started with our session in its environment. */
static bool is_ours(const struct watcher *w, uint32_t pid)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "/proc/%u", pid);
	return w->session && stat(path, &st) == 0 && st.st_uid == geteuid() &&
	       launch_may_be_ours(w->session, w->parent, (pid_t)pid);
}

/* The server of MPS is there for all of its clients. */
static bool is_server(uint32_t pid)
{
	char path[32], name[16] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = '\0';
	fclose(f);
	return !strncmp(name, "nvidia-cuda-mps", 15);
}

/* In a container numbers may be of another pid namespace: unless one of them is ours, they say
 * nothing. */
static unsigned count_others(const struct watcher *w, const struct sensor_look *look)
{
	unsigned n_ours = 0, n_others = 0;

	for (uint32_t i = 0; i < look->n_processes; i++) {
		if (is_ours(w, look->pids[i]))
			n_ours++;
		else if (!is_server(look->pids[i]))
			n_others++;
	}
	return n_ours ? n_others : 0;
}

/* ---- looking ---- */

static void publish(struct watched *to, const struct sensors *sum)
{
	atomic_fetch_add_explicit(&to->version, 1, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	to->sensors = *sum;
	atomic_fetch_add_explicit(&to->version, 1, memory_order_release);
}

bool watched_read(struct watch_page *page, uint32_t i, struct sensors *ret)
{
	struct watched *from = &page->devices[i];
	uint32_t version = atomic_load_explicit(&from->version, memory_order_acquire);

	if (!version || version % 2)
		return false;
	*ret = from->sensors;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&from->version, memory_order_relaxed) == version;
}

/* Should it not answer, this is who. 0: nobody. */
static void note_asked(struct watcher *w, uint32_t source)
{
	atomic_store_explicit(&w->page->asked, source, memory_order_relaxed);
}

/* Who ends just now has neither name nor environment any more: others count when they are seen twice. */
static void look_at(struct watcher *w, uint32_t i)
{
	struct subject *s = &w->subjects[i];
	unsigned others, before = s->others;
	struct sensor_look look;

	if (!s->handle)
		return;
	note_asked(w, s->number + 1);
	s->source->look(s->handle, &look);
	note_asked(w, 0);
	others = count_others(w, &look);
	look_add(&s->sum, &look, s->errors, MIN(others, before));
	if (!isnan(look.errors))
		s->errors = look.errors;
	s->others = others;
	publish(&w->page->devices[i], &s->sum);
}

/* Libraries are loaded with their first device: most machines have use for one of them. */
static bool open_source(struct watcher *w, uint32_t i)
{
	if (w->sources[i] == UNTRIED) {
		note_asked(w, i + 1);
		w->sources[i] = look_sources[i]->open() ? OPEN : ABSENT;
		note_asked(w, 0);
	}
	return w->sources[i] == OPEN;
}

static void take_new(struct watcher *w)
{
	uint32_t n = MIN(atomic_load_explicit(&w->page->n, memory_order_acquire), WATCH_DEVICES);

	for (; w->n < n; w->n++) {
		const struct watched *of = &w->page->devices[w->n];
		uint32_t source = MIN(of->source, LOOK_SOURCES - 1);
		struct subject *s = &w->subjects[w->n];

		*s = (struct subject){
			.source = look_sources[source], .number = source, .errors = NAN};
		if (!open_source(w, source))
			continue;
		note_asked(w, source + 1);
		s->handle = s->source->find(of->uuid);
		note_asked(w, 0);
	}
}

/* Where no library is there, no device to come can be looked at either. */
static bool has_a_source(struct watcher *w)
{
	for (uint32_t i = 0; i < LOOK_SOURCES; i++)
		if (w->sources[i] == OPEN)
			return true;
	for (uint32_t i = 0; i < LOOK_SOURCES; i++)
		if (open_source(w, i))
			return true;
	return false;
}

void watch_devices(struct watch_page *page, pid_t parent, const char *session)
{
	const struct timespec period = {0, PERIOD_NS};
	struct watcher w = {.page = page, .parent = parent, .session = session};

	for (;;) {
		take_new(&w);
		if (w.n && !has_a_source(&w))
			return;
		for (uint32_t i = 0; i < w.n; i++)
			look_at(&w, i);
		atomic_fetch_add_explicit(&page->beats, 1, memory_order_relaxed);
		nanosleep(&period, NULL);
	}
}
