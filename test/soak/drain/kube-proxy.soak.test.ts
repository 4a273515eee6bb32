/**
 * The end of a pod behind kube-proxy, whose rules are written by hand: source ports that were sent to the pod before still are, until
 * kube-proxy forgets them. It does so when the endpoint is not serving any more.
 */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface, type Interface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { encodeMessage } from '@portolan/dns/message.ts';
import { makeQuery } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { describeOnNode, Node } from '../../node-cache/namespace.ts';
import { bundleThread } from '../../support/bundle-thread.ts';
import { endAllPrograms, runPortolan } from '../../support/portolan.ts';
import { describeWithTool } from '../../support/tools.ts';

const SERVICE = '10.96.0.10';
const OLD = '10.244.0.11';
const NEW = '10.244.0.12';
const PORT = 5300;
/** Milliseconds. */
const LOOK_INTERVAL = 100;
const QUERY = Buffer.from(encodeMessage(makeQuery('cart.shop.svc.cluster.local', 'A'))).toString('hex');

let client: URL;
let node: Node;

beforeAll(async () => {
  client = await bundleThread('test/soak/drain/reused-ports-process.ts');
  node = await Node.create();
  for (const address of [OLD, NEW]) await node.run('ip', 'addr', 'add', `${address}/32`, 'dev', 'lo');
  // As the default route of a node: without any, nothing is sent that could be translated.
  await node.run('ip', 'route', 'add', '10.96.0.0/12', 'dev', 'lo');
});
afterAll(() => node.end());
afterEach(endAllPrograms);

async function serve(address: string, ...flags: readonly string[]): Promise<Program> {
  const words = [`--dns-bind-address=${address}`, `--dns-port=${PORT}`, `--healthz-port=${address}:8081`];
  const program = runPortolan(
    ['serve', '--example', '--upstream=none', '--log-format=json', ...words, ...flags],
    { through: node.through },
  );
  await program.heard('cluster listed');
  return program;
}

/** What kube-proxy writes for a Service with one ready endpoint. */
async function sendTo(address: string): Promise<void> {
  const rule = `ip daddr ${SERVICE} udp dport ${PORT} dnat to ${address}`;
  const table = `table ip kube { chain output { type nat hook output priority -100; ${rule}; }; }`;
  await node.run('nft', `add table ip kube; delete table ip kube; ${table}`);
}

/** What kube-proxy does when an endpoint is not serving, or is gone. */
async function forget(address: string): Promise<void> {
  await node.run('sh', '-c', `conntrack -D -p udp --orig-dst ${SERVICE} --reply-src ${address} || true`);
}

interface Counts {
  readonly answered: number;
  readonly lost: number;
}

class Client {
  readonly #process: ChildProcess;
  readonly #lines: Interface;

  constructor() {
    const [program = '', ...words] = [...node.through, process.execPath, fileURLToPath(client)];
    this.#process = spawn(program, [...words, SERVICE, String(PORT), QUERY], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    if (this.#process.stdout === null) throw new Error('a pipe was asked for');
    this.#lines = createInterface(this.#process.stdout);
  }

  go(): void {
    this.#process.stdin?.write('go\n');
  }

  /** @returns the counts, when every query is settled */
  async stop(word: 'pause' | 'end'): Promise<Counts> {
    this.#process.stdin?.write(`${word}\n`);
    const [line] = await once(this.#lines, 'line');
    return JSON.parse(String(line).replace('paused ', ''));
  }

  /** Asks until so many queries have ended in one way. It is then paused. */
  async until(how: keyof Counts, count: number): Promise<void> {
    for (;;) {
      const counts = await this.stop('pause');
      if (counts[how] >= count) return;
      this.go();
      await new Promise((resolve) => setTimeout(resolve, LOOK_INTERVAL));
    }
  }
}

/** Sends the clients of the old server to the new one, and stops the old one. */
async function replace(old: Program): Promise<Client> {
  await node.run('conntrack', '-F');
  await sendTo(OLD);
  const asking = new Client();
  // Each of its 100 ports.
  await asking.until('answered', 100);
  await sendTo(NEW);
  asking.go();
  old.signal('SIGTERM');
  return asking;
}

describeWithTool(['conntrack'], 'kube-proxy', () => {
  describeOnNode('a server that ends', () => {
    it('answers on until kube-proxy has forgotten it, and no query is lost', async () => {
      const [old] = [await serve(OLD, '--lameduck=1s', '--drain=10m'), await serve(NEW)];
      const asking = await replace(old);
      await old.heard('queries still arrive: answering on');
      const get = `fetch('http://${OLD}:8081/readiness').then(async (reply) => console.log(await reply.text()))`;
      const readiness = await node.run(process.execPath, '-e', get);
      expect(readiness.trim()).toBe('shutting down');
      // A reply that comes while kube-proxy forgets is lost, whatever the server does.
      await asking.stop('pause');
      await forget(OLD);
      asking.go();
      expect(await old.exit).toEqual({ code: 0, signal: null });
      const { answered, lost } = await asking.stop('end');
      expect(answered).toBeGreaterThan(200);
      expect(lost).toBe(0);
    });

    it('loses queries without that', async () => {
      const [old] = [await serve(OLD, '--lameduck=1s', '--drain=0s'), await serve(NEW)];
      const asking = await replace(old);
      expect(await old.exit).toEqual({ code: 0, signal: null });
      // It asks the ended server until kube-proxy forgets that.
      await asking.until('lost', 1);
      await forget(OLD);
      const { lost } = await asking.stop('pause');
      asking.go();
      await asking.until('answered', 300);
      expect((await asking.stop('end')).lost).toBe(lost);
    });
  });
});
