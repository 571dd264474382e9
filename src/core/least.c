/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/least.h"
#include <errno.h>
#include <string.h>
#include "core/column.h"
#include "core/filter.h"

/* The first column of numbers: a word cannot be compared with a limit. */
static int first_number(const struct least *x, const struct session *s, struct column_spec *ret)
{
	const char *time = derive_time(s) == METRIC_TIME ? "time" : "cpu_time";
	bool is_of_columns = x->word && x->at.value != 0 && x->at.unit != AMOUNT_TIME;
	const char *word = is_of_columns ? x->word : time;
	size_t len = column_word_len(s, word);
	int r = column_parse(s, word, len, ret);

	while (r == 0 && ret->form == FORM_WORD) {
		word = word[len] ? word + len + 1 : time;
		len = column_word_len(s, word);
		r = column_parse(s, word, len, ret);
	}
	return r;
}

int least_parse(const struct least *x, const struct session *s, struct derived *ret)
{
	struct column_spec c;
	int r = first_number(x, s, &c);

	if (r == 0)
		r = column_in_unit(&c, s, &x->at);
	if (r == -EDOM && x->at.unit == AMOUNT_BYTES) {
		c = usual_columns[USUAL_BYTES];
		r = 0;
	}
	if (r == 0)
		*ret = c.derived;
	return r;
}

int least_apply(const struct least *x, uint8_t *mask, struct snapshot *snap)
{
	struct derive *d = derive_new(snap, x->peaks);
	const double *v = NULL;
	struct derived m;
	int r = -ENOMEM;

	if (d)
		r = least_parse(x, snapshot_session(snap), &m);
	if (r == 0)
		v = derive_column(d, &m);
	if (r == 0 && !v)
		r = -ENOMEM;
	if (v && x->at.value != 0)
		filter_at_least(mask, snap, v, x->at.value);
	if (v && x->share > 0)
		filter_at_least(mask, snap, v, x->share * v[0]);
	derive_free(d);
	return r;
}
