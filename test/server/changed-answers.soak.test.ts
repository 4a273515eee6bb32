/**
 * Plugins that change answers, in each role: with a Corefile or with blocks that join, the first answer and those that readers have by then
 * in their cache are changed alike.
 */
import { decodeMessage } from '@portolan/dns/message.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { writePrivateKey, writePublicKey } from '@portolan/plugins/dnssec/testing/keys.ts';
import { ask, exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { makeAddressRecord, reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms } from '../support/portolan.ts';
import { canRun, ROLES, type Role, startRole } from '../support/roles.ts';

afterEach(endAllPrograms);

const NAME = 'www.example.org.';
const TURNS = ['udp', 'udp', 'tcp', 'udp'] as const;

async function start(role: Role, joining: string) {
  const upstream = await LoopbackUpstream.start(({ query, send }) =>
    send(reply(query, { answers: [makeAddressRecord(query, '192.0.2.7')] })),
  );
  onTestFinished(() => upstream.stop());
  return await startRole(role, { upstream: upstream.port, joining });
}

describe.each(ROLES.filter(canRun))('%s', (role) => {
  it('header', async () => {
    const server = await start(role, 'header {\n response set aa\n }');
    for (const transport of TURNS)
      expect((await ask(server, NAME, 'A', { transport })).header.authoritative).toBe(true);
  });

  it('rewrite of TTLs', async () => {
    const server = await start(role, `rewrite ttl exact ${NAME} 7`);
    for (const transport of TURNS)
      expect((await ask(server, NAME, 'A', { transport })).answers.map(({ ttl }) => ttl)).toEqual([7]);
  });

  it('rewrite of names, those that are cached among them', async () => {
    const server = await start(role, `rewrite name exact alias.example. ${NAME}`);
    for (const name of [NAME, 'alias.example.', 'alias.example.', NAME])
      expect((await ask(server, name, 'A')).answers.map((record) => record.name)).toEqual([name]);
  });

  it('dnssec, for clients that want signatures', async () => {
    const { path, write } = await makeTemporaryFolder();
    await write('k.key', writePublicKey('example.org.', 257));
    await write('k.private', writePrivateKey());
    const server = await start(role, `dnssec example.org {\n key file ${path}/k\n }`);
    const edns = { udpSize: 1232, version: 0, extendedRcode: 0, dnssecOk: true, options: [] };
    for (const dnssecOk of [false, true, true, false, true]) {
      const query = { ...makeQuery(NAME, 'A'), edns: { ...edns, dnssecOk } };
      const { answers } = decodeMessage(await exchange(server, query));
      expect(answers).toHaveLength(dnssecOk ? 2 : 1);
    }
  });
});
