/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * A guest's CQ: the arguments of its command as ours, and where the driver's part of its buffers
 * lies.
 *
 * Covers: foreign/cmd_cq.c, foreign/guest.h
 */
#include "tests/unit/libibverbs/unit.h"

#include "foreign/guest.h"
#include "tests/unit/log_text.h"

static struct {
	int calls;
	uint32_t flags;
	struct verbs_udata udata;
} made;

int __wrap_verbs_cmd_create_bare_cq(struct ibv_context *context,
				    const struct ibv_cq_init_attr_ex *attr, uint32_t flags,
				    uint32_t ring_cqe, struct ibv_cq *cq,
				    const struct verbs_udata *udata);

int __wrap_verbs_cmd_create_bare_cq(struct ibv_context *context,
				    const struct ibv_cq_init_attr_ex *attr, uint32_t flags,
				    uint32_t ring_cqe, struct ibv_cq *cq,
				    const struct verbs_udata *udata)
{
	(void)context;
	(void)attr;
	(void)cq;
	assert_int_equal(ring_cqe, 0);
	made.calls++;
	made.flags = flags;
	made.udata = *udata;
	return 0;
}

#define create_cq_ex GUEST_NAME(guest_, ibv_cmd_create_cq_ex, HOST_NUMBER)
#if HOST_NUMBER >= 65
int create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		 void *prov_attr, struct ibv_cq *cq, const void *cmd, size_t cmd_size,
		 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t how);
#else
int create_cq_ex(struct ibv_context *context, const struct ibv_cq_init_attr_ex *attr,
		 struct ibv_cq *cq, const void *cmd, size_t cmd_size,
		 struct ib_uverbs_ex_create_cq_resp *resp, size_t resp_size, uint32_t how);
#endif

/* The sizes of the core's parts, as a guest knows them */
enum { CMD_CORE = 24 + 32, RESP_CORE = 16 };

static char cmd[CMD_CORE + 16], resp[RESP_CORE + 8];

static int guest_creates(struct ibv_cq_init_attr_ex attr, size_t cmd_size, size_t resp_size,
			 uint32_t how)
{
	struct ibv_cq cq = { 0 };
#if HOST_NUMBER >= 65
	char prov_attr[24] = { 0 }; /* as a guest passes it, with and without a use */
#endif

	memset(&made, 0, sizeof(made));
	return create_cq_ex(NULL, &attr,
#if HOST_NUMBER >= 65
			    prov_attr,
#endif
			    &cq, cmd, cmd_size, (void *)resp, resp_size, how);
}

static int guest_creates_of(struct ibv_cq_init_attr_ex attr, uint32_t how)
{
	return guest_creates(attr, sizeof(cmd), sizeof(resp), how);
}

static void the_drivers_part_lies_behind_the_cores(void **state)
{
	(void)state;
	assert_int_equal(guest_creates_of((struct ibv_cq_init_attr_ex){ .cqe = 1 }, 0), 0);
	assert_int_equal(made.calls, 1);
	assert_int_equal(made.flags, 0);
	assert_ptr_equal(made.udata.req, cmd + CMD_CORE);
	assert_int_equal(made.udata.req_len, 16);
	assert_ptr_equal(made.udata.resp, resp + RESP_CORE);
	assert_int_equal(made.udata.resp_len, 8);
}

/* Buffers that end with the core's part, or before, have nothing of the driver. */
static void a_buffer_without_a_drivers_part_is_empty(void **state)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 1 };

	(void)state;
	assert_int_equal(guest_creates(attr, CMD_CORE, RESP_CORE, 0), 0);
	assert_int_equal(made.udata.req_len + made.udata.resp_len, 0);
	assert_null(made.udata.req);
	assert_null(made.udata.resp);
	assert_int_equal(guest_creates(attr, CMD_CORE - 8, 0, 0), 0);
	assert_int_equal(made.udata.req_len + made.udata.resp_len, 0);
}

/* efa of release 65 passes attributes always, and says by a flag that they name memory. */
static void memory_of_the_provider_is_refused_by_its_flag(void **state)
{
	const struct ibv_cq_init_attr_ex attr = { .cqe = 1 };

	(void)state;
#if HOST_NUMBER >= 65
	for (uint32_t how = 2; how <= 4; how *= 2) {
		assert_int_equal(guest_creates_of(attr, how), EOPNOTSUPP);
		assert_int_equal(made.calls, 0);
		check_logged("create_cq with buffers of the provider");
	}
#endif
	assert_int_equal(guest_creates_of(attr, 1), 0);
	assert_int_equal(made.calls, 1);
}

static void timestamps_of_both_kinds_are_asked_for(void **state)
{
	static const uint64_t kinds[] = { IBV_WC_EX_WITH_COMPLETION_TIMESTAMP,
					  IBV_WC_EX_WITH_COMPLETION_TIMESTAMP_WALLCLOCK };

	(void)state;
	for (int i = 0; i < 2; i++) {
		const struct ibv_cq_init_attr_ex attr = { .cqe = 1, .wc_flags = kinds[i] };

		assert_int_equal(guest_creates_of(attr, 0), 0);
		assert_int_equal(made.flags, IB_UVERBS_CQ_FLAGS_TIMESTAMP_COMPLETION);
		assert_int_equal(guest_creates_of(attr, 1), 0);
		assert_int_equal(made.flags, 0);
	}
}

static void members_of_later_releases_are_refused(void **state)
{
	(void)state;
	assert_int_equal(guest_creates_of((struct ibv_cq_init_attr_ex){ .comp_mask = 4 }, 0),
			 EOPNOTSUPP);
	assert_int_equal(made.calls, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_drivers_part_lies_behind_the_cores),
		cmocka_unit_test(a_buffer_without_a_drivers_part_is_empty),
		cmocka_unit_test(memory_of_the_provider_is_refused_by_its_flag),
		cmocka_unit_test(timestamps_of_both_kinds_are_asked_for),
		cmocka_unit_test(members_of_later_releases_are_refused),
	};

	log_to_memory();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
