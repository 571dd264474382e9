/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/header.h"
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include "base/buf.h"
#include "core/session.h"
#include "tui/names.h"
#include "tui/tabs.h"
#include "tui/tui_impl.h"

#define MAX_DEVICE_LINES 4
#define TALL             30 /* rows from which each device has a line of its own */
#define TARGET_PRIORITY  1
#define NAME_MIN         12 /* columns below which the name of a program is not cut, … */
#define PATH_MIN         22 /* … and that of a file, which has its folder before it */
#define LESS_THAN_NAME   6 /* parts from this priority on are no reason to cut a program's name, … */
#define LESS_THAN_PATH   10                 /* … and from this on, the path of a file */
#define AGE_MIN_NS       (NSEC_PER_SEC / 4) /* launches in flight that are younger are not stuck */

/* ---- first line: parts from left to right; the least important fall out ---- */

struct part {
	const char *label; /* before the text, never cut */
	char text[256];
	enum role role;
	int priority;  /* 0 stays longest */
	int columns;   /* drawn with so many */
	bool is_name;  /* may be cut … */
	bool keep_end; /* … at its beginning: the end of a path says more */
};

struct parts {
	struct part v[16];
	unsigned n;
	int less_than_name; /* parts from this priority on are no reason to cut a name */
};

static void add(struct parts *parts, enum role role, int priority, const char *format, ...)
	_printf_(4, 5);

static void add(struct parts *parts, enum role role, int priority, const char *format, ...)
{
	struct part *part = &parts->v[parts->n];
	va_list ap;

	if (parts->n == ARRAY_SIZE(parts->v))
		return;
	parts->n++;
	part->label = "";
	part->is_name = part->keep_end = false;
	part->role = role;
	part->priority = priority;
	va_start(ap, format);
	vsnprintf(part->text, sizeof(part->text), format, ap);
	va_end(ap);
}

static int part_columns(const struct part *part, bool ascii)
{
	return (int)strlen(part->label) + text_columns(part->text, strlen(part->text), ascii);
}

static int parts_width(const struct parts *parts, int least)
{
	int width = 0;

	for (unsigned i = 0; i < parts->n; i++)
		if (parts->v[i].priority <= least)
			width += parts->v[i].columns + 2;
	return width - 2;
}

/* The longest of the names; NULL: none can be cut. */
static struct part *longest_name(struct parts *parts)
{
	struct part *longest = NULL;

	for (unsigned i = 0; i < parts->n; i++) {
		struct part *part = &parts->v[i];
		int min = part->keep_end ? PATH_MIN : NAME_MIN;

		if (part->is_name && part->columns > min &&
		    (!longest || part->columns > longest->columns))
			longest = part;
	}
	return longest;
}

/* Cut names until parts up to a priority fit, or names are as short as they get. */
static void cut_names(struct parts *parts, int least, int width, bool ascii)
{
	struct part *part;
	int excess;

	for (unsigned i = 0; i < parts->n; i++)
		parts->v[i].columns = part_columns(&parts->v[i], ascii);
	excess = parts_width(parts, least) - width;
	for (; excess > 0 && (part = longest_name(parts)); excess--)
		part->columns--;
}

static void part_draw(const struct part *part, struct pen *pen)
{
	const struct look *look = pen->canvas->look;
	int columns = part_columns(part, look->ascii) - (int)strlen(part->label);
	struct pen_name name = {.text = part->text, .cut = TEXT_CUT_END};
	struct pen field = *pen;

	field.end = MIN(pen->end, pen->x + part->columns);
	pen_put(&field, part->role, part->label);
	if (part->keep_end && columns > pen_left(&field)) {
		pen_put(&field, part->role, look->glyphs->ellipsis);
		name.scroll = columns - pen_left(&field);
	}
	pen_name(&field, part->role, &name);
	pen_fill(&field, part->role);
	pen->x = field.x;
}

static void parts_draw(struct parts *parts, struct pen *pen)
{
	bool ascii = pen->canvas->look->ascii;
	int least = 20;

	/* A long name is cut before it pushes out what matters more … */
	cut_names(parts, parts->less_than_name, pen_left(pen), ascii);
	while (least > 0 && parts_width(parts, least) > pen_left(pen))
		least--;
	/* … and gets the room of what has fallen out all the same. */
	cut_names(parts, least, pen_left(pen), ascii);
	for (unsigned i = 0; i < parts->n; i++) {
		if (parts->v[i].priority > least)
			continue;
		part_draw(&parts->v[i], pen);
		pen_skip(pen, ROLE_HEADER, 2);
	}
	pen_fill(pen, ROLE_HEADER);
}

/* Of a program without its folder: the whole path is in the panel Devices. */
static const char *program_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The end of a path that is longer than there is place for. */
static const char *path_end(const char *path)
{
	size_t len = strlen(path), max = sizeof(((struct part *)NULL)->text) - 8;

	if (len > max)
		path += len - max;
	while (((unsigned char)*path & 0xc0) == 0x80) /* not in the midst of a character */
		path++;
	return path;
}

static void add_name(struct parts *parts, int priority, const char *label, const char *name,
		     bool is_path)
{
	struct part *part = &parts->v[parts->n];

	add(parts, ROLE_HEADER, priority, "%s", path_end(name ? name : ""));
	part->label = label;
	part->is_name = true;
	part->keep_end = is_path;
}

static void add_target(struct tui *t, struct parts *parts)
{
	const struct tui_status *st = &t->status;
	char text[HUMAN_MAX];

	add(parts, ROLE_HEADER, st->run == TUI_RUN_FILE ? 6 : 9, "proton %s",
	    t->options.command ? t->options.command : "");
	parts->less_than_name = st->run == TUI_RUN_FILE ? LESS_THAN_PATH : LESS_THAN_NAME;
	if (st->run == TUI_RUN_FILE)
		add_name(parts, TARGET_PRIORITY, "", st->target, true);
	else
		add_name(parts, TARGET_PRIORITY, "", program_name(st->target ? st->target : ""),
			 false);
	if (st->compared)
		add_name(parts, TARGET_PRIORITY + 1, "A: ", st->compared, true);
	if (st->pid && st->n_children)
		add(parts, ROLE_HEADER, 6, "pid %u +%u", st->pid, st->n_children);
	else if (st->pid)
		add(parts, ROLE_HEADER, 6, "pid %u", st->pid);
	if (st->up_ns) {
		human_clock(text, st->up_ns);
		add(parts, ROLE_HEADER, 4, "up %s", text);
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

static void add_end(struct tui *t, struct parts *parts)
{
	int status = t->status.wait_status;
	unsigned n = t->status.n_children ? n_survivors(t) : 0;

	if (WIFSIGNALED(status))
		add(parts, ROLE_ALARM, 0, "ENDED by signal %d", WTERMSIG(status));
	else
		add(parts, WEXITSTATUS(status) ? ROLE_ALARM : ROLE_ENDED, 0, "ENDED %d",
		    WEXITSTATUS(status));
	if (n)
		add(parts, ROLE_LIVE, 3, n == 1 ? "1 child runs" : "%u children run", n);
}

/* What a saved profile holds. */
static void add_totals(struct tui *t, struct parts *parts)
{
	const struct snap_column *time = snapshot_column(t->snap, METRIC_TIME, true);
	const struct snap_column *count = snapshot_column(t->snap, METRIC_COUNT, true);
	char text[HUMAN_MAX];

	if (time && snapshot_n(t->snap) && !isnan(time->v[0])) {
		human_time_ns(text, time->v[0]);
		add(parts, ROLE_HEADER, 5, "device time %s", text);
	}
	if (count && snapshot_n(t->snap) && !isnan(count->v[0])) {
		human_count(text, count->v[0]);
		add(parts, ROLE_HEADER, 7, "calls %s", text);
	}
}

/* What the picture is: moving, held, paused, over. */
static void add_state(struct tui *t, struct parts *parts)
{
	double interval =
		(double)(t->options.interval_ns ? t->options.interval_ns : NSEC_PER_SEC) / 1e9;

	if (t->status.run == TUI_RUN_ENDED)
		add_end(t, parts);
	if (t->status.stopped)
		add(parts, ROLE_PAUSED, 0, "STOPPED");
	if (t->status.paused)
		add(parts, ROLE_PAUSED, 0, "PAUSED");
	if (t->frozen)
		add(parts, ROLE_FROZEN, 0, "FROZEN");
	else if (t->status.run == TUI_RUN_FILE)
		add_totals(t, parts);
	else if (t->status.run == TUI_RUN_STARTING)
		add(parts, ROLE_LIVE, 0, "STARTING");
	else if (t->status.run == TUI_RUN_RUNNING && !t->status.paused && !t->status.stopped)
		add(parts, ROLE_LIVE, 0, "LIVE %.1fs", interval);
	if (t->is_reset) {
		char text[HUMAN_MAX];

		human_clock(text, t->reset_up_ns);
		add(parts, ROLE_WARNING, 5, "since %s", text);
	}
}

static void add_flight(struct tui *t, struct parts *parts)
{
	uint64_t oldest, n = session_in_flight(snapshot_session(t->snap), &oldest);
	char count[HUMAN_MAX], age[HUMAN_MAX];

	if (n == 0 || t->status.run != TUI_RUN_RUNNING)
		return;
	human_count(count, (double)n);
	human_time_ns(age, (double)oldest);
	/* A kernel that hangs is seen here first. */
	add(parts, oldest > 10 * NSEC_PER_SEC ? ROLE_ALARM : ROLE_HEADER, 3,
	    oldest >= AGE_MIN_NS ? "in flight %s (%s)" : "in flight %s", count, age);
}

static void add_losses(struct tui *t, struct parts *parts)
{
	uint64_t n = session_loss_total(snapshot_session(t->snap));
	char text[HUMAN_MAX];

	human_count(text, (double)n);
	if (n)
		add(parts, ROLE_ALARM, 2, "LOST %s", text);
	else
		add(parts, ROLE_HEADER, 10, "lost 0");
}

static void add_cost(struct tui *t, struct parts *parts)
{
	char text[HUMAN_MAX];

	if (isnan(t->status.own_cpu) || t->status.run == TUI_RUN_FILE)
		return;
	human_percent(text, t->status.own_cpu);
	add(parts, ROLE_HEADER, 11, "own %s%%", text);
}

static void draw_first(struct tui *t, const struct canvas *canvas, int y)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);
	struct parts parts = {.n = 0};
	char text[HUMAN_MAX];

	add_target(t, &parts);
	add_state(t, &parts);
	if (t->options.live && snapshot_window_ns(t->snap)) {
		human_time_ns(text, (double)snapshot_window_ns(t->snap));
		add(&parts, ROLE_HEADER, 12, "win %s", text);
	}
	add_flight(t, &parts);
	add_losses(t, &parts);
	add_cost(t, &parts);
	parts_draw(&parts, &pen);
}

/* ---- devices ---- */

static void put_busy(char text[HUMAN_MAX], double busy, int digits)
{
	snprintf(text, HUMAN_MAX, "%.*f%%", digits, MIN(busy, 1) * 100);
}

enum { DEVICE_NUMBERS = 33 }; /* "  busy [] 99.9%  copy 9.99 GB/s" and a little more */

/* A window says something while the program runs; after its end the whole run does. */
static bool in_window(const struct tui *t, const struct usage_entry *e)
{
	return t->options.live && t->status.run != TUI_RUN_ENDED && !isnan(e->busy);
}

/* The only device on its line: name, a bar of its busy share, copies now. */
static void draw_device(struct tui *t, struct pen *pen, uint32_t i, int bar)
{
	const struct usage_entry *e = &t->usage.devices[i];
	char text[HUMAN_MAX];
	struct buf name;

	buf_init(&name, 1024);
	tui_put_device(t, i, &name);
	pen_put(pen, ROLE_HEADER, buf_str(&name));
	buf_done(&name);
	/* A long name takes its room from the bar, not from the numbers behind it. */
	bar = MIN(bar, pen_left(pen) - DEVICE_NUMBERS);
	if (in_window(t, e)) {
		pen_put(pen, ROLE_NORMAL, bar > 0 ? "  busy [" : "  busy");
		pen_bar(pen, bar, e->busy);
		put_busy(text, e->busy, 1);
		pen_printf(pen, ROLE_NORMAL, bar > 0 ? "] %s" : " %s", text);
		human_rate(text, e->copy_rate / 1e9);
		pen_printf(pen, ROLE_NORMAL, "  copy %s GB/s", text);
	} else {
		human_time_ns(text, e->sum.busy_ns);
		if (e->sum.busy_ns > 0)
			pen_printf(pen, ROLE_NORMAL, "  busy %s", text);
		human_time_ns(text, e->sum.time_ns);
		pen_printf(pen, ROLE_NORMAL, "  time %s", text);
		human_bytes(text, e->sum.copy_bytes);
		if (e->sum.copy_bytes > 0)
			pen_printf(pen, ROLE_NORMAL, "  copied %sB", text);
	}
}

/* One of several on a line, in so many columns: number, a bar where there is room, share. */
static void draw_device_short(struct tui *t, struct pen *pen, uint32_t i, int width)
{
	const struct usage_entry *e = &t->usage.devices[i];
	bool live = in_window(t, e);
	char text[HUMAN_MAX];
	int bar = width - 15;

	pen_printf(pen, ROLE_HEADER, "GPU%d ", snapshot_session(t->snap)->devices[i].index);
	if (live && bar >= 4) {
		pen_put(pen, ROLE_NORMAL, "[");
		pen_bar(pen, MIN(bar, 20), e->busy);
		pen_put(pen, ROLE_NORMAL, "] ");
	}
	if (live)
		put_busy(text, e->busy, 0);
	else
		human_time_ns(text, e->sum.time_ns);
	pen_printf(pen, ROLE_NORMAL, live ? "%s  " : "time %s  ", text);
}

static int bar_width(int cols)
{
	return cols >= 100 ? 40 : cols >= 72 ? 20 : cols >= 60 ? 10 : 0;
}

/* Devices from i on, as many as the line takes, and all copies where there is room. */
static void draw_device_line(struct tui *t, struct pen *pen, uint32_t i)
{
	uint32_t n = (uint32_t)t->usage.n_devices;
	int width = pen_left(pen) / (int)(n - i);
	double copy = 0;
	char text[HUMAN_MAX];

	for (; i < n && pen_left(pen) >= 11; i++)
		draw_device_short(t, pen, i, width);
	if (i < n)
		pen_printf(pen, ROLE_HEADER, "+%u", n - i);
	for (i = 0; i < n; i++)
		copy += t->usage.devices[i].copy_rate;
	human_rate(text, copy / 1e9);
	if (t->options.live && !isnan(copy) && pen_left(pen) >= 16)
		pen_printf(pen, ROLE_NORMAL, "copy %s GB/s", text);
}

/* One line in all, or one for each device on a tall screen; the lines used. */
static int draw_devices(struct tui *t, const struct canvas *canvas, int y)
{
	uint32_t n = (uint32_t)t->usage.n_devices;
	uint32_t lines = canvas->rows >= TALL ? CLAMP(n, 1u, MAX_DEVICE_LINES) : 1;

	for (uint32_t line = 0; line < lines; line++) {
		struct pen pen = pen_at(canvas, y + (int)line, 0, canvas->cols);

		if (n == 0)
			pen_put(&pen, ROLE_DIM, "no device has been seen");
		else if (line + 1 == lines && n > lines)
			draw_device_line(t, &pen, line);
		else
			draw_device(t, &pen, line, bar_width(canvas->cols));
		pen_fill(&pen, ROLE_NORMAL);
	}
	return (int)lines;
}

int header_draw(struct tui *t, const struct canvas *canvas)
{
	int y = 0;

	draw_first(t, canvas, y++);
	if (canvas->rows >= 8)
		y += draw_devices(t, canvas, y);
	if (canvas->rows >= 7)
		tabs_draw(t, canvas, y++);
	return y;
}

/* ---- function keys ---- */

/* Keys about a running program are of no use where none runs. */
static bool is_useless(const struct tui *t, enum request request)
{
	return (request == REQ_FREEZE && !t->options.live) ||
	       (request == REQ_SAVE &&
		(!t->options.live || t->options.readonly || !t->host.request));
}

/* The request of a function key; REQ_NONE: none that the line has a word for. */
static enum request by_function_key(const struct tui *t, int number)
{
	enum request request = keymap_find(&t->keys, KEY_FUNCTION | KEY_F(number));

	if (request == REQ_NONE || !*request_info(request)->label || is_useless(t, request))
		return REQ_NONE;
	return request;
}

void header_draw_footer(struct tui *t, const struct canvas *canvas, int y)
{
	struct pen pen = pen_at(canvas, y, 0, canvas->cols);

	for (int i = 1; i <= 12; i++) {
		enum request request = by_function_key(t, i);
		int x = pen.x;

		if (request == REQ_NONE || pen_left(&pen) < 6)
			continue;
		pen_printf(&pen, ROLE_KEY, "F%d", i);
		pen_put(&pen, ROLE_LABEL,
			request == REQ_FREEZE && t->frozen ? "Resume"
							   : request_info(request)->label);
		pen_hit(&pen, x, HIT_REQUEST, (int)request);
		pen_skip(&pen, ROLE_KEY, 1);
	}
	pen_fill(&pen, ROLE_KEY);
}
