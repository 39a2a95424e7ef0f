/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * qp_test.c - an id after successful and failed creation of a QP or an SRQ: each call to the
 * device or the kernel fails once, and no object may leak. The device is the test's.
 *
 * Covers: librdmacm/qp.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "librdmacm/qp.c"

enum object { CHANNEL, CQ, QP, SRQ, XRCD, OBJECTS };

static struct {
	struct verbs_context context;
	struct cm_device device;
	struct cm_id cm;
	struct rdma_event_channel channel;
	struct ibv_pd pd, own_pd;
	unsigned int count[OBJECTS];
	unsigned int calls, fails_at;
	enum ibv_qp_state states[4]; /* states that the QP was moved to */
	unsigned int state_count;
	struct ibv_qp_init_attr_ex qp_attr;
	struct ibv_srq_init_attr_ex srq_attr;
} it;

static bool call_fails(void)
{
	if (++it.calls != it.fails_at)
		return false;
	errno = ENOSPC;
	return true;
}

static void *object_new(enum object object, size_t size)
{
	if (call_fails())
		return NULL;
	it.count[object]++;
	return calloc(1, size);
}

static int object_end(enum object object, void *memory)
{
	assert_true(it.count[object]--);
	free(memory);
	return 0;
}

#undef ibv_create_cq
#undef ibv_create_srq

struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *context)
{
	assert_ptr_equal(context, &it.context.context);
	return object_new(CHANNEL, sizeof(struct ibv_comp_channel));
}

int ibv_destroy_comp_channel(struct ibv_comp_channel *channel)
{
	assert_int_equal(it.count[CQ] < it.count[CHANNEL], true);
	return object_end(CHANNEL, channel);
}

struct ibv_cq *ibv_create_cq(struct ibv_context *context, int cqe, void *cq_context,
			     struct ibv_comp_channel *channel, int comp_vector)
{
	(void)context;
	assert_true(cqe > 0);
	assert_ptr_equal(cq_context, &it.cm.id);
	assert_non_null(channel);
	assert_int_equal(comp_vector, 0);
	return object_new(CQ, sizeof(struct ibv_cq));
}

int ibv_destroy_cq(struct ibv_cq *cq)
{
	assert_int_equal(it.count[QP], 0);
	return object_end(CQ, cq);
}

static struct ibv_qp *create_qp_ex(struct ibv_context *context, struct ibv_qp_init_attr_ex *attr)
{
	(void)context;
	it.qp_attr = *attr;
	return object_new(QP, sizeof(struct ibv_qp));
}

/* Calls of verbs.h with few attributes arrive here, as those fields begin the extended
 * structure. */
struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	memset(&it.qp_attr, 0, sizeof(it.qp_attr));
	memcpy(&it.qp_attr, attr, sizeof(*attr));
	it.qp_attr.pd = pd;
	return object_new(QP, sizeof(struct ibv_qp));
}

int ibv_destroy_qp(struct ibv_qp *qp)
{
	return object_end(QP, qp);
}

static struct ibv_srq *create_srq_ex(struct ibv_context *context, struct ibv_srq_init_attr_ex *attr)
{
	(void)context;
	it.srq_attr = *attr;
	return object_new(SRQ, sizeof(struct ibv_srq));
}

struct ibv_srq *ibv_create_srq(struct ibv_pd *pd, struct ibv_srq_init_attr *attr)
{
	(void)attr;
	it.srq_attr.pd = pd;
	return object_new(SRQ, sizeof(struct ibv_srq));
}

int ibv_destroy_srq(struct ibv_srq *srq)
{
	return object_end(SRQ, srq);
}

int ibv_modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	assert_non_null(qp);
	assert_true(mask & IBV_QP_STATE);
	if (call_fails())
		return errno;
	it.states[it.state_count++] = attr->qp_state;
	return 0;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
	assert_non_null(qp);
	*ece = (struct ibv_ece){ .vendor_id = 0x15b3, .options = 0x77 };
	return 0;
}

int rdmacm_device_get_xrcd(struct cm_device *device, struct ibv_xrcd **xrcd)
{
	assert_ptr_equal(device, &it.device);
	*xrcd = device->xrcd = object_new(XRCD, 1);
	return *xrcd ? 0 : errno;
}

void rdmacm_device_put_xrcd(struct cm_device *device)
{
	object_end(XRCD, device->xrcd);
	device->xrcd = NULL;
}

void rdmacm_multicast_detach_all(struct cm_id *cm)
{
	assert_ptr_equal(cm, &it.cm);
}

int rdmacm_cmd_failed(int fd, const struct cm_cmd *cmd, ssize_t done)
{
	(void)fd, (void)cmd, (void)done;
	fail(); /* programs with threads must not take this path */
	return EIO;
}

int rdmacm_cmd_run_shielded(int fd, const struct cm_cmd *cmd, size_t size)
{
	struct ib_uverbs_qp_attr *answer = (void *)(uintptr_t)cmd->init_qp_attr.response;

	assert_int_equal(fd, it.channel.fd);
	assert_int_equal(cmd->hdr.cmd, RDMA_USER_CM_CMD_INIT_QP_ATTR);
	assert_int_equal(cmd->hdr.in, sizeof(cmd->init_qp_attr));
	assert_int_equal(cmd->hdr.out, sizeof(*answer));
	assert_int_equal(size, sizeof(cmd->hdr) + sizeof(cmd->init_qp_attr));
	if (call_fails())
		return errno;
	answer->qp_attr_mask = IBV_QP_STATE;
	answer->qp_access_flags = 0x11;
	answer->pkey_index = 2;
	return 0;
}

static int id_begin_as(enum ibv_qp_type type)
{
	static const char several;

	verbs_one_thread = &several;
	memset(&it, 0, sizeof(it));
	it.context.context.abi_compat = __VERBS_ABI_IS_EXTENDED;
	it.context.sz = sizeof(it.context);
	it.context.create_qp_ex = create_qp_ex;
	it.context.create_srq_ex = create_srq_ex;
	it.pd.context = it.own_pd.context = &it.context.context;
	it.device.pd = &it.pd;
	it.channel.fd = 77;
	it.device.verbs = &it.context.context;
	it.cm.device = &it.device;
	it.cm.id.verbs = &it.context.context;
	it.cm.id.channel = &it.channel;
	it.cm.id.pd = &it.pd;
	it.cm.id.qp_type = type;
	return 0;
}

static int id_begin(void **state)
{
	(void)state;
	return id_begin_as(IBV_QPT_RC);
}

static void check_nothing_left(void)
{
	for (int i = 0; i < OBJECTS; i++)
		assert_int_equal(it.count[i], 0);
	assert_null(it.cm.id.qp);
	assert_null(it.cm.id.srq);
	assert_null(it.cm.id.send_cq);
	assert_null(it.cm.id.recv_cq);
	assert_null(it.cm.id.send_cq_channel);
	assert_null(it.cm.id.recv_cq_channel);
	assert_ptr_equal(it.cm.id.pd, &it.pd);
	assert_false(it.cm.uses_default_xrcd || it.cm.owns_cqs[SEND] || it.cm.owns_cqs[RECV] ||
		     it.cm.srq_has_cq);
}

static int qp_make(struct ibv_qp_init_attr_ex *attr)
{
	errno = 0;
	return rdma_create_qp_ex(&it.cm.id, attr) ? errno : 0;
}

static int srq_make(struct ibv_srq_init_attr_ex *attr)
{
	errno = 0;
	return rdma_create_srq_ex(&it.cm.id, attr) ? errno : 0;
}

static void a_qp_has_cqs_and_goes_to_init(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_RC };

	(void)state;
	assert_int_equal(qp_make(&attr), 0);
	assert_ptr_equal(it.qp_attr.pd, &it.pd);
	assert_ptr_equal(it.qp_attr.send_cq, it.cm.id.send_cq);
	assert_ptr_equal(it.qp_attr.recv_cq, it.cm.id.recv_cq);
	assert_ptr_not_equal(it.cm.id.recv_cq, it.cm.id.send_cq);
	assert_int_equal(it.state_count, 1);
	assert_int_equal(it.states[0], IBV_QPS_INIT);
	assert_int_equal(it.cm.init_access, 0x11);
	assert_int_equal(it.cm.init_pkey_index, 2);
	assert_int_equal(it.cm.init_ece.options, 0x77);
	assert_ptr_equal(it.cm.init_qp, it.cm.id.qp);
	assert_int_equal(qp_make(&attr), EINVAL);
	rdma_destroy_qp(&it.cm.id);
	assert_null(it.cm.init_qp);
	check_nothing_left();
}

static void a_datagram_qp_goes_to_rts(void **state)
{
	struct ibv_qp_init_attr_ex attr = { .qp_type = IBV_QPT_UD };

	(void)state;
	id_begin_as(IBV_QPT_UD);
	assert_int_equal(qp_make(&attr), 0);
	assert_int_equal(it.state_count, 3);
	assert_int_equal(it.states[1], IBV_QPS_RTR);
	assert_int_equal(it.states[2], IBV_QPS_RTS);
	rdma_destroy_qp(&it.cm.id);
	check_nothing_left();
}

/* Fails each call in turn until all succeed. The program's attributes must stay unchanged, as it
 * may try again with them. */
static void a_qp_that_fails_leaves_nothing(void **state)
{
	static const struct {
		enum ibv_qp_type type;
		unsigned int calls;
	} rows[] = { { IBV_QPT_RC, 7 },
		     { IBV_QPT_UD, 9 },
		     { IBV_QPT_XRC_SEND, 5 },
		     { IBV_QPT_XRC_RECV, 4 } };
	unsigned int at;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		for (at = 1;; at++) {
			struct ibv_qp_init_attr_ex attr = { .qp_type = rows[i].type,
							    .comp_mask = IBV_QP_INIT_ATTR_PD };
			struct ibv_qp_init_attr_ex before;

			id_begin_as(rows[i].type);
			attr.pd = &it.own_pd;
			before = attr;
			it.fails_at = at;
			if (!qp_make(&attr))
				break;
			assert_int_equal(errno, ENOSPC);
			assert_memory_equal(&attr, &before, sizeof(attr));
			check_nothing_left();
		}
		assert_int_equal(at, rows[i].calls + 1);
		rdma_destroy_qp(&it.cm.id);
		check_nothing_left();
	}
}

static void an_srq_that_fails_leaves_nothing(void **state)
{
	static const unsigned int calls[] = { 1, 4 }; /* plain SRQ, XRC SRQ */
	unsigned int at;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(calls); i++) {
		for (at = 1;; at++) {
			struct ibv_srq_init_attr_ex attr = { .comp_mask = IBV_SRQ_INIT_ATTR_TYPE |
									  IBV_SRQ_INIT_ATTR_PD };
			struct ibv_srq_init_attr_ex before;

			id_begin(state);
			attr.srq_type = i ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
			attr.pd = &it.own_pd;
			before = attr;
			it.fails_at = at;
			if (!srq_make(&attr))
				break;
			assert_int_equal(errno, ENOSPC);
			assert_memory_equal(&attr, &before, sizeof(attr));
			check_nothing_left();
		}
		assert_int_equal(at, calls[i] + 1);
		assert_ptr_equal(it.srq_attr.pd, &it.own_pd);
		assert_ptr_equal(it.cm.id.pd, &it.own_pd);
		assert_int_equal(it.cm.srq_has_cq, i);
		rdma_destroy_srq(&it.cm.id);
		check_nothing_left();
	}
}

/* The QP and the SRQ of an id may be destroyed in either order, so CQs and PD go with the last one
 * that uses them. */
static void cqs_and_domain_go_with_their_last_user(void **state)
{
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_TYPE,
					    .srq_type = IBV_SRQT_XRC };
	struct ibv_qp_init_attr_ex qp = { .qp_type = IBV_QPT_XRC_RECV };

	(void)state;
	for (int srq_first = 0; srq_first < 2; srq_first++) {
		id_begin_as(IBV_QPT_XRC_RECV);
		srq.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
		qp.comp_mask = 0;
		assert_int_equal(srq_make(&srq), 0);
		assert_int_equal(srq_make(&srq), EINVAL);
		assert_int_equal(qp_make(&qp), 0);
		assert_int_equal(it.count[XRCD], 1);
		assert_int_equal(it.count[CQ], 1);
		assert_ptr_equal(it.qp_attr.xrcd, it.srq_attr.xrcd);
		if (srq_first)
			rdma_destroy_srq(&it.cm.id);
		else
			rdma_destroy_qp(&it.cm.id);
		assert_int_equal(it.count[XRCD], 1);
		assert_int_equal(it.count[CQ], 1);
		if (srq_first)
			rdma_destroy_qp(&it.cm.id);
		else
			rdma_destroy_srq(&it.cm.id);
		check_nothing_left();
	}
}

/* If creating an SRQ fails, the QP keeps its own PD, as its regions are registered there. */
static void a_qp_keeps_its_domain_when_an_srq_fails(void **state)
{
	struct ibv_qp_init_attr_ex qp = { .qp_type = IBV_QPT_RC,
					  .comp_mask = IBV_QP_INIT_ATTR_PD,
					  .pd = &it.own_pd };
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_PD, .pd = &it.pd };

	(void)state;
	assert_int_equal(qp_make(&qp), 0);
	it.fails_at = it.calls + 1;
	assert_int_equal(srq_make(&srq), ENOSPC);
	assert_ptr_equal(it.cm.id.pd, &it.own_pd);
	assert_int_equal(it.count[CQ], 2);
	rdma_destroy_qp(&it.cm.id);
	check_nothing_left();
}

/* The access that the kernel grants is asked for once, and known only to a QP that is still in the
 * INIT of this id, as a program may have changed others. */
static void access_is_known_of_the_ids_own_init(void **state)
{
	const int mask = IBV_QP_MAX_DEST_RD_ATOMIC;
	struct ibv_qp_attr rtr = { .max_dest_rd_atomic = 1 };
	struct ibv_qp qp = { .state = IBV_QPS_INIT }, other = { .state = IBV_QPS_INIT };
	struct ibv_sa_path_rec path = { .pkey = htobe16(0x8001) };

	(void)state;
	it.cm.id.qp = it.cm.init_qp = &qp;
	it.cm.init_access = 5;
	atomic_store(&it.device.granted[0], 6);
	atomic_store(&it.device.granted[1], 7);
	it.cm.is_request = true;
	assert_int_equal(known_access(&it.cm, &rtr, mask), 5);
	assert_int_equal(known_access(&it.cm, &rtr, 0), 0);
	it.cm.init_qp = &other;
	assert_int_equal(known_access(&it.cm, &rtr, mask), 0);
	it.cm.init_qp = &qp;
	qp.state = IBV_QPS_RTR;
	assert_int_equal(known_access(&it.cm, &rtr, mask), 0);
	qp.state = IBV_QPS_INIT;
	it.cm.is_request = false;
	assert_int_equal(known_access(&it.cm, &rtr, mask), 0); /* no route */
	it.cm.id.route.num_paths = 1;
	it.cm.id.route.path_rec = (void *)&path;
	it.cm.id.route.addr.addr.ibaddr.pkey = htobe16(0x0001);
	assert_int_equal(known_access(&it.cm, &rtr, mask), 7);
	rtr.max_dest_rd_atomic = 0;
	assert_int_equal(known_access(&it.cm, &rtr, mask), 6);
	it.cm.id.route.addr.addr.ibaddr.pkey = htobe16(0x8002);
	assert_int_equal(known_access(&it.cm, &rtr, mask), 0);
	it.cm.id.qp = it.cm.init_qp = NULL;
}

static void what_does_not_fit_the_id_is_refused(void **state)
{
	struct ibv_qp_init_attr_ex qp = { .qp_type = IBV_QPT_UD };
	struct ibv_srq_init_attr_ex srq = { .comp_mask = IBV_SRQ_INIT_ATTR_PD };
	struct verbs_context other;
	struct ibv_pd pd = { .context = &other.context };

	(void)state;
	assert_int_equal(qp_make(&qp), EINVAL);
	qp.qp_type = IBV_QPT_RC;
	qp.comp_mask = IBV_QP_INIT_ATTR_PD;
	qp.pd = srq.pd = &pd;
	assert_int_equal(qp_make(&qp), EINVAL);
	assert_int_equal(srq_make(&srq), EINVAL);
	it.cm.device = NULL;
	qp.comp_mask = srq.comp_mask = 0;
	assert_int_equal(qp_make(&qp), EINVAL);
	assert_int_equal(srq_make(&srq), EINVAL);
	assert_int_equal(it.calls, 0);
	check_nothing_left();
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, id_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_qp_has_cqs_and_goes_to_init),
		TEST(a_datagram_qp_goes_to_rts),
		TEST(a_qp_that_fails_leaves_nothing),
		TEST(an_srq_that_fails_leaves_nothing),
		TEST(cqs_and_domain_go_with_their_last_user),
		TEST(a_qp_keeps_its_domain_when_an_srq_fails),
		TEST(access_is_known_of_the_ids_own_init),
		TEST(what_does_not_fit_the_id_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
