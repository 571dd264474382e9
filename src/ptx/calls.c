/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/calls.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

enum { NAMES_MOST = 4 };

static int compare_names(struct ptx_span a, struct ptx_span b)
{
	int r = memcmp(a.at, b.at, MIN(a.n, b.n));

	return r ? r : COMPARE(a.n, b.n);
}

static int by_name(const void *a, const void *b, void *ctx)
{
	const struct ptx_text *t = ctx;
	const uint32_t *x = a, *y = b;

	return compare_names(t->function[*x].name, t->function[*y].name);
}

int ptx_calls_init(struct ptx_calls *c, const struct ptx_text *t)
{
	*c = (struct ptx_calls){.text = t,
				.by_name = calloc(t->n_functions + 1, sizeof(*c->by_name)),
				.seen = calloc(t->n_functions + 1, sizeof(*c->seen))};
	if (!c->by_name || !c->seen)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_functions; i++)
		if (!t->function[i].is_entry)
			c->by_name[c->n++] = i;
	qsort_r(c->by_name, c->n, sizeof(*c->by_name), by_name, (void *)(uintptr_t)t);
	return 0;
}

void ptx_calls_done(struct ptx_calls *c)
{
	free(c->by_name);
	free(c->seen);
	*c = (struct ptx_calls){.n = 0};
}

/* call.uni (ret), name, (parameters); what is returned may not be there. */
static struct ptx_span callee_of(const struct ptx_statement *s)
{
	const char *at = s->operands.at, *end = at + s->operands.n, *closed;

	if (at < end && *at == '(') {
		closed = memchr(at, ')', (size_t)(end - at));
		at = closed ? closed + 1 : end;
	}
	while (at < end && (isspace((unsigned char)*at) || *at == ','))
		at++;
	closed = at;
	while (closed < end && (isalnum((unsigned char)*closed) || strchr("_$%", *closed)))
		closed++;
	return (struct ptx_span){at, (size_t)(closed - at)};
}

/* PTX_NONE: it is declared alone, or a register says which. */
static uint32_t find(const struct ptx_calls *c, struct ptx_span name)
{
	size_t low = 0;

	BISECT(low, c->n, i, compare_names(c->text->function[c->by_name[i]].name, name) < 0);
	return low < c->n && !compare_names(c->text->function[c->by_name[low]].name, name)
		       ? c->by_name[low]
		       : PTX_NONE;
}

static void put_name(const struct ptx_calls *c, uint32_t function, unsigned n, struct buf *to)
{
	struct ptx_span name = c->text->function[function].name;

	if (n < NAMES_MOST)
		buf_printf(to, "%s%.*s", n ? ", " : "", (int)name.n, name.at);
	else if (n == NAMES_MOST)
		buf_puts(to, ", …");
}

unsigned ptx_calls_put(struct ptx_calls *c, const struct ptx_function *kernel, struct buf *to)
{
	uint32_t number = (uint32_t)(kernel - c->text->function) + 1, found;
	unsigned n = 0;

	for (uint32_t i = kernel->first; c->n && i < kernel->first + kernel->n; i++) {
		const struct ptx_statement *s = &c->text->statement[i];

		if (s->kind != PTX_IS_INSTRUCTION || !ptx_opcode_is(s->opcode, "call"))
			continue;
		found = find(c, callee_of(s));
		if (found == PTX_NONE || c->seen[found] == number)
			continue;
		c->seen[found] = number;
		put_name(c, found, n++, to);
	}
	return n;
}
