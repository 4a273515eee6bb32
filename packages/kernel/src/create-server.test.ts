import { RCODE } from '@portolan/dns/types.ts';
import { EMPTY_ANSWER } from '@portolan/plugin';
import { expect, it, onTestFinished } from 'vitest';
import type { Handler } from './chain/handler.ts';
import { ALL_QUESTIONS } from './chain/match.ts';
import { ask } from './chain/testing/ask.ts';
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
