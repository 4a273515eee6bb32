/**
 * The flags of kube2sky, read as that program reads them, and Portolan's additions.
 */
import { type EtcdEndpoint, parseEndpoint } from '@portolan/etcd/source/client/endpoints.ts';
import { type Environment, expandVariables } from '@portolan/kernel/base/environment.ts';
import type { LogLevel } from '@portolan/kernel/base/log.ts';
import { isDns1123Subdomain } from '@portolan/kubernetes/names/name-rules.ts';
import type { Flag } from '@portolan/server/settings/flags/flag.ts';
import { readLogLevel } from '@portolan/server/settings/flags/klog-flags.ts';
import { readProgramFlags } from '@portolan/server/settings/flags/program-flags.ts';
import type { Problem } from '@portolan/server/settings/values/problem.ts';
import type { ValueReader } from '@portolan/server/settings/values/value-reader.ts';
import type { Kube2SkyPlan } from './kube2sky-plan.ts';

export const KUBE2SKY_FLAGS = [
  {
    name: 'domain',
    valueName: 'name',
    value: { kind: 'text', of: 'a domain name' },
    default: 'cluster.local',
    help: 'domain under which names are created',
  },
  {
    name: 'etcd-server',
    valueName: 'urls',
    value: { kind: 'text', of: 'the URL of an etcd server' },
    default: 'http://127.0.0.1:4001',
    help: 'etcd server; several with commas between them',
  },
  {
    name: 'etcd3',
    value: 'none',
    help: 'use version 3 of the API of etcd; version 2, the default, is deprecated',
  },
  {
    name: 'etcd-mutation-timeout',
    valueName: 'duration',
    value: { kind: 'duration' },
    default: '10s',
    help: 'end the program when etcd could not be written to for so long; 0: never',
  },
  {
    name: 'kubecfg-file',
    valueName: 'file',
    value: { kind: 'file' },
    defaultNote: 'the pod it runs in, else KUBECONFIG, else ~/.kube/config',
    help: 'kubeconfig file',
  },
  {
    name: 'kube-master-url',
    valueName: 'url',
    value: { kind: 'text', of: 'the URL of an API server' },
    defaultNote: 'that of the kubeconfig file',
    help: 'API server; variables of the environment are expanded',
  },
  {
    name: 'healthz-port',
    valueName: 'port',
    value: { kind: 'integer', min: 0, max: 65_535, of: 'a port' },
    default: '8081',
    help: 'port of /healthz and /readiness',
  },
  { name: 'version', value: 'none', help: 'print the version' },
] as const satisfies readonly Flag[];

export interface Kube2SkySettings {
  readonly plan: Kube2SkyPlan;
  readonly cluster: { readonly kubecfgFile: string | undefined; readonly masterUrl: string | undefined };
  readonly healthzPort: number;
  readonly logLevel: LogLevel;
}

export type Kube2SkyReading =
  | { readonly kind: 'help' | 'version' }
  | { readonly kind: 'bad'; readonly problems: readonly Problem[] }
  | { readonly kind: 'good'; readonly settings: Kube2SkySettings };

const REMEDY = "See 'portolan kube2sky --help' for those there are.";

/** @param words the arguments after the command */
export function readKube2SkyFlags(words: readonly string[], environment: Environment): Kube2SkyReading {
  const flags = readProgramFlags(words, KUBE2SKY_FLAGS, { dashes: '-', remedy: REMEDY });
  if (flags.kind !== 'flags') return flags;
  const { given, read } = flags;
  const { problems } = read;
  const masterUrl = read.value('kube-master-url');
  const settings: Kube2SkySettings = {
    plan: {
      domain: readDomain(read.value('domain'), read),
      endpoints: readEndpoints(read.value('etcd-server'), read),
      version: read.isOn('etcd3') ? 3 : 2,
      mutationTimeout: read.value('etcd-mutation-timeout'),
    },
    cluster: {
      kubecfgFile: read.value('kubecfg-file'),
      masterUrl: masterUrl && expandVariables(masterUrl, environment),
    },
    healthzPort: read.value('healthz-port'),
    logLevel: readLogLevel(given.last('v'), read),
  };
  return problems.length === 0 ? { kind: 'good', settings } : { kind: 'bad', problems };
}

function readDomain(text: string, read: ValueReader): string {
  const domain = text.toLowerCase().replace(/\.$/, '');
  if (!isDns1123Subdomain(domain))
    read.addProblem('-domain', 'not the domain of a cluster', text, 'Give a name such as cluster.local.');
  return `${domain}.`;
}

function readEndpoints(text: string, read: ValueReader): readonly EtcdEndpoint[] {
  return text.split(',').flatMap((each) => {
    const endpoint = parseEndpoint(each.trim());
    if (endpoint === undefined)
      read.addProblem(
        '-etcd-server',
        'not the URL of a server',
        each,
        'Give one such as http://127.0.0.1:4001.',
      );
    return endpoint ?? [];
  });
}
