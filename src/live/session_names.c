/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "live/session_names.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/hash.h"
#include "base/util.h"
#include "launch/session_dir.h"
#include "wire/decode.h"

enum {
	NUMBER_MAX = 10000,
	NAMES_MAX =
		8192, /* that are remembered: of more, those that are over longest are forgotten */
	HOPS_MAX = 40,
};

/* ---- which file it is ---- */

/* The folder of a path as the kernel knows it, with the path's last part. False: there is no such folder. */
static bool real_place(const char *path, char real[PATH_MAX])
{
	char folder[PATH_MAX];
	const char *slash = strrchr(path, '/');
	size_t len = slash ? (size_t)(slash - path) + 1 : 0, n;

	if (snprintf(folder, sizeof(folder), "%.*s.", (int)len, path) >= (int)sizeof(folder) ||
	    !realpath(folder, real))
		return false;
	n = strlen(real);
	return snprintf(real + n, PATH_MAX - n, "/%s", path + len) < (int)(PATH_MAX - n);
}

/* One step along a link, to what need not be there. */
static bool follow(char path[PATH_MAX])
{
	char target[PATH_MAX];
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	char *name = strrchr(path, '/') + 1;

	if (n <= 0)
		return false;
	target[n] = '\0';
	if (*target == '/')
		name = path;
	if ((size_t)(name - path) + (size_t)n >= PATH_MAX)
		return false;
	memcpy(name, target, (size_t)n + 1);
	return true;
}

/* Paths of one file have one hash, whether it is there yet or not. Never 0. */
static uint64_t hash_path(const char *given)
{
	char path[PATH_MAX], real[PATH_MAX];

	snprintf(path, sizeof(path), "%s", given);
	for (int hops = 0; hops < HOPS_MAX && real_place(path, real); hops++) {
		memcpy(path, real, strlen(real) + 1);
		if (!follow(path))
			break;
	}
	return hash_bytes(path, strlen(path)) | 1;
}

void session_names_begin(struct session_names *n, uint64_t since_ns)
{
	n->since_ns = since_ns;
}

void session_names_run(struct session_names *n, const char *path)
{
	n->run = hash_path(path);
}

/* ---- whose it is ---- */

/* NAME.2, without what comes behind it; NULL: no memory. */
static char *stem_of(const char *name, uint32_t number)
{
	char *stem = NULL;
	int n = number == 1 ? asprintf(&stem, "%s", name)
			    : asprintf(&stem, "%s.%u", name, (unsigned)number);

	return n < 0 ? NULL : stem;
}

static uint64_t hash_stem(const char *stem, const char *suffix)
{
	_cleanup_(freep) char *path = NULL;

	return asprintf(&path, "%s%s", stem, suffix) < 0 ? 0 : hash_path(path);
}

/* As /proc has the start of processes. */
static uint64_t boot_ticks(void)
{
	struct timespec now;
	uint64_t hz = (uint64_t)sysconf(_SC_CLK_TCK);

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * hz + (uint64_t)now.tv_nsec / (NSEC_PER_SEC / hz);
}

/* Had the process of the old one ended, with its session, when this one began? Ranks that are started together may end before
 * another has a collector: then the process itself is older. */
static bool began_behind(const struct session_owner *owner, const struct session_name *old)
{
	unsigned long long began;

	return owner->start_ns > old->over_ns && process_start_time(owner->pid, &began) == 0 &&
	       began >= old->over_ticks && process_start_time(old->owner.pid, &began) == -ESRCH;
}

/* May a session take the place of this one? If it was started when this one was over, by the same process or when that had ended. */
static bool may_replace(const struct session_name *old, const struct wire_session_state *session,
			const struct session_owner *owner)
{
	if (!old->n_started)
		return false;
	return old->instance == session->instance ? session->serial >= old->n_started
						  : began_behind(owner, old);
}

/* Files have the time of the last tick of the kernel's: one of before is never newer. */
static bool is_of_others(const struct session_names *n, const char *stem, const char *suffix)
{
	_cleanup_(freep) char *path = NULL;
	struct stat st;

	return n->since_ns && asprintf(&path, "%s%s", stem, suffix) >= 0 && stat(path, &st) == 0 &&
	       S_ISREG(st.st_mode) &&
	       (uint64_t)st.st_mtim.tv_sec * NSEC_PER_SEC + (uint64_t)st.st_mtim.tv_nsec >
		       n->since_ns;
}

static bool is_free(const struct session_names *n, uint64_t used, const char *stem,
		    const char *suffix, const struct wire_session_state *session,
		    const struct session_owner *owner)
{
	bool is_ours = false;

	if (used == n->run)
		return false;
	for (size_t i = 0; i < n->n; i++) {
		if (n->list[i].used != used)
			continue;
		if (!may_replace(&n->list[i], session, owner))
			return false;
		is_ours = true;
	}
	return is_ours || !is_of_others(n, stem, suffix);
}

static struct session_name *own_name(struct session_names *n, uint64_t wanted,
				     const struct wire_session_state *session)
{
	for (size_t i = 0; i < n->n; i++)
		if (n->list[i].wanted == wanted && n->list[i].instance == session->instance &&
		    n->list[i].serial == session->serial)
			return &n->list[i];
	return NULL;
}

bool session_names_has(struct session_names *n, const struct wire_session_state *session,
		       const char *suffix)
{
	return own_name(n, hash_stem(session->name, suffix), session);
}

/* A place in the list: of what is replaced, or a new one; NULL: no memory. */
static struct session_name *name_place(struct session_names *n, uint64_t used)
{
	size_t i;

	for (i = 0; i < n->n && n->list[i].used != used; i++)
		;
	if (i < n->n)
		return &n->list[i];
	if (n->n == NAMES_MAX) {
		for (i = 0; i < n->n - 1 && !n->list[i].n_started; i++)
			;
		memmove(&n->list[i], &n->list[i + 1], (n->n - 1 - i) * sizeof(*n->list));
		return &n->list[n->n - 1];
	}
	if (ARRAY_ROOM(n->list, n->cap, n->n + 1) < 0)
		return NULL;
	return &n->list[n->n++];
}

int session_names_find(struct session_names *n, const struct wire_session_state *session,
		       const struct session_owner *owner, const char *suffix, char **ret_stem,
		       bool *ret_is_other)
{
	uint64_t wanted = hash_stem(session->name, suffix), used;
	struct session_name *name = own_name(n, wanted, session);
	uint32_t number = name ? name->number : 0;

	if (ret_is_other)
		*ret_is_other = false;
	if (number) {
		*ret_stem = stem_of(session->name, number);
		return *ret_stem ? 0 : -ENOMEM;
	}
	while (++number <= NUMBER_MAX) {
		_cleanup_(freep) char *stem = stem_of(session->name, number);

		if (!stem)
			return -ENOMEM;
		used = hash_stem(stem, suffix);
		if (!is_free(n, used, stem, suffix, session, owner))
			continue;
		name = name_place(n, used);
		if (!name)
			return -ENOMEM;
		*name = (struct session_name){.wanted = wanted,
					      .used = used,
					      .instance = session->instance,
					      .serial = session->serial,
					      .number = number,
					      .owner = *owner};
		if (ret_is_other)
			*ret_is_other = number > 1;
		*ret_stem = stem;
		stem = NULL;
		return 0;
	}
	return -EEXIST;
}

void session_names_over(struct session_names *n, const struct wire_session_state *session,
			uint32_t n_started)
{
	struct session_name *name;

	for (name = n->list; name < n->list + n->n; name++) {
		if (name->instance != session->instance || name->serial != session->serial)
			continue;
		name->n_started = n_started;
		name->over_ns = clock_realtime_ns();
		name->over_ticks = boot_ticks();
	}
}

void session_names_done(struct session_names *n)
{
	free(n->list);
	*n = (struct session_names){0};
}
