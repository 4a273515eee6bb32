/**
 * Whether the sources of a derived answer are unchanged: the reader's side.
 */
import { CACHED, CACHED_FLAG, HEADER, NO_PUBLICATION, PUBLICATION, SOURCES, UNIT_SHIFT } from './layout.ts';
import type { TableViews } from './memory.ts';

/** @param entry a cached answer, as an octet */
export function isCurrent({ atoms }: TableViews, entry: number): boolean {
  if (((atoms[(entry + CACHED.FLAGS) >> 2] ?? 0) & CACHED_FLAG.HAS_SOURCES) === 0) return true;
  const sources = (entry + (atoms[(entry + CACHED.BODY) >> 2] ?? 0) - SOURCES.OCTETS) >> 2;
  return (
    atoms[sources] === atoms[HEADER.PLAN_EPOCH] &&
    isAsItWas(atoms, atoms[sources + 1] ?? 0, atoms[sources + 2] ?? 0) &&
    isAsItWas(atoms, atoms[sources + 3] ?? 0, atoms[sources + 4] ?? 0)
  );
}

function isAsItWas(atoms: Int32Array, publication: number, epoch: number): boolean {
  if (publication === NO_PUBLICATION) return true;
  const directory = (atoms[HEADER.PUBLICATIONS] ?? 0) << (UNIT_SHIFT - 2);
  const record = (atoms[directory + publication] ?? 0) << (UNIT_SHIFT - 2);
  return record !== 0 && atoms[record + (PUBLICATION.EPOCH >> 2)] === epoch;
}
