# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# machine.sh - adapters and machines: start `softhca pci`, boot QEMU on it, wait for both.
#
# Who sources it has common.sh and sets CACHE, WORK (a directory for sockets), LOG, SOFTHCA and calls stop_all when leaving.

PIDS=() # of what runs and stop_all should end

# Emulation works everywhere. KVM is for processors that say they can: a container may see a /dev/kvm that cannot.
accelerator() {
	if [ -n "${VM_ACCEL:-}" ]; then
		echo "$VM_ACCEL"
	elif [ -w /dev/kvm ] && grep -qwE 'vmx|svm' /proc/cpuinfo; then
		echo kvm
	else
		echo tcg,thread=multi
	fi
}

stop_all() {
	local pid
	for pid in "${PIDS[@]}"; do
		kill "$pid" 2>/dev/null || true
		wait "$pid" 2>/dev/null || true
	done
	PIDS=()
}

# wait_for_socket PATH PID: until that process has made it
wait_for_socket() { await "$2" 60 test -S "$1"; }

# adapter NAME OPTION...: a softhca that waits for a machine at $WORK/NAME; its log and trace go to $LOG/NAME.*
adapter() {
	local name=$1
	shift
	rm -f "$WORK/$name"
	"$SOFTHCA" pci --socket "$WORK/$name" --verbose --trace "$LOG/$name.trace" "$@" 2>"$LOG/$name.softhca" &
	PIDS+=($!)
	wait_for_socket "$WORK/$name" "${PIDS[-1]}"
}

# machine NAME KERNEL INITRD SECONDS APPEND [QEMU OPTION...]: boot on the adapter of that name; sets MACHINE to its process.
# The console goes to $LOG/NAME.console. A kernel that has lost a thread to a fault ends at once: whoever waits for that thread's
# locks would wait until the time is over.
machine() {
	local name=$1 kernel=$2 initrd=$3 seconds=$4 append=$5 libs=$CACHE/qemu/usr/lib/x86_64-linux-gnu
	shift 5
	timeout -k 5 "$seconds" nice -n 5 "$CACHE/qemu/usr/lib64/ld-linux-x86-64.so.2" \
		--library-path "$libs:$libs/pulseaudio" "$CACHE/qemu/usr/bin/qemu-system-x86_64" \
		-L "$CACHE/qemu/usr/share/qemu" -L "$CACHE/qemu/usr/share/seabios" \
		-machine q35,memory-backend=mem -accel "$(accelerator)" -cpu max -smp "${VM_CPUS:-2}" -m "${VM_MEMORY:-512}" \
		-object "memory-backend-memfd,id=mem,size=${VM_MEMORY:-512}M,share=on" \
		-nodefaults -nographic -no-reboot -serial stdio -vga none -kernel "$kernel" -initrd "$initrd" \
		-append "console=ttyS0 panic=-1 oops=panic quiet no_timer_check mitigations=off $append ${VM_APPEND:-}" \
		-device "{\"driver\":\"vfio-user-pci\",\"socket\":{\"type\":\"unix\",\"path\":\"$WORK/$name\"}}" \
		"$@" </dev/null >"$LOG/$name.console" 2>"$LOG/$name.qemu" &
	MACHINE=$!
	PIDS+=("$MACHINE")
}
