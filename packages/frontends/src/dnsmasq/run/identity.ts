/**
 * The user and group of dnsmasq's options, which the process assumes once its sockets and files are open.
 */
import { readFileSync } from 'node:fs';
import type { DnsmasqPlan, ProcessPlan } from '../settings/dnsmasq-plan.ts';

/** An existing user and group. */
export interface UserAndGroup {
  readonly user: number | undefined;
  readonly group: number | undefined;
}

export class IdentityError extends Error {
  override readonly name = 'IdentityError';
  readonly wanted: string;

  constructor(wanted: string) {
    super(`unknown user or group: ${wanted}. Give one that this machine knows.`);
    this.wanted = wanted;
  }
}

/** dnsmasq's default group if it exists: on some systems its members may change network settings. */
const DEFAULT_GROUP = 'dip';

/**
 * Looks up the names even if this process cannot assume them, as dnsmasq does.
 *
 * @throws IdentityError
 */
export function findIdentity(
  { process: { user, group }, nftset }: Pick<DnsmasqPlan, 'process' | 'nftset'>,
  readFile = readSystemFile,
): UserAndGroup {
  const users = readEntries(readFile('/etc/passwd'));
  const groups = readEntries(readFile('/etc/group'));
  const entry = user === undefined ? undefined : users.get(user);
  if (user !== undefined && entry === undefined) throw new IdentityError(user);
  const own = entry === undefined ? undefined : Number(entry[3]);
  const ownGroup = findGroupId(group, groups, own);
  // Rights belong to threads: those that change sets cannot keep NET_ADMIN alone.
  if (nftset.length > 0) return { user: undefined, group: undefined };
  return { user: entry === undefined ? undefined : Number(entry[2]), group: ownGroup };
}

function findGroupId(
  group: ProcessPlan['group'],
  groups: ReadonlyMap<string, readonly string[]>,
  own: number | undefined,
): number | undefined {
  if (group.kind === 'keep') return undefined;
  const entry = groups.get(group.kind === 'named' ? group.name : DEFAULT_GROUP);
  if (entry !== undefined) return Number(entry[2]);
  if (group.kind === 'named') throw new IdentityError(group.name);
  return own;
}

/** The user that this process becomes; undefined: it stays who it is. */
export function becomesUser({ user }: UserAndGroup): number | undefined {
  return process.getuid?.() === 0 && user !== 0 ? user : undefined;
}

/** Drops root privileges permanently. A process that is not root stays as it is. */
export function switchUser({ user, group }: UserAndGroup): void {
  if (process.getuid?.() !== 0 || user === 0) return;
  if (group !== undefined) {
    process.setgroups?.([]);
    process.setgid?.(group);
  }
  if (user !== undefined) process.setuid?.(user);
}

/** Parses lines of colon-separated fields and indexes them by the first field. */
function readEntries(text: string): ReadonlyMap<string, readonly string[]> {
  const entries = new Map<string, readonly string[]>();
  for (const line of text.split('\n')) {
    const fields = line.split(':');
    if (fields.length > 2 && !entries.has(fields[0] ?? '')) entries.set(fields[0] ?? '', fields);
  }
  return entries;
}

function readSystemFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
