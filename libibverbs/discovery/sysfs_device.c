/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_device.c - finds RDMA devices in sysfs if RDMA netlink is missing, and completes the facts
 * that netlink found.
 */
#include "libibverbs/private.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/* Parses a modalias. In pci:v000015B3d00001021sv... each id has eight hexadecimal digits. */
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

/* Reads the node type. The file node_type has the form "1: CA". */
static int read_node_type(const struct verbs_device_info *info)
{
	char text[32];
	int type;

	if (verbs_sysfs_read(info->ibdev_path, "node_type", text, sizeof(text)) ||
	    sscanf(text, "%d", &type) != 1)
		return IBV_NODE_UNKNOWN;
	return type >= IBV_NODE_CA && type <= IBV_NODE_UNSPECIFIED ? type : IBV_NODE_UNKNOWN;
}

/* Sets the identity: the inode of the device's sysfs directory, which the kernel reuses only after
 * billions of others. Time stamps are unsuitable, because the kernel drops them when it reclaims
 * memory. */
static void fill_identity(struct verbs_device_info *info)
{
	struct stat64 st;

	if (!stat64(info->ibdev_path, &st))
		info->identity = st.st_ino;
}

/* Reads the modalias. Called only for new devices, because reading costs more than the rest of
 * a search. */
void verbs_sysfs_fill_pci(struct verbs_device_info *info)
{
	if (verbs_sysfs_read(info->uverbs_path, "device/modalias", info->modalias,
			     sizeof(info->modalias)) &&
	    verbs_sysfs_read(info->ibdev_path, "device/modalias", info->modalias,
			     sizeof(info->modalias)))
		info->modalias[0] = '\0';
	verbs_sysfs_parse_modalias(info->modalias, &info->pci);
}

/* Fills in INFO except modalias and pci. The caller has set name and uverbs_name. A missing fact
 * leaves its field empty, because a device without that fact may still work. */
int verbs_sysfs_fill_info(struct verbs_device_info *info)
{
	const char *root = ibv_get_sysfs_path();
	char text[32];

	if (!verbs_text_join(info->ibdev_path, sizeof(info->ibdev_path), root, "/class/infiniband/",
			     info->name) ||
	    !verbs_text_join(info->uverbs_path, sizeof(info->uverbs_path), root,
			     "/class/infiniband_verbs/", info->uverbs_name))
		return ENAMETOOLONG;
	fill_identity(info);
	if (!info->uverbs_dev && !verbs_sysfs_read(info->uverbs_path, "dev", text, sizeof(text)))
		parse_dev(text, &info->uverbs_dev);
	if (!info->node_type)
		info->node_type = read_node_type(info);
	return 0;
}

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

/* Returns whether ERR is a resource limit of this process. The next search may then find the
 * device. */
static bool is_own_trouble(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM;
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
		if (is_own_trouble(err))
			break;
		if (err) {
			verbs_warn("%s/%s: skipped: %s", class_dir, entry->d_name, strerror(err));
			err = 0;
			continue;
		}
		err = append_info(infos, count, &info);
	}
	return err;
}

/* Finds all devices in sysfs. Returns ENOSYS if the kernel has no RDMA support, which programs tell
 * from an empty list. The caller frees *infos, also on failure. */
int verbs_sysfs_find_devices(struct verbs_device_info **infos, unsigned int *count)
{
	char class_dir[IBV_SYSFS_PATH_MAX];
	DIR *dir;
	int err;

	snprintf(class_dir, sizeof(class_dir), "%s/class/infiniband_verbs", ibv_get_sysfs_path());
	dir = opendir(class_dir);
	if (!dir && is_own_trouble(errno))
		return errno;
	if (!dir) {
		verbs_info("%s: %s: this kernel has no uverbs (module ib_uverbs)", class_dir,
			   strerror(errno));
		return ENOSYS;
	}
	err = scan_uverbs(dir, class_dir, infos, count);
	closedir(dir);
	return err;
}
