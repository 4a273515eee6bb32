/**
 * For any questions that a resolver library asks: the proposed change breaks no name, and saves what the library then no longer asks.
 */
import {
  listReached,
  RESOLVER_LIBRARIES,
  type ResolverLibrary,
  type SearchSettings,
  type StepOutcome,
} from '@portolan/server/reasons/search-walk.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { QuestionRow } from '../control/question-row.ts';
import { findLookUps } from './look-ups.ts';
import { propose } from './proposal.ts';
import { type GivenName, listAskedRows, SHOP_SEARCH } from './testing/asked-rows.ts';

const LABELS = ['cart', 'db', 'web', 'shop', 'svc', 'www', 'example', 'com'];
const DOMAINS = ['', '.shop.svc.cluster.local', '.svc.cluster.local', '.cluster.local', '.corp.example'];
const OUTCOMES: readonly StepOutcome[] = ['answer', 'answer', 'nodata', 'nxdomain', 'servfail', 'refused'];

const prefix = fc
  .array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 5 })
  .map((labels) => labels.join('.'));
/** Names that exist, or fail, and of which programs may ask with or without their domain. */
const world = fc.uniqueArray(fc.tuple(prefix, fc.constantFrom(...DOMAINS), fc.constantFrom(...OUTCOMES)), {
  selector: ([name, domain]) => `${name}${domain}`,
  maxLength: 12,
});
const settings = fc.record({
  search: fc.constantFrom<readonly string[]>(
    SHOP_SEARCH,
    [...SHOP_SEARCH, 'corp.example'],
    SHOP_SEARCH.slice(0, 1),
  ),
  ndots: fc.integer({ min: 0, max: 6 }),
});

interface Stream {
  readonly given: readonly GivenName[];
  readonly outcomes: ReadonlyMap<string, StepOutcome>;
  readonly settings: SearchSettings;
}

const stream: fc.Arbitrary<Stream> = world.chain((names) => {
  const outcomes = new Map(names.map(([name, domain, outcome]) => [`${name}${domain}.`, outcome] as const));
  const known = names.flatMap(([name, domain, outcome]) => [
    name,
    `${name}${domain}`,
    // A complete name of a cluster that does not exist could as well be the first question of a search.
    ...(outcome === 'answer' ? [`${name}${domain}.`] : []),
  ]);
  const given = known.length === 0 ? prefix : fc.oneof(prefix, fc.constantFrom(...known));
  return fc.record({
    given: fc.uniqueArray(fc.record({ name: given, times: fc.integer({ min: 1, max: 4 }) }), {
      selector: ({ name }) => name,
      maxLength: 12,
    }),
    outcomes: fc.constant(outcomes),
    settings,
  });
});

const findOutcomeIn =
  ({ outcomes }: Stream) =>
  (name: string) =>
    outcomes.get(name) ?? 'nxdomain';

const ask = (all: Stream, ndots: number, library: ResolverLibrary) =>
  listAskedRows({ ...all, ...all.settings, ndots, library });

const total = (rows: readonly QuestionRow[]) => rows.reduce((sum, { count }) => sum + count, 0);

function resolveName(all: Stream, name: string, ndots: number, library: ResolverLibrary): string | undefined {
  const findOutcome = findOutcomeIn(all);
  const last = listReached(name, { ...all.settings, ndots }, library, findOutcome).at(-1);
  return last !== undefined && findOutcome(last) === 'answer' ? last : undefined;
}

const anyLibrary = fc.constantFrom(...RESOLVER_LIBRARIES);

it('a proposed ndots breaks no name for any library, and complete names are found', () => {
  fc.assert(
    fc.property(stream, anyLibrary, anyLibrary, (all, asking, library) => {
      const { ndots: before } = all.settings;
      const lookUps = findLookUps(ask(all, before, asking), { ...all.settings, library });
      const { ndots = before, completeNames } = propose(lookUps, { ...all.settings, library });
      for (const each of new Set([asking, library]))
        for (const { name } of all.given) {
          const found = resolveName(all, name, before, each);
          if (found !== undefined) expect(resolveName(all, name, ndots, each)).toBe(found);
        }
      for (const { complete } of completeNames) expect(findOutcomeIn(all)(complete)).toBe('answer');
    }),
    { numRuns: 2_000 },
  );
});

it('it saves as many questions as the library no longer asks', () => {
  fc.assert(
    fc.property(stream, anyLibrary, (all, library) => {
      const { ndots: before } = all.settings;
      const asked = ask(all, before, library);
      const lookUps = findLookUps(asked, { ...all.settings, library });
      expect(lookUps.reduce((sum, { count, asked: names }) => sum + count * names.length, 0)).toBe(
        total(asked),
      );
      const { ndots = before, saved } = propose(lookUps, { ...all.settings, library });
      expect(saved).toBe(total(asked) - total(ask(all, ndots, library)));
    }),
    { numRuns: 2_000 },
  );
});
