import { ItemGuard, type RejectedItem } from '@portolan/kernel/base/item-guard.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { PodObject } from '../../objects/objects.ts';
import { trimPod } from '../../objects/trim/trim-pod.ts';
import { MemorySink } from '../../testing/memory-sink.ts';
import { Intake } from './intake.ts';

const pod = (name: number, phase: string) => ({
  metadata: { name: String(name), namespace: 'a' },
  status: { podIP: '10.0.0.1', phase },
});

const makeGuard = (report: (rejected: RejectedItem) => void) =>
  new ItemGuard({ source: 'kubernetes', clock: new ManualClock(), log: silentLog, report });

type Step =
  | { readonly kind: 'take'; readonly name: number; readonly phase: 'Running' | 'Succeeded' }
  | { readonly kind: 'drop'; readonly name: number };

const name = fc.nat(4);
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('take' as const),
    name,
    phase: fc.constantFrom('Running' as const, 'Succeeded' as const),
  }),
  fc.record({ kind: fc.constant('drop' as const), name }),
);

/** A round is a list or events of a watch; a list removes the objects that it does not contain. */
const round = fc.record({ listing: fc.boolean(), steps: fc.array(step) });

test('whatever comes in lists and between them, the sink holds what there is and the count is the server’s', () => {
  fc.assert(
    fc.property(fc.array(round), (rounds) => {
      const sink = new MemorySink<PodObject>();
      const intake = new Intake(
        sink,
        makeGuard(() => {}),
      );
      const phases = new Map<number, string>();
      intake.startList();
      intake.completeList();
      for (const { listing, steps } of rounds) {
        if (listing) {
          phases.clear();
          intake.startList();
        }
        for (const one of steps) {
          if (one.kind === 'take') {
            phases.set(one.name, one.phase);
            intake.take(pod(one.name, one.phase), trimPod);
          } else {
            phases.delete(one.name);
            intake.drop(pod(one.name, 'Running'), trimPod);
          }
        }
        if (listing) intake.completeList();
        const running = [...phases].filter(([, phase]) => phase === 'Running');
        expect(sink.keys).toEqual(running.map(([name]) => `a/${name}`).sort());
        expect(intake.count).toBe(phases.size);
      }
    }),
  );
});

test('objects that cannot be understood are told of, and count if they have a name', () => {
  const warned: string[] = [];
  const intake = new Intake(
    new MemorySink<PodObject>(),
    makeGuard(({ item, problem }) => warned.push(`${item}: ${problem}`)),
  );
  const trim = (raw: unknown) => ({ kind: 'malformed' as const, key: String(raw), problem: 'odd' });
  intake.startList();
  intake.take('a/x', trim);
  intake.completeList();
  expect(warned).toEqual(['a/x: odd']);
  expect(intake.count).toBe(1);
  intake.drop('a/x', trim);
  expect(intake.count).toBe(0);
});

test('an object that the program fails at is left out, and the others are taken in', () => {
  const rejected: RejectedItem[] = [];
  const sink = new MemorySink<PodObject>();
  const intake = new Intake(
    sink,
    makeGuard((each) => rejected.push(each)),
  );
  const trim: typeof trimPod = (raw) => {
    if (raw === odd) throw new Error('a defect');
    return trimPod(raw);
  };
  const odd = pod(1, 'Running');
  intake.startList();
  for (const each of [odd, pod(2, 'Running')]) intake.take(each, trim);
  intake.completeList();
  expect(sink.keys).toEqual(['a/2']);
  intake.take(odd, trim);
  intake.drop(odd, trim);
  expect(rejected.map(({ item, reason }) => [item, reason])).toEqual(Array(3).fill(['a/1', 'failed']));
  // After its deletion it no longer counts.
  expect(intake.count).toBe(1);
});
