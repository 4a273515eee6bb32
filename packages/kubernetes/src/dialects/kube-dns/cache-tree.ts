/**
 * The cluster's zone as kube-dns prints its tree of names at `/cache`: JSON, labels from the root of DNS down. Each level has
 * its children and its entries, sorted by name.
 *
 * It is made from the objects on request, one service per piece. A service that changes meanwhile is shown as it is when its
 * turn comes.
 */
import type { NameKey } from '@portolan/dns/types.ts';
import type { ClusterDirectory } from '../dialect.ts';
import { type CacheEntry, type CacheNode, inOrder, serviceNode } from './cache-node.ts';

/** A level whose children are made one after the other, sorted by name. */
interface Level {
  children(): Iterable<readonly [name: string, child: Level | CacheNode]>;
  /** Called after the children. */
  entries(): Readonly<Record<string, CacheEntry>>;
}

type Pieces = Generator<string, void>;

/** @param domain the cluster's domain */
export function writeCacheTree(domain: NameKey, directory: ClusterDirectory): Pieces {
  const labels = domain.split('.').filter((label) => label !== '');
  const names = ['svc', ...labels];
  return writeLevel(names.reduce(levelAbove, namespacesLevel(directory)), 0);
}

/** The level above, with this one as its only child unless it is empty. */
function levelAbove(child: Level, name: string): Level {
  return {
    *children() {
      const [first] = child.children();
      if (first !== undefined) yield [name, child];
    },
    entries: () => ({}),
  };
}

function namespacesLevel(directory: ClusterDirectory): Level {
  return {
    *children() {
      for (const namespace of [...directory.namespaces()].sort()) {
        const level = namespaceLevel(namespace, directory);
        if (level !== undefined) yield [namespace, level];
      }
    },
    entries: () => ({}),
  };
}

/** Undefined if the namespace has no services. */
function namespaceLevel(namespace: string, directory: ClusterDirectory): Level | undefined {
  const externals: [string, CacheEntry][] = [];
  const services = serviceNodes(namespace, directory, externals);
  const first = services.next();
  if (first.done === true && externals.length === 0) return undefined;
  return {
    *children() {
      if (first.done !== true) yield first.value;
      yield* services;
    },
    entries: () => inOrder(externals),
  };
}

/** @param externals receives the services that are entries, not nodes */
function* serviceNodes(
  namespace: string,
  directory: ClusterDirectory,
  externals: [string, CacheEntry][],
): Generator<readonly [string, CacheNode], void> {
  for (const name of [...directory.services(namespace)].sort()) {
    const view = directory.view(namespace, name);
    const node = view && serviceNode(view);
    if (node === undefined) continue;
    if ('external' in node) externals.push([name, node.external]);
    else yield [name, node];
  }
}

function* writeLevel(level: Level, depth: number): Pieces {
  yield `{${lineAt(depth + 1)}"ChildNodes": {`;
  let count = 0;
  for (const [name, child] of level.children()) {
    const before = `${count === 0 ? '' : ','}${lineAt(depth + 2)}${JSON.stringify(name)}: `;
    if ('ChildNodes' in child) yield before + writeValue(child, depth + 2);
    else {
      yield before;
      yield* writeLevel(child, depth + 2);
    }
    count += 1;
  }
  yield `${count === 0 ? '' : lineAt(depth + 1)}},`;
  yield `${lineAt(depth + 1)}"Entries": ${writeValue(level.entries(), depth + 1)}${lineAt(depth)}}`;
}

function writeValue(value: object, depth: number): string {
  return JSON.stringify(value, undefined, '\t').replaceAll('\n', lineAt(depth));
}

function lineAt(depth: number): string {
  return `\n${'\t'.repeat(depth)}`;
}
