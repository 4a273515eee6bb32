/**
 * The table against a model of views: random publications, nodes, ask rules, cached answers and questions.
 */
import { OPT_OCTETS } from '@portolan/dns/query-records.ts';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { TableReader } from './reader.ts';
import { addressNode, cachedAddress, query, settings, showAll, wire } from './testing/table-answers.ts';
import {
  type AskRule,
  DEFAULT_VIEW,
  type NameNode,
  VERDICT,
  type ViewId,
  type ZoneId,
  type ZoneSettings,
} from './types.ts';
import { TableWriter } from './writer.ts';

const NOW = 1_800_000_000_000;
const TYPES = { A: 1, AAAA: 28, MX: 15 } as const;
type TypeName = keyof typeof TYPES;
const DO = 0x8000;

interface ModelNode {
  readonly name: string;
  readonly zone: number;
  readonly hasAddress: boolean;
  readonly otherTypes: NameNode['otherTypes'];
  /** -1: complete. */
  readonly below: number;
}

interface ModelZone {
  readonly apex: string;
  readonly known: boolean;
  readonly missing: 'deny' | 'next' | 'ask';
  readonly askWildcards: boolean;
  readonly cachesOpenTypes: boolean;
}

interface ModelPublication {
  readonly zones: readonly ModelZone[];
  readonly nodes: readonly ModelNode[];
}

interface ModelRule {
  readonly kind: 'exact' | 'suffix' | 'any';
  readonly name: string;
  readonly types: 'all' | readonly TypeName[];
  readonly ifMissing: boolean;
  /** Whether only for queries with DO. */
  readonly dnssecOk: boolean;
}

interface ModelView {
  readonly publications: readonly number[];
  readonly rules: readonly ModelRule[];
  readonly cached: readonly string[];
}

const label = fc.constantFrom('a', 'b', 'c', '*');
const name = fc.array(label, { maxLength: 4 }).map((labels) => labels.join('.'));
const apex = fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }).map((labels) => labels.join('.'));
const zone: fc.Arbitrary<ModelZone> = fc.record({
  apex,
  known: fc.nat(9).map((number) => number > 0),
  missing: fc.constantFrom('deny', 'next', 'ask'),
  askWildcards: fc.boolean(),
  cachesOpenTypes: fc.boolean(),
});
const node = fc.record({
  name,
  zone: fc.nat(3),
  hasAddress: fc.boolean(),
  otherTypes: fc.constantFrom('nodata', 'ask', 'next'),
  below: fc.integer({ min: -1, max: 2 }),
});
const publication: fc.Arbitrary<ModelPublication> = fc
  .record({ zones: fc.array(zone, { minLength: 1, maxLength: 2 }), nodes: fc.array(node, { maxLength: 8 }) })
  .map(({ zones, nodes }) => {
    const own = nodes.flatMap((each): ModelNode[] => {
      const within = zones[each.zone % zones.length];
      return within !== undefined && isWithin(each.name, within.apex)
        ? [{ ...each, zone: each.zone % zones.length } as ModelNode]
        : [];
    });
    return { zones, nodes: [...new Map(own.map((each) => [each.name, each])).values()] };
  });
const type = fc.constantFrom<TypeName>('A', 'AAAA', 'MX');
const rule: fc.Arbitrary<ModelRule> = fc.record({
  kind: fc.constantFrom('exact', 'suffix', 'any'),
  name,
  types: fc.oneof(fc.constant('all' as const), fc.uniqueArray(type, { maxLength: 2 })),
  ifMissing: fc.boolean(),
  dnssecOk: fc.boolean(),
});
const view: fc.Arbitrary<ModelView> = fc.record({
  publications: fc.uniqueArray(fc.nat(2), { maxLength: 3 }),
  rules: fc.array(rule, { maxLength: 3 }),
  cached: fc.uniqueArray(name, { maxLength: 5 }),
});

const splitLabels = (text: string): string[] => text.split('.').filter((each) => each !== '');
const isWithin = (text: string, suffix: string): boolean => {
  const all = splitLabels(text);
  const last = splitLabels(suffix);
  return all.length >= last.length && all.slice(all.length - last.length).join('.') === last.join('.');
};
const makeAddress = (publicationIndex: number, text: string): string =>
  `10.${publicationIndex}.${splitLabels(text).length}.${text.length}`;

interface ModelQuestion {
  readonly name: string;
  readonly type: TypeName;
  readonly dnssecOk: boolean;
}

/** The model's answer to a question. Cached answers are those without DO. */
function expected(
  model: readonly ModelPublication[],
  seen: ModelView,
  { name: text, type: asked, dnssecOk }: ModelQuestion,
): string {
  const fallback = asked === 'A' && !dnssecOk && seen.cached.includes(text) ? 'cached' : 'ask';
  const matching = seen.rules.filter(
    ({ kind, name: named, types, dnssecOk: onlySigned }) =>
      (dnssecOk || !onlySigned) &&
      (types === 'all' || types.includes(asked)) &&
      (kind === 'any' || (kind === 'exact' ? named === text : isWithin(text, named))),
  );
  if (matching.some(({ ifMissing }) => !ifMissing)) return fallback;
  for (const index of seen.publications) {
    const said = saidBy(model[index], index, text, asked, fallback);
    if (said === 'rcode 3' && matching.length > 0) return fallback;
    if (said !== undefined) return said;
  }
  return fallback;
}

function saidBy(
  held: ModelPublication | undefined,
  index: number,
  text: string,
  asked: TypeName,
  fallback: string,
): string | undefined {
  if (held === undefined) return undefined;
  const exact = held.nodes.find((each) => each.name === text);
  if (exact !== undefined) {
    const settingsOfZone = held.zones[exact.zone];
    if (asked === 'A' && exact.hasAddress) return makeAddress(index, text);
    if (settingsOfZone?.known !== true) return 'rcode 2';
    if (exact.otherTypes === 'next') return undefined;
    if (exact.otherTypes === 'nodata') return 'nodata';
    return settingsOfZone.cachesOpenTypes ? fallback : 'ask';
  }
  const labels = splitLabels(text);
  for (let skipped = 1; skipped <= labels.length; skipped++) {
    const above = labels.slice(skipped).join('.');
    const encloser = held.nodes.find((each) => each.name === above);
    if (encloser === undefined) continue;
    const { known, missing, askWildcards } = held.zones[encloser.zone] ?? { known: false };
    if (!known) return 'rcode 2';
    if (encloser.below === 0 || encloser.below === skipped || missing === 'ask') return fallback;
    if (askWildcards === true && labels.slice(0, skipped).includes('*')) return fallback;
    return missing === 'next' ? undefined : 'rcode 3';
  }
  return undefined;
}

class Subject {
  readonly #table = new TableWriter({ readers: 1, reservation: 2 ** 21, cacheOctets: 2 ** 16, seed: 4711 });
  readonly #reader = new TableReader(this.#table.memory, 0);
  readonly #publications;

  constructor(model: readonly ModelPublication[], views: readonly ModelView[]) {
    this.#reader.setTime(NOW);
    this.#publications = model.map((held, index) => {
      const id = this.#table.definePublication();
      const zones = held.zones.map((each) => this.#table.defineZone(settingsFor(each), id));
      for (const each of held.nodes) this.#table.put(nodeFor(each, index, zones));
      return id;
    });
    const ids = views.map((seen, index) => this.#define(seen, index));
    // A listener group for each view.
    this.#table.showViews(ids.map(showAll));
  }

  #define(seen: ModelView, index: number): ViewId {
    const publications = seen.publications.flatMap((each) => this.#publications[each] ?? []);
    const shape = {
      publications,
      askRules: seen.rules.map(ruleFor),
      recursionAvailable: false,
      rotatesAddresses: true,
    };
    if (index === 0) this.#table.changeView(DEFAULT_VIEW, shape);
    const id = index === 0 ? DEFAULT_VIEW : this.#table.defineView(shape);
    for (const text of seen.cached) this.#table.cache(cachedAddress(text, `192.0.2.${index}`, 60), NOW, id);
    return id;
  }

  ask(index: number, { name: text, type: asked, dnssecOk }: ModelQuestion): string {
    const opt = {
      type: 'OPT',
      name: '.',
      udpPayloadSize: 1232,
      flags: DO,
      ednsVersion: 0,
      extendedRcode: 0,
      options: [],
    };
    const additionals = dnssecOk ? [opt as never] : [];
    const { packet, length } = query(text === '' ? '.' : text, asked, { additionals });
    const end = this.#reader.answer(packet, 0, length, packet.length, 'udp', index);
    if (end === VERDICT.ASK) return 'ask';
    const rcode = (packet[3] ?? 0) & 15;
    if (rcode !== 0) return `rcode ${rcode}`;
    if (packet[7] === 0) return 'nodata';
    const last = dnssecOk ? end - OPT_OCTETS : end;
    const address = packet.subarray(last - 4, last).join('.');
    return address === `192.0.2.${index}` ? 'cached' : address;
  }
}

function settingsFor({ apex: named, ...rest }: ModelZone): ZoneSettings {
  return settings(named === '' ? '.' : named, rest);
}

function nodeFor(each: ModelNode, index: number, zones: readonly ZoneId[]): NameNode {
  const made = addressNode(each.name, zones[each.zone] as ZoneId, [makeAddress(index, each.name)]);
  return {
    ...made,
    answers: each.hasAddress ? made.answers : new Map(),
    otherTypes: each.otherTypes,
    below: each.below < 0 ? { kind: 'complete' } : { kind: 'ask', labels: each.below },
  };
}

function ruleFor({ kind, name: named, types, ...flags }: ModelRule): AskRule {
  const numbers = types === 'all' ? types : new Set(types.map((each) => TYPES[each]));
  return { name: kind === 'any' ? { kind } : { kind, name: wire(named) }, types: numbers, ...flags };
}

it('gives the verdicts of the model, whatever is published, ruled and cached', () => {
  const question = fc.record({ view: fc.nat(1), name, type, dnssecOk: fc.boolean() });
  fc.assert(
    fc.property(
      fc.array(publication, { minLength: 3, maxLength: 3 }),
      fc.tuple(view, view),
      fc.array(question, { minLength: 1, maxLength: 40 }),
      (model, views, questions) => {
        const subject = new Subject(model, views);
        for (const { view: index, ...asked } of questions) {
          const seen = views[index] ?? views[0];
          expect(subject.ask(index, asked)).toBe(expected(model, seen, asked));
        }
      },
    ),
    { numRuns: 300 },
  );
});
