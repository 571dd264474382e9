/* SPDX-License-Identifier: MIT */
/* Stands in for libFuzzer: runs each file, and each file of each folder, once. */
#include "config.h" // IWYU pragma: keep

#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static unsigned n_run;

static int run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	uint8_t *data = NULL;
	size_t len = 0, n;

	if (!f) {
		perror(path);
		return 1;
	}
	do {
		data = realloc(data, len + 65536);
		if (!data)
			abort();
		n = fread(data + len, 1, 65536, f);
		len += n;
	} while (n);
	fclose(f);
	LLVMFuzzerTestOneInput(data, len);
	free(data);
	n_run++;
	return 0;
}

static int run_path(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *e;
	char name[4096];
	int r = 0;

	if (!d)
		return run_file(path);
	while ((e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(name, sizeof(name), "%s/%s", path, e->d_name);
		r |= run_file(name);
	}
	closedir(d);
	return r;
}

int main(int argc, char **argv)
{
	int r = 0;

	for (int i = 1; i < argc; i++)
		r |= run_path(argv[i]);
	printf("%s: %u inputs\n", argv[0], n_run);
	return r || !n_run;
}
