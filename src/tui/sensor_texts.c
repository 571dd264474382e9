/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/sensor_texts.h"
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/shown.h"
#include "base/util.h"
#include "core/session.h"
#include "tui/tui_impl.h"

#define LEAST_SLOWED 0.01 /* of the work: what is less is not worth a word */

enum { DEGREES_DIGITS = 3, BYTES_WIDTH = 5 };

struct texts {
	const struct tui *tui;
	const struct sensors *s;
	struct sensor_text *out;
	unsigned n;
	bool is_live;
};

static void add(struct texts *x, enum role role, int priority, const char *format, ...)
	_printf_(4, 5);

static void add(struct texts *x, enum role role, int priority, const char *format, ...)
{
	struct sensor_text *text = &x->out[x->n++];
	va_list ap;

	*text = (struct sensor_text){.past = SENSOR_N, .limit = SENSOR_N};
	va_start(ap, format);
	vsnprintf(text->text, sizeof(text->text), format, ap);
	va_end(ap);
	text->columns = (int)shown_columns(text->text, strlen(text->text));
	text->role = role;
	text->priority = priority;
}

/* The last one is about this, and would be wider by so many columns with its longest number. */
static void has_past(struct texts *x, enum sensor past, enum sensor limit, int wider)
{
	struct sensor_text *text = &x->out[x->n - 1];

	if (!x->is_live)
		return;
	text->past = past;
	text->limit = limit;
	text->columns += MAX(wider, 0);
}

static int digits(double v)
{
	return snprintf(NULL, 0, "%.0f", v);
}

/* "clock 1500 of 1980 MHz": of a run that is over the mean while it worked. */
static void add_number(struct texts *x, int priority, const char *what, const char *unit,
		       enum sensor now, enum sensor mean, enum sensor limit)
{
	double v = x->s->v[x->is_live ? now : mean], most = x->s->v[limit];
	char of[24] = "";

	if (v <= 0)
		return;
	if (most > 0)
		snprintf(of, sizeof(of), " of %.0f", most);
	add(x, ROLE_NORMAL, priority, "%s %.0f%s %s", what, v, of, unit);
	has_past(x, now, limit, digits(most) - digits(v));
}

static void add_temperature(struct texts *x)
{
	double v = x->s->v[x->is_live ? SENSOR_TEMPERATURE : SENSOR_TEMPERATURE_MAX];

	if (v <= 0)
		return;
	add(x, ROLE_NORMAL, 3, x->is_live ? "%.0f%sC" : "%.0f%sC at most", v,
	    x->tui->options.ascii ? " " : "\u00b0");
	has_past(x, SENSOR_TEMPERATURE, SENSOR_N, DEGREES_DIGITS - digits(v));
}

static void add_memory(struct texts *x)
{
	double v = x->s->v[x->is_live ? SENSOR_MEMORY : SENSOR_MEMORY_MAX];
	char used[HUMAN_MAX], total[HUMAN_MAX];

	if (v <= 0 || x->s->v[SENSOR_MEMORY_TOTAL] <= 0)
		return;
	human_bytes(used, v);
	human_bytes(total, x->s->v[SENSOR_MEMORY_TOTAL]);
	add(x, ROLE_NORMAL, 4, x->is_live ? "memory %sB of %sB" : "memory at most %sB of %sB", used,
	    total);
	has_past(x, SENSOR_MEMORY, SENSOR_MEMORY_TOTAL, BYTES_WIDTH - (int)strlen(used));
}

static void add_slowed(struct texts *x)
{
	_cleanup_(buf_done) struct buf why = {0};
	double share = sensors_cut_share(x->s);
	char text[HUMAN_MAX];

	if (!(share >= LEAST_SLOWED))
		return;
	human_percent(text, share);
	sensors_put_cuts(x->s, &why);
	add(x, ROLE_WARNING, 0, "slowed %s%% (%s)", text, buf_str(&why));
}

static void add_link(struct texts *x)
{
	const double *v = x->s->v;

	if (v[SENSOR_PCIE_GENERATION] <= 0 || v[SENSOR_PCIE_WIDTH] <= 0 ||
	    (v[SENSOR_PCIE_GENERATION] >= v[SENSOR_PCIE_GENERATION_LIMIT] &&
	     v[SENSOR_PCIE_WIDTH] >= v[SENSOR_PCIE_WIDTH_LIMIT]))
		return;
	add(x, ROLE_WARNING, 5, "PCIe %.0f x%.0f of %.0f x%.0f", v[SENSOR_PCIE_GENERATION],
	    v[SENSOR_PCIE_WIDTH], v[SENSOR_PCIE_GENERATION_LIMIT], v[SENSOR_PCIE_WIDTH_LIMIT]);
}

static void add_others(struct texts *x)
{
	double others = x->s->v[SENSOR_OTHERS_MAX], errors = x->s->v[SENSOR_ERRORS];

	if (others > 0)
		add(x, ROLE_WARNING, 1, "%.0f other process%s", others, others == 1 ? "" : "es");
	if (errors > 0)
		add(x, ROLE_ALARM, 0, "%.0f memory error%s", errors, errors == 1 ? "" : "s");
}

unsigned sensor_texts(const struct tui *t, uint32_t device, struct sensor_text out[SENSOR_TEXTS])
{
	struct texts x = {.tui = t,
			  .s = session_sensors_find(snapshot_session(t->snap), device),
			  .out = out,
			  .is_live = t->options.live && t->status.run != TUI_RUN_ENDED};

	if (!x.s)
		return 0;
	add_number(&x, 1, "clock", "MHz", SENSOR_CLOCK, SENSOR_CLOCK_MEAN, SENSOR_CLOCK_LIMIT);
	add_number(&x, 2, "power", "W", SENSOR_POWER, SENSOR_POWER_MEAN, SENSOR_POWER_LIMIT);
	add_temperature(&x);
	add_memory(&x);
	add_slowed(&x);
	add_link(&x);
	add_others(&x);
	return x.n;
}
