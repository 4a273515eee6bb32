/**
 * A port is handed over from process to process under load: no query is lost.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { startLoad } from './load.ts';

let threadEntry: URL;
let loadEntry: URL;
let processEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
  loadEntry = await bundleThread('test/listen/load-thread.ts');
  processEntry = await bundleThread('test/listen/udp-process.ts');
});

/** @returns the process, and the port it serves */
async function startProcess(port: number, address: string): Promise<{ child: ChildProcess; port: number }> {
  const child = fork(fileURLToPath(processEntry), [address, String(port), threadEntry.href], {
    execArgv: [],
  });
  onTestFinished(() => void child.kill());
  const [bound] = await once(child, 'message');
  return { child, port: Number(bound) };
}

async function stopProcess(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.send('stop');
  expect(await exit).toEqual([0, null]);
}

/** @param rounds how many times the port passes to a new process, on each address */
export function defineHandoverTests(rounds: number): void {
  it.each(['127.0.0.1', '0.0.0.0'])(
    `from process to process on %s, ${rounds} times`,
    { timeout: 60_000 },
    async (address) => {
      let { child, port } = await startProcess(0, address);
      const load = startLoad(loadEntry, { port, address: '127.0.0.1', sockets: 32 });
      for (let round = 0; round < rounds; round++) {
        const next = await startProcess(port, address);
        const before = load.answered;
        await waitUntil('both to serve', () => load.answered > before + 500);
        await stopProcess(child);
        child = next.child;
      }
      const before = load.answered;
      await waitUntil('the last one to serve', () => load.answered > before + 500);
      await load.stop();
      expect(load.lost).toBe(0);
      expect(load.asked).toBe(load.answered);
      await stopProcess(child);
    },
  );
}
