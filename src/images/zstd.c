/* SPDX-License-Identifier: MIT */
#include "config.h" // IWYU pragma: keep
#include "images/zstd.h"
#include <dlfcn.h>
#include <errno.h>

typedef size_t decompress_fn(void *out, size_t size, const void *in, size_t n);

/* The library stays: it has no state, and is used again. Its errors are sizes that nothing has. */
static decompress_fn *find_decompress(void)
{
	void *library = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);

	return library ? (decompress_fn *)dlsym(library, "ZSTD_decompress") : NULL;
}

int zstd_unpack(const uint8_t *in, size_t n, uint8_t *out, size_t size)
{
	decompress_fn *decompress = find_decompress();

	if (!decompress)
		return -ENOTSUP;
	return decompress(out, size, in, n) == size ? 0 : -EBADMSG;
}
