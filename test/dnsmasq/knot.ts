/**
 * Knot DNS on loopback with zones of a test: an independent upstream server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '../../src/base/testing/free-port.ts';
import { makeTemporaryFolder } from '../../src/base/testing/temporary-folder.ts';
import { ask } from '../../src/chain/testing/ask.ts';

export interface Knot {
  readonly port: number;
  stop(): Promise<void>;
}

/** @param zones their files by their names, which end in a dot @param atEnd when its folder goes */
export async function runKnot(
  zones: Readonly<Record<string, string>>,
  atEnd: (remove: () => Promise<void>) => void,
): Promise<Knot> {
  const folder = await makeTemporaryFolder(atEnd);
  const port = await findFreePort();
  const names = Object.keys(zones);
  for (const [name, text] of Object.entries(zones)) await folder.write(`${name}zone`, text);
  const lines = [
    ...['server:', `    listen: 127.0.0.1@${port}`, `    rundir: ${folder.path}`, '    user: root:root'],
    ...['database:', `    storage: ${folder.path}/db`],
    ...['template:', '  - id: default', `    storage: ${folder.path}`, '    zonefile-load: whole'],
    ...['zone:', ...names.flatMap((name) => [`  - domain: ${name}`, `    file: ${name}zone`])],
  ];
  const file = await folder.write('knot.conf', `${lines.filter((line) => isForUs(line)).join('\n')}\n`);
  const child = spawn('/usr/sbin/knotd', ['-c', file], { stdio: 'ignore' });
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  };
  atEnd(stop);
  await untilServed(port, names);
  return { port, stop };
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
