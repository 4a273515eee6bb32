/**
 * Which services an address belongs to: the writer's side. Nearly all addresses belong to one.
 */
import { TableFullError } from '../table/arena.ts';
import type { RecordSpace } from '../table/record-space.ts';
import { ADDRESS, OWNERS, RECORD_KIND, SERVICE, SERVICE_FLAG } from './layout.ts';
import { type AddressValue, addressIn } from './slice-addresses.ts';

const FIRST_CAPACITY = 4;
/** Lists up to this long are replaced as a whole, so that readers never miss an owner that moves within one. */
const MAX_COPIED = 64;

export class AddressClaims {
  readonly #space: RecordSpace;
  readonly #hasName: (address: Uint8Array) => boolean;
  /** Addresses with an owner. */
  count = 0;
  /** Called with each address that has its first owner, or none any more. */
  added: (address: AddressValue) => void = () => {};
  removed: (address: AddressValue) => void = () => {};

  /** @param hasName whether an address, 4 or 16 octets, may have a name */
  constructor(space: RecordSpace, hasName: (address: Uint8Array) => boolean) {
    this.#space = space;
    this.#hasName = hasName;
  }

  /**
   * @param address 4 or 16 octets
   * @param service the octet of its entry
   * @param slot of the slice that holds the address, or `NO_SLOT`
   * @returns whether the service may have had the address already; true for one that may have no name: nobody knows
   * @throws TableFullError
   */
  add(address: Uint8Array, service: number, slot: number): boolean {
    if (!this.#hasName(address)) return true;
    const space = this.#space;
    const { atoms } = space.views;
    let entry = space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    if (entry === 0) {
      entry = space.add(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
      this.count++;
      this.added(addressIn(address));
    }
    const owner = atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    if (owner === service || (owner < 0 && this.#indexOf(-owner, service) >= 0)) {
      space.store(entry + ADDRESS.SLOT, slot);
      return true;
    }
    if (owner === 0) {
      space.store(entry + ADDRESS.SLOT, slot);
      space.store(entry + ADDRESS.OWNER, service);
    } else if (owner > 0) {
      const owners = this.#inOrder([owner, service]);
      space.store(entry + ADDRESS.OWNER, -this.#newList(owners, FIRST_CAPACITY));
    } else {
      const isInOrder = !this.#selects(service) || this.#selects(this.#lastOf(-owner));
      this.#append(entry, -owner, service);
      if (!isInOrder) this.reorder(address);
    }
    return false;
  }

  remove(address: Uint8Array, service: number): void {
    const space = this.#space;
    const entry = space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    if (entry === 0) return;
    const owner = space.views.atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    if (owner === service) {
      space.remove(entry);
      this.count--;
      this.removed(addressIn(address));
    } else if (owner < 0) this.#removeFrom(address, entry, -owner, service);
  }

  /** Puts the services of an address that select pods before the others. In a full table the order stays as it is. */
  reorder(address: Uint8Array): void {
    const space = this.#space;
    const { atoms } = space.views;
    const entry = space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    const list = entry === 0 ? 0 : -(atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0);
    if (list <= 0) return;
    const listed = this.#listed(list);
    const owners = this.#inOrder(listed);
    if (owners.every((owner, index) => owner === listed[index])) return;
    const capacity = atoms[(list + OWNERS.CAPACITY) >> 2] ?? 0;
    try {
      // A whole new list: readers miss no owner that moves within one.
      space.store(entry + ADDRESS.OWNER, -this.#newList(owners, capacity));
    } catch (error) {
      // No name depends on the order.
      if (error instanceof TableFullError) return;
      throw error;
    }
    space.retire(list, sizeOf(capacity));
  }

  #inOrder(owners: readonly number[]): readonly number[] {
    const selecting = owners.filter((owner) => this.#selects(owner));
    return [...selecting, ...owners.filter((owner) => !this.#selects(owner))];
  }

  #selects(service: number): boolean {
    const flags = this.#space.views.atoms[(service + SERVICE.FLAGS) >> 2] ?? 0;
    return (flags & SERVICE_FLAG.SELECTS) !== 0;
  }

  /** The entries of the first services that have an address, those that select pods before the others. */
  ownersOf(address: Uint8Array, max: number): readonly number[] {
    const { atoms } = this.#space.views;
    const entry = this.#space.find(RECORD_KIND.ADDRESS, address, ADDRESS.KEY);
    if (entry === 0) return [];
    const owner = atoms[(entry + ADDRESS.OWNER) >> 2] ?? 0;
    return owner >= 0 ? [owner] : this.#listed(-owner).slice(0, max);
  }

  #listed(list: number): readonly number[] {
    const { atoms } = this.#space.views;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const first = (list + OWNERS.ENTRIES) >> 2;
    return Array.from({ length: count }, (_, index) => atoms[first + index] ?? 0);
  }

  #indexOf(list: number, service: number): number {
    const { atoms } = this.#space.views;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const first = (list + OWNERS.ENTRIES) >> 2;
    for (let index = 0; index < count; index++) if (atoms[first + index] === service) return index;
    return -1;
  }

  #lastOf(list: number): number {
    const { atoms } = this.#space.views;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    return atoms[((list + OWNERS.ENTRIES) >> 2) + count - 1] ?? 0;
  }

  #newList(owners: readonly number[], capacity: number): number {
    const { atoms } = this.#space.views;
    const list = this.#space.take(sizeOf(capacity));
    atoms[(list + OWNERS.COUNT) >> 2] = owners.length;
    atoms[(list + OWNERS.CAPACITY) >> 2] = capacity;
    for (const [index, owner] of owners.entries()) atoms[((list + OWNERS.ENTRIES) >> 2) + index] = owner;
    return list;
  }

  #append(entry: number, list: number, service: number): void {
    const space = this.#space;
    const { atoms } = space.views;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const capacity = atoms[(list + OWNERS.CAPACITY) >> 2] ?? 0;
    if (count < capacity) {
      space.store(list + OWNERS.ENTRIES + count * 4, service);
      space.store(list + OWNERS.COUNT, count + 1);
      return;
    }
    const longer = this.#newList([...this.#listed(list), service], capacity * 2);
    space.store(entry + ADDRESS.OWNER, -longer);
    space.retire(list, sizeOf(capacity));
  }

  #removeFrom(address: Uint8Array, entry: number, list: number, service: number): void {
    const space = this.#space;
    const { atoms } = space.views;
    const index = this.#indexOf(list, service);
    if (index < 0) return;
    const count = atoms[(list + OWNERS.COUNT) >> 2] ?? 0;
    const capacity = atoms[(list + OWNERS.CAPACITY) >> 2] ?? 0;
    if (count > MAX_COPIED) {
      const last = this.#lastOf(list);
      const next = atoms[((list + OWNERS.ENTRIES) >> 2) + index + 1] ?? 0;
      space.store(list + OWNERS.ENTRIES + index * 4, last);
      space.store(list + OWNERS.COUNT, count - 1);
      if (index < count - 1 && this.#selects(next) && !this.#selects(last)) this.reorder(address);
      return;
    }
    const left = this.#listed(list).filter((owner) => owner !== service);
    const [only] = left;
    // The hint belongs to any of the owners; a wrong one costs a reader only time.
    const next =
      left.length === 1 && only !== undefined
        ? only
        : -this.#newList(left, Math.max(FIRST_CAPACITY, left.length));
    space.store(entry + ADDRESS.OWNER, next);
    space.retire(list, sizeOf(capacity));
  }
}

const sizeOf = (capacity: number): number => OWNERS.ENTRIES + capacity * 4;
