/**
 * Every role under more questions than it can answer gives fresh answers, and none that comes too late.
 *
 * The process gets a tenth of a processor, by stopping it most of the time. Its clients keep more questions unanswered than the main
 * thread takes in, so that its queue is always full, however fast the machine is.
 */

import { createSocket, type Socket } from 'node:dgram';
import { encodeMessage } from '@portolan/dns/message.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort, makeQuery } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { denyAll } from '@portolan/testing/upstream/reactions.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { MANNERS } from '../../support/all-roles.ts';
import { endAllPrograms, runPortolan } from '../../support/portolan.ts';
import { itWithTool } from '../../support/tools.ts';

afterEach(endAllPrograms);

const CLIENTS = 4;
/** Of one client: together they are more than the 10,000 that the main thread takes in. */
const UNANSWERED = 3_000;
/** A part of them at a time, so that the receive buffer is not the bound. */
const BURST = 50;
const MILLISECONDS = 12_000;
/** Answers from a full queue that are judged: a busy machine needs longer for them. */
const JUDGED = 200;
/** What a client waits, and what a busy machine may add between the server and the clock of this test. */
const TOO_LATE = 10_000 + 3_000;
/** From when on the queue is full. */
const FULL = 4_000;
const PERIOD = 100;

/** A client whose questions all have names of their own. */
class FloodingClient {
  readonly delays: number[] = [];
  readonly #began = performance.now();
  readonly #socket: Socket;
  /** When the question with an id was sent. */
  readonly #sent = new Map<number, number>();
  #id = 0;

  constructor(port: number, address: string) {
    this.#socket = createSocket({ type: 'udp4', recvBufferSize: 2 ** 20 });
    this.#socket.on('message', (message) => this.#take(message.readUInt16BE(0)));
    this.#socket.on('error', () => {});
    this.#socket.bind(0, address, () => this.#socket.connect(port, '127.0.0.1'));
    onTestFinished(() => void this.#socket.close());
  }

  /** Asks some new questions, if not too many are unanswered. */
  ask(): void {
    for (let count = 0; count < BURST && this.#sent.size < UNANSWERED; count += 1) {
      this.#id = (this.#id + 1) % 0x10000;
      const query = makeQuery(`n${this.#id}-${this.delays.length}.flood.test`, 'TXT');
      const header = { ...query.header, id: this.#id };
      this.#sent.set(this.#id, performance.now());
      this.#socket.send(encodeMessage({ ...query, header }));
    }
    // Questions that were dropped, by the kernel or the server, count no more.
    const old = performance.now() - TOO_LATE;
    for (const [id, sent] of this.#sent) {
      if (sent > old) break;
      this.#sent.delete(id);
    }
  }

  #take(id: number): void {
    const sent = this.#sent.get(id);
    const now = performance.now();
    if (sent !== undefined && now - this.#began > FULL) this.delays.push(now - sent);
    this.#sent.delete(id);
  }
}

/** Lets a program run for a tenth of the time. @returns a function that ends it */
function starve(program: Program): () => void {
  let run: NodeJS.Timeout | undefined;
  const timer = setInterval(() => {
    program.signal('SIGCONT');
    run = setTimeout(() => program.signal('SIGSTOP'), PERIOD / 10);
  }, PERIOD);
  const end = () => {
    clearInterval(timer);
    clearTimeout(run);
    program.signal('SIGCONT');
  };
  onTestFinished(end);
  return end;
}

async function overload(manner: string): Promise<readonly number[]> {
  const upstream = await LoopbackUpstream.start(denyAll, { remembers: false });
  onTestFinished(() => upstream.stop());
  const port = await findFreePort();
  const words = await MANNERS.get(manner)?.({ upstream: upstream.address, port });
  const program = runPortolan(words ?? []);
  const server = { address: '127.0.0.1', port };
  const isServing = () => askShort(server, 'ready.test', 'A', { deadline: 500 }).catch(() => 'nothing');
  await waitUntil(
    'the server',
    async () => program.ended !== undefined || (await isServing()) === 'NXDOMAIN',
  );
  expect(program.ended, program.output + program.errors).toBe(undefined);
  const end = starve(program);
  const clients = Array.from(
    { length: CLIENTS },
    (_, index) => new FloodingClient(port, `127.0.0.${20 + index}`),
  );
  const until = performance.now() + MILLISECONDS;
  const count = () => clients.reduce((sum, { delays }) => sum + delays.length, 0);
  const timer = setInterval(() => {
    for (const client of clients) client.ask();
  }, 10);
  await waitUntil(`${JUDGED} answers`, () => performance.now() > until && count() >= JUDGED);
  clearInterval(timer);
  end();
  return clients.flatMap(({ delays }) => delays).sort((one, other) => one - other);
}

describe('more questions than it can answer', () => {
  const check = async (manner: string) => {
    const delays = await overload(manner);
    const median = delays[delays.length >> 1] ?? Number.POSITIVE_INFINITY;
    expect(median).toBeLessThan(FULL / 2);
    expect(delays.filter((delay) => delay > TOO_LATE)).toEqual([]);
  };
  for (const manner of MANNERS.keys()) {
    if (manner === 'skydns') itWithTool(['etcd'], `leave ${manner} with fresh answers`, () => check(manner));
    else it(`leave ${manner} with fresh answers`, { timeout: 120_000 }, () => check(manner));
  }
});
