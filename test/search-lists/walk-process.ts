/**
 * Runs a program for each walk, in a network and with an `/etc/resolv.conf` of its own, and prints the names that it asks for:
 *
 *     unshare -rnm node walk-process.mjs FOLDER WALKS PROGRAM
 *
 * All run at once, each with a server of its own: musl waits for its time-out after a failure.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeMessage, encodeMessage } from '@portolan/dns/message.ts';
import { ROOT } from '@portolan/dns/name.ts';
import { CLASS, RCODE } from '@portolan/dns/types.ts';
import type { StepOutcome } from '@portolan/server/reasons/search-walk.ts';
import type { Walk } from './walk.ts';

const RCODES: Readonly<Record<StepOutcome, number>> = {
  answer: RCODE.NOERROR,
  nodata: RCODE.NOERROR,
  nxdomain: RCODE.NXDOMAIN,
  servfail: RCODE.SERVFAIL,
  refused: RCODE.REFUSED,
};
/** Seconds until a library gives up. */
const TIMEOUT = 3;

const [folder = '', walks = '[]', program = ''] = process.argv.slice(2);
execFileSync('ip', ['link', 'set', 'lo', 'up']);

async function record({ name, search, ndots, outcomes }: Walk, index: number): Promise<readonly string[]> {
  const address = `127.0.0.${index + 1}`;
  const asked: string[] = [];
  const socket = createSocket('udp4').bind(53, address);
  await once(socket, 'listening');
  socket.on('message', (packet, client) => {
    const query = decodeMessage(packet);
    const question = query.questions[0]?.name ?? ROOT;
    if (!asked.includes(question)) asked.push(question);
    const outcome = outcomes[asked.indexOf(question)] ?? 'nxdomain';
    const answers =
      outcome === 'answer'
        ? [{ name: question, class: CLASS.IN, ttl: 1, data: { kind: 'A', address: '192.0.2.1' } as const }]
        : [];
    const header = { ...query.header, response: true, recursionAvailable: true, rcode: RCODES[outcome] };
    socket.send(encodeMessage({ ...query, header, answers, edns: undefined }), client.port, client.address);
  });
  const list = search.length === 0 ? '' : `search ${search.join(' ')}\n`;
  const file = join(folder, `resolv-${index}.conf`);
  writeFileSync(file, `nameserver ${address}\n${list}options ndots:${ndots} timeout:${TIMEOUT} attempts:1\n`);
  const script = 'mount --bind "$0" /etc/resolv.conf && exec "$@"';
  const words = ['--mount', 'sh', '-c', script, file, program, name];
  await new Promise<void>((resolve) => void execFile('unshare', words, () => resolve()));
  socket.close();
  return asked;
}

const recorded = (JSON.parse(walks) as readonly Walk[]).map(record); // Of the test.
process.stdout.write(JSON.stringify(await Promise.all(recorded)));
