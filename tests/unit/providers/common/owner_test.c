/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * owner_test.c - objects of another context, which no QP and no SRQ may have; XRC domains, windows
 * and tables of WQs, which come and go by one command. Functions of the test stand for the kernel.
 *
 * Covers: providers/common/owner.c, providers/common/xrcd.c, providers/common/mw.c,
 * providers/common/rwq_table.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "providers/common/memory/cells.h"
#include "providers/common/mw.h"
#include "providers/common/owner.h"
#include "providers/common/rwq_table.h"
#include "providers/common/xrcd.h"
#include "tests/unit/heap.h"
#include "tests/unit/log_text.h"

static struct {
	struct ibv_device device;
	struct ibv_context here, there;
	struct cells cells;
	int err, objects;
} it;

static int kernel_make(void)
{
	it.objects += !it.err;
	return it.err;
}

static int kernel_end(void)
{
	it.objects -= !it.err;
	return it.err;
}

int verbs_cmd_open_xrcd(struct ibv_context *context, const struct ibv_xrcd_init_attr *attr,
			struct verbs_xrcd *vxrcd, const struct verbs_udata *udata)
{
	(void)attr;
	assert_null(udata);
	vxrcd->xrcd.context = context;
	return kernel_make();
}

int verbs_cmd_close_xrcd(struct verbs_xrcd *vxrcd)
{
	(void)vxrcd;
	return kernel_end();
}

int verbs_cmd_alloc_mw(struct ibv_pd *pd, enum ibv_mw_type type, struct ibv_mw *mw,
		       const struct verbs_udata *udata)
{
	(void)udata;
	mw->context = pd->context;
	mw->type = type;
	return kernel_make();
}

int verbs_cmd_dealloc_mw(struct ibv_mw *mw)
{
	(void)mw;
	return kernel_end();
}

int verbs_cmd_create_rwq_ind_table(struct ibv_context *context,
				   const struct ibv_rwq_ind_table_init_attr *attr,
				   struct ibv_rwq_ind_table *table, const struct verbs_udata *udata)
{
	(void)attr;
	assert_int_equal(udata->resp_len, 8);
	table->context = context;
	return kernel_make();
}

int verbs_cmd_destroy_rwq_ind_table(struct ibv_rwq_ind_table *table)
{
	(void)table;
	return kernel_end();
}

static struct ibv_send_wr posted;
static int post_err;

static int post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	posted = *wr;
	return post_err;
}

static int owners_begin(void **state)
{
	(void)state;
	verbs_warn("the log keeps memory from its first line on");
	heap_begin();
	memset(&it, 0, sizeof(it));
	strcpy(it.device.name, "mlx9_0");
	it.here.device = it.there.device = &it.device;
	it.here.ops.post_send = post_send;
	log_text();
	return 0;
}

static int owners_end(void **state)
{
	(void)state;
	provider_cells_destroy(&it.cells);
	assert_int_equal(it.objects, 0);
	assert_int_equal(heap.blocks, 0);
	return 0;
}

static void check_qp(const struct ibv_qp_init_attr_ex *attr, const char *field)
{
	assert_int_equal(provider_qp_check_owners(&it.here, attr), field ? ENOENT : 0);
	if (field)
		check_logged(field);
}

static void a_qp_has_objects_of_its_context(void **state)
{
	struct ibv_pd pd = { .context = &it.there };
	struct ibv_xrcd xrcd = { .context = &it.there };
	struct ibv_cq cq = { .context = &it.there }, own = { .context = &it.here };
	struct ibv_srq srq = { .context = &it.there };
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC, .pd = &pd, .xrcd = &xrcd };

	(void)state;
	check_qp(&attr, NULL); /* members that the mask does not name */
	attr.comp_mask = IBV_QP_INIT_ATTR_PD;
	check_qp(&attr, "create_qp: pd belongs to another context (of mlx9_0)");
	attr.comp_mask = IBV_QP_INIT_ATTR_XRCD;
	check_qp(&attr, "create_qp: xrcd belongs to another context");
	attr = (struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_RC, .send_cq = &cq };
	check_qp(&attr, "create_qp: send_cq belongs to another context");
	attr.qp_type = IBV_QPT_XRC_RECV;
	check_qp(&attr, NULL);
	attr = (struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_RC,
					     .send_cq = &own,
					     .recv_cq = &cq };
	check_qp(&attr, "create_qp: recv_cq belongs to another context");
	attr.qp_type = IBV_QPT_XRC_SEND;
	check_qp(&attr, NULL);
	attr = (struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_RC, .srq = &srq };
	check_qp(&attr, "create_qp: srq belongs to another context");
	pd.context = xrcd.context = cq.context = srq.context = &it.here;
	attr = (struct ibv_qp_init_attr_ex){ .qp_type = IBV_QPT_RC,
					     .comp_mask =
						     IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD,
					     .pd = &pd,
					     .xrcd = &xrcd,
					     .send_cq = &cq,
					     .recv_cq = &cq,
					     .srq = &srq };
	check_qp(&attr, NULL);
}

static void check_srq(const struct ibv_srq_init_attr_ex *attr, const char *field)
{
	assert_int_equal(provider_srq_check_owners(&it.here, attr), field ? ENOENT : 0);
	if (field)
		check_logged(field);
}

static void an_srq_has_objects_of_its_context(void **state)
{
	struct ibv_pd pd = { .context = &it.there };
	struct ibv_xrcd xrcd = { .context = &it.there };
	struct ibv_cq cq = { .context = &it.there };
	struct ibv_srq_init_attr_ex attr = { .pd = &pd, .xrcd = &xrcd, .cq = &cq };

	(void)state;
	check_srq(&attr, NULL);
	attr.comp_mask = IBV_SRQ_INIT_ATTR_PD;
	check_srq(&attr, "create_srq: pd belongs to another context");
	attr.comp_mask = IBV_SRQ_INIT_ATTR_XRCD;
	check_srq(&attr, "create_srq: xrcd belongs to another context");
	attr.comp_mask = IBV_SRQ_INIT_ATTR_CQ;
	check_srq(&attr, "create_srq: cq belongs to another context");
	pd.context = xrcd.context = cq.context = &it.here;
	attr.comp_mask |= IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD;
	check_srq(&attr, NULL);
}

static void an_xrc_domain_comes_and_goes(void **state)
{
	struct ibv_xrcd_init_attr attr = { 0 };
	struct ibv_xrcd *xrcd;

	(void)state;
	heap_fail_at(1);
	assert_null(provider_xrcd_open(&it.here, &attr));
	assert_int_equal(errno, ENOMEM);
	it.err = EPERM;
	assert_null(provider_xrcd_open(&it.here, &attr));
	assert_int_equal(errno, EPERM);
	assert_int_equal(heap.blocks, 0);
	it.err = 0;
	xrcd = provider_xrcd_open(&it.here, &attr);
	assert_ptr_equal(xrcd->context, &it.here);
	it.err = EBUSY;
	assert_int_equal(provider_xrcd_close(xrcd), EBUSY);
	it.err = 0;
	assert_int_equal(provider_xrcd_close(xrcd), 0);
}

static void a_table_comes_and_goes(void **state)
{
	struct ibv_rwq_ind_table_init_attr attr = { 0 };
	struct ibv_rwq_ind_table *table;

	(void)state;
	heap_fail_at(1);
	assert_null(provider_rwq_table_create(&it.here, &attr));
	assert_int_equal(errno, ENOMEM);
	it.err = EPERM;
	assert_null(provider_rwq_table_create(&it.here, &attr));
	assert_int_equal(errno, EPERM);
	assert_int_equal(heap.blocks, 0);
	it.err = 0;
	table = provider_rwq_table_create(&it.here, &attr);
	assert_ptr_equal(table->context, &it.here);
	it.err = EBUSY;
	assert_int_equal(provider_rwq_table_destroy(table), EBUSY);
	it.err = 0;
	assert_int_equal(provider_rwq_table_destroy(table), 0);
}

static void a_window_is_bound_by_a_request(void **state)
{
	struct ibv_mw_bind bind = { .wr_id = 7, .send_flags = IBV_SEND_SIGNALED };
	struct ibv_pd pd = { .context = &it.here };
	struct ibv_qp qp = { .context = &it.here };
	struct ibv_mw *mw;

	(void)state;
	heap_fail_at(1);
	assert_null(provider_mw_alloc(&pd, &it.cells, IBV_MW_TYPE_1, NULL));
	assert_int_equal(errno, ENOMEM);
	it.err = EPERM;
	assert_null(provider_mw_alloc(&pd, &it.cells, IBV_MW_TYPE_1, NULL));
	assert_int_equal(errno, EPERM);
	it.err = 0;
	mw = provider_mw_alloc(&pd, &it.cells, IBV_MW_TYPE_1, NULL);
	mw->rkey = 0x12ff;
	bind.bind_info.addr = 0x1000;
	bind.bind_info.length = 16;
	post_err = ENOMEM;
	assert_int_equal(provider_mw_bind(&qp, mw, &bind), ENOMEM);
	assert_int_equal(mw->rkey, 0x12ff);
	post_err = 0;
	assert_int_equal(provider_mw_bind(&qp, mw, &bind), 0);
	assert_int_equal(mw->rkey, 0x1200);
	assert_int_equal(posted.wr_id, 7);
	assert_null(posted.next);
	assert_int_equal(posted.num_sge, 0);
	assert_int_equal(posted.opcode, IBV_WR_BIND_MW);
	assert_int_equal(posted.send_flags, IBV_SEND_SIGNALED);
	assert_ptr_equal(posted.bind_mw.mw, mw);
	assert_int_equal(posted.bind_mw.rkey, 0x1200);
	assert_int_equal(posted.bind_mw.bind_info.addr, 0x1000);
	it.err = EBUSY;
	assert_int_equal(provider_mw_dealloc(&it.cells, mw), EBUSY);
	it.err = 0;
	assert_int_equal(provider_mw_dealloc(&it.cells, mw), 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, owners_begin, owners_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_qp_has_objects_of_its_context), TEST(an_srq_has_objects_of_its_context),
		TEST(an_xrc_domain_comes_and_goes),    TEST(a_table_comes_and_goes),
		TEST(a_window_is_bound_by_a_request),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
