/**
 * The packet filters of both families of addresses, as one: either all of them have their rules, or none.
 */
import type { PacketFilter } from './packet-filter.ts';

export class FamilyFilters implements PacketFilter {
  readonly #filters: readonly PacketFilter[];

  constructor(filters: readonly PacketFilter[]) {
    this.#filters = filters;
  }

  get name(): string {
    return this.#filters.map(({ name }) => name).join(' and ');
  }

  get isSet(): boolean {
    return this.#filters.every(({ isSet }) => isSet);
  }

  async set(): Promise<boolean> {
    let wasIncomplete = false;
    try {
      for (const filter of this.#filters) wasIncomplete = (await filter.set()) || wasIncomplete;
    } catch (error) {
      // The rules of one family without the other would not be known to be set, and stay.
      await this.remove().catch(() => {});
      throw error;
    }
    return wasIncomplete;
  }

  async remove(): Promise<void> {
    const removals = this.#filters.map((filter) => filter.remove());
    for (const outcome of await Promise.allSettled(removals))
      if (outcome.status === 'rejected') throw outcome.reason;
  }

  leave(): void {
    for (const filter of this.#filters) filter.leave();
  }
}
