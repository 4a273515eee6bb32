/**
 * Keys of etcd as they are written, in the tree of those below a prefix.
 *
 * etcd gives keys in their order, most of them in the folder of the one before: its node is remembered.
 */
import { type KeyContent, type KeyNode, type KeyTree, NO_NODE, TOP } from './key-tree.ts';

const SLASH = 0x2f;

interface Folder {
  /** Up to the last slash, which is in it. */
  readonly octets: Buffer;
  readonly node: KeyNode;
}

export class PrefixedKeys {
  readonly #tree: KeyTree;
  readonly #prefix: Buffer;
  /** Of the key that was put last. */
  #folder: Folder | undefined;

  /** @param prefix with the slash at its end */
  constructor(tree: KeyTree, prefix: Buffer) {
    this.#tree = tree;
    this.#prefix = prefix;
  }

  /** @returns the node of the key, and whether its content is another one now; undefined for a key without the prefix */
  put(key: Buffer, content: KeyContent): { readonly node: KeyNode; readonly isChanged: boolean } | undefined {
    const behindSlash = key.lastIndexOf(SLASH) + 1;
    const folder = this.#folder;
    if (folder !== undefined && isFolderOf(folder.octets, key, behindSlash))
      return this.#tree.put([key.subarray(behindSlash)], content, folder.node);
    const path = this.#pathOf(key);
    if (path === undefined) return undefined;
    const put = this.#tree.put(path, content);
    this.#folder = { octets: Buffer.from(key.subarray(0, behindSlash)), node: this.#tree.parent(put.node) };
    return put;
  }

  /** The node of a key, or of a folder; `NO_NODE`: there is none. */
  find(key: Buffer): KeyNode {
    const path = this.#pathOf(key);
    return path === undefined ? NO_NODE : this.#tree.find(path);
  }

  /** The nodes of keys in a folder, and of that of its own name. A folder above the prefix has all keys. */
  within(folder: Buffer): readonly KeyNode[] {
    const path = this.#pathOf(folder);
    return this.#tree.keysBelow(path === undefined ? TOP : this.#tree.find(path));
  }

  /** The key of a node is removed, and with it nodes that are left without any. */
  remove(node: KeyNode): void {
    this.#folder = undefined;
    this.#tree.removeKey(node);
  }

  #pathOf(key: Buffer): Buffer[] | undefined {
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

function isFolderOf(folder: Buffer, key: Buffer, behindSlash: number): boolean {
  return folder.length === behindSlash && folder.compare(key, 0, behindSlash) === 0;
}
