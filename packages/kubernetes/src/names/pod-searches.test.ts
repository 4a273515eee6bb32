import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PodObject, PodSearch } from '../objects/objects.ts';
import { PodSearches } from './pod-searches.ts';

const CLUSTER: PodSearch = { kind: 'cluster', more: [] };

function pod(namespace: string, name: string, address: string, search: PodSearch = CLUSTER): PodObject {
  return { kind: 'Pod', namespace, name, addresses: [address], search };
}

function listed(...pods: readonly PodObject[]): PodSearches {
  const searches = new PodSearches();
  searches.listStarted();
  for (const each of pods) searches.upsert(each);
  searches.listCompleted();
  return searches;
}

describe('an address', () => {
  it('is not known before the pods are listed', () => {
    const searches = new PodSearches();
    searches.listStarted();
    searches.upsert(pod('a', 'x', '10.0.0.1'));
    expect(searches.find('10.0.0.1')).toBe(undefined);
  });

  it('is of the pod that has it', () => {
    const searches = listed(pod('a', 'x', '10.0.0.1'), pod('b', 'y', 'FD00:0::1'));
    expect(searches.find('10.0.0.1')).toEqual({ namespace: 'a', search: CLUSTER });
    expect(searches.find('fd00::1')).toEqual({ namespace: 'b', search: CLUSTER });
    expect(searches.find('10.0.0.2')).toBe(undefined);
  });

  it('says nothing while pods that search differently have it', () => {
    const searches = listed(pod('a', 'x', '10.0.0.1'), pod('b', 'y', '10.0.0.1'));
    expect(searches.find('10.0.0.1')).toBe(undefined);
    searches.remove('a/x');
    expect(searches.find('10.0.0.1')).toEqual({ namespace: 'b', search: CLUSTER });
  });

  it('is known while pods that search alike have it', () => {
    const searches = listed(pod('a', 'x', '10.0.0.1'), pod('a', 'y', '10.0.0.1'));
    searches.remove('a/x');
    expect(searches.find('10.0.0.1')).toEqual({ namespace: 'a', search: CLUSTER });
    searches.remove('a/y');
    expect(searches.find('10.0.0.1')).toBe(undefined);
  });

  it('is forgotten by a list without its pod', () => {
    const searches = listed(pod('a', 'x', '10.0.0.1'));
    searches.listStarted();
    expect(searches.find('10.0.0.1')?.namespace).toBe('a');
    searches.listCompleted();
    expect(searches.find('10.0.0.1')).toBe(undefined);
    expect(searches.count()).toBe(0);
  });
});

it('knows what the pods say that are there, after any changes', () => {
  const change = fc.record({
    name: fc.constantFrom('x', 'y', 'z'),
    namespace: fc.constantFrom('a', 'b'),
    address: fc.constantFrom('10.0.0.1', '10.0.0.2'),
    isRemoved: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 20 }), (changes) => {
      const searches = listed();
      const pods = new Map<string, PodObject>();
      for (const { name, namespace, address, isRemoved } of changes) {
        const key = `${namespace}/${name}`;
        if (isRemoved) {
          searches.remove(key);
          pods.delete(key);
        } else {
          const put = pod(namespace, name, address);
          searches.upsert(put);
          pods.set(key, put);
        }
      }
      for (const address of ['10.0.0.1', '10.0.0.2']) {
        const namespaces = new Set(
          [...pods.values()].filter((each) => each.addresses[0] === address).map((each) => each.namespace),
        );
        const [only] = namespaces.size === 1 ? namespaces : [];
        expect(searches.find(address)?.namespace).toBe(only);
      }
    }),
  );
});
