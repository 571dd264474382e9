/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "naming/perf_map.h"
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/named_file.h"
#include "base/strtab.h"
#include "base/util.h"

enum { ENTRIES_MAX = 1 << 20, LINE_SIZE = 4096 };

struct entry {
	uint64_t low, high;
	uint32_t name;
};

struct perf_map {
	char *path;
	struct strtab *names;
	struct entry *entries;
	size_t n, cap;
	off_t read; /* so far, whole lines */
};

bool perf_map_is(const char *path)
{
	int end = 0;

	return sscanf(path, "/tmp/perf-%*d.map%n", &end) == 0 && end > 0 && !path[end];
}

struct perf_map *perf_map_new(const char *path)
{
	struct perf_map *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->path = strdup(path);
	m->names = strtab_new();
	return m->path && m->names ? m : perf_map_free(m);
}

struct perf_map *perf_map_free(struct perf_map *m)
{
	if (!m)
		return NULL;
	strtab_free(m->names);
	free(m->entries);
	free(m->path);
	free(m);
	return NULL;
}

/* Nobody but the user, and root, says what the user's programs do: anybody may write to /tmp. */
static FILE *map_open(const struct perf_map *m)
{
	struct stat st;
	int fd = regular_open(m->path, O_RDONLY | O_NOFOLLOW, &st);
	FILE *f = NULL;

	if (fd < 0)
		return NULL;
	if ((st.st_uid == geteuid() || !st.st_uid) && st.st_size > m->read)
		f = fdopen(fd, "r");
	if (!f)
		close(fd);
	return f;
}

static int line_take(struct perf_map *m, const char *line)
{
	struct entry e;
	uint64_t size;
	int name = 0;

	if (sscanf(line, "%" SCNx64 " %" SCNx64 " %n", &e.low, &size, &name) < 2 || !name ||
	    !line[name] || m->n == ENTRIES_MAX)
		return 0;
	e.high = e.low + size;
	e.name = strtab_adds(m->names, line + name);
	if (e.name == STRTAB_NONE || ARRAY_ROOM(m->entries, m->cap, m->n + 1) < 0)
		return -1;
	m->entries[m->n++] = e;
	return 0;
}

/* What came since the last time. The rest of a line that is too long is no line. */
static void map_read(struct perf_map *m)
{
	char line[LINE_SIZE];
	FILE *f = map_open(m);
	size_t len;

	if (!f)
		return;
	if (fseeko(f, m->read, SEEK_SET) == 0)
		while (fgets(line, sizeof(line), f)) {
			len = strlen(line);
			if (!len || (line[len - 1] != '\n' && len < sizeof(line) - 1))
				break;
			m->read += (off_t)len;
			line[strcspn(line, "\n")] = '\0';
			if (line_take(m, line) < 0)
				break;
		}
	fclose(f);
}

static const char *find(const struct perf_map *m, uint64_t address)
{
	for (size_t i = m->n; i-- > 0;)
		if (address >= m->entries[i].low && address < m->entries[i].high)
			return strtab_str(m->names, m->entries[i].name);
	return NULL;
}

const char *perf_map_find(struct perf_map *m, uint64_t address)
{
	map_read(m);
	return find(m, address);
}
