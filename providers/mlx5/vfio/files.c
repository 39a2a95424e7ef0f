/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files.c - see files.h. Linux: <linux/vfio.h>
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "prm/mlx5/init_seg.h"
#include "providers/mlx5/vfio/files.h"
#include "util/bits.h"
#include "util/log.h"

unsigned int mlx5_vfio_files_id(const char *pci_name, const char *file)
{
	char path[128], text[16] = "";
	int fd;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.32s/%.32s", pci_name, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	if (read(fd, text, sizeof(text) - 1) < 0)
		text[0] = '\0';
	close(fd);
	return (unsigned int)strtoul(text, NULL, 16);
}

int mlx5_vfio_files_group(const char *pci_name)
{
	char path[128], target[256];
	const char *number;
	ssize_t length;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%.32s/iommu_group", pci_name);
	length = readlink(path, target, sizeof(target) - 1);
	if (length < 0)
		return -1;
	target[length] = '\0';
	number = strrchr(target, '/');
	return number ? atoi(number + 1) : -1;
}

/* Returns a hint for the log: what the user or the administrator can do about the errno ERR. */
static const char *hint_of(int err)
{
	switch (err) {
	case EACCES:
		return " (may this user open it?)";
	case EBUSY:
		return " (another program uses the device)";
	case ENOENT:
		return " (is the device bound to vfio-pci?)";
	case EPERM:
		return " (without interrupt remapping, vfio_iommu_type1 wants "
		       "allow_unsafe_interrupts)";
	default:
		return "";
	}
}

static int open_container(struct vfio_files *files)
{
	int ret;

	files->container = open("/dev/vfio/vfio", O_RDWR | O_CLOEXEC);
	if (files->container < 0) {
		ret = errno;
		verbs_warn("ibv_open_device: /dev/vfio/vfio: %s%s", strerror(ret), hint_of(ret));
		return ret;
	}
	if (ioctl(files->container, VFIO_GET_API_VERSION) == VFIO_API_VERSION &&
	    ioctl(files->container, VFIO_CHECK_EXTENSION, VFIO_TYPE1v2_IOMMU) == 1)
		return 0;
	verbs_warn("ibv_open_device: /dev/vfio/vfio: no IOMMU of type 1");
	return EOPNOTSUPP;
}

static int open_group(struct vfio_files *files, const char *pci_name)
{
	struct vfio_group_status status = { .argsz = sizeof(status) };
	char path[64];
	int ret;

	snprintf(path, sizeof(path), "/dev/vfio/%d", mlx5_vfio_files_group(pci_name));
	files->group = open(path, O_RDWR | O_CLOEXEC);
	if (files->group < 0) {
		ret = errno;
		verbs_warn("ibv_open_device: %s: %s: %s%s", pci_name, path, strerror(ret),
			   hint_of(ret));
		return ret;
	}
	if (ioctl(files->group, VFIO_GROUP_GET_STATUS, &status)) {
		ret = errno;
		verbs_warn("ibv_open_device: %s: %s: no status: %s", pci_name, path, strerror(ret));
		return ret;
	}
	if (!(status.flags & VFIO_GROUP_FLAGS_VIABLE)) {
		verbs_warn("ibv_open_device: %s: another device of %s is not bound to vfio-pci",
			   pci_name, path);
		return EBUSY;
	}
	if (ioctl(files->group, VFIO_GROUP_SET_CONTAINER, &files->container) ||
	    ioctl(files->container, VFIO_SET_IOMMU, VFIO_TYPE1v2_IOMMU)) {
		ret = errno;
		verbs_warn("ibv_open_device: %s: no IOMMU: %s%s", pci_name, strerror(ret),
			   hint_of(ret));
		return ret;
	}
	return 0;
}

static int region_find(const struct vfio_files *files, uint32_t index,
		       struct vfio_region_info *region)
{
	*region = (struct vfio_region_info){ .argsz = sizeof(*region), .index = index };
	return ioctl(files->device, VFIO_DEVICE_GET_REGION_INFO, region) ? errno : 0;
}

/* Bytes up to the last register that the library reads, the health counter. */
enum { LEAST_REGISTERS = FLD_DWORD(INIT_SEG_HEALTH_COUNTER) * 4 + 4 };

static int map_bar(struct vfio_files *files)
{
	struct vfio_region_info region;
	int ret = region_find(files, VFIO_PCI_BAR0_REGION_INDEX, &region);
	void *bar;

	if (ret)
		return ret;
	if (!(region.flags & VFIO_REGION_INFO_FLAG_MMAP) || region.size < LEAST_REGISTERS)
		return EOPNOTSUPP;
	bar = mmap(NULL, region.size, PROT_READ | PROT_WRITE, MAP_SHARED, files->device,
		   (off_t)region.offset);
	if (bar == MAP_FAILED)
		return errno;
	files->bar = bar;
	files->bar_size = region.size;
	return 0;
}

/* Sets the bits SET and clears the bits CLEAR of the PCI command register, all in its low byte. PCI
 * configuration space is little-endian, so the low byte is the first one. */
static int command_change(const struct vfio_files *files, uint8_t set, uint8_t clear)
{
	struct vfio_region_info config;
	int ret = region_find(files, VFIO_PCI_CONFIG_REGION_INDEX, &config);
	uint8_t command[2];

	if (ret)
		return ret;
	if (pread64(files->device, command, 2, (off64_t)config.offset + PCI_COMMAND) != 2)
		return EIO;
	command[0] = (uint8_t)((command[0] | set) & ~clear);
	return pwrite64(files->device, command, 2, (off64_t)config.offset + PCI_COMMAND) == 2 ? 0
											      : EIO;
}

/* Sets the bus master bit: without it, each access of the device to memory fails. */
static int master_bus(const struct vfio_files *files)
{
	return command_change(files, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 0);
}

static int open_device(struct vfio_files *files, const char *pci_name)
{
	struct vfio_device_info info = { .argsz = sizeof(info) };
	struct vfio_irq_info irq = { .argsz = sizeof(irq), .index = VFIO_PCI_MSIX_IRQ_INDEX };
	int ret;

	files->device = ioctl(files->group, VFIO_GROUP_GET_DEVICE_FD, pci_name);
	if (files->device < 0)
		return errno;
	if (ioctl(files->device, VFIO_DEVICE_GET_INFO, &info) ||
	    ioctl(files->device, VFIO_DEVICE_GET_IRQ_INFO, &irq))
		return errno;
	files->vectors = irq.count;
	/* Resets the device first, because a program that was killed may have left it in any
	 * state. */
	if (info.flags & VFIO_DEVICE_FLAGS_RESET && ioctl(files->device, VFIO_DEVICE_RESET))
		return errno;
	ret = map_bar(files);
	return ret ? ret : master_bus(files);
}

int mlx5_vfio_files_open(struct vfio_files *files, const char *pci_name)
{
	int ret;

	*files = (struct vfio_files){ -1, -1, -1, NULL, 0, 0 };
	ret = open_container(files);
	if (!ret)
		ret = open_group(files, pci_name);
	if (!ret) {
		ret = open_device(files, pci_name);
		if (ret)
			verbs_warn("ibv_open_device: %s: %s", pci_name, strerror(ret));
	}
	if (ret)
		mlx5_vfio_files_close(files);
	return ret;
}

/* Ends bus mastering first, so that a device that cannot be reset at least no longer accesses
 * memory. PCI_COMMAND_MEMORY stays set, because other threads and the program's doorbells use the
 * mapped registers: without it, Linux answers by SIGBUS (vfio_pci_mmap_fault()). */
int mlx5_vfio_files_reset(const struct vfio_files *files)
{
	int ret = command_change(files, PCI_COMMAND_MEMORY, PCI_COMMAND_MASTER);

	if (ret)
		verbs_warn("VFIO: bus mastering is not switched off: %s", strerror(ret));
	if (!ioctl(files->device, VFIO_DEVICE_RESET))
		return 0;
	ret = errno;
	verbs_warn("VFIO: no reset: %s", strerror(ret));
	return ret;
}

void mlx5_vfio_files_close(struct vfio_files *files)
{
	if (files->bar)
		munmap(files->bar, files->bar_size);
	if (files->device >= 0)
		close(files->device);
	if (files->group >= 0)
		close(files->group);
	if (files->container >= 0)
		close(files->container);
	*files = (struct vfio_files){ -1, -1, -1, NULL, 0, 0 };
}
