/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/* Facts of the public ABI of librdmacm, release 65.0, x86_64: prototypes of public functions, exported and inline.
 * Every line must compile against this project's own headers.
 *
 * Covers: librdmacm/rdma_cma.h, librdmacm/rdma_verbs.h, librdmacm/ib.h */
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>
#define SAME(fn, ...) _Static_assert(__builtin_types_compatible_p(__typeof__(fn), __VA_ARGS__), #fn)

/* rdma/rdma_cma.h */
SAME(rdma_create_event_channel, __typeof__(struct rdma_event_channel *(void)));
SAME(rdma_destroy_event_channel, __typeof__(void (struct rdma_event_channel *)));
SAME(rdma_create_id, __typeof__(int (struct rdma_event_channel *, struct rdma_cm_id **, void *, enum rdma_port_space)));
SAME(rdma_create_ep, __typeof__(int (struct rdma_cm_id **, struct rdma_addrinfo *, struct ibv_pd *, struct ibv_qp_init_attr *)));
SAME(rdma_destroy_ep, __typeof__(void (struct rdma_cm_id *)));
SAME(rdma_destroy_id, __typeof__(int (struct rdma_cm_id *)));
SAME(rdma_bind_addr, __typeof__(int (struct rdma_cm_id *, struct sockaddr *)));
SAME(rdma_resolve_addr, __typeof__(int (struct rdma_cm_id *, struct sockaddr *, struct sockaddr *, int)));
SAME(rdma_resolve_route, __typeof__(int (struct rdma_cm_id *, int)));
SAME(rdma_create_qp, __typeof__(int (struct rdma_cm_id *, struct ibv_pd *, struct ibv_qp_init_attr *)));
SAME(rdma_create_qp_ex, __typeof__(int (struct rdma_cm_id *, struct ibv_qp_init_attr_ex *)));
SAME(rdma_destroy_qp, __typeof__(void (struct rdma_cm_id *)));
SAME(rdma_connect, __typeof__(int (struct rdma_cm_id *, struct rdma_conn_param *)));
SAME(rdma_establish, __typeof__(int (struct rdma_cm_id *)));
SAME(rdma_listen, __typeof__(int (struct rdma_cm_id *, int)));
SAME(rdma_get_request, __typeof__(int (struct rdma_cm_id *, struct rdma_cm_id **)));
SAME(rdma_accept, __typeof__(int (struct rdma_cm_id *, struct rdma_conn_param *)));
SAME(rdma_reject, __typeof__(int (struct rdma_cm_id *, const void *, uint8_t)));
SAME(rdma_reject_ece, __typeof__(int (struct rdma_cm_id *, const void *, uint8_t)));
SAME(rdma_notify, __typeof__(int (struct rdma_cm_id *, enum ibv_event_type)));
SAME(rdma_disconnect, __typeof__(int (struct rdma_cm_id *)));
SAME(rdma_join_multicast, __typeof__(int (struct rdma_cm_id *, struct sockaddr *, void *)));
SAME(rdma_leave_multicast, __typeof__(int (struct rdma_cm_id *, struct sockaddr *)));
SAME(rdma_join_multicast_ex, __typeof__(int (struct rdma_cm_id *, struct rdma_cm_join_mc_attr_ex *, void *)));
SAME(rdma_get_cm_event, __typeof__(int (struct rdma_event_channel *, struct rdma_cm_event **)));
SAME(rdma_ack_cm_event, __typeof__(int (struct rdma_cm_event *)));
SAME(rdma_get_src_port, __typeof__(__be16 (struct rdma_cm_id *)));
SAME(rdma_get_dst_port, __typeof__(__be16 (struct rdma_cm_id *)));
SAME(rdma_get_devices, __typeof__(struct ibv_context **(int *)));
SAME(rdma_free_devices, __typeof__(void (struct ibv_context **)));
SAME(rdma_event_str, __typeof__(const char *(enum rdma_cm_event_type)));
SAME(rdma_set_option, __typeof__(int (struct rdma_cm_id *, int, int, void *, size_t)));
SAME(rdma_migrate_id, __typeof__(int (struct rdma_cm_id *, struct rdma_event_channel *)));
SAME(rdma_getaddrinfo, __typeof__(int (const char *, const char *, const struct rdma_addrinfo *, struct rdma_addrinfo **)));
SAME(rdma_freeaddrinfo, __typeof__(void (struct rdma_addrinfo *)));
SAME(rdma_init_qp_attr, __typeof__(int (struct rdma_cm_id *, struct ibv_qp_attr *, int *)));
SAME(rdma_set_local_ece, __typeof__(int (struct rdma_cm_id *, struct ibv_ece *)));
SAME(rdma_get_remote_ece, __typeof__(int (struct rdma_cm_id *, struct ibv_ece *)));
SAME(rdma_resolve_addrinfo, __typeof__(int (struct rdma_cm_id *, const char *, const char *, const struct rdma_addrinfo *)));
SAME(rdma_query_addrinfo, __typeof__(int (struct rdma_cm_id *, struct rdma_addrinfo **)));
SAME(rdma_write_cm_event, __typeof__(int (struct rdma_cm_id *, enum rdma_cm_event_type, int, uint64_t)));
SAME(rdma_get_local_addr, __typeof__(struct sockaddr *(struct rdma_cm_id *)));
SAME(rdma_get_peer_addr, __typeof__(struct sockaddr *(struct rdma_cm_id *)));

/* rdma/rdma_verbs.h */
SAME(rdma_create_srq, __typeof__(int (struct rdma_cm_id *, struct ibv_pd *, struct ibv_srq_init_attr *)));
SAME(rdma_create_srq_ex, __typeof__(int (struct rdma_cm_id *, struct ibv_srq_init_attr_ex *)));
SAME(rdma_destroy_srq, __typeof__(void (struct rdma_cm_id *)));
SAME(rdma_seterrno, __typeof__(int (int)));
SAME(rdma_reg_msgs, __typeof__(struct ibv_mr *(struct rdma_cm_id *, void *, size_t)));
SAME(rdma_reg_read, __typeof__(struct ibv_mr *(struct rdma_cm_id *, void *, size_t)));
SAME(rdma_reg_write, __typeof__(struct ibv_mr *(struct rdma_cm_id *, void *, size_t)));
SAME(rdma_dereg_mr, __typeof__(int (struct ibv_mr *)));
SAME(rdma_post_recvv, __typeof__(int (struct rdma_cm_id *, void *, struct ibv_sge *, int)));
SAME(rdma_post_sendv, __typeof__(int (struct rdma_cm_id *, void *, struct ibv_sge *, int, int)));
SAME(rdma_post_readv, __typeof__(int (struct rdma_cm_id *, void *, struct ibv_sge *, int, int, uint64_t, uint32_t)));
SAME(rdma_post_writev, __typeof__(int (struct rdma_cm_id *, void *, struct ibv_sge *, int, int, uint64_t, uint32_t)));
SAME(rdma_post_recv, __typeof__(int (struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *)));
SAME(rdma_post_send, __typeof__(int (struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int)));
SAME(rdma_post_read, __typeof__(int (struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, uint64_t, uint32_t)));
SAME(rdma_post_write, __typeof__(int (struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, uint64_t, uint32_t)));
SAME(rdma_post_ud_send, __typeof__(int (struct rdma_cm_id *, void *, void *, size_t, struct ibv_mr *, int, struct ibv_ah *, uint32_t)));
SAME(rdma_get_send_comp, __typeof__(int (struct rdma_cm_id *, struct ibv_wc *)));
SAME(rdma_get_recv_comp, __typeof__(int (struct rdma_cm_id *, struct ibv_wc *)));

/* rdma/rsocket.h */
SAME(rsocket, __typeof__(int (int, int, int)));
SAME(rbind, __typeof__(int (int, const struct sockaddr *, socklen_t)));
SAME(rlisten, __typeof__(int (int, int)));
SAME(raccept, __typeof__(int (int, struct sockaddr *, socklen_t *)));
SAME(rconnect, __typeof__(int (int, const struct sockaddr *, socklen_t)));
SAME(rshutdown, __typeof__(int (int, int)));
SAME(rclose, __typeof__(int (int)));
SAME(rrecv, __typeof__(ssize_t (int, void *, size_t, int)));
SAME(rrecvfrom, __typeof__(ssize_t (int, void *, size_t, int, struct sockaddr *, socklen_t *)));
SAME(rrecvmsg, __typeof__(ssize_t (int, struct msghdr *, int)));
SAME(rsend, __typeof__(ssize_t (int, const void *, size_t, int)));
SAME(rsendto, __typeof__(ssize_t (int, const void *, size_t, int, const struct sockaddr *, socklen_t)));
SAME(rsendmsg, __typeof__(ssize_t (int, const struct msghdr *, int)));
SAME(rread, __typeof__(ssize_t (int, void *, size_t)));
SAME(rreadv, __typeof__(ssize_t (int, const struct iovec *, int)));
SAME(rwrite, __typeof__(ssize_t (int, const void *, size_t)));
SAME(rwritev, __typeof__(ssize_t (int, const struct iovec *, int)));
SAME(rpoll, __typeof__(int (struct pollfd *, nfds_t, int)));
SAME(rselect, __typeof__(int (int, fd_set *, fd_set *, fd_set *, struct timeval *)));
SAME(rgetpeername, __typeof__(int (int, struct sockaddr *, socklen_t *)));
SAME(rgetsockname, __typeof__(int (int, struct sockaddr *, socklen_t *)));
SAME(rsetsockopt, __typeof__(int (int, int, int, const void *, socklen_t)));
SAME(rgetsockopt, __typeof__(int (int, int, int, void *, socklen_t *)));
SAME(rfcntl, __typeof__(int (int, int, ...)));
SAME(riomap, __typeof__(off_t (int, void *, size_t, int, int, off_t)));
SAME(riounmap, __typeof__(int (int, void *, size_t)));
SAME(riowrite, __typeof__(size_t (int, const void *, size_t, off_t, int)));
SAME(repoll_create, __typeof__(int (int)));
SAME(repoll_ctl, __typeof__(int (int, int, int, struct epoll_event *)));
SAME(repoll_wait, __typeof__(int (int, struct epoll_event *, int, int)));
