/**
 * The DNS of a cluster on a test's node: a server that answers every query of type A with 192.0.2.53, over UDP and TCP.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { onTestFinished } from 'vitest';
import type { Scene } from './scene.ts';

export const CLUSTER_DNS = '10.0.0.53';

/** Runs a command on the node until the test ends, once it has said that it is ready. */
export async function keepRunning({ node }: Scene, ...command: readonly string[]): Promise<ChildProcess> {
  const [program = '', ...words] = [...node.through, ...command];
  const child = spawn(program, words, { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await waitUntil(`${program} to be ready`, () => said.includes('ready'));
  return child;
}

export async function startClusterDns(scene: Scene, port: number): Promise<void> {
  await scene.node.run('ip', 'addr', 'add', `${CLUSTER_DNS}/32`, 'dev', 'lo');
  await keepRunning(scene, process.execPath, '-e', ANSWER_ALL, CLUSTER_DNS, String(port));
}

/** The question is repeated without what stands behind it; the answer points to its name. */
export const ANSWER_ALL = `
const [address, port] = process.argv.slice(1);
const answer = Buffer.from('c00c000100010000003c0004c0000235', 'hex');
const reply = (query) => {
  let end = 12;
  while (query[end] !== 0) end += query[end] + 1;
  end += 5;
  const isAddress = query.readUInt16BE(end - 4) === 1;
  const head = Buffer.from(query.subarray(0, end));
  head[2] |= 128;
  head[3] = 128;
  head.writeUInt16BE(isAddress ? 1 : 0, 6);
  head.writeUInt16BE(0, 8);
  head.writeUInt16BE(0, 10);
  return isAddress ? Buffer.concat([head, answer]) : head;
};
const udp = require('node:dgram').createSocket('udp4');
// A probe has no question.
udp.on('message', (query, from) => query.length > 12 && udp.send(reply(query), from.port, from.address));
const tcp = require('node:net').createServer((socket) => {
  let rest = Buffer.alloc(0);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length > 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0);
      const text = reply(rest.subarray(2, end));
      rest = rest.subarray(end);
      const length = Buffer.alloc(2);
      length.writeUInt16BE(text.length);
      socket.write(Buffer.concat([length, text]));
    }
  });
});
udp.bind(Number(port), address, () => tcp.listen(Number(port), address, () => console.log('ready')));
`;
