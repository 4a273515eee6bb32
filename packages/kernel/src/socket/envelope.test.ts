import { describe, expect, it } from 'vitest';
import { readdressControl } from './envelope.ts';

const words = (octets: readonly number[]): Uint32Array => new Uint32Array(Uint8Array.from(octets).buffer);

const IPV4 = [28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0];
const IPV6 = [36, 0, 0, 0, 0, 0, 0, 0, 41, 0, 0, 0, 50, 0, 0, 0];
const GLOBAL = [0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
const LINK_LOCAL = [0xfe, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];

describe('readdressControl', () => {
  it.each([
    [
      'IPv4',
      [...IPV4, 7, 0, 0, 0, 10, 0, 0, 1, 10, 0, 0, 1],
      [...IPV4, 0, 0, 0, 0, 10, 0, 0, 1, 10, 0, 0, 1],
    ],
    ['IPv6', [...IPV6, ...GLOBAL, 7, 0, 0, 0], [...IPV6, ...GLOBAL, 0, 0, 0, 0]],
  ])('leaves the interface to routing for %s', (_, received, sent) => {
    const message = words(received);
    readdressControl(message, 0);
    expect(message).toEqual(words(sent));
  });

  it('keeps the interface of a link-local address', () => {
    const message = words([0, 0, 0, 0, ...IPV6, ...LINK_LOCAL, 7, 0, 0, 0]);
    const before = Uint32Array.from(message);
    readdressControl(message, 1);
    expect(message).toEqual(before);
  });
});
