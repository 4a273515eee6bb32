import { describe, expect, it } from 'vitest';
import { encodeSocketAddress } from '../../socket/addresses.ts';
import { ENVELOPE } from '../../socket/envelope.ts';
import { makeSharedWords, SharedWords } from './shared-words.ts';

function makeEnvelope(address: string): Uint8Array {
  const envelope = new Uint8Array(ENVELOPE.OCTETS);
  const name = encodeSocketAddress({ address, port: 5353 });
  envelope.set(name, ENVELOPE.NAME);
  envelope[ENVELOPE.NAME_LENGTH] = name.length;
  return envelope;
}

describe('the group of a client', () => {
  const words = new SharedWords(makeSharedWords(1), 1);

  it.each([
    ['192.0.2.7', '192.0.2.7'],
    ['2001:db8::7', '2001:db8::7'],
    ['fe80::7%7', 'fe80::7%none'],
  ])('of the envelope of %s is that of %s', (client, address) => {
    expect(words.findGroup(address)).toBe(words.computeGroup(makeEnvelope(client), 0));
  });
});
