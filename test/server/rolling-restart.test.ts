/**
 * The whole program restarted again and again under load, one process taking over from the other: no query is lost.
 */
import { afterEach, beforeAll, expect, it } from 'vitest';
import { startLoad } from '../listen/load.ts';
import { bundleThread } from '../support/bundle-thread.ts';
import { endAllPrograms, type Serving, servePortolan } from '../support/portolan.ts';
import { waitUntil } from '../support/wait-until.ts';

const RESTARTS = 20;

let loadEntry: URL;
beforeAll(async () => {
  loadEntry = await bundleThread('test/listen/load-thread.ts');
});
afterEach(endAllPrograms);

/** The load asks for `fast.example`: as a zone of ours it is answered by the readers, else by the main thread. */
it.each([
  ['that the table answers', 'fast.example.'],
  ['that the main thread answers', 'cluster.local.'],
])(`loses no query ${'%s'} in ${RESTARTS} restarts`, { timeout: 300_000 }, async (_, domain) => {
  const flags = ['--example', '--takeover', '--lameduck=0s', '--domain', domain];
  const start = async (port?: number): Promise<Serving> => {
    const serving = await servePortolan(flags, port === undefined ? {} : { port });
    await serving.program.heard('cluster listed');
    return serving;
  };
  let current = await start();
  const load = startLoad(loadEntry, { port: current.port, address: current.address, sockets: 16 });
  const served = async (who: string) => {
    const before = load.answered;
    await waitUntil(who, () => load.answered > before + 200, { deadline: 30_000 });
  };
  for (let restart = 0; restart < RESTARTS; restart += 1) {
    const next = await start(current.port);
    await served('both to serve');
    current.program.signal('SIGTERM');
    expect(await current.program.exit).toEqual({ code: 0, signal: null });
    current = next;
  }
  await served('the last one to serve');
  await load.stop();
  expect(load.lost).toBe(0);
  expect(load.asked).toBe(load.answered);
});
