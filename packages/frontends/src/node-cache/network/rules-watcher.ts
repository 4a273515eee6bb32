/**
 * A shell process next to the server that removes packet filter rules when the server cannot do it itself.
 *
 * It reads from a pipe. A closed pipe means that the server has ended; a silent pipe means that the server hangs. Then packets must
 * not be sent to its port. If another process answers there, as during an upgrade, the rules stay for that process.
 */
import type { ChildProcess } from 'node:child_process';
import type { Socket } from 'node:net';
import { endianness } from 'node:os';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import { startProgram } from '@portolan/kernel/base/run-program.ts';
import { encodeSocketAddress, type SocketAddress } from '@portolan/kernel/socket/addresses.ts';

export interface RulesWatcherOptions {
  /**
   * Shell commands that remove the rules. A command after the word `repeat` runs until it fails; a command with exit status 4,
   * which iptables returns while another program holds its lock, runs again.
   */
  readonly removal: readonly string[];
  /** Where DNS is answered. Undefined: the rules end with the server by themselves, so only a hanging server is detected. */
  readonly endpoint: SocketAddress | undefined;
  /** Called when the server writes again after the rules were removed because it did not. */
  readonly onRemoved: () => void;
  readonly clock: Clock;
  /** The watched process. Default: this one. */
  readonly server?: number;
  /** Seconds without a heartbeat until the rules are removed. Default: 5. */
  readonly maxSilence?: number;
  /** Seconds for a process to end after it closed its pipe, and between two attempts to get a lock. Default: 1. */
  readonly pause?: number;
}

/** Milliseconds between two heartbeats. */
const PERIOD = 1_000;
/** Seconds; a busy machine does not keep a process from running for this long. */
const MAX_SILENCE = 5;
/** The line that the shell writes once it has removed the rules. */
const REMOVED = 'removed';
const MAX_LINE = 100;
/** Maximum attempts to get a lock, each up to six seconds. */
const MAX_WAITS = 60;

export class RulesWatcher {
  readonly #options: RulesWatcherOptions;
  #shell: ChildProcess | undefined;
  #timer: Timer | undefined;

  constructor(options: RulesWatcherOptions) {
    this.#options = options;
  }

  /** Starts watching, unless it already does. */
  start(): void {
    if (this.#shell !== undefined) return;
    // In a group of its own: a signal to ours must not end it.
    const shell = startProgram(
      '/bin/sh',
      ['-c', CHOOSE_SHELL, makeScript(this.#options)],
      this.#options.clock,
    );
    this.#shell = shell;
    shell.once('exit', () => this.#forget(shell));
    shell.on('error', () => this.#forget(shell));
    let line = '';
    shell.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = `${line}${text}`.split('\n');
      line = lines.pop()?.slice(0, MAX_LINE) ?? '';
      if (this.#shell === shell && lines.includes(REMOVED)) this.#options.onRemoved();
    });
    shell.stderr.resume();
    shell.unref();
    for (const stream of [shell.stdin, shell.stdout, shell.stderr]) (stream as Socket).unref(); // Pipes of Node.js are sockets.
    this.#writeLater(shell);
  }

  /** Ends the shell, which leaves the rules as they are. */
  stop(): void {
    const shell = this.#shell;
    if (shell === undefined) return;
    shell.stdin?.end('done\n');
    this.#forget(shell);
  }

  #writeLater(shell: ChildProcess): void {
    this.#timer = this.#options.clock.after(PERIOD, () => {
      shell.stdin?.write('\n');
      this.#writeLater(shell);
    });
  }

  #forget(shell: ChildProcess): void {
    if (this.#shell !== shell) return;
    this.#shell = undefined;
    this.#timer?.cancel();
  }
}

/**
 * The standard shell of Debian has no read timeout, so it cannot detect that the server hangs. Nobody reads errors once the server has
 * ended, and a closed pipe would end a command that warns.
 */
const CHOOSE_SHELL = `exec 2> /dev/null
for shell in 'busybox sh' bash; do
  command -v \${shell%% *} > /dev/null && exec $shell -c "timed=yes
$0"
done
exec /bin/sh -c "$0"`;

function makeScript(options: RulesWatcherOptions): string {
  const { removal, endpoint, server = process.pid, maxSilence = MAX_SILENCE, pause = 1 } = options;
  const [sockets, place] = endpoint === undefined ? ['/dev/null', ''] : socketsAt(endpoint);
  return `trap '' INT TERM HUP
limit=\${timed:+-t ${maxSilence}}
is_alive() {
  while read -r key state _; do
    [ "$key" = State: ] && case $state in Z|X) return 1 ;; *) return 0 ;; esac
  done 2> /dev/null < /proc/${server}/status
  return 1
}
is_served() {
  while read -r _ place _; do [ "$place" = ${place || '-'} ] && return 0; done < ${sockets}
  return 1
}
waits=${MAX_WAITS}
repeat() {
  while [ $waits -gt 0 ]; do
    [ -z "$hangs" ] && is_served && exit
    "$@" > /dev/null
    case $? in 0) ;; 4) waits=$((waits - 1)); sleep ${pause} ;; *) return ;; esac
  done
}
remove_all() {
  :
${removal.map((command) => `  ${command}`).join('\n')}
}
while :; do
  if read -r $limit word; then
    [ "$word" = done ] && exit
    hangs=
    continue
  fi
  is_alive && [ -n "$limit" ] && sleep ${pause} && is_alive || break
  [ -n "$hangs" ] && continue
  hangs=yes
  remove_all
  echo ${REMOVED}
done
hangs=
${endpoint === undefined ? 'exit' : `is_served && sleep ${pause}`}
remove_all`;
}

/** The table of UDP sockets, and the endpoint as written in it: 32-bit words in host byte order, then the port. */
function socketsAt(endpoint: SocketAddress): readonly [file: string, place: string] {
  const isIpv6 = endpoint.address.includes(':');
  const octets = Buffer.from(encodeSocketAddress(endpoint)).subarray(isIpv6 ? 8 : 4, isIpv6 ? 24 : 8);
  if (endianness() === 'LE') octets.swap32();
  const port = endpoint.port.toString(16).padStart(4, '0');
  return [isIpv6 ? '/proc/net/udp6' : '/proc/net/udp', `${octets.toString('hex')}:${port}`.toUpperCase()];
}
