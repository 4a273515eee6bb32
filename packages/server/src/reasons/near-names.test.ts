import { expect, it } from 'vitest';
import { findNearServices } from './near-names.ts';

const list = (namespace: string, ...names: readonly string[]) => names.map((name) => ({ namespace, name }));

it('finds the five nearest services, the same name elsewhere first, then names of the namespace', () => {
  const services = [
    ...list('shop', 'svc-19', 'svc-10', 'svc-1', 'web', 'svc-12'),
    ...list('office', 'svc-1', 'svc-11', 'svc-22'),
  ];
  const found = findNearServices({ namespace: 'shop', name: 'svc-1' }, services);
  expect(found.map(({ service, namespace }) => `${service}.${namespace}`)).toEqual([
    'svc-1.office',
    'svc-10.shop',
    'svc-12.shop',
    'svc-19.shop',
    'svc-11.office',
  ]);
});
