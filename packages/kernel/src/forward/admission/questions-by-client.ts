/**
 * Questions per client, counted with each query: so in a map that leaves no old tables behind.
 */
import { TransientMap } from '../../base/transient-map.ts';

export class QuestionsByClient {
  readonly #counts = new TransientMap<string, number>();

  /** 0 for a client that is not counted. */
  count(client: string): number {
    return this.#counts.get(client) ?? 0;
  }

  add(client: string): void {
    this.#counts.set(client, this.count(client) + 1);
  }

  /** Has no effect on a client that is not counted. */
  subtract(client: string): void {
    const left = this.count(client) - 1;
    if (left > 0) this.#counts.set(client, left);
    else this.#counts.delete(client);
  }
}
