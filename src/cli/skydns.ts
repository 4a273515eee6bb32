/**
 * `portolan skydns`: the command line and the environment of SkyDNS.
 */
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { logLinesTo } from '../base/log-output.ts';
import { countCores, readersFor } from '../config/cores.ts';
import { findDefaultDrain } from '../config/server/drain.ts';
import { readSkyDnsFlags, SKYDNS_FLAGS } from '../config/skydns/skydns-flags.ts';
import { applyConfig, readSettings, type SkyDnsSettings } from '../config/skydns/skydns-settings.ts';
import { describeProblem, type Problem } from '../config/values/problem.ts';
import { ValueReader } from '../config/values/value-reader.ts';
import { placeOfServer } from '../observe/control/control-place.ts';
import { type AdjustableLog, createLog, usesColours } from '../observe/log.ts';
import { EtcdPlugin } from '../plugins/etcd/etcd-plugin.ts';
import { createServerControl } from '../server/control/server-control.ts';
import { Server } from '../server/server.ts';
import { SkyDnsFrontEnd } from '../server/skydns/skydns-front-end.ts';
import { readKey } from '../sources/etcd/read-key.ts';
import { extendBlocks } from './blocks-extra.ts';
import type { RunCommand } from './command.ts';
import { helpText } from './help-text.ts';
import { serverDependencies } from './server-dependencies.ts';
import { onReloadSignal, onReopenSignal, onStopSignal } from './signals.ts';
import { type RunningTelemetry, startTelemetry } from './telemetry.ts';
import { VERSION } from './version.ts';

export const runSkyDns: RunCommand = async (words, command) => {
  const reading = readSkyDnsFlags(words, process.env);
  if (reading.kind !== 'flags') {
    process.stdout.write(
      reading.kind === 'help'
        ? helpText(command, SKYDNS_FLAGS, HELP)
        : `Portolan version ${VERSION}, in place of SkyDNS\n`,
    );
    return 0;
  }
  const settings = readSettings(reading.read, process.env);
  if (settings.kind === 'bad') return complain(settings.problems, 2);
  return await serve(settings.settings);
};

async function serve(flags: SkyDnsSettings): Promise<number> {
  const isTerminal = process.stderr.isTTY === true;
  const log = createLog({
    level: flags.isVerbose ? 'debug' : 'info',
    format: isTerminal ? 'text' : 'json',
    colours: usesColours(isTerminal, process.env),
    clock: systemClock,
    write: logLinesTo(process.stderr),
  });
  const read = new ValueReader();
  const settings = await readConfig(flags, read, log);
  if (read.problems.length > 0) return complain(read.problems, 1);
  return await runUntilStopped(flags, settings, log);
}

const HELP = {
  about: 'Answers names from the keys of an etcd, as SkyDNS does, and forwards all others.',
  notes: `Names in parentheses are of environment variables. PROMETHEUS_PORT, PROMETHEUS_PATH, PROMETHEUS_NAMESPACE and
PROMETHEUS_SUBSYSTEM open the metrics of SkyDNS. The JSON of the key config in etcd wins over the flags.`,
};

/** The settings with the key `config` applied; only the flags while etcd is unavailable. */
async function readConfig(flags: SkyDnsSettings, read: ValueReader, log: Log): Promise<SkyDnsSettings> {
  const { etcd, version, prefix } = flags;
  try {
    const json = await readKey({ etcd, version, key: `/${prefix}/config` }, systemClock);
    return json === undefined ? flags : applyConfig(flags, json, read);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.warn('config not read from etcd, flags count until it is there', { reason });
    return flags;
  }
}

async function runUntilStopped(
  flags: SkyDnsSettings,
  settings: SkyDnsSettings,
  log: AdjustableLog,
): Promise<number> {
  const dependencies = serverDependencies(log);
  const udpReaders = readersFor(countCores());
  const frontEnd = new SkyDnsFrontEnd(flags, settings, {
    udpReaders,
    drain: findDefaultDrain(process.env),
    ...dependencies,
  });
  const served = await extendBlocks(frontEnd, settings.blocksExtra, log);
  const server = new Server(served, dependencies);
  const etcd = server.engine.find(EtcdPlugin);
  if (etcd !== undefined) frontEnd.follow(etcd.source);
  const control = createServerControl({
    ...{ server, place: placeOfServer(undefined, 'skydns'), role: 'skydns', log, messages: log },
    format: 'json',
    clock: systemClock,
  });
  let telemetry: RunningTelemetry | undefined;
  onReloadSignal(() => void server.reload());
  onReopenSignal(() => server.queryLog.reopen());
  const stopped = new Promise<void>((resolve) => onStopSignal(() => resolve()));
  // Portolan's own timers are unreferenced; this one keeps the process alive.
  const hold = setInterval(() => {}, 2 ** 30);
  try {
    await control.start();
    // The start may wait for etcd; a signal ends that wait.
    const isServing = await Promise.race([server.start().then(() => true), stopped.then(() => false)]);
    if (isServing) telemetry = await startTelemetry(server, 'skydns', log);
    await stopped;
    return 0;
  } catch (error) {
    process.stderr.write(`portolan skydns: ${error instanceof Error ? error.message : String(error)}\n`);
    return 1;
  } finally {
    clearInterval(hold);
    await server.stop();
    await telemetry?.stop();
    await control.stop();
  }
}

function complain(problems: readonly Problem[], exitCode: number): number {
  for (const problem of problems) process.stderr.write(`portolan skydns: ${describeProblem(problem)}\n`);
  return exitCode;
}
