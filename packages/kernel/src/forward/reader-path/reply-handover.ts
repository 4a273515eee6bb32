/**
 * Hands replies to the main thread after clients got them, each with its cache entry.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { LOWER_CASE, MAX_NAME_OCTETS } from '@portolan/dns/label.ts';
import { CLASS } from '@portolan/dns/types.ts';
import { EntryEncoder, type PlainAnswer } from '../../table/entry-encoder.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';
import { DEFAULT_VIEW } from '../../table/types.ts';
import { FILL_FLAG, type Fill, FillProducer } from './fill-ring.ts';
import type { PendingQueries } from './pending-queries.ts';
import type { OpenRoute } from './reader-policy.ts';
import type { SimpleReplies } from './simple-replies.ts';

/** The facts about a reply that its octets do not show. */
export interface HandedReply {
  readonly packet: Uint8Array;
  readonly start: number;
  readonly length: number;
  readonly server: number;
  /** The route that the clients were answered by, and the number of its policy. */
  readonly route: OpenRoute;
  readonly policy: number;
  /** By the clock's monotonic time. */
  readonly now: number;
}

/** In the second word of a header. */
const RECURSION_AVAILABLE = 0x80;

export class ReplyHandover {
  /** Whether it handed over replies since the main thread was last woken. */
  #hasNew = false;
  readonly #pending: PendingQueries;
  readonly #plain: SimpleReplies;
  readonly #ring: FillProducer;
  readonly #encoder: EntryEncoder;
  readonly #fill: Fill = {
    clients: 0,
    server: 0,
    generation: 0,
    microseconds: 0,
    questionEnd: 0,
    flags: 0,
    entryLength: 0,
    policy: 0,
    route: 0,
  };
  readonly #name = new Uint8Array(MAX_NAME_OCTETS);
  readonly #answer: { -readonly [Field in keyof PlainAnswer]: PlainAnswer[Field] };

  /**
   * @param ring the memory of a `FillProducer`
   * @param table the table's memory
   */
  constructor(
    ring: SharedArrayBuffer,
    table: SharedArrayBuffer,
    pending: PendingQueries,
    plain: SimpleReplies,
  ) {
    this.#ring = new FillProducer(ring);
    this.#encoder = new EntryEncoder(table);
    this.#pending = pending;
    this.#plain = plain;
    this.#answer = {
      view: DEFAULT_VIEW,
      name: this.#name,
      nameLength: 0,
      type: 0,
      dnsClass: CLASS.IN,
      flags: 0,
      records: plain.raw,
      octets: plain.octets,
      recordsAt: 0,
      lifetime: 0,
      isHeld: false,
      outcome: NO_OUTCOME,
      authoritative: false,
      recursionAvailable: true,
    };
  }

  /** The memory of the replies handed over. */
  get octets(): Uint8Array {
    return this.#ring.octets;
  }

  /**
   * Hands over the last reply read, after a client of its slot was answered.
   *
   * @returns whether there was room; then it also answers equal questions
   */
  push(slot: number, reply: HandedReply): boolean {
    const pending = this.#pending;
    const fill = this.#fill;
    fill.clients = pending.clients[slot] ?? 0;
    fill.server = reply.server;
    fill.generation = pending.generation[slot] ?? 0;
    fill.microseconds = Math.round((reply.now - (pending.askedAt[slot] ?? 0)) * 1000);
    fill.questionEnd = pending.questionEnd[slot] ?? 0;
    fill.flags = (pending.flags[slot] ?? 0) | (pending.hadEdns[slot] === 1 ? FILL_FLAG.HAD_EDNS : 0);
    fill.policy = reply.policy;
    fill.route = reply.route.number;
    fill.entryLength = this.#plain.lifetime < 1 ? 0 : this.#encode(slot, reply);
    if (!this.#ring.push(fill, reply.packet, reply.start, reply.length, this.#encoder.words)) return false;
    this.#hasNew = true;
    pending.fillAt[slot] = this.#ring.packetAt;
    pending.fillLength[slot] = reply.length;
    pending.fillEnd[slot] = this.#ring.end;
    return true;
  }

  /** @returns the octets of the entry; 0: the main thread makes the entry */
  #encode(slot: number, { route, now }: HandedReply): number {
    const { cacheView, form, outcomes } = route;
    if (cacheView === undefined) return 0;
    const { octets, lifetime, raw, flags: responseFlags } = this.#plain;
    const { questionEnd, flags, type } = this.#pending;
    const answer = this.#answer;
    const recordsAt = questionEnd[slot] ?? 0;
    answer.view = cacheView;
    answer.nameLength = recordsAt - HEADER_OCTETS - 4;
    this.#copyName(slot, answer.nameLength);
    answer.type = type[slot] ?? 0;
    answer.flags = flags[slot] ?? 0;
    answer.octets = octets;
    answer.recordsAt = recordsAt;
    answer.lifetime = lifetime;
    answer.isHeld = form.kind === 'as-sent' && form.caching?.countsHits === true;
    answer.outcome = raw.authorityCount > 0 ? outcomes.kept.negative : outcomes.kept.positive;
    // Some old clients discard cached answers without AA.
    answer.authoritative = form.kind === 'as-sent';
    answer.recursionAvailable = form.kind === 'own' || (responseFlags & RECURSION_AVAILABLE) !== 0;
    return this.#encoder.encode(answer, now);
  }

  #copyName(slot: number, length: number): void {
    const { octets, first } = this.#pending;
    const from = this.#pending.queryStartAt(first[slot] ?? 0) + HEADER_OCTETS;
    for (let at = 0; at < length; at++) this.#name[at] = LOWER_CASE[octets[from + at] ?? 0] ?? 0;
  }

  /** Whether the main thread has taken the reply of a slot. */
  isTaken(slot: number): boolean {
    return this.#ring.isTaken(this.#pending.fillEnd[slot] ?? 0);
  }

  /** Whether the main thread must be woken for new replies. */
  needsWaking(): boolean {
    const hasNew = this.#hasNew;
    this.#hasNew = false;
    return hasNew && this.#ring.needsWaking();
  }
}
