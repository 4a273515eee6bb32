/**
 * The exechealthz of older pods: a bridge from commands to the HTTP probes of the kubelet. Each path answers for one command:
 * 200 while its last run succeeded and is recent, else 503 with the reason.
 */
import type { Clock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import type { HttpPort } from '@portolan/server/observe/http-host.ts';
import { type HttpReply, PLAIN_TEXT } from '@portolan/server/observe/http-route.ts';
import { ProbeCommand, type ProbeVerdict } from './check.ts';
import type { HealthzPlan } from './settings/healthz-plan.ts';
import { runShellCommand } from './shell-command.ts';

export interface HealthzDependencies {
  readonly clock: Clock;
  readonly log: Log;
}

export class Healthz {
  readonly httpPort: HttpPort;
  readonly #checks: readonly ProbeCommand[];

  constructor(plan: HealthzPlan, { clock, log }: HealthzDependencies) {
    const run = (command: string, timeout: number) => runShellCommand(command, timeout, clock);
    this.#checks = plan.checks.map((check) => new ProbeCommand(check, plan, { run, clock, log }));
    const routes = new Map(
      this.#checks.map((check) => [check.plan.path, () => toHttpReply(check.judge())] as const),
    );
    const options = { address: undefined, port: plan.port, waitForPort: false, flag: '-port' };
    this.httpPort = { name: 'healthz', options, routes };
  }

  /** Starts running commands. */
  start(): void {
    for (const check of this.#checks) check.start();
  }

  stop(): void {
    for (const check of this.#checks) check.stop();
  }
}

function toHttpReply({ kind, text }: ProbeVerdict): HttpReply {
  return { status: kind === 'healthy' ? 200 : 503, type: PLAIN_TEXT, body: text };
}
