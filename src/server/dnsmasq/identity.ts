/**
 * Who the process becomes once its sockets and files are open: the user and group of dnsmasq's options.
 */
import { readFileSync } from 'node:fs';
import type { ProcessPlan } from '../../config/dnsmasq/dnsmasq-plan.ts';

/** A user and group that exist. */
export interface Identity {
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

/** What dnsmasq belongs to where there is such a group: on some systems it may change the network's set-up. */
const DEFAULT_GROUP = 'dip';

/**
 * Looks the names up, whether or not this process may become them, as dnsmasq does.
 *
 * @throws IdentityError
 */
export function findIdentity({ user, group }: ProcessPlan, readFile = readSystemFile): Identity {
  const users = readEntries(readFile('/etc/passwd'));
  const groups = readEntries(readFile('/etc/group'));
  const entry = user === undefined ? undefined : users.get(user);
  if (user !== undefined && entry === undefined) throw new IdentityError(user);
  const own = entry === undefined ? undefined : Number(entry[3]);
  return { user: entry === undefined ? undefined : Number(entry[2]), group: groupOf(group, groups, own) };
}

function groupOf(
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

/** Becomes it for good, if the process is root. A process that already is another user stays as it is. */
export function assumeIdentity({ user, group }: Identity): void {
  if (process.getuid?.() !== 0 || user === 0) return;
  if (group !== undefined) {
    process.setgroups?.([]);
    process.setgid?.(group);
  }
  if (user !== undefined) process.setuid?.(user);
}

/** Lines of fields with colons between them, by their first field. */
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
