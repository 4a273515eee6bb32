/**
 * A plugin of a server block with its settings, as `handlers/NAME/options.ts` has them.
 */
import type { AclOptions } from '../../plugins/acl/options.ts';
import type { BindOptions } from '../../plugins/bind/options.ts';
import type { BufsizeOptions } from '../../plugins/bufsize/options.ts';
import type { CacheOptions } from '../../plugins/cache/options.ts';
import type { CancelOptions } from '../../plugins/cancel/options.ts';
import type { ChaosOptions } from '../../plugins/chaos/options.ts';
import type { ErrorsOptions } from '../../plugins/errors/options.ts';
import type { EtcdOptions } from '../../plugins/etcd/options.ts';
import type { FileOptions } from '../../plugins/file/options.ts';
import type { ForwardOptions } from '../../plugins/forward/options.ts';
import type { HeaderOptions } from '../../plugins/header/options.ts';
import type { HealthOptions } from '../../plugins/health/options.ts';
import type { HostsOptions } from '../../plugins/hosts/options.ts';
import type { KubernetesOptions } from '../../plugins/kubernetes/options.ts';
import type { LoadbalanceOptions } from '../../plugins/loadbalance/options.ts';
import type { LocalOptions } from '../../plugins/local/options.ts';
import type { LogOptions } from '../../plugins/log/options.ts';
import type { LoopOptions } from '../../plugins/loop/options.ts';
import type { MultisocketOptions } from '../../plugins/multisocket/options.ts';
import type { NsidOptions } from '../../plugins/nsid/options.ts';
import type { PprofOptions } from '../../plugins/pprof/options.ts';
import type { PrometheusOptions } from '../../plugins/prometheus/options.ts';
import type { ReadyOptions } from '../../plugins/ready/options.ts';
import type { ReloadOptions } from '../../plugins/reload/options.ts';
import type { RewriteOptions } from '../../plugins/rewrite/options.ts';
import type { RootOptions } from '../../plugins/root/options.ts';
import type { TemplateOptions } from '../../plugins/template/options.ts';
import type { TimeoutsOptions } from '../../plugins/timeouts/options.ts';
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
