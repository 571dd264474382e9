/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/period.h"
#include <string.h>
#include "base/hash.h"
#include "base/util.h"

enum {
	FIRST_LOOK = 64,
	OTHERS_OF = 4, /* one of so many steps that does not fit is too many … */
	LEAST_OTHERS = 4,
};

/* ---- looking ---- */

/* The place of a symbol; NULL: there are too many of them. */
static struct period_symbol *symbol_of(struct period *p, uint32_t what)
{
	uint32_t at = (uint32_t)hash_u64(what) % PERIOD_SYMBOLS;

	for (unsigned i = 0; i < PERIOD_SYMBOLS / 4; i++) {
		struct period_symbol *s = &p->symbols[(at + i) % PERIOD_SYMBOLS];

		if (!s->what || s->what == what + 1)
			return s;
	}
	return NULL;
}

static bool count_symbols(struct period *p)
{
	memset(p->symbols, 0, sizeof(p->symbols));
	for (uint32_t i = 0; i < p->n_seen; i++) {
		struct period_symbol *s = symbol_of(p, p->seen[i]);

		if (!s)
			return false;
		if (!s->n++)
			s->first = i;
		s->what = p->seen[i] + 1;
		s->last = i;
	}
	return true;
}

/* The rarest of those that came often enough, and lately: not longer ago than they usually do. */
static const struct period_symbol *find_anchor(const struct period *p)
{
	const struct period_symbol *best = NULL;

	for (uint32_t i = 0; i < PERIOD_SYMBOLS; i++) {
		const struct period_symbol *s = &p->symbols[i];

		if (s->n < PERIOD_REPEATS + 2 || (best && s->n >= best->n))
			continue;
		if ((uint64_t)(p->n_seen - s->last) * (s->n - 1) <=
		    2 * (uint64_t)(s->last - s->first))
			best = s;
	}
	return best;
}

static uint32_t before(const struct period *p, uint32_t i, uint32_t what)
{
	while (i-- > 0)
		if (p->seen[i] == what)
			return i;
	return UINT32_MAX;
}

/* One kernel alone, however often it comes, is no step. */
static bool has_several(const uint32_t *v, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (v[i] != v[0])
			return true;
	return false;
}

/* How long what stands between the anchors is, if it was always the same of late; 0: it was not. */
static uint32_t same_length(const struct period *p, const struct period_symbol *anchor)
{
	uint32_t end = anchor->last, start = before(p, end, anchor->what - 1), length = end - start;

	if (start == UINT32_MAX || length > PERIOD_LONGEST || length < 2 || length <= p->least ||
	    !has_several(&p->seen[start], length))
		return 0;
	for (unsigned i = 1; i < PERIOD_REPEATS; i++) {
		if (start < length || before(p, start, anchor->what - 1) != start - length ||
		    memcmp(&p->seen[start - length], &p->seen[start],
			   length * sizeof(p->seen[0])) != 0)
			return 0;
		start -= length;
	}
	return length;
}

/* What came behind the last anchor must be the beginning of a step. */
static bool goes_on(const struct period *p, uint32_t last, uint32_t length)
{
	uint32_t n = p->n_seen - last;

	return n <= length &&
	       !memcmp(&p->seen[last], &p->seen[last - length], n * sizeof(p->seen[0]));
}

static bool look(struct period *p)
{
	const struct period_symbol *anchor = count_symbols(p) ? find_anchor(p) : NULL;
	uint32_t length = anchor ? same_length(p, anchor) : 0;

	if (!length || !goes_on(p, anchor->last, length))
		return false;
	memcpy(p->step, &p->seen[anchor->last - length], length * sizeof(p->step[0]));
	p->length = length;
	p->at = p->n_seen - anchor->last;
	p->is_lost = true; /* when it began is not known any more */
	p->n_steps = p->n_others = 0;
	p->n_broken = 0;
	return true;
}

/* The older half makes room. Looks get rarer where they find nothing. */
static bool search(struct period *p, uint32_t what)
{
	if (p->n_seen == PERIOD_SEEN) {
		p->n_seen = PERIOD_SEEN / 2;
		memmove(p->seen, p->seen + PERIOD_SEEN / 2, p->n_seen * sizeof(p->seen[0]));
	}
	p->seen[p->n_seen++] = what;
	if (p->n_until_look > 1) {
		p->n_until_look--;
		return false;
	}
	p->n_looks++;
	p->n_until_look = MAX(p->n_seen / (p->n_looks > 64 ? 1 : 4), (uint32_t)FIRST_LOOK);
	return p->n_seen >= FIRST_LOOK && look(p);
}

/* ---- holding against it ---- */

static void search_anew(struct period *p, uint32_t least)
{
	p->length = p->n_seen = p->n_looks = 0;
	p->n_until_look = FIRST_LOOK;
	p->least = least;
}

/* After as many operations each time. */
static uint32_t regular_distance(const struct period *p)
{
	uint64_t distance = p->broken_at[0] - p->broken_at[1];

	return p->n_broken >= ARRAY_SIZE(p->broken_at) &&
			       p->broken_at[1] - p->broken_at[2] == distance &&
			       p->broken_at[2] - p->broken_at[3] == distance
		       ? (uint32_t)MIN(distance, (uint64_t)UINT32_MAX)
		       : 0;
}

static enum period_news break_off(struct period *p)
{
	uint32_t distance;

	memmove(&p->broken_at[1], &p->broken_at[0], sizeof(p->broken_at) - sizeof(p->broken_at[0]));
	p->broken_at[0] = p->n;
	p->n_broken++;
	p->n_others++;
	p->is_lost = true;
	p->at = 0;
	distance = regular_distance(p);
	if (!distance &&
	    (p->n_others < LEAST_OTHERS || p->n_others * OTHERS_OF <= p->n_steps + p->n_others))
		return PERIOD_NOTHING;
	/* The larger one is as long as that, or a little less. */
	search_anew(p, distance ? MAX(distance - 1, p->length) : p->length);
	return PERIOD_OVER;
}

static enum period_news begin(struct period *p, uint64_t start_ns)
{
	p->start_ns = start_ns;
	p->is_lost = false;
	p->at = 1;
	return PERIOD_NOTHING;
}

static enum period_news hold(struct period *p, uint32_t what, uint64_t start_ns,
			     uint64_t *ret_start_ns)
{
	bool is_end = p->at == p->length;

	if (p->is_lost)
		return what == p->step[0] ? begin(p, start_ns) : PERIOD_NOTHING;
	if (what != p->step[is_end ? 0 : p->at]) {
		enum period_news news = break_off(p);

		return news == PERIOD_NOTHING && what == p->step[0] ? begin(p, start_ns) : news;
	}
	p->at++;
	if (!is_end)
		return PERIOD_NOTHING;
	*ret_start_ns = p->start_ns;
	p->n_steps++;
	begin(p, start_ns);
	return PERIOD_STEP;
}

enum period_news period_add(struct period *p, uint32_t what, uint64_t start_ns,
			    uint64_t *ret_start_ns)
{
	p->n++;
	if (p->length)
		return hold(p, what, start_ns, ret_start_ns);
	return search(p, what) ? PERIOD_FOUND : PERIOD_NOTHING;
}

void period_break(struct period *p)
{
	p->is_lost = true;
	p->n_broken = 0;
	if (!p->length)
		p->n_seen = 0;
}
