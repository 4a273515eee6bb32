/**
 * `portolan shadow`: a running server, its questions from each source, and the answers by a Corefile in the process of the command.
 */

import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { encodeQuestion, readListLine } from '@portolan/ops/compare/asked-question.ts';
import { AskedServer } from '@portolan/ops/compare/asked-server.ts';
import { encodePcap, ipv4Packet, makeFrames } from '@portolan/ops/shadow/testing/sample-captures.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it } from 'vitest';
import { afterFile } from '../support/after-file.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const folder = await makeTemporaryFolder(afterFile);
const NAMES = ['a.example A', 'b.example A', 'a.example AAAA', 'x.dyn.example A', 'other.example MX'];
const QUESTIONS = NAMES.flatMap((line) => readListLine(line) ?? []);

interface Scene {
  readonly server: Program;
  readonly place: string;
  /** The Corefile of the server, and one with another address of b.example. */
  readonly same: string;
  readonly other: string;
  ask(): Promise<void>;
}

async function startScene(further = ''): Promise<Scene> {
  const port = await findFreePort();
  const text = (address: string) =>
    `.:${port} {\n bind 127.0.0.1\n log\n${further} hosts {\n  192.0.2.1 a.example\n  ${address} b.example\n  fallthrough\n }\n` +
    ' template IN A dyn.example {\n  answer "{{ .Name }} 60 IN A 192.0.2.9"\n }\n}\n';
  const same = await folder.write(`Corefile-${port}`, text('192.0.2.2'));
  const other = await folder.write(`Other-${port}`, text('192.0.2.3'));
  const server = runPortolan(['coredns', '-conf', same]);
  await waitUntil('the Corefile is served', () => server.output.includes('CoreDNS-'));
  const client = new AskedServer({ transport: 'udp', address: '127.0.0.1', port }, 5000, systemClock);
  const ask = async () => {
    for (const question of QUESTIONS) await client.ask(question, false);
    client.close();
  };
  return { server, place: `127.0.0.1:${port}`, same, other, ask };
}

async function shadow({ place }: Scene, corefile: string, source: readonly string[]) {
  const args = ['--server', place, '--corefile', corefile, ...source, '--output', 'json'];
  const program = runPortolan(['shadow', ...args]);
  const { code } = await program.exit;
  return {
    code,
    errors: program.errors,
    report: JSON.parse(program.output || '{}') as Record<string, unknown>,
  };
}

describe('portolan shadow', () => {
  it('takes questions from the log, a capture and a list', async () => {
    const scene = await startScene();
    await scene.ask();
    const lines = () => scene.server.output.split('\n').filter((line) => line.includes(' - '));
    await waitUntil('the questions are logged', () => lines().length === QUESTIONS.length);
    const log = await folder.write('log', scene.server.output);
    const packets = QUESTIONS.map((question) => ipv4Packet(Buffer.from(encodeQuestion(question, 1))));
    const frames = packets.map((packet) => makeFrames(packet)[0]?.[1] ?? packet);
    const capture = join(folder.path, 'capture.pcap');
    await writeFile(capture, encodePcap(1, frames));
    const list = await folder.write('list', NAMES.join('\n'));
    const equal = { questions: QUESTIONS.length, equal: QUESTIONS.length, different: 0 };
    const sources = [
      ['--log', log],
      ['--pcap', capture],
      ['--questions', list],
    ];
    const results = await Promise.all(sources.map((source) => shadow(scene, scene.same, source)));
    for (const { code, errors, report } of results)
      expect({ code, errors, counts: report['counts'] }).toMatchObject({
        code: 0,
        errors: '',
        counts: equal,
      });
  });

  it('names what another Corefile answers otherwise, and the cost', async () => {
    const scene = await startScene();
    const list = await folder.write('list', NAMES.join('\n'));
    const { code, report } = await shadow(scene, scene.other, ['--questions', list]);
    expect(code).toBe(1);
    expect(report).toMatchObject({
      counts: { questions: QUESTIONS.length, different: 1 },
      differences: [{ reason: 'answer: other records', count: 1 }],
      processorTime: { 'own, with asking and comparing': expect.any(Number) },
    });
  });

  it('takes questions from dnstap until it is stopped', async () => {
    const socket = join(folder.path, 'tap.sock');
    const list = ` dnstap ${socket} full\n`;
    const port = await findFreePort();
    const corefile = await folder.write(
      `Tapped-${port}`,
      `.:${port} {\n bind 127.0.0.1\n hosts {\n  192.0.2.1 a.example\n }\n}\n`,
    );
    const args = [
      '--server',
      `127.0.0.1:${port}`,
      '--corefile',
      corefile,
      '--dnstap',
      socket,
      '--count',
      '5',
    ];
    const program = runPortolan(['shadow', ...args, '--output', 'json']);
    await waitUntil('the socket is there', () => existsSync(socket) || program.ended !== undefined);
    const tapped = await folder.write(
      `Tap-${port}`,
      `.:${port} {\n bind 127.0.0.1\n${list} hosts {\n  192.0.2.1 a.example\n }\n}\n`,
    );
    const server = runPortolan(['coredns', '-conf', tapped]);
    await waitUntil('the Corefile is served', () => server.output.includes('CoreDNS-'));
    const client = new AskedServer({ transport: 'udp', address: '127.0.0.1', port }, 5000, systemClock);
    for (const question of QUESTIONS) await client.ask(question, false);
    client.close();
    const { code } = await program.exit;
    expect(program.errors).toBe('');
    expect(JSON.parse(program.output)).toMatchObject({ counts: { questions: 5, equal: 5 } });
    expect(code).toBe(0);
  });

  it('ends with 2 without a configuration, a source or a server', async () => {
    const corefile = await folder.write('Corefile', '. {\n whoami\n}\n');
    const list = await folder.write('list', NAMES.join('\n'));
    const silent = `127.0.0.1:${await findFreePort()}`;
    const results = await Promise.all(
      [
        ['--server', silent, '--questions', list],
        ['--server', silent, '--corefile', corefile],
        ['--corefile', corefile, '--questions', list],
        ['--server', silent, '--corefile', corefile, '--questions', list],
        ['--server', silent, '--corefile', '/nonexistent', '--questions', list],
      ].map(async (args) => {
        const program = runPortolan(['shadow', ...args]);
        const { code } = await program.exit;
        return `${code} ${program.errors.split('\n').slice(0, 2).join(' ')}`;
      }),
    );
    expect(results).toEqual([
      expect.stringMatching(/^2 .*one configuration is needed/),
      expect.stringMatching(/^2 .*one source is needed/),
      expect.stringMatching(/^2 .*--server: not the address of a server/),
      expect.stringMatching(/^2 .*no reply to any of the first/),
      expect.stringMatching(/^2 .*no such file/),
    ]);
  });
});
