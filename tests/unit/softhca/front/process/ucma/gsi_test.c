/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * gsi_test.c - datagrams of the kernel's rdma_cm: those that the queue takes, the handlers that
 * get them, the return path, and the fields of sent datagrams. The device, the GID table and
 * connection management are functions that record their arguments.
 *
 * Covers: softhca/front/process/ucma/gsi.c
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "softhca/front/process/ucma/gsi.c"

enum { GIDS = 4, PORT = 2 };

static struct adapter *adapter;
static struct gid_entry gids[GIDS];

static struct {
	int watches; /* watches added, minus watches removed */
	int error;   /* result of watch_add() */
	unsigned int kicks, learned;
	struct hca_datagram sent;
	uint8_t learned_gid[16], learned_mac[6];
} world;

static struct {
	unsigned int taken, died, also, also_died, received;
	bool is_cm; /* result of cm_receive() */
	struct gsi_arrival last;
	uint8_t bytes[MAX_BYTES];
	struct cm_path path;
} handlers;

int watch_add(struct watch *watch, uint32_t events)
{
	assert_true(watch->fd >= 0 && events == EPOLLIN);
	world.watches += !world.error;
	return world.error;
}

void watch_remove(struct watch *watch)
{
	assert_true(watch->fd >= 0);
	world.watches--;
}

void engine_kick(void)
{
	world.kicks++;
}

void hca_send_datagram(struct hca *hca, const struct hca_datagram *datagram)
{
	assert_ptr_equal(hca, adapter->hca);
	/* none, as the datagram must be queued before the engine looks */
	assert_int_equal(world.kicks, 0);
	world.sent = *datagram;
}

void roce_learn(const uint8_t gid[16], const uint8_t mac[6])
{
	world.learned++;
	memcpy(world.learned_gid, gid, 16);
	memcpy(world.learned_mac, mac, 6);
}

uint16_t roce_udp_source(uint32_t flow_label)
{
	return (uint16_t)(0xc000 | flow_label);
}

int adapter_query_gid(struct adapter *asked, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_ptr_equal(asked, adapter);
	assert_int_equal(port, PORT);
	if (index >= GIDS)
		return EINVAL;
	*entry = gids[index];
	return entry->valid ? 0 : ENODATA;
}

int adapter_query_port(struct adapter *asked, unsigned int port, struct port_info *info)
{
	assert_ptr_equal(asked, adapter);
	assert_int_equal(port, PORT);
	memset(info, 0, sizeof(*info));
	info->active_mtu = 4;
	return 0;
}

bool cm_receive(const struct cm_path *path, const uint8_t mad[MAD_SIZE])
{
	handlers.received++;
	handlers.path = *path;
	memcpy(handlers.bytes, mad, MAD_SIZE);
	return handlers.is_cm;
}

static void arrival_note(const struct gsi_arrival *arrival)
{
	assert_true(arrival->len <= sizeof(handlers.bytes));
	handlers.last = *arrival;
	memcpy(handlers.bytes, arrival->bytes, arrival->len);
}

static void take_arrival(const struct gsi_arrival *arrival)
{
	handlers.taken++;
	arrival_note(arrival);
}

static void also_arrival(const struct gsi_arrival *arrival)
{
	handlers.also++;
	arrival_note(arrival);
}

static void adapter_died(struct adapter *dead)
{
	assert_ptr_equal(dead, adapter);
	handlers.died++;
}

static void also_adapter_died(struct adapter *dead)
{
	assert_ptr_equal(dead, adapter);
	assert_int_equal(handlers.died, 1);
	handlers.also_died++;
}

static int gsi_begin(void **state)
{
	(void)state;
	adapter = calloc(1, sizeof(*adapter));
	if (!adapter)
		return -1;
	adapter->hca = (struct hca *)adapter; /* opaque to the code under test */
	memset(&world, 0, sizeof(world));
	memset(&handlers, 0, sizeof(handlers));
	memset(gids, 0, sizeof(gids));
	gsi_show(NULL, NULL);
	return gsi_open(take_arrival, adapter_died);
}

static int gsi_end(void **state)
{
	(void)state;
	gsi_close();
	free(adapter);
	return world.watches;
}

/* Returns whether the descriptor would wake the event loop. */
static bool is_ready(void)
{
	struct pollfd pfd = { .fd = gsi.watch.fd, .events = POLLIN };

	return poll(&pfd, 1, 0) == 1;
}

static void loop_run(void)
{
	assert_true(is_ready());
	gsi.watch.ready(&gsi.watch, EPOLLIN);
	assert_false(is_ready());
	assert_int_equal(gsi.waiting, 0);
}

static struct fabric_msg datagram_to(uint32_t qpn, uint32_t qkey, uint32_t len)
{
	static const uint8_t payload[MAX_BYTES + 1] = { 0xab, [MAD_SIZE - 1] = 0xcd };
	struct fabric_msg msg = { .dest_qpn = qpn,
				  .src_qpn = 0x77,
				  .qkey = qkey,
				  .payload = payload,
				  .payload_len = len };

	return msg;
}

static void datagrams_are_of_a_mad_or_of_ipoib(void **state)
{
	const struct {
		uint32_t qpn, qkey, len;
		bool multicast, is_wanted;
	} cases[] = {
		{ SMI_QPN, 0, MAD_SIZE, false, true },
		{ SMI_QPN, 0, MAD_SIZE - 1, false, false },
		{ GSI_QPN, GSI_QKEY, MAD_SIZE, false, true },
		{ GSI_QPN, GSI_QKEY, MAD_SIZE + 1, false, false },
		{ GSI_QPN, GSI_QKEY + 1, MAD_SIZE, false, false },
		{ GSI_IPOIB_QPN, IPOIB_QKEY, 28, false, true },
		{ GSI_IPOIB_QPN, IPOIB_QKEY, MAX_BYTES, false, true },
		{ GSI_IPOIB_QPN, IPOIB_QKEY, MAX_BYTES + 1, false, false },
		{ GSI_IPOIB_QPN, IPOIB_QKEY + 1, 28, false, false },
		{ 0xffffff, IPOIB_QKEY, 28, true, true },
		{ 0x1234, IPOIB_QKEY, 28, false, false },
		{ 0x1234, GSI_QKEY, 28, true, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fabric_msg msg = datagram_to(cases[i].qpn, cases[i].qkey, cases[i].len);

		msg.addr.dlid = cases[i].multicast ? 0xc001 : 5;
		gsi_datagram(adapter, PORT, &msg);
		assert_int_equal(gsi.waiting, cases[i].is_wanted);
		if (cases[i].is_wanted)
			loop_run();
	}
}

static void frames_ask_for_addresses(void **state)
{
	uint8_t frame[MAX_BYTES + 1] = { 0 };

	(void)state;
	fld_set16(frame, ETHERNET_TYPE, ETHERTYPE_ARP);
	gsi_frame(adapter, PORT, frame, ETHERNET_SIZE); /* nothing behind the Ethernet header */
	gsi_frame(adapter, PORT, frame, MAX_BYTES + 1);
	fld_set16(frame, ETHERNET_TYPE, 0x0800);
	gsi_frame(adapter, PORT, frame, 60);
	assert_int_equal(gsi.waiting, 0);

	fld_set16(frame, ETHERNET_TYPE, ETHERTYPE_V6);
	frame[59] = 0x5a;
	gsi_frame(adapter, PORT, frame, 60);
	fld_set16(frame, ETHERNET_TYPE, ETHERTYPE_ARP);
	gsi_frame(adapter, PORT, frame, MAX_BYTES);
	assert_int_equal(gsi.waiting, 2);
	loop_run();
	assert_int_equal(handlers.taken, 2);
	assert_true(handlers.last.frame && !handlers.last.death);
	assert_int_equal(handlers.last.port, PORT);
	assert_int_equal(handlers.last.len, MAX_BYTES);
	assert_int_equal(handlers.bytes[59], 0x5a);
	assert_int_equal(handlers.received, 0);
}

static void the_queue_is_bounded_but_for_deaths(void **state)
{
	struct fabric_msg msg = datagram_to(SMI_QPN, 0, MAD_SIZE);

	(void)state;
	gsi_show(also_arrival, also_adapter_died);
	for (unsigned int i = 0; i < MAX_WAITING + 3; i++)
		gsi_datagram(adapter, PORT, &msg);
	assert_int_equal(gsi.waiting, MAX_WAITING);
	gsi_adapter_died(adapter);
	assert_int_equal(gsi.waiting, MAX_WAITING + 1);
	loop_run();
	assert_int_equal(handlers.also, MAX_WAITING);
	assert_int_equal(handlers.died, 1);
	assert_int_equal(handlers.also_died, 1);
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_int_equal(handlers.also, MAX_WAITING + 1);
}

static void the_bytes_are_a_copy(void **state)
{
	uint8_t bytes[28] = { 1, 2, 3 };
	struct fabric_msg msg = datagram_to(GSI_IPOIB_QPN, IPOIB_QKEY, sizeof(bytes));

	(void)state;
	msg.payload = bytes;
	msg.addr.slid = 0x99;
	gsi_datagram(adapter, PORT, &msg);
	memset(bytes, 0xee, sizeof(bytes));
	loop_run();
	assert_int_equal(handlers.taken, 1);
	assert_int_equal(handlers.also, 0);
	assert_ptr_equal(handlers.last.adapter, adapter);
	assert_int_equal(handlers.last.port, PORT);
	assert_int_equal(handlers.last.addr.slid, 0x99);
	assert_int_equal(handlers.last.dest_qpn, GSI_IPOIB_QPN);
	assert_int_equal(handlers.last.src_qpn, 0x77);
	assert_int_equal(handlers.last.len, sizeof(bytes));
	assert_false(handlers.last.frame || handlers.last.death);
	assert_int_equal(handlers.bytes[2], 3);
}

static void communication_management_comes_first(void **state)
{
	struct fabric_msg msg = datagram_to(GSI_QPN, GSI_QKEY, MAD_SIZE);

	(void)state;
	gsi_show(also_arrival, NULL);
	handlers.is_cm = true;
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_int_equal(handlers.received, 1);
	assert_int_equal(handlers.bytes[MAD_SIZE - 1], 0xcd);
	assert_int_equal(handlers.taken + handlers.also, 0);

	handlers.is_cm = false;
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_int_equal(handlers.received, 2);
	assert_int_equal(handlers.taken, 1);
	assert_int_equal(handlers.also, 1);
}

static void qp0_is_for_the_managers_only(void **state)
{
	struct fabric_msg msg = datagram_to(SMI_QPN, 0, MAD_SIZE);

	(void)state;
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_int_equal(handlers.taken + handlers.received, 0);
	gsi_show(also_arrival, NULL);
	gsi_datagram(adapter, PORT, &msg);
	gsi_adapter_died(adapter);
	loop_run();
	assert_int_equal(handlers.taken + handlers.received, 0);
	assert_int_equal(handlers.also, 1);
	assert_int_equal(handlers.died, 1);
}

static void gid_fill(unsigned int index, enum gid_kind kind, uint8_t last)
{
	gids[index] = (struct gid_entry){ .kind = kind, .valid = true };
	gids[index].gid[0] = 0xfe;
	gids[index].gid[15] = last;
}

static struct fabric_msg gmp_from(const struct fabric_addr *addr)
{
	struct fabric_msg msg = datagram_to(GSI_QPN, GSI_QKEY, MAD_SIZE);

	msg.addr = *addr;
	msg.addr.dgid[0] = msg.addr.sgid[0] = 0xfe;
	msg.addr.dgid[15] = 7;
	msg.addr.sgid[15] = 9;
	return msg;
}

static void a_way_back_on_infiniband(void **state)
{
	const struct fabric_addr addr = { .dlid = 0x10, .slid = 0x20, .sl = 3, .traffic_class = 5 };
	struct fabric_msg msg = gmp_from(&addr);
	const struct cm_path *path = &handlers.path;

	(void)state;
	adapter->link_layer = HCA_LINK_INFINIBAND;
	gid_fill(1, GID_IB, 7);
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_ptr_equal(path->adapter, adapter);
	assert_int_equal(path->port, PORT);
	assert_int_equal(path->slid, 0x10);
	assert_int_equal(path->dlid, 0x20);
	assert_int_equal(path->sl, 3);
	assert_int_equal(path->traffic_class, 5);
	assert_false(path->grh);
	assert_int_equal(path->gid_index, 0); /* no lookup without a GRH */
	assert_int_equal(path->sgid[15], 7);
	assert_int_equal(path->dgid[15], 9);
	assert_int_equal(path->hop_limit, cm_path_hop_limit(false));
	assert_int_equal(path->lifetime, cm_path_lifetime(false));
	assert_int_equal(path->rate, RATE_100_GBPS);
	assert_int_equal(path->mtu, 4);

	msg.addr.grh = true;
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_true(path->grh);
	assert_int_equal(path->gid_index, 1);
	assert_int_equal(world.learned, 0);
}

static void a_way_back_on_roce(void **state)
{
	const struct fabric_addr addr = {
		.grh = true, .by_gid = true, .roce = FABRIC_ROCE_V2, .smac = { 2, 3, 4, 5, 6, 8 }
	};
	struct fabric_msg msg = gmp_from(&addr);
	const struct cm_path *path = &handlers.path;

	(void)state;
	adapter->link_layer = HCA_LINK_ETHERNET;
	gid_fill(0, GID_ROCE_V2, 8);
	gid_fill(1, GID_ROCE_V1, 7);
	gid_fill(2, GID_ROCE_V2, 7);
	gids[2].valid = false; /* an invalid entry must be skipped */
	gid_fill(3, GID_ROCE_V2, 7);
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_int_equal(path->gid_index, 3);
	assert_memory_equal(path->dmac, addr.smac, 6);
	assert_int_equal(path->hop_limit, cm_path_hop_limit(true));
	assert_int_equal(path->lifetime, cm_path_lifetime(true));
	assert_int_equal(world.learned, 1);
	assert_int_equal(world.learned_gid[15], 9);
	assert_memory_equal(world.learned_mac, addr.smac, 6);

	msg.addr.roce = FABRIC_ROCE_V1;
	gsi_datagram(adapter, PORT, &msg);
	loop_run();
	assert_int_equal(path->gid_index, 1);
}

static void a_mad_goes_along_its_path(void **state)
{
	const uint8_t mad[MAD_SIZE] = { 0 };
	const struct cm_path path = {
		.adapter = adapter,
		.port = PORT,
		.gid_index = 3,
		.slid = 1,
		.dlid = 0x20,
		.sl = 4,
		.grh = true,
		.sgid = { 1 },
		.dgid = { 0xfe, 2 },
		.dmac = { 6, 5, 4, 3, 2, 1 },
		.traffic_class = 9,
		.hop_limit = 60,
		.flow_label = 0x123,
	};

	(void)state;
	gsi_send(&path, mad);
	assert_int_equal(world.kicks, 1);
	assert_int_equal(world.sent.port, PORT);
	assert_int_equal(world.sent.gid_index, 3);
	assert_int_equal(world.sent.dlid, 0x20);
	assert_int_equal(world.sent.sl, 4);
	assert_true(world.sent.grh);
	assert_memory_equal(world.sent.dgid, path.dgid, 16);
	assert_memory_equal(world.sent.dmac, path.dmac, 6);
	assert_int_equal(world.sent.traffic_class, 9);
	assert_int_equal(world.sent.hop_limit, 60);
	assert_int_equal(world.sent.flow_label, 0x123);
	assert_int_equal(world.sent.udp_sport, 0xc123);
	assert_int_equal(world.sent.dest_qpn, GSI_QPN);
	assert_int_equal(world.sent.src_qpn, GSI_QPN);
	assert_int_equal(world.sent.qkey, GSI_QKEY);
	assert_ptr_equal(world.sent.payload, mad);
	assert_int_equal(world.sent.len, MAD_SIZE);
}

static void ipoib_has_a_grh_to_groups_only(void **state)
{
	const uint8_t one[16] = { 0xfe, 0x80 }, group[16] = { 0xff, 0x12 }, bytes[28] = { 0 };

	(void)state;
	gsi_send_ipoib(adapter, PORT, 0x20, one, 0x345, bytes, sizeof(bytes));
	assert_int_equal(world.kicks, 1);
	assert_false(world.sent.grh);
	assert_int_equal(world.sent.port, PORT);
	assert_int_equal(world.sent.dlid, 0x20);
	assert_int_equal(world.sent.dest_qpn, 0x345);
	assert_int_equal(world.sent.src_qpn, GSI_IPOIB_QPN);
	assert_int_equal(world.sent.qkey, IPOIB_QKEY);
	assert_ptr_equal(world.sent.payload, bytes);
	assert_int_equal(world.sent.len, sizeof(bytes));
	world.kicks = 0;
	gsi_send_ipoib(adapter, PORT, 0xc001, group, 0xffffff, bytes, sizeof(bytes));
	assert_true(world.sent.grh);
	assert_memory_equal(world.sent.dgid, group, 16);
}

static void what_comes_before_and_behind_its_life_is_dropped(void **state)
{
	struct fabric_msg msg = datagram_to(SMI_QPN, 0, MAD_SIZE);

	(void)state;
	assert_int_equal(world.watches, 1);
	gsi_datagram(adapter, PORT, &msg);
	gsi_close(); /* must free queued datagrams */
	assert_int_equal(world.watches, 0);
	assert_int_equal(gsi.waiting, 0);
	assert_int_equal(gsi.watch.fd, -1);
	gsi_datagram(adapter, PORT, &msg);
	assert_int_equal(gsi.waiting, 0);

	world.error = ENOSPC;
	assert_int_equal(gsi_open(take_arrival, adapter_died), ENOSPC);
	assert_int_equal(gsi.watch.fd, -1);
	world.error = 0;
	assert_int_equal(gsi_open(take_arrival, adapter_died), 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, gsi_begin, gsi_end)
	const struct CMUnitTest tests[] = {
		CASE(datagrams_are_of_a_mad_or_of_ipoib),
		CASE(frames_ask_for_addresses),
		CASE(the_queue_is_bounded_but_for_deaths),
		CASE(the_bytes_are_a_copy),
		CASE(communication_management_comes_first),
		CASE(qp0_is_for_the_managers_only),
		CASE(a_way_back_on_infiniband),
		CASE(a_way_back_on_roce),
		CASE(a_mad_goes_along_its_path),
		CASE(ipoib_has_a_grh_to_groups_only),
		CASE(what_comes_before_and_behind_its_life_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
