/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/demangle.h"
#include <stddef.h>

#ifdef HAVE_DEMANGLER
#include <ctype.h>
#include <libiberty/demangle.h>
#undef ARRAY_SIZE /* of libiberty.h: base/util.h has one, too */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"

/* CUTLASS has symbols of five thousand characters. What is longer than this would take megabytes of
 * stack: libiberty calls itself as deep as a name goes. */
#define SYMBOL_MAX 16384
#define TEXT_MAX   (1u << 16) /* characters; libraries have names of 18,000 */
#define WORK_MAX                                                                                   \
	(1u << 20) /* characters that a symbol may stand for, as far as that is known before */
#define STACK_MAX (1u << 16) /* records that libiberty takes from the stack while it writes */
#define DEPTH_MAX 4096       /* of components; libiberty writes none that are deeper than 1024 */
#define BACK_MAX  24         /* back references in a symbol of Rust: each may double its text */

/* ---- how much a symbol stands for ---- */

/* What is written of a component: `fixed` characters, and as many times what the template is given that it
 * stands in, for parameters of templates are written as that. Both stop at WORK_MAX. */
struct expanse {
	uint32_t fixed, given;
	uint32_t items; /* of a list of arguments, from here on */
};

struct measure {
	const struct demangle_component *first; /* of all, one behind the other */
	size_t n;
	struct expanse *known; /* by component */
	uint8_t *seen;         /* in which round that was */
	uint8_t round;
	uint64_t templates, references; /* for each pair of them libiberty has a record */
	uint32_t packs, longest; /* a pack is written as often as the longest list has items */
};

static uint32_t capped(uint64_t n)
{
	return (uint32_t)MIN(n, (uint64_t)WORK_MAX);
}

static struct expanse both(struct expanse a, struct expanse b)
{
	return (struct expanse){.fixed = capped((uint64_t)a.fixed + b.fixed),
				.given = capped((uint64_t)a.given + b.given)};
}

/* What stands in a template that is given this. */
static struct expanse within(struct expanse inner, struct expanse given)
{
	return (struct expanse){.fixed = capped(inner.fixed + (uint64_t)inner.given * given.fixed),
				.given = capped((uint64_t)inner.given * given.given)};
}

/* What a component consists of: the fields of a union that its kind uses. */
struct parts {
	const struct demangle_component *left, *right;
	uint32_t text; /* characters of its own, about */
	bool given;    /* is it a parameter of a template? */
};

static struct parts parts_of(const struct demangle_component *c)
{
	switch (c->type) {
	case DEMANGLE_COMPONENT_NAME:
		return (struct parts){.text = (uint32_t)MAX(c->u.s_name.len, 0)};
	case DEMANGLE_COMPONENT_SUB_STD:
		return (struct parts){.text = (uint32_t)MAX(c->u.s_string.len, 0)};
	case DEMANGLE_COMPONENT_TEMPLATE_PARAM:
		return (struct parts){.given = true};
	case DEMANGLE_COMPONENT_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_EXTENDED_BUILTIN_TYPE:
	case DEMANGLE_COMPONENT_FUNCTION_PARAM:
	case DEMANGLE_COMPONENT_OPERATOR:
	case DEMANGLE_COMPONENT_CHARACTER:
	case DEMANGLE_COMPONENT_NUMBER:
	case DEMANGLE_COMPONENT_UNNAMED_TYPE:
		return (struct parts){.text = 16};
	case DEMANGLE_COMPONENT_EXTENDED_OPERATOR:
		return (struct parts){.left = c->u.s_extended_operator.name};
	case DEMANGLE_COMPONENT_FIXED_TYPE:
		return (struct parts){.left = c->u.s_fixed.length};
	case DEMANGLE_COMPONENT_CTOR:
		return (struct parts){.left = c->u.s_ctor.name};
	case DEMANGLE_COMPONENT_DTOR:
		return (struct parts){.left = c->u.s_dtor.name};
	case DEMANGLE_COMPONENT_LAMBDA:
	case DEMANGLE_COMPONENT_DEFAULT_ARG:
		return (struct parts){.left = c->u.s_unary_num.sub, .text = 16};
	default:
		return (struct parts){.left = c->u.s_binary.left, .right = c->u.s_binary.right};
	}
}

/* The arguments of the template that a function is, which its type may use. */
static const struct demangle_component *arguments_of(const struct demangle_component *name)
{
	while (name && name->type != DEMANGLE_COMPONENT_TEMPLATE) {
		struct parts parts = parts_of(name);

		name = parts.right ? parts.right : parts.left;
	}
	return name ? name->u.s_binary.right : NULL;
}

static struct expanse measure(struct measure *m, const struct demangle_component *c,
			      unsigned depth);

/* What a component writes, once both of its parts are known. */
static struct expanse measure_parts(struct measure *m, const struct demangle_component *c,
				    struct parts parts, unsigned depth)
{
	struct expanse all = {.fixed = capped((uint64_t)parts.text + 4), .given = parts.given};
	struct expanse left = measure(m, parts.left, depth + 1);
	struct expanse right = measure(m, parts.right, depth + 1);

	switch (c->type) {
	case DEMANGLE_COMPONENT_TEMPLATE:
		m->templates++;
		left = within(left, right); /* a conversion to what it is given */
		break;
	case DEMANGLE_COMPONENT_TYPED_NAME:
		right = within(right, measure(m, arguments_of(parts.left), depth + 1));
		break;
	case DEMANGLE_COMPONENT_REFERENCE:
	case DEMANGLE_COMPONENT_RVALUE_REFERENCE:
		m->references +=
			parts.left && parts.left->type == DEMANGLE_COMPONENT_TEMPLATE_PARAM;
		break;
	case DEMANGLE_COMPONENT_PACK_EXPANSION: /* looked through for its pack, then written */
		m->packs++;
		left.fixed = capped((uint64_t)left.fixed * (m->longest + 1));
		break;
	default:
		break;
	}
	all = both(all, both(left, right));
	if (c->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST) {
		all.items = right.items + 1;
		m->longest = MAX(m->longest, all.items);
	}
	return all;
}

/* A part that is there more than once is measured once. */
static struct expanse measure(struct measure *m, const struct demangle_component *c, unsigned depth)
{
	static const struct expanse nothing, too_much = {.fixed = WORK_MAX};
	size_t i = c ? (size_t)(c - m->first) : 0;

	if (!c)
		return nothing;
	if (c < m->first || i >= m->n || depth > DEPTH_MAX)
		return too_much;
	if (m->seen[i] != m->round) {
		m->seen[i] = m->round;
		m->known[i] = too_much; /* should it be part of itself */
		m->known[i] = measure_parts(m, c, parts_of(c), depth);
	}
	return m->known[i];
}

/* Can a symbol be written with what it may take? */
static bool is_bounded(const struct demangle_component *c, const void *first, size_t n)
{
	_cleanup_(freep) struct expanse *known = calloc(n, sizeof(*known));
	_cleanup_(freep) uint8_t *seen = calloc(n, sizeof(*seen));
	struct measure m = {.first = first, .n = n, .known = known, .seen = seen, .round = 1};
	struct expanse all = {.fixed = WORK_MAX};

	if (known && seen)
		all = measure(&m, c, 0);
	if (m.packs && m.longest > 1) { /* packs that came before the longest list */
		m.round++;
		all = measure(&m, c, 0);
	}
	return all.fixed < WORK_MAX && 4 * m.templates * m.references < STACK_MAX;
}

enum { OPTIONS = DMGL_PARAMS | DMGL_ANSI, FILLED = 2048 };

/* Leaves bytes on the stack where the frame of the function that is called next will be. */
__attribute__((noinline, no_sanitize("address"))) static void fill_stack(int byte)
{
	char area[FILLED];

	memset(area, byte, sizeof(area));
	__asm__ volatile("" : : "r"(area) : "memory");
}

/* How it reads names that are not resolved ("sr…"), libiberty (2.40) takes from a field that this function of its
 * does not set: first as it would by itself, then as old compilers wrote them, and the same each time. */
static struct demangle_component *components(const char *symbol, void **ret_memory)
{
	struct demangle_component *c;

	fill_stack(1);
	c = cplus_demangle_v3_components(symbol, OPTIONS, ret_memory);
	if (c || !strstr(symbol, "sr"))
		return c;
	fill_stack(0);
	return cplus_demangle_v3_components(symbol, OPTIONS, ret_memory);
}

static char *print(struct demangle_component *c, const void *memory, size_t len)
{
	size_t allocated;
	char *text = NULL;

	if (c && is_bounded(c, memory, 2 * len))
		text = cplus_demangle_print(OPTIONS, c, (int)(2 * len), &allocated);
	if (!text || strlen(text) <= TEXT_MAX)
		return text;
	free(text);
	return NULL;
}

/* ---- arguments whose type is declared ---- */

/* LLVM 18 and later write of an argument that is no type what it was declared as, where that is not clear
 * without it: "Tn", that type, and the argument. libiberty knows no "Tn". "Dn" in its place is one type,
 * that of nullptr, which is not counted among those that are referred back to, and so is what "Tn" stands
 * for; it and the type behind it are taken out of the list of arguments before that is written. Words of the
 * program's own ("kTnSize") are as long as before, so that they are found where they were and put back.
 *
 *     f<Tn int, 4>   _Z1fITniLi4EEvv  ─>  _Z1fIDniLi4EEvv   (nullptr_t, int, 4)  ─>  (4)
 */
struct declared {
	const char *original;
	char *symbol;           /* with "Dn" */
	size_t len, n_words_dn; /* n_words_dn: "Dn" in words of the original */
	const void *nullptr_type;
	const struct demangle_component *first;
	uint8_t *seen; /* by component */
	size_t n;
	bool failed; /* no argument follows */
};

static bool is_declaration(const struct declared *d, const struct demangle_component *list)
{
	const struct demangle_component *type = list->u.s_binary.left;

	return type && type->type == DEMANGLE_COMPONENT_BUILTIN_TYPE &&
	       type->u.s_builtin.type == d->nullptr_type;
}

static size_t count_dn(const char *text, size_t len)
{
	const char *end = text + len, *at = text;
	size_t n = 0;

	for (; (at = memmem(at, (size_t)(end - at), "Dn", 2)); at += 2)
		n++;
	return n;
}

/* A word of the symbol, as it was. Others are libiberty's. */
static void put_back(struct declared *d, const struct demangle_component *c)
{
	size_t at = (size_t)(c->u.s_name.s - d->symbol), len = (size_t)MAX(c->u.s_name.len, 0);

	if (c->u.s_name.s < d->symbol || at > d->len || len > d->len - at)
		return;
	memcpy(d->symbol + at, d->original + at, len);
	d->n_words_dn += count_dn(d->original + at, len);
}

static void take_out(struct declared *d, struct demangle_component *c, unsigned depth)
{
	struct parts parts;
	size_t i = c ? (size_t)(c - d->first) : 0;

	if (!c || c < d->first || i >= d->n || d->seen[i] || depth > DEPTH_MAX)
		return;
	d->seen[i] = 1;
	if (c->type == DEMANGLE_COMPONENT_NAME)
		put_back(d, c);
	while (c->type == DEMANGLE_COMPONENT_TEMPLATE_ARGLIST && is_declaration(d, c)) {
		const struct demangle_component *declared = c->u.s_binary.right;

		if (!declared || !declared->u.s_binary.right) {
			d->failed = true;
			return;
		}
		*c = *declared->u.s_binary.right;
	}
	parts = parts_of(c);
	take_out(d, (struct demangle_component *)parts.left, depth + 1);
	take_out(d, (struct demangle_component *)parts.right, depth + 1);
}

/* What libiberty has for the type "Dn". NULL: it does not know it either. */
static const void *find_nullptr_type(void)
{
	_cleanup_(freep) void *memory = NULL;
	struct demangle_component *c = components("_Z1fDn", &memory);

	c = c && c->type == DEMANGLE_COMPONENT_TYPED_NAME ? c->u.s_binary.right : NULL;
	c = c && c->type == DEMANGLE_COMPONENT_FUNCTION_TYPE ? c->u.s_binary.right : NULL;
	c = c ? c->u.s_binary.left : NULL;
	return c && c->type == DEMANGLE_COMPONENT_BUILTIN_TYPE ? c->u.s_builtin.type : NULL;
}

/* A "Dn" that was there and is no part of a word is the type: which one it was nobody can tell any more. */
static char *demangle_declared(const char *symbol, size_t len)
{
	_cleanup_(freep) char *changed = strdup(symbol);
	_cleanup_(freep) uint8_t *seen = calloc(2 * len, 1);
	_cleanup_(freep) void *memory = NULL;
	struct declared d = {.original = symbol,
			     .symbol = changed,
			     .len = len,
			     .nullptr_type = find_nullptr_type(),
			     .seen = seen,
			     .n = 2 * len};
	struct demangle_component *c;

	if (!changed || !seen || !d.nullptr_type)
		return NULL;
	for (char *at = changed; (at = strstr(at, "Tn")); at += 2)
		*at = 'D';
	c = components(changed, &memory);
	if (!c)
		return NULL;
	d.first = memory;
	take_out(&d, c, 0);
	if (d.failed || d.n_words_dn != count_dn(symbol, len))
		return NULL;
	return print(c, memory, len);
}

static char *demangle_cpp(const char *symbol, size_t len)
{
	_cleanup_(freep) void *memory = NULL;
	struct demangle_component *c = components(symbol, &memory);

	if (c)
		return print(c, memory, len);
	return strstr(symbol, "Tn") ? demangle_declared(symbol, len) : NULL;
}

/* ---- Rust ---- */

/* Symbols of its first scheme look like those of C++, and end in a hash. */
static bool is_old_rust(const char *symbol, size_t len)
{
	return len > 20 && !strncmp(symbol, "_ZN", 3) && !strncmp(symbol + len - 20, "17h", 3);
}

/* What looks like a back reference within a word counts, too. */
static bool has_few_back_references(const char *symbol)
{
	unsigned n = 0;

	for (const char *at = strchr(symbol, 'B'); at; at = strchr(at + 1, 'B')) {
		size_t digits = 1;

		while (isalnum((unsigned char)at[digits]))
			digits++;
		n += at[digits] == '_';
	}
	return n <= BACK_MAX;
}

char *demangle(const char *symbol)
{
	size_t len;
	char *text = NULL;

	if (symbol[0] != '_' || (symbol[1] != 'Z' && symbol[1] != 'R'))
		return NULL;
	len = strlen(symbol);
	if (len > SYMBOL_MAX)
		return NULL;
	if (symbol[1] == 'R')
		return has_few_back_references(symbol) ? rust_demangle(symbol, DMGL_PARAMS) : NULL;
	if (is_old_rust(symbol, len))
		text = rust_demangle(symbol, DMGL_PARAMS);
	return text ? text : demangle_cpp(symbol, len);
}

#else

char *demangle(const char *symbol)
{
	(void)symbol;
	return NULL;
}

#endif
