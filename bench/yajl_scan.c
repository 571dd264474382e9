/* SPDX-License-Identifier: MIT */
/* The floor of reading JSON: yajl over a file, every token taken and thrown away.
 *
 *	bench/yajl_scan FILE */
#include "config.h" // IWYU pragma: keep
#include <stdio.h>
#include <stdlib.h>
#include <yajl/yajl_parse.h>

static int on_null(void *ctx)
{
	++*(unsigned long *)ctx;
	return 1;
}

static int on_boolean(void *ctx, int value)
{
	(void)value;
	return on_null(ctx);
}

static int on_text(void *ctx, const char *text, size_t len)
{
	(void)text;
	(void)len;
	return on_null(ctx);
}

static int on_string(void *ctx, const unsigned char *text, size_t len)
{
	(void)text;
	(void)len;
	return on_null(ctx);
}

int main(int argc, char **argv)
{
	static const yajl_callbacks callbacks = {
		.yajl_null = on_null,
		.yajl_boolean = on_boolean,
		.yajl_number = on_text,
		.yajl_string = on_string,
		.yajl_start_map = on_null,
		.yajl_map_key = on_string,
		.yajl_end_map = on_null,
		.yajl_start_array = on_null,
		.yajl_end_array = on_null,
	};
	static unsigned char data[65536];
	FILE *f = argc > 1 ? fopen(argv[1], "rbe") : NULL;
	unsigned long n_tokens = 0;
	yajl_handle parser = yajl_alloc(&callbacks, NULL, &n_tokens);
	size_t n;

	while (f && (n = fread(data, 1, sizeof(data), f)))
		if (yajl_parse(parser, data, n) != yajl_status_ok)
			break;
	if (!f || !feof(f) || yajl_complete_parse(parser) != yajl_status_ok) {
		fprintf(stderr, "yajl_scan: cannot be read\n");
		return 1;
	}
	printf("%lu tokens\n", n_tokens);
	yajl_free(parser);
	fclose(f);
	return 0;
}
