/**
 * The packet path and the path of the handlers have the same results for all: for the upstream server, for the client, and for
 * the cache.
 */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  caching,
  change,
  encodeQuestion,
  question,
  type Reply,
  read,
  sections,
  settingsOf,
  wellFormed,
} from './plain-traffic.ts';
import { ResolverSide } from './resolver-side.ts';

it('is the same to the server, the client and the cache as the way of the handlers', async () => {
  let taken = 0;
  let remembered = 0;
  const replies = fc.array(fc.tuple(sections, change), { minLength: 1, maxLength: 3 });
  await fc.assert(
    fc.asyncProperty(question, replies, caching, fc.boolean(), async (asked, parts, rules, trustsAd) => {
      const [handlers, octets] = [
        new ResolverSide(settingsOf(rules, trustsAd)),
        new ResolverSide(settingsOf(rules, trustsAd)),
      ];
      const made = parts.map(
        ([part, hostile]): Reply =>
          (query) =>
            hostile(wellFormed(asked, part)(query)),
      );
      const packet = encodeQuestion(asked);
      // Two clients ask for the same at once, the second with other capitals.
      const packets = [packet, encodeQuestion({ ...asked, name: asked.name.toUpperCase(), edns: undefined })];
      for (const one of packets) {
        handlers.askHandlers(one);
        octets.askByPacket(one);
      }
      await Promise.all([handlers.answer(made), octets.answer(made)]);
      const withoutId = ({ upstream }: ResolverSide) => upstream.packets.map((sent) => sent.slice(2));
      expect(withoutId(octets)).toEqual(withoutId(handlers));
      expect(octets.responses.map(read)).toEqual(handlers.responses.map(read));
      expect(octets.cached()).toEqual(handlers.cached());
      expect(octets.stats()).toEqual(handlers.stats());
      taken += octets.taken;
      remembered += octets.cached().length;
      for (const side of [handlers, octets]) side.resolver.stop();
    }),
    { numRuns: 400 },
  );
  // It is not by doing nothing that both do the same.
  expect(taken).toBeGreaterThan(30);
  expect(remembered).toBeGreaterThan(5);
});
