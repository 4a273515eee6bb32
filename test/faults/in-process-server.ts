/**
 * The server inside the test's own process, so that a test can advance its clock, stop its main thread, or kill its readers.
 */
import { memorySources } from '@portolan/frontends/dnsmasq/settings/testing/memory-sources.ts';
import { ServeFrontEnd } from '@portolan/frontends/serve/run/serve-front-end.ts';
import type { ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { type Clock, systemClock } from '@portolan/kernel/base/clock.ts';
import { findFreePort } from '@portolan/kernel/base/testing/free-port.ts';
import { RecordingLog } from '@portolan/kernel/base/testing/recording-log.ts';
import { waitUntil } from '@portolan/kernel/base/testing/wait-until.ts';
import { makeStartThread } from '@portolan/kernel/listen/reader-threads.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import { Server } from '@portolan/server/server.ts';
import { onTestFinished } from 'vitest';
import '../support/load-all-plugins.ts';

export interface InProcessServer {
  readonly server: Server;
  readonly log: RecordingLog;
  readonly address: string;
  readonly port: number;
}

export interface InProcessOptions {
  /** The bundled code of a reader thread. */
  readonly readerEntry: URL;
  readonly clock?: Clock;
  /** Whether to wait until the cluster is listed. Default: yes. */
  readonly isListed?: boolean;
  /** When it stops: `afterFile` in a `beforeAll`, else with the test. */
  readonly atEnd?: (stop: () => Promise<void>) => void;
  /** Called before the server starts: makes its companions. */
  readonly accompany?: (server: Server) => void;
  /** Called while the server starts, again and again: turns its clock. */
  readonly step?: () => void;
}

/** Serves on a free port of loopback until the test ends, with the cluster listed. */
export async function serveInProcess(
  flags: ServeFlags,
  {
    readerEntry,
    clock = systemClock,
    accompany = () => {},
    step = () => {},
    isListed = true,
    atEnd = onTestFinished,
  }: InProcessOptions,
): Promise<InProcessServer> {
  const address = '127.0.0.1';
  const port = await findFreePort(address);
  const own = {
    dnsBindAddress: [address],
    dnsPort: String(port),
    healthzPort: `${address}:0`,
    lameduck: '0s',
    // Nothing of the machine that the tests run on.
    upstream: ['none'],
  };
  const checked = planFromFlags(
    { ...own, ...flags },
    { cores: 2, terminal: false, environment: {} },
    memorySources(),
  );
  if (checked.kind === 'bad') throw new Error(JSON.stringify(checked.problems));
  const log = new RecordingLog();
  const dependencies = {
    environment: {},
    home: undefined,
    exampleFolder: 'examples/cluster',
    clock,
    log,
    http: new HttpHost({ clock, log }),
    startReader: makeStartThread(readerEntry),
    queryLogEntry: new URL('query-log.mjs', readerEntry),
    version: 'test',
  };
  const server = new Server(new ServeFrontEnd(checked.value, dependencies), dependencies);
  accompany(server);
  // A clock that stands still would keep a stopping server waiting.
  atEnd(() => untilDone(server.stop(), step));
  await untilDone(server.start(), step);
  if (isListed) await waitUntil('the cluster to be listed', () => server.readiness().ready, { step });
  return { server, log, address, port };
}

async function untilDone(work: Promise<void>, step: () => void): Promise<void> {
  let done = false;
  const watched = work.finally(() => {
    done = true;
  });
  await waitUntil('the server to start or stop', () => done, { step });
  await watched;
}
