import { RCODE } from '@portolan/dns/types.ts';
import { EMPTY_ANSWER } from '@portolan/plugin';
import { ask } from '@portolan/testing/client/ask.ts';
import { expect, it, onTestFinished } from 'vitest';
import { ManualClock } from './base/testing/manual-clock.ts';
import { waitUntil } from './base/testing/wait-until.ts';
import type { Handler } from './chain/handler.ts';
import { ALL_QUESTIONS } from './chain/match.ts';
import { usePlugin } from './contract/plugin-use.ts';
import { createServer, type EmbeddedServer } from './create-server.ts';

/** A plugin with one answer to all questions. */
const deny = {
  name: 'deny',
  create: (rcode: number) => {
    const handler: Handler = {
      name: 'deny',
      role: 'other',
      questions: ALL_QUESTIONS,
      answers: 'unchanged',
      handle: () => ({ ...EMPTY_ANSWER, rcode }),
    };
    return { handler };
  },
};

async function askBoth(server: EmbeddedServer, name: string): Promise<readonly number[]> {
  const overUdp = await ask(server, name, 'A');
  const overTcp = await ask(server, name, 'A', { transport: 'tcp' });
  return [overUdp.header.rcode, overTcp.header.rcode];
}

it('answers by the block of the longest zone, over UDP and TCP, and changes blocks', async () => {
  const server = await createServer({
    blocks: [
      { plugins: [usePlugin(deny, RCODE.REFUSED)] },
      { zones: ['example.org'], plugins: [usePlugin(deny, RCODE.NXDOMAIN)] },
    ],
  });
  onTestFinished(() => server.stop());
  expect(await askBoth(server, 'www.example.org')).toEqual([RCODE.NXDOMAIN, RCODE.NXDOMAIN]);
  expect(await askBoth(server, 'example.com')).toEqual([RCODE.REFUSED, RCODE.REFUSED]);
  await server.change([{ plugins: [usePlugin(deny, RCODE.NOTIMP)] }]);
  expect(await askBoth(server, 'www.example.org')).toEqual([RCODE.NOTIMP, RCODE.NOTIMP]);
});

it('says what prevents the start', async () => {
  const failing = {
    name: 'failing',
    create: () => ({ handler: undefined, start: () => Promise.reject(new Error('no file')) }),
  };
  await expect(createServer({ blocks: [{ plugins: [usePlugin(failing, undefined)] }] })).rejects.toThrow(
    'no file',
  );
  const server = await createServer({ blocks: [{ plugins: [] }] });
  onTestFinished(() => server.stop());
  await expect(createServer({ port: server.port, blocks: [{ plugins: [] }] })).rejects.toThrow(
    String(server.port),
  );
});

it('waits for plugins that stop, but not for ever', async () => {
  const clock = new ManualClock();
  const events: string[] = [];
  const slow = {
    name: 'slow',
    create: (release: Promise<void>) => ({
      handler: undefined,
      stop: async () => {
        events.push('plugin stops');
        await release;
        events.push('plugin stopped');
      },
    }),
  };
  const stopServer = async (release: Promise<void>) => {
    events.length = 0;
    const server = await createServer({ clock, blocks: [{ plugins: [usePlugin(slow, release)] }] });
    const stopped = server.stop().then(() => events.push('server stopped'));
    await waitUntil('the plugin stops', () => events.length > 0);
    return { stopped };
  };
  let release = () => {};
  const first = await stopServer(
    new Promise((resolve) => {
      release = resolve;
    }),
  );
  expect(events).toEqual(['plugin stops']);
  release();
  await first.stopped;
  expect(events).toEqual(['plugin stops', 'plugin stopped', 'server stopped']);
  const second = await stopServer(new Promise(() => {}));
  clock.advance(60_000);
  await second.stopped;
  expect(events).toEqual(['plugin stops', 'server stopped']);
});
