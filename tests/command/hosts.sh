# Hosts for tests: network namespaces on a bridge, each with a name and an
# /etc/hosts of its own. They are there as long as a process of each sleeps.
# CPUS_NAME, if it is set and exported, has the CPUs of a host, as 0,2-3.
# shellcheck shell=bash

HOSTS_NEEDED=(ip tc nsenter unshare mpirun)

# hosts_lack: says why there can be none, if so.
hosts_lack() {
	local program
	[ "$(id -u)" = 0 ] || {
		echo "only root makes hosts"
		return
	}
	for program in "${HOSTS_NEEDED[@]}"; do
		command -v "$program" >/dev/null || {
			echo "no $program to make hosts with: packages" \
				"iproute2, util-linux, openmpi-bin"
			return
		}
	done
	unshare --net --uts --mount ip link add type veth 2>/dev/null || {
		echo "no network namespaces to be had"
		return
	}
	unshare --net tc qdisc add dev lo root tbf rate 1gbit burst 128k \
		latency 50ms 2>/dev/null ||
		echo "tc limits no link here: this kernel has no sch_tbf"
}

# hosts_up NAME ...: sets HOST_NAME, the process that sleeps there, of each.
hosts_up() {
	local name number=0
	HOSTS_FOLDER=$(mktemp -d)
	echo "127.0.0.1 localhost" >"$HOSTS_FOLDER/hosts"
	for name in "$@"; do
		echo "10.77.0.$((++number)) $name" >>"$HOSTS_FOLDER/hosts"
	done
	HOSTS=(switch "$@")
	for name in "${HOSTS[@]}"; do
		# No test waits for what has its descriptors.
		# shellcheck disable=SC2016 # another shell expands them
		unshare --net --uts --mount bash -c '
			hostname "$1" && mount --bind "$2" /etc/hosts &&
			ip link set lo up && touch "$3" && exec sleep 3600
			' - "$name" "$HOSTS_FOLDER/hosts" \
			"$HOSTS_FOLDER/$name" >/dev/null 2>&1 3>&- &
		declare -gx "HOST_$name=$!"
		disown
	done
	for name in "${HOSTS[@]}"; do
		within 10 [ -e "$HOSTS_FOLDER/$name" ] || return 1
	done
	on_host switch ip link add bridge type bridge
	on_host switch ip link set bridge up
	number=0
	for name in "$@"; do
		local pid=HOST_$name
		on_host switch ip link add "to-$name" type veth peer \
			name uplink netns "${!pid}"
		on_host switch ip link set "to-$name" master bridge up
		on_host "$name" ip addr add "10.77.0.$((++number))/24" dev uplink
		on_host "$name" ip link set uplink up
	done
	cat >"$HOSTS_FOLDER/agent" <<-"END"
	#!/bin/bash
	while [[ $1 == -* ]]; do shift; done
	pid=HOST_$1 cpus=CPUS_$1
	shift
	# As of ssh, whose link is cut as well, nothing is heard of its end.
	${!cpus:+taskset -c "${!cpus}"} nsenter --target "${!pid}" \
		--net --uts --mount bash -c "$*" &
	END
	chmod +x "$HOSTS_FOLDER/agent"
	export OMPI_MCA_plm_rsh_agent=$HOSTS_FOLDER/agent
	# Open MPI requires both variables of root; and this part of hwloc takes a
	# second in a virtual machine.
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	export HWLOC_COMPONENTS=-x86
}

# on_host NAME COMMAND ...
on_host() {
	local pid=HOST_$1 cpus=CPUS_$1
	shift
	${!cpus:+taskset -c "${!cpus}"} nsenter --target "${!pid}" \
		--net --uts --mount --wd="$PWD" "$@"
}

# host_link NAME up|down|RATE: of all that the host sends and gets, as 100mbit.
host_link() {
	case $2 in
	up | down) on_host switch ip link set "to-$1" "$2" ;;
	*)
		on_host switch tc qdisc replace dev "to-$1" root tbf rate "$2" \
			burst 128k latency 50ms
		on_host "$1" tc qdisc replace dev uplink root tbf rate "$2" \
			burst 128k latency 50ms
		;;
	esac
}

# host_processes NAME: all that run there, but the one that sleeps.
host_processes() {
	local pid=HOST_$1 net place
	net=$(readlink "/proc/${!pid}/ns/net")
	while IFS=/ read -r _ _ place _; do
		[ "$place" = "${!pid}" ] || ! running "$place" || echo "$place"
	done < <(find /proc/[0-9]*/ns/net -lname "${net/\[/\\[}" 2>/dev/null)
}

host_is_empty() {
	[ -z "$(host_processes "$1")" ]
}

# host_rank NAME RANK: its process.
host_rank() {
	local pid
	for pid in $(host_processes "$1"); do
		! tr '\0' '\n' 2>/dev/null <"/proc/$pid/environ" |
			grep -qx "OMPI_COMM_WORLD_RANK=$2" || echo "$pid"
	done
}

hosts_down() {
	local name pid
	for name in "${HOSTS[@]}"; do
		pid=HOST_$name
		for pid in $(host_processes "$name") "${!pid}"; do
			kill -KILL "$pid" 2>/dev/null || :
		done
	done
	HOSTS=()
	rm -rf "$HOSTS_FOLDER"
}
