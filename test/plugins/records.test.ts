/**
 * `records`, a plugin outside the program, in `portolan coredns`.
 */
import { presentRecord } from '@portolan/dns/present.ts';
import type { TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const FLAG = '-plugin=records=@portolan/records';

it('answers from the records of the Corefile', async () => {
  const folder = await makeTemporaryFolder();
  const port = await findFreePort();
  const records = [
    '@ 60 IN SOA ns.icann.org. noc.dns.icann.org. 2020091001 7200 3600 1209600 3600',
    '@ 60 IN MX 10 mx1',
    'mx1 60 IN A 192.0.2.1',
    'www CNAME web.dmz',
    'web.dmz A 192.0.2.2',
    'out CNAME elsewhere.test.',
    'loop CNAME loop',
    'note TXT "v=DKIM1\\; h=sha256"',
    'odd TYPE4711 "\\# 2 beef"',
  ];
  const conf = await folder.write(
    'Corefile',
    `example.org:${port} example.net:${port} {\n bind 127.0.0.1\n records {\n  ${records.join('\n  ')}\n }\n}\n`,
  );
  const program = runPortolan(['coredns', '-conf', conf, FLAG]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  const answersTo = async (name: string, type: keyof typeof TYPE) => {
    const { header, answers, authorities } = await ask({ address: '127.0.0.1', port }, name, type);
    return [`rcode ${header.rcode}`, ...[...answers, ...authorities].map(presentRecord)];
  };
  const soa = 'example.org. 60 IN SOA ns.icann.org. noc.dns.icann.org. 2020091001 7200 3600 1209600 3600';
  expect(await answersTo('example.org.', 'MX')).toEqual([
    'rcode 0',
    'example.org. 60 IN MX 10 mx1.example.org.',
  ]);
  expect(await answersTo('mx1.example.net.', 'A')).toEqual(['rcode 0', 'mx1.example.net. 60 IN A 192.0.2.1']);
  // A reader repeats it.
  for (let turn = 0; turn < 2; turn += 1)
    expect(await answersTo('www.example.org.', 'A')).toEqual([
      'rcode 0',
      'www.example.org. 3600 IN CNAME web.dmz.example.org.',
      'web.dmz.example.org. 3600 IN A 192.0.2.2',
    ]);
  expect(await answersTo('out.example.org.', 'A')).toEqual([
    'rcode 0',
    'out.example.org. 3600 IN CNAME elsewhere.test.',
  ]);
  expect(await answersTo('loop.example.org.', 'A')).toEqual([
    'rcode 0',
    'loop.example.org. 3600 IN CNAME loop.example.org.',
  ]);
  expect(await answersTo('note.example.org.', 'TXT')).toEqual([
    'rcode 0',
    'note.example.org. 3600 IN TXT "v=DKIM1;" "h=sha256"',
  ]);
  expect(await answersTo('mx1.example.org.', 'TXT')).toEqual(['rcode 0', soa]);
  expect(await answersTo('dmz.example.org.', 'A')).toEqual(['rcode 0', soa]);
  expect(await answersTo('none.example.org.', 'A')).toEqual(['rcode 3', soa]);
});

it('needs no SOA, and names the place of a mistake', async () => {
  const folder = await makeTemporaryFolder();
  const check = async (text: string) => {
    const conf = await folder.write('Corefile', text);
    const program = runPortolan(['corefile', 'check', `-${FLAG}`, conf]);
    await program.exit;
    return program.output.replaceAll(folder.path, '');
  };
  expect(await check('. {\n records a.test {\n  www A 192.0.2.1\n }\n}\n')).toContain('0 problems');
  expect(await check('. {\n records a.test {\n  www A 192.0.2\n }\n}\n')).toContain(
    'plugin/records: /Corefile:3 - Error during parsing: not a record: ',
  );
  expect(await check('. {\n records a.test\n records b.test\n}\n')).toContain(
    'this plugin can only be used once per Server Block',
  );
});
