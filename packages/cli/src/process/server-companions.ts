/**
 * The companions that every role has, and those that its flags ask for. Code that few servers need is loaded with its flag.
 */
import { systemClock } from '@portolan/kernel/base/clock.ts';
import type { Log } from '@portolan/kernel/base/log.ts';
import { createServerControl, type ServerControl } from '@portolan/ops/control/server-control.ts';
import type { CarryOut } from '@portolan/server/observe/control/control-socket.ts';
import type { HttpHost } from '@portolan/server/observe/http-host.ts';
import type { Server } from '@portolan/server/server.ts';
import type { AutoscalerPlan } from '@portolan/server/settings/autoscaler/autoscaler-plan.ts';
import type { EventsPlan } from '@portolan/server/settings/events/events-plan.ts';
import type { OwnDashboardPlan } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import type { SidecarPlan } from '@portolan/server/settings/sidecar/sidecar-plan.ts';
import { ANY_CLUSTER, type ApiServerSettings } from './cluster-connection.ts';
import type { EmbeddedAutoscaler } from './embedded-autoscaler.ts';
import type { Companion } from './life-cycle.ts';
import type { Manner } from './manner.ts';
import { packageFolder } from './package-folder.ts';

/** What the flags of a role ask for beside the server. */
export interface CompanionPlans {
  /** For the autoscaler and Events. */
  readonly cluster: ApiServerSettings;
  /** Undefined: no autoscaling. */
  readonly autoscaler: AutoscalerPlan | undefined;
  /** Undefined: no Kubernetes Events. */
  readonly events: EventsPlan | undefined;
  /** Undefined: the server shows no dashboard. */
  readonly dashboard: OwnDashboardPlan | undefined;
  /** Whether the dashboard waits for its port while another process has it. */
  readonly takeover: boolean;
  /** The probes and metrics of the pod's sidecar; undefined: another program has them. */
  readonly sidecar: SidecarPlan | undefined;
}

/** Of a role whose flags ask for none. */
export const NO_COMPANIONS: CompanionPlans = {
  cluster: ANY_CLUSTER,
  autoscaler: undefined,
  events: undefined,
  dashboard: undefined,
  takeover: false,
  sidecar: undefined,
};

/** @returns undefined if there is no autoscaling */
export async function createAutoscaler(
  { autoscaler, cluster }: CompanionPlans,
  log: Log,
): Promise<EmbeddedAutoscaler | undefined> {
  if (autoscaler === undefined) return undefined;
  const embedded = await import('./embedded-autoscaler.ts');
  return new embedded.EmbeddedAutoscaler(autoscaler, cluster, log);
}

/** What companions are made for. */
interface AccompaniedServer {
  readonly server: Server;
  /** Of the process: companions have their ports there. */
  readonly http: HttpHost;
  readonly manner: Manner;
  readonly autoscaler: EmbeddedAutoscaler | undefined;
}

/** @returns the companions in the order of their start */
export async function createCompanions(
  plans: CompanionPlans,
  { server, http, manner, autoscaler }: AccompaniedServer,
): Promise<readonly Companion[]> {
  const { role, log } = manner;
  const control = createControl(server, manner);
  const companions = [
    await createSidecar(plans, http, log),
    startSocket(control, manner),
    await createDashboard(plans, control.socket.carryOut, http, log),
    autoscaler,
    await createEvents(plans, server, log),
    await createTelemetry(server, role, log),
  ];
  return companions.filter((companion) => companion !== undefined);
}

function createControl(server: Server, { role, log, format, controlPlace: place }: Manner): ServerControl {
  return createServerControl({ server, place, role, log, format, messages: log, clock: systemClock });
}

function startSocket(control: ServerControl, { changesUser = false }: Manner): Companion {
  const start = () => control.socket.start();
  const stop = () => control.stop();
  return changesUser ? { serve: start, stop } : { start, stop };
}

async function createSidecar(
  { sidecar: plan }: CompanionPlans,
  http: HttpHost,
  log: Log,
): Promise<Companion | undefined> {
  if (plan === undefined) return undefined;
  const { SIDECAR_PORT, Sidecar } = await import('@portolan/ops/sidecar/sidecar.ts');
  const httpDrops = () => http.countDrops(SIDECAR_PORT);
  const sidecar = new Sidecar(plan, { clock: systemClock, log, httpDrops });
  return {
    async start() {
      await http.open(sidecar.httpPort);
      sidecar.start();
    },
    async stop() {
      sidecar.stop();
      await http.close([SIDECAR_PORT]);
    },
  };
}

async function createDashboard(
  { dashboard: plan, takeover }: CompanionPlans,
  carryOut: CarryOut,
  http: HttpHost,
  log: Log,
): Promise<Companion | undefined> {
  if (plan === undefined) return undefined;
  const { createOwnDashboard } = await import('@portolan/ops/dashboard/dashboard.ts');
  const folder = packageFolder('dist/dashboard');
  const place = { ...plan, waitsForPort: takeover };
  const dashboard = createOwnDashboard({ ...place, carryOut, folder, http, clock: systemClock });
  return {
    async start() {
      await dashboard.start();
      log.info('serving the dashboard', { address: dashboard.url });
    },
    stop: () => dashboard.stop(),
  };
}

async function createEvents(
  { events, cluster }: CompanionPlans,
  server: Server,
  log: Log,
): Promise<Companion | undefined> {
  if (events === undefined) return undefined;
  const { EmbeddedEvents } = await import('./embedded-events.ts');
  return new EmbeddedEvents(events, cluster, server, log);
}

async function createTelemetry(server: Server, role: string, log: Log): Promise<Companion | undefined> {
  if (!Object.keys(process.env).some((name) => name.startsWith('OTEL_'))) return undefined;
  const telemetry = await import('./embedded-telemetry.ts');
  return telemetry.createTelemetry(server, role, log);
}
