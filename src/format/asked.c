/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "format/asked.h"
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void asked_done(struct asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->columns[i].title);
	free(a->columns);
	free(a->nodes);
	derive_free(a->derive);
	snapshot_free(a->snap);
}

/* Metrics that add up along the tree stand in tables twice: what is not said is inclusive here, and
 * the title tells. */
static bool needs_inclusive(const struct session *s, const struct column_spec *c)
{
	const struct metric *m = derive_metric(s, c->derived.metric);

	return !c->title && c->derived.op == DERIVED_VALUE && c->derived.inclusive &&
	       !c->derived.is_said && m && m->scope == METRIC_INCLUSIVE;
}

static int add(struct asked *a, const char *word, size_t len)
{
	struct column_spec spec;
	struct buf title;
	int r = column_parse(a->s, word, len, &spec);

	if (r < 0)
		return -EINVAL;
	if (ARRAY_ROOM(a->columns, a->cap, a->n + 1) < 0)
		return -ENOMEM;
	buf_init(&title, 0);
	buf_put(&title, word, len);
	if (needs_inclusive(a->s, &spec))
		buf_puts(&title, " [inclusive]");
	a->columns[a->n] = (struct asked_column){.title = strdup(buf_str(&title)), .spec = spec};
	r = title.error || !a->columns[a->n].title ? -ENOMEM : 0;
	buf_done(&title);
	a->n++;
	return r;
}

static int add_all(struct asked *a, const char *words)
{
	int r = 0;

	while (*words && r == 0) {
		size_t len = column_word_len(a->s, words);

		r = add(a, words, len);
		words += len + (words[len] == ',');
	}
	return r;
}

static int find_nodes(struct asked *a)
{
	a->nodes = malloc((a->s->n_nodes + 1) * sizeof(*a->nodes));
	if (!a->nodes)
		return -ENOMEM;
	memset(a->nodes, 0xff, a->s->n_nodes * sizeof(*a->nodes));
	for (uint32_t id = 0; id < snapshot_n(a->snap); id++) {
		uint32_t node = snapshot_node(a->snap, id)->session_node;

		if (node != SESSION_NONE)
			a->nodes[node] = id;
	}
	return 0;
}

static int compute(struct asked *a)
{
	for (size_t i = 0; i < a->n; i++) {
		struct asked_column *c = &a->columns[i];

		if (!derive_has(a->derive, &c->spec.derived))
			continue; /* all absent */
		c->v = derive_column(a->derive, &c->spec.derived);
		if (!c->v)
			return -ENOMEM;
	}
	return 0;
}

int asked_make(struct asked *a, const struct session *s, const struct write_options *options)
{
	struct snapshot_spec spec = {.keep_metadata = true};
	int r;

	*a = (struct asked){.s = s};
	r = add_all(a, options->metric);
	if (r < 0)
		return r;
	a->snap = snapshot_new(s, &spec);
	a->derive = a->snap ? derive_new(a->snap, options->peaks) : NULL;
	if (!a->derive)
		return -ENOMEM;
	r = find_nodes(a);
	return r < 0 ? r : compute(a);
}

double asked_value(const struct asked *a, size_t column, uint32_t node)
{
	const double *v = a->columns[column].v;

	return v && a->nodes[node] != SNAP_NONE ? v[a->nodes[node]] : NAN;
}

const char *asked_word(const struct asked *a, size_t column, uint32_t node)
{
	double v = asked_value(a, column, node);

	if (isnan(v))
		return "";
	return column_word(&a->columns[column].spec, a->s, v);
}
