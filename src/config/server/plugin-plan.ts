/**
 * A plugin of a server block with its settings, as `handlers/NAME/options.ts` has them.
 */
import type { AclOptions } from '../../handlers/acl/options.ts';
import type { BindOptions } from '../../handlers/bind/options.ts';
import type { BufsizeOptions } from '../../handlers/bufsize/options.ts';
import type { CacheOptions } from '../../handlers/cache/options.ts';
import type { CancelOptions } from '../../handlers/cancel/options.ts';
import type { ChaosOptions } from '../../handlers/chaos/options.ts';
import type { ErrorsOptions } from '../../handlers/errors/options.ts';
import type { EtcdOptions } from '../../handlers/etcd/options.ts';
import type { FileOptions } from '../../handlers/file/options.ts';
import type { ForwardOptions } from '../../handlers/forward/options.ts';
import type { HeaderOptions } from '../../handlers/header/options.ts';
import type { HealthOptions } from '../../handlers/health/options.ts';
import type { HostsOptions } from '../../handlers/hosts/options.ts';
import type { KubernetesOptions } from '../../handlers/kubernetes/options.ts';
import type { LoadbalanceOptions } from '../../handlers/loadbalance/options.ts';
import type { LocalOptions } from '../../handlers/local/options.ts';
import type { LogOptions } from '../../handlers/log/options.ts';
import type { LoopOptions } from '../../handlers/loop/options.ts';
import type { MultisocketOptions } from '../../handlers/multisocket/options.ts';
import type { NsidOptions } from '../../handlers/nsid/options.ts';
import type { PprofOptions } from '../../handlers/pprof/options.ts';
import type { PrometheusOptions } from '../../handlers/prometheus/options.ts';
import type { ReadyOptions } from '../../handlers/ready/options.ts';
import type { ReloadOptions } from '../../handlers/reload/options.ts';
import type { RewriteOptions } from '../../handlers/rewrite/options.ts';
import type { RootOptions } from '../../handlers/root/options.ts';
import type { TemplateOptions } from '../../handlers/template/options.ts';
import type { TimeoutsOptions } from '../../handlers/timeouts/options.ts';
import type { PlainPluginOptions } from './plain-plugins.ts';

/** The settings of each plugin, by its name. */
export interface PluginOptions extends CorefilePluginOptions, PlainPluginOptions {}

/** Those that a Corefile names. */
export interface CorefilePluginOptions {
  readonly acl: AclOptions;
  readonly any: undefined;
  readonly bind: BindOptions;
  readonly bufsize: BufsizeOptions;
  readonly cache: CacheOptions;
  readonly cancel: CancelOptions;
  readonly chaos: ChaosOptions;
  readonly debug: undefined;
  readonly errors: ErrorsOptions;
  readonly etcd: EtcdOptions;
  readonly file: FileOptions;
  readonly forward: ForwardOptions;
  readonly header: HeaderOptions;
  readonly health: HealthOptions;
  readonly hosts: HostsOptions;
  readonly kubernetes: KubernetesOptions;
  readonly loadbalance: LoadbalanceOptions;
  readonly local: LocalOptions;
  readonly log: LogOptions;
  readonly loop: LoopOptions;
  readonly minimal: undefined;
  readonly multisocket: MultisocketOptions;
  readonly nsid: NsidOptions;
  readonly pprof: PprofOptions;
  readonly prometheus: PrometheusOptions;
  readonly ready: ReadyOptions;
  readonly reload: ReloadOptions;
  readonly rewrite: RewriteOptions;
  readonly root: RootOptions;
  readonly template: TemplateOptions;
  readonly timeouts: TimeoutsOptions;
  readonly whoami: undefined;
}

export type PluginName = keyof PluginOptions;

export type CorefilePluginName = keyof CorefilePluginOptions;

export type PluginPlan = {
  readonly [Name in PluginName]: { readonly name: Name; readonly options: PluginOptions[Name] };
}[PluginName];
