/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * agent_test.c - agents of programs: registrations that are refused, by either version of the call,
 * methods that are taken, and which agent gets a request.
 *
 * Covers: softhca/front/process/umad/agent.c
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "softhca/front/process/driver/adapter.h"
#include "softhca/front/process/program/caller.h"
#include "softhca/front/process/umad/umad.h"
#include "util/bits.h"

enum { PORT = 1, FILES = 2, OUI = 0x123456, VERSION = 2 };

static struct {
	struct adapter adapter;
	struct umad_file file[FILES];
	uint8_t memory[64]; /* of the program */
	struct seccomp_notif notif;
	struct call call;
	bool is_read_only;
	unsigned int ended, forgotten;
} it;

int caller_read(const struct call *call, uint64_t addr, void *buf, size_t len)
{
	assert_ptr_equal(call, &it.call);
	if (addr + len > sizeof(it.memory))
		return EFAULT;
	memcpy(buf, it.memory + addr, len);
	return 0;
}

int caller_write(const struct call *call, uint64_t addr, const void *buf, size_t len)
{
	assert_ptr_equal(call, &it.call);
	assert_true(addr + len <= sizeof(it.memory));
	if (it.is_read_only)
		return EFAULT;
	memcpy(it.memory + addr, buf, len);
	return 0;
}

struct umad_file *umad_file_next(struct umad_file *after, const struct adapter *adapter,
				 unsigned int port)
{
	const unsigned int next = after ? (unsigned int)(after - it.file) + 1 : 0;

	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(port, PORT);
	return next < FILES ? &it.file[next] : NULL;
}

void umad_send_end_agent(struct umad_file *file, unsigned int agent)
{
	assert_true(file->agent[agent].used);
	it.ended++;
}

void umad_rmpp_forget(struct umad_file *file, unsigned int agent, uint64_t transaction)
{
	assert_true(file->agent[agent].used && !transaction);
	it.forgotten++;
}

static int agent_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.adapter.link_layer = HCA_LINK_INFINIBAND;
	it.call.notif = &it.notif;
	for (int i = 0; i < FILES; i++) {
		it.file[i].adapter = &it.adapter;
		it.file[i].port = PORT;
	}
	return 0;
}

static struct ib_user_mad_reg_req2 usual_request(void)
{
	return (struct ib_user_mad_reg_req2){ .qpn = 1,
					      .mgmt_class = MAD_CLASS_VENDOR_OUI,
					      .mgmt_class_version = VERSION,
					      .oui = OUI,
					      .method_mask = { 1 << 3 } };
}

static int registered(unsigned int file, struct ib_user_mad_reg_req2 req, uint32_t *id)
{
	int ret;

	memcpy(it.memory, &req, sizeof(req));
	ret = umad_register2(&it.call, &it.file[file]);
	memcpy(&req, it.memory, sizeof(req));
	*id = req.id;
	return ret;
}

static void expect_refused(struct ib_user_mad_reg_req2 req, int error)
{
	uint32_t id;

	assert_int_equal(registered(1, req, &id), error);
	assert_false(it.file[1].agent[0].used || it.file[1].used);
}

static const struct umad_agent *agent_found(unsigned int qpn, uint8_t class, uint8_t version,
					    uint8_t method)
{
	uint8_t mad[MAD_SIZE] = { 1, class, version, method };
	struct umad_file *file = NULL;
	const struct umad_agent *agent;

	memcpy(mad + 37, "\x12\x34\x56", 3);
	agent = umad_agent_find(&it.adapter, PORT, qpn, mad, &file);
	assert_true(!agent || (agent >= file->agent && agent < file->agent + UMAD_MAX_AGENTS));
	return agent;
}

static void a_request_finds_its_agent(void **state)
{
	struct ib_user_mad_reg_req2 req = usual_request();
	uint32_t id;

	(void)state;
	req.method_mask[1] = 1;
	assert_int_equal(registered(1, req, &id), 0);
	assert_int_equal(id, 0);
	assert_true(it.file[1].used);
	assert_ptr_equal(agent_found(1, 0x30, VERSION, 3), &it.file[1].agent[0]);
	assert_ptr_equal(agent_found(1, 0x30, VERSION, 64), &it.file[1].agent[0]);
	assert_null(agent_found(0, 0x30, VERSION, 3));
	assert_null(agent_found(1, 0x31, VERSION, 3));
	assert_null(agent_found(1, 0x30, VERSION + 1, 3));
	assert_null(agent_found(1, 0x30, VERSION, 4));
	assert_null(agent_found(1, 0x30, VERSION, 0x83)); /* none, as it is an answer */
	it.file[1].agent[0].oui[2]++;
	assert_null(agent_found(1, 0x30, VERSION, 3));
	memcpy(it.memory, &id, sizeof(id));
	assert_int_equal(umad_unregister(&it.call, &it.file[1]), 0);
	assert_true(it.ended == 1 && it.forgotten == 1);
	assert_int_equal(umad_unregister(&it.call, &it.file[1]), EINVAL);
	id = UMAD_MAX_AGENTS;
	memcpy(it.memory, &id, sizeof(id));
	assert_int_equal(umad_unregister(&it.call, &it.file[1]), EINVAL);
}

static void classes_are_checked(void **state)
{
	static const struct {
		uint32_t qpn;
		uint8_t class, version, rmpp;
		uint32_t oui;
		int error;
	} rows[] = {
		{ 2, 0x30, 1, 0, OUI, EINVAL },
		{ 1, 0x30, 0x83, 0, OUI, EINVAL },
		{ 1, 80, 1, 0, 0, EINVAL },
		{ 1, MAD_CLASS_DIRECTED, 1, 0, 0, EINVAL },
		{ 1, MAD_CLASS_SUBNET, 1, 0, 0, EINVAL },
		{ 0, 0x30, 1, 0, OUI, EINVAL },
		/* refused, as vendor classes of this range need an OUI */
		{ 1, MAD_CLASS_VENDOR_OUI, 1, 0, 0, EINVAL },
		{ 1, MAD_CLASS_VENDOR_OUI_LAST, 1, 0, 0, EINVAL },
		{ 1, 0x30, 1, 0, 1 << 24, EINVAL },
		{ 1, 0x30, 1, 2, OUI, EINVAL },
		{ 1, MAD_CLASS_CM, 1, 1, 0, EINVAL }, /* without RMPP */
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct ib_user_mad_reg_req2 req = usual_request();

		req.qpn = rows[i].qpn;
		req.mgmt_class = rows[i].class;
		req.mgmt_class_version = rows[i].version;
		req.rmpp_version = rows[i].rmpp;
		req.oui = rows[i].oui;
		expect_refused(req, rows[i].error);
	}
	it.adapter.link_layer = HCA_LINK_ETHERNET;
	expect_refused((struct ib_user_mad_reg_req2){ .qpn = 0 }, EPROTONOSUPPORT);
}

static void unknown_flags_are_answered_with_the_known(void **state)
{
	struct ib_user_mad_reg_req2 req = usual_request();

	(void)state;
	req.flags = IB_USER_MAD_REG_FLAGS_CAP + 1;
	expect_refused(req, EINVAL);
	memcpy(&req, it.memory, sizeof(req));
	assert_int_equal(req.flags, IB_USER_MAD_REG_FLAGS_CAP);
}

static void a_method_has_one_agent(void **state)
{
	struct ib_user_mad_reg_req2 req = usual_request();
	uint32_t id;

	(void)state;
	assert_int_equal(registered(0, req, &id), 0);
	expect_refused(req, EINVAL);
	req.method_mask[0] = 1 << 3 | 1 << 4;
	expect_refused(req, EINVAL);
	req = usual_request();
	req.oui++;
	assert_int_equal(registered(1, req, &id), 0);
	req = usual_request();
	req.mgmt_class_version++;
	assert_int_equal(registered(1, req, &id), 0);
	req = usual_request();
	req.method_mask[0] = 1 << 4;
	assert_int_equal(registered(1, req, &id), 0);
	assert_int_equal(id, 2);
	req.mgmt_class = MAD_CLASS_CM;
	req.method_mask[0] = 1 << MAD_SEND; /* rdma_cm's */
	assert_int_equal(registered(1, req, &id), EINVAL);
	req.method_mask[0] = 1 << 1;
	assert_int_equal(registered(1, req, &id), 0);
}

static void an_agent_without_a_class_gets_no_requests(void **state)
{
	uint32_t id;

	(void)state;
	for (uint32_t i = 0; i < UMAD_MAX_AGENTS; i++) {
		struct ib_user_mad_reg_req2 req = { .qpn = 1, .method_mask = { UINT64_MAX } };

		assert_int_equal(registered(0, req, &id), 0);
		assert_int_equal(id, i);
	}
	assert_int_equal(registered(0, usual_request(), &id), ENOMEM);
	assert_int_not_equal(it.file[0].agent[0].hi_tid, it.file[0].agent[1].hi_tid);
	assert_null(agent_found(1, 0, 0, 3));
}

static void a_number_that_cannot_be_told_ends_the_agent(void **state)
{
	(void)state;
	it.is_read_only = true;
	expect_refused(usual_request(), EFAULT);
	it.notif.data.args[2] = sizeof(it.memory);
	assert_int_equal(umad_register(&it.call, &it.file[1]), EFAULT);
	assert_int_equal(umad_register2(&it.call, &it.file[1]), EFAULT);
	assert_int_equal(umad_unregister(&it.call, &it.file[1]), EFAULT);
}

static void the_older_call_has_the_same_fields(void **state)
{
	struct ib_user_mad_reg_req req = { .qpn = 1,
					   .mgmt_class = MAD_CLASS_VENDOR_OUI_LAST,
					   .mgmt_class_version = VERSION,
					   .oui = { 0x12, 0x34, 0x56 },
					   .rmpp_version = 1 };
	const uint64_t methods = 1 << 5;

	(void)state;
	memcpy(req.method_mask, &methods, sizeof(methods));
	memcpy(it.memory, &req, sizeof(req));
	assert_int_equal(umad_register(&it.call, &it.file[1]), 0);
	assert_ptr_equal(agent_found(1, MAD_CLASS_VENDOR_OUI_LAST, VERSION, 5),
			 &it.file[1].agent[0]);
	assert_int_equal(it.file[1].agent[0].rmpp_version, 1);
	req.qpn = 2;
	memcpy(it.memory, &req, sizeof(req));
	assert_int_equal(umad_register(&it.call, &it.file[1]), EINVAL);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, agent_begin)
	const struct CMUnitTest tests[] = {
		CASE(a_request_finds_its_agent),
		CASE(classes_are_checked),
		CASE(unknown_flags_are_answered_with_the_known),
		CASE(a_method_has_one_agent),
		CASE(an_agent_without_a_class_gets_no_requests),
		CASE(a_number_that_cannot_be_told_ends_the_agent),
		CASE(the_older_call_has_the_same_fields),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
