/* SPDX-License-Identifier: MIT */
/* Finding a libcupti that works in this process.
 *
 * The one that belongs to the application is the safest (a CUPTI newer than the driver fails, an
 * older one works), so candidates are tried from the nearest to the farthest until one subscribes:
 *
 *   PROTON_CUPTI_PATH (files or folders, ':' between them): then nothing else is tried
 *   mapped already > beside mapped CUDA libraries (toolkit, pip, conda) > CUDA_HOME,
 * /usr/local/cuda > names that ld.so knows, newest first
 *
 * A library that somebody else holds ends the search: a second CUPTI would only fight the first. */
#include "config.h" // IWYU pragma: keep

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <string.h>

#include "backends/cupti.h"
#include "backends/cupti_bind.h"
#include "backends/cupti_refusals.h"
#include "base/loaded.h"
#include "base/log.h"
#include "base/util.h"
#include "core/cupti_places.h"

#define TEXT_MAX 600

/* Why a candidate was no good, from the least to the most telling. */
enum reason {
	NOT_FOUND = 0,
	NOT_LOADABLE,
	NOT_COMPLETE,
	TOO_OLD,
	NOT_INITIALIZED,
	NOT_PERMITTED,
	HELD_BY_OTHER,
};

struct search {
	struct cupti *c;
	abi_callback_fn callback;
	bool done; /* subscribed, or no use to go on */
	bool ok;
	struct cupti_tried tried;
	enum reason reason;
	char why[TEXT_MAX]; /* of the most telling reason */
};

static void _printf_(3, 4) blame(struct search *s, enum reason reason, const char *format, ...)
{
	va_list ap;

	if (s->ok || (s->reason >= reason && s->why[0]))
		return;
	s->reason = reason;
	va_start(ap, format);
	vsnprintf(s->why, sizeof(s->why), format, ap);
	va_end(ap);
	log_debug(1, "cupti", "%s", s->why);
}

static const char *result_text(const struct cupti_api *api, uint32_t result, char out[32])
{
	const char *text = NULL;

	if (api->cuptiGetResultString && api->cuptiGetResultString(result, &text) == ABI_OK && text)
		return text;
	snprintf(out, 32, "error %u", result);
	return out;
}

static const char *library_path(void *library, const char *fallback)
{
	struct link_map *map = NULL;

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) || !map || !map->l_name || !map->l_name[0])
		return fallback;
	return map->l_name;
}

static uint32_t subscribe(struct cupti *c, abi_callback_fn callback, char *holder,
			  size_t holder_size)
{
	struct abi_subscriber_params params = {sizeof(params), "proton", holder, holder_size};

	holder[0] = '\0';
	if (!c->api.cuptiSubscribe_v2)
		return c->api.cuptiSubscribe(&c->subscriber, callback, c);
	return c->api.cuptiSubscribe_v2(&c->subscriber, callback, c, &params);
}

bool cupti_subscribe(struct cupti *c, abi_callback_fn callback)
{
	char holder[2 * ABI_OLD_NAME_MIN], text[320];
	uint32_t result = subscribe(c, callback, holder, sizeof(holder));

	if (result == ABI_OK)
		return true;
	snprintf(
		text, sizeof(text),
		"CUPTI was left to a profiler inside the program, and was not to be had back (error %u%s%s): "
		"CUDA work from there on is not recorded",
		result, holder[0] ? ": " : "", holder);
	c->sink->ops->note(c->sink, text);
	return false;
}

static void version_text(uint32_t version, char out[24])
{
	if (version >= 10000)
		snprintf(out, 24, "CUPTI %u.%u", version / 10000, version / 100 % 100);
	else
		snprintf(out, 24, "CUPTI (API %u)", version);
}

static void blame_subscribe(struct search *s, uint32_t result, const char *path, const char *holder)
{
	char version[24], text[32];

	version_text(s->c->version, version);
	switch (result) {
	case ABI_OTHER_SUBSCRIBER:
	case ABI_END_OF_BUFFER:
		blame(s, HELD_BY_OTHER,
		      "no CUDA work is recorded: CUPTI is held by %s%s%s; one profiler at a time: "
		      "run "
		      "without the other (torch.profiler, Nsight, cuda-gdb, Triton's Proton)",
		      holder[0] ? "'" : "another profiler", holder, holder[0] ? "'" : "");
		s->done = true;
		return;
	case ABI_NO_PRIVILEGE:
	case ABI_NO_PRIVILEGE_VIRTUAL:
		blame(s, NOT_PERMITTED,
		      "no CUDA work is recorded: the driver does not permit profiling here (%s): "
		      "it takes " CUPTI_PERMITTED_BY,
		      result_text(&s->c->api, result, text));
		return;
	default:
		blame(s, NOT_INITIALIZED,
		      "no CUDA work is recorded: %s ('%s') does not work with this driver (%s); "
		      "name a "
		      "libcupti that is not newer than the driver in PROTON_CUPTI_PATH",
		      version, path, result_text(&s->c->api, result, text));
	}
}

/* A library in memory: is it ours to use? Once asked to subscribe it stays, it may have threads. */
static bool try_library(struct search *s, void *library, const char *name)
{
	struct cupti *c = s->c;
	const char *path = library_path(library, name);
	const char *lacking = cupti_bind(library, &c->api);
	char holder[2 * ABI_OLD_NAME_MIN];
	uint32_t result;

	if (lacking) {
		blame(s, NOT_COMPLETE,
		      "no CUDA work is recorded: '%s' lacks %s; it is no CUPTI of CUDA "
		      "11 or later",
		      path, lacking);
		return false;
	}
	if (c->api.cuptiGetVersion(&c->version) != ABI_OK || c->version < ABI_VERSION_11_0) {
		blame(s, TOO_OLD,
		      "no CUDA work is recorded: '%s' is CUPTI API %u; CUDA 11.0 (API %u) "
		      "or later is needed",
		      path, c->version, ABI_VERSION_11_0);
		return false;
	}
	if (!s->callback) {
		s->ok = s->done = true;
		return true;
	}
	result = subscribe(c, s->callback, holder, sizeof(holder));
	log_debug(1, "cupti", "'%s': API %u, subscribe %u", path, c->version, result);
	if (result == ABI_OK)
		s->ok = s->done = true;
	else
		blame_subscribe(s, result, path, holder);
	return true;
}

static void try_name(struct search *s, const char *name, int flags)
{
	void *library;

	if (s->done)
		return;
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL | flags);
	if (!library) {
		const char *error = dlerror();

		if (strchr(name, '/') && !access(name, F_OK))
			blame(s, NOT_LOADABLE, "no CUDA work is recorded: cannot load '%s': %s",
			      name, error ? error : "unknown reason");
		return;
	}
	if (cupti_was_tried(&s->tried, library) || !try_library(s, library, name))
		dlclose(library);
}

/* A place where one may be (core/cupti_places.h): what is only guessed is looked for first. */
static bool try_place(void *ctx, const char *name, bool is_asked)
{
	struct search *s = ctx;

	if (is_asked || !strchr(name, '/') || !access(name, R_OK))
		try_name(s, name, 0);
	return s->done;
}

/* Mapped libraries whose neighbours may be the application's CUPTI. Folders are collected first:
 * nothing is loaded while the loader walks its list. */
#define N_FOLDERS_MAX 16
struct neighbours {
	char mapped[4][PATH_MAX]; /* libcupti itself */
	size_t n_mapped;
	char folders[N_FOLDERS_MAX][PATH_MAX];
	size_t n_folders;
};

static void add_folder(struct neighbours *n, const char *path, size_t length)
{
	if (length == 0 || length >= PATH_MAX || n->n_folders == N_FOLDERS_MAX)
		return;
	for (size_t i = 0; i < n->n_folders; i++)
		if (strlen(n->folders[i]) == length && !strncmp(n->folders[i], path, length))
			return;
	memcpy(n->folders[n->n_folders], path, length);
	n->folders[n->n_folders++][length] = '\0';
}

static bool is_cuda_library(const char *base)
{
	static const char *const prefixes[] = {"libcudart.so", "libcudart-", "libtorch",
					       "libc10_cuda",  "libnvrtc",   "libcublas",
					       "libcudnn",     "libnccl",    "libnvJitLink"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(base, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static int see_library(const struct dl_phdr_info *info, const char *base, void *data)
{
	struct neighbours *n = data;
	const char *path = info->dlpi_name;

	if (base == path || strlen(path) >= PATH_MAX)
		return 0;
	if (!strncmp(base, "libcupti", 8) && strstr(base, ".so")) {
		if (n->n_mapped < ARRAY_SIZE(n->mapped))
			memcpy(n->mapped[n->n_mapped++], path, strlen(path) + 1);
	} else if (is_cuda_library(base)) {
		add_folder(n, path, (size_t)(base - path) - 1);
	}
	return 0;
}

static void try_mapped(struct search *s)
{
	struct neighbours *n = calloc(1, sizeof(*n));

	if (!n)
		return;
	loaded_each("lib", see_library, n);
	for (size_t i = 0; i < n->n_mapped; i++)
		try_name(s, n->mapped[i], RTLD_NOLOAD);
	for (size_t i = 0; i < n->n_folders && !s->done; i++)
		cupti_places_near(n->folders[i], try_place, s);
	free(n);
}

bool cupti_driver_is_loaded(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library;
}

static int search_errno(const struct search *s)
{
	static const int errors[] = {
		[NOT_FOUND] = -ENOENT,    [NOT_LOADABLE] = -ENOENT, [NOT_COMPLETE] = -ENOSYS,
		[TOO_OLD] = -ENOSYS,      [NOT_INITIALIZED] = -EIO, [NOT_PERMITTED] = -EPERM,
		[HELD_BY_OTHER] = -EBUSY,
	};

	return errors[s->reason];
}

int cupti_load(struct cupti *c, abi_callback_fn callback)
{
	const char *list = getenv("PROTON_CUPTI_PATH");
	struct search s = {.c = c, .callback = callback};

	if (list && list[0]) {
		cupti_places_listed(list, try_place, &s);
		blame(&s, NOT_FOUND,
		      "no CUDA work is recorded: there is no libcupti at PROTON_CUPTI_PATH");
	} else {
		try_mapped(&s);
		if (!s.done)
			cupti_places_installed(try_place, &s);
		blame(&s, NOT_FOUND,
		      "no CUDA work is recorded: no libcupti was found; install the CUDA toolkit's "
		      "CUPTI (pip: nvidia-cuda-cupti) or name the library in PROTON_CUPTI_PATH");
	}
	if (s.ok)
		return 0;
	c->sink->ops->note(c->sink, s.why);
	return search_errno(&s);
}

struct rival {
	const void *ours; /* where our libcupti is mapped */
	char path[PATH_MAX];
};

static int rival_find(const struct dl_phdr_info *info, const char *base, void *arg)
{
	struct rival *r = arg;

	(void)base;
	if ((const void *)info->dlpi_addr == r->ours)
		return 0;
	snprintf(r->path, sizeof(r->path), "%s", info->dlpi_name);
	return 1;
}

void cupti_name_rival(struct cupti *c)
{
	struct rival r = {NULL, ""};
	char text[2 * PATH_MAX + 256];
	Dl_info info;
	void *symbol;

	memcpy(&symbol, &c->api.cuptiActivityEnable, sizeof(symbol));
	if (!symbol || !dladdr(symbol, &info))
		return;
	r.ours = info.dli_fbase;
	if (!loaded_each("libcupti.so", rival_find, &r))
		return;
	snprintf(
		text, sizeof(text),
		"the program loaded a libcupti of its own ('%s'): a driver admits one, so a profiler inside "
		"the program fails with error 39 beside proton; PROTON_CUPTI_PATH=%s may let the two take "
		"turns, --no-cuda lets it work alone",
		r.path, r.path);
	c->sink->ops->note(c->sink, text);
}
