/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * eth_queues_test.c - commands that make queues of Ethernet frames: tables of queues, hashing
 * receivers, rings; without memory, or refused by the device.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "softhca/front/process/driver/eth_queues.c"

static struct adapter adapter;
static struct identity identity;
static uint8_t sent[1024];
static size_t sent_len;
static int command_error;
static bool has_no_memory;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) __attribute__((visibility("default")));

void *__wrap_calloc(size_t count, size_t size)
{
	return has_no_memory ? NULL : __real_calloc(count, size);
}

int adapter_command(struct adapter *of, void *in, size_t in_len, void *out, size_t out_len)
{
	assert_ptr_equal(of, &adapter);
	assert_true(in_len <= sizeof(sent));
	memcpy(sent, in, in_len);
	sent_len = in_len;
	memset(out, 0, out_len);
	fld_set(out, CREATE_RQ_OUT_RQN, 0x123456);
	return command_error;
}

int queue_memory_describe(uint64_t addr, uint64_t len, unsigned int offsets,
			  struct queue_memory *memory)
{
	assert_int_equal(len, 64 + (1 << 10));
	assert_int_equal(offsets, 32);
	*memory = (struct queue_memory){ .pages = 2, .page_offset = 5, .log_page_size = 3 };
	return addr ? 0 : EINVAL;
}

void queue_memory_put(const struct queue_memory *memory, const struct client *client, void *pas)
{
	(void)memory, (void)client;
	memset(pas, 0xaa, 16);
}

static int command_begin(void **state)
{
	(void)state;
	adapter.identity = &identity;
	identity.kind = HCA_MLX5;
	command_error = 0;
	has_no_memory = false;
	sent_len = 0;
	return 0;
}

static void a_table_has_the_numbers_of_its_queues(void **state)
{
	static const uint32_t queues[3] = { 7, 0x654321, 9 };
	const uint8_t *rqtc = fld_at(sent, CREATE_RQT_IN_RQT_CONTEXT);
	uint32_t rqtn = 0;

	(void)state;
	assert_int_equal(eth_rqt_make(&adapter, queues, 3, &rqtn), 0);
	assert_int_equal(rqtn, 0x123456);
	assert_int_equal(fld_get(sent, CMD_IN_OPCODE), PRM_OP_CREATE_RQT);
	assert_int_equal(fld_get(rqtc, RQTC_RQT_MAX_SIZE), 3);
	assert_int_equal(fld_get(rqtc, RQTC_RQT_ACTUAL_SIZE), 3);
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			fld_get((const uint8_t *)fld_at(rqtc, RQTC_RQ_NUM) + 4 * i, RQ_NUM_RQ_NUM),
			queues[i]);
	command_error = EREMOTEIO;
	assert_int_equal(eth_rqt_make(&adapter, queues, 3, &rqtn), EREMOTEIO);
}

static void without_memory_no_command_is_sent(void **state)
{
	const struct eth_ring ring = { .buffer = 64, .skip = 64, .log_size = 4, .log_stride = 6 };
	uint32_t number = 0;

	(void)state;
	has_no_memory = true;
	assert_int_equal(eth_rqt_make(&adapter, &number, 1, &number), ENOMEM);
	assert_int_equal(eth_rq_make(&adapter, &ring, &number), ENOMEM);
	assert_int_equal(eth_sq_make(&adapter, &ring, 1, &number), ENOMEM);
	assert_int_equal(sent_len, 0);
}

static void a_ring_is_where_the_program_has_it(void **state)
{
	static const struct client client = { .slot = 2 };
	struct eth_ring ring = { .client = &client,
				 .buffer = 64,
				 .record = 0x1000,
				 .skip = 64,
				 .log_size = 4,
				 .log_stride = 6,
				 .pdn = 0x11,
				 .cqn = 0x22,
				 .uar = 0x33,
				 .strip_vlan = true };
	const uint8_t *rqc = fld_at(sent, CREATE_RQ_IN_CTX), *wq = fld_at((void *)rqc, RQC_WQ);
	uint32_t number = 0;

	(void)state;
	assert_int_equal(eth_rq_make(&adapter, &ring, &number), 0);
	assert_int_equal(number, 0x123456);
	assert_int_equal(sent_len, 272 + 16);
	assert_int_equal(sent[272], 0xaa);
	assert_int_equal(fld_get(sent, CMD_IN_OPCODE), PRM_OP_CREATE_RQ);
	assert_int_equal(fld_get(rqc, RQC_VSD), 0);
	assert_int_equal(fld_get(rqc, RQC_CQN), 0x22);
	assert_int_equal(fld_get(wq, WQ_PD), 0x11);
	assert_int_equal(fld_get(wq, WQ_UAR_PAGE), 0x33);
	assert_int_equal(fld_get(wq, WQ_PAGE_OFFSET), 5);
	assert_int_equal(fld_get(wq, WQ_LOG_WQ_STRIDE), 6);
	assert_int_equal(fld_get(wq, WQ_LOG_WQ_SZ), 4);
	assert_true(fld_get(wq, WQ_DBR_ADDR) == client_bus_addr(&client, 0x1000));
	assert_int_equal(eth_sq_make(&adapter, &ring, 0x44, &number), 0);
	assert_int_equal(fld_get(sent, CMD_IN_OPCODE), PRM_OP_CREATE_SQ);
	assert_int_equal(fld_get(fld_at(sent, CREATE_SQ_IN_CTX), SQC_TIS_NUM_0), 0x44);
	ring.buffer = 0;
	assert_int_equal(eth_rq_make(&adapter, &ring, &number), EINVAL);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup(test, command_begin)
	const struct CMUnitTest tests[] = {
		TEST(a_table_has_the_numbers_of_its_queues),
		TEST(without_memory_no_command_is_sent),
		TEST(a_ring_is_where_the_program_has_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
