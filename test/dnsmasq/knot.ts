/**
 * Knot DNS on loopback with zones of a test: an independent upstream server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { ask } from '@portolan/testing/client/ask.ts';

export interface Knot {
  readonly port: number;
  /** Replaces the file of a zone. */
  change(name: string, text: string): Promise<void>;
  stop(): Promise<void>;
}

/** A server that Knot exchanges whole zones with: it is the primary or the secondary server of all of Knot's zones. */
export interface KnotPeer {
  readonly kind: 'primary' | 'secondary';
  readonly port: number;
  /** Signs and verifies all messages between them. Default: none. */
  readonly key?: { readonly name: string; readonly algorithm: string; readonly secret: string };
}

/** @param zones their files by their names, which end in a dot @param atEnd when its folder goes */
export async function runKnot(
  zones: Readonly<Record<string, string>>,
  atEnd: (remove: () => Promise<void>) => void,
  { peer, port: given }: { readonly peer?: KnotPeer; readonly port?: number } = {},
): Promise<Knot> {
  const folder = await makeTemporaryFolder(atEnd);
  const port = given ?? (await findFreePort());
  const names = Object.keys(zones);
  if (peer?.kind !== 'primary')
    for (const [name, text] of Object.entries(zones)) await folder.write(`${name}zone`, text);
  // Knot does not make the folder of its database.
  await folder.write('db/.keep', '');
  const lines = [
    'server:',
    `    listen: 127.0.0.1@${port}`,
    `    rundir: ${folder.path}`,
    '    user: root:root',
    'database:',
    `    storage: ${folder.path}/db`,
    'template:',
    '  - id: default',
    `    storage: ${folder.path}`,
    `    zonefile-load: ${peer === undefined ? 'whole' : 'difference'}`,
    ...(peer === undefined ? [] : describePeer(peer)),
    'zone:',
    ...names.flatMap((name) => [
      `  - domain: ${name}`,
      `    file: ${name}zone`,
      ...(peer === undefined ? [] : ['    acl: peer']),
      ...(peer?.kind === 'primary' ? ['    master: peer'] : []),
      ...(peer?.kind === 'secondary' ? ['    notify: peer'] : []),
    ]),
  ];
  const file = await folder.write('knot.conf', `${lines.filter((line) => isForUs(line)).join('\n')}\n`);
  const child = spawn('/usr/sbin/knotd', ['-c', file], { stdio: 'ignore' });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  atEnd(stop);
  // A secondary server has no zones at first.
  if (peer?.kind !== 'primary') await untilServed(port, names);
  const change = async (name: string, text: string) => {
    await folder.write(`${name}zone`, text);
    child.kill('SIGHUP');
  };
  return { port, stop, change };
}

function describePeer({ kind, port, key }: KnotPeer): readonly string[] {
  const signed = key === undefined ? [] : [`    key: ${key.name}`];
  return [
    ...(key === undefined
      ? []
      : ['key:', `  - id: ${key.name}`, `    algorithm: ${key.algorithm}`, `    secret: ${key.secret}`]),
    'remote:',
    '  - id: peer',
    `    address: 127.0.0.1@${port}`,
    ...signed,
    'acl:',
    '  - id: peer',
    '    address: 127.0.0.1',
    ...signed,
    `    action: ${kind === 'primary' ? 'notify' : 'transfer'}`,
  ];
}

/** Only root may name a user to become. */
function isForUs(line: string): boolean {
  return !line.includes('user:') || process.getuid?.() === 0;
}

async function untilServed(port: number, names: readonly string[]): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      for (const name of names) {
        const { header } = await ask({ address: '127.0.0.1', port }, name, 'SOA', { deadline: 1_000 });
        if (header.rcode !== 0) throw new Error(`not served yet: ${name}`);
      }
      return;
    } catch (error) {
      if (attempt > 500) throw error;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
}
