/**
 * Counts questions per client and finds the client with the most, both in constant time: it is needed under overload.
 *
 * Clients with equal counts share a set, and a count changes only by one.
 */
export class ClientTally {
  readonly #counts = new Map<string, number>();
  /** `#groups[n]`: the clients with n questions, in the order in which they joined the set. */
  readonly #groups: Set<string>[] = [];
  #most = 0;

  count(client: string): number {
    return this.#counts.get(client) ?? 0;
  }

  add(client: string): void {
    const count = this.count(client);
    this.#move(client, count, count + 1);
    this.#most = Math.max(this.#most, count + 1);
  }

  subtract(client: string): void {
    const count = this.count(client);
    if (count === 0) return;
    this.#move(client, count, count - 1);
    while (this.#most > 0 && this.#group(this.#most).size === 0) this.#most -= 1;
  }

  /** A client with the highest count. */
  busiest(): string | undefined {
    for (const client of this.#group(this.#most)) return client;
    return undefined;
  }

  #move(client: string, from: number, to: number): void {
    this.#group(from).delete(client);
    if (to === 0) {
      this.#counts.delete(client);
      return;
    }
    this.#counts.set(client, to);
    this.#group(to).add(client);
  }

  #group(count: number): Set<string> {
    let group = this.#groups[count];
    while (group === undefined) {
      this.#groups.push(new Set());
      group = this.#groups[count];
    }
    return group;
  }
}
