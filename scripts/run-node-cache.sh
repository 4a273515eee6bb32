#!/bin/sh
# Runs the server of the image node-cache: run-node-cache.sh COMMAND [ARGUMENT...], and ends with its exit code.
#
# When process 1 of a container ends, the kernel kills all others. It ends with this shell, which stays after a server that was
# killed, for some seconds at most, until the shell beside the server has removed its rules of iptables.
count_processes() {
  set -- /proc/[0-9]*
  echo $#
}

before=$(count_processes)
"$@" &
server=$!
for signal in TERM INT HUP QUIT USR1 USR2; do
  # shellcheck disable=SC2064
  trap "kill -$signal $server 2> /dev/null" "$signal"
done
# A signal ends the wait, and not the server.
while
  wait "$server"
  code=$?
  kill -0 "$server" 2> /dev/null
do :; done
seconds=0
while [ "$code" -gt 128 ] && [ "$seconds" -lt 10 ] && [ "$(count_processes)" -gt "$before" ]; do
  seconds=$((seconds + 1))
  sleep 1
done
exit "$code"
