import { expect, it } from 'vitest';
import { NodePlaces } from './node-places.ts';
import { trimNode } from './trim/trim-node.ts';

const node = (name: string, zone = 'z') => ({ kind: 'Node', name, zone, region: 'r' }) as const;

it('is the place of the first node by name, as soon as all are listed', () => {
  const places = new NodePlaces();
  places.listStarted();
  places.upsert(node('b', 'late'));
  expect(places.place).toEqual({ kind: 'unknown' });
  places.upsert(node('a', 'early'));
  places.listCompleted();
  expect(places.place).toEqual({ kind: 'place', zone: 'early', region: 'r' });
  places.remove('a');
  expect(places.place).toMatchObject({ zone: 'late' });
  places.upsert(node('b', 'moved'));
  expect(places.place).toMatchObject({ zone: 'moved' });
  places.remove('b');
  expect([places.place, places.count()]).toEqual([{ kind: 'nowhere' }, 0]);
});

it('stays what it was while nodes are listed again', () => {
  const places = new NodePlaces();
  places.upsert(node('a'));
  places.listCompleted();
  places.listStarted();
  expect(places.place.kind).toBe('place');
  places.listCompleted();
  expect(places.place.kind).toBe('nowhere');
});

it.each([
  [
    { 'topology.kubernetes.io/zone': 'z', 'topology.kubernetes.io/region': 'r' },
    { zone: 'z', region: 'r' },
  ],
  [
    { 'failure-domain.beta.kubernetes.io/zone': 'y', 'failure-domain.beta.kubernetes.io/region': 'q' },
    { zone: 'y', region: 'q' },
  ],
  [
    { 'topology.kubernetes.io/zone': 'z', 'failure-domain.beta.kubernetes.io/region': 'q' },
    { zone: 'z', region: 'q' },
  ],
])('is read from labels, old and new: %j', (labels, place) => {
  const metadata = { name: 'a', labels: { ...labels, 'failure-domain.beta.kubernetes.io/zone': 'y' } };
  expect(trimNode({ metadata })).toMatchObject({ kind: 'object', object: { name: 'a', ...place } });
});

it.each([{}, { 'topology.kubernetes.io/zone': 'z' }, { 'topology.kubernetes.io/zone': '' }])(
  'leaves nodes out that do not say: %j',
  (labels) => {
    expect(trimNode({ metadata: { name: 'a', labels } })).toEqual({ kind: 'left-out', key: 'a' });
  },
);
