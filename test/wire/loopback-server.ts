/**
 * A DNS server on a free port of the loopback address, for programs that query it.
 */
import { execFile } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { encodeMessage } from '@portolan/dns/message.ts';
import {
  type AnswerableQuery,
  type ParsedQuery,
  parseQuery,
  type RejectedQuery,
} from '@portolan/dns/query.ts';
import type { Message } from '@portolan/dns/types.ts';

const run = promisify(execFile);

export interface Exchange {
  /** Everything that was asked, in order. */
  readonly queries: readonly ParsedQuery[];
  /** What the program printed. */
  readonly output: string;
}

/**
 * Runs a program against a server that answers by `answer`.
 *
 * @param program Its name and arguments; `-p` and the port are added.
 */
export async function exchange(
  program: readonly [string, ...string[]],
  answer: (query: AnswerableQuery | RejectedQuery) => Message,
): Promise<Exchange> {
  const queries: ParsedQuery[] = [];
  const socket = createSocket('udp4');
  socket.on('message', (packet, client) => {
    const query = parseQuery(packet);
    queries.push(query);
    if (query.kind !== 'drop') socket.send(encodeMessage(answer(query)), client.port, client.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  try {
    const [command, ...args] = program;
    const { stdout } = await run(command, ['@127.0.0.1', '-p', String(socket.address().port), ...args]);
    return { queries, output: stdout };
  } finally {
    socket.close();
  }
}

/** The records in what dig or kdig printed: lines that are no comment, with single spaces. */
export function recordLines(output: string): string[] {
  return output
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith(';'))
    .map((line) => line.replace(/[\t ]+/g, ' ').trim());
}
