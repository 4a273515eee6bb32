/**
 * `portolan coredns` as a process: its start-up lines, its answers, and its start-up errors.
 */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { availableParallelism } from 'node:os';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

async function runCoreDns(corefile: string, ...flags: string[]) {
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', corefile);
  return { conf, program: runPortolan(['coredns', '-conf', conf, ...flags]) };
}

it('answers by the block of the longest zone, and says where it listens', async () => {
  const port = await findFreePort();
  const corefile = 'example.org a.test {\n  bind 127.0.0.1\n  whoami\n}\n';
  const { program } = await runCoreDns(corefile, '-dns.port', String(port));
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const lines = program.output.split('\n');
  expect(lines.slice(0, 3)).toEqual([
    `a.test.:${port} on 127.0.0.1`,
    `example.org.:${port} on 127.0.0.1`,
    'CoreDNS-1.14.7',
  ]);
  const server = { address: '127.0.0.1', port };
  for (const transport of ['udp', 'tcp'] as const) {
    const { header, additionals } = await ask(server, 'www.example.org.', 'A', { transport });
    expect(header).toMatchObject({ rcode: 0, authoritative: true, recursionAvailable: false });
    expect(additionals[0]?.data).toEqual({ kind: 'A', address: '127.0.0.1' });
  }
  expect((await ask(server, 'example.net.', 'A')).header.rcode).toBe(5);
  program.signal('SIGTERM');
  expect(await program.exit).toEqual({ code: 0, signal: null });
});

it('opens as many UDP sockets as multisocket says, up to the number of processors', async () => {
  const port = await findFreePort();
  const { program } = await runCoreDns(
    `.:${port} {\n  bind 127.0.0.1\n  multisocket 2\n  log\n  template IN A {\n rcode NXDOMAIN\n }\n}\n`,
  );
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')} `;
  const sockets = readFileSync('/proc/net/udp', 'utf8')
    .split('\n')
    .filter((line) => line.includes(local));
  expect(sockets).toHaveLength(Math.min(2, availableParallelism()));
  // Each source port may lead to another reader, and all of them are logged.
  const names = Array.from({ length: 8 }, (_, number) => `a${number}.test.`);
  for (const name of [...names, ...names])
    expect((await ask({ address: '127.0.0.1', port }, name, 'A')).header.rcode).toBe(3);
  for (const name of names)
    await waitUntil(`two lines of ${name}`, () => program.output.split(`"A IN ${name} `).length === 3);
});

it('names what is wrong in the words of CoreDNS, and what to do', async () => {
  const { conf, program } = await runCoreDns('. {\n  whoam\n}\n');
  expect((await program.exit).code).toBe(1);
  const [first, second] = program.errors.split('\n');
  expect(first).toBe(`${conf}:2 - Error during parsing: Unknown directive 'whoam'`);
  expect(second).toContain('whoami');
});

it('prints the version that it stands in for', async () => {
  const program = runPortolan(['coredns', '-version']);
  expect((await program.exit).code).toBe(0);
  expect(program.output).toMatch(/^CoreDNS-1\.14\.7\nlinux\/\w+, portolan-/);
});

it('says in the words of CoreDNS that the port of the metrics is in use', async () => {
  const holder = createServer();
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void holder.close());
  const address = holder.address();
  const taken = typeof address === 'object' && address !== null ? address.port : 0;
  const { program } = await runCoreDns(
    `.:${await findFreePort()} {\n  bind 127.0.0.1\n  prometheus 127.0.0.1:${taken}\n  whoami\n}\n`,
  );
  const reason = `listen tcp 127.0.0.1:${taken}: bind: address already in use`;
  await waitUntil('the banner', () => program.output.includes('linux/'));
  expect(program.output).toContain(`[ERROR] Failed to start metrics handler: ${reason}\n`);
});
