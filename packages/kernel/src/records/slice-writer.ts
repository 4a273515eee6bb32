/**
 * Writes slices as records: their places in the lists of their services, and the addresses of their endpoints.
 */
import type { BlockBuffer } from '../table/block.ts';
import type { RecordSpace } from '../table/record-space.ts';
import type { AddressClaims } from './address-claims.ts';
import type { EndpointIndex } from './endpoint-index.ts';
import { EntryList } from './entry-list.ts';
import { RECORD_KIND, SERVICE, SERVICE_FLAG, SLICE, SLICE_LIST, SLICE_RECORD } from './layout.ts';
import {
  type AddressValue,
  countReady,
  findRepeats,
  hasHostnames,
  readyAddresses,
  targetsIn,
  toAddressOctets,
} from './slice-addresses.ts';

const REPEATS = SERVICE_FLAG.OVERLAPS | SERVICE_FLAG.SHARES;

export class SliceWriter {
  readonly #space: RecordSpace;
  readonly #claims: AddressClaims;
  readonly #index: EndpointIndex;
  readonly #words: Int32Array;
  readonly #list: EntryList;
  /** Whether an address is a service's own. */
  readonly #isOwn: (service: number, address: AddressValue) => boolean;
  #first = 0;
  count = 0;

  constructor(
    space: RecordSpace,
    claims: AddressClaims,
    index: EndpointIndex,
    isOwn: (service: number, address: AddressValue) => boolean,
  ) {
    this.#space = space;
    this.#claims = claims;
    this.#index = index;
    this.#words = space.views.atoms;
    this.#list = new EntryList(space.views, SLICE.NEXT, SLICE.PREVIOUS);
    this.#isOwn = isOwn;
  }

  /** @param key the label of the namespace and the name of the object; @returns its entry, or 0 */
  find(key: Uint8Array): number {
    return this.#space.find(RECORD_KIND.SLICE, key, SLICE.KEY);
  }

  /** The label of the namespace and the name of the object. */
  readKey(slice: number): Uint8Array {
    const start = slice + SLICE.KEY;
    return this.#space.views.octets.subarray(start, start + this.#get(slice + SLICE.KEY_OCTETS));
  }

  readService(slice: number): number {
    return this.#get(slice + SLICE.SERVICE);
  }

  /** Marks a slice as part of a list. */
  note(slice: number, list: number): void {
    this.#words[(slice + SLICE.LIST) >> 2] = list;
  }

  /** The entries of all slices. */
  *all(): Iterable<number> {
    for (let slice = this.#first; slice !== 0; slice = this.#list.readNext(slice)) yield slice;
  }

  /** The slices that are not from a list. */
  missingIn(list: number): readonly number[] {
    return [...this.all()].filter((slice) => this.#get(slice + SLICE.LIST) !== list);
  }

  /** Slices of a service. */
  countAt(service: number): number {
    let count = 0;
    for (const _ of this.records(service)) count++;
    return count;
  }

  /**
   * Adds a slice with the record in a buffer.
   *
   * @throws TableFullError and leaves the service as it was
   */
  add(key: Uint8Array, service: number, list: number, buffer: BlockBuffer): void {
    const slot = this.#freeSlot(service);
    const record = this.#copy(buffer);
    const slice = this.#space.add(RECORD_KIND.SLICE, key, SLICE.KEY);
    this.note(slice, list);
    this.#enter(slice, key.length, { service, slot, record });
    this.#show(service, slot, 0, record);
  }

  /**
   * Makes an entry of a slice of memory of a run that has its key. Call `settle` after the last one of a service; until then no reader
   * may see it.
   *
   * @param length octets of the key
   * @param slot a free one in the list of the service's slices
   * @param record a checked one in the table
   * @returns false if the slice is there already
   */
  adopt(block: number, length: number, service: number, slot: number, record: number): boolean {
    if (this.#space.place(block, RECORD_KIND.SLICE, length, SLICE.KEY) !== block) return false;
    this.#enter(block, length, { service, slot, record });
    const words = this.#words;
    words[(this.#get(service + SERVICE.SLICES) + SLICE_LIST.RECORDS + slot * 4) >> 2] = record;
    const { views } = this.#space;
    words[(service + SERVICE.READY) >> 2] = this.#get(service + SERVICE.READY) + countReady(views, record);
    if (hasHostnames(views, record)) this.noteRepeats(service);
    if (targetsIn(views, record) !== 0) this.#setHasTargets(service, true);
    return true;
  }

  /** Addresses or hostnames may occur more than once in a service, which `settle` finds out. */
  noteRepeats(service: number): void {
    this.#setRepeats(service, REPEATS);
  }

  /** Finds out what all slices of a service have in common, after `adopt`. */
  settle(service: number): void {
    const flags = this.#get(service + SERVICE.FLAGS);
    if ((flags & REPEATS) !== 0) this.#setRepeats(service, findRepeats(this.#space.views, service));
    if (this.#get(service + SERVICE.READY) > 0) this.#index.fit(service);
    else if (this.#get(service + SERVICE.SLICES) !== 0) this.#dropEmptyList(service);
  }

  #enter(
    slice: number,
    length: number,
    { service, slot, record }: { readonly service: number; readonly slot: number; readonly record: number },
  ): void {
    const words = this.#words;
    words[(slice + SLICE.RECORD) >> 2] = record;
    words[(slice + SLICE.SERVICE) >> 2] = service;
    words[(slice + SLICE.SLOT) >> 2] = slot;
    words[(slice + SLICE.KEY_OCTETS) >> 2] = length;
    this.#list.add(slice, this.#first);
    this.#first = slice;
    this.count++;
  }

  /** Replaces the record of a slice by that in a buffer. @returns whether they differ */
  replace(slice: number, list: number, buffer: BlockBuffer): boolean {
    this.note(slice, list);
    const before = this.#get(slice + SLICE.RECORD);
    if (this.#isSame(before, buffer)) return false;
    const record = this.#copy(buffer);
    this.#words[(slice + SLICE.RECORD) >> 2] = record;
    this.#show(this.readService(slice), this.#get(slice + SLICE.SLOT), before, record);
    return true;
  }

  remove(slice: number): void {
    const service = this.readService(slice);
    const record = this.#get(slice + SLICE.RECORD);
    this.#show(service, this.#get(slice + SLICE.SLOT), record, 0);
    this.#first = this.#list.remove(slice, this.#first);
    this.#space.remove(slice);
    this.count--;
    this.#dropEmptyList(service);
  }

  #get(at: number): number {
    return this.#words[at >> 2] ?? 0;
  }

  #isSame(record: number, { length, words }: BlockBuffer): boolean {
    if (this.#get(record) !== length) return false;
    const held = this.#space.views.words;
    for (let word = 0; word < length >> 2; word++)
      if (held[(record >> 2) + word] !== words[word]) return false;
    return true;
  }

  #copy({ length, words }: BlockBuffer): number {
    const record = this.#space.take(length);
    const held = this.#space.views.words;
    for (let word = 0; word < length >> 2; word++) held[(record >> 2) + word] = words[word] ?? 0;
    return record;
  }

  /** Shows the record of a slice in place of another, 0 for none, and claims its addresses. */
  #show(service: number, slot: number, before: number, record: number): void {
    const { views } = this.#space;
    const change = this.#index.begin({ service, slot, before, record });
    const former = change?.former.addresses ?? readyAddresses(views, before);
    const now = change?.now.addresses ?? readyAddresses(views, record);
    let mayRepeat =
      (this.#get(service + SERVICE.FLAGS) & REPEATS) !== 0 || now.size < countReady(views, record);
    if (record !== 0 && hasHostnames(views, record)) mayRepeat = true;
    for (const address of now)
      if (!former.has(address) && this.#claims.add(toAddressOctets(address), service, slot)) mayRepeat = true;
    // Readers leave names of endpoints to the chain.
    if (targetsIn(views, record) !== 0) this.#setHasTargets(service, true);
    // Readers must not take repeated endpoints for different ones.
    if (change !== undefined) this.#setRepeats(service, this.#index.repeats(service));
    else if (mayRepeat) this.#setRepeats(service, REPEATS);
    const list = this.#get(service + SERVICE.SLICES);
    this.#space.store(list + SLICE_LIST.RECORDS + slot * 4, record);
    const ready = this.#get(service + SERVICE.READY) - countReady(views, before) + countReady(views, record);
    this.#space.store(service + SERVICE.READY, ready);
    if (change !== undefined) {
      this.#index.end(change);
      this.#setRepeats(service, this.#index.repeats(service));
    } else if (mayRepeat) this.#setRepeats(service, findRepeats(views, service));
    if (targetsIn(views, before) !== 0) this.#setHasTargets(service, this.#hasTargets(service));
    this.#disclaim(service, former, now, mayRepeat);
    this.#index.fit(service);
    if (before !== 0) this.#space.retire(before, this.#get(before + SLICE_RECORD.SIZE));
  }

  #hasTargets(service: number): boolean {
    for (const record of this.records(service)) if (targetsIn(this.#space.views, record) !== 0) return true;
    return false;
  }

  #setHasTargets(service: number, hasTargets: boolean): void {
    const flags = this.#get(service + SERVICE.FLAGS);
    const now = hasTargets ? flags | SERVICE_FLAG.TARGETS : flags & ~SERVICE_FLAG.TARGETS;
    if (now !== flags) this.#space.store(service + SERVICE.FLAGS, now);
  }

  #setRepeats(service: number, repeats: number): void {
    const flags = this.#get(service + SERVICE.FLAGS);
    this.#space.store(service + SERVICE.FLAGS, (flags & ~REPEATS) | repeats);
  }

  /** Gives up the addresses that a service does not have any more. @param mayRepeat whether other slices may have them */
  #disclaim(
    service: number,
    former: ReadonlySet<AddressValue>,
    now: ReadonlySet<AddressValue>,
    mayRepeat: boolean,
  ): void {
    if (former.size === 0) return;
    const gone = [...former].filter((address) => !now.has(address) && !this.#isOwn(service, address));
    const isIndexed = this.#index.isKept(service);
    const others = gone.length > 0 && mayRepeat && !isIndexed ? this.listReadyAddresses(service) : undefined;
    for (const address of gone) {
      const isHeld = isIndexed ? this.#index.hasAddress(service, address) : others?.has(address) === true;
      if (!isHeld) this.#claims.remove(toAddressOctets(address), service);
    }
  }

  /** The addresses of all ready endpoints of a service. */
  listReadyAddresses(service: number): ReadonlySet<AddressValue> {
    const addresses = new Set<AddressValue>();
    for (const record of this.records(service))
      for (const address of readyAddresses(this.#space.views, record)) addresses.add(address);
    return addresses;
  }

  /** The records of a service's slices. */
  *records(service: number): Iterable<number> {
    const list = this.#get(service + SERVICE.SLICES);
    const slots = list === 0 ? 0 : this.#get(list + SLICE_LIST.SLOTS);
    for (let slot = 0; slot < slots; slot++) {
      const record = this.#get(list + SLICE_LIST.RECORDS + slot * 4);
      if (record !== 0) yield record;
    }
  }

  /** A free slot in the list of a service's slices, which grows for it. */
  #freeSlot(service: number): number {
    const list = this.#get(service + SERVICE.SLICES);
    const slots = list === 0 ? 0 : this.#get(list + SLICE_LIST.SLOTS);
    for (let slot = 0; slot < slots; slot++)
      if (this.#get(list + SLICE_LIST.RECORDS + slot * 4) === 0) return slot;
    const more = Math.max(1, slots * 2);
    const longer = this.#space.take(sizeOfList(more));
    const words = this.#words;
    words[longer >> 2] = more;
    for (let slot = 0; slot < more; slot++)
      words[((longer + SLICE_LIST.RECORDS) >> 2) + slot] =
        slot < slots ? this.#get(list + SLICE_LIST.RECORDS + slot * 4) : 0;
    this.#space.store(service + SERVICE.SLICES, longer);
    if (list !== 0) this.#space.retire(list, sizeOfList(slots));
    return slots;
  }

  #dropEmptyList(service: number): void {
    for (const _ of this.records(service)) return;
    this.#index.drop(service);
    const list = this.#get(service + SERVICE.SLICES);
    this.#space.store(service + SERVICE.SLICES, 0);
    this.#space.retire(list, sizeOfList(this.#get(list + SLICE_LIST.SLOTS)));
  }
}

const sizeOfList = (slots: number): number => SLICE_LIST.RECORDS + slots * 4;
