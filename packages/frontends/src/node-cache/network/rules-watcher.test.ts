import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { ManualClock } from '@portolan/kernel/base/testing/manual-clock.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { expect, it, onTestFinished } from 'vitest';
import { RulesWatcher, type RulesWatcherOptions } from './rules-watcher.ts';

/** A process number that Linux never assigns: they end at 4194304. */
const NOBODY = 2 ** 22 + 1;
/** Seconds. */
const SHORT = 0.05;
/** A watcher whose removal adds a line to a file. */
async function start(options: Pick<RulesWatcherOptions, 'server'> & { readonly removal?: string } = {}) {
  const { path } = await makeTemporaryFolder();
  const file = join(path, 'removals');
  const { removal = `echo removed >> ${file}`, server = process.pid } = options;
  const clock = new ManualClock();
  const told = { count: 0 };
  const watcher = new RulesWatcher({
    removal: [removal.replaceAll('FILE', file)],
    endpoint: { address: '127.0.0.1', port: await findFreePort() },
    onRemoved: () => {
      told.count += 1;
    },
    clock,
    server,
    maxSilence: SHORT,
    pause: SHORT,
  });
  watcher.start();
  onTestFinished(() => watcher.stop());
  const countLines = () => (existsSync(file) ? readFileSync(file, 'utf8').split('\n').length - 1 : 0);
  return { watcher, clock, told, countLines };
}

it('removes the rules of a server that has ended', async () => {
  const { countLines } = await start({ server: NOBODY });
  await waitUntil('the removal', () => countLines() === 1);
});

it('removes the rules of a server that hangs, once each time, and says so', async () => {
  const { clock, told, countLines } = await start();
  await waitUntil('the word', () => told.count === 1);
  expect(countLines()).toBe(1);
  // A heartbeat, then silence again.
  clock.advance(1_000);
  await waitUntil('the second word', () => told.count === 2);
  expect(countLines()).toBe(2);
});

it('removes copies, and waits for a lock', async () => {
  // First a copy exists, then the lock is held, then the last copy is removed.
  const command = `repeat sh -c 'echo x >> "$0"; case $(wc -l < "$0") in 1|3) exit 0 ;; 2) exit 4 ;; *) exit 1 ;; esac' FILE`;
  const { told, countLines } = await start({ removal: command });
  await waitUntil('the end', () => told.count === 1);
  expect(countLines()).toBe(4);
});
