/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/panel_warps.h"
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/buf.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/order.h"
#include "tui/axis_hits.h"
#include "tui/names.h"
#include "tui/tui_impl.h"

#define FEW_WARPS 32 /* of a launch: each has its lane at first */
#define FOLLOW_COST                                                                                \
	20 /* what it took to show a launch is this part of the time until the next, at most */

/* ---- what is shown ---- */

static void unmake(struct panel_warps *pw)
{
	warp_lanes_done(&pw->lanes);
	warp_stats_done(&pw->stats);
	warp_grid_done(&pw->grid);
	warp_tracks_done(&pw->tracks);
	free(pw->late);
	free(pw->worst);
	pw->late = NULL;
	pw->worst = NULL;
	pw->n_late = 0;
	pw->is_made = pw->has_rows = pw->has_node = false;
	pw->outlier = SIZE_MAX;
}

static bool is_taken(const struct panel_warps *pw, unsigned n, char letter)
{
	return memchr(pw->letters, letter, n) != NULL;
}

/* A letter of its name that no other class has, else any; the first ones have most time, and the choice. */
static char choose_letter(const struct panel_warps *pw, unsigned n)
{
	const char *name = strtab_str(pw->tracks.t->names, pw->tracks.classes[n].name);

	for (unsigned lower = 0; lower < 2; lower++)
		for (const char *c = name; *c; c++) {
			char letter = (char)(lower ? tolower((unsigned char)*c)
						   : toupper((unsigned char)*c));

			if (isalpha((unsigned char)letter) && !is_taken(pw, n, letter))
				return letter;
		}
	for (char letter = 'A'; letter <= 'Z'; letter++)
		if (!is_taken(pw, n, letter))
			return letter;
	return '*';
}

static int compare_blocks(const void *a, const void *b)
{
	return COMPARE(*(const uint64_t *)a, *(const uint64_t *)b);
}

static int rank_outliers(struct panel_warps *pw)
{
	size_t n = pw->stats.n_outliers;
	struct order_entry *v = malloc((n + 1) * sizeof(*v));

	pw->worst = malloc((n + 1) * sizeof(*pw->worst));
	if (!v || !pw->worst) {
		free(v);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++)
		v[i] = (struct order_entry){.value = pw->stats.outliers[i].times, .id = i};
	order_sort(v, n, false);
	for (size_t i = 0; i < n; i++)
		pw->worst[i] = v[i].id;
	free(v);
	return 0;
}

static int make_late(struct panel_warps *pw)
{
	pw->n_late = pw->stats.n_outliers;
	pw->late = malloc((pw->n_late + 1) * sizeof(*pw->late));
	if (!pw->late)
		return -ENOMEM;
	for (size_t i = 0; i < pw->n_late; i++)
		pw->late[i] = pw->stats.outliers[i].block;
	qsort(pw->late, pw->n_late, sizeof(*pw->late), compare_blocks);
	return rank_outliers(pw);
}

/* What is made of its warps. 0 or -errno. */
static int make_of(struct panel_warps *pw, const struct warp_trace *t, size_t launch)
{
	int r = warp_tracks_init(&pw->tracks, t, launch);

	if (r == 0)
		r = warp_grid_init(&pw->grid, &pw->tracks);
	if (r == 0)
		r = warp_stats_init(&pw->stats, t, launch, 1);
	return r ? r : make_late(pw);
}

static int load(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_trace *t;
	size_t launch;
	int r = pw->launch < warps_list(p)->n_launches ? 0 : -ENODATA;

	if (r == 0)
		r = warp_source_load(p->tui->options.warps, pw->launch, &t, &launch);
	return r ? r : make_of(pw, t, launch);
}

/* All of a launch but its lanes. False: there is none, or no memory. */
static bool make(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	uint64_t begun_ns = clock_monotonic_ns(), now_ns;

	if (pw->is_made)
		return true;
	pw->error = load(p);
	now_ns = clock_monotonic_ns();
	pw->follow_ns = now_ns + (now_ns - begun_ns) * FOLLOW_COST;
	if (pw->error) {
		unmake(pw);
		return false;
	}
	for (unsigned i = 0; i < pw->tracks.n_classes; i++)
		pw->letters[i] = choose_letter(pw, i);
	pw->letters[WARP_OTHERS] = '+';
	if (!pw->is_kind_chosen)
		pw->kind = pw->tracks.launch->n_warps <= FEW_WARPS ? WARP_LANES_WARPS
								   : WARP_LANES_BLOCKS;
	pw->is_made = true;
	return true;
}

/* On a small screen, as few as there is room for. */
static size_t put_heads(const struct panel *p, struct warps_row *rows)
{
	static const uint8_t heads[] = {WARPS_FACTS, WARPS_GRID, WARPS_RUNNING};
	size_t n = p->height >= 9 ? 3 : p->height >= 4;

	for (size_t i = 0; i < n; i++)
		rows[i] = (struct warps_row){0, heads[3 - n + i]};
	return n;
}

/* Blocks have a heading where their warps are the lanes. */
static bool make_rows(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_lanes *l = &pw->lanes;
	bool has_blocks = pw->kind == WARP_LANES_WARPS || pw->kind == WARP_LANES_GROUPS;
	size_t n;

	if (l->of != &pw->tracks || l->kind != pw->kind || !pw->has_rows) {
		if (warp_lanes_make(&pw->lanes, &pw->tracks, pw->kind) < 0)
			return false;
		pw->has_rows = false;
	}
	if (ARRAY_ROOM(pw->rows, pw->cap_rows, 3 + 2 * l->n) < 0)
		return false;
	n = put_heads(p, pw->rows);
	for (uint32_t i = 0; i < l->n; i++) {
		if (has_blocks && (i == 0 || l->lanes[i].block != l->lanes[i - 1].block))
			pw->rows[n++] = (struct warps_row){i, WARPS_BLOCK};
		pw->rows[n++] = (struct warps_row){i, WARPS_LANE};
	}
	pw->has_rows = true;
	p->n_rows = l->n ? n : 0;
	return true;
}

/* ---- launches come and go ---- */

/* The last one of a kernel. */
static size_t latest_of(const struct warp_trace *list, uint32_t kernel)
{
	size_t i = list->n_launches - 1;

	while (list->launches[i].kernel != kernel)
		i--;
	return i;
}

static void choose(struct panel *p, size_t launch)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_trace *list = warps_list(p);

	unmake(pw);
	pw->launch = launch;
	pw->id = warp_source_id(p->tui->options.warps, launch);
	pw->is_latest = launch == latest_of(list, list->launches[launch].kernel);
	pw->is_chosen = true;
	pw->n_before = 0;
}

/* The next one of its kernel takes the place of the latest, while all of it is in sight, and unless that takes too long. */
static bool is_followed(const struct panel_warps *pw)
{
	return pw->is_latest && !pw->n_before && axis_is_all(&pw->axis) &&
	       clock_monotonic_ns() >= pw->follow_ns;
}

/* Where is the launch that is shown by now, and is it another one? */
static void find_launch(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warp_source *of = p->tui->options.warps;
	size_t launch, latest;

	if (!of || !of->look || !of->list->n_launches)
		return;
	launch = pw->is_chosen ? warp_source_find(of, pw->id) : SIZE_MAX;
	if (launch == SIZE_MAX) {
		pw->axis = (struct axis){.end = 0};
		choose(p, of->list->n_launches - 1);
		return;
	}
	pw->launch = launch;
	latest = latest_of(of->list, of->list->launches[launch].kernel);
	if (launch < latest && is_followed(pw))
		choose(p, latest);
}

static void update(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	int columns = p->width - 1 - warps_label_width(p) - warps_busy_width(p) - 1;

	p->n_rows = 0;
	find_launch(p);
	if (!warps_list(p) || columns < 1 || !make(p) || !make_rows(p))
		return;
	columns = MIN(columns, AXIS_COLUMNS - 1);
	if (ARRAY_ROOM(pw->cells, pw->cap_cells, (size_t)columns) < 0) {
		p->n_rows = 0;
		return;
	}
	axis_fit(&pw->axis, pw->tracks.clock.end, (unsigned)columns);
}

static void done(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	unmake(pw);
	free(pw->rows);
	free(pw->cells);
}

static int init(struct panel *p)
{
	as_warps(p)->outlier = SIZE_MAX;
	return 0;
}

static void forget(struct panel *p)
{
	as_warps(p)->has_node = false;
}

/* ---- rows ---- */

/* The same for the lanes of a block, of whatever kind they are, as far as that can be: what a lane is of. */
static uint64_t row_key(struct panel *p, size_t row)
{
	const struct panel_warps *pw = as_warps(p);
	const struct warp_lane *lane = &pw->lanes.lanes[pw->rows[row].id];
	uint64_t of = pw->kind == WARP_LANES_SMS ? lane->multiprocessor : lane->block;

	if (pw->rows[row].kind != WARPS_LANE)
		return ~hash_pair(pw->rows[row].kind, pw->rows[row].id);
	return hash_pair(of, hash_pair((uint64_t)pw->kind << 32 | lane->warp, lane->line));
}

static bool is_heading(struct panel *p, size_t row)
{
	return as_warps(p)->rows[row].kind != WARPS_LANE;
}

/* Of lanes that are warps, their block stays in sight. */
static size_t head_of(struct panel *p, size_t row)
{
	const struct panel_warps *pw = as_warps(p);

	if (pw->rows[row].kind != WARPS_LANE)
		return SIZE_MAX;
	while (row > 0 && pw->rows[row].kind == WARPS_LANE)
		row--;
	return pw->rows[row].kind == WARPS_BLOCK ? row : SIZE_MAX;
}

static uint32_t row_node(struct panel *p, size_t row)
{
	(void)row;
	return warps_kernel_node(p);
}

static const char *row_name(struct panel *p, size_t row)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here;

	if (row != p->cursor)
		return "";
	here = warps_here(p);
	return here.spot.segment ? warps_name(pw, warp_tracks_scope(&pw->tracks, here.spot.warp,
								    here.spot.segment->scope)
							  ->name)
				 : "";
}

/* ---- time ---- */

static void do_right(struct panel *p)
{
	axis_step(&as_warps(p)->axis, 1);
}

static void do_left(struct panel *p)
{
	axis_step(&as_warps(p)->axis, -1);
}

static void do_pan_right(struct panel *p)
{
	axis_pan(&as_warps(p)->axis, true);
}

static void do_pan_left(struct panel *p)
{
	axis_pan(&as_warps(p)->axis, false);
}

static void do_zoom_in(struct panel *p)
{
	struct axis *a = &as_warps(p)->axis;

	if (axis_span(a) <= a->n)
		tui_message(p->tui, "a column is a cycle");
	axis_zoom(a, axis_span(a) / 2);
}

static void do_zoom_out(struct panel *p)
{
	struct axis *a = &as_warps(p)->axis;

	if (axis_is_all(a))
		tui_message(p->tui, "this is all of the launch: + zooms in");
	axis_zoom(a, axis_span(a) * 2);
}

static void do_first(struct panel *p)
{
	axis_go(&as_warps(p)->axis, 0);
}

static void do_last(struct panel *p)
{
	axis_go(&as_warps(p)->axis, UINT64_MAX);
}

/* ---- what was seen before ---- */

static void remember(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	if (pw->n_before == WARPS_MAX_ZOOM)
		memmove(pw->before, pw->before + 1, --pw->n_before * sizeof(pw->before[0]));
	pw->before[pw->n_before++] = (struct warps_before){pw->axis.from, pw->axis.to, pw->axis.at,
							   p->cursor_key, pw->kind};
}

/* Lanes of another kind; where the cursor is, is said by the caller. */
static void show_kind(struct panel *p, enum warp_lane_kind kind)
{
	struct panel_warps *pw = as_warps(p);

	pw->is_kind_chosen = true;
	if (pw->kind == kind)
		return;
	pw->kind = kind;
	pw->has_rows = false;
	panel_spoil(p);
	panel_refresh(p);
}

static void do_back(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_before *before;

	if (!pw->n_before) {
		tui_message(p->tui, "there is no view before this one: - zooms out");
		return;
	}
	before = &pw->before[--pw->n_before];
	show_kind(p, before->kind);
	for (size_t row = 0; row < p->n_rows; row++)
		if (row_key(p, row) == before->key)
			panel_goto(p, row);
	axis_show(&pw->axis, before->from, before->to - before->from);
	axis_go(&pw->axis, before->at);
}

static void do_all(struct panel *p)
{
	remember(p);
	axis_show(&as_warps(p)->axis, 0, as_warps(p)->axis.end);
}

/* With some of what is around it. */
static void show_span(struct panel *p, uint64_t from, uint64_t to)
{
	struct axis *a = &as_warps(p)->axis;
	uint64_t span = MAX(to - from, 1);

	axis_show(a, from - MIN(span / 8, from), span + span / 4);
	axis_go(a, from);
}

/* ---- lanes ---- */

static size_t row_of_lane(const struct panel *p, const struct panel_warps *pw, size_t lane)
{
	for (size_t row = 0; row < p->n_rows; row++)
		if (pw->rows[row].kind == WARPS_LANE && pw->rows[row].id == lane)
			return row;
	return 0;
}

/* The lane of a warp, in lanes of whatever kind. */
static void go_to_warp(struct panel *p, uint32_t warp)
{
	struct panel_warps *pw = as_warps(p);
	const struct warp_trace_warp *w = warp_tracks_warp(&pw->tracks, warp);

	for (size_t i = 0; i < pw->lanes.n; i++) {
		const struct warp_lane *lane = &pw->lanes.lanes[i];
		bool is_block = pw->kind == WARP_LANES_SMS
					? lane->multiprocessor == w->multiprocessor
					: lane->block == w->block;

		if (!is_block || w->warp < lane->warp || w->warp > lane->last_warp)
			if (!is_block || pw->kind != WARP_LANES_SMS)
				continue;
		panel_goto(p, row_of_lane(p, pw, i));
		return;
	}
}

/* The first warp of a lane. */
static uint32_t first_warp(const struct panel_warps *pw, const struct warp_lane *lane)
{
	return pw->tracks.tracks[pw->lanes.order[lane->tracks]].warp;
}

/* The warp that the cursor is about. */
static uint32_t warp_here(struct panel *p)
{
	struct warps_here here = warps_here(p);

	return here.spot.segment ? here.spot.warp : first_warp(as_warps(p), here.lane);
}

static const char *const kind_words[WARP_LANES_N] = {
	[WARP_LANES_WARPS] = "warps",
	[WARP_LANES_GROUPS] = "groups of four warps",
	[WARP_LANES_BLOCKS] = "CTAs",
	[WARP_LANES_SMS] = "multiprocessors",
};

static void do_kind(struct panel *p)
{
	uint32_t warp = warp_here(p);

	show_kind(p, (as_warps(p)->kind + 1) % WARP_LANES_N);
	go_to_warp(p, warp);
	tui_message(p->tui, "lanes: %s", kind_words[as_warps(p)->kind]);
}

/* From multiprocessors and blocks into the warps of the block under the cursor, as long as it ran; from warps to a scope. */
static void do_open(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here = warps_here(p);
	uint32_t warp = warp_here(p);
	size_t lane;

	if (here.lane->n_tracks == 1 && !here.spot.segment) {
		tui_message(p->tui, "no scope is here: } and { go to the next one");
		return;
	}
	remember(p);
	if (pw->kind == WARP_LANES_WARPS) {
		show_span(p, here.spot.segment->from, here.spot.segment->to);
		return;
	}
	show_kind(p, WARP_LANES_WARPS);
	go_to_warp(p, warp);
	lane = warp_lanes_find(&pw->lanes, warp_tracks_warp(&pw->tracks, warp)->block);
	show_span(p, pw->lanes.lanes[lane].from, pw->lanes.lanes[lane].to);
}

/* ---- from one to the next ---- */

static void do_next(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warp_spot spot =
		warp_lanes_from(&pw->lanes, pw->rows[p->cursor].id, pw->axis.at + 1, NULL);

	if (spot.segment)
		axis_go(&pw->axis, spot.segment->from);
	else
		tui_message(p->tui, "no scope comes after this on this lane");
}

static void do_prev(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warp_spot spot =
		warp_lanes_before(&pw->lanes, pw->rows[p->cursor].id, pw->axis.at, NULL);

	if (spot.segment)
		axis_go(&pw->axis, spot.segment->from);
	else
		tui_message(p->tui, "no scope comes before this on this lane");
}

/* What the scope under the cursor was entered in fills the screen. */
static void do_parent(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	struct warps_here here = warps_here(p);
	const struct warp_trace_scope *scope;
	int64_t shift;

	if (!here.spot.segment) {
		tui_message(p->tui, "no scope is here: } and { go to the next one");
		return;
	}
	scope = warp_tracks_scope(&pw->tracks, here.spot.warp, here.spot.segment->scope);
	if (scope->parent == WARP_TRACE_NO_PARENT) {
		tui_message(p->tui, "this scope is in no other one");
		return;
	}
	scope = warp_tracks_scope(&pw->tracks, here.spot.warp, scope->parent);
	shift = pw->tracks.clock.shift[here.spot.warp];
	remember(p);
	show_span(p, (uint64_t)((int64_t)scope->enter + shift),
		  scope->is_open ? here.lane->to : (uint64_t)((int64_t)scope->leave + shift));
}

/* ---- outliers ---- */

/* The first scope of an outlier's name in its block. */
static struct warp_spot outlier_spot(struct panel *p, const struct warp_outlier *o)
{
	struct panel_warps *pw = as_warps(p);
	size_t lane = warp_lanes_find(&pw->lanes, o->block);
	uint32_t n = strtab_count(pw->tracks.t->names);
	_cleanup_(freep) bool *names = calloc(n, sizeof(*names));
	struct warp_spot spot = {NULL, 0};

	if (!names || lane == SIZE_MAX)
		return spot;
	names[pw->stats.stats[o->stat].name] = true;
	for (; lane < pw->lanes.n && pw->lanes.lanes[lane].block == o->block && !spot.segment;
	     lane++) {
		spot = warp_lanes_at(&pw->lanes, lane, 0, UINT64_MAX,
				     pw->tracks.class_of[pw->stats.stats[o->stat].name]);
		if (!spot.segment)
			spot = warp_lanes_from(&pw->lanes, lane, 0, names);
	}
	return spot;
}

static void say_outlier(struct panel *p, const struct warp_outlier *o)
{
	const struct panel_warps *pw = as_warps(p);
	char cycles[HUMAN_MAX];

	warps_put_cycles(pw, o->cycles, cycles);
	tui_message(p->tui, "CTA %llu on SM %u: %s takes %s%s, %.1f times the median of all CTAs",
		    (unsigned long long)o->block, o->multiprocessor,
		    warps_name(pw, pw->stats.stats[o->stat].name), cycles,
		    pw->in_ns ? "" : " cycles", o->times);
}

static void go_to_outlier(struct panel *p, bool forward)
{
	struct panel_warps *pw = as_warps(p);
	size_t n = pw->stats.n_outliers;
	const struct warp_outlier *o;
	struct warp_spot spot;

	if (!n) {
		tui_message(p->tui, "no CTA stands out: all take about as long for each scope");
		return;
	}
	if (pw->outlier >= n)
		pw->outlier = forward ? 0 : n - 1;
	else
		pw->outlier = (pw->outlier + (forward ? 1 : n - 1)) % n;
	o = &pw->stats.outliers[pw->worst[pw->outlier]];
	if (pw->kind == WARP_LANES_SMS)
		show_kind(p, WARP_LANES_BLOCKS);
	spot = outlier_spot(p, o);
	if (spot.segment) {
		go_to_warp(p, spot.warp);
		axis_go(&pw->axis, spot.segment->from);
	}
	say_outlier(p, o);
}

static void do_next_outlier(struct panel *p)
{
	go_to_outlier(p, true);
}

static void do_prev_outlier(struct panel *p)
{
	go_to_outlier(p, false);
}

/* ---- launches ---- */

static void show_launch(struct panel *p, size_t launch)
{
	struct panel_warps *pw = as_warps(p);

	if (launch == pw->launch && pw->is_made)
		return;
	choose(p, launch);
	pw->axis = (struct axis){.end = 0};
	p->is_placed = false;
	p->top = p->cursor = 0;
	panel_spoil(p);
	panel_refresh(p);
}

static void step_launch(struct panel *p, bool forward)
{
	size_t n = warps_list(p)->n_launches;

	if (n == 1)
		tui_message(p->tui, "there is one launch with scopes of warps");
	else
		show_launch(p, (as_warps(p)->launch + (forward ? 1 : n - 1)) % n);
}

static void do_next_launch(struct panel *p)
{
	step_launch(p, true);
}

static void do_prev_launch(struct panel *p)
{
	step_launch(p, false);
}

static void on_launch(struct tui *t, int value)
{
	show_launch(t->panels[TUI_PANEL_WARPS], (size_t)value);
}

/* Of a kernel, where launches come its latest one, which is followed; else the first. */
static void on_kernel(struct tui *t, int value)
{
	struct panel *p = t->panels[TUI_PANEL_WARPS];
	const struct warp_trace *list = warps_list(p);
	size_t first = (size_t)value;

	show_launch(p,
		    t->options.warps->look ? latest_of(list, list->launches[first].kernel) : first);
}

/* Is there a launch of the same kernel before this one? */
static bool is_first_of_kernel(const struct warp_trace *t, size_t launch)
{
	for (size_t i = 0; i < launch; i++)
		if (t->launches[i].kernel == t->launches[launch].kernel)
			return false;
	return true;
}

static size_t count_launches(const struct warp_trace *t, uint32_t kernel)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n_launches; i++)
		n += t->launches[i].kernel == kernel;
	return n;
}

static void add_kernel(struct panel *p, size_t i)
{
	const struct warp_trace *t = warps_list(p);
	uint32_t kernel = t->launches[i].kernel;
	size_t n = count_launches(t, kernel);
	char times[32] = "once";

	if (n > 1)
		snprintf(times, sizeof(times), "%zu times", n);
	if (kernel == t->launches[as_warps(p)->launch].kernel)
		p->tui->menu.cursor = p->tui->menu.n;
	menu_add(&p->tui->menu, 0, (int)i, "%-12s %.60s", times, warps_kernel_name(p, i));
}

static void add_launch(struct panel *p, size_t i)
{
	const struct warp_trace_launch *l = &warps_list(p)->launches[i];
	char warps[HUMAN_THINGS_MAX], number[32] = "", process[WARP_PROCESS_TEXT];

	human_things(warps, (double)l->n_warps, "warp");
	warp_trace_process_text(warps_list(p), l, process);
	if (l->launch)
		snprintf(number, sizeof(number), "  launch %llu", (unsigned long long)l->launch);
	if (i == as_warps(p)->launch)
		p->tui->menu.cursor = p->tui->menu.n;
	menu_add(&p->tui->menu, 0, (int)i, "%zu of %zu%s%s%s  %s", i + 1, warps_list(p)->n_launches,
		 number, *process ? "  " : "", process, warps);
}

/* Kernels, or where there is one, its launches. */
static void do_menu(struct panel *p)
{
	const struct warp_trace *t = warps_list(p);
	bool is_one = count_launches(t, t->launches[0].kernel) == t->n_launches;

	menu_open(&p->tui->menu, is_one ? "launch" : "kernel", is_one ? on_launch : on_kernel);
	for (size_t i = 0; i < t->n_launches && p->tui->menu.n < MENU_MAX; i++)
		if (is_one)
			add_launch(p, i);
		else if (is_first_of_kernel(t, i))
			add_kernel(p, i);
}

/* ---- requests ---- */

static void do_unit(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);

	if (!(pw->tracks.clock.cycle_ns > 0)) {
		tui_message(p->tui, "it is not known how long a cycle of this launch was");
		return;
	}
	pw->in_ns = !pw->in_ns;
	tui_message(p->tui, pw->in_ns ? "times: nanoseconds" : "times: cycles");
}

static void (*const handlers[REQ_N])(struct panel *p) = {
	[REQ_LEFT] = do_left,
	[REQ_RIGHT] = do_right,
	[REQ_SCROLL_LEFT] = do_pan_left,
	[REQ_SCROLL_RIGHT] = do_pan_right,
	[REQ_UNFOLD] = do_zoom_in,
	[REQ_FOLD] = do_zoom_out,
	[REQ_ZOOM] = do_open,
	[REQ_OPEN] = do_open,
	[REQ_ZOOM_OUT] = do_back,
	[REQ_FOLD_AUTO] = do_all,
	[REQ_FIRST] = do_first,
	[REQ_LAST] = do_last,
	[REQ_NEXT_SIBLING] = do_next,
	[REQ_PREV_SIBLING] = do_prev,
	[REQ_HOT_CHILD] = do_next_outlier,
	[REQ_HOT_PATH] = do_prev_outlier,
	[REQ_PARENT] = do_parent,
	[REQ_GROUP] = do_kind,
	[REQ_FORM] = do_unit,
	[REQ_SORT_NEXT] = do_next_launch,
	[REQ_SORT_PREV] = do_prev_launch,
	[REQ_SORT_MENU] = do_menu,
};

/* Where a launch has no warps, another one may have some. */
static bool request_without_rows(struct panel *p, enum request request)
{
	bool is_launch =
		request == REQ_SORT_NEXT || request == REQ_SORT_PREV || request == REQ_SORT_MENU;

	if (!is_launch || !warps_list(p) || !warps_list(p)->n_launches)
		return false;
	handlers[request](p);
	return true;
}

static bool request(struct panel *p, enum request request)
{
	if (p->n_rows == 0)
		return request_without_rows(p, request);
	return panel_request_zoomed(p, request, handlers, as_warps(p)->n_before);
}

static void pick(struct panel *p, int part)
{
	struct panel_warps *pw = as_warps(p);
	unsigned column;
	size_t row;

	if (!axis_hit(part, p->n_rows, pw->axis.n, &row, &column))
		return;
	panel_goto(p, row);
	pw->axis.at = axis_start(&pw->axis, column);
}

/* ---- to a calling context ---- */

/* The kernel that stands there, if it has a launch. Of the one that is shown, the launch stays. */
static bool go_to(struct panel *p, uint32_t node)
{
	struct panel_warps *pw = as_warps(p);

	if (warps_is_of(p, pw->launch, node))
		return true;
	for (size_t i = 0; i < warps_list(p)->n_launches; i++)
		if (warps_is_of(p, i, node)) {
			show_launch(p, i);
			return true;
		}
	return false;
}

/* ---- search ---- */

/* Which names have the text that is searched for; NULL: none has. */
static bool *wanted_names(struct panel *p)
{
	const struct strtab *names = as_warps(p)->tracks.t->names;
	uint32_t n = strtab_count(names);
	bool *wanted = calloc(n, sizeof(*wanted)), any = false;
	bool match_case = text_is_smart_case(p->tui->search);

	for (uint32_t i = 0; wanted && i < n; i++)
		any |= wanted[i] =
			text_find(strtab_str(names, i), p->tui->search, match_case) != NULL;
	if (!any) {
		free(wanted);
		wanted = NULL;
	}
	return wanted;
}

static struct warp_spot find_on(struct panel *p, size_t row, bool forward, const bool *wanted)
{
	struct panel_warps *pw = as_warps(p);
	size_t lane = pw->rows[row].id;

	if (pw->rows[row].kind != WARPS_LANE)
		return (struct warp_spot){NULL, 0};
	if (row == p->cursor)
		return forward ? warp_lanes_from(&pw->lanes, lane, pw->axis.at + 1, wanted)
			       : warp_lanes_before(&pw->lanes, lane, pw->axis.at, wanted);
	if (!forward)
		return warp_lanes_before(&pw->lanes, lane, UINT64_MAX, wanted);
	return warp_lanes_from(&pw->lanes, lane, 0, wanted);
}

/* On this lane, then on the next ones. */
static bool find(struct panel *p, bool forward, bool *ret_wrapped)
{
	_cleanup_(freep) bool *wanted = wanted_names(p);
	size_t row = p->cursor;

	for (size_t i = 0; wanted && i <= p->n_rows; i++) {
		struct warp_spot spot = find_on(p, row, forward, wanted);

		if (spot.segment) {
			panel_goto(p, row);
			axis_go(&as_warps(p)->axis, spot.segment->from);
			return true;
		}
		row = panel_step(row, p->n_rows, forward, ret_wrapped);
	}
	return false;
}

/* ---- the panel ---- */

static const char *why_none(const struct tui *t)
{
	if (t->options.warps)
		return "no launch of a kernel with scopes has been kept so far\nscopes are those of "
		       "<proton/kernel.cuh>, of Triton's Proton, or what --intra puts in";
	if (tui_has_program(t))
		return "single scopes of warps are not kept\n'proton top --intra-trace' keeps what "
		       "each warp did when, within kernels, and shows it here while the program "
		       "runs";
	if (t->options.live && t->options.source == TUI_OF_STREAMS)
		return "single scopes of warps stay where the program runs\n'proton record "
		       "--intra-trace' keeps them there, and 'proton view run.warps' shows them";
	return "no single scopes of warps are known: what each warp did when, within "
	       "kernels\n'proton record --intra-trace' keeps them, and 'proton view run.warps' "
	       "shows a file of them";
}

static const char *why_not(int error)
{
	switch (error) {
	case 0:
		return "no warp of this launch recorded";
	case -ENOENT:
		return "this launch is not kept any more";
	case -EFBIG:
		return "this launch has too many scopes to be shown while the program runs";
	default:
		return strerror(-error);
	}
}

static void explain(struct panel *p, struct buf *out)
{
	size_t n = warps_list(p) ? warps_list(p)->n_launches : 0;

	if (n)
		buf_printf(out, "%s%s", why_not(as_warps(p)->error),
			   n > 1 ? "\n> and < go to other launches" : "");
	else if (warps_list(p) && warps_list(p)->n_left_out)
		buf_printf(out, "of %llu launch%s with scopes of warps none is kept",
			   (unsigned long long)warps_list(p)->n_left_out,
			   warps_list(p)->n_left_out == 1 ? "" : "es");
	else
		buf_puts(out, why_none(p->tui));
}

static bool is_there(const struct tui *t)
{
	return t->options.warps && t->options.warps->list->n_launches > 0;
}

static const struct panel_key keys[] = {
	{REQ_LEFT, NULL, "a column to the left"},
	{REQ_RIGHT, NULL, "a column to the right"},
	{REQ_SCROLL_LEFT, NULL, "half a screen earlier"},
	{REQ_SCROLL_RIGHT, NULL, "half a screen later"},
	{REQ_UNFOLD, NULL, "zoom in, around the cursor"},
	{REQ_FOLD, NULL, "zoom out, around the cursor"},
	{REQ_GROUP, "Lanes", "lanes: warps, groups of four warps, CTAs, multiprocessors"},
	{REQ_OPEN, NULL, "the warps of this CTA; of a warp, the scope under the cursor"},
	{REQ_ZOOM, NULL, "the same"},
	{REQ_ZOOM_OUT, NULL, "back to the view before"},
	{REQ_FOLD_AUTO, NULL, "all of the launch"},
	{REQ_HOT_CHILD, NULL, "next CTA that stands out: far slower in a scope than others"},
	{REQ_HOT_PATH, NULL, "previous one"},
	{REQ_NEXT_SIBLING, NULL, "next scope on this lane"},
	{REQ_PREV_SIBLING, NULL, "previous scope on this lane"},
	{REQ_PARENT, NULL, "the scope that this one was entered in"},
	{REQ_SORT_MENU, "Kernel", "choose a kernel; where there is one, a launch"},
	{REQ_SORT_NEXT, NULL, "next launch"},
	{REQ_SORT_PREV, NULL, "previous launch"},
	{REQ_FORM, NULL, "times as cycles or as nanoseconds"},
	{REQ_FIRST, NULL, "to the first moment"},
	{REQ_LAST, NULL, "to the last moment"},
	{REQ_TOGGLE, "Tree", "show the kernel in the tree"},
	{REQ_NONE, NULL, NULL},
};

static const struct panel_sign signs[] = {
	{"A", "most of the time of this column is in the scope of this letter, see the table below",
	 NULL},
	{".", "warps are there and in no scope", NULL},
	{" ", "no warp of this lane is there", NULL},
	{"░", "it is not known what warps did: their records were overwritten by later ones", "/"},
	{"▲", "a mark", "^"},
	{"●", "a value", "*"},
	{"w4 ~", "what this warp does asynchronously, which may overlap", NULL},
	{"!", "a CTA that stands out: a scope takes far longer there than in most", NULL},
	{.sign = NULL},
};

const struct panel_ops panel_warps_ops = {
	.title = "Warps",
	.is_there = is_there,
	.size = sizeof(struct panel_warps),
	.init = init,
	.done = done,
	.update = update,
	.row_key = row_key,
	.row_name = row_name,
	.row_node = row_node,
	.is_heading = is_heading,
	.head_of = head_of,
	.draw_head = warps_draw_head,
	.draw_row = warps_draw_row,
	.draw_foot = warps_draw_foot,
	.foot_rows = warps_foot_rows,
	.draw_below = warps_draw_below,
	.explain = explain,
	.request = request,
	.pick = pick,
	.go_to = go_to,
	.forget = forget,
	.find = find,
	.keys = keys,
	.signs = signs,
	.is_of_run = true,
};
