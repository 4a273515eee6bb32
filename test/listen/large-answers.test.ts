/**
 * What readers leave open is answered from the table on the main thread if it can be, before the handlers are asked.
 */
import { beforeAll, expect, it } from 'vitest';
import { bundleThread } from '../support/bundle-thread.ts';
import { answerAuthoritatively, firstLabelOf } from './scripted-answers.ts';
import { portOf, startClient, startUdp } from './scripted-udp.ts';

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
      if (!firstLabelOf(query).startsWith('slow-large')) return undefined;
      const response = Uint8Array.from(query);
      response[2] = 0x80;
      events.push(firstLabelOf(query));
      return response;
    },
    handleQuery: async (query) => {
      asked.push(firstLabelOf(query));
      return answerAuthoritatively(query);
    },
  });
  const client = await startClient();
  const flagsOf = async (name: string) =>
    (await client.ask(name, portOf(listener), '127.0.0.1')).message.readUInt8(2);
  expect(await flagsOf('slow-large.example')).toBe(0x80);
  expect(await flagsOf('slow-other.example')).toBe(0x85);
  expect(await flagsOf('slow-large-too.example')).toBe(0x80);
  expect([asked, events]).toEqual([['slow-other'], ['slow-large', 'slow-large-too']]);
  expect(listener.count().slow).toMatchObject({ asked: 3, unanswered: 0, faults: 0 });
});
