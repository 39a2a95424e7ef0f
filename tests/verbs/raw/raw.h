/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * raw.h - the topics of verbs-raw: WQEs that the program builds, on transports whose requests have
 * a destination. requests.c has the common part: a link is an end that sends such requests, and the
 * objects that receive them.
 */
#ifndef TESTS_VERBS_RAW_RAW_H
#define TESTS_VERBS_RAW_RAW_H

#include "tests/lib/raw_wqe.h"
#include "tests/lib/rig.h"
#include "tests/lib/say.h"

enum { RAW_ROOM = 4096 };

struct raw_link {
	const char *name;
	struct ibv_qp *qp;
	struct ibv_cq *sent, *received;
	struct ibv_mr *mr;
	uint8_t *from, *to; /* RAW_ROOM bytes each */
	uint32_t header;    /* bytes in front of a message that came */
	bool only_sends;
	void *owner; /* of the transport, see its file */

	void (*put_target)(const struct raw_link *link, struct raw_wqe *wqe);
	void (*receive)(const struct raw_link *link);
	/* The link works again after an error, and has the receives that it had. */
	void (*mend)(const struct raw_link *link);
};

/* A right WQE is made a wrong one. */
struct raw_fault {
	const char *what;
	uint8_t opcode;
	void (*spoil)(struct raw_wqe *wqe);
	enum ibv_wc_status status; /* success: the request is lost on its way */
};

/* Runs each kind of request until the ring has gone round several times. */
void raw_requests(const struct raw_link *link);
/* Each fault must end with its status, deliver nothing to the other end, and consume no receive. */
void raw_faults(const struct raw_link *link, const struct raw_fault *faults, size_t count);

/* Of any transport: the keys of memory, here and at the other end. */
void raw_spoil_lkey(struct raw_wqe *wqe);
void raw_spoil_rkey(struct raw_wqe *wqe);
/* Of those with an address: the key that is in it, its number, and its end. */
void raw_spoil_key(struct raw_wqe *wqe);
void raw_spoil_number(struct raw_wqe *wqe);
void raw_spoil_size(struct raw_wqe *wqe);

void raw_datagrams(struct rig *rig);
void raw_shared_receives(struct rig *rig);
void raw_initiators(struct rig *rig);

#endif
