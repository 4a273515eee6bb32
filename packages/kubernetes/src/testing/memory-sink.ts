/**
 * A sink that keeps objects in memory and fails a test that breaks the order of calls.
 */
import type { ClusterObject, ObjectKey, ObjectSink } from '../objects/objects.ts';

export class MemorySink<Kind extends ClusterObject> implements ObjectSink<Kind> {
  readonly objects = new Map<ObjectKey, Kind>();
  /** Every call in short, such as `upsert default/web`. */
  readonly calls: string[] = [];
  completed = 0;
  #seen: Set<ObjectKey> | undefined;

  listStarted(): void {
    this.calls.push('listStarted');
    this.#seen = new Set();
  }

  upsert(object: Kind): void {
    const key = object.kind === 'Namespace' ? object.name : `${object.namespace}/${object.name}`;
    this.calls.push(`upsert ${key}`);
    if (this.#seen === undefined && this.completed === 0) throw new Error('upsert before the first list');
    this.#seen?.add(key);
    this.objects.set(key, object);
  }

  listCompleted(): void {
    this.calls.push('listCompleted');
    if (this.#seen === undefined) throw new Error('listCompleted without listStarted');
    for (const key of this.objects.keys()) if (!this.#seen.has(key)) this.objects.delete(key);
    this.#seen = undefined;
    this.completed += 1;
  }

  remove(key: ObjectKey): void {
    this.calls.push(`remove ${key}`);
    if (this.#seen !== undefined) throw new Error('remove while a list is under way');
    this.objects.delete(key);
  }

  count(): number {
    return this.objects.size;
  }

  get keys(): string[] {
    return [...this.objects.keys()].sort();
  }
}
