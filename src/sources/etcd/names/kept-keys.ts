/**
 * Keys as the lines of a snapshot: path, value (null for one that is no record), lease, and when that ends.
 */
import type { Clock } from '../../../base/clock.ts';
import { TimeSlice } from '../../../base/time-slice.ts';
import type { KeyTree } from './key-tree.ts';
import type { KeyLease, Leases } from './leases.ts';
import { octetsOf } from './services.ts';

interface KeptKey {
  readonly path: readonly string[];
  /** Undefined: a value that is no record. */
  readonly value: string | undefined;
  readonly lease: KeyLease | undefined;
}

/** Keys may come and go while lines are taken: those that stay have a line. */
export function* writeKeys(tree: KeyTree, leases: Leases, clock: Clock): Iterable<string> {
  for (const node of tree.keyNodes()) {
    const value = tree.isBad(node) ? null : tree.value(node);
    const lease = leases.leaseOf(node);
    const ends = lease?.seconds === undefined ? null : clock.now() + lease.seconds * 1000;
    yield JSON.stringify([
      tree.pathOf(node).join('/'),
      value,
      ...(lease === undefined ? [] : [lease.id, ends]),
    ]);
  }
}

/** Puts the keys of a snapshot into a tree. */
export async function restoreKeys(
  lines: Iterable<string>,
  tree: KeyTree,
  leases: Leases,
  clock: Clock,
): Promise<void> {
  const slice = new TimeSlice(clock);
  for (const line of lines) {
    if (slice.isOver) await slice.next();
    const key = readKey(line, clock);
    if (key === undefined) continue;
    const { path, value, lease } = key;
    const { node } = tree.put(octetsOf(path), value === undefined ? 'bad' : Buffer.from(value));
    leases.bind(node, lease);
  }
}

/** @returns undefined for a key that has ended, and for what is no line of a key */
function readKey(line: string, clock: Clock): KeptKey | undefined {
  let fields: unknown;
  try {
    fields = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!Array.isArray(fields)) return undefined;
  const [key, value, id, ends]: readonly unknown[] = fields;
  if (typeof key !== 'string' || (typeof value !== 'string' && value !== null)) return undefined;
  const seconds = typeof ends === 'number' ? Math.floor((ends - clock.now()) / 1000) : undefined;
  if (seconds !== undefined && seconds < 1) return undefined;
  return {
    path: key.split('/'),
    value: value ?? undefined,
    lease: typeof id === 'string' ? { id, ...(seconds !== undefined && { seconds }) } : undefined,
  };
}
