import { describe, expect, it } from 'vitest';
import type { NamespaceObject, PodObject, ServiceObject } from '../objects/objects.ts';
import { Tenants } from './tenants.ts';

const A = '10.244.0.1';
const B = '10.244.0.2';

function space(name: string, team?: string, isShared = false): NamespaceObject {
  return { kind: 'Namespace', name, labels: new Map(team === undefined ? [] : [['team', team]]), isShared };
}

function pod(namespace: string, address: string, name = 'one', isInNodeNetwork = false): PodObject {
  return { kind: 'Pod', namespace, name, addresses: [address], isInNodeNetwork };
}

function service(namespace: string, name: string, isShared: boolean): ServiceObject {
  return { kind: 'Service', namespace, name, address: { kind: 'headless' }, ports: [], isShared };
}

/** Two tenants with a pod each. `held`: what the source has lost, and names are still answered of. */
function start(held: readonly string[] = []) {
  let changes = 0;
  const tenants = new Tenants(
    { label: 'team', seenBy: [{ address: '192.0.2.0', prefix: 28 }] },
    {
      hasNamespace: (name) => held.includes(name),
      hasService: (namespace, name) => held.includes(`${namespace}/${name}`),
      changed: () => {
        changes += 1;
      },
    },
  );
  const { namespaces, pods, services } = tenants;
  for (const sink of [namespaces, pods, services]) sink.listStarted();
  for (const object of [space('shop', 'a'), space('bank', 'b'), space('open')]) namespaces.upsert(object);
  for (const object of [pod('shop', A), pod('bank', B)]) pods.upsert(object);
  for (const sink of [namespaces, pods, services]) sink.listCompleted();
  const sees = (client: string, namespace: string, name = 'web') =>
    tenants.findSight(client)?.seesService(namespace, name) ?? true;
  return { tenants, namespaces, pods, services, sees, changes: () => changes };
}

describe('a client', () => {
  it.each([
    [A, [true, false, true]],
    [B, [false, true, true]],
    [`::ffff:${A}`, [true, false, true]],
    ['10.244.0.3', [false, false, true]],
    ['', [false, false, true]],
    ['fe80::1%eth0', [false, false, true]],
    ['192.0.2.15', [true, true, true]],
    ['192.0.2.16', [false, false, true]],
  ])('%s sees its own tenant and what is shared', (client, expected) => {
    const { sees } = start();
    expect(['shop', 'bank', 'open'].map((namespace) => sees(client, namespace))).toEqual(expected);
    expect(sees(client, 'unknown')).toBe(client === '192.0.2.15');
  });

  it('has no tenant while pods of several namespaces have its address, or its node has it', () => {
    const { sees, pods } = start();
    pods.upsert(pod('bank', A));
    expect(sees(A, 'shop')).toBe(false);
    pods.remove('bank/one');
    expect(sees(A, 'shop')).toBe(true);
    pods.upsert(pod('shop', '10.0.0.9', 'on-node', true));
    expect(sees('10.0.0.9', 'shop')).toBe(false);
  });

  it('sees services and namespaces that are shared, as long as they are', () => {
    const { sees, namespaces, services, changes } = start();
    const before = changes();
    services.upsert(service('bank', 'door', true));
    services.upsert(service('bank', 'door', true));
    expect([sees(A, 'bank', 'door'), sees(A, 'bank'), changes() - before]).toEqual([true, false, 1]);
    services.upsert(service('bank', 'door', false));
    expect(sees(A, 'bank', 'door')).toBe(false);
    namespaces.upsert(space('bank', 'b', true));
    expect(sees(A, 'bank')).toBe(true);
    namespaces.upsert(space('bank', 'b'));
    expect(sees(A, 'bank')).toBe(false);
  });

  it('sees nothing of a namespace that is gone, unless its names are held', () => {
    const { sees, namespaces } = start(['bank']);
    namespaces.listStarted();
    namespaces.upsert(space('open'));
    namespaces.listCompleted();
    expect([sees(A, 'shop'), sees(B, 'bank'), sees(A, 'open')]).toEqual([false, true, true]);
  });
});

it('says whose a service is that a client does not see', () => {
  const { tenants, services } = start();
  expect(tenants.findHiding(A, 'bank', 'web')).toEqual({ owner: 'b', client: 'a' });
  expect(tenants.findHiding('10.0.0.9', 'bank', undefined)).toEqual({ owner: 'b', client: undefined });
  for (const client of [B, '192.0.2.1']) expect(tenants.findHiding(client, 'bank', 'web')).toBeUndefined();
  services.upsert(service('bank', 'door', true));
  expect(tenants.findHiding(A, 'bank', 'door')).toBeUndefined();
  expect(tenants.findHiding(A, 'bank', undefined)).toBeUndefined();
});
