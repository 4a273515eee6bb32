/**
 * Our own probes of upstream servers: whether a silent one is alive, and whether one loops our queries back to us.
 *
 * The first kind asks for the root's name servers, which every resolver has in its cache: even a server that is slow
 * for some names answers at once. The second asks for a random name in a domain that the server handles. `isOwnProbe`
 * checks incoming queries; if such a name comes back, there is a loop. Each server has at most one loop probe in
 * flight. Only a few servers are tested at a time, since each test holds a socket for a while.
 *
 * It logs which servers go down and come up. Servers under `checks` (see upstream/health-checks.ts) have neither probes nor log lines, as
 * in CoreDNS; metrics count their failed checks.
 */
import { randomBytes } from 'node:crypto';
import { encodeName, parseName, ROOT } from '@portolan/dns/name.ts';
import { type AbsoluteName, CLASS, type NameKey, type Question, TYPE } from '@portolan/dns/types.ts';
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { type ForwardQuestion, writeQuery } from './transport/query-message.ts';
import type { AttemptEvents, Upstream } from './upstream/upstream.ts';
import { probePause, type UpstreamState } from './upstream/upstream-state.ts';

export interface UpstreamProbeOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly detectsLoops: () => boolean;
  readonly udpSize: () => number;
  /** Called when a probe gets no reply. */
  readonly onFailed: (upstream: Upstream) => void;
}

const LABEL_OCTETS = 16;
const LABEL = new RegExp(`^[0-9a-f]{${2 * LABEL_OCTETS}}\\.`);
/** Milliseconds to wait for a loop probe to come back. */
const LOOP_TIMEOUT = 5000;
/** Milliseconds between two log lines about the same server being down. */
const DOWN_LOG_INTERVAL = 60_000;
/** Milliseconds to wait for the reply to a probe: even a slow server replies in this time. */
const PROBE_TIMEOUT = 1000;
/** Maximum of loop tests at once. */
const MAX_UNDER_WAY = 32;
/** For servers of the root, probes need a second label: servers do not forward single-label names. */
const ROOT_DOMAIN = parseName('portolan-loop-check.');

export class UpstreamProbes {
  readonly #options: UpstreamProbeOptions;
  /** The servers of outstanding loop probes, by name. */
  readonly #names = new Map<string, Upstream>();
  readonly #pauses = new Map<Upstream, Timer>();
  readonly #loopTimeouts = new Map<Upstream, Timer>();
  /** Servers still to be tested, in order. */
  readonly #untested = new Set<Upstream>();
  /** When each server was last logged as down, and how many log lines were suppressed since. */
  readonly #downs = new Map<
    Upstream,
    { readonly at: number; readonly suppressed: number; readonly isLogged: boolean }
  >();
  /** A domain that each server handles. */
  readonly #domains = new Map<Upstream, AbsoluteName>();

  constructor(options: UpstreamProbeOptions) {
    this.#options = options;
  }

  /** Adds a server. @param domain one that it handles, in lower case */
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

  /** Tests servers for loops, if tests are enabled. */
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

  /** Whether an incoming query is our own probe; if so, its server is not used any more. */
  isOwnProbe(question: Question): boolean {
    if (question.type !== TYPE.TXT) return false;
    const name = question.name.toLowerCase();
    if (!LABEL.test(name)) return false;
    const upstream = this.#names.get(name);
    if (upstream === undefined) return false;
    upstream.note('looped');
    return true;
  }

  /** Call it after each change of a server's state. */
  changed(upstream: Upstream, from: UpstreamState): void {
    const { log } = this.#options;
    const to = upstream.state;
    if (to.kind !== from.kind) {
      if (to.kind === 'down') this.#logDown(upstream);
      if (from.kind === 'down' && to.kind === 'well' && this.#downs.get(upstream)?.isLogged === true)
        log.info('upstream server up', { upstream: upstream.text });
      if (to.kind === 'looping')
        log.error('forwarding loop: upstream server disabled', {
          finding: 'forwarding-loop',
          upstream: upstream.text,
        });
      if (from.kind === 'looping')
        log.info('forwarding loop ended: upstream server enabled', {
          upstream: upstream.text,
        });
    }
    this.#plan(upstream);
  }

  /** A flapping server is logged once a minute, and its return only if its loss was logged. */
  #logDown(upstream: Upstream): void {
    const { clock, log } = this.#options;
    const before = this.#downs.get(upstream);
    const now = clock.monotonic();
    const isLogged = before === undefined || now - before.at >= DOWN_LOG_INTERVAL;
    if (isLogged)
      log.warn('upstream server down', {
        finding: 'upstream-unreachable',
        upstream: upstream.text,
        suppressed: before?.suppressed,
      });
    this.#downs.set(upstream, {
      at: isLogged ? now : before.at,
      suppressed: isLogged ? 0 : before.suppressed + 1,
      isLogged,
    });
  }

  stop(): void {
    for (const upstream of [...this.#domains.keys()]) this.remove(upstream);
  }

  /** Schedules the next probe if the server's state needs one and none is scheduled. */
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

  /** @returns whether it was sent: false without a domain, or while another one is in flight */
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
    const { state } = upstream;
    // Every other probe of a silent server omits EDNS, which may be the reason for the silence.
    const isPlain = !upstream.usesEdns() || (state.kind === 'silent' && state.probes % 2 === 0);
    const events: AttemptEvents = {
      replied() {},
      slow() {},
      overdue: (attempt) => {
        attempt.release();
        this.#options.onFailed(upstream);
      },
      failed: () => this.#options.onFailed(upstream),
    };
    const timeout = Math.max(upstream.roundTrip.timeout(), PROBE_TIMEOUT);
    const query = writeQuery(question, isPlain ? undefined : this.#options.udpSize());
    upstream.ask({ ...query, isProbe: true }, events, timeout);
  }

  #forgetNames(upstream: Upstream): void {
    for (const [name, other] of this.#names) if (other === upstream) this.#names.delete(name);
  }
}
