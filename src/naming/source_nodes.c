/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/source_nodes.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/buf.h"
#include "base/named_file.h"
#include "base/util.h"
#include "core/generated.h"

enum { FILES_MAX = 4096, FILE_MAX = 64 << 20, LIST_MAX = 480 };

/* Bytes of all files of a run: a large model has some megabytes of generated code. */
#define READ_MAX (UINT64_C(1) << 30)

/* Lines of which one launches what was made from the nodes. */
struct launch {
	uint32_t from, to;
	uint32_t text;
};

struct file {
	char *path;
	struct launch *launches; /* in their order */
	size_t n, cap;
};

struct source_nodes {
	struct file *files;
	size_t n_files, cap_files;
	struct strtab *texts;
	uint64_t n_read;
	uint32_t n_frames; /* that were looked at */
};

struct source_nodes *source_nodes_new(void)
{
	struct source_nodes *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->texts = strtab_new();
	return n->texts ? n : source_nodes_free(n);
}

struct source_nodes *source_nodes_free(struct source_nodes *n)
{
	if (!n)
		return NULL;
	for (size_t i = 0; i < n->n_files; i++) {
		free(n->files[i].path);
		free(n->files[i].launches);
	}
	free(n->files);
	strtab_free(n->texts);
	free(n);
	return NULL;
}

/* ---- a line ---- */

struct text {
	const char *s;
	size_t len;
};

static bool has(struct text line, const char *word)
{
	return memmem(line.s, line.len, word, strlen(word));
}

static bool begins(struct text line, const char *word)
{
	return line.len >= strlen(word) && !memcmp(line.s, word, strlen(word));
}

/* What stands in the brackets behind a word. */
static struct text list_behind(struct text line, const char *word)
{
	const char *at = memmem(line.s, line.len, word, strlen(word)), *end;

	if (!at)
		return (struct text){"", 0};
	at += strlen(word);
	end = memchr(at, ']', line.len - (size_t)(at - line.s));
	return (struct text){at, end ? (size_t)(end - at) : 0};
}

/* A long list without its end: whole names. */
static void put_list(struct buf *out, struct text list)
{
	size_t len = list.len;

	while (len > LIST_MAX || (len && len < list.len && list.s[len] != ','))
		len--;
	buf_put(out, list.s, len);
	if (len < list.len)
		buf_puts(out, len ? ", ..." : "...");
}

static const char nodes_word[] = "Source Nodes: [", original_word[] = "Original ATen: [";

static bool is_comment(struct text line)
{
	return begins(line, "#") && (has(line, nodes_word) || has(line, original_word));
}

/* "[norm, add] aten.linalg_vector_norm, aten.add"; "": it names nothing. */
static void put_comment(struct buf *out, struct text line)
{
	struct text list = list_behind(line, nodes_word);

	if (list.len) {
		buf_puts(out, "[");
		put_list(out, list);
		buf_puts(out, "]");
	}
	list = list_behind(line, original_word);
	if (list.len && out->len)
		buf_puts(out, " ");
	put_list(out, list);
}

/* What follows has a comment of its own, or none. */
static bool is_launch(struct text line)
{
	static const char *const calls[] = {".run(", "extern_kernels.", "torch.ops.", " aten.",
					    ".copy_("};

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++)
		if (has(line, calls[i]))
			return true;
	return begins(line, "aten.");
}

/* ---- a file ---- */

/* Lines that are looked at one after the other. */
struct walk {
	struct source_nodes *n;
	struct file *f;
	struct buf text;
	uint32_t line;
	uint32_t from; /* the first one behind a comment; 0: none holds here */
};

static int end_launch(struct walk *w, uint32_t to)
{
	uint32_t from = w->from, text;

	w->from = 0;
	if (!from || to < from || !w->text.len)
		return 0;
	text = w->text.error ? STRTAB_NONE : strtab_adds(w->n->texts, buf_str(&w->text));
	if (text == STRTAB_NONE || ARRAY_ROOM(w->f->launches, w->f->cap, w->f->n + 1) < 0)
		return -ENOMEM;
	w->f->launches[w->f->n++] = (struct launch){from, to, text};
	return 0;
}

static int walk_line(struct walk *w, struct text line)
{
	int r = 0;

	while (line.len && (*line.s == ' ' || *line.s == '\t')) {
		line.s++;
		line.len--;
	}
	if (is_comment(line)) {
		r = end_launch(w, w->line - 1);
		buf_clear(&w->text);
		put_comment(&w->text, line);
		w->from = w->line + 1;
	} else if (begins(line, "def ") || begins(line, "class ")) {
		r = end_launch(w, w->line - 1);
	} else if (w->from && !begins(line, "#") && is_launch(line)) {
		r = end_launch(w, w->line);
	}
	return r;
}

static int walk_file(struct source_nodes *n, struct file *f, const char *text, size_t len)
{
	struct walk w = {.n = n, .f = f, .line = 1};
	const char *end;
	int r = 0;

	for (; len && r == 0; w.line++) {
		end = memchr(text, '\n', len);
		r = walk_line(&w, (struct text){text, end ? (size_t)(end - text) : len});
		len -= end ? (size_t)(end + 1 - text) : len;
		text = end ? end + 1 : text;
	}
	if (r == 0)
		r = end_launch(&w, w.line);
	buf_done(&w.text);
	return r;
}

/* Nobody but the user, and root, says what the user's programs do: anybody may write to /tmp. */
static int open_file(const struct source_nodes *n, const char *path, size_t *ret_size)
{
	struct stat st;
	int fd = regular_open(path, O_RDONLY, &st);

	if (fd < 0)
		return -1;
	if ((st.st_uid != geteuid() && st.st_uid != 0) || st.st_size > FILE_MAX ||
	    n->n_read + (uint64_t)st.st_size > READ_MAX) {
		close(fd);
		return -1;
	}
	*ret_size = (size_t)st.st_size;
	return fd;
}

/* A file that is not there, or no such file, says nothing. */
static int read_file(struct source_nodes *n, struct file *f)
{
	_cleanup_(freep) char *text = NULL;
	size_t size = 0, len = 0;
	ssize_t got = 1;
	int fd = open_file(n, f->path, &size);

	if (fd < 0)
		return 0;
	text = malloc(size + 1);
	while (text && len < size && got > 0) {
		got = read(fd, text + len, size - len);
		len += got > 0 ? (size_t)got : 0;
	}
	close(fd);
	n->n_read += len;
	return text ? walk_file(n, f, text, len) : -ENOMEM;
}

static struct file *file_find(struct source_nodes *n, const char *path, size_t len)
{
	for (size_t i = n->n_files; i-- > 0;)
		if (!strncmp(n->files[i].path, path, len) && !n->files[i].path[len])
			return &n->files[i];
	return NULL;
}

/* One that comes for the first time is read. */
static int file_of(struct source_nodes *n, const char *path, size_t len, struct file **ret)
{
	struct file *f = file_find(n, path, len);

	*ret = f;
	if (f || n->n_files == FILES_MAX)
		return 0;
	if (ARRAY_ROOM(n->files, n->cap_files, n->n_files + 1) < 0)
		return -ENOMEM;
	f = *ret = &n->files[n->n_files];
	*f = (struct file){.path = strndup(path, len)};
	if (!f->path)
		return -ENOMEM;
	n->n_files++;
	return read_file(n, f);
}

/* ---- frames ---- */

static const struct launch *launch_at(const struct file *f, uint32_t line)
{
	for (size_t i = 0; f && i < f->n; i++)
		if (f->launches[i].from <= line && line <= f->launches[i].to)
			return &f->launches[i];
	return NULL;
}

static int name_frame(struct source_nodes *n, struct session *s, uint32_t frame)
{
	const char *name = session_text(s, s->frames[frame].name);
	const struct launch *at;
	struct file *f;
	size_t len;
	uint32_t line, path, text;
	int r;

	if (s->frames[frame].kind != FRAME_PYTHON || s->frames[frame].symbol ||
	    !generated_parse(name, &len, &line))
		return 0;
	r = file_of(n, name, len, &f);
	at = r == 0 ? launch_at(f, line) : NULL;
	if (!at)
		return r;
	path = strtab_adds(s->strings, f->path);
	text = strtab_adds(s->strings, strtab_str(n->texts, at->text));
	if (path == STRTAB_NONE || text == STRTAB_NONE)
		return -ENOMEM;
	session_frame_symbol(s, frame, text, path, line);
	return 0;
}

int source_nodes_name(struct source_nodes *n, struct session *s)
{
	int r = 0;

	for (; n->n_frames < s->n_frames && r == 0; n->n_frames++)
		r = name_frame(n, s, n->n_frames);
	return r;
}
