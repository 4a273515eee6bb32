/**
 * Up to a million hostile packets: the program stays up, its memory constant, its answers correct.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { askShort } from '@portolan/testing/client/ask.ts';
import { afterEach, expect, it } from 'vitest';
import { bundleThread } from '../../support/bundle-thread.ts';
import { readKernelDrops } from '../../support/kernel-drops.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../../support/portolan.ts';
import { soakLength } from '../../support/soak-length.ts';
import type { HostilePlan } from './hostile-thread.ts';

afterEach(endAllPrograms);

const PACKETS = soakLength(1_000_000, 400_000);
const NAME = 'cart.shop.svc.cluster.local';

async function readMetric(serving: Serving, name: string): Promise<number> {
  const { text } = await look(serving, '/metrics');
  return Number(new RegExp(`^${name} (.*)$`, 'm').exec(text)?.[1]);
}

async function attack(entry: URL, serving: Serving, packets: number): Promise<void> {
  const seed = 1 + Math.floor(Math.random() * (2 ** 31 - 1));
  const plan: HostilePlan = { server: serving, seed, packets, name: NAME, answer: '10.96.20.10' };
  const { address, port } = serving;
  const worker = new Worker(entry, { workerData: { ...plan, server: { address, port } } });
  const failed = new Promise<never>((_, reject) =>
    worker.on('error', (error) => reject(new Error(`with seed ${seed}: ${String(error)}`, { cause: error }))),
  );
  await Promise.race([failed, once(worker, 'exit')]);
}

it(`survives ${PACKETS} hostile packets`, { timeout: 600_000 }, async () => {
  const entry = await bundleThread('test/soak/hostile-packets/hostile-thread.ts');
  const serving = await servePortolan(['--example']);
  await serving.program.heard('cluster listed');
  // What a server takes once, buffers and compiled code, it has taken after this.
  await attack(entry, serving, PACKETS / 5);
  const memory = await readMetric(serving, 'process_resident_memory_bytes');
  // What the collector has not come to yet goes up and down; what leaks only goes up.
  const later: number[] = [];
  for (let part = 0; part < 4; part++) {
    await attack(entry, serving, PACKETS / 5);
    later.push(await readMetric(serving, 'process_resident_memory_bytes'));
  }
  expect(Math.min(...later.slice(1))).toBeLessThan(memory + 24 * 2 ** 20);
  // All of them arrived but those that the kernel dropped. The attacker waits after each burst, so these are few.
  const dropped = readKernelDrops(({ port }) => port === serving.port);
  expect(await readMetric(serving, 'portolan_udp_packets_total')).toBeGreaterThanOrEqual(PACKETS - dropped);
  expect(dropped).toBeLessThan(PACKETS / 2);
  expect(await readMetric(serving, 'portolan_internal_errors_total')).toBe(0);
  expect(await readMetric(serving, 'portolan_reader_restarts_total')).toBe(0);
  for (const transport of ['udp', 'tcp'] as const) {
    expect(await askShort(serving, NAME, 'A', { transport })).toBe('10.96.20.10');
    expect(await askShort(serving, `no.${NAME}`, 'A', { transport })).toBe('NXDOMAIN');
    expect(await askShort(serving, 'example.com', 'A', { transport })).toBe('REFUSED');
  }
  expect(serving.program.log.filter(({ level }) => level === 'error')).toEqual([]);
});
