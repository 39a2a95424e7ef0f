/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * addrinfo_route_test.c - what is asked of ibacm, and what its answer adds: a source address, the
 * path, an entry of GIDs in front. Daemon and kernel are functions of the test.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/golden.h"
#include "librdmacm/addrinfo_route.c"

enum { PORT = 7 };

static struct {
	bool rests, knows_gids;
	int fails; /* the daemon's answer */
	int questions, ids;
	struct acm_question question;
	struct acm_answer answer;
} it;

static struct cm_id cm;
static struct rdma_addrinfo hints, *list;

bool rdmacm_acm_rests(void)
{
	return it.rests;
}

int rdmacm_acm_ask(const struct acm_question *question, int timeout_ms, struct acm_answer *answer)
{
	assert_int_equal(timeout_ms, -1);
	it.question = *question;
	it.questions++;
	*answer = it.answer;
	return it.fails;
}

int rdmacm_id_create(struct rdma_event_channel *channel, void *context, enum rdma_port_space ps,
		     enum ibv_qp_type type, struct cm_id **out)
{
	(void)channel, (void)context, (void)ps, (void)type;
	it.ids++;
	*out = &cm;
	return 0;
}

int rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *addr)
{
	assert_ptr_equal(id, &cm.id);
	assert_int_equal(addr->sa_family, AF_IB);
	return it.knows_gids ? 0 : -1;
}

int rdma_destroy_id(struct rdma_cm_id *id)
{
	assert_ptr_equal(id, &cm.id);
	it.ids--;
	return 0;
}

static struct sockaddr_in v4_of(uint8_t host, uint16_t port)
{
	return (struct sockaddr_in){ .sin_family = AF_INET,
				     .sin_port = htons(port),
				     .sin_addr = { htonl(0x0a000000u | host) } };
}

static int list_begin(void **state)
{
	struct sockaddr_in peer = v4_of(2, PORT);
	struct ibv_path_record *path = &it.answer.paths[0].path;

	(void)state;
	memset(&it, 0, sizeof(it));
	it.knows_gids = true;
	it.answer.num_paths = 1;
	path->pkey = htobe16(0x8001);
	path->flowlabel_hoplimit = htobe32(0x12345 << 8 | 9);
	path->sgid.raw[15] = 1;
	path->dgid.raw[15] = 2;
	hints = (struct rdma_addrinfo){ 0 };
	list = calloc(1, sizeof(*list));
	assert_non_null(list);
	list->ai_qp_type = IBV_QPT_RC;
	list->ai_port_space = RDMA_PS_TCP;
	return rdmacm_addrinfo_put_destination(list, (struct sockaddr *)&peer, sizeof(peer));
}

static int list_end(void **state)
{
	(void)state;
	rdma_freeaddrinfo(list);
	return it.ids;
}

static void the_daemon_names_a_source_where_the_program_has_none(void **state)
{
	struct sockaddr_in src = v4_of(1, 0);

	(void)state;
	memcpy(&it.answer.src, &src, sizeof(src));
	it.answer.src_len = sizeof(src);
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_non_null(list->ai_next); /* the entry of GIDs is in front */
	assert_memory_equal(list->ai_next->ai_src_addr, &src, sizeof(src));
	assert_null(list->ai_next->ai_next);
}

static void the_source_of_the_program_stays(void **state)
{
	struct sockaddr_in own = v4_of(9, 0), src = v4_of(1, 0);

	(void)state;
	assert_int_equal(rdmacm_addrinfo_put_source(list, (struct sockaddr *)&own, sizeof(own)), 0);
	memcpy(&it.answer.src, &src, sizeof(src));
	it.answer.src_len = sizeof(src);
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_memory_equal(list->ai_next->ai_src_addr, &own, sizeof(own));
	assert_memory_equal(it.question.src, &own, sizeof(own));
}

static void without_a_source_there_is_a_path_and_no_entry_of_gids(void **state)
{
	(void)state;
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_null(list->ai_next);
	assert_null(list->ai_src_addr);
	assert_int_equal(list->ai_route_len, sizeof(struct ibv_path_data));
	assert_memory_equal(list->ai_route, it.answer.paths, sizeof(struct ibv_path_data));
}

static void the_entry_of_gids_has_services_and_ip_addresses(void **state)
{
	struct sockaddr_in src = v4_of(1, 0);
	struct sockaddr_ib sib;

	(void)state;
	memcpy(&it.answer.src, &src, sizeof(src));
	it.answer.src_len = sizeof(src);
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_int_equal(list->ai_family, AF_IB);
	assert_int_equal(list->ai_qp_type, IBV_QPT_RC);
	assert_int_equal(list->ai_port_space, RDMA_PS_TCP);
	assert_int_equal(list->ai_dst_len, sizeof(sib));
	memcpy(&sib, list->ai_dst_addr, sizeof(sib));
	assert_int_equal(sib.sib_family, AF_IB);
	assert_int_equal(be16toh(sib.sib_pkey), 0x8001);
	assert_int_equal(be32toh(sib.sib_flowinfo), 0x12345);
	assert_int_equal(sib.sib_addr.sib_raw[15], 2);
	assert_int_equal(be64toh(sib.sib_sid), (uint64_t)RDMA_PS_TCP << 16 | PORT);
	assert_int_equal(be64toh(sib.sib_sid_mask), UINT64_MAX);
	memcpy(&sib, list->ai_src_addr, sizeof(sib));
	assert_int_equal(sib.sib_addr.sib_raw[15], 1);
	assert_int_equal(be64toh(sib.sib_sid), (uint64_t)RDMA_PS_TCP << 16);
	assert_int_equal(be64toh(sib.sib_sid_mask), RDMA_IB_IP_PS_MASK);
	assert_int_equal(list->ai_connect_len, 36);
	check_bytes(list->ai_connect, "00400000 00000000 00000000 00000000 0a000001"
				      "00000000 00000000 00000000 0a000002");
	assert_int_equal(list->ai_route_len, sizeof(struct ibv_path_data));
}

static void the_path_of_the_hints_is_asked_for(void **state)
{
	struct ibv_path_data wanted[2] = { { .path.pkey = htobe16(0x7001) } };
	const size_t lengths[] = { sizeof(wanted[0]), sizeof(wanted), sizeof(wanted[0].path) };

	(void)state;
	it.fails = ENODATA;
	it.rests = true; /* which counts only for questions of its own */
	for (unsigned int i = 0; i < 3; i++) {
		hints.ai_route = i < 2 ? (void *)wanted : (void *)&wanted[0].path;
		hints.ai_route_len = lengths[i];
		assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
		assert_true(it.question.has_path);
		assert_int_equal(be16toh(it.question.path.pkey), 0x7001);
	}
	hints.ai_route_len = sizeof(wanted) - 1;
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_false(it.question.has_path);
	hints.ai_route_len = 0;
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_false(it.question.has_path);
	assert_int_equal(it.questions, 5);
}

static void numbers_and_no_route_do_not_wait(void **state)
{
	static const struct {
		int flags;
		bool no_delay;
	} cases[] = { { 0, false }, { RAI_NUMERICHOST, true }, { RAI_NOROUTE, true } };

	(void)state;
	it.fails = ENODATA;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		hints.ai_flags = cases[i].flags;
		assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
		assert_int_equal(it.question.no_delay, cases[i].no_delay);
		assert_ptr_equal(it.question.dst, list->ai_dst_addr);
	}
	assert_null(list->ai_route);
}

static void nobody_is_asked_for_a_listener_or_at_rest(void **state)
{
	(void)state;
	list->ai_flags = RAI_PASSIVE;
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	list->ai_flags = 0;
	it.rests = true;
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	it.rests = false;
	free(list->ai_dst_addr);
	list->ai_dst_addr = NULL;
	assert_int_equal(rdmacm_addrinfo_add_route(&list, &hints), 0);
	assert_int_equal(it.questions, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, list_begin, list_end)
	const struct CMUnitTest tests[] = {
		TEST(the_daemon_names_a_source_where_the_program_has_none),
		TEST(the_source_of_the_program_stays),
		TEST(without_a_source_there_is_a_path_and_no_entry_of_gids),
		TEST(the_entry_of_gids_has_services_and_ip_addresses),
		TEST(the_path_of_the_hints_is_asked_for),
		TEST(numbers_and_no_route_do_not_wait),
		TEST(nobody_is_asked_for_a_listener_or_at_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
