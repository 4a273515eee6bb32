/**
 * Finds out whether a server answers several queries on one connection, without a client that depends on it: two copies
 * of a query that is asked anyway, on a connection of their own.
 */
import type { Clock, Timer } from '../../base/clock.ts';
import type { QueryMessage } from './query-message.ts';
import type { ConnectionQuery, UpstreamConnection, UpstreamConnectionEvents } from './stream-connection.ts';

/** Milliseconds for both replies, including connecting. */
const TIMEOUT = 1000;

export class StreamTrial {
  readonly #connection: UpstreamConnection<ConnectionQuery>;
  readonly #timer: Timer;
  readonly #rcodes: number[] = [];
  #first = 0;

  /**
   * @param open opens the connection
   * @param passed called if both copies got the same response code: with the milliseconds until the first reply, and from there to the second
   */
  constructor(
    query: QueryMessage,
    clock: Clock,
    open: (events: UpstreamConnectionEvents<ConnectionQuery>) => UpstreamConnection<ConnectionQuery>,
    passed: (first: number, gap: number) => void,
  ) {
    this.#timer = clock.after(TIMEOUT, () => this.end());
    this.#connection = open({
      replied: ({ elapsed, gap }) => {
        const [first, second] = this.#rcodes;
        if (second === undefined) {
          this.#first = elapsed;
          return;
        }
        this.end();
        if (first === second) passed(this.#first, gap);
      },
      closed: () => this.end(),
    });
    for (let copy = 0; copy < 2; copy += 1) this.#connection.ask(this.#toConnectionQuery(query));
  }

  end(): void {
    this.#timer.cancel();
    this.#connection.destroy();
  }

  #toConnectionQuery(query: QueryMessage): ConnectionQuery {
    const events = {
      replied: ({ header }: { readonly header: { readonly rcode: number } }) =>
        void this.#rcodes.push(header.rcode),
      heard() {},
      failed() {},
    };
    return { query, events, id: 0, sentAt: 0, order: 0, isBehind: false };
  }
}
