/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/apart.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/hash.h"
#include "base/util.h"
#include "naming/brief.h"
#include "naming/positions.h"
#include "naming/signature.h"

#define QUESTIONS_MAX 128       /* positions that are considered: those that cost least */
#define PLACES_MAX    (1 << 16) /* positions that are looked at; what is beyond is not there */
#define KEPT_MAX      256       /* names of a group that are taken apart only once */
#define WORK_MAX      (1 << 26) /* answers that are compared for one group */

/* A position, and whether names differ there. */
struct place {
	uint64_t id;    /* 0: free */
	uint64_t first; /* what the first name that has it has there */
	uint64_t print; /* alike where the same names have the same */
	uint64_t cost;  /* of all */
	uint32_t n;     /* names that have it */
	bool differs;
	uint8_t question; /* + 1; 0: it is none */
};
_Static_assert(QUESTIONS_MAX < UINT8_MAX, "a question fits");

struct question {
	uint64_t id, print;
	unsigned cost; /* on the average */
};

struct asked {
	uint64_t bits[QUESTIONS_MAX / 64];
};

struct apart {
	const char *const *whole;
	char **names; /* that are made */
	size_t n;
	bool deep; /* all texts and parameters are looked at, too */
	bool left; /* no question told some apart */
	struct signature kept[KEPT_MAX],
		other; /* of the first names, and of the one that is looked at */
	struct buf scratch;
	struct place *places;
	size_t n_places, cap_places; /* a power of two */
	struct question *questions;
	size_t n_questions;
	uint32_t *answers; /* by question and name */
	struct asked *asked;
	uint32_t *order; /* names, those together that no question has told apart */
	struct {
		uint32_t answer, round;
	} * seen; /* for counting */
	size_t cap_seen;
	uint32_t round;
	int64_t work;
	size_t now; /* the name that is walked */
	int error;
};

static void questions_done(struct apart *a)
{
	free(a->places);
	free(a->questions);
	free(a->answers);
	free(a->asked);
	free(a->order);
	free(a->seen);
	a->places = NULL;
	a->questions = NULL;
	a->answers = NULL;
	a->asked = NULL;
	a->order = NULL;
	a->seen = NULL;
	a->n_places = a->cap_places = a->n_questions = 0;
}

static void apart_done(struct apart *a)
{
	for (size_t i = 0; i < KEPT_MAX; i++)
		signature_done(&a->kept[i]);
	signature_done(&a->other);
	buf_done(&a->scratch);
	questions_done(a);
}

/* ---- where they differ ---- */

/* The place of an id, or the free one where it would be. */
static struct place *place_of(const struct apart *a, uint64_t id)
{
	size_t i = id & (a->cap_places - 1);

	while (a->places[i].id && a->places[i].id != id)
		i = (i + 1) & (a->cap_places - 1);
	return &a->places[i];
}

static int places_grow(struct apart *a)
{
	struct place *old = a->places;
	size_t n = a->cap_places;

	a->cap_places = n ? 2 * n : 256;
	a->places = calloc(a->cap_places, sizeof(*a->places));
	for (size_t i = 0; a->places && i < n; i++)
		if (old[i].id)
			*place_of(a, old[i].id) = old[i];
	if (!a->places) {
		a->places = old;
		a->cap_places = n;
		return -ENOMEM;
	}
	free(old);
	return 0;
}

static bool note_position(void *ctx, const struct position *p)
{
	struct apart *a = ctx;
	uint64_t value = hash_bytes(p->text, p->len);
	struct place *place;

	if (2 * (a->n_places + 1) > a->cap_places) {
		if (a->n_places >= PLACES_MAX || (a->error = places_grow(a)) < 0)
			return false;
	}
	place = place_of(a, p->id);
	if (!place->id) {
		*place = (struct place){.id = p->id, .first = value};
		a->n_places++;
	}
	place->differs |= value != place->first;
	place->print += hash_u64(value + a->now);
	place->cost += p->cost;
	place->n++;
	return false;
}

/* A name taken apart, or NULL: it is no name of C++, or memory is out. Parameters that are no types
 * are as if they were not there. */
static struct signature *parse(struct apart *a, size_t i)
{
	struct signature *s = i < KEPT_MAX ? &a->kept[i] : &a->other;
	int r = 0;

	if (i >= KEPT_MAX || s->n == 0)
		r = signature_parse(s, a->whole[i]);
	if (r == 0 && a->deep && s->parameters == PART_NONE &&
	    signature_parse_parameters(s) == -ENOMEM)
		r = -ENOMEM;
	if (r == -ENOMEM)
		a->error = r;
	if (r < 0)
		s->n = 0;
	return r < 0 ? NULL : s;
}

/* Take every name apart, and show its positions. */
static void walk_all(struct apart *a, position_fn *visit)
{
	for (a->now = 0; a->now < a->n && a->error == 0; a->now++) {
		struct signature *s = parse(a, a->now);

		if (s)
			positions_walk(s, a->deep, &a->scratch, visit, a);
	}
}

/* ---- what is asked ---- */

static int by_print(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	if (x->print != y->print)
		return x->print < y->print ? -1 : 1;
	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

static int by_cost(const void *a, const void *b)
{
	const struct question *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost < y->cost ? -1 : 1;
	return x->id < y->id ? -1 : 1;
}

/* Of positions that tell the same names apart, one. */
static size_t drop_repeated(struct question *questions, size_t n)
{
	size_t kept = 0;

	qsort(questions, n, sizeof(*questions), by_print);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || questions[kept - 1].print != questions[i].print)
			questions[kept++] = questions[i];
	return kept;
}

static void choose_questions(struct apart *a)
{
	a->questions = malloc((a->n_places + 1) * sizeof(*a->questions));
	if (!a->questions) {
		a->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < a->cap_places; i++) {
		const struct place *p = &a->places[i];

		if (p->id && (p->differs || p->n < a->n))
			a->questions[a->n_questions++] =
				(struct question){p->id, p->print, (unsigned)(p->cost / p->n)};
	}
	a->n_questions = drop_repeated(a->questions, a->n_questions);
	qsort(a->questions, a->n_questions, sizeof(*a->questions), by_cost);
	a->n_questions = MIN(a->n_questions, (size_t)QUESTIONS_MAX);
	for (size_t i = 0; i < a->n_questions; i++)
		place_of(a, a->questions[i].id)->question = (uint8_t)(i + 1);
}

static bool note_answer(void *ctx, const struct position *p)
{
	struct apart *a = ctx;
	unsigned question = place_of(a, p->id)->question;

	if (question)
		a->answers[(question - 1) * a->n + a->now] =
			(uint32_t)hash_bytes(p->text, p->len) | 1u; /* 0: there is none */
	return false;
}

/* ---- asking ---- */

/* How many answers do these names give? */
static uint32_t count_answers(struct apart *a, size_t question, size_t from, size_t to)
{
	const uint32_t *answers = a->answers + question * a->n;
	uint32_t n = 0;

	a->round++;
	a->work -= (int64_t)(to - from);
	for (size_t i = from; i < to; i++) {
		uint32_t answer = answers[a->order[i]];
		size_t at = hash_u64(answer) & (a->cap_seen - 1);

		while (a->seen[at].round == a->round && a->seen[at].answer != answer)
			at = (at + 1) & (a->cap_seen - 1);
		n += a->seen[at].round != a->round;
		a->seen[at].answer = answer;
		a->seen[at].round = a->round;
	}
	return n;
}

/* The question whose answers tell most for their length, or SIZE_MAX. */
static size_t best_question(struct apart *a, size_t from, size_t to)
{
	size_t best = SIZE_MAX;
	double best_worth = 0;

	for (size_t q = 0; q < a->n_questions && a->work > 0; q++) {
		uint32_t n = count_answers(a, q, from, to);
		double worth = log2(n) / a->questions[q].cost;

		if (n > 1 && worth > best_worth) {
			best = q;
			best_worth = worth;
		}
	}
	return best;
}

static int by_answer(const void *a, const void *b, void *answers)
{
	const uint32_t *of = answers, x = of[*(const uint32_t *)a], y = of[*(const uint32_t *)b];

	return (x > y) - (x < y);
}

/* Ask until nobody is like another. Each call tells some apart: no deeper than there are questions. */
static void ask(struct apart *a, size_t from, size_t to)
{
	size_t q = to - from > 1 ? best_question(a, from, to) : SIZE_MAX;
	const uint32_t *answers;

	if (q == SIZE_MAX) {
		a->left |= to - from > 1;
		return;
	}
	answers = a->answers + q * a->n;
	qsort_r(a->order + from, to - from, sizeof(*a->order), by_answer, (void *)answers);
	for (size_t i = from; i < to; i++)
		a->asked[a->order[i]].bits[q / 64] |= UINT64_C(1) << q % 64;
	for (size_t i = from, end; i < to; i = end) {
		for (end = i + 1; end < to; end++)
			if (answers[a->order[end]] != answers[a->order[i]])
				break;
		ask(a, i, end);
	}
}

static void ask_all(struct apart *a)
{
	for (a->cap_seen = 4; a->cap_seen < 2 * a->n; a->cap_seen *= 2)
		;
	a->answers = calloc(a->n_questions * a->n + 1, sizeof(*a->answers));
	a->asked = calloc(a->n, sizeof(*a->asked));
	a->order = calloc(a->n, sizeof(*a->order));
	a->seen = calloc(a->cap_seen, sizeof(*a->seen));
	if (!a->answers || !a->asked || !a->order || !a->seen) {
		a->error = -ENOMEM;
		return;
	}
	for (size_t i = 0; i < a->n; i++)
		a->order[i] = (uint32_t)i;
	walk_all(a, note_answer);
	a->work = WORK_MAX;
	ask(a, 0, a->n);
}

/* ---- the names ---- */

static bool is_asked(void *ctx, const struct position *p)
{
	struct apart *a = ctx;
	unsigned question = place_of(a, p->id)->question;

	return question && a->asked[a->now].bits[(question - 1) / 64] >> (question - 1) % 64 & 1;
}

static void write_name(struct apart *a, size_t i)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct signature *s = parse(a, i);

	free(a->names[i]);
	a->names[i] = NULL;
	if (!s)
		return;
	a->now = i;
	positions_walk(s, a->deep, &a->scratch, is_asked, a);
	brief_put(s, BRIEF_LEAST, &text);
	if (!text.error && text.len)
		a->names[i] = strdup(buf_str(&text));
}

static int by_name(const void *a, const void *b, void *names)
{
	char *const *of = names, *x = of[*(const uint32_t *)a], *y = of[*(const uint32_t *)b];

	return x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);
}

/* Names that were asked different questions can read alike: "<2, 3>" and "<2, 3>" of other places. Then
 * each is asked what any of them was. Returns whether some read alike. */
static bool ask_alike(struct apart *a)
{
	bool any = false;

	qsort_r(a->order, a->n, sizeof(*a->order), by_name, a->names);
	for (size_t from = 0, to; from < a->n; from = to) {
		struct asked all = {0};

		for (to = from; to < a->n && !by_name(&a->order[from], &a->order[to], a->names);
		     to++)
			for (size_t k = 0; k < ARRAY_SIZE(all.bits); k++)
				all.bits[k] |= a->asked[a->order[to]].bits[k];
		for (size_t i = from; i < to && to - from > 1; i++)
			a->asked[a->order[i]] = all;
		for (size_t i = from; i < to && to - from > 1 && a->names[a->order[i]]; i++) {
			write_name(a, a->order[i]);
			any = true;
		}
	}
	return any;
}

static void find_questions(struct apart *a, bool deep)
{
	questions_done(a);
	a->deep = deep;
	a->left = false;
	a->error = places_grow(a);
	walk_all(a, note_position);
	if (a->error == 0)
		choose_questions(a);
	if (a->error == 0)
		ask_all(a);
}

int apart_names(const char *const whole[], size_t n, char *ret[])
{
	_cleanup_(apart_done) struct apart a = {.whole = whole, .n = n, .names = ret};

	find_questions(&a, false);
	if (a.error == 0 && a.left)
		find_questions(&a, true);
	for (size_t i = 0; i < n && a.error == 0; i++)
		write_name(&a, i);
	for (int i = 0; i < 2 && a.error == 0 && ask_alike(&a); i++)
		;
	return a.error;
}

/* ---- a text that may be such a name ---- */

/* A name's marks are all set. */
static bool mark_any(void *ctx, const struct position *p)
{
	(void)ctx;
	(void)p;
	return true;
}

static size_t word_len(const char *at)
{
	size_t n = 0;

	while (isalnum((unsigned char)at[n]) || at[n] == '_')
		n++;
	return n ? n : *at != '\0';
}

/* Are the words and signs of a text among those of another one, in the same order? */
static bool is_within(const char *text, const char *of)
{
	while (*text) {
		size_t len = word_len(text), other = word_len(of);

		if (*text == ' ') {
			text++;
		} else if (!other) {
			return false;
		} else {
			if (len == other && !memcmp(text, of, len))
				text += len;
			of += other;
		}
	}
	return true;
}

bool apart_could_be(const char *whole, const char *text)
{
	_cleanup_(signature_done) struct signature s = {0};
	_cleanup_(buf_done) struct buf least = {0}, most = {0}, scratch = {0};

	if (signature_parse(&s, whole) < 0)
		return false;
	signature_parse_parameters(&s);
	brief_put(&s, BRIEF_LEAST, &least);
	if (!is_within(buf_str(&least), text))
		return false;
	positions_walk(&s, false, &scratch, mark_any, NULL);
	brief_put(&s, BRIEF_LEAST, &most);
	return is_within(text, buf_str(&most)) || is_within(text, whole);
}
