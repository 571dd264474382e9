/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "ptx/probe.h"
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "base/util.h"
#include "intra/warp_arena.h"
#include "ptx/calls.h"
#include "ptx/weave.h"

enum {
	CHIP_LEAST = 70,
	VERSION_LEAST = 62,
	THREADS_OF_WARP = 32,
	WARPS_MOST = 32,
	WARPS_USUAL = 16,       /* of a block of which nothing is known */
	SHARED_MOST = 48 << 10, /* that a kernel may declare */
};

/* Names of scopes, and what they are known by: no two of a module by the same. */
struct known {
	struct scope_name {
		char *name;
		uint32_t scope;
	} * v;
	size_t n, cap;
	uint32_t *place; /* by what they are known by: behind which one of them it is; 0: none */
};
enum { SCOPES_MOST = PTX_SCOPES / 2 /* more would long look for what no other one has */ };

struct prober {
	const struct ptx_text *text;
	const struct ptx_rules *rules;
	struct ptx_options options;
	struct known known;
	struct ptx_calls calls;
	struct ptx_weave weave;
	struct ptx_probed *ret;
	bool has_rings;
};

static int refuse(struct ptx_kernel *k, const char *why)
{
	free(k->why);
	k->why = strdup(why);
	return k->why ? 0 : -ENOMEM;
}

/* ---- names ---- */

/* NULL: none. */
static const struct scope_name *find_scope(const struct known *k, uint32_t scope)
{
	return k->place[scope] ? &k->v[k->place[scope] - 1] : NULL;
}

static int add_name(struct known *k, const char *name, uint32_t scope)
{
	if (ARRAY_ROOM(k->v, k->cap, k->n + 1) < 0)
		return -ENOMEM;
	k->v[k->n] = (struct scope_name){strdup(name), scope};
	if (!k->v[k->n].name)
		return -ENOMEM;
	k->place[scope] = (uint32_t)++k->n;
	return 0;
}

/* What a name is known by; one that comes out as another is changed until it does not. */
static int know(struct known *k, char **name, uint32_t *ret)
{
	const struct scope_name *other;
	char *longer;

	for (;;) {
		*ret = ptx_recorder_hash(*name);
		other = find_scope(k, *ret);
		if (!other || !strcmp(other->name, *name))
			break;
		if (asprintf(&longer, "%s'", *name) < 0)
			return -ENOMEM;
		free(*name);
		*name = longer;
	}
	return other ? 0 : add_name(k, *name, *ret);
}

static void put_bytes(struct buf *to, const void *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(to, ", %u", ((const uint8_t *)bytes)[i]);
}

/* As PROTON_KERNEL_NAME() of the header leaves them in a module. */
static void put_scope(struct buf *to, const struct scope_name *s)
{
	static const char magic[] = "PRTNSCP1";
	uint32_t words[] = {s->scope, 0};
	size_t len = strlen(s->name) + 1;

	buf_printf(to, ".global .align 4 .b8 proton_name_%" PRIu32 "[%zu] = {%u", s->scope,
		   strlen(magic) + sizeof(words) + len, magic[0]);
	put_bytes(to, magic + 1, strlen(magic) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		buf_printf(to, ", %u, %u, %u, %u", words[i] & 0xff, words[i] >> 8 & 0xff,
			   words[i] >> 16 & 0xff, words[i] >> 24);
	put_bytes(to, s->name, len);
	buf_puts(to, "};\n");
}

/* ---- what a kernel allows ---- */

static struct ptx_span body_of(const struct prober *p, const struct ptx_function *f)
{
	return (struct ptx_span){p->text->at + f->body, f->close - f->body};
}

/* Shared memory that it declares; *ret_is_open: and as much more as a launch says. */
static uint64_t shared_of(const struct prober *p, const struct ptx_function *f, bool *ret_is_open)
{
	struct ptx_span body = body_of(p, f);
	uint64_t n = 0;

	*ret_is_open = false;
	for (size_t i = 0; i < p->text->n_shared; i++) {
		const struct ptx_shared *s = &p->text->shared[i];

		if (!ptx_span_find(body, s->name.at, s->name.n))
			continue;
		*ret_is_open |= !s->bytes;
		n += s->bytes;
	}
	for (uint32_t i = f->first; i < f->first + f->n; i++) {
		const struct ptx_statement *s = &p->text->statement[i];

		if (s->kind == PTX_IS_DIRECTIVE && ptx_span_is(s->opcode, ".shared"))
			n += ptx_shared_read(s->operands).bytes;
	}
	return n;
}

static uint32_t power_below(uint32_t n)
{
	uint32_t power = 1;

	while (power * 2 <= n)
		power *= 2;
	return power;
}

/* A block's bytes are for all of its warps that record. */
static uint32_t records_in(const struct ptx_options *o, uint32_t n_warps)
{
	uint32_t selected = o->warps ? (uint32_t)__builtin_popcount(o->warps) : n_warps;

	if (!o->bytes)
		return o->records;
	return power_below(MIN(o->bytes / (PTX_RECORD_BYTES * MAX(MIN(selected, n_warps), 1)),
			       PTX_RECORDS_MOST));
}

static void choose_warps(struct ptx_recorder *r, const struct ptx_function *f)
{
	uint32_t n = (f->n_threads + THREADS_OF_WARP - 1) / THREADS_OF_WARP;

	r->is_room_known = n && n <= WARPS_MOST;
	r->n_warps = r->is_room_known ? n : WARPS_USUAL;
	r->options.records = records_in(&r->options, r->n_warps);
}

/* Shared memory, where it fits and the program has not all of it. */
static int choose_buffer(const struct prober *p, const struct ptx_function *f,
			 struct ptx_recorder *r, struct ptx_kernel *k)
{
	bool is_open;
	uint64_t declared = shared_of(p, f, &is_open);

	choose_warps(r, f);
	r->is_aligned = is_open;
	r->buffer = r->has_func && r->n_clocks == 1 ? PTX_BUFFER_NONE : p->options.buffer;
	if (r->buffer == PTX_BUFFER_AUTO)
		r->buffer = is_open || declared + ptx_recorder_shared(r) > SHARED_MOST
				    ? PTX_BUFFER_GLOBAL
				    : PTX_BUFFER_SHARED;
	if (declared + ptx_recorder_shared(r) > SHARED_MOST && r->buffer == PTX_BUFFER_SHARED)
		return refuse(k, "there is no room in its shared memory for records");
	if (r->buffer == PTX_BUFFER_GLOBAL) /* rings that all kernels of the module share */
		r->options.records = p->options.records;
	k->buffer = r->buffer;
	k->shared_bytes = ptx_recorder_shared(r);
	return 0;
}

/* ---- a kernel ---- */

static int add_place(struct prober *p, const struct ptx_scope *s)
{
	struct ptx_probed *ret = p->ret;
	const struct ptx_statement *at =
		s->statement == PTX_NONE ? NULL : &p->text->statement[s->statement];
	struct ptx_place place = {.kernel = (uint32_t)ret->n_kernels, .anchor = s->anchor};
	struct ptx_span file;

	if (ARRAY_ROOM(ret->place, ret->cap_places, ret->n_places + 1) < 0)
		return -ENOMEM;
	place.row = at ? at->row : 0;
	place.line = at ? ptx_source_of(p->text, at, &file) : 0;
	place.file = place.line ? strndup(file.at, file.n) : NULL;
	place.scope = strdup(s->name);
	if (!place.scope || (place.line && !place.file)) {
		free(place.scope);
		free(place.file);
		return -ENOMEM;
	}
	ret->place[ret->n_places++] = place;
	return 0;
}

static int add_places(struct prober *p, struct ptx_plan *plan, uint32_t *scopes,
		      struct ptx_kernel *k)
{
	int r = 0;

	for (size_t i = 0; i < plan->n_scopes && r == 0; i++) {
		r = know(&p->known, &plan->scope[i].name, &scopes[i]);
		if (r == 0)
			r = add_place(p, &plan->scope[i]);
		k->n_places += r == 0;
	}
	return r;
}

/* No loops, no calls, and all threads of a warp end at one place. */
static bool is_short(const struct ptx_function *f, const struct ptx_flow *flow)
{
	const struct ptx_statement *s = &flow->text->statement[f->first];
	uint32_t n_ends = 0;

	for (uint32_t i = 0; i < f->n; i++) {
		n_ends += ptx_ends_thread(&s[i]) + (ptx_ends_thread(&s[i]) && s[i].guard.n);
		if (s[i].kind == PTX_IS_INSTRUCTION && ptx_opcode_is(s[i].opcode, "call"))
			return false;
	}
	for (size_t i = 0; i < flow->n_edges; i++)
		if (flow->edge[i].to <= flow->edge[i].from)
			return false;
	return n_ends <= 1 && !flow->n_unclear;
}

static int put_records(struct prober *p, const struct ptx_function *f, const struct ptx_flow *flow,
		       struct ptx_plan *plan, struct ptx_kernel *k)
{
	struct ptx_recorder rec = {.options = p->options,
				   .kernel = (uint32_t)p->ret->n_kernels,
				   .n_clocks = (uint32_t)plan->n_scopes,
				   .has_func = plan->has_func,
				   .is_short = is_short(f, flow)};
	_cleanup_(freep) uint32_t *scopes = calloc(plan->n_scopes, sizeof(*scopes));
	int r = scopes ? choose_buffer(p, f, &rec, k) : -ENOMEM;

	if (r < 0 || k->why)
		return r;
	if (p->known.n + plan->n_scopes > SCOPES_MOST)
		return refuse(k, "its module has more scopes than can be told apart");
	r = add_places(p, plan, scopes, k);
	if (r < 0)
		return r;
	rec.func = scopes[0];
	p->has_rings |= rec.buffer == PTX_BUFFER_GLOBAL;
	p->ret->n_probed++;
	return ptx_weave_kernel(&p->weave, flow, f, plan, &rec, scopes);
}

static void note_calls(struct prober *p, const struct ptx_function *f, struct buf *text)
{
	_cleanup_(buf_done) struct buf names = {0};
	unsigned n = ptx_calls_put(&p->calls, f, &names);

	if (n)
		buf_printf(
			text,
			"functions that it calls are not probed, as they have not its registers: %s; ",
			buf_str(&names));
}

/* What of it is not probed. */
static int note(struct prober *p, const struct ptx_function *f, const struct ptx_flow *flow,
		const struct ptx_plan *plan, int flow_error, struct ptx_kernel *k)
{
	_cleanup_(buf_done) struct buf text = {0};

	k->n_over = plan->n_over;
	if (flow_error == -E2BIG)
		buf_puts(&text, "it has too many loops; ");
	if (flow->n_unclear)
		buf_printf(&text, "%u of its branches are not understood; ", flow->n_unclear);
	if (plan->n_within)
		buf_printf(
			&text,
			"%u places between a wgmma.fence and its commit, or left by a table, are not probed; ",
			plan->n_within);
	if (plan->n_over)
		buf_printf(&text, "%u places more than the limit are not probed; ", plan->n_over);
	note_calls(p, f, &text);
	if (!text.len)
		return 0;
	k->note = strndup(text.data, text.len - strlen("; "));
	return k->note ? 0 : -ENOMEM;
}

static int probe_flow(struct prober *p, const struct ptx_function *f, struct ptx_kernel *k)
{
	struct ptx_flow flow;
	struct ptx_plan plan = {0};
	int e = ptx_flow_read(p->text, f, &flow), r = e == -E2BIG ? 0 : e;

	if (r == 0)
		r = ptx_plan_make(&flow, p->rules, &plan);
	if (r == 0)
		r = note(p, f, &flow, &plan, e, k);
	if (r == 0 && !plan.n_scopes)
		r = refuse(k, "it has nothing of what the rules name");
	else if (r == 0)
		r = put_records(p, f, &flow, &plan, k);
	ptx_plan_done(&plan);
	ptx_flow_done(&flow);
	return r;
}

/* NULL: nothing is in the way. */
static const char *why_not(const struct prober *p, const struct ptx_function *f)
{
	struct ptx_span body = body_of(p, f);

	if (p->text->address_bits != 64)
		return "its addresses do not have 64 bits";
	if (p->text->chip < CHIP_LEAST)
		return "it is for chips older than sm_70";
	if (p->text->version < VERSION_LEAST)
		return "its PTX is older than 6.2";
	if (memmem(body.at, body.n, WARP_ARENA_FAMILY, strlen(WARP_ARENA_FAMILY)))
		return "it records by <proton/kernel.cuh>";
	return NULL;
}

static int probe_kernel(struct prober *p, const struct ptx_function *f)
{
	struct ptx_probed *ret = p->ret;
	struct ptx_kernel k = {.name = strndup(f->name.at, f->name.n)};
	const char *why = why_not(p, f);
	int r = 0;

	if (!k.name || ARRAY_ROOM(ret->kernel, ret->cap_kernels, ret->n_kernels + 1) < 0) {
		free(k.name);
		return -ENOMEM;
	}
	if (!ptx_rules_want(p->rules, k.name))
		why = "the rules leave it out";
	r = why ? refuse(&k, why) : probe_flow(p, f, &k);
	ret->kernel[ret->n_kernels++] = k;
	return r;
}

/* ---- the module ---- */

static int probe_all(struct prober *p)
{
	int r = 0;

	for (size_t i = 0; i < p->text->n_functions && r == 0; i++)
		if (p->text->function[i].is_entry)
			r = probe_kernel(p, &p->text->function[i]);
	return r;
}

static int write_all(struct prober *p)
{
	struct ptx_weave *w = &p->weave;
	size_t begun = w->text.len;

	if (p->ret->n_probed) {
		buf_puts(&w->text, "\n");
		ptx_recorder_module(&w->text, p->options.records, p->has_rings);
		for (size_t i = 0; i < p->known.n; i++)
			put_scope(&w->text, &p->known.v[i]);
		if (w->text.error || ARRAY_ROOM(w->stitch, w->cap, w->n + 1) < 0)
			return -ENOMEM;
		w->stitch[w->n++] = (struct ptx_stitch){
			.at = p->text->body, .text = begun, .n_text = w->text.len - begun};
	}
	return ptx_weave_write(w, p->text, &p->ret->text);
}

static bool take_options(struct ptx_options *to, const struct ptx_options *from)
{
	*to = from ? *from : (struct ptx_options){0};
	if (!to->records)
		to->records = to->bytes ? records_in(to, WARPS_USUAL) : PTX_RECORDS_USUAL;
	return to->records <= PTX_RECORDS_MOST && !(to->records & (to->records - 1)) &&
	       (to->ctas < 2 || to->cta < to->ctas);
}

static void prober_done(struct prober *p)
{
	for (size_t i = 0; i < p->known.n; i++)
		free(p->known.v[i].name);
	free(p->known.v);
	free(p->known.place);
	ptx_calls_done(&p->calls);
	ptx_weave_done(&p->weave);
}

int ptx_probe(const char *text, size_t n, const struct ptx_rules *rules,
	      const struct ptx_options *options, struct ptx_probed *ret)
{
	struct ptx_text t = {0};
	struct prober p = {.text = &t, .rules = rules, .ret = ret};
	int r;

	*ret = (struct ptx_probed){0};
	if (!take_options(&p.options, options))
		return -EINVAL;
	p.known.place = calloc(PTX_SCOPES, sizeof(*p.known.place));
	if (!p.known.place)
		return -ENOMEM;
	r = ptx_text_read(text, n, &t);
	/* What is called like ours, but for the header's, is ours. */
	if (r == 0 && (memmem(text, n, "%" PTX_OURS, strlen("%" PTX_OURS)) ||
		       ptx_span_find((struct ptx_span){text, n}, WARP_ARENA_FAMILY,
				     strlen(WARP_ARENA_FAMILY))))
		r = -EALREADY;
	if (r == 0)
		r = ptx_calls_init(&p.calls, &t);
	if (r == 0)
		r = probe_all(&p);
	if (r == 0)
		r = write_all(&p);
	prober_done(&p);
	ptx_text_done(&t);
	return r;
}

void ptx_probed_done(struct ptx_probed *p)
{
	for (size_t i = 0; i < p->n_kernels; i++) {
		free(p->kernel[i].name);
		free(p->kernel[i].why);
		free(p->kernel[i].note);
	}
	for (size_t i = 0; i < p->n_places; i++) {
		free(p->place[i].scope);
		free(p->place[i].file);
	}
	free(p->kernel);
	free(p->place);
	buf_done(&p->text);
	*p = (struct ptx_probed){0};
}

const char *ptx_probe_error(int code)
{
	switch (code) {
	case -EBADMSG:
		return "it is no PTX";
	case -EALREADY:
		return "it records already";
	case -EINVAL:
		return "there are no such options: records are a power of two, of at most 4096";
	default:
		return strerror(-code);
	}
}
