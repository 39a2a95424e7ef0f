/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs.c - what the kernel says about RDMA devices in sysfs.
 *
 * Serves discovery where RDMA netlink is missing, completes what netlink found, and answers for
 * GIDs and P_Keys. The root is /sys, or SYSFS_PATH for a process that is not set-uid.
 */
#include "private.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char sysfs_path[IBV_SYSFS_PATH_MAX];

static void find_sysfs(void)
{
	const char *env = secure_getenv("SYSFS_PATH");
	size_t len = env ? strnlen(env, sizeof(sysfs_path) - 1) : 0;

	while (len && env[len - 1] == '/')
		len--;
	if (len)
		snprintf(sysfs_path, sizeof(sysfs_path), "%.*s", (int)len, env);
	else
		snprintf(sysfs_path, sizeof(sysfs_path), "/sys");
}

VERBS_EXPORT const char *ibv_get_sysfs_path(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_sysfs);
	return sysfs_path;
}

static int read_file(int dirfd, const char *path, char *buf, size_t size)
{
	int fd = openat(dirfd, path, O_RDONLY | O_CLOEXEC);
	ssize_t len;
	int err;

	if (fd < 0)
		return errno;
	len = read(fd, buf, size - 1);
	err = len < 0 ? errno : 0;
	close(fd);
	if (err)
		return err;
	if (len > 0 && buf[len - 1] == '\n')
		len--;
	buf[len] = '\0';
	return 0;
}

int verbs_sysfs_read(const char *dir, const char *file, char *buf, size_t size)
{
	char path[IBV_SYSFS_PATH_MAX * 2];

	if (snprintf(path, sizeof(path), "%s/%s", dir, file) >= (int)sizeof(path))
		return ENAMETOOLONG;
	return read_file(AT_FDCWD, path, buf, size);
}

/* The number of characters read, or -1: the public form of verbs_sysfs_read(). */
VERBS_EXPORT int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
	int err = size ? verbs_sysfs_read(dir, file, buf, size) : EINVAL;

	if (!err)
		return (int)strlen(buf);
	errno = err;
	return -1;
}

int verbs_sysfs_read_ibdev(struct ibv_device *device, char *buf, size_t size, const char *format,
			   ...)
{
	char file[128];
	va_list args;

	va_start(args, format);
	vsnprintf(file, sizeof(file), format, args);
	va_end(args);
	return verbs_sysfs_read(device->ibdev_path, file, buf, size);
}

/* "fe80:0000:...": eight groups of 16 bits, none left out. */
int verbs_sysfs_parse_gid(const char *text, union ibv_gid *gid)
{
	for (int i = 0; i < 8; i++) {
		unsigned int group;

		if (sscanf(text + i * 5, "%4x", &group) != 1)
			return EINVAL;
		if (i < 7 && strlen(text) < (size_t)(i + 1) * 5)
			return EINVAL;
		gid->raw[i * 2] = (uint8_t)(group >> 8);
		gid->raw[i * 2 + 1] = (uint8_t)group;
	}
	return 0;
}

/* pci:v000015B3d00001021sv...: both ids have eight hexadecimal digits. */
bool verbs_sysfs_parse_modalias(const char *modalias, struct verbs_pci_id *id)
{
	unsigned int vendor, device;

	if (sscanf(modalias, "pci:v%8xd%8x", &vendor, &device) != 2)
		return false;
	id->vendor = (uint16_t)vendor;
	id->device = (uint16_t)device;
	return true;
}

static bool parse_dev(const char *text, uint64_t *dev)
{
	unsigned int maj, min;

	if (sscanf(text, "%u:%u", &maj, &min) != 2)
		return false;
	*dev = makedev(maj, min);
	return true;
}

/* node_type reads "1: CA". */
static int read_node_type(const struct verbs_device_info *info)
{
	char text[32];
	int type;

	if (verbs_sysfs_read(info->ibdev_path, "node_type", text, sizeof(text)) ||
	    sscanf(text, "%d", &type) != 1)
		return IBV_NODE_UNKNOWN;
	return type >= IBV_NODE_CA && type <= IBV_NODE_UNSPECIFIED ? type : IBV_NODE_UNKNOWN;
}

/* A device that was unplugged and replaced under its old name has another directory: its mtime
 * tells. */
static void fill_identity(struct verbs_device_info *info)
{
	struct stat st;

	if (stat(info->ibdev_path, &st))
		return;
	info->identity[0] = (uint64_t)st.st_mtim.tv_sec;
	info->identity[1] = (uint64_t)st.st_mtim.tv_nsec;
}

/* Complete INFO, in which name and uverbs_name are set. Facts that are missing leave their field
 * empty. */
int verbs_sysfs_fill_info(struct verbs_device_info *info)
{
	const char *root = ibv_get_sysfs_path();
	char text[32];

	if (snprintf(info->ibdev_path, sizeof(info->ibdev_path), "%s/class/infiniband/%s", root,
		     info->name) >= (int)sizeof(info->ibdev_path) ||
	    snprintf(info->uverbs_path, sizeof(info->uverbs_path), "%s/class/infiniband_verbs/%s",
		     root, info->uverbs_name) >= (int)sizeof(info->uverbs_path))
		return ENAMETOOLONG;
	fill_identity(info);
	if (!info->uverbs_dev && !verbs_sysfs_read(info->uverbs_path, "dev", text, sizeof(text)))
		parse_dev(text, &info->uverbs_dev);
	if (!info->node_type)
		info->node_type = read_node_type(info);
	if (verbs_sysfs_read(info->uverbs_path, "device/modalias", info->modalias,
			     sizeof(info->modalias)) &&
	    verbs_sysfs_read(info->ibdev_path, "device/modalias", info->modalias,
			     sizeof(info->modalias)))
		info->modalias[0] = '\0';
	verbs_sysfs_parse_modalias(info->modalias, &info->pci);
	return 0;
}

/* One directory of class/infiniband_verbs. */
static int read_uverbs_dir(const char *class_dir, const char *entry, struct verbs_device_info *info)
{
	char dir[IBV_SYSFS_PATH_MAX], text[32];
	unsigned int abi;
	int err;

	*info = (struct verbs_device_info){ .index = -1 };
	if (snprintf(info->uverbs_name, sizeof(info->uverbs_name), "%s", entry) >=
		    (int)sizeof(info->uverbs_name) ||
	    snprintf(dir, sizeof(dir), "%s/%s", class_dir, entry) >= (int)sizeof(dir))
		return ENAMETOOLONG;
	err = verbs_sysfs_read(dir, "ibdev", info->name, sizeof(info->name));
	if (err)
		return err;
	err = verbs_sysfs_read(dir, "abi_version", text, sizeof(text));
	if (err)
		return err;
	if (sscanf(text, "%u", &abi) != 1)
		return EINVAL;
	info->abi_version = abi;
	return verbs_sysfs_fill_info(info);
}

static bool is_uverbs_name(const char *name)
{
	return !strncmp(name, "uverbs", 6) && isdigit((unsigned char)name[6]);
}

static int append_info(struct verbs_device_info **infos, unsigned int *count,
		       const struct verbs_device_info *info)
{
	struct verbs_device_info *more = reallocarray(*infos, *count + 1, sizeof(*more));

	if (!more)
		return ENOMEM;
	more[(*count)++] = *info;
	*infos = more;
	return 0;
}

static int scan_uverbs(DIR *dir, const char *class_dir, struct verbs_device_info **infos,
		       unsigned int *count)
{
	struct verbs_device_info info;
	struct dirent *entry;
	int err = 0;

	while (!err && (entry = readdir(dir))) {
		if (!is_uverbs_name(entry->d_name))
			continue;
		err = read_uverbs_dir(class_dir, entry->d_name, &info);
		if (err) {
			verbs_warn("%s/%s: skipped: %s", class_dir, entry->d_name, strerror(err));
			err = 0;
			continue;
		}
		err = append_info(infos, count, &info);
	}
	return err;
}

/* ENOSYS when there is no RDMA in this kernel. *infos is the caller's to free, also on failure. */
int verbs_sysfs_find_devices(struct verbs_device_info **infos, unsigned int *count)
{
	char class_dir[IBV_SYSFS_PATH_MAX];
	DIR *dir;
	int err;

	snprintf(class_dir, sizeof(class_dir), "%s/class/infiniband_verbs", ibv_get_sysfs_path());
	dir = opendir(class_dir);
	if (!dir) {
		verbs_info("%s: %s: this kernel has no uverbs (module ib_uverbs)", class_dir,
			   strerror(errno));
		return ENOSYS;
	}
	err = scan_uverbs(dir, class_dir, infos, count);
	closedir(dir);
	return err;
}
