/* SPDX-License-Identifier: MIT */
/* proton doctor on planted machines: folders that stand for /, an environment, and what vendors'
 * libraries would answer. And the children that ask: they may crash, hang and leave. */
#include "config.h" // IWYU pragma: keep
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include "base/util.h"
#include "check_main.h"
#include "core/cupti_places.h"
#include "doctor/doctor.h"
#include "doctor/questions.h"

/* ---- a machine ---- */

static struct {
	char root[64];
	char *env[16];
	size_t n_env;
	struct canned {
		enum probe_end end;
		int detail;
		const char *text;
	} answers[N_DOCTOR_QUESTIONS];
	struct canned
		of_last[N_DOCTOR_QUESTIONS];  /* of the last device, where it answers otherwise */
	size_t n_devices[N_DOCTOR_QUESTIONS]; /* that were asked */
	struct doctor_host host;
	struct doctor *doctor;
	size_t n_found, n_found_at[N_DOCTOR_QUESTIONS]; /* checks done, also when each was asked */
} m;

static void answer(enum doctor_question q, const char *text)
{
	m.answers[q] = (struct canned){PROBE_ANSWERED, 0, text};
}

/* The processes of a planted machine are files: that question is asked for real. */
static void ask(const struct doctor_host *host, int question, struct probe *ret)
{
	const struct canned *a = &m.answers[question];

	m.n_found_at[question] = m.n_found;
	if (question == ASK_HOLDERS) {
		question_ask(host, question, ret);
		return;
	}
	*ret = (struct probe){.end = a->end, .detail = a->detail};
	buf_puts(&ret->text, a->text);
}

static void ask_devices(const struct doctor_host *host, int question, size_t n, struct probe ret[])
{
	for (size_t i = 0; i < n; i++)
		ask(host, question, &ret[i]);
	if (m.of_last[question].text) {
		probe_done(&ret[n - 1]);
		ret[n - 1] = (struct probe){.end = m.of_last[question].end,
					    .detail = m.of_last[question].detail};
		buf_puts(&ret[n - 1].text, m.of_last[question].text);
	}
	m.n_devices[question] = n;
}

static void plant(const char *path, const char *text)
{
	char full[PATH_MAX];
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", m.root, path);
	for (char *p = full + strlen(m.root) + 1; (p = strchr(p, '/')); *p++ = '/') {
		*p = '\0';
		ck_assert(mkdir(full, 0755) == 0 || errno == EEXIST);
	}
	f = fopen(full, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(fputs(text, f), 0);
	ck_assert_int_eq(fclose(f), 0);
}

static void set_env(const char *text)
{
	ck_assert_uint_lt(m.n_env, ARRAY_SIZE(m.env) - 1);
	m.env[m.n_env++] = strdup(text);
}

/* A machine on which all works; tests then break it. */
static void setup(void)
{
	static const struct doctor_terminal terminal = {.is_there = true,
							.type = "xterm-256color",
							.codeset = "UTF-8",
							.is_utf8 = true,
							.colors = 256,
							.cols = 120,
							.rows = 40,
							.cols_min = 20,
							.rows_min = 5};

	memset(&m, 0, sizeof(m));
	snprintf(m.root, sizeof(m.root), "/tmp/proton-doctor-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(m.root));
	m.host = (struct doctor_host){.root = m.root,
				      .env = m.env,
				      .library = "/opt/proton/libproton.so",
				      .config_dir = "/home/user/.config/proton",
				      .terminal = terminal,
				      .ask = ask,
				      .ask_devices = ask_devices};
	plant("/etc/os-release", "NAME=\"Ubuntu\"\nID=ubuntu\nID_LIKE=debian\n");
	plant("/etc/OpenCL/vendors/nvidia.icd", "libnvidia-opencl.so.1\n");
	plant("/sys/bus/pci/devices/0000:18:00.0/vendor", "0x10de\n");
	plant("/proc/driver/nvidia/version",
	      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
	      "(root@)  Wed Jan 14 10:00:00 UTC 2026\n"
	      "GCC version:  gcc version 13.3.0 (Ubuntu 13.3.0-6ubuntu2~24.04)\n");
	plant("/proc/driver/nvidia/params",
	      "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 0\nEnableMSI: 1\n");
	plant("/proc/self/status",
	      "Name:\tproton\nCapEff:\t0000000000000000\nSeccomp:\t0\nSeccomp_filters:\t0\n");
	plant("/dev/nvidiactl", "");
	plant("/dev/nvidia-uvm", "");
	plant("/dev/nvidia0", "");
	answer(ASK_DRIVER, "path /usr/lib/libcuda.so.1\nversion 13000\ninit 0\ndevices 1\n"
			   "device NVIDIA H200\n");
	answer(ASK_COLLECTOR, "path /opt/proton/libproton.so\nactive 1\n");
	answer(ASK_RUN, "connected 1\nholder 39 CUPTI for proton\n" /* as an H200 answers */
			"cupti 130001 /usr/local/cuda/lib64/libcupti.so.13\n");
	answer(ASK_CUPTI, "found 130001 /usr/local/cuda/lib64/libcupti.so.13\n"
			  "tried 0 130001 /usr/local/cuda/lib64/libcupti.so.13\n");
	answer(ASK_COUNTERS,
	       "library 130001\t/usr/local/cuda/lib64/libcupti.so.13\nknown GH100\nchip GH100\n"
	       "set 6 30 30 gmp\nset 1 13 16 live\n");
	answer(ASK_SAMPLES, "device NVIDIA H200\nworked 212000 3000 a sample each 10ms\n");
	answer(ASK_RANGES, "device NVIDIA H200\nworked 312000 5000 a range counted\n");
	answer(ASK_CODE, "device NVIDIA H200\nworked 251000 12000 a sample each 2^18 cycles\n");
	answer(ASK_NVML, "init 0\ndevice 0 0 0 NVIDIA H200\n");
	answer(ASK_AMDSMI, "error there is no libamd_smi.so\n");
	answer(ASK_OPENCL, "path /usr/lib/libOpenCL.so.1\nloader ocl-icd 2.3.2\nlayers 1\n"
			   "platforms 0\nplatform 1 NVIDIA CUDA\n");
	answer(ASK_FOLDERS, "session /run/user/1/proton/proton-1-2-abcdef\n"
			    "profile 99000000000 /home/user/my work\n"
			    "config /home/user/.config/proton\n");
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	(void)st, (void)flag, (void)ftw;
	return remove(path);
}

static void teardown(void)
{
	m.doctor = doctor_free(m.doctor);
	for (size_t i = 0; i < m.n_env; i++)
		free(m.env[i]);
	nftw(m.root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void uproot(const char *path)
{
	char full[PATH_MAX];

	snprintf(full, sizeof(full), "%s%s", m.root, path);
	ck_assert_int_eq(nftw(full, remove_entry, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static void count_found(void *ctx, const struct doctor_check *check,
			const struct doctor_finding *finding)
{
	ck_assert_ptr_eq(check, &doctor_checks[m.n_found++]);
	ck_assert_uint_gt(finding->seen.len, 0);
}

/* Whatever a machine has, each check says what it saw, and each that is missing why it matters. */
static void examine(void)
{
	m.doctor = doctor_free(m.doctor);
	m.n_found = 0;
	m.doctor = doctor_new(&m.host, count_found, NULL);
	ck_assert_ptr_nonnull(m.doctor);
	ck_assert_uint_eq(m.n_found, doctor_n_checks);
	for (size_t i = 0; i < doctor_n_checks; i++) {
		const struct doctor_finding *f = doctor_finding(m.doctor, i);

		ck_assert_msg(f->seen.len > 0, "%s saw nothing", doctor_checks[i].name);
		ck_assert_msg(f->state != DOCTOR_MISSING || f->why.len > 0, "%s says not why",
			      doctor_checks[i].name);
	}
}

static const char *text_of(const struct buf *b)
{
	return b->len ? b->data : "";
}

/* A check's state; texts that its finding holds, and the line that mends it. NULL: of no interest;
 * "": there must be none. */
static bool tells(const struct buf *text, const char *what)
{
	return memmem(text_of(text), text->len, what, strlen(what));
}

static void expect(const char *name, enum doctor_state state, const char *seen, const char *mend)
{
	const struct doctor_finding *f = doctor_find(m.doctor, name);
	_cleanup_(buf_done) struct buf all = {0};

	ck_assert_ptr_nonnull(f);
	buf_printf(&all, "%.*s | %.*s | %.*s", (int)f->seen.len, text_of(&f->seen), (int)f->why.len,
		   text_of(&f->why), (int)f->mend.len, text_of(&f->mend));
	ck_assert_msg(f->state == state, "%s: state %d, wanted %d: %s", name, f->state, state,
		      buf_str(&all));
	ck_assert_msg(!seen || strstr(buf_str(&all), seen), "%s: no '%s' in: %s", name, seen,
		      buf_str(&all));
	if (mend && !*mend)
		ck_assert_msg(f->mend.len == 0, "%s: %s", name, buf_str(&all));
	else if (mend)
		ck_assert_msg(f->mend.len == strlen(mend) &&
				      !memcmp(f->mend.data, mend, f->mend.len),
			      "%s: %s", name, buf_str(&all));
}

static void expect_feature(enum doctor_feature feature, enum doctor_state state)
{
	ck_assert_msg(doctor_feature(m.doctor, feature) == state, "%s: %d",
		      doctor_feature_name(feature), doctor_feature(m.doctor, feature));
}

/* ---- machines ---- */

START_TEST(test_fine)
{
	examine();
	for (size_t i = 0; i < doctor_n_checks; i++) {
		const struct doctor_finding *f = doctor_finding(m.doctor, i);

		ck_assert_msg(f->state == DOCTOR_OK, "%s: %s", doctor_checks[i].name,
			      text_of(&f->seen));
		ck_assert_uint_eq(f->why.len, 0);
		ck_assert_uint_eq(f->mend.len, 0);
	}
	for (int i = 0; i < N_DOCTOR_FEATURES; i++)
		expect_feature((enum doctor_feature)i, DOCTOR_OK);
	/* Who waits for an answer has seen what came before. */
	ck_assert_uint_gt(m.n_found_at[ASK_OPENCL], m.n_found_at[ASK_RUN]);
	ck_assert_uint_gt(m.n_found_at[ASK_FOLDERS], m.n_found_at[ASK_OPENCL]);
	expect("driver", DOCTOR_OK, "580.159.04", "");
	expect("libcuda", DOCTOR_OK, "CUDA 13.0, 1 device (NVIDIA H200)", "");
	expect("cupti", DOCTOR_OK, "CUPTI 13.0 (API 130001), /usr/local/cuda/lib64", "");
	expect("profile-folder", DOCTOR_OK, "/home/user/my work", "");
	expect("session-folder", DOCTOR_OK, "/run/user/1/proton", "");
}
END_TEST

static void no_driver(void)
{
	uproot("/proc/driver");
	uproot("/dev");
	answer(ASK_DRIVER, "error libcuda.so.1: cannot open shared object file\n");
	answer(ASK_NVML, "error libnvidia-ml.so.1: cannot open shared object file\n");
	answer(ASK_RUN, "");
}

START_TEST(test_no_gpu)
{
	no_driver();
	uproot("/sys");
	answer(ASK_CUPTI,
	       "found 130001 /cuda/libcupti.so.13\ntried 999 130001 /cuda/libcupti.so.13\n");
	examine();
	expect("driver", DOCTOR_MISSING, "no NVIDIA device on the PCI bus", "");
	/* One cause is told once. */
	expect("device-nodes", DOCTOR_NOTE, NULL, "");
	expect("libcuda", DOCTOR_NOTE, NULL, "");
	expect("cupti", DOCTOR_NOTE, "CUPTI 13.0 (API 130001), /cuda/libcupti.so.13; not tried",
	       "");
	expect("mig", DOCTOR_NOTE, NULL, "");
	expect_feature(DOCTOR_CUDA, DOCTOR_MISSING);
	expect_feature(DOCTOR_OPENCL, DOCTOR_OK);
	expect_feature(DOCTOR_NVTX, DOCTOR_OK);
}
END_TEST

START_TEST(test_no_driver)
{
	no_driver();
	examine();
	expect("driver", DOCTOR_MISSING, "an NVIDIA device is on the PCI bus",
	       "sudo ubuntu-drivers install && sudo reboot");
	plant("/etc/os-release", "PRETTY_NAME=\"Debian GNU/Linux 12\"\nID=debian\n");
	plant("/sys/module/nouveau/refcnt", "1\n");
	examine();
	expect("driver", DOCTOR_MISSING, "which nouveau drives",
	       "sudo apt install nvidia-driver && sudo reboot");
	plant("/.dockerenv", "");
	examine();
	expect("driver", DOCTOR_MISSING, "not in this container", "docker run --gpus all …");
	/* Windows' driver has no files here. */
	plant("/dev/dxg", "");
	examine();
	expect("driver", DOCTOR_OK, "/dev/dxg", "");
}
END_TEST

START_TEST(test_old_driver)
{
	plant("/proc/driver/nvidia/version",
	      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  440.33.01  Tue Nov 12 23:43:11 UTC "
	      "2019\n");
	examine();
	expect("driver", DOCTOR_MISSING, "440.33.01 | it is older than 450",
	       "sudo ubuntu-drivers install && sudo reboot");
	expect_feature(DOCTOR_CUDA, DOCTOR_MISSING);
	/* What is no version is no driver's version. */
	plant("/proc/driver/nvidia/version", "NVRM version: something else\n");
	examine();
	expect("driver", DOCTOR_NOTE, "does not tell its version", "");
}
END_TEST

START_TEST(test_nodes)
{
	uproot("/dev/nvidia-uvm");
	examine(); /* a driver that answers makes them where it needs them */
	expect("device-nodes", DOCTOR_NOTE, "/dev/nvidia-uvm missing", "");
	answer(ASK_DRIVER, "path /usr/lib/libcuda.so.1\nversion 13000\ninit 999\n");
	examine();
	expect("device-nodes", DOCTOR_MISSING, "/dev/nvidia-uvm missing",
	       "sudo nvidia-modprobe -u -c 0");
	expect("libcuda", DOCTOR_MISSING, "cuInit fails with 999", "sudo modprobe nvidia-uvm");
	expect_feature(DOCTOR_CUDA, DOCTOR_MISSING);
}
END_TEST

START_TEST(test_denied)
{
	char path[PATH_MAX];

	if (geteuid() == 0)
		return; /* nothing is denied to root */
	snprintf(path, sizeof(path), "%s/dev/nvidia0", m.root);
	ck_assert_int_eq(chmod(path, 0), 0);
	answer(ASK_DRIVER, "path /usr/lib/libcuda.so.1\nversion 13000\ninit 100\n");
	examine();
	expect("device-nodes", DOCTOR_MISSING, "/dev/nvidia0 may not be opened by this user",
	       "sudo chmod 0666 /dev/nvidia*");
}
END_TEST

/* Counters are for administrators: tracing goes on, and no more is said. */
START_TEST(test_admin_only)
{
	plant("/proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n");
	examine();
	expect("permissions", DOCTOR_NOTE, "RmProfilingAdminOnly 1, CAP_SYS_ADMIN no", "");
	expect("permissions", DOCTOR_NOTE, "proton traces, which needs no privilege", "");
	expect_feature(DOCTOR_CUDA, DOCTOR_OK);
	plant("/proc/self/status", "Name:\tproton\nCapEff:\t0000004000000000\nSeccomp:\t2\n");
	examine();
	expect("permissions", DOCTOR_OK, "CAP_PERFMON yes", "");
	expect("container", DOCTOR_OK, "system calls are filtered", "");
	/* Where the driver does refuse tracing, the answer of CUPTI says so. */
	answer(ASK_RUN, "connected 1\nholder 35 ?\ncupti 130001 /c/libcupti.so.13\n");
	answer(ASK_CUPTI, "tried 35 130001 /c/libcupti.so.13\n");
	examine();
	expect("cupti", DOCTOR_MISSING, "no permission (error 35)",
	       "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee "
	       "/etc/modprobe.d/nvidia-profiling.conf && sudo reboot");
}
END_TEST

START_TEST(test_mig)
{
	answer(ASK_NVML, "init 0\ndevice 1 0 0 NVIDIA H200\ndevice 0 0 0 NVIDIA H200\n");
	plant("/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", "DeviceFileMinor: 12\n");
	plant("/proc/driver/nvidia/capabilities/gpu0/mig/gi2/access", "DeviceFileMinor: 21\n");
	examine();
	expect("mig", DOCTOR_NOTE, "on for 1 of 2 GPUs, 2 instances", "");
	expect_feature(DOCTOR_CUDA, DOCTOR_OK);
	uproot("/proc/driver/nvidia/capabilities");
	answer(ASK_DRIVER, "path /usr/lib/libcuda.so.1\nversion 13000\ninit 100\n");
	examine();
	expect("mig", DOCTOR_MISSING, "0 instances", "sudo nvidia-smi mig -cgi 0 -C");
	/* Without NVML nothing is guessed. */
	answer(ASK_NVML, "error libnvidia-ml.so.1: cannot open shared object file\n");
	examine();
	expect("mig", DOCTOR_NOTE, "not known: libnvidia-ml.so.1", "");
	answer(ASK_NVML, "init 0\ndevice - - - NVIDIA GeForce\n");
	examine();
	expect("mig", DOCTOR_OK, "not told by this driver or device", "");
}
END_TEST

START_TEST(test_modes)
{
	answer(ASK_NVML, "init 0\ndevice 0 2 2 GRID A\n");
	examine();
	expect("vgpu", DOCTOR_NOTE, "enable_profiling=1", "");
	expect("compute-mode", DOCTOR_MISSING, "prohibited on 1 of 1",
	       "sudo nvidia-smi -c DEFAULT");
	answer(ASK_NVML, "init 18\n");
	examine();
	expect("compute-mode", DOCTOR_NOTE, "not of the driver's version", "");
	m.answers[ASK_NVML] =
		(struct canned){PROBE_HUNG, 5, "stage nvmlInit of libnvidia-ml.so.1\n"};
	examine();
	expect("mig", DOCTOR_NOTE, "nvmlInit of libnvidia-ml.so.1 did not end within 5 s", "");
	plant("/var/mps/control", "");
	set_env("CUDA_MPS_PIPE_DIRECTORY=/var/mps");
	examine();
	expect("mps", DOCTOR_NOTE, "a control daemon in /var/mps", "");
}
END_TEST

START_TEST(test_sensors)
{
	examine();
	expect("sensors", DOCTOR_OK, "NVML (libnvidia-ml.so.1), 1 device", "");
	answer(ASK_AMDSMI,
	       "path /opt/rocm/lib/libamd_smi.so\ninit 0\nversion 26 26.2.1\ndevices 8\n");
	examine();
	expect("sensors", DOCTOR_OK,
	       "NVML (libnvidia-ml.so.1), 1 device; AMD SMI (libamd_smi.so) 26.2.1, 8 devices", "");
	answer(ASK_AMDSMI, "init 0\nversion 27 27.0.0\ndevices 8\n");
	examine();
	expect("sensors", DOCTOR_NOTE, "neither clock nor power is read of it", "");
	m.answers[ASK_AMDSMI] =
		(struct canned){PROBE_HUNG, 5, "stage amdsmi_init of libamd_smi.so\n"};
	examine();
	expect("sensors", DOCTOR_NOTE, "amdsmi_init of libamd_smi.so did not end within 5 s", "");
	no_driver();
	answer(ASK_AMDSMI, "init 34\n");
	examine();
	expect("sensors", DOCTOR_NOTE, "AMD SMI (libamd_smi.so) does not start", "");
	answer(ASK_AMDSMI, "error there is no libamd_smi.so\n");
	examine();
	expect("sensors", DOCTOR_NOTE, "no libnvidia-ml.so.1, no libamd_smi.so", "");
	expect_feature(DOCTOR_OPENCL, DOCTOR_OK);
}
END_TEST

START_TEST(test_metric_sets)
{
	examine();
	expect("metric-sets", DOCTOR_OK, "GH100: gmp 6 passes, live 1 pass (13 of 16 metrics)", "");
	answer(ASK_COUNTERS, "stage loading libcupti.so.12\nbroken libcupti.so.12 is older\n");
	examine();
	expect("metric-sets", DOCTOR_NOTE, "libcupti.so.12 is older", "");
	answer(ASK_COUNTERS, "");
	examine();
	expect("metric-sets", DOCTOR_NOTE, "no libcupti of CUDA 12.6 or later", "");
	answer(ASK_COUNTERS, "library 130001\t/a.so\nknown GH100\nno-chip GR100\n");
	examine();
	expect("metric-sets", DOCTOR_NOTE, "GR100, which this CUPTI does not know", "");
	answer(ASK_COUNTERS, "library 130001\t/a.so\nfailed list of chips: error 999\n");
	examine();
	expect("metric-sets", DOCTOR_NOTE, "list of chips: error 999", "");
	m.answers[ASK_COUNTERS] =
		(struct canned){PROBE_DIED, SIGSEGV, "stage a.so, asked for its chips,\n"};
	examine();
	expect("metric-sets", DOCTOR_NOTE, "a.so, asked for its chips, crashed with SIGSEGV", "");
	expect_feature(DOCTOR_CUDA, DOCTOR_OK);
	no_driver();
	examine();
	expect("metric-sets", DOCTOR_NOTE,
	       "'proton metrics --chips' names chips, --chip CHIP lists", "");
}
END_TEST

/* Each of them is a note: what is not counted hurts nothing else. */
START_TEST(test_counters_tried)
{
	examine();
	expect("counter-users", DOCTOR_OK, "none of DCGM, ncu, nsys or another proton is seen", "");
	expect("counters", DOCTOR_OK, "permitted on NVIDIA H200: a sample each 10ms; begun in", "");
	expect("ranges", DOCTOR_OK, "a range counted; begun in 312ms, given back in 5.00ms", "");
	expect("pc-sampling", DOCTOR_OK, "permitted on NVIDIA H200: a sample each 2^18 cycles", "");
	ck_assert_uint_eq(doctor_find(m.doctor, "ranges")->why.len, 0);

	answer(ASK_SAMPLES, "device NVIDIA H200\nrefused 35 the driver keeps them\n");
	answer(ASK_RANGES, "device NVIDIA H200\nuntried it admits one process at a time\n");
	answer(ASK_CODE, "stage loading libcuda.so.1\nbroken libcupti.so.12 is older\n");
	examine();
	expect("counters", DOCTOR_NOTE, "NVIDIA H200: the driver keeps them", NULL);
	ck_assert(tells(&doctor_find(m.doctor, "counters")->mend,
			"NVreg_RestrictProfilingToAdminUsers=0"));
	expect("ranges", DOCTOR_NOTE, "not tried: it admits one process at a time", "");
	expect("pc-sampling", DOCTOR_NOTE, "libcupti.so.12 is older", "");

	answer(ASK_RANGES, "no-gpu cuInit fails with 3\n");
	m.answers[ASK_CODE] =
		(struct canned){PROBE_DIED, SIGSEGV, "stage a.so, asked to sample,\n"};
	examine();
	expect("ranges", DOCTOR_NOTE, "cuInit fails with 3", "");
	expect("pc-sampling", DOCTOR_NOTE, "a.so, asked to sample, crashed with SIGSEGV", "");
	ck_assert(tells(&doctor_find(m.doctor, "pc-sampling")->why,
			"--pc-sampling has nothing to show"));

	m.answers[ASK_RANGES] = (struct canned){PROBE_HUNG, 15, "stage making a context\n"};
	examine();
	expect("ranges", DOCTOR_NOTE, "making a context did not end within 15 s", "");
	expect("pc-sampling", DOCTOR_NOTE, "not tried: the driver hung above", "");
	expect_feature(DOCTOR_CUDA, DOCTOR_OK);
	no_driver();
	examine();
	expect("counters", DOCTOR_NOTE, "no GPU to count on", "");
}
END_TEST

static void expect_seen(const char *check, const char *text)
{
	struct buf seen = doctor_find(m.doctor, check)->seen; /* reading it may end its text */

	ck_assert_str_eq(buf_str(&seen), text);
}

/* One line for all devices where they are alike, else one for each. */
START_TEST(test_each_device_is_tried)
{
	answer(ASK_DRIVER, "path /usr/lib/libcuda.so.1\nversion 13000\ninit 0\ndevices 3\n"
			   "device NVIDIA H200\ndevice NVIDIA H200\ndevice NVIDIA H200\n");
	m.of_last[ASK_SAMPLES] = (struct canned){
		PROBE_ANSWERED, 0, "device NVIDIA H200\nworked 400000 1000 a sample each 10ms\n"};
	m.of_last[ASK_RANGES] = (struct canned){
		PROBE_ANSWERED, 0, "device NVIDIA H200\nrefused 26 another tool has them\n"};
	m.of_last[ASK_CODE] =
		(struct canned){PROBE_ANSWERED, 0,
				"device NVIDIA L4\nworked 1000 1000 a sample each 2^18 cycles\n"};
	examine();
	ck_assert_uint_eq(m.n_devices[ASK_SAMPLES], 3);
	expect("counters", DOCTOR_OK, NULL, NULL);
	expect_seen("counters",
		    "permitted on all 3 GPUs (NVIDIA H200): a sample each 10ms; begun in "
		    "400ms, given back in 3.00ms");
	expect("ranges", DOCTOR_NOTE, NULL, NULL);
	expect_seen("ranges",
		    "permitted on GPU0 (NVIDIA H200): a range counted; begun in 312ms, given "
		    "back in 5.00ms\npermitted on GPU1 (NVIDIA H200): a range counted; begun "
		    "in 312ms, given back in 5.00ms\nGPU2 (NVIDIA H200): another tool has them");
	expect_seen("pc-sampling",
		    "permitted on all 3 GPUs: a sample each 2^18 cycles; begun in 251ms, "
		    "given back in 12.0ms");

	m.of_last[ASK_SAMPLES] = (struct canned){PROBE_HUNG, 17, "stage making a context\n"};
	examine();
	ck_assert(tells(&doctor_find(m.doctor, "counters")->seen,
			"\nGPU2: making a context did not end within 17 s"));
	expect("ranges", DOCTOR_NOTE, "not tried: the driver hung above", "");
	answer(ASK_DRIVER, "path /usr/lib/libcuda.so.1\nversion 13000\ninit 0\ndevices 100\n");
	m.of_last[ASK_SAMPLES].text = NULL;
	examine();
	expect("counters", DOCTOR_OK, "permitted on all 16 GPUs (NVIDIA H200)", "");
}
END_TEST

static void plant_process(const char *pid, const char *name, const char *parent)
{
	char path[64], text[64];

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	snprintf(text, sizeof(text), "%s\n", name);
	plant(path, text);
	snprintf(path, sizeof(path), "/proc/%s/status", pid);
	snprintf(text, sizeof(text), "Name:\t%s\nPPid:\t%s\n", name, parent);
	plant(path, text);
}

/* By names alone, so nothing is claimed: but who may have them is named where CUPTI says that somebody has. */
START_TEST(test_counter_users)
{
	static const char counting[] = "proton\0record\0--counters=1ms\0--\0a\0",
			  other[] = "proton\0record\0--\0a\0--metrics\0";
	char path[PATH_MAX];
	FILE *f;

	plant_process("201", "nv-hostengine", "1");
	plant_process("202", "proton", "1");
	plant_process("203", "proton", "202");
	plant_process("204", "proton", "1");
	for (int pid = 202; pid <= 203; pid++) {
		snprintf(path, sizeof(path), "%s/proc/%d/cmdline", m.root, pid);
		f = fopen(path, "we");
		ck_assert_ptr_nonnull(f);
		ck_assert_uint_eq(fwrite(counting, 1, sizeof(counting) - 1, f),
				  sizeof(counting) - 1);
		ck_assert_int_eq(fclose(f), 0);
	}
	snprintf(path, sizeof(path), "%s/proc/204/cmdline", m.root);
	f = fopen(path, "we");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(other, 1, sizeof(other) - 1, f), sizeof(other) - 1);
	ck_assert_int_eq(fclose(f), 0);
	answer(ASK_CODE, "device NVIDIA H200\nrefused 26 another tool has them\n");
	examine();
	expect("counter-users", DOCTOR_NOTE, "nv-hostengine (pid 201)", "");
	expect("counter-users", DOCTOR_NOTE, "proton (pid 202)", "");
	ck_assert(!tells(&doctor_find(m.doctor, "counter-users")->seen, "203"));
	ck_assert(!tells(&doctor_find(m.doctor, "counter-users")->seen, "204"));
	expect("pc-sampling", DOCTOR_NOTE, "another tool has them", "");
	ck_assert(tells(&doctor_find(m.doctor, "pc-sampling")->why, "nv-hostengine (pid 201)"));
	expect("counters", DOCTOR_OK, "permitted", "");
}
END_TEST

START_TEST(test_container)
{
	plant("/.dockerenv", "");
	set_env("NVIDIA_VISIBLE_DEVICES=all");
	set_env("NVIDIA_DRIVER_CAPABILITIES=graphics,utility");
	examine(); /* what works is not in the way */
	expect("container", DOCTOR_OK, "docker", "");
	answer(ASK_DRIVER, "error libcuda.so.1: cannot open shared object file\n");
	answer(ASK_RUN, "");
	examine();
	expect("container", DOCTOR_MISSING, "NVIDIA_DRIVER_CAPABILITIES=graphics,utility",
	       "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …");
	expect("libcuda", DOCTOR_MISSING, "cannot open shared object file",
	       "docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=compute,utility …");
	free(m.env[0]);
	m.env[0] = strdup("NVIDIA_VISIBLE_DEVICES=void");
	examine();
	expect("container", DOCTOR_MISSING, "NVIDIA_VISIBLE_DEVICES=void",
	       "docker run --gpus all …");
}
END_TEST

START_TEST(test_libcuda)
{
	static const struct {
		const char *text, *seen, *mend;
	} cases[] = {
		{"path /s/libcuda.so.1\ninit 34\n", "stub of the toolkit", "unset LD_LIBRARY_PATH"},
		{"path /s/libcuda.so.1\ninit 803\n", "different versions", "sudo reboot"},
		{"path /s/libcuda.so.1\ninit 802\n", "fabric manager",
		 "sudo systemctl enable --now nvidia-fabricmanager"},
		{"path /s/libcuda.so.1\ninit 4711\n", "cuInit fails with 4711, /s/libcuda.so.1",
		 ""},
		{"error libcuda.so.1: no such file\n", "no such file",
		 "sudo apt install libnvidia-compute-580   # Debian: libcuda1"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		answer(ASK_DRIVER, cases[i].text);
		examine();
		expect("libcuda", DOCTOR_MISSING, cases[i].seen, cases[i].mend);
		expect_feature(DOCTOR_CUDA, DOCTOR_MISSING);
	}
	m.answers[ASK_DRIVER] =
		(struct canned){PROBE_DIED, SIGSEGV, "stage loading libcuda.so.1\n"};
	examine();
	expect("libcuda", DOCTOR_MISSING, "loading libcuda.so.1 crashed with SIGSEGV", "");
	expect("cupti", DOCTOR_UNKNOWN, "not asked", "");
	m.answers[ASK_DRIVER] = (struct canned){
		PROBE_HUNG, 5, "path /l/libcuda.so.1\nstage cuInit of libcuda.so.1\n"};
	examine();
	expect("libcuda", DOCTOR_MISSING, "cuInit of libcuda.so.1 did not end within 5 s",
	       "sudo nvidia-smi -pm 1");
	m.answers[ASK_DRIVER] = (struct canned){PROBE_FAILED, EAGAIN, ""};
	examine();
	expect("libcuda", DOCTOR_UNKNOWN, strerror(EAGAIN), "");
	expect_feature(DOCTOR_CUDA, DOCTOR_UNKNOWN);
}
END_TEST

START_TEST(test_cupti)
{
	static const char driver[] =
		"path /usr/lib/libcuda.so.1\nversion 12040\ninit 0\ndevices 1\n";

	/* Newer than the driver. */
	answer(ASK_DRIVER, driver);
	answer(ASK_RUN, "connected 1\nholder 15 ?\ncupti 130001 /c/libcupti.so.13\n");
	answer(ASK_CUPTI, "found 130001 /c/libcupti.so.13\ntried 15 130001 /c/libcupti.so.13\n");
	examine();
	expect("cupti", DOCTOR_MISSING,
	       "CUPTI 13.0 (API 130001), /c/libcupti.so.13, newer than the driver (CUDA 12.4)",
	       "pip install --target ~/cupti 'nvidia-cuda-cupti-cu12<12.5' && export "
	       "PROTON_CUPTI_PATH=~/cupti/nvidia/cuda_cupti/lib");
	/* Versions before 13 are counted otherwise. */
	answer(ASK_CUPTI, "tried 999 26 /c/libcupti.so.12\n");
	examine();
	expect("cupti", DOCTOR_MISSING, "CUPTI 12.8 (API 26), /c/libcupti.so.12, newer than", NULL);
	/* None. */
	answer(ASK_RUN, "connected 1\n");
	answer(ASK_CUPTI, "");
	examine();
	expect("cupti", DOCTOR_MISSING, "no libcupti in CUDA_HOME", NULL);
	set_env("PROTON_CUPTI_PATH=/gone");
	examine();
	expect("cupti", DOCTOR_MISSING, "PROTON_CUPTI_PATH (/gone)", "unset PROTON_CUPTI_PATH");
	/* An old one does not say who holds it: it is ours only where it is free without us. */
	answer(ASK_RUN, "connected 1\nholder 39 ?\ncupti 18 /c/libcupti.so.11.8\n");
	answer(ASK_CUPTI, "tried 0 18 /c/libcupti.so.11.8\n");
	examine();
	expect("cupti", DOCTOR_OK, "CUPTI 11.8 (API 18)", "");
	answer(ASK_CUPTI, "tried 39 18 /c/libcupti.so.11.8\n");
	examine();
	expect("cupti", DOCTOR_MISSING, "held by another profiler", NULL);
	answer(ASK_RUN, "connected 1\nholder 39 proton\ncupti 130001 /c/libcupti.so.13\n");
	examine();
	expect("cupti", DOCTOR_OK, "CUPTI 13.0", "");
	answer(ASK_RUN, "connected 1\nholder 39 CUPTI for torch\ncupti 130001 /c/libcupti.so.13\n");
	answer(ASK_CUPTI, "tried 0 130001 /c/libcupti.so.13\n");
	examine();
	expect("cupti", DOCTOR_MISSING, "works, but not in a run", NULL);
	m.answers[ASK_RUN] = (struct canned){PROBE_DIED, SIGABRT, "stage cuInit of libcuda.so.1\n"};
	examine();
	expect("cupti", DOCTOR_MISSING,
	       "with the collector, cuInit of libcuda.so.1 crashed with SIGABRT",
	       "proton record --no-cuda …");
}
END_TEST

START_TEST(test_no_tools)
{
	examine();
	expect("openmp-tool", DOCTOR_OK, "OMP_TOOL_LIBRARIES is free", "");
	set_env("OMP_TOOL=disabled");
	examine();
	expect("openmp-tool", DOCTOR_NOTE, "is free, OMP_TOOL=disabled", "unset OMP_TOOL");
}
END_TEST

START_TEST(test_environment)
{
	set_env("CUDA_INJECTION64_PATH=/opt/nsys/libToolsInjection64.so");
	set_env("NVTX_INJECTION64_PATH=/opt/proton/libproton.so");
	set_env("OMP_TOOL_LIBRARIES=/opt/score-p.so:/opt/ompd.so");
	set_env("LD_PRELOAD=/opt/nsys/libToolsInjectionProxy64.so");
	set_env("CUDA_VISIBLE_DEVICES=");
	set_env("PROTON_FAKE=kernel a 1 1");
	examine();
	expect("cuda-injection", DOCTOR_MISSING, "libToolsInjection64.so",
	       "unset CUDA_INJECTION64_PATH");
	expect("nvtx-injection", DOCTOR_OK, "names the collector", "");
	expect("openmp-tool", DOCTOR_MISSING, "names /opt/score-p.so:/opt/ompd.so",
	       "unset OMP_TOOL_LIBRARIES");
	expect("preload", DOCTOR_NOTE, "looks like another profiler", "unset LD_PRELOAD");
	expect("visible-devices", DOCTOR_MISSING, "CUDA_VISIBLE_DEVICES is ''",
	       "unset CUDA_VISIBLE_DEVICES");
	expect("variables", DOCTOR_NOTE, "records are invented", NULL);
	expect_feature(DOCTOR_CUDA, DOCTOR_MISSING);
	expect_feature(DOCTOR_NVTX, DOCTOR_OK);
	/* A path that a list cannot hold. */
	m.host.library = "/opt/my tools/libproton.so";
	examine();
	expect("preload", DOCTOR_NOTE, "cannot hold the path '/opt/my tools/libproton.so'", "");
}
END_TEST

START_TEST(test_holders)
{
	plant("/proc/101/maps", "7f00-7f01 r-xp 00000000 08:01 1  /usr/lib/libc.so.6\n");
	plant("/proc/101/comm", "bash\n");
	examine();
	expect("cupti-holders", DOCTOR_OK, "no process has it loaded", "");
	plant("/proc/102/maps",
	      "7f00-7f01 r-xp 00000000 08:01 1    /my venv/nvidia/cu13/lib/libcupti.so.13\n"
	      "7f02-7f03 r-xp 00000000 08:01 1    /opt/proton/libproton.so.0.0.0\n");
	plant("/proc/102/comm", "pt main thread\n");
	plant("/proc/103/maps", "7f00-7f01 r-xp 00000000 08:01 1    /cuda/libcupti.so.12\n");
	plant("/proc/103/comm", "dcgm\n");
	examine();
	expect("cupti-holders", DOCTOR_NOTE, "pt_main_thread (pid 102, by proton)", "");
	expect("cupti-holders", DOCTOR_NOTE, "dcgm (pid 103)", "");
	expect_feature(DOCTOR_CUDA, DOCTOR_OK);
}
END_TEST

START_TEST(test_opencl)
{
	answer(ASK_OPENCL,
	       "path /usr/lib/libOpenCL.so.1\nlayers 0\nplatforms 0\nplatform 1 NVIDIA\n");
	examine();
	expect("opencl-layers", DOCTOR_MISSING, "does not call layers",
	       "sudo apt install ocl-icd-libopencl1   # 2.3 or later");
	expect_feature(DOCTOR_OPENCL, DOCTOR_MISSING);
	answer(ASK_OPENCL, "error libOpenCL.so.1: cannot open shared object file\n");
	examine();
	expect("opencl-loader", DOCTOR_MISSING, "cannot open",
	       "sudo apt install ocl-icd-libopencl1   # 2.3 or later");
	expect("opencl-devices", DOCTOR_NOTE, "not asked", "");
	/* A loader and no drivers: NVIDIA's is named where it is not. */
	answer(ASK_OPENCL, "path /usr/lib/libOpenCL.so.1\nlayers 0\nplatforms 0\n");
	/* One that is named and does not come: another is no remedy. */
	examine();
	expect("opencl-devices", DOCTOR_MISSING, "nvidia.icd for libnvidia-opencl.so.1",
	       "sudo apt install nvidia-opencl-icd");
	uproot("/etc/OpenCL/vendors/nvidia.icd");
	plant("/etc/OpenCL/vendors/pocl.icd", "libpocl.so.2\n");
	examine();
	expect("opencl-devices", DOCTOR_MISSING,
	       "no driver; 1 named in /etc/OpenCL/vendors, pocl.icd for libpocl.so.2",
	       "sudo apt install --reinstall "
	       "\"$(dpkg -S /etc/OpenCL/vendors/pocl.icd | cut -d: -f1)\"");
	uproot("/etc/OpenCL/vendors/pocl.icd");
	examine();
	expect("opencl-layers", DOCTOR_UNKNOWN, "without an OpenCL driver", "");
	expect("opencl-devices", DOCTOR_MISSING, "no driver; 0 named in /etc/OpenCL/vendors",
	       "sudo mkdir -p /etc/OpenCL/vendors && echo libnvidia-opencl.so.1 | sudo tee "
	       "/etc/OpenCL/vendors/nvidia.icd");
	set_env("OPENCL_VENDOR_PATH=/none");
	examine();
	expect("opencl-devices", DOCTOR_MISSING, "OPENCL_VENDOR_PATH=/none",
	       "unset OPENCL_VENDOR_PATH");
	set_env("OCL_ICD_VENDORS=/none");
	examine();
	expect("opencl-devices", DOCTOR_MISSING, "OCL_ICD_VENDORS=/none", "unset OCL_ICD_VENDORS");
	m.answers[ASK_OPENCL] =
		(struct canned){PROBE_DIED, SIGSEGV, "stage loading the OpenCL drivers\n"};
	examine();
	expect("opencl-loader", DOCTOR_MISSING, "loading the OpenCL drivers crashed with SIGSEGV",
	       "");
	expect_feature(DOCTOR_CUDA, DOCTOR_OK);
}
END_TEST

START_TEST(test_collector)
{
	answer(ASK_COLLECTOR, "path /opt/proton/libproton.so\nactive 0\n");
	examine();
	expect("collector", DOCTOR_MISSING, "of different versions", "make install");
	for (int i = 0; i < N_DOCTOR_FEATURES; i++)
		expect_feature((enum doctor_feature)i, i == DOCTOR_SCREEN || i == DOCTOR_SAVING
							       ? DOCTOR_OK
							       : DOCTOR_MISSING);
	m.host.library = NULL;
	m.host.library_why = "libproton.so is not at /a, /b";
	examine();
	expect("collector", DOCTOR_MISSING, "is not at /a, /b",
	       "export PROTON_LIBRARY_PATH=/path/to/libproton.so");
	expect("cupti", DOCTOR_OK, "CUPTI 13.0", ""); /* that much is known without it */
}
END_TEST

START_TEST(test_folders)
{
	answer(ASK_FOLDERS,
	       "session-error No space left on device\nprofile-error /: Permission denied\n"
	       "config-error /root: Permission denied\n");
	examine();
	expect("session-folder", DOCTOR_MISSING, "No space left on device", NULL);
	expect("profile-folder", DOCTOR_MISSING, "/: Permission denied",
	       "proton record -o /tmp/run.hatchet …");
	expect("config-folder", DOCTOR_NOTE, "cannot be kept", "");
	expect_feature(DOCTOR_SAVING, DOCTOR_MISSING);
	m.answers[ASK_FOLDERS] = (struct canned){
		PROBE_HUNG, 5, "session /tmp/proton-1\nstage looking at the current folder\n"};
	examine();
	expect("session-folder", DOCTOR_OK, "/tmp", "");
	expect("profile-folder", DOCTOR_MISSING, "looking at the current folder did not end", NULL);
}
END_TEST

START_TEST(test_terminal)
{
	m.host.terminal.why_not = "the terminal's type (TERM) is not known";
	m.host.terminal.type = "amnesia";
	examine();
	expect("terminal", DOCTOR_MISSING, "TERM=amnesia", "export TERM=xterm-256color");
	expect_feature(DOCTOR_SCREEN, DOCTOR_MISSING);
	m.host.terminal.why_not = NULL;
	m.host.terminal.is_utf8 = false;
	m.host.terminal.codeset = "ANSI_X3.4-1968";
	m.host.terminal.colors = 0;
	m.host.terminal.cols = 60;
	examine();
	expect("characters", DOCTOR_NOTE, "ANSI_X3.4-1968", "export LC_ALL=C.UTF-8");
	expect("colors", DOCTOR_NOTE, "none", "");
	expect("size", DOCTOR_NOTE, "60 columns, 40 rows", "");
	expect_feature(DOCTOR_SCREEN, DOCTOR_OK);
	m.host.terminal.rows = 3;
	examine();
	expect("size", DOCTOR_MISSING, "needs 20 columns and 5 rows", "");
	m.host.terminal.is_there = false;
	examine();
	expect("terminal", DOCTOR_UNKNOWN, "there is none here", "");
	expect_feature(DOCTOR_SCREEN, DOCTOR_UNKNOWN);
}
END_TEST

/* ---- children ---- */

static void say(const void *ctx, int fd)
{
	probe_tell(fd, "key %s", (const char *)ctx);
	probe_tell(fd, "key second\nline");
	probe_tell(fd, "number 42");
}

static void crash(const void *ctx, int fd)
{
	say("before", fd);
	probe_tell(fd, "stage the last thing");
	signal(SIGSEGV, SIG_DFL);
	raise(SIGSEGV);
}

static void hang(const void *ctx, int fd)
{
	sigset_t none;

	sigfillset(&none);
	sigprocmask(SIG_BLOCK, &none, NULL); /* not even asked to go does it go */
	probe_tell(fd, "stage waiting");
	for (;;)
		pause();
}

static void leave(const void *ctx, int fd)
{
	_exit(3);
}

/* A library may leave a process behind, with all that we had open. */
static void leave_child(const void *ctx, int fd)
{
	if (fork() == 0)
		hang(ctx, fd);
	say("parent", fd);
}

/* More than a pipe holds, and more than is kept. */
static void flood(const void *ctx, int fd)
{
	for (int i = 0; i < 100000; i++)
		probe_tell(fd, "line %060d", i);
}

START_TEST(test_probe)
{
	_cleanup_(buf_done) struct buf scratch = {0}, text = {0};
	struct probe p;
	long number;

	probe_run(say, "first", 60000, &p);
	ck_assert_int_eq(p.end, PROBE_ANSWERED);
	ck_assert_str_eq(probe_value(&scratch, &p, "key", 0), "first");
	ck_assert_str_eq(probe_value(&scratch, &p, "key", 1), "second line");
	ck_assert_ptr_null(probe_value(&scratch, &p, "key", 2));
	ck_assert_ptr_null(probe_value(&scratch, &p, "ke", 0));
	ck_assert(probe_number(&p, "number", &number) && number == 42);
	ck_assert(!probe_number(&p, "key", &number));
	probe_done(&p);
	probe_run(crash, NULL, 60000, &p);
	ck_assert_int_eq(p.end, PROBE_DIED);
	ck_assert_int_eq(p.detail, SIGSEGV);
	ck_assert_str_eq(probe_value(&scratch, &p, "key", 0), "before");
	probe_say_end(&p, &text);
	ck_assert_str_eq(buf_str(&text), "the last thing crashed with SIGSEGV");
	probe_done(&p);
	probe_run(leave, NULL, 60000, &p);
	ck_assert_int_eq(p.end, PROBE_LEFT);
	ck_assert_int_eq(p.detail, 3);
	probe_done(&p);
	probe_run(hang, NULL, 50, &p);
	ck_assert_int_eq(p.end, PROBE_HUNG);
	probe_done(&p);
	probe_run(leave_child, NULL, 60000, &p);
	ck_assert_int_eq(p.end, PROBE_ANSWERED);
	ck_assert_str_eq(probe_value(&scratch, &p, "key", 0), "parent");
	probe_done(&p);
	probe_run(flood, NULL, 60000, &p);
	ck_assert_int_eq(p.end, PROBE_ANSWERED);
	ck_assert_int_eq(atoi(probe_value(&scratch, &p, "line", 5)), 5);
	probe_done(&p);
}
END_TEST

/* ---- places of libcupti ---- */

static bool count_place(void *ctx, const char *name, bool is_asked)
{
	struct buf *all = ctx;

	buf_printf(all, "%s%s\n", is_asked ? "!" : "", name);
	return strstr(name, "stop");
}

START_TEST(test_places)
{
	_cleanup_(buf_done) struct buf all = {0};

	ck_assert(!cupti_places_listed("/a/libcupti.so.12:/b", count_place, &all));
	ck_assert_ptr_nonnull(strstr(buf_str(&all), "!/a/libcupti.so.12\n/b/libcupti.so.13\n"));
	buf_clear(&all);
	ck_assert(cupti_places_listed("/stop.so:/b", count_place, &all));
	ck_assert_str_eq(buf_str(&all), "!/stop.so\n");
	buf_clear(&all);
	setenv("CUDA_HOME", "/home/cuda", 1);
	ck_assert(!cupti_places_installed(count_place, &all));
	ck_assert(!strncmp(buf_str(&all), "/home/cuda/lib64/libcupti.so.13\n", 32));
	ck_assert_ptr_nonnull(strstr(buf_str(&all), "\n/usr/local/cuda/lib64/libcupti.so.13\n"));
	ck_assert_ptr_nonnull(strstr(buf_str(&all), "\nlibcupti.so.13\n"));
	buf_clear(&all);
	ck_assert(!cupti_places_near("/venv/nvidia/cuda_runtime/lib", count_place, &all));
	ck_assert_ptr_nonnull(strstr(buf_str(&all), "/lib/../../cuda_cupti/lib/libcupti.so.12\n"));
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("doctor");
	TCase *machines = tcase_create("machines"), *parts = tcase_create("parts");

	tcase_add_checked_fixture(machines, setup, teardown);
	tcase_add_test(machines, test_fine);
	tcase_add_test(machines, test_no_gpu);
	tcase_add_test(machines, test_no_driver);
	tcase_add_test(machines, test_old_driver);
	tcase_add_test(machines, test_nodes);
	tcase_add_test(machines, test_denied);
	tcase_add_test(machines, test_admin_only);
	tcase_add_test(machines, test_mig);
	tcase_add_test(machines, test_modes);
	tcase_add_test(machines, test_sensors);
	tcase_add_test(machines, test_metric_sets);
	tcase_add_test(machines, test_counters_tried);
	tcase_add_test(machines, test_each_device_is_tried);
	tcase_add_test(machines, test_counter_users);
	tcase_add_test(machines, test_container);
	tcase_add_test(machines, test_libcuda);
	tcase_add_test(machines, test_cupti);
	tcase_add_test(machines, test_environment);
	tcase_add_test(machines, test_no_tools);
	tcase_add_test(machines, test_holders);
	tcase_add_test(machines, test_opencl);
	tcase_add_test(machines, test_collector);
	tcase_add_test(machines, test_folders);
	tcase_add_test(machines, test_terminal);
	suite_add_tcase(s, machines);
	tcase_add_test(parts, test_probe);
	tcase_add_test(parts, test_places);
	suite_add_tcase(s, parts);
	return s;
}

int main(void)
{
	return check_run(suite());
}
