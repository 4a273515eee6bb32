/**
 * Independent clients query names of a cluster from an API server: dig and kdig, each with its own checks of well-formed
 * messages.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { beforeAll, describe, expect } from 'vitest';
import type { Serving } from '../support/portolan.ts';
import { itWithTool } from '../support/tools.ts';
import { Resolver } from './resolver.ts';
import { serveCluster } from './serve-cluster.ts';
import { TestCluster } from './test-cluster.ts';

const run = promisify(execFile);
const PORTS = [{ name: 'sql', port: 5432 }];

describe.each(['dig', 'kdig'])('%s', (client) => {
  let serving: Serving;
  let db: string;

  beforeAll(async () => {
    const cluster = await TestCluster.startDouble();
    serving = await serveCluster(cluster.kubeconfig);
    const namespace = await cluster.addNamespace();
    db = `db.${namespace}.svc.cluster.local.`;
    await cluster.addService(namespace, 'db', { clusterIP: 'None', ports: PORTS });
    const address = (index: number) => `10.244.30.${index + 1}`;
    const endpoints = Array.from({ length: 60 }, (_, index) => ({
      address: address(index),
      hostname: `db-${index}`,
    }));
    await cluster.addEndpoints(namespace, 'db', endpoints, PORTS);
    await new Resolver(serving).expect(`db-59.${db}`, 'A', 'A 10.244.30.60');
  });

  async function ask(...args: readonly string[]): Promise<string> {
    const server = [`@${serving.address}`, '-p', String(serving.port)];
    const { stdout, stderr } = await run(client, [...server, '+time=5', '+retry=0', ...args]);
    // That it comes back by TCP is all that kdig has to complain of.
    expect(stderr.replace(/^;; WARNING: truncated reply .*, retrying over TCP$/m, '').trim()).toBe('');
    expect(stdout).not.toMatch(/malformed|extra|WARNING: (?!recursion|\.local)/i);
    return stdout;
  }

  itWithTool(client, `${client} gets the addresses of a change, by UDP and by TCP`, async () => {
    for (const transport of ['+notcp', '+tcp'])
      expect(await ask('+short', transport, `db-7.${db}`, 'A')).toBe('10.244.30.8\n');
  });

  itWithTool(client, `${client} comes back by TCP for what was cut`, async () => {
    expect((await ask('+short', '+noedns', db, 'A')).trim().split('\n')).toHaveLength(60);
    expect(await ask('+noedns', '+ignore', db, 'A')).toMatch(/flags:.* tc/i);
  });

  itWithTool(client, `${client} finds ports with the addresses of their targets`, async () => {
    const output = await ask('+tcp', `_sql._tcp.${db}`, 'SRV');
    expect(output).toMatch(/ANSWER: 60/);
    expect(output).toMatch(new RegExp(`^db-59\\.${db}\\s+\\d+\\s+IN\\s+A\\s+10\\.244\\.30\\.60$`, 'm'));
  });

  itWithTool(client, `${client} is told no with the SOA of the zone, and a name by its address`, async () => {
    const output = await ask(`no.${db}`, 'A');
    expect(output).toMatch(/status: NXDOMAIN/);
    expect(output).toMatch(/^cluster\.local\.\s+\d+\s+IN\s+SOA\s+ns\.dns\.cluster\.local\. /m);
    expect(await ask('+short', '-x', '10.244.30.1')).toBe(`db-0.${db}\n`);
  });

  itWithTool(client, `${client} speaks EDNS with us, and hears of a version that is too new`, async () => {
    expect(await ask('+edns', `db-7.${db}`, 'A')).toMatch(/udp: 1232|UDP size: 1232 B/i);
    if (client === 'dig') expect(await ask('+edns=9', '+noednsneg', `db-7.${db}`, 'A')).toMatch(/BADVERS/);
  });
});
