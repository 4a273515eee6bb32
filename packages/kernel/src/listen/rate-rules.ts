/**
 * Rates of requests and responses, each for all clients of a network together. Readers apply them, and so does the main thread, to the
 * same accounts.
 *
 * Responses count by what they are alike in, as in BIND: denials of names by their zone, all errors together, and otherwise by the
 * question. An attacker can ask for any number of missing names, so these count together.
 */
import { HEADER_OCTETS, uint16At } from '@portolan/dns/header.ts';
import { LOWER_CASE } from '@portolan/dns/label.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import type { ResponseKind } from '@portolan/plugin';
import { AF_INET, IPV4_AT, IPV6_AT } from '../socket/linux.ts';
import { DEBIT, makeRateLimiterMemory, RateLimiter } from './rate-limiter.ts';

/** Rates are events a second; 0: no bound. */
export interface RateRules {
  /** Leading bits of an address that make up the network of a client. */
  readonly prefixLengths: { readonly ipv4: number; readonly ipv6: number };
  readonly requests: number;
  /** Whether the requests over streams count too. */
  readonly countsStreams: boolean;
  /** Only over UDP, where the address of a client may be forged. */
  readonly responses: Readonly<Record<ResponseKind, number>>;
  /** Of so many requests or responses that exceed their rate, one gets a truncated response; 0: all are dropped. */
  readonly requestSlip: number;
  readonly responseSlip: number;
  /** Milliseconds that a network may be in debt, as in `RateLimiter`. */
  readonly window: number;
  /** How many counts are kept. */
  readonly maxCounts: number;
  /** Whether what exceeds a rate is only counted. */
  readonly reportsOnly: boolean;
}

/** Rules with the memory that all threads share. */
export interface SharedRates {
  readonly rules: RateRules;
  readonly accounts: SharedArrayBuffer;
  /** How many have exceeded their rate since the start: two words, of requests and of responses. Undefined: nobody reads them. */
  readonly exceeded: SharedArrayBuffer | undefined;
  /** Drawn at random, so that clients cannot choose addresses that share an account. */
  readonly seed: number;
}

/** The words of `SharedRates.exceeded`. */
export const EXCEEDED = { REQUESTS: 0, RESPONSES: 1 } as const;

/** Whether anything is bounded. */
export function isBounding({ requests, responses }: Pick<RateRules, 'requests' | 'responses'>): boolean {
  return requests > 0 || Object.values(responses).some((rate) => rate > 0);
}

export function makeExceededWords(): SharedArrayBuffer {
  return new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT);
}

/** Rates with accounts of their own. */
export function shareRates(rules: RateRules, seed: number): SharedRates {
  return { rules, seed, accounts: makeRateLimiterMemory(rules.maxCounts), exceeded: undefined };
}

/** A number for each kind in the key of an account; 0 stands for requests. */
const KINDS: readonly ResponseKind[] = ['response', 'nodata', 'nxdomain', 'referral', 'error'];
const REQUEST = 0;
const RESPONSE = 1;
const NODATA = 2;
const NXDOMAIN = 3;
const REFERRAL = 4;
const ERROR = 5;
/** RFC 1035 section 2.3.4: a name has at most 127 labels. */
const MAX_LABELS = 127;

export class RateChecker {
  readonly countsStreams: boolean;
  readonly #limiter: RateLimiter;
  readonly #rules: RateRules;
  readonly #seed: number;
  readonly #exceeded: Int32Array | undefined;
  readonly #requestInterval: number;
  /** By the number of a kind; 0: no bound. */
  readonly #intervals: readonly number[];
  readonly #boundsResponses: boolean;

  constructor({ rules, accounts, exceeded, seed }: SharedRates) {
    this.countsStreams = rules.countsStreams;
    this.#limiter = new RateLimiter(accounts, rules.window);
    this.#rules = rules;
    this.#seed = seed;
    this.#exceeded = exceeded && new Int32Array(exceeded);
    this.#requestInterval = toInterval(rules.requests);
    this.#intervals = [0, ...KINDS.map((kind) => toInterval(rules.responses[kind]))];
    this.#boundsResponses = this.#intervals.some((interval) => interval > 0);
  }

  /** Counts a request. @param client where its socket address begins in `octets` @returns WITHIN, EXCEEDED or SLIPS */
  countRequest(octets: Uint8Array, client: number, now: number): number {
    if (this.#requestInterval === 0) return DEBIT.WITHIN;
    const key = mix(this.#hashNetwork(octets, client), REQUEST);
    const { requestSlip } = this.#rules;
    return this.#judge(this.#limiter.debit(key, this.#requestInterval, requestSlip, now), EXCEEDED.REQUESTS);
  }

  /**
   * Counts a whole response.
   *
   * @param client where the socket address of its client begins in `octets`
   * @returns WITHIN, EXCEEDED or SLIPS
   */
  countResponse(octets: Uint8Array, client: number, packet: Uint8Array, start: number, now: number): number {
    if (!this.#boundsResponses) return DEBIT.WITHIN;
    const nameAt = start + HEADER_OCTETS;
    const nameEnd = findNameEnd(packet, nameAt);
    const kind = findKind(packet, start, nameEnd);
    const interval = this.#intervals[kind] ?? 0;
    if (interval === 0) return DEBIT.WITHIN;
    let key = mix(this.#hashNetwork(octets, client), kind);
    if (kind === RESPONSE || kind === NODATA) key = hashName(key, packet, start, nameAt);
    if ((kind === NXDOMAIN || kind === REFERRAL) && readCount(packet, start, AUTHORITIES_AT) > 0)
      key = hashName(key, packet, start, nameEnd + QUESTION_OCTETS);
    if (kind === RESPONSE || kind === REFERRAL) key = mix(key, uint16At(packet, nameEnd));
    const { responseSlip } = this.#rules;
    return this.#judge(this.#limiter.debit(key, interval, responseSlip, now), EXCEEDED.RESPONSES);
  }

  #judge(debit: number, word: number): number {
    if (debit === DEBIT.WITHIN || debit === DEBIT.NO_ROOM) return DEBIT.WITHIN;
    // Threads would contend for the words.
    if (this.#exceeded !== undefined) Atomics.add(this.#exceeded, word, 1);
    return this.#rules.reportsOnly ? DEBIT.WITHIN : debit;
  }

  /** A hash of the network of a client. */
  #hashNetwork(octets: Uint8Array, client: number): number {
    const { ipv4, ipv6 } = this.#rules.prefixLengths;
    const isIpv4 = octets[client] === AF_INET;
    const from = client + (isIpv4 ? IPV4_AT : IPV6_AT);
    let key = mix(this.#seed, isIpv4 ? 4 : 6);
    for (let left = isIpv4 ? ipv4 : ipv6, octet = from; left > 0; left -= 8, octet++)
      key = mix(key, (octets[octet] ?? 0) & (left < 8 ? 0xff00 >> left : 0xff));
    return key;
  }
}

const ANSWERS_AT = 6;
const AUTHORITIES_AT = 8;
/** The type and the class behind its name. */
const QUESTION_OCTETS = 4;

/** @param nameEnd where the name of the question ends */
function findKind(packet: Uint8Array, start: number, nameEnd: number): number {
  if (readCount(packet, start, ANSWERS_AT) > 0) return RESPONSE;
  const rcode = (packet[start + 3] ?? 0) & 15;
  if (rcode === RCODE.NXDOMAIN) return NXDOMAIN;
  if (rcode !== RCODE.NOERROR) return ERROR;
  if (readCount(packet, start, AUTHORITIES_AT) === 0) return NODATA;
  const type = uint16At(packet, findNameEnd(packet, nameEnd + QUESTION_OCTETS));
  return type === TYPE.NS ? REFERRAL : NODATA;
}

function readCount(packet: Uint8Array, start: number, at: number): number {
  return uint16At(packet, start + at);
}

function isPointer(octet: number): boolean {
  return octet >= 0xc0;
}

/** Where a name ends that may end with a pointer. Bounded for any octets. */
function findNameEnd(packet: Uint8Array, name: number): number {
  let at = name;
  for (let label = 0; label <= MAX_LABELS; label++) {
    const length = packet[at] ?? 0;
    if (length === 0) return at + 1;
    if (isPointer(length)) return at + 2;
    at += 1 + length;
  }
  return at;
}

/** Adds a name in lower case to a hash, through pointers. Bounded for any octets. */
function hashName(hash: number, packet: Uint8Array, start: number, name: number): number {
  let at = name;
  let mixed = hash;
  for (let step = 0; step <= 2 * MAX_LABELS; step++) {
    const length = packet[at] ?? 0;
    if (length === 0) break;
    if (isPointer(length)) at = start + (((length & 0x3f) << 8) | (packet[at + 1] ?? 0));
    else {
      mixed = hashLabel(mixed, packet, at, length);
      at += 1 + length;
    }
  }
  return mixed;
}

/** Adds a label in lower case to a hash. @param at where its length is */
export function hashLabel(hash: number, packet: Uint8Array, at: number, length: number): number {
  let mixed = mix(hash, length);
  for (let place = at + 1; place <= at + length; place++)
    mixed = mix(mixed, LOWER_CASE[packet[place] ?? 0] ?? 0);
  return mixed;
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

function toInterval(perSecond: number): number {
  return perSecond === 0 ? 0 : 1000 / perSecond;
}
