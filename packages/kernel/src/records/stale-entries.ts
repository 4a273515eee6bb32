/**
 * Entries that their source has lost and that are still served. A mark stands in place of the number of their list, so they take no
 * memory of their own.
 */
import type { LossMark } from '../base/losses.ts';
import type { RecordSpace } from '../table/record-space.ts';
import { NAMESPACE, SERVICE, SERVICE_FLAG, SLICE } from './layout.ts';

/** A list that no object is from. */
export const NO_LIST = -1;

const NO_SLICES: readonly number[] = [];

export class StaleEntries {
  readonly #space: RecordSpace;
  readonly #words: Int32Array;
  /** The stale slices of each service that has some. */
  readonly #slices = new Map<number, number[]>();
  services = 0;
  namespaces = 0;
  slices = 0;

  constructor(space: RecordSpace) {
    this.#space = space;
    this.#words = space.views.atoms;
  }

  /** Services that have stale slices. */
  get servicesWithSlices(): number {
    return this.#slices.size;
  }

  slicesAt(service: number): readonly number[] {
    return this.#slices.get(service) ?? NO_SLICES;
  }

  /** The entries of all stale slices. */
  listSlices(): readonly number[] {
    return [...this.#slices.values()].flat();
  }

  /** The mark of a service that is stale; 0: it is not. */
  markOfService(service: number): LossMark {
    return this.#markAt(service + SERVICE.LIST);
  }

  markOfSlice(slice: number): LossMark {
    return this.#markAt(slice + SLICE.LIST);
  }

  markOfNamespace(namespace: number): LossMark {
    return this.#markAt(namespace + NAMESPACE.LIST);
  }

  /** A service that is stale already keeps its mark, and with it its time. Here and below. */
  keepService(service: number, mark: LossMark): void {
    if (!this.#keep(service + SERVICE.LIST, mark)) return;
    this.services++;
    this.#show(service);
  }

  keepNamespace(namespace: number, mark: LossMark): void {
    if (this.#keep(namespace + NAMESPACE.LIST, mark)) this.namespaces++;
  }

  /** @param service that the slice is of */
  keepSlice(slice: number, service: number, mark: LossMark): void {
    if (!this.#keep(slice + SLICE.LIST, mark)) return;
    this.slices++;
    this.#slices.set(service, [...this.slicesAt(service), slice]);
    this.#show(service);
  }

  /** The source has it again, or it is about to be removed. Here and below. */
  leaveService(service: number): void {
    if (!this.#leave(service + SERVICE.LIST)) return;
    this.services--;
    this.#show(service);
  }

  leaveNamespace(namespace: number): void {
    if (this.#leave(namespace + NAMESPACE.LIST)) this.namespaces--;
  }

  /** @param service that the slice is of */
  leaveSlice(slice: number, service: number): void {
    if (!this.#leave(slice + SLICE.LIST)) return;
    this.slices--;
    const left = this.slicesAt(service).filter((each) => each !== slice);
    if (left.length === 0) this.#slices.delete(service);
    else this.#slices.set(service, left);
    this.#show(service);
  }

  #markAt(list: number): LossMark {
    const number = this.#words[list >> 2] ?? 0;
    return number < NO_LIST ? NO_LIST - number : 0;
  }

  /** @returns whether it was not stale */
  #keep(list: number, mark: LossMark): boolean {
    const isNew = this.#markAt(list) === 0;
    if (isNew) this.#words[list >> 2] = NO_LIST - mark;
    return isNew;
  }

  /** @returns whether it was stale */
  #leave(list: number): boolean {
    const wasStale = this.#markAt(list) !== 0;
    if (wasStale) this.#words[list >> 2] = 0;
    return wasStale;
  }

  /** Tells readers whether the answers of a service are stale. */
  #show(service: number): void {
    const flags = this.#words[(service + SERVICE.FLAGS) >> 2] ?? 0;
    const stale =
      (this.markOfService(service) === 0 ? 0 : SERVICE_FLAG.STALE) |
      (this.#slices.has(service) ? SERVICE_FLAG.STALE_ENDPOINTS : 0);
    const now = (flags & ~(SERVICE_FLAG.STALE | SERVICE_FLAG.STALE_ENDPOINTS)) | stale;
    if (now !== flags) this.#space.store(service + SERVICE.FLAGS, now);
  }
}
