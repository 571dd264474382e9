/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "tui/keys.h"
#include <assert.h>
#include <ctype.h>
#include <curses.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>
#include "base/buf.h"
#include "base/util.h"
#include "tui/settings.h"
#include "tui/text.h"
#include "tui/tui.h"

#define GROUP_WORD(id, word) static const char group_##id[] = word;
KEY_GROUPS(GROUP_WORD)
#undef GROUP_WORD

static const struct request_info infos[REQ_N] = {
#define _(request, keys, group, label, help)                                                       \
	[REQ_##request] = {#request, keys, group_##group, label, help},
	REQUESTS(_)
#undef _
};

static const struct {
	const char *keys, *help;
} edit_infos[EDIT_N] = {
#define _(edit, keys, help) [EDIT_##edit] = {keys, help},
	EDITS(_)
#undef _
};

/* Keys that are known by a word. */
static const struct {
	const char *word;
	int key;
} words[] = {
	{"Down", KEY_FUNCTION | KEY_DOWN},
	{"Up", KEY_FUNCTION | KEY_UP},
	{"Left", KEY_FUNCTION | KEY_LEFT},
	{"Right", KEY_FUNCTION | KEY_RIGHT},
	{"S-Left", KEY_FUNCTION | KEY_SLEFT},
	{"S-Right", KEY_FUNCTION | KEY_SRIGHT},
	{"PgDn", KEY_FUNCTION | KEY_NPAGE},
	{"PgUp", KEY_FUNCTION | KEY_PPAGE},
	{"Home", KEY_FUNCTION | KEY_HOME},
	{"End", KEY_FUNCTION | KEY_END},
	{"Del", KEY_FUNCTION | KEY_DC},
	{"BkSp", KEY_FUNCTION | KEY_BACKSPACE},
	{"S-Tab", KEY_FUNCTION | KEY_BTAB},
	{"Tab", '\t'},
	{"Enter", '\r'},
	{"Esc", 27},
	{"Space", ' '},
};

void request_name(enum request request, char out[REQUEST_NAME])
{
	const char *name = infos[request].name;
	size_t i;

	for (i = 0; name[i] && i + 1 < REQUEST_NAME; i++)
		out[i] = name[i] == '_' ? '-' : (char)tolower((unsigned char)name[i]);
	out[i] = '\0';
}

enum request request_find(const char *name)
{
	char known[REQUEST_NAME];

	for (unsigned r = REQ_NONE + 1; r < REQ_N; r++) {
		request_name(r, known);
		if (!strcmp(name, known))
			return r;
	}
	return REQ_NONE;
}

const struct request_info *request_info(enum request request)
{
	assert(request > REQ_NONE && request < REQ_N);
	return &infos[request];
}

/* "F1" … "F63". */
static int parse_function_key(const char *word, size_t len)
{
	int n = 0;

	if (len < 2 || len > 3 || word[0] != 'F')
		return -1;
	for (size_t i = 1; i < len; i++) {
		if (word[i] < '0' || word[i] > '9')
			return -1;
		n = n * 10 + word[i] - '0';
	}
	return n <= 63 ? KEY_FUNCTION | KEY_F(n) : -1;
}

int key_parse(const char *word, size_t len)
{
	struct text_glyph g;
	int key;

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].word) == len && !memcmp(words[i].word, word, len))
			return words[i].key;
	key = parse_function_key(word, len);
	if (key >= 0)
		return key;
	if (len == 3 && !memcmp(word, "C-", 2))
		return KEY_CTRL(word[2]);
	if (len == 3 && !memcmp(word, "M-", 2))
		return KEY_ALT | word[2];
	if (len == 0 || text_next(word, word + len, false, &g) != word + len || g.n != 1)
		return -1;
	return (int)g.wc[0];
}

/* The next word of a list between spaces; NULL at its end. */
static const char *next_word(const char **list, size_t *ret_len)
{
	const char *word = *list + strspn(*list, " ");

	*ret_len = strcspn(word, " ");
	*list = word + *ret_len;
	return *ret_len ? word : NULL;
}

static bool word_of(int key, char out[KEY_WORD])
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (words[i].key == key) {
			snprintf(out, KEY_WORD, "%s", words[i].word);
			return true;
		}
	return false;
}

void key_word(int key, char out[KEY_WORD])
{
	int function = key - (KEY_FUNCTION | KEY_F(0));

	if (word_of(key, out))
		return;
	if (function >= 0 && function <= 63)
		snprintf(out, KEY_WORD, "F%d", function);
	else if (key < ' ')
		snprintf(out, KEY_WORD, "C-%c", key | 0x60);
	else if (key & KEY_ALT)
		snprintf(out, KEY_WORD, "M-%c", key & 0x7f);
	else if (snprintf(out, KEY_WORD, "%lc", (wint_t)key) < 0)
		snprintf(out, KEY_WORD, "?"); /* the locale has no such character */
}

/* Make the list of a request's keys; those that do not fit are left out. */
static void list_words(struct keymap *map, enum request request)
{
	char *list = map->words[request], word[KEY_WORD];
	size_t len = 0;

	list[0] = '\0';
	for (unsigned i = 0; i < map->n; i++) {
		if (map->bindings[i].request != request)
			continue;
		key_word(map->bindings[i].key, word);
		if (len + 1 + strlen(word) < KEY_WORDS)
			len += (size_t)snprintf(list + len, KEY_WORDS - len, "%s%s", len ? " " : "",
						word);
	}
}

void keymap_unbind(struct keymap *map, int key)
{
	key = key_canonical(key);
	for (unsigned i = 0; i < map->n; i++)
		if (map->bindings[i].key == key) {
			enum request request = map->bindings[i].request;

			memmove(&map->bindings[i], &map->bindings[i + 1],
				(map->n - i - 1) * sizeof(map->bindings[0]));
			map->n--;
			list_words(map, request);
			return;
		}
}

int keymap_bind(struct keymap *map, int key, enum request request)
{
	keymap_unbind(map, key);
	if (map->n == MAX_BINDINGS)
		return -ENOSPC;
	map->bindings[map->n++] = (struct key_binding){key_canonical(key), request};
	list_words(map, request);
	return 0;
}

const char *keymap_words(const struct keymap *map, enum request request)
{
	return map->words[request];
}

int keymap_letter(const struct keymap *map, enum request request)
{
	for (unsigned i = 0; i < map->n; i++) {
		int key = map->bindings[i].key;

		if (map->bindings[i].request == request && key > ' ' &&
		    (key < KEY_FUNCTION || key & KEY_ALT))
			return key;
	}
	return 0;
}

static void bind_all(struct keymap *map, enum request request, const char *keys)
{
	const char *word;
	size_t len;

	while ((word = next_word(&keys, &len))) {
		int key = key_parse(word, len);

		assert(key >= 0 && keymap_find(map, key) == REQ_NONE);
		keymap_bind(map, key, request);
	}
}

void keymap_init(struct keymap *map)
{
	memset(map, 0, sizeof(*map));
	for (unsigned r = REQ_NONE + 1; r < REQ_N; r++)
		bind_all(map, r, infos[r].keys);
}

int key_canonical(int key)
{
	switch (key) {
	case '\n':
	case KEY_FUNCTION | KEY_ENTER:
		return '\r';
	case 127:
	case '\b':
		return KEY_FUNCTION | KEY_BACKSPACE;
	default:
		return key;
	}
}

enum request keymap_find(const struct keymap *map, int key)
{
	key = key_canonical(key);
	for (unsigned i = 0; i < map->n; i++)
		if (map->bindings[i].key == key)
			return map->bindings[i].request;
	return REQ_NONE;
}

int tui_key_parse(const char *word, size_t len)
{
	return key_parse(word, len);
}

enum edit edit_find(int key)
{
	key = key_canonical(key);
	for (unsigned e = EDIT_NONE + 1; e < EDIT_N; e++) {
		const char *list = edit_infos[e].keys, *word;
		size_t len;

		while ((word = next_word(&list, &len)))
			if (key_parse(word, len) == key)
				return e;
	}
	return EDIT_NONE;
}

bool keymap_row(const struct keymap *map, unsigned i, struct key_row *ret)
{
	unsigned r = REQ_NONE + 1 + i, e = r - REQ_N + EDIT_NONE + 1;

	if (r < REQ_N)
		*ret = (struct key_row){infos[r].group, keymap_words(map, r), infos[r].help,
					(enum request)r};
	else if (e < EDIT_N)
		*ret = (struct key_row){"While a line is typed", edit_infos[e].keys,
					edit_infos[e].help, REQ_NONE};
	return r < REQ_N || e < EDIT_N;
}

/* Text: groups with a heading, keys in a column. */
static void write_text(const struct keymap *map, struct buf *out)
{
	const char *group = NULL;
	struct key_row row;

	for (unsigned i = 0; keymap_row(map, i, &row); i++) {
		if (row.group != group)
			buf_printf(out, "%s%s\n", group ? "\n" : "", row.group);
		group = row.group;
		buf_printf(out, "  %-12s  %s\n", *row.keys ? row.keys : "-", row.help);
	}
}

/* mdoc: what is special to roff gets an escape. */
static void put_roff(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\')
			buf_puts(out, "\\e");
		else if (*s == '-')
			buf_puts(out, "\\-");
		else
			buf_putc(out, *s);
	}
}

static void write_man(const struct keymap *map, struct buf *out)
{
	const char *group = NULL;
	struct key_row row;

	for (unsigned i = 0; keymap_row(map, i, &row); i++) {
		const char *keys = row.keys, *word, *sep = "";
		size_t len;

		if (row.group != group)
			buf_printf(out, "%s.Ss %s\n.Bl -tag -width indent -compact\n",
				   group ? ".El\n" : "", row.group);
		group = row.group;
		buf_puts(out, ".It ");
		for (; (word = next_word(&keys, &len)); sep = " , ") {
			char one[16];

			snprintf(one, sizeof(one), "%.*s", (int)len, word);
			buf_printf(out, "%sIc \\&", sep);
			put_roff(out, one);
		}
		buf_printf(out, "\n%s\n", row.help);
	}
	buf_puts(out, ".El\n");
}

void tui_keys_write(enum tui_key_format format, const struct settings *settings, struct buf *out)
{
	static void (*const writers[])(const struct keymap *, struct buf *) = {
		[TUI_KEYS_TEXT] = write_text,
		[TUI_KEYS_MAN] = write_man,
	};
	struct keymap usual;

	keymap_init(&usual);
	writers[format](settings ? &settings->keys : &usual, out);
}
