/* SPDX-License-Identifier: MIT */
/* Which launch is shown, by itself or by choice, and what is made of its warps. */
#include "config.h" // IWYU pragma: keep
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/order.h"
#include "tui/panel_warps.h"
#include "tui/tui_impl.h"

#define FEW_WARPS 32 /* of a launch: each has its lane at first */
#define FOLLOW_COST                                                                                \
	20 /* what it took to show a launch is this part of the time until the next, at most */

/* ---- what is made of it ---- */

void warps_unmake(struct panel_warps *pw)
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

static bool is_letter(char c)
{
	return isalpha((unsigned char)c);
}

/* Capitals for work, small letters for waiting, so that they can be told apart without colours, too. */
static char letter_of(const struct panel_warps *pw, unsigned n, char c)
{
	return (char)(pw->tracks.classes[n].waits ? tolower((unsigned char)c)
						  : toupper((unsigned char)c));
}

/* A letter that no other class has: the first one of a word of its name, else another one of it, else any; the first classes have
 * most time, and the choice. They are fewer than letters. */
static char choose_letter(const struct panel_warps *pw, unsigned n)
{
	const char *name = strtab_str(pw->tracks.t->names, pw->tracks.classes[n].name);

	for (unsigned within = 0; within < 2; within++)
		for (const char *c = name; *c; c++) {
			bool is_first = c == name || !is_letter(c[-1]);

			if (is_letter(*c) && (within || is_first) &&
			    !is_taken(pw, n, letter_of(pw, n, *c)))
				return letter_of(pw, n, *c);
		}
	for (char letter = 'A'; letter < 'Z'; letter++)
		if (!is_taken(pw, n, letter_of(pw, n, letter)))
			return letter_of(pw, n, letter);
	return letter_of(pw, n, 'Z');
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

bool warps_make(struct panel *p)
{
	struct panel_warps *pw = as_warps(p);
	uint64_t begun_ns = clock_monotonic_ns(), now_ns;
	uint8_t n_colours = 0;

	if (pw->is_made)
		return true;
	pw->error = load(p);
	now_ns = clock_monotonic_ns();
	pw->follow_ns = now_ns + (now_ns - begun_ns) * FOLLOW_COST;
	if (pw->error) {
		warps_unmake(pw);
		return false;
	}
	for (unsigned i = 0; i < pw->tracks.n_classes; i++) {
		pw->letters[i] = choose_letter(pw, i);
		pw->colours[i] = n_colours;
		n_colours += !pw->tracks.classes[i].waits;
	}
	pw->letters[WARP_OTHERS] = '+';
	if (!pw->is_kind_chosen)
		pw->kind = pw->tracks.launch->n_warps <= FEW_WARPS ? WARP_LANES_WARPS
								   : WARP_LANES_BLOCKS;
	pw->is_made = true;
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

	warps_unmake(pw);
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

void warps_find_launch(struct panel *p)
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

/* ---- to choose one ---- */

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

void warps_next_launch(struct panel *p)
{
	step_launch(p, true);
}

void warps_prev_launch(struct panel *p)
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

void warps_choose_launch(struct panel *p)
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

/* ---- to a calling context ---- */

bool warps_go_to(struct panel *p, uint32_t node)
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
