/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * epitaph.h - what is known of the queues of one runner's programs, should the daemon be killed.
 *
 * It is a table that the daemon shares with the holder, behind the mailbox in the same memory, and
 * has what does not change while queues are in use: whose they are, where, how large. The rest a
 * reader finds in the programs' memory; see flush.c.
 */
#ifndef SOFTHCA_FRONT_PROCESS_HOLDER_EPITAPH_H
#define SOFTHCA_FRONT_PROCESS_HOLDER_EPITAPH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Pages of the table that no queue was ever in take no memory. */
enum { EPITAPH_CQS = 1 << 16, EPITAPH_QPS = 1 << 17, EPITAPH_OFFSET = 4096 };

/* The process that made a queue, and the device file it made it with: as long as it has that open,
 * the queue is there. */
struct epitaph_owner {
	int32_t pid;
	int32_t fd;
	uint64_t dev, ino;
};

/* This stands first in every entry. */
struct epitaph_entry {
	uint32_t valid; /* set last, cleared first */
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
	uint32_t send_cq, recv_cq; /* indices of entries */
	uint32_t has_started;      /* it is not in the reset state */
	uint32_t by_index; /* raw packets: CQEs have other things where others name the QP */
	/* The CQs' consumer indices when it started: earlier CQEs are of a former life. */
	uint32_t send_since, recv_since;
};

struct epitaph_table {
	uint32_t cqs, qps; /* no entry from there on was ever used */
	struct epitaph_cq cq[EPITAPH_CQS];
	struct epitaph_qp qp[EPITAPH_QPS];
};

/* Bytes of the memory that has the mailbox and the table. */
size_t epitaph_memory_bytes(void);
/* Maps the table in memory FD for the holder: the daemon's writes are seen, and the holder's stay
 * its own. 0 or a positive errno. */
int epitaph_map(int fd, struct epitaph_table **table);
void epitaph_unmap(struct epitaph_table *table);

/* ---- the daemon's side; notification thread only ---- */

struct epitaph;

/* The epitaph has one reference. */
int epitaph_open(int fd, struct epitaph **epitaph);
void epitaph_put(struct epitaph *epitaph);

/* Where an object stands in a table; holds a reference to it. IN is NULL: nowhere. */
struct epitaph_place {
	struct epitaph *in;
	uint32_t index;
};

/* A full table is not an error: such a queue is only not flushed. */
void epitaph_add_cq(struct epitaph *epitaph, const struct epitaph_cq *cq, struct epitaph_place *at);
/* Sets the QP's send_cq and recv_cq from the places of the CQs. */
void epitaph_add_qp(struct epitaph *epitaph, const struct epitaph_qp *qp,
		    const struct epitaph_place *send_cq, const struct epitaph_place *recv_cq,
		    struct epitaph_place *at);
/* The QP has left the reset state, or is back in it. */
void epitaph_start_qp(const struct epitaph_place *at, bool has_started);
/* The CQ has another ring now. */
void epitaph_resize_cq(const struct epitaph_place *at, uint64_t ring, uint32_t entries,
		       uint32_t cqe_size);
void epitaph_remove_cq(struct epitaph_place *at);
void epitaph_remove_qp(struct epitaph_place *at);

#endif
