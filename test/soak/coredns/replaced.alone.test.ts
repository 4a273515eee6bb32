/**
 * The Deployment of CoreDNS gets our image: the new pod is ready before the old one stops. Clients lose no query, and Prometheus
 * shows the same metrics as before, for unchanged rules and dashboards.
 *
 * The old pod is our program too, in place of CoreDNS: the recorded cases prove that its answers and metrics are those of
 * CoreDNS.
 */

import { setTimeout as sleep } from 'node:timers/promises';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import type { Program } from '@portolan/testing/program.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../../api-server/api-server.ts';
import type { KubernetesObject } from '../../api-server/object-store.ts';
import { namespace, service, slice } from '../../list-watch/harness.ts';
import { endAllPrograms, runPortolan } from '../../support/portolan.ts';
import { itWithTool } from '../../support/tools.ts';
import { ALERTS, ALERTS_WITHOUT_UPSTREAM, SHOWN, SHOWN_OF_CHANGES } from './mixin.ts';
import { Prometheus } from './prometheus.ts';

afterEach(endAllPrograms);

/** Milliseconds between two queries: so few that those that fail later are a share to be seen. */
const PAUSE = 20;
const FAILING = 100;

/** A name of the cluster, one that is not there, one that is cached, and one that is asked upstream. */
function question(turn: number): readonly [name: string, answer: string] {
  switch (turn % 4) {
    case 0:
      return ['web.default.svc.cluster.local', '10.96.0.10'];
    case 1:
      return ['none.default.svc.cluster.local', 'NXDOMAIN'];
    case 2:
      return ['www.example.com', '192.0.2.1'];
    default:
      return [`new-${turn}.example.com`, '192.0.2.1'];
  }
}

/** A container of the pod: what the kubelet starts, and where it looks. */
interface Pod {
  readonly program: Program;
  readonly port: number;
  readonly ready: number;
}

/** What selects the pods: a query goes to one of those that are ready. */
class Service {
  readonly ready: Pod[] = [];
  answered = 0;
  readonly failures: string[] = [];
  #isAsking = true;
  #asked = 0;

  async keepAsking(): Promise<void> {
    while (this.#isAsking) {
      const [name, answer] = question(this.#asked);
      this.#asked += 1;
      const pod = this.ready[this.#asked % this.ready.length];
      if (pod === undefined) throw new Error('no pod is ready');
      const got = await askShort({ address: '127.0.0.1', port: pod.port }, name, 'A').catch(String);
      if (got === answer) this.answered += 1;
      else this.failures.push(`${name}: ${got}`);
      await sleep(PAUSE);
    }
  }

  stop(): void {
    this.#isAsking = false;
  }

  async moreAnswers(count: number): Promise<void> {
    const before = this.answered + this.failures.length;
    await waitUntil('answers', () => this.answered + this.failures.length >= before + count, {
      deadline: 60_000,
    });
  }
}

async function startPod(
  metrics: number,
  url: string,
  upstream: string,
  flags: readonly string[],
): Promise<Pod> {
  const port = await findFreePort();
  const health = await findFreePort();
  const ready = await findFreePort();
  const folder = await makeTemporaryFolder();
  // As kubeadm writes it, on ports of its own.
  const corefile = `.:${port} {
    errors
    health 127.0.0.1:${health} {
       lameduck 1s
    }
    ready 127.0.0.1:${ready}
    kubernetes cluster.local in-addr.arpa ip6.arpa {
       endpoint ${url}
       pods insecure
       fallthrough in-addr.arpa ip6.arpa
       ttl 30
    }
    prometheus 127.0.0.1:${metrics}
    forward . ${upstream} {
       max_concurrent 1000
    }
    cache 30 {
       disable success cluster.local
       disable denial cluster.local
    }
    loop
    reload
    loadbalance
}
`;
  const conf = await folder.write('Corefile', corefile);
  const program = runPortolan(['coredns', '-conf', conf, ...flags]);
  const isReady = async () => {
    const response = await fetch(`http://127.0.0.1:${ready}/ready`).catch(() => undefined);
    return response?.status;
  };
  await expect.poll(isReady, { timeout: 60_000 }).toBe(200);
  return { program, port, ready };
}

/** Of a headless service, as the controller notes its changes. */
function changedSlice(address: string): KubernetesObject {
  const { metadata, ...rest } = slice('db-1', 'db', address);
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': new Date().toISOString() };
  return { ...rest, metadata: { ...metadata, annotations } };
}

itWithTool(
  'prometheus',
  'neither clients nor Prometheus miss anything when the image of CoreDNS is replaced',
  async () => {
    const objects = [namespace('default'), service('web'), slice('web-1', 'web'), service('db', 'None')];
    const double = await ApiServerDouble.start({ objects });
    onTestFinished(() => double.stop());
    const { url } = double;
    const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
    onTestFinished(() => upstream.stop());
    const before = await findFreePort();
    const after = await findFreePort();
    const prometheus = await Prometheus.start([
      { name: 'coredns-before', port: before },
      { name: 'coredns-after', port: after },
    ]);
    const empty = async (expressions: readonly string[]) => {
      const has = await Promise.all(expressions.map((expression) => prometheus.has(expression)));
      return expressions.filter((_, index) => has[index] !== true);
    };
    const shows = (expressions: readonly string[]) =>
      expect.poll(() => empty(expressions), { timeout: 30_000, interval: 250 }).toEqual([]);

    const compat = '-metrics-compat=1.10';
    const old = await startPod(before, url, upstream.address, [compat, '-compat=1.14']);
    const kubeDns = new Service();
    kubeDns.ready.push(old);
    const asking = kubeDns.keepAsking();
    await shows(SHOWN);

    const pod = await startPod(after, url, upstream.address, [compat]);
    kubeDns.ready.push(pod);
    await kubeDns.moreAnswers(20);
    kubeDns.ready.splice(0, 1);
    old.program.signal('SIGTERM');
    expect((await old.program.exit).code).toBe(0);
    await kubeDns.moreAnswers(20);
    const ofNew = (expression: string) => expression.replaceAll('{k8s_app=', '{pod="coredns-after",k8s_app=');
    await shows(SHOWN.map(ofNew));
    // A rate needs two changes.
    let host = 0;
    const changes = setInterval(() => {
      host += 1;
      double.put(changedSlice(`10.244.0.${host}`));
    }, 400);
    await shows(SHOWN_OF_CHANGES.map(ofNew)).finally(() => clearInterval(changes));
    expect(await empty(ALERTS)).toEqual(ALERTS);

    kubeDns.stop();
    await asking;
    console.log(`${kubeDns.answered} queries answered, ${kubeDns.failures.length} failed`);
    expect(kubeDns.failures).toEqual([]);
    upstream.react = () => {};
    const server = { address: '127.0.0.1', port: pod.port };
    const names = (turn: number) =>
      Array.from({ length: FAILING }, (_, index) => `${index}.${turn}.example.com`);
    for (const turn of [1, 2]) {
      const answers = await Promise.all(names(turn).map((name) => askShort(server, name, 'A')));
      expect(new Set(answers)).toEqual(new Set(['SERVFAIL']));
    }
    await shows(ALERTS_WITHOUT_UPSTREAM);
  },
  180_000,
);
