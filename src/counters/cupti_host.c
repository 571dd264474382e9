/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "counters/cupti_host.h"
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/util.h"
#include "core/cupti_places.h"

/* ---- the library ---- */

struct search {
	struct cupti_host *h;
	cupti_seen_fn *seen;
	void *ctx;
	struct cupti_tried tried;
};

static bool try_library(const struct search *s, void *library, const char *name)
{
	struct cupti_host *h = s->h;
	struct link_map *map = NULL;
	char text[PATH_MAX + 64];

	if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map->l_name && map->l_name[0])
		name = map->l_name;
	if (!cupti_host_bind(library, &h->api) || h->api.cuptiGetVersion(&h->version)) {
		snprintf(text, sizeof(text), "%s is older than CUDA 12.6, and knows no metrics",
			 name);
		s->seen(s->ctx, NULL, text);
		return false;
	}
	h->path = strdup(name);
	h->library = library;
	return h->path;
}

static bool try_place(void *ctx, const char *name, bool is_asked)
{
	struct search *s = ctx;
	const char *error;
	void *library;

	if (!is_asked && strchr(name, '/') && access(name, R_OK))
		return false;
	s->seen(s->ctx, name, NULL);
	library = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		error = dlerror();
		if (strchr(name, '/'))
			s->seen(s->ctx, NULL, error ? error : name);
		return false;
	}
	return !cupti_was_tried(&s->tried, library) && try_library(s, library, name);
}

int cupti_host_open(struct cupti_host *h, cupti_seen_fn *seen, void *ctx)
{
	const char *list = getenv("PROTON_CUPTI_PATH");
	struct search s = {.h = h, .seen = seen, .ctx = ctx};
	bool found;

	*h = (struct cupti_host){.library = NULL};
	if (list && list[0])
		found = cupti_places_listed(list, try_place, &s);
	else
		found = cupti_places_installed(try_place, &s);
	return found ? 0 : -ENOENT;
}

void cupti_host_close(struct cupti_host *h)
{
	free(h->path); /* the library stays: it may have threads */
	h->path = NULL;
}
