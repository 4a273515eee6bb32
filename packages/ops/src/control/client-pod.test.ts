import { describe, expect, it } from 'vitest';
import { findPod } from './client-pod.ts';

function findAsked(spec: object) {
  const pod = {
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'shop' },
    spec,
    status: { podIP: '10.0.0.1' },
  };
  return findPod({ namespace: 'shop', pod: 'web', from: undefined }, [pod])?.asks;
}

describe('a pod asks', () => {
  it.each([
    [{}, 'cluster'],
    [{ dnsPolicy: 'ClusterFirst' }, 'cluster'],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, 'cluster'],
    [{ dnsPolicy: 'ClusterFirst', hostNetwork: true }, 'node'],
    [{ hostNetwork: true }, 'node'],
    [{ dnsPolicy: 'Default' }, 'node'],
    [{ dnsPolicy: 'None' }, 'own'],
  ])('with %j the servers of the %s', (spec, kind) => {
    expect(findAsked(spec)?.kind).toBe(kind);
  });

  it('with the policy None the servers of its dnsConfig', () => {
    const spec = { dnsPolicy: 'None', dnsConfig: { nameservers: ['9.9.9.9'], searches: ['corp.example'] } };
    expect(findAsked(spec)).toEqual({ kind: 'own', nameservers: ['9.9.9.9'] });
  });
});
