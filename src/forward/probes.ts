/**
 * Queries of our own: whether a silent server is alive, and whether one sends our queries back to us.
 *
 * The first asks for the root's name servers, which every resolver has in its cache: a server that takes its time for some names
 * answers it at once. The second asks for a random name in a domain that the server is asked for; queries that come in are shown
 * to `isOwnProbe`, and a name that comes back has gone round. Only one loop probe per server is under way. Of a long list of
 * servers a few are tested at a time, since each holds a socket for a while.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { encodeName, parseName, ROOT } from '../wire/name.ts';
import { type AbsoluteName, CLASS, type NameKey, type Question, TYPE } from '../wire/types.ts';
import { type ForwardQuestion, writeQuery } from './transport/query-message.ts';
import type { AttemptEvents, Upstream } from './upstream/upstream.ts';
import { probePause, type UpstreamState } from './upstream/upstream-state.ts';

export interface ProbeOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly detectsLoops: () => boolean;
  readonly udpSize: () => number;
  /** A probe stays without a reply. */
  readonly onFailed: (upstream: Upstream) => void;
}

const LABEL_OCTETS = 16;
const LABEL = new RegExp(`^[0-9a-f]{${2 * LABEL_OCTETS}}\\.`);
/** Milliseconds in which a loop probe comes back if it ever does. */
const LOOP_TIMEOUT = 5000;
/** Milliseconds between two log lines that say that the same server is down. */
const DOWN_LOG_INTERVAL = 60_000;
/** Milliseconds that a probe is waited for: its reply is heard however slow the server is. */
const PROBE_TIMEOUT = 1000;
/** Tests for loops that are under way at once. */
const MAX_UNDER_WAY = 32;
/** Below the root a probe needs a second label: servers do not forward names of one. */
const ROOT_DOMAIN = parseName('portolan-loop-check.');

export class Probes {
  readonly #options: ProbeOptions;
  /** The servers of probes that may still come back, by the name asked for. */
  readonly #names = new Map<string, Upstream>();
  readonly #pauses = new Map<Upstream, Timer>();
  readonly #loopTimeouts = new Map<Upstream, Timer>();
  /** Those still to be tested, in their order. */
  readonly #untested = new Set<Upstream>();
  /** When each server was logged as down, and how often it was not since. */
  readonly #downs = new Map<
    Upstream,
    { readonly at: number; readonly suppressed: number; readonly isLogged: boolean }
  >();
  /** A domain that each server is asked for. */
  readonly #domains = new Map<Upstream, AbsoluteName>();

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Adds a server. @param domain one that it is asked for, in lower case */
  add(upstream: Upstream, domain: NameKey): void {
    this.#domains.set(upstream, domain === ROOT || encodeName(domain).length > 200 ? ROOT_DOMAIN : domain);
  }

  remove(upstream: Upstream): void {
    this.#pauses.get(upstream)?.cancel();
    this.#loopTimeouts.get(upstream)?.cancel();
    this.#pauses.delete(upstream);
    this.#loopTimeouts.delete(upstream);
    this.#untested.delete(upstream);
    this.#domains.delete(upstream);
    this.#downs.delete(upstream);
    this.#forgetNames(upstream);
  }

  /** Tests servers for loops, if they are to be tested. */
  testForLoops(upstreams: Iterable<Upstream>): void {
    if (!this.#options.detectsLoops()) return;
    for (const upstream of upstreams) this.#untested.add(upstream);
    this.#testNext();
  }

  #testNext(): void {
    for (const upstream of this.#untested) {
      if (this.#loopTimeouts.size >= MAX_UNDER_WAY) return;
      this.#untested.delete(upstream);
      this.#sendLoopProbe(upstream);
    }
  }

  /** Whether a query that came in is a probe of ours; then the server that it was sent to is not asked any more. */
  isOwnProbe(question: Question): boolean {
    if (question.type !== TYPE.TXT) return false;
    const name = question.name.toLowerCase();
    if (!LABEL.test(name)) return false;
    const upstream = this.#names.get(name);
    if (upstream === undefined) return false;
    upstream.note('looped');
    return true;
  }

  /** To be called after each change of a server's state. */
  changed(upstream: Upstream, from: UpstreamState): void {
    const { log } = this.#options;
    const to = upstream.state;
    if (to.kind !== from.kind) {
      if (to.kind === 'down') this.#logDown(upstream);
      if (from.kind === 'down' && to.kind === 'well' && this.#downs.get(upstream)?.isLogged === true)
        log.info('upstream server up', { upstream: upstream.text });
      if (to.kind === 'looping')
        log.error('forwarding loop: upstream server disabled', {
          upstream: upstream.text,
        });
      if (from.kind === 'looping')
        log.info('forwarding loop ended: upstream server enabled', {
          upstream: upstream.text,
        });
    }
    this.#plan(upstream);
  }

  /** A server that comes and goes is logged once a minute, and its return only where its loss was. */
  #logDown(upstream: Upstream): void {
    const { clock, log } = this.#options;
    const before = this.#downs.get(upstream);
    const now = clock.monotonic();
    const isLogged = before === undefined || now - before.at >= DOWN_LOG_INTERVAL;
    if (isLogged)
      log.warn('upstream server down', { upstream: upstream.text, suppressed: before?.suppressed });
    this.#downs.set(upstream, {
      at: isLogged ? now : before.at,
      suppressed: isLogged ? 0 : before.suppressed + 1,
      isLogged,
    });
  }

  stop(): void {
    for (const upstream of [...this.#domains.keys()]) this.remove(upstream);
  }

  /** Sets the pause before the next probe, if the server's state needs one and none is set. */
  #plan(upstream: Upstream): void {
    const pause = probePause(upstream.state, this.#options.random());
    if (pause === undefined || !this.#domains.has(upstream)) {
      this.#pauses.get(upstream)?.cancel();
      this.#pauses.delete(upstream);
      return;
    }
    if (this.#pauses.has(upstream)) return;
    const timer = this.#options.clock.after(pause, () => {
      this.#pauses.delete(upstream);
      this.#probe(upstream);
    });
    this.#pauses.set(upstream, timer);
  }

  #probe(upstream: Upstream): void {
    upstream.note('probed');
    const { kind } = upstream.state;
    const isSent = kind !== 'silent' && this.#options.detectsLoops() && this.#sendLoopProbe(upstream);
    if (!isSent && kind !== 'looping') this.#send(upstream, { name: ROOT, type: TYPE.NS });
    if (upstream.state.kind === 'silent' || upstream.state.kind === 'down') this.#plan(upstream);
  }

  /** @returns whether none was under way */
  #sendLoopProbe(upstream: Upstream): boolean {
    const domain = this.#domains.get(upstream);
    if (domain === undefined || this.#loopTimeouts.has(upstream)) return false;
    const name = parseName(`${randomBytes(LABEL_OCTETS).toString('hex')}.${domain}`);
    const loopsBefore = upstream.statistics().loops;
    this.#names.set(name, upstream);
    const timer = this.#options.clock.after(LOOP_TIMEOUT, () => {
      this.#loopTimeouts.delete(upstream);
      this.#names.delete(name);
      if (upstream.statistics().loops === loopsBefore) upstream.note('loop-ended');
      this.#plan(upstream);
      this.#testNext();
    });
    this.#loopTimeouts.set(upstream, timer);
    this.#send(upstream, { name, type: TYPE.TXT });
    return true;
  }

  #send(upstream: Upstream, { name, type }: { readonly name: AbsoluteName; readonly type: number }): void {
    const question: ForwardQuestion = {
      name,
      type,
      class: CLASS.IN,
      dnssecOk: false,
      checkingDisabled: false,
      recursionDesired: true,
    };
    const { state, edns, usesEdns } = upstream;
    // Every other probe of a silent server goes without EDNS: perhaps that is why nothing is heard.
    const isPlain = !usesEdns || (state.kind === 'silent' && state.probes % 2 === 0);
    const events: AttemptEvents = {
      replied: () => {
        if (isPlain && usesEdns) edns.noteFallback(ROOT);
      },
      slow() {},
      overdue: (attempt) => {
        attempt.release();
        this.#options.onFailed(upstream);
      },
      failed: () => this.#options.onFailed(upstream),
    };
    const timeout = Math.max(upstream.roundTrip.timeout(), PROBE_TIMEOUT);
    upstream.ask(writeQuery(question, isPlain ? undefined : this.#options.udpSize()), events, timeout);
  }

  #forgetNames(upstream: Upstream): void {
    for (const [name, other] of this.#names) if (other === upstream) this.#names.delete(name);
  }
}
