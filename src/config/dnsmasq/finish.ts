/**
 * A draft made into a plan: what can be said only when all options are read.
 */
import { countLabels, NameError, parseName, ROOT, toKey } from '../../wire/name.ts';
import type { NameKey, RecordData, ResourceRecord } from '../../wire/types.ts';
import { CLASS } from '../../wire/types.ts';
import type { Draft } from './draft.ts';
import type { Findings } from './findings.ts';
import { completeMail, mxOfHosts } from './mail.ts';
import type { DnsmasqListenPlan, DnsmasqPlan, LocalDataPlan, SourcePorts, UpstreamsPlan } from './plan.ts';

/** Random source ports begin above those that are well known. */
const LEAST_RANDOM_PORT = 1024;
const MOST_PORT = 65_535;

/**
 * @param host our own name
 * @param domain the default domain, from `--domain` or the resolv file
 */
export function finishPlan(
  draft: Draft,
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
    listen: finishListen(draft),
    process,
    log: { ...log, to: log.to ?? { kind: 'syslog', facility } },
  };
}

function finishUpstreams({ upstreams, resolv, choice, ports }: Draft): UpstreamsPlan {
  return {
    ...upstreams,
    resolvFiles: resolv.ignored ? [] : resolv.files,
    choice: choice.all ? 'all' : choice.inOrder ? 'in-order' : 'preferred',
    sourcePorts: finishPorts(ports),
  };
}

function finishPorts({ query, least, most }: Draft['ports']): SourcePorts {
  if (query !== undefined) return { kind: 'fixed', port: query };
  return { kind: 'random', least: least || LEAST_RANDOM_PORT, most: most || MOST_PORT };
}

function finishLocalData(
  draft: Draft,
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
    records: [...others, ...mail].map(({ name, data }) => recordOf(name, data, hosts.ttl)),
    mxOfHosts: mxOfHosts(draft.records, host),
  };
}

function recordOf(name: NameKey, data: RecordData, ttl: number): ResourceRecord {
  return { name, class: CLASS.IN, ttl, data };
}

/** `_service._protocol` alone stands in the default domain. */
function withDomain(name: NameKey, domain: NameKey | undefined, findings: Findings): NameKey | undefined {
  if (domain === undefined || domain === ROOT || countLabels(name) !== 2) return name;
  try {
    return toKey(parseName(`${name}${domain}`));
  } catch (error) {
    if (!(error instanceof NameError)) throw error;
    findings.note('--srv-host', `With the domain ${domain} the name ${name} is too long: it is left out.`);
    return undefined;
  }
}

/** Restrictions of any kind switch `--local-service` off: it is a default for those who gave none. */
function finishListen({ listen: draft }: Draft): DnsmasqListenPlan {
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
