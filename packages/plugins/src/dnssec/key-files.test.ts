import { describe, expect, it } from 'vitest';
import { KeyPairError, readKeyFiles, toBasePath } from './key-files.ts';
import { makeKeyPair, writePrivateKey, writePublicKey } from './testing/keys.ts';

function read(publicKey: string | undefined, privateKey: string | undefined = writePrivateKey()) {
  const files = new Map([
    ['k.key', publicKey],
    ['k.private', privateKey],
  ]);
  return readKeyFiles('k', {
    findKind: (path) => (files.get(path) === undefined ? undefined : 'file'),
    read: (path) => files.get(path) ?? '',
  });
}

it('are read as the tools write them', () => {
  expect(read(writePublicKey('example.', 257))).toEqual(makeKeyPair('example.', 257));
  expect(read(writePublicKey('Example. 60', 256))).toEqual({ ...makeKeyPair('example.', 256), ttl: 60 });
});

it('have one path for both', () => {
  expect(['K.+013+1', 'K.+013+1.key', 'K.+013+1.private'].map(toBasePath)).toEqual(Array(3).fill('K.+013+1'));
});

describe('are refused', () => {
  it.each([
    ['if one is missing', undefined, undefined, 'open k.key: no such file or directory'],
    ['if they hold another record', 'example. IN A 192.0.2.1', undefined, 'no public key found'],
    ['if they hold no record', 'example. IN NONE x', undefined, 'k.key: '],
    [
      'with an algorithm that does not sign',
      'example. IN DNSKEY 257 3 16 AAAA',
      undefined,
      'k.key: no algorithm that signs here: 16',
    ],
    [
      'without the private key',
      writePublicKey('example.', 257),
      'nothing',
      'k.private: the private key lacks PrivateKey',
    ],
    [
      'with that of another key',
      writePublicKey('example.', 257),
      writePrivateKey(1),
      'k.private: the private key is not that of the public key',
    ],
  ])('%s', (_, publicKey, privateKey, message) => {
    expect(() => read(publicKey, privateKey)).toThrow(KeyPairError);
    expect(() => read(publicKey, privateKey)).toThrow(message);
  });
});
