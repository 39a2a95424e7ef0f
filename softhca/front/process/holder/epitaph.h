/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * epitaph.h - the table of queues of one runner's programs, for use after the daemon's death.
 *
 * The daemon shares it with the holder, in the mailbox' memory. It has what does not change while
 * queues are in use: owner, place, size. A reader finds the rest in the programs' memory; see
 * flush.c.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_EPITAPH_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_EPITAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Sizes of the table. Pages without entries take no memory, so it may be large. */
enum { EPITAPH_CQS = 1 << 16, EPITAPH_QPS = 1 << 17, EPITAPH_OFFSET = 4096 };

/* The process that created a queue, and its device file: the queue exists as long as the process
 * has the file open. */
struct epitaph_owner {
	int32_t pid;
	int32_t fd;
	uint64_t dev, ino;
};

/* First member of each entry. */
struct epitaph_entry {
	uint32_t valid; /* set last, cleared first, so that the holder never reads half an entry */
	uint32_t handle;
	struct epitaph_owner owner;
};

struct epitaph_cq {
	struct epitaph_entry entry;
	uint64_t ring, dbrec;
	uint32_t cqe_size;
	uint32_t entries; /* a power of two */
};

struct epitaph_qp {
	struct epitaph_entry entry;
	uint64_t sq, dbrec;
	uint32_t qpn, user_index;
	uint32_t sq_blocks;        /* 0: no send queue */
	uint32_t rq_wqes;          /* 0: no receive queue */
	uint32_t send_cq, recv_cq; /* indices of their entries */
	uint32_t has_started;      /* not in the reset state */
	uint32_t by_index;         /* raw packet QP: its CQEs do not have the QP number */
	/* Consumer indices of the CQs when the QP left the reset state: CQEs before them are from
	 * before a reset. */
	uint32_t send_since, recv_since;
};

struct epitaph_table {
	uint32_t cqs, qps; /* entries from this index on were never used */
	struct epitaph_cq cq[EPITAPH_CQS];
	struct epitaph_qp qp[EPITAPH_QPS];
};

size_t epitaph_memory_bytes(void);
/* Maps the table in memory FD for the holder. The holder sees the daemon's writes; the holder's own
 * writes stay private. Returns 0 or a positive errno. */
int epitaph_map(int fd, struct epitaph_table **table);
void epitaph_unmap(struct epitaph_table *table);

struct client;
struct epitaph;

/* Opens the table with one reference. */
int epitaph_open(int fd, struct epitaph **epitaph);
void epitaph_put(struct epitaph *epitaph);

/* Place of an object in a table, with a reference to the table. If IN is NULL, the object has no
 * entry. */
struct epitaph_place {
	struct epitaph *in;
	uint32_t index;
};

/* Adds a CQ. If the table is full, the CQ gets no entry, and its QPs are not flushed after the
 * daemon's death. */
void epitaph_add_cq(struct epitaph *epitaph, const struct epitaph_cq *cq, struct epitaph_place *at);
void epitaph_add_qp(struct epitaph *epitaph, const struct epitaph_qp *qp,
		    const struct epitaph_place *send_cq, const struct epitaph_place *recv_cq,
		    struct epitaph_place *at);
/* Notes that the QP has left the reset state. SEND and RECV are the clients that created its send
 * CQ and receive CQ; their memory holds the CQs' doorbell records. Called by the notification
 * thread. */
void epitaph_start_qp(const struct epitaph_place *at, const struct client *send,
		      const struct client *recv);
/* Notes that the QP is in the reset state. */
void epitaph_reset_qp(const struct epitaph_place *at);
void epitaph_resize_cq(const struct epitaph_place *at, uint64_t ring, uint32_t entries,
		       uint32_t cqe_size);
/* Makes the holder leave the CQ alone, as its ring is no longer in its owner's memory. The CQ keeps
 * its entry, as its QPs name it by index. */
void epitaph_hide_cq(const struct epitaph_place *at);
void epitaph_remove_cq(struct epitaph_place *at);
void epitaph_remove_qp(struct epitaph_place *at);

#endif
