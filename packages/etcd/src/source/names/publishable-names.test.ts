import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KeyTree, NO_NODE, TOP } from './key-tree.ts';
import { namesBelow, publishableName } from './publishable-names.ts';
import { encodePath } from './services.ts';

const part = fc.constantFrom(
  'a',
  'b-1',
  '_tcp',
  'any',
  '*',
  'A',
  '',
  'a.b',
  'ü',
  'x'.repeat(63),
  'x'.repeat(64),
  '\\',
);
const paths = fc.array(fc.array(part, { minLength: 1, maxLength: 5 }), { maxLength: 20 });

function makeTree(keys: readonly (readonly string[])[]): KeyTree {
  const tree = new KeyTree();
  for (const key of keys) tree.put(encodePath(key), Buffer.from('{}'));
  return tree;
}

describe('names of keys', () => {
  it('are the same one by one and all together, those above first', () => {
    fc.assert(
      fc.property(paths, (keys) => {
        const tree = makeTree(keys);
        const seen = new Set<number>([tree.parent(TOP)]);
        for (const { node, name } of namesBelow(tree, TOP)) {
          expect(name).toBe(publishableName(tree.listPath(node)));
          expect(seen.has(tree.parent(node))).toBe(true);
          expect(seen.has(node)).toBe(false);
          seen.add(node);
        }
        expect(seen.size).toBe(tree.nodes + 1);
      }),
    );
  });

  it('are those below a node alone, and none below no node', () => {
    const tree = makeTree([['test', 'a', 'b'], ['test', 'c'], ['other']]);
    const below = (node: number) => Array.from(namesBelow(tree, node), ({ name }) => name).sort();
    expect(below(tree.find(encodePath(['test', 'a'])))).toEqual(['a.test.', 'b.a.test.']);
    expect(below(tree.find(encodePath(['missing'])))).toEqual([]);
    expect(below(NO_NODE)).toEqual([]);
  });
});
