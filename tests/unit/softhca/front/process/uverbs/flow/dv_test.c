/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * dv_test.c - flows in the device's format: destinations of each table, counters, changes and tags,
 * the level of a flow, and what is refused.
 */
#include <errno.h>
#include <string.h>

#include "attrs.h"
#include "softhca/front/process/uverbs/flow/dv.c"

enum { TID = 12, TIRN = 0x31, TABLE = 0x32, COUNTER = 0x100, BULK = 8, REFUSED = EDOM };
enum {
	RX = MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_RX,
	TX = MLX5_IB_UAPI_FLOW_TABLE_TYPE_NIC_TX,
	RDMA_RX = MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_RX,
	RDMA_TX = MLX5_IB_UAPI_FLOW_TABLE_TYPE_RDMA_TX,
	DROP = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DROP,
	MISS = MLX5_IB_ATTR_CREATE_FLOW_FLAGS_DEFAULT_MISS,
};

static struct uverbs_matcher matcher;
static struct devx_obj tir, table, counter, other;
static struct uverbs_flow_action change, reformat;
static struct raw_qp raw;
static struct real_qp real;
static struct uverbs_qp qp;

static struct {
	bool may_not;
	uint64_t flags;
	int flags_error, make_error;
	struct object *counters[1], *actions[2];
	unsigned int num_counters, num_actions, flows;
	struct steering_request request; /* of the last flow */
	struct object *uses[FLOW_USES];
} it;

bool client_may(pid_t tid, unsigned int capability)
{
	assert_int_equal(tid, TID);
	assert_int_equal(capability, CLIENT_CAP_NET_RAW);
	return !it.may_not;
}

int uc_flags(struct uverbs_call *uc, uint16_t id, uint64_t allowed, uint64_t *flags)
{
	assert_ptr_equal(uc, &rig.call);
	assert_int_equal(id, MLX5_IB_ATTR_CREATE_FLOW_FLAGS);
	assert_int_equal(allowed, 3);
	*flags = it.flags;
	return it.flags_error;
}

unsigned int uc_objects(struct uverbs_call *uc, uint16_t id, struct object **objects,
			unsigned int max)
{
	assert_ptr_equal(uc, &rig.call);
	if (id == MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX) {
		assert_int_equal(max, 1);
		memcpy(objects, it.counters, sizeof(it.counters));
		return it.num_counters;
	}
	assert_int_equal(id, MLX5_IB_ATTR_CREATE_FLOW_ARR_FLOW_ACTIONS);
	assert_int_equal(max, FLOW_ACTIONS);
	memcpy(objects, it.actions, it.num_actions * sizeof(it.actions[0]));
	return it.num_actions;
}

static int flow_end(struct object *object, pid_t tid)
{
	(void)object;
	(void)tid;
	return 0;
}

int flow_make(struct uverbs_call *uc, const struct steering_request *request,
	      struct object *const uses[FLOW_USES], struct uverbs_flow **flow)
{
	assert_ptr_equal(uc, &rig.call);
	if (it.make_error)
		return it.make_error;
	it.flows++;
	it.request = *request;
	memcpy(it.uses, uses, sizeof(it.uses));
	return object_new(sizeof(**flow), uc->file, UVERBS_OBJECT_FLOW, flow_end, flow);
}

static void devx_set(struct devx_obj *obj, enum prm_opcode destroy, uint64_t number)
{
	memset(obj, 0, sizeof(*obj));
	fld_set(obj->made.destroy, CMD_IN_OPCODE, destroy);
	obj->made.name = 0xabull << 32 | number;
}

static int dv_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	memset(&matcher, 0, sizeof(matcher));
	rig.call.tid = TID;
	matcher.table_type = RX;
	memset(matcher.match.mask, 0xf0, sizeof(matcher.match.mask));
	devx_set(&tir, PRM_OP_DESTROY_TIR, TIRN);
	devx_set(&table, PRM_OP_DESTROY_FLOW_TABLE, TABLE);
	devx_set(&counter, PRM_OP_DEALLOC_FLOW_COUNTER, COUNTER);
	devx_set(&other, PRM_OP_DESTROY_CQ, 1);
	counter.made.count = BULK;
	change = (struct uverbs_flow_action){ .action = PRM_FLOW_MODIFY_HEADER, .number = 0x51 };
	reformat =
		(struct uverbs_flow_action){ .action = PRM_FLOW_PACKET_REFORMAT, .number = 0x52 };
	raw = (struct raw_qp){ .has_tir = true, .tirn = TIRN };
	real = (struct real_qp){ .raw = &raw };
	qp = (struct uverbs_qp){ .real = &real, .type = IB_UVERBS_QPT_RAW_PACKET };
	fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 1);
	rig_in_object(MLX5_IB_ATTR_CREATE_FLOW_MATCHER, &matcher.base);
	return 0;
}

static void go_to(struct devx_obj *devx, bool to_qp)
{
	rig_in_object(MLX5_IB_ATTR_CREATE_FLOW_DEST_DEVX, devx ? &devx->base : NULL);
	rig_in_object(MLX5_IB_ATTR_CREATE_FLOW_DEST_QP, to_qp ? &qp.base : NULL);
}

static int flow_try(void)
{
	return flow_dv_create(&rig.call);
}

static void check_target(unsigned int action, enum steering_kind to, uint32_t number)
{
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.target.action, action);
	assert_int_equal(it.request.target.to, to);
	assert_int_equal(it.request.target.number, number);
}

static void frames_go_to_a_qp_or_an_object(void **state)
{
	(void)state;
	go_to(NULL, true);
	check_target(PRM_FLOW_FWD, STEERING_TO_TIR, TIRN);
	assert_ptr_equal(it.uses[USES_TARGET], &qp.base);
	assert_ptr_equal(it.uses[USES_MATCHER], &matcher.base);
	assert_null(it.uses[USES_ACTIONS]);
	go_to(&tir, false);
	check_target(PRM_FLOW_FWD, STEERING_TO_TIR, TIRN);
	assert_null(it.uses[USES_TARGET]);
	go_to(&table, false);
	check_target(PRM_FLOW_FWD, STEERING_TO_TABLE, TABLE);
	go_to(NULL, false);
	check_target(0, STEERING_NOWHERE, 0);
	assert_true(rig_has_out(MLX5_IB_ATTR_CREATE_FLOW_HANDLE));
	go_to(&other, false);
	assert_int_equal(flow_try(), EINVAL);
}

static void only_raw_packet_qps_receive_frames(void **state)
{
	(void)state;
	go_to(NULL, true);
	raw.has_tir = false;
	check_target(PRM_FLOW_FWD, STEERING_TO_TIR, 0);
	real.raw = NULL;
	assert_int_equal(flow_try(), EINVAL);
	real.raw = &raw;
	qp.type = IB_UVERBS_QPT_UD;
	assert_int_equal(flow_try(), EINVAL);
}

/* Which destinations and flags a table takes; the errno without them comes from the level. */
static void tables_have_their_destinations(void **state)
{
	static const struct {
		uint32_t type;
		char devx; /* t: TIR, f: flow table */
		bool qp;
		uint64_t flags;
		int error;
	} rows[] = {
		{ RX, 0, false, DROP, 0 },
		{ RX, 0, false, MISS, 0 },
		{ RX, 0, false, DROP | MISS, EINVAL },
		{ RX, 0, true, DROP, EINVAL },
		{ RX, 't', false, MISS, EINVAL },
		{ RX, 't', true, 0, EINVAL },
		{ TX, 0, false, 0, 0 },
		{ TX, 0, false, DROP, 0 },
		{ TX, 0, false, MISS, EOPNOTSUPP },
		{ TX, 0, false, DROP | MISS, EINVAL },
		{ TX, 'f', false, 0, 0 },
		{ TX, 't', false, 0, EINVAL },
		{ TX, 0, true, 0, EINVAL },
		{ RDMA_TX, 0, true, 0, EINVAL },
		{ RDMA_TX, 'f', false, 0, EOPNOTSUPP },
		{ RDMA_RX, 0, false, 0, EINVAL },
		{ RDMA_RX, 'f', true, 0, EINVAL },
		{ RDMA_RX, 't', false, 0, EINVAL },
		{ RDMA_RX, 'f', false, 0, EOPNOTSUPP },
		{ RDMA_RX, 0, true, 0, EOPNOTSUPP },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		go_to(rows[i].devx == 't' ? &tir : rows[i].devx ? &table : NULL, rows[i].qp);
		matcher.table_type = rows[i].type;
		it.flags = rows[i].flags;
		assert_int_equal(flow_try(), rows[i].error);
	}
}

static void flags_drop_or_miss(void **state)
{
	(void)state;
	it.flags = DROP;
	check_target(PRM_FLOW_DROP, STEERING_NOWHERE, 0);
	assert_false(it.request.target.misses);
	it.flags = MISS;
	check_target(PRM_FLOW_FWD, STEERING_NOWHERE, 0);
	assert_true(it.request.target.misses);
	it.flags = 0;
	matcher.table_type = TX;
	check_target(PRM_FLOW_ALLOW, STEERING_NOWHERE, 0);
	it.flags = DROP;
	check_target(PRM_FLOW_DROP, STEERING_NOWHERE, 0);
	it.flags_error = REFUSED;
	assert_int_equal(flow_try(), EINVAL);
}

static void offset_set(uint32_t offset)
{
	rig_in(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, &offset, sizeof(offset));
}

static void counters_are_of_a_bulk(void **state)
{
	const uint64_t wide = 0;

	(void)state;
	it.counters[0] = &counter.base;
	it.num_counters = 1;
	check_target(PRM_FLOW_COUNT, STEERING_NOWHERE, 0);
	assert_int_equal(it.request.target.counter, COUNTER);
	offset_set(BULK - 1);
	check_target(PRM_FLOW_COUNT, STEERING_NOWHERE, 0);
	assert_int_equal(it.request.target.counter, COUNTER + BULK - 1);
	offset_set(BULK);
	assert_int_equal(flow_try(), EINVAL);
	counter.made.count = 0;
	offset_set(1);
	assert_int_equal(flow_try(), EINVAL);
	offset_set(0);
	assert_int_equal(flow_try(), 0);
	rig_in(MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET, &wide, sizeof(wide));
	assert_int_equal(flow_try(), EINVAL);
	offset_set(0);
	rig.in_refused = MLX5_IB_ATTR_CREATE_FLOW_ARR_COUNTERS_DEVX_OFFSET;
	assert_int_equal(flow_try(), EFAULT);
	rig.in_refused = UINT16_MAX;
	it.counters[0] = &tir.base;
	assert_int_equal(flow_try(), EINVAL);
}

static void headers_change_once_in_each_way(void **state)
{
	(void)state;
	it.actions[0] = &change.base;
	it.actions[1] = &reformat.base;
	it.num_actions = 2;
	check_target(PRM_FLOW_MODIFY_HEADER | PRM_FLOW_PACKET_REFORMAT, STEERING_NOWHERE, 0);
	assert_int_equal(it.request.target.change, 0x51);
	assert_int_equal(it.request.target.reformat, 0x52);
	assert_ptr_equal(it.uses[USES_ACTIONS], &change.base);
	assert_ptr_equal(it.uses[USES_ACTIONS + 1], &reformat.base);
	it.actions[1] = &change.base;
	assert_int_equal(flow_try(), EINVAL);
	it.num_actions = 1;
	it.actions[0] = &reformat.base;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.target.change, 0);
}

static int create_tagged(uint32_t tag)
{
	rig_in(MLX5_IB_ATTR_CREATE_FLOW_TAG, &tag, sizeof(tag));
	return flow_try();
}

static void a_tag_has_24_bits(void **state)
{
	(void)state;
	assert_int_equal(flow_try(), 0);
	assert_false(it.request.has_tag);
	assert_int_equal(create_tagged(0xffffff), 0);
	assert_true(it.request.has_tag);
	assert_int_equal(it.request.tag, 0xffffff);
	assert_int_equal(create_tagged(0x1000000), EINVAL);
	rig.in_refused = MLX5_IB_ATTR_CREATE_FLOW_TAG;
	assert_int_equal(create_tagged(1), EFAULT);
}

static void check_level(unsigned int level)
{
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, level);
}

static void the_level_follows_table_and_priority(void **state)
{
	(void)state;
	check_level(1);
	matcher.priority = 15;
	check_level(31);
	matcher.priority = 16;
	assert_int_equal(flow_try(), ENOMEM);
	matcher.priority = 2;
	matcher.table_type = TX;
	check_level(STEERING_TRANSMIT + 5);
	matcher.type = MLX5_IB_FLOW_TYPE_SNIFFER;
	assert_int_equal(flow_try(), EOPNOTSUPP);
}

static void value_set(uint32_t mac, uint32_t v4)
{
	uint8_t value[STEERING_MATCH_SIZE] = { 0 };

	fld_set(value, LYR_2_4_DMAC_47_16, mac);
	*(uint8_t *)fld_at(value, LYR_2_4_DST_IPV4) = (uint8_t)(v4 >> 24);
	rig_in(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, sizeof(value));
}

static void mask_set(uint32_t mac, uint32_t v4)
{
	memset(matcher.match.mask, 0, sizeof(matcher.match.mask));
	fld_set(matcher.match.mask, LYR_2_4_DMAC_47_16, mac);
	*(uint8_t *)fld_at(matcher.match.mask, LYR_2_4_DST_IPV4) = (uint8_t)(v4 >> 24);
}

/* An address is multicast only if mask and value say so, in the outer headers. */
static void groups_have_a_level_of_their_own(void **state)
{
	static const struct {
		uint32_t mac_mask, mac, v4_mask, v4;
		unsigned int level;
	} rows[] = {
		{ 0x01000000, 0x01000000, 0, 0, STEERING_MULTICAST },
		{ 0x01000000, 0, 0, 0, 1 },
		{ 0x02000000, 0x02000000, 0, 0, 1 },
		{ 0, 0, 0xe0000000, 0xe0000000, STEERING_MULTICAST },
		{ 0, 0, 0xef000000, 0xe5000000, STEERING_MULTICAST },
		{ 0, 0, 0xf0000000, 0xe0000000, 1 }, /* as Linux, which looks at the mask alike */
		{ 0, 0, 0xe0000000, 0xc0000000, 1 },
		{ 0x01000000, 0, 0xe0000000, 0xe0000000, STEERING_MULTICAST },
	};

	(void)state;
	matcher.match.criteria = PRM_MATCH_OUTER;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		mask_set(rows[i].mac_mask, rows[i].v4_mask);
		value_set(rows[i].mac, rows[i].v4);
		check_level(rows[i].level);
	}
	matcher.match.criteria = (uint8_t)~PRM_MATCH_OUTER;
	mask_set(0x01000000, 0);
	value_set(0x01000000, 0);
	check_level(1);
}

static void values_lie_within_the_mask(void **state)
{
	uint8_t value[STEERING_MATCH_SIZE];

	(void)state;
	memset(value, 0xf0, sizeof(value));
	rig_in(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, sizeof(value));
	assert_int_equal(flow_try(), 0);
	assert_memory_equal(it.request.match.value, value, sizeof(value));
	assert_memory_equal(it.request.match.mask, matcher.match.mask, sizeof(value));
	for (unsigned int i = 0; i < sizeof(value); i += sizeof(value) - 1) {
		value[i] = 0x1;
		rig_in(MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE, value, sizeof(value));
		assert_int_equal(flow_try(), EINVAL);
		value[i] = 0xf0;
	}
	rig.in_refused = MLX5_IB_ATTR_CREATE_FLOW_MATCH_VALUE;
	assert_int_equal(flow_try(), EFAULT);
}

static void rights_and_tables_are_needed(void **state)
{
	(void)state;
	it.make_error = REFUSED;
	assert_int_equal(flow_try(), REFUSED);
	fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 0);
	assert_int_equal(flow_try(), EOPNOTSUPP);
	it.may_not = true;
	assert_int_equal(flow_try(), EPERM);
	assert_int_equal(it.flows, 0);
}

static void a_flow_is_destroyed(void **state)
{
	(void)state;
	assert_int_equal(flow_try(), 0);
	rig_in_object(MLX5_IB_ATTR_DESTROY_FLOW_HANDLE,
		      rig.objects[*(const uint32_t *)rig_out(MLX5_IB_ATTR_CREATE_FLOW_HANDLE, 4)]);
	assert_int_equal(flow_dv_destroy(&rig.call), 0);
	assert_int_equal(rig.freed, 1);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, dv_begin, rig_end)
	const struct CMUnitTest tests[] = {
		CASE(frames_go_to_a_qp_or_an_object),
		CASE(only_raw_packet_qps_receive_frames),
		CASE(tables_have_their_destinations),
		CASE(flags_drop_or_miss),
		CASE(counters_are_of_a_bulk),
		CASE(headers_change_once_in_each_way),
		CASE(a_tag_has_24_bits),
		CASE(the_level_follows_table_and_priority),
		CASE(groups_have_a_level_of_their_own),
		CASE(values_lie_within_the_mask),
		CASE(rights_and_tables_are_needed),
		CASE(a_flow_is_destroyed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
