/**
 * What clients may do, by their addresses: who may send queries, and how often. Readers decide before they parse a
 * query, and again before they send its response.
 *
 * Rates apply only to UDP, where the address of a client may be forged. Excess queries and responses are dropped, but
 * one in `slip` gets a truncated response: a real client then retries over TCP, and a forger gains no amplification.
 */
import { type Clock, systemClock } from '../base/clock.ts';
import type { Client } from '../chain/query.ts';
import { encodeSocketAddress } from '../socket/addresses.ts';
import { AF_INET } from '../socket/linux.ts';
import { writeErrorResponse } from '../wire/acceptance.ts';
import { HEADER_OCTETS } from '../wire/header.ts';
import { RCODE } from '../wire/types.ts';
import { type ClientPrefix, ClientPrefixes } from './client-prefixes.ts';
import { makeRateLimiterMemory, RateLimiter } from './rate-limiter.ts';

/** `refuse`: REFUSED. `drop`: no response. */
export const ACCESS_ACTIONS = ['allow', 'refuse', 'drop'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

export interface AccessRule {
  readonly clients: ClientPrefix;
  readonly action: AccessAction;
}

export interface ClientRules {
  /** The longest prefix that holds a client's address applies; clients without a match are allowed. */
  readonly access: readonly AccessRule[];
  /** Queries a second of all clients that share a prefix, from 1; undefined: unlimited. */
  readonly queryRate: number | undefined;
  /** Similar responses a second to all clients that share a prefix: to the same question, or with the same error; likewise. */
  readonly responseRate: number | undefined;
  /** One in this many excess queries or responses gets a truncated response; 0: all are dropped. */
  readonly slip: number;
  /** The number of leading bits of an address that make up a client's prefix for rates. */
  readonly prefixLengths: { readonly ipv4: number; readonly ipv6: number };
}

/** Rules with the memory that the readers of a process share. */
export interface SharedClientRules {
  readonly rules: ClientRules;
  readonly queries: SharedArrayBuffer;
  readonly responses: SharedArrayBuffer;
  /** Drawn at random, so that clients cannot choose addresses that share a counter. */
  readonly seed: number;
}

/** @returns undefined if the rules restrict no client, so that readers can skip them */
export function shareClientRules(rules: ClientRules, seed: number): SharedClientRules | undefined {
  const { access, queryRate, responseRate } = rules;
  if (access.length === 0 && queryRate === undefined && responseRate === undefined) return undefined;
  return { rules, queries: makeRateLimiterMemory(), responses: makeRateLimiterMemory(), seed };
}

/** One checker for each set of rules, in the same places. */
export function makeCheckers(
  shared: readonly (SharedClientRules | undefined)[],
): readonly (ClientRuleChecker | undefined)[] {
  const checkers = new Map<SharedClientRules, ClientRuleChecker>();
  for (const rules of shared)
    if (rules !== undefined && !checkers.has(rules)) checkers.set(rules, new ClientRuleChecker(rules));
  return shared.map((rules) => rules && checkers.get(rules));
}

/** The decision on a query or its response. TRUNCATE: a response without records and with TC. */
export const DECISION = { PASS: 0, REFUSE: 1, DROP: 2, TRUNCATE: 3 } as const;

const ACTION_CLASSES: Readonly<Record<AccessAction, number>> = {
  allow: DECISION.PASS,
  refuse: DECISION.REFUSE,
  drop: DECISION.DROP,
};
const QR = 0x80;
const TC = 0x02;
const IPV4_AT = 4;
const IPV6_AT = 8;

export class ClientRuleChecker {
  readonly #access: ClientPrefixes | undefined;
  readonly #queries: RateLimiter | undefined;
  readonly #responses: RateLimiter | undefined;
  readonly #rules: ClientRules;
  readonly #seed: number;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #now = 0;
  #exceeded = 0;

  /** @param clock with a monotonic time that all threads share */
  constructor(shared: SharedClientRules, clock: Pick<Clock, 'monotonic'> = systemClock) {
    const { rules, queries, responses, seed } = shared;
    const { access, queryRate, responseRate } = rules;
    const classes = new Map(access.map(({ clients, action }) => [clients, ACTION_CLASSES[action]]));
    this.#access = access.length === 0 ? undefined : new ClientPrefixes(classes, DECISION.PASS);
    this.#queries = queryRate === undefined ? undefined : new RateLimiter(queries, queryRate);
    this.#responses = responseRate === undefined ? undefined : new RateLimiter(responses, responseRate);
    this.#rules = rules;
    this.#seed = seed;
    this.#clock = clock;
  }

  /** Reads the clock: once per batch is enough. */
  setTime(): void {
    this.#now = this.#clock.monotonic();
  }

  /**
   * Judges whether a client may send queries at all.
   *
   * @param at where its socket address begins in `octets`
   * @returns PASS, REFUSE or DROP
   */
  judgeAccess(octets: Uint8Array, at: number): number {
    return this.#access?.find(octets, at) ?? DECISION.PASS;
  }

  /** Judges whether a client may send one more query over UDP. @returns PASS, DROP or TRUNCATE */
  judgeQuery(octets: Uint8Array, at: number): number {
    if (this.#queries === undefined) return DECISION.PASS;
    return this.#queries.exceeds(this.#keyOf(octets, at), this.#now) ? this.#limit() : DECISION.PASS;
  }

  /**
   * Judges a response over UDP.
   *
   * @param at where its client's socket address begins in `octets`
   * @returns PASS, DROP or TRUNCATE
   */
  judgeResponse(octets: Uint8Array, at: number, packet: Uint8Array, start: number): number {
    if (this.#responses === undefined) return DECISION.PASS;
    const rcode = (packet[start + 3] ?? 0) & 15;
    let key = mix(this.#keyOf(octets, at), rcode);
    // An attacker can ask for any number of missing names, so they count together.
    if (rcode === RCODE.NOERROR) key = hashQuestion(key, packet, start);
    return this.#responses.exceeds(key, this.#now) ? this.#limit() : DECISION.PASS;
  }

  /** Judges a query outside a batch. @returns one of `DECISION` */
  judge({ address, port, transport }: Client): number {
    const client = encodeSocketAddress({ address, port });
    const access = this.judgeAccess(client, 0);
    if (access !== DECISION.PASS || transport !== 'udp') return access;
    this.setTime();
    return this.judgeQuery(client, 0);
  }

  #limit(): number {
    const { slip } = this.#rules;
    this.#exceeded++;
    return slip > 0 && this.#exceeded % slip === 0 ? DECISION.TRUNCATE : DECISION.DROP;
  }

  /** A hash of the prefix of an address. */
  #keyOf(octets: Uint8Array, at: number): number {
    const { ipv4, ipv6 } = this.#rules.prefixLengths;
    const isIpv4 = octets[at] === AF_INET;
    const from = at + (isIpv4 ? IPV4_AT : IPV6_AT);
    let key = mix(this.#seed, isIpv4 ? 4 : 6);
    for (let left = isIpv4 ? ipv4 : ipv6, octet = from; left > 0; left -= 8, octet++)
      key = mix(key, (octets[octet] ?? 0) & (left < 8 ? 0xff00 >> left : 0xff));
    return key;
  }
}

function mix(hash: number, value: number): number {
  const mixed = Math.imul(hash ^ value, 0x9e3779b1);
  return mixed ^ (mixed >>> 15);
}

/** Adds the name (in lower case) and the type of a response's question to a hash. */
function hashQuestion(hash: number, packet: Uint8Array, start: number): number {
  let at = start + HEADER_OCTETS;
  let mixed = hash;
  for (; (packet[at] ?? 0) !== 0; at++) {
    const octet = packet[at] ?? 0;
    mixed = mix(mixed, octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet);
  }
  return mix(mixed, ((packet[at + 1] ?? 0) << 8) | (packet[at + 2] ?? 0));
}

/**
 * Applies a decision other than PASS to a query, in place.
 *
 * @returns the length of the response; 0 to send no response
 */
export function carryOut(
  decision: number,
  packet: Uint8Array,
  start: number,
  length: number,
  udpSize: number,
): number {
  const isQuery = length >= HEADER_OCTETS && ((packet[start + 2] ?? 0) & QR) === 0;
  if (decision === DECISION.DROP || !isQuery) return 0;
  if (decision === DECISION.TRUNCATE) return truncateResponse(packet, start, length, udpSize);
  return writeErrorResponse(packet, start, length, RCODE.REFUSED, udpSize);
}

/** Turns a query, or the response to it, into a response without records and with TC, in place. @returns its length */
export function truncateResponse(packet: Uint8Array, start: number, length: number, udpSize: number): number {
  const truncated = writeErrorResponse(packet, start, length, RCODE.NOERROR, udpSize);
  packet[start + 2] = (packet[start + 2] ?? 0) | TC;
  return truncated;
}
