/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/demangle.h"
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"

#ifdef HAVE_DEMANGLER
#include <libiberty/demangle.h>
#endif

/* The end of a name: the first '(' at depth 0 that opens the parameters. "operator()" and
 * "(anonymous namespace)" have parentheses of their own. */
static const char *name_end(const char *s)
{
	static const char anonymous[] = "(anonymous namespace)", call[] = "operator()";
	int depth = 0;

	for (; *s; s++) {
		if (!strncmp(s, anonymous, sizeof(anonymous) - 1)) {
			s += sizeof(anonymous) - 2;
		} else if (!strncmp(s, call, sizeof(call) - 1)) {
			s += sizeof(call) - 2;
		} else if (*s == '<' && s[-1] != 'r') { /* not "operator<" */
			depth++;
		} else if (*s == '>' && depth) {
			depth--;
		} else if (*s == '(' && !depth) {
			return s;
		}
	}
	return s;
}

enum { ARGUMENTS_KEPT = 48 }; /* "<128, 64>" tells kernels apart; a page of functors does not */

/* The end of the template arguments that begin at s ('<'), behind their '>'. */
static const char *arguments_end(const char *s, const char *end)
{
	int depth = 0;

	for (; s < end; s++) {
		depth += (*s == '<') - (*s == '>');
		if (!depth)
			return s + 1;
	}
	return end;
}

/* Copy [s, end) without long template arguments, the return type before the last blank, and
 * anonymous namespaces. */
static char *shorten(const char *s, const char *end)
{
	static const char anonymous[] = "(anonymous namespace)::";
	char *out = malloc((size_t)(end - s) + 8), *p = out;
	const char *stop;

	while (out && s < end) {
		if (!strncmp(s, anonymous, sizeof(anonymous) - 1)) {
			s += sizeof(anonymous) - 1;
		} else if (*s == '<' && p > out && p[-1] != 'r') {
			stop = arguments_end(s, end);
			if (stop - s <= ARGUMENTS_KEPT) {
				memcpy(p, s, (size_t)(stop - s));
				p += stop - s;
			} else {
				memcpy(p, "<...>", 5);
				p += 5;
			}
			s = stop;
		} else if (*s == ' ' && !(p - out >= 8 && !strncmp(p - 8, "operator", 8))) {
			p = out; /* what came before was the return type */
			s++;
		} else {
			*p++ = *s++;
		}
	}
	if (out)
		*p = '\0';
	return out;
}

static char *short_name(const char *whole)
{
	char *brief = shorten(whole, name_end(whole));

	if (brief && *brief)
		return brief;
	free(brief);
	return NULL;
}

/* Traces hold kernels as their compilers print them: "void gemm<float>(float*, int)". No scope and
 * no Python function looks so. */
static bool is_kernel_signature(const char *name)
{
	size_t n = strlen(name);

	return !strncmp(name, "void ", 5) && name[n - 1] == ')';
}

char *demangle_name(const char *raw, enum name_mode mode)
{
	char *whole = NULL, *brief;

	if (mode == NAME_SHORT && is_kernel_signature(raw))
		return short_name(raw);
#ifdef HAVE_DEMANGLER
	if (raw[0] == '_' && mode != NAME_RAW)
		whole = cplus_demangle(raw, DMGL_PARAMS | DMGL_ANSI | DMGL_AUTO);
#endif
	if (!whole || mode == NAME_DEMANGLED)
		return whole;
	brief = short_name(whole);
	free(whole);
	return brief;
}

void put_readable(struct buf *out, const char *raw, enum name_mode mode)
{
	_cleanup_(freep) char *readable = mode == NAME_RAW ? NULL : demangle_name(raw, mode);

	buf_puts(out, readable ? readable : raw);
}

void put_path(struct buf *out, const char *const *raw, size_t n, enum name_mode mode, bool ascii)
{
	while (n-- > 0) {
		put_readable(out, raw[n], mode);
		if (n)
			buf_puts(out, ascii ? " > " : " \xe2\x80\xba ");
	}
}
