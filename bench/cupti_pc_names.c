/* SPDX-License-Identifier: MIT */
/* A libcupti that counts the names which PC sampling hands out: the real one, which this library needs, but for
 * cuptiPCSamplingGetData. Once a second and at the end a line to PC_NAMES_OUT (a file; else standard error):
 *   names t=SECONDS calls=N records=N pointers=DISTINCT names=DISTINCT bytes=OF_THOSE_POINTERS heap=IN_USE rss=BYTES
 * PC_NAMES_FREE=1: what one call handed out is freed before the next one. */
#include <dlfcn.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "backends/cupti_pc_abi.h"

enum { SET = 1 << 22, PORTION = 4096 };

struct set {
	uint64_t key[SET];
	size_t n;
};

static struct set pointers, names;
static char *portion[PORTION];
static size_t n_portion, n_calls, n_records, n_bytes;
static double told_at, began_at;

static bool is_new(struct set *s, uint64_t key)
{
	size_t at = key * 0x9e3779b97f4a7c15u >> 42;

	key += !key;
	for (; s->key[at]; at = (at + 1) % SET)
		if (s->key[at] == key)
			return false;
	if (s->n > SET / 2)
		return false;
	s->key[at] = key;
	s->n++;
	return true;
}

static uint64_t hash(const char *text)
{
	uint64_t h = 14695981039346656037u;

	while (*text)
		h = (h ^ (unsigned char)*text++) * 1099511628211u;
	return h;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void tell(void)
{
	const char *path = getenv("PC_NAMES_OUT");
	FILE *out = path ? fopen(path, "ae") : stderr, *statm = fopen("/proc/self/statm", "re");
	struct mallinfo2 heap = mallinfo2();
	long size = 0, rss = 0;

	if (statm && fscanf(statm, "%ld %ld", &size, &rss) != 2)
		rss = 0;
	if (statm)
		fclose(statm);
	if (!out)
		return;
	fprintf(out,
		"names t=%.1f calls=%zu records=%zu pointers=%zu names=%zu bytes=%zu heap=%zu rss=%ld\n",
		now() - began_at, n_calls, n_records, pointers.n, names.n, n_bytes,
		heap.uordblks + heap.hblkhd, rss * sysconf(_SC_PAGESIZE));
	if (path)
		fclose(out);
}

static void free_portion(void)
{
	for (size_t i = 0; i < n_portion; i++)
		free(portion[i]);
	n_portion = 0;
}

static bool is_in_portion(const char *name)
{
	for (size_t i = n_portion; i > 0; i--)
		if (portion[i - 1] == name)
			return true;
	return false;
}

static void count(char *name)
{
	if (is_new(&pointers, (uint64_t)(uintptr_t)name))
		n_bytes += strlen(name) + 1;
	is_new(&names, hash(name));
	if (getenv("PC_NAMES_FREE") && n_portion < PORTION && !is_in_portion(name))
		portion[n_portion++] = name;
}

uint32_t cuptiPCSamplingGetData(struct abi_pc_get *get);
uint32_t cuptiPCSamplingGetData(struct abi_pc_get *get)
{
	static uint32_t (*next)(struct abi_pc_get *);
	uint32_t result;

	if (!next) {
		next = (uint32_t(*)(struct abi_pc_get *))dlsym(RTLD_NEXT, "cuptiPCSamplingGetData");
		began_at = now();
		atexit(tell);
	}
	free_portion();
	result = next(get);
	n_calls++;
	for (size_t i = 0; i < get->data->n; i++) {
		n_records++;
		if (get->data->records[i].function)
			count(get->data->records[i].function);
	}
	if (now() - told_at >= 1) {
		told_at = now();
		tell();
	}
	return result;
}
