/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include <math.h>
#include <string.h>
#include "core/pair.h"
#include "tui/change.h"
#include "tui/flame_box.h"
#include "tui/names.h"
#include "tui/panel_flame.h"
#include "tui/tui_impl.h"

#define SAME_RATIO 0.01 /* a change of less has no colour */

static const char *const form_words[FLAME_N_FORMS] = {
	[FLAME_FROM_TOP] = "callees below",
	[FLAME_FROM_BELOW] = "callees above",
	[FLAME_BY_CALLERS] = "callers below",
	[FLAME_BY_KIND] = "callees below, coloured by kind",
};

const char *flame_form_word(enum flame_form form)
{
	return form_words[form];
}

/* ---- names ---- */

static const char *node_name(struct panel *p, uint32_t node)
{
	struct panel_flame *pf = as_flame(p);

	if (!pf->flame.callers)
		return tui_node_name(p->tui, node);
	return node ? tui_node_name(p->tui, bottom_up_example(pf->callers, node)) : "ALL";
}

const char *flame_box_name(struct panel *p, uint32_t box)
{
	const struct flame_box *b = box_at(p, box);

	if (!b->n_merged)
		return node_name(p, b->node);
	buf_clear(&as_flame(p)->name);
	buf_printf(&as_flame(p)->name, "+%u more", b->n_merged);
	return buf_str(&as_flame(p)->name);
}

/* In what is left of a line: cut as in a box. */
static void put_fitted(struct pen *pen, enum role role, const char *name)
{
	pen_name(pen, role, &(struct pen_name){.text = name, .cut = TEXT_CUT_MIDDLE});
}

/* The calling context that a box shows the name and the kind of. */
static uint32_t context_of(struct panel *p, const struct flame_box *b)
{
	struct panel_flame *pf = as_flame(p);

	return pf->flame.callers ? bottom_up_example(pf->callers, b->node) : b->node;
}

/* ---- numbers ---- */

static void print_value(struct panel *p, double v, char out[COLUMN_TEXT])
{
	column_print(&p->columns.v[p->sort].of->spec, panel_session(p), v, false, out);
}

static double share_of(struct panel *p, const struct flame_box *b)
{
	return b->value / box_at(p, 0)->value;
}

/* "14.1%" */
static void print_share(double share, char out[HUMAN_MAX])
{
	char text[HUMAN_MAX];

	human_percent(text, share);
	snprintf(out, HUMAN_MAX, "%.*s%%", HUMAN_MAX - 2, text);
}

static bool is_compared(const struct panel *p)
{
	return p->tui->options.before != NULL;
}

static bool shows_change(struct panel *p)
{
	return is_compared(p) && as_flame(p)->form != FLAME_BY_KIND;
}

/* ---- boxes ---- */

static enum role change_role(const struct flame_box *b)
{
	double change = change_of(b->before, b->value);

	if (isnan(change) || fabs(change) < SAME_RATIO)
		return ROLE_BOX_SAME;
	return change > 0 ? ROLE_BOX_MORE : ROLE_BOX_LESS;
}

static enum role box_role(struct panel *p, const struct flame_box *b)
{
	if (shows_change(p))
		return change_role(b);
	return b->n_merged ? ROLE_DIM
			   : flame_box_role(snapshot_node(p->tui->snap, context_of(p, b))->kind);
}

static bool is_found(struct panel *p, const struct flame_box *b)
{
	const char *needle = p->tui->search;

	if (!*needle || b->n_merged || (as_flame(p)->flame.callers && b->node == 0))
		return false;
	return tui_node_has(p->tui, context_of(p, b), needle, text_is_smart_case(needle));
}

/* What a box has below its name, or behind it. */
struct box_texts {
	char name[COLUMN_TEXT], value[COLUMN_TEXT], share[HUMAN_MAX];
	char rest[COLUMN_TEXT]; /* of a name of two lines */
	char both[COLUMN_TEXT]; /* value and share */
};

/* Where colours tell what has grown, a sign before the name does, too; '\0': it has not changed. */
static char sign_of(struct panel *p, const struct flame_box *b)
{
	enum role role = shows_change(p) ? change_role(b) : ROLE_BOX_SAME;

	if (role == ROLE_BOX_MORE)
		return '+';
	return role == ROLE_BOX_LESS ? '-' : '\0';
}

/* As in the tree. */
static bool is_estimated(struct panel *p, const struct flame_box *b)
{
	return !b->n_merged && snapshot_is_estimated(p->tui->snap, context_of(p, b));
}

/* The sign of several in one is a part of what is counted. */
static void put_name(struct panel *p, uint32_t box, char *sign, struct box_texts *t)
{
	const struct flame_box *b = box_at(p, box);
	char both[] = {sign_of(p, b), '\0'};

	*sign = b->n_merged ? '\0' : both[0];
	snprintf(t->name, sizeof(t->name), "%s%s",
		 b->n_merged          ? both
		 : is_estimated(p, b) ? "~ "
				      : "",
		 flame_box_name(p, box));
}

static void put_numbers(struct panel *p, const struct flame_box *b, int lines, struct box_texts *t)
{
	const struct column_spec *spec = &p->columns.v[p->sort].of->spec;

	if (shows_change(p))
		change_print(b->before, b->value, t->share);
	if (shows_change(p) && *t->share) {
		change_print_delta(spec, panel_session(p), pair_delta(b->before, b->value),
				   t->value);
		return;
	}
	print_value(p, b->value, t->value);
	if (shows_change(p)) { /* a box of one line needs no word for what its ground says */
		snprintf(t->share, sizeof(t->share), "%s", lines > 1 ? "same" : "");
		return;
	}
	print_share(share_of(p, b), t->share);
}

/* Three lines are name, value and share, or a long name and what there is room for of these. */
static void choose_lines(struct panel *p, const struct flame_box *b, int lines, struct box_texts *t,
			 struct flame_box_look *ret)
{
	int width = b->width - 1, first = width - (ret->sign != '\0');
	size_t at = lines == BOX_LINES && first > 0
			    ? flame_box_break(t->name, first, p->tui->look.ascii)
			    : 0;
	const char *both;

	snprintf(t->both, sizeof(t->both), "%.256s %s", t->value, t->share);
	both = (int)strlen(t->both) <= width ? t->both : t->share;
	ret->name = t->name;
	ret->brief = t->share;
	ret->numbers[0] = lines == BOX_LINES ? t->value : both;
	ret->numbers[1] = t->share;
	if (at) {
		snprintf(t->rest, sizeof(t->rest), "%s", t->name + at);
		t->name[at] = '\0';
		ret->numbers[0] = t->rest;
		ret->numbers[1] = both;
	}
}

static void draw_box(struct panel *p, struct pen *pen, uint32_t box, int line)
{
	struct panel_flame *pf = as_flame(p);
	const struct flame_box *b = box_at(p, box);
	struct pen in = pen_at(pen->canvas, pen->y, b->x, b->width);
	struct flame_box_look look = {
		.role = box_role(p, b),
		.is_selected = box == pf->selected,
		.is_found = is_found(p, b),
		.is_merged = b->n_merged > 0,
	};
	int lines = lines_of_level(p, flame_level(&pf->flame, box));
	struct box_texts t;

	put_name(p, box, &look.sign, &t);
	put_numbers(p, b, lines, &t);
	choose_lines(p, b, lines, &t, &look);
	flame_box_draw(&in, &look, line, lines);
	pen_hit(&in, b->x, HIT_PART, (int)box);
}

void flame_draw_row(struct panel *p, struct pen *pen, size_t row)
{
	const struct flame *f = &as_flame(p)->flame;
	uint32_t level = level_of_row(p, row);
	size_t first = row_of_level(p, level);

	pen->selected = false;
	pen->x = 0;
	pen_fill(pen, ROLE_NORMAL);
	for (uint32_t i = f->levels[level]; i < f->levels[level + 1]; i++)
		draw_box(p, pen, i, (int)(row - first));
}

/* ---- the lines around them ---- */

/* " TOTAL 6.17s"; compared " TOTAL A 5.00s  B 6.17s  +1.17s +23.4%". */
static void put_sides(struct panel *p, struct pen *pen, enum role role, const struct flame_box *b)
{
	const struct column *c = &p->columns.v[p->sort];
	char value[COLUMN_TEXT], before[COLUMN_TEXT], delta[COLUMN_TEXT], change[HUMAN_MAX];

	print_value(p, b->value, value);
	if (!is_compared(p)) {
		pen_printf(pen, role, " %s %s", c->title, value);
		return;
	}
	print_value(p, b->before, before);
	change_print_delta(&c->of->spec, panel_session(p), pair_delta(b->before, b->value), delta);
	change_print(b->before, b->value, change);
	pen_printf(pen, role, " %s A %s  B %s  ", c->title, before, value);
	if (*change)
		pen_printf(pen, role, "%s %s", delta, change);
	else
		pen_put(pen, role, "same");
}

/* "TOTAL 6.17s  14.1%" of the selected box. */
static void draw_value(struct panel *p, struct pen *pen, enum role role)
{
	const struct flame_box *b = box_at(p, as_flame(p)->selected);
	char share[HUMAN_MAX];

	put_sides(p, pen, role, b);
	print_share(share_of(p, b), share);
	pen_printf(pen, role, "  %s  ", share);
}

/* Where a text filters what is counted here: of how much, which the tree has for its root. */
static void draw_whole(struct panel *p, struct pen *pen)
{
	struct panel_flame *pf = as_flame(p);
	struct derived_terms terms = {0};
	char text[COLUMN_TEXT];
	double whole;

	if (!*p->tui->filter || pf->n_zoom)
		return;
	whole = derive_at(numbers_derive(tui_all(p->tui)), &pf->flame.metric, &terms, 0, 0);
	if (!(whole > box_at(p, 0)->value))
		return;
	print_value(p, whole, text);
	pen_printf(pen, ROLE_HEAD, " of %s", text);
}

/* What has no box because there is none of it any more. */
static void draw_gone(struct panel *p, struct pen *pen)
{
	const struct flame *f = &as_flame(p)->flame;
	char text[COLUMN_TEXT];

	if (!f->gone.n)
		return;
	print_value(p, f->gone.value, text);
	pen_printf(pen, ROLE_HEAD, "  gone: %u with %s", f->gone.n, text);
}

/* Nobody would guess that there are other forms. */
static void draw_form_key(struct panel *p, struct pen *pen)
{
	const char *key = keymap_words(&p->tui->keys, REQ_FORM);
	int n = (int)strcspn(key, " "); /* one of them is enough */
	char text[64];

	snprintf(text, sizeof(text), "  %.*s: other forms", n, key);
	if (n && (int)strlen(text) <= pen_left(pen))
		pen_put(pen, ROLE_HEAD, text);
}

void flame_draw_head(struct panel *p, struct pen *pen)
{
	struct panel_flame *pf = as_flame(p);

	if (p->height < 8) { /* there is no foot that tells what is selected */
		draw_value(p, pen, ROLE_HEAD);
		put_fitted(pen, ROLE_HEAD, flame_box_name(p, pf->selected));
		pen_fill(pen, ROLE_HEAD);
		return;
	}
	put_sides(p, pen, ROLE_HEAD_SORT, box_at(p, 0));
	draw_whole(p, pen);
	pen_printf(pen, ROLE_HEAD, "  %s", form_words[pf->form]);
	if (pf->view.rest)
		pen_printf(pen, ROLE_HEAD, "  zoom: +%u more below %s", box_at(p, 0)->n_merged,
			   node_name(p, pf->view.root));
	else if (pf->view.root)
		pen_printf(pen, ROLE_HEAD, "  zoom: %s", node_name(p, pf->view.root));
	draw_gone(p, pen);
	if (pf->flame.not_to_scale)
		pen_put(pen, ROLE_HEAD, "  last box not to scale");
	draw_form_key(p, pen);
	pen_fill(pen, ROLE_HEAD);
}

void flame_draw_foot(struct panel *p, struct pen *pen)
{
	struct panel_flame *pf = as_flame(p);
	const struct flame_box *b = box_at(p, pf->selected);
	char own[COLUMN_TEXT];

	draw_value(p, pen, ROLE_NUMBER);
	if (b->n_merged) {
		pen_printf(pen, ROLE_NORMAL, "%u more below ", b->n_merged);
	} else if (!pf->flame.callers) {
		print_value(p, flame_own(&pf->flame, b->node), own);
		pen_printf(pen, ROLE_DIM, "itself %s  ", own);
	}
	put_fitted(pen, ROLE_TITLE, node_name(p, b->node));
}

/* ---- what empty lines are good for ---- */

/* clang-format off */
static const struct {
	enum role role;
	const char *word, *mono; /* NULL: without colours it looks like another one */
} legend[] = {
	{ROLE_BOX_KERNEL, "kernel",           "kernel"},
	{ROLE_BOX_COPY,   "copy",             "copy, set"},
	{ROLE_BOX_SET,    "set, alloc, sync", NULL},
	{ROLE_BOX_SCOPE,  "scope",            "what calls them"},
	{ROLE_BOX_NVTX,   "NVTX",             NULL},
	{ROLE_BOX_CODE,   "code",             NULL},
	{ROLE_BOX_MORE,   "more than before", "more than before"},
	{ROLE_BOX_LESS,   "less",             "less"},
	{ROLE_BOX_SAME,   "the same",         NULL},
};
/* clang-format on */

/* What the colours say that are there, as long as there is room for whole words. */
static void draw_legend(struct panel *p, struct pen *pen)
{
	const struct flame *f = &as_flame(p)->flame;
	bool is_there[ROLE_N] = {0}, found = false, mono = pen->canvas->look->mono;

	for (uint32_t i = 0; i < f->n; i++) {
		is_there[box_role(p, &f->boxes[i])] = true;
		found |= is_found(p, &f->boxes[i]);
	}
	if (mono) { /* these look the same */
		is_there[ROLE_BOX_COPY] |= is_there[ROLE_BOX_SET];
		is_there[ROLE_BOX_SCOPE] |= is_there[ROLE_BOX_NVTX] || is_there[ROLE_BOX_CODE];
	}
	pen_skip(pen, ROLE_NORMAL, 1);
	for (size_t i = 0; i < ARRAY_SIZE(legend); i++) {
		const char *word = mono ? legend[i].mono : legend[i].word;

		if (is_there[legend[i].role] && word && pen_left(pen) >= 4 + (int)strlen(word))
			flame_box_sample(pen, legend[i].role, word);
	}
	if (found && pen_left(pen) >= (int)strlen("* found")) {
		pen_put(pen, ROLE_MATCH, pen->canvas->look->glyphs->found);
		pen_put(pen, ROLE_NORMAL, " found");
	}
}

/* A metric of a node on either side; NaN: absent. */
static double metric_of(struct panel *p, const struct column *c, uint32_t node, bool before)
{
	const struct row_ask ask = {{&c->of->spec.derived, before, c->of->slot + before},
				    &c->of->terms[before]};

	return p->ops->value(p, node, &ask);
}

/* "CALLS   41.0K   12.1%  launches"; compared "CALLS   40.0K > 41.0K   +2.5%  launches". */
static void draw_metric(struct panel *p, struct pen *pen, const struct column *c, uint32_t node)
{
	double now = metric_of(p, c, node, false), before = metric_of(p, c, node, true);
	double share = now / metric_of(p, c, box_at(p, 0)->node, false);
	char text[COLUMN_TEXT], last[HUMAN_MAX];

	pen_skip(pen, ROLE_NORMAL, 1);
	pen_field(pen, ROLE_HEADER, 8, c->title);
	if (is_compared(p)) {
		column_print(&c->of->spec, panel_session(p), before, false, text);
		pen_right(pen, ROLE_NUMBER, 8, text);
		pen_put(pen, ROLE_DIM, " >");
		change_print(before, now, last);
		if (!*last)
			snprintf(last, sizeof(last), "same");
	} else {
		print_share(share, last);
	}
	column_print(&c->of->spec, panel_session(p), now, false, text);
	pen_right(pen, ROLE_NUMBER, 8, text);
	pen_right(pen, !is_compared(p) && share >= 0.1 ? ROLE_HOT : ROLE_NUMBER, 9, last);
	pen_printf(pen, ROLE_DIM, "  %s", c->help);
}

/* All that may make boxes wide, of the selected one; in lines from y on, up to `end`. */
static void draw_metrics(struct panel *p, const struct canvas *canvas, int y, int end)
{
	const struct flame_box *b = box_at(p, as_flame(p)->selected);
	struct pen title = pen_at(canvas, y++, 1, canvas->cols - 1);

	put_fitted(&title, ROLE_TITLE, flame_box_name(p, as_flame(p)->selected));
	for (unsigned i = 0; i < p->columns.n && y < end && !b->n_merged; i++) {
		const struct column *c = &p->columns.v[i];
		struct pen pen = pen_at(canvas, y, 0, canvas->cols);

		if (!c->of || c->of->is_spare || column_is_absent(p, c) ||
		    (isnan(metric_of(p, c, b->node, false)) &&
		     isnan(metric_of(p, c, b->node, true))))
			continue;
		draw_metric(p, &pen, c, b->node);
		y++;
	}
}

void flame_draw_below(struct panel *p, const struct canvas *canvas, int y, int rows)
{
	struct pen last = pen_at(canvas, y + rows - 1, 0, canvas->cols);

	if (rows >= 5)
		draw_metrics(p, canvas, y + 1, y + rows - 2);
	draw_legend(p, &last);
}
