/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mcast_test.c - rdma_cm's multicast groups: which requests join, the GID and LID of an address on
 * each link, the event, and the end of a group.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "softhca/front/process/ucma/mcast.c"

enum { ID = 7, UID = 0x55, MLID = 0xc123, GID_INDEX = 3, REFUSED = EDOM };

static struct {
	struct adapter adapter;
	struct ucma_file file;
	struct ucma_id id;
	struct ucma_call call;
	struct ucma_event *event; /* the last one sent */
	struct rdma_ucm_create_id_resp answer;
	int respond_error;
	unsigned int dropped;
} it;

size_t ucma_addr_size(unsigned int family)
{
	return family == AF_INET    ? sizeof(struct sockaddr_in)
	       : family == AF_INET6 ? sizeof(struct sockaddr_in6)
				    : 0;
}

bool ucma_addr_is_multicast(const struct sockaddr_storage *addr)
{
	const struct sockaddr_in *v4 = (const void *)addr;

	return addr->ss_family == AF_INET6 || IN_MULTICAST(ntohl(v4->sin_addr.s_addr));
}

int ucma_id_find(struct ucma_call *uc, uint32_t number, struct ucma_id **id)
{
	assert_ptr_equal(uc, &it.call);
	*id = &it.id;
	return number == ID ? 0 : ENOENT;
}

int caller_write(const struct call *call, uint64_t addr, const void *data, size_t size)
{
	assert_ptr_equal(call, it.call.call);
	(void)addr;
	assert_int_equal(size, sizeof(it.answer));
	memcpy(&it.answer, data, size);
	return it.respond_error;
}

struct ucma_event *ucma_event_new(struct ucma_id *id, enum ucma_event_type type, int status)
{
	struct ucma_event *event = calloc(1, sizeof(*event));

	assert_non_null(event);
	assert_int_equal(status, 0);
	event->id = id;
	event->resp.event = type;
	return event;
}

void ucma_event_send(struct ucma_event *event)
{
	free(it.event);
	it.event = event;
}

void ucma_events_drop(struct ucma_id *id, struct ucma_mcast *mcast)
{
	assert_ptr_equal(id, &it.id);
	assert_non_null(mcast);
	it.dropped++;
}

uint16_t subnet_mlid(const uint8_t mgid[16])
{
	(void)mgid;
	return MLID;
}

static int join_begin(void **state)
{
	(void)state;
	memset(&it, 0, sizeof(it));
	it.adapter.link_layer = HCA_LINK_INFINIBAND;
	it.id.has_src = true;
	LIST_INIT(&it.file.ids);
	it.id.file = &it.file;
	it.id.number = ID;
	it.id.datagram = true;
	it.id.src.adapter = &it.adapter;
	it.id.src.port = 2;
	it.id.src.gid_index = GID_INDEX;
	LIST_INIT(&it.id.mcasts);
	LIST_INSERT_HEAD(&it.file.ids, &it.id, in_file);
	it.call.file = &it.file;
	it.call.hdr.out = sizeof(it.answer);
	return 0;
}

static int join_end(void **state)
{
	(void)state;
	ucma_mcast_free_all(&it.id);
	assert_true(LIST_EMPTY(&it.id.mcasts));
	free(it.event);
	return 0;
}

static void put_ipv4(const char *text)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };

	inet_pton(AF_INET, text, &addr.sin_addr);
	memset(addr.sin_zero, 0x5a, sizeof(addr.sin_zero)); /* nothing may read these bytes */
	it.call.join_mcast =
		(struct rdma_ucm_join_mcast){ .id = ID, .uid = UID, .addr_size = sizeof(addr) };
	memcpy(&it.call.join_mcast.addr, &addr, sizeof(addr));
}

static void put_ipv6(const char *text)
{
	struct sockaddr_in6 addr = { .sin6_family = AF_INET6 };

	inet_pton(AF_INET6, text, &addr.sin6_addr);
	it.call.join_mcast =
		(struct rdma_ucm_join_mcast){ .id = ID, .uid = UID, .addr_size = sizeof(addr) };
	memcpy(&it.call.join_mcast.addr, &addr, sizeof(addr));
}

static void check_event(const uint8_t gid[16], uint16_t dlid)
{
	const struct rdma_ucm_ud_param *param = &it.event->resp.param.ud;

	assert_int_equal(it.event->resp.event, EV_MULTICAST_JOIN);
	assert_int_equal(it.event->resp.uid, UID);
	assert_int_equal(it.event->resp.id, it.answer.id);
	assert_int_equal(param->qp_num, 0xffffff);
	assert_int_equal(param->qkey, 0x01234567);
	assert_int_equal(param->ah_attr.port_num, 2);
	assert_int_equal(param->ah_attr.is_global, 1);
	assert_int_equal(param->ah_attr.grh.sgid_index, GID_INDEX);
	assert_int_equal(param->ah_attr.grh.hop_limit, 1);
	assert_memory_equal(param->ah_attr.grh.dgid, gid, 16);
	assert_int_equal(param->ah_attr.grh.flow_label, 0);
	assert_int_equal(param->ah_attr.dlid, dlid);
}

static void an_address_has_a_gid_on_each_link(void **state)
{
	static const uint8_t ipoib[16] = { 0xff, 0x12,        0x40,      0x1b, 0xff,
					   0xff, [12] = 0x0f, [13] = 15, 16,   17 };
	static const uint8_t mapped[16] = { [10] = 0xff, 0xff, 239, 15, 16, 17 };
	static const uint8_t ipv6[16] = { 0xff, 0x15, [15] = 9 };

	(void)state;
	put_ipv4("239.15.16.17");
	assert_int_equal(ucma_mcast_join(&it.call), 0);
	check_event(ipoib, MLID);
	put_ipv6("ff15::9");
	assert_int_equal(ucma_mcast_join(&it.call), 0);
	check_event(ipv6, MLID);
	it.adapter.link_layer = HCA_LINK_ETHERNET;
	assert_int_equal(ucma_mcast_join(&it.call), 0);
	check_event(ipv6, 0);
	put_ipv4("239.15.16.17");
	assert_int_equal(ucma_mcast_join(&it.call), 0);
	check_event(mapped, 0);
}

static void full_and_send_only_members_join(void **state)
{
	(void)state;
	put_ipv4("224.0.0.5");
	for (uint16_t flags = 0; flags < 4; flags++) {
		it.call.join_mcast.join_flags = flags;
		assert_int_equal(ucma_mcast_join(&it.call), flags > 1 ? EINVAL : 0);
	}
}

static void what_does_not_fit_is_refused(void **state)
{
	(void)state;
	put_ipv4("224.0.0.5");
	it.call.join_mcast.addr_size++;
	assert_int_equal(ucma_mcast_join(&it.call), EINVAL);
	put_ipv4("224.0.0.5");
	it.call.hdr.out = sizeof(it.answer) - 1;
	assert_int_equal(ucma_mcast_join(&it.call), ENOSPC);
	it.call.hdr.out++;
	it.call.join_mcast.id++;
	assert_int_equal(ucma_mcast_join(&it.call), ENOENT);
	it.call.join_mcast.id--;
	it.call.join_mcast.addr.ss_family = AF_UNIX;
	assert_int_equal(ucma_mcast_join(&it.call), EINVAL);
	put_ipv4("192.0.2.1");
	assert_int_equal(ucma_mcast_join(&it.call), EINVAL);
	put_ipv4("224.0.0.5");
	it.id.has_src = false;
	assert_int_equal(ucma_mcast_join(&it.call), EINVAL);
	it.id.has_src = true;
	it.id.datagram = false;
	assert_int_equal(ucma_mcast_join(&it.call), EINVAL);
	assert_true(LIST_EMPTY(&it.id.mcasts));
	assert_null(it.event);
}

static void a_group_that_cannot_be_named_is_left(void **state)
{
	(void)state;
	put_ipv4("224.0.0.5");
	it.respond_error = EFAULT;
	assert_int_equal(ucma_mcast_join(&it.call), EFAULT);
	assert_true(LIST_EMPTY(&it.id.mcasts));
	assert_int_equal(it.dropped, 1);
	assert_null(it.event);
}

static void the_older_form_joins_as_well(void **state)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	struct rdma_ucm_join_ip_mcast *cmd = &it.call.join_ip_mcast;

	(void)state;
	inet_pton(AF_INET, "224.0.0.5", &addr.sin_addr);
	*cmd = (struct rdma_ucm_join_ip_mcast){ .id = ID, .uid = UID };
	memcpy(&cmd->addr, &addr, sizeof(addr));
	assert_int_equal(ucma_mcast_join_ip(&it.call), 0);
	assert_int_equal(it.event->resp.uid, UID);
	cmd->id++;
	assert_int_equal(ucma_mcast_join_ip(&it.call), ENOENT);
	cmd->id--;
	it.call.hdr.out = 0;
	assert_int_equal(ucma_mcast_join_ip(&it.call), ENOSPC);
}

static void a_group_is_left_by_its_number(void **state)
{
	uint32_t first, second;

	(void)state;
	put_ipv4("224.0.0.5");
	assert_int_equal(ucma_mcast_join(&it.call), 0);
	first = it.answer.id;
	assert_int_equal(ucma_mcast_join(&it.call), 0);
	second = it.answer.id;
	assert_int_not_equal(first, second);
	LIST_FIRST(&it.id.mcasts)->events_reported = 4; /* of the second */
	it.call.destroy_id = (struct rdma_ucm_destroy_id){ .id = second };
	it.call.hdr.out = 3;
	assert_int_equal(ucma_mcast_leave(&it.call), ENOSPC);
	it.call.hdr.out = sizeof(struct rdma_ucm_destroy_id_resp);
	assert_int_equal(ucma_mcast_leave(&it.call), 0);
	assert_int_equal(it.answer.id, 4); /* the events that the program has read */
	assert_int_equal(ucma_mcast_leave(&it.call), ENOENT);
	it.call.destroy_id.id = first;
	assert_int_equal(ucma_mcast_leave(&it.call), 0);
	assert_int_equal(it.dropped, 2);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, join_begin, join_end)
	const struct CMUnitTest tests[] = {
		CASE(an_address_has_a_gid_on_each_link), CASE(full_and_send_only_members_join),
		CASE(what_does_not_fit_is_refused),      CASE(a_group_that_cannot_be_named_is_left),
		CASE(the_older_form_joins_as_well),      CASE(a_group_is_left_by_its_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
