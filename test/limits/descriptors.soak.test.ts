/**
 * With 64 descriptors and 80 idle TCP connections, names of upstream servers are answered in every role, over UDP and TCP.
 */

import { connect } from 'node:net';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, askShort } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterEach, describe, expect, it, onTestFinished } from 'vitest';
import { makeName, startUpstream } from '../resolver/forwarding-programs.ts';
import { ROLES, type Starting } from '../support/all-roles.ts';
import { endAllPrograms, runPortolan } from '../support/portolan.ts';

afterEach(endAllPrograms);

const LIMIT = 64;
const IDLE = 80;
const QUESTIONS = 10;

async function isServing(server: DnsServer): Promise<boolean> {
  return await askShort(server, `${makeName(QUESTIONS)}.`, 'A', { deadline: 500 }).then(
    (answer) => answer === '192.0.2.1',
    () => false,
  );
}

async function start(role: string, starting: Starting): Promise<Program> {
  const words = (await ROLES.get(role)?.(starting)) ?? [];
  const through = ['sh', '-c', `ulimit -n ${LIMIT} && exec "$0" "$@"`];
  const program = runPortolan([role, ...words], { through });
  const server = { address: '127.0.0.1', port: starting.port };
  await waitUntil('the server', async () => program.ended !== undefined || (await isServing(server)));
  expect(program.ended, program.output + program.errors).toBe(undefined);
  return program;
}

/** Opens connections that ask nothing. @returns how many are open now */
function openIdle(port: number): () => number {
  let open = 0;
  const sockets = Array.from({ length: IDLE }, () => {
    const socket = connect(port, '127.0.0.1', () => {
      open += 1;
    });
    const isOpen = () => !socket.connecting;
    socket.on('error', () => {});
    socket.on('close', () => {
      if (isOpen()) open -= 1;
    });
    socket.resume();
    return socket;
  });
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  return () => open;
}

const SHORT = 'file descriptors are short: idle connections of clients are closed early';

describe.each([...ROLES.keys()])('%s with few descriptors and many idle connections', (role) => {
  it('answers names of upstream servers', async () => {
    const upstream = await startUpstream();
    const port = await findFreePort();
    const program = await start(role, { upstream: upstream.address, port });
    const open = openIdle(port);
    const log = () => program.output + program.errors;
    await waitUntil('the shortage', () => log().includes(SHORT));
    await waitUntil('the rest', () => open() > 0 && open() < LIMIT / 2);
    const server: DnsServer = { address: '127.0.0.1', port };
    for (let index = 0; index < QUESTIONS; index += 1) {
      const transport = index % 2 === 0 ? 'udp' : 'tcp';
      const { header, answers } = await ask(server, `${makeName(index)}.`, 'A', { transport });
      expect([header.rcode, answers.length]).toEqual([0, 1]);
    }
    expect(log().split(SHORT)).toHaveLength(2);
    expect(log()).not.toContain('EMFILE');
  });
});
