/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * engine.h - the thread that runs the adapters: polls doorbells and calls the device core.
 */
#ifndef SOFTHCA_FRONT_PROCESS_DRIVER_ENGINE_H
#define SOFTHCA_FRONT_PROCESS_DRIVER_ENGINE_H

#include <stdint.h>

struct adapter;
struct fabric;
struct uar_page;

/* The fabric and adapters to run. The caller owns them and keeps them until engine_stop(). */
struct engine_load {
	struct fabric *fabric;
	struct adapter *const *adapters;
	unsigned int num_adapters;
	/* Applies the injected faults that are due. Returns when the next one is due. */
	uint64_t (*run_faults)(uint64_t now);
	/* Runs the adapter that programs drive themselves. Returns when to call again; 0: at
	 * once. */
	uint64_t (*run_vfio)(uint64_t now);
};

int engine_start(const struct engine_load *load);
void engine_stop(void);
void engine_kick(void);
/* Waits until the engine has run all adapters once after the call. Returns 0, or ETIMEDOUT after
 * one second. */
int engine_await_round(void);
/* Handles the doorbells that ADAPTER has got so far, and runs their work for at most TURNS turns. A
 * real adapter would have seen the doorbells long ago. */
enum { ENGINE_ALL_TURNS = 1000 };
void engine_catch_up(struct adapter *adapter, unsigned int turns);
uint64_t engine_now(void);

/* Keep the engine polling, as if there was one more doorbell page; and let it block again. */
void engine_hold(void);
void engine_release(void);

void engine_add_page(struct adapter *adapter, struct uar_page *page);
void engine_remove_page(struct adapter *adapter, struct uar_page *page);

#endif
