/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resources_test.c - RDMA netlink's lists of objects: which kind a command lists, the fields of
 * each, the sums, and lists of several messages. Objects and messages are the test's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "softhca/front/process/discovery/resources.c"

enum { PID = 4711, CONTEXT = 9, QPN = 0x123, PSN = 0x777, STATE = 3, ENTRIES = 60, MANY = 150 };

static struct {
	struct adapter adapter;
	struct client client;
	struct uverbs_file file;
	struct uverbs_pd pd;
	struct uverbs_cq cq;
	struct real_qp real;
	struct uverbs_qp qp;
	struct uverbs_mr mr;
	struct uverbs_srq srq;
	unsigned int pds, contexts; /* how often the PD and the file are seen */
	char said[16384];           /* "attribute=value " and brackets of nests */
	unsigned int messages, ended, entries;
	struct reply reply;
	struct nlattr nest;
} it;

static void say_text(const char *text)
{
	if (strlen(it.said) + strlen(text) < sizeof(it.said))
		strcat(it.said, text);
}

static void say_number(uint16_t type, uint64_t value)
{
	char text[48];

	snprintf(text, sizeof(text), "%u=%llu ", type, (unsigned long long)value);
	say_text(text);
}

void reply_begin(struct reply *reply, uint16_t type)
{
	(void)reply;
	(void)type;
	it.messages++;
}

void reply_end(struct reply *reply)
{
	(void)reply;
	it.ended++;
}

/* A datagram takes ENTRIES entries. */
size_t reply_room(const struct reply *reply)
{
	(void)reply;
	return it.entries < ENTRIES ? ENTRY_ROOM : ENTRY_ROOM - 1;
}

void reply_u8(struct reply *reply, uint16_t type, uint8_t value)
{
	(void)reply;
	say_number(type, value);
}

void reply_u32(struct reply *reply, uint16_t type, uint32_t value)
{
	(void)reply;
	say_number(type, value);
}

void reply_u64(struct reply *reply, uint16_t type, uint64_t value)
{
	(void)reply;
	say_number(type, value);
}

void reply_string(struct reply *reply, uint16_t type, const char *value)
{
	char text[64];

	(void)reply;
	snprintf(text, sizeof(text), "%u:%.32s ", type, value);
	say_text(text);
}

struct nlattr *reply_nest(struct reply *reply, uint16_t type)
{
	char text[16];

	(void)reply;
	snprintf(text, sizeof(text), "%u[ ", type);
	say_text(text);
	it.entries += type == RDMA_NLDEV_ATTR_RES_PD_ENTRY || type == RDMA_NLDEV_ATTR_RES_CTX_ENTRY;
	return &it.nest;
}

void reply_nest_end(struct reply *reply, struct nlattr *nest)
{
	(void)reply;
	assert_ptr_equal(nest, &it.nest);
	say_text("] ");
}

void qp_look(struct adapter *adapter, const struct real_qp *real, unsigned int *state,
	     uint32_t *psn)
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_ptr_equal(real, &it.real);
	*state = STATE;
	*psn = PSN;
}

void uverbs_objects_see(const struct adapter *adapter,
			void (*see)(const struct object *object, void *arg), void *arg)
{
	assert_ptr_equal(adapter, &it.adapter);
	for (unsigned int i = 0; i < it.pds; i++)
		see(&it.pd.base, arg);
	see(&it.cq.base, arg);
	see(&it.qp.base, arg);
	see(&it.mr.base, arg);
	see(&it.srq.base, arg);
}

bool uverbs_objects_see_from(const struct adapter *adapter, struct object_place *place,
			     bool (*see)(const struct object *object, void *arg), void *arg)
{
	const struct object *others[] = { &it.cq.base, &it.qp.base, &it.mr.base, &it.srq.base };

	assert_ptr_equal(adapter, &it.adapter);
	for (; place->handle < it.pds + ARRAY_SIZE(others); place->handle++)
		if (!see(place->handle < it.pds ? &it.pd.base : others[place->handle - it.pds],
			 arg))
			return false;
	return true;
}

bool uverbs_contexts_see_from(const struct adapter *adapter, struct object_place *place,
			      bool (*see)(const struct uverbs_file *file, void *arg), void *arg)
{
	assert_ptr_equal(adapter, &it.adapter);
	for (; place->handle < it.contexts; place->handle++)
		if (!see(&it.file, arg))
			return false;
	return true;
}

unsigned int uverbs_count_contexts(const struct adapter *adapter)
{
	assert_ptr_equal(adapter, &it.adapter);
	return 7;
}

static void object_put(struct object *object, uint16_t type, uint32_t users)
{
	object->file = &it.file;
	object->type = type;
	object->users = users;
}

static int objects_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.adapter.index = 2;
	strcpy(it.adapter.name, "mlx5_2");
	it.client.pid = PID;
	it.file.client = &it.client;
	it.file.adapter = &it.adapter;
	it.file.context_number = CONTEXT;
	it.pds = it.contexts = 1;
	it.pd.pdn = 0x11;
	it.cq.cqn = 0x22;
	it.cq.cqe = 63;
	it.real.qpn = QPN;
	it.real.port = 1;
	it.qp.real = &it.real;
	it.qp.type = 4;
	it.qp.pd = it.mr.pd = &it.pd;
	it.mr.key = 0x3344;
	it.mr.length = 4096;
	object_put(&it.pd.base, UVERBS_OBJECT_PD, 5);
	object_put(&it.cq.base, UVERBS_OBJECT_CQ, 6);
	object_put(&it.qp.base, UVERBS_OBJECT_QP, 0);
	object_put(&it.mr.base, UVERBS_OBJECT_MR, 0);
	object_put(&it.srq.base, UVERBS_OBJECT_SRQ, 0);
	return 0;
}

/* Checks that COMMAND lists one entry with these FIELDS in nest ENTRY of TABLE. */
static void check_list(unsigned int command, unsigned int table, unsigned int entry,
		       const char *fields)
{
	struct object_place place = { 0 };
	char expected[256];
	uint16_t type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);

	it.said[0] = '\0';
	it.messages = it.ended = it.entries = 0;
	assert_true(resources_put(&it.reply, type, &it.adapter, &place));
	snprintf(expected, sizeof(expected), "%u=2 %u:mlx5_2 %u[ %u[ %s%u=%u ] ] ",
		 RDMA_NLDEV_ATTR_DEV_INDEX, RDMA_NLDEV_ATTR_DEV_NAME, table, entry, fields,
		 RDMA_NLDEV_ATTR_RES_PID, PID);
	assert_string_equal(it.said, expected);
	assert_int_equal(it.messages, 1);
	assert_int_equal(it.ended, 1);
}

static void each_command_lists_its_kind(void **state)
{
	char fields[128];

	(void)state;
	snprintf(fields, sizeof(fields), "%u=5 %u=17 %u=9 ", RDMA_NLDEV_ATTR_RES_USECNT,
		 RDMA_NLDEV_ATTR_RES_PDN, RDMA_NLDEV_ATTR_RES_CTXN);
	check_list(RDMA_NLDEV_CMD_RES_PD_GET, RDMA_NLDEV_ATTR_RES_PD, RDMA_NLDEV_ATTR_RES_PD_ENTRY,
		   fields);
	snprintf(fields, sizeof(fields), "%u=63 %u=6 %u=34 %u=9 ", RDMA_NLDEV_ATTR_RES_CQE,
		 RDMA_NLDEV_ATTR_RES_USECNT, RDMA_NLDEV_ATTR_RES_CQN, RDMA_NLDEV_ATTR_RES_CTXN);
	check_list(RDMA_NLDEV_CMD_RES_CQ_GET, RDMA_NLDEV_ATTR_RES_CQ, RDMA_NLDEV_ATTR_RES_CQ_ENTRY,
		   fields);
	snprintf(fields, sizeof(fields), "%u=4096 %u=51 %u=17 ", RDMA_NLDEV_ATTR_RES_MRLEN,
		 RDMA_NLDEV_ATTR_RES_MRN, RDMA_NLDEV_ATTR_RES_PDN);
	check_list(RDMA_NLDEV_CMD_RES_MR_GET, RDMA_NLDEV_ATTR_RES_MR, RDMA_NLDEV_ATTR_RES_MR_ENTRY,
		   fields);
	snprintf(fields, sizeof(fields), "%u=9 ", RDMA_NLDEV_ATTR_RES_CTXN);
	check_list(RDMA_NLDEV_CMD_RES_CTX_GET, RDMA_NLDEV_ATTR_RES_CTX,
		   RDMA_NLDEV_ATTR_RES_CTX_ENTRY, fields);
}

static void a_qp_has_the_fields_that_it_has(void **state)
{
	char fields[128], rest[96];

	(void)state;
	snprintf(rest, sizeof(rest), "%u=291 %u=4 %u=1911 %u=3 ", RDMA_NLDEV_ATTR_RES_LQPN,
		 RDMA_NLDEV_ATTR_RES_TYPE, RDMA_NLDEV_ATTR_RES_SQ_PSN, RDMA_NLDEV_ATTR_RES_STATE);
	snprintf(fields, sizeof(fields), "%u=1 %s%u=17 ", RDMA_NLDEV_ATTR_PORT_INDEX, rest,
		 RDMA_NLDEV_ATTR_RES_PDN);
	check_list(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
		   fields);
	it.real.port = 0; /* in reset, so it has no port yet */
	it.qp.pd = NULL;  /* an XRC target, which has no PD */
	check_list(RDMA_NLDEV_CMD_RES_QP_GET, RDMA_NLDEV_ATTR_RES_QP, RDMA_NLDEV_ATTR_RES_QP_ENTRY,
		   rest);
}

static void what_can_be_listed_is_said(void **state)
{
	static const struct {
		unsigned int command;
		bool can_be;
	} rows[] = {
		{ RDMA_NLDEV_CMD_RES_QP_GET, true },  { RDMA_NLDEV_CMD_RES_CQ_GET, true },
		{ RDMA_NLDEV_CMD_RES_MR_GET, true },  { RDMA_NLDEV_CMD_RES_PD_GET, true },
		{ RDMA_NLDEV_CMD_RES_CTX_GET, true }, { 0, false },
		{ RDMA_NLDEV_CMD_GET, false },        { 200, false },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		uint16_t type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, rows[i].command);

		assert_int_equal(resources_can_list(type), rows[i].can_be);
	}
	assert_int_equal(it.messages, 0);
}

/* Checks that a list of MANY objects takes three datagrams, each as full as it can be. */
static void check_parts(unsigned int command)
{
	static const unsigned int entries[] = { ENTRIES, ENTRIES, MANY - 2 * ENTRIES };
	uint16_t type = (uint16_t)RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, command);
	struct object_place place = { 0 };

	for (unsigned int i = 0; i < 3; i++) {
		it.entries = it.messages = it.ended = 0;
		it.said[0] = '\0';
		assert_int_equal(resources_put(&it.reply, type, &it.adapter, &place), i == 2);
		assert_int_equal(it.entries, entries[i]);
		assert_int_equal(it.messages, 1);
		assert_int_equal(it.ended, 1);
	}
}

static void a_long_list_has_several_parts(void **state)
{
	(void)state;
	it.pds = it.contexts = MANY;
	check_parts(RDMA_NLDEV_CMD_RES_PD_GET);
	check_parts(RDMA_NLDEV_CMD_RES_CTX_GET);
}

static void sums_count_all_kinds(void **state)
{
	char expected[512] = "", entry[64];
	static const struct {
		const char *name;
		unsigned int count;
	} rows[] = {
		{ "pd", 3 }, { "cq", 1 }, { "qp", 1 }, { "mr", 1 }, { "srq", 1 }, { "ctx", 7 }
	};

	(void)state;
	it.pds = 3;
	resources_put_summary(&it.reply, 5, &it.adapter);
	snprintf(expected, sizeof(expected), "%u=2 %u:mlx5_2 %u[ ", RDMA_NLDEV_ATTR_DEV_INDEX,
		 RDMA_NLDEV_ATTR_DEV_NAME, RDMA_NLDEV_ATTR_RES_SUMMARY);
	for (unsigned int i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(entry, sizeof(entry), "%u[ %u:%s %u=%u ] ",
			 RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME,
			 rows[i].name, RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR, rows[i].count);
		strcat(expected, entry);
	}
	strcat(expected, "] ");
	assert_string_equal(it.said, expected);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup(name, objects_begin)
	const struct CMUnitTest tests[] = {
		CASE(each_command_lists_its_kind), CASE(a_qp_has_the_fields_that_it_has),
		CASE(what_can_be_listed_is_said),  CASE(a_long_list_has_several_parts),
		CASE(sums_count_all_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
