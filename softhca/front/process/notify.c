/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * notify.c - receives a trapped system call, and calls the handler for its number.
 *
 * Decision: docs/adr/0043.
 */
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include "softhca/front/process/program/credentials.h"
#include "softhca/front/process/program/cwd.h"
#include "softhca/front/process/discovery/netlink.h"
#include "softhca/front/process/notify.h"
#include "softhca/front/process/paths.h"
#include "softhca/front/process/seccomp.h"
#include "softhca/front/process/ucma/ucma.h"
#include "softhca/front/process/umad/umad.h"
#include "softhca/front/process/uverbs/events.h"
#include "softhca/front/process/uverbs/uverbs.h"
#include "softhca/front/process/vfio/vfio.h"
#include "softhca/front/process/watchdog.h"
#include "softhca/log.h"
#include "util/bits.h"

static void device_ioctl(struct call *call)
{
	if ((uint32_t)call_arg(call, 1) == UVERBS_IOCTL)
		uverbs_ioctl(call);
	if (!call->answered)
		umad_ioctl(call);
	if (!call->answered)
		vfio_ioctl(call);
}

static void device_write(struct call *call)
{
	ucma_write(call);
	if (!call->answered)
		umad_write(call);
}

static void device_read(struct call *call)
{
	umad_read(call);
	if (!call->answered)
		event_channel_read(call);
}

static const struct {
	int nr;
	void (*handle)(struct call *call);
} call_table[] = {
#ifdef __NR_open
	{ __NR_open, path_open },
	{ __NR_stat, path_stat },
	{ __NR_lstat, path_lstat },
	{ __NR_access, path_access },
	{ __NR_readlink, path_readlink },
#endif
	{ __NR_openat, path_openat },
	{ __NR_openat2, path_openat2 },
	{ __NR_newfstatat, path_newfstatat },
	{ __NR_statx, path_statx },
	{ __NR_faccessat, path_faccessat },
	{ __NR_faccessat2, path_faccessat },
	{ __NR_readlinkat, path_readlinkat },
	{ __NR_chdir, path_chdir },
	{ __NR_getcwd, cwd_get },
	{ __NR_statfs, path_statfs },
	{ __NR_getxattr, path_getxattr },
	{ __NR_lgetxattr, path_getxattr },
	{ __NR_listxattr, path_listxattr },
	{ __NR_llistxattr, path_listxattr },
	{ __NR_fstat, path_fstat },
	{ __NR_dup, uverbs_dup },
	{ __NR_fcntl, uverbs_fcntl },
	{ __NR_ioctl, device_ioctl },
	{ __NR_socket, netlink_socket },
	{ __NR_sendmsg, netlink_sendmsg },
	{ __NR_sendto, netlink_sendto },
	{ __NR_write, device_write },
	{ __NR_read, device_read },
	{ __NR_pread64, vfio_pread },
	{ __NR_pwrite64, vfio_pwrite },
	{ __NR_setuid, credentials_change },
	{ __NR_setgid, credentials_change },
	{ __NR_setreuid, credentials_change },
	{ __NR_setregid, credentials_change },
	{ __NR_setresuid, credentials_change },
	{ __NR_setresgid, credentials_change },
	{ __NR_setgroups, credentials_change },
};

static void dispatch_call(struct call *call)
{
	cwd_finish_moves(call->tid);
	for (unsigned int i = 0; i < ARRAY_SIZE(call_table); i++) {
		if (call_table[i].nr != call->notif->data.nr)
			continue;
		call_table[i].handle(call);
		break;
	}
	if (!call->answered)
		call_continue(call);
}

/* Receives the call that made LISTENER readable. It waits only if a client has received the call
 * itself: ETIMEDOUT. */
static int receive_call(int listener, struct seccomp_notif *notif)
{
	int ret;

	watchdog_enter();
	ret = ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, notif) ? errno : 0;
	return watchdog_leave() && ret == EINTR ? ETIMEDOUT : ret;
}

int notify_serve_one(struct daemon *daemon, int listener, struct mailbox *mailbox,
		     struct epitaph *epitaph, int holder)
{
	struct call call = {
		.daemon = daemon,
		.epitaph = epitaph,
		.holder = holder,
		.listener = listener,
		.notif = &mailbox->notif,
		.mailbox = mailbox,
	};
	int ret;

	/* Zero the structure, as the kernel requires; if we die from here on, the holder reads
	 * it. */
	memset(mailbox->room, 0, sizeof(mailbox->room));
	ret = receive_call(listener, &mailbox->notif);
	if (ret)
		return ret;
	call.tid = mailbox->notif.pid;
	dispatch_call(&call);
	mailbox->notif.id = 0;
	return 0;
}

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS /* defined since Linux 6.6 */
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS      SECCOMP_IOW(4, __u64)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP (1UL << 0)
#endif

void notify_tune(int listener)
{
	/* Caller and daemon take turns, so waking each other on the same CPU saves an interrupt.
	 * Older kernels refuse. */
	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_SET_FLAGS, SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP))
		log_note("the kernel has no synchronous wake-up of notifications");
}
