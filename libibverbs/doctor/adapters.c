/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * adapters.c - checks the adapters: opens those that programs find and checks their ports; for
 * others, explains why programs do not find them.
 */
#include <errno.h>
#include <string.h>

#include "checks.h"
#include "distribution.h"
#include "findings.h"
#include "sysfs.h"

static struct ibv_device **list;

static bool is_listed(const char *name)
{
	for (struct ibv_device **device = list; device && *device; device++)
		if (!strcmp(ibv_get_device_name(*device), name))
			return true;
	return false;
}

static void say_no_provider(const char *name, const char *driver)
{
	if (driver[0])
		found(PROBLEM, name, "these libraries have no provider for its driver, %s", driver);
	else
		found(PROBLEM, name,
		      "these libraries have no provider for it: an adapter in "
		      "software, or of a bus other than PCI");
	cure("the distribution's packages may have one: %s", way_to_distribution());
}

/* Checks the RDMA part of a network adapter, which the network driver offers as a device of the
 * auxiliary bus: "ice.roce.0". If no driver is bound to the part, the adapter has no RDMA device
 * yet. Parts of ConnectX adapters are skipped; their PCI devices are checked. */
static void check_sleeping(const char *part)
{
	if (!strncmp(part, "mlx", 3) ||
	    (!strstr(part, ".rdma.") && !strstr(part, ".roce.") && !strstr(part, ".iwarp.")) ||
	    sysfs_has("bus/auxiliary/devices/%s/driver", part))
		return;
	found(HINT, part,
	      "its RDMA driver is not loaded, and these libraries have no provider for it");
	cure("nothing, if it is not for RDMA; else the distribution's packages may have one: %s",
	     way_to_distribution());
}

void check_sleeping_adapters(void)
{
	sysfs_each("bus/auxiliary/devices", check_sleeping);
}

/* Returns the provider for a kernel driver, or NULL. The driver of a subfunction has a longer
 * name. */
static const char *provider_for(const char *driver)
{
	if (!strncmp(driver, "mlx5_core", 9))
		return "mlx5";
	return strcmp(driver, "mlx4_core") ? NULL : "mlx4";
}

static void check_left_out(const char *name)
{
	char driver[SYSFS_TEXT];
	const char *provider;

	if (is_listed(name))
		return;
	sysfs_link(driver, "class/infiniband/%s/device/driver", name);
	provider = provider_for(driver);
	if (provider) {
		found(PROBLEM, name, "programs do not find it, though lib%s is for it", provider);
		cure("VERBS_LOG=info ibv_devices says why; it needs ib_uverbs, its device file and "
		     "/etc/libibverbs.d/%s.driver",
		     provider);
	} else {
		say_no_provider(name, driver);
	}
}

static void check_device(struct ibv_device *device)
{
	const char *name = ibv_get_device_name(device);
	struct ibv_context *ctx = ibv_open_device(device);
	struct ibv_device_attr attr;
	int ret;

	if (!ctx) {
		found(PROBLEM, name, "cannot be opened: %s", strerror(errno));
		cure("see the line about its device file; VERBS_LOG=warn ibv_devinfo tells more");
		return;
	}
	ret = ibv_query_device(ctx, &attr);
	if (ret) {
		found(PROBLEM, name, "does not answer: %s", strerror(ret));
		cure("dmesg may say why; reload its driver");
	} else {
		found(FINE, name, "firmware %s, %u port%s", attr.fw_ver, attr.phys_port_cnt,
		      attr.phys_port_cnt == 1 ? "" : "s");
		for (unsigned int port = 1; port <= attr.phys_port_cnt; port++)
			check_port(ctx, port);
	}
	ibv_close_device(ctx);
}

void check_adapters(void)
{
	list = ibv_get_device_list(NULL);
	for (struct ibv_device **device = list; device && *device; device++)
		check_device(*device);
	sysfs_each("class/infiniband", check_left_out);
	if (list)
		ibv_free_device_list(list);
}
