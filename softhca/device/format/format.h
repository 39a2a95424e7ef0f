/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format.h - the interface to one kind of adapter: the layout of its WQEs, CQEs, EQEs and
 * doorbells.
 *
 * Queues, keys, transport and packets use struct send_wqe, struct completion and struct event; a
 * format converts these from and to bytes. The numbers in them (enum wqe_opcode, cqe_opcode,
 * cqe_syndrome, prm_event) are mlx5's; mlx4 has the same, except for the opcodes of received CQEs.
 * Commands are not part of it: the mailboxes of the kinds differ so much that each has its own
 * entry and table. An adapter keeps its format from its creation on. Each call handles a whole WQE,
 * CQE or EQE, so its indirection costs little.
 */
#ifndef SOFTHCA_DEVICE_FORMAT_FORMAT_H
#define SOFTHCA_DEVICE_FORMAT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prm/mlx5/eqe.h"
#include "prm/mlx5/wqe.h"
#include "softhca/device/fabric.h"

struct completion;
struct datagram_to;
struct eth_arrival;
struct eth_sq;
struct frame_completion;
struct frame_send;
struct hca;
struct mkey;
struct qp;
struct recv_wqe;
struct send_wqe;
struct trace;
struct uar;

/* The format's commands keep the context that software wrote with its object, because software may
 * query it. No other code reads a context. */
enum {
	CONTEXT_MAX = 320,
	KEY_CONTEXT_MAX = 64,
};

enum {
	CQE_MAX = 128, /* largest CQE, with the padding in front of it */
	EQE_MAX = 64,
};

/* Properties of a CQE that do not depend on its completion. */
struct cqe_place {
	uint32_t size; /* distance between CQEs in the ring */
	uint32_t qpn;
	uint32_t user_index; /* number by which software looks the queue up */
	uint64_t time;
	bool has_time; /* mlx4: the CQ has timestamps */
	bool owner;    /* ownership bit of this lap of the ring */
};

struct event {
	enum prm_event type;
	uint32_t number; /* of the QP, SRQ or CQ concerned */
	uint8_t detail;  /* a CQ's syndrome, or the kind of change at a port */
	unsigned int port;
	int32_t pages;     /* requested */
	uint32_t commands; /* bit mask of completed commands */
	uint64_t result;   /* mlx4: output of the completed command */
};

/* What the parts of a compressed run tell about received messages, as software chose. */
struct run_format {
	bool has_hash;  /* a hash, instead of a checksum */
	bool has_index; /* and the WQE's index */
};

/* An arm request of a CQ: an event for CQEs from CI on. */
struct cq_arm {
	bool solicited_only;
	uint32_t ci;
	uint8_t sn;        /* number of the requested event */
	uint32_t reserved; /* bits that are set but must be 0 */
};

struct format {
	/* create() makes the state of the format's commands, and the memory keys that an adapter
	 * has from the start. Returns 0, ENOSPC or ENOMEM. destroy() frees them. */
	int (*create)(struct hca *hca);
	void (*destroy)(struct hca *hca);
	bool software_numbers; /* software numbers the objects, from 0 on (mlx4) */
	/* Returns the bytes of the WQE at RAW in its ring; 0: the WQE is not valid. */
	uint32_t (*wqe_size)(const uint8_t *raw);
	/* Clears in a copy of a WQE the bits that software may still change after the post: only a
	 * BlueFlame register uses them. NULL: the layout has no such bits. */
	void (*wqe_clear_bell)(uint8_t *raw);
	bool wqe_is_block; /* a send WQE is never longer than a basic block */
	/* Returns whether software has posted the send WQE at RAW in this lap of the ring. NULL:
	 * the doorbell record tells, not the WQE. */
	bool (*send_is_posted)(const uint8_t *raw, bool odd_lap);
	uint8_t (*wqe_opcode)(const uint8_t *raw);
	uint16_t (*wqe_stream)(const uint8_t *raw); /* the DC stream of the request */
	uint32_t (*umr_key)(const uint8_t *raw);    /* the memory key that a UMR changes */
	/* Executes the UMR of LEN bytes for QP, whose layout only the format knows. Returns 0 or
	 * the vendor syndrome. */
	int (*execute_umr)(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);
	/* Executes a UMR for a frame queue that the driver allows to. */
	int (*execute_frame_umr)(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw,
				 size_t len);
	/* Decodes a send WQE of BBS blocks at RAW. Returns 0 or the vendor syndrome. */
	int (*decode_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
			   enum fabric_service service, struct send_wqe *wqe);
	/* Decodes a WQE of a management QP in which software wrote the packet headers, and makes
	 * the AV from these. NULL: such QPs have ordinary WQEs. */
	int (*decode_special)(const struct hca *hca, const struct qp *qp, const uint8_t *raw,
			      uint16_t index, struct send_wqe *wqe);
	bool tells_pkey_index; /* CQEs of QP1 have the P_Key's index, not the P_Key */
	/* Decodes the address vector of a datagram; ROCE tells the link layer. */
	void (*decode_av)(const uint8_t *av, bool roce, struct datagram_to *to);
	void (*decode_recv)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
	/* Decodes a WQE of an SRQ. Returns the index of its successor. */
	uint16_t (*decode_srq)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
	/* Return whether a WQE has the right signature, which queues may demand. A receive WQE
	 * begins with recv_signature_size bytes for it; the signature depends on the queue's number
	 * N and the WQE's INDEX. */
	bool (*send_is_signed)(const uint8_t *raw);
	bool (*recv_is_signed)(const uint8_t *raw, uint32_t stride, uint32_t n, uint16_t index);
	uint32_t recv_signature_size;
	uint32_t striding_head; /* bytes before the buffers in a striding queue's WQE */
	/* Returns the successor of a WQE in a linked striding queue. */
	uint16_t (*striding_next)(const uint8_t *head);
	/* Delivers a frame to its queues. NULL: flow tables decide. */
	void (*steer)(struct hca *hca, struct eth_arrival *arrival);
	/* Gives a copy of a frame that leaves the port to sniffers. NULL: there are none. */
	void (*sniff)(struct hca *hca, struct eth_arrival *arrival);
	/* First numbers of frame queues; QP numbers end before them. */
	uint32_t first_frame_sq, first_frame_rq;
	/* Decode WQEs of frame queues. */
	int (*decode_frame_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
				 struct frame_send *send);
	/* Decodes a WQE of a frame queue that sends datagrams in the name of another QP. */
	int (*decode_underlay_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
				    struct frame_send *send, struct datagram_to *to);
	void (*decode_frame_recv)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);

	/* Encodes a CQE into PLACE->size zeroed bytes. Returns how many bytes at their end are
	 * used. */
	uint32_t (*encode_cqe)(const struct cqe_place *place, const struct completion *done,
			       uint8_t *slot);
	/* Encodes a frame's CQE into CQE_SIZE zeroed bytes, without the ownership bit. PLACE->qpn
	 * is the queue's number. */
	void (*encode_frame_cqe)(const struct cqe_place *place, const struct frame_completion *done,
				 uint8_t *cqe);
	/* Encodes the CQE that ends the old ring when a CQ is resized, in the last CQE_SIZE
	 * bytes. */
	void (*encode_ring_end)(uint8_t *cqe);
	/* Encodes the CQE for a signature error, from KEY's state, into CQE_SIZE zeroed bytes. */
	void (*encode_sig_error)(const struct mkey *key, uint32_t qpn, uint8_t *cqe);
	void (*set_cqe_owner)(uint8_t *cqe, bool owner);
	/* Sets the lap's number instead, where software compares that. */
	void (*set_cqe_lap)(uint8_t *cqe, uint8_t lap);
	/* Returns whether software takes this CQE for a new one in a lap with ownership bit
	 * OWNER. */
	bool (*is_software_cqe)(const uint8_t *cqe, bool owner);
	bool fills_cq;     /* the adapter initialises the ownership bits of a new ring */
	uint32_t cqe_size; /* bytes of a CQE, without padding in front */
	/* For a CQ that compresses runs of completions; see queue/cq_run.h. can_compress() returns
	 * whether a CQE may be in a run. follows() returns whether it may follow LAST in the run
	 * that began with TITLE: it may differ from the title only in the fields of a part.
	 * encode_part() writes a part of cqe_part_size bytes. encode_title() turns the first CQE
	 * into one that announces COUNT parts. encode_block() writes what follows COUNT parts in a
	 * block. */
	bool (*can_compress)(const uint8_t *cqe);
	bool (*follows)(const uint8_t *title, const uint8_t *last, const uint8_t *cqe);
	void (*encode_part)(const struct run_format *format, const uint8_t *cqe, uint8_t *part);
	void (*encode_title)(uint8_t *cqe, uint32_t count);
	void (*encode_block)(uint8_t *block, uint32_t count);
	uint32_t cqe_part_size;

	void (*encode_eqe)(const struct event *event, uint8_t *eqe);
	void (*set_eqe_owner)(uint8_t *eqe, bool owner);
	uint32_t eqe_size;

	uint32_t xrc_target_mark; /* bit in the numbers of XRC target QPs */
	/* A QP's rings share its buffer. The receive ring is first; or, if this is set, the ring
	 * with the larger WQEs, and the send ring if they are equal. */
	bool larger_ring_first;
	/* Offsets in doorbell records: posted receives and send blocks of a QP, consumer index and
	 * arm word of a CQ. */
	uint32_t dbrec_recv, dbrec_send, dbrec_ci, dbrec_arm;
	uint32_t dbrec_align; /* alignment of doorbell records of QPs and SRQs */
	struct cq_arm (*decode_arm)(uint32_t word_be);
	uint8_t first_arm; /* number of the first event that software requests */
	/* Takes a write of VALUE_BE at OFFSET of a UAR page. The caller holds the lock. */
	void (*ring)(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
	/* Return the number of the send queue, or of the CQ, that a doorbell VALUE_BE names. */
	uint32_t (*rung_sq)(uint64_t value_be);
	uint32_t (*rung_cq)(uint64_t value_be);

	/* Trace WQEs, CQEs and EQEs. opcode_name() names a send WQE's opcode. */
	void (*trace_send)(struct trace *trace, uint32_t qpn, uint32_t index, const uint8_t *wqe,
			   size_t len);
	void (*trace_cqe)(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t *cqe);
	void (*trace_eqe)(struct trace *trace, uint32_t eqn, const uint8_t *eqe);
	const char *(*opcode_name)(uint8_t opcode);

	/* For strict adapters: report wrong bytes in a WQE or doorbell. The state of a doorbell
	 * page exists from judge_page() to forget_page(), which a format need not have.
	 * judge_write() checks a write by software and returns whether an adapter would act on it;
	 * judge_found() checks a value that polling found at OFFSET. */
	void (*judge_page)(struct uar *uar);
	void (*forget_page)(struct hca *hca, struct uar *uar);
	bool (*judge_write)(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
			    size_t len);
	void (*judge_found)(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
	void (*judge_send)(struct hca *hca, const struct qp *qp, uint16_t index,
			   const uint8_t *raw);
	/* Checks WQEs when send_is_posted() has found the end of the posted ones, now in sq.pi. May
	 * be NULL. */
	void (*judge_posted)(struct hca *hca, const struct qp *qp);
	/* Check the WQE at RAW, and the posted WQEs, of a frame queue. Either may be NULL. */
	void (*judge_frame)(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw);
	void (*judge_frames_posted)(struct hca *hca, const struct eth_sq *sq);
};

#endif
