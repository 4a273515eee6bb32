/**
 * Programs that forward to an upstream server on loopback, one for each front end, and their counters.
 */

import { writeFile } from 'node:fs/promises';
import { decodeMessage } from '@portolan/dns/message.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { exchange, makeQuery } from '@portolan/testing/client/ask.ts';
import type { DnsServer } from '@portolan/testing/client/dns-client.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { answerFromZone, makeAddress } from '@portolan/testing/upstream/reactions.ts';
import { expect, onTestFinished } from 'vitest';
import { runPortolan, servePortolan } from '../support/portolan.ts';

/** Names that are asked for, of those of the upstream server. */
export const NAMES = 40;
export const makeName = (index: number) => `host-${index}.example`;

export async function startUpstream(): Promise<LoopbackUpstream> {
  const names = Array.from(
    { length: 400 },
    (_, index) => [`${makeName(index)}. A`, [makeAddress('192.0.2.1')]] as const,
  );
  const upstream = await LoopbackUpstream.start(answerFromZone(Object.fromEntries(names)));
  onTestFinished(() => upstream.stop());
  return upstream;
}

const OPTION = {
  nsid: 3,
  clientSubnet: 8,
  expire: 9,
  cookie: 10,
  keepalive: 11,
  padding: 12,
  unknown: 65_001,
} as const;
const DATA: { readonly [Name in keyof typeof OPTION]?: string } = {
  clientSubnet: '00011800c00002',
  cookie: '0102030405060708',
  padding: '00'.repeat(40),
  unknown: '6f776e',
};
type OptionName = keyof typeof OPTION;

/** Options that concern only the client and this server, and those that servers may act on. */
export const OF_ONE_HOP: readonly OptionName[] = ['cookie', 'keepalive', 'padding'];
export const OF_SERVERS: readonly OptionName[] = ['nsid', 'clientSubnet', 'expire', 'unknown'];

/** Asks for the address of a name with EDNS options. @returns the address, and the names of the options in the response */
export async function askWithOptions(server: DnsServer, name: string, options: readonly OptionName[]) {
  const asked = options.map((option) => ({
    code: OPTION[option],
    data: Buffer.from(DATA[option] ?? '', 'hex'),
  }));
  const edns = { version: 0, udpSize: 1232, dnssecOk: false, extendedRcode: 0, options: asked };
  const { answers, edns: given } = decodeMessage(await exchange(server, { ...makeQuery(name, 'A'), edns }));
  const [data] = answers.map((record) => record.data);
  for (const option of given?.options ?? [])
    expect(asked).toContainEqual({ ...option, data: Buffer.from(option.data) });
  return {
    address: data?.kind === 'A' ? data.address : undefined,
    options: given?.options.map(({ code }) => Object.entries(OPTION).find(([, own]) => own === code)?.[0]),
  };
}

export interface Answering {
  readonly program: Program;
  readonly server: DnsServer;
  readonly metrics: () => Promise<string>;
}

async function metricsAt(port: number): Promise<string> {
  return await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
}

/** What the program has sent upstream by its readers. */
export async function forwardedByReaders(metrics: () => Promise<string>): Promise<number> {
  const [, count = '0'] =
    /^portolan_forwarded_queries_total\{path="reader"\} (\d+)/m.exec(await metrics()) ?? [];
  return Number(count);
}

export async function startServe(upstream: string, ...flags: readonly string[]): Promise<Answering> {
  const {
    program,
    address: host,
    port,
    health,
  } = await servePortolan(['--example', '--upstream', upstream, ...flags]);
  const metrics = async () => await (await fetch(`${health}/metrics`)).text();
  return { program, server: { address: host, port }, metrics };
}

export async function startKubeDns(upstream: string): Promise<Answering> {
  const port = await findFreePort();
  const health = await findFreePort();
  const folder = await makeTemporaryFolder();
  await folder.write('upstreamNameservers', JSON.stringify([upstream]));
  const program = runPortolan([
    'kube-dns',
    '--dns-bind-address=127.0.0.1',
    `--dns-port=${port}`,
    '--example',
    `--healthz-port=127.0.0.1:${health}`,
    `--config-dir=${folder.path}`,
    '--log-format=json',
  ]);
  await program.heard('serving');
  return { program, server: { address: '127.0.0.1', port }, metrics: () => metricsAt(health) };
}

/** @param lines of its only server block @param flags besides `-conf` */
export async function startCoredns(
  lines: string,
  ...flags: readonly string[]
): Promise<Answering & { readonly change: (lines: string) => Promise<void> }> {
  const port = await findFreePort();
  const metrics = await findFreePort();
  const makeCorefile = (own: string) =>
    `.:${port} {\n bind 127.0.0.1\n prometheus 127.0.0.1:${metrics}\n${own}\n}\n`;
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', makeCorefile(lines));
  const program = runPortolan(['coredns', '-conf', conf, ...flags]);
  await waitUntil('the banner', () => program.output.includes('linux/'));
  const change = async (own: string) => {
    const { length } = program.output;
    await writeFile(conf, makeCorefile(own));
    program.signal('SIGUSR1');
    await waitUntil('the reload', () => program.output.slice(length).includes('Reloading complete'));
  };
  return { program, server: { address: '127.0.0.1', port }, metrics: () => metricsAt(metrics), change };
}

export async function startNodeCache(upstream: string, properties = ''): Promise<Answering> {
  const port = await findFreePort();
  const metrics = await findFreePort();
  const health = await findFreePort();
  const folder = await makeTemporaryFolder();
  const block = `errors\n cache 30\n bind 127.0.0.1\n forward . ${upstream}${properties}\n prometheus 127.0.0.1:${metrics}`;
  const conf = await folder.write('Corefile', `.:${port} {\n ${block}\n health 127.0.0.1:${health}\n}\n`);
  const program = runPortolan([
    'node-cache',
    '-conf',
    conf,
    '-localip',
    '127.0.0.1',
    '-setupinterface=false',
    '-setupiptables=false',
    '-metrics-listen-address',
    '127.0.0.1:0',
  ]);
  await waitUntil('the banner', () => program.output.includes('linux/') || program.ended !== undefined);
  expect(program.ended, program.errors).toBe(undefined);
  return { program, server: { address: '127.0.0.1', port }, metrics: () => metricsAt(metrics) };
}
