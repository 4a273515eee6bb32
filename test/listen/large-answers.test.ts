/**
 * What readers leave open is answered from the table on the main thread if it can be, before the handlers are asked.
 */
import { beforeAll, expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { answerAuthoritatively, readFirstLabel } from './scripted-answers.ts';
import { getPort, startClient, startUdp } from './scripted-udp.ts';

let threadEntry: URL;
beforeAll(async () => {
  threadEntry = await bundleThread('test/listen/scripted-thread.ts');
});

it('asks the handlers only for what the table has no answer for', async () => {
  const asked: string[] = [];
  const events: string[] = [];
  const listener = await startUdp({
    threadEntry,
    answerLarge: (query) => {
      if (!readFirstLabel(query).startsWith('slow-large')) return undefined;
      const response = Uint8Array.from(query);
      response[2] = 0x80;
      events.push(readFirstLabel(query));
      return response;
    },
    handleQuery: async (query) => {
      asked.push(readFirstLabel(query));
      return answerAuthoritatively(query);
    },
  });
  const client = await startClient();
  const askFlags = async (name: string) =>
    (await client.ask(name, { address: '127.0.0.1', port: getPort(listener) })).message.readUInt8(2);
  expect(await askFlags('slow-large.example')).toBe(0x80);
  expect(await askFlags('slow-other.example')).toBe(0x85);
  expect(await askFlags('slow-large-too.example')).toBe(0x80);
  expect([asked, events]).toEqual([['slow-other'], ['slow-large', 'slow-large-too']]);
  expect(listener.count().slow).toMatchObject({ asked: 3, unanswered: 0, faults: 0 });
});
