/**
 * All directives that are built, by name.
 */

import { any, debug, minimal, whoami } from '../../corefile/directive/bare-directive.ts';
import type { Directive } from '../../corefile/directive/directive.ts';
import type { Position } from '../../corefile/syntax/token.ts';
import { acl } from '../../plugins/acl/plugin.ts';
import { bind } from '../../plugins/bind/plugin.ts';
import { bufsize } from '../../plugins/bufsize/plugin.ts';
import { cache } from '../../plugins/cache/plugin.ts';
import { cancel } from '../../plugins/cancel/plugin.ts';
import { chaos } from '../../plugins/chaos/plugin.ts';
import { errors } from '../../plugins/errors/plugin.ts';
import { etcd } from '../../plugins/etcd/plugin.ts';
import { file } from '../../plugins/file/plugin.ts';
import { forward } from '../../plugins/forward/plugin.ts';
import { header } from '../../plugins/header/plugin.ts';
import { health } from '../../plugins/health/plugin.ts';
import { hosts } from '../../plugins/hosts/plugin.ts';
import { kubernetes } from '../../plugins/kubernetes/plugin.ts';
import { loadbalance } from '../../plugins/loadbalance/plugin.ts';
import { local } from '../../plugins/local/plugin.ts';
import { log } from '../../plugins/log/plugin.ts';
import { loop } from '../../plugins/loop/plugin.ts';
import { multisocket } from '../../plugins/multisocket/plugin.ts';
import { nsid } from '../../plugins/nsid/plugin.ts';
import { pprof } from '../../plugins/pprof/plugin.ts';
import { prometheus } from '../../plugins/prometheus/plugin.ts';
import { ready } from '../../plugins/ready/plugin.ts';
import { reload } from '../../plugins/reload/plugin.ts';
import { rewrite } from '../../plugins/rewrite/plugin.ts';
import { root } from '../../plugins/root/plugin.ts';
import { template } from '../../plugins/template/plugin.ts';
import { timeouts } from '../../plugins/timeouts/plugin.ts';

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
