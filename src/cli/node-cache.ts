/**
 * `portolan node-cache`: replaces NodeLocal DNSCache's program, with its command line.
 */

import { rmSync } from 'node:fs';
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { logLinesTo } from '../base/log-output.ts';
import { METRICS_TEXT } from '../base/metrics/text-format.ts';
import { needPrograms } from '../base/other-programs.ts';
import { adaptBlocks } from '../config/node-cache/node-cache-blocks.ts';
import { NODE_CACHE_FLAGS, readNodeCacheFlags } from '../config/node-cache/node-cache-flags.ts';
import type { NodeCachePlan } from '../config/node-cache/node-cache-plan.ts';
import { describeProblem } from '../config/values/problem.ts';
import { HttpServer, HttpServerError } from '../observe/http-server.ts';
import { openSharedPort } from '../observe/shared-port.ts';
import { NodeCacheMetrics } from '../roles/node-network/node-cache-metrics.ts';
import type { NodeNetwork } from '../roles/node-network/node-network.ts';
import { createNodeNetwork } from '../roles/node-network/set-up-network.ts';
import { createCoreDnsLog } from '../server/coredns/coredns-log.ts';
import { FollowedCorefile } from '../server/node-cache/followed-corefile.ts';
import type { Server } from '../server/server.ts';
import type { RunCommand } from './command.ts';
import { printAbout, type ServingSteps, serveCorefile } from './coredns.ts';
import { EITHER_DASHES, helpText } from './help-text.ts';
import { onStopSignal } from './signals.ts';

export const runNodeCache: RunCommand = async (words, command) => {
  const reading = readNodeCacheFlags(words);
  switch (reading.kind) {
    case 'help':
      process.stdout.write(helpText(command, NODE_CACHE_FLAGS, HELP));
      return 0;
    case 'version':
    case 'plugins':
      return printAbout(reading.kind);
    case 'bad':
      for (const problem of reading.problems)
        process.stderr.write(`portolan node-cache: ${describeProblem(problem)}\n`);
      return 1;
    case 'good': {
      const isDebug = reading.logLevel === 'debug';
      const log = createCoreDnsLog({ isDebug, write: logLinesTo(process.stdout) });
      return await (reading.plan.setsUpOnly ? setUp : serve)(reading.plan, log);
    }
  }
};

const HELP = {
  about: `Caches the DNS of a node: renders a Corefile from its template and the ConfigMap of kube-dns, sets up the addresses that
pods send their queries to, and serves it.`,
  notes: EITHER_DASHES,
};

/** Prepares the network for a server that lacks the privileges for it. @returns the exit code */
async function setUp(plan: NodeCachePlan, log: Log): Promise<number> {
  let hasFailed = false;
  const network = await createNodeNetwork({
    plan,
    onError: (error) => {
      hasFailed ||= error === 'interface_add';
    },
    clock: systemClock,
    log,
  });
  await network.prepare();
  await network.leave();
  return hasFailed ? 1 : 0;
}

async function serve(plan: NodeCachePlan, log: Log): Promise<number> {
  needPrograms('node-cache runs ip and iptables');
  let isToStop = false;
  onStopSignal(() => {
    isToStop = true;
  });
  // The file distinguishes this process from a predecessor that answers on the same addresses.
  if (plan.pidFile !== undefined) rmSync(plan.pidFile, { force: true });
  const metrics = new NodeCacheMetrics();
  let writeMetrics = () => metrics.render();
  let server: Server | undefined;
  const corefile = new FollowedCorefile({
    plan,
    environment: process.env,
    // Before the server runs, the file needs no reload.
    onChange: () => void server?.reload(),
    onError: () => metrics.addError('configmap'),
    clock: systemClock,
    log,
  });
  const network = await createNodeNetwork({
    plan,
    onError: (error) => metrics.addError(error),
    clock: systemClock,
    log,
  });
  metrics.showRules(network);
  const http = await openMetrics(plan, () => writeMetrics(), log);
  try {
    await corefile.start();
    await network.prepare();
    if (isToStop) return 0;
    const { corefile: conf } = plan;
    const onlyOfCoreDns = { autoscaler: undefined, events: undefined };
    const command = { ...plan, kind: 'run', conf, port: String(plan.port), ...onlyOfCoreDns } as const;
    const onServing: ServingSteps['serving'] = (serving, write) => {
      server = serving;
      writeMetrics = write;
      metrics.countInto(serving.engine.metrics);
      network.start();
    };
    return await serveCorefile(command, {
      ...stepsOf(plan, network, onServing),
      settingsProblems: () => corefile.problems,
      missingRules: () => network.missingRules,
    });
  } finally {
    // Covers a failed start, for example if another process has the port.
    await (plan.skipsTeardown ? network.leave() : network.stopUnlessServed());
    await corefile.stop();
    await http?.stop();
  }
}

/**
 * Removes the rules while DNS still answers, so that packets do not reach a closed port. With `-takeover` another process may serve
 * the same addresses; then its rules stay.
 */
function stepsOf(plan: NodeCachePlan, network: NodeNetwork, serving: ServingSteps['serving']): ServingSteps {
  const { skipsTeardown, takeover } = plan;
  return {
    role: 'node-cache',
    adapt: adaptBlocks,
    takeover,
    // Its rules send clients elsewhere before it stops.
    drain: 0,
    serving,
    stopping: () => (skipsTeardown || takeover ? network.hold() : network.stop()),
    stopped: () => (skipsTeardown ? network.leave() : network.stopUnlessServed()),
  };
}

async function openMetrics(
  { metricsAddress: place, takeover }: NodeCachePlan,
  writeMetrics: () => string,
  log: Log,
): Promise<HttpServer | undefined> {
  const [, host = '', port = ''] = /^(.*):(\d+)$/.exec(place) ?? [];
  const address = host.replace(/^\[(.*)\]$/, '$1');
  const metrics = () => ({ status: 200, type: METRICS_TEXT, body: writeMetrics() });
  const options = {
    address: address === '' ? undefined : address,
    port: Number(port),
    waitForPort: true,
    openPort: takeover ? openSharedPort : undefined,
    flag: '-metrics-listen-address',
  };
  const server = new HttpServer(options, new Map([['/metrics', metrics]]), systemClock, log);
  try {
    await server.start();
    return server;
  } catch (error) {
    if (!(error instanceof HttpServerError)) throw error;
    // As in the original, do not fail: serving DNS matters more.
    log.error(error.message);
    return undefined;
  }
}
