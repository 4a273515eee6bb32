/**
 * Hands replies that clients were told to the main thread, each with the entry for its cache.
 */
import { EntryEncoder } from '../../table/entry-encoder.ts';
import type { CachedAnswer } from '../../table/types.ts';
import { HEADER_OCTETS } from '../../wire/header.ts';
import { LOWER_CASE, MAX_NAME_OCTETS } from '../../wire/label.ts';
import { CLASS, type WireName } from '../../wire/types.ts';
import { FILL_FLAG, type Fill, FillProducer } from './fill-ring.ts';
import type { PendingQueries } from './pending-queries.ts';
import type { PlainReplies } from './plain-replies.ts';

/** What is known of a reply beside its octets. */
export interface HandedReply {
  readonly packet: Uint8Array;
  readonly start: number;
  readonly length: number;
  readonly server: number;
  /** The number of the policy by which clients were answered, and what a kept answer is counted as. */
  readonly policy: number;
  readonly keptOutcome: number;
  /** Of the clock's monotonic time. */
  readonly now: number;
}

export class ReplyHandover {
  /** Whether something was handed over since the last time that somebody had to be woken. */
  #hasNew = false;
  readonly #pending: PendingQueries;
  readonly #plain: PlainReplies;
  readonly #ring: FillProducer;
  readonly #encoder: EntryEncoder;
  readonly #fill: Fill = {
    ...{ clients: 0, server: 0, generation: 0, microseconds: 0, questionEnd: 0, flags: 0 },
    ...{ entryLength: 0, policy: 0 },
  };
  readonly #name = new Uint8Array(MAX_NAME_OCTETS);

  /**
   * @param ring the memory of a `FillProducer`
   * @param table that of the table
   */
  constructor(
    ring: SharedArrayBuffer,
    table: SharedArrayBuffer,
    pending: PendingQueries,
    plain: PlainReplies,
  ) {
    this.#ring = new FillProducer(ring);
    this.#encoder = new EntryEncoder(table);
    this.#pending = pending;
    this.#plain = plain;
  }

  /** The memory that handed replies lie in. */
  get octets(): Uint8Array {
    return this.#ring.octets;
  }

  /**
   * Hands over the reply that was read last, after a client of its slot was answered.
   *
   * @returns whether there was room; then equal questions are answered from it
   */
  push(slot: number, reply: HandedReply): boolean {
    const pending = this.#pending;
    const fill = this.#fill;
    fill.clients = pending.clients[slot] ?? 0;
    fill.server = reply.server;
    fill.generation = pending.generation[slot] ?? 0;
    fill.microseconds = Math.round((reply.now - (pending.askedAt[slot] ?? 0)) * 1000);
    fill.questionEnd = pending.questionEnd[slot] ?? 0;
    fill.flags = (pending.flags[slot] ?? 0) | (this.#plain.raw.hasOpt ? FILL_FLAG.HAS_OPT : 0);
    fill.policy = reply.policy;
    fill.entryLength = this.#plain.lifetime < 1 ? 0 : this.#encode(slot, reply);
    if (!this.#ring.push(fill, reply.packet, reply.start, reply.length, this.#encoder.octets)) return false;
    this.#hasNew = true;
    pending.fillAt[slot] = this.#ring.packetAt;
    pending.fillLength[slot] = reply.length;
    pending.fillEnd[slot] = this.#ring.end;
    return true;
  }

  /** @returns the octets of the entry */
  #encode(slot: number, { keptOutcome, now }: HandedReply): number {
    const { raw, octets, lifetime } = this.#plain;
    const { answerCount, authorityCount, addresses, runAt, stride, ttlOffsets } = raw;
    const questionEnd = this.#pending.questionEnd[slot] ?? 0;
    const flags = this.#pending.flags[slot] ?? 0;
    const answer: CachedAnswer = {
      name: this.#nameOf(slot, questionEnd),
      type: this.#pending.type[slot] ?? 0,
      class: CLASS.IN,
      dnssecOk: (flags & FILL_FLAG.DNSSEC_OK) !== 0,
      checkingDisabled: (flags & FILL_FLAG.CHECKING_DISABLED) !== 0,
      recursionAvailable: true,
      body: {
        rcode: raw.rcode,
        authoritative: false,
        authenticData: raw.authenticData,
        answerCount,
        authorityCount,
        additionalCount: 0,
        bytes: octets.subarray(questionEnd, questionEnd + raw.recordsLength),
        rotation: addresses > 1 ? { start: runAt, stride, count: addresses } : undefined,
      },
      ttlOffsets: Array.from(ttlOffsets.subarray(0, answerCount + authorityCount)),
      lifetime,
      outcome: keptOutcome,
    };
    return this.#encoder.encode(answer, now);
  }

  #nameOf(slot: number, questionEnd: number): WireName {
    const { octets, first } = this.#pending;
    const from = this.#pending.queryOf(first[slot] ?? 0) + HEADER_OCTETS;
    const length = questionEnd - HEADER_OCTETS - 4;
    for (let at = 0; at < length; at++) this.#name[at] = LOWER_CASE[octets[from + at] ?? 0] ?? 0;
    // It was a name when the query was read.
    return this.#name.subarray(0, length) as WireName;
  }

  /** Whether the main thread has taken the reply of a slot. */
  isTaken(slot: number): boolean {
    return this.#ring.isTaken(this.#pending.fillEnd[slot] ?? 0);
  }

  /** Whether somebody must be woken for what was handed over since the last time. */
  needsWaking(): boolean {
    const hasNew = this.#hasNew;
    this.#hasNew = false;
    return hasNew && this.#ring.needsWaking();
  }
}
