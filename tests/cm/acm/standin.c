/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * standin.c - acm-standin HOW [HOW]: a small ibacm for softhca's fabric. It answers questions
 * of librdmacm at /run/ibacm.sock (with "tcp" at a port that /run/ibacm.port names) with paths
 * between ports of this host's adapters, and prints what it was asked. The layout of messages is
 * that of <infiniband/acm.h> of Debian's package ibacm.
 *
 * Port P of adapter A is 198.18.0.(8 A + P), the loopback is the first port of the first adapter;
 * other addresses are not known. HOW "honest" is a correct daemon; every other value is a fault
 * that a client must survive. Runs until it is killed.
 *
 * Covers: librdmacm/acm_wire.c
 */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <infiniband/sa.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_PATH "/run/ibacm.sock"
#define PORT_FILE   "/run/ibacm.port"

enum {
	RESOLVE = 1,
	ACK = 0x80,
	STATUS_NOTHING_KNOWN = 3,
	STATUS_NO_DESTINATION = 9,
	KIND_IPV4 = 2,
	KIND_IPV6 = 3,
	KIND_PATH = 0x10,
	FLAG_SOURCE = 1,
	FLAG_DEST = 2,
	MAX_ENTRIES = 8,
	MAX_CLIENTS = 16,
	MAX_PORTS = 16,
	PATH_FLAGS = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL,
};

struct header {
	uint8_t version, opcode, status, data[3];
	uint16_t length;
	uint64_t tid;
};

struct entry {
	uint32_t flags;
	uint16_t kind, reserved;
	union {
		uint8_t addr[64];
		struct ibv_path_record path;
	};
};

struct message {
	struct header header;
	struct entry entries[MAX_ENTRIES];
};

struct port {
	struct in_addr ip;
	union ibv_gid gid;
	struct ibv_port_attr attr;
};

static struct port ports[MAX_PORTS];
static unsigned int num_ports;
static const char *how;

static bool is_how(const char *word)
{
	return !strcmp(how, word);
}

static void standin_die(const char *what)
{
	fprintf(stderr, "acm-standin: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void learn_device(struct ibv_device *device, unsigned int number)
{
	struct ibv_context *ctx = ibv_open_device(device);
	struct ibv_device_attr attr;

	if (!ctx || ibv_query_device(ctx, &attr))
		standin_die("device");
	for (unsigned int p = 1; p <= attr.phys_port_cnt && num_ports < MAX_PORTS; p++) {
		struct port *port = &ports[num_ports++];

		port->ip.s_addr = htonl(0xc6120000 + 8 * number + p);
		if (ibv_query_port(ctx, p, &port->attr) || ibv_query_gid(ctx, p, 0, &port->gid))
			standin_die("port");
	}
	ibv_close_device(ctx);
}

static void learn_fabric(void)
{
	int count;
	struct ibv_device **list = ibv_get_device_list(&count);

	if (!list)
		standin_die("devices");
	for (int i = 0; i < count; i++)
		learn_device(list[i], ibv_get_device_name(list[i])[strlen("mlx5_")] - '0');
	ibv_free_device_list(list);
}

static const struct port *find_ip(const struct entry *entry)
{
	static const struct in6_addr loopback6 = IN6ADDR_LOOPBACK_INIT;
	struct in_addr ip;

	memcpy(&ip, entry->addr, sizeof(ip));
	if (entry->kind == KIND_IPV6)
		return memcmp(entry->addr, &loopback6, 16) ? NULL : &ports[0];
	if (ip.s_addr == htonl(INADDR_LOOPBACK))
		return &ports[0];
	for (unsigned int i = 0; i < num_ports; i++)
		if (ports[i].ip.s_addr == ip.s_addr)
			return &ports[i];
	return NULL;
}

static const struct port *find_gid(const union ibv_gid *gid)
{
	for (unsigned int i = 0; i < num_ports; i++)
		if (!memcmp(&ports[i].gid, gid, sizeof(*gid)))
			return &ports[i];
	return NULL;
}

static struct entry *entry_add(struct message *answer, uint32_t flags, uint16_t kind)
{
	struct entry *entry =
		&answer->entries[(answer->header.length - sizeof(answer->header)) / sizeof(*entry)];

	answer->header.length += sizeof(*entry);
	*entry = (struct entry){ .flags = flags, .kind = kind };
	return entry;
}

static void add_path(struct message *answer, const struct port *src, const struct port *dst)
{
	enum { EXACTLY = 2 << 6, LIFETIME = 18, RATE_100 = 16 };
	struct entry *entry = entry_add(answer, PATH_FLAGS, KIND_PATH);

	entry->path = (struct ibv_path_record){
		.dgid = dst->gid,
		.sgid = src->gid,
		.dlid = htobe16(dst->attr.lid),
		.slid = htobe16(src->attr.lid),
		.reversible_numpath = IBV_PATH_RECORD_REVERSIBLE | 1,
		.pkey = htobe16(0xffff),
		.mtu = EXACTLY | src->attr.active_mtu,
		.rate = EXACTLY | RATE_100,
		.packetlifetime = EXACTLY | LIFETIME,
	};
}

/* Finds the two ports that the message asks about, by their addresses or by the GIDs of a path.
 * Returns false if it does not know one of them. */
static bool find_ports(const struct message *question, size_t count, const struct port **src,
		       const struct port **dst)
{
	static const union ibv_gid no_gid;

	*src = &ports[0];
	*dst = NULL;
	for (size_t i = 0; i < count; i++) {
		const struct entry *entry = &question->entries[i];

		if (entry->kind == KIND_PATH && memcmp(&entry->path.dgid, &no_gid, sizeof(no_gid)))
			*dst = find_gid(&entry->path.dgid);
		if (entry->kind == KIND_PATH && memcmp(&entry->path.sgid, &no_gid, sizeof(no_gid)))
			*src = find_gid(&entry->path.sgid);
		if (entry->kind != KIND_PATH && entry->flags & FLAG_SOURCE)
			*src = find_ip(entry);
		if (entry->kind != KIND_PATH && entry->flags & FLAG_DEST)
			*dst = find_ip(entry);
	}
	return *src && *dst;
}

/* Answers with the path, and with the source address if the message has none. */
static void address_resolve(const struct message *question, struct message *answer)
{
	size_t count = (question->header.length - sizeof(question->header)) / sizeof(struct entry);
	const struct port *src, *dst;
	bool has_source = false, by_gid = false;

	for (size_t i = 0; i < count; i++) {
		has_source |= question->entries[i].flags & FLAG_SOURCE;
		by_gid |= question->entries[i].kind == KIND_PATH;
	}
	if (!find_ports(question, count, &src, &dst) ||
	    src->attr.link_layer == IBV_LINK_LAYER_ETHERNET) {
		answer->header.status = STATUS_NO_DESTINATION;
		return;
	}
	add_path(answer, src, dst);
	/* Debian's client takes the data after the first path for the second path, so it gets a
	 * path there */
	if (is_how("two"))
		add_path(answer, src, dst);
	if (!has_source && !by_gid)
		memcpy(entry_add(answer, FLAG_SOURCE, KIND_IPV4)->addr, &src->ip, sizeof(src->ip));
}

static void answer_spoil(struct message *answer)
{
	if (is_how("error")) {
		answer->header.status = STATUS_NOTHING_KNOWN;
	} else if (is_how("empty")) {
		answer->header.length = sizeof(answer->header);
	} else if (is_how("version")) {
		answer->header.version = 2;
	} else if (is_how("opcode")) {
		answer->header.opcode = RESOLVE;
	} else if (is_how("short")) {
		answer->header.length = 8;
	} else if (is_how("long")) {
		answer->header.length = 5000;
	} else if (is_how("foreign")) {
		memset(&answer->entries[0].path.dgid, 0xee, sizeof(union ibv_gid));
	}
}

/* Returns false if the connection ends here. */
static bool answer_send(int fd, const struct message *answer)
{
	const char *bytes = (const char *)answer;
	size_t length = is_how("short") || is_how("long") ? 88 : answer->header.length;

	if (is_how("silent"))
		return true;
	if (is_how("close"))
		return false;
	if (is_how("half") || is_how("half-close"))
		length = 40;
	if (is_how("slow")) {
		send(fd, bytes, 10, MSG_NOSIGNAL);
		usleep(100000);
		send(fd, bytes + 10, length - 10, MSG_NOSIGNAL);
		return true;
	}
	send(fd, bytes, length, MSG_NOSIGNAL);
	return !is_how("half-close") && !is_how("once");
}

static void print_entry(const struct entry *entry)
{
	char text[INET6_ADDRSTRLEN], from[INET6_ADDRSTRLEN];

	if (entry->kind == KIND_PATH) {
		inet_ntop(AF_INET6, &entry->path.dgid, text, sizeof(text));
		inet_ntop(AF_INET6, &entry->path.sgid, from, sizeof(from));
		printf("  flags 0x%x path to %s from %s pkey 0x%x mtu 0x%x\n", entry->flags, text,
		       from, be16toh(entry->path.pkey), entry->path.mtu);
		return;
	}
	inet_ntop(entry->kind == KIND_IPV6 ? AF_INET6 : AF_INET, entry->addr, text, sizeof(text));
	printf("  flags 0x%x kind %u %s\n", entry->flags, entry->kind, text);
}

static bool client_serve(int fd)
{
	struct message question, answer;
	ssize_t length = recv(fd, &question, sizeof(question), 0);

	if (length <= 0)
		return false;
	printf("question: version %u opcode %u status %u data %u %u %u length %u of %zd tid %llu\n",
	       question.header.version, question.header.opcode, question.header.status,
	       question.header.data[0], question.header.data[1], question.header.data[2],
	       question.header.length, length, (unsigned long long)question.header.tid);
	if (length != question.header.length)
		return false;
	for (size_t i = 0; i < (length - sizeof(question.header)) / sizeof(struct entry); i++)
		print_entry(&question.entries[i]);
	fflush(stdout);
	memset(&answer, 0, sizeof(answer));
	answer.header = question.header;
	answer.header.opcode |= ACK;
	answer.header.length = sizeof(answer.header);
	address_resolve(&question, &answer);
	answer_spoil(&answer);
	return answer_send(fd, &answer);
}

static int listen_unix(void)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX, .sun_path = SOCKET_PATH ".new" };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, MAX_CLIENTS) ||
	    /* renamed last, so that a client that sees the name can connect */
	    rename(addr.sun_path, SOCKET_PATH))
		standin_die(SOCKET_PATH);
	return fd;
}

static int listen_tcp(void)
{
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	FILE *file;

	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, len) || listen(fd, MAX_CLIENTS) ||
	    getsockname(fd, (struct sockaddr *)&addr, &len))
		standin_die("port");
	file = fopen(PORT_FILE ".new", "w");
	if (!file || fprintf(file, "%u\n", ntohs(addr.sin_port)) < 0 || fclose(file) ||
	    rename(PORT_FILE ".new", PORT_FILE))
		standin_die(PORT_FILE);
	return fd;
}

int main(int argc, char *argv[])
{
	struct pollfd fds[1 + MAX_CLIENTS];
	nfds_t count = 1;

	how = argc > 1 ? argv[1] : "honest";
	learn_fabric();
	fds[0] = (struct pollfd){ is_how("tcp") ? listen_tcp() : listen_unix(), POLLIN, 0 };
	if (is_how("deaf"))
		pause();
	while (poll(fds, count, -1) >= 0) {
		if (fds[0].revents && count <= MAX_CLIENTS) {
			fds[count++] = (struct pollfd){ accept(fds[0].fd, NULL, NULL), POLLIN, 0 };
			printf("connection\n");
			fflush(stdout);
			continue;
		}
		for (nfds_t i = 1; i < count; i++) {
			if (!fds[i].revents || client_serve(fds[i].fd))
				continue;
			close(fds[i].fd);
			fds[i] = fds[--count];
			break;
		}
	}
	return 1;
}
