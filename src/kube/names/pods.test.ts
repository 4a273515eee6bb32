import { describe, expect, it } from 'vitest';
import type { PodObject } from '../objects/objects.ts';
import { addressOfPod, ipv4OfPod, PodIndex } from './pods.ts';

describe('labels of pods', () => {
  it.each([
    ['10-244-0-1', '10.244.0.1'],
    ['2001-db8--1', '2001:db8::1'],
    ['--1', '::1'],
    ['fd00--', 'fd00::'],
    ['1-2-3-4-5-6-7-8', '1:2:3:4:5:6:7:8'],
    ['300-2-3-4', undefined],
    ['010-2-3-4', undefined],
    ['1-2-3', undefined],
    ['web', undefined],
    ['', undefined],
  ])('%s stands for %s', (label, address) => expect(addressOfPod(label)).toBe(address));

  it('stand for IPv4 alone in kube-dns', () => {
    expect(ipv4OfPod('10-244-0-1')).toBe('10.244.0.1');
    expect(ipv4OfPod('2001-db8--1')).toBeUndefined();
  });
});

describe('the index of pods', () => {
  const pod = (name: string, ...addresses: string[]): PodObject => ({
    kind: 'Pod',
    namespace: 'blue',
    name,
    addresses,
  });

  it('knows addresses by namespace, in their canonical form', () => {
    const index = new PodIndex();
    index.add(pod('a', '10.0.0.1', 'FD00:0::1', 'none'));
    expect(index.has('blue', '10.0.0.1')).toBe(true);
    expect(index.has('blue', 'fd00::1')).toBe(true);
    expect(index.has('green', '10.0.0.1')).toBe(false);
  });

  it('keeps an address until the last pod that has it is gone', () => {
    const index = new PodIndex();
    index.add(pod('a', '10.0.0.1'));
    index.add(pod('b', '10.0.0.1'));
    index.remove(pod('a', '10.0.0.1'));
    expect(index.has('blue', '10.0.0.1')).toBe(true);
    index.remove(pod('b', '10.0.0.1'));
    expect(index.has('blue', '10.0.0.1')).toBe(false);
  });
});
