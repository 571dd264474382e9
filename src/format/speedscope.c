/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* The file format of speedscope.app: a sampled profile, one sample a calling context with a value,
 * as its schema says (https://www.speedscope.app/file-format-schema.json). */
#include "format/speedscope.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "format/export.h"
#include "format/json_writer.h"

struct speedscope {
	const struct session *s;
	struct export_stacks in;
	struct json_writer json;
};

static void put_frame(struct speedscope *x, const struct session_frame *f, const char *name)
{
	jsonw_object_flat(&x->json);
	jsonw_key_text(&x->json, "name", name);
	if (f->file) {
		jsonw_key(&x->json, "file");
		jsonw_string(&x->json, strtab_str(x->s->strings, f->file),
			     strtab_len(x->s->strings, f->file));
	}
	if (f->line)
		jsonw_key_u64(&x->json, "line", f->line);
	jsonw_object_end(&x->json);
}

/* All frames of the session, so that their numbers are the indices. */
static int put_frames(struct speedscope *x)
{
	_cleanup_(freep) uint32_t *node_of = export_frame_nodes(x->s, x->in.hidden);

	if (!node_of)
		return -ENOMEM;
	jsonw_key_object(&x->json, "shared");
	jsonw_key_array(&x->json, "frames");
	for (size_t i = 0; i < x->s->n_frames; i++)
		put_frame(x, &x->s->frames[i],
			  node_of[i] == SESSION_NONE ? "<unused>"
						     : export_name(&x->in.names, node_of[i]));
	jsonw_array_end(&x->json);
	jsonw_object_end(&x->json);
	return 0;
}

static const char *unit_of(const struct metric *m)
{
	if (!strcmp(m->unit, "ns"))
		return "nanoseconds";
	return !strcmp(m->unit, "B") ? "bytes" : "none";
}

static int put_samples(struct speedscope *x)
{
	int r = 0;

	jsonw_key_array(&x->json, "samples");
	for (uint32_t i = 0; r == 0 && i < x->s->n_nodes; i++) {
		if (!(x->in.own[i] > 0))
			continue;
		r = export_path(x->s, i, &x->in.path);
		jsonw_array_flat(&x->json);
		for (size_t k = 0; r == 0 && k < x->in.path.n; k++)
			jsonw_u64(&x->json, x->s->nodes[x->in.path.nodes[k]].frame);
		jsonw_array_end(&x->json);
	}
	jsonw_array_end(&x->json);
	return r;
}

/* A whole number without a point, which is what other writers make of it. */
static void put_number(struct speedscope *x, double v)
{
	if (v >= 0 && v < 9e15 && v == (double)(uint64_t)v)
		jsonw_u64(&x->json, (uint64_t)v);
	else
		jsonw_f64(&x->json, v);
}

static double put_weights(struct speedscope *x)
{
	double sum = 0;

	jsonw_key_array(&x->json, "weights");
	for (uint32_t i = 0; i < x->s->n_nodes; i++) {
		if (!(x->in.own[i] > 0))
			continue;
		sum = export_sum(sum, x->in.own[i]);
		put_number(x, x->in.own[i]);
	}
	jsonw_array_end(&x->json);
	return sum;
}

static int put_profile(struct speedscope *x)
{
	const struct metric *m = derive_metric(x->s, x->in.metric);
	double sum;
	int r;

	jsonw_key_array(&x->json, "profiles");
	jsonw_object(&x->json);
	jsonw_key_text(&x->json, "type", "sampled");
	jsonw_key_text(&x->json, "name", m->name);
	jsonw_key_text(&x->json, "unit", unit_of(m));
	r = put_samples(x);
	sum = put_weights(x);
	jsonw_key_u64(&x->json, "startValue", 0);
	jsonw_key(&x->json, "endValue");
	put_number(x, sum);
	jsonw_object_end(&x->json);
	jsonw_array_end(&x->json);
	return r;
}

static void put_head(struct speedscope *x)
{
	jsonw_key_text(&x->json, "$schema", "https://www.speedscope.app/file-format-schema.json");
	jsonw_key_text(&x->json, "exporter", PACKAGE_STRING);
	jsonw_key(&x->json, "name");
	jsonw_string(&x->json, strtab_str(x->s->strings, x->s->source),
		     strtab_len(x->s->strings, x->s->source));
	jsonw_key_u64(&x->json, "activeProfileIndex", 0);
}

static int put_document(struct speedscope *x)
{
	int r;

	jsonw_object(&x->json);
	put_head(x);
	r = put_frames(x);
	if (r == 0)
		r = put_profile(x);
	jsonw_object_end(&x->json);
	out_putc(x->json.out, '\n');
	return r;
}

static int speedscope_write(const struct session *s, const struct write_options *options,
			    struct out *out)
{
	struct speedscope x = {.s = s};
	int r = export_stacks_init(&x.in, s, options);

	jsonw_init(&x.json, out, options && options->compact);
	if (r == 0)
		r = export_stacks_limit(&x.in, 1);
	if (r == 0)
		r = put_document(&x);
	export_stacks_done(&x.in);
	return r < 0 ? r : out->error;
}

const struct format format_speedscope = {
	.name = "speedscope",
	.suffix = ".speedscope.json",
	.names = NAME_DEMANGLED,
	.help = "for https://www.speedscope.app, py-spy and rbspy",
	.detect = speedscope_detect,
	.read = speedscope_read,
	.write = speedscope_write,
};
