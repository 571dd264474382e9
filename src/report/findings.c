/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "report/findings.h"
#include <errno.h>
#include <math.h>
#include <string.h>
#include "base/buf.h"
#include "base/human.h"
#include "base/util.h"
#include "core/frame_names.h"
#include "format/json_writer.h"
#include "report/table.h"

enum {
	PRICE_WIDTH = 8,
	SHARE_WIDTH = 8,
	SURE_WIDTH = 8,
	INDENT = PRICE_WIDTH + SHARE_WIDTH + SURE_WIDTH + 5,
	USUAL_WIDTH = 100, /* where there is no terminal */
	LEAST_WIDTH = 20,
	NARROW = 80,       /* of such a line what is below the titles has all … */
	NARROW_INDENT = 4, /* … but this */
};

struct printer {
	const struct session *s;
	const struct findings *f;
	const struct report_options *o;
	struct frame_names *names;
	struct out *out;
};

/* ---- parts ---- */

static void put_price(const struct printer *p, const struct finding *finding, struct buf *out)
{
	char text[HUMAN_MAX];

	human_time_ns(text, finding_told_ns(finding));
	if (finding->at_most && !isnan(finding_told_ns(finding)))
		buf_puts(out, p->o->ascii ? "<=" : "\xe2\x89\xa4");
	buf_puts(out, text);
}

static void put_share(const struct printer *p, const struct finding *finding, struct buf *out)
{
	char text[HUMAN_MAX];

	human_percent(text, p->f->whole_ns > 0 ? finding_told_ns(finding) / p->f->whole_ns : NAN);
	buf_puts(out, text);
}

/* "GPU0: no work for 3.2s of 4.1s" */
static void put_evidence(const struct printer *p, const struct finding *finding, struct buf *out)
{
	char word[DEVICE_WORD];

	if (finding->device < p->s->n_devices) {
		session_device_word(p->s, finding->device, word);
		buf_printf(out, "%s: ", word);
	}
	buf_puts(out, finding->evidence);
}

static void put_node(const struct printer *p, uint32_t node, struct buf *out)
{
	put_node_path(out, p->s, p->names, node, (enum name_mode)p->o->names, p->o->ascii);
}

/* What the shares are of. */
static const char *whole_word(const struct findings *f)
{
	return f->is_wall ? "OF RUN" : "OF GPU";
}

/* ---- text ---- */

/* Where what is said of a finding begins. */
static size_t indent_of(const struct printer *p)
{
	return p->o->width && p->o->width < NARROW ? NARROW_INDENT : INDENT;
}

/* Words in lines that fit. */
static void put_text(const struct printer *p, const char *text)
{
	size_t width = p->o->width ? p->o->width : USUAL_WIDTH, indent = indent_of(p);

	out_spaces(p->out, indent);
	put_wrapped(p->out, text, indent, MAX(width, indent + LEAST_WIDTH));
	out_putc(p->out, '\n');
}

static void put_line(const struct printer *p, const char *before, struct buf *text)
{
	size_t width = p->o->width, used = indent_of(p) + strlen(before);

	out_printf(p->out, "%*s%s", (int)indent_of(p), "", before);
	put_name(p->out, buf_str(text), width ? MAX(width, used + LEAST_WIDTH) - used : 0,
		 p->o->ascii);
	out_putc(p->out, '\n');
	buf_clear(text);
}

static void put_cell(const struct printer *p, struct buf *text, size_t width)
{
	put_right(p->out, buf_str(text), width);
	out_putc(p->out, ' ');
	buf_clear(text);
}

/* In lines that fit a terminal; elsewhere in one, which programs look for. */
static void put_title(const struct printer *p, const struct finding *finding, struct buf *text)
{
	const char *title = finding_title(finding->rule), *word = finding_word(finding->rule);

	buf_printf(text, "%s (%s)", title, word);
	out_puts(p->out, p->o->color ? "\033[1m" : "");
	if (p->o->width)
		put_wrapped(p->out, buf_str(text), INDENT, MAX(p->o->width, INDENT + LEAST_WIDTH));
	else
		out_puts(p->out, buf_str(text));
	out_printf(p->out, "%s\n", p->o->color ? "\033[0m" : "");
	buf_clear(text);
}

static void put_finding(const struct printer *p, const struct finding *finding)
{
	_cleanup_(buf_done) struct buf text = {0};

	put_price(p, finding, &text);
	put_cell(p, &text, PRICE_WIDTH);
	put_share(p, finding, &text);
	put_cell(p, &text, SHARE_WIDTH);
	out_printf(p->out, " %-*s  ", SURE_WIDTH, finding_sure_word(finding->sure));
	put_title(p, finding, &text);
	put_evidence(p, finding, &text);
	put_text(p, buf_str(&text));
	buf_clear(&text);
	for (unsigned i = 0; i < finding->n_nodes; i++) {
		put_node(p, finding->nodes[i], &text);
		put_line(p, "at ", &text);
	}
	/* Said once behind several of a kind. */
	if (finding + 1 == p->f->v + p->f->n || finding[1].rule != finding->rule)
		put_text(p, finding_advice(finding));
}

/* Why there are none; nothing: because all is well, as far as it shows. */
static const char *say_none(const struct printer *p, const char *nothing)
{
	if (p->f->nothing_measured)
		return REPORT_NOTHING;
	return p->f->host_alone ? REPORT_HOST_ALONE : nothing;
}

static void print_text(const struct printer *p)
{
	if (!p->f->n) {
		out_printf(p->out, "%s\n", say_none(p, "no findings"));
		return;
	}
	out_printf(p->out, "%*s %*s  %-*s  FINDING\n", PRICE_WIDTH, "PRICE", SHARE_WIDTH,
		   whole_word(p->f), SURE_WIDTH, "SURE");
	for (size_t i = 0; i < p->f->n; i++) {
		out_puts(p->out, i ? "\n" : "");
		put_finding(p, &p->f->v[i]);
	}
}

/* ---- markdown ---- */

static void print_markdown(const struct printer *p)
{
	_cleanup_(buf_done) struct buf text = {0};

	if (!p->f->n)
		out_printf(p->out, "%s\n", say_none(p, "No findings."));
	for (size_t i = 0; i < p->f->n; i++) {
		const struct finding *finding = &p->f->v[i];

		put_price(p, finding, &text);
		out_printf(p->out, "* **%s** (%s", finding_title(finding->rule), buf_str(&text));
		buf_clear(&text);
		put_share(p, finding, &text);
		if (!isnan(finding_told_ns(finding)))
			out_printf(p->out, ", %s %% of the %s", buf_str(&text),
				   p->f->is_wall ? "run" : "device time");
		out_printf(p->out, ", %s): ", finding_sure_word(finding->sure));
		buf_clear(&text);
		put_evidence(p, finding, &text);
		put_code(p->out, buf_str(&text), 0);
		out_printf(p->out, ". %s\n", finding_advice(finding));
		buf_clear(&text);
		for (unsigned k = 0; k < finding->n_nodes; k++) {
			put_node(p, finding->nodes[k], &text);
			out_puts(p->out, "    * ");
			put_code(p->out, buf_str(&text), 0);
			out_putc(p->out, '\n');
			buf_clear(&text);
		}
	}
}

/* ---- json ---- */

static void json_number(struct json_writer *w, const char *key, double v)
{
	jsonw_key(w, key);
	if (isfinite(v))
		jsonw_f64(w, v);
	else
		jsonw_null(w);
}

/* Frame by frame from the root, which is left out; raw names, for programs. */
static void json_path(const struct printer *p, struct json_writer *w, uint32_t node)
{
	uint32_t path[256], n = 0;

	for (; node != SESSION_ROOT && n < ARRAY_SIZE(path); node = p->s->nodes[node].parent)
		path[n++] = node;
	jsonw_array_flat(w);
	while (n-- > 0)
		jsonw_strings(w, session_node_name(p->s, path[n]));
	jsonw_array_end(w);
}

static void json_finding(const struct printer *p, struct json_writer *w,
			 const struct finding *finding)
{
	jsonw_object(w);
	jsonw_key_text(w, "rule", finding_word(finding->rule));
	jsonw_key_text(w, "title", finding_title(finding->rule));
	json_number(w, "price_ns", finding->price_ns);
	json_number(w, "share", p->f->whole_ns > 0 ? finding->price_ns / p->f->whole_ns : NAN);
	jsonw_key(w, "at_most");
	jsonw_bool(w, finding->at_most);
	jsonw_key_text(w, "sure", finding_sure_word(finding->sure));
	jsonw_key(w, "device");
	if (finding->device < p->s->n_devices)
		jsonw_i64(w, p->s->devices[finding->device].index);
	else
		jsonw_null(w);
	jsonw_key_text(w, "evidence", finding->evidence);
	jsonw_key_text(w, "advice", finding_advice(finding));
	jsonw_key_array(w, "contexts");
	for (unsigned i = 0; i < finding->n_nodes; i++)
		json_path(p, w, finding->nodes[i]);
	jsonw_array_end(w);
	jsonw_object_end(w);
}

static void print_json(const struct printer *p)
{
	struct json_writer w;

	jsonw_init(&w, p->out, false);
	jsonw_object(&w);
	jsonw_key_text(&w, "schema", "proton-findings");
	jsonw_key_u64(&w, "version", 1);
	json_number(&w, "whole_ns", p->f->whole_ns);
	jsonw_key_text(&w, "whole", p->f->is_wall ? "wall" : "device");
	jsonw_key_array(&w, "findings");
	for (size_t i = 0; i < p->f->n; i++)
		json_finding(p, &w, &p->f->v[i]);
	jsonw_array_end(&w);
	jsonw_object_end(&w);
	out_putc(p->out, '\n');
}

int report_findings(const struct session *s, const struct findings *f, enum findings_format format,
		    const struct report_options *o, struct out *out)
{
	static void (*const print[])(const struct printer *p) = {
		[FINDINGS_TEXT] = print_text,
		[FINDINGS_MARKDOWN] = print_markdown,
		[FINDINGS_JSON] = print_json,
	};
	struct printer p = {.s = s, .f = f, .o = o, .out = out};

	p.names = frame_names_new(s, o->naming, true);
	if (!p.names)
		return -ENOMEM;
	print[format](&p);
	frame_names_free(p.names);
	return 0;
}
