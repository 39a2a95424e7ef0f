/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * acm.h - ibacm, the daemon of a host that finds InfiniBand paths for names and addresses and keeps them: what is asked of
 * it, and the bytes of that.
 *
 * Facts are of Debian's <infiniband/acm.h> (package ibacm) and of what its librdmacm was seen to send. Numbers of the
 * header are in host byte order, as the daemon is of the same host; addresses and path records are as on the wire.
 */
#ifndef LIBRDMACM_ACM_H
#define LIBRDMACM_ACM_H

#include <assert.h>
#include <infiniband/sa.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

/* Where it listens: the number of a TCP port of the loopback, or a Unix socket. */
#define ACM_PORT_FILE "/run/ibacm.port"
#define ACM_SOCKET    "/run/ibacm.sock"

enum {
	ACM_VERSION = 1,
	ACM_OP_RESOLVE = 0x01,
	ACM_OP_ACK = 0x80,
	ACM_MAX_ENTRIES = 8,
	ACM_ADDR_SIZE = 64,
};

/* Kinds of entries; what flags say of them. */
enum { ACM_ENTRY_NAME = 1, ACM_ENTRY_IPV4 = 2, ACM_ENTRY_IPV6 = 3, ACM_ENTRY_PATH = 0x10 };
#define ACM_FLAG_SOURCE   (1u << 0)
#define ACM_FLAG_DEST     (1u << 1)
#define ACM_FLAG_NO_DELAY (1u << 30) /* of what the daemon has kept, or not at all */

struct acm_header {
	uint8_t version;
	uint8_t opcode;
	uint8_t status; /* of answers: 0, or acm_status_str() */
	uint8_t data[3];
	uint16_t length; /* with this header */
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
	const struct sockaddr *src; /* NULL: any */
	const struct sockaddr *dst; /* NULL: only the path is wanted */
	bool no_delay;
	bool has_path;
	struct ibv_path_record path; /* what it shall be like */
};

struct acm_answer {
	socklen_t src_len; /* 0: it does not say */
	struct sockaddr_storage src;
	unsigned int num_paths;
	struct ibv_path_data paths[ACM_MAX_ENTRIES];
};

/* ---- acm_wire.c: no system calls ---- */

/* EINVAL: an address is of a family that the daemon does not know */
int rdmacm_acm_pack(const struct acm_question *question, struct acm_message *message);
/* Of the whole MESSAGE, whose length is that of its header. EPROTO: no answer to a question; ENODATA: an answer without a
 * path, or an error of the daemon's */
int rdmacm_acm_unpack(const struct acm_message *message, struct acm_answer *answer);
/* Whether a header can be one of an answer: version, kind, length. */
bool rdmacm_acm_header_is_sane(const struct acm_header *header);

/* ---- acm.c ---- */

/* Ask the daemon, if there is one. It has TIMEOUT_MS, but no more than ACM_MAX_WAIT_MS; one that lets it pass is not asked
 * again for ACM_REST_MS, and one that is not there is not looked for for ACM_ABSENT_MS. From any thread; questions of several
 * threads go one by one. 0, or an errno which says why there is no path.
 * By its defaults the daemon needs up to three times 2 seconds for an address, and as much for a path. */
enum {
	ACM_MAX_WAIT_MS = 15000,
	ACM_MAX_WAIT_NO_DELAY_MS = 3000,
	ACM_REST_MS = 30000,
	ACM_ABSENT_MS = 1000,
};
int rdmacm_acm_ask(const struct acm_question *question, int timeout_ms, struct acm_answer *answer);

#endif
