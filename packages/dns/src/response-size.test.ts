import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MAX_MESSAGE_OCTETS, MAX_UDP_SIZE, maxResponseOctets } from './response-size.ts';

describe('the octets that a response may have', () => {
  it.each([
    // Without OPT.
    [0, 1232, 512],
    [100, 1232, 512],
    [512, 1232, 512],
    [1000, 1232, 1000],
    [4096, 1232, 1232],
    [65_535, 1232, 1232],
    [65_535, 4096, 4096],
    [0, 4096, 512],
  ])('over UDP to a client that takes %i from a server of %i are %i', (offered, ours, octets) => {
    expect(maxResponseOctets('udp', offered, ours)).toBe(octets);
  });

  it('depend on the transport alone where it is not UDP, and never on a value of a size', () => {
    fc.assert(
      fc.property(fc.nat(65_535), fc.integer({ min: 512, max: MAX_UDP_SIZE }), (offered, ours) => {
        expect(maxResponseOctets('udp', offered, ours)).toBeLessThanOrEqual(MAX_UDP_SIZE);
        for (const transport of ['tcp', 'tls', 'https'] as const)
          expect(maxResponseOctets(transport, offered, ours)).toBe(MAX_MESSAGE_OCTETS);
      }),
    );
  });
});
