/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * id_test.c - ids of rdma_cm: their types, what goes with a destroyed one, and the death of their
 * adapter.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "softhca/front/process/ucma/id.c"

static struct {
	struct options options;
	struct daemon daemon;
	struct ucma_file file, other;
	struct ucma_call call;
	struct call caller;
	uint32_t answer;
	size_t answer_size;
	int write_error;
	unsigned int cancelled, ended, left, parted, dropped, unlistened;
	unsigned int events;
	struct ucma_id *told;
} it;

int caller_write(const struct call *call, uint64_t addr, const void *data, size_t size)
{
	assert_ptr_equal(call, &it.caller);
	assert_int_equal(addr, 0x1000);
	if (it.write_error)
		return it.write_error;
	memcpy(&it.answer, data, sizeof(it.answer));
	it.answer_size = size;
	return 0;
}

void resolve_cancel(struct resolution *resolution)
{
	assert_non_null(resolution);
	it.cancelled++;
}

void cm_destroy(struct cm_conn *conn)
{
	assert_non_null(conn);
	it.ended++;
}

void ucma_mcast_free_all(struct ucma_id *id)
{
	assert_true(LIST_EMPTY(&id->mcasts));
	it.left++;
}

void ucma_event_part(struct ucma_id *request)
{
	assert_non_null(request);
	it.parted++;
}

void ucma_events_drop(struct ucma_id *id, struct ucma_mcast *mcast)
{
	assert_non_null(id);
	assert_null(mcast);
	it.dropped++;
}

void ucma_id_unlisten(struct ucma_id *id)
{
	assert_non_null(id);
	it.unlistened++;
}

void ucma_event_simple(struct ucma_id *id, enum ucma_event_type type, int status)
{
	assert_int_equal(type, EV_DEVICE_REMOVAL);
	assert_int_equal(status, 0);
	assert_int_equal(id->state, UCMA_DISCONNECTED);
	it.told = id;
	it.events++;
}

static int id_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.options.seed = 5;
	it.daemon.options = &it.options;
	it.file.daemon = it.other.daemon = &it.daemon;
	LIST_INIT(&it.file.ids);
	LIST_INIT(&it.other.ids);
	it.call.call = &it.caller;
	it.call.file = &it.file;
	it.call.hdr.out = sizeof(struct rdma_ucm_create_id_resp);
	return 0;
}

static int id_end(void **state)
{
	(void)state;
	while (!LIST_EMPTY(&it.file.ids))
		ucma_id_destroy(LIST_FIRST(&it.file.ids));
	assert_null(ucma_id_next(NULL));
	return 0;
}

static int id_create(uint16_t ps, uint8_t qp_type)
{
	it.call.create_id = (struct rdma_ucm_create_id){
		.uid = 0x55, .response = 0x1000, .ps = ps, .qp_type = qp_type
	};
	return ucma_id_create(&it.call);
}

static struct ucma_id *id_made(uint16_t ps, uint8_t qp_type)
{
	struct ucma_id *id;

	assert_int_equal(id_create(ps, qp_type), 0);
	id = ucma_id_of_number(it.answer);
	assert_non_null(id);
	return id;
}

static void the_port_space_has_a_type(void **state)
{
	static const struct {
		uint16_t ps;
		uint8_t asked, type;
		bool datagram;
	} rows[] = {
		{ PS_TCP, IB_UVERBS_QPT_UD, IB_UVERBS_QPT_RC, false },
		{ PS_UDP, IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UD, true },
		{ PS_IPOIB, IB_UVERBS_QPT_RC, IB_UVERBS_QPT_UD, true },
		{ PS_IB, IB_UVERBS_QPT_UC, IB_UVERBS_QPT_UC, false },
		{ PS_IB, IB_UVERBS_QPT_UD, IB_UVERBS_QPT_UD, true },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct ucma_id *id = id_made(rows[i].ps, rows[i].asked);

		assert_int_equal(id->qp_type, rows[i].type);
		assert_int_equal(id->datagram, rows[i].datagram);
		assert_int_equal(id->ps, rows[i].ps);
		assert_int_equal(id->uid, 0x55);
		assert_ptr_equal(id->file, &it.file);
		assert_int_equal(it.answer_size, sizeof(struct rdma_ucm_create_id_resp));
	}
}

static void a_psn_has_24_bits(void **state)
{
	uint32_t all = 0;

	(void)state;
	for (unsigned int i = 0; i < 64; i++)
		all |= id_made(PS_TCP, 0)->conn.psn;
	assert_int_equal(all, 0xffffff);
}

static void what_cannot_be_created_is_refused(void **state)
{
	(void)state;
	assert_int_equal(id_create(PS_TCP + 1, 0), EINVAL);
	it.call.hdr.out = sizeof(struct rdma_ucm_create_id_resp) - 1;
	assert_int_equal(id_create(PS_TCP, 0), ENOSPC);
	assert_int_equal(id_create(PS_TCP + 1, 0), ENOSPC);
	it.call.hdr.out++;
	assert_true(LIST_EMPTY(&it.file.ids));
	assert_int_equal(it.ended, 0);
	it.write_error = EFAULT;
	assert_int_equal(id_create(PS_TCP, 0), EFAULT);
	assert_true(LIST_EMPTY(&it.file.ids));
	assert_int_equal(it.ended, 1);
}

static void a_destroyed_id_leaves_nothing(void **state)
{
	struct ucma_id *id = id_made(PS_TCP, 0);
	const uint32_t number = id->number;

	(void)state;
	id->services = calloc(1, SERVICE_RECORD_SIZE);
	ucma_id_destroy(id);
	assert_int_equal(it.cancelled, 1);
	assert_int_equal(it.ended, 1);
	assert_int_equal(it.left, 1);
	assert_int_equal(it.parted, 1);
	assert_int_equal(it.dropped, 1);
	assert_int_equal(it.unlistened, 1);
	assert_true(LIST_EMPTY(&it.file.ids));
	assert_null(ucma_id_of_number(number));
	assert_null(ucma_id_next(NULL));
}

static void an_id_is_removed_by_its_number(void **state)
{
	struct ucma_id *id = id_made(PS_TCP, 0);

	(void)state;
	id->events_reported = 9;
	it.call.destroy_id = (struct rdma_ucm_destroy_id){ .response = 0x1000, .id = id->number };
	it.call.hdr.out = sizeof(struct rdma_ucm_destroy_id_resp) - 1;
	assert_int_equal(ucma_id_remove(&it.call), ENOSPC);
	it.call.hdr.out++;
	it.call.destroy_id.id++;
	assert_int_equal(ucma_id_remove(&it.call), ENOENT);
	it.call.destroy_id.id--;
	it.call.file = &it.other;
	assert_int_equal(ucma_id_remove(&it.call), EINVAL);
	it.call.file = &it.file;
	assert_int_equal(it.ended, 0);
	assert_int_equal(ucma_id_remove(&it.call), 0);
	assert_int_equal(it.answer, 9);
	assert_int_equal(it.ended, 1);
	assert_int_equal(ucma_id_remove(&it.call), ENOENT);
}

static void an_id_without_an_answer_is_removed_as_well(void **state)
{
	struct ucma_id *id = id_made(PS_TCP, 0);

	(void)state;
	it.call.destroy_id = (struct rdma_ucm_destroy_id){ .response = 0x1000, .id = id->number };
	it.write_error = EFAULT;
	assert_int_equal(ucma_id_remove(&it.call), EFAULT);
	assert_true(LIST_EMPTY(&it.file.ids));
}

static void numbers_find_ids_of_their_file(void **state)
{
	struct ucma_id *first = id_made(PS_TCP, 0), *second = id_made(PS_TCP, 0), *found;

	(void)state;
	assert_int_not_equal(first->number, second->number);
	assert_int_equal(ucma_id_find(&it.call, first->number, &found), 0);
	assert_ptr_equal(found, first);
	assert_int_equal(ucma_id_find(&it.call, second->number, &found), 0);
	assert_ptr_equal(found, second);
	assert_int_equal(ucma_id_find(&it.call, second->number + 1, &found), ENOENT);
	it.call.file = &it.other;
	assert_int_equal(ucma_id_find(&it.call, second->number, &found), EINVAL);
	assert_ptr_equal(ucma_id_next(NULL), second);
	assert_ptr_equal(ucma_id_next(second), first);
	assert_null(ucma_id_next(first));
}

static void a_dead_adapter_ends_its_ids(void **state)
{
	struct adapter dead = { .index = 0 }, living = { .index = 1 };
	struct ucma_id *bound = id_made(PS_TCP, 0), *foreign = id_made(PS_TCP, 0);
	struct ucma_id *free_id = id_made(PS_TCP, 0), *request = id_made(PS_TCP, 0);

	(void)state;
	bound->has_src = request->has_src = foreign->has_src = true;
	bound->src.adapter = request->src.adapter = free_id->src.adapter = &dead;
	foreign->src.adapter = &living;
	request->uid = 0; /* not accepted: the program does not know it */
	ucma_id_adapter_died(&dead);
	assert_int_equal(bound->state, UCMA_DISCONNECTED);
	assert_int_equal(request->state, UCMA_DISCONNECTED);
	assert_int_equal(foreign->state, UCMA_IDLE);
	assert_int_equal(free_id->state, UCMA_IDLE);
	assert_int_equal(it.events, 1);
	assert_ptr_equal(it.told, bound);
	assert_int_equal(it.cancelled, 2);
	assert_int_equal(it.ended, 2);
	assert_int_equal(it.unlistened, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, id_begin, id_end)
	const struct CMUnitTest tests[] = {
		CASE(the_port_space_has_a_type),
		CASE(a_psn_has_24_bits),
		CASE(what_cannot_be_created_is_refused),
		CASE(a_destroyed_id_leaves_nothing),
		CASE(an_id_is_removed_by_its_number),
		CASE(an_id_without_an_answer_is_removed_as_well),
		CASE(numbers_find_ids_of_their_file),
		CASE(a_dead_adapter_ends_its_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
