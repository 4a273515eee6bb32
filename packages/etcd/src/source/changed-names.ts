/**
 * Publishes the names affected by changed keys: parents before children, and removes children before parents.
 */
import { ChangeQueue } from '@portolan/kernel/base/change-queue.ts';
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { WorkQueue } from '@portolan/kernel/base/work-queue.ts';
import type { EtcdPublication } from './etcd-publication.ts';

export class ChangedNames {
  readonly #publication: EtcdPublication;
  readonly #queue: ChangeQueue;
  /** Names to publish, as paths with slashes. */
  readonly #dirty = new WorkQueue<string>();
  /** Names to remove, children last: they are removed first. */
  readonly #gone: string[] = [];
  #whenSettled: () => void = () => {};

  constructor(publication: EtcdPublication, clock: Clock) {
    this.#publication = publication;
    this.#queue = new ChangeQueue(
      clock,
      () => this.#publishNext(),
      () => this.#published(),
    );
  }

  /** @param key that has changed */
  add(key: readonly string[]): void {
    for (const path of this.#publication.listAffectedPaths(key)) this.#dirty.add(path.join('/'));
  }

  /** Call it when a batch of changes is complete. */
  schedule(): void {
    this.#queue.schedule();
  }

  /** Resolves when all added changes are published. */
  async settled(): Promise<void> {
    if (this.#dirty.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#whenSettled = resolve;
      this.#queue.schedule();
    });
  }

  /** Stops publishing. */
  stop(): void {
    this.#queue.stop();
  }

  /** @returns whether there was a name to publish */
  #publishNext(): boolean {
    const key = this.#dirty.take();
    if (key !== undefined) {
      const path = splitPath(key);
      if (this.#publication.isGone(path)) this.#gone.push(key);
      else this.#publication.publish(path);
      return true;
    }
    const gone = this.#gone.pop();
    if (gone !== undefined) this.#publication.publish(splitPath(gone));
    return gone !== undefined;
  }

  #published(): void {
    this.#publication.changed();
    this.#whenSettled();
    this.#whenSettled = () => {};
  }
}

function splitPath(path: string): readonly string[] {
  return path === '' ? [] : path.split('/');
}
