/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * device_test.c - selection and opening of devices; lifetimes of their contexts, PDs and XRC
 * domains; contexts whose descriptor the program has closed. A libibverbs of the test counts open
 * objects; an ordinary file replaces a device's.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "librdmacm/device.c"

enum { DEVICES = 3, REFUSED = EDOM, HANG_SECONDS = 5, GUID = 0x100 };

static struct played {
	struct ibv_device ibv;
	struct verbs_context verbs;
	bool is_plugged;
	int index;
	int opened, closed;
} played[DEVICES];

static struct {
	int list_error, open_error, query_error, pd_error, xrcd_error;
	int lists, pds, xrcds;
	int read_atoms;
	bool marks_fail, is_memory_short;
} it;

static struct ibv_pd the_pd;
static struct ibv_xrcd the_xrcd;

int __real_fcntl(int fd, int command, ...);
int __wrap_fcntl(int fd, int command, ...) __attribute__((visibility("default")));
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) __attribute__((visibility("default")));

int __wrap_fcntl(int fd, int command, ...)
{
	va_list args;
	int value;

	va_start(args, command);
	value = va_arg(args, int);
	va_end(args);
	if (command == F_SETSIG && it.marks_fail)
		return -1;
	return __real_fcntl(fd, command, value);
}

/* fcntl() has these names where offsets, or times as well, have 64 bits and words have 32, so all
 * are wrapped */
int __wrap_fcntl64(int fd, int command, ...)
	__attribute__((alias("__wrap_fcntl"), visibility("default")));
int __wrap___fcntl_time64(int fd, int command, ...)
	__attribute__((alias("__wrap_fcntl"), visibility("default")));

void *__wrap_calloc(size_t count, size_t size)
{
	return it.is_memory_short ? NULL : __real_calloc(count, size);
}

void rdmacm_watch_exit(void)
{
}

void rdmacm_id_spare_forked(void)
{
}

struct ibv_device **ibv_get_device_list(int *count)
{
	struct ibv_device **list = malloc((DEVICES + 1) * sizeof(*list));
	int at = 0;

	assert_null(count);
	errno = it.list_error;
	for (int i = 0; i < DEVICES; i++) {
		if (played[i].is_plugged)
			list[at++] = &played[i].ibv;
	}
	list[at] = NULL;
	if (it.list_error) {
		free(list);
		return NULL;
	}
	it.lists++;
	return list;
}

void ibv_free_device_list(struct ibv_device **list)
{
	it.lists--;
	free(list);
}

static struct played *played_of(struct ibv_device *ibv)
{
	return container_of(ibv, struct played, ibv);
}

__be64 ibv_get_device_guid(struct ibv_device *ibv)
{
	return GUID + (__be64)(played_of(ibv) - played);
}

int ibv_get_device_index(struct ibv_device *ibv)
{
	return played_of(ibv)->index;
}

struct ibv_context *ibv_open_device(struct ibv_device *ibv)
{
	struct played *one = played_of(ibv);

	errno = it.open_error;
	if (it.open_error)
		return NULL;
	one->opened++;
	one->verbs.context.cmd_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	return &one->verbs.context;
}

int ibv_close_device(struct ibv_context *context)
{
	struct played *one = container_of(context, struct played, verbs.context);

	one->closed++;
	close(context->cmd_fd);
	return 0;
}

int ibv_query_device(struct ibv_context *context, struct ibv_device_attr *attr)
{
	(void)context;
	attr->max_qp_init_rd_atom = it.read_atoms;
	attr->max_qp_rd_atom = it.read_atoms + 1;
	return it.query_error;
}

struct ibv_pd *ibv_alloc_pd(struct ibv_context *context)
{
	the_pd.context = context;
	errno = it.pd_error;
	it.pds += !it.pd_error;
	return it.pd_error ? NULL : &the_pd;
}

int ibv_dealloc_pd(struct ibv_pd *pd)
{
	assert_ptr_equal(pd, &the_pd);
	it.pds--;
	return 0;
}

static struct ibv_xrcd *xrcd_open(struct ibv_context *context, struct ibv_xrcd_init_attr *attr)
{
	assert_int_equal(attr->comp_mask, IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS);
	assert_int_equal(attr->fd, -1);
	assert_int_equal(attr->oflags, O_CREAT);
	the_xrcd.context = context;
	errno = it.xrcd_error;
	it.xrcds += !it.xrcd_error;
	return it.xrcd_error ? NULL : &the_xrcd;
}

static int xrcd_close(struct ibv_xrcd *xrcd)
{
	assert_ptr_equal(xrcd, &the_xrcd);
	it.xrcds--;
	return 0;
}

static int devices_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(played, 0, sizeof(played));
	it.read_atoms = 16;
	for (int i = 0; i < DEVICES; i++) {
		played[i].is_plugged = i < 2;
		played[i].index = i;
		played[i].verbs.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
		played[i].verbs.sz = sizeof(played[i].verbs);
		played[i].verbs.open_xrcd = xrcd_open;
		played[i].verbs.close_xrcd = xrcd_close;
	}
	return 0;
}

/* Checks that nothing is left open, and that the lock is free: a forgotten unlock would only show
 * in the next call. */
static int devices_end(void **state)
{
	struct cm_device *device;

	(void)state;
	rdmacm_device_close_all();
	kept = NULL;
	while ((device = LIST_FIRST(&devices)))
		device_close(device);
	assert_true(cm_lock_try(&lock));
	cm_lock_drop(&lock);
	assert_int_equal(it.lists, 0);
	assert_int_equal(it.pds, 0);
	for (int i = 0; i < DEVICES; i++)
		assert_int_equal(played[i].opened, played[i].closed);
	return 0;
}

static struct cm_device *device_found(uint64_t guid, int index)
{
	struct cm_device *device = NULL;

	return rdmacm_device_find(guid, index, &device) ? NULL : device;
}

static void a_device_is_opened_once(void **state)
{
	struct cm_device *device = device_found(GUID + 1, -1);

	(void)state;
	assert_ptr_equal(device->verbs, &played[1].verbs.context);
	assert_ptr_equal(device_found(GUID + 1, 1), device);
	assert_int_equal(device->users, 2);
	assert_int_equal(played[1].opened, 1);
	assert_int_equal(played[0].opened, 0);
	rdmacm_device_put(device);
	rdmacm_device_put(device);
	assert_int_equal(device->users, 0);
	/* stays open, so that the next connection need not open it */
	assert_int_equal(played[1].closed, 0);
}

/* Two devices may share a GUID, so the index decides; a renamed device keeps its index. */
static void an_index_counts_more_than_a_guid(void **state)
{
	(void)state;
	assert_ptr_equal(device_found(GUID + 1, 0)->ibv, &played[0].ibv);
	played[2].is_plugged = true;
	played[2].index = -1;
	assert_null(device_found(GUID, 7));
	assert_ptr_equal(device_found(GUID + 2, 7)->ibv, &played[2].ibv);
	assert_int_equal(device_found(GUID, -1)->index, 0);
}

/* Without an index, each of several known devices is found by its GUID, whatever their order. */
static void known_devices_are_found_by_their_guid(void **state)
{
	(void)state;
	for (int i = 0; i < DEVICES; i++) {
		played[i].is_plugged = true;
		played[i].index = -1;
	}
	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < DEVICES; i++) {
			assert_ptr_equal(device_found(GUID + (uint64_t)i, -1)->ibv, &played[i].ibv);
			assert_ptr_equal(device_found(GUID + (uint64_t)i, i)->ibv, &played[i].ibv);
		}
	}
	assert_null(device_found(GUID + DEVICES, -1));
	for (int i = 0; i < DEVICES; i++)
		assert_int_equal(played[i].opened, 1);
}

static void a_device_that_comes_later_is_found(void **state)
{
	struct cm_device *device = NULL;

	(void)state;
	assert_int_equal(rdmacm_device_find(GUID + 2, 2, &device), ENODEV);
	assert_null(device);
	played[2].is_plugged = true;
	assert_ptr_equal(device_found(GUID + 2, 2)->ibv, &played[2].ibv);
	assert_int_equal(it.lists, 1); /* only the newest list is kept */
}

static void what_cannot_be_opened_says_why(void **state)
{
	struct cm_device *device = NULL;

	(void)state;
	it.list_error = ENOSYS;
	assert_int_equal(rdmacm_device_find(GUID, 0, &device), ENOSYS);
	it.list_error = 0;
	it.open_error = EACCES;
	assert_int_equal(rdmacm_device_find(GUID, 0, &device), EACCES);
	it.open_error = 0;
	it.query_error = REFUSED;
	assert_int_equal(rdmacm_device_find(GUID, 0, &device), REFUSED);
	assert_null(device);
	assert_int_equal(played[0].closed, 1);
	it.query_error = 0;
	assert_int_equal(device_found(GUID, 0)->users, 1); /* only the last device matched */
}

/* The program has closed the descriptor of a device in use, so the device has no context, but it
 * stays for its users. */
static void a_device_in_use_stays_in_the_list_without_a_context(void **state)
{
	struct cm_device *device = device_found(GUID, 0), *other = NULL;

	(void)state;
	close(device->verbs->cmd_fd);
	/* its context is forgotten, not closed, as the descriptor may be another file's */
	played[0].closed++;
	it.open_error = EACCES;
	assert_int_equal(rdmacm_device_find(GUID, 0, &other), EACCES);
	assert_null(device->verbs);
	it.open_error = 0;
	played[0].is_plugged = false;
	assert_int_equal(rdmacm_device_find(GUID + 2, 2, &other), ENODEV);
	assert_true(device_is_own(device));
	assert_int_equal(rdmacm_device_find(GUID, 0, &other), ENODEV);
	rdmacm_device_put(device);
	assert_false(device_is_own(device));
}

static void reads_and_atomics_are_limited_to_a_byte(void **state)
{
	struct cm_device *device;

	(void)state;
	it.read_atoms = 254;
	device = device_found(GUID, 0);
	assert_int_equal(device->max_initiator_depth, 254);
	assert_int_equal(device->max_responder_resources, 255);
	it.read_atoms = 255;
	device = device_found(GUID + 1, 1);
	assert_int_equal(device->max_initiator_depth, 255);
	assert_int_equal(device->max_responder_resources, 255);
}

static void without_memory_no_device_is_found(void **state)
{
	struct cm_device *device, **list;
	int count;

	(void)state;
	it.is_memory_short = true;
	assert_int_equal(rdmacm_device_find(GUID, 0, &device), ENOMEM);
	it.is_memory_short = false;
	assert_non_null(device_found(GUID, 0));
	it.is_memory_short = true;
	assert_int_equal(rdmacm_device_find_all(&list, &count), ENOMEM);
	assert_null(rdma_get_devices(&count));
	assert_int_equal(errno, ENOMEM);
	assert_int_equal(count, 0);
}

/* A closed descriptor's number may belong to another file, even to another open of the same device,
 * so the context is lost. */
static void a_closed_descriptor_loses_its_context(void **state)
{
	static const struct {
		const char *file;
		bool marks_fail, is_lost;
	} rows[] = { { "/dev/zero", false, true },
		     { "/dev/zero", true, true },
		     { "/dev/null", false, true },
		     /* the same file cannot be told from the context's, so it counts as it */
		     { "/dev/null", true, false },
		     { NULL, false, true },
		     { NULL, true, true } };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct cm_device *device;
		int fd, other;

		devices_begin(state);
		it.marks_fail = rows[i].marks_fail;
		device = device_found(GUID, 0);
		device->pd = &the_pd;
		device->xrcd = &the_xrcd;
		device->xrcd_users = 1;
		fd = device->verbs->cmd_fd;
		close(fd);
		other = rows[i].file ? open(rows[i].file, O_RDWR | O_CLOEXEC) : fd;
		assert_int_equal(other, fd);
		assert_ptr_equal(device_found(GUID, 0), device);
		assert_int_equal(played[0].opened, rows[i].is_lost ? 2 : 1);
		assert_int_equal(played[0].closed, 0);
		assert_int_equal(device->xrcd_users, rows[i].is_lost ? 0 : 1);
		assert_ptr_equal(device->pd, rows[i].is_lost ? NULL : &the_pd);
		assert_ptr_equal(device->xrcd, rows[i].is_lost ? NULL : &the_xrcd);
		device->pd = NULL;
		device->xrcd = NULL;
		device->users = 0;
		played[0].closed += rows[i].is_lost; /* closes the lost context */
		devices_end(state);
		close(fd);
	}
}

static void a_lost_context_is_not_closed_with_its_device(void **state)
{
	struct cm_device *device = device_found(GUID, 0);
	int fd = device->verbs->cmd_fd;

	(void)state;
	close(fd);
	rdmacm_device_remove(device);
	rdmacm_device_put(device);
	assert_int_equal(played[0].closed, 0);
	played[0].closed = 1;
	assert_true(LIST_EMPTY(&devices) || LIST_FIRST(&devices) != device);
}

static void a_removed_device_closes_with_its_last_user(void **state)
{
	struct cm_device *device = device_found(GUID, 0);

	(void)state;
	assert_ptr_equal(device_found(GUID, 0), device);
	rdmacm_device_remove(device);
	rdmacm_device_put(device);
	assert_int_equal(played[0].closed, 0);
	rdmacm_device_put(device);
	assert_int_equal(played[0].closed, 1);
	assert_ptr_equal(device_found(GUID, 0)->verbs,
			 &played[0].verbs.context); /* the device was plugged in again */
	assert_int_equal(played[0].opened, 2);
}

static void a_device_that_is_gone_closes_when_the_list_is_read(void **state)
{
	struct cm_device *used = device_found(GUID, 0), *unused = device_found(GUID + 1, 1);

	(void)state;
	rdmacm_device_put(unused);
	played[0].is_plugged = played[1].is_plugged = false;
	assert_null(device_found(GUID + 2, 2));
	assert_int_equal(played[1].closed, 1);
	assert_int_equal(played[0].closed, 0);
	assert_null(used->ibv);
	assert_false(device_is_any());
	rdmacm_device_put(used);
	assert_int_equal(played[0].closed, 1);
}

static void all_ids_share_a_pd(void **state)
{
	struct cm_device *device = device_found(GUID, 0);
	struct ibv_pd *pd = NULL;

	(void)state;
	it.pd_error = REFUSED;
	assert_int_equal(rdmacm_device_get_pd(device, &pd), REFUSED);
	assert_null(pd);
	it.pd_error = 0;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rdmacm_device_get_pd(device, &pd), 0);
		assert_ptr_equal(pd, &the_pd);
		assert_ptr_equal(pd->context, device->verbs);
		assert_int_equal(it.pds, 1);
	}
	rdmacm_device_put(device);
}

static void an_xrc_domain_closes_with_its_last_user(void **state)
{
	struct cm_device *device = device_found(GUID, 0);
	struct ibv_xrcd *xrcd = NULL;

	(void)state;
	it.xrcd_error = REFUSED;
	assert_int_equal(rdmacm_device_get_xrcd(device, &xrcd), REFUSED);
	it.xrcd_error = 0;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(rdmacm_device_get_xrcd(device, &xrcd), 0);
		assert_ptr_equal(xrcd, &the_xrcd);
	}
	rdmacm_device_put_xrcd(device);
	assert_int_equal(it.xrcds, 1);
	rdmacm_device_put_xrcd(device);
	assert_int_equal(it.xrcds, 0);
	assert_null(device->xrcd);
	rdmacm_device_put(device);
}

static void all_devices_are_handed_out_in_order(void **state)
{
	struct ibv_context **list;
	int count = -1;

	(void)state;
	list = rdma_get_devices(&count);
	assert_int_equal(count, 2);
	assert_ptr_equal(list[0], &played[0].verbs.context);
	assert_ptr_equal(list[1], &played[1].verbs.context);
	assert_null(list[2]);
	rdma_free_devices(list);
	rdmacm_device_put(device_found(GUID, 0));
	rdmacm_device_close_all(); /* nothing is closed, as programs may still use the contexts */
	it.lists++;                /* the list it freed */
	kept = ibv_get_device_list(NULL);
	it.lists--;
	assert_int_equal(played[0].closed + played[1].closed, 0);
}

static void devices_that_cannot_be_opened_are_left_out(void **state)
{
	struct cm_device **list;
	int count = -1;

	(void)state;
	it.open_error = EACCES;
	assert_int_equal(rdmacm_device_find_all(&list, &count), EACCES);
	it.open_error = 0;
	device_found(GUID + 1, 1);
	it.open_error = EACCES;
	assert_int_equal(rdmacm_device_find_all(&list, &count), 0);
	assert_int_equal(count, 1);
	assert_ptr_equal(list[0]->ibv, &played[1].ibv);
	assert_int_equal(list[0]->users, 2);
	free(list);
	it.list_error = ENOSYS;
	assert_int_equal(rdmacm_device_find_all(&list, &count), ENODEV);
	it.list_error = EMFILE;
	assert_int_equal(rdmacm_device_find_all(&list, &count), EMFILE);
	assert_null(rdma_get_devices(NULL));
	assert_int_equal(errno, EMFILE);
}

static void no_adapter_is_no_device(void **state)
{
	(void)state;
	parent_had_any = false;
	it.list_error = ENOSYS;
	assert_int_equal(rdmacm_device_must_exist(), ENODEV);
	it.list_error = EMFILE;
	assert_int_equal(rdmacm_device_must_exist(), EMFILE);
	it.list_error = 0;
	played[0].is_plugged = played[1].is_plugged = false;
	assert_int_equal(rdmacm_device_must_exist(), ENODEV);
	played[1].is_plugged = true;
	assert_int_equal(rdmacm_device_must_exist(), 0);
	it.list_error = EMFILE; /* no second lookup */
	assert_int_equal(rdmacm_device_must_exist(), 0);
	assert_int_equal(played[1].opened, 0);
}

static int child_has_no_devices(struct cm_device *of_parent)
{
	if (!LIST_EMPTY(&devices) || kept || !device_is_any())
		return 1;
	it.list_error = EMFILE;
	if (rdmacm_device_must_exist())
		return 2;
	it.list_error = 0;
	rdmacm_device_remove(of_parent);
	rdmacm_device_put(of_parent); /* as the parent closes it */
	if (played[0].closed)
		return 3;
	return device_found(GUID, 0) == of_parent || played[0].opened != 2 ? 4 : 0;
}

/* Another thread of the parent may hold the lock during fork(), so the child starts with a new
 * one. */
static void a_child_begins_without_devices(void **state)
{
	struct cm_device *device = device_found(GUID, 0);
	int status;
	pid_t child;

	(void)state;
	cm_lock_take(&lock);
	child = fork();
	if (!child) {
		alarm(HANG_SECONDS);
		_exit(child_has_no_devices(device));
	}
	cm_lock_drop(&lock);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	assert_ptr_equal(device_found(GUID, 0), device);
}

#define DEVICE_TEST(name) cmocka_unit_test_setup_teardown(name, devices_begin, devices_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		DEVICE_TEST(a_device_is_opened_once),
		DEVICE_TEST(an_index_counts_more_than_a_guid),
		DEVICE_TEST(known_devices_are_found_by_their_guid),
		DEVICE_TEST(a_device_that_comes_later_is_found),
		DEVICE_TEST(what_cannot_be_opened_says_why),
		DEVICE_TEST(a_device_in_use_stays_in_the_list_without_a_context),
		DEVICE_TEST(reads_and_atomics_are_limited_to_a_byte),
		DEVICE_TEST(without_memory_no_device_is_found),
		DEVICE_TEST(a_closed_descriptor_loses_its_context),
		DEVICE_TEST(a_lost_context_is_not_closed_with_its_device),
		DEVICE_TEST(a_removed_device_closes_with_its_last_user),
		DEVICE_TEST(a_device_that_is_gone_closes_when_the_list_is_read),
		DEVICE_TEST(all_ids_share_a_pd),
		DEVICE_TEST(an_xrc_domain_closes_with_its_last_user),
		DEVICE_TEST(all_devices_are_handed_out_in_order),
		DEVICE_TEST(devices_that_cannot_be_opened_are_left_out),
		DEVICE_TEST(no_adapter_is_no_device),
		DEVICE_TEST(a_child_begins_without_devices),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
