/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/row_past.h"
#include "tui/tui_impl.h"

static struct row_column *trend(struct row_columns *rc)
{
	for (unsigned i = 0; i < rc->n; i++)
		if (rc->v[i]->spec.form == FORM_TREND)
			return rc->v[i];
	return NULL;
}

static void note(struct row_column *c, struct panel *p, struct past_row *r, uint32_t i)
{
	if (r)
		past_note(r, p->tui->windows, row_value(p, c, i));
}

void row_past_note(struct row_columns *rc, struct panel *p, uint32_t n)
{
	struct row_column *c = trend(rc);

	if (!c || !rc->past.n || rc->past_window == p->tui->windows)
		return;
	rc->past_window = p->tui->windows;
	if (p->ops->past_key)
		for (uint32_t i = 0; i < n; i++)
			note(c, p, past_find(&rc->past, p->ops->past_key(p, i)), i);
	else
		for (size_t k = 0; k < rc->past.n; k++)
			if (rc->past.rows[k].key < n)
				note(c, p, &rc->past.rows[k], (uint32_t)rc->past.rows[k].key);
}

bool row_past_read(struct row_columns *rc, struct panel *p, uint32_t i, float out[PAST_WINDOWS])
{
	struct row_column *c = trend(rc);
	uint64_t key = p->ops->past_key ? p->ops->past_key(p, i) : i;
	struct past_row *r = c ? past_draw(&rc->past, key, p->tui->windows) : NULL;

	if (!r)
		return false;
	note(c, p, r, i);
	past_read(r, p->tui->windows, out);
	return true;
}
