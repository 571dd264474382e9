/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/brief.h"
#include <ctype.h>
#include <string.h>
#include "base/buf.h"
#include "base/util.h"
#include "naming/rules.h"
#include "naming/sense.h"
#include "naming/signature.h"

/* Characters that a kernel's arguments may take, by level; 0: any number. */
static const unsigned arguments_max[BRIEF_N] = {[BRIEF_LEAST] = 100, [BRIEF_TYPED] = 160};

enum place { AT_KERNEL, AT_TYPE }; /* whose arguments are written */

struct writer {
	const struct signature *s;
	struct buf *out;
	enum brief_level level;
	unsigned tight;   /* how much more goes since the arguments are too many: 0 to 2 */
	unsigned style;   /* enum part_mark: what is added to the name that is written now */
	uint32_t functor; /* of the wrapper that is written now */
	bool library;     /* the kernel is of one with a rule (rule_is_library()) */
	bool bare;        /* names without arguments */
	bool unmarked;    /* marks are as if they were not there */
	bool sparse; /* only marked arguments: they are below one that would not stand itself */
};

/* ---- writing ---- */

static void put_argument(struct writer *w, uint32_t argument);
static void put_arguments(struct writer *w, const struct name_part *of, enum place place);
static bool put_list(struct writer *w, const struct name_part *of, enum place place, bool any);

static unsigned marks_of(const struct writer *w, const struct name_part *p)
{
	return w->unmarked ? 0 : p->marks;
}

/* "2ul" is 2, and "(Order)1" is 1. */
static void put_number(struct writer *w, const struct name_part *p)
{
	const char *text = p->text, *end = p->text + p->len;

	if (*text == '(')
		text = (const char *)memrchr(text, ')', p->len) + 1;
	if (isdigit((unsigned char)end[-1]) || strchr("uUlL", end[-1]))
		while (end > text + 1 && strchr("uUlL", end[-1]))
			end--;
	buf_put(w->out, text, (size_t)(end - text));
}

static void put_extent(struct writer *w, const struct name_part *of)
{
	for (uint32_t i = of->child; i != PART_NONE; i = part_of(w->s, i)->next) {
		if (i != of->child)
			buf_putc(w->out, 'x');
		put_number(w, type_number(w->s, i));
	}
}

/* A list of parameters in a lambda's name, without namespaces. */
static void put_plain_types(struct writer *w, const char *text, const char *end)
{
	const char *word = text;

	for (; text < end; text++) {
		if (text[0] == ':' && text + 1 < end && text[1] == ':') {
			text++;
			word = text + 1;
		} else if (!isalnum((unsigned char)*text) && *text != '_') {
			buf_put(w->out, word, (size_t)(text - word) + 1);
			word = text + 1;
		}
	}
	if (word < end)
		buf_put(w->out, word, (size_t)(end - word));
}

/* "{lambda(float)#1}": "(float)" when types are wanted, and "#1" when numbers are. */
static void put_lambda(struct writer *w, const struct name_part *p, bool last)
{
	const char *end = p->text + p->len, *types = memchr(p->text, '(', p->len);
	const char *number = memrchr(p->text, '#', p->len);

	if (w->style & MARK_NUMBERS && number)
		buf_put(w->out, number, (size_t)(end - number) - (end[-1] == '}'));
	if (w->style & MARK_TYPES && last && types)
		put_plain_types(w, types, number ? number : end);
}

/* Of a class, and of its operator that is meant. */
static void put_arguments_of_both(struct writer *w, const struct name_part *of,
				  const struct name_part *next)
{
	bool any = put_list(w, of, AT_TYPE, false);

	if (next && part_is_operator(next))
		any = put_list(w, next, AT_TYPE, any);
	if (any)
		buf_putc(w->out, '>');
}

/* The functor that a wrapper is written as, alone or within it; PART_NONE: it is as any type. */
static uint32_t functor_within(const struct writer *w, const struct name_part *wrapper,
			       bool *ret_alone)
{
	uint32_t functor;

	if (w->level >= BRIEF_NUMBERED)
		return PART_NONE;
	functor = functor_of(w->s, w->level, wrapper);
	*ret_alone = !(w->style & (MARK_OWN | MARK_NUMBERS));
	for (uint32_t i = wrapper->child; i != PART_NONE; i = part_of(w->s, i)->next)
		*ret_alone &= i == functor || !marks_of(w, part_of(w->s, i));
	return functor;
}

/* A wrapper's functor is written; the rest of it only as far as it is marked. */
static bool enter_wrapper(struct writer *w, const struct name_part *p)
{
	bool alone;
	uint32_t functor = part_rule(p) == RULE_WRAPPER ? functor_within(w, p, &alone) : PART_NONE;

	if (functor == PART_NONE)
		return false;
	if (alone) {
		put_argument(w, functor);
		return true;
	}
	w->functor = functor;
	w->sparse = true;
	return false;
}

/* Returns whether it is the function itself, and not the functor that it is a wrapper of. */
static bool put_function(struct writer *w, uint32_t id)
{
	const struct name_part *p = part_of(w->s, id);

	if (enter_wrapper(w, p))
		return false;
	buf_put(w->out, p->text,
		w->level < BRIEF_NUMBERED && part_rule(p) != RULE_WRAPPER
			? rule_bare_len(p->text, p->len)
			: p->len);
	put_arguments_of_both(w, p, p->next != PART_NONE ? part_of(w->s, p->next) : NULL);
	return true;
}

static void put_lambda_path(struct writer *w, uint32_t path)
{
	uint32_t around = path_around_lambda(w->s, path);

	if (around == PART_NONE)
		buf_puts(w->out, "lambda");
	else if (!put_function(w, around))
		return;
	for (; path != PART_NONE; path = part_of(w->s, path)->next) {
		const struct name_part *p = part_of(w->s, path);

		if (p->kind == PART_LAMBDA)
			put_lambda(w, p, !path_has_lambda(w->s, p->next));
	}
}

static void put_path(struct writer *w, const struct name_part *type)
{
	uint32_t at = path_behind_namespaces(w->s, type->child);
	const char *between = "";

	if (path_has_lambda(w->s, at)) {
		put_lambda_path(w, type->child);
		return;
	}
	if (type_is_address(type) && w->level < BRIEF_NUMBERED) {
		put_function(w, at);
		return;
	}
	for (; at != PART_NONE; at = part_of(w->s, at)->next) {
		const struct name_part *p = part_of(w->s, at);

		if (p->kind == PART_UNNAMED)
			continue;
		buf_puts(w->out, between);
		buf_put(w->out, p->text, p->len);
		if (p->has_args)
			put_arguments(w, p, AT_TYPE);
		between = "::";
	}
}

/* "{(Mode)1, 64u, true}", what an object holds that is an argument: numbers and truths alone. */
static void put_values(struct writer *w, const char *text, const char *end)
{
	while (text < end) {
		const char *cast = *text == '(' ? memchr(text, ')', (size_t)(end - text)) : NULL;

		if (cast) {
			text = cast + 1;
			continue;
		}
		buf_putc(w->out, *text);
		if (isdigit((unsigned char)*text++))
			while (text < end && strchr("uUlL", *text))
				text++;
	}
}

/* What stands behind a type: pointers always, the rest where types are wanted. */
static void put_behind(struct writer *w, const struct name_part *type)
{
	if (type->behind_len && *type->behind == '{') {
		put_values(w, type->behind, type->behind + type->behind_len);
		return;
	}
	if (w->style & MARK_TYPES) {
		put_plain_types(w, type->behind, type->behind + type->behind_len);
		return;
	}
	for (uint32_t i = 0; i < type->behind_len && !type_is_function(type); i++)
		if (type->behind[i] == '*')
			buf_putc(w->out, '*');
}

/* Pointers in pointers are iterators over what is pointed to. */
static void put_pointer(struct writer *w, uint32_t to)
{
	put_argument(w, to);
	if (w->out->len && w->out->data[w->out->len - 1] != '*')
		buf_putc(w->out, '*');
}

static void put_type(struct writer *w, const struct name_part *type)
{
	const struct name_part *p = part_of(w->s, path_behind_namespaces(w->s, type->child));
	enum rule rule = type_rule(w->s, type);

	if (rule == RULE_EXTENT && type_is_extent(w->s, p)) {
		put_extent(w, p);
		return;
	}
	if (rule == RULE_CONSTANT && p->child != PART_NONE && w->level < BRIEF_ALL) {
		put_number(w, part_of(w->s, p->child));
		return;
	}
	if (rule == RULE_WRAPPER && enter_wrapper(w, p))
		return;
	if (rule == RULE_POINTER && p->child != PART_NONE && w->level < BRIEF_ALL &&
	    p->next == PART_NONE) {
		put_pointer(w, p->child);
		return;
	}
	put_path(w, type);
	put_behind(w, type);
}

/* What a level adds to each name, and the marks of one. */
static unsigned style_of(const struct writer *w, unsigned marks)
{
	if (w->level >= BRIEF_TYPED)
		marks |= MARK_TYPES;
	if (w->level >= BRIEF_NUMBERED)
		marks |= MARK_OWN | MARK_NUMBERS;
	return marks;
}

static void put_argument(struct writer *w, uint32_t argument)
{
	const struct name_part *p = part_of(w->s, argument);
	const struct writer outer = *w;

	w->style = style_of(w, marks_of(w, p));
	w->functor = PART_NONE;
	if (marks_of(w, p) & MARK_WHOLE)
		buf_put(w->out, p->text, p->len);
	else if (p->kind == PART_TYPE)
		put_type(w, p);
	else if (p->kind == PART_NUMBER)
		put_number(w, p);
	else
		buf_put(w->out, p->text, p->len);
	*w = outer;
}

/* ---- which arguments are written ---- */

struct counted {
	unsigned elements, functors;
	uint32_t first_functor, first_shape, first_element;
};

static struct counted count(const struct writer *w, const struct name_part *of)
{
	struct counted n = {0, 0, PART_NONE, PART_NONE, PART_NONE};

	for (uint32_t i = of->child; i != PART_NONE; i = part_of(w->s, i)->next) {
		enum sense sense = sense_of(w->s, w->level, i);

		n.elements += sense == SENSE_ELEMENT;
		n.functors += sense == SENSE_FUNCTOR;
		if (sense == SENSE_FUNCTOR && n.first_functor == PART_NONE)
			n.first_functor = i;
		if (sense == SENSE_SHAPE && n.first_shape == PART_NONE)
			n.first_shape = i;
		if (sense == SENSE_ELEMENT && n.first_element == PART_NONE)
			n.first_element = i;
	}
	return n;
}

static bool is_truth(const struct name_part *p)
{
	return part_is(p, "true") || part_is(p, "false");
}

/* What stands when there is no room for all. */
static bool is_wanted_tight(const struct writer *w, uint32_t argument, enum place place,
			    const struct counted *n)
{
	bool typed = w->level >= BRIEF_TYPED,
	     element = sense_of(w->s, w->level, argument) == SENSE_ELEMENT;

	if (place == AT_TYPE && w->tight > 1)
		return argument == n->first_functor || argument == n->first_shape ||
		       (typed && argument == n->first_element);
	return (!element || typed) && !is_truth(part_of(w->s, argument));
}

/* What an element is, its pointers aside. */
static const char *element_text(const struct writer *w, uint32_t argument, size_t *ret_len)
{
	const struct name_part *p = part_of(w->s, argument);

	while (p->kind == PART_TYPE && type_rule(w->s, p) == RULE_POINTER) {
		uint32_t to = part_of(w->s, path_behind_namespaces(w->s, p->child))->child;

		if (to == PART_NONE)
			break;
		p = part_of(w->s, to);
	}
	*ret_len = p->kind == PART_TYPE ? (size_t)(p->behind - p->text) : p->len;
	return p->text;
}

/* Is the type of an element that of an argument before it? CUB has one for what it reads, one for what it
 * writes, and one for what it adds up in. */
static bool is_repeated(const struct writer *w, const struct name_part *of, uint32_t argument)
{
	size_t len, other_len;
	const char *text = element_text(w, argument, &len), *other;

	for (uint32_t i = of->child; i != argument; i = part_of(w->s, i)->next) {
		if (sense_of(w->s, w->level, i) != SENSE_ELEMENT)
			continue;
		other = element_text(w, i, &other_len);
		if (len == other_len && !memcmp(text, other, len))
			return true;
	}
	return false;
}

/* ---- Composable Kernel ---- */

/* Numbers in a row, of which some are rows, columns and depth of the tile: behind how the product is
 * specialized and how many threads there are, unless these stand before everything. */
enum { RUN_LEAST = 5, RUN_BEFORE_TILE = 2, TILE = 3 };

/* The argument with which the tile begins; PART_NONE: there is none. */
static uint32_t tile_of(const struct signature *s, const struct name_part *of)
{
	bool begins_so = of->child != PART_NONE && part_of(s, of->child)->kind == PART_NUMBER;
	uint32_t first = PART_NONE;
	unsigned n = 0;

	for (uint32_t i = of->child; i != PART_NONE && n < RUN_LEAST; i = part_of(s, i)->next) {
		n = part_of(s, i)->kind == PART_NUMBER ? n + 1 : 0;
		if (n == (begins_so ? 1 : 1 + RUN_BEFORE_TILE))
			first = i;
	}
	return n == RUN_LEAST ? first : PART_NONE;
}

/* How far an argument is in the tile, from 1 on; 0: it is none of it. */
static unsigned place_in_tile(const struct signature *s, const struct name_part *of,
			      uint32_t argument)
{
	uint32_t i = part_rule(of) == RULE_GRIDWISE ? tile_of(s, of) : PART_NONE;

	for (unsigned n = 1; i != PART_NONE && n <= TILE; n++, i = part_of(s, i)->next)
		if (i == argument)
			return n;
	return 0;
}

static bool is_layout(const struct name_part *p)
{
	return p->kind == PART_TYPE && p->len > 5 && !memcmp(p->text + p->len - 5, "Major", 5);
}

/* Layouts of what is multiplied, the first type, and the tile. */
static bool gridwise_wants(const struct writer *w, const struct name_part *of, uint32_t argument,
			   const struct counted *n)
{
	unsigned layouts = 0;

	if (argument == n->first_element || place_in_tile(w->s, of, argument))
		return true;
	for (uint32_t i = of->child; i != argument; i = part_of(w->s, i)->next)
		layouts += is_layout(part_of(w->s, i));
	return is_layout(part_of(w->s, argument)) && layouts < 2;
}

/* "transform_impl<unsigned long*, int*>" of rocPRIM, where nothing else says what it is about. */
static bool is_about(const struct writer *w, const struct name_part *of, uint32_t argument,
		     const struct counted *n)
{
	return w->library && !n->functors && argument == n->first_element && of->len > 5 &&
	       !memcmp(of->text + of->len - 5, "_impl", 5);
}

/* ---- any ---- */

/* In the shortest form, types of elements stand in a functor when there is one and nothing else;
 * those of a kernel stand as long as there is room. */
static bool is_wanted(const struct writer *w, const struct name_part *of, uint32_t argument,
		      enum place place, const struct counted *n)
{
	enum sense sense = sense_of(w->s, w->level, argument);

	if (w->level == BRIEF_LEAST && part_rule(of) == RULE_GRIDWISE)
		return gridwise_wants(w, of, argument, n);
	if (sense == SENSE_NOISE)
		return false;
	if (w->level == BRIEF_LEAST && place == AT_TYPE && sense == SENSE_ELEMENT)
		return (n->elements == 1 && !n->functors) || is_about(w, of, argument, n);
	if (w->level == BRIEF_LEAST && w->library &&
	    rule_is_device(part_of(w->s, argument)->text, part_of(w->s, argument)->len))
		return false;
	if (w->level == BRIEF_LEAST && w->library && sense == SENSE_ELEMENT &&
	    is_repeated(w, of, argument))
		return false;
	return !w->tight || is_wanted_tight(w, argument, place, n);
}

/* Does a type only hold what is marked, which needs no more to be read than its own names? */
static bool is_passage(const struct writer *w, const struct name_part *type)
{
	if (type->kind != PART_TYPE || marks_of(w, type) != MARK_WAY)
		return false;
	for (uint32_t at = type->child; at != PART_NONE; at = part_of(w->s, at)->next)
		for (uint32_t i = part_of(w->s, at)->child; i != PART_NONE;
		     i = part_of(w->s, i)->next)
			if (part_of(w->s, i)->marks &&
			    (part_of(w->s, i)->kind != PART_TYPE ||
			     (sense_of(w->s, BRIEF_ALL, i) != SENSE_FUNCTOR)))
				return false;
	return true;
}

/* Libraries pass one functor in several disguises: in the shortest form it is said once. */
static bool is_said_before(const struct writer *w, uint32_t argument, size_t before, size_t at)
{
	const char *text = w->out->data;
	size_t len = w->out->len - at;

	if (w->level > BRIEF_LEAST || before == SIZE_MAX ||
	    sense_of(w->s, w->level, argument) != SENSE_FUNCTOR)
		return false;
	return at - before >= len - 1 && at - before <= len &&
	       !memcmp(text + at - (len - 2), text + at + 2, len - 2);
}

/* Those of the types that a path is made of, in place of it. */
static bool put_lists(struct writer *w, const struct name_part *type, enum place place, bool any)
{
	for (uint32_t at = type->child; at != PART_NONE; at = part_of(w->s, at)->next)
		any = put_list(w, part_of(w->s, at), place, any);
	return any;
}

static bool is_spliced(const struct writer *w, const struct name_part *p)
{
	return p->kind == PART_TYPE && type_rule(w->s, p) == RULE_SPLICED && w->level < BRIEF_ALL &&
	       !(marks_of(w, p) & ~MARK_WAY);
}

/* The arguments between the brackets; returns whether there were any. */
static bool put_list(struct writer *w, const struct name_part *of, enum place place, bool any)
{
	struct counted n = count(w, of);
	bool sparse = w->sparse, element = part_rule(of) == RULE_ELEMENT;
	size_t at,
		last = SIZE_MAX; /* where arguments begin in the text: this, and the one before */

	if (w->bare && !element)
		return any;
	for (uint32_t i = of->child; i != PART_NONE; i = part_of(w->s, i)->next) {
		const struct name_part *p = part_of(w->s, i);
		bool wanted = i == w->functor || (element && sparse) ||
			      (!sparse && (is_spliced(w, p) || is_wanted(w, of, i, place, &n)));

		w->sparse = !wanted;
		if (!wanted && !marks_of(w, p))
			continue;
		if (is_spliced(w, p) || (!wanted && is_passage(w, p))) {
			any = put_lists(w, p, place, any);
			continue;
		}
		at = w->out->len;
		buf_puts(w->out, !any ? "<"
				 : w->level == BRIEF_LEAST && place_in_tile(w->s, of, i) > 1
					 ? "x"
					 : ", ");
		put_argument(w, i);
		if (!marks_of(w, p) && is_said_before(w, i, last, at))
			w->out->len = at;
		else
			last = at;
		any = true;
	}
	w->sparse = sparse;
	return any;
}

static void put_brackets(struct writer *w, const struct name_part *of, enum place place)
{
	if (put_list(w, of, place, false))
		buf_putc(w->out, '>');
}

/* What is left out of a kernel's arguments for want of room does not depend on marks. */
static void put_arguments(struct writer *w, const struct name_part *of, enum place place)
{
	size_t before = w->out->len;
	unsigned max = place == AT_KERNEL ? arguments_max[w->level] : 0;
	bool marked = place == AT_KERNEL && w->s->marked;

	w->unmarked |= marked;
	put_brackets(w, of, place);
	while (max && w->tight < 2 && w->out->len - before > max) {
		w->out->len = before;
		w->tight++;
		put_brackets(w, of, place);
	}
	if (marked) {
		w->out->len = before;
		w->unmarked = false;
		put_brackets(w, of, place);
	}
	if (place == AT_KERNEL)
		w->tight = 0;
}

/* ---- the whole ---- */

/* A namespace within a library, which a kernel that says what it does needs not: "static_kernel" does
 * not, "DeviceReduceKernel" does. */
static bool is_detail(const struct writer *w, const struct name_part *p)
{
	const struct name_part *next = part_of(w->s, p->next);

	return !p->has_args && (next->next != PART_NONE || !islower((unsigned char)*next->text));
}

static void put_name(struct writer *w)
{
	uint32_t at = w->s->path;

	if (path_has_lambda(w->s, at)) {
		put_lambda_path(w, at);
		return;
	}
	for (; at != PART_NONE; at = part_of(w->s, at)->next) {
		const struct name_part *p = part_of(w->s, at);
		bool last = p->next == PART_NONE;

		if (p->kind == PART_UNNAMED || (!last && rule_is_version(p->text, p->len)))
			continue;
		if (w->library && !last && w->level < BRIEF_ALL && is_detail(w, p))
			continue;
		w->library |= rule_is_library(p->text, p->len);
		buf_put(w->out, p->text, p->len);
		if (p->has_args)
			put_arguments(w, p, last ? AT_KERNEL : AT_TYPE);
		if (!last)
			buf_puts(w->out, "::");
	}
}

/* Those parameters that are marked. */
static void put_parameters(struct writer *w)
{
	const char *before = "(";
	uint32_t of = w->s->parameters;

	w->sparse = true;
	for (uint32_t i = of == PART_NONE ? PART_NONE : part_of(w->s, of)->child; i != PART_NONE;
	     i = part_of(w->s, i)->next) {
		if (!part_of(w->s, i)->marks)
			continue;
		buf_puts(w->out, before);
		put_argument(w, i);
		before = ", ";
	}
	if (*before == ',')
		buf_putc(w->out, ')');
}

void brief_put(const struct signature *s, enum brief_level level, struct buf *out)
{
	struct writer w = {.s = s, .out = out, .level = level};
	const struct name_part *first = part_of(s, s->path);

	w.functor = PART_NONE;
	w.style = style_of(&w, first->marks);
	if (first->marks & MARK_BEFORE)
		buf_put(out, s->begin, (size_t)(first->text - s->begin));
	if (level == BRIEF_WHOLE || first->marks & MARK_WHOLE)
		buf_put(out, first->text, (size_t)(s->path_end - first->text));
	else
		put_name(&w);
	put_parameters(&w);
	if (first->marks & MARK_BEHIND)
		buf_puts(out, s->end);
}

void brief_put_head(const struct signature *s, uint32_t argument, enum part_mark form,
		    struct buf *out)
{
	struct writer w = {.s = s, .out = out, .bare = true, .functor = PART_NONE};
	uint8_t *marks = &s->parts[argument].marks, before = *marks;

	*marks = w.style = form;
	if (argument == s->path)
		put_name(&w);
	else
		put_argument(&w, argument);
	*marks = before;
}

char *brief_make(const char *whole, enum brief_level level)
{
	_cleanup_(signature_done) struct signature signature = {0};
	_cleanup_(buf_done) struct buf text = {0};

	if (signature_parse(&signature, whole) < 0)
		return NULL;
	brief_put(&signature, level, &text);
	if (text.error || !text.len || isdigit((unsigned char)*text.data))
		return NULL;
	return strdup(buf_str(&text));
}
