/**
 * Which servers may get trains (`socket/train-row.ts`), from what one reader has seen.
 *
 * A train is lost as a whole if a device on the path cannot split it. Its queries time out and are sent again one by
 * one, so it only costs time. After several trains in a row without any reply, the server gets no trains for some
 * minutes. Then one lost train is enough, until a train gets a reply.
 */
import { trainsAvailable } from '../../socket/train-row.ts';
import { MAX_SERVERS } from './shared-words.ts';

const MAX_LOST = 4;
const MILLISECONDS_WITHOUT = 10 * 60_000;

export class TrainSupport {
  /** The server at each place; places are server numbers modulo `MAX_SERVERS`. */
  readonly #servers = new Uint32Array(MAX_SERVERS);
  /** Consecutive trains without a reply; and the last of them. */
  readonly #lost = new Uint8Array(MAX_SERVERS);
  readonly #lastLost = new Uint32Array(MAX_SERVERS);
  readonly #withoutUntil = new Float64Array(MAX_SERVERS);
  readonly #isAvailable: boolean;

  /** @param isAvailable whether the kernel supports trains */
  constructor(isAvailable = trainsAvailable()) {
    this.#isAvailable = isAvailable;
  }

  /** @param now by the clock's monotonic time */
  isUsed(server: number, now: number): boolean {
    return this.#isAvailable && now >= (this.#withoutUntil[this.#claimPlace(server)] ?? 0);
  }

  /** The kernel refuses trains for this server. */
  noteRefused(server: number, now: number): void {
    const place = this.#claimPlace(server);
    this.#withoutUntil[place] = now + MILLISECONDS_WITHOUT;
    this.#lost[place] = MAX_LOST - 1;
  }

  /** A query of a train got a reply. */
  noteReply(server: number): void {
    this.#lost[this.#claimPlace(server)] = 0;
  }

  /** A query of a train is overdue. */
  noteOverdue(server: number, train: number, now: number): void {
    const place = this.#claimPlace(server);
    if (this.#lastLost[place] === train || !this.isUsed(server, now)) return;
    this.#lastLost[place] = train;
    this.#lost[place] = (this.#lost[place] ?? 0) + 1;
    if ((this.#lost[place] ?? 0) >= MAX_LOST) this.noteRefused(server, now);
  }

  /** The place of a server, cleared if another server used it before. */
  #claimPlace(server: number): number {
    const place = server % MAX_SERVERS;
    if (this.#servers[place] === server) return place;
    this.#servers[place] = server;
    this.#lost[place] = 0;
    this.#lastLost[place] = 0;
    this.#withoutUntil[place] = 0;
    return place;
  }
}
