/**
 * A table with views of all kinds in several listener groups, filled with answers that fit and answers that do not.
 */
import {
  type ClientViews,
  DEFAULT_PUBLICATION,
  type ListenerGroupViews,
  type NameNode,
  type ViewId,
  type ViewSettings,
  type ZoneId,
} from '../types.ts';
import { TableWriter } from '../writer.ts';
import { cacheHostileSets, questionsOfHostileSets } from './hostile-sets.ts';
import type { SeatQuestion, SeatSubject } from './packet-seats.ts';
import { addressBody, addressNode, node, settings, wire } from './table-answers.ts';

type ZoneViews = Extract<ClientViews, { readonly kind: 'views' }>;

const STORED = 1_000_000;
const LIFETIME = 200;
const LONG_NAME = `${'one-of-three-labels-that-have-as-many-octets-as-a-label-may-do.'.repeat(3)}zone.test`;
const QUESTIONS: readonly SeatQuestion[] = [
  ...['cached.test', 'open.zone.test', 'ruled.test'].flatMap(questionsOfHostileSets),
  ...['zone.test', 'cart.zone.test', 'large.zone.test', 'missing.zone.test', 'x.pod.zone.test', LONG_NAME]
    .concat('chain.test', 'x.asked.test', 'nobody.example', 'test', '.')
    .map((name) => ({ name, type: 1 })),
];
const RULES: ViewSettings['askRules'] = [
  { name: { kind: 'suffix', name: wire('ruled.test') }, types: 'all' },
  { name: { kind: 'suffix', name: wire('cached.test') }, types: new Set([12]), beforeCache: true },
  { name: { kind: 'exact', name: wire('chain.test') }, types: 'all', ednsOptions: new Set([12]) },
];
const PLAIN: ViewSettings = {
  publications: [DEFAULT_PUBLICATION],
  askRules: RULES,
  recursionAvailable: true,
  rotatesAddresses: true,
  otherQuestions: 'refused-but-chaos',
};
/** Those of Corefiles. */
const REPEATING: ViewSettings = {
  ...PLAIN,
  recursionAvailable: false,
  otherQuestions: 'ask',
  repeatsOpt: true,
  outcomes: { nodes: 1, cached: 9 },
};

/** @param maxTtl in seconds; undefined: TTLs are not bounded */
export function seatsOfAllViews(maxTtl: number | undefined): SeatSubject {
  const table = new TableWriter({ readers: 1, reservation: 2 ** 27, cacheOctets: 2 ** 25, maxTtl });
  const zone = table.defineZone(settings('zone.test', { cachesOpenTypes: true, any: 'minimal' }));
  for (const each of makeNodes(zone)) table.put(each);
  table.claimOutcomes(1, 32);
  const plain = defineFilled(table, PLAIN);
  const repeating = defineFilled(table, REPEATING);
  const bounded = defineFilled(table, { ...REPEATING, maxUdpSize: 600, rotatesAddresses: false });
  const groups = makeGroups(plain, repeating, bounded);
  table.showViews(groups);
  // One more group, which the table does not know.
  const numbers = Array.from({ length: groups.length + 1 }, (_, group) => group);
  return {
    memory: table.memory,
    reader: 0,
    udpSize: 1232,
    groups: numbers,
    questions: QUESTIONS,
    stored: STORED,
  };
}

function defineFilled(table: TableWriter, shape: ViewSettings): ViewId {
  const view = table.defineView(shape);
  for (const suffix of ['cached.test', 'open.zone.test', 'ruled.test'])
    cacheHostileSets(table, suffix, LIFETIME, STORED, view);
  return view;
}

function makeGroups(plain: ViewId, repeating: ViewId, bounded: ViewId): readonly ListenerGroupViews[] {
  const ofZones = (...zones: readonly (readonly [zone: string, view: ViewId])[]): ZoneViews => ({
    kind: 'views',
    zones: zones.map(([zone, view]) => ({ zone: wire(zone), view })),
  });
  const ofTen = { address: '10.0.0.0', prefix: 8 };
  return [
    { prefixes: [], others: ofZones(['.', plain]) },
    // As Corefiles have it.
    { prefixes: [], others: { ...ofZones(['.', repeating], ['zone.test', bounded]), asksOdd: true } },
    { prefixes: [], others: ofZones(['test', bounded], ['cached.test', plain]) },
    { prefixes: [{ range: ofTen, views: ofZones(['.', repeating]) }], others: ofZones(['.', plain]) },
    { prefixes: [{ range: ofTen, views: { kind: 'refused' } }], others: { kind: 'asked' } },
    { prefixes: [{ range: ofTen, views: { kind: 'dropped' } }], others: ofZones(['test', repeating]) },
  ];
}

function makeNodes(zone: ZoneId): readonly NameNode[] {
  const large = new Array<string>(100).fill('10.0.0.1');
  return [
    node('zone.test', zone),
    addressNode('cart.zone.test', zone, ['10.0.0.1', '10.0.0.1', '10.0.0.1']),
    addressNode('large.zone.test', zone, large),
    node('pod.zone.test', zone, { below: { kind: 'ask', labels: 0 } }),
    ...questionsOfHostileSets('open.zone.test').map(({ name }) =>
      node(name, zone, { otherTypes: 'ask', answers: new Map([[28, addressBody(['10.0.0.1'])]]) }),
    ),
  ];
}
