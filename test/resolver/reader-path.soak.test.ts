/**
 * Forwarding in the reader and on the main thread have the same results for all: for the upstream server, for the client, for the
 * cache and for the counters.
 */
import { QUERY_HEADER } from '@portolan/kernel/chain/testing/queries.ts';
import { SERVE_CACHING } from '@portolan/kernel/forward/caching/caching-rules.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  caching,
  change,
  encodeQuestion,
  makeResolverSettings,
  question,
  type Reply,
  read,
  sections,
  wellFormed,
} from './plain-traffic.ts';
import { ReaderSide } from './reader-side.ts';
import { ResolverSide } from './resolver-side.ts';

/** Addresses and nothing else, as nearly all replies. */
const plain = sections.map((parts): typeof parts => ({
  ...parts,
  shape: 'answer',
  aliases: [],
  wanted: true,
  rcode: 0,
  truncated: false,
  edns: undefined,
  answers: parts.answers.map((answer) => ({ ...answer, own: true, data: ADDRESS })),
}));
const ADDRESS = { kind: 'A', address: '192.0.2.1' } as const;

it('is the same to all as forwarding on the main thread', async () => {
  let answered = 0;
  let left = 0;
  const replies = fc.array(fc.tuple(fc.oneof(sections, plain), change), { maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(question, replies, caching, fc.boolean(), async (asked, parts, rules, trustsAd) => {
      const settings = makeResolverSettings(rules, trustsAd);
      const main = new ResolverSide(settings);
      const reader = new ReaderSide(settings);
      const made = parts.map(
        ([part, hostile]): Reply =>
          (query) =>
            hostile(wellFormed(asked, part)(query)),
      );
      const packet = encodeQuestion(asked);
      // Two clients ask for the same at once, the second with other capitals.
      const packets = [packet, encodeQuestion({ ...asked, name: asked.name.toUpperCase(), edns: undefined })];
      for (const one of packets) {
        main.askHandlers(one);
        reader.askReader(one);
      }
      await Promise.all([main.answer(made), reader.answer(made)]);
      const withoutId = ({ upstream }: ResolverSide) => upstream.packets.map((sent) => sent.slice(2));
      expect(withoutId(reader)).toEqual(withoutId(main));
      expect(reader.responses.map(read)).toEqual(main.responses.map(read));
      expect(reader.cached()).toEqual(main.cached());
      expect(reader.stats()).toEqual(main.stats());
      answered += reader.answered;
      left += packets.length - reader.answered;
      main.resolver.stop();
      reader.close();
    }),
    { numRuns: 400 },
  );
  // It is not by leaving everything to the main thread that both do the same, nor by never leaving anything to it.
  expect(answered).toBeGreaterThan(0);
  expect(left).toBeGreaterThan(0);
});

it('learns at once that a whole train went to a closed port', () => {
  const side = new ReaderSide(makeResolverSettings(SERVE_CACHING, false));
  side.upstream.close();
  // More than have sockets of their own, so that the others leave in a train.
  const names = Array.from({ length: 60 }, (_, index) => `host-${index}.example.`);
  side.askReader(
    ...names.map((name) => encodeQuestion({ name, type: 1, edns: undefined, header: QUERY_HEADER })),
  );
  side.receiveAll();
  expect(side.failed).toBe(names.length);
  side.resolver.stop();
});
