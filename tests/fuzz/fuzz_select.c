/* SPDX-License-Identifier: MIT */
/* Fuzz target: any text as a selector of a small profile, as an amount, and as a name that a selector is
 * made of. The corpus is tests/fuzz/corpus_select. */
#include "config.h" // IWYU pragma: keep

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/units.h"
#include "core/filter.h"
#include "core/name_pattern.h"
#include "core/reduce.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static const struct snapshot_spec spec;

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* train -> step -> (gemm, relu); eval -> gemm; note, which has nothing. */
static struct session *profile(void)
{
	struct session *s = session_new();
	uint32_t lane = session_lane_intern(s, &session_nowhere);
	uint32_t train = session_node(s, SESSION_ROOT, FRAME_SCOPE, "train");
	uint32_t step = session_node(s, train, FRAME_SCOPE, "step a/b > 1");
	uint32_t eval = session_node(s, SESSION_ROOT, FRAME_SCOPE, "eval");
	const uint32_t work[] = {session_node(s, step, FRAME_KERNEL, "gemm<128>"),
				 session_node(s, step, FRAME_KERNEL, "relu"),
				 session_node(s, eval, FRAME_KERNEL, "gemm<128>")};

	session_node(s, SESSION_ROOT, FRAME_SCOPE, "note");
	for (uint32_t i = 0; i < 3; i++) {
		session_add(s, work[i], lane, 0, METRIC_TIME,
			    (union metric_value){.u64 = 1000 + i});
		session_add(s, work[i], lane, 0, METRIC_BYTES, (union metric_value){.u64 = i});
		session_add(s, work[i], lane, 0, METRIC_COUNT, (union metric_value){.u64 = 1});
	}
	session_add(s, step, lane, 0, METRIC_CPU_TIME, (union metric_value){.u64 = 500});
	s->ended = true;
	return s;
}

/* Parents of what is included are, and so are children of what is excluded. */
static void check_mask(const struct snapshot *snap, const uint8_t *mask)
{
	const uint32_t *parents = snapshot_parents(snap);

	for (uint32_t i = 1; i < snapshot_n(snap); i++)
		must(mask[i] <= mask[parents[i]]);
}

static void filter(const struct session *s, struct snapshot *snap, const struct selector *x)
{
	const struct filter filters[] = {{.include = x}, {.exclude = x}, {x, x, NULL}};

	for (size_t i = 0; i < 3; i++) {
		const struct reduce_options o = {.filter = filters[i], .depth = i};
		struct session *part = NULL;
		struct filter_left left;
		enum filter_hint hint;
		uint8_t *mask;
		int r;

		must(filter_make(&filters[i], snap, &mask) == 0);
		check_mask(snap, mask);
		r = session_reduce(s, &o, &part, &left, &hint);
		must(r == (mask[0] ? 0 : -ENODATA));
		session_free(part);
		free(mask);
	}
	filter_hint(x, snap);
}

static void select_by(const struct session *s, struct snapshot *snap, const char *text)
{
	struct selector_error error = {0};
	_cleanup_(buf_done) struct buf why = {0};
	struct selector *x;
	int r = selector_new(text, &x, &error);

	if (r == 0) {
		r = selector_check(x, s, &error);
		filter(s, snap, x);
		selector_free(x);
	}
	if (r == 0)
		return;
	must(r == -EINVAL || r == -ENOENT);
	must(*error.why && (error.at == SELECTOR_NOWHERE || error.at <= strlen(text)));
	selector_explain(text, &error, &why);
	must(why.error == 0 && why.len > strlen(text));
}

/* A name is one, whatever it looks like, and selects itself. */
static void select_itself(const char *name)
{
	_cleanup_(buf_done) struct buf text = {0};
	struct selector_error error;
	struct selector *x;

	selector_put_name(name, &text);
	must(selector_form_of(buf_str(&text)) == SELECTOR_NAMES);
	must(selector_new(buf_str(&text), &x, &error) == 0);
	must(!regexec(&selector_names(x)->re, name, 0, NULL, 0));
	selector_free(x);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = strndup((const char *)data, len);
	struct session *s = profile();
	struct snapshot *snap = snapshot_new(s, &spec);
	struct amount amount;

	must(text && snap);
	select_itself(text);
	if (amount_parse(text, strlen(text), &amount) == 0)
		must(amount.value - amount.value == 0); /* finite */
	select_by(s, snap, text);
	snapshot_free(snap);
	session_free(s);
	free(text);
	return 0;
}
