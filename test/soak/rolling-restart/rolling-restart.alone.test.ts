/**
 * One process takes over the port from the other, many times, while many clients send queries: no query over UDP is lost or
 * answered wrongly.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { afterEach, beforeAll, expect, it, onTestFinished } from 'vitest';
import { BurstLoad } from '../../support/burst-load.ts';
import { DoubleProcess } from '../../support/double-process.ts';
import { endAllPrograms, look, type Serving, servePortolan } from '../../support/portolan.ts';
import { soakLength } from '../../support/soak-length.ts';
import { bundleLoadedCluster, type LoadedCluster } from '../loaded-cluster.ts';
import { ConnectionLoad } from './connection-load.ts';

const TURNS = soakLength(20, 8);
/** Of a generated cluster: two services that readers answer for, one name that is not there, one question for the chain. */
const FROM_TABLE = [
  { name: 'svc-0.ns-0.svc.cluster.local', answer: '10.96.0.1' },
  { name: 'Svc-199.Ns-9.svc.cluster.LOCAL', answer: '10.96.0.200' },
];
const QUESTIONS = [
  ...FROM_TABLE,
  { name: 'none.ns-0.svc.cluster.local', answer: 'NXDOMAIN' },
  { name: 'www.example.com', answer: 'REFUSED' },
];

let entries: LoadedCluster;
beforeAll(async () => {
  entries = await bundleLoadedCluster();
});
afterEach(endAllPrograms);

async function serve(url: string, port?: number): Promise<Serving> {
  const flags = ['--kube-master-url', url, '--takeover', '--lameduck', '100ms', '--udp-readers', '2'];
  const serving = await servePortolan(flags, port === undefined ? {} : { port });
  expect(await look(serving, '/readyz')).toEqual({ status: 200, text: 'ok\n' });
  return serving;
}

it(`no query is lost in ${TURNS} restarts under load`, { timeout: 180_000 }, async () => {
  const double = await DoubleProcess.start(entries.double, '--services', '200', '--endpoints', '2');
  onTestFinished(() => double.end());
  let current = await serve(double.url);
  const { address, port } = current;
  const plan = { address, port, questions: QUESTIONS, sockets: 32, burst: 64, every: 10 };
  const load = new BurstLoad(entries.load, plan);
  const connections = new ConnectionLoad(current, FROM_TABLE, 4);
  const both = async () => {
    const before = load.answered;
    await waitUntil('answers', () => load.answered > before + 500, { deadline: 30_000 });
  };
  let unaccepted = 0;
  for (let turn = 0; turn < TURNS; turn += 1) {
    const next = await serve(double.url, port);
    await both();
    current.program.signal('SIGTERM');
    expect(await current.program.exit).toEqual({ code: 0, signal: null });
    unaccepted += countUnaccepted(current);
    current = next;
  }
  await both();
  await connections.stop();
  await load.stop();
  const { asked, lost, wrong, refused } = load;
  console.log(
    `${TURNS} restarts: ${lost} of ${asked} queries by UDP lost; connections: ${JSON.stringify(connections.fates)}, ` +
      `${unaccepted} not yet accepted when a listener closed`,
  );
  expect({ lost, wrong, refused, unanswered: asked - load.answered }).toEqual({
    lost: 0,
    wrong: 0,
    refused: 0,
    unanswered: 0,
  });
  const { answered, wrong: wrongByTcp, refused: refusedByTcp, unanswered } = connections.fates;
  expect(answered).toBeGreaterThan(TURNS * 10);
  expect({ wrongByTcp, refusedByTcp, unanswered }).toEqual({ wrongByTcp: 0, refusedByTcp: 0, unanswered: 0 });
});

function countUnaccepted({ program }: Serving): number {
  const line = program.log.find(({ message }) => message === 'connections left unaccepted');
  return Number(line?.['count'] ?? 0);
}
