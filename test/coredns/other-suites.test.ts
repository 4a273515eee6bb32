/**
 * What CoreDNS's own tests expect of a Corefile, with and without `-compat`: what it starts with, refuses, and answers.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { presentRecord } from '@portolan/dns/present.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';

const folder = await makeTemporaryFolder(afterFile);
const run = promisify(execFile);

afterEach(endAllPrograms);

async function start(corefile: string, ...flags: readonly string[]) {
  const conf = await folder.write('Corefile', corefile);
  const program = runPortolan(['coredns', '-conf', conf, ...flags]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  return program;
}

const block = (port: number, text: string) => `.:${port} {\n bind 127.0.0.1\n${text}\n}\n`;

describe.each([[[]], [['-compat=1.14']]])('portolan coredns %j', (flags) => {
  it('starts as CoreDNS does, and answers as it does', async () => {
    const [views, blocked, keys, zones] = await Promise.all([1, 2, 3, 4].map(() => findFreePort()));
    const resolvConf = await folder.write('resolv.conf', 'search public.example protected.example\n');
    const zone = await folder.write('db.example', '@ IN SOA a. b. 1 2 3 4 5\nwww 7 IN A 192.0.2.7\n');
    const program = await start(
      [
        block(
          views ?? 0,
          " metadata\n view v1 {\n  expr metadata('view/name') == 'v1'\n }\n hosts {\n  192.0.2.2 test.metadata\n }",
        ),
        block(views ?? 0, ' hosts {\n  192.0.2.3 test.metadata\n }'),
        block(
          blocked ?? 0,
          ` acl protected.example {\n  block\n }\n autopath ${resolvConf}\n hosts {\n  192.0.2.123 secret.protected.example\n }`,
        ),
        block(keys ?? 0, ' tsig {\n  secret name.key. test-key\n }\n whoami'),
        block(
          zones ?? 0,
          ` dnstap listen tls://127.0.0.1:6000 full {\n  tls /none/c /none/k\n }\n file ${zone} example.org`,
        ),
      ].join(''),
      ...flags,
    );
    expect(program.ended, program.output).toBeUndefined();
    const answer = async (port: number | undefined, name: string, type: 'A' | 'SOA' = 'A') =>
      await ask({ address: '127.0.0.1', port: port ?? 0 }, name, type);
    expect((await answer(views, 'test.metadata')).answers.map(presentRecord)[0]).toContain('192.0.2.2');
    expect(await answer(blocked, 'secret.public.example')).toMatchObject({
      header: { rcode: 5 },
      edns: { options: [{ code: 15, data: Uint8Array.of(0, 15) }] },
    });
    expect((await answer(zones, 'example.org', 'SOA')).answers[0]).toMatchObject({ ttl: 0 });
    expect((await answer(zones, 'www.example.org')).answers[0]).toMatchObject({ ttl: 7 });
    expect(program.output).toContain('the record and $TTL give no TTL, so it is 0');
    expect(program.output).toContain('The secret of name.key. is not in base64');
    expect(program.output).toContain(
      '[ERROR] plugin/dnstap: Failed to start dnstap listener: open /none/c: no such file or directory',
    );
  }, 60_000);

  it.each([
    [
      ' whoami\n pprof 198.51.100.1:6053',
      /listen tcp 198\.51\.100\.1:6053: bind: cannot assign requested address/,
    ],
    [
      ' secondary catalog.example {\n  transfer from 127.0.0.1\n  catalog :\n }',
      /invalid catalog member zone ":"/,
    ],
    [
      ' tls c k {\n  keylog /nonexistent/keys.log\n }\n whoami',
      /unable to write TLS Key Log to "\/nonexistent\/keys\.log": open \/nonexistent\/keys\.log: no such file or directory/,
    ],
  ])(
    'refuses, as CoreDNS does: %s',
    async (text, reason) => {
      const program = await start(block(await findFreePort(), text), ...flags);
      expect(await program.exit).toMatchObject({ code: 1 });
      expect(program.output + program.errors).toMatch(reason);
    },
    60_000,
  );
});

itWithTool(
  'dig',
  'a key whose secret is not in base64 signs nothing, and the error has no time',
  async () => {
    const port = await findFreePort();
    await start(block(port, ' tsig {\n  secret name.key. test-key\n }\n whoami'));
    for (const [key, error] of [
      ['name.key.', 'BADSIG'],
      ['other.key.', 'BADKEY'],
    ]) {
      const words = ['-y', `hmac-sha256:${key}:dGVzdA==`, '-p', String(port), '@127.0.0.1', 'x.test', 'A'];
      const { stdout } = await run('dig', words).catch((failed: { stdout: string }) => failed);
      expect(stdout).toMatch(new RegExp(`TSIG\\s+hmac-sha256\\. 0 300 0 \\d+ ${error} 0`));
    }
  },
  60_000,
);
