/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files.c - checks the device files, and whether this user may open them.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "findings.h"
#include "sysfs.h"

static void say_missing(enum severity severity, const char *path)
{
	found(severity, path, "is not there, though the kernel has the device");
	cure("in a container: start it with --device=%s; elsewhere: udevadm trigger", path);
}

static void say_forbidden(enum severity severity, const char *path, int err)
{
	found(severity, path, "may not be opened by this user: %s", strerror(err));
	if (err == EPERM)
		cure("the container's device rules forbid it: start it with --device=%s; or the "
		     "adapter is in another network namespace: rdma system, rdma dev",
		     path);
	else
		cure("chmod 0666 %s, as Linux makes it; a rule below /etc/udev/rules.d may have "
		     "changed that",
		     path);
}

static void check_file(enum severity severity, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd >= 0) {
		close(fd);
		found(FINE, path, "can be opened");
	} else if (errno == ENOENT) {
		say_missing(severity, path);
	} else if (errno == EACCES || errno == EPERM) {
		say_forbidden(severity, path, errno);
	} else {
		found(severity, path, "cannot be opened: %s", strerror(errno));
		cure("dmesg may say why; reload the adapter's driver");
	}
}

static void check_uverbs(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/dev/infiniband/%s", name);
	check_file(PROBLEM, path);
}

void check_files(void)
{
	sysfs_each("class/infiniband_verbs", check_uverbs);
	if (sysfs_has("class/misc/rdma_cm"))
		check_file(WARNING, "/dev/infiniband/rdma_cm");
}
