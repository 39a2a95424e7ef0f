/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * steps.h - runs a function one instruction of the CPU at a time, so that a test sees memory as an
 * adapter could find it at any moment. CPUs of x86 keep stores in the order of the program: what is
 * seen between two instructions is what others can see.
 */
#ifndef TESTS_UNIT_MLX4_STEPS_H
#define TESTS_UNIT_MLX4_STEPS_H

/* Calls RUN with ARG, and LOOK behind each instruction. It returns how often that was: 0 where the
 * CPU, or what plays it, does not stop. */
unsigned long steps_run(void (*run)(void *arg), void *arg, void (*look)(void));

#endif
