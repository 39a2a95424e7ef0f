/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_pci.c - the adapters as PCI devices in the tree, with their driver: for programs that
 * search the bus, or need an adapter's location.
 */
#include <dirent.h>
#include <endian.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "softhca/front/process/discovery/sysfs_pci.h"
#include "util/bits.h"

#define PCI_REGISTERS       0x3f00000000000ull
#define PCI_REGISTERS_SIZE  0x2000000ull
#define PCI_REGISTERS_FLAGS 0x14220cull

#define PCI_BUS             "sys/bus/pci/devices"
#define PCI_DRIVERS         "sys/bus/pci/drivers"
#define IOMMU_GROUPS        "sys/kernel/iommu_groups"
#define PCI_ADDRESS         ADAPTER_PCI_DOMAIN ":%02x:00.0"

static void pci_vendor(const struct sysfs_subject *of, char *text)
{
	(void)of;
	sysfs_put_text(text, "0x%04x\n", ADAPTER_VENDOR_ID);
}

static void pci_device(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "0x%04x\n", of->adapter->identity->part_id);
}

static void pci_subsystem(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "0x%04x\n", of->adapter->identity->subsystem_id);
}

static void pci_class(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "0x0%s00\n",
		       of->adapter->link_layer == HCA_LINK_ETHERNET ? "200" : "207");
}

static void pci_modalias(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "pci:v%08Xd%08Xsv%08Xsd%08Xbc02sc%si00\n", ADAPTER_VENDOR_ID,
		       of->adapter->identity->part_id, ADAPTER_VENDOR_ID,
		       of->adapter->identity->subsystem_id,
		       of->adapter->link_layer == HCA_LINK_ETHERNET ? "00" : "07");
}

static void pci_uevent(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text,
		       "DRIVER=%s\nPCI_ID=%04X:%04X\nPCI_SLOT_NAME=" ADAPTER_PCI_DOMAIN
		       ":%02x:00.0\n",
		       of->adapter->identity->core_driver, ADAPTER_VENDOR_ID,
		       of->adapter->identity->part_id, of->adapter->index + 1);
}

/* Writes the 13 lines of "resource": six for BARs, one for a ROM, six for a bridge. Only the first
 * BAR exists; it is prefetchable, has 64 bits, and cannot be mapped. */
static void pci_resource(const struct sysfs_subject *of, char *text)
{
	const uint64_t start = PCI_REGISTERS + of->adapter->index * PCI_REGISTERS_SIZE;
	char *at = text;

	for (int line = 0; line < 13; line++)
		at += sprintf(at, "0x%016llx 0x%016llx 0x%016llx\n", line ? 0 : start + 0ull,
			      line ? 0 : start + PCI_REGISTERS_SIZE - 1,
			      line ? 0 : PCI_REGISTERS_FLAGS);
}

/* Writes the list of all CPUs, as no CPU is nearer to the adapter than another. */
static void pci_local_cpulist(const struct sysfs_subject *of, char *text)
{
	(void)of;
	sysfs_put_text(text, "0-%ld\n", sysconf(_SC_NPROCESSORS_CONF) - 1);
}

static void pci_local_cpus(const struct sysfs_subject *of, char *text)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);

	(void)of;
	text += sprintf(text, "%x", cpus % 32 ? (1u << cpus % 32) - 1 : UINT32_MAX);
	for (long word = (cpus + 31) / 32 - 1; word > 0; word--)
		text += sprintf(text, ",%x", UINT32_MAX);
	strcpy(text, "\n");
}

static void pci_speed(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%s\n", of->adapter->identity->pci_speed);
}

static void pci_width(const struct sysfs_subject *of, char *text)
{
	sysfs_put_text(text, "%u\n", of->adapter->identity->pci_width);
}

static const struct sysfs_file pci_files[] = {
	{ "vendor", pci_vendor, NULL },
	{ "device", pci_device, NULL },
	{ "subsystem_vendor", pci_vendor, NULL },
	{ "subsystem_device", pci_subsystem, NULL },
	{ "class", pci_class, NULL },
	{ "modalias", pci_modalias, NULL },
	{ "uevent", pci_uevent, NULL },
	{ "revision", NULL, "0x00\n" },
	{ "numa_node", NULL, "-1\n" },
	{ "local_cpulist", pci_local_cpulist, NULL },
	{ "local_cpus", pci_local_cpus, NULL },
	{ "resource", pci_resource, NULL },
	{ "current_link_speed", pci_speed, NULL },
	{ "current_link_width", pci_width, NULL },
	{ "max_link_speed", pci_speed, NULL },
	{ "max_link_width", pci_width, NULL },
	{ "irq", NULL, "0\n" },
	{ "dma_mask_bits", NULL, "64\n" },
	{ "consistent_dma_mask_bits", NULL, "64\n" },
	{ "power_state", NULL, "D0\n" },
	{ "d3cold_allowed", NULL, "1\n" },
	{ "msi_bus", NULL, "1\n" },
	{ "ari_enabled", NULL, "0\n" },
	{ "broken_parity_status", NULL, "0\n" },
	{ "driver_override", NULL, "(null)\n" },
	{ "sriov_totalvfs", NULL, "0\n" },
	{ "sriov_numvfs", NULL, "0\n" },
	{ "enable", NULL, "1\n" },
	{ 0 },
};

static void put16(uint8_t *config, unsigned int offset, uint16_t value)
{
	memcpy(config + offset, &(uint16_t){ htole16(value) }, sizeof(value));
}

/* Makes the configuration space of a PCI Express endpoint, whose only capability has the link's
 * speed and width. */
static void make_config(struct writer *writer, const char *pci, const struct adapter *adapter)
{
	enum { EXPRESS = 0x60, ENDPOINT = 0x2, SIZE = 256 };
	const uint16_t link = adapter->identity->pci_width << 4 | adapter->identity->pci_speed_code;
	const bool ethernet = adapter->link_layer == HCA_LINK_ETHERNET;
	const uint64_t start = PCI_REGISTERS + adapter->index * PCI_REGISTERS_SIZE;
	uint8_t config[SIZE] = { 0 };
	char path[128];

	put16(config, 0x00, ADAPTER_VENDOR_ID);
	put16(config, 0x02, adapter->identity->part_id);
	/* Command register (PCI 3.0, 6.2.2): memory, bus mastering, no INTx */
	put16(config, 0x04, 0x0406);
	put16(config, 0x06, 0x0010); /* Status register (PCI 3.0, 6.2.3): has capabilities */
	put16(config, 0x0a, ethernet ? 0x0200 : 0x0207);
	put16(config, 0x10, (uint16_t)start | 0xc); /* PCI 3.0, 6.2.5.1: 64 bits, prefetchable */
	put16(config, 0x12, (uint16_t)(start >> 16));
	put16(config, 0x14, (uint16_t)(start >> 32));
	put16(config, 0x16, (uint16_t)(start >> 48));
	put16(config, 0x2c, ADAPTER_VENDOR_ID);
	put16(config, 0x2e, adapter->identity->subsystem_id);
	put16(config, 0x34, EXPRESS);
	put16(config, EXPRESS, 0x0010);
	put16(config, EXPRESS + 0x02, ENDPOINT);
	put16(config, EXPRESS + 0x0c, link);
	put16(config, EXPRESS + 0x12, link);
	snprintf(path, sizeof(path), "%s/config", pci);
	writer_make_bytes(writer, path, config, sizeof(config));
}

static void make_module(struct writer *writer, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "sys/module/%s", name);
	writer_make_dirs(writer, path);
	snprintf(path, sizeof(path), "sys/module/%s/initstate", name);
	writer_make_file(writer, path, "live\n");
	snprintf(path, sizeof(path), "sys/module/%s/refcnt", name);
	writer_make_file(writer, path, "1\n");
}

/* Links the host's PCI devices into the tree's bus directory. The links are absolute, so that they
 * lead to the host's directories. Relative links would lead into the tree. */
static void link_host_devices(struct writer *writer)
{
	DIR *dir = opendir("/" PCI_BUS);
	char path[NAME_MAX + 32], target[PATH_MAX];
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/" PCI_BUS "/%s", entry->d_name);
		if (entry->d_type == DT_LNK && realpath(path, target))
			writer_make_link(writer, path + 1, target);
	}
	if (dir)
		closedir(dir);
}

void sysfs_pci_start(struct writer *writer)
{
	writer_make_dirs(writer, PCI_BUS);
	link_host_devices(writer);
	make_module(writer, "ib_uverbs");
}

static void make_driver(struct writer *writer, const struct adapter *adapter)
{
	const char *driver = adapter->identity->core_driver;
	char path[128], target[128];

	snprintf(path, sizeof(path), PCI_DRIVERS "/%s", driver);
	if (!faccessat(writer->root, path, F_OK, 0))
		return; /* another adapter has the same driver, so its directory is there */
	writer_make_dirs(writer, path);
	make_module(writer, driver);
	make_module(writer, adapter->identity->ib_driver);
	snprintf(path, sizeof(path), "sys/module/%s/drivers", driver);
	writer_make_dirs(writer, path);
	snprintf(path, sizeof(path), PCI_DRIVERS "/%s/module", driver);
	snprintf(target, sizeof(target), "../../../../module/%s", driver);
	writer_make_link(writer, path, target);
	snprintf(path, sizeof(path), "sys/module/%s/drivers/pci:%s", driver, driver);
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s", driver);
	writer_make_link(writer, path, target);
}

void sysfs_pci_place(const struct adapter *adapter, char *path, size_t size)
{
	snprintf(path, size, "sys/devices/pci" ADAPTER_PCI_DOMAIN ":%02x/" PCI_ADDRESS,
		 adapter->index + 1, adapter->index + 1);
}

void sysfs_pci_make(struct writer *writer, struct adapter *adapter)
{
	const struct sysfs_subject of = { .adapter = adapter };
	char pci[96], path[128], target[128];

	make_driver(writer, adapter);
	sysfs_pci_place(adapter, pci, sizeof(pci));
	writer_make_dirs(writer, pci);
	writer_make_files(writer, pci, pci_files, &of);
	make_config(writer, pci, adapter);
	snprintf(path, sizeof(path), "%s/driver", pci);
	snprintf(target, sizeof(target), "../../../bus/pci/drivers/%s",
		 adapter->identity->core_driver);
	writer_make_link(writer, path, target);
	snprintf(path, sizeof(path), "%s/subsystem", pci);
	writer_make_link(writer, path, "../../../bus/pci");
	snprintf(path, sizeof(path), PCI_BUS "/" PCI_ADDRESS, adapter->index + 1);
	snprintf(target, sizeof(target), "../../../%s", pci + strlen("sys/"));
	writer_make_link(writer, path, target);
	snprintf(path, sizeof(path), PCI_DRIVERS "/%s/" PCI_ADDRESS, adapter->identity->core_driver,
		 adapter->index + 1);
	snprintf(target, sizeof(target), "../../../../%s", pci + strlen("sys/"));
	writer_make_link(writer, path, target);
}

static bool has_vfio;

void sysfs_pci_make_vfio(struct writer *writer, struct adapter *adapter, unsigned int group)
{
	char pci[96], path[128], target[128];

	has_vfio = true;
	sysfs_pci_make(writer, adapter);
	sysfs_pci_place(adapter, pci, sizeof(pci));
	snprintf(path, sizeof(path), IOMMU_GROUPS "/%u/devices", group);
	writer_make_dirs(writer, path);
	snprintf(path, sizeof(path), IOMMU_GROUPS "/%u/devices/" PCI_ADDRESS, group,
		 adapter->index + 1);
	snprintf(target, sizeof(target), "../../../../%s", pci + strlen("sys/"));
	writer_make_link(writer, path, target);
	snprintf(path, sizeof(path), "%s/iommu_group", pci);
	snprintf(target, sizeof(target), "../../../kernel/iommu_groups/%u", group);
	writer_make_link(writer, path, target);
	writer_make_dirs(writer, "dev/vfio");
	writer_make_file(writer, "dev/vfio/vfio", "");
	snprintf(path, sizeof(path), "dev/vfio/%u", group);
	writer_make_file(writer, path, "");
}

static bool vfio_claims(const char *path)
{
	static const char *const prefixes[] = { "/" PCI_DRIVERS "/vfio-pci",
						"/" IOMMU_GROUPS "/1000", "/dev/vfio",
						"/sys/module/vfio-pci" };

	for (unsigned int i = 0; has_vfio && i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

bool sysfs_pci_claims(const char *path)
{
	static const char *const prefixes[] = {
		"/sys/devices/pci" ADAPTER_PCI_DOMAIN,
		"/" PCI_BUS "/" ADAPTER_PCI_DOMAIN,
		"/" PCI_DRIVERS "/mlx5_core",
		"/" PCI_DRIVERS "/mlx4_core",
		"/sys/module/mlx5_core",
		"/sys/module/mlx5_ib",
		"/sys/module/mlx4_core",
		"/sys/module/mlx4_ib",
		"/sys/module/ib_uverbs",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(prefixes); i++)
		if (!strncmp(path, prefixes[i], strlen(prefixes[i])))
			return true;
	return vfio_claims(path) || !strcmp(path, "/" PCI_BUS) || !strcmp(path, "/" PCI_BUS "/");
}
