/**
 * The value of `-compat`: which CoreDNS a server follows, and in which deviations it does as CoreDNS does.
 *
 * A version restores all deviations that have a switch, and `-ID` behind it keeps one. Ids without a version restore those alone.
 */
import { ORDER_PROFILES, type OrderProfile } from '@portolan/corefile/coredns-version.ts';
import { findNearest } from '@portolan/kernel/base/nearest.ts';
import {
  ALL_RESTORED,
  concernsKubeDns,
  DEVIATIONS,
  type Deviation,
  findSwitches,
  isRestorable,
  NOTHING_RESTORED,
  type RestorableId,
  type RestoredDeviations,
} from '@portolan/kernel/deviations/table.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';

export interface Compat {
  /** The version whose plugins and whose order of plugins count. */
  readonly profile: OrderProfile;
  readonly restored: RestoredDeviations;
}

/** Without the flag. */
export const DEFAULT_COMPAT: Compat = { profile: '1.14', restored: NOTHING_RESTORED };

export type CompatReading =
  | { readonly kind: 'good'; readonly value: Compat }
  | { readonly kind: 'bad'; readonly fault: string; readonly remedy: string };

const RESTORABLE: ReadonlyMap<string, RestorableId> = new Map(
  DEVIATIONS.filter(isRestorable).map(({ id }) => [id, id]),
);
const VERSIONS = ORDER_PROFILES.join(' or ');
const LISTED = 'portolan corefile check --compat=1.14 lists those that a Corefile meets.';

/** @param text `1.14`, `1.14,-forward-equal-questions`, or `forward-equal-questions,own-query` */
export function parseCompat(text: string): CompatReading {
  const words = text.split(',');
  const [profile, another] = words.flatMap((word) => ORDER_PROFILES.find((each) => each === word) ?? []);
  if (another !== undefined) return bad(`names two versions: ${profile}, ${another}`, 'Name one.');
  const restored = new Set(profile === undefined ? NOTHING_RESTORED : ALL_RESTORED);
  for (const word of words) {
    if (word === profile) continue;
    const fault = takeWord(word, profile, restored);
    if (fault !== undefined) return fault;
  }
  for (const row of DEVIATIONS) {
    const fault = words.includes(`-${row.id}`) ? refuseRestored(row, restored) : undefined;
    if (fault !== undefined) return fault;
  }
  return { kind: 'good', value: { profile: profile ?? DEFAULT_COMPAT.profile, restored } };
}

/** Adds or removes the deviation that a word names. */
function takeWord(
  word: string,
  profile: OrderProfile | undefined,
  restored: Set<RestorableId>,
): CompatReading | undefined {
  const isKept = word.startsWith('-');
  const named = isKept ? word.slice(1) : word;
  const id = RESTORABLE.get(named);
  if (id === undefined) return refuseWord(named, isKept);
  if (isKept && profile === undefined)
    return bad(`keeps a deviation that nothing restores: ${word}`, `Name a version too, as in 1.14,${word}.`);
  if (!isKept && profile !== undefined)
    return bad(`names a deviation that ${profile} restores: ${word}`, `Write -${word} to keep it.`);
  if (isKept) restored.delete(id);
  else restored.add(id);
  return undefined;
}

function refuseWord(word: string, isKept: boolean): CompatReading {
  const row = DEVIATIONS.find(({ id }) => id === word);
  if (row !== undefined) return refuseRow(row, isKept);
  if (word === '') return bad('has an empty word', 'Take the comma or dash out, or name a deviation.');
  if (/^\d/.test(word))
    return isKept
      ? bad(`has a dash before a version: -${word}`, `Name ${VERSIONS} without a dash.`)
      : bad(`not a version of CoreDNS that is known: ${JSON.stringify(word)}`, `Name ${VERSIONS}.`);
  const nearest = findNearest(word, RESTORABLE.keys());
  const remedy = nearest === undefined ? LISTED : `Did you mean ${nearest}? ${LISTED}`;
  return bad(`not a deviation: ${word}`, remedy);
}

function refuseRow(row: Deviation, isKept: boolean): CompatReading {
  if (concernsKubeDns(row)) return bad(`${row.id} concerns kube-dns`, 'Take it out.');
  const [leader] = findSwitches(row);
  if (leader === undefined) return bad(`${row.id} has no switch`, 'Take it out.');
  const word = isKept ? `-${leader}` : leader;
  return bad(`${row.id} has no switch of its own`, `It goes with ${leader}: write ${word}.`);
}

/** Refuses to keep a deviation that others restore. */
function refuseRestored(row: Deviation, restored: ReadonlySet<string>): CompatReading | undefined {
  const others = findSwitches(row).filter((id) => restored.has(id));
  if (others.length === 0) return undefined;
  const words = others.map((id) => `-${id}`).join(',');
  return bad(`keeps a deviation that others restore too: -${row.id}`, `Keep these too: add ${words}.`);
}

function bad(fault: string, remedy: string): CompatReading {
  return { kind: 'bad', fault, remedy };
}

/** Reads the flag of a command. A wrong value adds a problem. @param text undefined: the flag is not given */
export function readCompat(read: ValueReader, where: string, text: string | undefined): Compat {
  if (text === undefined) return DEFAULT_COMPAT;
  const reading = parseCompat(text);
  if (reading.kind === 'good') return reading.value;
  read.addProblem(where, reading.fault, text, reading.remedy);
  return DEFAULT_COMPAT;
}
