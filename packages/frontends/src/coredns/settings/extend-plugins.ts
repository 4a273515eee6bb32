/**
 * Gives the features of `portolan` to the plugins of its server block that have them.
 */
import type { CorefileFindings } from '@portolan/corefile/syntax/findings.ts';
import type { RestoredDeviations } from '@portolan/kernel/deviations/table.ts';
import type { KubernetesOptions } from '@portolan/kubernetes/plugins/kubernetes/options.ts';
import { makeNodesUse } from '@portolan/kubernetes/publish/nodes-use.ts';
import type { CacheRules } from '@portolan/plugins/cache/options.ts';
import { boundRoute, hedgeRoute } from '@portolan/plugins/forward/options.ts';
import { readHistoryWords } from '@portolan/server/settings/history/read-history.ts';
import { readLossWords } from '@portolan/server/settings/losses/read-losses.ts';
import { readQueryLogWords } from '@portolan/server/settings/query-log/read-settings.ts';
import { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import type { PortolanOptions } from '../../plugins/portolan/options.ts';
import type { CorefilePluginName, CorefileUse } from '../../plugins/registry.ts';

/** The plugins of a server block, by name. */
type Plugins = Map<CorefilePluginName, CorefileUse>;

/**
 * Replaces the options of other plugins, in all blocks. A feature without its plugin is a problem.
 *
 * @param restored a feature that one of these turns off is a warning
 */
export function extendPlugins(
  blocks: readonly Plugins[],
  restored: RestoredDeviations,
  findings: CorefileFindings,
): void {
  const files = new Set<string>();
  let hasQueryLog = false;
  let hasLosses = false;
  let hasHistory = false;
  for (const plugins of blocks) {
    const own = findUse(plugins, 'portolan');
    if (own === undefined) continue;
    const refuse = (fault: string, remedy: string) => {
      const { position } = own;
      findings.problems.push({ phase: 'set-up', message: `plugin/portolan: ${fault}`, position, remedy });
    };
    const { snapshot } = own.options;
    if (snapshot !== undefined && files.has(snapshot.file))
      refuse(`snapshot: another server block has the file: ${snapshot.file}`, 'Name a file for each block.');
    if (snapshot !== undefined) files.add(snapshot.file);
    const { queryLog } = own.options;
    if (queryLog !== undefined && hasQueryLog)
      refuse('query_log: another server block has it', 'The log is that of the server: write it once.');
    hasQueryLog ||= queryLog !== undefined;
    checkQueryLog(queryLog ?? [], refuse);
    const { suddenLoss } = own.options;
    if (suddenLoss !== undefined && hasLosses)
      refuse('sudden_loss: another server block has it', 'The rule is that of the server: write it once.');
    hasLosses ||= suddenLoss !== undefined;
    if (suddenLoss !== undefined) checkLosses(suddenLoss, refuse);
    const { history } = own.options;
    if (history !== undefined && hasHistory)
      refuse('history: another server block has it', 'The history is that of the server: write it once.');
    hasHistory ||= history !== undefined;
    checkHistory(history, refuse);
    extendKubernetes(own.options, plugins, refuse);
    extendCache(own.options, plugins, refuse);
    extendForward(own.options, plugins, refuse);
    if (own.options.nftset.length > 0 && plugins.has('autopath'))
      refuse(
        'nftset: autopath is in this server block',
        'Take one of the two out: answers that autopath finds have the name that the client searched, which is in no domain of nftset.',
      );
    if (own.options.hedges !== undefined && restored.has('sends-again'))
      findings.warn(
        own.position,
        'hedge has no effect while -compat restores sends-again: forward asks one server at a time. Take hedge out, or keep sends-again.',
      );
  }
}

function checkHistory(words: readonly string[] | undefined, refuse: Refuse): void {
  if (words === undefined) return;
  if (words.length === 0) refuse('history: no setting', 'Write history off, or as in history size=32M.');
  const read = new ValueReader();
  readHistoryWords(read, words);
  refuseAll('history', read, refuse);
}

function checkQueryLog(words: readonly string[], refuse: Refuse): void {
  const read = new ValueReader();
  readQueryLogWords(read, words, 'text');
  refuseAll('query_log', read, refuse);
}

function checkLosses(words: readonly string[], refuse: Refuse): void {
  const read = new ValueReader();
  readLossWords(read, 'settings', words);
  refuseAll('sudden_loss', read, refuse);
}

function refuseAll(feature: string, { problems }: ValueReader, refuse: Refuse): void {
  for (const { where, fault, value, remedy } of problems)
    refuse(`${feature}: ${where}: ${fault}${value === undefined ? '' : `: '${value}'`}`, remedy);
}

/** Plugins with names of services for any client. */
const SHOWING_ALL = ['k8s_external', 'kubernetai'] as const;

type Refuse = (fault: string, remedy: string) => void;

function extendKubernetes(
  { snapshot, endpointRanges, learnsRanges, preferZone, httpsRecords, tenants }: PortolanOptions,
  plugins: Plugins,
  refuse: Refuse,
): void {
  const features = [
    snapshot && 'snapshot',
    (endpointRanges !== undefined || learnsRanges) && 'endpoint_ranges',
    preferZone && 'prefer_zone',
    httpsRecords && 'https_records',
    tenants && 'tenants',
  ];
  const feature = features.find((name) => typeof name === 'string');
  if (feature === undefined) return;
  const use = requireUse(plugins, 'kubernetes', feature, refuse);
  if (use === undefined) return;
  if (preferZone !== undefined && !use.options.hasEndpoints)
    refuse('prefer_zone: kubernetes has noendpoints', 'Take one of the two out.');
  for (const name of tenants === undefined ? [] : SHOWING_ALL)
    if (findUse(plugins, name) !== undefined)
      refuse(`tenants: ${name} shows the services of all tenants`, `Take one of the two out.`);
  const nodes = makeNodesUse({
    prefersZone: preferZone !== undefined,
    ownNode: preferZone?.node,
    learnsRanges,
  });
  const options: KubernetesOptions = {
    ...use.options,
    ...(snapshot && { snapshot }),
    ...(endpointRanges && { endpointRanges }),
    ...(nodes && { nodes }),
    ...(httpsRecords && { hasHttpsRecords: true }),
    ...(tenants && { tenants }),
  };
  plugins.set('kubernetes', { ...use, options });
}

function extendCache({ prefetch, stale }: PortolanOptions, plugins: Plugins, refuse: Refuse): void {
  if (!prefetch && stale === undefined) return;
  const use = requireUse(plugins, 'cache', prefetch ? 'prefetch' : 'stale', refuse);
  if (use === undefined) return;
  const { options } = use;
  const taken = (name: string, other: string) =>
    refuse(`${name}: cache has ${other} already`, `Take ${name} out, or ${other} of cache.`);
  if (prefetch && options.kind === 'coredns' && options.prefetch !== undefined) taken('prefetch', 'prefetch');
  if (stale !== undefined && options.serveStale !== undefined) taken('stale', 'serve_stale');
  const extended: CacheRules = {
    ...options,
    ...(prefetch && { refreshesUsed: true }),
    ...(stale && { serveStale: stale }),
  };
  plugins.set('cache', { ...use, options: extended });
}

function extendForward({ admission, hedges }: PortolanOptions, plugins: Plugins, refuse: Refuse): void {
  const hasLimits = Object.keys(admission).length > 0;
  if (!hasLimits && hedges === undefined) return;
  const use = requireUse(plugins, 'forward', hasLimits ? 'admission' : 'hedge', refuse);
  if (use === undefined) return;
  const isBounded = use.options.routes.some(
    ({ replies }) => replies.kind === 'as-sent' && replies.maxConcurrent > 0,
  );
  if (isBounded && (admission.inFlight ?? admission.queued) !== undefined)
    refuse('admission: forward has max_concurrent already', 'Take one of the two out.');
  const routes = use.options.routes
    .map((route) => boundRoute(route, admission))
    .map((route) => (hedges === undefined ? route : hedgeRoute(route, hedges)));
  plugins.set('forward', { ...use, options: { routes } });
}

function requireUse<Name extends CorefilePluginName>(
  plugins: Plugins,
  name: Name,
  feature: string,
  refuse: Refuse,
): CorefileUse<Name> | undefined {
  const use = findUse(plugins, name);
  if (use === undefined)
    refuse(`${feature}: no ${name} in this server block`, `Add ${name}, or take ${feature} out.`);
  return use;
}

function findUse<Name extends CorefilePluginName>(
  plugins: Plugins,
  name: Name,
): CorefileUse<Name> | undefined {
  // The name of a use determines its type.
  return plugins.get(name) as CorefileUse<Name> | undefined;
}
