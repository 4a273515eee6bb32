/**
 * One upstream server: queried through its transport, and judged by its replies.
 *
 * An attempt outlives its question: a reply after another server's still shows how this one does, and so does silence.
 * So health costs no extra queries.
 */
import { toFullRcode } from '@portolan/dns/edns.ts';
import { type Message, RCODE } from '@portolan/dns/types.ts';
import type { Clock } from '../../base/clock.ts';
import { QueuedTimer, TimerQueue } from '../../base/timer-queue.ts';
import type { QueryMessage } from '../transport/query-message.ts';
import type {
  DirectServer,
  DirectStream,
  DroppedPackets,
  Exchange,
  ExchangeEvents,
  Transport,
} from '../transport/transport.ts';
import { EdnsSupport } from './edns-support.ts';
import { HealthChecks, type HealthPolicy } from './health-checks.ts';
import type { LossRate } from './loss-rate.ts';
import { Pacing } from './pacing.ts';
import { type ReplyTimeouts, RoundTrip, withoutLosses } from './round-trip.ts';
import { UpstreamHealth } from './upstream-health.ts';
import type { UpstreamEvent, UpstreamState } from './upstream-state.ts';
import type { DirectCounts, UpstreamStatistics } from './upstream-statistics.ts';

export interface AttemptEvents {
  replied(attempt: Attempt, reply: Message): void;
  /** The server is slower than usual. */
  slow(attempt: Attempt): void;
  /** The server has exceeded its usual time. A reply may still come. */
  overdue(attempt: Attempt): void;
  /** There will be no reply. */
  failed(attempt: Attempt, code: string): void;
}

export interface UpstreamOptions {
  /** Its address, for logs and metrics. */
  readonly text: string;
  readonly transport: Transport;
  readonly queriesPerSecond: number | undefined;
  readonly timing: ReplyTimeouts;
  readonly health: HealthPolicy;
  readonly clock: Clock;
  /** Called when a check of its health gets no reply. */
  readonly onCheckFailed?: () => void;
  /** Called when other threads may query it in another way. */
  readonly onDirectChange?: () => void;
  /** Called after each change of the state. */
  readonly onChange: (upstream: Upstream, from: UpstreamState) => void;
  /** Called when it is to be queried with EDNS from now on, or without. */
  readonly onEdnsChange?: () => void;
}

export class Upstream {
  readonly text: string;
  readonly roundTrip: RoundTrip;
  readonly clock: Clock;
  /** When attempts become slow, and when slow ones become overdue: each queue in order. */
  readonly slowness: TimerQueue;
  readonly timeout: TimerQueue;
  readonly edns: EdnsSupport;
  readonly #transport: Transport;
  readonly #pacing: Pacing | undefined;
  readonly #onDirectChange: (() => void) | undefined;
  /** How other threads use connections to it. */
  #directStream: DirectStream | undefined;
  readonly #health: UpstreamHealth;
  /**
   * Attempts in flight, unordered: each stores its index. A set of such short-lived entries would burden the collector,
   * see `QuestionTable`.
   */
  readonly #attempts: Attempt[] = [];
  readonly #replies = new Map<number, number>();
  #sent = 0;
  #timeouts = 0;
  #networkErrors = 0;
  #loops = 0;
  #isRetired = false;
  #changedAt: number;
  #repliedAt: number | undefined;
  /** Packets that other threads dropped. */
  readonly #dropped: DroppedPackets = { strange: 0, otherQuestion: 0, otherCase: 0 };
  /** Queries of other threads in flight. */
  inFlightElsewhere = 0;

  constructor(options: UpstreamOptions) {
    const { text, transport, queriesPerSecond, timing, health, clock, onChange } = options;
    this.text = text;
    this.clock = clock;
    this.slowness = new TimerQueue(clock);
    this.timeout = new TimerQueue(clock);
    this.edns = new EdnsSupport(clock, () => options.onEdnsChange?.());
    this.roundTrip = new RoundTrip(transport.isReliable === true ? withoutLosses(timing) : timing);
    this.#transport = transport;
    this.#onDirectChange = options.onDirectChange;
    this.#directStream = transport.direct?.stream;
    this.#changedAt = clock.monotonic();
    this.#pacing =
      queriesPerSecond === undefined ? undefined : new Pacing(queriesPerSecond, clock.monotonic());
    const changed = (from: UpstreamState) => {
      if (from.kind !== this.state.kind) this.#changedAt = clock.monotonic();
      onChange(this, from);
    };
    const checks =
      health.kind === 'checks'
        ? new HealthChecks({
            health,
            transport,
            clock,
            onFailed: () => options.onCheckFailed?.(),
            onChange: (isDown) => this.note(isDown ? 'gone' : 'replied'),
          })
        : undefined;
    this.#health = new UpstreamHealth(this.roundTrip, changed, checks);
  }

  get state(): UpstreamState {
    return this.#health.state;
  }

  get isDown(): boolean {
    return this.state.kind === 'down';
  }

  get losses(): LossRate {
    return this.#health.losses;
  }

  /** @param dnssecOk whether the question has DO */
  usesEdns(dnssecOk = false): boolean {
    return dnssecOk ? this.edns.isUsedForDnssec : this.edns.isUsed;
  }

  get knowsEdns(): boolean {
    return this.edns.isProven;
  }

  /** Milliseconds until the first query of a question is overdue: without back-off if EDNS may be the reason why nothing is heard of it. */
  firstTimeout(): number {
    return this.usesEdns() && !this.knowsEdns ? this.roundTrip.usualTimeout() : this.roundTrip.timeout();
  }

  /** Milliseconds for which it is still asked although the network refuses it; 0: it has been refusing for too long. */
  refusalPatience(): number {
    return this.#health.refusalPatience(this.clock.monotonic());
  }

  /** Milliseconds until its rate limit allows another query; 0: now. */
  paceDelay(): number {
    return this.#pacing?.wait(this.clock.monotonic()) ?? 0;
  }

  /** How other threads may query it; undefined: only this object may. */
  get direct(): DirectServer | undefined {
    return this.#pacing === undefined ? this.#transport.direct : undefined;
  }

  /**
   * Continues with a query that another thread has sent and counted.
   *
   * @returns undefined if other threads must not query this server
   */
  takeOver(query: QueryMessage, events: AttemptEvents, askedAt: number): TakenOverAttempt | undefined {
    const { direct } = this.#transport;
    if (direct === undefined) return undefined;
    const attempt = new Attempt(this, query, events, askedAt);
    attempt.place = this.#attempts.push(attempt) - 1;
    const exchange = direct.takeOver(query, attempt);
    attempt.wait(exchange);
    return { attempt, exchange };
  }

  /** Adds the counts of another thread. */
  count({ sent, answers, denials, strange, otherQuestion }: DirectCounts): void {
    this.#sent += sent;
    if (answers > 0) this.#replies.set(RCODE.NOERROR, (this.#replies.get(RCODE.NOERROR) ?? 0) + answers);
    if (denials > 0) this.#replies.set(RCODE.NXDOMAIN, (this.#replies.get(RCODE.NXDOMAIN) ?? 0) + denials);
    this.losses.noteAnswered(answers + denials);
    if (answers + denials > 0) this.#repliedAt = this.clock.monotonic();
    this.#dropped.strange += strange;
    this.#dropped.otherQuestion += otherQuestion;
  }

  /** Sends a query. Events may come before this returns. @param timeout milliseconds until it is overdue */
  ask(query: QueryMessage, events: AttemptEvents, timeout = this.roundTrip.timeout()): Attempt {
    this.#sent += 1;
    this.#pacing?.take(this.clock.monotonic());
    const attempt = new Attempt(this, query, events);
    attempt.place = this.#attempts.push(attempt) - 1;
    attempt.start(this.#transport, timeout);
    return attempt;
  }

  /** Reports an event; `upstream-state.ts` defines the resulting state. */
  note(event: UpstreamEvent): void {
    if (event === 'looped') this.#loops += 1;
    this.#health.note(event);
  }

  /** The first packet of a reply came `milliseconds` after its query. @param now by the clock's monotonic time */
  heard(milliseconds: number, now: number): void {
    this.#repliedAt = now;
    this.#health.heard(milliseconds, now);
  }

  /** Counts a reply. @internal for `Attempt` */
  replied(attempt: Attempt, reply: Message): void {
    const rcode = toFullRcode(reply);
    this.#replies.set(rcode, (this.#replies.get(rcode) ?? 0) + 1);
    this.losses.noteAnswered();
    this.#learnEdns(attempt.query, rcode);
    this.#ended(attempt);
    this.#followDirect();
  }

  /** What replies show about a server's connections holds for all threads. */
  #followDirect(): void {
    const stream = this.#transport.direct?.stream;
    if (stream === this.#directStream) return;
    this.#directStream = stream;
    this.#onDirectChange?.();
  }

  /** Only an answer shows whether EDNS is the reason for failures. */
  #learnEdns({ hasEdns, withoutEdnsFor }: QueryMessage, rcode: number): void {
    if (rcode !== RCODE.NOERROR && rcode !== RCODE.NXDOMAIN) return;
    if (hasEdns) this.edns.noteAnswered();
    else if (withoutEdnsFor !== undefined) this.edns.noteFallback(withoutEdnsFor);
  }

  /** Counts an attempt that is overdue. @internal for `Attempt`, like its neighbour */
  overdue(askedAt: number): void {
    this.#timeouts += 1;
    this.#health.overdue(askedAt, this.clock.monotonic());
  }

  /** @internal for `Attempt` */
  outrun(): void {
    this.#health.outrun();
  }

  failed(code: string, askedAt: number): void {
    this.#networkErrors += 1;
    this.#health.failed(code, askedAt, this.clock.monotonic());
  }

  /** @internal for `Attempt` */
  ended(attempt: Attempt): void {
    this.#ended(attempt);
  }

  #ended(attempt: Attempt): void {
    if (this.#attempts[attempt.place] !== attempt) return;
    const last = this.#attempts.pop();
    if (last !== undefined && last !== attempt) {
      this.#attempts[attempt.place] = last;
      last.place = attempt.place;
    }
    if (this.#isRetired && this.#attempts.length === 0) this.#close();
  }

  #close(): void {
    this.#health.stop();
    this.edns.stop();
    this.#transport.close();
  }

  statistics(): UpstreamStatistics {
    const now = this.clock.monotonic();
    return {
      upstream: this.text,
      state: this.state,
      stateAge: now - this.#changedAt,
      lastReplyAge: this.#repliedAt === undefined ? undefined : now - this.#repliedAt,
      sent: this.#sent,
      replies: new Map(this.#replies),
      timeouts: this.#timeouts,
      networkErrors: this.#networkErrors,
      loops: this.#loops,
      dropped: {
        ...this.#transport.dropped,
        strange: this.#transport.dropped.strange + this.#dropped.strange,
        otherQuestion: this.#transport.dropped.otherQuestion + this.#dropped.otherQuestion,
      },
      inFlight: this.#attempts.length + this.inFlightElsewhere,
      smoothedRoundTrip: this.roundTrip.smoothed,
      timeout: this.roundTrip.timeout(),
    };
  }

  /** Accepts no new questions; closes after those in flight. */
  retire(): void {
    this.#isRetired = true;
    if (this.#attempts.length === 0) this.#close();
  }

  /** Stops at once, without further events. */
  close(): void {
    this.#isRetired = true;
    for (const attempt of [...this.#attempts]) attempt.stop();
    this.#close();
  }
}

/** A query that another thread has sent. Call the exchange with its result. */
export interface TakenOverAttempt {
  readonly attempt: Attempt;
  readonly exchange: Pick<ExchangeEvents, 'replied' | 'failed'>;
}

/** Milliseconds by which a timer may be late before we blame ourselves. */
const MAX_LATENESS = 5;

/** One query in flight. */
export class Attempt extends QueuedTimer implements ExchangeEvents {
  readonly upstream: Upstream;
  readonly query: QueryMessage;
  /** Its index among its server's attempts. */
  place = -1;
  readonly askedAt: number;
  #events: AttemptEvents | undefined;
  #exchange: Exchange | undefined;
  #overdueAt = 0;
  #isSlow = false;
  #wasLate = false;
  #isOverdue = false;
  #isOutrun = false;
  #isHeard = false;
  #isDone = false;

  constructor(
    upstream: Upstream,
    query: QueryMessage,
    events: AttemptEvents,
    askedAt = upstream.clock.monotonic(),
  ) {
    super();
    this.upstream = upstream;
    this.query = query;
    this.#events = events;
    this.askedAt = askedAt;
  }

  get isOverdue(): boolean {
    return this.#isOverdue;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  start(transport: Transport, timeout: number): void {
    this.#setTimer(timeout);
    this.#exchange = transport.ask(this.query, this);
  }

  /** Waits for the result of an exchange in progress. */
  wait(exchange: Exchange): void {
    this.#setTimer(this.upstream.firstTimeout());
    this.#exchange = exchange;
    // The sending thread reads replies before it gives up: do not wait longer for being late.
    this.#wasLate = true;
  }

  #setTimer(timeout: number): void {
    const { slowness, roundTrip } = this.upstream;
    this.#overdueAt = this.askedAt + timeout;
    slowness.set(this, this.askedAt + Math.min(roundTrip.hedgeDelay(), timeout));
  }

  /**
   * The question does not need it any more. It stays until it is overdue, to judge the server.
   *
   * @param isOutrun whether another server has answered the question
   */
  release(isOutrun = false): void {
    this.#events = undefined;
    this.#isOutrun = isOutrun && !this.#isDone && !this.#isHeard;
    if (this.#isOutrun && this.#hasHadItsTime()) this.#noteOutrun();
    if (this.#isOverdue && !this.#isDone) this.stop();
  }

  /** Stops it at once. */
  stop(): void {
    this.#events = undefined;
    if (!this.#isDone) this.#exchange?.cancel();
    this.#end();
  }

  /** @internal for the transport */
  replied(reply: Message): void {
    if (this.#isDone) return;
    const events = this.#events;
    this.#finish();
    if (!this.#isHeard) this.#noteHeard();
    this.upstream.replied(this, reply);
    events?.replied(this, reply);
  }

  /** The transport limits the time for the rest, so the query is neither slow nor overdue. @internal for the transport */
  heard(): void {
    if (this.#isDone || this.#isHeard) return;
    this.#isHeard = true;
    this.#unsetTimer();
    this.#noteHeard();
  }

  #noteHeard(): void {
    const now = this.upstream.clock.monotonic();
    this.upstream.heard(now - this.askedAt, now);
  }

  /** @internal for the transport */
  failed(code: string): void {
    if (this.#isDone) return;
    const events = this.#events;
    // An overdue attempt has been counted already.
    if (!this.#isOverdue) this.upstream.failed(code, this.askedAt);
    this.#end();
    events?.failed(this, code);
  }

  /** It has become slow, or overdue. */
  due(): void {
    const now = this.upstream.clock.monotonic();
    const wasSlow = this.#isSlow;
    this.#isSlow = true;
    const again = this.#overdueAfter(now);
    if (again > now) {
      this.upstream.timeout.set(this, again);
      if (!wasSlow) this.#events?.slow(this);
    } else this.#overdue();
  }

  /** When it becomes overdue: `now`, or later. */
  #overdueAfter(now: number): number {
    if (now < this.#overdueAt) return this.#overdueAt;
    // Late replies in the meantime may have shown that the server is slower than expected.
    const usually = this.askedAt + this.upstream.roundTrip.usualTimeout();
    if (usually > now) return usually;
    // We are late ourselves: the reply may have arrived, so first read the sockets.
    const isLate = now - this.#overdueAt > MAX_LATENESS && !this.#wasLate;
    this.#wasLate = true;
    return isLate ? now + 1 : now;
  }

  /** Whether its usual time is over, whatever the server's back-off. */
  #hasHadItsTime(): boolean {
    const { clock, roundTrip } = this.upstream;
    return this.#isOverdue || clock.monotonic() >= this.askedAt + roundTrip.usualTimeout();
  }

  #noteOutrun(): void {
    this.#isOutrun = false;
    this.upstream.outrun();
  }

  #overdue(): void {
    this.#isOverdue = true;
    this.#exchange?.overdue();
    this.upstream.overdue(this.askedAt);
    if (this.#isOutrun) this.#noteOutrun();
    const events = this.#events;
    if (events === undefined) this.release();
    else events.overdue(this);
  }

  #finish(): void {
    this.#isDone = true;
    this.#events = undefined;
    this.#unsetTimer();
  }

  #unsetTimer(): void {
    (this.#isSlow ? this.upstream.timeout : this.upstream.slowness).cancel(this);
  }

  #end(): void {
    this.#finish();
    this.upstream.ended(this);
  }
}
