/**
 * The records of a history that a filter of queries selects; and what `doctor` says of a time in the past.
 */

import { parseAddress } from '@portolan/dns/address.ts';
import { matchRanges } from '@portolan/dns/address-range.ts';
import { rcodeName, typeName } from '@portolan/dns/mnemonics.ts';
import { isWithin, tryParseKey } from '@portolan/dns/name.ts';
import {
  byStart,
  type ChangeRecord,
  countLeftOut,
  type HistoryRecord,
  overlaps,
  readSpan,
} from '@portolan/server/history/history-record.ts';
import { type Episode, findEpisodes } from '@portolan/server/history/past-verdict.ts';
import type { EventFilter } from './settings/control-order.ts';

/** What was wrong in a time. It is sent as JSON. */
export interface PastDiagnosis {
  readonly kind: 'PastDiagnosis';
  /** RFC 3339. */
  readonly from: string;
  readonly to: string;
  /** The most failures first. */
  readonly episodes: readonly Episode[];
  /** For the worse, or of servers and configurations; the latest last. */
  readonly changes: readonly ChangeRecord[];
  /** Failed queries that were not kept. */
  readonly leftOut: number;
}

const MAX_EPISODES = 20;
const MAX_CHANGES = 50;

/** @param from milliseconds since 1970, as `to` */
export function diagnosePast(records: readonly HistoryRecord[], from: number, to: number): PastDiagnosis {
  const sorted = [...records].sort(byStart);
  const changes = sorted.filter((record) => record.kind === 'change');
  const isIn = (record: HistoryRecord) => overlaps(readSpan(record), { from, to });
  const failures = sorted.filter((record) => record.kind === 'failure').filter(isIn);
  const shown = changes.filter(
    (change) =>
      isIn(change) && (change.effect !== 'good' || change.change === 'server') && change.effect !== 'none',
  );
  return {
    kind: 'PastDiagnosis',
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    episodes: findEpisodes(failures, changes, { from, to }, MAX_EPISODES),
    changes: shown.slice(-MAX_CHANGES),
    leftOut: countLeftOut(records, { from, to }),
  };
}

/** Changes and what was left out pass any filter. */
export function compileRecordFilter({
  names,
  types,
  rcodes,
  clients,
  reasons,
}: EventFilter): (record: HistoryRecord) => boolean {
  const typeNames = types.map(typeName);
  const rcodeNames = rcodes.map(rcodeName);
  const isClient = clients.length === 0 ? undefined : matchRanges(clients);
  return (record) => {
    if (record.kind !== 'failure') return record.kind !== 'reach';
    const { name, type, rcode, client, reason } = record;
    if (rcodeNames.length > 0 && !rcodeNames.includes(rcode === 'NODATA' ? 'NOERROR' : rcode)) return false;
    if (typeNames.length > 0 && !typeNames.includes(type)) return false;
    if (reasons.length > 0 && (reason === undefined || !reasons.includes(reason))) return false;
    if (names.length > 0 && !isBelow(name, names)) return false;
    const octets = isClient && parseAddress(client);
    return isClient === undefined || (octets !== undefined && isClient(octets));
  };
}

/** A hash is below no name. */
function isBelow(name: string, zones: EventFilter['names']): boolean {
  const key = tryParseKey(name);
  return key !== undefined && zones.some((zone) => isWithin(key, zone));
}
