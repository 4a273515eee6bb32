/**
 * `kubernetes`: the zone of a cluster. It follows the cluster that a directive names; the server fills that of `serve` and `kube-dns`.
 */
import { definePlugin } from '@portolan/corefile/definition/define-plugin.ts';
import {
  type DirectiveContext,
  type Draft,
  fallthroughZones,
  readTtl,
  zonesOrBlock,
} from '@portolan/corefile/directive/directive.ts';
import { type DirectiveCursor, DirectiveError } from '@portolan/corefile/directive/directive-cursor.ts';
import { parseFloatingPoint, parseGoDuration, parseInteger } from '@portolan/corefile/directive/go-values.ts';
import { findSelectorFault } from '@portolan/corefile/directive/label-selector.ts';
import { isReverseZone, parseZones } from '@portolan/corefile/keys/zone-name.ts';
import type { NameKey } from '@portolan/dns/types.ts';
import type { AnyClusterOptions, KubernetesApi, KubernetesOptions } from './options.ts';

const MAX_TTL = 3600;
const PODS: readonly KubernetesOptions['pods'][] = ['disabled', 'insecure', 'verified'];

type KubernetesDraft = Omit<Draft<KubernetesOptions>, 'api'> & { api: Draft<KubernetesApi> };

/** Source: plugin/kubernetes of CoreDNS 1.14.7. */
export const kubernetes = definePlugin<'kubernetes', AnyClusterOptions, KubernetesOptions>({
  name: 'kubernetes',
  answers: true,
  followsApiServer: ({ kind }) => kind === 'directive',
  outlivesPlans: () => true,
  syntax: [
    'kubernetes [ZONES…] {',
    '    endpoint URL',
    '    tls CERTIFICATE KEY AUTHORITIES',
    '    kubeconfig FILE [CONTEXT]',
    '    apiserver_qps NUMBER',
    '    apiserver_burst NUMBER',
    '    apiserver_max_inflight NUMBER',
    '    namespaces NAMESPACE…',
    '    namespace_labels SELECTOR',
    '    labels SELECTOR',
    '    pods disabled|insecure|verified',
    '    endpoint_pod_names',
    '    ttl SECONDS',
    '    noendpoints',
    '    ignore empty_service',
    '    multicluster [ZONES…]',
    '    zonal',
    '    fallthrough [ZONES…]',
    '    startup_timeout DURATION',
    '}',
  ],
  read(cursor, context): KubernetesOptions {
    let options = toOptions(emptyDraft(context.zones));
    cursor.onlyUse(() =>
      readStanza(cursor, context, (read) => {
        options = read;
      }),
    );
    return options;
  },
  async load() {
    const { makeCluster } = await import('./make-cluster.ts');
    return { create: makeCluster };
  },
});

/** Reads one use. @param keep called with its options before they are checked together */
export function readStanza(
  cursor: DirectiveCursor,
  context: DirectiveContext,
  keep: (options: KubernetesOptions) => void,
): void {
  const draft = emptyDraft(zonesOrBlock(cursor.remainingArguments(), context));
  const primary = draft.zones.find((zone) => !isReverseZone(zone));
  if (primary === undefined)
    throw cursor.bareError(
      'non-reverse zone name must be used',
      'Name the zone of the cluster, as in cluster.local.',
    );
  draft.primaryZone = primary;
  warnOfUnservedZones(cursor, draft.zones, context);
  readProperties(cursor, draft);
  keep(toOptions(draft));
  checkTogether(cursor, draft);
}

function toOptions(draft: KubernetesDraft): KubernetesOptions {
  const isOwn = (zone: NameKey) => !isReverseZone(zone) && !draft.multicluster.includes(zone);
  return { ...draft, primaryZone: draft.zones.find(isOwn) ?? draft.primaryZone };
}

function emptyDraft(zones: readonly NameKey[]): KubernetesDraft {
  return {
    kind: 'directive',
    zones,
    primaryZone: zones[0] ?? ('.' as NameKey), // The root is a key by inspection.
    api: { endpoint: undefined, tls: undefined, kubeconfig: undefined, qps: 0, burst: 0, maxInflight: 0 },
    pods: 'disabled',
    endpointPodNames: false,
    namespaces: [],
    namespaceLabels: undefined,
    labels: undefined,
    ttl: 5,
    hasEndpoints: true,
    ignoresEmptyService: false,
    fallthrough: [],
    startupTimeout: 5000,
    multicluster: [],
    zonal: false,
  };
}

function warnOfUnservedZones(
  cursor: DirectiveCursor,
  zones: readonly NameKey[],
  context: DirectiveContext,
): void {
  for (const zone of zones) {
    const isServed = context.zones.some((key) => key === '.' || zone === key || zone.endsWith(`.${key}`));
    if (!isServed)
      cursor.warn(`${zone} is not below a zone of its server block, so no question for it comes here.`);
  }
}

function readProperties(cursor: DirectiveCursor, draft: KubernetesDraft): void {
  const remove = (name: string, version: string) => () => {
    const { message, position } = cursor.unknownProperty(name, []);
    throw new DirectiveError(message, position, `CoreDNS ${version} removed it. Take the line out.`);
  };
  cursor.properties(
    {
      ...apiProperties(cursor, draft.api),
      ...answerProperties(cursor, draft),
      upstream: remove('upstream', '1.7.0'),
      resyncperiod: remove('resyncperiod', '1.7.0'),
      transfer: remove('transfer', '1.8.0'),
      federation: remove('federation', '1.7.0'),
    },
    (name) => cursor.unknownProperty(name, PROPERTIES),
  );
}

const PROPERTIES = kubernetes.syntax.slice(1, -1).map((line) => line.trim().split(' ')[0] ?? '');

function apiProperties(
  cursor: DirectiveCursor,
  api: KubernetesDraft['api'],
): Readonly<Record<string, () => void>> {
  return {
    endpoint: () => {
      const [first, ...others] = cursor.remainingArguments();
      if (first === undefined) throw cursor.argumentError('Give the address of the API server.');
      if (others.length > 0)
        cursor.warn(
          'Take the others out.',
          `Multiple endpoints have been deprecated, only the first specified endpoint '${first}' is used`,
        );
      api.endpoint = first;
    },
    tls: () => {
      const [certificate = '', key = '', authorities = ''] = cursor.remainingBetween(3, 3);
      api.tls = { certificate, key, authorities };
    },
    kubeconfig: () => {
      const [path = '', context] = cursor.remainingBetween(1, 2);
      api.kubeconfig = { path, context };
    },
    apiserver_qps: () => {
      api.qps = readLimit(cursor, 'apiserver_qps', parseFloatingPoint);
    },
    apiserver_burst: () => {
      api.burst = readLimit(cursor, 'apiserver_burst', parseInteger);
    },
    apiserver_max_inflight: () => {
      api.maxInflight = readLimit(cursor, 'apiserver_max_inflight', parseInteger);
    },
  };
}

function readLimit(cursor: DirectiveCursor, name: string, parse: typeof parseInteger): number {
  const [text = ''] = cursor.remainingBetween(1, 1);
  const limit = parse(text);
  const remedy = 'Give a number from 0.';
  if (limit.kind === 'bad')
    throw cursor.error(`invalid ${name} ${JSON.stringify(text)}: ${limit.fault}`, remedy);
  if (limit.value < 0) throw cursor.error(`${name} must be >= 0`, remedy);
  return limit.value;
}

function answerProperties(
  cursor: DirectiveCursor,
  draft: KubernetesDraft,
): Readonly<Record<string, () => void>> {
  return {
    ...selectionProperties(cursor, draft),
    pods: () => {
      draft.pods = readPods(cursor);
    },
    endpoint_pod_names: () => {
      cursor.remainingBetween(0, 0);
      draft.endpointPodNames = true;
    },
    ttl: () => {
      draft.ttl = readTtl(cursor, MAX_TTL);
    },
    noendpoints: () => {
      cursor.remainingBetween(0, 0);
      draft.hasEndpoints = false;
    },
    ignore: () => {
      const [word] = cursor.remainingArguments();
      if (word === undefined)
        cursor.warn('"ignore" without a word has no effect. Write ignore empty_service.');
      else if (word !== 'empty_service')
        throw cursor.bareError(`unable to parse ignore value: '${word}'`, 'The only value is empty_service.');
      else draft.ignoresEmptyService = true;
    },
    fallthrough: () => {
      draft.fallthrough = fallthroughZones(cursor.remainingArguments());
    },
    startup_timeout: () => {
      draft.startupTimeout = readStartupTimeout(cursor);
    },
    multicluster: () => {
      draft.multicluster = parseZones(cursor.remainingArguments());
    },
    zonal: () => {
      cursor.remainingBetween(0, 0);
      draft.zonal = true;
    },
  };
}

function selectionProperties(
  cursor: DirectiveCursor,
  draft: KubernetesDraft,
): Readonly<Record<string, () => void>> {
  return {
    namespaces: () => {
      const words = cursor.remainingArguments();
      if (words.length === 0) throw cursor.argumentError('Name the namespaces.');
      draft.namespaces = [...new Set([...draft.namespaces, ...words])];
    },
    namespace_labels: () => {
      draft.namespaceLabels = readSelector(cursor, 'namespace_label');
    },
    labels: () => {
      draft.labels = readSelector(cursor, 'label');
    },
  };
}

function readSelector(cursor: DirectiveCursor, name: string): string {
  const words = cursor.remainingArguments();
  if (words.length === 0) throw cursor.argumentError('Give a label selector, as in app=nginx.');
  const selector = words.join(' ');
  const fault = findSelectorFault(selector);
  if (fault === undefined) return selector;
  throw cursor.bareError(
    `unable to parse ${name} selector value: '${selector}': ${fault}`,
    'Write it as kubectl takes it: app=nginx,tier in (a, b).',
  );
}

function readPods(cursor: DirectiveCursor): KubernetesOptions['pods'] {
  const [text = ''] = cursor.remainingBetween(1, 1);
  const mode = PODS.find((known) => known === text);
  if (mode !== undefined) return mode;
  throw cursor.bareError(
    `wrong value for pods: ${text},  must be one of: disabled, verified, insecure`,
    'Give one of the three.',
  );
}

function readStartupTimeout(cursor: DirectiveCursor): number {
  const [text] = cursor.remainingArguments();
  const remedy = 'Give a duration such as 5s.';
  if (text === undefined) throw cursor.argumentError(remedy);
  const timeout = parseGoDuration(text);
  if (timeout.kind === 'good') return timeout.value;
  throw cursor.bareError(`failed to parse startup_timeout: ${text}, ${timeout.fault}`, remedy);
}

function checkTogether(cursor: DirectiveCursor, draft: KubernetesDraft): void {
  if (draft.namespaces.length > 0 && draft.namespaceLabels !== undefined)
    throw cursor.error('namespaces and namespace_labels cannot both be set', 'Take one of the two out.');
  const foreign = draft.multicluster.find((zone) => !draft.zones.includes(zone));
  if (foreign !== undefined)
    throw cursor.error(
      `is not authoritative for the multicluster zone ${foreign} (authoritative zones: [${draft.zones.join(' ')}])`,
      `Name ${foreign} among the zones of kubernetes too.`,
    );
  if (draft.zonal && !draft.hasEndpoints)
    throw cursor.error('zonal requires the endpoint cache; remove noendpoints', 'Take one of the two out.');
}
