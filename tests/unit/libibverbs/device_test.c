/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * The device list of the shared library: devices come from a sysfs tree made for the test, their
 * provider is a real plugin (fake_plugin.c). Host adapters that RDMA netlink reports would shadow
 * that tree: then there is nothing to test here.
 *
 * Covers: libibverbs/device.c, libibverbs/discovery/loader.c, libibverbs/discovery/foreign.c,
 * libibverbs/verbs_device.c
 */
#include "unit.h"

#include "temp_tree.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *root;

#define UVERBS_DEV makedev(231, 192) /* number of each device of put_device() */

static int node_of_10_err; /* error of a lookup of its file, or 0 */
static dev_t node_of_10;

static void (*inside_list)(void); /* runs once, while the device list is made */

__attribute__((visibility("default"))) int stat64(const char *path, struct stat64 *st)
{
	bool is_10 = strstr(path, "uverbs10");
	void (*inside)(void) = inside_list;

	inside_list = NULL;
	if (inside)
		inside();
	if (strncmp(path, "/dev/", 5) != 0)
		return fstatat64(AT_FDCWD, path, st, 0);
	errno = is_10 ? node_of_10_err : strstr(path, "uverbs") ? 0 : ENOENT;
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0600;
	st->st_rdev = is_10 ? node_of_10 : UVERBS_DEV;
	return errno ? -1 : 0;
}

__attribute__((visibility("default"))) int fstat64(int fd, struct stat64 *st)
{
	int ret = fstatat64(fd, "", st, AT_EMPTY_PATH);

	/* /dev/null replaces the device file. */
	if (!ret && S_ISCHR(st->st_mode))
		st->st_rdev = UVERBS_DEV;
	return ret;
}

static void sysfs_put(const char *class, const char *device, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "class/%s/%s/%s", class, device, file);
	tree_put(path, text);
}

static void put_device(const char *uverbs, const char *ibdev, const char *modalias, const char *abi)
{
	sysfs_put("infiniband_verbs", uverbs, "ibdev", ibdev);
	sysfs_put("infiniband_verbs", uverbs, "dev", "231:192\n");
	sysfs_put("infiniband_verbs", uverbs, "abi_version", abi);
	sysfs_put("infiniband_verbs", uverbs, "device/modalias", modalias);
	sysfs_put("infiniband", ibdev, "node_type", "1: CA\n");
}

static int lines_with(const char *what)
{
	char *log = tree_get("log"), *at = log;
	int count = 0;

	for (; (at = strstr(at, what)); at++)
		count++;
	free(log);
	return count;
}

static void a_device_without_provider_is_left_out(void **state)
{
	struct ibv_device **list;
	int num;

	(void)state;
	list = ibv_get_device_list(&num);
	assert_non_null(list);
	assert_int_equal(num, 2);
	assert_null(list[2]);
	assert_string_equal(ibv_get_device_name(list[0]), "fake_2");
	assert_string_equal(ibv_get_device_name(list[1]), "fake_10");
	assert_int_equal(list[0]->node_type, IBV_NODE_CA);
	assert_int_equal(list[0]->transport_type, IBV_TRANSPORT_IB);
	assert_int_equal(ibv_get_device_index(list[0]), -1);
	ibv_free_device_list(list);
}

/* Each reason has one log line, also on a repeated call. */
static void each_reason_is_logged(void **state)
{
	(void)state;
	assert_int_equal(lines_with("error: other_0 is left out: no provider for it"), 1);
	assert_int_equal(
		lines_with("error: new_0 is left out: kernel driver ABI 3 is not among 1 to 2"), 1);
	assert_int_equal(lines_with("provider missing: skipped"), 1);
}

/* The wall clock is an hour ahead, and about to be set back, so a wait by it would last an hour. */
__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *time)
{
	const int ret = (int)syscall(SYS_clock_gettime, clock, time);

	if (clock == CLOCK_REALTIME)
		time->tv_sec += 3600;
	return ret;
}

static void fork_once(void)
{
	pid_t child = fork();

	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

/* Forks in the middle of the list, as a signal handler may. */
static void a_fork_amid_a_list_waits_for_seconds(void **state)
{
	struct ibv_device **list;
	unsigned int left;

	(void)state;
	inside_list = fork_once;
	alarm(60);
	list = ibv_get_device_list(NULL);
	left = alarm(0);
	assert_null(inside_list);
	assert_non_null(list);
	assert_true(left > 0);
	ibv_free_device_list(list);
}

static struct ibv_device **other_list;

static void free_other_list(void)
{
	ibv_free_device_list(other_list);
}

/* Stands for a thread that the C library does not know: it has to wait for the lock, too. Here it
 * waits for ever, because it is the thread that has the lock. */
static void the_table_is_locked_in_a_process_of_one_thread(void **state)
{
	pid_t child = fork();
	int status;

	(void)state;
	if (!child) {
		other_list = ibv_get_device_list(NULL);
		inside_list = free_other_list;
		alarm(1);
		ibv_get_device_list(NULL);
		_exit(0);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_not_equal(status, 0); /* by the alarm, or a sanitizer */
}

static void a_device_keeps_its_identity(void **state)
{
	struct ibv_device **first, **second;

	(void)state;
	first = ibv_get_device_list(NULL);
	second = ibv_get_device_list(NULL);
	assert_ptr_equal(first[0], second[0]);
	assert_ptr_equal(first[1], second[1]);
	ibv_free_device_list(first);
	assert_string_equal(ibv_get_device_name(second[1]), "fake_10");
	ibv_free_device_list(second);
}

static void *plugin_symbol(const char *name)
{
	void *plugin = dlopen(FAKE_PLUGIN "-rdmakit" DRIVER_ABI ".so", RTLD_NOW | RTLD_NOLOAD);
	void *symbol;

	assert_non_null(plugin);
	symbol = dlsym(plugin, name);
	assert_non_null(symbol);
	dlclose(plugin);
	return symbol;
}

/* Returns the number of devices that the plugin has made and not freed. */
static int devices_alive(void)
{
	return *(int *)plugin_symbol("fake_plugin_devices");
}

static void remove_device(const char *ibdev)
{
	char command[512];

	snprintf(command, sizeof(command), "rm -r %s/class/infiniband/%s", root, ibdev);
	assert_int_equal(system(command), 0);
}

/* Replaces a device's directory by a moved one, so that the kernel cannot reuse the inode. */
static void replace_device(const char *ibdev)
{
	char command[512];

	put_device("uverbs2", "newcomer", "pci:v00001234d00005678sv0\n", "1\n");
	remove_device(ibdev);
	snprintf(command, sizeof(command), "mv %s/class/infiniband/newcomer %s/class/infiniband/%s",
		 root, root, ibdev);
	assert_int_equal(system(command), 0);
	sysfs_put("infiniband_verbs", "uverbs2", "ibdev", ibdev);
}

/* A replugged device has a new directory, so it counts as another device. */
static void a_device_that_was_plugged_in_again_is_another(void **state)
{
	struct ibv_device **before, **after;

	(void)state;
	before = ibv_get_device_list(NULL);
	replace_device("fake_2");
	after = ibv_get_device_list(NULL);
	assert_ptr_not_equal(before[0], after[0]);
	assert_int_equal(devices_alive(), 3);
	ibv_free_device_list(before);
	assert_int_equal(devices_alive(), 2);
	ibv_free_device_list(after);
	assert_int_equal(devices_alive(), 2);
}

static int frees;

static void list_devices(void)
{
	frees++;
	ibv_free_device_list(ibv_get_device_list(NULL));
}

/* A provider may call the library while it frees a device: of the table, then of a list. */
static void a_device_is_freed_without_the_lock(void **state)
{
	void (**freeing)(void) = plugin_symbol("fake_plugin_freeing");
	struct ibv_device **list;

	(void)state;
	*freeing = list_devices;
	alarm(60);
	for (int is_in_list = 0; is_in_list < 2; is_in_list++) {
		list = is_in_list ? ibv_get_device_list(NULL) : NULL;
		replace_device("fake_2");
		ibv_free_device_list(ibv_get_device_list(NULL));
		assert_int_equal(frees, 1);
		if (list)
			ibv_free_device_list(list);
		assert_int_equal(frees, is_in_list + 1);
	}
	alarm(0);
	*freeing = NULL;
	assert_int_equal(devices_alive(), 2);
}

/* Linux may lose the times of a directory, but not its identity, so the times count for nothing. */
static void a_directory_with_other_times_is_the_same(void **state)
{
	struct ibv_device **before, **after;
	char command[512];

	(void)state;
	before = ibv_get_device_list(NULL);
	snprintf(command, sizeof(command), "touch -d 2001-01-01 %s/class/infiniband/*", root);
	assert_int_equal(system(command), 0);
	after = ibv_get_device_list(NULL);
	assert_ptr_equal(before[0], after[0]);
	assert_ptr_equal(before[1], after[1]);
	ibv_free_device_list(before);
	ibv_free_device_list(after);
}

static int devices_listed(void)
{
	struct ibv_device **list;
	int num;

	list = ibv_get_device_list(&num);
	assert_non_null(list);
	assert_null(list[num]);
	ibv_free_device_list(list);
	return num;
}

static void a_device_without_its_file_is_left_out(void **state)
{
	struct ibv_device **list;
	int num;

	(void)state;
	node_of_10_err = ENOENT;
	list = ibv_get_device_list(&num);
	node_of_10_err = 0;
	assert_int_equal(num, 1);
	assert_string_equal(ibv_get_device_name(list[0]), "fake_2");
	assert_null(list[1]);
	ibv_free_device_list(list);
}

static void a_device_keeps_its_identity_without_its_file(void **state)
{
	struct ibv_device **first, **second;

	(void)state;
	first = ibv_get_device_list(NULL);
	node_of_10_err = ENOENT;
	assert_int_equal(devices_listed(), 1);
	node_of_10_err = 0;
	second = ibv_get_device_list(NULL);
	assert_ptr_equal(first[1], second[1]);
	ibv_free_device_list(first);
	ibv_free_device_list(second);
}

/* Opening the device reports the error. */
static void a_file_that_cannot_be_looked_at_is_there(void **state)
{
	(void)state;
	node_of_10_err = EACCES;
	assert_int_equal(devices_listed(), 2);
	node_of_10_err = ELOOP;
	assert_int_equal(devices_listed(), 2);
	node_of_10_err = ENOTDIR;
	assert_int_equal(devices_listed(), 1);
	node_of_10_err = 0;
}

static void a_file_of_another_device_is_none(void **state)
{
	(void)state;
	node_of_10 = makedev(231, 193);
	assert_int_equal(devices_listed(), 1);
	node_of_10 = UVERBS_DEV;
	assert_int_equal(devices_listed(), 2);
}

/* A process that received a descriptor of the device needs no file. The plugin itself cannot
 * import. */
static void a_device_is_imported_without_its_file(void **state)
{
	int fd = open("/dev/null", O_RDWR | O_CLOEXEC);

	(void)state;
	assert_true(fd >= 0);
	put_device("uverbs2", "fake_2", "pci:v00001234d00005678sv0\n", "3\n");
	node_of_10_err = ENOENT;
	errno = 0;
	assert_null(ibv_import_device(fd));
	assert_int_equal(errno, EOPNOTSUPP);
	node_of_10_err = 0;
	put_device("uverbs2", "fake_2", "pci:v00001234d00005678sv0\n", "1\n");
	close(fd);
}

/* A device without a file, as in a container, is no error of its provider, so no line is logged. */
static void what_has_no_file_is_not_complained_about(void **state)
{
	char command[512];

	(void)state;
	put_device("uverbs101", "foreign_0", "pci:v0000DEADd00005678sv0\n", "1\n");
	node_of_10_err = ENOENT; /* of the second device as well */
	assert_int_equal(devices_listed(), 1);
	assert_int_equal(lines_with("foreign_0 is left out"), 0);
	node_of_10_err = 0;
	assert_int_equal(devices_listed(), 2);
	assert_int_equal(lines_with("foreign_0 is left out"), 1);
	snprintf(command, sizeof(command), "rm -r %s/class/infiniband_verbs/uverbs101", root);
	assert_int_equal(system(command), 0);
}

/* After a reload, ib_core numbers devices from 0 again, so a number alone is no identity. */
static void a_device_with_another_file_is_another(void **state)
{
	struct ibv_device **before = ibv_get_device_list(NULL), **after;

	(void)state;
	sysfs_put("infiniband_verbs", "uverbs10", "dev", "231:193\n");
	node_of_10 = makedev(231, 193);
	after = ibv_get_device_list(NULL);
	assert_ptr_not_equal(before[1], after[1]);
	sysfs_put("infiniband_verbs", "uverbs10", "dev", "231:192\n");
	node_of_10 = UVERBS_DEV;
	ibv_free_device_list(before);
	ibv_free_device_list(after);
}

static void a_replaced_device_is_another(void **state)
{
	struct ibv_device **before, **after;

	(void)state;
	before = ibv_get_device_list(NULL);
	put_device("uverbs2", "fake_2", "pci:v00001234d00005678sv0\n", "2\n");
	after = ibv_get_device_list(NULL);
	assert_ptr_not_equal(before[0], after[0]);
	assert_ptr_equal(before[1], after[1]);
	/* The list that holds the old device keeps it alive, so its name can be read. */
	assert_string_equal(ibv_get_device_name(before[0]), "fake_2");
	ibv_free_device_list(before);
	ibv_free_device_list(after);
	assert_int_equal(devices_alive(), 2);
}

static void a_device_that_cannot_be_opened_says_why(void **state)
{
	struct ibv_device **list = ibv_get_device_list(NULL);

	(void)state;
	errno = 0;
	assert_null(ibv_open_device(list[1]));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(lines_with("ibv_open_device fake_10: /dev/infiniband/uverbs10"), 1);
	ibv_free_device_list(list);
}

static void no_devices_is_an_empty_list(void **state)
{
	struct ibv_device **list;
	int num = -1;
	char path[512];

	(void)state;
	snprintf(path, sizeof(path), "rm -r %s/class/infiniband_verbs/*", root);
	assert_int_equal(system(path), 0);
	list = ibv_get_device_list(&num);
	assert_non_null(list);
	assert_null(list[0]);
	assert_int_equal(num, 0);
	ibv_free_device_list(list);
}

static void no_kernel_support_is_enosys(void **state)
{
	char path[512];
	int num = -1;

	(void)state;
	snprintf(path, sizeof(path), "%s/class/infiniband_verbs", root);
	assert_int_equal(rmdir(path), 0);
	errno = 0;
	assert_null(ibv_get_device_list(&num));
	assert_int_equal(errno, ENOSYS);
	assert_int_equal(num, 0);
}

static int host_has_rdma_netlink(void)
{
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_RDMA);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_device_without_provider_is_left_out),
		cmocka_unit_test(a_fork_amid_a_list_waits_for_seconds),
		cmocka_unit_test(a_fork_amid_a_list_waits_for_seconds),
		cmocka_unit_test(the_table_is_locked_in_a_process_of_one_thread),
		cmocka_unit_test(a_device_keeps_its_identity),
		cmocka_unit_test(each_reason_is_logged),
		cmocka_unit_test(a_directory_with_other_times_is_the_same),
		cmocka_unit_test(a_device_without_its_file_is_left_out),
		cmocka_unit_test(a_device_keeps_its_identity_without_its_file),
		cmocka_unit_test(a_file_that_cannot_be_looked_at_is_there),
		cmocka_unit_test(a_file_of_another_device_is_none),
		cmocka_unit_test(a_device_is_imported_without_its_file),
		cmocka_unit_test(what_has_no_file_is_not_complained_about),
		cmocka_unit_test(a_device_with_another_file_is_another),
		cmocka_unit_test(a_device_that_was_plugged_in_again_is_another),
		cmocka_unit_test(a_device_is_freed_without_the_lock),
		cmocka_unit_test(a_replaced_device_is_another),
		cmocka_unit_test(a_device_that_cannot_be_opened_says_why),
		cmocka_unit_test(no_devices_is_an_empty_list),
		cmocka_unit_test(no_kernel_support_is_enosys),
	};
	char log[512];
	int failed;

	if (host_has_rdma_netlink()) {
		puts("skipped: this host has RDMA netlink, which takes precedence over sysfs");
		return 77;
	}
	node_of_10 = UVERBS_DEV;
	root = tree_make();
	snprintf(log, sizeof(log), "%s/log", root);
	setenv("VERBS_LOG", "warn", 1);
	setenv("VERBS_LOG_FILE", log, 1);
	setenv("SYSFS_PATH", root, 1);
	setenv("IBV_DRIVERS", FAKE_PLUGIN ":missing", 1);
	put_device("uverbs10", "fake_10", "pci:v00001234d00005678sv0\n", "1\n");
	put_device("uverbs2", "fake_2", "pci:v00001234d00005678sv0\n", "1\n");
	put_device("uverbs3", "other_0", "pci:v0000DEADd00005678sv0\n", "1\n");
	put_device("uverbs4", "new_0", "pci:v00001234d00005678sv0\n", "3\n");
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	tree_remove();
	return failed;
}
