/**
 * Checks of a server's health, as CoreDNS makes them. A failed query starts a round, which ends with the first reply. Only failed
 * checks count: the server is down after more of them than the policy allows, and up again after one reply. Neither is logged.
 */
import { CLASS, type NameKey, OPCODE, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../../base/clock.ts';
import { type QueryMessage, writeReceived } from '../transport/query-message.ts';
import type { Exchange, Transport } from '../transport/transport.ts';

/** How to find out which servers are down. */
export type HealthPolicy =
  /** From the replies to questions; silent servers are probed. */
  | { readonly kind: 'passive' }
  /** A failed query starts a round of checks; a server is down after more failed checks than `maxFails`, until one succeeds. */
  | { readonly kind: 'checks'; readonly maxFails: number; readonly check: HealthCheck };

export interface HealthCheck {
  /** Milliseconds between two checks of a round. */
  readonly interval: number;
  readonly recursionDesired: boolean;
  /** The name to query with type NS. */
  readonly domain: NameKey;
}

export interface HealthChecksOptions {
  readonly health: Extract<HealthPolicy, { readonly kind: 'checks' }>;
  readonly transport: Pick<Transport, 'ask'>;
  readonly clock: Clock;
  /** Called for each check without a reply. */
  readonly onFailed: () => void;
  /** Called when the server goes down, and when it comes up. */
  readonly onChange: (isDown: boolean) => void;
}

/** Milliseconds that a check waits for its reply. */
const CHECK_TIMEOUT = 1000;

export class HealthChecks {
  readonly #options: HealthChecksOptions;
  readonly #query: QueryMessage;
  #fails = 0;
  #isRunning = false;
  #isStopped = false;
  #timer: Timer | undefined;
  #exchange: Exchange | undefined;

  constructor(options: HealthChecksOptions) {
    this.#options = options;
    this.#query = writeCheck(options.health.check);
  }

  /** Starts a round unless one is running. */
  start(): void {
    if (this.#isRunning || this.#isStopped || this.#options.health.maxFails === 0) return;
    this.#isRunning = true;
    this.#check();
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    this.#exchange?.cancel();
  }

  #check(): void {
    const { transport, clock } = this.#options;
    let isOver = false;
    const end = (isAlive: boolean) => {
      if (isOver || this.#isStopped) return;
      isOver = true;
      this.#timer?.cancel();
      this.#exchange = undefined;
      this.#ended(isAlive);
    };
    this.#timer = clock.after(CHECK_TIMEOUT, () => {
      const silent = this.#exchange;
      end(false);
      silent?.overdue();
      silent?.cancel();
    });
    const exchange = transport.ask(this.#query, {
      replied: () => end(true),
      heard() {},
      failed: () => end(false),
    });
    if (!isOver) this.#exchange = exchange;
  }

  #ended(isAlive: boolean): void {
    const { health, clock, onFailed, onChange } = this.#options;
    if (isAlive) {
      this.#fails = 0;
      this.#isRunning = false;
      onChange(false);
      return;
    }
    this.#fails += 1;
    onFailed();
    if (this.#fails > health.maxFails) onChange(true);
    this.#timer = clock.after(health.check.interval, () => this.#check());
  }
}

function writeCheck({ recursionDesired, domain }: HealthCheck): QueryMessage {
  const question = { name: domain, type: TYPE.NS, class: CLASS.IN };
  const flags = { authoritative: false, truncated: false, recursionAvailable: false };
  const header = {
    id: 0,
    response: false,
    opcode: OPCODE.QUERY,
    rcode: 0,
    ...flags,
    recursionDesired,
    authenticData: false,
    checkingDisabled: false,
  };
  // Any reply will do, a truncated one too.
  return {
    ...writeReceived({ question, header, edns: undefined }, 'udp'),
    maxUdpReply: undefined,
    isProbe: true,
  };
}
