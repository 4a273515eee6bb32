/**
 * What clients may do, by their addresses: who may send queries, and how often. Readers decide before they parse a
 * query, and again before they send its response.
 *
 * Rates of responses apply only to UDP, where the address of a client may be forged. Excess queries and responses are dropped, but
 * one in `slip` gets a truncated response: a real client then retries over TCP, and a forger gains no amplification.
 */
import { writeErrorResponse } from '@portolan/dns/acceptance.ts';
import type { AddressRange } from '@portolan/dns/address-range.ts';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { type Clock, systemClock } from '../base/clock.ts';
import { ClientPrefixes } from '../socket/client-prefixes.ts';
import { DEBIT } from './rate-limiter.ts';
import { isBounding, RateChecker, type RateRules, type SharedRates, shareRates } from './rate-rules.ts';
import { type RatedZone, RatedZones } from './rated-zones.ts';

/** `refuse`: REFUSED. `drop`: no response. */
export const ACCESS_ACTIONS = ['allow', 'refuse', 'drop'] as const;
export type AccessAction = (typeof ACCESS_ACTIONS)[number];

export interface AccessRule {
  readonly clients: AddressRange;
  readonly action: AccessAction;
}

export interface ClientRules {
  /** The longest prefix that holds a client's address applies; clients without a match are allowed. */
  readonly access: readonly AccessRule[];
  /** Queries a second of all clients that share a prefix, from 1; undefined: unlimited. */
  readonly queryRate: number | undefined;
  /** Responses a second to all clients that share a prefix, of those that are alike as `rate-rules.ts` says; likewise. */
  readonly responseRate: number | undefined;
  /** One in this many excess queries or responses gets a truncated response; 0: all are dropped. */
  readonly slip: number;
  /** The number of leading bits of an address that make up a client's prefix for rates. */
  readonly prefixLengths: { readonly ipv4: number; readonly ipv6: number };
}

/** Rules with the memory that the threads of a process share. */
export interface SharedClientRules {
  readonly access: readonly AccessRule[];
  /** Those of all names. */
  readonly rates: SharedRates | undefined;
  /** Those that server blocks state for zones. */
  readonly zones: readonly RatedZone[];
}

/** Of queries and of responses: 416 KiB. */
const MAX_COUNTS = 32_768;

/**
 * @param seed drawn at random
 * @param zones with rates that server blocks state
 * @returns undefined if the rules restrict no client, so that readers can skip them
 */
export function shareClientRules(
  rules: ClientRules | undefined,
  seed: number,
  zones: readonly RatedZone[] = [],
): SharedClientRules | undefined {
  const access = rules?.access ?? [];
  const own = rules && toRateRules(rules);
  const rates = own !== undefined && isBounding(own) ? shareRates(own, seed) : undefined;
  if (access.length === 0 && rates === undefined && zones.length === 0) return undefined;
  return { access, rates, zones };
}

function toRateRules({ queryRate = 0, responseRate = 0, slip, prefixLengths }: ClientRules): RateRules {
  return {
    prefixLengths,
    requests: queryRate,
    countsStreams: false,
    responses: {
      response: responseRate,
      nodata: responseRate,
      nxdomain: responseRate,
      referral: responseRate,
      error: responseRate,
    },
    requestSlip: slip,
    responseSlip: slip,
    window: 0,
    maxCounts: MAX_COUNTS,
    reportsOnly: false,
  };
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

export class ClientRuleChecker {
  readonly #access: ClientPrefixes | undefined;
  readonly #rates: RateChecker | undefined;
  readonly #zones: RatedZones | undefined;
  readonly #clock: Pick<Clock, 'monotonic'>;
  #now = 0;

  /** @param clock with a monotonic time that all threads share */
  constructor({ access, rates, zones }: SharedClientRules, clock: Pick<Clock, 'monotonic'> = systemClock) {
    const classes = new Map(access.map(({ clients, action }) => [clients, ACTION_CLASSES[action]]));
    this.#access = access.length === 0 ? undefined : new ClientPrefixes(classes, DECISION.PASS);
    this.#rates = rates && new RateChecker(rates);
    this.#zones = zones.length === 0 ? undefined : new RatedZones(zones);
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

  /**
   * Judges whether a client may send one more query.
   *
   * @param at where its socket address begins in `octets`
   * @param length octets of the query, which begins at `start` of `packet`
   * @returns PASS, DROP or TRUNCATE
   */
  judgeQuery(
    octets: Uint8Array,
    at: number,
    packet: Uint8Array,
    start: number,
    length: number,
    isStream = false,
  ): number {
    const own = this.#rates;
    let debit: number = DEBIT.WITHIN;
    if (own !== undefined && (!isStream || own.countsStreams))
      debit = own.countRequest(octets, at, this.#now);
    if (debit === DEBIT.WITHIN && this.#zones !== undefined)
      for (const each of this.#zones.find(packet, start, length))
        if (debit === DEBIT.WITHIN && (!isStream || each.countsStreams))
          debit = each.countRequest(octets, at, this.#now);
    return decideBy(debit);
  }

  /**
   * Judges a response over UDP.
   *
   * @param at where its client's socket address begins in `octets`
   * @param length octets of the response, which begins at `start` of `packet`
   * @returns PASS, DROP or TRUNCATE
   */
  judgeResponse(octets: Uint8Array, at: number, packet: Uint8Array, start: number, length: number): number {
    let debit = this.#rates?.countResponse(octets, at, packet, start, this.#now) ?? DEBIT.WITHIN;
    if (debit === DEBIT.WITHIN && this.#zones !== undefined)
      for (const each of this.#zones.find(packet, start, length))
        if (debit === DEBIT.WITHIN) debit = each.countResponse(octets, at, packet, start, this.#now);
    return decideBy(debit);
  }
}

function decideBy(debit: number): number {
  if (debit === DEBIT.EXCEEDED) return DECISION.DROP;
  return debit === DEBIT.SLIPS ? DECISION.TRUNCATE : DECISION.PASS;
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
