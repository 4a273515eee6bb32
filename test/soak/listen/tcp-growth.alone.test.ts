/**
 * The whole program with clients that repeatedly request answers of 60,000 octets over TCP and never read them.
 */
import { readFile } from 'node:fs/promises';
import { Worker } from 'node:worker_threads';
import { frame } from '@portolan/dns/frames.ts';
import { encodeMessage } from '@portolan/dns/message.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { ask, makeQuery } from '@portolan/testing/client/ask.ts';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { bundleThread } from '../../support/bundle-thread.ts';
import { endAllPrograms, type Serving, servePortolan } from '../../support/portolan.ts';
import type { AttackPlan } from './hostile-tcp-thread.ts';

afterEach(endAllPrograms);

let attackEntry: URL;
beforeAll(async () => {
  attackEntry = await bundleThread('test/soak/listen/hostile-tcp-thread.ts');
});

/** Address records of 16 octets each. */
const ENDPOINTS = 3_700;
const NAME = 'large.default.svc.cluster.local';
const MEBIOCTET = 2 ** 20;
/** What connections may hold, by `TCP_LIMITS`, and as much again for what the collector has not come to. */
const MAX_GROWTH = 32 * MEBIOCTET;
const SAMPLES = 60;

/** A headless service with so many endpoints, in slices as the control plane makes them. */
function writeManifest(): string {
  const documents = [
    'apiVersion: v1\nkind: Service\nmetadata: {name: large, namespace: default}\nspec: {clusterIP: None}\n',
  ];
  for (let from = 0; from < ENDPOINTS; from += 1000) {
    const addresses = Array.from({ length: Math.min(1000, ENDPOINTS - from) }, (_, index) => {
      const number = from + index;
      return `  - {addresses: ["10.${number >> 16}.${(number >> 8) & 255}.${number & 255}"]}`;
    });
    documents.push(
      'apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n' +
        `metadata: {name: large-${from}, namespace: default, labels: {kubernetes.io/service-name: large}}\n` +
        `addressType: IPv4\nports: [{name: x, port: 80}]\nendpoints:\n${addresses.join('\n')}\n`,
    );
  }
  return documents.join('---\n');
}

/** The resident octets without those of files: the server returns pages of its program, and takes them again. */
async function readHeld({ program }: Serving): Promise<number> {
  const status = await readFile(`/proc/${program.process.pid}/status`, 'utf8');
  const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]);
  return 1024 * (field('RssAnon') + field('RssShmem'));
}

it('large answers that are not read', { timeout: 300_000 }, async () => {
  const folder = await makeTemporaryFolder();
  await folder.write('large.yaml', writeManifest());
  const serving = await servePortolan(['--manifests', folder.path]);
  await serving.program.heard('cluster listed');
  // What a server takes once it has taken after these: the most of the last ones, as it gives memory back between two.
  let before = 0;
  for (let turn = 0; turn < 500; turn += 1) {
    const { answers } = await ask(serving, NAME, 'A', { transport: 'tcp' });
    expect(answers).toHaveLength(ENDPOINTS);
    if (turn >= 250) before = Math.max(before, await readHeld(serving));
  }
  const query = frame(encodeMessage(makeQuery(NAME, 'A')));
  const plan: AttackPlan = {
    port: serving.port,
    addresses: 9,
    connectionsPerAddress: 10,
    octets: Buffer.concat(Array<Uint8Array>(100).fill(query)),
  };
  const worker = new Worker(attackEntry, { workerData: plan });
  let connected = 0;
  worker.on('message', () => connected++);
  onTestFinished(async () => void (await worker.terminate()));
  await waitUntil('the connections', () => connected >= 90);
  const held: number[] = [];
  for (let sample = 0; sample < SAMPLES; sample += 1) {
    held.push(await readHeld(serving));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  console.log(
    `held MiB ${Math.round(before / MEBIOCTET)}, then at most ${Math.round(Math.max(...held) / MEBIOCTET)}, ` +
      `${Math.round((held.at(-1) ?? 0) / MEBIOCTET)} at the end; ${connected} connections`,
  );
  expect(Math.max(...held) - before).toBeLessThanOrEqual(MAX_GROWTH);
  expect((await ask(serving, NAME, 'A', { transport: 'tcp' })).answers).toHaveLength(ENDPOINTS);
});
