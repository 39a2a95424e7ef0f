/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_pci_test.c - adapters as PCI devices: each file's text, the links between device, driver
 * and module, configuration space, and the paths that the tree claims. The writer is the test's,
 * which notes what is made.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

static long fake_cpus(int name);

#define sysconf fake_cpus
#include "softhca/front/process/discovery/sysfs_pci.c"

enum { ENTRIES = 256, TEXT = 1100, CONFIG = 256 };

static struct {
	struct {
		char kind; /* d: directory, l: link, f: file, b: bytes */
		char path[128], text[TEXT];
	} made[ENTRIES];
	unsigned int count;
	uint8_t config[CONFIG];
	long cpus;
	char root[32];
	struct identity identity;
	struct adapter adapter;
	struct writer writer;
} it;

static long fake_cpus(int name)
{
	assert_int_equal(name, _SC_NPROCESSORS_CONF);
	return it.cpus;
}

static void made_note(const struct writer *writer, char kind, const char *path, const char *text)
{
	assert_ptr_equal(writer, &it.writer);
	assert_true(it.count < ENTRIES);
	it.made[it.count].kind = kind;
	snprintf(it.made[it.count].path, sizeof(it.made[0].path), "%s", path);
	snprintf(it.made[it.count++].text, TEXT, "%s", text);
}

void writer_make_dirs(struct writer *writer, const char *path)
{
	made_note(writer, 'd', path, "");
}

void writer_make_link(struct writer *writer, const char *path, const char *target)
{
	made_note(writer, 'l', path, target);
}

void writer_make_file(struct writer *writer, const char *path, const char *text)
{
	made_note(writer, 'f', path, text);
}

void writer_make_bytes(struct writer *writer, const char *path, const void *bytes, size_t len)
{
	made_note(writer, 'b', path, "");
	assert_int_equal(len, CONFIG);
	memcpy(it.config, bytes, len);
}

void writer_make_files(struct writer *writer, const char *dir, const struct sysfs_file *files,
		       const struct sysfs_subject *of)
{
	char path[128], text[TEXT];

	for (; files->name; files++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files->name);
		if (files->constant)
			strcpy(text, files->constant);
		else
			files->text(of, text);
		made_note(writer, 'f', path, text);
	}
}

void sysfs_put_text(char *text, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, TEXT, format, arguments);
	va_end(arguments);
}

static int pci_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	strcpy(it.root, "/tmp/sysfs_pci_XXXXXX");
	if (!mkdtemp(it.root))
		return -1;
	it.writer.root = open(it.root, O_DIRECTORY | O_CLOEXEC);
	it.cpus = 4;
	it.identity = (struct identity){ .core_driver = "mlx5_core",
					 .ib_driver = "mlx5_ib",
					 .part_id = 0x101b,
					 .subsystem_id = 0x0047,
					 .pci_speed = "16.0 GT/s PCIe",
					 .pci_width = 16,
					 .pci_speed_code = 4 };
	it.adapter = (struct adapter){ .identity = &it.identity, .index = 0x11 };
	return 0;
}

static int pci_end(void **state)
{
	(void)state;
	has_vfio = false;
	close(it.writer.root);
	return rmdir(it.root);
}

#define DEVICE "sys/devices/pci5fca:12/5fca:12:00.0"

static void check_made(char kind, const char *path, const char *text)
{
	for (unsigned int i = 0; i < it.count; i++) {
		if (it.made[i].kind != kind || strcmp(it.made[i].path, path))
			continue;
		assert_string_equal(it.made[i].text, text);
		return;
	}
	fail_msg("%c %s is not made", kind, path);
}

static void check_file(const char *name, const char *text)
{
	char path[128];

	snprintf(path, sizeof(path), DEVICE "/%s", name);
	check_made('f', path, text);
}

static bool is_made(const char *path)
{
	for (unsigned int i = 0; i < it.count; i++)
		if (!strcmp(it.made[i].path, path))
			return true;
	return false;
}

static void a_device_has_its_identity(void **state)
{
	(void)state;
	sysfs_pci_make(&it.writer, &it.adapter);
	check_file("vendor", "0x15b3\n");
	check_file("device", "0x101b\n");
	check_file("subsystem_vendor", "0x15b3\n");
	check_file("subsystem_device", "0x0047\n");
	check_file("class", "0x020700\n");
	check_file("modalias", "pci:v000015B3d0000101Bsv000015B3sd00000047bc02sc07i00\n");
	check_file("uevent", "DRIVER=mlx5_core\nPCI_ID=15B3:101B\nPCI_SLOT_NAME=5fca:12:00.0\n");
	check_file("current_link_speed", "16.0 GT/s PCIe\n");
	check_file("max_link_speed", "16.0 GT/s PCIe\n");
	check_file("current_link_width", "16\n");
	check_file("max_link_width", "16\n");
	check_file("numa_node", "-1\n");
	check_file("revision", "0x00\n");
}

static void an_ethernet_device_has_another_class(void **state)
{
	(void)state;
	it.adapter.link_layer = HCA_LINK_ETHERNET;
	sysfs_pci_make(&it.writer, &it.adapter);
	check_file("class", "0x020000\n");
	check_file("modalias", "pci:v000015B3d0000101Bsv000015B3sd00000047bc02sc00i00\n");
	assert_int_equal(it.config[0x0a], 0x00);
	assert_int_equal(it.config[0x0b], 0x02);
}

static void each_adapter_has_its_own_registers(void **state)
{
	const char zero[] = "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
	char text[TEXT] = "0x0003f00022000000 0x0003f00023ffffff 0x000000000014220c\n";

	(void)state;
	for (unsigned int i = 0; i < 12; i++)
		strcat(text, zero);
	sysfs_pci_make(&it.writer, &it.adapter);
	check_file("resource", text);
}

static void all_cpus_are_local(void **state)
{
	static const struct {
		long cpus;
		const char *list, *mask;
	} rows[] = {
		{ 1, "0-0\n", "1\n" },
		{ 4, "0-3\n", "f\n" },
		{ 31, "0-30\n", "7fffffff\n" },
		{ 32, "0-31\n", "ffffffff\n" },
		{ 33, "0-32\n", "1,ffffffff\n" },
		{ 64, "0-63\n", "ffffffff,ffffffff\n" },
		{ 70, "0-69\n", "3f,ffffffff,ffffffff\n" },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		it.count = 0;
		it.cpus = rows[i].cpus;
		sysfs_pci_make(&it.writer, &it.adapter);
		check_file("local_cpulist", rows[i].list);
		check_file("local_cpus", rows[i].mask);
	}
}

static void configuration_space_is_an_express_endpoints(void **state)
{
	static const struct {
		uint8_t at, bytes[4];
	} rows[] = {
		{ 0x00, { 0xb3, 0x15, 0x1b, 0x10 } }, /* vendor, device */
		{ 0x04, { 0x06, 0x04, 0x10, 0x00 } }, /* command, status */
		{ 0x08, { 0x00, 0x00, 0x07, 0x02 } }, /* class */
		{ 0x10, { 0x0c, 0x00, 0x00, 0x22 } }, /* BAR 0, low */
		{ 0x14, { 0x00, 0xf0, 0x03, 0x00 } }, /* BAR 0, high */
		{ 0x2c, { 0xb3, 0x15, 0x47, 0x00 } }, /* subsystem */
		{ 0x34, { 0x60, 0x00, 0x00, 0x00 } }, /* first capability */
		{ 0x60, { 0x10, 0x00, 0x02, 0x00 } }, /* PCI Express, endpoint */
		{ 0x6c, { 0x04, 0x01, 0x00, 0x00 } }, /* link capabilities: 16 lanes */
		{ 0x70, { 0x00, 0x00, 0x04, 0x01 } }, /* link status */
	};
	uint8_t expected[CONFIG] = { 0 };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++)
		memcpy(expected + rows[i].at, rows[i].bytes, 4);
	sysfs_pci_make(&it.writer, &it.adapter);
	check_made('b', DEVICE "/config", "");
	assert_memory_equal(it.config, expected, sizeof(expected));
}

static void device_and_driver_lead_to_each_other(void **state)
{
	(void)state;
	sysfs_pci_make(&it.writer, &it.adapter);
	check_made('d', DEVICE, "");
	check_made('l', DEVICE "/driver", "../../../bus/pci/drivers/mlx5_core");
	check_made('l', DEVICE "/subsystem", "../../../bus/pci");
	check_made('l', "sys/bus/pci/devices/5fca:12:00.0",
		   "../../../devices/pci5fca:12/5fca:12:00.0");
	check_made('l', "sys/bus/pci/drivers/mlx5_core/5fca:12:00.0",
		   "../../../../devices/pci5fca:12/5fca:12:00.0");
	check_made('d', "sys/bus/pci/drivers/mlx5_core", "");
	check_made('l', "sys/bus/pci/drivers/mlx5_core/module", "../../../../module/mlx5_core");
	check_made('d', "sys/module/mlx5_core/drivers", "");
	check_made('l', "sys/module/mlx5_core/drivers/pci:mlx5_core",
		   "../../../bus/pci/drivers/mlx5_core");
	check_made('d', "sys/module/mlx5_core", "");
	check_made('f', "sys/module/mlx5_core/initstate", "live\n");
	check_made('f', "sys/module/mlx5_core/refcnt", "1\n");
	check_made('d', "sys/module/mlx5_ib", "");
	check_made('f', "sys/module/mlx5_ib/initstate", "live\n");
}

static void adapters_share_a_driver(void **state)
{
	static const char *const dirs[] = { "sys", "sys/bus", "sys/bus/pci", "sys/bus/pci/drivers",
					    "sys/bus/pci/drivers/mlx5_core" };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(dirs); i++)
		assert_int_equal(mkdirat(it.writer.root, dirs[i], 0700), 0);
	sysfs_pci_make(&it.writer, &it.adapter);
	assert_false(is_made("sys/bus/pci/drivers/mlx5_core/module"));
	assert_false(is_made("sys/module/mlx5_core"));
	check_made('l', DEVICE "/driver", "../../../bus/pci/drivers/mlx5_core");
	for (unsigned int i = ARRAY_SIZE(dirs); i > 0; i--)
		assert_int_equal(unlinkat(it.writer.root, dirs[i - 1], AT_REMOVEDIR), 0);
}

static void the_start_makes_the_bus_and_a_module(void **state)
{
	(void)state;
	sysfs_pci_start(&it.writer);
	check_made('d', "sys/bus/pci/devices", "");
	check_made('d', "sys/module/ib_uverbs", "");
	for (unsigned int i = 0; i < it.count; i++) /* the host's devices, where it has some */
		if (it.made[i].kind == 'l') {
			assert_int_equal(strncmp(it.made[i].path, "sys/bus/pci/devices/", 20), 0);
			assert_int_equal(strncmp(it.made[i].text, "/sys/devices/", 13), 0);
		}
}

static void a_vfio_device_has_a_group(void **state)
{
	(void)state;
	it.identity.core_driver = "vfio-pci";
	sysfs_pci_make_vfio(&it.writer, &it.adapter, 1000);
	check_file("vendor", "0x15b3\n");
	check_made('d', "sys/kernel/iommu_groups/1000/devices", "");
	check_made('l', "sys/kernel/iommu_groups/1000/devices/5fca:12:00.0",
		   "../../../../devices/pci5fca:12/5fca:12:00.0");
	check_made('l', DEVICE "/iommu_group", "../../../kernel/iommu_groups/1000");
	check_made('d', "dev/vfio", "");
	check_made('f', "dev/vfio/vfio", "");
	check_made('f', "dev/vfio/1000", "");
}

static void paths_of_adapters_are_claimed(void **state)
{
	static const char *const claimed[] = {
		"/sys/devices/pci5fca:01",        "/sys/bus/pci/devices/5fca:01:00.0",
		"/sys/bus/pci/drivers/mlx5_core", "/sys/bus/pci/drivers/mlx4_core/bind",
		"/sys/module/mlx5_core",          "/sys/module/mlx5_ib",
		"/sys/module/mlx4_core",          "/sys/module/mlx4_ib",
		"/sys/module/ib_uverbs/version",  "/sys/bus/pci/devices",
		"/sys/bus/pci/devices/",
	};
	static const char *const others[] = {
		"/sys/devices/pci0000:00",    "/sys/bus/pci/devices/0000:01:00.0",
		"/sys/bus/pci/drivers",       "/sys/bus/pci/drivers/nvme",
		"/sys/module/mlx5",           "/sys/bus/pci",
		"/proc/sys/module/mlx5_core",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(claimed); i++)
		assert_true(sysfs_pci_claims(claimed[i]));
	for (unsigned int i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(sysfs_pci_claims(others[i]));
}

static void paths_of_vfio_are_claimed_with_a_device(void **state)
{
	static const char *const paths[] = {
		"/sys/bus/pci/drivers/vfio-pci/bind",
		"/sys/kernel/iommu_groups/1000",
		"/dev/vfio",
		"/dev/vfio/1000",
		"/sys/module/vfio-pci",
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++)
		assert_false(sysfs_pci_claims(paths[i]));
	sysfs_pci_make_vfio(&it.writer, &it.adapter, 1000);
	for (unsigned int i = 0; i < ARRAY_SIZE(paths); i++)
		assert_true(sysfs_pci_claims(paths[i]));
	assert_false(sysfs_pci_claims("/sys/kernel/iommu_groups/1"));
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, pci_begin, pci_end)
	const struct CMUnitTest tests[] = {
		CASE(a_device_has_its_identity),
		CASE(an_ethernet_device_has_another_class),
		CASE(each_adapter_has_its_own_registers),
		CASE(all_cpus_are_local),
		CASE(configuration_space_is_an_express_endpoints),
		CASE(device_and_driver_lead_to_each_other),
		CASE(adapters_share_a_driver),
		CASE(the_start_makes_the_bus_and_a_module),
		CASE(a_vfio_device_has_a_group),
		CASE(paths_of_adapters_are_claimed),
		CASE(paths_of_vfio_are_claimed_with_a_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
