import { describe, expect, it } from 'vitest';
import { ObjectStore } from './object-store.ts';
import { keyOfObject, type NamespaceObject, type PodObject } from './objects.ts';

function makeStore() {
  const seen: string[] = [];
  const store = new ObjectStore<PodObject>(
    (key, before, after) => seen.push(`${key} ${before?.length ?? '-'} ${after?.length ?? '-'}`),
    () => seen.push('listed'),
  );
  return { store, seen };
}

const pod = (name: string, ...addresses: string[]): PodObject => ({
  kind: 'Pod',
  namespace: 'blue',
  name,
  addresses,
});

describe('a store of objects', () => {
  it('tells of what comes, changes and goes, and of nothing else', () => {
    const { store, seen } = makeStore();
    store.listStarted();
    store.upsert(pod('a'));
    store.upsert(pod('a'));
    store.upsert(pod('a', '10.0.0.1'));
    store.listCompleted();
    store.remove('blue/a');
    store.remove('blue/a');
    expect(seen).toEqual(['blue/a - 19', 'blue/a 19 29', 'listed', 'blue/a 29 -']);
    expect(store.count()).toBe(0);
  });

  it('forgets at the end of a list what was not in it, and not before', () => {
    const { store, seen } = makeStore();
    store.listStarted();
    for (const name of ['a', 'b', 'c']) store.upsert(pod(name));
    store.listCompleted();
    store.listStarted();
    store.upsert(pod('b'));
    expect(store.count()).toBe(3);
    // The list breaks off and starts again.
    store.listStarted();
    store.upsert(pod('c'));
    seen.length = 0;
    store.listCompleted();
    expect(seen).toEqual(['blue/a 19 -', 'blue/b 19 -', 'listed']);
    expect([...store.lines()]).toEqual(['["P","blue","c",[]]']);
  });

  it('is listed from the end of its first list on', () => {
    const { store } = makeStore();
    expect(store.state).toBe('waiting');
    store.listStarted();
    expect(store.state).toBe('listing');
    store.listCompleted();
    store.listStarted();
    expect(store.state).toBe('listed');
  });

  it('names objects by namespace and name', () => {
    const namespace: NamespaceObject = { kind: 'Namespace', name: 'blue' };
    expect([keyOfObject(namespace), keyOfObject(pod('a'))]).toEqual(['blue', 'blue/a']);
  });
});
