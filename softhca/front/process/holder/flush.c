/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * flush.c - completes posted WQEs in error, for queues whose adapter is gone.
 *
 * It reads each queue's progress from the program's memory. A CQ's producer index is behind the
 * last CQE that software owns, from the consumer index in the doorbell record on. A QP's last CQE
 * tells its last completed WQE; consumed CQEs stay in the ring for a lap, so that idle QPs are
 * usually found too. The doorbell record has what a QP posted. A QP whose CQEs were all overwritten
 * is left alone: it may have nothing outstanding. Decision: docs/adr/0044.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "prm/mlx5/cqc.h"
#include "prm/mlx5/cqe.h"
#include "prm/mlx5/uar.h"
#include "prm/mlx5/wqe.h"
#include "softhca/front/process/client.h"
#include "softhca/front/process/holder/flush.h"

enum {
	WINDOW = 4096,     /* bytes of a ring read at once, as each read is a system call */
	CONTROL_BYTES = 8, /* first bytes of a WQE that are read */
	BUCKETS = 1 << 12,
	NO_QP = -1,
};

struct cq_rest {
	bool is_known; /* pi is */
	uint32_t pi;   /* index of the next CQE to write; has 24 bits, like the consumer index */
};

/* 16-bit indices: blocks of the send queue, WQEs of the receive queue. */
struct qp_rest {
	int32_t next_in_bucket;
	bool send_known, recv_known;
	uint16_t send_ci, recv_ci; /* indices of the oldest WQEs that are not complete */
};

/* The memory of a program, opened once for all of its queues. The descriptor stays with that
 * address space, even if another process gets the program's PID later. */
struct owner_memory {
	int32_t pid;
	int bytes;
};

struct flush {
	struct epitaph_table *table;
	struct owner_memory *owners;
	size_t num_owners;
	bool is_short; /* descriptors or memory lacked, so some CQs are not learned yet */
	struct cq_rest *cq;
	struct qp_rest *qp;
	int32_t bucket[BUCKETS]; /* QPs, hashed by key */
};

/* ---- memory of programs ---- */

static bool has_file_open(const struct epitaph_owner *owner)
{
	struct stat st;

	return !client_fd_stat(owner->pid, owner->fd, &st) && st.st_dev == owner->dev &&
	       st.st_ino == owner->ino;
}

/* Opens the owner's memory, then checks that its PID still has the owner's file open. In this
 * order, if the PID is reused in between, the descriptor is of the process that has ended, not of
 * the new one. */
static int owner_open(const struct epitaph_owner *owner)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", owner->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || has_file_open(owner))
		return fd;
	close(fd);
	errno = ESRCH;
	return -1;
}

/* Returns a descriptor, or -1 with errno. */
static int memory_of(struct flush *flush, const struct epitaph_owner *owner)
{
	struct owner_memory *more;
	int bytes;

	for (size_t i = 0; i < flush->num_owners; i++)
		if (flush->owners[i].pid == owner->pid)
			return flush->owners[i].bytes;
	more = reallocarray(flush->owners, flush->num_owners + 1, sizeof(*more));
	if (!more)
		return -1;
	flush->owners = more;
	bytes = owner_open(owner);
	if (bytes >= 0)
		more[flush->num_owners++] = (struct owner_memory){ owner->pid, bytes };
	return bytes;
}

static bool is_shortage(int error)
{
	return error == EMFILE || error == ENFILE || error == ENOMEM;
}

/* Reads memory of the entry's program. EAGAIN: the holder lacks descriptors or memory of its own to
 * open it, so a later read may succeed. */
static int memory_read(struct flush *flush, const struct epitaph_entry *entry, uint64_t addr,
		       void *buf, size_t len)
{
	const int bytes = memory_of(flush, &entry->owner);

	if (bytes < 0)
		return is_shortage(errno) ? EAGAIN : EFAULT;
	return pread(bytes, buf, len, (off_t)addr) == (ssize_t)len ? 0 : EFAULT;
}

static int memory_write(struct flush *flush, const struct epitaph_entry *entry, uint64_t addr,
			const void *buf, size_t len)
{
	const int bytes = memory_of(flush, &entry->owner);

	return pwrite(bytes, buf, len, (off_t)addr) == (ssize_t)len ? 0 : EFAULT;
}

/* ---- the ring of a CQ ---- */

/* A part of a ring, read at once. */
struct window {
	struct flush *flush;
	const struct epitaph_cq *cq;
	uint32_t first, count;
	uint8_t bytes[WINDOW];
};

static uint32_t slot_of(const struct epitaph_cq *cq, uint32_t index)
{
	return index & (cq->entries - 1);
}

static uint64_t cqe_addr(const struct epitaph_cq *cq, uint32_t index)
{
	return cq->ring + (uint64_t)(slot_of(cq, index) + 1) * cq->cqe_size - PRM_CQE_SIZE;
}

/* Returns the CQE with INDEX, or NULL if the program's memory cannot be read. */
static const uint8_t *window_cqe(struct window *window, uint32_t index)
{
	const struct epitaph_cq *cq = window->cq;
	uint32_t slot = slot_of(cq, index), fit = WINDOW / cq->cqe_size;

	if (fit > cq->entries)
		fit = cq->entries;
	if (!window->count || slot - window->first >= window->count) {
		window->first = slot & ~(fit - 1);
		window->count = fit;
		if (memory_read(window->flush, &cq->entry,
				cq->ring + (uint64_t)window->first * cq->cqe_size, window->bytes,
				(size_t)fit * cq->cqe_size))
			return NULL;
	}
	return window->bytes + (size_t)(slot - window->first + 1) * cq->cqe_size - PRM_CQE_SIZE;
}

static uint32_t owner_bit(const struct epitaph_cq *cq, uint32_t index)
{
	return !!(index & cq->entries);
}

/* Returns whether software owns the CQE. PRM: CQE ownership */
static bool is_software_owned(const struct epitaph_cq *cq, const uint8_t *cqe, uint32_t index)
{
	return fld_get(cqe, CQE_OWNER) == owner_bit(cq, index) &&
	       fld_get(cqe, CQE_OPCODE) != CQE_OP_INVALID;
}

static int read_word(struct flush *flush, const struct epitaph_entry *entry, uint64_t addr,
		     uint32_t *word)
{
	uint32_t raw;
	int ret = memory_read(flush, entry, addr, &raw, sizeof(raw));

	if (!ret)
		*word = be32toh(raw);
	return ret;
}

static int find_producer(struct window *window, uint32_t *pi)
{
	const struct epitaph_cq *cq = window->cq;
	uint32_t ci, n;
	int ret = read_word(window->flush, &cq->entry, cq->dbrec, &ci);

	if (ret)
		return ret;
	for (n = 0; n < cq->entries; n++) {
		const uint8_t *cqe = window_cqe(window, ci + n);

		if (!cqe)
			return EFAULT;
		if (!is_software_owned(cq, cqe, ci + n))
			break;
	}
	*pi = (ci + n) & PRM_CI_MASK;
	return 0;
}

static uint32_t key_of(const struct epitaph_qp *qp)
{
	return qp->by_index ? qp->user_index : qp->qpn;
}

static struct qp_rest *find_by(struct flush *flush, bool by_index, uint32_t key, uint32_t cq,
			       bool is_send)
{
	int32_t i = flush->bucket[key % BUCKETS];

	for (; i != NO_QP; i = flush->qp[i].next_in_bucket) {
		const struct epitaph_qp *qp = &flush->table->qp[i];

		/* Adapters use the same QP numbers, so only the CQ tells which QP it is. */
		if (qp->by_index == by_index && key_of(qp) == key &&
		    (is_send ? qp->send_cq : qp->recv_cq) == cq)
			return &flush->qp[i];
	}
	return NULL;
}

static struct qp_rest *find_qp(struct flush *flush, const uint8_t *cqe, uint32_t cq, bool is_send)
{
	struct qp_rest *rest = find_by(flush, true, fld_get(cqe, CQE_USER_INDEX), cq, is_send);

	return rest ? rest : find_by(flush, false, fld_get(cqe, CQE_QPN), cq, is_send);
}

/* Returns whether a CQE, AGO entries before the producer index, was written since the QP last
 * started. */
static bool is_since(uint32_t pi, uint32_t since, uint32_t ago)
{
	return ago <= ((pi - since) & PRM_CI_MASK);
}

/* Sets the index of the QP's oldest incomplete WQE from a CQE. CQEs are read from the newest to the
 * oldest, so ignores CQEs of a QP whose index is known. */
static void learn_completion(struct flush *flush, uint32_t cq, const uint8_t *cqe, uint32_t ago)
{
	uint32_t opcode = fld_get(cqe, CQE_OPCODE), pi = flush->cq[cq].pi;
	bool is_send = opcode == CQE_OP_REQ || opcode == CQE_OP_REQ_ERR;
	struct qp_rest *rest = find_qp(flush, cqe, cq, is_send);
	const struct epitaph_qp *qp;

	if (!rest || opcode == CQE_OP_INVALID)
		return;
	qp = &flush->table->qp[rest - flush->qp];
	if (is_send && !rest->send_known && is_since(pi, qp->send_since, ago)) {
		rest->send_known = true;
		rest->send_ci = fld_get(cqe, CQE_WQE_COUNTER) + 1;
	} else if (!is_send && !rest->recv_known && is_since(pi, qp->recv_since, ago)) {
		rest->recv_known = true;
		rest->recv_ci = fld_get(cqe, CQE_WQE_COUNTER) + 1;
	}
}

/* Returns whether the holder has learned CQ and its ring still has all CQEs from index SINCE on. */
static bool has_all_since(const struct flush *flush, uint32_t cq, uint32_t since)
{
	const struct cq_rest *rest = &flush->cq[cq];

	return rest->is_known && ((rest->pi - since) & PRM_CI_MASK) <= flush->table->cq[cq].entries;
}

/* Marks the indices of QPs without CQEs as known: a QP that started within the ring's current lap,
 * and has no CQE there, has completed nothing, so its index is 0. */
static void learn_from_silence(struct flush *flush)
{
	for (uint32_t i = 0; i < flush->table->qps; i++) {
		const struct epitaph_qp *qp = &flush->table->qp[i];
		struct qp_rest *rest = &flush->qp[i];

		if (!qp->entry.valid)
			continue;
		rest->send_known |= has_all_since(flush, qp->send_cq, qp->send_since);
		rest->recv_known |= has_all_since(flush, qp->recv_cq, qp->recv_since);
	}
}

static void learn_from_cq(struct flush *flush, uint32_t i)
{
	struct epitaph_cq *cq = &flush->table->cq[i];
	struct window window = { .flush = flush, .cq = cq };
	const uint8_t *cqe;
	int ret = find_producer(&window, &flush->cq[i].pi);

	if (ret == EAGAIN) {
		flush->is_short = true;
		return;
	}
	if (ret) {
		cq->entry.valid = 0;
		return;
	}
	flush->cq[i].is_known = true;
	for (uint32_t ago = 1; ago <= cq->entries; ago++) {
		cqe = window_cqe(&window, flush->cq[i].pi - ago);
		if (!cqe)
			return;
		learn_completion(flush, i, cqe, ago);
	}
}

/* Writes a CQE. Writes its last byte, which has the ownership bit, after the rest, as the program
 * may be polling. */
static int write_cqe(struct flush *flush, const struct epitaph_cq *cq, uint32_t index,
		     const uint8_t *cqe)
{
	uint64_t addr = cqe_addr(cq, index);

	if (memory_write(flush, &cq->entry, addr, cqe, PRM_CQE_SIZE - 1))
		return EFAULT;
	return memory_write(flush, &cq->entry, addr + PRM_CQE_SIZE - 1, cqe + PRM_CQE_SIZE - 1, 1);
}

/* Adds a CQE to the CQ. Returns 0, ENOSPC if the CQ is full, or EFAULT if the program's memory is
 * gone. */
static int cqe_complete(struct flush *flush, uint32_t cq_index, uint8_t *cqe)
{
	const struct epitaph_cq *cq = &flush->table->cq[cq_index];
	struct cq_rest *rest = &flush->cq[cq_index];
	uint32_t ci;

	if (!cq->entry.valid || read_word(flush, &cq->entry, cq->dbrec, &ci))
		return EFAULT;
	if (((rest->pi - ci) & PRM_CI_MASK) >= cq->entries)
		return ENOSPC;
	fld_set(cqe, CQE_OWNER, owner_bit(cq, rest->pi));
	if (write_cqe(flush, cq, rest->pi, cqe))
		return EFAULT;
	rest->pi = (rest->pi + 1) & PRM_CI_MASK;
	return 0;
}

static void fill_cqe(const struct epitaph_qp *qp, uint32_t opcode, uint16_t counter, uint8_t *cqe)
{
	memset(cqe, 0, PRM_CQE_SIZE);
	fld_set(cqe, CQE_USER_INDEX, qp->user_index);
	fld_set(cqe, CQE_VENDOR_SYNDROME, VEND_FLUSH);
	fld_set(cqe, CQE_SYNDROME, SYND_FLUSH);
	fld_set(cqe, CQE_QPN, qp->qpn);
	fld_set(cqe, CQE_WQE_COUNTER, counter);
	fld_set(cqe, CQE_OPCODE, opcode);
}

/* Finds the first WQE from *INDEX to END, and its opcode. A WQE contains its index and QP number; a
 * block without these is a later part of a WQE, or from an earlier lap. */
static int find_wqe(struct flush *flush, const struct epitaph_qp *qp, uint16_t *index, uint16_t end,
		    uint8_t *opcode)
{
	uint8_t control[CONTROL_BYTES];

	for (; *index != end; ++*index) {
		uint32_t slot = *index & (qp->sq_blocks - 1);

		if (memory_read(flush, &qp->entry, qp->sq + (uint64_t)slot * WQE_BB, control,
				sizeof(control)))
			return EFAULT;
		if (fld_get(control, CTRL_INDEX) != *index || fld_get(control, CTRL_QPN) != qp->qpn)
			continue;
		*opcode = fld_get(control, CTRL_OPCODE);
		return 0;
	}
	return ENOENT;
}

static bool flush_sends(struct flush *flush, const struct epitaph_qp *qp, struct qp_rest *rest)
{
	uint8_t cqe[PRM_CQE_SIZE], opcode;
	bool was_busy = false;
	uint32_t posted;

	if (!qp->sq_blocks || !rest->send_known ||
	    read_word(flush, &qp->entry, qp->dbrec + FLD_BYTE(QP_DBREC_SEND), &posted))
		return false;
	/* The record is nonsense, so the program uses this memory for something else now. */
	if ((uint16_t)(posted - rest->send_ci) > qp->sq_blocks)
		return false;
	while (!find_wqe(flush, qp, &rest->send_ci, posted, &opcode)) {
		fill_cqe(qp, CQE_OP_REQ_ERR, rest->send_ci, cqe);
		fld_set(cqe, CQE_SEND_OPCODE, opcode);
		if (cqe_complete(flush, qp->send_cq, cqe))
			return was_busy;
		rest->send_ci++;
		was_busy = true;
	}
	return was_busy;
}

static bool flush_receives(struct flush *flush, const struct epitaph_qp *qp, struct qp_rest *rest)
{
	uint8_t cqe[PRM_CQE_SIZE];
	bool was_busy = false;
	uint32_t posted;

	if (!qp->rq_wqes || !rest->recv_known || read_word(flush, &qp->entry, qp->dbrec, &posted))
		return false;
	if ((uint16_t)(posted - rest->recv_ci) > qp->rq_wqes)
		return false;
	while (rest->recv_ci != (uint16_t)posted) {
		fill_cqe(qp, CQE_OP_RESP_ERR, rest->recv_ci, cqe);
		if (cqe_complete(flush, qp->recv_cq, cqe))
			return was_busy;
		rest->recv_ci++;
		was_busy = true;
	}
	return was_busy;
}

/* Returns whether ENTRY is valid and its owner still has the device file open. Keeps the last owner
 * and result in *ASKED and *ANSWER, as entries of one program are mostly adjacent. */
static bool is_left(struct epitaph_entry *entry, struct epitaph_owner *asked, bool *answer)
{
	if (!entry->valid)
		return false;
	if (memcmp(&entry->owner, asked, sizeof(*asked))) {
		*asked = entry->owner;
		*answer = has_file_open(asked);
	}
	entry->valid = *answer;
	return *answer;
}

/* Learns from all CQs that are not yet known. The holder has flushed nothing to these, so they are
 * as the daemon left them. */
static void learn(struct flush *flush)
{
	struct epitaph_table *table = flush->table;
	struct epitaph_owner asked = { 0 };
	bool answer = false;

	flush->is_short = false;
	for (uint32_t i = 0; i < table->cqs; i++)
		if (!flush->cq[i].is_known && is_left(&table->cq[i].entry, &asked, &answer))
			learn_from_cq(flush, i);
	learn_from_silence(flush);
}

bool flush_all(struct flush *flush, bool *was_busy)
{
	struct epitaph_owner asked = { 0 };
	bool answer = false, any_left = false;

	if (flush->is_short)
		learn(flush);
	*was_busy = false;
	for (uint32_t i = 0; i < flush->table->qps; i++) {
		struct epitaph_qp *qp = &flush->table->qp[i];

		if (!is_left(&qp->entry, &asked, &answer))
			continue;
		any_left = true;
		if (!qp->has_started)
			continue;
		*was_busy |= flush_sends(flush, qp, &flush->qp[i]);
		*was_busy |= flush_receives(flush, qp, &flush->qp[i]);
	}
	return any_left;
}

static void forget_handle(struct epitaph_entry *entry, const struct stat *file, uint32_t handle)
{
	if (entry->handle == handle && entry->owner.ino == file->st_ino &&
	    entry->owner.dev == file->st_dev)
		entry->valid = 0;
}

void flush_forget(struct flush *flush, const struct stat *file, uint32_t handle)
{
	for (uint32_t i = 0; i < flush->table->cqs; i++)
		forget_handle(&flush->table->cq[i].entry, file, handle);
	for (uint32_t i = 0; i < flush->table->qps; i++)
		forget_handle(&flush->table->qp[i].entry, file, handle);
}

static void sort_into_buckets(struct flush *flush)
{
	for (unsigned int i = 0; i < BUCKETS; i++)
		flush->bucket[i] = NO_QP;
	for (uint32_t i = 0; i < flush->table->qps; i++) {
		int32_t *bucket = &flush->bucket[key_of(&flush->table->qp[i]) % BUCKETS];

		if (!flush->table->qp[i].entry.valid)
			continue;
		flush->qp[i].next_in_bucket = *bucket;
		*bucket = i;
	}
}

void flush_end(struct flush *flush)
{
	for (size_t i = 0; i < flush->num_owners; i++)
		close(flush->owners[i].bytes);
	free(flush->owners);
	free(flush->qp);
	free(flush->cq);
	free(flush);
}

int flush_begin(struct epitaph_table *table, struct flush **out)
{
	struct flush *flush = calloc(1, sizeof(*flush));

	if (!flush)
		return ENOMEM;
	flush->table = table;
	flush->cq = calloc(table->cqs + 1, sizeof(*flush->cq));
	flush->qp = calloc(table->qps + 1, sizeof(*flush->qp));
	if (!flush->cq || !flush->qp)
		goto free_flush;
	sort_into_buckets(flush);
	learn(flush);
	*out = flush;
	return 0;
free_flush:
	flush_end(flush);
	return ENOMEM;
}
