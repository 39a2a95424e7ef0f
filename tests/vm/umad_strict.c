/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * umad_strict.c - what /dev/infiniband/umad0 says to registrations, reads and writes that are
 * wrong.
 *
 * Each agent is asked for with one thing wrong, each datagram written with too few bytes, too many,
 * for an agent that is not there, along a way that begins elsewhere; what is read has too little
 * room. A request that nobody answers comes back. What each comes to is a line, as in
 * uverbs_strict.c.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <rdma/ib_user_mad.h>

#include "util/bits.h"

enum {
	HEADER = sizeof(struct ib_user_mad_hdr_old),
	LONG_HEADER = sizeof(struct ib_user_mad_hdr),
	MAD = 256,
	AGENTS = 32,
	NOBODY = 0xbf00, /* a LID that nothing has */
	PATIENCE_MS = 30000,
};

static int file;

static void print_result(const char *name, const char *what, int err)
{
	printf("%s: %s: %s\n", name, what, err ? strerrorname_np(err) : "0");
}

static int umad_open(const char *path)
{
	return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

struct wish {
	const char *what;
	struct ib_user_mad_reg_req req;
};

static int agent_add(int fd, struct ib_user_mad_reg_req req, uint32_t *id)
{
	int err = ioctl(fd, IB_USER_MAD_REGISTER_AGENT, &req) ? errno : 0;

	if (!err && id)
		*id = req.id;
	return err;
}

static void agent_drop(int fd, uint32_t id)
{
	ioctl(fd, IB_USER_MAD_UNREGISTER_AGENT, &id);
}

#define GET            \
	{              \
		1 << 1 \
	}

static const struct wish wishes[] = {
	{ "no class", { .qpn = 1 } },
	{ "performance management", { .qpn = 1, .mgmt_class = 4, .mgmt_class_version = 1 } },
	{ "a QP that is no special one", { .qpn = 2 } },
	{ "performance management at QP0", { .qpn = 0, .mgmt_class = 4, .mgmt_class_version = 1 } },
	{ "subnet management at QP1", { .qpn = 1, .mgmt_class = 1, .mgmt_class_version = 1 } },
	{ "a version that there cannot be",
	  { .qpn = 1, .mgmt_class = 4, .mgmt_class_version = 0x83 } },
	{ "a class that there cannot be",
	  { .qpn = 1, .mgmt_class = 0x50, .mgmt_class_version = 1 } },
	{ "a vendor's class without a vendor",
	  { .qpn = 1, .mgmt_class = 0x30, .mgmt_class_version = 1 } },
	{ "a vendor's class",
	  { .qpn = 1, .mgmt_class = 0x30, .mgmt_class_version = 1, .oui = { 0, 0, 9 } } },
	{ "long datagrams of a class without",
	  { .qpn = 1, .mgmt_class = 4, .mgmt_class_version = 1, .rmpp_version = 1 } },
	{ "long datagrams of another version",
	  { .qpn = 1, .mgmt_class = 3, .mgmt_class_version = 2, .rmpp_version = 2 } },
	{ "long datagrams",
	  { .qpn = 1, .mgmt_class = 3, .mgmt_class_version = 2, .rmpp_version = 1 } },
};

static void registrations_try(void)
{
	uint32_t id;

	for (unsigned int i = 0; i < ARRAY_SIZE(wishes); i++) {
		int err = agent_add(file, wishes[i].req, &id);

		print_result("register", wishes[i].what, err);
		if (!err)
			agent_drop(file, id);
	}
	print_result("register", "at no address",
		     ioctl(file, IB_USER_MAD_REGISTER_AGENT, NULL) ? errno : 0);
}

/* A method of a class has one agent at a port. */
static void methods_try(void)
{
	struct ib_user_mad_reg_req req = {
		.method_mask = GET, .qpn = 1, .mgmt_class = 9, .mgmt_class_version = 1
	};
	int other = umad_open("/dev/infiniband/umad0");
	uint32_t first, second;

	print_result("a method", "is had", agent_add(file, req, &first));
	print_result("a method", "is had again", agent_add(file, req, &second));
	print_result("a method", "is had by another file", agent_add(other, req, &second));
	req.method_mask[0] = 1 << 2;
	print_result("a method", "beside it", agent_add(other, req, &second));
	req.mgmt_class_version = 2;
	req.method_mask[0] = 1 << 1;
	print_result("a method", "of another version", agent_add(other, req, &second));
	close(other);
	agent_drop(file, first);
	req.mgmt_class_version = 1;
	print_result("a method", "is had when it was given up", agent_add(file, req, &first));
	agent_drop(file, first);
}

static void agents_count(void)
{
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	int fd = umad_open("/dev/infiniband/umad0"), err = 0;
	uint32_t id = 0, count = 0;

	while (count <= AGENTS && !(err = agent_add(fd, req, &id)))
		count++;
	printf("agents: %u, the last %u, and then %s\n", count, id, strerrorname_np(err));
	close(fd);
}

static void unregistrations_try(void)
{
	static const uint32_t wrong[] = { 0, 31, 32, UINT32_MAX };
	char what[32];

	for (unsigned int i = 0; i < ARRAY_SIZE(wrong); i++) {
		uint32_t id = wrong[i];

		snprintf(what, sizeof(what), "number %u", id);
		print_result("unregister", what,
			     ioctl(file, IB_USER_MAD_UNREGISTER_AGENT, &id) ? errno : 0);
	}
	print_result("unregister", "at no address",
		     ioctl(file, IB_USER_MAD_UNREGISTER_AGENT, NULL) ? errno : 0);
	print_result("ioctl", "that there is not", ioctl(file, _IO(0x1b, 0x55)) ? errno : 0);
}

static void register2_try(void)
{
	struct ib_user_mad_reg_req2 req = { .qpn = 1, .flags = 0x80 };
	int err = ioctl(file, IB_USER_MAD_REGISTER_AGENT2, &req) ? errno : 0;

	print_result("register2", "flags that there are not", err);
	printf("register2: flags that there are: %#x\n", req.flags);
	req = (struct ib_user_mad_reg_req2){ .qpn = 7 };
	print_result("register2", "a QP that is no special one",
		     ioctl(file, IB_USER_MAD_REGISTER_AGENT2, &req) ? errno : 0);
	req = (struct ib_user_mad_reg_req2){
		.qpn = 1, .mgmt_class = 0x30, .mgmt_class_version = 1, .oui = 1 << 24
	};
	print_result("register2", "a vendor of four bytes",
		     ioctl(file, IB_USER_MAD_REGISTER_AGENT2, &req) ? errno : 0);
	req.oui = 9;
	err = ioctl(file, IB_USER_MAD_REGISTER_AGENT2, &req) ? errno : 0;
	print_result("register2", "a vendor's class", err);
	if (!err)
		agent_drop(file, req.id);
}

static void pkeys_try(void)
{
	int fd = umad_open("/dev/infiniband/umad0");
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	uint8_t room[LONG_HEADER];

	print_result("P_Key index", "at first", ioctl(fd, IB_USER_MAD_ENABLE_PKEY) ? errno : 0);
	print_result("P_Key index", "again", ioctl(fd, IB_USER_MAD_ENABLE_PKEY) ? errno : 0);
	print_result("P_Key index", "then a read of the short header",
		     read(fd, room, HEADER) < 0 ? errno : 0);
	print_result("P_Key index", "then a read of the long one",
		     read(fd, room, LONG_HEADER) < 0 ? errno : 0);
	agent_add(fd, req, NULL);
	print_result("P_Key index", "behind an agent",
		     ioctl(fd, IB_USER_MAD_ENABLE_PKEY) ? errno : 0);
	close(fd);
}

static struct {
	struct ib_user_mad_hdr_old hdr;
	uint8_t mad[2 * MAD];
} packet;

static void packet_begin(uint32_t id, uint8_t class, uint8_t method)
{
	memset(&packet, 0, sizeof(packet));
	packet.hdr.id = id;
	packet.hdr.qpn = htobe32(1);
	packet.hdr.qkey = htobe32(0x80010000);
	packet.hdr.lid = htobe16(NOBODY);
	packet.mad[0] = 1;
	packet.mad[1] = class;
	packet.mad[2] = 1;
	packet.mad[3] = method;
	packet.mad[15] = 77; /* transaction */
}

static int packet_write(size_t len)
{
	return write(file, &packet, len) < 0 ? errno : 0;
}

static void lengths_try(void)
{
	static const size_t lengths[] = { 0,           HEADER - 1,   HEADER,          HEADER + 35,
					  HEADER + 36, HEADER + MAD, HEADER + MAD + 1 };
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	uint32_t id = 0;
	char what[32];
	const void *volatile nowhere = NULL;

	agent_add(file, req, &id);
	for (unsigned int i = 0; i < ARRAY_SIZE(lengths); i++) {
		packet_begin(id, 4, 1);
		packet.mad[15] = (uint8_t)i; /* a transaction of its own */
		snprintf(what, sizeof(what), "%zu bytes", lengths[i]);
		print_result("write", what, packet_write(lengths[i]));
	}
	packet_begin(id, 4, 1);
	packet.hdr.id = 31;
	print_result("write", "for an agent that is not there", packet_write(HEADER + MAD));
	packet.hdr.id = 32;
	print_result("write", "for an agent that cannot be", packet_write(HEADER + MAD));
	print_result("write", "from no address",
		     write(file, nowhere, HEADER + MAD) < 0 ? errno : 0);
	agent_drop(file, id);
}

static int wait_readable(void)
{
	struct pollfd poll_fd = { .fd = file, .events = POLLIN };

	return poll(&poll_fd, 1, PATIENCE_MS) == 1 ? 0 : ETIMEDOUT;
}

/* The request comes back with its header, under the agent's transaction. */
static void silence_try(void)
{
	struct ib_user_mad_reg_req req = { .qpn = 1 };
	uint32_t id = 0;
	ssize_t n;

	agent_add(file, req, &id);
	packet_begin(id, 4, 1);
	packet.hdr.timeout_ms = 50;
	packet.hdr.retries = 1;
	print_result("a request", "to nobody", packet_write(HEADER + MAD));
	print_result("a request", "the same meanwhile", packet_write(HEADER + MAD));
	packet.mad[15] = 78;
	packet.hdr.timeout_ms = 0;
	print_result("a request", "another, not waited for", packet_write(HEADER + MAD));
	print_result("a request", "comes back", wait_readable());
	print_result("a request", "read with too little room",
		     read(file, &packet, HEADER + 23) < 0 ? errno : 0);
	memset(&packet, 0, sizeof(packet));
	n = read(file, &packet, sizeof(packet));
	printf("a request: read: %zd bytes of agent %s, status %s, LID %#x, method %u, %u\n", n,
	       packet.hdr.id == id ? "that sent it" : "another",
	       packet.hdr.status ? strerrorname_np((int)packet.hdr.status) : "0",
	       be16toh(packet.hdr.lid), packet.mad[3], packet.mad[15]);
	print_result("a request", "and no more",
		     read(file, &packet, sizeof(packet)) < 0 ? errno : 0);
	agent_drop(file, id);
}

static void ways_try(uint32_t id)
{
	static const struct {
		const char *what;
		uint8_t status, pointer, count, first;
	} ways[] = {
		{ "of another port", 0, 0, 1, 2 },      { "of too many hops", 0, 0, 64, 1 },
		{ "in its middle", 0, 1, 2, 1 },        { "behind its end", 0, 5, 1, 1 },
		{ "back from nowhere", 0x80, 3, 1, 1 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(ways); i++) {
		packet_begin(id, 0x81, 1);
		packet.hdr.qpn = 0;
		packet.hdr.lid = 0xffff;
		packet.mad[4] = ways[i].status;
		packet.mad[6] = ways[i].pointer;
		packet.mad[7] = ways[i].count;
		packet.mad[17] = 0x11;
		memset(packet.mad + 32, 0xff, 4);
		packet.mad[128 + 1] = ways[i].first;
		print_result("a way", ways[i].what, packet_write(HEADER + MAD));
	}
}

/* The way that begins and ends here: our own port says what it is. */
static void own_node_try(uint32_t id)
{
	ssize_t n;

	packet_begin(id, 0x81, 1);
	packet.hdr.qpn = 0;
	packet.hdr.lid = 0xffff;
	packet.hdr.timeout_ms = 1000;
	packet.mad[17] = 0x11;
	memset(packet.mad + 32, 0xff, 4);
	print_result("own node", "is asked", packet_write(HEADER + MAD));
	print_result("own node", "answers", wait_readable());
	memset(&packet, 0, sizeof(packet));
	n = read(file, &packet, sizeof(packet));
	printf("own node: %zd bytes, length %u, QP %u, LID %#x, method %#x, status %#x, "
	       "hops %u of %u, type %u\n",
	       n, packet.hdr.length, be32toh(packet.hdr.qpn), be16toh(packet.hdr.lid),
	       packet.mad[3], packet.mad[4] << 8 | packet.mad[5], packet.mad[6], packet.mad[7],
	       packet.mad[64 + 2]);
}

/* Returns whether the port has a QP 0, for subnet management. */
static bool subnet_try(void)
{
	struct ib_user_mad_reg_req req = { .qpn = 0, .mgmt_class = 0x81, .mgmt_class_version = 1 };
	uint32_t id = 0;
	int err = agent_add(file, req, &id);

	print_result("register", "subnet management", err);
	if (err)
		return false;
	ways_try(id);
	own_node_try(id);
	agent_drop(file, id);
	return true;
}

static void managers_try(const char *name)
{
	int first = umad_open("/dev/infiniband/issm0"), second;

	print_result(name, "is there", first < 0 ? errno : 0);
	if (first < 0)
		return;
	second = umad_open("/dev/infiniband/issm0");
	print_result(name, "a second one", second < 0 ? errno : 0);
	close(first);
}

static void readiness_try(void)
{
	struct pollfd poll_fd = { .fd = file, .events = POLLIN | POLLOUT };
	uint8_t room[HEADER + MAD];

	poll(&poll_fd, 1, 0);
	printf("poll: %s%s\n", poll_fd.revents & POLLIN ? "in " : "",
	       poll_fd.revents & POLLOUT ? "out" : "");
	print_result("read", "with nothing there", read(file, room, sizeof(room)) < 0 ? errno : 0);
	print_result("read", "less than a header", read(file, room, HEADER - 1) < 0 ? errno : 0);
}

int main(void)
{
	file = umad_open("/dev/infiniband/umad0");
	if (file < 0) {
		perror("umad0");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	readiness_try();
	registrations_try();
	methods_try();
	agents_count();
	unregistrations_try();
	register2_try();
	pkeys_try();
	lengths_try();
	silence_try();
	managers_try(subnet_try() ? "a manager" : "a manager without QP 0");
	return 0;
}
