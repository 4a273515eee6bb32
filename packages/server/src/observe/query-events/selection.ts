/**
 * Selects query events for a log: a sample of all events, then by zone, response code and client.
 */
import { matchRanges } from '@portolan/dns/address-range.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { isWithinZone } from '@portolan/dns/name-text.ts';
import type { EventView } from '@portolan/kernel/listen/query-events/event-reader.ts';
import type { QueryLogSettings } from '../../plan/query-log-plan.ts';

const RCODE_MASK = 0x0f;

/** Decides whether the next event is in the sample, before it is parsed. @param random numbers from 0 up to but excluding 1 */
export function sampleEvents({ sample }: QueryLogSettings, random: () => number): () => boolean {
  return sample === 1 ? () => true : () => random() * sample < 1;
}

export function selectEvents({ zones, rcodes, clients }: QueryLogSettings): (event: EventView) => boolean {
  const isClient = matchRanges(clients);
  const tests: ((event: EventView) => boolean)[] = [];
  if (rcodes.length > 0) tests.push(({ responseFlags }) => rcodes.includes(responseFlags & RCODE_MASK));
  if (clients.length > 0) tests.push(({ client }) => isClient(client));
  const wires = zones.map((zone) => encodeName(zone));
  if (wires.length > 0)
    tests.push(
      ({ octets, questionAt, questionOctets, nameEnd }) =>
        questionOctets > 0 && wires.some((zone) => isWithinZone(octets, questionAt, nameEnd, zone)),
    );
  return (event) => tests.every((test) => test(event));
}
