/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * Names of the verbs API that are aliases of kernel names, because their values are passed to the
 * kernel unchanged. ib_user_ioctl_verbs.h has the only definition of each. Included by
 * <infiniband/verbs.h>.
 */
#ifndef VERBS_API_H
#define VERBS_API_H

#include <infiniband/ib_user_ioctl_verbs.h>

/* Memory regions. */
#define IBV_ACCESS_OPTIONAL_FIRST              IB_UVERBS_ACCESS_OPTIONAL_FIRST
#define IBV_ACCESS_OPTIONAL_RANGE              IB_UVERBS_ACCESS_OPTIONAL_RANGE
#define ibv_advise_mr_advice                   ib_uverbs_advise_mr_advice
#define IBV_ADVISE_MR_ADVICE_PREFETCH          IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH
#define IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE    IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_WRITE
#define IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT IB_UVERBS_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT
#define IBV_ADVISE_MR_FLAG_FLUSH               IB_UVERBS_ADVISE_MR_FLAG_FLUSH

/* Ports: bit of ibv_port_attr.flags. */
#define IBV_QPF_GRH_REQUIRED IB_UVERBS_QPF_GRH_REQUIRED

/* IPsec flow actions: types. */
#define ibv_flow_action_esp                        ib_uverbs_flow_action_esp
#define ibv_flow_action_esp_encap                  ib_uverbs_flow_action_esp_encap
#define ibv_flow_action_esp_flags                  ib_uverbs_flow_action_esp_flags
#define ibv_flow_action_esp_keymat                 ib_uverbs_flow_action_esp_keymat
#define ibv_flow_action_esp_keymat_aes_gcm         ib_uverbs_flow_action_esp_keymat_aes_gcm
#define ibv_flow_action_esp_keymat_aes_gcm_iv_algo ib_uverbs_flow_action_esp_keymat_aes_gcm_iv_algo
#define ibv_flow_action_esp_replay                 ib_uverbs_flow_action_esp_replay
#define ibv_flow_action_esp_replay_bmp             ib_uverbs_flow_action_esp_replay_bmp

/* IPsec flow actions: values. */
#define IBV_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO  IB_UVERBS_FLOW_ACTION_ESP_FLAGS_INLINE_CRYPTO
#define IBV_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD   IB_UVERBS_FLOW_ACTION_ESP_FLAGS_FULL_OFFLOAD
#define IBV_FLOW_ACTION_ESP_FLAGS_TUNNEL         IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TUNNEL
#define IBV_FLOW_ACTION_ESP_FLAGS_TRANSPORT      IB_UVERBS_FLOW_ACTION_ESP_FLAGS_TRANSPORT
#define IBV_FLOW_ACTION_ESP_FLAGS_DECRYPT        IB_UVERBS_FLOW_ACTION_ESP_FLAGS_DECRYPT
#define IBV_FLOW_ACTION_ESP_FLAGS_ENCRYPT        IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ENCRYPT
#define IBV_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW IB_UVERBS_FLOW_ACTION_ESP_FLAGS_ESN_NEW_WINDOW
#define IBV_FLOW_ACTION_ESP_KEYMAT_AES_GCM       IB_UVERBS_FLOW_ACTION_ESP_KEYMAT_AES_GCM
#define IBV_FLOW_ACTION_ESP_REPLAY_NONE          IB_UVERBS_FLOW_ACTION_ESP_REPLAY_NONE
#define IBV_FLOW_ACTION_ESP_REPLAY_BMP           IB_UVERBS_FLOW_ACTION_ESP_REPLAY_BMP
#define IBV_FLOW_ACTION_IV_ALGO_SEQ              IB_UVERBS_FLOW_ACTION_IV_ALGO_SEQ

#endif
