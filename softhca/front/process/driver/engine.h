/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.h - the thread that runs the adapters: looks for doorbells and lets the device core work.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ENGINE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ENGINE_H

#include <stdint.h>

struct daemon;
struct adapter;
struct uar_page;

int engine_start(struct daemon *daemon);
void engine_stop(void);
/* Something may have to be done at once: a command was executed. */
void engine_kick(void);
/* What was rung before is executed on return, as far as it can be at once: an adapter would have long done it. */
void engine_catch_up(struct adapter *adapter);
/* The clock that it gives the device core */
uint64_t engine_now(void);

/* Doorbells of PAGE are noticed from now on, or no longer. */
void engine_add_page(struct adapter *adapter, struct uar_page *page);
void engine_remove_page(struct adapter *adapter, struct uar_page *page);

#endif
