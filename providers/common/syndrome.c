/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syndrome.c - log texts of syndromes: the adapter's finding, the likely cause, the likely cure.
 *
 * Vendor syndromes are those that adapters are publicly known to report; others are logged as
 * numbers.
 * PRM: CQE with error
 */
#include "providers/common/syndrome.h"

#include <stddef.h>

#include "prm/mlx5/cqe.h"
#include "util/bits.h"

static const char *const syndrome_text[256] = {
	[SYND_LOCAL_LENGTH] =
		"local length: message longer than the buffers of the receive, or than the port's "
		"limit",
	[SYND_LOCAL_QP_OP] = "local QP operation: the WQE is malformed or not allowed on this QP",
	[SYND_LOCAL_PROT] =
		"local protection: an lkey is unknown, of another PD, or does not cover the buffer "
		"with the access needed",
	[SYND_FLUSH] =
		"flushed: the QP was in, or went to, the error state before this request ran",
	[SYND_MW_BIND] = "memory window bind: the window, region or rights do not allow it",
	[SYND_BAD_RESPONSE] = "bad response: an unexpected transport opcode came back",
	[SYND_LOCAL_ACCESS] =
		"local access: a receive buffer could not be written by an RDMA operation of the "
		"peer",
	[SYND_REMOTE_INVAL_REQ] =
		"remote invalid request: the peer does not support it, or the message exceeds its "
		"receive buffer",
	[SYND_REMOTE_ACCESS] =
		"remote access: the rkey is wrong, or the range or the rights of the peer's region "
		"do not allow it",
	[SYND_REMOTE_OP] =
		"remote operation: the peer could not complete it because of a fault of its own",
	[SYND_RETRY_EXCEEDED] =
		"transport retries exceeded: no answer from the peer; check its QP state, the QPN, "
		"LID or GID, and the path",
	[SYND_RNR_EXCEEDED] = "RNR retries exceeded: the peer had no receive posted",
	[SYND_REMOTE_ABORTED] = "remote aborted: the peer gave up the operation",
};

static const char *const vendor_text[256] = {
	[0x32] = "receive buffer too short",
	[0x51] = "key not valid for the local buffer",
	[0x52] = "local buffer outside its region",
	[0x6e] = "length not allowed",
	[0x81] = "ACK timeout, retries exhausted",
	[0x87] = "RNR NAK, retries exhausted",
	[0x88] = "NAK: remote access",
	[0x89] = "NAK: remote operation",
	[0x8a] = "NAK: invalid request",
	[0x93] = "page fault on an on-demand region was not resolved",
	[0xf5] = "send flushed",
	[0xf9] = "receive flushed",
};

enum ibv_wc_status provider_syndrome_status(uint8_t syndrome)
{
	static const uint8_t status[] = {
		[SYND_LOCAL_LENGTH] = IBV_WC_LOC_LEN_ERR,
		[SYND_LOCAL_QP_OP] = IBV_WC_LOC_QP_OP_ERR,
		[SYND_LOCAL_PROT] = IBV_WC_LOC_PROT_ERR,
		[SYND_FLUSH] = IBV_WC_WR_FLUSH_ERR,
		[SYND_MW_BIND] = IBV_WC_MW_BIND_ERR,
		[SYND_BAD_RESPONSE] = IBV_WC_BAD_RESP_ERR,
		[SYND_LOCAL_ACCESS] = IBV_WC_LOC_ACCESS_ERR,
		[SYND_REMOTE_INVAL_REQ] = IBV_WC_REM_INV_REQ_ERR,
		[SYND_REMOTE_ACCESS] = IBV_WC_REM_ACCESS_ERR,
		[SYND_REMOTE_OP] = IBV_WC_REM_OP_ERR,
		[SYND_RETRY_EXCEEDED] = IBV_WC_RETRY_EXC_ERR,
		[SYND_RNR_EXCEEDED] = IBV_WC_RNR_RETRY_EXC_ERR,
		[SYND_REMOTE_ABORTED] = IBV_WC_REM_ABORT_ERR,
	};

	/* IBV_WC_SUCCESS is 0, so 0 marks a syndrome without an entry. */
	if (syndrome < ARRAY_SIZE(status) && status[syndrome])
		return status[syndrome];
	return IBV_WC_GENERAL_ERR;
}

const char *provider_syndrome_str(uint8_t syndrome)
{
	return syndrome_text[syndrome] ? syndrome_text[syndrome] : "unknown syndrome";
}

const char *provider_vendor_syndrome_str(uint8_t vendor)
{
	return vendor_text[vendor] ? vendor_text[vendor] : "no text for this vendor syndrome";
}

static const char *const read_keys =
	"its lkey must be of a live MR on this QP's PD, with IBV_ACCESS_LOCAL_WRITE, which holds "
	"all of the buffer";
static const char *const send_keys =
	"its lkey must be of a live MR on this QP's PD, which holds all of the buffer";

static const struct cure {
	uint8_t syndrome, kind;
	const char *text;
} cures[] = {
	{ SYND_LOCAL_LENGTH, REQUEST_RECEIVE,
	  "the message is longer than the receive: post receives for the longest message" },
	{ SYND_LOCAL_LENGTH, REQUEST_DATAGRAM_RECEIVE,
	  "the datagram is longer than the receive: add 40 bytes for the GRH before the payload" },
	{ SYND_LOCAL_LENGTH, REQUEST_DATAGRAM,
	  "a datagram is one packet: its payload may have at most the MTU of the port, active_mtu "
	  "of ibv_query_port()" },
	{ SYND_LOCAL_LENGTH, REQUEST_ATOMIC, "the result has 8 bytes" },
	{ SYND_REMOTE_INVAL_REQ, REQUEST_SEND,
	  "the peer's receive is shorter than the message: post longer receives there" },
	{ SYND_REMOTE_INVAL_REQ, REQUEST_WRITE,
	  "the peer's QP needs IBV_ACCESS_REMOTE_WRITE in its qp_access_flags, which it gets on "
	  "the way to INIT" },
	{ SYND_REMOTE_INVAL_REQ, REQUEST_READ,
	  "the peer's QP needs IBV_ACCESS_REMOTE_READ in its qp_access_flags, and a "
	  "max_dest_rd_atomic that is at least this QP's max_rd_atomic" },
	{ SYND_REMOTE_INVAL_REQ, REQUEST_ATOMIC,
	  "the peer's QP needs IBV_ACCESS_REMOTE_ATOMIC in its qp_access_flags, and a "
	  "max_dest_rd_atomic that is at least this QP's max_rd_atomic" },
	{ SYND_REMOTE_ACCESS, REQUEST_WRITE,
	  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_WRITE on the PD of "
	  "the peer's QP, and all bytes from the remote address on must be in it" },
	{ SYND_REMOTE_ACCESS, REQUEST_READ,
	  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_READ on the PD of "
	  "the peer's QP, and all bytes from the remote address on must be in it" },
	{ SYND_REMOTE_ACCESS, REQUEST_ATOMIC,
	  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_ATOMIC on the PD of "
	  "the peer's QP, and the 8 bytes at the remote address must be in it" },
	{ SYND_REMOTE_OP, REQUEST_SEND,
	  "the receive that the peer posted failed there, usually because its MR lacks "
	  "IBV_ACCESS_LOCAL_WRITE or its lkey is wrong: look at the peer's log" },
	{ SYND_RNR_EXCEEDED, REQUEST_SEND,
	  "post a receive at the peer for each message before it is sent, or raise rnr_retry (7: "
	  "without end) and the peer's min_rnr_timer" },
	{ SYND_RNR_EXCEEDED, REQUEST_WRITE_IMM,
	  "a write with immediate data takes a receive too: post one at the peer for each" },
};

static const char *cure_of_key(enum request_kind kind)
{
	switch (kind) {
	case REQUEST_SEND:
	case REQUEST_WRITE:
	case REQUEST_WRITE_IMM:
	case REQUEST_DATAGRAM:
		return send_keys;
	case REQUEST_READ:
	case REQUEST_ATOMIC:
	case REQUEST_RECEIVE:
	case REQUEST_DATAGRAM_RECEIVE:
		return read_keys;
	case REQUEST_OTHER:
		break;
	}
	return NULL;
}

const char *provider_syndrome_cure(uint8_t syndrome, enum request_kind kind)
{
	if (syndrome == SYND_LOCAL_PROT)
		return cure_of_key(kind);
	for (unsigned int i = 0; i < ARRAY_SIZE(cures); i++)
		if (cures[i].syndrome == syndrome && cures[i].kind == kind)
			return cures[i].text;
	if (kind == REQUEST_WRITE_IMM) /* otherwise it fails as a write does */
		return provider_syndrome_cure(syndrome, REQUEST_WRITE);
	return NULL;
}
