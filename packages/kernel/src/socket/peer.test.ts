import { mkdir, writeFile } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeTemporaryFolder } from '../base/testing/temporary-folder.ts';
import { abstractPath } from './abstract-name.ts';
import { findPeer, isInOwnPidNamespace } from './peer.ts';

/** Serves a name. @returns the two ends of a connection to it */
async function connectBy(path: string): Promise<readonly [client: Socket, accepted: Socket]> {
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => server.listen(abstractPath('portolan/test'), resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const client = connect(path);
  onTestFinished(() => void client.destroy());
  return [client, await accepted];
}

it('names the process and the user at the other end', async () => {
  const [client, accepted] = await connectBy(abstractPath('portolan/test'));
  const own = { process: process.pid, user: process.geteuid?.() };
  expect([findPeer(client), findPeer(accepted)]).toEqual([own, own]);
  expect(isInOwnPidNamespace({ process: process.pid, user: 0 })).toBe(true);
  accepted.destroy();
});

it('an abstract path is as long as a path can be, so that no release of Node.js fills it up', async () => {
  expect(Buffer.byteLength(abstractPath('portolan/test'))).toBe(108);
});

it('tells processes of our PID namespace from others', async () => {
  const { path } = await makeTemporaryFolder();
  for (const [process, numbers] of [
    [7, '7'],
    [8, '8\t1'],
    [9, '90'],
  ] as const) {
    await mkdir(join(path, String(process)));
    await writeFile(join(path, String(process), 'status'), `Name:\tx\nNSpid:\t${numbers}\nUid:\t0\n`);
  }
  const isOurs = (process: number) => isInOwnPidNamespace({ process, user: 0 }, path);
  expect([0, 7, 8, 9, 10].map(isOurs)).toEqual([false, true, false, false, false]);
});
