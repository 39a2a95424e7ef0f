/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * sched_test.c - QoS schedulers: their objects and refusals, and the share of each busy queue. The
 * test owns the clock, so its numbers are the same in each run.
 *
 * Covers: softhca/device/queue/sched.c, softhca/device/format/mlx5/cmd/sched.c
 */
#include "pair.h"
#include "prm/mlx5/general_obj.h"
#include "softhca/device/core.h"

enum {
	PIECE = 16 * 1024,
	PIECES = 200,
	QUEUES = 3,
	SHARE = PRM_SCHED_MODIFY_BW_SHARE,
	MAXIMUM = PRM_SCHED_MODIFY_MAX_AVERAGE_BW,
	MS = 1000 * 1000,
};

static const struct flat_qp_attr full = { .sq_log = 8, .cq_log = 9, .mtu = 5 };

struct wanted {
	uint32_t type, parent, select, share, max;
};

static uint32_t element_run(uint32_t opcode, uint32_t id, const struct wanted *wanted,
			    enum prm_status expect)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_SCHED_ELEM_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE];
	uint8_t *elem = fld_at(in, GENERAL_OBJ_OBJECT);
	uint8_t *context = fld_at(elem, SCHED_ELEM_SCHED_CONTEXT);

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_SCHEDULING_ELEMENT);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, id);
	fld_set(elem, SCHED_ELEM_SCHEDULING_HIERARCHY, PRM_SCHED_HIERARCHY_NIC);
	fld_set(elem, SCHED_ELEM_MODIFY_FIELD_SELECT, wanted->select);
	fld_set(context, SCHED_CONTEXT_ELEMENT_TYPE, wanted->type);
	fld_set(context, SCHED_CONTEXT_PARENT_ELEMENT_ID, wanted->parent);
	fld_set(context, SCHED_CONTEXT_BW_SHARE, wanted->share);
	fld_set(context, SCHED_CONTEXT_MAX_AVERAGE_BW, wanted->max);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), expect);
	return fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static uint32_t element(uint32_t type, uint32_t parent, uint32_t select, uint32_t share,
			uint32_t max)
{
	const struct wanted wanted = { type, parent, select, share, max };

	return element_run(PRM_OP_CREATE_GENERAL_OBJECT, 0, &wanted, PRM_STAT_OK);
}

static uint32_t arbiter(uint32_t parent, uint32_t select, uint32_t share, uint32_t max)
{
	return element(PRM_SCHED_ELEMENT_TSAR, parent, select, share, max);
}

static uint32_t group(uint32_t parent, uint32_t select, uint32_t share, uint32_t max)
{
	return element(PRM_SCHED_ELEMENT_QUEUE_GROUP, parent, select, share, max);
}

static void element_refused(struct wanted wanted, enum prm_status status)
{
	element_run(PRM_OP_CREATE_GENERAL_OBJECT, 0, &wanted, status);
}

static void element_destroy(uint32_t id, enum prm_status status)
{
	const struct wanted nothing = { 0 };

	element_run(PRM_OP_DESTROY_GENERAL_OBJECT, id, &nothing, status);
}

static struct flat_qp *queue[QUEUES], *peer[QUEUES];
static uint32_t lkeys[QUEUES], rkeys[QUEUES];
static uint64_t source, target;

static void queue_group(struct flat_qp *qp, uint32_t requests, enum prm_status expect)
{
	uint8_t in[PRM_MODIFY_QP_EXT_IN_SIZE] = { 0 }, out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, PRM_OP_RTS2RTS_QP);
	fld_set(in, MODIFY_QP_IN_QPN, qp->n);
	fld_set(in, MODIFY_QP_IN_QPC_EXT, 1);
	fld_set(in, MODIFY_QP_IN_OPT_PARAM_MASK_32, PRM_OPTPAR_32_QOS_QUEUE_GROUP_ID);
	fld_set(fld_at(in, MODIFY_QP_IN_QPC_DATA_EXT), QPC_EXT_QOS_GROUP_REQUESTER, requests);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), expect);
}

static void queues_open(void)
{
	source = flat_alloc(PIECE, 4096);
	target = flat_alloc(PIECE, 4096);
	for (int i = 0; i < QUEUES; i++) {
		queue[i] = flat_qp(0, &full);
		peer[i] = flat_qp(1, &full);
		flat_connect(queue[i], peer[i], &full);
		lkeys[i] = flat_mr(flat.hca[0], flat.pd[0], source, PIECE, ALL_ACCESS);
		rkeys[i] = flat_mr(flat.hca[1], flat.pd[1], target, PIECE, ALL_ACCESS);
	}
}

static void queues_close(void)
{
	for (int i = 0; i < QUEUES; i++) {
		a = queue[i];
		b = peer[i];
		unpair();
	}
}

static void queue_fill(int i)
{
	for (int n = 0; n < PIECES; n++) {
		flat_ctrl(queue[i], OP_WRITE, SIGNALED, 0);
		flat_raddr(queue[i], target, rkeys[i]);
		flat_data(queue[i], source, PIECE, lkeys[i]);
		flat_post(queue[i]);
	}
	flat_ring(queue[i]);
}

static unsigned int queue_sent(int i)
{
	unsigned int pieces = 0;

	while (flat_poll(queue[i]->send_cq))
		pieces++;
	return pieces;
}

/* Starts the queues, and discards the first 2 ms, as the first queue sends alone for a moment and
 * the clocks of limits start late. */
static void queues_start(int count)
{
	for (int i = 0; i < count; i++)
		queue_fill(i);
	flat_run(2 * MS);
	for (int i = 0; i < count; i++)
		queue_sent(i);
}

/* Checks that PIECES is within 10 percent of EXPECTED. */
static void assert_about(unsigned int pieces, double expected)
{
	assert_true(pieces > expected * 0.9 && pieces < expected * 1.1);
}

static double pieces_in(double ms, double mbits)
{
	return ms * mbits * 1000 / 8 / PIECE;
}

static void elements_are_a_tree(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), node = arbiter(root, SHARE, 10, 0);
	uint32_t leaf = group(node, SHARE | MAXIMUM, 3, 7);

	(void)state;
	element_refused((struct wanted){ .type = PRM_SCHED_ELEMENT_QUEUE_GROUP },
			PRM_STAT_BAD_RES_ERR);
	element_refused((struct wanted){ .parent = leaf }, PRM_STAT_BAD_RES_ERR);
	element_refused((struct wanted){ .parent = 777 }, PRM_STAT_BAD_RES_ERR);
	element_refused((struct wanted){ .type = 1, .parent = root }, PRM_STAT_BAD_PARAM_ERR);
	element_refused((struct wanted){ .parent = root, .select = 4 }, PRM_STAT_BAD_PARAM_ERR);
	element_refused((struct wanted){ .parent = root, .select = SHARE, .share = 101 },
			PRM_STAT_BAD_PARAM_ERR);
	element_destroy(root, PRM_STAT_RES_BUSY);
	element_destroy(node, PRM_STAT_RES_BUSY);
	element_destroy(leaf, PRM_STAT_OK);
	element_destroy(leaf, PRM_STAT_BAD_RES_ERR);
	element_destroy(node, PRM_STAT_OK);
	element_destroy(root, PRM_STAT_OK);
}

/* A group counts as a level, so the last level may be an arbiter or a group. */
static void elements_are_8_deep(void **state)
{
	enum { DEPTH = 8 };
	uint32_t at[DEPTH], leaf;

	(void)state;
	at[0] = arbiter(0, 0, 0, 0);
	for (int i = 1; i < DEPTH; i++)
		at[i] = arbiter(at[i - 1], 0, 0, 0);
	element_refused((struct wanted){ .type = PRM_SCHED_ELEMENT_TSAR, .parent = at[DEPTH - 1] },
			PRM_STAT_BAD_RES_ERR);
	element_refused(
		(struct wanted){ .type = PRM_SCHED_ELEMENT_QUEUE_GROUP, .parent = at[DEPTH - 1] },
		PRM_STAT_BAD_RES_ERR);
	leaf = group(at[DEPTH - 2], 0, 0, 0);
	element_destroy(leaf, PRM_STAT_OK);
	for (int i = DEPTH - 1; i >= 0; i--)
		element_destroy(at[i], PRM_STAT_OK);
}

static void queues_hold_their_group(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), leaf = group(root, 0, 0, 0);

	(void)state;
	queues_open();
	queue_group(queue[0], root, PRM_STAT_BAD_PARAM_ERR);
	queue_group(queue[0], leaf, PRM_STAT_OK);
	element_destroy(leaf, PRM_STAT_RES_BUSY);
	queue_group(queue[0], 0, PRM_STAT_OK);
	element_destroy(leaf, PRM_STAT_OK);
	queues_close();
}

static void shares_of_1_and_3(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), node = arbiter(root, MAXIMUM, 0, 800);

	(void)state;
	queues_open();
	queue_group(queue[0], group(node, SHARE, 1, 0), PRM_STAT_OK);
	queue_group(queue[1], group(node, SHARE, 3, 0), PRM_STAT_OK);
	queues_start(2);
	flat_run(22 * MS);
	assert_about(queue_sent(0), pieces_in(22, 200));
	assert_about(queue_sent(1), pieces_in(22, 600));
	queues_close();
}

/* Each share counts bytes in 64 bits; scheduling goes on when a count wraps, as only differences
 * count. */
static void shares_outlast_their_counts(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), node = arbiter(root, MAXIMUM, 0, 800);
	uint32_t leaves[] = { group(node, SHARE, 1, 0), group(node, SHARE, 3, 0) };
	uint64_t sent = UINT64_MAX - 10ull * PIECE * 65536;

	(void)state;
	queues_open();
	sched_find(flat.hca[0], node)->passed = sent;
	for (int i = 0; i < 2; i++) {
		sched_find(flat.hca[0], leaves[i])->tag = sent;
		queue_group(queue[i], leaves[i], PRM_STAT_OK);
	}
	queues_start(2);
	flat_run(22 * MS);
	assert_about(queue_sent(0), pieces_in(22, 200));
	assert_about(queue_sent(1), pieces_in(22, 600));
	queues_close();
}

static void what_one_leaves_others_get(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), node = arbiter(root, MAXIMUM, 0, 800);

	(void)state;
	queues_open();
	queue_group(queue[0], group(node, SHARE, 1, 0), PRM_STAT_OK);
	queue_group(queue[1], group(node, SHARE | MAXIMUM, 99, 80), PRM_STAT_OK);
	queues_start(2);
	flat_run(22 * MS);
	assert_about(queue_sent(0), pieces_in(22, 720));
	assert_about(queue_sent(1), pieces_in(22, 80));
	queues_close();
}

static void a_maximum_alone(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), leaf = group(root, MAXIMUM, 0, 400);
	const struct wanted faster = { PRM_SCHED_ELEMENT_QUEUE_GROUP, 0, MAXIMUM, 0, 800 };

	(void)state;
	queues_open();
	queue_group(queue[0], leaf, PRM_STAT_OK);
	queues_start(1);
	flat_run(20 * MS);
	assert_about(queue_sent(0), pieces_in(20, 400));
	element_run(PRM_OP_MODIFY_GENERAL_OBJECT, leaf, &faster, PRM_STAT_OK);
	flat_run(12 * MS);
	assert_about(queue_sent(0), pieces_in(12, 800));
	queue_group(queue[0], 0, PRM_STAT_OK); /* without a limit, the rest leaves at once */
	flat_run(MS);
	assert_int_equal(flat_state(queue[0]), PRM_QP_STATE_RTS);
	assert_true(queue_sent(0) > 10);
	queues_close();
}

static void shares_at_two_levels(void **state)
{
	uint32_t root = arbiter(0, 0, 0, 0), top = arbiter(root, MAXIMUM, 0, 800);
	uint32_t left = arbiter(top, SHARE, 1, 0), right = arbiter(top, SHARE, 1, 0);

	(void)state;
	queues_open();
	queue_group(queue[0], group(left, SHARE, 5, 0), PRM_STAT_OK);
	queue_group(queue[1], group(right, SHARE, 1, 0), PRM_STAT_OK);
	queue_group(queue[2], group(right, SHARE, 1, 0), PRM_STAT_OK);
	queues_start(QUEUES);
	flat_run(22 * MS);
	assert_about(queue_sent(0), pieces_in(22, 400));
	assert_about(queue_sent(1), pieces_in(22, 200));
	assert_about(queue_sent(2), pieces_in(22, 200));
	queues_close();
}

static void reserved_run(uint32_t opcode, uint32_t log_range, uint32_t *id, enum prm_status status)
{
	uint8_t in[PRM_GENERAL_OBJ_HDR_SIZE + PRM_RESERVED_QPN_SIZE] = { 0 };
	uint8_t out[PRM_CMD_OUT_SIZE];

	fld_set(in, CMD_IN_OPCODE, opcode);
	fld_set(in, GENERAL_OBJ_IN_OBJ_TYPE, PRM_OBJ_TYPE_RESERVED_QPN);
	fld_set(in, GENERAL_OBJ_IN_OBJ_ID, *id);
	fld_set(in, GENERAL_OBJ_IN_LOG_OBJ_RANGE, log_range);
	flat_cmd_expect(flat.hca[0], in, sizeof(in), out, sizeof(out), status);
	*id = fld_get(out, GENERAL_OBJ_OUT_OBJ_ID);
}

static void qp_numbers_are_reserved(void **state)
{
	uint32_t first = 0, second = 0, none = 5;

	(void)state;
	reserved_run(PRM_OP_CREATE_GENERAL_OBJECT, 3, &none, PRM_STAT_BAD_PARAM_ERR);
	reserved_run(PRM_OP_CREATE_GENERAL_OBJECT, 4, &first, PRM_STAT_OK);
	reserved_run(PRM_OP_CREATE_GENERAL_OBJECT, 4, &second, PRM_STAT_OK);
	assert_true(first + 16 <= second);
	none = first + 1;
	reserved_run(PRM_OP_DESTROY_GENERAL_OBJECT, 0, &none, PRM_STAT_BAD_RES_ERR);
	reserved_run(PRM_OP_MODIFY_GENERAL_OBJECT, 4, &first, PRM_STAT_BAD_PARAM_ERR);
}

int main(void)
{
#define IB(f)   cmocka_unit_test_setup_teardown(f, flat_setup, flat_teardown)
#define ROCE(f) cmocka_unit_test_setup_teardown(f, flat_setup_roce, flat_teardown)
	const struct CMUnitTest tests[] = {
		IB(elements_are_a_tree),         IB(queues_hold_their_group),
		IB(shares_of_1_and_3),           ROCE(shares_of_1_and_3),
		IB(what_one_leaves_others_get),  IB(a_maximum_alone),
		IB(shares_at_two_levels),        IB(qp_numbers_are_reserved),
		IB(shares_outlast_their_counts), IB(elements_are_8_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
