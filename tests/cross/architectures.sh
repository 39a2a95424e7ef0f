# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# architectures.sh - the architectures that the tree is built for by cross compilers, and what each is called by whom.
# Sourced by fetch and run.

# Those that together show most: big endian with 64 bits, and 32 bits.
TELLING=(s390x armhf)
ARCHITECTURES=("${TELLING[@]}" arm64 ppc64el riscv64 i386 loong64)

# The suite whose compilers are used. They run with the C library of that suite: the host's may be older.
SUITE=trixie
# shellcheck disable=SC2034 # for whoever sources this
SPARE_SUITE=forky # for libraries of the target, where those of SUITE cannot be had

# know_architecture NAME: NAME is Debian's; sets TRIPLET, the compiler's name; MACHINE, the kernel's; QEMU, the emulator's program,
# empty where the host's CPU runs programs itself; and SYSROOT_SUITE
# shellcheck disable=SC2034 # for whoever sources this
know_architecture() {
	SYSROOT_SUITE=$SUITE
	case $1 in
	arm64) TRIPLET=aarch64-linux-gnu MACHINE=aarch64 QEMU=qemu-aarch64 ;;
	armhf) TRIPLET=arm-linux-gnueabihf MACHINE=armv7l QEMU=qemu-arm ;;
	i386) TRIPLET=i686-linux-gnu MACHINE=i686 QEMU= ;; # under qemu-i386 the C library of this suite divides by 0
	loong64)
		TRIPLET=loongarch64-linux-gnu MACHINE=loongarch64 QEMU=qemu-loongarch64
		SYSROOT_SUITE=sid # no release has this architecture yet
		;;
	ppc64el) TRIPLET=powerpc64le-linux-gnu MACHINE=ppc64le QEMU=qemu-ppc64le ;;
	riscv64) TRIPLET=riscv64-linux-gnu MACHINE=riscv64 QEMU=qemu-riscv64 ;;
	s390x) TRIPLET=s390x-linux-gnu MACHINE=s390x QEMU=qemu-s390x ;;
	*) die "architecture $1 is not known: ${ARCHITECTURES[*]} are" ;;
	esac
}
