/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/* clang-format off */
/* Facts of the public ABI of librdmacm, release 65.0, x86_64: sizes and offsets of public structures.
 * Every line must compile against this project's own headers. */
#include <stddef.h>
#include <rdma/rdma_cma.h>
#include <rdma/rdma_verbs.h>
#include <rdma/rsocket.h>

/* rdma/rdma_cma.h */
_Static_assert(sizeof(struct rdma_ib_addr) == 40, "sizeof(struct rdma_ib_addr)");
_Static_assert(offsetof(struct rdma_ib_addr, sgid) == 0, "struct rdma_ib_addr.sgid");
_Static_assert(offsetof(struct rdma_ib_addr, dgid) == 16, "struct rdma_ib_addr.dgid");
_Static_assert(offsetof(struct rdma_ib_addr, pkey) == 32, "struct rdma_ib_addr.pkey");
_Static_assert(sizeof(struct rdma_addr) == 296, "sizeof(struct rdma_addr)");
_Static_assert(offsetof(struct rdma_addr, src_addr) == 0, "struct rdma_addr.src_addr");
_Static_assert(offsetof(struct rdma_addr, src_sin) == 0, "struct rdma_addr.src_sin");
_Static_assert(offsetof(struct rdma_addr, src_sin6) == 0, "struct rdma_addr.src_sin6");
_Static_assert(offsetof(struct rdma_addr, src_storage) == 0, "struct rdma_addr.src_storage");
_Static_assert(offsetof(struct rdma_addr, dst_addr) == 128, "struct rdma_addr.dst_addr");
_Static_assert(offsetof(struct rdma_addr, dst_sin) == 128, "struct rdma_addr.dst_sin");
_Static_assert(offsetof(struct rdma_addr, dst_sin6) == 128, "struct rdma_addr.dst_sin6");
_Static_assert(offsetof(struct rdma_addr, dst_storage) == 128, "struct rdma_addr.dst_storage");
_Static_assert(offsetof(struct rdma_addr, addr) == 256, "struct rdma_addr.addr");
_Static_assert(offsetof(struct rdma_addr, addr.ibaddr) == 256, "struct rdma_addr.addr.ibaddr");
_Static_assert(sizeof(struct rdma_route) == 312, "sizeof(struct rdma_route)");
_Static_assert(offsetof(struct rdma_route, addr) == 0, "struct rdma_route.addr");
_Static_assert(offsetof(struct rdma_route, path_rec) == 296, "struct rdma_route.path_rec");
_Static_assert(offsetof(struct rdma_route, num_paths) == 304, "struct rdma_route.num_paths");
_Static_assert(sizeof(struct rdma_event_channel) == 4, "sizeof(struct rdma_event_channel)");
_Static_assert(offsetof(struct rdma_event_channel, fd) == 0, "struct rdma_event_channel.fd");
_Static_assert(sizeof(struct rdma_cm_id) == 416, "sizeof(struct rdma_cm_id)");
_Static_assert(offsetof(struct rdma_cm_id, verbs) == 0, "struct rdma_cm_id.verbs");
_Static_assert(offsetof(struct rdma_cm_id, channel) == 8, "struct rdma_cm_id.channel");
_Static_assert(offsetof(struct rdma_cm_id, context) == 16, "struct rdma_cm_id.context");
_Static_assert(offsetof(struct rdma_cm_id, qp) == 24, "struct rdma_cm_id.qp");
_Static_assert(offsetof(struct rdma_cm_id, route) == 32, "struct rdma_cm_id.route");
_Static_assert(offsetof(struct rdma_cm_id, ps) == 344, "struct rdma_cm_id.ps");
_Static_assert(offsetof(struct rdma_cm_id, port_num) == 348, "struct rdma_cm_id.port_num");
_Static_assert(offsetof(struct rdma_cm_id, event) == 352, "struct rdma_cm_id.event");
_Static_assert(offsetof(struct rdma_cm_id, send_cq_channel) == 360, "struct rdma_cm_id.send_cq_channel");
_Static_assert(offsetof(struct rdma_cm_id, send_cq) == 368, "struct rdma_cm_id.send_cq");
_Static_assert(offsetof(struct rdma_cm_id, recv_cq_channel) == 376, "struct rdma_cm_id.recv_cq_channel");
_Static_assert(offsetof(struct rdma_cm_id, recv_cq) == 384, "struct rdma_cm_id.recv_cq");
_Static_assert(offsetof(struct rdma_cm_id, srq) == 392, "struct rdma_cm_id.srq");
_Static_assert(offsetof(struct rdma_cm_id, pd) == 400, "struct rdma_cm_id.pd");
_Static_assert(offsetof(struct rdma_cm_id, qp_type) == 408, "struct rdma_cm_id.qp_type");
_Static_assert(sizeof(struct rdma_conn_param) == 24, "sizeof(struct rdma_conn_param)");
_Static_assert(offsetof(struct rdma_conn_param, private_data) == 0, "struct rdma_conn_param.private_data");
_Static_assert(offsetof(struct rdma_conn_param, private_data_len) == 8, "struct rdma_conn_param.private_data_len");
_Static_assert(offsetof(struct rdma_conn_param, responder_resources) == 9, "struct rdma_conn_param.responder_resources");
_Static_assert(offsetof(struct rdma_conn_param, initiator_depth) == 10, "struct rdma_conn_param.initiator_depth");
_Static_assert(offsetof(struct rdma_conn_param, flow_control) == 11, "struct rdma_conn_param.flow_control");
_Static_assert(offsetof(struct rdma_conn_param, retry_count) == 12, "struct rdma_conn_param.retry_count");
_Static_assert(offsetof(struct rdma_conn_param, rnr_retry_count) == 13, "struct rdma_conn_param.rnr_retry_count");
_Static_assert(offsetof(struct rdma_conn_param, srq) == 14, "struct rdma_conn_param.srq");
_Static_assert(offsetof(struct rdma_conn_param, qp_num) == 16, "struct rdma_conn_param.qp_num");
_Static_assert(sizeof(struct rdma_ud_param) == 56, "sizeof(struct rdma_ud_param)");
_Static_assert(offsetof(struct rdma_ud_param, private_data) == 0, "struct rdma_ud_param.private_data");
_Static_assert(offsetof(struct rdma_ud_param, private_data_len) == 8, "struct rdma_ud_param.private_data_len");
_Static_assert(offsetof(struct rdma_ud_param, ah_attr) == 16, "struct rdma_ud_param.ah_attr");
_Static_assert(offsetof(struct rdma_ud_param, qp_num) == 48, "struct rdma_ud_param.qp_num");
_Static_assert(offsetof(struct rdma_ud_param, qkey) == 52, "struct rdma_ud_param.qkey");
_Static_assert(sizeof(struct rdma_cm_event) == 80, "sizeof(struct rdma_cm_event)");
_Static_assert(offsetof(struct rdma_cm_event, id) == 0, "struct rdma_cm_event.id");
_Static_assert(offsetof(struct rdma_cm_event, listen_id) == 8, "struct rdma_cm_event.listen_id");
_Static_assert(offsetof(struct rdma_cm_event, event) == 16, "struct rdma_cm_event.event");
_Static_assert(offsetof(struct rdma_cm_event, status) == 20, "struct rdma_cm_event.status");
_Static_assert(offsetof(struct rdma_cm_event, param) == 24, "struct rdma_cm_event.param");
_Static_assert(offsetof(struct rdma_cm_event, param.conn) == 24, "struct rdma_cm_event.param.conn");
_Static_assert(offsetof(struct rdma_cm_event, param.ud) == 24, "struct rdma_cm_event.param.ud");
_Static_assert(offsetof(struct rdma_cm_event, param.arg) == 24, "struct rdma_cm_event.param.arg");
_Static_assert(sizeof(struct rdma_addrinfo) == 96, "sizeof(struct rdma_addrinfo)");
_Static_assert(offsetof(struct rdma_addrinfo, ai_flags) == 0, "struct rdma_addrinfo.ai_flags");
_Static_assert(offsetof(struct rdma_addrinfo, ai_family) == 4, "struct rdma_addrinfo.ai_family");
_Static_assert(offsetof(struct rdma_addrinfo, ai_qp_type) == 8, "struct rdma_addrinfo.ai_qp_type");
_Static_assert(offsetof(struct rdma_addrinfo, ai_port_space) == 12, "struct rdma_addrinfo.ai_port_space");
_Static_assert(offsetof(struct rdma_addrinfo, ai_src_len) == 16, "struct rdma_addrinfo.ai_src_len");
_Static_assert(offsetof(struct rdma_addrinfo, ai_dst_len) == 20, "struct rdma_addrinfo.ai_dst_len");
_Static_assert(offsetof(struct rdma_addrinfo, ai_src_addr) == 24, "struct rdma_addrinfo.ai_src_addr");
_Static_assert(offsetof(struct rdma_addrinfo, ai_dst_addr) == 32, "struct rdma_addrinfo.ai_dst_addr");
_Static_assert(offsetof(struct rdma_addrinfo, ai_src_canonname) == 40, "struct rdma_addrinfo.ai_src_canonname");
_Static_assert(offsetof(struct rdma_addrinfo, ai_dst_canonname) == 48, "struct rdma_addrinfo.ai_dst_canonname");
_Static_assert(offsetof(struct rdma_addrinfo, ai_route_len) == 56, "struct rdma_addrinfo.ai_route_len");
_Static_assert(offsetof(struct rdma_addrinfo, ai_route) == 64, "struct rdma_addrinfo.ai_route");
_Static_assert(offsetof(struct rdma_addrinfo, ai_connect_len) == 72, "struct rdma_addrinfo.ai_connect_len");
_Static_assert(offsetof(struct rdma_addrinfo, ai_connect) == 80, "struct rdma_addrinfo.ai_connect");
_Static_assert(offsetof(struct rdma_addrinfo, ai_next) == 88, "struct rdma_addrinfo.ai_next");
_Static_assert(sizeof(struct rdma_cm_join_mc_attr_ex) == 16, "sizeof(struct rdma_cm_join_mc_attr_ex)");
_Static_assert(offsetof(struct rdma_cm_join_mc_attr_ex, comp_mask) == 0, "struct rdma_cm_join_mc_attr_ex.comp_mask");
_Static_assert(offsetof(struct rdma_cm_join_mc_attr_ex, join_flags) == 4, "struct rdma_cm_join_mc_attr_ex.join_flags");
_Static_assert(offsetof(struct rdma_cm_join_mc_attr_ex, addr) == 8, "struct rdma_cm_join_mc_attr_ex.addr");
