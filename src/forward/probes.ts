/**
 * Queries of our own: whether a server that went silent is back, and whether one sends our queries back to us.
 *
 * A probe for loops asks for a random name in a domain that the server is asked for. Whoever receives queries shows them to
 * `isOwnProbe`: a name that comes back has gone round. Without loop detection a probe asks for the root's name servers.
 * Only one probe per server is under way, with growing pauses between them. Of a long list of servers a few are tested at a
 * time, since each holds a socket for a while.
 */
import { randomBytes } from 'node:crypto';
import type { Clock, Timer } from '../ground/clock.ts';
import type { Log } from '../ground/log.ts';
import { encodeName, parseName, ROOT } from '../wire/name.ts';
import { type AbsoluteName, CLASS, type NameKey, type Question, TYPE } from '../wire/types.ts';
import { type ForwardQuestion, writeQuery } from './transport/query-message.ts';
import type { Upstream } from './upstream/upstream.ts';
import { probePause, type UpstreamState } from './upstream/upstream-state.ts';

export interface ProbeOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** From 0 to below 1. */
  readonly random: () => number;
  readonly detectsLoops: () => boolean;
  readonly udpSize: () => number;
}

const LABEL_OCTETS = 16;
const LABEL = new RegExp(`^[0-9a-f]{${2 * LABEL_OCTETS}}\\.`);
/** Milliseconds in which a probe comes back if it ever does. */
const LOOP_PATIENCE = 5000;
/** Tests for loops that are under way at once. */
const MOST_UNDER_WAY = 32;
/** Below the root a probe needs a second label: servers do not forward names of one. */
const ROOT_DOMAIN = parseName('portolan-loop-check.');

export class Probes {
  readonly #options: ProbeOptions;
  /** The servers of probes that may still come back, by the name asked for. */
  readonly #names = new Map<string, Upstream>();
  readonly #pauses = new Map<Upstream, Timer>();
  readonly #patience = new Map<Upstream, Timer>();
  /** Those still to be tested, in their order. */
  readonly #untested = new Set<Upstream>();
  /** A domain that each server is asked for. */
  readonly #domains = new Map<Upstream, AbsoluteName>();

  constructor(options: ProbeOptions) {
    this.#options = options;
  }

  /** Takes a server in. @param domain one that it is asked for, in lower case */
  add(upstream: Upstream, domain: NameKey): void {
    this.#domains.set(upstream, domain === ROOT || encodeName(domain).length > 200 ? ROOT_DOMAIN : domain);
  }

  remove(upstream: Upstream): void {
    this.#pauses.get(upstream)?.cancel();
    this.#patience.get(upstream)?.cancel();
    this.#pauses.delete(upstream);
    this.#patience.delete(upstream);
    this.#untested.delete(upstream);
    this.#domains.delete(upstream);
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
      if (this.#patience.size >= MOST_UNDER_WAY) return;
      this.#untested.delete(upstream);
      this.#sendLoopProbe(upstream);
    }
  }

  /** Whether a query that came in is a probe of ours; then the server that it was sent to is taken out. */
  isOwnProbe(question: Question): boolean {
    if (question.type !== TYPE.TXT) return false;
    const name = question.name.toLowerCase();
    if (!LABEL.test(name)) return false;
    const upstream = this.#names.get(name);
    if (upstream === undefined) return false;
    upstream.note('looped');
    return true;
  }

  /** To be told of each change of a server's state. */
  changed(upstream: Upstream, from: UpstreamState): void {
    const { log } = this.#options;
    const to = upstream.state;
    if (to.kind !== from.kind) {
      if (to.kind === 'down')
        log.warn('upstream server does not answer, others are asked first', { upstream: upstream.text });
      if (from.kind === 'down' && to.kind === 'well')
        log.info('upstream server answers again', { upstream: upstream.text });
      if (to.kind === 'looping')
        log.error('upstream server sends our queries back to us, it is left out', {
          upstream: upstream.text,
        });
      if (from.kind === 'looping')
        log.info('upstream server no longer sends our queries back, it is asked again', {
          upstream: upstream.text,
        });
    }
    this.#plan(upstream);
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
    const isSent = this.#options.detectsLoops() && this.#sendLoopProbe(upstream);
    if (!isSent && upstream.state.kind === 'down') this.#send(upstream, { name: ROOT, type: TYPE.NS });
    if (upstream.state.kind === 'down') this.#plan(upstream);
  }

  /** @returns whether none was under way */
  #sendLoopProbe(upstream: Upstream): boolean {
    const domain = this.#domains.get(upstream);
    if (domain === undefined || this.#patience.has(upstream)) return false;
    const name = parseName(`${randomBytes(LABEL_OCTETS).toString('hex')}.${domain}`);
    const loopsBefore = upstream.statistics().loops;
    this.#names.set(name, upstream);
    const timer = this.#options.clock.after(LOOP_PATIENCE, () => {
      this.#patience.delete(upstream);
      this.#names.delete(name);
      if (upstream.statistics().loops === loopsBefore) upstream.note('loop-ended');
      this.#plan(upstream);
      this.#testNext();
    });
    this.#patience.set(upstream, timer);
    this.#send(upstream, { name, type: TYPE.TXT });
    return true;
  }

  #send(upstream: Upstream, { name, type }: { readonly name: AbsoluteName; readonly type: number }): void {
    const question: ForwardQuestion = {
      ...{ name, type, class: CLASS.IN },
      ...{ dnssecOk: false, checkingDisabled: false, recursionDesired: true },
    };
    const edns = upstream.refusesEdns ? undefined : this.#options.udpSize();
    upstream.ask(writeQuery(question, edns), {
      replied() {},
      slow() {},
      overdue: (attempt) => attempt.release(),
      failed() {},
    });
  }

  #forgetNames(upstream: Upstream): void {
    for (const [name, other] of this.#names) if (other === upstream) this.#names.delete(name);
  }
}
