/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep

#include "format/unknown.h"

#include <errno.h>
#include <string.h>

#include "base/shown.h"

#define READ                                                                                       \
	"Hatchet in JSON or MessagePack, our JSON, Chrome trace, speedscope, pprof, folded "       \
	"stacks, SQLite of nsys or rocpd, tape, buffers of warps"

/* PyTorch kept annotations of CUDA graphs in one (docs/adr/0054-annotations-of-pytorch-with-their-trace.md). */
#define PICKLE "a pickle of Python: to read one is to run what is in it, so it is not read"

static const struct {
	const char *magic;
	size_t len;
	const char *what;
} beginnings[] = {
#ifdef HAVE_ZLIB
	{"\x1f\x8b", 2, "packed with gzip twice, or not with deflate: unpack it first"},
#else
	{"\x1f\x8b", 2, "packed with gzip, and built without zlib: unpack it first"},
#endif
	{"\x28\xb5\x2f\xfd", 4, "compressed with zstd: unpack it first"},
	{"\xfd"
	 "7zXZ",
	 5, "compressed with xz: unpack it first"},
	{"BZh", 3, "compressed with bzip2: unpack it first"},
	{"PK\x03\x04", 4, "a zip archive: unpack it first"},
	{"\x7f"
	 "ELF",
	 4, "a program or library, not a profile"},
	{"\x80\x02", 2, PICKLE},
	{"\x80\x03", 2, PICKLE},
	{"\x80\x04", 2, PICKLE},
	{"\x80\x05", 2, PICKLE},
	{"PERFILE2", 8,
	 "a recording of perf: 'perf script' and stackcollapse-perf.pl make folded stacks"},
	{"NVR", 3, "a report of Nsight Compute, which only its own programs read"},
	{"\xff\xfe", 2, "text in UTF-16: convert it to UTF-8 first"},
	{"<?xml", 5, "XML, which is written (flamegraph) and not read"},
	{"<svg", 4, "SVG, which is written (flamegraph) and not read"},
	{"digraph ", 8, "Graphviz, which is written (dot) and not read"},
	{"id,parent,depth,", 16, "CSV, which is written and not read"},
	{"| id | parent |", 15, "Markdown, which is written and not read"},
};

/* What other programs and ourselves write as JSON for somebody else. */
static const struct {
	const char *text, *what;
} documents[] = {
	{"{\"graph\": [{\"0\"",
	 "written by to_json() of Hatchet: what its to_literal() makes is read"},
};

const char *unknown_beginning(const char *head, size_t n)
{
	for (size_t i = 0; i < ARRAY_SIZE(beginnings); i++)
		if (n >= beginnings[i].len && !memcmp(head, beginnings[i].magic, beginnings[i].len))
			return beginnings[i].what;
	return NULL;
}

/* A message within a message, of which the first field is one that packets of a trace begin with.
 */
static bool is_perfetto(const char *head, size_t n)
{
	static const unsigned char fields[] = {0x32, 0x40, 0x50, 0x5a, 0x62, 0x68, 0xe2};
	size_t i = 1;

	if (n < 4 || head[0] != 0x0a)
		return false;
	while (i < n && i < 6 && head[i] & 0x80)
		i++;
	return i + 1 < n && memchr(fields, (unsigned char)head[i + 1], sizeof(fields));
}

static size_t blank(const char *head, size_t n, size_t i)
{
	while (i < n && memchr(" \t\r\n", head[i], 4))
		i++;
	return i;
}

/* {"4294967296": [{"name": …}], …}: what PyTorch says of nodes of CUDA graphs, by their numbers. */
static bool is_annotations(const char *head, size_t n)
{
	size_t i = text_begin(head, n), begin;

	if (i == n || head[i] != '{')
		return false;
	i = blank(head, n, i + 1);
	if (i == n || head[i] != '"')
		return false;
	for (begin = ++i; i < n && head[i] >= '0' && head[i] <= '9'; i++)
		;
	if (i == n || i == begin || head[i] != '"')
		return false;
	i = blank(head, n, i + 1);
	if (i == n || head[i] != ':')
		return false;
	i = blank(head, n, i + 1);
	return i < n && head[i] == '[';
}

static const char *document_of(const char *head, size_t n)
{
	if (is_annotations(head, n))
		return "annotations of CUDA graphs by PyTorch, whose numbers are those of one process: "
		       "--graph-annotations joins them with its Chrome trace";
	for (size_t i = 0; i < ARRAY_SIZE(documents); i++)
		if (memmem(head, n, documents[i].text, strlen(documents[i].text)))
			return documents[i].what;
	return NULL;
}

/* How many bytes of the first line can stand in a message: all of them, or some two dozen; 0: it is
 * no text. */
static size_t text_length(const char *head, size_t n)
{
	const char *eol = memchr(head, '\n', n), *end = eol ? eol : head + n, *p = head;
	struct shown s = {0};
	size_t bytes = 0;

	while (bytes < 24 && p < end) {
		p = shown_next(p, end, &s);
		if (s.text != head + bytes)
			return 0;
		bytes = (size_t)(p - head);
	}
	return bytes;
}

static void put_beginning(struct buf *out, const char *head, size_t n)
{
	size_t len = text_length(head, n);

	if (len) {
		buf_printf(out, "'%.*s%s'", (int)len, head,
			   len < n && head[len] != '\n' ? "…" : "");
		return;
	}
	buf_puts(out, "bytes");
	for (size_t i = 0; i < n && i < 8; i++)
		buf_printf(out, " %02x", (unsigned char)head[i]);
}

static bool is_json(const char *head, size_t n)
{
	size_t i = text_begin(head, n);

	return i == n || memchr("[{\"", head[i], 3);
}

int unknown_refuse(const char *head, size_t n, struct format_error *error)
{
	const char *what = unknown_beginning(head, n);
	struct buf text;

	if (!what && is_json(head, n)) {
		what = document_of(head, n);
		if (!what)
			return 0;
	}
	if (!what && is_perfetto(head, n))
		what = "a Perfetto trace, which is written and not read (a Chrome trace is)";
	if (what)
		return format_fail(error, -EBADMSG, FORMAT_NO_OFFSET, "%s", what);
	buf_init(&text, 0);
	put_beginning(&text, head, n);
	format_fail(error, -EBADMSG, 1, "no format that is read (" READ "): %s", buf_str(&text));
	buf_done(&text);
	return error->code;
}
