/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "core/frame.h"
#include <stdio.h>
#include <string.h>
#include "base/util.h"
#include "core/activity.h"
#include "core/loss.h"

static const char *const kind_words[FRAME_N_KINDS] = {
#define _(name, number, word) [number] = word,
	FRAME_KINDS(_)
#undef _
};

const char *frame_kind_word(unsigned kind)
{
	return kind < FRAME_N_KINDS ? kind_words[kind] : kind_words[FRAME_FUNCTION];
}

bool frame_is_form(enum frame_kind kind, const char *name)
{
	return (kind == FRAME_GRAPH || kind == FRAME_FUNCTION) &&
	       !strncmp(name, FORM_BEGIN " ", strlen(FORM_BEGIN " "));
}

bool graph_run_may_copy(const char *name)
{
	return !strchr(name, ':') || strstr(name, " copy") || strstr(name, " copies");
}

enum frame_kind frame_kind_parse(const char *word)
{
	unsigned i;

	for (i = 0; i < FRAME_N_KINDS; i++)
		if (!strcmp(kind_words[i], word))
			return (enum frame_kind)i;
	return FRAME_FUNCTION;
}

static const struct {
	const char *word, *sentence;
} losses[LOSS_N] = {
#define _(name, number, word, sentence) [number] = {word, sentence},
	LOSSES(_)
#undef _
};

/* All of them are listed wherever one is: a number that nobody has would have no word. */
#define _(...) +1
_Static_assert(0 LOSSES(_) == LOSS_N, "numbers of losses have no gaps");
#undef _

const char *loss_word(enum loss loss)
{
	return losses[loss].word;
}

const char *loss_sentence(enum loss loss)
{
	return losses[loss].sentence;
}

const char *loss_text(enum loss loss, uint64_t n, char out[LOSS_TEXT_MAX])
{
	const char *sentence = losses[loss].sentence, *end = strstr(sentence, "s ");
	int stem = end ? (int)(end - sentence) : 0;

	if (n != 1 || !end)
		snprintf(out, LOSS_TEXT_MAX, "%s", sentence);
	else if (stem > 3 && (!memcmp(end - 3, "sse", 3) || !memcmp(end - 3, "che", 3)))
		snprintf(out, LOSS_TEXT_MAX, "%.*s%s", stem - 1, sentence, end + 1);
	else
		snprintf(out, LOSS_TEXT_MAX, "%.*s%s", stem, sentence, end + 1);
	return out;
}

static const struct {
	const char *word, *brief;
} directions[COPY_N_DIRECTIONS] = {
	[COPY_UNKNOWN] = {"Unknown", "?"},
	[COPY_HOST_TO_DEVICE] = {"HostToDevice", "HtoD"},
	[COPY_DEVICE_TO_HOST] = {"DeviceToHost", "DtoH"},
	[COPY_DEVICE_TO_DEVICE] = {"DeviceToDevice", "DtoD"},
	[COPY_HOST_TO_HOST] = {"HostToHost", "HtoH"},
	[COPY_PEER_TO_PEER] = {"PeerToPeer", "PtoP"},
};

unsigned copy_direction_of(const char *name)
{
	for (unsigned i = COPY_UNKNOWN + 1; i < COPY_N_DIRECTIONS; i++)
		if (strcasestr(name, directions[i].brief) || strcasestr(name, directions[i].word))
			return i;
	return COPY_UNKNOWN;
}

static const char *const memory_words[MEMORY_N_KINDS] = {
	[MEMORY_UNKNOWN] = "unknown", [MEMORY_PAGEABLE] = "pageable", [MEMORY_PINNED] = "pinned",
	[MEMORY_DEVICE] = "device",   [MEMORY_ARRAY] = "array",       [MEMORY_MANAGED] = "managed",
	[MEMORY_SVM] = "svm",         [MEMORY_TENSORS] = "tensors",
};

const char *copy_direction_word(unsigned direction)
{
	return directions[direction < COPY_N_DIRECTIONS ? direction : COPY_UNKNOWN].word;
}

const char *copy_direction_short(unsigned direction)
{
	return directions[direction < COPY_N_DIRECTIONS ? direction : COPY_UNKNOWN].brief;
}

const char *memory_kind_word(unsigned kind)
{
	return memory_words[kind < MEMORY_N_KINDS ? kind : MEMORY_UNKNOWN];
}

/* The host's end says how a copy was made (pageable or pinned); between devices there is none. */
static unsigned transfer_memory(const struct activity *a)
{
	switch (a->direction) {
	case COPY_HOST_TO_DEVICE:
		return a->src_kind;
	case COPY_DEVICE_TO_HOST:
		return a->dst_kind;
	case COPY_HOST_TO_HOST:
		return MAX(a->src_kind, a->dst_kind);
	default:
		return MEMORY_UNKNOWN;
	}
}

/* Not with snprintf: this runs in the collector for each copy. */
static char *transfer_append(char *p, const char *end, const char *s)
{
	while (*s && p + 1 < end)
		*p++ = *s++;
	*p = '\0';
	return p;
}

static char *number_append(char *p, const char *end, uint32_t v)
{
	char digits[12], *d = digits + sizeof(digits) - 1;

	*d = '\0';
	do
		*--d = (char)('0' + v % 10);
	while (v /= 10);
	return transfer_append(p, end, d);
}

/* "128x4", "?" where a dimension is not known. */
static char *extent_append(char *p, const char *end, const uint32_t v[3])
{
	unsigned n = v[2] > 1 ? 3 : v[1] > 1 ? 2 : 1;

	if (!v[0])
		return transfer_append(p, end, "?");
	for (unsigned i = 0; i < n; i++) {
		if (i)
			p = transfer_append(p, end, "x");
		p = number_append(p, end, v[i]);
	}
	return p;
}

#define SHAPE_BEGIN "<<<"
#define SHAPE_END   ">>>"

void activity_shape(const struct launch_shape *shape, char out[ACTIVITY_SHAPE_MAX])
{
	const char *end = out + ACTIVITY_SHAPE_MAX;
	char *p = out;

	*out = '\0';
	if (!shape->grid[0] && !shape->block[0])
		return;
	p = transfer_append(p, end, SHAPE_BEGIN);
	p = extent_append(p, end, shape->grid);
	p = transfer_append(p, end, ",");
	p = extent_append(p, end, shape->block);
	transfer_append(p, end, SHAPE_END);
}

size_t activity_bare_len(const char *name, size_t len)
{
	size_t at = len;

	if (len < 2 * strlen(SHAPE_BEGIN) || memcmp(name + len - strlen(SHAPE_END), SHAPE_END, 3))
		return len;
	at -= strlen(SHAPE_END);
	while (at > 0 && strchr("0123456789x,?", name[at - 1]) && name[at - 1])
		at--;
	return at >= 3 && !memcmp(name + at - 3, SHAPE_BEGIN, 3) ? at - 3 : len;
}

void activity_transfer_name(const struct activity *a, char *out, size_t size)
{
	const char *end = out + size;
	unsigned memory = a->kind == ACTIVITY_SET ? a->src_kind : transfer_memory(a);
	char *p = out;

	if (a->kind == ACTIVITY_SET) {
		p = transfer_append(p, end, "memset");
	} else {
		p = transfer_append(p, end, "memcpy ");
		p = transfer_append(p, end, copy_direction_short(a->direction));
	}
	if (a->src_device != a->dst_device) {
		p = transfer_append(p, end, " ");
		p = number_append(p, end, a->src_device);
		p = transfer_append(p, end, " to ");
		p = number_append(p, end, a->dst_device);
	}
	if (memory != MEMORY_UNKNOWN) {
		p = transfer_append(p, end, " ");
		transfer_append(p, end, memory_kind_word(memory));
	}
}
