/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "ttgir/insert.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ttgir/module_line.h"

#define RECORD "proton.record"

/* As the dialect writes texts: what is not plain, by its two digits. */
static void put_quoted(struct buf *out, const char *name)
{
	buf_putc(out, '"');
	for (const unsigned char *p = (const unsigned char *)name; *p; p++)
		if (*p < ' ' || *p > '~' || *p == '"' || *p == '\\')
			buf_printf(out, "\\%02X", *p);
		else
			buf_putc(out, (char)*p);
	buf_putc(out, '"');
}

static void put_record(struct buf *out, const struct ttgir_scope *scope, bool is_start)
{
	buf_printf(out, "%*s" RECORD " %s ", (int)scope->indent, "", is_start ? "start" : "end");
	put_quoted(out, scope->name);
	if (scope->op->location.len)
		buf_printf(out, " loc(%.*s)", (int)scope->op->location.len, scope->op->location.at);
	buf_putc(out, '\n');
}

/* The name of a record that is there already, in its quotes. */
static struct ttgir_text recorded(const struct ttgir *m, const struct ttgir_op *op)
{
	const char *end = m->text.at + op->end, *p, *last;

	if (!ttgir_is_named(op, RECORD))
		return (struct ttgir_text){0};
	p = memchr(op->name.at, '"', (size_t)(end - op->name.at));
	last = p ? module_quoted_end(p, end) : NULL;
	return last ? (struct ttgir_text){p, (size_t)(last - p)} : (struct ttgir_text){0};
}

static bool is_recorded(const struct ttgir *m, const char *name)
{
	struct buf quoted = {0};
	bool is = false;

	put_quoted(&quoted, name);
	for (size_t i = 0; i < m->n_ops && !is; i++) {
		struct ttgir_text there = recorded(m, &m->ops[i]);

		is = there.len && there.len == quoted.len &&
		     !memcmp(there.at, quoted.data, quoted.len);
	}
	buf_done(&quoted);
	return is;
}

static int check_new(const struct ttgir *m, const struct ttgir_places *places, char *why,
		     size_t size)
{
	for (size_t i = 0; i < places->n_scopes; i++)
		if (is_recorded(m, places->scopes[i].name)) {
			snprintf(why, size, "it has records of a scope '%s' already",
				 places->scopes[i].name);
			return -EINVAL;
		}
	return 0;
}

static void put_text(struct buf *out, const struct ttgir *m, const struct ttgir_places *places)
{
	size_t at = 0;

	for (size_t i = 0; i < places->n_records; i++) {
		const struct ttgir_record *r = &places->records[i];

		buf_put(out, m->text.at + at, r->at - at);
		at = r->at;
		put_record(out, &places->scopes[r->scope], r->is_start);
	}
	buf_put(out, m->text.at + at, m->text.len - at);
}

int ttgir_insert(struct ttgir *m, const char *text, size_t len, const struct ttgir_rules *rules,
		 struct buf *out, struct ttgir_places *ret_places, char *ret_why, size_t size)
{
	int r = ttgir_read(m, text, len, ret_why, size);

	if (r < 0)
		return r;
	r = ttgir_places_find(ret_places, m, rules, ret_why, size);
	if (r == 0)
		r = check_new(m, ret_places, ret_why, size);
	if (r == 0) {
		put_text(out, m, ret_places);
		r = out->error;
		if (r == 0)
			return 0;
	}
	ttgir_places_done(ret_places);
	ttgir_done(m);
	return r;
}
