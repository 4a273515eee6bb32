import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { finishHash, finishQuestion, HASH_KEYS, hashName } from './hash.ts';
import { cachedAddress } from './testing/table-answers.ts';
import { TableWriter } from './writer.ts';

const NOW = 1_800_000_000_000;

function drawKeys(): Int32Array {
  return crypto.getRandomValues(new Int32Array(HASH_KEYS));
}

/**
 * Names that collide under every seed of a hash that multiplies and folds words: bit 31 of a word is cancelled by
 * 0x80010000 in the next one.
 */
function chosenNames(): readonly Uint8Array[] {
  const base = Uint8Array.from([60, ...new Array<number>(60).fill(0x32), 0]);
  return Array.from({ length: 128 }, (_, choice) => {
    const name = base.slice();
    for (let pair = 0; pair < 7; pair++) {
      if (((choice >> pair) & 1) === 0) continue;
      const word = 4 + pair * 8;
      name[word + 3] = (name[word + 3] ?? 0) ^ 0x80;
      name[word + 6] = (name[word + 6] ?? 0) ^ 0x01;
      name[word + 7] = (name[word + 7] ?? 0) ^ 0x80;
    }
    return name;
  });
}

describe('the hash', () => {
  it('gives chosen names different numbers, so that all of them can be cached', () => {
    const names = chosenNames();
    for (let turn = 0; turn < 20; turn++) {
      const keys = drawKeys();
      expect(new Set(names.map((name) => hashName(name, keys))).size).toBeGreaterThan(126);
    }
    const table = new TableWriter({ readers: 0, reservation: 2 ** 22, cacheOctets: 2 ** 18 });
    const answer = cachedAddress('x', '192.0.2.1', 60);
    const cached = names.filter((name) => table.cache({ ...answer, name: name as typeof answer.name }, NOW));
    expect(cached).toHaveLength(names.length);
  });

  it('lets two names collide under few keys, however alike they are', () => {
    const octets = fc.uint8Array({ minLength: 4, maxLength: 40 });
    const change = fc.array(fc.tuple(fc.nat(39), fc.integer({ min: 1, max: 255 })), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(octets, change, (one, changes) => {
        const other = one.slice();
        for (const [at, bits] of changes) other[at % other.length] = (other[at % other.length] ?? 0) ^ bits;
        fc.pre(Buffer.compare(one, other) !== 0);
        const keys = Array.from({ length: 50 }, drawKeys);
        const same = keys.filter((each) => hashName(one, each) === hashName(other, each));
        expect(same.length).toBeLessThan(2);
      }),
    );
  });

  it('tells questions for a name apart', () => {
    const keys = drawKeys();
    const name = Uint8Array.of(1, 97, 0);
    const hashes = [1, 28, 257, 65_535].flatMap((type) =>
      [1, 3].flatMap((dnsClass) =>
        [0, 1, 2, 3].map((flags) => finishQuestion(hashName(name, keys), keys, type, dnsClass, flags)),
      ),
    );
    expect(new Set([...hashes, finishHash(hashName(name, keys))]).size).toBe(33);
  });
});
