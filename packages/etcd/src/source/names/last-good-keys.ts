/**
 * Keys as the lines of a snapshot: path, value (null if it is not a record), lease, and the end of the lease.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import { ItemFault, type ItemGuard } from '@portolan/kernel/base/item-guard.ts';
import { TimeSlice } from '@portolan/kernel/base/time-slice.ts';
import type { KeyTree } from './key-tree.ts';
import type { KeyLease, Leases } from './leases.ts';
import { encodePath } from './services.ts';

interface KeptKey {
  readonly path: readonly string[];
  /** Undefined if the value is not a record. */
  readonly value: string | undefined;
  readonly lease: KeyLease | undefined;
}

/** Keys may change while the lines are read: each key that stays has a line. */
export function* writeKeys(tree: KeyTree, leases: Leases, clock: Clock): Iterable<string> {
  for (const node of tree.keyNodes()) {
    const value = tree.isBad(node) ? null : tree.value(node);
    const lease = leases.findLease(node);
    const ends = lease?.seconds === undefined ? null : clock.now() + lease.seconds * 1000;
    yield JSON.stringify([
      tree.listPath(node).join('/'),
      value,
      ...(lease === undefined ? [] : [lease.id, ends]),
    ]);
  }
}

/** The stores for the keys of a snapshot. */
export interface KeyStores {
  readonly tree: KeyTree;
  readonly leases: Leases;
  readonly guard: ItemGuard;
  readonly clock: Clock;
}

/** Puts the keys of a snapshot into a tree. */
export async function restoreKeys(lines: Iterable<string>, stores: KeyStores): Promise<void> {
  const { guard, clock } = stores;
  const slice = new TimeSlice(clock);
  let number = 0;
  for (const line of lines) {
    number += 1;
    if (slice.isOver) await slice.next();
    guard.take(
      () => `key ${number}`,
      () => restoreKey(line, stores),
    );
  }
}

/** @throws ItemFault if the line is not that of a key */
function restoreKey(line: string, { tree, leases, clock }: KeyStores): void {
  const key = readKey(line, clock);
  if (key === undefined) return;
  const { path, value, lease } = key;
  const { node } = tree.put(encodePath(path), value === undefined ? 'bad' : Buffer.from(value));
  leases.bind(node, lease);
}

/** @returns undefined for an expired key. @throws ItemFault if the line is not that of a key */
function readKey(line: string, clock: Clock): KeptKey | undefined {
  const [key, value, id, ends] = parseList(line);
  if (typeof key !== 'string' || (typeof value !== 'string' && value !== null))
    throw new ItemFault('malformed', `not a key and its value: ${line.slice(0, MAX_SHOWN)}`);
  const seconds = typeof ends === 'number' ? Math.floor((ends - clock.now()) / 1000) : undefined;
  if (seconds !== undefined && seconds < 1) return undefined;
  return {
    path: key.split('/'),
    value: value ?? undefined,
    lease: typeof id === 'string' ? { id, ...(seconds !== undefined && { seconds }) } : undefined,
  };
}

/** @returns an empty list if the text is not a JSON list */
function parseList(line: string): readonly unknown[] {
  try {
    const fields: unknown = JSON.parse(line);
    return Array.isArray(fields) ? fields : [];
  } catch {
    return [];
  }
}

/** Characters of a line that a message shows. */
const MAX_SHOWN = 80;
