/**
 * A client asks again and again for answers of 64 KB.
 */
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { connect } from 'node:net';
import { FrameParser, frame } from '@portolan/dns/frames.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { parseName } from '@portolan/dns/name.ts';
import type { RecordData } from '@portolan/dns/types.ts';
import { ask, makeQuery } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone } from '@portolan/testing/upstream/reactions.ts';
import { onTestFinished } from 'vitest';
import { readThreadTimes, sumTimes } from '../../../bench/processor-time.ts';
import { type Role, type RunningRole, startRole } from '../../support/roles.ts';

type Asking = readonly [name: string, type: 'A' | 'TXT' | 'SRV'];

const list = <Item>(length: number, make: (index: number) => Item): readonly Item[] =>
  Array.from({ length }, (_, index) => make(index));
const toAddress = (index: number) => `10.0.${index >> 8}.${index & 255}`;

const NAMES: Readonly<Record<string, readonly RecordData[]>> = {
  'addresses.test. A': list(4000, (index) => ({ kind: 'A', address: toAddress(index) })),
  'texts.test. TXT': list(230, (index) => ({ kind: 'TXT', strings: [Buffer.alloc(255, index)] })),
  'targets.test. SRV': list(2500, (index) => ({
    kind: 'SRV',
    priority: 1,
    weight: 1,
    port: index,
    target: parseName(`s${index}.`),
  })),
};
const QUESTIONS: readonly Asking[] = [
  ['addresses.test', 'A'],
  ['texts.test', 'TXT'],
  ['targets.test', 'SRV'],
];
const FILE_QUESTION: Asking = ['many.zone.test', 'A'];
const ZONE = [
  '$ORIGIN zone.test.\n@ 3600 IN SOA ns hostmaster 1 7200 3600 1209600 3600\n@ 3600 IN NS ns\nns IN A 192.0.2.1\n',
  ...list(1000, (index) => `many 300 IN A ${toAddress(index)}\n`),
].join('');

/** Asked before the measurement, since code is slow at first, and asked in it. */
const WARM = 2000;
const COUNT = 150;
/** The cheapest counts: other programs empty the caches of the processor, and compilers run beside. */
const ROUNDS = 8;
/** Answers of 64 KB over TCP are copied, which needs no warming. */
const WARM_TCP = 200;
const DEADLINE_MILLISECONDS = 5_000;

export async function askDearly(role: Role): Promise<Record<string, number>> {
  const upstream = await LoopbackUpstream.start(answerFromZone(NAMES));
  onTestFinished(() => upstream.stop());
  const running = await startRole(role, { upstream: Number(upstream.address.split(':')[1]), zone: ZONE });
  const costs = { udp: 0, tcp: 0, file: 0 };
  for (const question of QUESTIONS) {
    const { answers } = await ask(running, ...question, { transport: 'tcp' });
    if (answers.length < 230) throw new Error(`answers missing: ${answers.length}`);
    // From now on it is cached for both transports.
    await ask(running, ...question);
    costs.udp = Math.max(costs.udp, await measureCost(running, () => askByUdp(running, question)));
    costs.tcp = Math.max(costs.tcp, await measureCost(running, () => askByTcp(running, question), WARM_TCP));
  }
  costs.file = await measureCost(running, () => askByUdp(running, FILE_QUESTION));
  return costs;
}

/** Microseconds of the server's processor time for one question. */
async function measureCost(
  { program }: RunningRole,
  open: () => Promise<{ ask(): Promise<unknown>; close(): void }>,
  warm = WARM,
): Promise<number> {
  const client = await open();
  const pid = program.process.pid ?? 0;
  for (let count = 0; count < warm; count += 1) await client.ask();
  const costs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = sumTimes(readThreadTimes(pid));
    for (let count = 0; count < COUNT; count += 1) await client.ask();
    costs.push((sumTimes(readThreadTimes(pid)) - before) / COUNT);
  }
  client.close();
  return Math.min(...costs);
}

async function askByUdp({ port, address }: RunningRole, [name, type]: Asking) {
  const query = encodeMessage(makeQuery(name, type));
  const socket = createSocket('udp4');
  socket.connect(port, address);
  await once(socket, 'connect');
  return {
    ask: async () => {
      const answer = once(socket, 'message', { signal: AbortSignal.timeout(DEADLINE_MILLISECONDS) });
      socket.send(query);
      return await answer;
    },
    close: () => socket.close(),
  };
}

async function askByTcp({ port, address }: RunningRole, [name, type]: Asking) {
  const query = frame(encodeMessage(makeQuery(name, type)));
  const socket = connect(port, address);
  await once(socket, 'connect');
  const parser = new FrameParser();
  let answered = () => {};
  socket.on('data', (chunk: Uint8Array) => {
    parser.push(chunk);
    if (parser.next() !== undefined) answered();
  });
  return {
    ask: async () => {
      const answer = new Promise<void>((resolve) => {
        answered = resolve;
      });
      socket.write(query);
      await answer;
    },
    close: () => socket.destroy(),
  };
}
