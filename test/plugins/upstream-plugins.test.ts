/**
 * `fanout` and `alternate`, plugins outside the program, in `portolan coredns`: they ask servers by the public API.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import { RCODE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

/** @param address of each name; undefined: a name that does not exist; `silent`: no reply; `long`: too long for UDP */
async function startUpstream(findAddress: (name: string) => string | undefined): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(({ query, over, send }) => {
    const name = query.questions[0]?.name;
    const address = name === undefined ? undefined : findAddress(name);
    if (name === undefined || address === 'silent') return;
    if (address === 'long' && over === 'udp')
      return send(reply(query, { header: { ...query.header, response: true, truncated: true } }));
    if (address === undefined)
      return send(reply(query, { header: { ...query.header, response: true, rcode: RCODE.NXDOMAIN } }));
    const data = { kind: 'A', address: address === 'long' ? '192.0.2.9' : address } as const;
    send(reply(query, { answers: [{ name, class: 1, ttl: 60, data }] }));
  });
  onTestFinished(() => upstream.stop());
  return upstream;
}

async function startCoredns(name: string, lines: string) {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const conf = await folder.write('Corefile', `.:${port} {\n bind 127.0.0.1\n errors\n ${lines}\n}\n`);
  const program = runPortolan(['coredns', '-conf', conf, `-plugin=${name}=@portolan/${name}`]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  const resolve = async (asked: string) => {
    const { header, answers } = await ask({ address: '127.0.0.1', port }, asked, 'A');
    return header.rcode === RCODE.NOERROR ? answers.map(presentRecord).join() : `rcode ${header.rcode}`;
  };
  return { program, resolve };
}

it('fanout: gives the first good reply of servers that deny, are silent, cut replies, or are down', async () => {
  const denies = await startUpstream(() => undefined);
  const silent = await startUpstream(() => 'silent');
  const knows = await startUpstream((name) =>
    name.startsWith('none') ? undefined : name.startsWith('long') ? 'long' : '192.0.2.1',
  );
  const down = await findFreePort();
  const servers = [denies.port, silent.port, down, knows.port].map((port) => `127.0.0.1:${port}`).join(' ');
  const { resolve } = await startCoredns(
    'fanout',
    `fanout . ${servers} {\n timeout 1s\n except b.test\n }\n template IN A b.test {\n answer "{{ .Name }} 9 IN A 198.51.100.1"\n }`,
  );
  expect(await resolve('a.test.')).toBe('a.test. 60 IN A 192.0.2.1');
  expect(await resolve('long.test.')).toBe('long.test. 60 IN A 192.0.2.9');
  expect(await resolve('none.test.')).toBe('rcode 3');
  expect(await resolve('a.b.test.')).toBe('a.b.test. 9 IN A 198.51.100.1');
  expect(denies.queries.length).toBeGreaterThan(1);
});

it('fanout: answers SERVFAIL with the reason if no server replies', async () => {
  const { program, resolve } = await startCoredns(
    'fanout',
    `fanout . 127.0.0.1:${await findFreePort()} {\n attempt-count 1\n }`,
  );
  expect(await resolve('a.test.')).toBe('rcode 2');
  await waitUntil('the reason', () =>
    program.output.includes('plugin/fanout: attempt limit has been reached: read udp'),
  );
});

it('alternate: asks other servers after the response codes of its rules', async () => {
  const first = await startUpstream((name) => (name.startsWith('a.') ? '192.0.2.1' : undefined));
  const second = await startUpstream((name) => (name.startsWith('b.') ? '192.0.2.2' : undefined));
  const { resolve } = await startCoredns(
    'alternate',
    `forward . 127.0.0.1:${first.port}\n alternate original NXDOMAIN . 127.0.0.1:${second.port}`,
  );
  expect(await resolve('a.test.')).toBe('a.test. 60 IN A 192.0.2.1');
  expect(second.queries).toEqual([]);
  expect(await resolve('b.test.')).toBe('b.test. 60 IN A 192.0.2.2');
  expect(await resolve('c.test.')).toBe('rcode 3');
});
