/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast_test.c - groups of an id: which command joins and leaves them, when the QP is attached, and
 * what a failure leaves. The kernel is this test's write().
 */
#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "librdmacm/mcast.c"
#include "tests/unit/heap.h"

enum { FD = 700, NUMBER = 9, GROUP = 40, REPORTED = 5, LID = 0xc001 };

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

static struct {
	struct cm_cmd cmd; /* the last command */
	int commands, fails;
	bool was_locked; /* the id, at the last command */
	bool was_listed; /* a group of it */
	bool takes_qp;   /* a command takes the id's QP away */
	int attached, attach_fails, attaches;
	uint16_t lid;
	uint8_t gid;
	int awaited, released, waits;
	uint32_t reported; /* that a call waited for */
	const void *counter;
} it;

static struct rdma_event_channel channel = { .fd = FD };
static struct cm_id cm;
static struct ibv_qp qp;
static struct sockaddr_in first = { .sin_family = AF_INET, .sin_port = 1 };
static struct sockaddr_in second = { .sin_family = AF_INET, .sin_port = 2 };

static bool id_is_locked(void)
{
	const int ret = pthread_mutex_trylock(&cm.lock);

	if (!ret)
		pthread_mutex_unlock(&cm.lock);
	return ret != 0;
}

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
	if (fd != FD)
		return __real_write(fd, data, size);
	memset(&it.cmd, 0, sizeof(it.cmd));
	memcpy(&it.cmd, data, size);
	it.commands++;
	it.was_locked = id_is_locked();
	it.was_listed = !LIST_EMPTY(&cm.multicasts);
	if (it.takes_qp)
		cm.id.qp = NULL;
	errno = it.fails;
	if (it.fails)
		return -1;
	if (it.cmd.hdr.cmd == RDMA_USER_CM_CMD_JOIN_MCAST)
		((struct rdma_ucm_create_id_resp *)(uintptr_t)it.cmd.join_mcast.response)->id =
			GROUP;
	if (it.cmd.hdr.cmd == RDMA_USER_CM_CMD_LEAVE_MCAST)
		((struct rdma_ucm_destroy_id_resp *)(uintptr_t)it.cmd.destroy_id.response)
			->events_reported = REPORTED;
	return (ssize_t)size;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	return write(fd, cmd, size) == (ssize_t)size ? 0 : errno;
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	(void)fd, (void)cmd, (void)done;
	return errno;
}

socklen_t rdmacm_addr_len(const struct sockaddr *addr)
{
	return addr->sa_family == AF_INET ? sizeof(struct sockaddr_in) : 0;
}

int rdmacm_addr_check(const char *call, const struct sockaddr *addr)
{
	(void)call;
	return addr && rdmacm_addr_len(addr) ? 0 : EINVAL;
}

int rdmacm_addr_put(struct __kernel_sockaddr_storage *to, uint16_t *size,
		    const struct sockaddr *addr)
{
	if (addr->sa_family != AF_INET || ((const struct sockaddr_in *)addr)->sin_port == 0)
		return EAFNOSUPPORT; /* what only this stand-in refuses */
	*size = sizeof(struct sockaddr_in);
	memcpy(to, addr, *size);
	return 0;
}

int ibv_attach_mcast(struct ibv_qp *of, const union ibv_gid *gid, uint16_t lid)
{
	assert_ptr_equal(of, &qp);
	it.gid = gid->raw[0];
	it.lid = lid;
	it.attaches++;
	if (it.attach_fails)
		return it.attach_fails;
	it.attached++;
	return 0;
}

int ibv_detach_mcast(struct ibv_qp *of, const union ibv_gid *gid, uint16_t lid)
{
	assert_ptr_equal(of, &qp);
	assert_int_equal(gid->raw[0], it.gid);
	assert_int_equal(lid, it.lid);
	assert_true(id_is_locked());
	it.attached--;
	return 0;
}

int rdmacm_event_await(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	assert_false(id_is_locked());
	it.awaited++;
	return ETIMEDOUT;
}

void rdmacm_event_release(struct cm_id *id)
{
	assert_ptr_equal(id, &cm);
	assert_false(id_is_locked());
	/* an event that the id keeps is acknowledged before the wait */
	assert_int_equal(it.waits, it.released++);
}

void rdmacm_id_await_acks(struct cm_id *id, const uint32_t *counter, uint32_t reported)
{
	assert_ptr_equal(id, &cm);
	assert_false(id_is_locked());
	it.waits++;
	it.counter = counter;
	it.reported = reported;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	memset(&cm, 0, sizeof(cm));
	pthread_mutex_init(&cm.lock, NULL);
	cm.id.channel = &channel;
	cm.number = NUMBER;
	first.sin_port = 1;
	heap_begin();
	return 0;
}

static int id_end(void **state)
{
	(void)state;
	it.fails = 0;
	while (!LIST_EMPTY(&cm.multicasts))
		assert_int_equal(
			rdma_leave_multicast(&cm.id,
					     (struct sockaddr *)&LIST_FIRST(&cm.multicasts)->addr),
			0);
	assert_false(id_is_locked());
	assert_int_equal(heap.blocks, 0);
	return 0;
}

static void fails_with(int result, int err)
{
	assert_int_equal(result, -1);
	assert_int_equal(errno, err);
}

static int join_at(struct sockaddr_in *addr, void *context)
{
	return rdma_join_multicast(&cm.id, (struct sockaddr *)addr, context);
}

static int leave_at(struct sockaddr_in *addr)
{
	return rdma_leave_multicast(&cm.id, (struct sockaddr *)addr);
}

/* The kernel's answer with the QP's addresses. */
static int attach_group(struct cm_multicast *group)
{
	struct rdma_ud_param param = { .ah_attr = { .grh.dgid.raw[0] = 0xff, .dlid = LID } };

	return rdmacm_multicast_attach(group, &param);
}

/* ---- joining ---- */

/* The lock is held: another thread may read the group's event before its number is known. */
static void a_group_is_joined_under_the_ids_lock(void **state)
{
	const struct cm_multicast *group;
	int context;

	(void)state;
	assert_int_equal(join_at(&first, &context), 0);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_JOIN_MCAST);
	assert_int_equal(it.cmd.hdr.out, sizeof(struct rdma_ucm_create_id_resp));
	assert_true(it.was_locked);
	assert_false(id_is_locked());
	group = LIST_FIRST(&cm.multicasts);
	assert_non_null(group);
	assert_int_equal(it.cmd.join_mcast.uid, (uintptr_t)group);
	assert_int_equal(it.cmd.join_mcast.id, NUMBER);
	assert_int_equal(it.cmd.join_mcast.join_flags, RDMA_MC_JOIN_FLAG_FULLMEMBER);
	assert_int_equal(it.cmd.join_mcast.addr_size, sizeof(first));
	assert_memory_equal(&it.cmd.join_mcast.addr, &first, sizeof(first));
	assert_int_equal(group->number, GROUP);
	assert_ptr_equal(group->id, &cm);
	assert_ptr_equal(group->context, &context);
	assert_memory_equal(&group->addr, &first, sizeof(first));
	assert_false(group->only_sends);
	assert_false(group->attached);
	assert_int_equal(group->events_acked, 0);
	assert_int_equal(it.awaited, 0);
}

static void a_join_that_fails_leaves_no_group(void **state)
{
	static const struct {
		int command, no_memory, port, err;
	} cases[] = { { EPERM, 0, 1, EPERM }, { 0, 1, 1, ENOMEM }, { 0, 0, 0, EAFNOSUPPORT } };

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		it.fails = cases[i].command;
		heap_fail_at(cases[i].no_memory);
		first.sin_port = (in_port_t)cases[i].port;
		fails_with(join_at(&first, NULL), cases[i].err);
		assert_true(LIST_EMPTY(&cm.multicasts));
		assert_int_equal(heap.blocks, 0);
		assert_false(id_is_locked());
	}
	assert_int_equal(it.commands, 1);
	assert_int_equal(it.awaited, 0);
	fails_with(join_at(NULL, NULL), EINVAL);
	assert_int_equal(it.commands, 1);
}

static void an_id_that_waits_returns_what_its_event_says(void **state)
{
	(void)state;
	cm.waits = true;
	fails_with(join_at(&first, NULL), ETIMEDOUT);
	assert_int_equal(it.awaited, 1);
	assert_false(LIST_EMPTY(&cm.multicasts));
	it.fails = EPERM;
	fails_with(join_at(&second, NULL), EPERM);
	assert_int_equal(it.awaited, 1);
}

static void flags_and_masks_are_known_ones(void **state)
{
	enum { ADDRESS = RDMA_CM_JOIN_MC_ATTR_ADDRESS, FLAGS = RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS };
	static const struct {
		uint32_t mask, flags;
		int err;
	} cases[] = {
		{ ADDRESS | FLAGS, RDMA_MC_JOIN_FLAG_FULLMEMBER, 0 },
		{ ADDRESS | FLAGS, RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER, 0 },
		{ ADDRESS | FLAGS, RDMA_MC_JOIN_FLAG_RESERVED, EINVAL },
		{ ADDRESS | FLAGS, RDMA_MC_JOIN_FLAG_RESERVED + 1, EINVAL },
		{ ADDRESS, RDMA_MC_JOIN_FLAG_FULLMEMBER, EINVAL },
		{ FLAGS, RDMA_MC_JOIN_FLAG_FULLMEMBER, EINVAL },
		{ 0, RDMA_MC_JOIN_FLAG_FULLMEMBER, EINVAL },
		{ RDMA_CM_JOIN_MC_ATTR_RESERVED, RDMA_MC_JOIN_FLAG_FULLMEMBER, ENOTSUP },
		{ RDMA_CM_JOIN_MC_ATTR_RESERVED | ADDRESS | FLAGS, RDMA_MC_JOIN_FLAG_FULLMEMBER,
		  ENOTSUP },
	};
	int context;

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct rdma_cm_join_mc_attr_ex attr = { .comp_mask = cases[i].mask,
							.join_flags = cases[i].flags,
							.addr = (struct sockaddr *)&first };
		const int before = it.commands;

		if (cases[i].err) {
			fails_with(rdma_join_multicast_ex(&cm.id, &attr, &context), cases[i].err);
			assert_int_equal(it.commands, before);
			continue;
		}
		assert_int_equal(rdma_join_multicast_ex(&cm.id, &attr, &context), 0);
		assert_int_equal(it.cmd.join_mcast.join_flags, cases[i].flags);
		assert_ptr_equal(LIST_FIRST(&cm.multicasts)->context, &context);
		assert_int_equal(LIST_FIRST(&cm.multicasts)->only_sends,
				 cases[i].flags == RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER);
	}
}

/* ---- the QP ---- */

static void a_qp_is_attached_unless_it_only_sends(void **state)
{
	struct cm_multicast *group;

	(void)state;
	assert_int_equal(join_at(&first, NULL), 0);
	group = LIST_FIRST(&cm.multicasts);
	assert_int_equal(attach_group(group), 0); /* the id has no QP */
	assert_int_equal(it.attaches, 0);
	assert_int_equal(group->mlid, LID);
	assert_int_equal(group->mgid.raw[0], 0xff);
	cm.id.qp = &qp;
	group->only_sends = true;
	assert_int_equal(attach_group(group), 0);
	assert_int_equal(it.attaches, 0);
	assert_false(group->attached);
	group->only_sends = false;
	it.attach_fails = EPERM;
	assert_int_equal(attach_group(group), EPERM);
	assert_false(group->attached);
	it.attach_fails = 0;
	assert_int_equal(attach_group(group), 0);
	assert_true(group->attached);
	assert_int_equal(it.lid, LID);
	assert_int_equal(it.gid, 0xff);
	assert_int_equal(it.attaches, 2);
}

static void all_groups_are_detached_once(void **state)
{
	(void)state;
	rdmacm_multicast_detach_all(&cm);
	cm.id.qp = &qp;
	assert_int_equal(join_at(&first, NULL), 0);
	assert_int_equal(attach_group(LIST_FIRST(&cm.multicasts)), 0);
	assert_int_equal(join_at(&second, NULL), 0);
	assert_int_equal(attach_group(LIST_FIRST(&cm.multicasts)), 0);
	assert_int_equal(it.attached, 2);
	rdmacm_multicast_detach_all(&cm);
	assert_int_equal(it.attached, 0);
	assert_false(id_is_locked());
	rdmacm_multicast_detach_all(&cm);
	assert_int_equal(it.attached, 0);
	assert_false(LIST_EMPTY(&cm.multicasts)); /* the id remains a member */
	assert_int_equal(it.commands, 2);
}

/* An id without groups needs no lock, which a child of fork() may find taken. */
static void without_groups_no_lock_is_taken(void **state)
{
	(void)state;
	pthread_mutex_lock(&cm.lock);
	rdmacm_multicast_detach_all(&cm);
	pthread_mutex_unlock(&cm.lock);
}

static void the_groups_of_a_lost_qp_are_not_detached(void **state)
{
	struct cm_multicast *group;

	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(join_at(&first, NULL), 0);
	group = LIST_FIRST(&cm.multicasts);
	assert_int_equal(attach_group(group), 0);
	cm.id.qp = NULL;
	rdmacm_multicast_detach_all(&cm);
	assert_int_equal(it.attached, 1);
	assert_false(group->attached);
}

/* ---- leaving ---- */

static void a_group_is_left_after_its_events(void **state)
{
	struct cm_multicast *group;

	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(join_at(&first, NULL), 0);
	group = LIST_FIRST(&cm.multicasts);
	assert_int_equal(attach_group(group), 0);
	assert_int_equal(leave_at(&first), 0);
	assert_int_equal(it.cmd.hdr.cmd, RDMA_USER_CM_CMD_LEAVE_MCAST);
	assert_int_equal(it.cmd.hdr.out, sizeof(struct rdma_ucm_destroy_id_resp));
	assert_int_equal(it.cmd.destroy_id.id, GROUP);
	assert_false(it.was_locked);
	assert_false(it.was_listed);
	assert_int_equal(it.attached, 0);
	assert_int_equal(it.released, 1);
	assert_int_equal(it.reported, REPORTED);
	assert_ptr_equal(it.counter, &group->events_acked);
	assert_int_equal(heap.blocks, 0);
}

static void the_group_of_an_address_is_left(void **state)
{
	(void)state;
	assert_int_equal(join_at(&first, NULL), 0);
	assert_int_equal(join_at(&second, NULL), 0);
	assert_int_equal(leave_at(&first), 0);
	assert_memory_equal(&LIST_FIRST(&cm.multicasts)->addr, &second, sizeof(second));
	assert_null(LIST_NEXT(LIST_FIRST(&cm.multicasts), entry));
	fails_with(leave_at(&first), EADDRNOTAVAIL);
	assert_int_equal(it.commands, 3);
	assert_int_equal(it.released, 1);
	fails_with(leave_at(NULL), EINVAL);
	first.sin_family = AF_UNIX;
	fails_with(leave_at(&first), EINVAL);
	first.sin_family = AF_INET;
}

static void a_group_that_cannot_be_left_stays(void **state)
{
	(void)state;
	assert_int_equal(join_at(&first, NULL), 0);
	it.fails = EPERM;
	fails_with(leave_at(&first), EPERM);
	assert_int_equal(it.released, 0);
	assert_null(it.counter);
	assert_false(LIST_EMPTY(&cm.multicasts));
	assert_false(id_is_locked());
	assert_int_equal(heap.blocks, 1);
	assert_int_equal(it.attaches, 0);
}

/* The kernel still has the id as a member, so the QP must receive from the group as before. */
static void a_group_that_cannot_be_left_is_attached_again(void **state)
{
	struct cm_multicast *group;

	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(join_at(&first, NULL), 0);
	group = LIST_FIRST(&cm.multicasts);
	assert_int_equal(attach_group(group), 0);
	it.fails = EPERM;
	fails_with(leave_at(&first), EPERM);
	assert_int_equal(it.attached, 1);
	assert_true(group->attached);
	assert_false(id_is_locked());
	it.attach_fails = ENOMEM;
	fails_with(leave_at(&first), EPERM);
	assert_int_equal(it.attached, 0);
	assert_false(group->attached);
	assert_ptr_equal(LIST_FIRST(&cm.multicasts), group);
}

/* The command is this test's write(): meanwhile, another thread may destroy the QP. */
static void a_group_of_a_lost_qp_is_not_attached_again(void **state)
{
	(void)state;
	cm.id.qp = &qp;
	assert_int_equal(join_at(&first, NULL), 0);
	assert_int_equal(attach_group(LIST_FIRST(&cm.multicasts)), 0);
	it.fails = EPERM;
	it.takes_qp = true;
	fails_with(leave_at(&first), EPERM);
	assert_int_equal(it.attaches, 1);
	assert_false(LIST_FIRST(&cm.multicasts)->attached);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, id_begin, id_end)
	const struct CMUnitTest tests[] = {
		TEST(a_group_is_joined_under_the_ids_lock),
		TEST(a_join_that_fails_leaves_no_group),
		TEST(an_id_that_waits_returns_what_its_event_says),
		TEST(flags_and_masks_are_known_ones),
		TEST(a_qp_is_attached_unless_it_only_sends),
		TEST(all_groups_are_detached_once),
		TEST(without_groups_no_lock_is_taken),
		TEST(the_groups_of_a_lost_qp_are_not_detached),
		TEST(a_group_is_left_after_its_events),
		TEST(the_group_of_an_address_is_left),
		TEST(a_group_that_cannot_be_left_stays),
		TEST(a_group_that_cannot_be_left_is_attached_again),
		TEST(a_group_of_a_lost_qp_is_not_attached_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
