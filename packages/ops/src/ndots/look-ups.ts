/**
 * Finds the look-ups that made the questions of a workload: which name a program gave, and which names its search list made of it.
 *
 * Questions have no mark of the look-up that they belong to. But a look-up that uses the list asks for the name with the first domain,
 * which is the longest of the cluster's. So the longest such name is no part of another look-up: it takes its further questions along, and
 * what is left in the end was asked for as it is. Counts suffice, in any order.
 */
import {
  listReached,
  type ResolverLibrary,
  type SearchSettings,
  type StepOutcome,
} from '@portolan/server/reasons/search-walk.ts';
import type { QuestionRow } from '../control/question-row.ts';

/** Look-ups of a name that are alike. */
export interface NameLookUp {
  /** As the program gave it. With a final dot no list was used: it is complete, or has enough dots. */
  readonly name: string;
  /** Each type of a look-up counts. 0: questions of each were lost, or are those of other look-ups. */
  readonly count: number;
  /** Names of its questions, in their order. */
  readonly asked: readonly string[];
  /** The name that has an answer; undefined: none has. */
  readonly resolvedAs: string | undefined;
  /** Milliseconds that clients waited for names of the list without an answer. Types of a look-up are asked for at the same time. */
  readonly waited: number;
  readonly findOutcome: FindOutcome;
}

/** The outcome of a name; undefined: it was not asked for. */
export type FindOutcome = (name: string) => StepOutcome | undefined;

/** What counts of a name that had several outcomes: that which ends most look-ups. */
const STRONGEST: readonly StepOutcome[] = ['answer', 'nodata', 'servfail', 'refused', 'nxdomain'];
const ADDRESS_TYPES: readonly string[] = ['A', 'AAAA'];
/** Milliseconds for which a library waits for an answer, before it asks again. */
const PATIENCE = 5_000;

interface TypeCount {
  /** Milliseconds from the beginning of the time. */
  last: number;
  count: number;
  milliseconds: number;
  /** Of `count`, those that belong to no look-up yet. */
  left: number;
}

/** Questions of types that a library asks for together. */
interface Family {
  /** By name, then by type. */
  readonly names: Map<string, Map<string, TypeCount>>;
  readonly outcomes: Map<string, StepOutcome>;
}

/** How resolvers ask. */
export interface ResolverSettings extends SearchSettings {
  readonly library: ResolverLibrary;
}

/**
 * @param rows of clients with the same settings, in any order
 * @param end of the time, in milliseconds: a look-up may go on behind it. Default: all have ended.
 */
export function findLookUps(
  rows: readonly QuestionRow[],
  settings: ResolverSettings,
  end = Number.POSITIVE_INFINITY,
): readonly NameLookUp[] {
  return groupByFamily(rows).flatMap((family) => [
    ...findSearches(family, settings, end),
    ...findCompleteNames(family),
  ]);
}

/** The names that programs may have given, of those that end with the first domain of a list; the longest first. */
export function listGivenNames(names: Iterable<string>, first: string): readonly string[] {
  const end = `.${first}.`;
  return Array.from(names)
    .filter((name) => name.endsWith(end) && name.length > end.length)
    .map((name) => name.slice(0, -end.length))
    .sort((one, other) => other.length - one.length);
}

/** Questions that the search list made, whatever their outcome. */
export function countSearched({ name, count, asked }: NameLookUp): number {
  return name.endsWith('.') ? 0 : count * asked.filter((each) => each !== `${name}.`).length;
}

function groupByFamily(rows: readonly QuestionRow[]): readonly Family[] {
  const families = new Map<string, Family>();
  for (const row of rows) {
    const key = ADDRESS_TYPES.includes(row.type) ? '' : row.type;
    const family = families.get(key) ?? { names: new Map(), outcomes: new Map() };
    families.set(key, family);
    addRow(family, row);
  }
  return [...families.values()];
}

function addRow({ names, outcomes }: Family, row: QuestionRow): void {
  const { name, type, outcome, count, milliseconds, last } = row;
  const types = names.get(name) ?? new Map<string, TypeCount>();
  names.set(name, types);
  const asked = types.get(type) ?? { last: 0, count: 0, milliseconds: 0, left: 0 };
  types.set(type, asked);
  asked.last = Math.max(asked.last, last);
  asked.count += count;
  asked.left += count;
  asked.milliseconds += milliseconds;
  const former = outcomes.get(name) ?? outcome;
  outcomes.set(name, STRONGEST.find((each) => each === former || each === outcome) ?? outcome);
}

function findSearches(family: Family, settings: ResolverSettings, end: number): readonly NameLookUp[] {
  const [first] = settings.search;
  if (first === undefined) return [];
  const findOutcome: FindOutcome = (name) => family.outcomes.get(name);
  return listGivenNames(family.names.keys(), first).flatMap((name) => {
    const reached = listReached(name, settings, settings.library, findOutcome);
    const asked = reached.filter((each) => findOutcome(each) !== undefined);
    if (asked.length < reached.length && findLast(family, asked.at(-1)) > end - PATIENCE) return [];
    const resolvedAs = asked.find((each) => findOutcome(each) === 'answer');
    const isSearch = (each: string) => each !== resolvedAs && each !== `${name}.`;
    const { count, waited } = takeLookUps(family, asked, isSearch);
    // A name that was found is not forgotten because questions were lost.
    const isUseless = count === 0 && resolvedAs === undefined;
    return isUseless ? [] : [{ name, count, asked, resolvedAs, waited, findOutcome }];
  });
}

function findLast({ names }: Family, name = ''): number {
  return Array.from(names.get(name)?.values() ?? []).reduce((latest, { last }) => Math.max(latest, last), 0);
}

/** As many look-ups of each type as all names of the way were asked for. */
function takeLookUps(
  { names }: Family,
  asked: readonly string[],
  isSearch: (name: string) => boolean,
): { readonly count: number; readonly waited: number } {
  const waits = new Map<string, number>();
  let count = 0;
  for (const type of new Set(asked.flatMap((name) => [...(names.get(name)?.keys() ?? [])]))) {
    const steps = asked.map((name) => names.get(name)?.get(type));
    const taken = Math.min(...steps.map((step) => step?.left ?? 0));
    if (taken === 0) continue;
    count += taken;
    for (const [index, step] of steps.entries()) {
      const name = asked[index] ?? '';
      if (step === undefined) continue;
      step.left -= taken;
      const wait = (step.milliseconds / step.count) * taken;
      if (isSearch(name)) waits.set(name, Math.max(waits.get(name) ?? 0, wait));
    }
  }
  return { count, waited: [...waits.values()].reduce((sum, wait) => sum + wait, 0) };
}

/** What no search has made. */
function findCompleteNames({ names, outcomes }: Family): readonly NameLookUp[] {
  const findOutcome: FindOutcome = (name) => outcomes.get(name);
  return Array.from(names, ([name, types]) => ({
    name,
    count: [...types.values()].reduce((sum, { left }) => sum + left, 0),
    asked: [name],
    resolvedAs: findOutcome(name) === 'answer' ? name : undefined,
    waited: 0,
    findOutcome,
  })).filter(({ count }) => count > 0);
}
