/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/annotations.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/idindex.h"
#include "core/merge.h"
#include "format/gunzip.h"
#include "format/json_tokens.h"
#include "format/trace.h"
#include "format/unknown.h"

/* A node of a graph. */
struct entry {
	uint64_t node;
	struct annotation said; /* strings of the file, or of the session once it is used */
	bool used;
};

struct annotations {
	struct strtab *strings, *keys;
	struct tokens tokens; /* while it is read */
	struct entry *entries;
	size_t n, cap;
	struct idindex by_node;
	int32_t rank;  /* of the process, as the name of the file has it; -1: it does not say */
	size_t n_used; /* entries */
	uint64_t n_work,
		n_named; /* executions of what has a number, and those that have a context by this file */
};

int annotation_captured(const struct annotation *a, struct trace *t, uint32_t *ret_captured)
{
	static const enum frame_kind kinds[ANNOTATION_N_PARTS] = {
		[ANNOTATION_MODULE] = FRAME_MODULE,
		[ANNOTATION_NAME] = FRAME_SCOPE,
		[ANNOTATION_PHASE] = FRAME_SCOPE,
	};
	uint32_t captured = 0;

	for (unsigned i = 0; i < ANNOTATION_N_PARTS; i++)
		if (a->texts[i])
			captured = trace_captured(t, captured, kinds[i], a->texts[i]);
	if (captured == SESSION_NONE)
		return -ENOMEM;
	*ret_captured = captured;
	return 0;
}

struct annotations *annotations_free(struct annotations *a)
{
	if (!a)
		return NULL;
	strtab_free(a->strings);
	strtab_free(a->keys);
	tokens_done(&a->tokens);
	free(a->entries);
	idindex_done(&a->by_node);
	free(a);
	return NULL;
}

/* ---- a file ---- */

static bool entry_equal(const void *ctx, uint32_t i, const void *key)
{
	return ((const struct annotations *)ctx)->entries[i].node == *(const uint64_t *)key;
}

static struct entry *entry_of(const struct annotations *a, uint64_t node)
{
	uint32_t i = idindex_find(&a->by_node, hash_u64(node), entry_equal, a, &node);

	return i == IDINDEX_NONE ? NULL : &a->entries[i];
}

/* Empty: of two with the same number the last one counts, as for json.load() of Python. NULL: no memory. */
static struct entry *entry_make(struct annotations *a, uint64_t node)
{
	struct entry *e = entry_of(a, node);

	if (!e) {
		if (a->n >= IDINDEX_NONE || ARRAY_ROOM(a->entries, a->cap, a->n + 1) < 0 ||
		    idindex_add(&a->by_node, hash_u64(node), (uint32_t)a->n) < 0)
			return NULL;
		e = &a->entries[a->n++];
	}
	*e = (struct entry){.node = node};
	return e;
}

static void say(const struct annotations *a, struct entry *e, enum annotation_part part, size_t at)
{
	if (at && token_at(&a->tokens, at) == TOKEN_STRING)
		e->said.texts[part] = (uint32_t)token_payload(&a->tokens, at);
}

/* An annotation of a node: {"name": …}, or the name alone. */
static void read_one(const struct annotations *a, struct entry *e, size_t at)
{
	static const struct {
		const char *key;
		enum annotation_part part;
	} keys[] = {
		{"module_fqn", ANNOTATION_MODULE},
		{"str", ANNOTATION_NAME}, /* until pytorch/pytorch#189406 */
		{"name", ANNOTATION_NAME},
		{"autograd_phase", ANNOTATION_PHASE},
	};

	if (token_at(&a->tokens, at) != TOKEN_MAP) {
		say(a, e, ANNOTATION_NAME, at);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		uint32_t key = strtab_find(a->keys, keys[i].key, strlen(keys[i].key));

		if (key != STRTAB_NONE)
			say(a, e, keys[i].part, token_find(&a->tokens, at, key));
	}
}

/* All of a node: a list, of which later ones replace earlier ones key by key, or a single one. */
static void read_entry(const struct annotations *a, struct entry *e, size_t at)
{
	if (token_at(&a->tokens, at) != TOKEN_ARRAY) {
		read_one(a, e, at);
		return;
	}
	for (at = token_first(at); token_at(&a->tokens, at) != TOKEN_END;
	     at = token_next(&a->tokens, at))
		read_one(a, e, at);
}

static bool node_number(const struct annotations *a, uint32_t key, uint64_t *ret)
{
	const char *text = strtab_str(a->keys, key);
	size_t len = strtab_len(a->keys, key);
	struct number n;

	if (!len || strspn(text, "0123456789") != len)
		return false;
	number_parse(text, len, &n);
	*ret = n.u64;
	return n.is_int;
}

static int read_entries(struct annotations *a, struct format_error *error)
{
	size_t at = token_first(JSON_TOKENS_ROOT);
	uint64_t node;

	for (; token_at(&a->tokens, at) != TOKEN_END; at = token_next(&a->tokens, at + 1)) {
		struct entry *e;

		if (!node_number(a, (uint32_t)token_payload(&a->tokens, at), &node))
			continue;
		e = entry_make(a, node);
		if (!e)
			return format_fail_code(error, -ENOMEM);
		read_entry(a, e, at + 1);
	}
	return a->n ? 0
		    : format_fail(
			      error, -EINVAL, FORMAT_NO_OFFSET,
			      "no annotations of CUDA graphs by PyTorch: no key is the number of a "
			      "node");
}

static int read_plain(struct reader_input *in, void *ctx, struct format_error *error)
{
	struct annotations *a = ctx;
	uint64_t garbage_at = 0;
	const char *what;
	int r = reader_peek(in);

	if (r < 0)
		return format_fail_code(error, r);
	what = unknown_beginning(in->head, in->head_len);
	if (what)
		return format_fail(error, -EBADMSG, FORMAT_NO_OFFSET, "%s", what);
	r = json_tokens_read(in, a->strings, a->keys, &a->tokens, &garbage_at, error);
	if (r == 0 && garbage_at)
		r = format_fail(error, -EBADMSG, garbage_at, "more follows the document");
	return r < 0 ? r : read_entries(a, error);
}

int annotations_read(struct reader_input *in, struct annotations **ret, struct format_error *error)
{
	_cleanup_(annotations_freep) struct annotations *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return format_fail_code(error, -ENOMEM);
	tokens_init(&a->tokens);
	a->rank = -1;
	a->strings = strtab_new();
	a->keys = strtab_new();
	if (!a->strings || !a->keys)
		return format_fail_code(error, -ENOMEM);
	strtab_limit(a->strings, FORMAT_NAMES_MAX);
	strtab_limit(a->keys, FORMAT_NAMES_MAX);
	r = gunzip_through(in, read_plain, a, error);
	if (r < 0)
		return r;
	tokens_done(&a->tokens);
	tokens_init(&a->tokens);
	*ret = a;
	a = NULL;
	return 0;
}

static int32_t rank_in(const char *path)
{
	struct merge_options guess;
	char name[PATH_MAX];

	merge_guess(path, name, sizeof(name), &guess);
	return guess.rank;
}

int annotations_load(const char *path, struct annotations **ret, struct format_error *error)
{
	_cleanup_(closep) int fd = reader_open(path);
	struct reader_input in;
	int r;

	if (fd < 0)
		return format_fail_code(error, fd);
	reader_init_fd(&in, fd);
	r = annotations_read(&in, ret, error);
	if (r == 0)
		(*ret)->rank = rank_in(path);
	return r;
}

/* ---- with a trace ---- */

/* The strings of an entry become those of the session. */
static int use(struct annotations *a, struct entry *e, struct strtab *strings)
{
	for (unsigned i = 0; i < ANNOTATION_N_PARTS; i++) {
		uint32_t *text = &e->said.texts[i];

		*text = strtab_add(strings, strtab_str(a->strings, *text),
				   strtab_len(a->strings, *text));
		if (*text == STRTAB_NONE)
			return -ENOMEM;
	}
	e->used = true;
	a->n_used++;
	return 0;
}

int annotations_take(struct annotations *a, uint64_t node, struct strtab *strings,
		     struct annotation *said)
{
	struct entry *e = entry_of(a, node);

	a->n_work++;
	if (!e)
		return 0;
	if (!e->used && use(a, e, strings) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < ANNOTATION_N_PARTS; i++)
		if (e->said.texts[i]) {
			a->n_named++;
			break;
		}
	*said = e->said;
	return 0;
}

static int32_t trace_rank(const struct session *s, const char *path)
{
	return s->n_processes && s->processes[0].rank >= 0 ? s->processes[0].rank : rank_in(path);
}

/* Numbers count up in each process: those of another one are as good as wrong. */
static int refuse(const struct annotations *a, const struct session *s, const char *path,
		  struct format_error *error)
{
	int32_t rank = trace_rank(s, path);

	if (!a->n_work)
		return format_fail(
			error, -EINVAL, FORMAT_NO_OFFSET,
			"no node of a CUDA graph has a number in it ('graph node id'): annotations "
			"are joined with the Chrome trace that torch.profiler made of the same process");
	if (s->n_processes > 1)
		return format_fail(
			error, -EINVAL, FORMAT_NO_OFFSET,
			"is of %zu processes, whose nodes of CUDA graphs have the same numbers: "
			"annotations are joined with the trace of one",
			s->n_processes);
	if (a->rank >= 0 && rank >= 0 && a->rank != rank)
		return format_fail(error, -EINVAL, FORMAT_NO_OFFSET,
				   "is of rank %d, and the annotations are of rank %d", (int)rank,
				   (int)a->rank);
	if (!a->n_used)
		return format_fail(
			error, -EINVAL, FORMAT_NO_OFFSET,
			"none of the %zu numbers in the annotations is that of a node here: they are "
			"of another process, or of graphs that did not run",
			a->n);
	return 0;
}

int annotations_settle(const struct annotations *a, struct session *s, const char *path,
		       struct format_error *error)
{
	struct buf text;
	int r = refuse(a, s, path, error);

	if (r < 0)
		return r;
	buf_init(&text, 0);
	buf_printf(
		&text,
		"annotations name %llu of %llu kernels, copies and sets in CUDA graphs; %zu of %zu "
		"numbers in them are of nothing that ran here",
		(unsigned long long)a->n_named, (unsigned long long)a->n_work, a->n - a->n_used,
		a->n);
	r = text.error ? text.error : session_note(s, SESSION_NONE, NOTE_INFO, buf_str(&text));
	buf_done(&text);
	return r < 0 ? format_fail_code(error, r) : 0;
}
