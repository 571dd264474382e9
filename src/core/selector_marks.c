/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "core/column.h"
#include "core/selector_impl.h"

/* ---- columns ---- */

/* What is compared, and the amount in its unit. A share is one of the whole. */
struct comparison {
	struct column_spec column;
	double limit;
};

/* 0, an error of column_parse(), or -EDOM: the column has not the amount's unit. */
static int bind(const struct selector *x, const struct step *step, const struct session *s,
		struct comparison *ret)
{
	struct derived *d = &ret->column.derived;
	int r = column_parse(s, x->text + step->at, step->len, &ret->column);

	if (r < 0)
		return r;
	ret->limit = step->amount.value;
	if (step->amount.unit == AMOUNT_PERCENT && d->op == DERIVED_UTIL) {
		ret->limit /= 100;
		return 0;
	}
	if (step->amount.unit == AMOUNT_PERCENT && d->op == DERIVED_VALUE &&
	    derive_metric(s, d->metric)->scope != METRIC_PROPERTY && ret->column.form != FORM_WORD)
		d->op = DERIVED_SHARE;
	return column_in_unit(&ret->column, s, &step->amount);
}

/* Why a word is no column, with those that are like it. */
static void say_unknown(const struct selector *x, const struct step *step, const struct session *s,
			int why, struct selector_error *error)
{
	_cleanup_(freep) char *word = strndup(x->text + step->at, step->len);
	char near[160] = "";
	size_t len;
	int e;

	if (why == -EINVAL)
		selector_fail(error, step->at, "no such unit in '%.80s'", word ? word : "");
	else if (word && column_unknown(s, word, &len, &e, near, sizeof(near)) && *near)
		selector_fail(error, step->at, "no column '%.60s'; near it: %s", word, near);
	else
		selector_fail(error, step->at, "no column '%.80s'", word ? word : "");
}

static int check_step(const struct selector *x, const struct step *step, const struct session *s,
		      struct selector_error *error)
{
	struct comparison c;
	int r = bind(x, step, s, &c), len = (int)MIN(step->len, 60u);
	const char *word = x->text + step->at;

	if (r == -EDOM && c.column.form == FORM_WORD)
		selector_fail(error, step->at, "'%.*s' is a word: numbers are compared", len, word);
	else if (r == -EDOM)
		selector_fail(error, step->at_amount, "a unit that '%.*s' has not", len, word);
	else if (r < 0)
		say_unknown(x, step, s, r, error);
	return r == -ENOENT && !column_is_hopeless(word, step->len) ? -ENOENT : r < 0 ? -EINVAL : 0;
}

int selector_check(const struct selector *x, const struct session *s, struct selector_error *error)
{
	int r = 0;

	for (size_t i = 0; i < x->n && r == 0; i++)
		if (x->steps[i].kind == STEP_COMPARE)
			r = check_step(x, &x->steps[i], s, error);
	return r;
}

/* ---- steps ---- */

struct run {
	const struct selector *x;
	struct snapshot *snap;
	const struct peaks *peaks;
	struct derive *derive; /* NULL: not asked for yet */
	uint32_t n;
	uint8_t **stack; /* of marks by node */
	size_t used;
};

/* A new one on top, all 0. */
static uint8_t *push(struct run *r)
{
	uint8_t *marks = calloc(MAX(r->n, 1u), 1);

	if (marks)
		r->stack[r->used++] = marks;
	return marks;
}

/* A NaN stands nowhere: it is not "not equal" either. */
static void compare(const double *v, uint32_t n, uint8_t accepts, double limit, uint8_t *marks)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned stands = (v[i] < limit ? STANDS_BELOW : 0) |
				  (v[i] == limit ? STANDS_AT : 0) |
				  (v[i] > limit ? STANDS_ABOVE : 0);

		marks[i] = (stands & accepts) != 0;
	}
}

static int do_compare(struct run *r, const struct step *step)
{
	uint8_t *marks = push(r);
	const double *v;
	struct comparison c;

	if (!marks)
		return -ENOMEM;
	if (bind(r->x, step, snapshot_session(r->snap), &c) < 0)
		return 0;
	if (!r->derive)
		r->derive = derive_new(r->snap, r->peaks);
	v = r->derive ? derive_column(r->derive, &c.column.derived) : NULL;
	if (v)
		compare(v, r->n, step->accepts, c.limit, marks);
	return v ? 0 : -ENOMEM;
}

static int do_name(struct run *r, const struct step *step)
{
	const struct tick *tick = snapshot_tick(r->snap);
	uint8_t *marks = push(r);
	struct name_matcher m;
	uint32_t i;

	if (!marks)
		return -ENOMEM;
	name_matcher_init(&m, r->snap, &step->name);
	for (i = 0; i < r->n && tick_at(tick, i, r->n); i++)
		marks[i] = name_matcher_at(&m, i);
	name_matcher_done(&m);
	return i < r->n ? -ECANCELED : 0;
}

static int do_path(struct run *r, const struct step *step)
{
	uint8_t *marks = push(r);

	return marks ? path_glob_marks(&step->path, r->snap, marks) : -ENOMEM;
}

static int do_and(struct run *r, const struct step *step)
{
	uint8_t *a = r->stack[r->used - 2], *b = r->stack[r->used - 1];

	for (uint32_t i = 0; i < r->n; i++)
		a[i] = step->kind == STEP_AND ? a[i] & b[i] : a[i] | b[i];
	free(r->stack[--r->used]);
	return 0;
}

static int do_not(struct run *r, const struct step *step)
{
	uint8_t *marks = r->stack[r->used - 1];

	(void)step;
	for (uint32_t i = 0; i < r->n; i++)
		marks[i] = !marks[i];
	return 0;
}

static int (*const do_step[])(struct run *r, const struct step *step) = {
	[STEP_COMPARE] = do_compare, [STEP_NAME] = do_name, [STEP_PATH] = do_path,
	[STEP_AND] = do_and,         [STEP_OR] = do_and,    [STEP_NOT] = do_not,
};

/* A step over all nodes takes longer than a stride of what reports progress. */
static bool may_go_on(const struct run *r)
{
	return r->x->n == 1 || tick_at(snapshot_tick(r->snap), 0, r->x->n);
}

int selector_marks(const struct selector *x, struct snapshot *snap, const struct peaks *peaks,
		   uint8_t **ret)
{
	struct run run = {.x = x, .snap = snap, .peaks = peaks, .n = snapshot_n(snap)};
	int r = 0;

	run.stack = calloc(x->n + 1, sizeof(*run.stack));
	if (!run.stack)
		return -ENOMEM;
	for (size_t i = 0; i < x->n && r == 0; i++)
		r = may_go_on(&run) ? do_step[x->steps[i].kind](&run, &x->steps[i]) : -ECANCELED;
	if (r == 0) {
		*ret = run.stack[--run.used];
		if (run.n && x->form != SELECTOR_NAMES)
			(*ret)[0] = 0;
	}
	while (run.used)
		free(run.stack[--run.used]);
	free(run.stack);
	derive_free(run.derive);
	return r;
}
