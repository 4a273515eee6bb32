/**
 * Makes the plan from a draft and adds the values that depend on all options, such as default domains, TTLs and MX targets.
 */
import { countLabels, ROOT, tryParseKey } from '@portolan/dns/name.ts';
import { CLASS, type NameKey, type RecordData, type ResourceRecord } from '@portolan/dns/types.ts';
import { finishDashboard } from './dashboard-options.ts';
import type {
  DnsmasqListenPlan,
  DnsmasqPlan,
  LocalDataPlan,
  SourcePortOptions,
  UpstreamsPlan,
} from './dnsmasq-plan.ts';
import type { DnsmasqDraft, DraftRecords } from './draft.ts';
import { EXIT } from './exit-codes.ts';
import type { Findings } from './findings.ts';
import { finishHistory } from './history-options.ts';
import { readName } from './names.ts';
import { NFTSET_CLOSED } from './nftset-options.ts';
import { decodeLatin1 } from './octets.ts';
import { finishQueryLog } from './query-log-options.ts';
import type { ConfigSources } from './sources.ts';

/** The lowest random source port, above the well-known ports. */
const MIN_RANDOM_PORT = 1024;
const MAX_PORT = 65_535;

/**
 * @param host the name of this host
 * @param domain the default domain, from `--domain` or the resolv file
 */
export function finishPlan(
  draft: DnsmasqDraft,
  host: NameKey,
  domain: NameKey | undefined,
  findings: Findings,
): DnsmasqPlan {
  const { filters, rebind, cache, process, log } = draft;
  const facility = process.mode === 'debug' ? 'local0' : 'daemon';
  return {
    upstreams: finishUpstreams(draft),
    filters: { ...filters, rebind },
    cache,
    local: finishLocalData(draft, host, domain, findings),
    nftset: finishNftset(draft, findings),
    listen: finishListen(draft),
    process: {
      ...process,
      dashboard: finishDashboard(draft, findings),
      history: finishHistory(draft, findings),
      queryLog: finishQueryLog(draft, findings),
    },
    log: { ...log, to: log.to ?? { kind: 'syslog', facility } },
  };
}

function finishNftset(
  { nftset: { rules, isClosed } }: DnsmasqDraft,
  findings: Findings,
): DnsmasqPlan['nftset'] {
  if (isClosed && rules.length === 0)
    findings.refuse(
      `--${NFTSET_CLOSED}`,
      'has no effect without --nftset',
      undefined,
      'Leave it out, or give --nftset.',
    );
  return rules.map((rule) => ({ ...rule, isClosed }));
}

function finishUpstreams({ upstreams, resolv, choice, ports }: DnsmasqDraft): UpstreamsPlan {
  return {
    ...upstreams,
    resolvFiles: resolv.ignored ? [] : resolv.files,
    choice: choice.all ? 'all' : choice.inOrder ? 'in-order' : 'preferred',
    sourcePorts: finishPorts(ports),
  };
}

function finishPorts({ query, min, max }: DnsmasqDraft['ports']): SourcePortOptions {
  if (query !== undefined) return { kind: 'fixed', port: query };
  return { kind: 'random', min: min || MIN_RANDOM_PORT, max: max || MAX_PORT };
}

function finishLocalData(
  draft: DnsmasqDraft,
  host: NameKey,
  domain: NameKey | undefined,
  findings: Findings,
): LocalDataPlan {
  const { readsSystemFile, additionalFiles, domainFromResolvFile: _, ...hosts } = draft.hosts;
  const lasting = <Kind extends { readonly ttl: number | undefined }>(item: Kind) => ({
    ...item,
    ttl: item.ttl ?? hosts.ttl,
  });
  const others = draft.records.others.flatMap(({ name, data }) => {
    const owner = data.kind === 'SRV' ? withDomain(name, domain, findings) : name;
    return owner === undefined ? [] : [{ name: owner, data }];
  });
  const mail = completeMail(draft.records, host);
  return {
    ...hosts,
    domain,
    hostsFiles: [...(readsSystemFile ? ['/etc/hosts'] : []), ...additionalFiles.toReversed()],
    hostRecords: draft.records.hosts.map(lasting),
    cnames: draft.records.cnames.map(lasting),
    records: [...others, ...mail].map(({ name, data }) => makeRecord(name, data, hosts.ttl)),
    mxOfHosts: mxOfHosts(draft.records, host),
  };
}

function makeRecord(name: NameKey, data: RecordData, ttl: number): ResourceRecord {
  return { name, class: CLASS.IN, ttl, data };
}

/** Appends the default domain to a name of only `_service._protocol`. */
function withDomain(name: NameKey, domain: NameKey | undefined, findings: Findings): NameKey | undefined {
  if (domain === undefined || domain === ROOT || countLabels(name) !== 2) return name;
  const whole = tryParseKey(`${name}${domain}`);
  if (whole === undefined)
    findings.note('--srv-host', `With the domain ${domain} the name ${name} is too long: it is left out.`);
  return whole;
}

/** Any restriction of interfaces or addresses turns off `--local-service`, which is only the default. */
function finishListen({ listen: draft }: DnsmasqDraft): DnsmasqListenPlan {
  const { interfaces, bindsInterfaces, bindsDynamic, localService, ...listen } = draft;
  const isRestricted =
    interfaces !== undefined || listen.exceptInterfaces.length > 0 || listen.addresses.length > 0;
  const isHostOnly = localService === 'host' && !isRestricted;
  const bind = bindsDynamic ? 'dynamic' : bindsInterfaces || isHostOnly ? 'interfaces' : 'wildcard';
  return {
    ...listen,
    interfaces: isHostOnly ? [] : (interfaces ?? 'all'),
    bind,
    localService: localService === 'network' && !isRestricted,
  };
}

/** All MX records. With `--mx-target` or `--localmx`, this host gets one too. */
function completeMail(
  { mailExchanges, mxTarget, localMx }: DraftRecords,
  host: NameKey,
): readonly { readonly name: NameKey; readonly data: RecordData }[] {
  const hasOwn = mailExchanges.some(({ name }) => name === host);
  const needsOwn = (mxTarget !== undefined || localMx) && !hasOwn;
  const own = needsOwn ? [{ name: host, target: undefined, preference: 0 }] : [];
  return [...mailExchanges, ...own].map(({ name, target, preference }) => ({
    name,
    data: { kind: 'MX', preference, exchange: target ?? mxTarget ?? host },
  }));
}

/** The MX answers for names of hosts files; `selfmx` wins over `localmx`. */
function mxOfHosts({ selfMx, localMx, mxTarget }: DraftRecords, host: NameKey): LocalDataPlan['mxOfHosts'] {
  if (selfMx) return { kind: 'self' };
  return localMx ? { kind: 'target', target: mxTarget ?? host } : { kind: 'none' };
}

const SEARCH_DOMAIN = '--domain=#';

/** @returns the default domain: from the first `search` line of the resolv file for `--domain=#`, otherwise as given */
export function resolveDomain(
  draft: DnsmasqDraft,
  sources: ConfigSources,
  findings: Findings,
): NameKey | undefined {
  if (!draft.hosts.domainFromResolvFile) return draft.hosts.domain;
  const { files, ignored } = draft.resolv;
  const [path] = files;
  if (ignored || path === undefined || files.length > 1) {
    const remedy = 'Name one with --resolv-file, or give the domain itself.';
    findings.refuse(SEARCH_DOMAIN, 'needs exactly one resolv file', files.join(', '), remedy);
    return undefined;
  }
  const read = sources.readFile(path);
  if (read.kind === 'failed') {
    const remedy = 'Name a file that can be read.';
    findings.refuse(SEARCH_DOMAIN, `cannot read a file, ${read.reason}`, path, remedy, EXIT.BAD_FILE);
    return undefined;
  }
  const domain = searchDomain(decodeLatin1(read.bytes));
  if (domain === undefined)
    findings.refuse(
      SEARCH_DOMAIN,
      'no search line with a domain',
      path,
      'Give the domain itself.',
      EXIT.OTHER,
    );
  return domain;
}

function searchDomain(text: string): NameKey | undefined {
  for (const line of text.split('\n')) {
    const [keyword, domain] = line.split(/[ \t\r]+/).filter((word) => word !== '');
    if (keyword !== 'search' || domain === undefined) continue;
    const reading = readName(domain);
    if (reading.kind === 'name') return reading.name;
  }
  return undefined;
}
