/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "ttgir/places.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/util.h"
#include "ttgir/positions.h"

#define NO_NEXT UINT32_MAX

struct finder {
	struct ttgir_places *places;
	const struct ttgir *m;
	const struct ttgir_rules *rules;
	uint32_t *
		next; /* of each operation: the one behind it in its block; NO_NEXT: it ends that */
	uint32_t *kernel; /* … the kernel that takes records there; TTGIR_NONE: none does */
	uint32_t rule;
	const struct ttgir_rule *asked;
};

/* ---- which operations there are to choose from ---- */

static bool is_loop(const struct ttgir_op *op)
{
	return op->body && (ttgir_is_named(op, "scf.for") || ttgir_is_named(op, "scf.while"));
}

/* Is what is in its regions executed one after the other, as it stands there? */
static bool takes_records(const struct ttgir_op *op)
{
	return is_loop(op) || ttgir_is_named(op, "scf.if") ||
	       ttgir_is_named(op, "scf.execute_region") ||
	       ttgir_is_named(op, "ttg.warp_specialize");
}

/* A kernel that is wanted. */
static bool is_chosen(const struct finder *f, uint32_t op)
{
	struct ttgir_text name = ttgir_function_name(f->m, &f->m->ops[op]);
	char *text = NULL;
	bool is = ttgir_is_kernel(f->m, &f->m->ops[op]) && (text = strndup(name.at, name.len)) &&
		  ttgir_rules_want(f->rules, text);

	free(text);
	return is;
}

static uint32_t kernel_around(const struct finder *f, uint32_t op)
{
	uint32_t parent = f->m->ops[op].parent;

	if (parent == TTGIR_NONE)
		return TTGIR_NONE;
	if (is_chosen(f, parent))
		return parent;
	return takes_records(&f->m->ops[parent]) ? f->kernel[parent] : TTGIR_NONE;
}

/* last: of each block, the operation that was seen last. */
static void look_around(struct finder *f, uint32_t *last)
{
	for (uint32_t i = 0; i < f->m->n_ops; i++) {
		uint32_t block = f->m->ops[i].block;

		f->next[i] = NO_NEXT;
		if (last[block] != NO_NEXT)
			f->next[last[block]] = i;
		last[block] = i;
		f->kernel[i] = kernel_around(f, i);
		f->places->n_kernels += is_chosen(f, i);
	}
}

static int survey(struct finder *f)
{
	size_t n_blocks = 1;
	uint32_t *last;

	for (size_t i = 0; i < f->m->n_ops; i++)
		n_blocks = MAX(n_blocks, (size_t)f->m->ops[i].block + 1);
	f->next = calloc(f->m->n_ops + 1, sizeof(*f->next));
	f->kernel = calloc(f->m->n_ops + 1, sizeof(*f->kernel));
	last = malloc(n_blocks * sizeof(*last));
	if (f->next && f->kernel && last) {
		memset(last, 0xff, n_blocks * sizeof(*last));
		look_around(f, last);
	}
	free(last);
	return f->next && f->kernel && last ? 0 : -ENOMEM;
}

/* ---- names ---- */

static char *_printf_(1, 2) text_of(const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	return n < 0 ? NULL : text;
}

/* "tt.load@k.py:10" */
static char *name_at(const struct finder *f, const struct ttgir_op *op, struct ttgir_text what)
{
	struct ttgir_position p;
	struct ttgir_text file;

	if (!ttgir_position(f->m, op, &p))
		return text_of("%.*s", (int)what.len, what.at);
	file = ttgir_base_name(p.file);
	return text_of("%.*s@%.*s:%u", (int)what.len, what.at, (int)file.len, file.at, p.line);
}

static char *name_of_lines(const struct ttgir_rule *rule)
{
	const char *slash = strrchr(rule->text, '/'), *file = slash ? slash + 1 : rule->text;

	if (rule->first == rule->last)
		return text_of("%s:%u", file, rule->first);
	return text_of("%s:%u-%u", file, rule->first, rule->last);
}

static char *name_of(const struct finder *f, const struct ttgir_op *op)
{
	static const struct ttgir_text loop = {"loop", 4}, iteration = {"iteration", 9};
	struct ttgir_text function = ttgir_function_name(f->m, op);

	if (f->asked->name)
		return strdup(f->asked->name);
	switch (f->asked->kind) {
	case TTGIR_RULE_FUNCTION:
		return text_of("%.*s", (int)function.len, function.at);
	case TTGIR_RULE_LOOP:
		return name_at(f, op, loop);
	case TTGIR_RULE_ITERATION:
		return name_at(f, op, iteration);
	case TTGIR_RULE_LINES:
		return name_of_lines(f->asked);
	default:
		return name_at(f, op, op->name);
	}
}

/* ---- scopes ---- */

/* Steals scope->name, which may be NULL. */
static int add_scope(struct finder *f, struct ttgir_scope scope)
{
	struct ttgir_places *p = f->places;

	scope.rule = f->rule;
	if (!scope.name || ARRAY_ROOM(p->scopes, p->cap_scopes, p->n_scopes + 1) < 0) {
		free(scope.name);
		return -ENOMEM;
	}
	p->scopes[p->n_scopes++] = scope;
	return 0;
}

/* Around operations of a block, from one to another. */
static int add_around(struct finder *f, uint32_t first, uint32_t last)
{
	const struct ttgir_op *op = &f->m->ops[first];

	return add_scope(f, (struct ttgir_scope){.name = name_of(f, op),
						 .op = op,
						 .from = op->at,
						 .to = f->m->ops[last].end,
						 .indent = op->indent,
						 .kernel = f->kernel[first]});
}

/* The operation that ends the last region of another; NO_NEXT: there is none. */
static uint32_t last_within(const struct finder *f, uint32_t op)
{
	uint32_t last = NO_NEXT;

	for (uint32_t i = op + 1; i < f->m->n_ops && f->m->ops[i].at < f->m->ops[op].end; i++)
		if (f->m->ops[i].parent == op && f->next[i] == NO_NEXT)
			last = i;
	return last;
}

/* Around what is within a region, but for what ends that. */
static int add_within(struct finder *f, uint32_t around, uint32_t kernel)
{
	const struct ttgir_op *op = &f->m->ops[around];
	uint32_t last = last_within(f, around);

	if (last == NO_NEXT || f->m->ops[last].at <= op->body)
		return 0;
	return add_scope(f, (struct ttgir_scope){.name = name_of(f, op),
						 .op = op,
						 .from = op->body,
						 .to = f->m->ops[last].at,
						 .indent = f->m->ops[last].indent,
						 .kernel = kernel});
}

/* A kernel as a whole, where one block is all of it: the compiler takes no scope that is left at several places. */
static int add_kernel(struct finder *f, uint32_t kernel)
{
	uint32_t n_ends = 0;

	for (uint32_t i = kernel + 1; i < f->m->n_ops; i++)
		n_ends += f->m->ops[i].parent == kernel && f->next[i] == NO_NEXT;
	if (n_ends == 1)
		return add_within(f, kernel, kernel);
	f->places->branching = &f->m->ops[kernel];
	return 0;
}

/* ---- lines ---- */

static bool is_file(const char *asked, struct ttgir_text file)
{
	size_t len = strlen(asked);

	return file.len >= len && !memcmp(file.at + file.len - len, asked, len) &&
	       (file.len == len || *asked == '/' || file.at[file.len - len - 1] == '/');
}

static bool is_asked_line(void *ctx, const struct ttgir_position *p)
{
	const struct ttgir_rule *rule = ctx;

	return p->line >= rule->first && p->line <= rule->last && is_file(rule->text, p->file);
}

static bool is_of_line(const struct finder *f, uint32_t op)
{
	return ttgir_positions(f->m, &f->m->ops[op], is_asked_line, (void *)f->asked);
}

/* What of a block is of these lines makes one scope as long as nothing of another line is between. */
static int add_lines(struct finder *f, uint32_t op, uint32_t *seen)
{
	struct ttgir_position p;
	uint32_t last = op;

	if (op < *seen || !is_of_line(f, op))
		return 0;
	for (uint32_t i = op; f->next[i] != NO_NEXT; i = f->next[i])
		if (is_of_line(f, i))
			last = i;
		else if (ttgir_position(f->m, &f->m->ops[i], &p))
			break;
	while (*seen < f->m->n_ops && f->m->ops[*seen].at < f->m->ops[last].end)
		++*seen;
	return add_around(f, op, last);
}

/* ---- rules ---- */

/* What one of an operation's rules is about: its name, or its first line from that on. */
static bool is_asked_operation(const struct finder *f, const struct ttgir_op *op)
{
	const char *end = f->m->text.at + op->end, *newline;
	struct ttgir_text text = op->name;
	char *copy;
	bool is;

	if (f->asked->kind == TTGIR_RULE_MATCH) {
		newline = memchr(text.at, '\n', (size_t)(end - text.at));
		text.len = (size_t)((newline ? newline : end) - text.at);
	}
	copy = strndup(text.at, text.len);
	is = copy && regexec(&f->asked->regex, copy, 0, NULL, 0) == 0;
	free(copy);
	return is;
}

static int apply_at(struct finder *f, uint32_t i, uint32_t *seen)
{
	const struct ttgir_op *op = &f->m->ops[i];
	bool is_inner = f->kernel[i] != TTGIR_NONE && f->next[i] != NO_NEXT;

	switch (f->asked->kind) {
	case TTGIR_RULE_FUNCTION:
		return is_chosen(f, i) ? add_kernel(f, i) : 0;
	case TTGIR_RULE_LOOP:
		return is_inner && is_loop(op) ? add_around(f, i, i) : 0;
	case TTGIR_RULE_ITERATION:
		return is_inner && is_loop(op) ? add_within(f, i, f->kernel[i]) : 0;
	case TTGIR_RULE_LINES:
		return is_inner ? add_lines(f, i, seen) : 0;
	case TTGIR_RULE_OPERATION:
	case TTGIR_RULE_MATCH:
		return is_inner && is_asked_operation(f, op) ? add_around(f, i, i) : 0;
	case TTGIR_RULE_KERNEL:
	case TTGIR_RULE_SKIP:
		break;
	}
	return 0;
}

static int apply(struct finder *f)
{
	int r = 0;

	for (f->rule = 0; f->rule < f->rules->n; f->rule++) {
		uint32_t seen = 0;

		f->asked = &f->rules->v[f->rule];
		for (uint32_t i = 0; r == 0 && i < f->m->n_ops; i++)
			r = apply_at(f, i, &seen);
	}
	return r;
}

/* ---- records ---- */

static int compare_scopes(const void *a, const void *b)
{
	const struct ttgir_scope *x = a, *y = b;

	if (x->from != y->from)
		return COMPARE(x->from, y->from);
	if (x->to != y->to)
		return COMPARE(y->to, x->to);
	return COMPARE(x->rule, y->rule);
}

static int compare_records(const void *a, const void *b)
{
	const struct ttgir_record *x = a, *y = b;

	if (x->at != y->at)
		return COMPARE(x->at, y->at);
	if (x->is_start != y->is_start)
		return x->is_start ? 1 : -1;
	return x->is_start ? COMPARE(x->scope, y->scope) : COMPARE(y->scope, x->scope);
}

static int add_record(struct ttgir_places *p, size_t at, size_t scope, bool is_start)
{
	if (ARRAY_ROOM(p->records, p->cap_records, p->n_records + 1) < 0)
		return -ENOMEM;
	p->records[p->n_records++] = (struct ttgir_record){at, (uint32_t)scope, is_start};
	return 0;
}

/* A scope of the same name that one is in, or that it reaches into: the compiler tells them apart by their names there. */
static bool is_taken(const struct ttgir_places *p, size_t scope, const char *name)
{
	for (size_t i = 0; i < scope; i++)
		if (p->scopes[i].to > p->scopes[scope].from && !strcmp(p->scopes[i].name, name))
			return true;
	return false;
}

static int tell_apart(struct ttgir_places *p, size_t scope)
{
	char *plain = p->scopes[scope].name, *name = plain;

	for (unsigned n = 2; name && is_taken(p, scope, name); n++) {
		if (name != plain)
			free(name);
		name = text_of("%s#%u", plain, n);
	}
	if (name == plain)
		return 0;
	p->scopes[scope].name = name ? name : plain;
	if (name)
		free(plain);
	return name ? 0 : -ENOMEM;
}

static int put_names(struct ttgir_places *p)
{
	int r = 0;

	if (p->n_scopes)
		qsort(p->scopes, p->n_scopes, sizeof(*p->scopes), compare_scopes);
	for (size_t i = 0; r == 0 && i < p->n_scopes; i++)
		r = tell_apart(p, i);
	return r;
}

static int put_records(const struct finder *f)
{
	struct ttgir_places *p = f->places;
	int r = 0;

	for (size_t i = 0; r == 0 && i < p->n_scopes; i++) {
		r = add_record(p, p->scopes[i].from, i, true);
		if (r == 0)
			r = add_record(p, p->scopes[i].to, i, false);
	}
	if (r == 0 && p->n_records)
		qsort(p->records, p->n_records, sizeof(*p->records), compare_records);
	return r;
}

int ttgir_places_find(struct ttgir_places *places, const struct ttgir *m,
		      const struct ttgir_rules *rules, char *ret_why, size_t size)
{
	struct finder f = {.places = places, .m = m, .rules = rules};
	int r;

	*places = (struct ttgir_places){0};
	r = survey(&f);
	if (r == 0)
		r = apply(&f);
	if (r == 0 && places->n_scopes > TTGIR_SCOPES) {
		snprintf(ret_why, size, "there would be %zu scopes, and a record tells %u apart",
			 places->n_scopes, TTGIR_SCOPES);
		r = -EINVAL;
	}
	if (r == 0)
		r = put_names(places);
	if (r == 0)
		r = put_records(&f);
	free(f.next);
	free(f.kernel);
	if (r < 0)
		ttgir_places_done(places);
	return r;
}

void ttgir_places_done(struct ttgir_places *places)
{
	for (size_t i = 0; i < places->n_scopes; i++)
		free(places->scopes[i].name);
	free(places->scopes);
	free(places->records);
	*places = (struct ttgir_places){0};
}
