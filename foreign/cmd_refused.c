/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * cmd_refused.c - functions of number 65 that exist so that its plugins can be loaded, and fail:
 * completion counters go from the program to the kernel without the provider (verbs_comp_cntr.c),
 * and buffers of a dma-buf heap are for confidential guests.
 */
#include "guest.h"

#if HOST_NUMBER >= 65

#define REFUSED(name, params)                                                                   \
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wunused-parameter\"") \
		GUEST_CALL(int, name, params)                                                   \
	{                                                                                       \
		return guest_result(guest_refuse(#name));                                       \
	}                                                                                       \
	_Pragma("GCC diagnostic pop")

REFUSED(ibv_cmd_create_comp_cntr,
	(struct ibv_context * context, struct ibv_comp_cntr *counter, struct guest_buffer *buffer))
REFUSED(ibv_cmd_destroy_comp_cntr, (struct ibv_comp_cntr * counter))
REFUSED(ibv_cmd_set_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t value))
REFUSED(ibv_cmd_inc_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t value))
REFUSED(ibv_cmd_read_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t *value))
REFUSED(ibv_cmd_set_err_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t value))
REFUSED(ibv_cmd_inc_err_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t value))
REFUSED(ibv_cmd_read_err_comp_cntr, (struct ibv_comp_cntr * counter, uint64_t *value))
REFUSED(ibv_cmd_query_comp_cntr_caps,
	(struct ibv_context * context, struct ibv_comp_cntr_caps *caps, size_t size))
REFUSED(ibv_cmd_qp_attach_comp_cntr, (struct ibv_qp * qp, struct ibv_comp_cntr *counter,
				      struct ibv_qp_attach_comp_cntr_attr *attr))

/* The distribution's function returns a heap or NULL; this one always returns NULL. */
GUEST_CALL(void *, ibv_dmabuf_heap_cc_shared_init, (void))
{
	return fail_null(guest_refuse("ibv_dmabuf_heap_cc_shared_init"));
}

/* Guests never call these functions, because they never get a heap. */
REFUSED(ibv_dmabuf_heap_alloc, (void))
REFUSED(ibv_dmabuf_heap_free, (void))
REFUSED(ibv_dmabuf_heap_destroy, (void))

#endif
