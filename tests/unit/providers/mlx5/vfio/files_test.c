/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * files_test.c - the reset of a device whose registers are mapped. A file in memory is its
 * configuration space.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/pci_regs.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "providers/mlx5/vfio/files.h"
#include "tests/unit/log_text.h"

enum { CONFIG = 0x1000, CONFIG_SIZE = 256 };

static struct {
	struct vfio_files files;
	unsigned int resets;
	uint8_t command_at_reset;
	int reset_err;
	uint64_t registers; /* bytes */
} rig;

static uint8_t command_byte(void)
{
	uint8_t byte;

	assert_int_equal(pread(rig.files.device, &byte, 1, CONFIG + PCI_COMMAND), 1);
	return byte;
}

int __wrap_open(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);

/* Each file of VFIO is the device, which answers as the container and the group, too. */
int __wrap_open(const char *path, int flags, ...)
{
	return rig.registers ? dup(rig.files.device) : openat(AT_FDCWD, path, flags, 0600);
}

int __wrap_open64(const char *path, int flags, ...)
{
	return __wrap_open(path, flags);
}

static int answer_open(unsigned long request, void *argument)
{
	struct vfio_region_info *region = argument;

	switch (request) {
	case VFIO_GET_API_VERSION:
		return VFIO_API_VERSION;
	case VFIO_CHECK_EXTENSION:
		return 1;
	case VFIO_GROUP_GET_STATUS:
		((struct vfio_group_status *)argument)->flags = VFIO_GROUP_FLAGS_VIABLE;
		return 0;
	case VFIO_GROUP_GET_DEVICE_FD:
		return dup(rig.files.device);
	case VFIO_DEVICE_GET_REGION_INFO:
		region->offset = region->index == VFIO_PCI_CONFIG_REGION_INDEX ? CONFIG : 0;
		region->size = rig.registers;
		region->flags = VFIO_REGION_INFO_FLAG_MMAP;
		return 0;
	default:
		return 0;
	}
}

int __wrap_ioctl(int fd, unsigned long request, struct vfio_region_info *region);
int __wrap___ioctl_time64(int fd, unsigned long request, struct vfio_region_info *region);

int __wrap_ioctl(int fd, unsigned long request, struct vfio_region_info *region)
{
	if (rig.registers)
		return answer_open(request, region);
	assert_int_equal(fd, rig.files.device);
	if (request == VFIO_DEVICE_RESET) {
		rig.resets++;
		rig.command_at_reset = command_byte();
		errno = rig.reset_err;
		return rig.reset_err ? -1 : 0;
	}
	assert_true(request == VFIO_DEVICE_GET_REGION_INFO);
	assert_int_equal(region->index, VFIO_PCI_CONFIG_REGION_INDEX);
	region->offset = CONFIG;
	region->size = CONFIG_SIZE;
	return 0;
}

int __wrap___ioctl_time64(int fd, unsigned long request, struct vfio_region_info *region)
{
	return __wrap_ioctl(fd, request, region);
}

static int device_up(void **state)
{
	(void)state;
	rig.files = (struct vfio_files){ -1, -1, -1, NULL, 0, 0 };
	rig.files.device = memfd_create("device", MFD_CLOEXEC);
	assert_true(rig.files.device >= 0);
	assert_int_equal(ftruncate(rig.files.device, CONFIG + CONFIG_SIZE), 0);
	rig.resets = 0;
	rig.reset_err = 0;
	rig.registers = 0;
	return 0;
}

static int device_down(void **state)
{
	(void)state;
	return close(rig.files.device);
}

static void reset_with(uint8_t command)
{
	assert_int_equal(pwrite(rig.files.device, &command, 1, CONFIG + PCI_COMMAND), 1);
	assert_int_equal(mlx5_vfio_files_reset(&rig.files), rig.reset_err);
	assert_int_equal(rig.resets, 1);
}

/* Linux unmaps the registers of a device without PCI_COMMAND_MEMORY, and answers an access by
 * SIGBUS; other threads and the program's doorbells still use them. */
static void registers_stay_mapped_over_a_reset(void **state)
{
	(void)state;
	reset_with(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	assert_int_equal(rig.command_at_reset, PCI_COMMAND_MEMORY);
	assert_int_equal(command_byte(), PCI_COMMAND_MEMORY);
}

static void other_bits_of_the_command_stay(void **state)
{
	(void)state;
	reset_with(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY);
	assert_int_equal(command_byte(), PCI_COMMAND_MEMORY | PCI_COMMAND_PARITY);
}

/* A program that was killed may have left the device without it. */
static void registers_are_mapped_after_a_reset(void **state)
{
	(void)state;
	reset_with(0);
	assert_int_equal(command_byte(), PCI_COMMAND_MEMORY);
}

/* The device no longer accesses memory then, but goes on otherwise. */
static void a_failed_reset_is_said(void **state)
{
	(void)state;
	rig.reset_err = ENOTTY;
	reset_with(PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
	check_logged("no reset");
	assert_int_equal(command_byte(), PCI_COMMAND_MEMORY);
}

/* The health counter is the last register, at 0x1010. A load beyond the file ends in SIGBUS. */
static void too_few_registers_are_refused(void **state)
{
	struct vfio_files files;

	(void)state;
	rig.registers = 0x1013;
	assert_int_equal(mlx5_vfio_files_open(&files, "0000:00:00.0"), EOPNOTSUPP);
	rig.registers = 0x1014;
	assert_int_equal(mlx5_vfio_files_open(&files, "0000:00:00.0"), 0);
	mlx5_vfio_files_close(&files);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(registers_stay_mapped_over_a_reset, device_up,
						device_down),
		cmocka_unit_test_setup_teardown(a_failed_reset_is_said, device_up, device_down),
		cmocka_unit_test_setup_teardown(too_few_registers_are_refused, device_up,
						device_down),
		cmocka_unit_test_setup_teardown(other_bits_of_the_command_stay, device_up,
						device_down),
		cmocka_unit_test_setup_teardown(registers_are_mapped_after_a_reset, device_up,
						device_down),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
