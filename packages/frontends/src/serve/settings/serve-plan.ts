/**
 * Compiles the flags of `portolan serve` and `portolan kube-dns` to a plan.
 */
import { formatDuration } from '@portolan/kernel/base/duration.ts';
import type { Environment } from '@portolan/kernel/base/environment.ts';
import type { NftsetRule } from '@portolan/plugins/nftset/options.ts';
import { readNftsetRule } from '@portolan/plugins/nftset/read-sets.ts';
import { findDefaultDrain } from '@portolan/server/plan/drain.ts';
import type { HistoryPlan } from '@portolan/server/plan/history-plan.ts';
import type { ListenPlan, ObjectsPlan } from '@portolan/server/plan/server-plan.ts';
import { readersFor } from '@portolan/server/settings/cores.ts';
import { readEvents } from '@portolan/server/settings/events/event-flags.ts';
import { HISTORY_FLAGS } from '@portolan/server/settings/history/history-flags.ts';
import { readHistory } from '@portolan/server/settings/history/read-history.ts';
import { readLosses } from '@portolan/server/settings/losses/read-losses.ts';
import { readOwnDashboard } from '@portolan/server/settings/own-dashboard/own-dashboard.ts';
import { readQueryLog } from '@portolan/server/settings/query-log/read-settings.ts';
import { readPlace } from '@portolan/server/settings/values/place.ts';
import type { Checked } from '@portolan/server/settings/values/problem.ts';
import type { ConfigSources } from '../../dnsmasq/settings/sources.ts';
import { readClientRules, readTenants } from './client-rules.ts';
import { readClusterRanges } from './endpoint-ranges.ts';
import { HOST_NAME } from './identity-flags.ts';
import {
  defaultDialect,
  readDynamic,
  readFederationsFlag,
  readShape,
  readSidecar,
  readSkyDnsMetrics,
} from './pod-flags.ts';
import { readAutoscale } from './read-autoscale.ts';
import { readResolver } from './resolver-flags.ts';
import { createServeFlagReader, type ServeFlagReader, type ServeFlags } from './serve-flags.ts';
import type { IdentityPlan, LogPlan, ResolverPlan, ServePlan } from './serve-options.ts';

const NO_API_SERVER = { fault: 'there is no API server to write to', remedy: 'Leave it out.' };

/** It shares a response of 512 octets with the answer. */
const MAX_NSID_OCTETS = 128;

/** Longer pauses would be noticeable. */
const MAX_COALESCE_MILLISECONDS = 10;

/** Properties of the machine that defaults depend on. */
export interface Machine {
  /** Cores available to this process, at least 1; may be fractional under a quota. */
  readonly cores: number;
  /** Whether the log goes to a terminal. */
  readonly terminal: boolean;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/**
 * Validates all flags. All problems are reported, not only the first.
 *
 * @param sources access to the files that flags name
 * @param command determines which features are left out
 */
export function planFromFlags(
  flags: ServeFlags,
  machine: Machine,
  sources: ConfigSources,
  command: 'serve' | 'kube-dns' = 'serve',
): Checked<ServePlan> {
  const read = createServeFlagReader(flags);
  const shape = readShape(read, command);
  const domain = read.zone('--domain', read.text('domain'), 'cluster.local.');
  const listen = readListen(read, machine);
  const objects = readObjects(read);
  const log = readLog(read, machine);
  const resolver = readResolver(read, domain, sources);
  const dynamic = readDynamic(read, objects.kind === 'api-server');
  const plan: ServePlan = {
    cluster: {
      domain,
      dialect: read.value('dialect') ?? defaultDialect(shape),
      pods: read.value('pods'),
      ttl: read.value('ttl'),
      hasHttpsRecords: read.isOn('https-records'),
      tenants: readTenants(read, objects.kind === 'api-server'),
      ...readClusterRanges(read, objects.kind === 'api-server'),
      objects,
    },
    resolver,
    listen,
    identity: readIdentity(read),
    servesDiscovery: read.isOn('discovery'),
    health: {
      ...readPlace(read, '--healthz-port', read.text('healthz-port') ?? ''),
      cache: shape !== 'server',
    },
    log,
    queryLog: readQueryLog(read, log.format) ?? resolver.dnsmasq?.process.queryLog,
    controlSocket: read.value('control-socket'),
    keepsStatistics: read.isOn('stats') || resolver.dnsmasq?.process.keepsStatistics === true,
    history: chooseHistory(read, resolver),
    dashboard: readOwnDashboard(read) ?? resolver.dnsmasq?.process.dashboard,
    nftset: [...readNftsets(read), ...(resolver.dnsmasq?.nftset ?? [])],
    blocksExtra: read.value('blocks-extra') ?? resolver.dnsmasq?.process.blocksExtra,
    dynamic,
    federations: readFederationsFlag(read),
    skyDnsMetrics: readSkyDnsMetrics(read, shape, machine.environment),
    sidecar: readSidecar(read, shape, { domain }, listen),
    autoscaler: readAutoscale(read, objects.kind === 'api-server'),
    events: readEvents(
      read,
      dynamic.kind === 'config-map' ? dynamic : undefined,
      objects.kind === 'api-server' ? undefined : NO_API_SERVER,
    ),
    ...readSnapshot(read),
    initialSyncTimeout: read.value('initial-sync-timeout'),
    losses: readLosses(read),
    ...readEnd(read, machine.environment),
  };
  return read.problems.length === 0
    ? { kind: 'good', value: plan }
    : { kind: 'bad', problems: read.problems };
}

function readNftsets(read: ServeFlagReader): readonly NftsetRule[] {
  const texts = read.texts('nftset');
  const isClosed = read.isOn('nftset-closed');
  read.requireWith('nftset-closed', 'nftset', 'give');
  return texts.flatMap((text) => {
    const rule = readNftsetRule(text, isClosed);
    if (!('fault' in rule)) return rule;
    read.addProblem('--nftset', rule.fault, rule.value, rule.remedy);
    return [];
  });
}

/** The flags of the server go before the arguments of dnsmasq. */
function chooseHistory(read: ServeFlagReader, { dnsmasq }: ResolverPlan): HistoryPlan | undefined {
  const isGiven = HISTORY_FLAGS.some(({ name }) => read.isGiven(name));
  return dnsmasq === undefined || isGiven ? readHistory(read) : dnsmasq.process.history;
}

/** Without a lameduck time the server is to end at once. */
function readEnd(read: ServeFlagReader, environment: Environment): Pick<ServePlan, 'lameduck' | 'drain'> {
  const lameduck = read.value('lameduck');
  return { lameduck, drain: read.value('drain') ?? (lameduck === 0 ? 0 : findDefaultDrain(environment)) };
}

function readIdentity(read: ServeFlagReader): IdentityPlan {
  const text = read.value('nsid');
  const isHostName = text === HOST_NAME;
  const hidesHost = read.isOn('hide-identity');
  if (isHostName && hidesHost)
    read.addProblem('--nsid', 'names the host, which --hide-identity hides', undefined, 'Give it a text.');
  if (text !== undefined && Buffer.byteLength(text) > MAX_NSID_OCTETS)
    read.addProblem('--nsid', 'too long', text, `Give at most ${MAX_NSID_OCTETS} octets.`);
  return {
    hidesVersion: read.isOn('hide-version'),
    hidesHost,
    nsid: text === undefined ? undefined : { data: isHostName ? undefined : text },
  };
}

function readObjects(read: ServeFlagReader): ObjectsPlan {
  const kubecfgFile = read.value('kubecfg-file');
  const context = read.value('context');
  const masterUrl = readMasterUrl(read);
  const directory = read.value('manifests');
  const isExample = read.isOn('example');
  const fromFiles = directory !== undefined || isExample;
  if (directory !== undefined && isExample)
    read.addProblem(
      '--example',
      'given together with --manifests',
      undefined,
      'Keep one: a server has one cluster.',
    );
  const forCluster = [
    ['--kubecfg-file', kubecfgFile],
    ['--context', context],
    ['--kube-master-url', masterUrl],
  ] as const;
  for (const [flag, value] of fromFiles ? forCluster : []) {
    if (value === undefined) continue;
    const rival = isExample ? '--example' : '--manifests';
    read.addProblem(
      flag,
      `has no effect beside ${rival}`,
      value,
      'Leave one out: objects come from one place.',
    );
  }
  const allowEmpty = read.isOn('allow-empty');
  if (allowEmpty && directory === undefined)
    read.addProblem(
      '--allow-empty',
      'has no effect without --manifests',
      undefined,
      'Leave it out, or name a folder with --manifests.',
    );
  if (directory !== undefined) return { kind: 'manifests', directory, allowEmpty };
  if (isExample) return { kind: 'example' };
  return { kind: 'api-server', kubecfgFile, context, masterUrl };
}

function readSnapshot(read: ServeFlagReader): Pick<ServePlan, 'snapshotFile' | 'snapshotMaxAge'> {
  const snapshotFile = read.value('snapshot');
  const snapshotMaxAge = read.value('snapshot-max-age');
  read.requireWith('snapshot-max-age', 'snapshot', 'name a file with');
  return { snapshotFile, snapshotMaxAge };
}

function readMasterUrl(read: ServeFlagReader): string | undefined {
  const url = read.value('kube-master-url');
  if (url === undefined) return undefined;
  const remedy = 'Give one such as https://10.0.0.1:6443.';
  if (!URL.canParse(url)) read.addProblem('--kube-master-url', 'not a URL', url, remedy);
  else if (!['http:', 'https:'].includes(new URL(url).protocol))
    read.addProblem('--kube-master-url', 'neither http nor https', url, remedy);
  return url;
}

function readListen(read: ServeFlagReader, machine: Machine): ListenPlan {
  return {
    addresses: readBindAddresses(read),
    port: read.value('dns-port'),
    udpReaders: read.value('udp-readers') ?? readersFor(machine.cores),
    udpCoalesce: readCoalesce(read),
    takeover: read.isOn('takeover'),
    clients: readClientRules(read),
  };
}

function readCoalesce(read: ServeFlagReader): number {
  const pause = read.value('udp-coalesce');
  if (pause > MAX_COALESCE_MILLISECONDS)
    read.addProblem('--udp-coalesce', 'out of range', formatDuration(pause), 'Give a time from 0 to 10ms.');
  return pause;
}

function readBindAddresses(read: ServeFlagReader): ListenPlan['addresses'] {
  if (!read.isGiven('dns-bind-address')) return 'all';
  const flag = '--dns-bind-address';
  const addresses = read
    .texts('dns-bind-address')
    .flatMap((text) => text.split(','))
    .map((text) => read.address(flag, text.trim()))
    .filter((address) => address !== undefined);
  for (const wildcard of ['0.0.0.0', '::']) {
    const isSameFamily = (address: string) => address.includes(':') === wildcard.includes(':');
    const covered = addresses.find((address) => address !== wildcard && isSameFamily(address));
    if (covered === undefined || !addresses.includes(wildcard)) continue;
    read.addProblem(flag, `already covered by ${wildcard}`, covered, 'Leave one of the two out.');
  }
  return [...new Set(addresses)];
}

function readLog(read: ServeFlagReader, machine: Machine): LogPlan {
  return {
    level: read.value('log-level'),
    format: read.value('log-format') ?? (machine.terminal ? 'text' : 'json'),
  };
}
