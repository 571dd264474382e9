/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/stacks.h"

#include <errno.h>
#include <string.h>

#include "base/util.h"
#include "format/hatchet_kind.h"

bool stacks_are_ours(const char *writer)
{
	return !strncmp(writer, PACKAGE_NAME " ", sizeof(PACKAGE_NAME));
}

/* ---- frames ---- */

/* Files of languages in which many functions have one name: it takes the file to tell them apart. What
 * stands in "<…>" is code that came with Python, or from no file. */
static bool needs_file(const char *file, enum frame_kind *ret_kind)
{
	static const struct {
		const char *suffix;
		enum frame_kind kind;
	} scripts[] = {
		{".py", FRAME_PYTHON},   {".pyx", FRAME_PYTHON},   {".rb", FRAME_FUNCTION},
		{".js", FRAME_FUNCTION}, {".ts", FRAME_FUNCTION},  {".php", FRAME_FUNCTION},
		{".pl", FRAME_FUNCTION}, {".lua", FRAME_FUNCTION},
	};
	size_t len = strlen(file), n;

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		n = strlen(scripts[i].suffix);
		if (len > n && !strcmp(file + len - n, scripts[i].suffix)) {
			*ret_kind = scripts[i].kind;
			return true;
		}
	}
	*ret_kind = FRAME_PYTHON;
	return len > 2 && file[0] == '<' && file[len - 1] == '>';
}

/* "file:line@function" */
static uint32_t script_frame(struct session *s, const struct stack_function *f,
			     enum frame_kind kind, struct buf *name)
{
	uint32_t id;

	buf_clear(name);
	buf_put(name, strtab_str(s->strings, f->file), strtab_len(s->strings, f->file));
	if (f->line)
		buf_printf(name, ":%u", f->line);
	buf_putc(name, '@');
	buf_put(name, strtab_str(s->strings, f->name), strtab_len(s->strings, f->name));
	id = name->error ? STRTAB_NONE : strtab_add(s->strings, name->data, name->len);
	return id == STRTAB_NONE ? SESSION_NONE
				 : session_frame_intern(s, kind, id, SESSION_NONE, 0);
}

uint32_t stack_frame(struct session *s, const struct stack_function *f, struct buf *scratch)
{
	const char *file = strtab_str(s->strings, f->file);
	enum frame_kind kind;
	uint32_t frame;

	if (!f->ours && f->file && needs_file(file, &kind))
		return script_frame(s, f, kind, scratch);
	kind = hatchet_guess_kind(strtab_str(s->strings, f->name), strtab_len(s->strings, f->name),
				  0);
	frame = session_frame_intern(s, kind, f->name, SESSION_NONE, 0);
	if (frame != SESSION_NONE && f->file)
		session_frame_symbol(s, frame, 0, f->file, f->line);
	return frame;
}

/* ---- metrics ---- */

double stack_time_unit(const char *unit)
{
	static const struct {
		const char *word, *shorter;
		double ns;
	} units[] = {
		{"nanosecond", "ns", 1}, {"microsecond", "us", 1e3}, {"millisecond", "ms", 1e6},
		{"second", "s", 1e9},    {"minute", "min", 60e9},    {"hour", "hr", 3600e9},
	};

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		size_t n = strlen(units[i].word);

		if (!strcmp(unit, units[i].shorter) ||
		    (!strncmp(unit, units[i].word, n) && (!unit[n] || !strcmp(unit + n, "s"))))
			return units[i].ns;
	}
	return 0;
}

static bool adds_up(const struct metric *m)
{
	return m->type != METRIC_TEXT && m->add == METRIC_SUM && m->scope != METRIC_PROPERTY;
}

/* "bytes" says its unit itself. */
static void put_metric_name(struct buf *name, const char *text, const char *unit)
{
	buf_puts(name, *text ? text : "value");
	if (*unit && (strcmp(unit, "B") != 0 || !strstr(text, "bytes")))
		buf_printf(name, " (%s)", unit);
}

static void metric_of(const struct session *s, const char *name, enum metric_type type,
		      struct metric *m)
{
	uint32_t known = metric_table_find(s->metrics, name);

	if (known == METRIC_NONE)
		metric_guess(name, type, m);
	else
		*m = *metric_table_get(s->metrics, known);
}

uint32_t stack_metric(struct session *s, const char *text, const char *unit, enum metric_type type)
{
	_cleanup_(buf_done) struct buf name = {0};
	struct metric m;

	put_metric_name(&name, text, unit);
	metric_of(s, buf_str(&name), type, &m);
	for (unsigned i = 0; i < 3 && !adds_up(&m); i++) {
		buf_puts(&name, " of stacks");
		metric_of(s, buf_str(&name), type, &m);
	}
	if (name.error || !adds_up(&m))
		return METRIC_NONE;
	if (type == METRIC_F64 && metric_table_find(s->metrics, m.name) >= METRIC_N_BUILTIN)
		m.type = METRIC_F64; /* widens it, if it is there */
	if (!strcmp(unit, "B"))
		m.unit = "B";
	return session_metric_add(s, &m);
}

/* ---- values ---- */

void stack_add(struct session *s, uint32_t row, uint32_t k, union metric_value v)
{
	uint32_t at = s->rows[row].values + k;
	const struct metric *m = metric_table_get(s->metrics, s->sets[s->rows[row].set].metrics[k]);

	if (s->present[at])
		v = metric_combine(m, s->values[at], 1, v, 1);
	session_row_set(s, row, k, v);
}

static int elapse_row(struct session *s, uint32_t id, uint32_t parent, size_t most)
{
	struct session_row row = s->rows[id];
	uint32_t at = session_row_place(s, &row, METRIC_CPU_TIME), up;

	if (at == SESSION_NONE || !s->present[at])
		return 0;
	up = session_row_intern(s, parent, row.lane, row.epoch, row.set);
	if (up == SESSION_NONE)
		return -ENOMEM;
	if (s->n_rows > most)
		return -EFBIG;
	stack_add(s, up, at - row.values, s->values[at]);
	return 0;
}

/* A node's children come behind it, so they are complete when their parent gets what is theirs. The root
 * has the host's time only where it has some of its own. */
int stacks_elapse(struct session *s, size_t most)
{
	union metric_value v;
	bool root = session_value(s, SESSION_ROOT, METRIC_CPU_TIME, &v);
	int r = 0;

	for (uint32_t i = (uint32_t)s->n_nodes; r == 0 && i-- > 1;) {
		uint32_t parent = s->nodes[i].parent;

		if (parent == SESSION_ROOT && !root)
			continue;
		for (uint32_t id = session_first_row(s, i); r == 0 && id != SESSION_NONE;
		     id = session_next_row(s, id))
			r = elapse_row(s, id, parent, most);
	}
	return r;
}
