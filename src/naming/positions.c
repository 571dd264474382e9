/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/positions.h"
#include "base/buf.h"
#include "base/hash.h"
#include "base/util.h"
#include "naming/sense.h"

static bool is_truth(const char *text, size_t len)
{
	return (len == 4 && !memcmp(text, "true", 4)) || (len == 5 && !memcmp(text, "false", 5));
}

struct walk {
	struct signature *s;
	struct buf *scratch; /* for texts */
	position_fn *visit;
	void *ctx;
	uint64_t at;     /* the place */
	unsigned around; /* characters that must stand around what is there, to be read */
	size_t stands;   /* characters of a name that are there anyway */
	uint32_t
		functor; /* of the wrapper whose arguments are walked, which is written in its place */
	uint64_t wrapper; /* where that is */
	uint32_t wrapped; /* how many wrappers are there */
	unsigned truths;  /* in the list: alone, none says which one it is */
	unsigned cost;    /* of everything, beside its text */
	bool deep;
	bool hidden; /* below an argument that does not stand at the shortest level */
};

/* Quarters of a character that one of a text costs. Types of elements say most to people, what stands
 * around functors less, numbers of lambdas nothing, and all of a text is more than anybody reads. */
enum weight {
	WEIGHT_ELEMENT = 3,
	WEIGHT_USUAL = 4,
	WEIGHT_OWN = 6,
	WEIGHT_NUMBERS = 16,
	WEIGHT_WHOLE = 16
};
#define TRUTHS_MAX   8 /* of one list that are shown for one of them */
#define TRUTH_LENGTH 4 /* characters: who shows one shows more for the same */
/* Parameters repeat what stands in arguments: they have a say where these have none. All of a name is what
 * is left then. */
#define PARAMETERS_COST (1u << 20)
#define NAME_COST       (1u << 24)

/* The places of what a place is made of; those of arguments differ from those of parts of a path. */
static uint64_t inner_place(uint64_t place, uint32_t n, bool argument)
{
	return hash_u64(place ^ hash_u64(2 * (uint64_t)n + argument));
}

static bool visit(struct walk *w, enum part_mark form, const char *text, size_t len,
		  unsigned weight)
{
	size_t added = (len > w->stands ? len - w->stands : 0) + w->around;
	struct position p = {
		.id = inner_place(w->at, UINT32_MAX - form, true), .text = text, .len = len};

	if (is_truth(text, len))
		added += w->truths * TRUTH_LENGTH;
	p.cost = (unsigned)MIN(added + 2, UINT16_MAX) * weight + w->cost;

	return w->visit(w->ctx, &p);
}

/* A name in one form, if that is another one than the usual form. Returns the marks. */
static unsigned visit_name(struct walk *w, uint32_t argument, enum part_mark form, unsigned weight,
			   const struct buf *usual)
{
	struct buf *text = w->scratch;

	buf_clear(text);
	brief_put_head(w->s, argument, form, text);
	if (text->len == usual->len && !memcmp(text->data, usual->data, text->len))
		return 0;
	return visit(w, form, text->data, text->len, weight) ? form : 0;
}

static bool walk_list(struct walk *w, uint32_t first);

/* The functor that stands for a wrapper; PART_NONE: it is none. */
static uint32_t functor_within(const struct walk *w, uint32_t part)
{
	const struct name_part *p = part_of(w->s, part);

	return part_rule(p) == RULE_WRAPPER ? functor_of(w->s, BRIEF_LEAST, p) : PART_NONE;
}

/* The part whose arguments come first where a path is written. */
static uint32_t head_of(const struct walk *w, uint32_t path)
{
	uint32_t at = path_behind_namespaces(w->s, path);

	return path_has_lambda(w->s, at) ? path_around_lambda(w->s, path) : at;
}

static unsigned visit_names(struct walk *w, uint32_t argument, struct buf *usual)
{
	const struct name_part *p = part_of(w->s, argument);
	bool whole = argument == w->s->path, type = p->kind == PART_TYPE;
	bool functor = whole || sense_of(w->s, BRIEF_ALL, argument) == SENSE_FUNCTOR;
	uint32_t path = type ? p->child : argument;
	uint32_t head = whole || type ? head_of(w, path) : PART_NONE;
	bool wrapper = head != PART_NONE && functor_within(w, head) != PART_NONE;
	uint64_t place = w->at;
	unsigned marks = 0;

	brief_put_head(w->s, argument, 0, usual);
	w->stands = functor && !w->hidden ? usual->len : 0;
	buf_clear(usual);
	brief_put_head(w->s, argument, MARK_TYPES, usual);
	if (!wrapper && visit(w, MARK_TYPES, usual->data, usual->len,
			      functor || !type ? WEIGHT_USUAL : WEIGHT_ELEMENT))
		marks |= MARK_TYPES;
	if (wrapper) /* what is here is its functor's */
		w->at = inner_place(place, UINT32_MAX - w->wrapped, false);
	if (wrapper || (head != PART_NONE && path_has_lambda(w->s, path))) {
		marks |= visit_name(w, argument, MARK_OWN, WEIGHT_OWN, usual);
		marks |= visit_name(w, argument, MARK_NUMBERS, WEIGHT_NUMBERS, usual);
	}
	w->at = place;
	return marks;
}

/* The arguments of a type's names, as far as they are written. Returns whether any is marked. */
static bool walk_path(struct walk *w, const struct name_part *type)
{
	uint32_t at = head_of(w, type->child), end = PART_NONE, i = 0;
	bool both = path_has_lambda(w->s, type->child), marked = false;
	uint64_t place = w->at;

	if (at != PART_NONE && (both || type_is_address(type))) {
		end = part_of(w->s, at)->next;
		if (end != PART_NONE && part_is_operator(part_of(w->s, end)))
			end = part_of(w->s, end)->next;
	}
	w->wrapper = place;
	for (; at != end && at != PART_NONE; at = part_of(w->s, at)->next) {
		w->at = inner_place(place, i++, false);
		w->functor = functor_within(w, at);
		marked |= walk_list(w, part_of(w->s, at)->child);
	}
	w->at = place;
	return marked;
}

/* Is it written with its arguments, whatever is marked? */
static bool is_one(const struct walk *w, const struct name_part *type)
{
	enum rule rule = type_rule(w->s, type);

	return rule == RULE_CONSTANT || rule == RULE_ELEMENT || rule == RULE_POINTER ||
	       (rule == RULE_EXTENT &&
		type_is_extent(w->s, part_of(w->s, path_behind_namespaces(w->s, type->child))));
}

static size_t trimmed(const char *text, size_t len)
{
	while (len && text[len - 1] == ' ')
		len--;
	return len;
}

static unsigned walk_type(struct walk *w, uint32_t argument, unsigned head)
{
	struct name_part *p = &w->s->parts[argument];
	const struct walk outer = *w;
	unsigned marks = 0;

	w->hidden |= sense_of(w->s, BRIEF_LEAST, argument) == SENSE_NOISE;
	w->around = w->hidden ? head : 0;
	if (!is_one(w, p) && walk_path(w, p))
		marks |= MARK_WAY;
	*w = outer;
	return marks;
}

static bool walk_argument(struct walk *w, uint32_t argument)
{
	_cleanup_(buf_done) struct buf name = {0};
	struct name_part *p = &w->s->parts[argument];
	unsigned marks = visit_names(w, argument, &name);

	p->len = (uint32_t)trimmed(p->text, p->len);
	if (p->kind == PART_TYPE)
		marks |= walk_type(w, argument, (unsigned)name.len);
	if (w->deep && (p->len != name.len || memcmp(p->text, name.data, name.len) != 0))
		marks |= visit(w, MARK_WHOLE, p->text, p->len, WEIGHT_WHOLE) ? MARK_WHOLE : 0;
	p->marks = (uint8_t)marks;
	return marks != 0;
}

/* Those of a list. 0: they are too many to show them all. If `mark`, they are marked. */
static unsigned count_truths(const struct walk *w, uint32_t first, bool mark)
{
	unsigned n = 0;

	for (uint32_t i = first; i != PART_NONE; i = part_of(w->s, i)->next) {
		struct name_part *p = &w->s->parts[i];

		if (!is_truth(p->text, p->len))
			continue;
		n++;
		p->marks |= mark ? MARK_TYPES : 0;
	}
	return n <= TRUTHS_MAX ? n : 0;
}

static bool walk_list(struct walk *w, uint32_t first)
{
	const struct walk outer = *w;
	uint32_t n = 0;
	bool marked = false, truth = false;

	w->truths = count_truths(w, first, false);
	for (uint32_t i = first; i != PART_NONE; i = part_of(w->s, i)->next) {
		w->at = i == outer.functor ? w->wrapper : inner_place(outer.at, n, true);
		w->wrapped = i == outer.functor ? outer.wrapped + 1 : 0;
		n++;
		if (!walk_argument(w, i))
			continue;
		marked = true;
		truth |= is_truth(part_of(w->s, i)->text, part_of(w->s, i)->len);
	}
	if (truth && w->truths)
		count_truths(w, first, true);
	*w = outer;
	return marked;
}

/* All of a function, and what is around it. Returns the marks. */
static unsigned visit_around(struct walk *w, const struct name_part *first)
{
	const struct {
		enum part_mark form;
		const char *text, *end;
		unsigned cost;
	} texts[] = {
		{MARK_BEFORE, w->s->begin, first->text, PARAMETERS_COST},
		{MARK_BEHIND, w->s->end, strchr(w->s->end, '\0'), PARAMETERS_COST},
		{MARK_WHOLE, first->text, w->s->path_end, NAME_COST},
	};
	unsigned marks = 0;

	w->stands = 0;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		w->cost = texts[i].cost;
		if (visit(w, texts[i].form, texts[i].text, (size_t)(texts[i].end - texts[i].text),
			  WEIGHT_WHOLE))
			marks |= texts[i].form;
	}
	w->cost = 0;
	return marks;
}

/* The function: its names' arguments, and what is around a lambda. */
static void walk_function(struct walk *w)
{
	_cleanup_(buf_done) struct buf name = {0};
	struct name_part *first = &w->s->parts[w->s->path];
	struct name_part type = {.text = first->text, .child = w->s->path};
	unsigned marks = visit_names(w, w->s->path, &name);

	walk_path(w, &type);
	if (w->deep)
		marks |= visit_around(w, first);
	first->marks = (uint8_t)marks;
}

void positions_walk(struct signature *s, bool deep, struct buf *scratch, position_fn *visit,
		    void *ctx)
{
	struct walk w = {.s = s, .deep = deep, .scratch = scratch, .visit = visit, .ctx = ctx};

	s->marked = true;
	walk_function(&w);
	if (!deep || s->parameters == PART_NONE)
		return;
	w.at = inner_place(0, UINT32_MAX, false);
	w.cost = PARAMETERS_COST;
	walk_list(&w, part_of(s, s->parameters)->child);
}
