/**
 * What two long lists do not have in common. Where most items stand in the same order nothing is hashed: a look at each is enough.
 */
import { copyItems } from './copy-items.ts';
import { inSteps, type Steps } from './steps.ts';

export interface ListDifference<Item> {
  /** Those of the first list that are not in the second, in its order. */
  readonly removed: readonly Item[];
  /** Those of the second list that are not in the first, in its order. */
  readonly added: readonly Item[];
}

/** How far ahead in either list it is looked for a place where they go on alike. */
const MAX_AHEAD = 1_000;
/** How many items are taken for different ones where there is no such place. */
const TAKEN_AT_ONCE = 16;
/** Places that are looked at in a step, three comparisons each. */
const PLACES_PER_STEP = 20_000;

/**
 * Compares items by identity.
 *
 * @param before each item once
 * @param after each item once
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
  // What has moved is in both.
  return { removed: yield* without(removed, added), added: yield* without(added, removed) };
}

interface Meeting {
  /** Items of each list up to the place where both go on alike. */
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

/** @returns where the list goes on */
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
