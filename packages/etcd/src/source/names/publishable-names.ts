/**
 * The names of keys that questions can reach: names in lower case, without labels that questions use as wildcards.
 */
import { toKey } from '@portolan/dns/name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import { type KeyNode, type KeyTree, NO_NODE } from './key-tree.ts';
import { isWildcard, nameOfPath, pathOfName } from './services.ts';

/** Parts of keys that are valid labels as they are. */
const PLAIN_LABEL = /^[a-z0-9_-]{1,63}$/;
/** Characters of a name without escapes (RFC 1035 section 2.3.4). */
const MAX_NAME = 254;

/** @returns undefined if questions cannot reach the key */
export function publishableName(path: readonly string[]): NameKey | undefined {
  const name = nameOfPath(path);
  if (name === undefined || path.some(isWildcard)) return undefined;
  const key = toKey(name);
  const reached = pathOfName(key);
  return reached.length === path.length && reached.every((part, index) => part === path[index])
    ? key
    : undefined;
}

export interface NamedNode {
  readonly node: KeyNode;
  /** Undefined if questions cannot reach it. */
  readonly name: NameKey | undefined;
}

/**
 * A node and all nodes below it, parents before children. The nodes must not change meanwhile.
 *
 * @param top `NO_NODE` for an empty result
 */
export function* namesBelow(tree: KeyTree, top: KeyNode): Iterable<NamedNode> {
  if (top === NO_NODE) return;
  /** Names from the top down to the node. */
  const names = [publishableName(tree.listPath(top))];
  for (let node = top; node !== NO_NODE; ) {
    yield { node, name: names.at(-1) };
    let next = tree.firstChild(node);
    while (next === NO_NODE && node !== top) {
      names.pop();
      next = tree.nextSibling(node);
      node = tree.parent(node);
    }
    if (next !== NO_NODE) names.push(nameBelow(tree, next, names.at(-1)));
    node = next;
  }
}

/** @param above the name of the parent, so that it is not parsed again for each child */
function nameBelow(tree: KeyTree, node: KeyNode, above: NameKey | undefined): NameKey | undefined {
  const label = tree.label(node);
  const isPlain = PLAIN_LABEL.test(label) && !isWildcard(label);
  if (above !== undefined && isPlain && label.length + 1 + above.length <= MAX_NAME)
    // A plain label in lower case before a key makes a key.
    return `${label}.${above}` as NameKey;
  return publishableName(tree.listPath(node));
}
