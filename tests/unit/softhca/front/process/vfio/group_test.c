/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * group_test.c - requests to /dev/vfio/GROUP: one program opens it, it joins and leaves a
 * container, and gives its device only in a container with an IOMMU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/vfio/group.c"

enum { ADDR = 0x1000, MEMORY = 64, FD = 9, CONTAINER_INODE = 5, OTHER_INODE = 6, REFUSED = EDOM };

static struct {
	uint8_t memory[MEMORY];
	bool unreadable, unwritable;
	size_t written;
	int failed, open_error, stat_error;
	ino_t inode; /* of the descriptor that the program names */
	bool has_iommu, no_device;
	unsigned int settles, attaches, detaches, devices, opens;
	bool cloexec;
	struct vfio_file file, container, other;
	const struct vfio_file_kind *kind;
} it;

static struct adapter shown = { .index = 0x11 };
static struct seccomp_notif notif;
static struct call call = { .notif = &notif, .tid = 77 };
static struct node_kind *registered;
static uint8_t a_device, a_container;

int caller_read(const struct call *of, uint64_t addr, void *buf, size_t len)
{
	assert_ptr_equal(of, &call);
	assert_int_equal(addr, ADDR);
	memcpy(buf, it.memory, len);
	return it.unreadable ? EFAULT : 0;
}

int caller_read_string(const struct call *of, uint64_t addr, char *buf, size_t size)
{
	assert_int_equal(size, 32);
	return caller_read(of, addr, buf, size);
}

int caller_write(const struct call *of, uint64_t addr, const void *buf, size_t len)
{
	assert_ptr_equal(of, &call);
	assert_int_equal(addr, ADDR);
	memcpy(it.memory, buf, len);
	it.written = len;
	return it.unwritable ? EFAULT : 0;
}

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, 77);
	assert_int_equal(fd, FD);
	st->st_ino = it.inode;
	return it.stat_error;
}

struct vfio_file *vfio_file_find(const struct stat *st)
{
	return st->st_ino == CONTAINER_INODE ? &it.container
	       : st->st_ino == OTHER_INODE   ? &it.other
					     : NULL;
}

struct vfio_container *vfio_container_of(const struct vfio_file *file)
{
	return file == &it.container ? (struct vfio_container *)&a_container : NULL;
}

void vfio_container_attach(struct vfio_container *container)
{
	assert_ptr_equal(container, &a_container);
	it.attaches++;
}

void vfio_container_detach(struct vfio_container *container)
{
	assert_ptr_equal(container, &a_container);
	it.detaches++;
}

bool vfio_container_has_iommu(const struct vfio_container *container)
{
	assert_ptr_equal(container, &a_container);
	return it.has_iommu;
}

struct vfio_device *vfio_device_get(void)
{
	return it.no_device ? NULL : (struct vfio_device *)&a_device;
}

struct adapter *vfio_device_shown(void)
{
	return &shown;
}

void vfio_device_open(struct call *of, struct vfio_device *device)
{
	assert_ptr_equal(of, &call);
	assert_ptr_equal(device, &a_device);
	it.devices++;
}

void vfio_files_settle(void)
{
	it.settles++;
}

int vfio_file_open_empty(struct call *of, const struct vfio_file_kind *kind, void *object,
			 bool cloexec)
{
	assert_ptr_equal(of, &call);
	assert_null(object);
	if (it.open_error)
		return it.open_error;
	it.opens++;
	it.cloexec = cloexec;
	it.file.kind = it.kind = kind;
	return 0;
}

void call_fail(struct call *of, int error)
{
	assert_ptr_equal(of, &call);
	it.failed = error;
}

void node_register(struct node_kind *kind)
{
	registered = kind;
}

static int group_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&notif, 0, sizeof(notif));
	notif.data.args[2] = ADDR;
	it.has_iommu = true;
	vfio_group_start();
	registered->open(&call, VFIO_FIRST_GROUP, 0);
	assert_int_equal(it.failed, 0);
	assert_int_equal(it.opens, 1);
	return 0;
}

static int group_end(void **state)
{
	(void)state;
	it.kind->close(&it.file);
	assert_int_equal(group.users, 0);
	assert_null(group.container);
	return 0;
}

static int request(uint32_t number)
{
	it.written = 0;
	for (unsigned int i = 0; i < it.kind->num_requests; i++)
		if (it.kind->requests[i].number == number)
			return it.kind->requests[i].answer(&it.file, &call);
	return ENOTTY;
}

static int container_set(ino_t inode)
{
	const int fd = FD;

	it.inode = inode;
	memcpy(it.memory, &fd, sizeof(fd));
	return request(VFIO_GROUP_SET_CONTAINER);
}

static void there_is_one_group(void **state)
{
	(void)state;
	assert_string_equal(registered->path, "/dev/vfio/");
	assert_int_equal(registered->major, 511);
	assert_true(registered->exists(NULL, 1000));
	assert_false(registered->exists(NULL, 1001));
	assert_false(registered->exists(NULL, 0));
	it.no_device = true;
	assert_false(registered->exists(NULL, 1000));
}

static void a_file_is_the_groups_by_its_kind(void **state)
{
	struct stat st = { .st_ino = OTHER_INODE };

	(void)state;
	assert_int_equal(registered->find(&st), -1);
	it.other.kind = it.kind;
	assert_int_equal(registered->find(&st), 1000);
	st.st_ino = 1;
	assert_int_equal(registered->find(&st), -1);
}

static void one_program_opens_it(void **state)
{
	(void)state;
	assert_int_equal(it.settles, 1);
	assert_false(it.cloexec);
	registered->open(&call, VFIO_FIRST_GROUP, O_CLOEXEC);
	assert_int_equal(it.failed, EBUSY);
	assert_int_equal(it.opens, 1);
	it.kind->close(&it.file);
	it.failed = 0;
	it.open_error = EMFILE;
	registered->open(&call, VFIO_FIRST_GROUP, O_CLOEXEC);
	assert_int_equal(it.failed, EMFILE);
	assert_int_equal(group.users, 0);
	it.failed = it.open_error = 0;
	registered->open(&call, VFIO_FIRST_GROUP, O_CLOEXEC);
	assert_int_equal(it.failed, 0);
	assert_true(it.cloexec);
}

static void its_status_names_the_container(void **state)
{
	struct vfio_group_status *status = (void *)it.memory;

	(void)state;
	status->argsz = sizeof(*status);
	assert_int_equal(request(VFIO_GROUP_GET_STATUS), 0);
	assert_int_equal(it.written, sizeof(*status));
	assert_int_equal(status->flags, VFIO_GROUP_FLAGS_VIABLE);
	assert_int_equal(container_set(CONTAINER_INODE), 0);
	status->argsz = sizeof(*status);
	assert_int_equal(request(VFIO_GROUP_GET_STATUS), 0);
	assert_int_equal(status->flags, VFIO_GROUP_FLAGS_VIABLE | VFIO_GROUP_FLAGS_CONTAINER_SET);
	status->argsz--;
	assert_int_equal(request(VFIO_GROUP_GET_STATUS), EINVAL);
	status->argsz++;
	it.unwritable = true;
	assert_int_equal(request(VFIO_GROUP_GET_STATUS), EFAULT);
	it.unreadable = true;
	status->argsz = 0;
	assert_int_equal(request(VFIO_GROUP_GET_STATUS), EFAULT);
}

static void it_joins_one_container(void **state)
{
	(void)state;
	it.unreadable = true;
	assert_int_equal(container_set(CONTAINER_INODE), EFAULT);
	it.unreadable = false;
	it.stat_error = EACCES;
	assert_int_equal(container_set(CONTAINER_INODE), EBADF);
	it.stat_error = 0;
	assert_int_equal(container_set(OTHER_INODE), EINVAL);
	assert_int_equal(container_set(1), EINVAL);
	assert_int_equal(it.attaches, 0);
	assert_int_equal(container_set(CONTAINER_INODE), 0);
	assert_int_equal(it.attaches, 1);
	assert_int_equal(container_set(CONTAINER_INODE), EINVAL);
	assert_int_equal(it.attaches, 1);
}

static void it_leaves_the_container_when_nothing_else_is_open(void **state)
{
	(void)state;
	assert_int_equal(request(VFIO_GROUP_UNSET_CONTAINER), EINVAL);
	assert_int_equal(container_set(CONTAINER_INODE), 0);
	vfio_group_keep(); /* the device is open */
	assert_int_equal(request(VFIO_GROUP_UNSET_CONTAINER), EBUSY);
	assert_int_equal(it.detaches, 0);
	vfio_group_put();
	it.settles = 0;
	assert_int_equal(request(VFIO_GROUP_UNSET_CONTAINER), 0);
	assert_int_equal(it.settles, 1);
	assert_int_equal(it.detaches, 1);
	assert_int_equal(request(VFIO_GROUP_UNSET_CONTAINER), EINVAL);
}

static void the_last_user_takes_it_out(void **state)
{
	(void)state;
	assert_int_equal(container_set(CONTAINER_INODE), 0);
	vfio_group_keep();
	it.kind->close(&it.file);
	assert_int_equal(it.detaches, 0);
	vfio_group_put();
	assert_int_equal(it.detaches, 1);
	vfio_group_keep(); /* for the teardown */
}

static void the_device_has_a_name(void **state)
{
	(void)state;
	assert_int_equal(container_set(CONTAINER_INODE), 0);
	strcpy((char *)it.memory, "5fca:12:00.0");
	assert_int_equal(request(VFIO_GROUP_GET_DEVICE_FD), 0);
	assert_int_equal(it.devices, 1);
	strcpy((char *)it.memory, "5fca:11:00.0");
	assert_int_equal(request(VFIO_GROUP_GET_DEVICE_FD), ENODEV);
	it.unreadable = true;
	strcpy((char *)it.memory, "5fca:12:00.0");
	assert_int_equal(request(VFIO_GROUP_GET_DEVICE_FD), EFAULT);
	assert_int_equal(it.devices, 1);
}

static void the_device_needs_an_iommu(void **state)
{
	(void)state;
	strcpy((char *)it.memory, "5fca:12:00.0");
	assert_int_equal(request(VFIO_GROUP_GET_DEVICE_FD), EINVAL);
	assert_int_equal(container_set(CONTAINER_INODE), 0);
	it.has_iommu = false;
	strcpy((char *)it.memory, "5fca:12:00.0");
	assert_int_equal(request(VFIO_GROUP_GET_DEVICE_FD), EINVAL);
	assert_int_equal(it.devices, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, group_begin, group_end)
	const struct CMUnitTest tests[] = {
		CASE(there_is_one_group),
		CASE(a_file_is_the_groups_by_its_kind),
		CASE(one_program_opens_it),
		CASE(its_status_names_the_container),
		CASE(it_joins_one_container),
		CASE(it_leaves_the_container_when_nothing_else_is_open),
		CASE(the_last_user_takes_it_out),
		CASE(the_device_has_a_name),
		CASE(the_device_needs_an_iommu),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
