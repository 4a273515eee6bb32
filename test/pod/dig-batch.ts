/**
 * Many questions to one server by one run of dig, and the answers as parsed by dig.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { RecordedAnswer } from '../golden/recorded-answer.ts';

type Asked = Pick<RecordedAnswer, 'name' | 'type'>;

const run = promisify(execFile);
/** A run of dig asks one question after the other. */
const RUNS = 8;

/** @returns the answers in the order of the questions */
export async function digAll(
  server: DnsServer,
  questions: readonly Asked[],
  ...options: readonly string[]
): Promise<readonly RecordedAnswer[]> {
  const size = Math.ceil(questions.length / RUNS);
  const batches = Array.from({ length: RUNS }, (_, index) =>
    questions.slice(index * size, (index + 1) * size),
  );
  const answers = await Promise.all(batches.map((batch) => digBatch(server, batch, options)));
  return answers.flat();
}

async function digBatch(
  { address, port }: DnsServer,
  questions: readonly Asked[],
  options: readonly string[],
): Promise<readonly RecordedAnswer[]> {
  const folder = await makeTemporaryFolder();
  const file = await folder.write(
    'questions',
    questions.map(({ name, type }) => `${name} ${type}\n`).join(''),
  );
  const how = ['+noall', '+comments', '+answer', '+tries=2', '+time=5', ...options];
  // A global option stands before the file, or it would count for the first question alone.
  const { stdout } = await run('dig', [`@${address}`, '-p', String(port), ...how, '-f', file], {
    maxBuffer: 2 ** 26,
  });
  const blocks = stdout.split(/^;; (?:Got answer:|(?=connection timed out))/m).slice(1);
  if (blocks.length !== questions.length)
    throw new Error(`dig told of ${blocks.length} answers to ${questions.length} questions: ${stdout}`);
  return questions.map((question, index) => readAnswer(question, blocks[index] ?? ''));
}

function readAnswer({ name, type }: Asked, block: string): RecordedAnswer {
  const rcode = /status: (?<rcode>\w+)/.exec(block)?.groups?.['rcode'] ?? 'TIMEOUT';
  const aa = /flags:[^;]* aa\b/.test(block);
  const records = block
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
    .map(toRecord)
    .sort();
  return { name, type, rcode, aa, answer: records, authority: [], additional: [] };
}

/** `Name. 30 IN A 192.0.2.1` as `name. 30 A 192.0.2.1`. */
function toRecord(line: string): string {
  const [name = '', ttl = '', , type = '', ...data] = line.split(/\s+/);
  return [name.toLowerCase(), ttl, type, ...data.map((word) => word.toLowerCase())].join(' ');
}
