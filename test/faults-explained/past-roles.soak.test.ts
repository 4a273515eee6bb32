/**
 * Every role remembers what failed: a failure is made and undone, and one command names it afterwards; over a restart, too, if the server
 * has a file for it.
 */
import { join } from 'node:path';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { PastDiagnosis } from '@portolan/ops/control/past-records.ts';
import type { HistoryRecord } from '@portolan/server/history/history-record.ts';
import type { PastExplanation } from '@portolan/server/history/past-verdict.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { canRun, ROLES, type Role, type RunningRole, startRole } from '../support/roles.ts';
import { UpstreamFaults } from './upstream.ts';

const TIMEOUT = { timeout: 120_000 };
const POLL = { timeout: 30_000, interval: 300 };
const GONE = 'gone.example.com';
const CAUSE = /upstream server 127\.0\.0\.1:\d+ is (?:failing|silent|down)/;

afterEach(endAllPrograms);

/** The words by which a role keeps its history in a file; undefined: a Corefile does. */
const FILE_FLAGS: Readonly<Record<Role, ((file: string) => readonly string[]) | undefined>> = {
  serve: (file) => [`--history-file=${file}`],
  'kube-dns': (file) => [`--history-file=${file}`],
  dnsmasq: (file) => [`--history-file=${file}`],
  'dnsmasq-nanny': (file) => [`--history-file=${file}`],
  skydns: (file) => [`-history-file=${file}`],
  coredns: undefined,
  'node-cache': undefined,
};

async function startUpstream(): Promise<LoopbackUpstream> {
  const upstream = await LoopbackUpstream.start(new UpstreamFaults().react);
  onTestFinished(() => upstream.stop());
  return upstream;
}

const explainGone = (socket: string, ...words: readonly string[]) =>
  readJson<PastExplanation>('explain', socket, GONE, '--since=5m', ...words);

/** Makes the failure, and undoes it once the server has noticed. */
async function failOnce(server: RunningRole, upstream: LoopbackUpstream, socket: string): Promise<void> {
  const ask = () => askShort(server, GONE, 'A', { deadline: 6_000 }).catch(() => 'nothing');
  await upstream.stop();
  await expect.poll(ask, POLL).toMatch(/SERVFAIL|REFUSED/);
  const askAgain = async () => {
    await ask();
    return (await explainGone(socket)).episodes[0]?.cause?.sentence ?? '';
  };
  await expect.poll(askAgain, POLL).toMatch(CAUSE);
  await upstream.startAgain();
  await expect.poll(ask, POLL).toBe('192.0.2.1');
}

async function readJson<Answer>(...words: readonly string[]): Promise<Answer> {
  const { text, errors } = await runToEnd(...words, '--output=json');
  expect(errors).toBe('');
  return JSON.parse(text) as Answer; // It is of the same version.
}

describe.each(ROLES)('%s', (role) => {
  it.runIf(canRun(role))('names a failure that is over', TIMEOUT, async () => {
    const upstream = await startUpstream();
    const running = await startRole(role, { upstream: upstream.port });
    const socket = `--socket=${formatSocketName(running.program, role)}`;
    await failOnce(running, upstream, socket);
    const explain = () => explainGone(socket);
    await expect
      .poll(async () => (await explain()).episodes[0]?.end?.sentence ?? '', POLL)
      .toMatch(/replies again$/);
    const { verdict, episodes } = await explain();
    expect(verdict).toMatchObject({
      outcome: 'failed',
      sentence: expect.stringMatching(/^gone\.example\.com\. failed \d+ times? for 1 client/),
    });
    expect(episodes[0]?.cause?.sentence).toMatch(
      /upstream server 127\.0\.0\.1:\d+ is (?:failing|silent|down)/,
    );
    expect(episodes[0]?.clients).toEqual({ '127.0.0.1': expect.any(Number) });
    // A failure may be recorded between two looks.
    const look = async () => {
      const before = (await explain()).verdict.sentence;
      const { text, code } = await runToEnd('explain', socket, GONE, '--since=5m');
      return { isSame: text.split('\n')[0] === before, code };
    };
    await expect.poll(look, POLL).toEqual({ isSame: true, code: 1 });
    const diagnosis = await readJson<PastDiagnosis>('doctor', socket, '--since=5m');
    expect(diagnosis.episodes.map(({ name }) => name)).toContain(`${GONE}.`);
    expect((await runToEnd('explain', socket, 'well.example.com', '--since=5m')).code).toBe(0);
  });
});

describe.each(['serve', 'dnsmasq', 'skydns'] as const)('%s', (role) => {
  it.runIf(canRun(role))('remembers it over a restart', TIMEOUT, async () => {
    const { path } = await makeTemporaryFolder();
    const file = join(path, 'history');
    const upstream = await startUpstream();
    const flags = FILE_FLAGS[role]?.(file) ?? [];
    const first = await startRole(role, { upstream: upstream.port }, { flags });
    await failOnce(first, upstream, `--socket=${formatSocketName(first.program, role)}`);
    first.program.signal('SIGTERM');
    await first.program.exit;
    const second = await startRole(role, { upstream: upstream.port }, { flags });
    const socket = `--socket=${formatSocketName(second.program, role)}`;
    await expect.poll(async () => (await explainGone(socket)).verdict.outcome, POLL).toBe('failed');
    // The file alone is enough.
    const { verdict } = await readJson<PastExplanation>('explain', GONE, '--since=5m', `--history=${file}`);
    expect(verdict.outcome).toBe('failed');
    const { text } = await runToEnd('tail', '--since=5m', `--history=${file}`, '--output=json');
    const records = text.split('\n').filter((line) => line !== '');
    const sentences = records.map((line) => JSON.parse(line) as HistoryRecord);
    expect(
      sentences.filter((record) => record.kind === 'change' && record.change === 'server'),
    ).toMatchObject([
      { sentence: expect.stringMatching(/^the server started/) },
      { sentence: 'the server stops' },
      { sentence: expect.stringMatching(/^the server started/) },
    ]);
  });
});
