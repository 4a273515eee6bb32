/**
 * Compares two long lists. Where most items keep their order, it needs no hashing: one look at each item is enough.
 */
import { copyItems } from './copy-items.ts';
import { inSteps, type Steps } from './steps.ts';

export interface ListDifference<Item> {
  /** Items of the first list that are missing in the second, in its order. */
  readonly removed: readonly Item[];
  /** Items of the second list that are missing in the first, in its order. */
  readonly added: readonly Item[];
}

/** How far ahead to search in either list for a place where both continue alike. */
const MAX_AHEAD = 1_000;
/** How many items count as different if there is no such place. */
const TAKEN_AT_ONCE = 16;
/** Places to compare per step, with three comparisons each. */
const PLACES_PER_STEP = 20_000;

/**
 * Compares items by identity.
 *
 * @param before without duplicates
 * @param after without duplicates
 */
export function* compareLists<Item extends object>(
  before: readonly Item[],
  after: readonly Item[],
): Steps<ListDifference<Item>> {
  const removed: Item[] = [];
  const added: Item[] = [];
  let [first, second, places] = [0, 0, 0];
  while (first < before.length && second < after.length) {
    if (before[first] === after[second]) {
      first += 1;
      second += 1;
      continue;
    }
    const ahead = findMeeting(before, first, after, second);
    first = take(before, first, ahead.first, removed);
    second = take(after, second, ahead.second, added);
    places += ahead.places;
    if (places < PLACES_PER_STEP) continue;
    places = 0;
    yield;
  }
  take(before, first, before.length, removed);
  take(after, second, after.length, added);
  // A moved item is in both lists.
  return { removed: yield* without(removed, added), added: yield* without(added, removed) };
}

interface Meeting {
  /** Items of each list before the place where both continue alike. */
  readonly first: number;
  readonly second: number;
  readonly places: number;
}

function findMeeting<Item>(
  before: readonly Item[],
  first: number,
  after: readonly Item[],
  second: number,
): Meeting {
  const one = before[first];
  const other = after[second];
  const max = Math.min(MAX_AHEAD, Math.max(before.length - first, after.length - second) - 1);
  for (let ahead = 1; ahead <= max; ahead += 1) {
    const later = before[first + ahead];
    if (later === other) return { first: ahead, second: 0, places: ahead };
    if (after[second + ahead] === one) return { first: 0, second: ahead, places: ahead };
    if (later !== undefined && later === after[second + ahead])
      return { first: ahead, second: ahead, places: ahead };
  }
  return { first: TAKEN_AT_ONCE, second: TAKEN_AT_ONCE, places: max };
}

/** @returns the index where the list continues */
function take<Item>(items: readonly Item[], from: number, count: number, into: Item[]): number {
  const end = Math.min(items.length, from + count);
  copyItems(items, from, end, into);
  return end;
}

function* without<Item>(items: readonly Item[], others: readonly Item[]): Steps<readonly Item[]> {
  if (items.length === 0 || others.length === 0) return items;
  const known = new Set<Item>();
  yield* inSteps(others, (other) => known.add(other));
  const left: Item[] = [];
  yield* inSteps(items, (item) => {
    if (!known.has(item)) left.push(item);
  });
  return left;
}
