import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyTree, TOP } from './key-tree.ts';

const octets = (path: readonly string[]) => path.map((part) => Buffer.from(part));
const part = fc.constantFrom('a', 'b', 'c', '', 'ü');
const path = fc.array(part, { minLength: 1, maxLength: 4 });
const step = fc.record({ path, value: fc.option(fc.constantFrom('one', 'two', 'bad'), { nil: undefined }) });

function listKeys(tree: KeyTree): Record<string, string> {
  const keys: Record<string, string> = {};
  const visit = (node: number) => {
    if (tree.hasKey(node)) keys[tree.listPath(node).join('/')] = tree.isBad(node) ? 'bad' : tree.value(node);
    for (const child of tree.children(node)) visit(child);
  };
  visit(TOP);
  return keys;
}

describe('the tree of keys', () => {
  it('holds what was put last and not removed', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const tree = new KeyTree();
        const expected = new Map<string, string>();
        for (const { path: at, value } of steps) {
          const key = at.join('/');
          const before = expected.get(key);
          if (value === undefined) {
            expect(tree.remove(octets(at))).toBe(expected.delete(key));
            continue;
          }
          const { isChanged } = tree.put(octets(at), value === 'bad' ? 'bad' : Buffer.from(value));
          expect(isChanged).toBe(before !== value);
          expected.set(key, value);
        }
        expect(listKeys(tree)).toEqual(Object.fromEntries(expected));
        expect(tree.size).toBe(expected.size);
        expect(tree.badKeys).toBe([...expected.values()].filter((value) => value === 'bad').length);
      }),
    );
  });

  it('counts the keys at and below each node', () => {
    const tree = new KeyTree();
    for (const key of ['a', 'a/b', 'a/b/c', 'd/e']) tree.put(octets(key.split('/')), Buffer.from('x'));
    expect(tree.count(tree.find(octets(['a'])))).toBe(3);
    expect(tree.count(tree.find(octets(['a', 'b'])))).toBe(2);
    tree.remove(octets(['d', 'e']));
    expect(tree.find(octets(['d']))).toBe(0);
    expect(tree.nodes).toBe(4);
  });

  it('moves what is left together when most was removed', () => {
    const tree = new KeyTree();
    const large = Buffer.alloc(100_000, 'x');
    for (let index = 0; index < 1_000; index += 1)
      tree.put(octets(['a', String(index % 10)]), Buffer.concat([large, Buffer.from(String(index))]));
    expect(tree.size).toBe(10);
    expect(tree.value(tree.find(octets(['a', '9']))).slice(100_000)).toBe('999');
  });
});
