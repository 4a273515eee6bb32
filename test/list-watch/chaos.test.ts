/**
 * Changes and faults in any order: after the faults, the objects held are those of the server.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { FaultRule } from '../api-server/faults.ts';
import { Harness, service } from './harness.ts';

type Step =
  | { readonly kind: 'put'; readonly name: number; readonly address: number }
  | { readonly kind: 'delete'; readonly name: number }
  | { readonly kind: 'fault'; readonly rule: FaultRule }
  | { readonly kind: 'inject'; readonly text: string }
  | { readonly kind: 'advance'; readonly milliseconds: number }
  | {
      readonly kind: 'order';
      readonly order: 'compact' | 'bookmark' | 'endWatches' | 'resetWatches' | 'freezeConnections';
    }
  | { readonly kind: 'rest' };

const name = fc.nat(5);
const rule: fc.Arbitrary<FaultRule> = fc.record({
  verb: fc.constantFrom('list' as const, 'watch' as const),
  fault: fc.oneof(
    fc.record({
      kind: fc.constant('status' as const),
      status: fc.constantFrom(401, 403, 404, 410, 429, 500, 503),
    }),
    fc.record({ kind: fc.constantFrom('reset' as const, 'stall-body' as const), afterBytes: fc.nat(2_000) }),
    fc.record({ kind: fc.constant('stall' as const) }),
    fc.record({
      kind: fc.constant('prefix' as const),
      text: fc.constantFrom('{', '\n', 'x\n', '{"type":"ERROR"}\n'),
    }),
  ),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('put' as const), name, address: fc.nat(200) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete' as const), name }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('rest' as const) }) },
  fc.record({ kind: fc.constant('fault' as const), rule }),
  fc.record({ kind: fc.constant('inject' as const), text: fc.constantFrom('x\n', '{"type":', '\n') }),
  fc.record({ kind: fc.constant('advance' as const), milliseconds: fc.nat(20_000) }),
  fc.record({
    kind: fc.constant('order' as const),
    order: fc.constantFrom('compact', 'bookmark', 'endWatches', 'resetWatches', 'freezeConnections'),
  }),
);

async function take(harness: Harness, one: Step): Promise<void> {
  const { double } = harness;
  if (one.kind === 'put') double.put(service(`s-${one.name}`, `10.96.0.${one.address + 1}`));
  else if (one.kind === 'delete') double.delete('Service', `s-${one.name}`, 'default');
  else if (one.kind === 'fault') double.faults.add({ ...one.rule, plural: 'services' });
  else if (one.kind === 'inject') for (const watch of double.watches) watch.inject(one.text);
  else if (one.kind === 'advance') harness.clock.advance(one.milliseconds);
  else if (one.kind === 'order') double[one.order]();
  else for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

/** What the server has and what we hold, in the same words. */
function compare(harness: Harness): [string[], string[]] {
  const there = harness.double.store.list('services').map(({ key, object }) => {
    const { clusterIP } = object['spec'] as { readonly clusterIP: string };
    return `${key} ${clusterIP}`;
  });
  const held = [...harness.services.objects].map(([key, { address }]) =>
    address.kind === 'clusterIPs' ? `${key} ${address.addresses.join()}` : key,
  );
  return [there, held.sort()];
}

test.each([
  [true, false],
  [false, false],
  [true, true],
  [false, true],
])('whatever happens, the end is right (watch-list: %s, protobuf: %s)', async (watchList, protobuf) => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
      const harness = await Harness.start({ server: { watchList, protobuf, objects: [service('s-0')] } });
      try {
        for (const one of steps) await take(harness, one);
        harness.double.faults.clear();
        await harness.untilAsTimePasses('the end to be right', 1_000, () => {
          const [there, held] = compare(harness);
          return harness.state === 'watching' && there.join() === held.join();
        });
        const [there, held] = compare(harness);
        expect(held).toEqual(there);
        expect(harness.log.records.filter(({ level }) => level === 'error')).toEqual([]);
      } finally {
        await harness.stop();
      }
    }),
    { numRuns: 50 },
  );
});
