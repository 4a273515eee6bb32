/**
 * The export of logs and traces beside a server. What it needs is loaded only where the environment names a collector.
 */
import { systemClock } from '../base/clock.ts';
import type { Log } from '../base/log.ts';
import { describeProblem } from '../config/values/problem.ts';
import type { Server } from '../server/server.ts';

export interface RunningTelemetry {
  stop(): Promise<void>;
}

/** @returns undefined where nothing is exported, also because the environment has a mistake: the server answers all the same */
export async function startTelemetry(
  server: Server,
  role: string,
  log: Log,
): Promise<RunningTelemetry | undefined> {
  if (!Object.keys(process.env).some((name) => name.startsWith('OTEL_'))) return undefined;
  const { readOtlpSettings } = await import('../config/otlp/otlp-settings.ts');
  const reading = readOtlpSettings((name) => process.env[name]);
  if (reading.kind === 'bad') {
    for (const problem of reading.problems)
      log.error(`otlp: nothing is exported: ${describeProblem(problem)}`);
    return undefined;
  }
  if (reading.value === undefined) return undefined;
  const { Telemetry } = await import('../server/control/telemetry.ts');
  const telemetry = new Telemetry({ settings: reading.value, server, role, clock: systemClock, log });
  telemetry.start();
  return telemetry;
}
