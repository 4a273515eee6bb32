/**
 * Which services an address belongs to: the writer's side. Nearly all addresses belong to one.
 */
import { TableFullError } from '../table/arena.ts';
import type { RecordSpace } from '../table/record-space.ts';
import { ADDRESS, NO_SLOT, OWNERS, RECORD_KIND, SERVICE, SERVICE_FLAG } from './layout.ts';
import { isOrdinaryOctet } from './special-addresses.ts';

const FIRST_CAPACITY = 4;
/**
 * Lists up to this long are replaced as a whole, so that readers never miss an owner that moves within one. They look at no
 * more owners of a longer one.
 */
const MAX_COPIED = 64;

/** Where the owners in a long list are, and how many of them select pods: those come first. */
interface LongList {
  readonly places: Map<number, number>;
  selecting: number;
}

/**
 * Whether an address may have the names of a service.
 *
 * @param address 4 or 16 octets
 * @param service the octet of its entry
 * @param isOwn whether it is the service's own address, not that of an endpoint
 */
export type MayClaim = (address: Uint8Array, service: number, isOwn: boolean) => boolean;

export class AddressClaims {
  readonly #space: RecordSpace;
  readonly #mayClaim: MayClaim;
  readonly #isBounded: boolean;
  /** By the octets of the lists: anybody may list an address as often as there are services. */
  readonly #longLists = new Map<number, LongList>();
  /** Addresses with an owner. */
  count = 0;
  /** Called with the octets of each address that has its first owner, or none any more; they are valid during the call. */
  added: (address: Uint8Array) => void = () => {};
  removed: (address: Uint8Array) => void = () => {};

  /** @param isBounded whether services may claim only some of the addresses that are not special */
  constructor(space: RecordSpace, mayClaim: MayClaim, isBounded: boolean) {
    this.#space = space;
    this.#isBounded = isBounded;
    this.#mayClaim = mayClaim;
  }

  /**
   * @param address 4 or 16 octets
   * @param service the octet of its entry
   * @param slot of the slice that holds the address, or `NO_SLOT`
   * @returns whether the service may have had the address already; true for one that it may not claim: nobody knows
   * @throws TableFullError
   */
  add(address: Uint8Array, service: number, slot: number): boolean {
    if (!this.#mayClaim(address, service, slot === NO_SLOT)) return true;
    const space = this.#space;
    const { atoms } = space.views;
    const entry = space.obtain(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    if (slot === NO_SLOT) space.store(entry + ADDRESS.OWN, 1);
    const owner = atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    if (owner === service || (owner < 0 && this.#findIndex(-owner, service) >= 0)) {
      space.store(entry + ADDRESS.SLOT, slot);
      return true;
    }
    if (owner === 0) {
      this.count++;
      space.store(entry + ADDRESS.SLOT, slot);
      space.store(entry + ADDRESS.OWNER, service);
      this.added(address);
    } else if (owner > 0) {
      const owners = this.#inOrder([owner, service]);
      space.store(entry + ADDRESS.OWNER, -this.#newList(owners, FIRST_CAPACITY));
    } else {
      const list = this.#append(entry, -owner, service);
      if (this.#selects(service)) this.#orderIn(entry, list, service);
    }
    return false;
  }

  /**
   * As `add`, for an address of a record that no service has yet.
   *
   * @param at where the record has the address
   * @param length 4 or 16
   * @param block zeroed memory of a run for the entry
   * @returns whether it is used: the address had no service; as `add` otherwise
   * @throws TableFullError
   */
  adopt(block: number, at: number, length: number, service: number, slot: number): boolean {
    const space = this.#space;
    const { atoms, octets } = space.views;
    const key = block + ADDRESS.KEY;
    if (length === 4) atoms[key >> 2] = inNetworkOrder(atoms[at >> 2] ?? 0);
    else
      for (let octet = 0; octet < length; octet += 4)
        atoms[(key + octet) >> 2] = atoms[(at + octet) >> 2] ?? 0;
    const isOrdinary = !this.#isBounded && isOrdinaryOctet(octets[key] ?? 0, length);
    if (!isOrdinary && !this.#mayClaim(octets.subarray(key, key + length), service, slot === NO_SLOT))
      return false;
    if (space.place(block, RECORD_KIND.ADDRESS, length, ADDRESS.KEY) !== block) {
      this.add(octets.subarray(key, key + length), service, slot);
      return false;
    }
    atoms[(block + ADDRESS.SLOT) >> 2] = slot;
    atoms[(block + ADDRESS.OWNER) >> 2] = service;
    atoms[(block + ADDRESS.OWN) >> 2] = slot === NO_SLOT ? 1 : 0;
    this.count++;
    return true;
  }

  remove(address: Uint8Array, service: number): void {
    const space = this.#space;
    const entry = space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    if (entry === 0) return;
    const owner = space.views.atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    if (owner === service) {
      space.remove(entry);
      this.count--;
      this.removed(address);
    } else if (owner < 0) this.#removeFrom(entry, -owner, service);
  }

  /** Puts a service in its place among those of an address, once it selects pods or does so no more. */
  reorder(address: Uint8Array, service: number): void {
    const space = this.#space;
    const entry = space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    const list = entry === 0 ? 0 : -(space.views.atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0);
    if (list > 0) this.#orderIn(entry, list, service);
  }

  /** Services that select pods come before the others. In a full table the order of a short list stays as it is. */
  #orderIn(entry: number, list: number, service: number): void {
    const long = this.#longLists.get(list);
    if (long !== undefined) {
      this.#orderInLong(list, long, service);
      return;
    }
    const listed = this.#listed(list);
    const owners = this.#inOrder(listed);
    if (owners.every((owner, index) => owner === listed[index])) return;
    const space = this.#space;
    const capacity = space.views.atoms[(list + OWNERS.CAPACITY) >> 2] ?? 0;
    try {
      // A whole new list: readers miss no owner that moves within one.
      space.store(entry + ADDRESS.OWNER, -this.#newList(owners, capacity));
    } catch (error) {
      // No name depends on the order.
      if (error instanceof TableFullError) return;
      throw error;
    }
    space.retire(list, computeSize(capacity));
  }

  #orderInLong(list: number, long: LongList, service: number): void {
    const place = long.places.get(service);
    const selects = this.#selects(service);
    if (place === undefined || selects === place < long.selecting) return;
    if (!selects) long.selecting--;
    const other = this.#ownerAt(list, long.selecting);
    this.#place(list, long, service, long.selecting);
    this.#place(list, long, other, place);
    if (selects) long.selecting++;
  }

  #ownerAt(list: number, place: number): number {
    return this.#space.views.atoms[((list + OWNERS.ENTRIES) >> 2) + place] ?? 0;
  }

  #place(list: number, long: LongList, service: number, place: number): void {
    this.#space.store(list + OWNERS.ENTRIES + place * 4, service);
    long.places.set(service, place);
  }

  #inOrder(owners: readonly number[]): readonly number[] {
    const selecting = owners.filter((owner) => this.#selects(owner));
    return [...selecting, ...owners.filter((owner) => !this.#selects(owner))];
  }

  #selects(service: number): boolean {
    const flags = this.#space.views.atoms[(service + SERVICE.FLAGS) >> 2] ?? 0;
    return (flags & SERVICE_FLAG.SELECTS) !== 0;
  }

  /** Whether any service has an address. */
  has(address: Uint8Array): boolean {
    return this.#space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY) !== 0;
  }

  /** The entries of the first services that have an address, those that select pods before the others. */
  listOwners(address: Uint8Array, max: number): readonly number[] {
    const { atoms } = this.#space.views;
    const entry = this.#space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    if (entry === 0) return [];
    const owner = atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    return owner >= 0 ? [owner] : this.#listed(-owner, max);
  }

  #listed(list: number, max = Number.POSITIVE_INFINITY): readonly number[] {
    const { atoms } = this.#space.views;
    const count = Math.min(max, atoms[(list + OWNERS.COUNT) >> 2] ?? 0);
    const first = (list + OWNERS.ENTRIES) >> 2;
    return Array.from({ length: count }, (_, index) => atoms[first + index] ?? 0);
  }

  #findIndex(list: number, service: number): number {
    const long = this.#longLists.get(list);
    if (long !== undefined) return long.places.get(service) ?? -1;
    const { atoms } = this.#space.views;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const first = (list + OWNERS.ENTRIES) >> 2;
    for (let index = 0; index < count; index++) if (atoms[first + index] === service) return index;
    return -1;
  }

  #newList(owners: readonly number[], capacity: number): number {
    const { atoms } = this.#space.views;
    const list = this.#space.take(computeSize(capacity));
    atoms[(list + OWNERS.COUNT) >> 2] = owners.length;
    atoms[(list + OWNERS.CAPACITY) >> 2] = capacity;
    for (const [index, owner] of owners.entries()) atoms[((list + OWNERS.ENTRIES) >> 2) + index] = owner;
    return list;
  }

  /** @returns the list that has the service now */
  #append(entry: number, list: number, service: number): number {
    const space = this.#space;
    const { atoms } = space.views;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const capacity = atoms[(list + OWNERS.CAPACITY) >> 2] ?? 0;
    if (count < capacity) {
      space.store(list + OWNERS.ENTRIES + count * 4, service);
      space.store(list + OWNERS.COUNT, count + 1);
      this.#longLists.get(list)?.places.set(service, count);
      return list;
    }
    const owners = [...this.#listed(list), service];
    const longer = this.#newList(owners, capacity * 2);
    space.store(entry + ADDRESS.OWNER, -longer);
    space.retire(list, computeSize(capacity));
    const long = this.#longLists.get(list);
    this.#longLists.delete(list);
    if (long !== undefined) {
      long.places.set(service, count);
      this.#longLists.set(longer, long);
    } else if (owners.length > MAX_COPIED) this.#longLists.set(longer, this.#measure(owners));
    return longer;
  }

  /** @param owners those that select pods come first, but for the last one */
  #measure(owners: readonly number[]): LongList {
    return {
      places: new Map(owners.map((owner, place) => [owner, place])),
      selecting: owners.slice(0, -1).filter((owner) => this.#selects(owner)).length,
    };
  }

  #removeFrom(entry: number, list: number, service: number): void {
    const space = this.#space;
    const { atoms } = space.views;
    const index = this.#findIndex(list, service);
    if (index < 0) return;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const capacity = atoms[(list + OWNERS.CAPACITY) >> 2] ?? 0;
    const long = this.#longLists.get(list);
    if (long !== undefined && count > MAX_COPIED + 1) {
      this.#removeFromLong(list, long, { service, index, count });
      return;
    }
    this.#longLists.delete(list);
    const left = this.#listed(list).filter((owner) => owner !== service);
    const [only] = left;
    // The hint belongs to any of the owners; a wrong one costs a reader only time.
    const next =
      left.length === 1 && only !== undefined
        ? only
        : -this.#newList(left, Math.max(FIRST_CAPACITY, left.length));
    space.store(entry + ADDRESS.OWNER, next);
    space.retire(list, computeSize(capacity));
  }

  /** The last service that selects pods takes the place, and the last of all takes its place. */
  #removeFromLong(
    list: number,
    long: LongList,
    { service, index, count }: { readonly service: number; readonly index: number; readonly count: number },
  ): void {
    let free = index;
    if (free < long.selecting) {
      long.selecting--;
      this.#place(list, long, this.#ownerAt(list, long.selecting), free);
      free = long.selecting;
    }
    this.#place(list, long, this.#ownerAt(list, count - 1), free);
    this.#space.store(list + OWNERS.COUNT, count - 1);
    long.places.delete(service);
  }
}

/** The word of the four octets of an IPv4 address, of which a record has the number. */
const inNetworkOrder = (address: number): number =>
  (address >>> 24) | ((address >>> 8) & 0xff00) | ((address << 8) & 0xff0000) | (address << 24);

const computeSize = (capacity: number): number => OWNERS.ENTRIES + capacity * 4;
