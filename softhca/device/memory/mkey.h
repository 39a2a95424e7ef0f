/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.h - memory keys: what they allow, what they translate to (xlt.c), and the work requests that
 * change them (umr.c).
 */
#ifndef SOFTHCA_DEVICE_MEMORY_MKEY_H
#define SOFTHCA_DEVICE_MEMORY_MKEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "softhca/device/format/format.h"
#include "softhca/device/memory/crypt.h"
#include "softhca/device/memory/dma.h"
#include "softhca/device/memory/odp.h"
#include "softhca/device/memory/sig.h"

struct hca;
struct pd;
struct qp;
struct send_wqe;
struct umem;

enum mkey_access {
	MKEY_LOCAL_READ = 1 << 0,
	MKEY_LOCAL_WRITE = 1 << 1,
	MKEY_REMOTE_READ = 1 << 2,
	MKEY_REMOTE_WRITE = 1 << 3,
	MKEY_REMOTE_ATOMIC = 1 << 4,
	/* No right of a key, but a demand on it and on those below it: that they do not compute. */
	MKEY_PLAIN = 1 << 5,
};

/* A key stands for physical addresses, a list of pages, pieces of other keys, pages of other keys,
 * or memory of the adapter's own. */
enum mkey_mode { MKEY_PA, MKEY_MTT, MKEY_KLMS, MKEY_KSM, MKEY_MEMIC };

enum { MKEY_ANY_QP = 0xffffff, MKEY_BSF_MAX = 128 };

/* Returns whether a key's range goes beyond the last address; it may end there. */
static inline bool mkey_range_wraps(uint64_t start, uint64_t len)
{
	return len && start + (len - 1) < start;
}

/* A klm is a piece of memory that a key made of other keys (KLM, KSM) stands for. */
struct klm {
	uint64_t offset; /* from the start of the list */
	uint64_t len;
	uint32_t key;
	uint64_t addr;
	uint32_t stride; /* from one repetition of the pattern to the next */
};

/* A pattern is a list that is gone through COUNT times; a list that is none has BYTES 0. */
struct klm_pattern {
	uint64_t bytes; /* of one repetition */
	uint64_t count;
};

struct mkey {
	uint32_t n;    /* index, without the variant byte */
	uint32_t key;  /* as in WQEs */
	struct pd *pd; /* NULL: of the adapter's own, good in any */
	unsigned int access;
	enum mkey_mode mode;
	bool whole; /* length64: no end */
	bool free;  /* matches nothing, until UMR says otherwise */
	bool umr_enabled;
	bool may_invalidate;
	bool may_bind;             /* windows: of mlx4, and of what is known to be a region */
	bool is_region, is_window; /* as a front that plays the driver says */
	bool fast_reg;             /* pages by requests of a kernel driver, of mlx4 */
	uint32_t windows;          /* that are bound to this region */
	struct mkey *bound_to;     /* of a window: the region, which stays as long, or NULL */
	bool on_demand;
	struct odp odp; /* of a region on demand */
	bool sink;      /* reads as zeroes, writes are lost */
	uint32_t qpn;   /* the only one that may use it from remote, or MKEY_ANY_QP */
	uint64_t start, len;
	uint64_t memic_at; /* MEMIC: where it begins; addresses count from 0 */
	struct memic_block *memic;
	unsigned int page_shift;
	/* The translations are kept as software wrote them, with what follows from them once it is
	 * asked for. */
	uint8_t *xlt;           /* NULL: none, or only map */
	uint32_t xlt_octowords; /* room */
	bool xlt_changed;
	struct dma_map map; /* MTT */
	struct umem *umem;  /* whose memory map leads to; NULL: a page list's */
	struct klm *klm;
	uint32_t klms;
	struct klm_pattern pattern;
	bool must_encrypt; /* and is of no use before it was told how */
	struct crypt crypt;
	struct crypt_part *crypt_part; /* NULL: all units have come whole */
	struct sig sig;                /* what the key computes, and how far it got */
	struct sig_state sig_state;
	struct sig_count sig_count;
	LIST_ENTRY(mkey) in_sig_failed; /* as sig_state.unreported says */
	uint8_t bsf[MKEY_BSF_MAX];      /* as software wrote it: what the key computes */
	uint8_t context[KEY_CONTEXT_MAX];
};

/* Returns what stands at a key's index, or NULL; the key may be another one. */
struct mkey *mkey_find(const struct hca *hca, uint32_t key);
/* Returns the memory key that allows ACCESS to LEN bytes at ADDR, or NULL. PD may be NULL, which
 * stands for any, for the queue that works on memory keys. */
struct mkey *mkey_check(struct hca *hca, uint32_t key, const struct pd *pd, unsigned int access,
			uint64_t addr, uint64_t len);
/* Returns whether LEN bytes at ADDR are between the key's first byte and its last. */
bool mkey_holds(const struct mkey *mkey, uint64_t addr, uint64_t len);
/* Adds bytes, which are already checked, to a transfer. */
int mkey_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len);
/* Returns whether the key's bytes are other than those of the memory below it. */
static inline bool mkey_computes(const struct mkey *mkey)
{
	return mkey->sig.on || mkey->crypt.on;
}

/* Adds bytes of the memory below a key that computes something. */
int mkey_dma_pieces(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len);
/* Binds a window to REGION, or to nothing when that is NULL. */
void mkey_bind(struct mkey *window, struct mkey *region);
void mkey_invalidate(struct mkey *mkey);
void mkey_free(struct mkey *mkey);

/* ---- xlt.c: translations of a key ---- */

enum { XLT_OCTOWORDS_MAX = 1 << 20, XLT_OCTOWORD = 16, LOG_MAX_KLMS = 16 };

/* Stores LEN bytes at OFFSET of the table. It returns 0, EINVAL beyond the table's end, or
 * ENOMEM. */
int xlt_write(struct mkey *mkey, uint64_t offset, const void *bytes, size_t len);
/* Makes a key of pieces stand for LEN bytes of another. It returns 0, or ENOMEM with nothing
 * changed. */
int xlt_set_piece(struct mkey *mkey, uint32_t key, uint64_t addr, uint64_t len);
/* Brings map or klm up to date and returns 0 or EFAULT. */
int xlt_prepare(struct mkey *mkey);
/* Finds, for a key made of keys, the part of LEN bytes from ADDR that one key holds. It returns
 * false when there is none. */
bool xlt_piece(const struct mkey *mkey, uint64_t addr, uint64_t len, struct klm *piece);
void xlt_free(struct mkey *mkey);

/* Returns the key that a SEND with invalidate from a peer may take away, or NULL. */
struct mkey *mkey_to_invalidate(struct hca *hca, uint32_t key, const struct pd *pd, uint32_t qpn);

#endif
