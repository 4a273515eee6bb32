/**
 * Passes objects from the API server to a sink: trims them, and counts but does not keep those that DNS does not use.
 *
 * The counts matter: the server check compares them with the server's.
 */
import type { ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { keyOfObject, type ObjectKey, type ObjectSink, type WatchedObject } from '../../objects/objects.ts';
import { readIdentity, type Trim, type Trimmed } from '../../objects/trim/trimmed.ts';

export class Intake<Kind extends WatchedObject> {
  readonly #sink: ObjectSink<Kind>;
  readonly #guard: ItemGuard;
  #leftOut = new Set<ObjectKey>();
  /** While a list is under way: the objects it leaves out, and those deleted after they were listed. */
  #list: { readonly leftOut: Set<ObjectKey>; readonly deleted: Set<ObjectKey>; taken: number } | undefined;

  constructor(sink: ObjectSink<Kind>, guard: ItemGuard) {
    this.#sink = sink;
    this.#guard = guard;
  }

  /** The same count as on the server, if all is well. */
  get count(): number {
    return this.#sink.count() + this.#leftOut.size;
  }

  /** Objects taken since the list under way began. */
  get listed(): number {
    return this.#list?.taken ?? 0;
  }

  startList(): void {
    this.#list = { leftOut: new Set(), deleted: new Set(), taken: 0 };
    this.#sink.listStarted();
  }

  completeList(): void {
    const list = this.#list;
    this.#list = undefined;
    this.#leftOut = list?.leftOut ?? new Set();
    this.#sink.listCompleted();
    for (const key of list?.deleted ?? []) this.#sink.remove(key);
  }

  take(raw: unknown, trim: Trim<Kind>): void {
    if (this.#list !== undefined) this.#list.taken += 1;
    const isTaken = this.#guard.take(
      () => describeObject(raw),
      () => {
        const trimmed = trim(raw);
        if (trimmed.kind === 'object') this.#accept(trimmed.object);
        else this.#leaveOut(trimmed);
        return true;
      },
    );
    if (isTaken === undefined) this.#forgetUnread(raw, true);
  }

  /** Takes the last known state of an object that was deleted. */
  drop(raw: unknown, trim: Trim<Kind>): void {
    const isDropped = this.#guard.take(
      () => describeObject(raw),
      () => {
        const key = keyOfTrimmed(trim(raw));
        if (key === undefined) this.#guard.reject('?', 'malformed', 'a deleted object has no name');
        else this.#forget(key, false);
        return true;
      },
    );
    if (isDropped === undefined) this.#forgetUnread(raw, false);
  }

  /** Removes an object that failed to be processed. */
  #forgetUnread(raw: unknown, counts: boolean): void {
    const key = keyOfRaw(raw);
    if (key === undefined) return;
    this.#guard.take(
      () => key,
      () => this.#forget(key, counts),
    );
  }

  #accept(object: Kind): void {
    const isKeyNeeded = this.#leftOutNow.size > 0 || (this.#list?.deleted.size ?? 0) > 0;
    if (isKeyNeeded) {
      const key = keyOfObject(object);
      this.#leftOutNow.delete(key);
      this.#list?.deleted.delete(key);
    }
    this.#sink.upsert(object);
  }

  #leaveOut(trimmed: Exclude<Trimmed<Kind>, { kind: 'object' }>): void {
    if (trimmed.kind === 'malformed') this.#guard.reject(trimmed.key ?? '?', 'malformed', trimmed.problem);
    if (trimmed.key !== undefined) this.#forget(trimmed.key, true);
  }

  /** Removes the object under `key` from the sink; with `counts` it still counts as left out. */
  #forget(key: ObjectKey, counts: boolean): void {
    const wasLeftOut = this.#leftOutNow.has(key);
    if (counts) this.#leftOutNow.add(key);
    else this.#leftOutNow.delete(key);
    if (wasLeftOut) return;
    // A sink does not take removals during a list.
    if (this.#list === undefined) this.#sink.remove(key);
    else this.#list.deleted.add(key);
  }

  get #leftOutNow(): Set<ObjectKey> {
    return this.#list?.leftOut ?? this.#leftOut;
  }
}

function keyOfTrimmed(trimmed: Trimmed<WatchedObject>): ObjectKey | undefined {
  return trimmed.kind === 'object' ? keyOfObject(trimmed.object) : trimmed.key;
}

function describeObject(raw: unknown): ObjectKey {
  return keyOfRaw(raw) ?? '?';
}

function keyOfRaw(raw: unknown): ObjectKey | undefined {
  return readIdentity(raw, true)?.key ?? readIdentity(raw, false)?.key;
}
