/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/header.h"
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "core/runs.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/parts.h"
#include "tui/refusals.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"

#define TARGET_PRIORITY 1
#define LESS_THAN_NAME  6 /* parts from this priority on are no reason to cut a program's name, … */
#define LESS_THAN_PATH  10 /* … and from this on, the path of a file */
#define SHORT           8  /* rows below which there is one line */
#define TALL            30 /* rows from which there is more than two … */
#define TALL_LINES      6
#define ROWS_A_LINE     5                  /* … and so many for each line more */
#define FINDING_ROWS    20                 /* rows from which there is one more for a finding */
#define HEADER_ALL      40                 /* more than there can be */
#define AGE_MIN_NS      (NSEC_PER_SEC / 4) /* launches in flight that are younger are not stuck */

/* ---- first line ---- */

/* Of a program without its folder: the whole path is in the panel Devices. */
static const char *program_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The end of a path that is longer than there is place for. */
static const char *path_end(const char *path)
{
	size_t len = strlen(path), max = PART_TEXT - 8;

	if (len > max)
		path += len - max;
	while (((unsigned char)*path & 0xc0) == 0x80) /* not in the midst of a character */
		path++;
	return path;
}

static void add_name(struct line_parts *parts, int priority, const char *label, const char *name,
		     bool is_path)
{
	parts_add_name(parts, ROLE_HEADER, priority, label, path_end(name ? name : ""), is_path);
}

static void add_target(struct tui *t, struct line_parts *parts)
{
	const struct tui_status *st = &t->status;
	char text[HUMAN_MAX];

	parts_add(parts, ROLE_HEADER, st->run == TUI_RUN_FILE ? 6 : 9, "proton %s",
		  t->options.command ? t->options.command : "");
	parts->less_than_name = st->run == TUI_RUN_FILE ? LESS_THAN_PATH : LESS_THAN_NAME;
	if (st->compared)
		add_name(parts, TARGET_PRIORITY + 1, "A: ", st->compared, true);
	if (st->run == TUI_RUN_FILE)
		add_name(parts, TARGET_PRIORITY, st->compared ? "B: " : "", st->target, true);
	else
		add_name(parts, TARGET_PRIORITY, "", program_name(st->target ? st->target : ""),
			 false);
	if (st->pid && st->n_children)
		parts_add(parts, ROLE_HEADER, 6, "pid %u +%u", st->pid, st->n_children);
	else if (st->pid)
		parts_add(parts, ROLE_HEADER, 6, "pid %u", st->pid);
	if (st->up_ns) {
		human_clock(text, st->up_ns);
		parts_add(parts, ROLE_HEADER, 4, "up %s", text);
	}
}

/* How many of the processes that the program started run on without it. */
static unsigned n_survivors(struct tui *t)
{
	const struct session *s = snapshot_session(t->snap);
	unsigned n = 0;

	for (size_t i = 0; i < s->n_processes; i++)
		n += s->processes[i].end == PROCESS_RUNS && s->processes[i].pid != t->status.pid;
	return n;
}

static void add_end(struct tui *t, struct line_parts *parts)
{
	unsigned n = t->status.n_children ? n_survivors(t) : 0;
	_cleanup_(buf_done) struct buf end = {0};
	struct session_run run;

	run_set_end(&run, t->status.wait_status);
	run_put_end(&run, &end);
	parts_add(parts, t->status.wait_status ? ROLE_ALARM : ROLE_ENDED, 0, "ENDED%s%s",
		  end.len ? ": " : "", buf_str(&end));
	if (n)
		parts_add(parts, ROLE_LIVE, 3, n == 1 ? "1 child runs" : "%u children run", n);
}

/* " of 5.56s", where a filter leaves a part; the time of the run is whole. */
static void put_whole(struct tui *t, uint32_t metric, void (*print)(char *, double),
		      char out[HUMAN_MAX + 4])
{
	char text[HUMAN_MAX];

	*out = '\0';
	if (!filters_any(&t->filters))
		return;
	print(text, snapshot_total(t->snap, metric));
	snprintf(out, HUMAN_MAX + 4, " of %s", text);
}

/* What a saved profile holds. */
static void add_totals(struct tui *t, struct line_parts *parts)
{
	const struct snap_column *time = snapshot_column(t->snap, METRIC_TIME, true);
	const struct snap_column *count = snapshot_column(t->snap, METRIC_COUNT, true);
	uint64_t wall = runs_wall_ns(snapshot_session(t->snap));
	const char *whose = t->options.before ? "B " : "";
	char text[HUMAN_MAX], whole[HUMAN_MAX + 4];

	if (wall) {
		human_time_ns(text, (double)wall);
		parts_add(parts, ROLE_HEADER, 4, "%stook %s", whose, text);
	}
	if (time && snapshot_n(t->snap) && !isnan(time->v[0])) {
		human_time_ns(text, time->v[0]);
		put_whole(t, METRIC_TIME, human_time_ns, whole);
		parts_add(parts, ROLE_HEADER, 5, "%sdevice time %s%s", whose, text, whole);
	}
	if (count && snapshot_n(t->snap) && !isnan(count->v[0])) {
		human_count(text, count->v[0]);
		put_whole(t, METRIC_COUNT, human_count, whole);
		parts_add(parts, ROLE_HEADER, 7, "%scalls %s%s", whose, text, whole);
	}
}

/* What the picture is: moving, held, paused, over. */
static void add_state(struct tui *t, struct line_parts *parts)
{
	double interval =
		(double)(t->options.interval_ns ? t->options.interval_ns : NSEC_PER_SEC) / 1e9;

	if (t->status.run == TUI_RUN_ENDED)
		add_end(t, parts);
	if (t->status.stopped)
		parts_add(parts, ROLE_PAUSED, 0, "STOPPED");
	if (t->status.paused)
		parts_add(parts, ROLE_PAUSED, 0, "PAUSED");
	if (t->frozen)
		parts_add(parts, ROLE_FROZEN, 0, "FROZEN");
	else if (t->status.run == TUI_RUN_FILE)
		add_totals(t, parts);
	else if (t->status.run == TUI_RUN_STARTING)
		parts_add(parts, ROLE_LIVE, 0, "STARTING");
	else if (t->status.run == TUI_RUN_RUNNING && !t->status.paused && !t->status.stopped)
		parts_add(parts, ROLE_LIVE, 0, "LIVE every %gs", interval);
	if (t->is_reset) {
		char text[HUMAN_MAX];

		human_clock(text, t->reset_up_ns);
		parts_add(parts, ROLE_WARNING, 5, "since %s", text);
	}
}

static void add_flight(struct tui *t, struct line_parts *parts)
{
	uint64_t oldest, n = session_in_flight(snapshot_session(t->snap), &oldest);
	char count[HUMAN_MAX], age[HUMAN_MAX];

	if (n == 0 || t->status.run != TUI_RUN_RUNNING)
		return;
	human_count(count, (double)n);
	human_time_ns(age, (double)oldest);
	/* A kernel that hangs is seen here first. */
	parts_add(parts, oldest > 10 * NSEC_PER_SEC ? ROLE_ALARM : ROLE_HEADER, 3,
		  oldest >= AGE_MIN_NS ? "in flight %s (%s)" : "in flight %s", count, age);
}

static void add_losses(struct tui *t, struct line_parts *parts)
{
	const struct session *s = snapshot_session(t->snap);
	uint64_t n = session_loss_total(s);
	char text[HUMAN_MAX];

	human_count(text, (double)n);
	if (n)
		parts_add(parts, ROLE_ALARM, 2, "LOST %s", text);
	else if (session_losses_known(s))
		parts_add(parts, ROLE_HEADER, 10, "lost 0");
}

static void add_cost(struct tui *t, struct line_parts *parts)
{
	char text[HUMAN_MAX];

	if (isnan(t->status.own_cpu) || t->status.run == TUI_RUN_FILE)
		return;
	human_percent(text, t->status.own_cpu);
	parts_add(parts, ROLE_HEADER, 11, "own %s%%", text);
}

static void draw_first(struct tui *t, const struct canvas *canvas, int y, bool with_steps)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	struct line_parts parts = {.fill = ROLE_HEADER};

	add_target(t, &parts);
	add_state(t, &parts);
	add_flight(t, &parts);
	if (with_steps)
		steps_add_part(t, &parts);
	add_losses(t, &parts);
	add_cost(t, &parts);
	parts_draw(&parts, &pen);
}

/* How many lines above the tabs: as many as were asked for, else by the height. The panel keeps the
 * larger part. */
static int budget(const struct tui *t, const struct canvas *canvas)
{
	int lines = t->header_lines                       ? (int)t->header_lines
		    : t->options.source == TUI_OF_DEVICES ? HEADER_ALL /* they are all there is */
		    : canvas->rows >= TALL  ? TALL_LINES + (canvas->rows - TALL) / ROWS_A_LINE
		    : canvas->rows >= SHORT ? 2
					    : 1;

	return CLAMP(lines, 1, MAX(canvas->rows / 3, 1));
}

/* Where the end of the program is said in its place, it needs a line here. */
static bool has_moved(const struct tui *t, const struct canvas *canvas)
{
	return t->status.run == TUI_RUN_ENDED && t->advice.findings.n && !t->header_lines &&
	       canvas->rows >= FINDING_ROWS;
}

/* Counters that were asked for get a line more, where there is none for them. */
static int counters_room(const struct tui *t, const struct canvas *canvas)
{
	return snapshot_session(t->snap)->counting && !t->header_lines &&
	       canvas->rows >= FINDING_ROWS;
}

/* First what runs, then the devices, its steps, the most expensive finding, and what sensors say. */
int header_draw(struct tui *t, const struct canvas *canvas)
{
	int left = budget(t, canvas) - 1, devices, advice = 0, steps, y = 0;
	unsigned told;

	devices = left > 0 ? header_device_lines(t, canvas->rows, left) : 0;
	steps = left > devices && t->steps.any;
	draw_first(t, canvas, y++, !steps);
	if (left > 0) {
		advice = (left > devices + steps && t->advice.findings.n) || has_moved(t, canvas);
		told = header_told(t, devices,
				   MAX(left - devices - steps - advice, counters_room(t, canvas)));
		y += header_draw_devices(t, canvas, y, devices, told);
		if (steps)
			steps_draw(t, canvas, y++);
		if (advice)
			advice_draw(t, canvas, y++);
	}
	t->advice.is_in_header = advice;
	if (canvas->rows >= 7)
		tabs_draw(t, canvas, y++);
	return y;
}

void header_next_size(struct tui *t)
{
	static const unsigned sizes[] = {0, HEADER_ALL, 1};
	size_t i = 0;

	while (i < ARRAY_SIZE(sizes) && sizes[i] != t->header_lines)
		i++;
	t->header_lines = i < ARRAY_SIZE(sizes) ? sizes[(i + 1) % ARRAY_SIZE(sizes)] : 0;
}

/* ---- function keys ---- */

/* The request of a function key; REQ_NONE: none that the line has a word for. */
static enum request by_function_key(struct tui *t, int number, const char **ret_label)
{
	enum request request = keymap_find(&t->keys, KEY_FUNCTION | KEY_F(number));

	if (request == REQ_NONE || request_is_useless(t, request))
		return REQ_NONE;
	*ret_label =
		request == REQ_FREEZE && t->frozen ? "Resume" : panel_label(tui_panel(t), request);
	return **ret_label ? request : REQ_NONE;
}

void header_draw_footer(struct tui *t, const struct canvas *canvas, int y)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);

	for (int i = 1; i <= 12; i++) {
		const char *label;
		enum request request = by_function_key(t, i, &label);
		int x = pen.x;

		if (request == REQ_NONE ||
		    pen_left(&pen) < (int)strlen(label) + (i < 10 ? 2 : 3)) /* whole words */
			continue;
		pen_printf(&pen, ROLE_KEY, "F%d", i);
		pen_put(&pen, ROLE_LABEL, label);
		pen_hit(&pen, x, HIT_REQUEST, (int)request);
		pen_skip(&pen, ROLE_KEY, 1);
	}
	pen_fill(&pen, ROLE_KEY);
}
