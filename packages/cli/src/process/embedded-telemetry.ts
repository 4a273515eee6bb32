/**
 * The export of logs and traces of a server to a collector that the environment names.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { Telemetry } from '@portolan/ops/control/telemetry.ts';
import type { Server } from '@portolan/server/server.ts';
import { readOtlpSettings } from '@portolan/server/settings/otlp/otlp-settings.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import type { Companion } from './life-cycle.ts';

/** @returns undefined if nothing is exported, also because the environment has a mistake: the server answers all the same */
export function createTelemetry(server: Server, role: string, log: Log): Companion | undefined {
  const reading = readOtlpSettings((name) => process.env[name]);
  if (reading.kind === 'bad') {
    for (const problem of reading.problems)
      log.error(`otlp: nothing is exported: ${describeProblem(problem)}`);
    return undefined;
  }
  if (reading.value === undefined) return undefined;
  const telemetry = new Telemetry({ settings: reading.value, server, role, clock: systemClock, log });
  return { serve: () => telemetry.start(), stop: () => telemetry.stop() };
}
