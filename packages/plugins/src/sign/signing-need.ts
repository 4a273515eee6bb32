/**
 * Whether a signed zone file must be signed again: by the signatures of its SOA record.
 */
import { readCoveredType, readValidity, secondsUntil } from '@portolan/dns/signed-records.ts';
import { type ResourceRecord, TYPE } from '@portolan/dns/types.ts';
import { formatGoDuration } from '@portolan/kernel/base/duration.ts';

const DAY = 24 * 3600;
/** Seconds since its inception after which a zone is signed again, and before its expiration. */
const MAX_AGE = 6 * DAY;
const MIN_REST = 7 * DAY;

/**
 * @param records of the signed file
 * @param now seconds since the epoch
 * @returns why it must be signed again; undefined: its signatures are valid
 */
export function findSigningNeed(records: readonly ResourceRecord[], now: number): string | undefined {
  let count = 0;
  for (const { data } of records) {
    if (data.kind !== 'unknown' || data.type !== TYPE.RRSIG) continue;
    if (readCoveredType(data.bytes) !== TYPE.SOA) continue;
    const validity = readValidity(data.bytes);
    if (validity === undefined) continue;
    count += 1;
    const age = secondsUntil(now, validity.inception);
    const rest = secondsUntil(validity.expiration, now);
    const at = (time: number) => JSON.stringify(new Date(time * 1000).toISOString());
    if (age > MAX_AGE)
      return `inception ${at(validity.inception)} was more than: ${show(MAX_AGE)} ago from ${at(now)}: ${show(age)}`;
    if (age < 0) return `inception ${at(validity.inception)} date is in the future: ${show(age)}`;
    if (rest < MIN_REST)
      return `expiration ${at(validity.expiration)} is less than: ${show(MIN_REST)} away from ${at(now)}: ${show(rest)}`;
  }
  return count > 0 ? undefined : 'it has no signature of an SOA record';
}

const show = (seconds: number): string => formatGoDuration(seconds * 1000);
