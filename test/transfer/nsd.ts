/**
 * NSD on loopback with one zone, as the primary or the secondary server of another server.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { onTestFinished } from 'vitest';

export interface Nsd {
  readonly port: number;
  /** Replaces the file of the zone. */
  change(text: string): Promise<void>;
}

export interface NsdWishes {
  /** Without the final dot. */
  readonly zone: string;
  /** Its file; undefined: NSD is the secondary server. */
  readonly text?: string;
  /** Where the other server listens. */
  readonly peerPort: number;
  readonly port?: number;
  /** Signs and verifies all messages between them. Default: none. */
  readonly key?: { readonly name: string; readonly algorithm: string; readonly secret: string };
}

export async function runNsd({ zone, text, peerPort, port: given, key }: NsdWishes): Promise<Nsd> {
  const folder = await makeTemporaryFolder();
  const port = given ?? (await findFreePort());
  if (text !== undefined) await folder.write('zone', text);
  const signed = key?.name ?? 'NOKEY';
  const peer = `127.0.0.1@${peerPort} ${signed}`;
  const lines = [
    'server:',
    ' ip-address: 127.0.0.1',
    ` port: ${port}`,
    ' server-count: 1',
    ' username: ""',
    // The same question again and again is no attack.
    ' rrl-ratelimit: 0',
    // What it keeps by default, it would know in the next test.
    ...[
      ' database: ""',
      ' chroot: ""',
      ` zonesdir: "${folder.path}"`,
      ' pidfile: ""',
      ` xfrdir: "${folder.path}"`,
    ],
    ` xfrdfile: "${folder.path}/xfrd.state"`,
    ` zonelistfile: "${folder.path}/zones"`,
    'remote-control:',
    ' control-enable: no',
    ...(key === undefined
      ? []
      : ['key:', ` name: "${key.name}"`, ` algorithm: ${key.algorithm}`, ` secret: "${key.secret}"`]),
    'zone:',
    ` name: "${zone}"`,
    ' zonefile: zone',
    ...(text === undefined
      ? [` request-xfr: ${peer}`, ` allow-notify: 127.0.0.1 ${signed}`]
      : [` notify: ${peer}`, ` provide-xfr: 127.0.0.1 ${signed}`]),
  ];
  const file = await folder.write('nsd.conf', `${lines.join('\n')}\n`);
  const child = spawn('/usr/sbin/nsd', ['-d', '-c', file], { stdio: 'ignore' });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    // Ends its children too.
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  const change = async (newText: string) => {
    await folder.write('zone', newText);
    child.kill('SIGHUP');
  };
  return { port, change };
}
