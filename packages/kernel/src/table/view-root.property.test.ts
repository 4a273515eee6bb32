/**
 * The root of the views against a model: random listener groups, client prefixes, zones and questions.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { type AddressRange, matchRange } from '@portolan/dns/address-range.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeSocketAddress } from '../socket/addresses.ts';
import { TableReader } from './reader.ts';
import { addressNode, cachedAddress, query, settings, wire } from './testing/table-answers.ts';
import {
  type ClientViews,
  DEFAULT_VIEW,
  DEFAULT_VIEW_SETTINGS,
  type ListenerGroupViews,
  VERDICT,
  type ViewId,
} from './types.ts';
import { TableWriter } from './writer.ts';

const NOW = 1_000_000;
const VIEWS = 6;

type ModelClass =
  | { readonly kind: 'views'; readonly zones: ReadonlyMap<string, number> }
  | 'refused'
  | 'dropped'
  | 'asked';

interface ModelGroup {
  readonly prefixes: readonly { readonly range: AddressRange; readonly views: ModelClass }[];
  readonly others: ModelClass;
}

const label = fc.constantFrom('a', 'b', 'c');
const name = fc.array(label, { maxLength: 4 }).map((labels) => labels.join('.'));
const zones = fc.uniqueArray(fc.tuple(name, fc.nat(VIEWS - 1)), { selector: ([zone]) => zone, maxLength: 6 });
const modelClass: fc.Arbitrary<ModelClass> = fc.oneof(
  { weight: 6, arbitrary: zones.map((each) => ({ kind: 'views', zones: new Map(each) }) as const) },
  fc.constantFrom('refused' as const, 'dropped' as const, 'asked' as const),
);
const octet = fc.constantFrom(0, 1, 128, 255);
const address = fc.oneof(
  fc.tuple(octet, octet, octet).map(([one, two, last]) => `10.${one}.${two}.${last}`),
  fc.tuple(octet, octet).map(([one, last]) => `fd${one.toString(16).padStart(2, '0')}::${last.toString(16)}`),
);
const range = address.chain((text) =>
  fc.nat(text.includes(':') ? 128 : 32).map((prefix): AddressRange => ({ address: text, prefix })),
);
const group: fc.Arbitrary<ModelGroup> = fc.record({
  prefixes: fc.array(fc.record({ range, views: modelClass }), { maxLength: 5 }),
  others: modelClass,
});

/** The class of a client: by the longest prefix, among equal ones the last. */
function findClass({ prefixes, others }: ModelGroup, client: string): ModelClass {
  let found = { prefix: -1, views: others };
  for (const { range: each, views } of prefixes)
    if (each.prefix >= found.prefix && matchRange(each)(parseAddress(client) ?? new Uint8Array()))
      found = { prefix: each.prefix, views };
  return found.views;
}

function listSuffixes(text: string): readonly string[] {
  const labels = text === '' ? [] : text.split('.');
  return labels.map((_, index) => labels.slice(index).join('.'));
}

function computeExpected(model: ModelGroup, client: string, text: string, type: string): string {
  const views = findClass(model, client);
  if (typeof views === 'string') return views;
  const below = listSuffixes(text).filter((zone) => views.zones.has(zone));
  const zone = (type === 'DS' ? below.at(-1) : below[0]) ?? '';
  const view = views.zones.get(zone);
  return view === undefined ? 'refused' : `view ${view}`;
}

class Subject {
  readonly table = new TableWriter({ readers: 1, reservation: 2 ** 24, cacheOctets: 2 ** 20 });
  readonly #reader = new TableReader(this.table.memory, 0);
  readonly views: readonly ViewId[];

  constructor() {
    this.#reader.setTime(NOW);
    const shown = { ...DEFAULT_VIEW_SETTINGS, publications: [] };
    this.views = Array.from({ length: VIEWS }, () => this.table.defineView(shown));
    for (const [index, view] of this.views.entries()) {
      const id = this.table.definePublication();
      const zone = this.table.defineZone(settings('.', { missing: 'next' }), id);
      // The cache of a view answers every question.
      this.table.changeView(view, { ...shown, publications: [id] });
      this.table.put(addressNode('nobody', zone, [`192.0.2.${index}`]));
    }
  }

  show(groups: readonly ModelGroup[]): void {
    const made = new Map<ModelClass, ClientViews>();
    const makeViews = (model: ModelClass): ClientViews => {
      const known = made.get(model) ?? this.#toClientViews(model);
      made.set(model, known);
      return known;
    };
    this.table.showViews(
      groups.map(
        ({ prefixes, others }): ListenerGroupViews => ({
          prefixes: prefixes.map((each) => ({ range: each.range, views: makeViews(each.views) })),
          others: makeViews(others),
        }),
      ),
    );
  }

  #toClientViews(model: ModelClass): ClientViews {
    if (typeof model === 'string') return { kind: model };
    return {
      kind: 'views',
      zones: [...model.zones].map(([zone, index]) => ({
        zone: wire(zone),
        view: this.views[index] ?? DEFAULT_VIEW,
      })),
    };
  }

  ask(index: number, client: string, text: string, type: 'A' | 'DS'): string {
    for (const [view, id] of this.views.entries()) {
      const answer = cachedAddress(text, `192.0.2.${view}`, 60);
      this.table.cache({ ...answer, type: type === 'A' ? 1 : 43 }, NOW, id);
    }
    const { packet, length } = query(text === '' ? '.' : text, type);
    const at = 1000;
    packet.set(encodeSocketAddress({ address: client, port: 53 }), at);
    const end = this.#reader.answer(packet, 0, length, at, 'udp', index, at);
    if (end === VERDICT.DROP) return 'dropped';
    if (end === VERDICT.ASK) return 'asked';
    return ((packet[3] ?? 0) & 15) === 5 ? 'refused' : `view ${packet[end - 1]}`;
  }
}

describe('the root of the views', () => {
  it('leads every query to the view of the model', () => {
    const subject = new Subject();
    const question = fc.record({
      index: fc.nat(2),
      client: address,
      text: name,
      type: fc.constantFrom('A' as const, 'DS' as const),
    });
    fc.assert(
      fc.property(
        fc.array(group, { minLength: 3, maxLength: 3 }),
        fc.array(question, { minLength: 10, maxLength: 20 }),
        (groups, questions) => {
          subject.show(groups);
          for (const { index, client, text, type } of questions) {
            const model = groups[index];
            expect(subject.ask(index, client, text, type)).toBe(
              model && computeExpected(model, client, text, type),
            );
          }
          subject.table.collect();
        },
      ),
    );
  });

  it('gives its memory back when another one is shown', () => {
    const { table, views } = new Subject();
    const [view = DEFAULT_VIEW] = views;
    const show = (count: number) => {
      const zones = Array.from({ length: count }, (_, index) => ({ zone: wire(`z${index}.`), view }));
      table.showViews([{ prefixes: [], others: { kind: 'views', zones: zones } }]);
      table.collect();
    };
    for (let turn = 0; turn < 50; turn++) show(100);
    const { touchedOctets } = table.statistics();
    for (let turn = 0; turn < 500; turn++) show(100);
    expect(table.statistics().touchedOctets).toBe(touchedOctets);
  });

  it('has space for the 128 reverse zones of a /9, and for many more', () => {
    const subject = new Subject();
    const reverse = Array.from({ length: 20_000 }, (_, index) => `${index % 256}.${index >> 8}.a`);
    subject.show([
      {
        prefixes: [],
        others: { kind: 'views', zones: new Map(reverse.map((zone, index) => [zone, index % VIEWS])) },
      },
    ]);
    expect(subject.ask(0, '10.0.0.1', 'x.y.7.3.a', 'A')).toBe(`view ${(3 * 256 + 7) % VIEWS}`);
    expect(subject.ask(0, '10.0.0.1', '3.a', 'A')).toBe('refused');
  });

  it('answers no client of a listener group that it does not know', () => {
    const subject = new Subject();
    subject.show([{ prefixes: [], others: 'refused' }]);
    expect(subject.ask(1, '10.0.0.1', 'a', 'A')).toBe('dropped');
  });
});

describe('views that share their cache', () => {
  it('are given each other`s cached answers, until the last one is removed', () => {
    const { table, views } = new Subject();
    const [first = DEFAULT_VIEW, other = DEFAULT_VIEW] = views;
    const sharing = table.defineView(table.viewSettings(first), first);
    const answer = cachedAddress('shared', '192.0.2.9', 60);
    table.cache(answer, NOW, sharing);
    const isCached = (view: ViewId) => table.readCached(answer, view) !== undefined;
    expect([first, other, sharing].map(isCached)).toEqual([true, false, true]);
    table.removeView(first);
    expect(isCached(sharing)).toBe(true);
    expect([...table.cachedEntries()].map(({ view }) => view)).toEqual([sharing]);
    table.removeView(sharing);
    expect([...table.cachedEntries()]).toEqual([]);
  });
});
