/**
 * A hosts file that changes repeatedly under load.
 */
import { rename, writeFile } from 'node:fs/promises';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import { expect } from 'vitest';
import { bundleBurstLoad } from '../support/bundle-thread.ts';
import { BurstLoad } from '../support/burst-load.ts';
import { runOurs } from './both-programs.ts';

export const OPTIONS = ['--conf-file=/dev/null', '--no-hosts', '--local=/#/'];
/** Milliseconds. */
const DEADLINE = 15_000;
const INTERVAL = 10;

/**
 * Queries until the answer is what it should be.
 *
 * @returns how long that took, in milliseconds
 */
export async function untilAnswered(server: DnsServer, name: string, answer: string): Promise<number> {
  const began = performance.now();
  for (;;) {
    const now = await askShort(server, name, 'A');
    const passed = performance.now() - began;
    if (now === answer) return passed;
    if (passed > DEADLINE) throw new Error(`after ${DEADLINE} ms not ${answer} but ${now}: ${name}`);
    await new Promise((resolve) => setTimeout(resolve, INTERVAL));
  }
}

/** Changes the file again and again: each change is seen, and no query is lost. */
export async function changeUnderLoad(changes: number): Promise<void> {
  const folder = await makeTemporaryFolder();
  const fixed = '10.0.0.1 fixed\n10.0.0.2 other.example\n';
  const file = await folder.write('hosts', fixed);
  const { server } = await runOurs([...OPTIONS, `--addn-hosts=${file}`]);
  const load = new BurstLoad(await bundleBurstLoad(), {
    ...server,
    sockets: 8,
    burst: 4,
    every: 5,
    questions: [
      { name: 'fixed', answer: '10.0.0.1' },
      { name: 'Other.Example', answer: '10.0.0.2' },
      { name: 'nothing.example', answer: 'NXDOMAIN' },
    ],
  });
  await waitUntil('the load', () => load.answered > 100);
  let slowest = 0;
  for (let change = 1; change <= changes; change += 1) {
    const address = `10.1.${change >> 8}.${change & 255}`;
    const content = `${fixed}${address} changing new-${change}\n`;
    if (change % 2 === 0) await writeFile(file, content);
    else {
      await writeFile(`${file}.new`, content);
      await rename(`${file}.new`, file);
    }
    slowest = Math.max(slowest, await untilAnswered(server, `new-${change}`, address));
    expect(await askShort(server, 'changing', 'A')).toBe(address);
  }
  await load.stop();
  console.log(
    `${changes} changes: ${load.asked} questions, ${load.lost} lost, slowest seen after ${slowest | 0} ms`,
  );
  expect(load).toMatchObject({ lost: 0, wrong: 0, refused: 0, answered: load.asked });
  expect(await askShort(server, `new-${changes - 1}`, 'A')).toBe('NXDOMAIN');
}
