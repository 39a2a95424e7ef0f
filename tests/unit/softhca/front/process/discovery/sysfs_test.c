/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sysfs_test.c - the tree that programs see for /sys and /dev/infiniband: its files and links, what
 * changes in it, and trees of owners that were killed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/discovery/sysfs.c"

enum { GIDS = 3, PKEYS = 2 };

static const struct identity identity = {
	.abi = 1, .fw_version = "16.35.1", .board_id = "SOFT", .hca_type = "MT4119", .rate = "100"
};
static struct adapter first, second;
static struct adapter *adapters[] = { &first, &second };
static struct sysfs tree;
static struct port_info port_info;
static struct port_counters port_counters;
static uint64_t hw_value;
static bool has_netdev, is_vfio_made;

const char *const hw_counter_name[HW_COUNTERS] = { "c0",  "c1",  "c2",  "c3",  "c4",  "c5",
						   "c6",  "c7",  "c8",  "c9",  "c10", "c11",
						   "c12", "c13", "c14", "c15", "c16", "c17" };
const char *const netdev_files[] = { "address", "operstate", NULL };

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	assert_true(port <= adapter->num_ports);
	*info = port_info;
	return port < 1 ? EINVAL : 0;
}

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_true(index < GIDS);
	if (index == 1)
		return ENODATA;
	*entry = (struct gid_entry){ .valid = true,
				     .kind = adapter_is_roce(adapter) && index ? GID_ROCE_V2
									       : GID_IB };
	memset(entry->gid, 0x10 * port + index, sizeof(entry->gid));
	return 0;
}

int adapter_query_pkey(struct adapter *adapter, unsigned int port, uint32_t index, uint16_t *pkey)
{
	(void)adapter, (void)port;
	*pkey = index ? 0 : 0xffff;
	return 0;
}

int adapter_query_counters(struct adapter *adapter, unsigned int port,
			   struct port_counters *counters)
{
	(void)adapter, (void)port;
	*counters = port_counters;
	return 0;
}

int hw_counters_read(struct adapter *adapter, unsigned int port, uint64_t value[HW_COUNTERS])
{
	assert_ptr_equal(adapter, &first);
	assert_true(port >= 1 && port <= adapter->num_ports);
	for (unsigned int i = 0; i < HW_COUNTERS; i++)
		value[i] = hw_value + 100 * port + i;
	return 0;
}

const char *netdev_of(const struct adapter *adapter, unsigned int port)
{
	return has_netdev && adapter == &first && port == 2 ? "net7" : NULL;
}

bool netdev_text(const char *name, unsigned int port, const char *file, char *text)
{
	assert_string_equal(name, "net7");
	assert_int_equal(port, 2);
	snprintf(text, NETDEV_TEXT_SIZE, "%s %d\n", file, (int)hw_value);
	return strcmp(file, "operstate");
}

bool netdev_place(const char *name, char *path, size_t size)
{
	snprintf(path, size, "/sys/devices/host/net/%s", name);
	return true;
}

bool netdev_claims(const char *path)
{
	return !strcmp(path, "/sys/class/net/net7/device");
}

void sysfs_pci_start(struct writer *writer)
{
	writer_make_dirs(writer, "sys/bus/pci");
}

void sysfs_pci_place(const struct adapter *adapter, char *path, size_t size)
{
	snprintf(path, size, "sys/devices/pci0/%u", adapter->index);
}

void sysfs_pci_make(struct writer *writer, struct adapter *adapter)
{
	char path[64];

	sysfs_pci_place(adapter, path, sizeof(path));
	writer_make_dirs(writer, path);
}

void sysfs_pci_make_vfio(struct writer *writer, struct adapter *adapter, unsigned int group)
{
	assert_int_equal(writer->error, 0);
	assert_ptr_equal(adapter, &second);
	assert_int_equal(group, VFIO_FIRST_GROUP);
	is_vfio_made = true;
}

bool sysfs_pci_claims(const char *path)
{
	return !strcmp(path, "/sys/bus/pci");
}

/* ---- the test's calls ---- */

static int tree_begin(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		*adapters[i] =
			(struct adapter){ .index = i, .identity = &identity, .num_ports = 2 };
		snprintf(adapters[i]->name, sizeof(adapters[i]->name), "mlx5_%u", i);
		adapters[i]->link_layer = HCA_LINK_INFINIBAND;
	}
	first.node_guid = 0x0123456789abcdef;
	port_info = (struct port_info){ .gid_table_len = GIDS, .pkey_table_len = PKEYS };
	port_info.state = 4;
	port_info.phys_state = 5;
	port_info.lid = 0x1b;
	port_counters = (struct port_counters){ 0 };
	hw_value = 0;
	has_netdev = is_vfio_made = false;
	tree.root[0] = '\0';
	return 0;
}

static int tree_end(void **state)
{
	struct stat st;

	(void)state;
	if (!*tree.root)
		return 0;
	sysfs_destroy(&tree);
	assert_int_equal(stat(tree.root, &st), -1);
	return 0;
}

static void tree_made(unsigned int num_adapters)
{
	assert_int_equal(sysfs_create(adapters, num_adapters, NULL, &tree), 0);
}

/* Checks that the file has this text; NULL: that there is none. */
static void file_has(const char *path, const char *text)
{
	char have[SYSFS_TEXT_SIZE];
	int fd = sysfs_open(&tree, path, O_RDONLY | O_CLOEXEC);
	ssize_t len;

	if (!text) {
		assert_int_equal(fd, -1);
		assert_int_equal(errno, ENOENT);
		return;
	}
	if (fd < 0)
		fail_msg("%s: %s", path, strerror(errno));
	len = read(fd, have, sizeof(have) - 1);
	close(fd);
	assert_true(len >= 0);
	have[len] = '\0';
	assert_string_equal(have, text);
}

static void is_same(const char *path, const char *other)
{
	int fds[] = { sysfs_open(&tree, path, O_PATH | O_CLOEXEC),
		      sysfs_open(&tree, other, O_PATH | O_CLOEXEC) };
	struct stat st[2];

	for (unsigned int i = 0; i < 2; i++) {
		assert_true(fds[i] >= 0);
		assert_int_equal(fstat(fds[i], &st[i]), 0);
		close(fds[i]);
	}
	assert_true(st[0].st_ino == st[1].st_ino);
}

#define IB   "/sys/class/infiniband/mlx5_0"
#define PCI0 "/sys/devices/pci0/0"

/* ---- files and links ---- */

static void an_adapter_has_its_files(void **state)
{
	(void)state;
	tree_made(1);
	file_has(IB "/node_guid", "0123:4567:89ab:cdef\n");
	file_has(IB "/fw_ver", "16.35.1\n");
	file_has("/sys/class/infiniband_verbs/abi_version", "6\n");
	file_has("/sys/class/infiniband_mad/abi_version", "5\n");
	file_has("/sys/class/misc/rdma_cm/abi_version", "4\n");
	file_has("/dev/infiniband/rdma_cm", "");
	file_has(IB "/device/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
	file_has("/sys/class/infiniband_verbs/uverbs0/dev", "231:192\n");
	file_has("/sys/class/infiniband_verbs/uverbs0/abi_version", "1\n");
	file_has("/sys/class/infiniband_verbs/uverbs0/uevent",
		 "MAJOR=231\nMINOR=192\nDEVNAME=infiniband/uverbs0\n");
	file_has("/dev/infiniband/uverbs0", "");
	file_has("/dev/infiniband/uverbs1", NULL);
	is_same(IB "/device", PCI0);
	is_same(IB "/subsystem", "/sys/class/infiniband");
	is_same("/sys/class/infiniband_verbs/uverbs0/device", PCI0);
	is_same("/sys/class/infiniband_verbs/uverbs0/subsystem", "/sys/class/infiniband_verbs");
	is_same("/sys/dev/char/231:192", "/sys/class/infiniband_verbs/uverbs0");
}

static void a_port_has_its_files(void **state)
{
	(void)state;
	tree_made(1);
	file_has(IB "/ports/1/state", "4: ACTIVE\n");
	file_has(IB "/ports/2/phys_state", "5: LinkUp\n");
	file_has(IB "/ports/2/lid", "0x1b\n");
	file_has(IB "/ports/3/lid", NULL);
	file_has(IB "/ports/1/gids/0", "1010:1010:1010:1010:1010:1010:1010:1010\n");
	file_has(IB "/ports/2/gids/2", "2222:2222:2222:2222:2222:2222:2222:2222\n");
	file_has(IB "/ports/1/gids/1", "0000:0000:0000:0000:0000:0000:0000:0000\n");
	file_has(IB "/ports/1/gids/3", NULL);
	file_has(IB "/ports/1/gid_attrs/types/0", "IB/RoCE v1\n");
	file_has(IB "/ports/1/gid_attrs/types/1", NULL); /* empty */
	file_has(IB "/ports/1/pkeys/0", "0xffff\n");
	file_has(IB "/ports/1/pkeys/1", "0x0000\n");
	file_has(IB "/ports/1/pkeys/2", NULL);
	file_has(IB "/ports/1/counters/port_xmit_data", "0\n");
	file_has(IB "/ports/1/hw_counters/c17", "0\n");
	file_has(IB "/ports/1/hw_counters/lifespan", "0\n");
}

static void ports_of_all_adapters_have_umad_and_issm(void **state)
{
	(void)state;
	second.link_layer = HCA_LINK_ETHERNET;
	tree_made(2);
	file_has("/sys/class/infiniband_mad/umad1/dev", "231:1\n");
	file_has("/sys/class/infiniband_mad/umad1/port", "2\n");
	file_has("/sys/class/infiniband_mad/umad2/ibdev", "mlx5_1\n");
	file_has("/sys/class/infiniband_mad/umad2/port", "1\n");
	file_has("/sys/class/infiniband_mad/issm1/dev", "231:65\n");
	file_has("/sys/class/infiniband_mad/issm1/uevent",
		 "MAJOR=231\nMINOR=65\nDEVNAME=infiniband/issm1\n");
	file_has("/dev/infiniband/issm0", "");
	file_has("/dev/infiniband/umad3", "");
	/* none on RoCE, as its ports have no subnet manager */
	file_has("/dev/infiniband/issm2", NULL);
	is_same("/sys/dev/char/231:65", "/sys/class/infiniband_mad/issm1");
	is_same("/sys/class/infiniband_mad/umad3/device", "/sys/devices/pci0/1");
	is_same("/sys/class/infiniband_mad/umad0/subsystem", "/sys/class/infiniband_mad");
}

static void an_interface_belongs_to_its_port(void **state)
{
	(void)state;
	has_netdev = true;
	first.link_layer = HCA_LINK_ETHERNET;
	tree_made(1);
	file_has(IB "/ports/2/gid_attrs/ndevs/2", "net7\n");
	file_has(IB "/ports/2/gid_attrs/types/2", "RoCE v2\n");
	file_has(IB "/ports/2/gid_attrs/ndevs/0", NULL); /* of another kind */
	file_has(IB "/ports/1/gid_attrs/ndevs/2", NULL); /* without an interface */
	file_has(PCI0 "/net/net7/address", "address 0\n");
	file_has(PCI0 "/net/net7/operstate", NULL); /* the host has none */
	is_same(PCI0 "/net/net7/device", PCI0);
	is_same("/sys/class/net/net7/device", PCI0);
	is_same("/sys/devices/host/net/net7/device", PCI0);
}

/* tmpfs lists the newest first. */
static void the_first_adapter_is_listed_first(void **state)
{
	char path[96];
	struct dirent *entry;
	DIR *dir;

	(void)state;
	tree_made(2);
	if (strncmp(tree.root, "/dev/shm/", 9))
		skip();
	snprintf(path, sizeof(path), "%s/sys/class/infiniband", tree.root);
	dir = opendir(path);
	assert_non_null(dir);
	do
		entry = readdir(dir);
	while (entry && entry->d_name[0] == '.');
	assert_non_null(entry);
	assert_string_equal(entry->d_name, "mlx5_0");
	closedir(dir);
}

static void an_adapter_for_vfio_has_no_rdma_device(void **state)
{
	(void)state;
	assert_int_equal(sysfs_create(adapters, 1, &second, &tree), 0);
	assert_true(is_vfio_made);
	file_has("/sys/class/infiniband/mlx5_1/node_guid", NULL);
}

static void paths_stay_in_the_tree(void **state)
{
	(void)state;
	tree_made(1);
	file_has("/../../../etc/passwd", NULL);
	is_same("/../..", "/");
	is_same("/../sys", "/sys");
}

/* ---- changes ---- */

static void a_device_file_goes_and_comes(void **state)
{
	(void)state;
	tree_made(2);
	sysfs_show_device(&tree, &second, false);
	file_has("/dev/infiniband/uverbs1", NULL);
	file_has("/dev/infiniband/uverbs0", "");
	sysfs_show_device(&tree, &second, true);
	file_has("/dev/infiniband/uverbs1", "");
}

static void refreshed(const char *path)
{
	sysfs_refresh(&tree, adapters, 2, path);
}

static void what_changes_is_written_anew(void **state)
{
	static const char state_path[] = PCI0 "/infiniband/mlx5_0/ports/1/state";
	static const char sent[] = PCI0 "/infiniband/mlx5_0/ports/1/counters/port_xmit_data";
	static const char hw[] = PCI0 "/infiniband/mlx5_0/ports/2/hw_counters/c3";

	(void)state;
	tree_made(2);
	port_info.state = 1;
	port_counters.bytes_sent = 4000;
	hw_value = 5000;
	refreshed(state_path);
	refreshed(sent);
	refreshed(hw);
	file_has(state_path, "1: DOWN\n"); /* shorter, so no byte of the old text may remain */
	file_has(sent, "1000\n");
	file_has(hw, "5203\n");
	file_has(IB "/ports/2/state", "4: ACTIVE\n"); /* nobody has opened it */
}

static void what_is_no_file_of_a_port_stays(void **state)
{
	(void)state;
	tree_made(1);
	port_info.state = 1;
	sysfs_refresh(&tree, adapters, 0, PCI0 "/infiniband/mlx5_0/ports/1/state");
	refreshed(PCI0 "/infiniband/mlx5_0/ports/0/state");
	refreshed(PCI0 "/infiniband/mlx5_0/ports/1/counters/state");
	refreshed(PCI0 "/infiniband/mlx5_0/ports/1/counters/symbol_error"); /* constant */
	refreshed(PCI0 "/infiniband/mlx5_0/ports/1/hw_counters/unknown");
	refreshed(PCI0 "/infiniband/mlx5_0/ports/0/hw_counters/c1");
	refreshed(PCI0 "/infiniband/mlx5_0/ports/3/hw_counters/c1");
	refreshed(PCI0 "/infiniband/mlx5_0/node_guid");
	file_has(IB "/ports/1/state", "4: ACTIVE\n");
	file_has(IB "/ports/1/counters/symbol_error", "0\n");
	file_has(IB "/ports/1/hw_counters/c1", "0\n");
	file_has(IB "/node_guid", "0123:4567:89ab:cdef\n");
}

static void an_interfaces_file_follows_the_hosts(void **state)
{
	(void)state;
	has_netdev = true;
	tree_made(1);
	hw_value = 9;
	sysfs_refresh(&tree, adapters, 1, PCI0 "/net/other/address");
	file_has(PCI0 "/net/net7/address", "address 0\n");
	sysfs_refresh(&tree, adapters, 1, PCI0 "/net/net7/address");
	file_has(PCI0 "/net/net7/address", "address 9\n");
}

static void the_tree_answers_for_its_places_alone(void **state)
{
	(void)state;
	assert_true(sysfs_claims("/sys/class/infiniband"));
	assert_true(sysfs_claims("/sys/class/infiniband_mad/umad0"));
	assert_true(sysfs_claims("/dev/infiniband/none"));
	assert_true(sysfs_claims("/sys/class/misc/rdma_cm/dev"));
	assert_true(sysfs_claims("/sys/dev/char/231:7"));
	assert_true(sysfs_claims("/sys/bus/pci"));
	assert_true(sysfs_claims("/sys/class/net/net7/device"));
	assert_false(sysfs_claims("/sys/dev/char/23:1"));
	assert_false(sysfs_claims("/sys/class/misc"));
	assert_false(sysfs_claims("/dev/shm"));
}

/* ---- trees that are left ---- */

static void a_tree_without_its_owner_is_removed(void **state)
{
	char place[64];
	struct stat st;

	(void)state;
	tree_made(1);
	snprintf(place, sizeof(place), "%s", tree.root);
	*strrchr(place, '/') = '\0';
	assert_false(is_abandoned(tree.root));
	remove_abandoned(place);
	assert_int_equal(stat(tree.root, &st), 0);
	close(tree.owner_fd); /* as the end of a process does */
	assert_true(is_abandoned(tree.root));
	remove_abandoned(place);
	assert_int_equal(stat(tree.root, &st), -1);
	close(tree.fd);
	tree.root[0] = '\0';
}

static void a_tree_without_the_file_is_somebody_elses(void **state)
{
	char path[96];

	(void)state;
	tree_made(1);
	snprintf(path, sizeof(path), "%s/" OWNER_FILE, tree.root);
	assert_int_equal(unlink(path), 0);
	assert_false(is_abandoned(tree.root));
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_false(is_abandoned(tree.root));
}

/* A user that is not root cannot give a file away, nor lock another's. */
static void a_tree_of_another_user_stays(void **state)
{
	char path[96];

	(void)state;
	tree_made(1);
	snprintf(path, sizeof(path), "%s/" OWNER_FILE, tree.root);
	if (geteuid() || chown(path, 1, -1))
		skip();
	close(tree.owner_fd);
	assert_false(is_abandoned(tree.root));
	assert_int_equal(chown(path, 0, -1), 0);
	assert_true(is_abandoned(tree.root));
	tree.owner_fd = -1;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, tree_begin, tree_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_adapter_has_its_files),
		TEST(a_port_has_its_files),
		TEST(ports_of_all_adapters_have_umad_and_issm),
		TEST(an_interface_belongs_to_its_port),
		TEST(the_first_adapter_is_listed_first),
		TEST(an_adapter_for_vfio_has_no_rdma_device),
		TEST(paths_stay_in_the_tree),
		TEST(a_device_file_goes_and_comes),
		TEST(what_changes_is_written_anew),
		TEST(what_is_no_file_of_a_port_stays),
		TEST(an_interfaces_file_follows_the_hosts),
		TEST(the_tree_answers_for_its_places_alone),
		TEST(a_tree_without_its_owner_is_removed),
		TEST(a_tree_without_the_file_is_somebody_elses),
		TEST(a_tree_of_another_user_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
