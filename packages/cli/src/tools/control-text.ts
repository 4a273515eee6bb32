/**
 * What `portolan control` prints for people. `--output=json` prints replies as they are.
 */
import { formatElapsed } from '@portolan/kernel/base/duration.ts';
import type { HashedName, ZoneBuckets, ZoneDigest } from '@portolan/ops/control/published-names.ts';
import type { ServerStatus, UpstreamStatus } from '@portolan/ops/control/status.ts';
import type { HistoryRecord } from '@portolan/server/history/history-record.ts';
import { renderRecord } from '@portolan/server/history/render-past.ts';
import { type Render, renderFields } from './control-output.ts';

/** How to print the replies to an order. @param order the words of the command line */
export function findRender([verb, action]: readonly string[]): Render {
  // The server is of the same version, so replies have these types.
  switch (verb) {
    case 'status':
      return (data) => renderStatus(data as ServerStatus);
    case 'query-log':
      return (data) => `query log  ${(data as ServerStatus).logs.queryLog ?? 'off'}\n`;
    case 'log-level':
      return (data) => `log level  ${(data as ServerStatus).logs.level}\n`;
    case 'upstream':
      return (data) => renderSwitched(data as SwitchedUpstream);
    case 'cache':
      return action === 'flush' ? (data) => renderFlushed(data as FlushedCache) : renderFields;
    case 'names':
      return (data) => renderNames(data as HashedName | ZoneBuckets);
    case 'changes':
      return (data) => renderChange(data as ChangedService);
    case 'history':
      return (data) => renderRecord(data as HistoryRecord);
    default:
      return renderFields;
  }
}

/** What to print where there is no reply. */
export function findNothing([verb, action]: readonly string[]): string {
  if (verb === 'changes') return 'no service appeared or disappeared since this server listed its cluster\n';
  if (verb === 'names' && action !== undefined) return 'no service has its digest in this part\n';
  if (verb === 'names') return 'this server has no names of a cluster\n';
  return verb === 'cache' && action === 'dump' ? 'no cached answers\n' : '';
}

interface SwitchedUpstream {
  readonly upstream: string;
  readonly state: string;
  readonly rules: number;
}

interface FlushedCache {
  readonly flushed: string;
  readonly before: number;
  readonly after: number;
}

interface ChangedService {
  /** RFC 3339. */
  readonly at: string;
  readonly name: string;
  readonly domain: string;
  readonly change: 'came' | 'went';
}

const COLUMN = 'configuration'.length;

function renderStatus(status: ServerStatus): string {
  const { version, role, process, ready, reason, queries, data, zones, upstreams, cache, readers } = status;
  const note = reason === undefined ? '' : `: ${reason}`;
  const rows: readonly (readonly [string, string])[] = [
    ['server', `${role} ${version}, process ${process}`],
    ['listens on', status.addresses.join(' ') || 'no address yet'],
    ['ready', `${ready ? 'yes' : 'no'}${note}`],
    ['queries', String(queries)],
    ['cluster data', data.age === undefined ? '' : `current ${formatElapsed(data.age)} ago`],
    ...data.kinds.map(
      ({ kind, state, objects, words }) => [kind, join([state, `${objects} objects`, words])] as const,
    ),
    ...zones.map((zone) => ['zone', describeZone(zone)] as const),
    ...upstreams.map((upstream) => ['upstream', describeUpstream(upstream)] as const),
    ['cache', `${cache.entries} answers; ${cache.names} names of zones`],
    ['readers', describeReaders(readers)],
    ['configuration', describeConfiguration(status.configuration)],
    ['statistics', describeStatistics(status.statistics)],
    ['log', describeLogs(status.logs)],
  ];
  const lines = rows
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${title.padEnd(COLUMN)}  ${text}\n`);
  return lines.join('');
}

function describeZone({ domain, services, digest }: ZoneDigest): string {
  return join([domain, `${services} services`, `digest ${digest}`]);
}

function describeUpstream(upstream: UpstreamStatus): string {
  const { server, state, since, lastReply, roundTrip, sent, timeouts, errors } = upstream;
  return join([
    since === undefined ? `${server} ${state}` : `${server} ${state} for ${formatElapsed(since)}`,
    lastReply === undefined ? 'no reply yet' : `last reply ${formatElapsed(lastReply)} ago`,
    roundTrip === undefined ? undefined : `round trip ${formatElapsed(roundTrip)}`,
    `${sent} queries`,
    timeouts > 0 ? `${timeouts} timeouts` : undefined,
    errors > 0 ? `${errors} errors` : undefined,
  ]);
}

function describeReaders({ running, down, kernelDrops }: ServerStatus['readers']): string {
  return join([
    `${running} running`,
    down > 0 ? `${down} down` : undefined,
    kernelDrops > 0 ? `${kernelDrops} packets dropped by the kernel` : undefined,
  ]);
}

function describeConfiguration(configuration: ServerStatus['configuration']): string {
  const { isLastGood, rejected, changes, changedAt } = configuration;
  return join([
    isLastGood ? 'the last good one; the latest has errors' : 'current',
    changes > 0 ? `${changes} changes` : undefined,
    changedAt === undefined ? undefined : `changed at ${changedAt}`,
    ...rejected,
  ]);
}

function describeStatistics({ isKept, sampling }: ServerStatus['statistics']): string {
  const kept = isKept ? 'always counted' : 'counted while somebody looks';
  return join([kept, sampling === undefined || sampling === 1 ? undefined : `one query of ${sampling}`]);
}

function describeLogs({ level, queryLog, lost }: ServerStatus['logs']): string {
  return join([
    level === undefined ? undefined : `level ${level}`,
    `query log ${queryLog ?? 'off'}`,
    lost === undefined ? undefined : `${lost} lines about queries left out`,
  ]);
}

function renderSwitched({ upstream, state, rules }: SwitchedUpstream): string {
  return `upstream server ${upstream} is ${state}${rules > 1 ? ` in ${rules} places` : ''}\n`;
}

function renderFlushed({ flushed, before, after }: FlushedCache): string {
  return `flushed ${flushed}: ${before} cached answers before, ${after} now\n`;
}

function renderNames(zone: HashedName | ZoneBuckets): string {
  if ('hash' in zone) return `${zone.name}  ${zone.hash}\n`;
  const former = zone.former.map(({ digest, age }) => `  digest ${digest} until ${formatElapsed(age)} ago\n`);
  return `${describeZone(zone)}\n${former.join('')}`;
}

function renderChange({ at, name, domain, change }: ChangedService): string {
  return `${at}  ${name}.svc.${domain}  ${change === 'came' ? 'appeared' : 'disappeared'}\n`;
}

function join(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined && part !== '').join(', ');
}
