/**
 * The flags of the commands that ask a running server: `control`, `status`, `explain`, `tail`, `top` and `doctor`.
 */
import { REASON_KINDS } from '@portolan/server/reasons/reason-texts.ts';
import { RESOLVER_LIBRARIES } from '@portolan/server/reasons/search-walk.ts';
import type { Flag, FlagsOf } from '@portolan/server/settings/flags/flag.ts';

export const CONTROL_FLAGS = [
  {
    name: 'socket',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'that of the only server in this container',
    help: 'control socket of the server, its --control-socket; or @ and its abstract name',
  },
  {
    name: 'output',
    valueName: 'format',
    value: { kind: 'choice', choices: ['text', 'json'] },
    default: 'text',
    help: 'format of the output; json has one object per line',
  },
] as const satisfies readonly Flag[];

export type ControlFlags = FlagsOf<typeof CONTROL_FLAGS>;

export const EXPLAIN_FLAGS = [
  ...CONTROL_FLAGS,
  {
    name: 'at',
    valueName: 'time',
    value: { kind: 'text', of: 'a time' },
    defaultNote: 'now',
    help: 'explain what failed in this minute of the past: 10:15, 10:15+0100 or 2026-11-29T10:15Z',
  },
  {
    name: 'since',
    valueName: 'duration',
    value: { kind: 'duration' },
    help: 'explain what failed since so long ago, as in 2h',
  },
  {
    name: 'history',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'that of the running server',
    help: 'with --at or --since: records of control history, or the file of --history-file; - is standard input',
  },
  {
    name: 'from',
    valueName: 'client',
    value: { kind: 'text', of: 'a namespace, NAMESPACE/POD, or an address' },
    defaultNote: 'a pod of the namespace default',
    help: 'client to explain for: an address, a namespace with a final slash, or a pod as NAMESPACE/POD',
  },
  {
    name: 'search',
    valueName: 'list',
    value: { kind: 'text', of: 'a list of domains' },
    defaultNote: 'that of a pod with the policy ClusterFirst',
    help: 'search list of the client, separated by commas',
  },
  {
    name: 'ndots',
    valueName: 'number',
    value: { kind: 'integer', min: 0, max: 15, of: 'a number of dots' },
    default: '5',
    help: 'dots from which a name is first asked for as it is',
  },
  {
    name: 'resolver',
    valueName: 'library',
    value: { kind: 'choice', choices: RESOLVER_LIBRARIES },
    default: 'glibc',
    help: 'resolver library of the client; others are mentioned if they come to another result',
  },
  {
    name: 'ask',
    value: 'none',
    help: 'ask the upstream servers what no cache has',
  },
  {
    name: 'evidence',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'what the server keeps',
    help: 'objects of Kubernetes as kubectl get -o json prints them; - is standard input',
  },
  {
    name: 'manifests',
    valueName: 'folder',
    value: { kind: 'folder' },
    help: 'explain a server with these manifests instead of a running one',
  },
  {
    name: 'kubeconfig',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'explain a server with the cluster of this kubeconfig instead',
  },
  {
    name: 'corefile',
    valueName: 'file',
    value: { kind: 'file' },
    help: 'explain a server with this Corefile instead',
  },
] as const satisfies readonly Flag[];

export type ExplainFlags = FlagsOf<typeof EXPLAIN_FLAGS>;

/** Where an answer of a watched query came from. */
export const EVENT_SOURCES = ['cluster', 'local', 'cache', 'stale', 'upstream', 'block'] as const;

const FILTER_FLAGS = [
  {
    name: 'name',
    valueName: 'name',
    value: { kind: 'text', of: 'a domain name' },
    repeats: true,
    defaultNote: 'all names',
    help: 'names at or below this one',
  },
  {
    name: 'type',
    valueName: 'type',
    value: { kind: 'text', of: 'a record type' },
    repeats: true,
    defaultNote: 'all types',
    help: 'questions for this record type',
  },
  {
    name: 'rcode',
    valueName: 'rcode',
    value: { kind: 'text', of: 'a response code', suggests: ['NOERROR', 'NXDOMAIN', 'SERVFAIL', 'REFUSED'] },
    repeats: true,
    defaultNote: 'all response codes',
    help: 'answers with this response code, as in NXDOMAIN',
  },
  {
    name: 'client',
    valueName: 'prefix',
    value: { kind: 'text', of: 'an address, or an address and its prefix length' },
    repeats: true,
    defaultNote: 'all clients',
    help: 'clients with this address prefix, as in 10.244.1.0/24',
  },
  {
    name: 'namespace',
    valueName: 'namespace',
    value: { kind: 'text', of: 'a namespace' },
    repeats: true,
    defaultNote: 'all names',
    help: 'names of services in this namespace, and names that the search list of its pods made',
  },
  {
    name: 'reason',
    valueName: 'reason',
    value: { kind: 'text', of: 'a reason', suggests: REASON_KINDS },
    repeats: true,
    defaultNote: 'all answers',
    help: 'answers without records for this reason, as in no-such-service',
  },
  {
    name: 'source',
    valueName: 'source',
    value: { kind: 'text', of: 'a source', suggests: EVENT_SOURCES },
    repeats: true,
    defaultNote: 'all sources',
    help: `answers from this source: ${EVENT_SOURCES.slice(0, -1).join(', ')} or ${EVENT_SOURCES.at(-1)}`,
  },
] as const satisfies readonly Flag[];

const STREAM_FLAGS = [...CONTROL_FLAGS, ...FILTER_FLAGS] as const satisfies readonly Flag[];

export const TAIL_FLAGS = [
  ...STREAM_FLAGS,
  {
    name: 'since',
    valueName: 'duration',
    value: { kind: 'duration' },
    help: 'show first what failed and what changed since so long ago, as in 2h',
  },
  {
    name: 'history',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'that of the running server',
    help: 'with --since, and nothing else: records of control history, or the file of --history-file; - is standard input',
  },
] as const satisfies readonly Flag[];

export const TOP_FLAGS = [
  ...STREAM_FLAGS,
  {
    name: 'interval',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '2s',
    help: 'how long queries are counted for each table',
  },
  {
    name: 'rows',
    valueName: 'number',
    value: { kind: 'integer', min: 1, max: 100, of: 'a number of rows' },
    default: '10',
    help: 'rows of each table',
  },
  {
    name: 'once',
    value: 'none',
    help: 'print one table, and end',
  },
] as const satisfies readonly Flag[];

/** The settings of filters and tables, as given. */
export type WatchFlags = ControlFlags & {
  readonly [Name in Exclude<(typeof TOP_FLAGS)[number]['name'], 'once' | 'output' | 'socket'>]?:
    | string
    | readonly string[];
} & { readonly once?: boolean };

export const DOCTOR_FLAGS = [
  ...CONTROL_FLAGS,
  {
    name: 'since',
    valueName: 'duration',
    value: { kind: 'duration' },
    help: 'show what was wrong since so long ago, as in 2h, instead of what is wrong now',
  },
  {
    name: 'history',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'that of the running server',
    help: 'with --since: records of control history, or the file of --history-file; - is standard input',
  },
  {
    name: 'watch',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '2s',
    help: 'how long queries, or the counters of a node, are watched; 0s: not at all',
  },
  {
    name: 'evidence',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'what the server knows',
    help: 'objects of Kubernetes as kubectl get -o json prints them; - is standard input',
  },
  {
    name: 'on-node',
    value: 'none',
    help: 'examine the node: counters of its kernel, its packet filter and its resolv.conf, instead of a server',
  },
  {
    name: 'node-root',
    valueName: 'folder',
    value: { kind: 'folder' },
    defaultNote: '/host if it is the file system of the node, as in kubectl debug node; else /',
    help: 'with --on-node: where the file system of the node is',
  },
  {
    name: 'ask',
    value: 'none',
    help: 'with --on-node: query the name servers of the node',
  },
] as const satisfies readonly Flag[];

export type DoctorFlags = FlagsOf<typeof DOCTOR_FLAGS>;
