/**
 * A route in a reader: chooses the next server, and knows which names are not for it.
 */
import { NameExceptions } from './name-exceptions.ts';
import type { QueryForm } from './query-octets.ts';
import type { OpenRoute, RouteServer } from './reader-policy.ts';

export class RunningRoute {
  readonly route: OpenRoute;
  readonly exceptions: NameExceptions;
  readonly #withoutEdns: QueryForm;
  #turn = 0;

  /** @param hashWireName the same hash as `QuestionReader.hashWithout` */
  constructor(route: OpenRoute, hashWireName: (name: Uint8Array) => number) {
    this.route = route;
    this.#withoutEdns = { udpSize: 0, trustsAd: route.trustsAd };
    this.exceptions = new NameExceptions(route.exceptions, hashWireName);
  }

  /** The server for the next query. */
  chooseServer(): RouteServer | undefined {
    const { servers, selection } = this.route;
    return servers[servers.length === 1 ? 0 : this.#place(servers.length, selection)];
  }

  /** The settings of queries to a server. */
  formFor({ usesEdns }: RouteServer): QueryForm {
    return usesEdns ? this.route : this.#withoutEdns;
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
