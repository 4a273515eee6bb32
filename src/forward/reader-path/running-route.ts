/**
 * A route in a reader: chooses the next server, and knows which names are not for it.
 */
import { NameExceptions } from './name-exceptions.ts';
import type { OpenRoute } from './reader-policy.ts';

export class RunningRoute {
  readonly route: OpenRoute;
  readonly exceptions: NameExceptions;
  #turn = 0;

  /** @param hashOf the same hash as `QuestionReader.hashWithout` */
  constructor(route: OpenRoute, hashOf: (name: Uint8Array) => number) {
    this.route = route;
    this.exceptions = new NameExceptions(route.exceptions, hashOf);
  }

  /** The number of the server for the next query. */
  chooseServer(): number {
    const { servers, selection } = this.route;
    return servers[servers.length === 1 ? 0 : this.#place(servers.length, selection)]?.number ?? 0;
  }

  #place(count: number, selection: OpenRoute['selection']): number {
    if (selection === 'first') return 0;
    // The choice does not need a secure random number.
    if (selection === 'random') return Math.floor(Math.random() * count);
    const place = this.#turn % count;
    this.#turn = place + 1;
    return place;
  }
}
