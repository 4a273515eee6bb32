import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyTree, NO_NODE } from './key-tree.ts';
import { PrefixedKeys } from './prefixed-keys.ts';

const key = fc
  .array(fc.constantFrom('a', 'b', 'ab', ''), { minLength: 1, maxLength: 4 })
  .map((path) => `/skydns/${path.join('/')}`);
const step = fc.record({ key, isPut: fc.boolean() });

function makeKeys() {
  const tree = new KeyTree();
  const keys = new PrefixedKeys(tree, Buffer.from('/skydns/'));
  const put = (text: string, value = text) => keys.put(Buffer.from(text), Buffer.from(value));
  return { tree, keys, put };
}

describe('keys below a prefix', () => {
  it('stand where their path says, whichever folder was the last one', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { tree, keys, put } = makeKeys();
        const expected = new Map<string, string>();
        for (const [index, { key: text, isPut }] of steps.entries()) {
          const node = keys.find(Buffer.from(text));
          if (isPut) {
            expect(put(text, String(index))?.isChanged).toBe(true);
            expected.set(text, String(index));
          } else if (expected.delete(text)) keys.remove(node);
          else expect(tree.hasKey(node)).toBe(false);
        }
        const found = [...tree.keyNodes()].map((node) => {
          const path = tree.listPath(node);
          return [`/skydns/${path.join('/')}`, tree.value(node)];
        });
        expect(Object.fromEntries(found)).toEqual(Object.fromEntries(expected));
      }),
    );
  });

  it('are found by their folder', () => {
    const { tree, keys, put } = makeKeys();
    for (const text of ['/skydns/a', '/skydns/a/b', '/skydns/c']) put(text);
    const within = (folder: string) =>
      keys
        .within(Buffer.from(folder))
        .map((node) => tree.value(node))
        .sort();
    expect(within('/skydns/a')).toEqual(['/skydns/a', '/skydns/a/b']);
    expect(within('/skydns')).toEqual(['/skydns/a', '/skydns/a/b', '/skydns/c']);
    expect(within('/skydns/missing')).toEqual([]);
  });

  it('do not include keys without the prefix', () => {
    const { keys, put } = makeKeys();
    expect(put('/sky/a')).toBeUndefined();
    expect(put('/skydns')).toBeUndefined();
    expect(keys.find(Buffer.from('/skydns'))).toBe(NO_NODE);
  });
});
