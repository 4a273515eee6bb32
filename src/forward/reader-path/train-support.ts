/**
 * Which servers are sent trains (`socket/train-row.ts`), as far as one reader knows.
 *
 * A train is lost as a whole where something on the way does not cut it. Its queries are asked again one by one, as all that are
 * overdue, so nothing but time is lost. When no query of several trains in a row has a reply, the server gets none for some minutes.
 * Then a single train that is lost is enough, until a reply to one comes.
 */
import { trainsAvailable } from '../../socket/train-row.ts';
import { MAX_SERVERS } from './shared-words.ts';

const MAX_LOST = 4;
const MILLISECONDS_WITHOUT = 10 * 60_000;

export class TrainSupport {
  /** By the number of the server, modulo `MAX_SERVERS`: which server has the place. */
  readonly #servers = new Uint32Array(MAX_SERVERS);
  /** Trains without a reply, one after the other; and the last of them. */
  readonly #lost = new Uint8Array(MAX_SERVERS);
  readonly #lastLost = new Uint32Array(MAX_SERVERS);
  readonly #withoutUntil = new Float64Array(MAX_SERVERS);
  readonly #isAvailable: boolean;

  /** @param isAvailable whether the kernel knows them */
  constructor(isAvailable = trainsAvailable()) {
    this.#isAvailable = isAvailable;
  }

  /** @param now of the clock's monotonic time */
  isUsed(server: number, now: number): boolean {
    return this.#isAvailable && now >= (this.#withoutUntil[this.#placeOf(server)] ?? 0);
  }

  /** The kernel takes none for this server. */
  noteRefused(server: number, now: number): void {
    const place = this.#placeOf(server);
    this.#withoutUntil[place] = now + MILLISECONDS_WITHOUT;
    this.#lost[place] = MAX_LOST - 1;
  }

  /** A query of a train had a reply. */
  noteReply(server: number): void {
    this.#lost[this.#placeOf(server)] = 0;
  }

  /** A query of a train is overdue. */
  noteOverdue(server: number, train: number, now: number): void {
    const place = this.#placeOf(server);
    if (this.#lastLost[place] === train || !this.isUsed(server, now)) return;
    this.#lastLost[place] = train;
    this.#lost[place] = (this.#lost[place] ?? 0) + 1;
    if ((this.#lost[place] ?? 0) >= MAX_LOST) this.noteRefused(server, now);
  }

  /** The place of a server, with nothing of the one that had it before. */
  #placeOf(server: number): number {
    const place = server % MAX_SERVERS;
    if (this.#servers[place] === server) return place;
    this.#servers[place] = server;
    this.#lost[place] = 0;
    this.#lastLost[place] = 0;
    this.#withoutUntil[place] = 0;
    return place;
  }
}
