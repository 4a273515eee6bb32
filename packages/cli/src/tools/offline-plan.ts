/**
 * The plan of a server that is explained without running it: from a Corefile, or from the flags of `serve`.
 */
import { resolve } from 'node:path';
import { DISK_FILES } from '@portolan/corefile/syntax/corefile-files.ts';
import { describeCorefileProblem } from '@portolan/corefile/syntax/findings.ts';
import { compileCorefile } from '@portolan/frontends/coredns/settings/compile-corefile.ts';
import { readCorefile } from '@portolan/frontends/coredns/settings/read-corefile.ts';
import { readKubeDnsFlags } from '@portolan/frontends/kube-dns/settings/kube-dns-flags.ts';
import { ServeFrontEnd } from '@portolan/frontends/serve/run/serve-front-end.ts';
import type { ServeFlags } from '@portolan/frontends/serve/settings/serve-flags.ts';
import { planFromFlags } from '@portolan/frontends/serve/settings/serve-plan.ts';
import { silentLog } from '@portolan/kernel/base/log.ts';
import { findPluginOptions, loadPlugins, usePlugin } from '@portolan/kernel/contract/plugin-use.ts';
import { mapUses, pluginUses } from '@portolan/kernel/plan/server-blocks-plan.ts';
import { kubernetes } from '@portolan/kubernetes/plugins/kubernetes/plugin.ts';
import { OfflineServer } from '@portolan/ops/control/offline.ts';
import type { ExplainFlags } from '@portolan/ops/control/settings/control-flags.ts';
import type { ServerPlan } from '@portolan/server/plan/server-plan.ts';
import { countCores } from '@portolan/server/settings/cores.ts';
import { describeProblem } from '@portolan/server/settings/values/problem.ts';
import { serverDependencies } from '../process/server-dependencies.ts';
import { VERSION } from '../process/version.ts';
import { createProcessSources } from '../servers/dnsmasq-sources.ts';
import { loadCorefile } from '../servers/load-corefile.ts';
import { addressesByInterface } from '../servers/machine-interfaces.ts';

/** Whether the flags ask for an explanation without a running server. */
export function isOffline({ manifests, kubeconfig, corefile }: ExplainFlags): boolean {
  return [manifests, kubeconfig, corefile].some((given) => given !== undefined);
}

/** What a server without sockets is made from. */
export interface OfflineSettings extends Pick<ExplainFlags, 'manifests' | 'kubeconfig' | 'corefile'> {
  /** Arguments of kube-dns, in place of a Corefile. */
  readonly kubeDns?: readonly string[];
}

/**
 * @param change of the plan, before a server without sockets is made from it
 * @throws Error with the problems of the configuration
 */
export async function openOffline(
  flags: OfflineSettings,
  change: (plan: ServerPlan) => ServerPlan = (plan) => plan,
): Promise<OfflineServer> {
  const plan = change(await readOffline(flags));
  await loadPlugins(pluginUses(plan.engine));
  const manifests = flags.manifests === undefined ? undefined : resolve(flags.manifests);
  const dependencies = serverDependencies(silentLog);
  return new OfflineServer({ plan, manifests, version: VERSION, dependencies });
}

/** @throws Error with the problems of the configuration */
export async function readOffline(flags: OfflineSettings): Promise<ServerPlan> {
  if (flags.corefile !== undefined) return planOfCorefile(flags, flags.corefile);
  if (flags.kubeDns !== undefined) return await planOfKubeDns(flags, flags.kubeDns);
  const { manifests, kubeconfig } = flags;
  const given = manifests === undefined ? { kubecfgFile: kubeconfig ?? '' } : { manifests };
  return createFrontEnd(given, 'serve').plan;
}

/** With the servers of the resolv file and the ConfigMap in a folder. One on the API server is not read. */
async function planOfKubeDns(
  { manifests, kubeconfig }: OfflineSettings,
  words: readonly string[],
): Promise<ServerPlan> {
  const reading = readKubeDnsFlags(words, process.env);
  if (reading.kind !== 'flags') throw new Error('--help and --version are no settings of kube-dns');
  if (reading.problems.length > 0) throw new Error(reading.problems.map(describeProblem).join('\n'));
  const { configMap: _configMap, ...flags } = reading.flags;
  const source = manifests === undefined ? kubeconfig && { kubecfgFile: kubeconfig } : { manifests };
  const frontEnd = createFrontEnd({ ...flags, ...source }, 'kube-dns');
  try {
    await frontEnd.start(async () => {}, undefined);
    return frontEnd.plan;
  } finally {
    await frontEnd.stop();
  }
}

function createFrontEnd(given: ServeFlags, command: 'serve' | 'kube-dns'): ServeFrontEnd {
  const machine = { cores: countCores(), terminal: false, environment: process.env };
  const checked = planFromFlags(given, machine, createProcessSources(), command);
  if (checked.kind === 'bad') throw new Error(checked.problems.map(describeProblem).join('\n'));
  return new ServeFrontEnd(checked.value, serverDependencies(silentLog));
}

function planOfCorefile({ kubeconfig }: OfflineSettings, conf: string): ServerPlan {
  const { file, text } = loadCorefile(conf);
  const reading = readCorefile(text, {
    file,
    extra: undefined,
    profile: '1.14',
    defaultPort: 53,
    environment: process.env,
    files: DISK_FILES,
    interfaces: addressesByInterface(),
  });
  if (reading.kind === 'bad') throw new Error(reading.problems.map(describeCorefileProblem).join('\n'));
  const plan = compileCorefile(reading.blocks);
  return kubeconfig === undefined ? plan : withKubeconfig(plan, kubeconfig);
}

function withKubeconfig(plan: ServerPlan, path: string): ServerPlan {
  const engine = mapUses(plan.engine, (use) => {
    const options = findPluginOptions([use], kubernetes);
    if (options?.kind !== 'directive') return use;
    return usePlugin(kubernetes, {
      ...options,
      api: { ...options.api, kubeconfig: { path, context: undefined } },
    });
  });
  return { ...plan, engine };
}
