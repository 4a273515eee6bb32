import { describe, expect, it } from 'vitest';
import { parseName, toKey } from '../wire/name.ts';
import { TYPE } from '../wire/types.ts';
import { recordSet } from './record-set.ts';
import { ZoneTree, ZoneTreeError } from './tree.ts';

const apex = toKey(parseName('example.'));
const addresses = recordSet(TYPE.A, 30, [{ kind: 'A', address: '192.0.2.1' }]);
const alias = recordSet(TYPE.CNAME, 30, [{ kind: 'CNAME', target: parseName('b.example.') }]);

describe('a zone tree', () => {
  it('makes the names between an owner and the apex exist', () => {
    const tree = new ZoneTree(apex);
    tree.add(parseName('a.b.c.Example.'), addresses);
    const names = Array.from(tree.nodes(), ({ name }) => name);
    expect(names).toEqual(['example.', 'c.example.', 'b.c.example.', 'a.b.c.example.']);
    expect(tree.find(toKey(parseName('b.c.example.')))).toMatchObject({ sets: [] });
    expect(tree.find(toKey(parseName('x.example.')))).toBeUndefined();
  });

  it.each([
    ['a name outside', 'a.example.org.', addresses],
    ['a second set of a type', 'a.example.', addresses],
    ['a CNAME beside other data', 'a.example.', alias],
    ['other data beside a CNAME', 'b.example.', addresses],
  ])('refuses %s', (_what, name, set) => {
    const tree = new ZoneTree(apex);
    tree.add(parseName('a.example.'), addresses);
    tree.add(parseName('b.example.'), alias);
    expect(() => tree.add(parseName(name), set)).toThrow(ZoneTreeError);
  });

  it('knows whether it has delegations and wildcards', () => {
    const tree = new ZoneTree(apex);
    const nameserver = recordSet(TYPE.NS, 30, [{ kind: 'NS', target: parseName('ns.example.') }]);
    tree.add(apex, nameserver);
    expect([tree.hasCuts, tree.hasWildcards]).toEqual([false, false]);
    tree.add(parseName('sub.example.'), nameserver);
    tree.add(parseName('*.example.'), addresses);
    expect([tree.hasCuts, tree.hasWildcards]).toEqual([true, true]);
  });
});
