/**
 * Hands what is cached to the process that takes over, so that an upgrade finds a warm cache.
 *
 * Both listen at the same addresses, so both know the name of a Unix socket in the abstract namespace, which the processes of a network
 * namespace share whatever their files: two pods with the network of their node, too. Who is not of the same user gets nothing, and is
 * believed nothing. What was asked for again comes first. After a second the new process serves with what it has.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Clock, Timer } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { TimeSlice } from '../base/time-slice.ts';
import type { AnswerKeeper, HandedAnswer } from '../chain/handed-answer.ts';
import { peerUserOf } from '../socket/peer-user.ts';
import { HandedRecordReader, writeRecord } from './handed-records.ts';

export interface CacheHandoverOptions {
  /** Where the server listens, `address:port` each. */
  readonly endpoints: readonly string[];
  /** Who keeps answers now, each by its text. */
  readonly keepers: () => ReadonlyMap<string, AnswerKeeper>;
  /** The user at the other end; by default the kernel says it. */
  readonly peerUser?: (socket: Socket) => number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds that answers are waited for, and between two tries to have the name that another process still has. */
const MAX_WAIT = 1000;
const RETRY_INTERVAL = 1000;
/** Octets that are written at once. */
const CHUNK_OCTETS = 64 * 1024;
/** Of the form of the records: another form is another name. */
const VERSION = 1;

export class CacheHandover {
  readonly #options: CacheHandoverOptions;
  readonly #name: string;
  #server: Server | undefined;
  #timer: Timer | undefined;
  #isStopped = false;

  constructor(options: CacheHandoverOptions) {
    this.#options = options;
    this.#name = nameOfHandover(options.endpoints);
  }

  /** Takes in what the process keeps that serves now, if there is one. Ends after a second at most; never rejects. */
  async inherit(): Promise<void> {
    const { clock, log } = this.#options;
    const socket = connect(this.#name);
    const timer = clock.after(MAX_WAIT, () => socket.destroy());
    const heir = new Heir(this.#options.keepers());
    try {
      await once(socket, 'connect');
      if (!this.#isOurs(socket)) throw new Error('it is of another user');
      for await (const piece of socket) if (heir.take(piece as Uint8Array)) break;
      const { adopted, refused, isWhole } = heir;
      log.info('cache taken over', { answers: adopted, refused, whole: isWhole });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException; // What sockets fail with.
      // Nobody serves.
      if (code === 'ECONNREFUSED') return;
      log.warn('cache not taken over', { reason: message, answers: heir.adopted });
    } finally {
      timer.cancel();
      socket.destroy();
    }
  }

  /** Hands what is kept to a process that asks, from now on, or once the process before has ended. */
  offer(): void {
    const { clock, log } = this.#options;
    const server = createServer((socket) => void this.#hand(socket).catch(() => socket.destroy()));
    server.maxConnections = 1;
    server.unref();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') this.#timer = clock.after(RETRY_INTERVAL, () => this.offer());
      else log.warn('cache not offered', { reason: error.message });
    });
    server.listen(this.#name, () => {
      if (this.#isStopped) server.close();
    });
    this.#server = server;
  }

  stop(): void {
    this.#isStopped = true;
    this.#timer?.cancel();
    if (this.#server?.listening === true) this.#server.close();
  }

  #isOurs(socket: Socket): boolean {
    const { peerUser = peerUserOf } = this.#options;
    const user = peerUser(socket);
    return user !== undefined && user === process.geteuid?.();
  }

  async #hand(socket: Socket): Promise<void> {
    const { clock, log, keepers } = this.#options;
    socket.unref().on('error', () => {});
    if (!this.#isOurs(socket)) {
      log.warn('cache not handed over', { reason: 'a process of another user asked for it' });
      socket.destroy();
      return;
    }
    const row = new RecordRow(socket, clock);
    let answers = 0;
    for (const isUsed of [true, false])
      for (const [text, keeper] of keepers()) {
        await row.add(writeRecord({ kind: 'keeper', text }));
        for (const answer of keeper.handOver(isUsed)) {
          if (socket.destroyed) return;
          await row.add(writeRecord({ kind: 'answer', answer }));
          answers += 1;
        }
      }
    await row.end(writeRecord({ kind: 'end' }));
    log.info('cache handed over', { answers });
  }
}

/** Records on their way to a socket, written in large pieces, with other work in between. */
class RecordRow {
  readonly #socket: Socket;
  readonly #slice: TimeSlice;
  #records: Buffer[] = [];
  #octets = 0;

  constructor(socket: Socket, clock: Clock) {
    this.#socket = socket;
    this.#slice = new TimeSlice(clock);
  }

  async add(record: Buffer): Promise<void> {
    this.#records.push(record);
    this.#octets += record.length;
    if (this.#octets >= CHUNK_OCTETS) await this.#flush();
    if (this.#slice.isOver) await this.#slice.next();
  }

  async end(record: Buffer): Promise<void> {
    this.#records.push(record);
    await this.#flush();
    this.#socket.end();
  }

  async #flush(): Promise<void> {
    const piece = Buffer.concat(this.#records);
    this.#records = [];
    this.#octets = 0;
    if (this.#socket.write(piece) || this.#socket.destroyed) return;
    await new Promise<void>((resolve) => {
      const go = () => {
        this.#socket.off('drain', go).off('close', go);
        resolve();
      };
      this.#socket.on('drain', go).on('close', go);
    });
  }
}

/** Takes in records. */
class Heir {
  readonly #keepers: ReadonlyMap<string, AnswerKeeper>;
  readonly #reader = new HandedRecordReader();
  #keeper: AnswerKeeper | undefined;
  /** Whether all has come. */
  isWhole = false;
  adopted = 0;
  /** Answers that cannot be read. */
  refused = 0;

  constructor(keepers: ReadonlyMap<string, AnswerKeeper>) {
    this.#keepers = keepers;
  }

  #adopt(keeper: AnswerKeeper, answer: HandedAnswer): void {
    try {
      keeper.adopt(answer);
      this.adopted += 1;
    } catch {
      this.refused += 1;
    }
  }

  /** @returns whether nothing more will come @throws HandedRecordError */
  take(piece: Uint8Array): boolean {
    for (const record of this.#reader.read(piece))
      switch (record.kind) {
        case 'keeper':
          this.#keeper = this.#keepers.get(record.text);
          break;
        case 'answer':
          if (this.#keeper !== undefined) this.#adopt(this.#keeper, record.answer);
          break;
        case 'end':
          this.isWhole = true;
      }
    return this.isWhole;
  }
}

/** The name of the socket, in the abstract namespace. */
export function nameOfHandover(endpoints: readonly string[]): string {
  const places = createHash('sha256').update(endpoints.toSorted().join()).digest('base64url');
  return `\0portolan/cache/${VERSION}/${process.geteuid?.() ?? ''}/${places}`;
}
