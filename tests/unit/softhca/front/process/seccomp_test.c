/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seccomp_test.c - the filter of programs: runs its instructions on calls that concern an adapter
 * and on calls that do not, and the steps of its installation.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static int fake_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		      unsigned long d);
static long fake_syscall(long number, unsigned int operation, unsigned long flags, void *args);

/* The headers come first, so that only calls are replaced. */
#include <sys/prctl.h>
#include <unistd.h>
#define prctl   fake_prctl
#define syscall fake_syscall
#include "softhca/front/process/seccomp.c"
#undef prctl
#undef syscall

enum { FD = 700, LISTENER = 9 };

static struct {
	struct program program;
	int prctl_error, errors[2]; /* of the installation, first with all flags */
	unsigned int installs;
	unsigned long flags[2];
	unsigned short len;
	struct sock_filter insn[MAX_INSNS];
} it;

static int fake_prctl(int option, unsigned long a, unsigned long b, unsigned long c,
		      unsigned long d)
{
	assert_int_equal(option, PR_SET_NO_NEW_PRIVS);
	assert_int_equal(a, 1);
	assert_int_equal(b | c | d, 0);
	errno = it.prctl_error;
	return it.prctl_error ? -1 : 0;
}

static long fake_syscall(long number, unsigned int operation, unsigned long flags, void *args)
{
	const struct sock_fprog *fprog = args;
	const int error = it.errors[it.installs];

	assert_int_equal(number, __NR_seccomp);
	assert_int_equal(operation, SECCOMP_SET_MODE_FILTER);
	it.flags[it.installs++] = flags;
	it.len = fprog->len;
	memcpy(it.insn, fprog->filter, fprog->len * sizeof(it.insn[0]));
	errno = error;
	return error ? -1 : LISTENER;
}

static uint32_t word_of(const struct seccomp_data *data, uint32_t offset)
{
	uint32_t word;

	assert_int_equal(offset % 4, 0);
	assert_true(offset + 4 <= sizeof(*data));
	memcpy(&word, (const uint8_t *)data + offset, sizeof(word));
	return word;
}

/* Runs the filter as the kernel would. */
static uint32_t verdict(const struct seccomp_data *data)
{
	const struct sock_filter *insn = it.program.insn;
	uint32_t value = 0;

	for (unsigned int i = 0; i < it.program.len; i++) {
		switch (insn[i].code) {
		case BPF_LD | BPF_W | BPF_ABS:
			value = word_of(data, insn[i].k);
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			value &= insn[i].k;
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			i += value == insn[i].k ? insn[i].jt : insn[i].jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			i += value >= insn[i].k ? insn[i].jt : insn[i].jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			i += value & insn[i].k ? insn[i].jt : insn[i].jf;
			break;
		case BPF_RET | BPF_K:
			return insn[i].k;
		default:
			fail();
		}
	}
	fail();
	return 0;
}

static bool is_trapped(long nr, uint64_t a0, uint64_t a1, uint64_t a2, uint64_t a3)
{
	const struct seccomp_data data = { .nr = (int)nr,
					   .arch = NATIVE_ARCH,
					   .args = { a0, a1, a2, a3, FD, FD } };
	const uint32_t ret = verdict(&data);

	assert_true(ret == SECCOMP_RET_ALLOW || ret == SECCOMP_RET_USER_NOTIF);
	return ret == SECCOMP_RET_USER_NOTIF;
}

static int filter_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	build_filter(&it.program, true);
	return 0;
}

static void the_filter_is_valid(void **state)
{
	(void)state;
	assert_true(it.program.len <= MAX_INSNS);
	assert_int_equal(it.program.insn[it.program.len - 1].code, BPF_RET | BPF_K);
	for (unsigned int i = 0; i < it.program.len; i++)
		if (BPF_CLASS(it.program.insn[i].code) == BPF_JMP)
			assert_true(i + it.program.insn[i].jf + 1u < it.program.len);
}

static void calls_with_paths_are_trapped(void **state)
{
	static const long calls[] = {
		__NR_openat,    __NR_openat2,    __NR_faccessat, __NR_faccessat2, __NR_readlinkat,
		__NR_chdir,     __NR_getcwd,     __NR_statfs,    __NR_getxattr,   __NR_lgetxattr,
		__NR_listxattr, __NR_llistxattr, __NR_setuid,    __NR_setgid,     __NR_setreuid,
		__NR_setregid,  __NR_setresuid,  __NR_setresgid, __NR_setgroups
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		assert_true(is_trapped(calls[i], 0, 0, 0, 0));
}

static void other_calls_stay_in_the_kernel(void **state)
{
	static const long calls[] = { __NR_close, __NR_mmap,   __NR_futex,  __NR_readv,
				      __NR_clone, __NR_getpid, __NR_execve, __NR_recvmsg };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		assert_false(is_trapped(calls[i], FD, UVERBS_IOCTL, FD, FD));
}

static void other_architectures_stay_in_the_kernel(void **state)
{
	const struct seccomp_data data = { .nr = __NR_openat, .arch = AUDIT_ARCH_ARM };

	(void)state;
	assert_int_equal(verdict(&data), SECCOMP_RET_ALLOW);
}

static void check_band(long nr, uint64_t a2, uint64_t a3)
{
	assert_true(is_trapped(nr, FD_BAND_FIRST, 0, a2, a3));
	assert_true(is_trapped(nr, INT32_MAX, 0, a2, a3));
	assert_false(is_trapped(nr, FD_BAND_FIRST - 1, 0, a2, a3));
	assert_false(is_trapped(nr, 0, 0, a2, a3));
	assert_false(is_trapped(nr, UINT32_MAX, 0, a2, a3)); /* -1 */
	assert_false(is_trapped(nr, (uint32_t)AT_FDCWD, 0, a2, a3));
	assert_false(is_trapped(nr, 1ull << 31, 0, a2, a3));
}

static void descriptors_in_the_band_are_trapped(void **state)
{
	static const long calls[] = { __NR_fstat,   __NR_dup,     __NR_fcntl,
				      __NR_sendmsg, __NR_sendto,  __NR_write,
				      __NR_read,    __NR_pread64, __NR_pwrite64 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		check_band(calls[i], 0, 0);
}

static void vfio_has_calls_of_its_own(void **state)
{
	(void)state;
	build_filter(&it.program, false);
	assert_false(is_trapped(__NR_pread64, FD, 0, 0, 0));
	assert_false(is_trapped(__NR_pwrite64, FD, 0, 0, 0));
	assert_true(is_trapped(__NR_read, FD, 0, 0, 0));
	assert_true(is_trapped(__NR_ioctl, 0, VFIO_IOCTL_TYPE, 0, 0));
}

static void requests_to_devices_are_trapped(void **state)
{
	(void)state;
	assert_true(is_trapped(__NR_ioctl, 3, UVERBS_IOCTL, 0, 0));
	assert_true(is_trapped(__NR_ioctl, 3, RDMA_IOCTL_TYPE, 0, 0));
	assert_true(is_trapped(__NR_ioctl, 3, VFIO_IOCTL_TYPE | 0x64, 0, 0));
	assert_false(is_trapped(__NR_ioctl, 3, 0x5401, 0, 0)); /* TCGETS */
	assert_false(is_trapped(__NR_ioctl, UVERBS_IOCTL, 0, 0, 0));
	assert_false(is_trapped(__NR_ioctl, 3, 0x1b, 0, 0));
}

static void rdma_netlink_is_trapped(void **state)
{
	(void)state;
	assert_true(is_trapped(__NR_socket, AF_NETLINK, SOCK_RAW, NETLINK_RDMA, 0));
	assert_false(is_trapped(__NR_socket, AF_NETLINK, SOCK_RAW, NETLINK_ROUTE, 0));
	assert_false(is_trapped(__NR_socket, AF_INET, SOCK_RAW, NETLINK_RDMA, 0));
}

static void an_empty_path_is_a_descriptor(void **state)
{
	(void)state;
	check_band(__NR_newfstatat, 0, AT_EMPTY_PATH);
	check_band(__NR_statx, AT_EMPTY_PATH, 0);
	assert_true(is_trapped(__NR_newfstatat, 3, 0, AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW));
	assert_true(is_trapped(__NR_statx, 3, 0, AT_SYMLINK_NOFOLLOW, AT_EMPTY_PATH));
	assert_false(is_trapped(__NR_statx, 3, 0, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW, 0));
}

#ifdef __NR_open
static void older_calls_with_paths_are_trapped(void **state)
{
	static const long calls[] = { __NR_open, __NR_stat, __NR_lstat, __NR_access,
				      __NR_readlink };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++)
		assert_true(is_trapped(calls[i], 0, 0, 0, 0));
}
#endif

static void the_filter_is_installed(void **state)
{
	const unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int listener = -1;

	(void)state;
	assert_int_equal(seccomp_install(true, &listener), 0);
	assert_int_equal(listener, LISTENER);
	assert_int_equal(it.installs, 1);
	assert_int_equal(it.flags[0], flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV);
	assert_int_equal(it.len, it.program.len);
	assert_memory_equal(it.insn, it.program.insn, it.len * sizeof(it.insn[0]));
}

static void an_older_kernel_gets_fewer_flags(void **state)
{
	int listener = -1;

	(void)state;
	it.errors[0] = EINVAL;
	assert_int_equal(seccomp_install(false, &listener), 0);
	assert_int_equal(listener, LISTENER);
	assert_int_equal(it.installs, 2);
	assert_int_equal(it.flags[1], SECCOMP_FILTER_FLAG_NEW_LISTENER);
	assert_true(it.len < it.program.len);
}

static void refusals_are_told(void **state)
{
	int listener = -1;

	(void)state;
	it.prctl_error = EPERM;
	assert_int_equal(seccomp_install(true, &listener), EPERM);
	assert_int_equal(it.installs, 0);
	it.prctl_error = 0;
	it.errors[0] = EBUSY;
	assert_int_equal(seccomp_install(true, &listener), EBUSY);
	assert_int_equal(it.installs, 1);
	it.installs = 0;
	it.errors[0] = EINVAL;
	it.errors[1] = EACCES;
	assert_int_equal(seccomp_install(true, &listener), EACCES);
	assert_int_equal(listener, -1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, filter_begin)
	const struct CMUnitTest tests[] = {
		CASE(the_filter_is_valid),
		CASE(calls_with_paths_are_trapped),
		CASE(other_calls_stay_in_the_kernel),
		CASE(other_architectures_stay_in_the_kernel),
		CASE(descriptors_in_the_band_are_trapped),
		CASE(vfio_has_calls_of_its_own),
		CASE(requests_to_devices_are_trapped),
		CASE(rdma_netlink_is_trapped),
		CASE(an_empty_path_is_a_descriptor),
#ifdef __NR_open
		CASE(older_calls_with_paths_are_trapped),
#endif
		CASE(the_filter_is_installed),
		CASE(an_older_kernel_gets_fewer_flags),
		CASE(refusals_are_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
