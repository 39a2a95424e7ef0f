/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * format.h - the seam between the adapter and one kind of it: how WQEs, CQEs, EQEs and doorbells of
 * that kind look in memory.
 *
 * Queues, keys, transport and packets know struct send_wqe, struct completion and struct event; a
 * format turns bytes into these and these into bytes. The numbers in them (enum wqe_opcode,
 * cqe_opcode, cqe_syndrome, prm_event) are those of mlx5, which mlx4 has, too, but for the opcodes
 * of received CQEs. Commands are not here: their mailboxes differ so much between kinds that each
 * format has an entry and a table of its own. An adapter has one format from its creation on, and
 * each of these calls is for a whole WQE, CQE or EQE.
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

/* What software wrote of an object is kept with it by the format's commands, as its context, for
 * software may ask for it again. Nothing but these commands looks into a context. */
enum {
	CONTEXT_MAX = 320,
	KEY_CONTEXT_MAX = 64,
};

enum {
	CQE_MAX = 128, /* bytes of a CQE, with what may stand in front of it */
	EQE_MAX = 64,
};

/* A place says what a CQE has beside its completion. */
struct cqe_place {
	uint32_t size; /* distance of CQEs in the ring */
	uint32_t qpn;
	uint32_t user_index; /* by which software looks the queue up */
	uint64_t time;
	bool has_time; /* mlx4: the CQ is one with timestamps */
	bool owner;    /* of this lap of the ring */
};

struct event {
	enum prm_event type;
	uint32_t number; /* of the QP, the SRQ or the CQ that it is about */
	uint8_t detail;  /* a CQ's syndrome; what changed at a port */
	unsigned int port;
	int32_t pages;     /* requested */
	uint32_t commands; /* completed: a bit each */
	uint64_t result;   /* mlx4: of the command that has completed */
};

/* The format of a run is what software chose for the parts of received messages. */
struct run_format {
	bool has_hash;  /* or else a checksum */
	bool has_index; /* and beside it what the CQE says of its WQE */
};

/* An arm is what software asks of a CQ: an event for what comes behind CI. */
struct cq_arm {
	bool solicited_only;
	uint32_t ci;
	uint8_t sn;        /* of the event that it asks for */
	uint32_t reserved; /* bits that are set, and should not be */
};

struct format {
	/* The two calls make, and free, what the commands of an adapter keep, and what it has from
	 * the beginning: memory keys of its own. create() returns 0, ENOSPC or ENOMEM. */
	int (*create)(struct hca *hca);
	void (*destroy)(struct hca *hca);
	bool software_numbers; /* it is software that numbers objects, from 0 */
	/* RAW is a WQE as it stands in its ring. A size of 0 bytes is not valid. */
	uint32_t (*wqe_size)(const uint8_t *raw);
	/* The call clears in a copy of a WQE what software may write when the adapter has it
	 * already: what nobody reads but a register that the WQE is pushed through. NULL: there is
	 * none. */
	void (*wqe_clear_bell)(uint8_t *raw);
	bool wqe_is_block; /* no send WQE is longer than a block of the ring */
	/* The call tells whether software has handed over the send WQE at RAW in this lap of the
	 * ring, an odd one or not. NULL: WQEs do not say it, the doorbell record does. */
	bool (*send_is_posted)(const uint8_t *raw, bool odd_lap);
	uint8_t (*wqe_opcode)(const uint8_t *raw);
	uint16_t (*wqe_stream)(const uint8_t *raw); /* that a request of DC belongs to */
	uint32_t (*umr_key)(const uint8_t *raw);    /* of the key that a UMR is about */
	/* The call executes the UMR of LEN bytes, which is a request on a memory key, for QP. It
	 * returns 0 or the vendor syndrome. */
	int (*execute_umr)(struct hca *hca, struct qp *qp, const uint8_t *raw, size_t len);
	/* The same, for a queue of frames that the driver has let do so. */
	int (*execute_frame_umr)(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw,
				 size_t len);
	/* The call decodes BBS blocks that start at RAW. It returns 0 or the vendor syndrome of
	 * what is wrong. */
	int (*decode_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t qpn,
			   enum fabric_service service, struct send_wqe *wqe);
	/* The call decodes a WQE of a management QP, whose headers software has written; the AV is
	 * made of them. NULL: such a QP has WQEs like any other. */
	int (*decode_special)(const struct hca *hca, const struct qp *qp, const uint8_t *raw,
			      uint16_t index, struct send_wqe *wqe);
	bool tells_pkey_index; /* CQEs of QP1, where others have the P_Key itself */
	/* The call decodes the address vector of a datagram, whose port has RoCE or InfiniBand. */
	void (*decode_av)(const uint8_t *av, bool roce, struct datagram_to *to);
	void (*decode_recv)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
	/* The call decodes a WQE of an SRQ and returns the index of the WQE that comes next. */
	uint16_t (*decode_srq)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);
	/* The calls tell whether a WQE has the signature that queues may demand. A receive WQE has
	 * it in front, in recv_signature_size bytes; it is for the WQE at INDEX of queue N. */
	bool (*send_is_signed)(const uint8_t *raw);
	bool (*recv_is_signed)(const uint8_t *raw, uint32_t stride, uint32_t n, uint16_t index);
	uint32_t recv_signature_size;
	uint32_t striding_head; /* bytes in front of the buffers of a striding queue's WQE */
	/* The call returns which WQE of a linked one comes next. */
	uint16_t (*striding_next)(const uint8_t *head);
	/* The call gives a frame that has arrived to the queues that it is for. NULL: flow tables
	 * say which these are. */
	void (*steer)(struct hca *hca, struct eth_arrival *arrival);
	/* The call gives a frame that leaves the port to those who listen. NULL: nobody can. */
	void (*sniff)(struct hca *hca, struct eth_arrival *arrival);
	/* Where the numbers of such queues begin; those of QPs end before. */
	uint32_t first_frame_sq, first_frame_rq;
	/* The two calls decode WQEs of the queues of frames. */
	int (*decode_frame_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
				 struct frame_send *send);
	/* The call decodes a WQE of such a queue which sends datagrams, from another QP. */
	int (*decode_underlay_send)(const uint8_t *raw, uint16_t index, uint32_t bbs, uint32_t sqn,
				    struct frame_send *send, struct datagram_to *to);
	void (*decode_frame_recv)(const uint8_t *raw, uint32_t stride, struct recv_wqe *wqe);

	/* The call encodes into PLACE->size zeroed bytes. It returns how many at their end have a
	 * meaning. */
	uint32_t (*encode_cqe)(const struct cqe_place *place, const struct completion *done,
			       uint8_t *slot);
	/* The call encodes CQE_SIZE zeroed bytes, all but the ownership, with the queue's number as
	 * PLACE->qpn. */
	void (*encode_frame_cqe)(const struct cqe_place *place, const struct frame_completion *done,
				 uint8_t *cqe);
	/* The call encodes, as the last CQE_SIZE bytes, the CQE that ends the ring of a CQ which is
	 * resized. */
	void (*encode_ring_end)(uint8_t *cqe);
	/* The call encodes CQE_SIZE zeroed bytes: a signature was wrong, as KEY's state says. */
	void (*encode_sig_error)(const struct mkey *key, uint32_t qpn, uint8_t *cqe);
	void (*set_cqe_owner)(uint8_t *cqe, bool owner);
	/* The same, where software compares the number of the lap. */
	void (*set_cqe_lap)(uint8_t *cqe, uint8_t lap);
	/* The call tells whether software takes what is there as a new CQE, when CQEs of this lap
	 * have that owner bit. */
	bool (*is_software_cqe)(const uint8_t *cqe, bool owner);
	bool fills_cq;     /* the adapter sets the ownership of all CQEs of a new ring */
	uint32_t cqe_size; /* bytes, without what may stand in front */
	/* These calls are for a CQ that compresses runs of completions; see queue/cq_run.h.
	 * can_compress() tells whether a CQE may be in a run. follows() tells whether it may come
	 * behind LAST in a run that began with TITLE: it differs from it in what a part says.
	 * encode_part() writes that part, of cqe_part_size bytes, and encode_title() makes of the
	 * first CQE the one that announces COUNT parts. encode_block() writes what is behind COUNT
	 * parts in a block. */
	bool (*can_compress)(const uint8_t *cqe);
	bool (*follows)(const uint8_t *title, const uint8_t *last, const uint8_t *cqe);
	void (*encode_part)(const struct run_format *format, const uint8_t *cqe, uint8_t *part);
	void (*encode_title)(uint8_t *cqe, uint32_t count);
	void (*encode_block)(uint8_t *block, uint32_t count);
	uint32_t cqe_part_size;

	void (*encode_eqe)(const struct event *event, uint8_t *eqe);
	void (*set_eqe_owner)(uint8_t *eqe, bool owner);
	uint32_t eqe_size;

	uint32_t xrc_target_mark; /* a bit that numbers of QPs have which receive for XRC */
	/* The rings of a QP share its buffer. That of receives is first, or else, with this, the
	 * one with the larger WQEs, and that of sends where they are as large. */
	bool larger_ring_first;
	/* These are the places of the words in doorbell records: posted receives and send blocks of
	 * a QP, consumer index and arm word of a CQ. */
	uint32_t dbrec_recv, dbrec_send, dbrec_ci, dbrec_arm;
	uint32_t dbrec_align; /* bytes, of the records of a QP and of an SRQ */
	struct cq_arm (*decode_arm)(uint32_t word_be);
	uint8_t first_arm; /* the number of the first event that software asks for */
	/* The call tells that software has written VALUE_BE at OFFSET of a UAR page; the lock is
	 * held. */
	void (*ring)(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);

	/* These calls trace what goes by. opcode_name() is that of a send WQE. */
	void (*trace_send)(struct trace *trace, uint32_t qpn, uint32_t index, const uint8_t *wqe,
			   size_t len);
	void (*trace_cqe)(struct trace *trace, uint32_t cqn, uint32_t index, const uint8_t *cqe);
	void (*trace_eqe)(struct trace *trace, uint32_t eqn, const uint8_t *eqe);
	const char *(*opcode_name)(uint8_t opcode);

	/* These calls are for an adapter that is strict: they report what the bytes of a WQE, or of
	 * a doorbell, have that they should not. A page of doorbells is remembered from
	 * judge_page() until forget_page(), which a format need not have. judge_write() is told
	 * what software has written, and returns whether an adapter would take it; judge_found()
	 * what polling has found at OFFSET. */
	void (*judge_page)(struct uar *uar);
	void (*forget_page)(struct hca *hca, struct uar *uar);
	bool (*judge_write)(struct hca *hca, uint32_t uar, uint32_t offset, const uint8_t *bytes,
			    size_t len);
	void (*judge_found)(struct hca *hca, uint32_t uar, uint32_t offset, uint64_t value_be);
	void (*judge_send)(struct hca *hca, const struct qp *qp, uint16_t index,
			   const uint8_t *raw);
	/* judge_posted() is called where send_is_posted() has found where what is posted ends,
	 * which sq.pi says now. It may be NULL. */
	void (*judge_posted)(struct hca *hca, const struct qp *qp);
	/* The same, for queues of frames: the WQE at RAW, what is posted. Either may be NULL. */
	void (*judge_frame)(struct hca *hca, const struct eth_sq *sq, const uint8_t *raw);
	void (*judge_frames_posted)(struct hca *hca, const struct eth_sq *sq);
};

#endif
