/**
 * Compares questions with `*` with the way kube-dns walks its tree: `*` is every child that is not a port or protocol, and at
 * the end all entries of the node; another label at the end is an entry, or else all entries of the child.
 */
import { parseAddress } from '@portolan/dns/address.ts';
import { parseName, toKey } from '@portolan/dns/name.ts';
import { RCODE, TYPE } from '@portolan/dns/types.ts';
import type { CacheNode } from '@portolan/kubernetes/dialects/kube-dns/cache-node.ts';
import { AskableCluster, question } from '@portolan/kubernetes/plugins/kubernetes/testing/askable-cluster.ts';
import { describe, expect, it } from 'vitest';
import { goldenObjects } from '../golden/golden-objects.ts';

const ANY = '*';
const DOMAIN = ['local', 'cluster'];

interface Place {
  readonly path: readonly string[];
  readonly node: CacheNode;
}

/** `port target` of each entry that kube-dns would find, sorted. @param path from the root of DNS */
function walk(tree: CacheNode, path: readonly string[]): readonly string[] {
  let places: readonly Place[] = [{ path: [], node: tree }];
  for (const label of path.slice(0, -1)) places = places.flatMap((place) => stepDown(place, label));
  const last = path.at(-1) ?? '';
  return [...new Set(places.flatMap((place) => end(place, last)))].sort();
}

function stepDown({ path, node }: Place, label: string): readonly Place[] {
  const children = Object.entries(node.ChildNodes);
  const meant = children.filter(([name]) => (label === ANY ? !name.startsWith('_') : name === label));
  return meant.map(([name, child]) => ({ path: [...path, name], node: child }));
}

function end(place: Place, label: string): readonly string[] {
  if (label === ANY) return listEntries(place);
  const entry = place.node.Entries[label];
  if (entry !== undefined)
    return listEntries({ ...place, node: { ChildNodes: {}, Entries: { [label]: entry } } });
  return stepDown(place, label).flatMap(listEntries);
}

function listEntries({ path, node }: Place): readonly string[] {
  return Object.entries(node.Entries).map(([key, { host, port }]) => {
    const target = parseAddress(host) === undefined ? toKey(parseName(host)) : formatName([...path, key]);
    return `${port ?? 0} ${target}`;
  });
}

const formatName = (path: readonly string[]) => `${path.toReversed().join('.')}.`;

/** The paths of all nodes and entries below a node. */
function* listPaths({ path, node }: Place): Iterable<readonly string[]> {
  for (const key of Object.keys(node.Entries)) yield [...path, key];
  for (const [name, child] of Object.entries(node.ChildNodes)) {
    yield [...path, name];
    yield* listPaths({ path: [...path, name], node: child });
  }
}

/** The path with `*` for one or more of the labels behind the domain, in every way. */
function* replaceLabels(path: readonly string[]): Iterable<readonly string[]> {
  const free = path.length - DOMAIN.length;
  for (let mask = 1; mask < 2 ** free; mask += 1)
    yield path.map((label, index) => {
      const bit = index - DOMAIN.length;
      return bit >= 0 && (mask & (1 << bit)) !== 0 ? ANY : label;
    });
}

describe('questions with wildcards', () => {
  const cluster = new AskableCluster('kube-dns');
  cluster.list(goldenObjects());
  const tree = JSON.parse([...cluster.cluster.cacheTree()].join('')) as CacheNode; // What it is printed from.
  const paths = [...listPaths({ path: [], node: tree })].filter(({ length }) => length > DOMAIN.length);
  const patterns = new Set(
    paths.flatMap((path) => [...replaceLabels(path)].map((labels) => labels.join('.'))),
  );

  it('are many', () => expect(patterns.size).toBeGreaterThan(500));

  it('find what kube-dns finds', async () => {
    for (const pattern of patterns) {
      const path = pattern.split('.');
      const { header, answers } = await cluster.askChain(question(formatName(path), TYPE.SRV));
      const found = answers.flatMap(({ data }) =>
        data.kind === 'SRV' ? `${data.port} ${toKey(data.target)}` : [],
      );
      const expected = walk(tree, path);
      const rcode = expected.length === 0 ? RCODE.NXDOMAIN : RCODE.NOERROR;
      expect({ pattern, found: found.sort(), rcode: header.rcode }).toEqual({
        pattern,
        found: expected,
        rcode,
      });
      const told = cluster.askTable(question(formatName(path), TYPE.SRV));
      if (told !== undefined) expect({ pattern, rcode: told.header.rcode }).toEqual({ pattern, rcode });
    }
  });

  it('are ordinary names in the other dialect', async () => {
    const other = new AskableCluster('coredns');
    other.list(goldenObjects());
    for (const pattern of patterns) {
      const { header } = await other.askChain(question(formatName(pattern.split('.')), TYPE.A));
      expect({ pattern, rcode: header.rcode }).toEqual({ pattern, rcode: RCODE.NXDOMAIN });
    }
  });
});
