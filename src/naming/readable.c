/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/readable.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"
#include "naming/apart.h"
#include "naming/brief.h"
#include "naming/demangle.h"
#include "naming/forms.h"
#include "naming/offload.h"
#include "naming/plain.h"
#include "naming/rules.h"

_Static_assert(BRIEF_N + 1 == NAMING_LEVELS, "above the short forms there is the whole");

/* Signatures that are longer than this are no names. */
#define SIGNATURE_MAX 16384

/* A word in brackets is no parameter of a kernel: "forward(x)", "copy(D2H)" are scopes. */
static bool is_call(const char *name)
{
	const char *open = strchr(name, '(');
	size_t len =
		open ? strspn(open + 1,
			      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
		     : 0;

	return len && !open[len + 2] && !memchr(name, ':', (size_t)(open - name)) &&
	       !memchr(name, '<', (size_t)(open - name)) && rule_of(open + 1, len) != RULE_ELEMENT;
}

/* Traces hold kernels as their compilers print them: "void gemm<float>(float*, int)". No scope and
 * no Python function looks so; what is known to be a kernel needs no "void". */
static bool is_signature(const char *name, enum frame_kind kind)
{
	size_t n = strlen(name);

	if (n > SIGNATURE_MAX || n == 0 || strpbrk(name, "=\"\t\n") || strstr(name, ": "))
		return false;
	if (kind == FRAME_KERNEL)
		return (name[n - 1] == ')' && !is_call(name)) || name[n - 1] == '>' ||
		       (name[n - 1] == ']' && strstr(name, ") [clone ."));
	return !strncmp(name, "void ", 5) && name[n - 1] == ')';
}

/* The short form of a function: of a symbol, or the word itself. */
static char *function_name(const char *function, unsigned level)
{
	char *whole = demangle(function);
	char *brief = whole ? brief_make(whole, (enum brief_level)level) : NULL;

	if (brief)
		free(whole);
	return brief ? brief : whole ? whole : strdup(function);
}

static char *offload_name(const struct offload *o, unsigned level)
{
	_cleanup_(freep) char *function = strndup(o->function, o->function_len);
	_cleanup_(freep) char *name = function ? function_name(function, level) : NULL;
	char *out;

	return name && asprintf(&out, "%s%s", name, o->line) >= 0 ? out : NULL;
}

static char *readable(const char *raw, enum frame_kind kind, unsigned level)
{
	struct offload offload;
	char *whole, *brief;

	if (level < BRIEF_N && offload_parse(&offload, raw))
		return offload_name(&offload, level);
	whole = demangle(raw);
	if (!whole && kind == FRAME_KERNEL && level == BRIEF_LEAST && (brief = plain_brief(raw)))
		return brief;
	if (level >= BRIEF_N || (!whole && !is_signature(raw, kind)))
		return whole;
	brief = brief_make(whole ? whole : raw, (enum brief_level)level);
	if (!brief)
		return whole;
	free(whole);
	return brief;
}

/* Where the function begins in the name of a construct or of a line: "omp target _Z5saxpyPf",
 * "app.cc:12@_Z5saxpyPf". 0: it is none, or its function has a plain name. */
static size_t construct_function(const char *raw, enum frame_kind kind)
{
	const char *last = NULL;

	if (kind == FRAME_SCOPE && !strncmp(raw, "omp ", 4))
		last = strrchr(raw, ' ');
	else if (kind == FRAME_NATIVE)
		last = strrchr(raw, '@');
	return last && last[1] == '_' ? (size_t)(last + 1 - raw) : 0;
}

static char *construct_name(const char *raw, size_t function, unsigned level)
{
	char *name = readable(raw + function, FRAME_FUNCTION, level), *whole = NULL;

	if (name && asprintf(&whole, "%.*s%s", (int)function, raw, name) < 0)
		whole = NULL;
	free(name);
	return whole;
}

/* A kernel with the shape of its launch behind it is named without it, and gets it back. */
char *readable_name(const char *raw, enum frame_kind kind, unsigned level)
{
	size_t len = strlen(raw), bare = kind == FRAME_KERNEL ? activity_bare_len(raw, len) : len;
	_cleanup_(freep) char *symbol = NULL;
	_cleanup_(freep) char *name = NULL;
	size_t function = construct_function(raw, kind);
	char *whole;

	if (function)
		return construct_name(raw, function, level);
	if (bare == len)
		return readable(raw, kind, level);
	symbol = strndup(raw, bare);
	name = symbol ? readable(symbol, kind, level) : NULL;
	return name && asprintf(&whole, "%s%s", name, raw + bare) >= 0 ? whole : NULL;
}

/* A name without the shape of a launch, demangled, malloc'd. NULL: out of memory. */
static char *bare_whole(const char *raw)
{
	char *bare = construct_function(raw, FRAME_SCOPE)
			     ? strdup("") /* what stands before its function is no part of it */
			     : strndup(raw, activity_bare_len(raw, strlen(raw)));
	char *whole = bare ? demangle(bare) : NULL;

	if (!whole)
		return bare;
	free(bare);
	return whole;
}

static const char *shape_of(const char *raw)
{
	return raw + activity_bare_len(raw, strlen(raw));
}

/* Give a name the shape of its launch back, or none where memory is out. */
static void append_shape(char **name, const char *raw)
{
	const char *shape = shape_of(raw);
	char *whole = NULL;

	if (!*name || !*shape)
		return;
	if (asprintf(&whole, "%s%s", *name, shape) < 0)
		whole = NULL;
	free(*name);
	*name = whole;
}

/* Characters of names that are compared at once. */
#define APART_MAX (64 << 20)

/* Of several forms of one function the first is named. */
static int name_first_forms(char *const whole[], const size_t of[], size_t n, char *ret[])
{
	_cleanup_(freep) size_t *first = calloc(n + 1, sizeof(*first));
	const char **texts = calloc(n + 1, sizeof(*texts));
	char **names = calloc(n + 1, sizeof(*names));
	int r = first && texts && names ? 0 : -ENOMEM;
	size_t n_first = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		if (of[i] != i)
			continue;
		texts[n_first] = whole[i];
		first[n_first++] = i;
	}
	if (r == 0)
		r = apart_names(texts, n_first, names);
	if (r == 0)
		r = plain_apart(texts, n_first, names);
	for (size_t i = 0; i < n_first && names; i++)
		ret[first[i]] = names[i];
	free(texts);
	free(names);
	return r;
}

int readable_apart(const char *const raw[], size_t n, char *ret[], size_t ret_of[])
{
	char **whole = calloc(n + 1, sizeof(*whole));
	size_t length = 0;
	int r = whole ? 0 : -ENOMEM;

	for (size_t i = 0; i < n && r == 0; i++) {
		whole[i] = bare_whole(raw[i]);
		length += whole[i] ? strlen(whole[i]) : 0;
		r = !whole[i] ? -ENOMEM : length > APART_MAX ? -E2BIG : 0;
	}
	if (r == 0)
		r = forms_find(raw, (const char *const *)whole, n, ret_of);
	if (r == 0)
		r = name_first_forms(whole, ret_of, n, ret);
	for (size_t i = 0; i < n && r == 0; i++)
		append_shape(&ret[i], raw[i]);
	for (size_t i = 0; whole && i < n; i++)
		free(whole[i]);
	free(whole);
	return r;
}

/* As expressions are, a text is matched from the beginning on: without a shape it is of any. */
bool readable_could_be(const char *raw, const char *text)
{
	const char *shape = shape_of(text);
	_cleanup_(freep) char *whole = NULL;
	_cleanup_(freep) char *bare = NULL;

	if (*shape && strcmp(shape, shape_of(raw)) != 0)
		return false;
	whole = bare_whole(raw);
	bare = strndup(text, (size_t)(shape - text));
	return whole && bare && (apart_could_be(whole, bare) || plain_could_be(whole, bare));
}

const struct naming readable_naming = {readable_name, readable_apart, readable_could_be};
