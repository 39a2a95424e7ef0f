/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * resolve_test.c - the questions of the kernel's rdma_cm to the network, byte by byte (RFC 826,
 * 4391 and 4861, IBTA volume 1), which answers end one, and its repetitions. Device, timers and
 * queue pairs are the test's own; the checksums of neighbour discovery were computed elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/unit/golden.h"
#include "tests/unit/hex.h"
#include "softhca/front/process/ucma/resolve.c"

enum { PORT = 2, SM_LID = 0x21, MLID = 0xc001, TIMEOUT_MS = 2500, NO_ANSWER = 1, SENT_MAX = 300 };

#define OWN_MAC  "020000112233"
#define PEER_MAC "020000445566"
#define OWN_V6   "fe800000 00000000 00000000 00000001"
#define PEER_V6  "fe800000 00000000 00000000 00345678"
#define OWN_V4   "00000000 00000000 0000ffff 0a000001"
#define PEER_V4  "00000000 00000000 0000ffff 0a000002"
#define OWN_GID  "fe800000 00000000 00020c03 00000001"
#define PEER_GID "fe800000 00000000 00020c03 00000002"
#define NO_GID   "00000000 00000000 00000000 00000000"
#define V6_HEAD  "60000000 00203aff "

static struct {
	struct adapter adapter;
	uint64_t now;
	unsigned int sent;
	uint8_t bytes[SENT_MAX]; /* the last packet */
	size_t len;
	uint16_t dlid; /* and where it went */
	uint8_t dgid[16];
	uint32_t dest_qpn;
	uint8_t learned[16], learned_mac[6];
	int port_error;
	int status; /* of the last question that ended */
	unsigned int done;
	struct resolution *cancels; /* a question that the callback takes back */
} it;

static struct resolution res, other;

/* ---- what resolve.c calls ---- */

uint64_t timer_now(void)
{
	return it.now;
}

void timer_start(struct timer *timer, uint64_t deadline)
{
	timer->deadline = deadline;
}

void timer_stop(struct timer *timer)
{
	timer->deadline = 0;
}

static void note_packet(const void *bytes, size_t len)
{
	assert_true(len <= sizeof(it.bytes));
	memcpy(it.bytes, bytes, len);
	it.len = len;
	it.sent++;
}

void hca_send_frame(struct hca *hca, unsigned int port, const uint8_t *frame, size_t len)
{
	assert_null(hca);
	assert_int_equal(port, PORT);
	note_packet(frame, len);
}

void gsi_send(const struct cm_path *path, const uint8_t mad[MAD_SIZE])
{
	assert_ptr_equal(path->adapter, &it.adapter);
	assert_int_equal(path->port, PORT);
	it.dlid = path->dlid;
	note_packet(mad, MAD_SIZE);
}

void gsi_send_ipoib(struct adapter *adapter, unsigned int port, uint16_t dlid,
		    const uint8_t dgid[16], uint32_t dest_qpn, const void *bytes, size_t len)
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(port, PORT);
	it.dlid = dlid;
	memcpy(it.dgid, dgid, 16);
	it.dest_qpn = dest_qpn;
	note_packet(bytes, len);
}

int adapter_query_gid(struct adapter *adapter, unsigned int port, uint32_t index,
		      struct gid_entry *entry)
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(port, PORT);
	assert_int_equal(index, 0);
	from_hex(OWN_GID, entry->gid);
	return 0;
}

int adapter_query_port(struct adapter *adapter, unsigned int port, struct port_info *info)
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(port, PORT);
	info->sm_lid = SM_LID;
	return it.port_error;
}

void roce_port_mac(uint64_t port_guid, uint8_t mac[6])
{
	assert_int_equal(port_guid, 0x100 + PORT);
	from_hex(OWN_MAC, mac);
}

void roce_resolve(const uint8_t gid[16], uint8_t mac[6])
{
	mac[0] = mac[1] = 0x33;
	memcpy(mac + 2, gid + 12, 4);
}

void roce_learn(const uint8_t gid[16], const uint8_t mac[6])
{
	memcpy(it.learned, gid, 16);
	memcpy(it.learned_mac, mac, 6);
}

uint16_t subnet_mlid(const uint8_t mgid[16])
{
	check_bytes(mgid, "ff12401b ffff0000 00000000 ffffffff");
	return MLID;
}

static void question_ended(struct resolution *ended, int status)
{
	assert_false(ended->active);
	assert_int_equal(ended->timer.deadline, 0);
	it.status = status;
	it.done++;
	if (it.cancels)
		resolve_cancel(it.cancels);
}

static bool host_is_own(const uint8_t host[16], const struct adapter *adapter, unsigned int port)
{
	assert_ptr_equal(adapter, &it.adapter);
	assert_int_equal(port, PORT);
	return host[15] == 1;
}

/* ---- the questions ---- */

static void question_set(struct resolution *one, const char *own, const char *wanted)
{
	memset(one, 0, sizeof(*one));
	one->adapter = &it.adapter;
	one->port = PORT;
	one->done = question_ended;
	from_hex(own, one->own);
	from_hex(wanted, one->wanted);
}

static int question_begin(void **state)
{
	(void)state;
	resolve_cancel(&res);
	resolve_cancel(&other);
	memset(&it, 0, sizeof(it));
	it.status = NO_ANSWER;
	it.now = 1000 * NS_PER_MS;
	it.adapter.node_guid = 0x100;
	it.adapter.link_layer = HCA_LINK_ETHERNET;
	resolve_start(host_is_own);
	question_set(&res, OWN_V4, PEER_V4);
	question_set(&other, OWN_V4, PEER_V4);
	return 0;
}

static void infiniband_begin(void)
{
	it.adapter.link_layer = HCA_LINK_INFINIBAND;
}

static void an_ipv4_address_is_asked_by_arp(void **state)
{
	(void)state;
	resolve_address(&res, TIMEOUT_MS);
	assert_int_equal(it.len, ETHERNET_MIN);
	check_bytes(it.bytes, "ffffffffffff " OWN_MAC " 0806 0001 0800 06 04 0001 " OWN_MAC
			      " 0a000001 000000000000 0a000002"
			      "0000 00000000 00000000 00000000 00000000");
}

static void an_ipv6_address_is_asked_by_neighbour_discovery(void **state)
{
	(void)state;
	question_set(&res, OWN_V6, PEER_V6);
	resolve_address(&res, TIMEOUT_MS);
	assert_int_equal(it.len, 86);
	check_bytes(it.bytes, "3333ff345678 " OWN_MAC " 86dd " V6_HEAD OWN_V6
			      "ff020000 00000000 00000001 ff345678"
			      "8700aaff 00000000 " PEER_V6 "0101 " OWN_MAC);
}

static void infiniband_is_asked_by_arp_over_ipoib(void **state)
{
	(void)state;
	infiniband_begin();
	resolve_address(&res, TIMEOUT_MS);
	assert_int_equal(it.len, 60);
	check_bytes(it.bytes, "08060000 0020 0800 14 04 0001 00fffff0" OWN_GID
			      "0a000001 00000000" NO_GID "0a000002");
	assert_int_equal(it.dlid, MLID);
	assert_int_equal(it.dest_qpn, 0xffffff);
	check_bytes(it.dgid, "ff12401b ffff0000 00000000 ffffffff");
}

static void a_path_is_asked_of_subnet_administration(void **state)
{
	(void)state;
	infiniband_begin();
	question_set(&res, OWN_GID, PEER_GID);
	resolve_path(&res, TIMEOUT_MS);
	assert_int_equal(it.dlid, SM_LID);
	check_bytes(it.bytes, "01030201 00000000");
	assert_int_equal(fld_get(it.bytes, MAD_TRANSACTION), res.transaction);
	/* DGID, SGID, reversible, number of paths, P_Key */
	check_bytes(it.bytes + 16, "00350000 00000000");
	check_bytes(it.bytes + 48, "00000000 0000380c 00000000 00000000" PEER_GID OWN_GID
				   "00000000 00000000 0081ffff");
}

static void a_service_is_asked_by_its_components(void **state)
{
	(void)state;
	infiniband_begin();
	res.components = 0x41;
	memset(res.record, 0x77, sizeof(res.record));
	resolve_service(&res, TIMEOUT_MS);
	check_bytes(it.bytes, "01030201 00000000");
	check_bytes(it.bytes + 16, "00310000 00000000");
	check_bytes(it.bytes + 48, "00000000 00000041 77777777");
	assert_memory_equal(it.bytes + SA_DATA, res.record, sizeof(res.record));
}

static void a_port_that_does_not_answer_sends_nothing(void **state)
{
	(void)state;
	it.port_error = EIO;
	resolve_path(&res, TIMEOUT_MS);
	assert_int_equal(it.sent, 0);
}

static void each_question_has_its_own_transaction(void **state)
{
	(void)state;
	resolve_path(&res, TIMEOUT_MS);
	resolve_path(&other, TIMEOUT_MS);
	assert_int_equal(res.transaction, (1000 * NS_PER_MS) << 1);
	assert_int_equal(other.transaction, res.transaction + 1);
}

static void a_question_is_repeated_each_second_until_its_end(void **state)
{
	(void)state;
	resolve_address(&res, TIMEOUT_MS);
	for (unsigned int second = 2; second <= 3; second++) {
		assert_int_equal(res.timer.deadline, second * 1000 * NS_PER_MS);
		it.now = res.timer.deadline;
		res.timer.expired(&res.timer);
		assert_int_equal(it.sent, second);
		assert_int_equal(it.done, 0);
	}
	assert_int_equal(res.timer.deadline, 3500 * NS_PER_MS);
	it.now = res.timer.deadline;
	res.timer.expired(&res.timer);
	assert_int_equal(it.sent, 3);
	assert_int_equal(it.status, -ETIMEDOUT);
	assert_false(res.active);
	resolve_address(&res, 300);
	assert_int_equal(res.timer.deadline, it.now + 300 * NS_PER_MS);
}

/* ---- the answers ---- */

static uint8_t bytes[SENT_MAX];

static struct gsi_arrival frame_of(const char *hex)
{
	struct gsi_arrival arrival = { .adapter = &it.adapter, .port = PORT, .frame = true };

	memset(bytes, 0, sizeof(bytes));
	arrival.len = from_hex(hex, bytes);
	arrival.bytes = bytes;
	return arrival;
}

#define ARP_ANSWER \
	OWN_MAC PEER_MAC "0806 0001 0800 06 04 0002" PEER_MAC "0a000002" OWN_MAC "0a000001"
#define ADVERTISEMENT \
	OWN_MAC PEER_MAC "86dd" V6_HEAD PEER_V6 OWN_V6 "8800151d 60000000" PEER_V6 "0201" PEER_MAC

static void an_arp_reply_ends_each_question_for_its_host(void **state)
{
	struct gsi_arrival arrival;

	(void)state;
	other.wanted[15] = 3;
	resolve_address(&res, TIMEOUT_MS);
	resolve_address(&other, TIMEOUT_MS);
	arrival = frame_of(ARP_ANSWER);
	resolve_take(&arrival);
	assert_int_equal(it.done, 1);
	assert_int_equal(it.status, 0);
	check_bytes(res.gid, PEER_V4);
	check_bytes(res.mac, PEER_MAC);
	check_bytes(it.learned, PEER_V4);
	check_bytes(it.learned_mac, PEER_MAC);
	assert_true(other.active);
	other.wanted[15] = 2;
	resolve_address(&res, TIMEOUT_MS);
	resolve_take(&arrival);
	assert_int_equal(it.done, 3);
}

/* Frames differ from an answer in one byte, or in their length. */
static void ignores_one_byte_off(const char *hex, const unsigned int *places, unsigned int count)
{
	struct gsi_arrival arrival = frame_of(hex);

	for (unsigned int i = 0; i < count; i++) {
		bytes[places[i]]++;
		resolve_take(&arrival);
		bytes[places[i]]--;
		if (it.done)
			print_error("byte %u\n", places[i]);
		assert_int_equal(it.done, 0);
	}
	arrival.len--;
	resolve_take(&arrival);
	assert_int_equal(it.done, 0);
	arrival.len++;
	resolve_take(&arrival);
	assert_int_equal(it.done, 1);
}

static void no_other_arp_packet_is_an_answer(void **state)
{
	/* the type, the hardware, the operation, the host */
	static const unsigned int places[] = { 13, 15, 21, 31 };

	(void)state;
	resolve_address(&res, TIMEOUT_MS);
	ignores_one_byte_off(ARP_ANSWER, places, sizeof(places) / sizeof(*places));
}

static void no_other_ipv6_packet_is_an_answer(void **state)
{
	/* the payload, the next header, the hops, the type, the checksum, the host, the option */
	static const unsigned int places[] = { 19, 20, 21, 54, 57, 77, 78 };

	(void)state;
	question_set(&res, OWN_V6, PEER_V6);
	resolve_address(&res, TIMEOUT_MS);
	ignores_one_byte_off(ADVERTISEMENT, places, sizeof(places) / sizeof(*places));
	check_bytes(res.gid, PEER_V6);
	check_bytes(res.mac, PEER_MAC);
}

static void a_question_of_another_adapter_or_kind_goes_on(void **state)
{
	struct gsi_arrival arrival;
	struct adapter elsewhere = { .link_layer = HCA_LINK_ETHERNET };

	(void)state;
	resolve_address(&res, TIMEOUT_MS);
	arrival = frame_of(ARP_ANSWER);
	arrival.adapter = &elsewhere;
	resolve_take(&arrival);
	assert_int_equal(it.done, 0);
	resolve_cancel(&res);
	resolve_path(&res, TIMEOUT_MS);
	arrival.adapter = &it.adapter;
	resolve_take(&arrival);
	assert_int_equal(it.done, 0);
}

static void a_callback_may_take_back_other_questions(void **state)
{
	struct gsi_arrival arrival;

	(void)state;
	resolve_address(&res, TIMEOUT_MS);
	resolve_address(&other, TIMEOUT_MS);
	it.cancels = &res;
	arrival = frame_of(ARP_ANSWER);
	resolve_take(&arrival);
	assert_int_equal(it.done, 1);
	assert_false(res.active);
	resolve_cancel(&res); /* nothing happens */
}

#define NO_SENDER       "00000000" NO_GID
#define IPOIB_FROM_PEER "00abcdef" PEER_GID "0a000002"
#define IPOIB_ARP       "08060000 0020 0800 14 04 "
#define IPOIB_ANSWER    IPOIB_ARP "0002" IPOIB_FROM_PEER "00fffff0" OWN_GID "0a000001"
#define IPOIB_REQUEST   IPOIB_ARP "0001" IPOIB_FROM_PEER NO_SENDER "0a000001"

static void an_ipoib_reply_gives_the_gid(void **state)
{
	/* the type, the hardware, the protocol, the sizes, the operation */
	static const unsigned int places[] = { 1, 5, 7, 8, 9, 11 };
	struct gsi_arrival arrival;

	(void)state;
	infiniband_begin();
	resolve_address(&res, TIMEOUT_MS);
	arrival = frame_of(IPOIB_ANSWER);
	arrival.frame = false;
	arrival.dest_qpn = GSI_IPOIB_QPN;
	for (unsigned int i = 0; i < sizeof(places) / sizeof(*places); i++) {
		bytes[places[i]]++;
		resolve_take(&arrival);
		bytes[places[i]]--;
		assert_int_equal(it.done, 0);
	}
	arrival.len--;
	resolve_take(&arrival);
	assert_int_equal(it.done, 0);
	arrival.len++;
	resolve_take(&arrival);
	assert_int_equal(it.status, 0);
	check_bytes(res.gid, PEER_GID);
	check_bytes(it.learned, NO_GID);
}

static void a_request_for_our_address_is_answered(void **state)
{
	struct gsi_arrival arrival;

	(void)state;
	infiniband_begin();
	arrival = frame_of(IPOIB_REQUEST);
	arrival.frame = false;
	arrival.dest_qpn = GSI_IPOIB_QPN;
	arrival.addr.slid = 0x33;
	resolve_take(&arrival);
	assert_int_equal(it.sent, 1);
	assert_int_equal(it.dlid, 0x33);
	assert_int_equal(it.dest_qpn, 0xabcdef);
	check_bytes(it.dgid, NO_GID);
	check_bytes(it.bytes,
		    "08060000 0020 0800 14 04 0002 00fffff0" OWN_GID "0a000001" IPOIB_FROM_PEER);
	bytes[59] = 9; /* another host's */
	resolve_take(&arrival);
	assert_int_equal(it.sent, 1);
}

static struct gsi_arrival answer_to(const struct resolution *question, unsigned int attribute,
				    unsigned int status)
{
	struct gsi_arrival arrival = frame_of("01030281");

	arrival.frame = false;
	arrival.dest_qpn = GSI_QPN;
	arrival.len = MAD_SIZE;
	fld_set(bytes, MAD_STATUS, status);
	fld_set(bytes, MAD_ATTRIBUTE, attribute);
	fld_set(bytes, MAD_TRANSACTION, question->transaction);
	return arrival;
}

static void a_path_record_gives_the_path(void **state)
{
	struct gsi_arrival arrival;

	(void)state;
	infiniband_begin();
	resolve_path(&res, TIMEOUT_MS);
	arrival = answer_to(&res, SA_PATH_RECORD, 0);
	from_hex("00440055 00000000 00000000 00058483 92000000", bytes + SA_DATA + 0x28);
	resolve_take(&arrival);
	assert_int_equal(it.status, 0);
	assert_int_equal(res.dlid, 0x44);
	assert_int_equal(res.sl, 5);
	assert_int_equal(res.mtu, 4);
	assert_int_equal(res.rate, 3);
	assert_int_equal(res.lifetime, 0x12);
}

static void a_path_without_a_lid_or_with_a_status_is_none(void **state)
{
	struct gsi_arrival arrival;

	(void)state;
	infiniband_begin();
	resolve_path(&res, TIMEOUT_MS);
	arrival = answer_to(&res, SA_PATH_RECORD, 0);
	resolve_take(&arrival);
	assert_int_equal(it.status, -EINVAL);
	resolve_path(&res, TIMEOUT_MS);
	arrival = answer_to(&res, SA_PATH_RECORD, SA_NO_RECORDS);
	fld_set(bytes + SA_DATA, PATH_DLID, 1);
	it.status = NO_ANSWER;
	resolve_take(&arrival);
	assert_int_equal(it.status, -EINVAL);
	assert_int_equal(it.done, 2);
}

static void a_service_is_found_or_unknown_or_refused(void **state)
{
	static const struct {
		unsigned int mad;
		int status;
	} cases[] = { { 0, 0 }, { SA_NO_RECORDS, -ENODATA }, { SA_NO_RESOURCES, -EINVAL } };
	struct gsi_arrival arrival;

	(void)state;
	infiniband_begin();
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		memset(res.record, 0x11, sizeof(res.record));
		resolve_service(&res, TIMEOUT_MS);
		arrival = answer_to(&res, SA_SERVICE_RECORD, cases[i].mad);
		memset(bytes + SA_DATA, 0x22, SERVICE_RECORD_SIZE);
		resolve_take(&arrival);
		assert_int_equal(it.status, cases[i].status);
		assert_int_equal(res.record[SERVICE_RECORD_SIZE - 1], cases[i].mad ? 0x11 : 0x22);
		assert_int_equal(it.done, i + 1);
	}
}

static void a_datagram_that_is_no_answer_ends_nothing(void **state)
{
	struct gsi_arrival arrival;

	(void)state;
	infiniband_begin();
	resolve_path(&res, TIMEOUT_MS);
	arrival = answer_to(&res, SA_SERVICE_RECORD, 0);
	resolve_take(&arrival);
	arrival = answer_to(&res, SA_PATH_RECORD, 0);
	bytes[1]++; /* the class */
	resolve_take(&arrival);
	bytes[1]--;
	bytes[3] = MAD_GET; /* a request */
	resolve_take(&arrival);
	bytes[3] |= MAD_RESPONSE;
	fld_set(bytes, MAD_TRANSACTION, res.transaction + 1);
	resolve_take(&arrival);
	assert_int_equal(it.done, 0);
	fld_set(bytes, MAD_TRANSACTION, res.transaction);
	resolve_take(&arrival);
	assert_int_equal(it.done, 1);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, question_begin)
	const struct CMUnitTest tests[] = {
		TEST(an_ipv4_address_is_asked_by_arp),
		TEST(an_ipv6_address_is_asked_by_neighbour_discovery),
		TEST(infiniband_is_asked_by_arp_over_ipoib),
		TEST(a_path_is_asked_of_subnet_administration),
		TEST(a_service_is_asked_by_its_components),
		TEST(a_port_that_does_not_answer_sends_nothing),
		TEST(each_question_has_its_own_transaction),
		TEST(a_question_is_repeated_each_second_until_its_end),
		TEST(an_arp_reply_ends_each_question_for_its_host),
		TEST(no_other_arp_packet_is_an_answer),
		TEST(no_other_ipv6_packet_is_an_answer),
		TEST(a_question_of_another_adapter_or_kind_goes_on),
		TEST(a_callback_may_take_back_other_questions),
		TEST(an_ipoib_reply_gives_the_gid),
		TEST(a_request_for_our_address_is_answered),
		TEST(a_path_record_gives_the_path),
		TEST(a_path_without_a_lid_or_with_a_status_is_none),
		TEST(a_service_is_found_or_unknown_or_refused),
		TEST(a_datagram_that_is_no_answer_ends_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
