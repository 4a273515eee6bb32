/**
 * MX records: the targets that `mx-host` leaves out, and the record of our own host.
 */
import type { NameKey, RecordData } from '../../wire/types.ts';
import type { DraftRecords } from './draft.ts';
import type { LocalDataPlan } from './plan.ts';

/** All MX records. Our own host has one wherever a common target is set. */
export function completeMail(
  { mailExchanges, mxTarget, localMx }: DraftRecords,
  host: NameKey,
): readonly { readonly name: NameKey; readonly data: RecordData }[] {
  const hasOwn = mailExchanges.some(({ name }) => name === host);
  const needsOwn = (mxTarget !== undefined || localMx) && !hasOwn;
  const own = needsOwn ? [{ name: host, target: undefined, preference: 0 }] : [];
  return [...mailExchanges, ...own].map(({ name, target, preference }) => ({
    name,
    data: { kind: 'MX', preference, exchange: target ?? mxTarget ?? host },
  }));
}

/** What names of hosts files are answered with; `selfmx` wins over `localmx`. */
export function mxOfHosts(
  { selfMx, localMx, mxTarget }: DraftRecords,
  host: NameKey,
): LocalDataPlan['mxOfHosts'] {
  if (selfMx) return { kind: 'self' };
  return localMx ? { kind: 'target', target: mxTarget ?? host } : { kind: 'none' };
}
