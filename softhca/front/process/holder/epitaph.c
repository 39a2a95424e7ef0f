/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * epitaph.c - the table of programs' queues that the holder uses after the daemon's death; this is
 * the daemon's side.
 *
 * The daemon may be killed between any two lines. So an entry is complete before it becomes valid.
 * A queue that is in the table but not (yet, or any more) in the device does no harm, as its
 * program has no answer to its call yet. Decision: docs/adr/0044.
 */
#include <assert.h>
#include <endian.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "softhca/front/process/client.h"
#include "softhca/front/process/holder/epitaph.h"
#include "softhca/front/process/holder/mailbox.h"
#include "softhca/log.h"

static_assert(sizeof(struct mailbox) <= EPITAPH_OFFSET, "the table is behind the mailbox");

struct epitaph {
	struct epitaph_table *table;
	unsigned int refs;
	/* all entries below it are used, so the search for a free one begins there */
	uint32_t free_cq, free_qp;
};

size_t epitaph_memory_bytes(void)
{
	return EPITAPH_OFFSET + sizeof(struct epitaph_table);
}

static int table_map(int fd, int flags, struct epitaph_table **table)
{
	void *at = mmap(NULL, sizeof(**table), PROT_READ | PROT_WRITE, flags, fd, EPITAPH_OFFSET);

	if (at == MAP_FAILED)
		return errno;
	*table = at;
	return 0;
}

int epitaph_map(int fd, struct epitaph_table **table)
{
	return table_map(fd, MAP_PRIVATE | MAP_NORESERVE, table);
}

void epitaph_unmap(struct epitaph_table *table)
{
	munmap(table, sizeof(*table));
}

int epitaph_open(int fd, struct epitaph **out)
{
	struct epitaph *epitaph = calloc(1, sizeof(*epitaph));
	int ret;

	if (!epitaph)
		return ENOMEM;
	ret = table_map(fd, MAP_SHARED, &epitaph->table);
	if (ret) {
		free(epitaph);
		return ret;
	}
	epitaph->refs = 1;
	*out = epitaph;
	return 0;
}

void epitaph_put(struct epitaph *epitaph)
{
	if (--epitaph->refs)
		return;
	epitaph_unmap(epitaph->table);
	free(epitaph);
}

static void index_hold(struct epitaph *epitaph, uint32_t index, struct epitaph_place *at)
{
	epitaph->refs++;
	*at = (struct epitaph_place){ epitaph, index };
}

/* Sets VALID behind a compiler barrier. No CPU barrier is needed, as the reader starts only when
 * this process is dead. */
static void set_valid(struct epitaph_entry *entry, uint32_t valid)
{
	atomic_signal_fence(memory_order_seq_cst);
	*(volatile uint32_t *)&entry->valid = valid;
	atomic_signal_fence(memory_order_seq_cst);
}

void epitaph_add_cq(struct epitaph *epitaph, const struct epitaph_cq *cq, struct epitaph_place *at)
{
	struct epitaph_table *table = epitaph->table;
	uint32_t index = epitaph->free_cq;

	while (index < EPITAPH_CQS && table->cq[index].entry.valid)
		index++;
	epitaph->free_cq = index;
	if (index == EPITAPH_CQS) {
		log_note("too many CQs: one would not be flushed should this process be killed");
		return;
	}
	table->cq[index] = *cq;
	if (table->cqs <= index)
		table->cqs = index + 1;
	set_valid(&table->cq[index].entry, 1);
	index_hold(epitaph, index, at);
}

void epitaph_add_qp(struct epitaph *epitaph, const struct epitaph_qp *qp,
		    const struct epitaph_place *send_cq, const struct epitaph_place *recv_cq,
		    struct epitaph_place *at)
{
	struct epitaph_table *table = epitaph->table;
	uint32_t index = epitaph->free_qp;

	while (index < EPITAPH_QPS && table->qp[index].entry.valid)
		index++;
	epitaph->free_qp = index;
	/* If the device file was passed on, the CQs may be in another runner's table, so the QP
	 * cannot be entered here. */
	if (index == EPITAPH_QPS || send_cq->in != epitaph || recv_cq->in != epitaph) {
		log_note("QP %#x would not be flushed should this process be killed", qp->qpn);
		return;
	}
	table->qp[index] = *qp;
	table->qp[index].send_cq = send_cq->index;
	table->qp[index].recv_cq = recv_cq->index;
	if (table->qps <= index)
		table->qps = index + 1;
	set_valid(&table->qp[index].entry, 1);
	index_hold(epitaph, index, at);
}

static uint32_t consumer_index(const struct client *client, const struct epitaph_cq *cq)
{
	uint32_t word;

	return space_read(&client->space, cq->dbrec, &word, sizeof(word)) ? 0 : be32toh(word);
}

void epitaph_start_qp(const struct epitaph_place *at, const struct client *send,
		      const struct client *recv)
{
	struct epitaph_table *table;
	struct epitaph_qp *qp;

	if (!at->in)
		return;
	table = at->in->table;
	qp = &table->qp[at->index];
	if (!qp->has_started) {
		qp->send_since = consumer_index(send, &table->cq[qp->send_cq]);
		qp->recv_since = consumer_index(recv, &table->cq[qp->recv_cq]);
	}
	qp->has_started = 1;
}

void epitaph_reset_qp(const struct epitaph_place *at)
{
	if (at->in)
		at->in->table->qp[at->index].has_started = 0;
}

void epitaph_resize_cq(const struct epitaph_place *at, uint64_t ring, uint32_t entries,
		       uint32_t cqe_size)
{
	struct epitaph_cq *cq;

	if (!at->in)
		return;
	cq = &at->in->table->cq[at->index];
	set_valid(&cq->entry, 0);
	cq->ring = ring;
	cq->entries = entries;
	cq->cqe_size = cqe_size;
	set_valid(&cq->entry, 1);
}

void epitaph_hide_cq(const struct epitaph_place *at)
{
	struct epitaph_cq *cq;

	if (!at->in)
		return;
	cq = &at->in->table->cq[at->index];
	set_valid(&cq->entry, 0);
	cq->entry.owner = (struct epitaph_owner){ 0 }; /* no process has pid 0 */
	set_valid(&cq->entry, 1);
}

static void leave_place(struct epitaph_place *at, struct epitaph_entry *entry,
			uint32_t *lowest_free)
{
	set_valid(entry, 0);
	if (at->index < *lowest_free)
		*lowest_free = at->index;
	epitaph_put(at->in);
	at->in = NULL;
}

void epitaph_remove_cq(struct epitaph_place *at)
{
	if (at->in)
		leave_place(at, &at->in->table->cq[at->index].entry, &at->in->free_cq);
}

void epitaph_remove_qp(struct epitaph_place *at)
{
	if (at->in)
		leave_place(at, &at->in->table->qp[at->index].entry, &at->in->free_qp);
}
