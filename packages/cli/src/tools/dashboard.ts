/**
 * `portolan dashboard`: pages that show the servers of a cluster in a browser, served on loopback.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import { describeError } from '@portolan/kernel/base/describe-error.ts';
import { logLinesTo } from '@portolan/kernel/base/log-output.ts';
import { DASHBOARD_FLAGS, type DashboardFlags } from '@portolan/ops/control/settings/dashboard-flags.ts';
import { Dashboard } from '@portolan/ops/dashboard/dashboard.ts';
import { findPods } from '@portolan/ops/dashboard/pod-replicas.ts';
import { type FindReplicas, socketReplica } from '@portolan/ops/dashboard/replica.ts';
import { HttpHost } from '@portolan/server/observe/http-host.ts';
import { createLog } from '@portolan/server/observe/log.ts';
import type { RunCommand } from '../grammar/command.ts';
import { runCommandLine } from '../grammar/command-line.ts';
import { packageFolder } from '../process/package-folder.ts';
import { onStopSignal } from '../process/signals.ts';
import { fail } from './control-output.ts';

const ADDRESS = '127.0.0.1';

export const runDashboard: RunCommand = async (words, command) => {
  return await runCommandLine(words, { ...command, flags: DASHBOARD_FLAGS }, serveDashboard);
};

/** Until a signal to stop. */
async function serveDashboard(flags: DashboardFlags): Promise<void> {
  const port = Number(flags.port ?? '0');
  if (!Number.isInteger(port) || port < 0 || port > 65_535)
    fail('dashboard', `--port: not a port: "${flags.port}". Give a number from 0 to 65535.`, 2);
  const write = logLinesTo(process.stderr);
  const log = createLog({ level: 'warn', format: 'text', clock: systemClock, write });
  const dashboard = new Dashboard({
    address: ADDRESS,
    port,
    flag: '--port',
    folder: packageFolder('dist/dashboard'),
    find: makeReplicaFinder(flags),
    http: new HttpHost({ clock: systemClock, log }),
    clock: systemClock,
  });
  try {
    await dashboard.start();
  } catch (error) {
    fail('dashboard', describeError(error), 3);
  }
  process.stdout.write(`${dashboard.url}\n`);
  await new Promise<void>((resolve) => onStopSignal(() => resolve()));
  await dashboard.stop();
}

function makeReplicaFinder({
  socket = [],
  namespace = 'kube-system',
  selector = 'k8s-app=kube-dns',
  ...flags
}: DashboardFlags): FindReplicas {
  if (socket.length > 0) return async () => socket.map(socketReplica);
  return findPods({ namespace, selector, container: flags.container, context: flags.context });
}
