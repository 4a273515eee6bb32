import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readName } from './names.ts';
import { octetsOfArgument } from './octets.ts';

const read = (text: string) => readName(octetsOfArgument(text));

describe('names', () => {
  it.each([
    ['a', 'a.'],
    ['a.b.', 'a.b.'],
    ['', '.'],
    ['.', '.'],
    ['A.b', 'a.b.'],
    ['_sip._tcp', '_sip._tcp.'],
    ['*.a', '*.a.'],
    ['x y', 'x\\032y.'],
    ['a\\b', 'a\\\\b.'],
    ['a@b', 'a\\@b.'],
    ['Müller.DE', 'xn--mller-kva.de.'],
    ['xn--mller-kva.de', 'xn--mller-kva.de.'],
    ['-a', '-a.'],
  ])('%j is %j', (text, name) => {
    expect(read(text)).toEqual({ kind: 'name', name });
  });

  it.each(['a..b', '.a', '..', `${'a.'.repeat(127)}a`])('%j cannot be asked for', (text) => {
    expect(read(text).kind).toBe('unaskable');
  });

  it.each(['a'.repeat(64), 'a\tb', '\x7f', 'É', ' ', '-A', 'é x', 'é/x', 'xn--A', 'a'.repeat(1026)])(
    'are refused: %j',
    (text) => {
      expect(read(text).kind).toBe('bad');
    },
  );

  it('never throw', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => {
        expect(['name', 'unaskable', 'bad']).toContain(read(text).kind);
      }),
    );
  });
});
