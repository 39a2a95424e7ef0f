/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * foreign_calls.h - the functions of the distribution's private interface that libforeign-rdmakit
 * serves, for each number, without the registration of a driver.
 */
#ifndef LIBIBVERBS_DISCOVERY_FOREIGN_CALLS_H
#define LIBIBVERBS_DISCOVERY_FOREIGN_CALLS_H

/* Expands CALL(number, name) for each function that both numbers have. */
#define FOREIGN_CALLS_OF_BOTH(CALL, number)          \
	CALL(number, __ioctl_final_num_attrs)        \
	CALL(number, __verbs_log)                    \
	CALL(number, _verbs_init_and_alloc_context)  \
	CALL(number, execute_ioctl)                  \
	CALL(number, ibv_cmd_advise_mr)              \
	CALL(number, ibv_cmd_alloc_dm)               \
	CALL(number, ibv_cmd_alloc_mw)               \
	CALL(number, ibv_cmd_alloc_pd)               \
	CALL(number, ibv_cmd_attach_mcast)           \
	CALL(number, ibv_cmd_close_xrcd)             \
	CALL(number, ibv_cmd_create_ah)              \
	CALL(number, ibv_cmd_create_counters)        \
	CALL(number, ibv_cmd_create_cq)              \
	CALL(number, ibv_cmd_create_cq_ex)           \
	CALL(number, ibv_cmd_create_cq_ex2)          \
	CALL(number, ibv_cmd_create_flow)            \
	CALL(number, ibv_cmd_create_flow_action_esp) \
	CALL(number, ibv_cmd_create_qp)              \
	CALL(number, ibv_cmd_create_qp_ex)           \
	CALL(number, ibv_cmd_create_qp_ex2)          \
	CALL(number, ibv_cmd_create_rwq_ind_table)   \
	CALL(number, ibv_cmd_create_srq)             \
	CALL(number, ibv_cmd_create_srq_ex)          \
	CALL(number, ibv_cmd_create_wq)              \
	CALL(number, ibv_cmd_dealloc_mw)             \
	CALL(number, ibv_cmd_dealloc_pd)             \
	CALL(number, ibv_cmd_dereg_mr)               \
	CALL(number, ibv_cmd_destroy_ah)             \
	CALL(number, ibv_cmd_destroy_counters)       \
	CALL(number, ibv_cmd_destroy_cq)             \
	CALL(number, ibv_cmd_destroy_flow)           \
	CALL(number, ibv_cmd_destroy_flow_action)    \
	CALL(number, ibv_cmd_destroy_qp)             \
	CALL(number, ibv_cmd_destroy_rwq_ind_table)  \
	CALL(number, ibv_cmd_destroy_srq)            \
	CALL(number, ibv_cmd_destroy_wq)             \
	CALL(number, ibv_cmd_detach_mcast)           \
	CALL(number, ibv_cmd_free_dm)                \
	CALL(number, ibv_cmd_get_context)            \
	CALL(number, ibv_cmd_modify_cq)              \
	CALL(number, ibv_cmd_modify_flow_action_esp) \
	CALL(number, ibv_cmd_modify_qp)              \
	CALL(number, ibv_cmd_modify_qp_ex)           \
	CALL(number, ibv_cmd_modify_srq)             \
	CALL(number, ibv_cmd_modify_wq)              \
	CALL(number, ibv_cmd_open_qp)                \
	CALL(number, ibv_cmd_open_xrcd)              \
	CALL(number, ibv_cmd_poll_cq)                \
	CALL(number, ibv_cmd_post_recv)              \
	CALL(number, ibv_cmd_post_send)              \
	CALL(number, ibv_cmd_post_srq_recv)          \
	CALL(number, ibv_cmd_query_context)          \
	CALL(number, ibv_cmd_query_device_any)       \
	CALL(number, ibv_cmd_query_mr)               \
	CALL(number, ibv_cmd_query_port)             \
	CALL(number, ibv_cmd_query_qp)               \
	CALL(number, ibv_cmd_query_srq)              \
	CALL(number, ibv_cmd_read_counters)          \
	CALL(number, ibv_cmd_reg_dm_mr)              \
	CALL(number, ibv_cmd_reg_dmabuf_mr)          \
	CALL(number, ibv_cmd_reg_mr)                 \
	CALL(number, ibv_cmd_req_notify_cq)          \
	CALL(number, ibv_cmd_rereg_mr)               \
	CALL(number, ibv_cmd_resize_cq)              \
	CALL(number, ibv_read_ibdev_sysfs_file)      \
	CALL(number, verbs_init_cq)                  \
	CALL(number, verbs_open_device)              \
	CALL(number, verbs_set_ops)                  \
	CALL(number, verbs_uninit_context)

#define FOREIGN_CALLS_34(CALL) FOREIGN_CALLS_OF_BOTH(CALL, 34)

/* Number 65 has more. */
#define FOREIGN_CALLS_65(CALL)                   \
	FOREIGN_CALLS_OF_BOTH(CALL, 65)          \
	CALL(65, ibv_cmd_alloc_dmah)             \
	CALL(65, ibv_cmd_create_comp_cntr)       \
	CALL(65, ibv_cmd_destroy_comp_cntr)      \
	CALL(65, ibv_cmd_export_dmabuf_fd)       \
	CALL(65, ibv_cmd_free_dmah)              \
	CALL(65, ibv_cmd_inc_comp_cntr)          \
	CALL(65, ibv_cmd_inc_err_comp_cntr)      \
	CALL(65, ibv_cmd_qp_attach_comp_cntr)    \
	CALL(65, ibv_cmd_query_comp_cntr_caps)   \
	CALL(65, ibv_cmd_query_port_speed)       \
	CALL(65, ibv_cmd_read_comp_cntr)         \
	CALL(65, ibv_cmd_read_err_comp_cntr)     \
	CALL(65, ibv_cmd_reg_mr_ex)              \
	CALL(65, ibv_cmd_set_comp_cntr)          \
	CALL(65, ibv_cmd_set_err_comp_cntr)      \
	CALL(65, ibv_dmabuf_heap_alloc)          \
	CALL(65, ibv_dmabuf_heap_cc_shared_init) \
	CALL(65, ibv_dmabuf_heap_destroy)        \
	CALL(65, ibv_dmabuf_heap_free)

#endif
