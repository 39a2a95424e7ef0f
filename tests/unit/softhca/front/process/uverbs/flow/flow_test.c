/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flow_test.c - flows that verbs describe by specs: what is refused, the rule that a request
 * becomes, its level on each kind of adapter, and the objects that a flow keeps.
 */
#include <errno.h>
#include <string.h>

#include "rig.h"
#include "softhca/front/process/uverbs/flow/flow.c"

enum { TID = 12, TIRN = 0x31, COUNTERS = 0x61, NUMBER = 0x62, SIZE = 16, REFUSED = EDOM };

static struct raw_qp raw;
static struct real_qp real;
static struct uverbs_qp qp;
static struct object counters;

static struct {
	bool may_not;
	int specs_error, check_error, add_error, counters_error;
	struct flow_specs specs;
	struct steering_request request; /* of the last rule */
	unsigned int added, removed, ignored, placed;
	struct ib_uverbs_create_flow cmd;
} it;

bool client_may(pid_t tid, unsigned int capability)
{
	assert_int_equal(tid, TID);
	assert_int_equal(capability, CLIENT_CAP_NET_RAW);
	return !it.may_not;
}

int flow_specs_read(const void *data, size_t len, unsigned int count, struct flow_specs *specs)
{
	assert_int_equal(len, it.cmd.flow_attr.size);
	assert_int_equal(count, it.cmd.flow_attr.num_of_specs);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(((const uint8_t *)data)[i], 0xa0 + i);
	*specs = it.specs;
	return it.specs_error;
}

void mlx4_flow_match(struct steering_match *match)
{
	assert_non_null(match);
	it.ignored++;
}

int mlx4_flow_check(const struct ib_uverbs_flow_attr *attr, const uint8_t *specs)
{
	assert_int_equal(attr->size, SIZE);
	assert_int_equal(specs[0], 0xa0);
	return it.check_error;
}

void mlx4_flow_place(const struct ib_uverbs_flow_attr *attr, struct steering_request *request)
{
	assert_int_equal(attr->priority, it.cmd.flow_attr.priority);
	request->level = 0x99;
	it.placed++;
}

int counters_for_flow(struct uverbs_call *uc, uint32_t handle, struct object **object,
		      uint32_t *number)
{
	assert_ptr_equal(uc, &rig.call);
	assert_int_equal(handle, COUNTERS);
	*object = &counters;
	*number = NUMBER;
	return it.counters_error;
}

void steering_enable(struct steering_match *match)
{
	match->criteria |= 0x10;
}

int steering_add(struct adapter *adapter, const struct steering_request *request,
		 struct steering_rule **rule)
{
	assert_ptr_equal(adapter, &rig.adapter);
	if (it.add_error)
		return it.add_error;
	it.request = *request;
	it.added++;
	*rule = (struct steering_rule *)&it;
	return 0;
}

void steering_remove(struct adapter *adapter, struct steering_rule *rule)
{
	assert_ptr_equal(adapter, &rig.adapter);
	assert_ptr_equal(rule, &it);
	it.removed++;
}

static int flow_begin(void **state)
{
	rig_begin(state);
	memset(&it, 0, sizeof(it));
	rig.call.tid = TID;
	rig.adapter.num_ports = 2;
	fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 1);
	raw = (struct raw_qp){ .has_tir = true, .tirn = TIRN };
	real = (struct real_qp){ .raw = &raw };
	qp = (struct uverbs_qp){ .real = &real };
	counters = (struct object){ 0 };
	it.cmd.qp_handle = rig_publish(&qp.base, UVERBS_OBJECT_QP);
	it.cmd.flow_attr.port = 1;
	it.cmd.flow_attr.num_of_specs = 1;
	it.cmd.flow_attr.size = SIZE;
	return 0;
}

static int flow_end(void **state)
{
	rig_end(state);
	assert_int_equal(qp.base.users, 0);
	assert_int_equal(counters.users, 0);
	return 0;
}

static int create_in(size_t len)
{
	uint8_t bytes[RIG_ATTR_SIZE];

	memcpy(bytes, &it.cmd, sizeof(it.cmd));
	for (unsigned int i = 0; sizeof(it.cmd) + i < sizeof(bytes); i++)
		bytes[sizeof(it.cmd) + i] = (uint8_t)(0xa0 + i);
	rig_in(UVERBS_ATTR_CORE_IN, bytes, len);
	return flow_create(&rig.call);
}

static int flow_try(void)
{
	return create_in(sizeof(it.cmd) + SIZE);
}

static void a_flow_is_a_rule_to_the_qps_tir(void **state)
{
	const struct ib_uverbs_create_flow_resp *resp;

	(void)state;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.target.action, PRM_FLOW_FWD);
	assert_int_equal(it.request.target.to, STEERING_TO_TIR);
	assert_int_equal(it.request.target.number, TIRN);
	assert_false(it.request.target.goes_on);
	assert_false(it.request.has_tag);
	assert_int_equal(it.request.level, 1);
	assert_int_equal(it.request.match.criteria, 0x10);
	assert_int_equal(qp.base.users, 1);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	assert_int_equal(rig.objects[resp->flow_handle]->type, UVERBS_OBJECT_FLOW);
}

static void specs_set_tag_drop_and_counters(void **state)
{
	(void)state;
	it.specs = (struct flow_specs){ .tag = 0x123, .has_tag = true };
	assert_int_equal(flow_try(), 0);
	assert_true(it.request.has_tag);
	assert_int_equal(it.request.tag, 0x123);
	it.specs = (struct flow_specs){ .tag = 0x123, .drop = true };
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.tag, 0);
	assert_int_equal(it.request.target.action, PRM_FLOW_DROP);
	assert_int_equal(it.request.target.to, STEERING_NOWHERE);
	it.specs = (struct flow_specs){ .counts = true, .counters = COUNTERS };
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.target.action, PRM_FLOW_FWD | PRM_FLOW_COUNT);
	assert_int_equal(it.request.target.counter, NUMBER);
	assert_int_equal(counters.users, 1);
	it.counters_error = REFUSED;
	assert_int_equal(flow_try(), REFUSED);
	assert_int_equal(it.added, 3);
}

static void check_refused(int error)
{
	const unsigned int added = it.added;

	assert_int_equal(flow_try(), error);
	assert_int_equal(it.added, added);
	flow_begin(NULL);
}

#define REFUSES(change, error)        \
	do {                          \
		change;               \
		check_refused(error); \
	} while (0)

static void what_is_unknown_is_refused(void **state)
{
	struct ib_uverbs_flow_attr *attr = &it.cmd.flow_attr;

	(void)state;
	REFUSES(it.cmd.comp_mask = 1, EINVAL);
	REFUSES(it.may_not = true, EPERM);
	REFUSES(fld_set(rig.adapter.caps, HCA_CAP_NIC_FLOW_TABLE, 0), EOPNOTSUPP);
	REFUSES(rig.in_refused = UVERBS_ATTR_CORE_IN, EFAULT);
	REFUSES(attr->flags = 1 << 0, EINVAL);
	REFUSES(attr->flags = 1 << 3, EINVAL);
	REFUSES(attr->flags = FLAG_EGRESS, EOPNOTSUPP);
	REFUSES(attr->num_of_specs = 11, EINVAL);
	REFUSES(attr->port = 3, EINVAL);
	REFUSES(attr->priority = 16, ENOMEM);
	REFUSES((attr->type = FLOW_SNIFFER, attr->num_of_specs = 0), EOPNOTSUPP);
	REFUSES(attr->type = FLOW_SNIFFER + 1, EINVAL);
	REFUSES(attr->type = FLOW_MULTICAST_DEFAULT, EINVAL);
	REFUSES(attr->size = 4097, EINVAL);
	REFUSES(attr->size = 4096, ENOSPC);
	REFUSES(attr->size = SIZE + 1, ENOSPC);
	REFUSES(it.specs_error = REFUSED, REFUSED);
	REFUSES(it.cmd.qp_handle++, ENOENT);
	REFUSES(real.raw = NULL, EINVAL);
	REFUSES(raw.has_tir = false, EINVAL);
	REFUSES(it.add_error = REFUSED, REFUSED);
}

static void limits_are_included(void **state)
{
	struct ib_uverbs_flow_attr *attr = &it.cmd.flow_attr;

	(void)state;
	attr->num_of_specs = 10;
	attr->port = 2;
	attr->priority = 15;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, 31);
}

static void copies_come_before_flows_of_a_priority(void **state)
{
	(void)state;
	it.cmd.flow_attr.flags = FLAG_DONT_TRAP;
	it.cmd.flow_attr.priority = 3;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, 6);
	assert_true(it.request.target.goes_on);
}

static void groups_have_a_level_of_their_own(void **state)
{
	const uint32_t group = 0x01000000;

	(void)state;
	fld_set(it.specs.match.mask, LYR_2_4_DMAC_47_16, group);
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, 1);
	fld_set(it.specs.match.value, LYR_2_4_DMAC_47_16, group);
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, STEERING_MULTICAST);
	fld_set(it.specs.match.mask, LYR_2_4_DMAC_47_16, 0xfe000000);
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, 1);
	fld_set(it.specs.match.mask, LYR_2_4_DMAC_47_16, group);
	it.cmd.flow_attr.flags = FLAG_DONT_TRAP;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, 0);
}

static void defaults_take_what_is_left(void **state)
{
	struct ib_uverbs_flow_attr *attr = &it.cmd.flow_attr;

	(void)state;
	attr->num_of_specs = 0;
	attr->type = 1;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, STEERING_LEFTOVERS);
	assert_int_equal(fld_get(it.request.match.mask, LYR_2_4_DMAC_47_16), 0);
	attr->type = FLOW_MULTICAST_DEFAULT;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, STEERING_LEFTOVERS);
	assert_int_equal(fld_get(it.request.match.mask, LYR_2_4_DMAC_47_16), 0x01000000);
	assert_int_equal(fld_get(it.request.match.value, LYR_2_4_DMAC_47_16), 0x01000000);
}

static void mlx4_has_rules_of_its_own(void **state)
{
	struct ib_uverbs_flow_attr *attr = &it.cmd.flow_attr;

	(void)state;
	rig.identity.kind = HCA_MLX4;
	attr->priority = 16;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.request.level, 0x99);
	assert_int_equal(it.ignored, 1);
	attr->type = FLOW_SNIFFER;
	attr->num_of_specs = 0;
	assert_int_equal(flow_try(), 0);
	assert_int_equal(it.placed, 2);
	it.check_error = REFUSED;
	assert_int_equal(flow_try(), REFUSED);
	it.specs_error = EOPNOTSUPP;
	assert_int_equal(flow_try(), EINVAL);
	assert_int_equal(it.ignored, 3);
}

static void a_flow_without_an_answer_goes(void **state)
{
	(void)state;
	rig.out_refused = UVERBS_ATTR_CORE_OUT;
	assert_int_equal(flow_try(), EFAULT);
	assert_int_equal(it.removed, 1);
	assert_int_equal(qp.base.users, 0);
	assert_int_equal(rig.made, rig.freed);
}

static uint32_t flow_made(void)
{
	const struct ib_uverbs_create_flow_resp *resp;

	assert_int_equal(flow_try(), 0);
	resp = rig_out(UVERBS_ATTR_CORE_OUT, sizeof(*resp));
	return resp->flow_handle;
}

static int remove_by(uint32_t handle, uint32_t comp_mask)
{
	const struct ib_uverbs_destroy_flow cmd = { .comp_mask = comp_mask, .flow_handle = handle };

	rig_in(UVERBS_ATTR_CORE_IN, &cmd, sizeof(cmd));
	return flow_remove_write(&rig.call);
}

static void a_flow_is_destroyed_either_way(void **state)
{
	uint32_t handle = flow_made();

	(void)state;
	assert_int_equal(remove_by(handle, 1), EINVAL);
	assert_int_equal(remove_by(it.cmd.qp_handle, 0), EINVAL);
	rig.in_refused = UVERBS_ATTR_CORE_IN;
	assert_int_equal(remove_by(handle, 0), EFAULT);
	rig.in_refused = UINT16_MAX;
	assert_int_equal(it.removed, 0);
	assert_int_equal(remove_by(handle, 0), 0);
	assert_int_equal(remove_by(handle, 0), ENOENT);
	assert_int_equal(it.removed, 1);
	assert_int_equal(qp.base.users, 0);
	rig_in_object(UVERBS_ATTR_DESTROY_FLOW_HANDLE, rig.objects[flow_made()]);
	rig.adapter.dead = true;
	assert_int_equal(flow_remove(&rig.call), 0);
	assert_int_equal(it.removed, 1); /* a dead adapter has no rules */
	assert_int_equal(qp.base.users, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, flow_begin, flow_end)
	const struct CMUnitTest tests[] = {
		CASE(a_flow_is_a_rule_to_the_qps_tir),
		CASE(specs_set_tag_drop_and_counters),
		CASE(what_is_unknown_is_refused),
		CASE(limits_are_included),
		CASE(copies_come_before_flows_of_a_priority),
		CASE(groups_have_a_level_of_their_own),
		CASE(defaults_take_what_is_left),
		CASE(mlx4_has_rules_of_its_own),
		CASE(a_flow_without_an_answer_goes),
		CASE(a_flow_is_destroyed_either_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
