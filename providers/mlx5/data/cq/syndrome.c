/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * syndrome.c - log texts of syndromes: the adapter's finding, the likely cause, the likely cure.
 *
 * Vendor syndromes are those that adapters are publicly known to report; others are logged as
 * numbers.
 * PRM: CQE with error
 */
#include "providers/mlx5/data/cq/syndrome.h"

#include <stddef.h>

#include <infiniband/mlx5dv.h>

#include "util/bits.h"

static const char *const syndrome_text[256] = {
	[MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR] =
		"local length: message longer than the buffers of the receive, or than the port's "
		"limit",
	[MLX5_CQE_SYNDROME_LOCAL_QP_OP_ERR] =
		"local QP operation: the WQE is malformed or not allowed on this QP",
	[MLX5_CQE_SYNDROME_LOCAL_PROT_ERR] =
		"local protection: an lkey is unknown, of another PD, or does not cover the buffer "
		"with the access needed",
	[MLX5_CQE_SYNDROME_WR_FLUSH_ERR] =
		"flushed: the QP was in, or went to, the error state before this request ran",
	[MLX5_CQE_SYNDROME_MW_BIND_ERR] =
		"memory window bind: the window, region or rights do not allow it",
	[MLX5_CQE_SYNDROME_BAD_RESP_ERR] = "bad response: an unexpected transport opcode came back",
	[MLX5_CQE_SYNDROME_LOCAL_ACCESS_ERR] =
		"local access: a receive buffer could not be written by an RDMA operation of the "
		"peer",
	[MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR] =
		"remote invalid request: the peer does not support it, or the message exceeds its "
		"receive buffer",
	[MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR] =
		"remote access: the rkey is wrong, or the range or the rights of the peer's region "
		"do not allow it",
	[MLX5_CQE_SYNDROME_REMOTE_OP_ERR] =
		"remote operation: the peer could not complete it because of a fault of its own",
	[MLX5_CQE_SYNDROME_TRANSPORT_RETRY_EXC_ERR] =
		"transport retries exceeded: no answer from the peer; check its QP state, the QPN, "
		"LID or GID, and the path",
	[MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR] =
		"RNR retries exceeded: the peer had no receive posted",
	[MLX5_CQE_SYNDROME_REMOTE_ABORTED_ERR] = "remote aborted: the peer gave up the operation",
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
	[MLX5_CQE_VENDOR_SYNDROME_ODP_PFAULT] =
		"page fault on an on-demand region was not resolved",
	[0xf5] = "send flushed",
	[0xf9] = "receive flushed",
};

const char *mlx5_syndrome_str(uint8_t syndrome)
{
	return syndrome_text[syndrome] ? syndrome_text[syndrome] : "unknown syndrome";
}

const char *mlx5_vendor_syndrome_str(uint8_t vendor)
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
	{ MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, REQUEST_RECEIVE,
	  "the message is longer than the receive: post receives for the longest message" },
	{ MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, REQUEST_DATAGRAM_RECEIVE,
	  "the datagram is longer than the receive: add 40 bytes for the GRH before the payload" },
	{ MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, REQUEST_DATAGRAM,
	  "a datagram is one packet: its payload may have at most the MTU of the port, active_mtu "
	  "of ibv_query_port()" },
	{ MLX5_CQE_SYNDROME_LOCAL_LENGTH_ERR, REQUEST_ATOMIC, "the result has 8 bytes" },
	{ MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, REQUEST_SEND,
	  "the peer's receive is shorter than the message: post longer receives there" },
	{ MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, REQUEST_WRITE,
	  "the peer's QP needs IBV_ACCESS_REMOTE_WRITE in its qp_access_flags, which it gets on "
	  "the way to INIT" },
	{ MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, REQUEST_READ,
	  "the peer's QP needs IBV_ACCESS_REMOTE_READ in its qp_access_flags, and a "
	  "max_dest_rd_atomic that is at least this QP's max_rd_atomic" },
	{ MLX5_CQE_SYNDROME_REMOTE_INVAL_REQ_ERR, REQUEST_ATOMIC,
	  "the peer's QP needs IBV_ACCESS_REMOTE_ATOMIC in its qp_access_flags, and a "
	  "max_dest_rd_atomic that is at least this QP's max_rd_atomic" },
	{ MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, REQUEST_WRITE,
	  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_WRITE on the PD of "
	  "the peer's QP, and all bytes from the remote address on must be in it" },
	{ MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, REQUEST_READ,
	  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_READ on the PD of "
	  "the peer's QP, and all bytes from the remote address on must be in it" },
	{ MLX5_CQE_SYNDROME_REMOTE_ACCESS_ERR, REQUEST_ATOMIC,
	  "the rkey must be of a live MR or bound MW with IBV_ACCESS_REMOTE_ATOMIC on the PD of "
	  "the peer's QP, and the 8 bytes at the remote address must be in it" },
	{ MLX5_CQE_SYNDROME_REMOTE_OP_ERR, REQUEST_SEND,
	  "the receive that the peer posted failed there, usually because its MR lacks "
	  "IBV_ACCESS_LOCAL_WRITE or its lkey is wrong: look at the peer's log" },
	{ MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, REQUEST_SEND,
	  "post a receive at the peer for each message before it is sent, or raise rnr_retry (7: "
	  "without end) and the peer's min_rnr_timer" },
	{ MLX5_CQE_SYNDROME_RNR_RETRY_EXC_ERR, REQUEST_WRITE_IMM,
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

const char *mlx5_syndrome_cure(uint8_t syndrome, enum request_kind kind)
{
	if (syndrome == MLX5_CQE_SYNDROME_LOCAL_PROT_ERR)
		return cure_of_key(kind);
	for (unsigned int i = 0; i < ARRAY_SIZE(cures); i++)
		if (cures[i].syndrome == syndrome && cures[i].kind == kind)
			return cures[i].text;
	if (kind == REQUEST_WRITE_IMM) /* otherwise it fails as a write does */
		return mlx5_syndrome_cure(syndrome, REQUEST_WRITE);
	return NULL;
}
