/**
 * A Corefile that changes a hundred times while many clients send queries and services come and go: no query is lost, all answers are
 * correct, and the cluster is followed by the same watches.
 */
import { writeFile } from 'node:fs/promises';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { makeTemporaryFolder } from '@portolan/kernel/base/testing/temporary-folder.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { BurstLoad } from '../../support/burst-load.ts';
import { DoubleProcess } from '../../support/double-process.ts';
import { endAllPrograms, runPortolan } from '../../support/portolan.ts';
import { bundleLoadedCluster, type LoadedCluster } from '../loaded-cluster.ts';

const RELOADS = 100;
const QUESTIONS = [
  { name: 'svc-0.ns-0.svc.cluster.local', answer: '10.96.0.1' },
  { name: 'none.ns-0.svc.cluster.local', answer: 'NXDOMAIN' },
  { name: 'own.example', answer: '192.0.2.7' },
  { name: 'www.example.com', answer: '192.0.2.1' },
  { name: 'any.template.example', answer: '192.0.2.9' },
];

let entries: LoadedCluster;
beforeAll(async () => {
  entries = await bundleLoadedCluster();
});
afterEach(endAllPrograms);

const service = (name: string, address: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name, namespace: 'ns-0' },
  spec: { type: 'ClusterIP', clusterIP: address, clusterIPs: [address], ports: [] },
});

interface Places {
  readonly url: string;
  readonly upstream: string;
  readonly other: number;
}

/** Each turn has other TTLs, and a listener that comes and goes. */
function corefile(turn: number, { url, upstream, other }: Places): string {
  const more = turn % 2 === 0 ? '' : `more.example:${other} {\n  bind 127.0.0.1\n  whoami\n}\n`;
  return `${more}. {
  bind 127.0.0.1
  errors
  kubernetes cluster.local in-addr.arpa {
    endpoint ${url}
    ttl ${5 + (turn % 3)}
    fallthrough in-addr.arpa
  }
  hosts {
    192.0.2.7 own.example
    ttl ${10 + turn}
    fallthrough
  }
  template IN A template.example {
    answer "{{ .Name }} ${turn + 1} IN A 192.0.2.9"
  }
  forward . ${upstream}
  cache ${20 + (turn % 5)}
  loadbalance
}
`;
}

it(`no query is lost in ${RELOADS} reloads under load`, { timeout: 180_000 }, async () => {
  const double = await DoubleProcess.start(entries.double, '--services', '50', '--endpoints', '2');
  onTestFinished(() => double.end());
  const upstream = await LoopbackUpstream.start(({ query, send }) => send(reply(query)));
  onTestFinished(() => upstream.stop());
  const port = await findFreePort();
  const other = await findFreePort();
  const places = { url: double.url, upstream: upstream.address, other };
  const folder = await makeTemporaryFolder();
  const conf = await folder.write('Corefile', corefile(0, places));
  const program = runPortolan(['coredns', '-conf', conf, '-dns.port', String(port)]);
  await waitUntil('the banner', () => program.output.includes('linux/'));

  const plan = { address: '127.0.0.1', port, questions: QUESTIONS, sockets: 8, burst: 8, every: 10 };
  const load = new BurstLoad(entries.load, plan);
  const moreAnswers = async () => {
    const before = load.answered;
    await waitUntil('answers', () => load.answered > before + 20, { deadline: 30_000 });
  };
  // Each list is followed by a watch; a silent watch is compared by lists too, on a busy machine.
  const countWatches = async () => {
    const { requests } = await double.state();
    const isWatch = (what: string) => what.startsWith('watch ');
    return Object.entries(requests).reduce((sum, [what, count]) => sum + (isWatch(what) ? count : 0), 0);
  };
  const watches = await countWatches();
  const completed = () => program.output.split('Reloading complete').length - 1;
  for (let turn = 1; turn <= RELOADS; turn += 1) {
    await writeFile(conf, corefile(turn, places));
    await double.put(service(`comes-${turn % 7}`, `10.97.0.${turn}`));
    program.signal('SIGUSR1');
    await waitUntil(`reload ${turn}`, () => completed() === turn, { deadline: 30_000 });
    await moreAnswers();
  }
  await load.stop();
  expect(await countWatches()).toBe(watches);
  const { asked, lost, wrong, refused } = load;
  console.log(`${RELOADS} reloads: ${lost} of ${asked} queries lost`);
  expect({ lost, wrong, refused, unanswered: asked - load.answered }).toEqual({
    lost: 0,
    wrong: 0,
    refused: 0,
    unanswered: 0,
  });
});
