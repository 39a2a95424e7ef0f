/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * mkey.h - memory keys: access rights, translations (xlt.c), and the work requests that change keys
 * (umr.c).
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
	/* Not a right but a demand of the caller: neither the key nor the keys that it refers to
	 * may sign or encrypt. */
	MKEY_PLAIN = 1 << 5,
};

/* What a key translates to: physical addresses (PA), a list of pages (MTT), pieces of other keys
 * (KLMS), pages of other keys (KSM), memory on the adapter (MEMIC), or the adapter's memory for
 * steering entries (ICM). */
enum mkey_mode { MKEY_PA, MKEY_MTT, MKEY_KLMS, MKEY_KSM, MKEY_MEMIC, MKEY_ICM };

enum { MKEY_ANY_QP = 0xffffff, MKEY_BSF_MAX = 128 };

/* Returns whether a range wraps beyond the last address. It may end exactly there. */
static inline bool mkey_range_wraps(uint64_t start, uint64_t len)
{
	return len && start + (len - 1) < start;
}

/* A piece of memory in a key that is made of other keys (KLM, KSM). */
struct klm {
	uint64_t offset; /* from the start of the list */
	uint64_t len;
	uint32_t key;
	uint64_t addr;
	uint32_t stride; /* bytes from one repetition of the piece in a pattern to the next */
};

/* A list of pieces, repeated COUNT times. BYTES is 0 for a plain list. */
struct klm_pattern {
	uint64_t bytes; /* bytes of one repetition */
	uint64_t count;
};

struct mkey {
	uint32_t n; /* table index, without the variant byte */
	/* index and variant byte, as in WQEs; mkey_check() compares all of it, so a key of an
	 * earlier variant is refused */
	uint32_t key;
	struct pd *pd; /* NULL: a key of the adapter itself, valid in any domain */
	unsigned int access;
	enum mkey_mode mode;
	bool whole; /* length64: covers all addresses */
	bool free;  /* the key allows nothing until a UMR enables it; set again by invalidation */
	bool umr_enabled;
	bool may_invalidate;
	bool may_bind;             /* windows may be bound to it; valid if mlx4 or is_region */
	bool is_region, is_window; /* set only by a front that emulates the driver */
	bool fast_reg;             /* mlx4: a kernel driver's requests set its pages */
	uint32_t windows;
	/* of a bound window: its region, which cannot be destroyed before the window as WINDOWS
	 * counts it; else NULL */
	struct mkey *bound_to;
	bool on_demand;
	struct odp odp;
	bool sink;    /* null key: reads give zeroes, writes are dropped */
	uint32_t qpn; /* the only QP with remote access to the key, or MKEY_ANY_QP */
	uint64_t start, len;
	/* MEMIC, ICM: the adapter's address of the key's first byte, which is the key's address
	 * 0 */
	uint64_t device_at;
	struct memic_block *memic;
	struct ste_block *ste_block;
	unsigned int page_shift;
	/* The translation table, as software wrote it. Kept because a UMR may replace a part of the
	 * table; map or klm are made from it at the first use after a change. */
	uint8_t *xlt;           /* NULL: empty, or map was set directly; xlt_free() frees it */
	uint32_t xlt_octowords; /* capacity */
	bool xlt_changed;
	struct dma_map map; /* MTT */
	struct umem *umem;  /* owner of the memory in map; NULL: map is from a page list */
	struct klm *klm;
	uint32_t klms;
	struct klm_pattern pattern;
	bool must_encrypt; /* unusable until it has encryption parameters */
	struct crypt crypt;
	/* first bytes of a unit whose rest has not arrived; NULL: none yet. mkey_free() frees it */
	struct crypt_part *crypt_part;
	struct sig sig;
	struct sig_state sig_state;
	struct sig_count sig_count;
	LIST_ENTRY(mkey) in_sig_failed; /* on hca->sig_failed while sig_state.unreported is set */
	/* Byte stream format that software wrote: parameters of signatures and encryption */
	uint8_t bsf[MKEY_BSF_MAX];
	uint8_t context[KEY_CONTEXT_MAX];
};

/* Returns the key at the table index in KEY, or NULL. Compares no variant byte; mkey_check()
 * does. */
struct mkey *mkey_find(const struct hca *hca, uint32_t key);
/* Returns the memory key if it allows ACCESS to LEN bytes at ADDR, or NULL. PD NULL skips the check
 * of the domain, for the queue that changes memory keys. Keys that an indirect key refers to need
 * only local rights, as the peer does not know them. */
struct mkey *mkey_check(struct hca *hca, uint32_t key, const struct pd *pd, unsigned int access,
			uint64_t addr, uint64_t len);
bool mkey_holds(const struct mkey *mkey, uint64_t addr, uint64_t len);
/* Adds bytes of a key, which the caller has checked, to a transfer. It checks no rights itself. */
int mkey_dma(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len);
/* Returns whether the key signs or encrypts, so that a transfer changes the bytes. */
static inline bool mkey_computes(const struct mkey *mkey)
{
	return mkey->sig.on || mkey->crypt.on;
}

/* Adds bytes of the keys that an indirect key refers to, without signing or encrypting them. */
int mkey_dma_pieces(struct dma_batch *batch, struct mkey *mkey, uint64_t addr, uint64_t len);
/* Binds a window to REGION, or unbinds it if REGION is NULL. The region counts its windows, so that
 * it is not destroyed before them. */
void mkey_bind(struct mkey *window, struct mkey *region);
void mkey_invalidate(struct mkey *mkey);
void mkey_free(struct mkey *mkey);

enum { XLT_OCTOWORDS_MAX = 1 << 20, XLT_OCTOWORD = 16, LOG_MAX_KLMS = 16 };

/* Stores LEN bytes at OFFSET of the table. Returns 0, EINVAL if the table ends earlier, or
 * ENOMEM. */
int xlt_write(struct mkey *mkey, uint64_t offset, const void *bytes, size_t len);
/* Makes a key of mode KLMS translate to LEN bytes at ADDR of KEY. Returns 0, or ENOMEM with nothing
 * changed. */
int xlt_set_piece(struct mkey *mkey, uint32_t key, uint64_t addr, uint64_t len);
/* Brings map or klm up to date with the table. Returns 0 or EFAULT. */
int xlt_prepare(struct mkey *mkey);
/* Finds the piece of an indirect key at ADDR, and how many of LEN bytes it covers. Returns false if
 * there is none. */
bool xlt_piece(const struct mkey *mkey, uint64_t addr, uint64_t len, struct klm *piece);
void xlt_free(struct mkey *mkey);

/* Returns the key if a peer's SEND with invalidate that arrives at QPN may invalidate it, or
 * NULL. */
struct mkey *mkey_to_invalidate(struct hca *hca, uint32_t key, const struct pd *pd, uint32_t qpn);

#endif
