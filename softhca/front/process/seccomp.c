/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * seccomp.c - the seccomp filter of programs under softhca.
 *
 * A table says for each system call under which condition it may concern an adapter; the BPF
 * program is generated from it. System calls outside of the table stay in the kernel, which caches
 * that by number, so they cost nothing. Calls with paths all go to the daemon, because a filter
 * cannot read strings. Decision: docs/adr/0043.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "softhca/front/process/seccomp.h"
#include "util/bits.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5) /* defined since Linux 5.19 */
#endif

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "softhca's process front knows the system calls of x86-64 and aarch64 only"
#endif

enum trap_when {
	ALWAYS,
	IF_DEVICE_IOCTL,     /* argument 1 is a uverbs, umad or VFIO request */
	IF_FD_IN_BAND,       /* argument 0 is a descriptor in the band */
	IF_FD_OF_VFIO,       /* the same, but only in runs that have --vfio */
	IF_RDMA_NETLINK,     /* socket(AF_NETLINK, type, NETLINK_RDMA) */
	IF_PATH_OR_BAND_AT3, /* with AT_EMPTY_PATH in argument 3: IF_FD_IN_BAND; else always */
	IF_PATH_OR_BAND_AT2, /* the same with AT_EMPTY_PATH in argument 2 */
};

static const struct trap {
	int nr;
	enum trap_when when;
} trap_table[] = {
#ifdef __NR_open
	{ __NR_open, ALWAYS },
	{ __NR_stat, ALWAYS },
	{ __NR_lstat, ALWAYS },
	{ __NR_access, ALWAYS },
	{ __NR_readlink, ALWAYS },
#endif
	{ __NR_openat, ALWAYS },
	{ __NR_openat2, ALWAYS },
	{ __NR_newfstatat, IF_PATH_OR_BAND_AT3 },
	{ __NR_statx, IF_PATH_OR_BAND_AT2 },
	{ __NR_faccessat, ALWAYS },
	{ __NR_faccessat2, ALWAYS },
	{ __NR_readlinkat, ALWAYS },
	{ __NR_chdir, ALWAYS },
	{ __NR_getcwd, ALWAYS },
	{ __NR_statfs, ALWAYS },
	{ __NR_getxattr, ALWAYS },
	{ __NR_lgetxattr, ALWAYS },
	{ __NR_listxattr, ALWAYS },
	{ __NR_llistxattr, ALWAYS },
	{ __NR_fstat, IF_FD_IN_BAND },
	{ __NR_dup, IF_FD_IN_BAND },
	{ __NR_fcntl, IF_FD_IN_BAND },
	{ __NR_ioctl, IF_DEVICE_IOCTL },
	{ __NR_socket, IF_RDMA_NETLINK },
	{ __NR_sendmsg, IF_FD_IN_BAND },
	{ __NR_sendto, IF_FD_IN_BAND },
	{ __NR_write, IF_FD_IN_BAND },
	{ __NR_read, IF_FD_IN_BAND },
	{ __NR_pread64, IF_FD_OF_VFIO },
	{ __NR_pwrite64, IF_FD_OF_VFIO },
	{ __NR_setuid, ALWAYS },
	{ __NR_setgid, ALWAYS },
	{ __NR_setreuid, ALWAYS },
	{ __NR_setregid, ALWAYS },
	{ __NR_setresuid, ALWAYS },
	{ __NR_setresgid, ALWAYS },
	{ __NR_setgroups, ALWAYS },
};
#define NUM_TRAPS ARRAY_SIZE(trap_table)

enum { MAX_INSNS = 4 + NUM_TRAPS * 10 };

struct program {
	struct sock_filter insn[MAX_INSNS];
	unsigned short len;
};

static void instruction_emit(struct program *program, unsigned short code, uint32_t k, uint8_t jt,
			     uint8_t jf)
{
	program->insn[program->len++] = (struct sock_filter){ code, jt, jf, k };
}

static void load_word(struct program *program, size_t offset)
{
	instruction_emit(program, BPF_LD | BPF_W | BPF_ABS, offset, 0, 0);
}

/* Loads the low half of an argument. The arguments that are checked are ints, of which the kernel
 * ignores the upper half, too. */
static void load_arg(struct program *program, unsigned int arg)
{
	load_word(program, offsetof(struct seccomp_data, args) + arg * sizeof(uint64_t));
}

static void emit_return(struct program *program, uint32_t action)
{
	instruction_emit(program, BPF_RET | BPF_K, action, 0, 0);
}

/* Allows the call unless the loaded value is VALUE; otherwise the filter goes on. */
static void allow_unless_equal(struct program *program, uint32_t value)
{
	instruction_emit(program, BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0);
	emit_return(program, SECCOMP_RET_ALLOW);
}

/* Allows the call unless the loaded value is in the band. Numbers below 0 are no descriptors, so
 * they are allowed. */
static void allow_unless_fd_in_band(struct program *program)
{
	load_arg(program, 0);
	instruction_emit(program, BPF_JMP | BPF_JSET | BPF_K, INT32_MIN, 1, 0);
	instruction_emit(program, BPF_JMP | BPF_JGE | BPF_K, FD_BAND_FIRST, 1, 0);
	emit_return(program, SECCOMP_RET_ALLOW);
}

static void allow_empty_path_outside_band(struct program *program, unsigned int flags_arg)
{
	load_arg(program, flags_arg);
	instruction_emit(program, BPF_JMP | BPF_JSET | BPF_K, AT_EMPTY_PATH, 0, 4);
	allow_unless_fd_in_band(program); /* takes 4 instructions */
}

static void emit_condition(struct program *program, enum trap_when when)
{
	switch (when) {
	case ALWAYS:
		break;
	case IF_DEVICE_IOCTL:
		load_arg(program, 1);
		instruction_emit(program, BPF_ALU | BPF_AND | BPF_K, IOCTL_TYPE_MASK, 0, 0);
		instruction_emit(program, BPF_JMP | BPF_JEQ | BPF_K, VFIO_IOCTL_TYPE, 2, 0);
		allow_unless_equal(program, RDMA_IOCTL_TYPE); /* takes 2 instructions */
		break;
	case IF_FD_IN_BAND:
	case IF_FD_OF_VFIO:
		allow_unless_fd_in_band(program);
		break;
	case IF_RDMA_NETLINK:
		load_arg(program, 0);
		allow_unless_equal(program, AF_NETLINK);
		load_arg(program, 2);
		allow_unless_equal(program, NETLINK_RDMA);
		break;
	case IF_PATH_OR_BAND_AT3:
		allow_empty_path_outside_band(program, 3);
		break;
	case IF_PATH_OR_BAND_AT2:
		allow_empty_path_outside_band(program, 2);
		break;
	}
}

/* Emits one entry of the table. Loads the system call's number again, as conditions overwrite
 * it. */
static void emit_trap(struct program *program, const struct trap *trap)
{
	unsigned short jump;

	load_word(program, offsetof(struct seccomp_data, nr));
	jump = program->len;
	instruction_emit(program, BPF_JMP | BPF_JEQ | BPF_K, trap->nr, 0, 0);
	emit_condition(program, trap->when);
	emit_return(program, SECCOMP_RET_USER_NOTIF);
	program->insn[jump].jf = program->len - jump - 1;
}

static void build_filter(struct program *program, bool has_vfio)
{
	program->len = 0;
	load_word(program, offsetof(struct seccomp_data, arch));
	allow_unless_equal(program, NATIVE_ARCH);
	for (unsigned int i = 0; i < NUM_TRAPS; i++)
		if (has_vfio || trap_table[i].when != IF_FD_OF_VFIO)
			emit_trap(program, &trap_table[i]);
	emit_return(program, SECCOMP_RET_ALLOW);
}

int seccomp_install(bool has_vfio, int *listener)
{
	struct program program;
	struct sock_fprog fprog = { .filter = program.insn };
	unsigned long flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int fd;

	build_filter(&program, has_vfio);
	fprog.len = program.len;
	/* An ordinary user may install a filter only with no_new_privs (seccomp(2)), so set-user-ID
	 * programs run without their privilege. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		return errno;
	/* A signal must not interrupt a call that the daemon is already handling, as the program
	 * would make it again. */
	fd = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER,
		     flags | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &fprog);
	if (fd < 0 && errno == EINVAL)
		fd = syscall(__NR_seccomp, SECCOMP_SET_MODE_FILTER, flags, &fprog);
	if (fd < 0)
		return errno;
	*listener = fd;
	return 0;
}
