/**
 * Maps etcd keys, as written, to nodes of the tree of keys below a prefix.
 *
 * etcd returns keys in order, most of them in the folder of the previous key: the node of that folder is cached.
 */
import { type KeyContent, type KeyNode, type KeyTree, NO_NODE, TOP } from './key-tree.ts';

const SLASH = 0x2f;

interface Folder {
  /** The key up to and including its last slash. */
  readonly octets: Buffer;
  readonly node: KeyNode;
}

export class PrefixedKeys {
  readonly #tree: KeyTree;
  readonly #prefix: Buffer;
  /** The folder of the last key put. */
  #folder: Folder | undefined;

  /** @param prefix with its final slash */
  constructor(tree: KeyTree, prefix: Buffer) {
    this.#tree = tree;
    this.#prefix = prefix;
  }

  /** @returns the node of the key, and whether its content has changed; undefined for a key without the prefix */
  put(key: Buffer, content: KeyContent): { readonly node: KeyNode; readonly isChanged: boolean } | undefined {
    const behindSlash = key.lastIndexOf(SLASH) + 1;
    const folder = this.#folder;
    if (folder !== undefined && isParentFolder(folder.octets, key, behindSlash))
      return this.#tree.put([key.subarray(behindSlash)], content, folder.node);
    const path = this.#parsePath(key);
    if (path === undefined) return undefined;
    const put = this.#tree.put(path, content);
    this.#folder = { octets: Buffer.from(key.subarray(0, behindSlash)), node: this.#tree.parent(put.node) };
    return put;
  }

  /** The node of a key or of a folder; `NO_NODE` if it does not exist. */
  find(key: Buffer): KeyNode {
    const path = this.#parsePath(key);
    return path === undefined ? NO_NODE : this.#tree.find(path);
  }

  /** The nodes of keys in a folder, and of the key with its name. A folder above the prefix has all keys. */
  within(folder: Buffer): readonly KeyNode[] {
    const path = this.#parsePath(folder);
    return this.#tree.keysBelow(path === undefined ? TOP : this.#tree.find(path));
  }

  /** Removes the key of a node, and nodes that have no keys left. */
  remove(node: KeyNode): void {
    this.#folder = undefined;
    this.#tree.removeKey(node);
  }

  #parsePath(key: Buffer): Buffer[] | undefined {
    const { length } = this.#prefix;
    if (!key.subarray(0, length).equals(this.#prefix)) return undefined;
    const path: Buffer[] = [];
    let start = length;
    for (let end = key.indexOf(SLASH, start); end >= 0; end = key.indexOf(SLASH, start)) {
      path.push(key.subarray(start, end));
      start = end + 1;
    }
    path.push(key.subarray(start));
    return path;
  }
}

function isParentFolder(folder: Buffer, key: Buffer, behindSlash: number): boolean {
  return folder.length === behindSlash && folder.compare(key, 0, behindSlash) === 0;
}
