/**
 * The table depends only on the existing objects, not on their arrival: any order and interleaving of kinds, with repeated
 * and interrupted lists.
 */
import { TYPE } from '@portolan/dns/types.ts';
import {
  type ClusterObject,
  keyOfObject,
  type ObjectKey,
  type ObjectKind,
} from '@portolan/kubernetes/objects/objects.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import {
  arbitraryEndpoints,
  arbitraryNamespace,
  arbitraryPod,
  arbitraryQuestionName,
  arbitraryService,
} from '@portolan/kubernetes/testing/arbitrary-objects.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordMessage } from '../golden/recorded-answer.ts';

const KINDS = ['Service', 'Endpoints', 'Namespace', 'Pod'] as const;

/** Something that happens to the objects of one kind. */
type Event =
  | { readonly kind: 'upsert'; readonly object: ClusterObject }
  | { readonly kind: 'remove'; readonly object: ClusterObject }
  /** A list of exactly these, after a first try that broke off. */
  | { readonly kind: 'relist'; readonly objects: readonly ClusterObject[]; readonly brokenOff: number };

const ARBITRARY: { readonly [Kind in ObjectKind]: fc.Arbitrary<ClusterObject> } = {
  Service: arbitraryService,
  Endpoints: arbitraryEndpoints,
  Namespace: arbitraryNamespace,
  Pod: arbitraryPod,
};

function arbitraryEvents(kind: ObjectKind): fc.Arbitrary<readonly Event[]> {
  const object = ARBITRARY[kind];
  const event = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('upsert'), object }) },
    { weight: 3, arbitrary: fc.record({ kind: fc.constant('remove'), object }) },
    fc.record({
      kind: fc.constant('relist'),
      objects: fc.array(object, { maxLength: 5 }),
      brokenOff: fc.nat(5),
    }),
  );
  return fc.array(event, { maxLength: 14 });
}

const arbitraryHistory = fc.record({
  events: fc.record({
    Service: arbitraryEvents('Service'),
    Endpoints: arbitraryEvents('Endpoints'),
    Namespace: arbitraryEvents('Namespace'),
    Pod: arbitraryEvents('Pod'),
  }),
  /** Which kind is next, and when all changes are published, if not all at the end. */
  turns: fc.array(fc.record({ kind: fc.constantFrom(...KINDS), isSettled: fc.boolean() }), { maxLength: 60 }),
  questions: fc.array(arbitraryQuestionName, { minLength: 30, maxLength: 30 }),
});
type History = typeof arbitraryHistory extends fc.Arbitrary<infer Value> ? Value : never;

function selectStore({ cluster }: AskableCluster, kind: ObjectKind) {
  const stores = {
    Service: cluster.services,
    Endpoints: cluster.endpoints,
    Namespace: cluster.namespaces,
    Pod: cluster.pods,
  };
  return stores[kind];
}

function happen(cluster: AskableCluster, kind: ObjectKind, event: Event): void {
  const store = selectStore(cluster, kind);
  switch (event.kind) {
    case 'upsert':
      cluster.upsert(event.object);
      break;
    case 'remove':
      store.remove(keyOfObject(event.object));
      break;
    case 'relist':
      store.listStarted();
      for (const object of event.objects.slice(0, event.brokenOff)) cluster.upsert(object);
      store.listStarted();
      for (const object of event.objects) cluster.upsert(object);
      store.listCompleted();
  }
}

/** Lets the events of all kinds happen, each kind's in order, taking turns. */
function live(cluster: AskableCluster, { events, turns }: Pick<History, 'events' | 'turns'>): void {
  cluster.list([]);
  const next = { Service: 0, Endpoints: 0, Namespace: 0, Pod: 0 };
  const rest = KINDS.flatMap((kind) => events[kind].map(() => ({ kind, isSettled: false })));
  for (const { kind, isSettled } of [...turns, ...rest]) {
    const event = events[kind][next[kind]];
    next[kind] += 1;
    if (event !== undefined) happen(cluster, kind, event);
    if (isSettled) cluster.cluster.settle();
  }
  cluster.cluster.settle();
}

/** The objects that are there at the end. */
function outcome(events: readonly Event[]): readonly ClusterObject[] {
  let objects = new Map<ObjectKey, ClusterObject>();
  for (const event of events) {
    if (event.kind === 'upsert') objects.set(keyOfObject(event.object), event.object);
    else if (event.kind === 'remove') objects.delete(keyOfObject(event.object));
    else objects = new Map(event.objects.map((object) => [keyOfObject(object), object]));
  }
  return [...objects.values()];
}

const TYPES = [TYPE.A, TYPE.AAAA, TYPE.SRV, TYPE.CNAME, TYPE.PTR];

/** Everything the table says to these questions; `undefined` where it asks the chain. */
function portrait(cluster: AskableCluster, names: readonly string[]) {
  const { nodes, nodeOctets, records } = cluster.table.statistics();
  const answers = names.flatMap((name) =>
    TYPES.map((type) => {
      const message = cluster.askTable(question(name, type));
      return message && recordMessage(message);
    }),
  );
  return { nodes, nodeOctets, records, answers };
}

describe.each(['coredns', 'kube-dns'] as const)('%s: whatever the order of events', (dialect) => {
  it('the same objects make the same table', { timeout: 60_000 }, () => {
    fc.assert(
      fc.property(arbitraryHistory, ({ events, turns, questions }) => {
        const lived = new AskableCluster(dialect, { pods: 'verified' });
        live(lived, { events, turns });
        const inTurn = new AskableCluster(dialect, { pods: 'verified' });
        live(inTurn, { events, turns: [] });
        const fresh = new AskableCluster(dialect, { pods: 'verified' });
        fresh.list(KINDS.flatMap((kind) => outcome(events[kind])));
        expect(portrait(lived, questions)).toEqual(portrait(fresh, questions));
        expect(portrait(inTurn, questions)).toEqual(portrait(fresh, questions));
      }),
      { numRuns: 100 },
    );
  });

  it('nothing is left of objects that have gone', () => {
    fc.assert(
      fc.property(arbitraryHistory, ({ events, turns }) => {
        const empty = new AskableCluster(dialect, { pods: 'verified' });
        empty.list([]);
        const lived = new AskableCluster(dialect, { pods: 'verified' });
        live(lived, { events, turns });
        lived.list([]);
        expect(portrait(lived, [])).toEqual(portrait(empty, []));
        expect(lived.cluster.state().addresses).toBe(0);
      }),
      { numRuns: 50 },
    );
  });
});
