/**
 * No state of the outside takes all replicas out of a Service at once: a server that was ready stays ready, and says what is wrong.
 */
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { askShort } from '@portolan/testing/client/ask.ts';
import { LoopbackUpstream } from '@portolan/testing/upstream/loopback-upstream.ts';
import { reply } from '@portolan/testing/upstream/reply.ts';
import { afterEach, expect, it, onTestFinished } from 'vitest';
import { ApiServerDouble } from '../api-server/api-server.ts';
import { namespace, service } from '../list-watch/harness.ts';
import { formatSocketName, runToEnd } from '../support/control.ts';
import { endAllPrograms } from '../support/portolan.ts';
import { type RunningRole, startClusterRole } from '../support/roles.ts';

afterEach(endAllPrograms);

interface Outside {
  readonly api: ApiServerDouble;
  /** Has the upstream server answer nothing from now on. */
  readonly silence: () => void;
}

/** States of the outside, each with what the server says of it. */
const STATES: readonly (readonly [string, (outside: Outside) => unknown, RegExp])[] = [
  ['the API server is gone', ({ api }) => api.stop(), /waiting/],
  [
    'the API server refuses',
    ({ api }) => {
      api.access = { rules: {} };
      api.resetWatches();
    },
    /forbidden/,
  ],
  [
    'the API server has lost its objects',
    ({ api }) => {
      api.replaceStore([namespace('default')], 5_000);
      api.resetWatches();
      api.compact();
    },
    /names-lost/,
  ],
  [
    'neither the API server nor the upstream answers',
    async ({ api, silence }) => {
      silence();
      await api.stop();
    },
    /waiting/,
  ],
];

const makeName = (number: number) => `s${number}.default.svc.cluster.local`;

async function readStatus(
  running: RunningRole,
  role: string,
): Promise<{ readonly ready: boolean; readonly text: string }> {
  const socket = `--socket=${formatSocketName(running.program, role)}`;
  const { text } = await runToEnd('control', socket, '--output=json', 'status');
  const { ready } = JSON.parse(text) as { readonly ready: boolean };
  return { ready, text };
}

it.each(
  (['serve', 'kube-dns', 'coredns'] as const).flatMap((role) =>
    STATES.map(([state, begin, says]) => ({ role, state, begin, says })),
  ),
)('$role stays ready while $state', async ({ role, begin, says }) => {
  const numbers = Array.from({ length: 30 }, (_, index) => index);
  const services = numbers.map((number) => service(`s${number}`, `10.96.1.${number + 1}`));
  const api = await ApiServerDouble.start({ objects: [namespace('default'), ...services] });
  onTestFinished(() => api.stop());
  let isSilent = false;
  const upstream = await LoopbackUpstream.start(({ query, send }) => {
    if (!isSilent) send(reply(query, {}));
  });
  onTestFinished(() => upstream.stop());
  const running = await startClusterRole(role, { upstream: upstream.port, api: api.url });
  const isServing = () => api.watches.size > 1 || running.program.ended !== undefined;
  await waitUntil('the watches', isServing);
  // Its socket may not be there yet.
  await waitUntil('readiness', async () => {
    const status = await readStatus(running, role).catch(() => undefined);
    return status?.ready === true;
  });
  const silence = () => {
    isSilent = true;
  };
  await begin({ api, silence });
  const isSaid = async () => {
    const { ready, text } = await readStatus(running, role);
    expect([ready, text]).toEqual([true, text]);
    return says.test(text);
  };
  await waitUntil(`a status that says ${says}`, isSaid, { deadline: 50_000 });
  for (const number of numbers)
    expect(await askShort(running, makeName(number), 'A')).toBe(`10.96.1.${number + 1}`);
});
