/* SPDX-License-Identifier: MIT */
/* What generated code says of its launches: which files are such, lines of one as PyTorch writes them, and files that
 * are none. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/util.h"
#include "check_main.h"
#include "core/generated.h"
#include "naming/source_nodes.h"

#define NAME "cnxwxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.py"

static char folder[64], path[160];

static void setup(void)
{
	strcpy(folder, "/tmp/proton-nodes-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/nx", folder);
	ck_assert_int_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/nx/" NAME, folder);
}

static void teardown(void)
{
	char sub[96];

	unlink(path);
	rmdir(path);
	snprintf(sub, sizeof(sub), "%s/nx", folder);
	rmdir(sub);
	rmdir(folder);
}

static void write_file(const char *text, size_t len)
{
	FILE *f = fopen(path, "w");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(text, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

/* What a line of the file is called: its own name, or what it was made from. */
static void check_line(uint32_t line, const char *wanted)
{
	struct source_nodes *n = source_nodes_new();
	struct session *s = session_new();
	char name[256];
	uint32_t node;

	snprintf(name, sizeof(name), "%s:%u@call", path, line);
	node = session_node(s, SESSION_ROOT, FRAME_PYTHON, name);
	ck_assert_int_eq(source_nodes_name(n, s), 0);
	ck_assert_str_eq(session_node_name(s, node), wanted ? wanted : name);
	if (wanted) {
		ck_assert_str_eq(session_text(s, s->frames[s->nodes[node].frame].file), path);
		ck_assert_uint_eq(s->frames[s->nodes[node].frame].line, line);
	}
	source_nodes_free(n);
	session_free(s);
}

/* ---- which files ---- */

START_TEST(files_are_known)
{
	static const struct {
		const char *name;
		size_t len;
		uint32_t line;
	} cases[] = {
		{"/a/nx/" NAME ":172@Runner.call", 61, 172},
		{"/nx/" NAME ":1@call", 59, 1},
		{"/a/nx/" NAME ":0@call", 61, 0},
		{"/a/nx/" NAME, 0, 0},
		{"/a/nx/" NAME ":@call", 0, 0},
		{"/a/nx/" NAME ":12345678901@call", 0, 0},
		{"/a/xn/" NAME ":172@call", 0, 0},
		{"nx/" NAME ":172@call", 0, 0},
		{NAME ":172@call", 0, 0},
		{"/a/nx/x" NAME ":172@call", 0, 0},
		{"/a/nx/cnx.py:172@call", 0, 0},
		{"/a/nx/cnxWxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.py:1@f", 0, 0},
		{"/a/nx/cnxwxywdlitivdpzen5nj5z2n4miggflnzqcjcx7yervrrrbqczk.px:1@f", 0, 0},
		{"/home/me/train.py:12@step", 0, 0},
		{":1@", 0, 0},
		{"@", 0, 0},
		{"", 0, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		size_t len = 0;
		uint32_t line = 0;
		bool is = generated_parse(cases[i].name, &len, &line);

		ck_assert_msg(is == (cases[i].len > 0), "%s", cases[i].name);
		ck_assert_uint_eq(len, cases[i].len);
		ck_assert_uint_eq(line, cases[i].line);
	}
}
END_TEST

/* ---- what it says ---- */

/* As PyTorch 2.0 to 2.11 write it, put together. */
static const char text[] =
	"# kernel path: /tmp/torchinductor_me/2c/c2c.py\n"
	"# Topologically Sorted Source Nodes: [mv], Original ATen: [aten.mv]\n"
	"# Source node to ATen node mapping:\n"
	"#   mv => mul, sum_1\n"
	"triton_red_fused_mv_0 = async_compile.triton('triton_red_fused_mv_0', '''\n" /* 5 */
	"def triton_red_fused_mv_0(in_ptr0, XBLOCK : tl.constexpr):\n"
	"    tl.store(out_ptr0 + (x0), tmp4, None)\n"
	"''', device_str='cuda')\n"
	"class Runner:\n"
	"    def call(self, args):\n" /* 10 */
	"        arg0_1, = args\n"
	"        with torch.cuda._DeviceGuard(0):\n"
	"            torch.cuda.set_device(0)\n"
	"            buf0 = empty_strided_cuda((8192, ), (1, ), torch.float32)\n"
	"            # Topologically Sorted Source Nodes: [mv, add], Original ATen: [aten.mv, "
	"aten.add]\n" /* 15 */
	"            # [Provenance debug handles] triton_red_fused_mv_0:1\n"
	"            stream0 = get_raw_stream(0)\n"
	"            triton_red_fused_mv_0_xnumel = 4*s0\n"
	"            triton_red_fused_mv_0.run(arg0_1, buf0, 8192, stream=stream0)\n"
	"            buf1 = buf0; del buf0  # reuse\n" /* 20 */
	"            triton_of_nobody.run(buf1, stream=stream0)\n"
	"            # Source Nodes: [linear_1], Original ATen: [aten.addmm]\n"
	"            extern_kernels.addmm(arg0_1, buf1, out=buf2)\n"
	"            # Unsorted Source Nodes: [], Original ATen: [aten.sum]\n"
	"            triton_per_fused_sum_1.run(buf2, stream=stream0)\n" /* 25 */
	"            # Topologically Sorted Source Nodes: [relu], Original ATen: []\n"
	"            triton_poi_fused_2.run(buf2, stream=stream0)\n"
	"            # Topologically Sorted Source Nodes: [], Original ATen: []\n"
	"            mine_0.run(buf2, stream=stream0)\n"
	"            # Source Nodes: [sdpa], Original ATen: [aten._sdpa]\n" /* 30 */
	"            buf3 = torch.ops.aten._sdpa.default(buf2, buf2)\n"
	"            buf4 = buf3[0]\n"
	"            # Source Nodes: [index_put_], Original ATen: [aten.index_put]\n"
	"            aten.index_put_(buf4, [buf2], buf1, False)\n"
	"            # Source Nodes: [tail], Original ATen: [aten.tail]\n" /* 35 */
	"            launched_otherwise(buf4)\n"
	"        return (buf4, )\n"
	"\n"
	"    def partition_0(args):\n"
	"        triton_poi_fused_3.run(buf2, stream=stream0)\n" /* 40 */
	"        # Source Nodes: [broken, Original ATen: [aten.broken\n"
	"        triton_poi_fused_4.run(buf2, stream=stream0)\n"
	"        # Original ATen: [aten.old]\n"
	"        triton_poi_fused_5.run(buf2, stream=stream0)";

START_TEST(lines_are_named)
{
	static const struct {
		uint32_t line;
		const char *name;
	} cases[] = {
		{5, "[mv] aten.mv"}, /* nothing is launched there */
		{7, NULL},
		{14, NULL},
		{15, NULL},
		{19, "[mv, add] aten.mv, aten.add"},
		{20, NULL},
		{21, NULL}, /* the one before has had it */
		{23, "[linear_1] aten.addmm"},
		{25, "aten.sum"},
		{27, "[relu]"},
		{29, NULL},
		{31, "[sdpa] aten._sdpa"},
		{32, NULL},
		{34, "[index_put_] aten.index_put"},
		{36, "[tail] aten.tail"},
		{40, NULL},
		{42, NULL},
		{44, "aten.old"},
		{45, NULL},
		{0, NULL},
		{999999999, NULL},
	};

	write_file(text, sizeof(text) - 1);
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		check_line(cases[i].line, cases[i].name);
}
END_TEST

START_TEST(long_lists_end)
{
	char *longest = malloc(100000), *p = longest;
	struct source_nodes *n = source_nodes_new();
	struct session *s = session_new();
	const char *name;
	uint32_t node;

	p += sprintf(p, "# Source Nodes: [");
	for (unsigned i = 0; i < 5000; i++)
		p += sprintf(p, "%sadd_%u", i ? ", " : "", i);
	p += sprintf(p, "], Original ATen: [aten.add]\nk.run()\n");
	write_file(longest, (size_t)(p - longest));
	snprintf(longest, 1000, "%s:2@call", path);
	node = session_node(s, SESSION_ROOT, FRAME_PYTHON, longest);
	ck_assert_int_eq(source_nodes_name(n, s), 0);
	name = session_node_name(s, node);
	ck_assert_uint_lt(strlen(name), 600);
	ck_assert_ptr_nonnull(strstr(name, "[add_0, add_1, "));
	ck_assert_ptr_nonnull(strstr(name, ", ...] aten.add"));
	ck_assert_ptr_null(strstr(name, "add_, "));
	/* One word without an end. */
	memset(longest, 'x', 99999);
	memcpy(longest, "# Source Nodes: [", 17);
	memcpy(longest + 99980, "]\nk.run()", 9);
	write_file(longest, 99989);
	check_line(2, "[...]");
	source_nodes_free(n);
	session_free(s);
	free(longest);
}
END_TEST

START_TEST(frames_come_later)
{
	struct source_nodes *n = source_nodes_new();
	struct session *s = session_new();
	char name[256];
	uint32_t early, late, other;

	write_file(text, sizeof(text) - 1);
	snprintf(name, sizeof(name), "%s:19@call", path);
	early = session_node(s, SESSION_ROOT, FRAME_PYTHON, name);
	other = session_node(s, SESSION_ROOT, FRAME_SCOPE, name);
	ck_assert_int_eq(source_nodes_name(n, s), 0);
	ck_assert_str_eq(session_node_name(s, early), "[mv, add] aten.mv, aten.add");
	ck_assert_str_eq(session_node_name(s, other), name);
	/* What was read is known when the file is gone. */
	ck_assert_int_eq(unlink(path), 0);
	snprintf(name, sizeof(name), "%s:23@call", path);
	late = session_node(s, early, FRAME_PYTHON, name);
	ck_assert_int_eq(source_nodes_name(n, s), 0);
	ck_assert_str_eq(session_node_name(s, late), "[linear_1] aten.addmm");
	source_nodes_free(n);
	session_free(s);
}
END_TEST

/* ---- files that are none ---- */

static void be_damaged(unsigned i)
{
	FILE *f;

	switch (i) {
	case 0:
		break; /* not there */
	case 1:
		write_file("", 0);
		break;
	case 2:
		ck_assert_int_eq(mkfifo(path, 0600), 0);
		break;
	case 3:
		ck_assert_int_eq(mkdir(path, 0700), 0);
		break;
	case 4:
		ck_assert_int_eq(symlink("/dev/zero", path), 0);
		break;
	case 5:
		ck_assert_int_eq(symlink(path, path), 0);
		break;
	case 6: /* huge */
		f = fopen(path, "w");
		ck_assert_ptr_nonnull(f);
		ck_assert_uint_eq(fwrite(text, 1, sizeof(text), f), sizeof(text));
		ck_assert_int_eq(ftruncate(fileno(f), (off_t)1 << 40), 0);
		ck_assert_int_eq(fclose(f), 0);
		break;
	default:
		write_file("#\0#\n\xff\xfe Source Nodes: [\n\r# Source Nodes: [\0], Original", 52);
		break;
	}
}

START_TEST(other_files_say_nothing)
{
	be_damaged((unsigned)_i);
	check_line(2, NULL);
	check_line(19, NULL);
}
END_TEST

/* Cut anywhere, each line is called what it was called in the whole, or nothing. */
START_TEST(cut_files_are_read)
{
	for (size_t len = 0; len < sizeof(text); len += 7) {
		struct source_nodes *n = source_nodes_new();
		struct session *s = session_new();
		char name[256];

		write_file(text, len);
		for (unsigned line = 0; line < 50; line++) {
			snprintf(name, sizeof(name), "%s:%u@call", path, line);
			session_node(s, SESSION_ROOT, FRAME_PYTHON, name);
		}
		ck_assert_int_eq(source_nodes_name(n, s), 0);
		source_nodes_free(n);
		session_free(s);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("source_nodes");
	TCase *tc = tcase_create("source_nodes");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, files_are_known);
	tcase_add_test(tc, lines_are_named);
	tcase_add_test(tc, long_lists_end);
	tcase_add_test(tc, frames_come_later);
	tcase_add_loop_test(tc, other_files_say_nothing, 0, 8);
	tcase_add_test(tc, cut_files_are_read);
	suite_add_tcase(suite, tc);
	return check_run(suite);
}
