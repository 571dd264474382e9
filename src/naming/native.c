/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/native.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/idindex.h"
#include "base/strtab.h"
#include "base/util.h"
#include "naming/object.h"
#include "naming/perf_map.h"

/* A file, opened when it was first asked for; where neither is there, nothing is known of it. */
struct source {
	char *path, *build_id;
	struct object *object;
	struct perf_map *map;
};

/* An address that was looked up: `n` of the functions, from `first` on. */
struct known {
	uint32_t source, first, n;
	uint64_t offset;
};

struct function {
	uint32_t text, file, line; /* strings; file 0: not known */
};

struct native_names {
	struct native_namer namer;
	uint64_t until_ns; /* there is time; 0: always */
	bool asked;        /* in this slice */
	struct source *sources;
	struct known *known;
	struct function *functions;
	size_t n_sources, cap_sources, n_known, cap_known, n_functions, cap_functions;
	struct idindex index; /* of known */
	struct strtab *strings;
	struct buf text;
};

/* ---- files ---- */

static int source_add(struct native_names *n, const struct native_place *place)
{
	struct source s = {0};

	if (ARRAY_ROOM(n->sources, n->cap_sources, n->n_sources + 1) < 0)
		return -ENOMEM;
	s.path = strdup(place->path);
	s.build_id = strdup(place->build_id);
	if (!s.path || !s.build_id) {
		free(s.path);
		free(s.build_id);
		return -ENOMEM;
	}
	if (perf_map_is(s.path))
		s.map = perf_map_new(s.path);
	else
		s.object = object_open(s.path, s.build_id);
	n->sources[n->n_sources++] = s;
	return 0;
}

/* A few hundred at most. SIZE_MAX: no memory. */
static size_t source_of(struct native_names *n, const struct native_place *place)
{
	for (size_t i = 0; i < n->n_sources; i++)
		if (!strcmp(n->sources[i].path, place->path) &&
		    !strcmp(n->sources[i].build_id, place->build_id))
			return i;
	return source_add(n, place) < 0 ? SIZE_MAX : n->n_sources - 1;
}

/* ---- addresses ---- */

static int function_add(struct native_names *n, const struct object_function *f, const char *name)
{
	struct function to = {.line = f->line};

	if (ARRAY_ROOM(n->functions, n->cap_functions, n->n_functions + 1) < 0)
		return -ENOMEM;
	buf_clear(&n->text);
	if (f->file && f->line)
		buf_printf(&n->text, "%s:%" PRIu32 "@", f->file, f->line);
	buf_puts(&n->text, name);
	to.text = n->text.error ? STRTAB_NONE : strtab_adds(n->strings, buf_str(&n->text));
	to.file = f->file ? strtab_adds(n->strings, f->file) : 0;
	if (to.text == STRTAB_NONE || to.file == STRTAB_NONE)
		return -ENOMEM;
	n->functions[n->n_functions++] = to;
	return 0;
}

/* "libfoo.so+0x1f0", where the function begins if that is known; of no file, "0x7f12". */
static int address_add(struct native_names *n, const struct source *s,
		       const struct native_place *place)
{
	static const struct object_function none = {0};
	const char *slash = strrchr(place->path, '/'), *file = slash ? slash + 1 : place->path;
	char name[320];

	if (s->map)
		snprintf(name, sizeof(name), "0x%" PRIx64, place->offset);
	else
		snprintf(name, sizeof(name), "%.255s+0x%" PRIx64, *file ? file : "?",
			 s->object ? object_begin(s->object, place->offset) : place->offset);
	return function_add(n, &none, name);
}

static int functions_add(struct native_names *n, struct source *s, const struct native_place *place)
{
	struct object_function f[NATIVE_INLINED_MAX] = {0};
	unsigned n_found = 0;
	int r = 0;

	if (s->map && (f[0].name = perf_map_find(s->map, place->offset)))
		n_found = 1;
	else if (s->object)
		n_found = object_functions(s->object, place->offset, f);
	for (unsigned i = 0; r == 0 && i < n_found; i++)
		r = function_add(n, &f[i], f[i].name ? f[i].name : "?");
	return n_found ? r : address_add(n, s, place);
}

static bool known_equal(const void *ctx, uint32_t id, const void *key)
{
	const struct known *a = &((const struct native_names *)ctx)->known[id], *b = key;

	return a->source == b->source && a->offset == b->offset;
}

/* An address of a file, looked up where it was not yet. SIZE_MAX: no memory. */
static size_t know(struct native_names *n, const struct native_place *place)
{
	size_t source = source_of(n, place);
	struct known k = {(uint32_t)source, (uint32_t)n->n_functions, 0, place->offset};
	uint64_t hash = hash_u64(place->offset) ^ source;
	uint32_t id;

	if (source == SIZE_MAX)
		return SIZE_MAX;
	id = idindex_find(&n->index, hash, known_equal, n, &k);
	if (id != IDINDEX_NONE)
		return id;
	if (ARRAY_ROOM(n->known, n->cap_known, n->n_known + 1) < 0 ||
	    functions_add(n, &n->sources[source], place) < 0 ||
	    idindex_add(&n->index, hash, (uint32_t)n->n_known) < 0)
		return SIZE_MAX;
	k.n = (uint32_t)n->n_functions - k.first;
	n->known[n->n_known] = k;
	return n->n_known++;
}

static unsigned functions(void *ctx, const struct native_place *place,
			  struct native_function ret[NATIVE_INLINED_MAX])
{
	struct native_names *n = ctx;
	size_t id = know(n, place);
	const struct function *f;

	n->asked = true;
	if (id == SIZE_MAX) {
		ret[0] = (struct native_function){.text = "<out of memory>"};
		return 1;
	}
	for (uint32_t i = 0; i < n->known[id].n; i++) {
		f = &n->functions[n->known[id].first + i];
		ret[i] = (struct native_function){strtab_str(n->strings, f->text),
						  f->file ? strtab_str(n->strings, f->file) : NULL,
						  f->line};
	}
	return n->known[id].n;
}

/* ---- time ---- */

static bool may_ask(void *ctx)
{
	const struct native_names *n = ctx;

	return !n->until_ns || !n->asked || clock_monotonic_ns() < n->until_ns;
}

void native_names_slice(struct native_names *n, uint64_t ns)
{
	n->until_ns = ns ? clock_monotonic_ns() + ns : 0;
	n->asked = false;
}

/* ---- names ---- */

struct native_names *native_names_new(void)
{
	struct native_names *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->namer = (struct native_namer){.functions = functions, .may_ask = may_ask, .ctx = n};
	buf_init(&n->text, 1 << 20);
	n->strings = strtab_new();
	return n->strings ? n : native_names_free(n);
}

struct native_names *native_names_free(struct native_names *n)
{
	if (!n)
		return NULL;
	for (size_t i = 0; i < n->n_sources; i++) {
		free(n->sources[i].path);
		free(n->sources[i].build_id);
		object_free(n->sources[i].object);
		perf_map_free(n->sources[i].map);
	}
	free(n->sources);
	free(n->known);
	free(n->functions);
	idindex_done(&n->index);
	strtab_free(n->strings);
	buf_done(&n->text);
	free(n);
	return NULL;
}

const struct native_namer *native_names_namer(const struct native_names *n)
{
	return &n->namer;
}
