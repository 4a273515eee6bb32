/**
 * Handles an exception while answering a query, which is a defect of this program: counts it, logs the first few, and sends
 * SERVFAIL. The client may repeat the query at once, so a fault must cost little.
 */
import { writeErrorResponse } from '@portolan/dns/acceptance.ts';
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { describeDefect } from '../base/describe-error.ts';
import type { Log } from '../base/log.ts';

const MAX_LOGGED = 10;

export class Faults {
  count = 0;
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  note(error: unknown): void {
    this.count++;
    if (this.count > MAX_LOGGED) return;
    this.#log.error('internal error', { reason: describeDefect(error) });
  }
}

/**
 * Turns the query at `start` into a SERVFAIL response, in place.
 *
 * @param udpSize the UDP size in our OPT records
 * @returns its length, or 0 if the packet is too short to be answered
 */
export function failQuery(packet: Uint8Array, start: number, length: number, udpSize: number): number {
  return length < HEADER_OCTETS ? 0 : writeErrorResponse(packet, start, length, RCODE.SERVFAIL, udpSize);
}
