/**
 * What differs between two records of one slice, for the index of a large service. Most endpoints of a changed slice are as they
 * were, some only have another number.
 */
import type { TableViews } from '../table/memory.ts';
import { MADE_LABEL } from './endpoint-writer.ts';
import { SECTION } from './layout.ts';
import { areEqual } from './service-fields.ts';
import { listSections, readyIn } from './slice-addresses.ts';

/** Instead of the number of one endpoint. */
export const SEVERAL = -1;

/** What changes for the cells of a slot. */
export interface HashDifference {
  /** Hashes of endpoints that are new or changed, with the number of the endpoint, or `SEVERAL`. */
  readonly added: ReadonlyMap<number, number>;
  /** Hashes of endpoints that have only another number now, each with this number. */
  readonly moved: readonly number[];
  /** Hashes of no endpoint any more. */
  readonly gone: readonly number[];
  /** Whether the former record had a hash that this one adds. */
  had(hash: number): boolean;
}

/** The ready endpoints of a record, in memory that is used again. */
export class PlaceList {
  sections = new Int32Array(256);
  endpoints = new Int32Array(256);
  count = 0;

  /** @param record 0 for none */
  load(views: TableViews, record: number): this {
    this.count = 0;
    if (record === 0) return this;
    for (const section of listSections(views, record)) {
      const ready = readyIn(views, section);
      this.#reserve(this.count + ready);
      for (let endpoint = 0; endpoint < ready; endpoint++, this.count++) {
        this.sections[this.count] = section;
        this.endpoints[this.count] = endpoint;
      }
    }
    return this;
  }

  #reserve(count: number): void {
    if (count <= this.sections.length) return;
    const [{ sections, endpoints }, size] = [this, 2 ** Math.ceil(Math.log2(count))];
    this.sections = new Int32Array(size);
    this.sections.set(sections);
    this.endpoints = new Int32Array(size);
    this.endpoints.set(endpoints);
  }
}

/** The word of an endpoint's label. @param number of the endpoint in the list */
export function readLabelWord({ atoms }: TableViews, list: PlaceList, number: number): number {
  const section = list.sections[number] ?? 0;
  const labels = atoms[(section + SECTION.LABELS) >> 2] ?? 0;
  return labels === 0 ? 0 : (atoms[((section + labels) >> 2) + (list.endpoints[number] ?? 0)] ?? 0);
}

/** How many endpoints may have come or gone together, for those behind them to be found again. */
const WINDOW = 8;

/** Which endpoints of a record are in the former one too. */
export class Alignment {
  /** Per endpoint of the record: its number in the former one, -1 if it is new or changed. */
  matches = new Int32Array(256);
  /** Endpoints of the former record that are not in this one. */
  readonly left: number[] = [];
  /** Endpoints of the record that are new or changed. */
  readonly added: number[] = [];

  align(views: TableViews, former: PlaceList, now: PlaceList): void {
    if (now.count > this.matches.length) this.matches = new Int32Array(2 ** Math.ceil(Math.log2(now.count)));
    this.left.length = 0;
    this.added.length = 0;
    let at = 0;
    for (let number = 0; number < now.count; number++) {
      const found = findSame(views, now, number, former, at);
      this.matches[number] = found;
      if (found < 0) {
        this.added.push(number);
        // It was inserted before the other endpoints, or replaces one.
        const isInserted = at < former.count && findSame(views, former, at, now, number + 1) >= 0;
        if (!isInserted && at < former.count) this.left.push(at++);
        continue;
      }
      while (at < found) this.left.push(at++);
      at = found + 1;
    }
    while (at < former.count) this.left.push(at++);
  }
}

/** The number of an endpoint in another list, from a number on; -1 if it is not near. */
function findSame(
  views: TableViews,
  list: PlaceList,
  number: number,
  others: PlaceList,
  from: number,
): number {
  const end = Math.min(others.count, from + WINDOW);
  for (let other = from; other < end; other++) if (areSame(views, list, number, others, other)) return other;
  return -1;
}

/** Whether two endpoints have the same address and the same label. */
function areSame(
  views: TableViews,
  list: PlaceList,
  number: number,
  others: PlaceList,
  other: number,
): boolean {
  const { octets } = views;
  const section = list.sections[number] ?? 0;
  const otherSection = others.sections[other] ?? 0;
  if (
    !haveSameAddress(views, section, list.endpoints[number] ?? 0, otherSection, others.endpoints[other] ?? 0)
  )
    return false;
  const word = readLabelWord(views, list, number);
  const otherWord = readLabelWord(views, others, other);
  if (word === 0 || otherWord === 0) return word === otherWord;
  const at = section + (word & ~MADE_LABEL);
  const otherAt = otherSection + (otherWord & ~MADE_LABEL);
  // Its length is the first octet.
  return areEqual(octets, at, octets, otherAt, 1 + (octets[at] ?? 0));
}

function haveSameAddress(
  { atoms, octets }: TableViews,
  section: number,
  endpoint: number,
  other: number,
  otherEndpoint: number,
): boolean {
  const size = ((atoms[(section + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff;
  if (size !== (((atoms[(other + SECTION.SHAPE) >> 2] ?? 0) >>> 16) & 0xff)) return false;
  const at = section + SECTION.ADDRESSES;
  const otherAt = other + SECTION.ADDRESSES;
  if (size === 4) return atoms[(at >> 2) + endpoint] === atoms[(otherAt >> 2) + otherEndpoint];
  return areEqual(octets, at + endpoint * 16, octets, otherAt + otherEndpoint * 16, 16);
}

/** The difference between records of which one repeats endpoints, or most endpoints differ. */
export class WholeDifference implements HashDifference {
  readonly added = new Map<number, number>();
  readonly moved: readonly number[] = [];
  readonly gone: readonly number[];
  readonly #before: ReadonlySet<number>;

  /** @param before two hashes per endpoint; @param now as well */
  constructor(before: Int32Array, now: Int32Array) {
    this.#before = new Set(before);
    for (let index = 0; index < now.length; index++) {
      const hash = now[index] ?? 0;
      this.added.set(hash, this.added.has(hash) ? SEVERAL : index >> 1);
    }
    this.gone = [...this.#before].filter((hash) => !this.added.has(hash));
  }

  had(hash: number): boolean {
    return this.#before.has(hash);
  }
}

/** The difference between records that do not repeat endpoints, of which few differ. */
export class SmallDifference implements HashDifference {
  readonly added = new Map<number, number>();
  readonly moved: number[] = [];
  readonly gone: readonly number[];
  readonly #before: Int32Array;

  constructor(before: Int32Array, now: Int32Array, { matches, left, added }: Alignment) {
    this.#before = before;
    for (const number of added) {
      this.added.set(now[number * 2] ?? 0, number);
      this.added.set(now[number * 2 + 1] ?? 0, number);
    }
    for (let number = 0; number < now.length >> 1; number++)
      if ((matches[number] ?? 0) >= 0 && matches[number] !== number)
        this.moved.push(now[number * 2] ?? 0, number, now[number * 2 + 1] ?? 0, number);
    this.gone = left
      .flatMap((number) => [before[number * 2] ?? 0, before[number * 2 + 1] ?? 0])
      .filter((hash) => !now.includes(hash));
  }

  had(hash: number): boolean {
    return this.#before.includes(hash);
  }
}

/** Whether no hash of some endpoints occurs twice in a record. */
export function areUnique(hashes: Int32Array, endpoints: readonly number[]): boolean {
  return endpoints.every((number) =>
    [number * 2, number * 2 + 1].every((at) => {
      const hash = hashes[at] ?? 0;
      return hashes.indexOf(hash) === at && hashes.indexOf(hash, at + 1) < 0;
    }),
  );
}
