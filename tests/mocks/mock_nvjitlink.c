/* SPDX-License-Identifier: MIT */
/* libnvJitLink, which gives a cubin that was made before: MOCK_CUBIN. It is as strict about PTX as NVIDIA's, in its words. */
#include "config.h" // IWYU pragma: keep
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int nvJitLinkCreate(void **ret, uint32_t n, const char **options);
EXPORT int nvJitLinkAddData(void *h, int kind, const void *data, size_t n, const char *name);
EXPORT int nvJitLinkComplete(void *h);
EXPORT int nvJitLinkGetLinkedCubinSize(void *h, size_t *ret);
EXPORT int nvJitLinkGetLinkedCubin(void *h, void *ret);
EXPORT int nvJitLinkGetErrorLogSize(void *h, size_t *ret);
EXPORT int nvJitLinkGetErrorLog(void *h, char *ret);
EXPORT int nvJitLinkGetInfoLogSize(void *h, size_t *ret);
EXPORT int nvJitLinkGetInfoLog(void *h, char *ret);

enum { CUBIN_MAX = 1 << 20 };

struct link {
	char error[128];
	char cubin[CUBIN_MAX];
	size_t n;
};

int nvJitLinkCreate(void **ret, uint32_t n, const char **options)
{
	(void)n, (void)options;
	*ret = calloc(1, sizeof(struct link));
	return !*ret;
}

int nvJitLinkAddData(void *h, int kind, const void *data, size_t n, const char *name)
{
	struct link *l = h;

	(void)kind;
	if (n && !((const char *)data)[n - 1] && !memchr(data, '\0', n - 1))
		return 0;
	snprintf(l->error, sizeof(l->error),
		 "ERROR 1: bad input: does not match type NVJITLINK_INPUT_PTX%s\n", name);
	return 1;
}

int nvJitLinkComplete(void *h)
{
	const char *path = getenv("MOCK_CUBIN");
	FILE *f = path ? fopen(path, "rbe") : NULL;
	struct link *l = h;

	if (!f)
		return 1;
	l->n = fread(l->cubin, 1, sizeof(l->cubin), f);
	fclose(f);
	return 0;
}

int nvJitLinkGetLinkedCubinSize(void *h, size_t *ret)
{
	*ret = ((struct link *)h)->n;
	return 0;
}

int nvJitLinkGetLinkedCubin(void *h, void *ret)
{
	struct link *l = h;

	memcpy(ret, l->cubin, l->n);
	return 0;
}

int nvJitLinkGetErrorLogSize(void *h, size_t *ret)
{
	*ret = strlen(((struct link *)h)->error);
	return 0;
}

int nvJitLinkGetErrorLog(void *h, char *ret)
{
	strcpy(ret, ((struct link *)h)->error);
	return 0;
}

int nvJitLinkGetInfoLogSize(void *h, size_t *ret)
{
	(void)h;
	*ret = 0;
	return 0;
}

int nvJitLinkGetInfoLog(void *h, char *ret)
{
	(void)h, (void)ret;
	return 1;
}
