/**
 * Selects query events for a log: a sample of all events, then by zone, response code and client.
 */

import type { QueryLogSettings } from '../../config/server/query-log-plan.ts';
import type { QueryEvent } from '../../listen/query-events/event-reader.ts';
import { matchRanges } from '../../wire/address-range.ts';
import { isWithin, toKey } from '../../wire/name.ts';
import { readName } from '../../wire/name-wire.ts';

const RCODE_MASK = 0x0f;

/** Decides whether the next event is in the sample, before it is parsed. @param random numbers from 0 up to but excluding 1 */
export function sampleEvents({ sample }: QueryLogSettings, random: () => number): () => boolean {
  return sample === 1 ? () => true : () => random() * sample < 1;
}

export function selectEvents({ zones, rcodes, clients }: QueryLogSettings): (event: QueryEvent) => boolean {
  const isClient = matchRanges(clients);
  const tests: ((event: QueryEvent) => boolean)[] = [];
  if (rcodes.length > 0) tests.push(({ responseFlags }) => rcodes.includes(responseFlags & RCODE_MASK));
  if (clients.length > 0) tests.push(({ client }) => isClient(client));
  if (zones.length > 0)
    tests.push(({ question }) => {
      if (question.length === 0) return false;
      const name = toKey(readName(question, 0).name);
      return zones.some((zone) => isWithin(name, zone));
    });
  return (event) => tests.every((test) => test(event));
}
