import { parseName, toKey } from '@portolan/dns/name.ts';
import { TYPE } from '@portolan/dns/types.ts';
import { expect, it } from 'vitest';
import type { NodePlaces } from '../../objects/node-places.ts';
import { Federations } from './federations.ts';

const DOMAIN = toKey(parseName('cluster.local.'));
const federation = (name: string) => ({ name, domain: toKey(parseName(`${name}.example.`)) });
const STATUS = { state: 'idle', age: 0, objects: 0, lists: 0, repairs: 0, malformed: 0 } as const;

function start() {
  const federations = new Federations(DOMAIN, () => {});
  const watches: { places: NodePlaces; stopped: boolean }[] = [];
  const follow = (places: NodePlaces) => {
    const watch = { places, stopped: false };
    watches.push(watch);
    const stop = async () => {
      watch.stopped = true;
    };
    return { status: () => ({ ...STATUS, title: 'nodes' }), stop };
  };
  const isAsked = (name: string) =>
    federations.questions.includes(toKey(parseName(`${name}.svc.cluster.local.`)), TYPE.A);
  return { federations, watches, follow, isAsked };
}

it('answers the names of federations, and no others', () => {
  const { federations, isAsked } = start();
  federations.replace([federation('one')]);
  expect(['a.b.one', 'a.b.two'].map(isAsked)).toEqual([true, false]);
  federations.replace([federation('two')]);
  expect(['a.b.one', 'a.b.two'].map(isAsked)).toEqual([false, true]);
  expect([federations.findDomain('one'), federations.findDomain('two')]).toEqual([undefined, 'two.example.']);
});

it('follows nodes while there is a federation, and only then', async () => {
  const { federations, watches, follow } = start();
  federations.start(follow);
  expect(watches).toHaveLength(0);
  federations.replace([federation('one')]);
  federations.replace([federation('one'), federation('two')]);
  expect(watches).toHaveLength(1);
  expect(federations.place).toEqual({ kind: 'unknown' });
  const [first] = watches;
  first?.places.upsert({ kind: 'Node', name: 'a', zone: 'z', region: 'r' });
  first?.places.listCompleted();
  expect(federations.place).toMatchObject({ zone: 'z' });
  federations.replace([]);
  expect([first?.stopped, federations.following]).toEqual([true, undefined]);
  federations.replace([federation('one')]);
  // Listed again: earlier knowledge may be outdated.
  expect(federations.place).toEqual({ kind: 'unknown' });
  await federations.stop();
  expect(watches.map(({ stopped }) => stopped)).toEqual([true, true]);
});

it('follows them from the start, if the federations are known before', () => {
  const { federations, watches, follow } = start();
  federations.replace([federation('one')]);
  federations.start(follow);
  expect(watches).toHaveLength(1);
});

it('knows where there are no nodes', () => {
  const { federations } = start();
  federations.replace([federation('one')]);
  federations.start(() => undefined);
  expect(federations.place).toEqual({ kind: 'nowhere' });
});
