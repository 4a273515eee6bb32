/**
 * Receives the objects of one kind and writes them as records.
 *
 * An object that has no record, since its names cannot be labels or the table has no room for it, is counted: the server
 * check compares the counts.
 */
import type { Log } from '@portolan/kernel/base/log.ts';
import type { LossGuard } from '@portolan/kernel/base/losses.ts';
import { RecordTooLargeError } from '@portolan/kernel/records/record-blocks.ts';
import { TableFullError } from '@portolan/kernel/table/arena.ts';
import { type ClusterObject, keyOfObject, type ObjectKey, type ObjectSink } from '../objects/objects.ts';

export type ListState = 'waiting' | 'listing' | 'listed';

/** How the objects of one kind are kept. */
export interface RecordKeeper<Kind extends ClusterObject> {
  /**
   * @param list the number of the list that the object is from
   * @throws TableFullError or RecordTooLargeError; the former state of the object stays
   */
  put(object: Kind, list: number): 'changed' | 'same' | 'unusable';
  /** @returns whether it was there */
  remove(key: ObjectKey): boolean;
  /** Removes what is not from a list, unless it is too much at once. @returns whether there was any */
  sweep(list: number): boolean;
  /** Without those that are stale: as many as the source has. */
  count(): number;
  /** Undefined: what the source lacks goes at once. */
  readonly guard?: LossGuard;
}

export class RecordSink<Kind extends ClusterObject> implements ObjectSink<Kind> {
  readonly takesDrafts = true;
  readonly #keeper: RecordKeeper<Kind>;
  readonly #changed: () => void;
  readonly #listed: () => void;
  readonly #log: Log;
  /** Objects without a record, with the number of the list that they are from. */
  readonly #without = new Map<ObjectKey, number>();
  #list = 0;
  #state: ListState = 'waiting';

  /**
   * @param changed called after each change
   * @param listed called at the end of every list
   */
  constructor(keeper: RecordKeeper<Kind>, changed: () => void, listed: () => void, log: Log) {
    this.#keeper = keeper;
    this.#changed = changed;
    this.#listed = listed;
    this.#log = log;
  }

  /** `listed` from the end of the first list on. */
  get state(): ListState {
    return this.#state;
  }

  listStarted(): void {
    this.#list += 1;
    if (this.#state === 'waiting') this.#state = 'listing';
  }

  upsert(object: Kind): void {
    const put = this.#put(object);
    if (put === 'unusable') this.#without.set(keyOfObject(object), this.#list);
    else if (this.#without.size > 0) this.#without.delete(keyOfObject(object));
    if (put === 'changed') this.#changed();
  }

  listCompleted(): void {
    for (const [key, list] of this.#without) if (list !== this.#list) this.#without.delete(key);
    if (this.#keeper.sweep(this.#list)) this.#changed();
    this.#state = 'listed';
    this.#listed();
  }

  remove(key: ObjectKey): void {
    this.#without.delete(key);
    if (this.#keeper.remove(key)) this.#changed();
  }

  count(): number {
    return this.#keeper.count() + this.#without.size;
  }

  /** Ends the guard of its objects. */
  stop(): void {
    this.#keeper.guard?.stop();
  }

  #put(object: Kind): 'changed' | 'same' | 'unusable' {
    try {
      return this.#keeper.put(object, this.#list);
    } catch (error) {
      const of = keyOfObject(object);
      if (error instanceof TableFullError)
        this.#log.error('names not published, the answer table is full', { of, octets: error.octets });
      else if (error instanceof RecordTooLargeError)
        this.#log.error('names not published, the object is too large', { of, reason: error.message });
      else throw error;
      return 'unusable';
    }
  }
}
