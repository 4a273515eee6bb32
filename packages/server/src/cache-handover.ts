/**
 * Hands the cache to the process that takes over, so that an upgrade starts with a warm cache.
 *
 * Both listen on the same addresses, so both can derive the name of the Unix socket. It is in the abstract namespace, which all processes
 * of a network namespace share, even without a common file system (two pods with `hostNetwork`). Each side trusts only its own user.
 * Reused answers come first. After a second the new process starts with what it has received.
 */
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Clock, Timer } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import type { AnswerKeeper, HandoverAnswer } from '@portolan/kernel/chain/handover-answer.ts';
import { abstractPath, showAbstractName } from '@portolan/kernel/socket/abstract-name.ts';
import { findPeerUser } from '@portolan/kernel/socket/peer.ts';
import { HandoverReader, writeRecord } from './handover-format.ts';

export interface CacheHandoverOptions {
  /** The listen addresses, `address:port` each. */
  readonly endpoints: readonly string[];
  /** The current keepers of answers, by text. */
  readonly keepers: () => ReadonlyMap<string, AnswerKeeper>;
  /** The user of the peer; by default the kernel reports it. */
  readonly peerUser?: (socket: Socket) => number | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** Milliseconds to wait for answers, and between attempts to listen while the previous process still holds the name. */
const MAX_WAIT = 1000;
const RETRY_INTERVAL = 1000;
/** The octets of one write. */
const CHUNK_OCTETS = 64 * 1024;
/** The version of the record format, which is part of the name. */
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

  /** Takes over the cache of the serving process, if there is one. Ends after at most a second; never rejects. */
  async inherit(): Promise<void> {
    const { clock, log } = this.#options;
    const socket = connect(this.#name);
    // The reader learns it from the state of the socket, whenever it comes.
    socket.on('error', () => {});
    const timer = clock.after(MAX_WAIT, () => socket.destroy());
    const heir = new Heir(this.#options.keepers());
    try {
      await once(socket, 'connect');
      if (!this.#isOurs(socket)) throw new Error('it is of another user');
      for await (const piece of socket) if (heir.take(piece as Uint8Array)) break;
      const { adopted, refused, isWhole } = heir;
      log.info('cache taken over', { answers: adopted, refused, whole: isWhole });
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException; // Socket errors are of this type.
      // There is no previous process.
      if (code === 'ECONNREFUSED') return;
      log.warn('cache not taken over', { reason: showAbstractName(message), answers: heir.adopted });
    } finally {
      timer.cancel();
      socket.destroy();
    }
  }

  /** Offers the cache to a process that asks; starts as soon as the previous process has released the name. */
  offer(): void {
    const { clock, log } = this.#options;
    const server = createServer((socket) => void this.#hand(socket).catch(() => socket.destroy()));
    server.maxConnections = 1;
    server.unref();
    server.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE' && !server.listening)
        this.#timer = clock.after(RETRY_INTERVAL, () => this.offer());
      else log.warn('cache not offered', { reason: showAbstractName(error.message) });
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
    const { peerUser = findPeerUser } = this.#options;
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
    const current = keepers();
    let answers = 0;
    for (const isUsed of [true, false])
      for (const [text, keeper] of current) {
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

/** Writes records to a socket in large chunks and yields to other work in between. */
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

/** Receives records. */
class Heir {
  readonly #keepers: ReadonlyMap<string, AnswerKeeper>;
  readonly #reader = new HandoverReader();
  #keeper: AnswerKeeper | undefined;
  /** Whether the end record has arrived. */
  isWhole = false;
  adopted = 0;
  /** Unreadable answers. */
  refused = 0;

  constructor(keepers: ReadonlyMap<string, AnswerKeeper>) {
    this.#keepers = keepers;
  }

  #adopt(keeper: AnswerKeeper, answer: HandoverAnswer): void {
    try {
      keeper.adopt(answer);
      this.adopted += 1;
    } catch {
      this.refused += 1;
    }
  }

  /** @returns whether this was the last piece @throws HandedRecordError */
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

/** The path of the socket in the abstract namespace. */
export function nameOfHandover(endpoints: readonly string[]): string {
  const places = createHash('sha256').update(endpoints.toSorted().join()).digest('base64url');
  return abstractPath(`portolan/cache/${VERSION}/${process.geteuid?.() ?? ''}/${places}`);
}
