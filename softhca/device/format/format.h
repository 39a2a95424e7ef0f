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

/* Room in each object for its context, as software wrote it. Only the format's commands read the
 * context, to answer queries. */
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
	uint32_t size; /* bytes from one CQE of the ring to the next */
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

/* Fields that the parts (mini CQEs) of a compressed run have for received messages, as software
 * chose for the CQ. */
struct run_format {
	bool has_hash;  /* RSS hash; else a checksum */
	bool has_index; /* index of the WQE, beside the checksum */
};

/* A request to arm a CQ: software wants an event when a CQE with index CI or a later one is
 * written. */
struct cq_arm {
	bool solicited_only;
	uint32_t ci;
	uint8_t sn;        /* sequence number of the requested event */
	uint32_t reserved; /* bits that are set but must be 0 */
};

struct format {
	/* create() makes the state of the format's commands, and the memory keys that an adapter
	 * has from the start. Returns 0, ENOSPC or ENOMEM. destroy() frees them. */
	int (*create)(struct hca *hca);
	void (*destroy)(struct hca *hca);
	bool software_numbers; /* software numbers the objects, from 0 on (mlx4) */
	/* Returns how many bytes of the ring the WQE at RAW takes; 0: the WQE is not valid. */
	uint32_t (*wqe_size)(const uint8_t *raw);
	/* Clears, in a copy of a WQE, the bits that only the BlueFlame register uses. Software may
	 * change these bits after the post. NULL: the layout has no such bits. */
	void (*wqe_clear_bell)(uint8_t *raw);
	bool wqe_is_block; /* a send WQE is never longer than a basic block */
	/* Returns whether software has posted the send WQE at RAW in this lap of the ring. NULL:
	 * the doorbell record has the number of posted WQEBBs. */
	bool (*send_is_posted)(const uint8_t *raw, bool odd_lap);
	uint8_t (*wqe_opcode)(const uint8_t *raw);
	uint16_t (*wqe_stream)(const uint8_t *raw); /* the DC stream of the request */
	uint32_t (*umr_key)(const uint8_t *raw);    /* the memory key that a UMR changes */
	/* Executes for QP the UMR of LEN bytes at RAW; only the format knows the layout of a UMR.
	 * Returns 0 or the vendor syndrome. */
	int (*execute_umr)(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);
	/* Executes a UMR of a frame queue. Refuses the UMR if the driver has not allowed UMRs for
	 * SQ (sq->has_umr). */
	int (*execute_frame_umr)(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw,
				 size_t len);
	/* Decodes a send WQE of BBS blocks at RAW. Returns 0 or the vendor syndrome. */
	int (*decode_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
			   enum fabric_service service, struct send_wqe *wqe);
	/* Decodes a WQE of a management QP. Software wrote the packet headers into the WQE; the
	 * address vector is made from these. NULL: management QPs have ordinary WQEs. */
	int (*decode_special)(const struct hca *hca, const struct qp *qp, const uint8_t *raw,
			      uint16_t index, struct send_wqe *wqe);
	bool tells_pkey_index; /* CQEs of QP1 have the P_Key's index, not the P_Key */
	/* Decodes the address vector of a datagram. ROCE: the port's link layer is Ethernet. */
	void (*decode_av)(const uint8_t *av, bool roce, struct datagram_to *to);
	void (*decode_recv)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
	/* Decodes a WQE of an SRQ. Returns the index of its successor. */
	uint16_t (*decode_srq)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
	/* Return whether the signature of a WQE is right; a queue may demand signatures. A receive
	 * WQE begins with recv_signature_size bytes for its signature, which depends on the queue's
	 * number N and the WQE's INDEX. */
	bool (*send_is_signed)(const uint8_t *raw);
	bool (*recv_is_signed)(const uint8_t *raw, uint32_t stride, uint32_t n, uint16_t index);
	uint32_t recv_signature_size;
	/* bytes before the first data segment in a WQE of a striding queue */
	uint32_t striding_head;
	/* Returns the index of the WQE that follows in a linked striding queue. */
	uint16_t (*striding_next)(const uint8_t *head);
	/* Delivers a frame to its queues. NULL: flow tables choose the queues. */
	void (*steer)(struct hca *hca, struct eth_arrival *arrival);
	/* Gives a copy of a frame that leaves the port to sniffers. NULL: the flow table of type
	 * SNIFFER_TX does. */
	void (*sniff)(struct hca *hca, struct eth_arrival *arrival);
	/* First numbers of frame queues; QP numbers end before them. */
	uint32_t first_frame_sq, first_frame_rq;
	/* Decodes a send WQE of BBS blocks at RAW of a frame queue. Returns 0 or the vendor
	 * syndrome. */
	int (*decode_frame_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
				 struct frame_send *send);
	/* Decodes a send WQE of a frame queue whose datagrams seem to come from a QP
	 * (underlay.c). */
	int (*decode_underlay_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
				    struct frame_send *send, struct datagram_to *to);
	void (*decode_frame_recv)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);

	/* Encodes a CQE into PLACE->size zeroed bytes. Returns how many bytes at the end of these
	 * the CQE uses. */
	uint32_t (*encode_cqe)(const struct cqe_place *place, const struct completion *done,
			       uint8_t *slot);
	/* Encodes a frame's CQE into cqe_size zeroed bytes, without the ownership bit. PLACE->qpn
	 * is the queue's number. */
	void (*encode_frame_cqe)(const struct cqe_place *place, const struct frame_completion *done,
				 uint8_t *cqe);
	/* Encodes, into cqe_size zeroed bytes, the CQE that ends the old ring when a CQ is
	 * resized. */
	void (*encode_ring_end)(uint8_t *cqe);
	/* Encodes the CQE for a signature error, from KEY's state, into cqe_size zeroed bytes. */
	void (*encode_sig_error)(const struct mkey *key, uint32_t qpn, uint8_t *cqe);
	void (*set_cqe_owner)(uint8_t *cqe, bool owner);
	/* For CQs whose software compares a lap number, not an ownership bit: writes LAP into the
	 * CQE. */
	void (*set_cqe_lap)(uint8_t *cqe, uint8_t lap);
	/* Returns whether software takes this CQE for a new one in a lap with ownership bit
	 * OWNER. */
	bool (*is_software_cqe)(const uint8_t *cqe, bool owner);
	bool fills_cq;     /* the adapter initialises the ownership bits of a new ring */
	uint32_t cqe_size; /* bytes of a CQE, without padding in front */
	/* For a CQ that compresses runs of completions; see queue/cq_run.h. can_compress() returns
	 * whether a CQE may be in a run. follows() returns whether CQE may follow LAST in the run
	 * that began with TITLE: it may differ from the title only in the fields that a part has.
	 * encode_part() writes a part (mini CQE) of cqe_part_size bytes. encode_title() turns the
	 * run's first CQE into one that announces COUNT parts. encode_block() writes the bytes
	 * behind the COUNT parts of a block. */
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
	/* A QP's rings share its buffer. False: the receive ring is first. True: the ring with the
	 * larger WQEs is first, or the send ring if the sizes are equal. */
	bool larger_ring_first;
	/* Offsets in doorbell records: posted receives and send blocks of a QP, consumer index and
	 * arm word of a CQ. */
	uint32_t dbrec_recv, dbrec_send, dbrec_ci, dbrec_arm;
	uint32_t dbrec_align; /* alignment of doorbell records of QPs and SRQs */
	struct cq_arm (*decode_arm)(uint32_t word_be);
	uint8_t first_arm; /* sequence number of the first event that software requests */
	/* Executes software's write of VALUE_BE at OFFSET of a UAR page. The caller holds the
	 * fabric's lock. */
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

	/* For strict adapters: report wrong bytes in a WQE or doorbell. judge_page() creates the
	 * state of a doorbell page, forget_page() frees it; both may be NULL. judge_write() checks
	 * a write by software and returns whether an adapter would act on it. judge_found() checks
	 * a value that polling found at OFFSET. */
	void (*judge_page)(struct uar *uar);
	void (*forget_page)(struct hca *hca, struct uar *uar);
	bool (*judge_write)(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
			    size_t len);
	void (*judge_found)(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
	void (*judge_send)(struct hca *hca, const struct qp *qp, uint16_t index,
			   const uint8_t *raw);
	/* Checks the posted WQEs after send_is_posted() has found their end, which is in sq.pi. May
	 * be NULL. */
	void (*judge_posted)(struct hca *hca, const struct qp *qp);
	/* Check the WQE at RAW, and all posted WQEs, of a frame queue. Either function may be
	 * NULL. */
	void (*judge_frame)(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw);
	void (*judge_frames_posted)(struct hca *hca, const struct eth_sq *sq);
};

#endif
