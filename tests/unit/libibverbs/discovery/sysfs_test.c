/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Discovery from a sysfs tree made for the test, and the small parsers behind it.
 *
 * Covers: libibverbs/discovery/sysfs.c, libibverbs/discovery/sysfs_device.c
 */
#include "unit.h"

#include "libibverbs/private.h"
#include "temp_tree.h"

#include <endian.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static const char *root;

static void put_device(const char *uverbs, const char *ibdev, const char *dev, const char *abi)
{
	char path[256];

	snprintf(path, sizeof(path), "class/infiniband_verbs/%s/ibdev", uverbs);
	tree_put(path, ibdev);
	snprintf(path, sizeof(path), "class/infiniband_verbs/%s/dev", uverbs);
	tree_put(path, dev);
	snprintf(path, sizeof(path), "class/infiniband_verbs/%s/abi_version", uverbs);
	tree_put(path, abi);
}

static void fill_tree(void)
{
	tree_put("class/infiniband_verbs/abi_version", "6\n");
	put_device("uverbs0", "mlx5_0\n", "231:192\n", "1\n");
	tree_put("class/infiniband_verbs/uverbs0/device/modalias",
		 "pci:v000015B3d00001021sv000015B3sd00000051bc02sc00i00\n");
	tree_put("class/infiniband/mlx5_0/node_type", "1: CA\n");
	tree_put("class/infiniband/mlx5_0/node_guid", "0002:c903:0015:1a2b\n");
	put_device("uverbs1", "bad_0\n", "231:193\n", "not a number\n");
}

static void a_device_is_read_and_a_broken_one_skipped(void **state)
{
	struct verbs_device_info *infos = NULL;
	unsigned int count = 0;

	(void)state;
	assert_int_equal(verbs_sysfs_find_devices(&infos, &count), 0);
	assert_int_equal(count, 1);
	assert_string_equal(infos[0].name, "mlx5_0");
	assert_string_equal(infos[0].uverbs_name, "uverbs0");
	assert_int_equal(infos[0].abi_version, 1);
	assert_int_equal(infos[0].node_type, IBV_NODE_CA);
	assert_int_equal(infos[0].uverbs_dev, makedev(231, 192));
	assert_string_equal(infos[0].modalias, ""); /* empty, as it is read for new devices only */
	verbs_sysfs_fill_pci(&infos[0]);
	assert_int_equal(infos[0].pci.vendor, 0x15b3);
	assert_int_equal(infos[0].pci.device, 0x1021);
	assert_int_equal(infos[0].index, -1);
	assert_true(infos[0].identity != 0);
	free(infos);
}

static void a_guid_is_in_network_order(void **state)
{
	struct verbs_device vdev = {};

	(void)state;
	snprintf(vdev.device.ibdev_path, sizeof(vdev.device.ibdev_path),
		 "%s/class/infiniband/mlx5_0", root);
	assert_int_equal(be64toh(ibv_get_device_guid(&vdev.device)), 0x0002c90300151a2bull);
	strcpy(vdev.device.ibdev_path, "/nowhere");
	assert_int_equal(ibv_get_device_guid(&vdev.device), 0);
}

static void a_file_loses_its_newline_and_tells_its_length(void **state)
{
	char dir[512], text[64], four[4];

	(void)state;
	snprintf(dir, sizeof(dir), "%s/class/infiniband_verbs", root);
	assert_int_equal(ibv_read_sysfs_file(dir, "uverbs0/ibdev", text, sizeof(text)), 6);
	assert_string_equal(text, "mlx5_0");
	assert_int_equal(ibv_read_sysfs_file(dir, "uverbs0/ibdev", four, sizeof(four)), 3);
	assert_string_equal(four, "mlx");
	errno = 0;
	assert_int_equal(ibv_read_sysfs_file(dir, "missing", text, sizeof(text)), -1);
	assert_int_equal(errno, ENOENT);
	errno = 0;
	assert_int_equal(ibv_read_sysfs_file(dir, NULL, text, sizeof(text)), -1);
	assert_int_equal(errno, ENOENT);
	errno = 0;
	assert_int_equal(ibv_read_sysfs_file(NULL, "missing", text, sizeof(text)), -1);
	assert_int_equal(errno, ENOENT);
}

static void gids_have_eight_groups(void **state)
{
	union ibv_gid gid;

	(void)state;
	assert_int_equal(verbs_sysfs_parse_gid("fe80:0000:0000:0000:0002:c903:0015:1a2b", &gid), 0);
	assert_int_equal(be64toh(gid.global.subnet_prefix), 0xfe80000000000000ull);
	assert_int_equal(be64toh(gid.global.interface_id), 0x0002c90300151a2bull);
	assert_int_equal(verbs_sysfs_parse_gid("fe80:0000:0000:0000:0002:c903:0015", &gid), EINVAL);
	assert_int_equal(verbs_sysfs_parse_gid("", &gid), EINVAL);
	assert_int_equal(verbs_sysfs_parse_gid("fe80:0000:0000:zzzz:0002:c903:0015:1a2b", &gid),
			 EINVAL);
}

static void modalias_of_another_bus_has_no_pci_id(void **state)
{
	struct verbs_pci_id id = {};

	(void)state;
	assert_false(verbs_sysfs_parse_modalias("auxiliary:mlx5_core.rdma", &id));
	assert_false(verbs_sysfs_parse_modalias("", &id));
	assert_int_equal(id.vendor, 0);
}

/* Runs discovery with EXTRA descriptors above those in use. It must find all devices or none: a
 * part would look like unplugged devices. */
static int find_with(unsigned int extra, unsigned int *count)
{
	struct verbs_device_info *infos = NULL;
	struct rlimit before, few;
	int next = dup(0), err;

	close(next);
	*count = 0;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ (rlim_t)next + extra, before.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	err = verbs_sysfs_find_devices(&infos, count);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	free(infos);
	return err;
}

static void no_descriptor_left_is_not_no_devices(void **state)
{
	unsigned int count;

	(void)state;
	assert_int_equal(find_with(0, &count), EMFILE);
	assert_int_equal(find_with(1, &count), EMFILE);
	assert_int_equal(find_with(2, &count), 0);
	assert_int_equal(count, 1);
}

static void no_tree_is_no_kernel_support(void **state)
{
	struct verbs_device_info *infos = NULL;
	unsigned int count = 0;

	(void)state;
	tree_remove();
	assert_int_equal(verbs_sysfs_find_devices(&infos, &count), ENOSYS);
	assert_int_equal(count, 0);
	assert_null(infos);
}

/* A text may fill the buffer exactly; one byte more is an overflow, in any part of the text. */
static void texts_are_joined_as_far_as_there_is_room(void **state)
{
	static const struct {
		const char *a, *b, *c, *joined;
		bool fits;
	} cases[] = {
		{ "ab", "/", "cd", "ab/cd", true },       { "", "", "", "", true },
		{ "abcdefg", "", "", "abcdefg", true },   { "abc", "/", "def", "abc/def", true },
		{ "abcdefgh", "", "", "abcdefg", false }, { "abc", "/", "defg", "abc/def", false },
		{ "abcdefg", "/", "", "abcdefg", false }, { "abcdefg", "", "h", "abcdefg", false },
	};
	char text[9];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		memset(text, '!', sizeof(text));
		assert_int_equal(verbs_text_join(text, 8, cases[i].a, cases[i].b, cases[i].c),
				 cases[i].fits);
		assert_string_equal(text, cases[i].joined);
		assert_int_equal(text[8], '!');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_is_read_and_a_broken_one_skipped),
		cmocka_unit_test(a_guid_is_in_network_order),
		cmocka_unit_test(a_file_loses_its_newline_and_tells_its_length),
		cmocka_unit_test(gids_have_eight_groups),
		cmocka_unit_test(texts_are_joined_as_far_as_there_is_room),
		cmocka_unit_test(modalias_of_another_bus_has_no_pci_id),
		cmocka_unit_test(no_descriptor_left_is_not_no_devices),
		cmocka_unit_test(no_tree_is_no_kernel_support),
	};
	char with_slash[512];

	root = tree_make();
	fill_tree();
	snprintf(with_slash, sizeof(with_slash), "%s//", root);
	setenv("SYSFS_PATH", with_slash, 1);
	assert_string_equal(ibv_get_sysfs_path(), root);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
