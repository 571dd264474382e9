/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/readable.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "core/activity.h"
#include "naming/brief.h"
#include "naming/plain.h"
#include "naming/rules.h"

#ifdef HAVE_DEMANGLER
#include <libiberty/demangle.h>
#endif

_Static_assert(BRIEF_N + 1 == NAMING_LEVELS, "above the short forms there is the whole");

/* libiberty refuses names of more than 1024 characters, unless it may recurse as deep as a name
 * goes: CUTLASS has some of five thousand. What is longer than this would take megabytes of stack. */
#define SYMBOL_MAX 16384

static char *demangle(const char *raw)
{
#ifdef HAVE_DEMANGLER
	if (raw[0] == '_' && strlen(raw) <= SYMBOL_MAX)
		return cplus_demangle(raw,
				      DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO | DMGL_NO_RECURSE_LIMIT);
#endif
	(void)raw;
	return NULL;
}

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

	if (n > SYMBOL_MAX || n == 0 || strpbrk(name, "=\"\t\n") || strstr(name, ": "))
		return false;
	if (kind == FRAME_KERNEL)
		return (name[n - 1] == ')' && !is_call(name)) || name[n - 1] == '>' ||
		       (name[n - 1] == ']' && strstr(name, ") [clone ."));
	return !strncmp(name, "void ", 5) && name[n - 1] == ')';
}

static char *readable(const char *raw, enum frame_kind kind, unsigned level)
{
	char *whole = demangle(raw), *brief;

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

/* A kernel with the shape of its launch behind it is named without it, and gets it back. */
char *readable_name(const char *raw, enum frame_kind kind, unsigned level)
{
	size_t len = strlen(raw), bare = kind == FRAME_KERNEL ? activity_bare_len(raw, len) : len;
	_cleanup_(freep) char *symbol = NULL;
	_cleanup_(freep) char *name = NULL;
	char *whole;

	if (bare == len)
		return readable(raw, kind, level);
	symbol = strndup(raw, bare);
	name = symbol ? readable(symbol, kind, level) : NULL;
	return name && asprintf(&whole, "%s%s", name, raw + bare) >= 0 ? whole : NULL;
}
