/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/least.h"
#include <errno.h>
#include <string.h>
#include "core/column.h"
#include "core/filter.h"

int least_parse(const struct least *x, const struct session *s, struct derived *ret)
{
	const char *time = derive_time(s) == METRIC_TIME ? "time" : "cpu_time";
	const char *word = x->word && x->value != 0 ? x->word : time;
	size_t len = column_word_len(s, word);
	struct column_spec c;
	int r = column_parse(s, word, len, &c);

	while (r == 0 && c.form == FORM_WORD) { /* a word cannot be compared with a limit */
		word = word[len] ? word + len + 1 : time;
		len = column_word_len(s, word);
		r = column_parse(s, word, len, &c);
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
	if (v && x->value != 0)
		filter_at_least(mask, snap, v, x->value);
	if (v && x->share > 0)
		filter_at_least(mask, snap, v, x->share * v[0]);
	derive_free(d);
	return r;
}
