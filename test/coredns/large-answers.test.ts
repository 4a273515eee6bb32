/**
 * Cached answers that are larger than what readers send over UDP: with `-compat` a client gets the size that it offers.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import type { Message } from '@portolan/dns/types.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ALL_RESTORED, NOTHING_RESTORED } from '@portolan/kernel/deviations/table.ts';
import { LargeAnswers } from '@portolan/kernel/listen/large-answers.ts';
import { exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { startCoredns } from '../resolver/forwarding-programs.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { CLIENT, makePacket, ReaderSubject, SERVER, toComparableMessage, withOpt } from './reader-subject.ts';

afterEach(endAllPrograms);

const UDP_SIZE = 4096;
/** Some 60 KB as addresses. */
const RECORDS = 3700;

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(({ query, over, send }) => {
    const [question] = query.questions;
    if (question === undefined) return;
    const of = (index: number) => ({ kind: 'A', address: `10.0.${index >> 8}.${index & 255}` }) as const;
    const answers = Array.from({ length: over === 'udp' ? 0 : RECORDS }, (_, index) => ({
      name: question.name,
      class: 1,
      ttl: 60,
      data: of(index),
    }));
    const header = { ...query.header, response: true, recursionAvailable: true, truncated: over === 'udp' };
    send(reply(query, { header, answers }));
  });
  onTestFinished(() => upstream.stop());
  return upstream;
}

async function startSubject(restored: typeof ALL_RESTORED, lines: string) {
  const upstream = await startUpstream();
  const clock = new ManualClock();
  const subject = new ReaderSubject(
    `.:53 {\n ${lines}\n forward . ${upstream.address}\n}\n`,
    clock,
    restored,
  );
  await subject.engine.start();
  await subject.askChain(makePacket('large.test', 'A'), 'tcp');
  const { reader } = subject.engine;
  const large = new LargeAnswers(reader, { clock, log: silentLog, udpSize: UDP_SIZE });
  const group = subject.engine.getListenerGroupNumber(SERVER);
  return {
    subject,
    ask: (packet: Uint8Array) => large.answer(packet, { ...CLIENT, transport: 'udp', group }),
  };
}

/** A set that is cut begins anywhere where addresses rotate. */
const contentOfCut = (message: Message) => {
  const { answers, ...others } = toComparableMessage(message);
  return { ...others, answers: others.header.truncated ? answers.length : answers };
};

describe('a large cached answer', () => {
  it.each(['cache', 'cache\n loadbalance'])('comes from its octets as from the chain: %s', async (lines) => {
    const { subject, ask } = await startSubject(ALL_RESTORED, lines);
    for (const size of [undefined, 512, UDP_SIZE])
      expect(ask(makePacket('large.test', 'A', withOpt(size)))).toBeUndefined();
    for (const size of [undefined, 512, 1232, UDP_SIZE, UDP_SIZE + 1, 16_384, 65_535]) {
      const packet = makePacket('large.test', 'A', withOpt(size));
      const small = subject.askTable(packet);
      const large = ask(packet);
      const read = small ?? (large && decodeMessage(large));
      const chained = await subject.askChain(packet);
      expect(small === undefined).toBe(size !== undefined && size > UDP_SIZE);
      expect(read && contentOfCut(read)).toEqual(chained && contentOfCut(chained));
      if (size === 65_535) expect(read?.answers).toHaveLength(RECORDS);
    }
    expect(ask(makePacket('other.test', 'A', withOpt(65_535)))).toBeUndefined();
  });

  it('has our own limit without -compat', async () => {
    const { ask } = await startSubject(NOTHING_RESTORED, 'cache');
    const response = ask(makePacket('large.test', 'A', withOpt(65_535)));
    expect(response?.length).toBeLessThanOrEqual(UDP_SIZE);
    expect(response && decodeMessage(response).header.truncated).toBe(true);
  });

  it('is sent and logged as all others', async () => {
    const upstream = await startUpstream();
    const lines = `log\n cache\n forward . ${upstream.address} {\n prefer_udp\n }`;
    const { program, server } = await startCoredns(lines, '-compat=1.14');
    const edns = { version: 0, udpSize: 65_535, dnssecOk: false, extendedRcode: 0, options: [] };
    for (let asked = 1; asked <= 3; asked += 1) {
      const { answers } = decodeMessage(await exchange(server, { ...makeQuery('large.test', 'A'), edns }));
      expect(answers).toHaveLength(RECORDS);
      const logged = () => program.output.split('\n').filter((line) => line.includes('large.test.'));
      await waitUntil('the line', () => logged().length >= asked);
      expect(logged()).toHaveLength(asked);
    }
  });
});
