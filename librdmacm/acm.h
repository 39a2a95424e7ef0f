/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acm.h - the messages of ibacm, a daemon on the host that finds and caches InfiniBand paths.
 *
 * The facts are from Debian's <infiniband/acm.h> (package ibacm) and from observing what its
 * librdmacm sends. Numbers in the header are in host byte order, because the daemon runs on the
 * same host; addresses and path records are as on the wire.
 */
#ifndef LIBRDMACM_ACM_H
#define LIBRDMACM_ACM_H

#include <assert.h>
#include <infiniband/sa.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* The daemon listens on a loopback TCP port, whose number it writes to a file, or on a Unix
 * socket. */
#define ACM_PORT_FILE "/run/ibacm.port"
#define ACM_SOCKET    "/run/ibacm.sock"

enum {
	ACM_VERSION = 1,
	ACM_OP_RESOLVE = 0x01,
	ACM_OP_ACK = 0x80,
	ACM_MAX_ENTRIES = 8,
	ACM_ADDR_SIZE = 64,
};

/* Kinds of entries, and flags that tell the use of an address. */
enum { ACM_ENTRY_IPV4 = 2, ACM_ENTRY_IPV6 = 3, ACM_ENTRY_PATH = 0x10 };
#define ACM_FLAG_SOURCE   (1u << 0)
#define ACM_FLAG_DEST     (1u << 1)
#define ACM_FLAG_NO_DELAY (1u << 30) /* answer from the cache only */

struct acm_header {
	uint8_t version;
	uint8_t opcode;
	/* answers: 0, or the reason for the failure, which acm_wire.c puts into words */
	uint8_t status;
	uint8_t data[3];
	uint16_t length;
	uint64_t tid;
};

struct acm_entry {
	uint32_t flags;
	uint16_t kind;
	uint16_t reserved;
	union {
		uint8_t addr[ACM_ADDR_SIZE];
		struct ibv_path_record path;
	};
};

struct acm_message {
	struct acm_header header;
	struct acm_entry entries[ACM_MAX_ENTRIES];
};

static_assert(sizeof(struct acm_header) == 16, "infiniband/acm.h: struct acm_hdr");
static_assert(offsetof(struct acm_header, length) == 6, "infiniband/acm.h: struct acm_hdr");
static_assert(sizeof(struct acm_entry) == 72, "infiniband/acm.h: ACM_MSG_EP_LENGTH");
static_assert(sizeof(struct acm_message) == 16 + 576, "infiniband/acm.h: struct acm_msg");

struct acm_question {
	const struct sockaddr *src;
	const struct sockaddr *dst; /* NULL: only path is requested */
	bool no_delay;
	bool has_path;
	struct ibv_path_record path; /* constraints on the path */
};

struct acm_answer {
	/* 0: the daemon does not name the source address, so the kernel chooses it */
	socklen_t src_len;
	struct sockaddr_storage src;
	unsigned int num_paths;
	struct ibv_path_data paths[ACM_MAX_ENTRIES];
};

/* ---- acm_wire.c: encoding, without system calls ---- */

/* Encodes a question. Returns EINVAL for an address family that the daemon does not know. */
int rdmacm_acm_pack(const struct acm_question *question, struct acm_message *message);
/* Decodes MESSAGE, which has as many bytes as its header says. Returns EPROTO if it is not an
 * answer, and ENODATA if it has no path or an error of the daemon. */
int rdmacm_acm_unpack(const struct acm_message *message, struct acm_answer *answer);
/* Returns whether version, opcode and length of an answer's header are valid; logs the fault if
 * not. */
bool rdmacm_acm_header_is_sane(const struct acm_header *header);

/* ---- acm.c ---- */

/* Asks the daemon, if there is one. The daemon must answer within TIMEOUT_MS, and within
 * ACM_MAX_WAIT_MS: with its defaults it takes up to three times 2 seconds for an address, and as
 * long for a path. After a timeout, the library does not ask for ACM_REST_MS; if the daemon is
 * absent, not for ACM_ABSENT_MS. Any thread may call this; questions are serialised. Returns 0, or
 * the errno that explains the missing path. */
enum {
	ACM_MAX_WAIT_MS = 15000,
	ACM_MAX_WAIT_NO_DELAY_MS = 3000,
	ACM_REST_MS = 30000,
	ACM_ABSENT_MS = 1000,
};
/* Returns whether the daemon was recently absent or silent, so that it is not asked now. */
bool rdmacm_acm_rests(void);
int rdmacm_acm_ask(const struct acm_question *question, int timeout_ms, struct acm_answer *answer);
void rdmacm_acm_disconnect(void);

#endif
