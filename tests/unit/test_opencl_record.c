/* SPDX-License-Identifier: MIT */
/* From the program to the file: what `proton record` writes about OpenCL programs of known content,
 * with the real collector. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check_main.h"
#include "json_tree.h"

#define PROFILE_MAX (1 << 20)

static char dir[] = "/tmp/proton-test-XXXXXX";

/* Run a command and keep its output; -1: it cannot be run. */
static int run(const char *command, char *out, size_t size)
{
	FILE *f = popen(command, "r");
	size_t n = f ? fread(out, 1, size - 1, f) : 0;

	out[n] = '\0';
	return f ? WEXITSTATUS(pclose(f)) : -1;
}

/* Record a program of the build directory; its output and its profile. */
static yajl_val record_with(const char *options, const char *program, char *out, size_t size)
{
	char command[1024], path[64];
	char *text = calloc(1, PROFILE_MAX);
	yajl_val profile;
	FILE *f;

	snprintf(path, sizeof(path), "%s/out.hatchet", dir);
	snprintf(command, sizeof(command), "%s/proton record -q %s -o %s %s/%s", BUILD_DIR, options,
		 path, BUILD_DIR, program);
	ck_assert_int_eq(run(command, out, size), 0);
	f = fopen(path, "re");
	ck_assert(f && text && fread(text, 1, PROFILE_MAX, f) < PROFILE_MAX);
	fclose(f);
	unlink(path);
	profile = json_parse(text);
	free(text);
	return profile;
}

static yajl_val record(const char *program, char *out, size_t size)
{
	return record_with("", program, out, size);
}

static const char *node_name(yajl_val node)
{
	return json_text(json_member(json_member(node, "frame"), "name"));
}

static double node_metric(yajl_val node, const char *metric)
{
	return json_number(json_member(json_member(node, "metrics"), metric));
}

/* The child of this name; "a/b/c" for a path. */
static yajl_val node_at(yajl_val node, const char *path)
{
	yajl_val children = json_member(node, "children");
	size_t len = strcspn(path, "/");

	for (size_t i = 0; i < json_size(children); i++) {
		yajl_val child = json_element(children, i);
		const char *name = node_name(child);

		if (strlen(name) != len || strncmp(name, path, len) != 0)
			continue;
		return path[len] ? node_at(child, path + len + 1) : child;
	}
	ck_abort_msg("no '%s' below '%s'", path, node_name(node));
	return NULL;
}

static const struct {
	const char *expected, *node, *metric;
} known[] = {
	{"kernel.scale", "scale", "count"},
	{"kernel.add", "add", "count"},
	{"copy.HostToDevice", "memcpy HtoD", "count"},
	{"copy.HostToDevice.bytes", "memcpy HtoD", "bytes"},
	{"copy.DeviceToHost", "memcpy DtoH", "count"},
	{"copy.DeviceToHost.bytes", "memcpy DtoH", "bytes"},
	{"copy.DeviceToDevice", "memcpy DtoD", "count"},
	{"copy.DeviceToDevice.bytes", "memcpy DtoD", "bytes"},
	{"set", "memset device", "count"},
	{"set.bytes", "memset device", "bytes"},
};

START_TEST(test_known)
{
	char out[4096], key[128];
	yajl_val profile = record("tests/programs/opencl_known", out, sizeof(out));
	yajl_val root = json_element(profile, 0);

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		yajl_val node = node_at(root, known[i].node);
		const char *found;

		snprintf(key, sizeof(key), "expect %s=", known[i].expected);
		found = strstr(out, key);
		ck_assert_msg(found != NULL, "%s", key);
		ck_assert_msg(node_metric(node, known[i].metric) == atof(found + strlen(key)),
			      "%s: %g", found, node_metric(node, known[i].metric));
	}
	ck_assert_double_gt(node_metric(node_at(root, "scale"), "time (ns)"), 0);
	yajl_tree_free(profile);
}
END_TEST

/* The program says how many work-items a group has, or leaves it to the driver. */
START_TEST(test_by_shape)
{
	char out[4096];
	yajl_val profile =
		record_with("--by-shape", "tests/programs/opencl_known", out, sizeof(out));
	yajl_val root = json_element(profile, 0);
	const char *scale = strstr(out, "expect kernel.scale="),
		   *add = strstr(out, "expect kernel.add=");

	ck_assert(scale && add);
	ck_assert_double_eq(node_metric(node_at(root, "scale<<<16,64>>>"), "count"),
			    atof(strchr(scale, '=') + 1));
	ck_assert_double_eq(node_metric(node_at(root, "add<<<1024,?>>>"), "count"),
			    atof(strchr(add, '=') + 1));
	yajl_tree_free(profile);
}
END_TEST

static bool has_child(yajl_val node, const char *name)
{
	yajl_val children = json_member(node, "children");

	for (size_t i = 0; i < json_size(children); i++)
		if (!strcmp(node_name(json_element(children, i)), name))
			return true;
	return false;
}

/* What the host waits for is there when it is wanted, and changes nothing else. */
START_TEST(test_sync)
{
	char out[4096];
	yajl_val without = record("tests/programs/opencl_known", out, sizeof(out));
	yajl_val with = record_with("--sync", "tests/programs/opencl_known", out, sizeof(out));
	yajl_val a = json_element(without, 0), b = json_element(with, 0);
	const char *const waits[] = {"clFinish", "clWaitForEvents"};

	for (size_t i = 0; i < 2; i++) {
		ck_assert(!has_child(a, waits[i]));
		ck_assert(node_metric(node_at(b, waits[i]), "cpu_count") == 1);
		ck_assert(node_metric(node_at(b, waits[i]), "cpu_time (ns)") > 0);
		ck_assert(!json_member(json_member(node_at(b, waits[i]), "metrics"), "count"));
	}
	ck_assert(node_metric(node_at(a, "scale"), "count") ==
		  node_metric(node_at(b, "scale"), "count"));
	yajl_tree_free(without);
	yajl_tree_free(with);
}
END_TEST

/* Two backends in one process, each with its own device; what one has is not the other's. */
START_TEST(test_beside_another)
{
	const char *options = getenv("TSAN_OPTIONS");
	char out[4096], leaks_too[4096];
	yajl_val profile;
	yajl_val root, devices;

	setenv("PROTON_FAKE", "kernel other 1000 7;copy HtoD pinned 64 500", 1);
	/* At the end backends are left as they are: nobody joins the thread of this one. */
	snprintf(leaks_too, sizeof(leaks_too), "%s:report_thread_leaks=0", options ? options : "");
	setenv("TSAN_OPTIONS", leaks_too, 1);
	profile = record("tests/programs/opencl_known", out, sizeof(out));
	unsetenv("PROTON_FAKE");
	unsetenv("TSAN_OPTIONS");
	root = json_element(profile, 0);
	devices = json_element(profile, 1);
	ck_assert(node_metric(node_at(root, "scale"), "count") == 100);
	ck_assert(node_metric(node_at(root, "other"), "count") == 7);
	ck_assert(node_metric(node_at(root, "memcpy HtoD"), "count") == 3);
	ck_assert(node_metric(node_at(root, "memcpy HtoD pinned"), "count") == 1);
	ck_assert(json_member(devices, "CUDA") != NULL);
	ck_assert(json_member(devices, "OpenCL") != NULL);
	yajl_tree_free(profile);
}
END_TEST

/* Scopes and metrics of the demo are where its source puts them. */
START_TEST(test_demo)
{
	char out[4096];
	yajl_val profile = record("examples/demo_opencl --steps 20 --size 32", out, sizeof(out));
	yajl_val root = json_element(profile, 0), step = node_at(root, "train_step"), node;
	double n = 32, product = 2 * n * n * n;

	node = node_at(step, "forward/layer1/matmul");
	ck_assert_double_eq(node_metric(node, "flops32"), 20 * product);
	ck_assert_double_eq(node_metric(node, "bytes"), 20 * 3 * 4 * n * n);
	ck_assert_double_eq(node_metric(node_at(node, "matmul"), "count"), 20);
	node = node_at(step, "backward/layer2");
	ck_assert_double_eq(node_metric(node_at(node, "matmul"), "flops32"), 40 * product);
	ck_assert_double_eq(node_metric(node_at(node, "transpose"), "count"), 40);
	node = node_at(step, "optimizer");
	ck_assert_double_eq(node_metric(node_at(node, "saxpy"), "count"), 40);
	ck_assert_double_eq(node_metric(node_at(node, "memset device"), "count"), 40);
	node = node_at(root, "evaluate/memcpy DtoH"); /* a read and a map, twice */
	ck_assert_double_eq(node_metric(node, "count"), 4);
	ck_assert_double_eq(node_metric(node, "bytes"), 2 * (16 * 4 + 4 * n * n));
	yajl_tree_free(profile);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("opencl_record");
	TCase *tc = tcase_create("opencl_record");
	SRunner *sr = srunner_create(s);
	char out[4096];
	int failed;

	if (access(getenv("HOME") ? getenv("HOME") : "/", W_OK) < 0)
		setenv("POCL_CACHE_DIR", "/tmp/proton-test-pocl", 0);
	if (run(BUILD_DIR "/tests/programs/opencl_known", out, sizeof(out)) == 77) {
		printf("skipped: no OpenCL platform (Debian: pocl-opencl-icd)\n");
		return 77;
	}
	if (!mkdtemp(dir))
		return EXIT_FAILURE;
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_sync);
	tcase_add_test(tc, test_beside_another);
	tcase_add_test(tc, test_known);
	tcase_add_test(tc, test_by_shape);
	tcase_add_test(tc, test_demo);
	suite_add_tcase(s, tc);
	failed = check_end(sr);
	rmdir(dir);
	return failed;
}
