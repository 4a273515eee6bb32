/**
 * Encrypted listeners as clients discover them (RFC 9462), and roles without any: what the answer names is what kdig and curl then use.
 */

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { tlsFixturePath } from '../api-server/tls-fixture.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';
import { CLUSTER_ROLES, startRole } from '../support/roles.ts';
import { describeWithTool } from '../support/tools.ts';

afterEach(endAllPrograms);

const run = promisify(execFile);
const AUTHORITY = tlsFixturePath('authority.crt');
const IDENTITY = `${tlsFixturePath('server.crt')} ${tlsFixturePath('server.key')}`;
/** A name of the certificate. */
const SERVED = 'kubernetes.default.svc';
const HOST = '127.0.0.1';

async function serve(corefile: string): Promise<Program> {
  const folder = await makeTemporaryFolder();
  const program = runPortolan(['coredns', '-conf', await folder.write('Corefile', corefile)]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  return program;
}

async function kdig(port: number, ...flags: readonly string[]): Promise<string> {
  const { stdout } = await run('kdig', [`@${HOST}`, '-p', String(port), '+timeout=5', '+retry=0', ...flags]);
  return stdout;
}

describeWithTool(['kdig', 'curl'], 'a client that discovers encrypted listeners', () => {
  it('is led to them, and they serve it under the name that it was given', async () => {
    const plain = await findFreePort();
    const tls = await findFreePort();
    const https = await findFreePort();
    const names = `hosts {\n 10.0.0.7 page.example\n ${HOST} ${SERVED}\n }`;
    await serve(`.:${plain} tls://.:${tls} https://.:${https} {
  bind ${HOST}
  tls ${IDENTITY}
  cache
  portolan {
    discovery
  }
  ${names}
}
`);
    const found = await kdig(plain, '+short', '_dns.resolver.arpa', 'SVCB');
    const [dot = '', doh = ''] = found.trim().split('\n');
    expect(dot).toBe(`1 ${SERVED}. alpn=dot port=${tls} ipv4hint=${HOST}`);
    // Earlier versions of kdig print the path as that of a key that they do not know.
    expect(doh.replace(/key7="(.*)"/, 'dohpath=$1')).toBe(
      `2 ${SERVED}. alpn=h2 port=${https} ipv4hint=${HOST} dohpath=/dns-query{?dns}`,
    );
    const port = (record: string) => Number(/ port=(\d+)/.exec(record)?.[1]);
    const verified = [`+tls-ca=${AUTHORITY}`, `+tls-hostname=${SERVED}`, '+short'];
    expect(await kdig(port(dot), '+tls', ...verified, 'page.example')).toBe('10.0.0.7\n');
    expect(await kdig(port(doh), '+https=/dns-query', ...verified, 'page.example')).toBe('10.0.0.7\n');
    const question = 'AAABAAABAAAAAAAABHBhZ2UHZXhhbXBsZQAAAQAB';
    const { stdout } = await run('curl', [
      '-s',
      '-m',
      '5',
      '--cacert',
      AUTHORITY,
      '--resolve',
      `${SERVED}:${port(doh)}:${HOST}`,
      '-w',
      '%{http_version} %{http_code}',
      '-o',
      '/dev/null',
      `https://${SERVED}:${port(doh)}/dns-query?dns=${question}`,
    ]);
    expect(stdout).toBe('2 200');
    // The same answer by the listeners themselves, from the cache.
    expect(await kdig(port(dot), '+tls', ...verified, '_dns.resolver.arpa', 'SVCB')).toBe(found);
  });

  it('learns of none that it could not use, and explain says why', async () => {
    const plain = await findFreePort();
    const tls = await findFreePort();
    const program = await serve(
      `.:${plain} tls://.:${tls} {\n bind ${HOST}\n tls ${IDENTITY}\n portolan {\n discovery dns.example.com\n }\n whoami\n}\n`,
    );
    expect(await kdig(plain, '+short', '_dns.resolver.arpa', 'SVCB')).toBe('');
    const fault = `tls://${HOST}:${tls}: its certificate is not valid for dns.example.com.`;
    expect(program.output).toContain(`discovery: clients do not learn of ${fault}`);
    const socket = `--socket=${formatSocketName(program, 'coredns')}`;
    const { text } = await runToEnd('explain', socket, '_dns.resolver.arpa.', 'SVCB');
    expect(text).toContain(`plugin discovery answers for the name, and its data lacks it: ${fault}`);
  });
});

it.each(CLUSTER_ROLES)(
  '%s sends questions for resolvers upstream only unless discovery is on',
  async (role) => {
    const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query, {})));
    onTestFinished(() => upstream.stop());
    const hasFlag = role === 'serve' || role === 'kube-dns';
    const askBoth = async (isOn: boolean) => {
      const joining = isOn && !hasFlag ? 'portolan {\n discovery\n }' : '';
      const flags = isOn && hasFlag ? ['--discovery'] : [];
      const { program, ...server } = await startRole(role, { upstream: upstream.port, joining }, { flags });
      for (const type of ['SVCB', 'A'] as const) {
        const { header, answers, authorities } = await ask(server, '_dns.resolver.arpa.', type);
        expect(header.rcode).toBe(0);
        if (!isOn) continue;
        expect(answers).toEqual([]);
        expect(authorities).toMatchObject([{ name: 'resolver.arpa.', data: { kind: 'SOA' } }]);
      }
      program.signal('SIGKILL');
      await program.exit;
      return upstream.queries
        .splice(0)
        .filter(({ query }) => query.questions[0]?.name.endsWith('resolver.arpa.'));
    };
    expect(await askBoth(true)).toHaveLength(0);
    expect(await askBoth(false)).toHaveLength(2);
  },
);
