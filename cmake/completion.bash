# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# shellcheck shell=bash
# Completion in bash for softhca and the RDMA programs. Options are those that the program itself says it has.

# The options of a usage message on standard input.
_rdmakit_options() {
	grep -v "option '\?--" | grep -oE '(^|[^[:alnum:]<-])(--[a-z][[:alnum:]_-]*|-[A-Za-z]\b)' | grep -oE -- '--?[[:alnum:]][[:alnum:]_-]*' | sort -u
}

# What DIRECTORY has that begins with TEXT. Names are not read as words of a shell.
_rdmakit_entries() {
	local path
	for path in "$1/$2"*; do
		[ ! -e "$path" ] || printf '%s\n' "${path##*/}"
	done
}

# Values of an option, as far as somebody knows them; files otherwise.
_rdmakit_values() {
	case $1 in
	--link) compgen -W 'ib ib-grh roce' -- "$2" ;;
	--fault) compgen -W 'drop: loss: late: flip flip: kill kill: kill@ link-down@ link-up@ lid-change@ pkey-change@ gid-change@
		client-reregister@ nodes-vanish@ nodes-appear@ cmd: prm: cmd-timeout:' -- "$2" ;;
	--device) compgen -W 'mlx4 mlx5' -- "$2" ;;
	--netdev) _rdmakit_entries /sys/class/net "$2" ;;
	--network) compgen -d -- "$2" ;;
	--ib-dev) _rdmakit_entries /sys/class/infiniband "$2" ;;
	-d) [[ $3 != */ibv_* && $3 != ibv_* ]] || _rdmakit_entries /sys/class/infiniband "$2" ;;
	*) compgen -f -- "$2" ;;
	esac
}

# Behind "softhca run ... --" stands another command, which has a completion of its own.
_rdmakit_inner_command() {
	local word
	for ((word = 2; word < COMP_CWORD; word++)); do
		[[ ${COMP_WORDS[word]} != -- ]] || break
	done
	[ $word -lt "$COMP_CWORD" ] || return 1
	if declare -F _comp_command_offset >/dev/null; then
		_comp_command_offset $((word + 1))
	elif declare -F _command_offset >/dev/null; then
		_command_offset $((word + 1))
	else
		mapfile -t COMPREPLY < <(compgen -c -- "${COMP_WORDS[COMP_CWORD]}")
	fi
}

_rdmakit() {
	local program=$1 current=$2 previous=$3
	COMPREPLY=()
	# Of --option=value the shell makes three words.
	if [ "$current" = = ]; then
		current=
	elif [ "$previous" = = ] && [ "$COMP_CWORD" -gt 1 ]; then
		previous=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [[ ${program##*/} = softhca ]]; then
		if [ "$COMP_CWORD" = 1 ]; then
			mapfile -t COMPREPLY < <(compgen -W 'run serve pci fault hosts --help --version' -- "$current")
			return
		fi
		! _rdmakit_inner_command || return 0
		[[ ${COMP_WORDS[1]} != fault || $current = -* || $previous = --* ]] || previous=--fault
	fi
	if [[ ${program##*/} = softhca && $current = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-- $("$program" "${COMP_WORDS[1]}" --help 2>/dev/null </dev/null | awk '/^  --/ { print $1 }')" -- "$current")
	elif [[ ${program##*/} = verbs-explain && $current != -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$("$program" --list 2>/dev/null | cut -d' ' -f1)" -- "$current")
	elif [[ $current = -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "-- $("$program" --help 2>&1 </dev/null | _rdmakit_options)" -- "$current")
	else
		mapfile -t COMPREPLY < <(_rdmakit_values "$previous" "$current" "$program")
	fi
}

complete -o filenames -F _rdmakit softhca ibv_asyncwatch ibv_devices ibv_devinfo ibv_doctor ibv_rc_pingpong ibv_srq_pingpong \
	ibv_uc_pingpong ibv_ud_pingpong ibv_xsrq_pingpong cmtime mckey rcopy rdma_client rdma_server rdma_xclient rdma_xserver \
	riostream rping rstream ucmatose udaddy udpong verbs-explain
