/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * xrcd_test.c - XRC domains: which opens share one, what the flags of an open say, and QPs of a
 * domain that other programs open.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/xrcd.c"

enum { FD = 9, QPN = 0x123, REFUSED = EDOM };

static struct {
	struct stat st;
	int stat_error, allocate_error, reopen_error;
	unsigned int allocated;
	uint64_t user_handle;
	struct adapter other;
	struct uverbs_qp qp; /* that qp_reopen() makes */
	unsigned int destroyed;
} it;

int client_fd_stat(pid_t tid, int fd, struct stat *st)
{
	assert_int_equal(tid, rig.call.tid);
	assert_int_equal(fd, FD);
	*st = it.st;
	return it.stat_error;
}

int adapter_allocate(struct adapter *adapter, enum prm_opcode opcode, uint32_t *number)
{
	assert_non_null(adapter);
	assert_int_equal(opcode, PRM_OP_ALLOC_XRCD);
	*number = 0x40 + it.allocated;
	it.allocated += !it.allocate_error;
	return it.allocate_error;
}

static int qp_destroy_of_test(struct object *object, pid_t tid)
{
	(void)object;
	(void)tid;
	it.destroyed++;
	return REFUSED; /* so that the rig does not free it */
}

int qp_reopen(struct uverbs_call *uc, struct uverbs_xrcd *xrcd, struct real_qp *real,
	      uint64_t user_handle, struct uverbs_qp **qp)
{
	assert_ptr_equal(uc, &rig.call);
	assert_non_null(xrcd->domain);
	it.user_handle = user_handle;
	it.qp.real = real;
	it.qp.base.handle = 0x77;
	it.qp.base.destroy = qp_destroy_of_test;
	*qp = &it.qp;
	return it.reopen_error;
}

static int xrcd_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	it.st.st_dev = 3;
	it.st.st_ino = 5;
	fld_set(rig.adapter.caps, HCA_CAP_XRC, 1);
	return 0;
}

static int xrcd_end(void **state)
{
	rig_end(state);
	assert_true(LIST_EMPTY(&domains));
	return 0;
}

static int open_with(uint32_t fd, uint32_t flags)
{
	const struct ib_uverbs_open_xrcd cmd = { .fd = fd, .oflags = flags };

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return xrcd_open(&rig.call);
}

static uint32_t last_handle(void)
{
	const struct ib_uverbs_open_xrcd_resp *resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));

	return resp->xrcd_handle;
}

static struct xrc_domain *opened(uint32_t fd)
{
	assert_int_equal(open_with(fd, O_CREAT), 0);
	return ((struct uverbs_xrcd *)rig.objects[last_handle()])->domain;
}

static void a_file_has_one_domain(void **state)
{
	const struct xrc_domain *domain = opened(FD);

	(void)state;
	assert_int_equal(xrc_domain_number(domain), 0x40);
	assert_ptr_equal(opened(FD), domain);
	assert_int_equal(domain->users, 2);
	assert_int_equal(it.allocated, 1);
	it.st.st_ino++;
	assert_ptr_not_equal(opened(FD), domain);
	it.st.st_ino--;
	it.st.st_dev++;
	assert_ptr_not_equal(opened(FD), domain);
	it.st.st_dev--;
	assert_null(find_domain(&it.other, &it.st));
	assert_ptr_equal(find_domain(&rig.adapter, &it.st), domain);
}

static void a_domain_without_a_file_is_private(void **state)
{
	const struct xrc_domain *domain;

	(void)state;
	it.st.st_dev = it.st.st_ino = 0;
	domain = opened(UINT32_MAX);
	assert_ptr_not_equal(opened(UINT32_MAX), domain);
	assert_ptr_not_equal(opened(FD), domain);
	assert_int_equal(it.allocated, 3);
}

static void flags_are_those_of_open(void **state)
{
	(void)state;
	assert_int_equal(open_with(FD, 0), EAGAIN);
	assert_int_equal(open_with(FD, O_EXCL), EAGAIN);
	assert_int_equal(open_with(FD, O_CREAT | O_EXCL), 0);
	assert_int_equal(open_with(FD, O_CREAT | O_EXCL), EINVAL);
	assert_int_equal(open_with(FD, O_EXCL), EINVAL);
	assert_int_equal(open_with(FD, 0), 0);
	assert_int_equal(it.allocated, 1);
}

static void what_cannot_be_opened_leaves_nothing(void **state)
{
	(void)state;
	fld_set(rig.adapter.caps, HCA_CAP_XRC, 0);
	assert_int_equal(open_with(FD, O_CREAT), EOPNOTSUPP);
	fld_set(rig.adapter.caps, HCA_CAP_XRC, 1);
	rig.in_refused = UVERBS_ATTR_CORE_IN;
	assert_int_equal(open_with(FD, O_CREAT), EFAULT);
	rig.in_refused = UINT16_MAX;
	assert_int_equal(rig.made, 0);
	it.stat_error = ENOENT;
	assert_int_equal(open_with(FD, O_CREAT), EBADF);
	it.stat_error = 0;
	it.allocate_error = REFUSED;
	assert_int_equal(open_with(FD, O_CREAT), REFUSED);
	assert_int_equal(rig.made, rig.freed);
	assert_true(LIST_EMPTY(&domains));
	it.allocate_error = 0;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(open_with(FD, O_CREAT), EFAULT);
	assert_int_equal(rig.made, rig.freed);
	assert_int_equal(rig.released, 1);
	assert_true(LIST_EMPTY(&domains));
}

static void the_last_close_destroys_the_domain(void **state)
{
	const struct xrc_domain *domain = opened(FD);
	uint32_t handle = last_handle();

	(void)state;
	opened(FD);
	rig_in(UVERBS_ATTR_CORE_IN, &handle, sizeof(handle));
	assert_int_equal(xrcd_close_write(&rig.call), 0);
	assert_int_equal(rig.released, 0);
	assert_int_equal(domain->users, 1);
	handle = last_handle();
	rig_in_object(UVERBS_ATTR_DESTROY_XRCD_HANDLE, rig.objects[handle]);
	rig.command_error = REFUSED;
	assert_int_equal(xrcd_close(&rig.call), REFUSED);
	assert_ptr_equal(find_domain(&rig.adapter, &it.st), domain);
	rig.command_error = 0;
	assert_int_equal(xrcd_close(&rig.call), 0);
	assert_int_equal(rig.released, 1);
	assert_int_equal(rig.last_released, 0x40);
	assert_true(LIST_EMPTY(&domains));
}

static int reopen(uint32_t xrcd, uint32_t qpn, uint8_t type)
{
	const struct ib_uverbs_open_qp cmd = {
		.user_handle = 0x55, .pd_handle = xrcd, .qpn = qpn, .qp_type = type
	};

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return qp_open(&rig.call);
}

static void a_target_is_opened_by_its_number(void **state)
{
	struct real_qp first = { .qpn = QPN }, second = { .qpn = QPN + 1 };
	struct xrc_domain *domain = opened(FD);
	const uint32_t handle = last_handle();
	const struct ib_uverbs_create_qp_resp *resp;

	(void)state;
	xrc_domain_add_qp(domain, &first);
	xrc_domain_add_qp(domain, &second);
	assert_int_equal(reopen(handle, QPN, IB_UVERBS_QPT_XRC_TGT), 0);
	assert_ptr_equal(it.qp.real, &first);
	assert_int_equal(it.user_handle, 0x55);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	assert_int_equal(resp->qp_handle, 0x77);
	assert_int_equal(resp->qpn, QPN);
	assert_int_equal(reopen(handle, QPN + 1, IB_UVERBS_QPT_XRC_TGT), 0);
	assert_ptr_equal(it.qp.real, &second);
	assert_int_equal(it.destroyed, 0);
}

static void other_qps_are_not_opened(void **state)
{
	struct real_qp target = { .qpn = QPN };
	struct xrc_domain *domain = opened(FD);
	const uint32_t handle = last_handle();

	(void)state;
	xrc_domain_add_qp(domain, &target);
	assert_int_equal(reopen(handle, QPN + 1, IB_UVERBS_QPT_XRC_TGT), EINVAL);
	assert_int_equal(reopen(handle, QPN, IB_UVERBS_QPT_XRC_INI), EINVAL);
	assert_int_equal(reopen(handle + 1, QPN, IB_UVERBS_QPT_XRC_TGT), EINVAL);
	rig.in_refused = UVERBS_ATTR_CORE_IN;
	assert_int_equal(reopen(handle, QPN, IB_UVERBS_QPT_XRC_TGT), EFAULT);
	rig.in_refused = UINT16_MAX;
	it.reopen_error = REFUSED;
	assert_int_equal(reopen(handle, QPN, IB_UVERBS_QPT_XRC_TGT), REFUSED);
	assert_int_equal(it.destroyed, 0);
	it.reopen_error = 0;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(reopen(handle, QPN, IB_UVERBS_QPT_XRC_TGT), EFAULT);
	assert_int_equal(it.destroyed, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, xrcd_begin, xrcd_end)
	const struct CMUnitTest tests[] = {
		CASE(a_file_has_one_domain),
		CASE(a_domain_without_a_file_is_private),
		CASE(flags_are_those_of_open),
		CASE(what_cannot_be_opened_leaves_nothing),
		CASE(the_last_close_destroys_the_domain),
		CASE(a_target_is_opened_by_its_number),
		CASE(other_qps_are_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
