import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { arbitraryObjects } from '../testing/arbitrary-objects.ts';
import { checkLine, ObjectLineError, readLine, writeLine } from './object-line.ts';
import type { ClusterObject } from './objects.ts';

/** Lines of this format do not say whether services select pods. */
const withoutSelectors = arbitraryObjects.map((objects) =>
  objects.map((object): ClusterObject => {
    if (object.kind !== 'Service') return object;
    const { selects: _selects, ...rest } = object;
    return rest;
  }),
);

describe('lines of objects', () => {
  it('are read back as the objects that they were made of', () => {
    fc.assert(
      fc.property(withoutSelectors, (objects) => {
        expect(objects.map((object) => readLine(writeLine(object)))).toEqual(objects);
        expect(objects.map((object) => checkLine(writeLine(object)))).toEqual(objects);
      }),
    );
  });

  it('are one line each', () => {
    const name = 'a\nb';
    expect(writeLine({ kind: 'Namespace', name })).toBe('["N","a\\nb"]');
  });

  it.each([
    '',
    '{}',
    '[]',
    '["S"]',
    '["N",1]',
    '["X","a","b"]',
    '["S","a","b",0,[["http","TCP",-1]]]',
    '["E","a","b"',
    'null',
  ])('are refused when they come from elsewhere and are none: %s', (line) =>
    expect(() => checkLine(line)).toThrow(ObjectLineError),
  );

  it('are checked without another error, whatever comes', () => {
    fc.assert(
      fc.property(fc.json(), (line) => {
        try {
          checkLine(line);
        } catch (error) {
          expect(error).toBeInstanceOf(ObjectLineError);
        }
      }),
    );
  });
});
