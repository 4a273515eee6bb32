/**
 * Parses replies of etcd's API version 2: trees of nodes, events, and errors, as JSON.
 */
import { EtcdError } from '../source/client/etcd-error.ts';

/** A key that is not a folder. */
export interface FolderNode {
  /** The full path: `/skydns/local/skydns/a`. */
  readonly key: string;
  readonly value: string;
  /** Remaining seconds; 0 if it does not expire. */
  readonly ttl: number;
  /** The index of its last change. */
  readonly modifiedIndex: number;
}

export type V2Event =
  | { readonly kind: 'set'; readonly index: number; readonly node: FolderNode }
  /** The key, or the folder with all keys below it, was removed. */
  | { readonly kind: 'removed'; readonly index: number; readonly key: string; readonly isFolder: boolean };

interface WireNode {
  readonly key: string;
  readonly dir: boolean;
  readonly value: string;
  readonly ttl: number;
  readonly modifiedIndex: number;
  readonly nodes: readonly unknown[];
}

const REMOVALS: ReadonlySet<unknown> = new Set(['delete', 'expire', 'compareAndDelete']);
/** Deeper folders are skipped: a name has at most 127 labels, and a prefix some more. */
const MAX_DEPTH = 200;

/** All keys of the tree in a reply. @throws EtcdError for anything else */
export function readNodes(body: string): FolderNode[] {
  const nodes: FolderNode[] = [];
  collect(toFields(parse(body))['node'], nodes, 0);
  return nodes;
}

/** @throws EtcdError for anything that is not an event */
export function readWatchReply(body: string): V2Event {
  const { action, node: wireNode } = toFields(parse(body));
  const node = readNode(wireNode);
  const { key, modifiedIndex: index, dir: isFolder } = node;
  if (key === '' || index === 0) throw new EtcdError('unavailable', 'an event of etcd has no key');
  if (REMOVALS.has(action)) return { kind: 'removed', index, key, isFolder };
  // A new folder has no keys.
  if (isFolder) return { kind: 'removed', index, key, isFolder: false };
  const { value, ttl, modifiedIndex } = node;
  return { kind: 'set', index, node: { key, value, ttl, modifiedIndex } };
}

/** @returns undefined if it is not an error of this API */
export function readErrorReply(
  body: string,
): { readonly code: number; readonly message: string } | undefined {
  try {
    const { errorCode, message, cause } = toFields(JSON.parse(body));
    if (typeof errorCode !== 'number') return undefined;
    return {
      code: errorCode,
      message: [message, cause].filter((part) => typeof part === 'string').join(': '),
    };
  } catch {
    return undefined;
  }
}

function collect(value: unknown, nodes: FolderNode[], depth: number): void {
  const { dir, nodes: below, ...node } = readNode(value);
  if (!dir) nodes.push(node);
  else if (depth < MAX_DEPTH) for (const each of below) collect(each, nodes, depth + 1);
}

function readNode(from: unknown): WireNode {
  const { key, dir, value, ttl, modifiedIndex, nodes } = toFields(from);
  return {
    key: typeof key === 'string' ? key : '',
    dir: dir === true,
    value: typeof value === 'string' ? value : '',
    ttl: typeof ttl === 'number' ? Math.max(0, ttl) : 0,
    modifiedIndex: typeof modifiedIndex === 'number' ? modifiedIndex : 0,
    nodes: Array.isArray(nodes) ? nodes : [],
  };
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    throw new EtcdError('unavailable', 'the answer is no JSON');
  }
}

function toFields(value: unknown): { readonly [field: string]: unknown } {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
