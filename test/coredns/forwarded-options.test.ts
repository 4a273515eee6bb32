/**
 * Readers forward questions with EDNS options as the chain of the block would: with the same queries to servers, and the same answers.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { type EdnsOption, RCODE, type ResourceRecord } from '@portolan/dns/types.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import type { React } from '@portolan/testing/upstream/received-query.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { ForwardingSubject } from './forwarding-subject.ts';
import { EDNS_OPTIONS, makePacket, toComparableMessage, withOpt } from './reader-subject.ts';

/** Of another network than that of `EDNS_OPTIONS`, which has the same length. */
const OTHER_SUBNET = { code: 8, data: Buffer.from('00011800c63364', 'hex') };
const EXTENDED_ERROR = { code: 15, data: Buffer.from('0016', 'hex') };
const BLOCKS = [
  'cache 30',
  'cache 30\n  loadbalance',
  'cache {\n    prefetch 2\n  }',
  '',
  'minimal',
  'bufsize 512',
];

interface ReplyShape {
  readonly addresses: number;
  /** Of its OPT record; undefined: the reply has no OPT record. */
  readonly options: readonly EdnsOption[] | undefined;
  readonly rcode: number;
  readonly truncates: boolean;
}

const replyShapes: fc.Arbitrary<ReplyShape> = fc.record({
  addresses: fc.constantFrom(0, 1, 1, 2, 60),
  options: fc.oneof(
    fc.constantFrom(undefined, []),
    fc.shuffledSubarray([...EDNS_OPTIONS, EXTENDED_ERROR], { maxLength: 2 }),
  ),
  rcode: fc.constantFrom(RCODE.NOERROR, RCODE.NOERROR, RCODE.NOERROR, RCODE.NXDOMAIN, RCODE.SERVFAIL),
  truncates: fc.constantFrom(false, false, false, true),
});

function reactAs({ addresses, options, rcode, truncates }: ReplyShape): React {
  return ({ query, over, send }) => {
    const [question] = query.questions;
    if (question === undefined) return;
    const of = (data: ResourceRecord['data']) => ({ name: question.name, class: 1, ttl: 60, data });
    const answers = Array.from({ length: addresses }, (_, index) =>
      of({ kind: 'A', address: `192.0.2.${index}` }),
    );
    const truncated = truncates && over === 'udp';
    const header = { ...query.header, response: true, recursionAvailable: true, rcode, truncated };
    const edns = query.edns && options && { ...query.edns, udpSize: 1232, options };
    send(reply(query, { header, answers: truncated || rcode !== 0 ? [] : answers, edns }));
  };
}

const clients = fc.record({
  size: fc.constantFrom(512, 1232, 4096),
  options: fc.shuffledSubarray([...EDNS_OPTIONS, OTHER_SUBNET], { maxLength: 3 }),
  flags: fc.constantFrom(0, 0, 0x8000),
});

/** The queries of a server, in any order. */
const listQueries = ({ queries }: LoopbackUpstream) =>
  queries
    .map(({ query: { header, questions, edns }, over }) =>
      JSON.stringify({ header: { ...header, id: 0 }, questions, edns, over }),
    )
    .sort();

it('as the chain does, octet for octet', { timeout: 60_000 }, async () => {
  let answered = 0;
  const moments = fc.array(fc.array(clients, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...BLOCKS), replyShapes, moments, async (block, shape, all) => {
      const upstreams = [
        await LoopbackUpstream.start(reactAs(shape)),
        await LoopbackUpstream.start(reactAs(shape)),
      ];
      const [byReader, byChain] = upstreams.map(
        ({ address }) => new ForwardingSubject(`.:53 {\n  ${block}\n  forward . ${address}\n}\n`),
      );
      if (byReader === undefined || byChain === undefined) throw new Error('no subjects');
      await byReader.start();
      await byChain.engine.start();
      for (const moment of all) {
        const packets = moment.map(({ size, options, flags }) =>
          makePacket('WWW.example', 'A', withOpt(size, options, flags)),
        );
        const contents = (responses: readonly Uint8Array[]) =>
          responses.map((response) => {
            const { answers, ...others } = toComparableMessage(decodeMessage(response));
            // A set that is cut begins anywhere.
            return { ...others, answers: others.header.truncated ? answers.length : answers };
          });
        const read = await byReader.askAtOnce(packets);
        const chained = await byChain.askChainAtOnce(packets);
        expect(contents(read)).toEqual(contents(chained));
      }
      const [first, second] = upstreams.map(listQueries);
      expect(first).toEqual(second);
      answered += byReader.answered;
      byReader.stop();
      byChain.stop();
      for (const upstream of upstreams) await upstream.stop();
    }),
    { numRuns: 60 },
  );
  // How many depends on the shapes that are drawn, and on how soon a busy machine replies.
  expect(answered).toBeGreaterThan(0);
});

it('with one query for each set of options, octet for octet', async () => {
  const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
  onTestFinished(() => upstream.stop());
  const subject = new ForwardingSubject(`.:53 {\n  cache 30\n  forward . ${upstream.address}\n}\n`);
  await subject.start();
  const [cookie, subnet, nsid, , , padding] = EDNS_OPTIONS;
  const sets = [[], [cookie], [padding], [subnet], [OTHER_SUBNET], [nsid], [nsid, cookie], [cookie, nsid]];
  const packets = [...sets, ...sets].map((options) => makePacket('www.example', 'A', withOpt(1232, options)));
  await subject.askAtOnce(packets);
  const plain = (options: readonly EdnsOption[] = []) =>
    options.map(({ code, data }) => `${code} ${Buffer.from(data).toString('hex')}`);
  expect(upstream.queries.map(({ query }) => plain(query.edns?.options)).sort()).toEqual(
    [[], [subnet], [OTHER_SUBNET], [nsid], [nsid, cookie], [cookie, nsid]].map(plain).sort(),
  );
  expect(subject.answered).toBe(packets.length);
});
