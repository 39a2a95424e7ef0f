/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * kernel.c - checks the kernel: its release, adapters on the PCI bus, and the modules that programs
 * need. It looks for what the modules create instead of their names, because a module may be built
 * in.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "checks.h"
#include "findings.h"
#include "sysfs.h"

#define MELLANOX      "0x15b3"
#define LOADED_BY     "the packages rdma-core and rdmakit-udev load it by themselves"
#define NETWORK_CLASS "0x02"

static bool has_adapter;

static void check_release(void)
{
	unsigned int major = 0, minor = 0;
	struct utsname name;

	if (uname(&name) || sscanf(name.release, "%u.%u", &major, &minor) != 2)
		return;
	if (major < 5 || (major == 5 && minor < 4)) {
		found(PROBLEM, "kernel", "Linux %s is older than 5.4", name.release);
		cure("boot a newer kernel");
	} else {
		found(FINE, "kernel", "Linux %s", name.release);
	}
}

/* Returns the driver family of a device: "mlx4" for ConnectX to ConnectX-3, otherwise "mlx5".
 * Device ids of later adapters start at Connect-IB's, 0x1011. */
static const char *family_of(const char *device)
{
	char text[SYSFS_TEXT];
	unsigned long id;

	sysfs_read(text, "bus/pci/devices/%s/device", device);
	id = strtoul(text, NULL, 16);
	return (id >= 0x1002 && id <= 0x1010) || (id >= 0x6340 && id <= 0x676e) ? "mlx4" : "mlx5";
}

static bool is_for_rdma(const char *driver)
{
	return !strncmp(driver, "mlx5_core", 9) || !strncmp(driver, "mlx4_core", 9);
}

static bool is_for_virtual_machines(const char *driver)
{
	return !strcmp(driver, "vfio-pci") || !strcmp(driver, "mlx5_vfio_pci");
}

static void check_pci_driver(const char *device, const char *driver)
{
	const char *family = family_of(device);

	if (!driver[0]) {
		found(PROBLEM, device, "no driver has taken this adapter");
		cure("modprobe %s_core; if that changes nothing, dmesg | grep %s says why", family,
		     family);
	} else if (is_for_virtual_machines(driver)) {
		found(HINT, device, "this adapter is for virtual machines (%s)", driver);
	} else if (is_for_rdma(driver) && !sysfs_has("bus/pci/devices/%s/infiniband", device)) {
		found(PROBLEM, device, "%s has no RDMA device for it", driver);
		cure("modprobe %.4s_ib", driver);
	}
}

/* Checks a PCI device. A device with another driver, for instance of switches or virtual machines,
 * is ignored. */
static void check_pci_device(const char *device)
{
	char vendor[SYSFS_TEXT], class[SYSFS_TEXT], driver[SYSFS_TEXT];

	sysfs_read(vendor, "bus/pci/devices/%s/vendor", device);
	sysfs_read(class, "bus/pci/devices/%s/class", device);
	if (strcmp(vendor, MELLANOX) || strncmp(class, NETWORK_CLASS, strlen(NETWORK_CLASS)))
		return;
	sysfs_link(driver, "bus/pci/devices/%s/driver", device);
	if (!driver[0] || is_for_rdma(driver))
		has_adapter = true;
	check_pci_driver(device, driver);
}

/* Notes softhca's devices, because a user may have forgotten that performance and faults are
 * simulated. */
static void note_rdma_device(const char *name)
{
	char description[SYSFS_TEXT];

	sysfs_read(description, "class/infiniband/%s/node_desc", name);
	if (!strcmp(description, "softhca"))
		found(FINE, name, "an adapter in software, softhca's");
	has_adapter = true;
}

static void check_modules(void)
{
	if (sysfs_has("class/infiniband_verbs")) {
		found(FINE, "modules", "ib_uverbs is there");
	} else {
		found(PROBLEM, "modules", "no program can reach an adapter: ib_uverbs is missing");
		cure("modprobe ib_uverbs; " LOADED_BY);
	}
	if (sysfs_has("class/misc/rdma_cm")) {
		found(FINE, "modules", "rdma_ucm is there");
	} else {
		found(WARNING, "modules",
		      "programs cannot connect by addresses (rdma_cm): rdma_ucm is missing");
		cure("modprobe rdma_ucm; " LOADED_BY);
	}
}

bool check_kernel(void)
{
	check_release();
	/* Under softhca, sysfs may only contain the adapter's part, so either folder is enough. */
	if (!sysfs_has("class") && !sysfs_has("class/infiniband")) {
		found(PROBLEM, "sysfs", "it is not there, and adapters are found by it");
		cure("mount -t sysfs sysfs /sys; a container's engine does that");
		return false;
	}
	sysfs_each("bus/pci/devices", check_pci_device);
	sysfs_each("class/infiniband", note_rdma_device);
	if (has_adapter) {
		check_modules();
	} else {
		found(PROBLEM, "adapter", "there is none");
		cure("without one in hardware: softhca run -- PROGRAM; in a container: start it "
		     "with the host's /dev/infiniband and network");
	}
	return has_adapter;
}
