/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * strangers.c - attacks on rsockets by programs that are none. They send to the queue pair of a
 * datagram rsocket: rdma_cm's Q_Key is public, and the socket tells its queue pair number to anyone
 * who asks. And they request a connection from a listener, but never confirm that it was accepted.
 *
 * Covers: librdmacm/rsocket/dgram/wire.c, librdmacm/rsocket/dgram/io.c,
 * librdmacm/rsocket/stream/conn.c
 */
#include "tests/lib/say.h"
#include "tests/lib/topics.h"
#include "util/bits.h"

#include <arpa/inet.h>
#include <endian.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <rdma/rsocket.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 17900, PATIENCE_MS = 5000, LONGEST_PACKET = 4096, HEAD = 16, DATA_HEAD = 8 };

static struct sockaddr_in loopback_at(uint16_t port)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(port) };

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	return addr;
}

static int udp_socket(void)
{
	struct sockaddr_in addr = loopback_at(0);
	int udp = socket(AF_INET, SOCK_DGRAM, 0);

	MUST(udp >= 0 && !bind(udp, (struct sockaddr *)&addr, sizeof(addr)));
	return udp;
}

static bool is_readable(int socket)
{
	struct pollfd fd = { .fd = socket, .events = POLLIN };

	return rpoll(&fd, 1, PATIENCE_MS) == 1 && fd.revents == POLLIN;
}

static bool text_arrives(int socket, const char *text)
{
	char bytes[16];
	ssize_t size = strlen(text);

	return is_readable(socket) && rrecv(socket, bytes, sizeof(bytes), 0) == size &&
	       !memcmp(bytes, text, size);
}

struct stranger {
	struct rdma_event_channel *channel;
	struct rdma_cm_id *id;
	struct ibv_ah *ah;
	struct ibv_mr *mr;
	uint8_t bytes[LONGEST_PACKET];
	uint32_t peer; /* number of the rsocket's queue pair */
};

/* Sends data by UDP, and returns the queue pair number, which follows the first 8 bytes of the
 * answer. */
static uint32_t ask_for_qpn(int socket)
{
	static const uint8_t data[HEAD + 2] = { 0x55, 0x55, 0x55, 0x55, 4, 0, HEAD, 0,   0,
						0,    0,    1,    127,  0, 0, 1,    'h', 'i' };
	struct sockaddr_in to = loopback_at(PORT);
	int udp = udp_socket();
	uint8_t answer[HEAD];
	uint32_t qpn;

	MUST(sendto(udp, data, sizeof(data), 0, (struct sockaddr *)&to, sizeof(to)) ==
	     sizeof(data));
	MUST(text_arrives(socket, "hi"));
	MUST(recv(udp, answer, sizeof(answer), 0) == sizeof(answer));
	close(udp);
	memcpy(&qpn, answer + 8, sizeof(qpn));
	return be32toh(qpn);
}

static void make_way(struct stranger *stranger)
{
	struct ibv_ah_attr attr = { .port_num = stranger->id->port_num };
	struct ibv_port_attr port;

	MUST(!ibv_query_port(stranger->id->verbs, stranger->id->port_num, &port));
	attr.dlid = port.lid;
	stranger->ah = ibv_create_ah(stranger->id->pd, &attr);
	MUST(stranger->ah);
}

static void stranger_open(struct stranger *stranger, int socket)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_UD,
					 .cap = { 4, 4, 1, 1, 0 },
					 .sq_sig_all = 1 };
	struct sockaddr_in addr = loopback_at(0);

	stranger->channel = rdma_create_event_channel();
	MUST(!rdma_create_id(stranger->channel, &stranger->id, NULL, RDMA_PS_UDP));
	MUST(!rdma_bind_addr(stranger->id, (struct sockaddr *)&addr));
	MUST(!rdma_create_qp(stranger->id, NULL, &init));
	make_way(stranger);
	stranger->mr = ibv_reg_mr(stranger->id->pd, stranger->bytes, sizeof(stranger->bytes), 0);
	MUST(stranger->mr);
	stranger->peer = ask_for_qpn(socket);
}

static void stranger_close(struct stranger *stranger)
{
	ibv_dereg_mr(stranger->mr);
	ibv_destroy_ah(stranger->ah);
	rdma_destroy_qp(stranger->id);
	MUST(!rdma_destroy_id(stranger->id));
	rdma_destroy_event_channel(stranger->channel);
}

static bool stranger_sends(struct stranger *stranger, uint32_t size)
{
	struct ibv_sge sge = { (uintptr_t)stranger->bytes, size, stranger->mr->lkey };
	struct ibv_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_SEND,
		.wr.ud = { stranger->ah, stranger->peer, RDMA_UDP_QKEY },
	};
	struct ibv_send_wr *bad;
	struct ibv_wc wc;
	int count;

	if (ibv_post_send(stranger->id->qp, &wr, &bad))
		return false;
	do
		count = ibv_poll_cq(stranger->id->send_cq, 1, &wc);
	while (!count);
	return count == 1 && wc.status == IBV_WC_SUCCESS;
}

/* Sends the header of an rsocket's message (IP version, header size, port, address) and a text. */
static bool stranger_says(struct stranger *stranger, const char *text)
{
	static const uint8_t head[DATA_HEAD] = { 4, DATA_HEAD, 1, 1, 127, 0, 0, 1 };

	memcpy(stranger->bytes, head, DATA_HEAD);
	memcpy(stranger->bytes + DATA_HEAD, text, strlen(text));
	return stranger_sends(stranger, DATA_HEAD + strlen(text));
}

enum { ROUNDS = 600 }; /* more than the socket has receives, so that it must post them again */

static void a_long_packet_ends_nothing(void)
{
	static struct stranger stranger;
	struct sockaddr_in addr = loopback_at(PORT);
	int socket = rsocket(AF_INET, SOCK_DGRAM, 0);
	bool good = true;

	say_topic("strangers");
	MUST(socket >= 0 && !rbind(socket, (struct sockaddr *)&addr, sizeof(addr)));
	stranger_open(&stranger, socket);
	say_check(stranger_says(&stranger, "hello") && text_arrives(socket, "hello"), "are heard");
	memset(stranger.bytes, 'x', sizeof(stranger.bytes));
	MUST(stranger_sends(&stranger, LONGEST_PACKET));
	say_check(stranger_says(&stranger, "again") && text_arrives(socket, "again"),
		  "after a packet of 4096 bytes, too");
	for (int i = 0; i < ROUNDS && good; i++)
		good = stranger_sends(&stranger, LONGEST_PACKET) &&
		       stranger_says(&stranger, "still") && text_arrives(socket, "still");
	say_check(good, "and after many");
	stranger_close(&stranger);
	MUST(!rclose(socket));
}

enum { ANSWER_MS = 2000, SOON_S = 60 };

static void await_event(struct rdma_event_channel *channel, enum rdma_cm_event_type wanted)
{
	struct rdma_cm_event *event;

	MUST(!rdma_get_cm_event(channel, &event));
	MUST(event->event == wanted);
	rdma_ack_cm_event(event);
}

/* Requests a connection with the private data of a stream rsocket. The id has no queue pair, so
 * librdmacm does not confirm the connection by itself. */
static struct rdma_cm_id *ask_for_connection(struct rdma_event_channel *channel)
{
	static const uint8_t hello[40] = {
		[0] = 1, [3] = 16, [15] = 8, [23] = 2, [31] = 8, [39] = 64
	};
	struct rdma_conn_param param = { .private_data = hello,
					 .private_data_len = sizeof(hello),
					 .qp_num = 0x77,
					 .retry_count = 7,
					 .rnr_retry_count = 7 };
	struct sockaddr_in to = loopback_at(PORT);
	struct rdma_cm_id *id;

	MUST(!rdma_create_id(channel, &id, NULL, RDMA_PS_TCP));
	MUST(!rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, ANSWER_MS));
	await_event(channel, RDMA_CM_EVENT_ADDR_RESOLVED);
	MUST(!rdma_resolve_route(id, ANSWER_MS));
	await_event(channel, RDMA_CM_EVENT_ROUTE_RESOLVED);
	MUST(!rdma_connect(id, &param));
	return id;
}

static void without_confirmation_a_close_ends(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	int listener = rsocket(AF_INET, SOCK_STREAM, 0), socket;
	struct sockaddr_in addr = loopback_at(PORT);
	struct rdma_cm_id *id;
	time_t start;

	say_topic("a stranger that asks");
	MUST(channel && listener >= 0);
	MUST(!rbind(listener, (struct sockaddr *)&addr, sizeof(addr)) && !rlisten(listener, 1));
	id = ask_for_connection(channel);
	socket = raccept(listener, NULL, NULL);
	say_check(socket >= 0, "is accepted");
	await_event(channel, RDMA_CM_EVENT_CONNECT_RESPONSE);
	start = time(NULL);
	MUST(!rclose(socket));
	say_check(time(NULL) - start < SOON_S, "does not keep the server's close");
	MUST(!rdma_destroy_id(id));
	rdma_destroy_event_channel(channel);
	MUST(!rclose(listener));
}

static const struct topic topics[] = {
	{ "without-confirmation-a-close-ends", without_confirmation_a_close_ends },
	{ "long-packet-ends-nothing", a_long_packet_ends_nothing },
};

int main(int argc, char **argv)
{
	alarm(150);
	return topics_main(topics, ARRAY_SIZE(topics), argc, argv);
}
