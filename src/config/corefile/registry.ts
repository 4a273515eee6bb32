/**
 * All directives that are built, by name.
 */
import type { Directive } from './directive/directive.ts';
import { acl } from './plugins/acl.ts';
import { any, debug, minimal, whoami } from './plugins/bare.ts';
import { bind } from './plugins/bind.ts';
import { bufsize } from './plugins/bufsize.ts';
import { cache } from './plugins/cache.ts';
import { cancel } from './plugins/cancel.ts';
import { chaos } from './plugins/chaos.ts';
import { errors } from './plugins/errors.ts';
import { etcd } from './plugins/etcd.ts';
import { file } from './plugins/file.ts';
import { forward } from './plugins/forward.ts';
import { header } from './plugins/header.ts';
import { health } from './plugins/health.ts';
import { hosts } from './plugins/hosts.ts';
import { kubernetes } from './plugins/kubernetes.ts';
import { loadbalance } from './plugins/loadbalance.ts';
import { local } from './plugins/local.ts';
import { log } from './plugins/log.ts';
import { loop } from './plugins/loop.ts';
import { multisocket } from './plugins/multisocket.ts';
import { nsid } from './plugins/nsid.ts';
import { pprof } from './plugins/pprof.ts';
import { prometheus } from './plugins/prometheus.ts';
import { ready } from './plugins/ready.ts';
import { reload } from './plugins/reload.ts';
import { rewrite } from './plugins/rewrite.ts';
import { root } from './plugins/root.ts';
import { template } from './plugins/template.ts';
import { timeouts } from './plugins/timeouts.ts';
import type { Position } from './syntax/token.ts';

const DIRECTIVES = {
  acl,
  any,
  bind,
  bufsize,
  cache,
  cancel,
  chaos,
  debug,
  errors,
  etcd,
  file,
  forward,
  header,
  health,
  hosts,
  kubernetes,
  loadbalance,
  local,
  log,
  loop,
  minimal,
  multisocket,
  nsid,
  pprof,
  prometheus,
  ready,
  reload,
  rewrite,
  root,
  template,
  timeouts,
  whoami,
} as const;

export type PluginName = keyof typeof DIRECTIVES;

type OptionsOf<Kind> = Kind extends Directive<infer Options> ? Options : never;

/** A plugin in a server block, with its options. */
export type PluginUse = {
  readonly [Name in PluginName]: {
    readonly name: Name;
    readonly options: OptionsOf<(typeof DIRECTIVES)[Name]>;
    /** Where it is named first. */
    readonly position: Position;
  };
}[PluginName];

export function isBuilt(name: string): name is PluginName {
  return Object.hasOwn(DIRECTIVES, name);
}

export function directiveOf(name: PluginName): Directive<unknown> {
  return DIRECTIVES[name];
}

/** Why a plugin of CoreDNS is not built, where there is more to say than that it is not. */
export const UNBUILT_REMEDIES: ReadonlyMap<string, string> = new Map([
  ['azure', 'Zones of a cloud provider are not served. Forward the zone to the provider.'],
  ['clouddns', 'Zones of a cloud provider are not served. Forward the zone to the provider.'],
  ['route53', 'Zones of a cloud provider are not served. Forward the zone to the provider.'],
  ['auto', 'Name each zone and its file with the directive file.'],
  ['autopath', 'Take it out: clients then walk their search list themselves.'],
  ['metadata', 'Take it out, together with the labels that stand on it.'],
]);
