/**
 * The real dnsmasq and ours with the same options and the same questions.
 */

import { presentRecord } from '@portolan/dns/present.ts';
import type { Message, TYPE } from '@portolan/dns/types.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { Program } from '@portolan/testing/program.ts';
import { onTestFinished } from 'vitest';
import { runDnsmasq } from '../dnsmasq-options/running-dnsmasq.ts';
import { runPortolan } from '../support/portolan.ts';

export interface BothPrograms {
  readonly real: DnsServer;
  readonly ours: DnsServer;
  readonly program: Program;
}

/** @param words options beside those that keep both to this machine and to their test */
export async function runBoth(words: readonly string[]): Promise<BothPrograms> {
  const all = ['--conf-file=/dev/null', '--no-hosts', ...words];
  const dnsmasq = await runDnsmasq(all);
  const { server, program } = await runOurs(all);
  return { real: { address: '127.0.0.1', port: dnsmasq.port }, ours: server, program };
}

/** `portolan dnsmasq` until the test is over. */
export async function runOurs(words: readonly string[]): Promise<{ server: DnsServer; program: Program }> {
  const port = await findFreePort();
  const here = [
    '--listen-address=127.0.0.1',
    '--bind-interfaces',
    '--user=',
    '--group=',
    '--pid-file=',
    '--no-resolv',
  ];
  const program = runPortolan(['dnsmasq', '-k', '--log-facility=-', `--port=${port}`, ...here, ...words]);
  onTestFinished(async () => {
    program.signal('SIGKILL');
    await program.exit;
  });
  await waitUntil(
    'ours to serve',
    () => program.errors.includes('started, version') || program.ended !== undefined,
  );
  if (program.ended !== undefined) throw new Error(`portolan dnsmasq does not run: ${program.errors}`);
  return { server: { address: '127.0.0.1', port }, program };
}

/** `name type`, as in dig's batch files. */
export type QuestionText = `${string} ${keyof typeof TYPE}`;

export interface Told {
  readonly rcode: number;
  readonly authoritative: boolean;
  readonly answers: readonly string[];
  readonly additionals: readonly string[];
}

/** An answer, in whatever order its records are told. */
export async function tell(server: DnsServer, question: QuestionText): Promise<Told> {
  const [name = '', type = ''] = question.split(' ');
  // The type of the parameter says that it is one.
  return told(await ask(server, name, type as keyof typeof TYPE));
}

function told({ header, answers, additionals }: Message): Told {
  const { rcode, authoritative } = header;
  const lines = (records: typeof answers) => records.map(presentRecord).toSorted();
  return { rcode, authoritative, answers: lines(answers), additionals: lines(additionals) };
}

/** The questions that both do not answer alike, with both answers. */
export async function findDifferences(
  { real, ours }: BothPrograms,
  questions: readonly QuestionText[],
): Promise<Readonly<Record<string, { readonly real: Told; readonly ours: Told }>>> {
  const differences: Record<string, { real: Told; ours: Told }> = {};
  for (const question of questions) {
    const one = await tell(real, question);
    const other = await tell(ours, question);
    if (JSON.stringify(one) !== JSON.stringify(other)) differences[question] = { real: one, ours: other };
  }
  return differences;
}

/** The lines of a text that are questions. */
export function questionsIn(text: string): readonly QuestionText[] {
  const lines = text.split('\n').map((line) => line.trim());
  // Whatever is no question fails when it is asked.
  return lines.filter((line) => line !== '') as QuestionText[];
}
