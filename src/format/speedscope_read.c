/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

/* Reads what speedscope.app opens: our own exports, those of py-spy, rbspy and others.
 *
 *   "shared": frames ──────────┐
 *   "profiles": sampled ── each sample is a stack and its weight ──────────┐
 *               evented ── opens and closes, in the order of time ── stack ┴─> nodes, rows
 *
 * Frames may come behind the profiles that refer to them, so the document is kept until all is there. */
#include "format/speedscope.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format/json_tokens.h"
#include "format/stacks.h"

/* clang-format off */
#define KEYS(_)                                                                                    \
	_(EXPORTER, "exporter") _(NAME, "name") _(SHARED, "shared") _(FRAMES, "frames")            \
	_(FILE, "file") _(LINE, "line") _(PROFILES, "profiles") _(TYPE, "type") _(UNIT, "unit")    \
	_(END_VALUE, "endValue") _(SAMPLES, "samples") _(WEIGHTS, "weights") _(EVENTS, "events")   \
	_(FRAME, "frame") _(AT, "at")
/* clang-format on */

enum key {
#define _(id, text) KEY_##id,
	KEYS(_)
#undef _
		KEY_N
};

/* What is open: a frame, and the node that it is below those before it. */
struct open {
	uint32_t frame, node;
};

/* What has no place in a profile. */
enum left_out { LEFT_VALUES, LEFT_NO_STACK, LEFT_UNCLOSED, LEFT_N };
static const char *const left_outs[LEFT_N] = {
	[LEFT_VALUES] = "left out: values below 0 or too large",
	[LEFT_NO_STACK] = "left out: samples without a stack",
	[LEFT_UNCLOSED] = "never closed, and taken to be open until the end: frames",
};

struct speedscope {
	struct session *s;
	struct format_error *error;
	struct strtab *keys;
	struct tokens tokens;
	uint32_t key[KEY_N];
	uint32_t *frames; /* of the session, by index of the file */
	size_t n_frames, cap_frames;
	struct open *stack; /* the last sample, or what is open */
	size_t n_stack, cap_stack;
	struct buf scratch;
	bool ours;
	uint64_t n_left_out[LEFT_N];
	/* Of the profile that is read: */
	unsigned number; /* from 1 on */
	uint32_t lane, metric;
	double scale;
	bool is_float, is_time;
};

static size_t find(const struct speedscope *x, size_t map, enum key key)
{
	return token_find(&x->tokens, map, x->key[key]);
}

static size_t find_list(const struct speedscope *x, size_t map, enum key key)
{
	size_t at = find(x, map, key);

	return at && token_at(&x->tokens, at) == TOKEN_ARRAY ? at : 0;
}

static uint32_t string_of(const struct speedscope *x, size_t at)
{
	return at && token_at(&x->tokens, at) == TOKEN_STRING
		       ? (uint32_t)token_payload(&x->tokens, at)
		       : 0;
}

static const char *text_of(const struct speedscope *x, size_t at)
{
	return strtab_str(x->s->strings, string_of(x, at));
}

static int wrong(struct speedscope *x, const char *what)
{
	return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET, "wrong shape: profile %u %s",
			   x->number, what);
}

static int no_memory(struct speedscope *x)
{
	return format_fail_code(x->error, -ENOMEM);
}

/* ---- frames ---- */

static int read_frame(struct speedscope *x, size_t map)
{
	uint64_t line = 0;
	size_t at = find(x, map, KEY_LINE);
	struct stack_function f = {.name = string_of(x, find(x, map, KEY_NAME)),
				   .file = string_of(x, find(x, map, KEY_FILE)),
				   .ours = x->ours};

	if (token_at(&x->tokens, map) != TOKEN_MAP)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: frame %zu is no object", x->n_frames);
	if (at && token_u64(&x->tokens, at, &line) && line <= UINT32_MAX)
		f.line = (uint32_t)line;
	if (ARRAY_ROOM(x->frames, x->cap_frames, x->n_frames + 1) < 0)
		return no_memory(x);
	x->frames[x->n_frames] = stack_frame(x->s, &f, &x->scratch);
	return x->frames[x->n_frames++] == SESSION_NONE ? no_memory(x) : 0;
}

static int read_frames(struct speedscope *x)
{
	size_t list = find_list(x, find(x, JSON_TOKENS_ROOT, KEY_SHARED), KEY_FRAMES);
	int r = 0;

	if (!list)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: no list 'frames' in 'shared'");
	for (size_t at = token_first(list); r == 0 && token_at(&x->tokens, at) != TOKEN_END;
	     at = token_next(&x->tokens, at))
		r = read_frame(x, at);
	return r;
}

/* The session's frame of a number of the file. */
static int frame_at(struct speedscope *x, size_t at, uint32_t *ret)
{
	uint64_t i;

	if (!at || !token_u64(&x->tokens, at, &i) || i >= x->n_frames)
		return wrong(x, "refers to a frame that is not there");
	*ret = x->frames[i];
	return 0;
}

/* ---- values ---- */

/* A number in the unit of the metric; whole ones of its own unit stay exact. False: it has no place. */
static bool value_of(const struct speedscope *x, double v, const uint64_t *exact,
		     union metric_value *ret)
{
	if (exact && x->scale == 1 && !x->is_float) {
		ret->u64 = *exact;
		return true;
	}
	v *= x->scale;
	if (!(v >= 0 && v < 0x1p64))
		return false;
	if (x->is_float)
		ret->f64 = v;
	else
		ret->u64 = (uint64_t)(v + 0.5);
	return true;
}

static int add(struct speedscope *x, uint32_t node, double v, const uint64_t *exact)
{
	union metric_value value;

	if (v == 0)
		return 0;
	if (!value_of(x, v, exact, &value)) {
		x->n_left_out[LEFT_VALUES]++;
		return 0;
	}
	return session_add(x->s, node, x->lane, 0, x->metric, value) < 0 ? no_memory(x) : 0;
}

static bool is_fraction(const struct speedscope *x, size_t at)
{
	double v = token_f64(&x->tokens, at);

	return token_is_number(&x->tokens, at) && v != floor(v);
}

/* ---- sampled ---- */

/* The stack of a sample; what it begins with as the last one did is walked already. */
static int walk(struct speedscope *x, size_t sample, uint32_t *ret)
{
	const struct tokens *t = &x->tokens;
	uint32_t node = SESSION_ROOT, frame = SESSION_NONE;
	bool same = true;
	size_t n = 0;
	int r;

	for (size_t at = token_first(sample); token_at(t, at) != TOKEN_END;
	     at = token_next(t, at), n++) {
		r = frame_at(x, at, &frame);
		if (r < 0)
			return r;
		same = same && n < x->n_stack && x->stack[n].frame == frame;
		if (!same) {
			node = session_node_intern(x->s, node, frame);
			if (node == SESSION_NONE || ARRAY_ROOM(x->stack, x->cap_stack, n + 1) < 0)
				return no_memory(x);
			x->stack[n] = (struct open){frame, node};
		}
		node = x->stack[n].node;
	}
	x->n_stack = n;
	*ret = node;
	return 0;
}

/* The root's own value, as we write it. */
static bool is_root(const struct speedscope *x, size_t sample)
{
	uint64_t i;
	size_t first = token_first(sample);

	return x->ours && token_payload(&x->tokens, sample) == 2 &&
	       token_u64(&x->tokens, first, &i) && i < x->n_frames &&
	       !strcmp(strtab_str(x->s->strings, x->s->frames[x->frames[i]].name), "ROOT");
}

static int read_sample(struct speedscope *x, size_t sample, size_t weight)
{
	const struct tokens *t = &x->tokens;
	uint32_t node = SESSION_ROOT;
	uint64_t exact = 0;
	double v = token_f64(t, weight);
	int r = 0;

	if (token_at(t, sample) != TOKEN_ARRAY)
		return wrong(x, "has a sample that is no list");
	if (!token_is_number(t, weight))
		return wrong(x, "has a weight that is no number");
	if (token_at(t, token_first(sample)) == TOKEN_END) {
		x->n_left_out[LEFT_NO_STACK]++;
		return 0;
	}
	if (!is_root(x, sample))
		r = walk(x, sample, &node);
	return r < 0 ? r : add(x, node, v, token_u64(t, weight, &exact) ? &exact : NULL);
}

static int read_sampled(struct speedscope *x, size_t profile)
{
	const struct tokens *t = &x->tokens;
	size_t samples = find_list(x, profile, KEY_SAMPLES);
	size_t weights = find_list(x, profile, KEY_WEIGHTS), at, weight;
	int r = 0;

	if (!samples || !weights)
		return wrong(x, "has no lists 'samples' and 'weights'");
	at = token_first(samples);
	weight = token_first(weights);
	while (r == 0 && token_at(t, at) != TOKEN_END && token_at(t, weight) != TOKEN_END) {
		r = read_sample(x, at, weight);
		at = token_next(t, at);
		weight = token_next(t, weight);
	}
	if (r == 0 && token_at(t, at) != token_at(t, weight))
		return wrong(x, "has not as many weights as samples");
	return r;
}

/* ---- evented ---- */

struct moment {
	double v;
	uint64_t exact;
	bool is_exact;
};

static bool moment_of(const struct speedscope *x, size_t at, struct moment *ret)
{
	enum token token = at ? token_at(&x->tokens, at) : TOKEN_NULL;

	ret->is_exact = token == TOKEN_INT || token == TOKEN_BIG_INT;
	ret->v = at ? token_f64(&x->tokens, at) : NAN;
	return at && token_is_number(&x->tokens, at) &&
	       (!ret->is_exact || token_u64(&x->tokens, at, &ret->exact));
}

static bool is_earlier(const struct moment *a, const struct moment *b)
{
	return a->is_exact && b->is_exact ? a->exact < b->exact : a->v < b->v;
}

/* What passed since the last event belongs to the innermost frame that is open. */
static int pass(struct speedscope *x, const struct moment *from, const struct moment *to)
{
	uint64_t exact = to->exact - from->exact;
	bool is_exact = to->is_exact && from->is_exact;

	if (!x->n_stack)
		return 0;
	return add(x, x->stack[x->n_stack - 1].node, is_exact ? (double)exact : to->v - from->v,
		   is_exact ? &exact : NULL);
}

static int open_frame(struct speedscope *x, uint32_t frame)
{
	uint32_t above = x->n_stack ? x->stack[x->n_stack - 1].node : SESSION_ROOT;
	uint32_t node = session_node_intern(x->s, above, frame);

	if (node == SESSION_NONE || ARRAY_ROOM(x->stack, x->cap_stack, x->n_stack + 1) < 0)
		return no_memory(x);
	x->stack[x->n_stack++] = (struct open){frame, node};
	if (x->is_time && session_add(x->s, node, x->lane, 0, METRIC_CPU_COUNT,
				      (union metric_value){.u64 = 1}) < 0)
		return no_memory(x);
	return 0;
}

static int read_event(struct speedscope *x, size_t event, struct moment *last, bool first)
{
	const char *type = text_of(x, find(x, event, KEY_TYPE));
	struct moment at;
	uint32_t frame;
	int r;

	if (!moment_of(x, find(x, event, KEY_AT), &at))
		return wrong(x, "has an event that is at no number");
	r = frame_at(x, find(x, event, KEY_FRAME), &frame);
	if (r < 0)
		return r;
	if (!first && is_earlier(&at, last))
		return wrong(x, "has an event that is earlier than the one before it");
	r = first ? 0 : pass(x, last, &at);
	*last = at;
	if (r < 0)
		return r;
	if (!strcmp(type, "O"))
		return open_frame(x, frame);
	if (strcmp(type, "C") != 0)
		return wrong(x, "has an event that is neither 'O' nor 'C'");
	if (!x->n_stack || x->stack[x->n_stack - 1].frame != frame)
		return wrong(x, "has an event that closes a frame which is not the innermost");
	x->n_stack--;
	return 0;
}

static int read_evented(struct speedscope *x, size_t profile)
{
	const struct tokens *t = &x->tokens;
	size_t list = find_list(x, profile, KEY_EVENTS), n = 0;
	struct moment last = {0}, end;
	int r = 0;

	if (!list)
		return wrong(x, "has no list 'events'");
	x->n_stack = 0;
	for (size_t at = token_first(list); r == 0 && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		r = read_event(x, at, &last, !n++);
	if (r == 0 && moment_of(x, find(x, profile, KEY_END_VALUE), &end) &&
	    is_earlier(&last, &end))
		r = pass(x, &last, &end);
	x->n_left_out[LEFT_UNCLOSED] += x->n_stack;
	x->n_stack = 0;
	return r;
}

/* ---- profiles ---- */

/* Has any weight, or time of an event, a fraction? */
static bool has_fractions(const struct speedscope *x, size_t profile)
{
	const struct tokens *t = &x->tokens;
	size_t weights = find_list(x, profile, KEY_WEIGHTS);
	size_t events = find_list(x, profile, KEY_EVENTS), at;

	for (at = weights ? token_first(weights) : 0; at && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at))
		if (is_fraction(x, at))
			return true;
	for (at = events ? token_first(events) : 0; at && token_at(t, at) != TOKEN_END;
	     at = token_next(t, at)) {
		size_t v = find(x, at, KEY_AT);

		if (v && is_fraction(x, v))
			return true;
	}
	return false;
}

/* We write the name of the metric; others a name of the profile, and time is that of the host. */
static uint32_t metric_of(struct speedscope *x, size_t profile, bool evented)
{
	const char *unit = text_of(x, find(x, profile, KEY_UNIT));
	const char *name = text_of(x, find(x, profile, KEY_NAME));
	enum metric_type type = has_fractions(x, profile) ? METRIC_F64 : METRIC_U64;

	x->scale = 1;
	x->is_time = false;
	if (x->ours)
		return stack_metric(x->s, name, "", type);
	if (stack_time_unit(unit) > 0) {
		x->scale = stack_time_unit(unit);
		x->is_time = true;
		return METRIC_CPU_TIME;
	}
	if (!strcmp(unit, "bytes"))
		return METRIC_BYTES;
	return stack_metric(x->s, evented ? "value" : "samples", "", type);
}

static int read_profile(struct speedscope *x, size_t profile)
{
	const char *type = text_of(x, find(x, profile, KEY_TYPE));
	bool evented = !strcmp(type, "evented");

	if (token_at(&x->tokens, profile) != TOKEN_MAP)
		return wrong(x, "is no object");
	if (!evented && strcmp(type, "sampled") != 0)
		return wrong(x, "is neither 'sampled' nor 'evented'");
	x->metric = metric_of(x, profile, evented);
	if (x->metric == METRIC_NONE)
		return no_memory(x);
	x->is_float = metric_table_get(x->s->metrics, x->metric)->type == METRIC_F64;
	return evented ? read_evented(x, profile) : read_sampled(x, profile);
}

/* Several profiles of a file are as several threads. */
static int set_lane(struct speedscope *x, bool single)
{
	struct session_lane lane = session_nowhere;

	lane.thread = single ? 0 : x->number;
	x->lane = session_lane_intern(x->s, &lane);
	return x->lane == SESSION_NONE ? no_memory(x) : 0;
}

static int read_profiles(struct speedscope *x)
{
	const struct tokens *t = &x->tokens;
	size_t list = find_list(x, JSON_TOKENS_ROOT, KEY_PROFILES), first;
	bool single;
	int r = 0;

	if (!list)
		return format_fail(x->error, -EINVAL, FORMAT_NO_OFFSET,
				   "wrong shape: no list 'profiles'");
	first = token_first(list);
	single = token_at(t, first) == TOKEN_END || token_at(t, token_next(t, first)) == TOKEN_END;
	for (size_t at = first; r == 0 && token_at(t, at) != TOKEN_END; at = token_next(t, at)) {
		x->number++;
		r = set_lane(x, single);
		if (r == 0)
			r = read_profile(x, at);
	}
	return r;
}

/* ---- notes ---- */

enum { NAMES_MAX = 8 };

/* "profiles of the file are threads here: 1 MainThread, 2 worker" */
static void put_threads(struct speedscope *x, struct buf *text)
{
	const struct tokens *t = &x->tokens;
	size_t at = token_first(find_list(x, JSON_TOKENS_ROOT, KEY_PROFILES));

	buf_puts(text, "the file's profiles are threads here:");
	for (unsigned i = 1; i <= x->number && i <= NAMES_MAX; i++, at = token_next(t, at))
		buf_printf(text, "%s %u %.60s", i > 1 ? "," : "", i,
			   session_text(x->s, string_of(x, find(x, at, KEY_NAME))));
	if (x->number > NAMES_MAX)
		buf_printf(text, " and %u more", x->number - NAMES_MAX);
}

static int note(struct speedscope *x, enum note_level level, struct buf *text)
{
	int r = text->error ? text->error : session_note(x->s, SESSION_NONE, level, buf_str(text));

	buf_clear(text);
	return r < 0 ? no_memory(x) : 0;
}

static int add_notes(struct speedscope *x, bool garbage)
{
	_cleanup_(buf_done) struct buf text = {0};
	int r = 0;

	if (x->number > 1) {
		put_threads(x, &text);
		r = note(x, NOTE_INFO, &text);
	}
	for (unsigned i = 0; r == 0 && i < LEFT_N; i++)
		if (x->n_left_out[i]) {
			buf_printf(&text, "%s: %" PRIu64, left_outs[i], x->n_left_out[i]);
			r = note(x, i == LEFT_NO_STACK ? NOTE_INFO : NOTE_WARNING, &text);
		}
	if (r == 0 && garbage) {
		buf_puts(&text, "text after the end of the profile was ignored");
		r = note(x, NOTE_WARNING, &text);
	}
	return r;
}

/* ---- the whole ---- */

static int build(struct speedscope *x, bool garbage)
{
	static const char *const words[KEY_N] = {
#define _(id, text) text,
		KEYS(_)
#undef _
	};
	int r;

	for (unsigned i = 0; i < KEY_N; i++)
		x->key[i] = strtab_find(x->keys, words[i], strlen(words[i]));
	x->ours = stacks_are_ours(text_of(x, find(x, JSON_TOKENS_ROOT, KEY_EXPORTER)));
	x->s->source = string_of(x, find(x, JSON_TOKENS_ROOT, KEY_NAME));
	r = read_frames(x);
	if (r == 0)
		r = read_profiles(x);
	/* Every thread names its stacks itself: there are no more rows than frames in the file. */
	if (r == 0 && stacks_elapse(x->s, SIZE_MAX) < 0)
		r = no_memory(x);
	x->s->ended = true;
	return r < 0 ? r : add_notes(x, garbage);
}

int speedscope_read(struct reader_input *in, struct session *s, struct format_error *error)
{
	struct speedscope x = {.s = s, .error = error, .keys = strtab_new()};
	uint64_t garbage_at;
	int r;

	tokens_init(&x.tokens);
	r = !x.keys || x.tokens.failed
		    ? no_memory(&x)
		    : json_tokens_read(in, s->strings, x.keys, &x.tokens, &garbage_at, error);
	if (r == 0)
		r = build(&x, garbage_at != 0);
	strtab_free(x.keys);
	tokens_done(&x.tokens);
	buf_done(&x.scratch);
	free(x.frames);
	free(x.stack);
	return r;
}

static bool has(const char *head, size_t n, const char *text)
{
	return memmem(head, n, text, strlen(text)) != NULL;
}

/* Some write the schema last, behind all that the head holds. */
bool speedscope_detect(const char *head, size_t n)
{
	size_t at = text_begin(head, n);

	if (at == n || head[at] != '{')
		return false;
	if (has(head, n, "\"$schema\""))
		return has(head, n, "speedscope.app");
	if (has(head, n, "\"shared\""))
		return has(head, n, "\"frames\"");
	return has(head, n, "\"profiles\"") &&
	       (has(head, n, "\"sampled\"") || has(head, n, "\"evented\""));
}
