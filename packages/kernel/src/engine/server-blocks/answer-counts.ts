/**
 * Counts the answers of the handler chain in the memory where the table's readers count theirs.
 */
import { HEADER_OCTETS } from '@portolan/dns/header.ts';
import { encodeName } from '@portolan/dns/name.ts';
import { isWithinZone } from '@portolan/dns/name-text.ts';
import { CLASS, type NameKey } from '@portolan/dns/types.ts';
import type { Clock } from '../../base/clock.ts';
import { CHAIN_OUTCOME } from '../../chain/outcomes.ts';
import type { HandleQuery } from '../../chain/query.ts';
import { Counters } from '../../table/counters.ts';
import { NO_OUTCOME } from '../../table/outcomes.ts';

export interface CountingOptions {
  /** The table's memory, and the main thread's own number among its readers. */
  readonly memory: SharedArrayBuffer;
  readonly reader: number;
  /** Names within it are counted apart from all others. */
  readonly domain?: NameKey;
  readonly clock: Pick<Clock, 'monotonic'>;
}

const TYPE_OTHER = 0;
const TYPE_OCTETS = 2;

export function countAnswers(handleQuery: HandleQuery, options: CountingOptions): HandleQuery {
  const { clock, memory, reader, domain } = options;
  const counters = new Counters(memory, reader);
  const zone = domain && encodeName(domain);
  const count = (response: Uint8Array, milliseconds: number) => {
    const nameEnd = questionNameEnd(response);
    const type = nameEnd === undefined ? TYPE_OTHER : sixteenBits(response, nameEnd);
    counters.beginBatch();
    counters.count(type, sixteenBits(response, 2), toOutcome(response, nameEnd, zone), response.length);
    counters.endBatch(milliseconds);
  };
  return async (query, client) => {
    // A dry run is no query.
    if (client.look !== undefined) return await handleQuery(query, client);
    const came = clock.monotonic();
    const response = await handleQuery(query, client);
    if (response !== undefined) count(response, clock.monotonic() - came);
    return response;
  };
}

/** The position behind the question's name in a response of this server, where this name is whole and uncompressed. */
function questionNameEnd(response: Uint8Array): number | undefined {
  if (sixteenBits(response, 4) !== 1) return undefined;
  let position = HEADER_OCTETS;
  for (let length = response[position] ?? 0; length > 0; length = response[position] ?? 0)
    position += length + 1;
  return position + 1;
}

function toOutcome(response: Uint8Array, nameEnd: number | undefined, zone: Uint8Array | undefined): number {
  if (nameEnd === undefined || zone === undefined) return NO_OUTCOME;
  const { ours, others } = CHAIN_OUTCOME;
  const isAboutUs = sixteenBits(response, nameEnd + TYPE_OCTETS) === CLASS.CH;
  return isAboutUs || isWithinZone(response, HEADER_OCTETS, nameEnd, zone) ? ours : others;
}

function sixteenBits(octets: Uint8Array, at: number): number {
  return ((octets[at] ?? 0) << 8) + (octets[at + 1] ?? 0);
}
