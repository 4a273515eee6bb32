import { describe, expect, it } from 'vitest';
import { addressOfPod, ipv4OfPod } from './pods.ts';

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
