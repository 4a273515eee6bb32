/**
 * The registry of plugins: how each is made from its settings. A new one takes one line here; see CONTRIBUTING.md.
 */
import { hostname } from 'node:os';
import type { Handler } from '../../chain/handler.ts';
import type {
  CorefilePluginName,
  CorefilePluginOptions,
  PluginName,
} from '../../config/server/plugin-plan.ts';
import { COREDNS_VERSION } from '../../corefile/coredns-version.ts';
import { createAclHandler } from '../../plugins/acl/acl.ts';
import { createObsoleteAnyHandler } from '../../plugins/any/obsolete-any.ts';
import { createBufsizeHandler } from '../../plugins/bufsize/bufsize.ts';
import { Cache } from '../../plugins/cache/cache.ts';
import { createCancelHandler } from '../../plugins/cancel/cancel.ts';
import { createIdentityHandler, type IdentityDependencies } from '../../plugins/chaos/identity.ts';
import { ErrorsHandler } from '../../plugins/errors/errors.ts';
import { File } from '../../plugins/file/file.ts';
import { Forward } from '../../plugins/forward/forward.ts';
import { createHeaderHandler } from '../../plugins/header/header.ts';
import { Hosts } from '../../plugins/hosts/hosts.ts';
import { createLoadbalanceHandler } from '../../plugins/loadbalance/loadbalance.ts';
import { createLocalhostHandler } from '../../plugins/local/localhost.ts';
import { createLogHandler } from '../../plugins/log/log.ts';
import { Loop } from '../../plugins/loop/loop.ts';
import { createMinimalHandler } from '../../plugins/minimal/minimal.ts';
import { createNsidHandler } from '../../plugins/nsid/nsid.ts';
import { createPrometheusHandler } from '../../plugins/prometheus/prometheus.ts';
import { createRewriteHandler } from '../../plugins/rewrite/rewrite.ts';
import { createTemplateHandler } from '../../plugins/template/template.ts';
import { createWhoamiHandler } from '../../plugins/whoami/whoami.ts';
import { endProcess } from './end-process.ts';
import { addressesOfServer } from './own-addresses.ts';
import type { MakePlugin, Plugin, PluginContext, PluginMaker } from './plugin.ts';

/** It says something of its block or of the process, which is read elsewhere. */
const setting = (): Plugin => ({ handler: undefined });

/** For a handler that has nothing to start or to stop. */
function plainly<Options>(make: (options: Options, context: PluginContext) => Handler): MakePlugin<Options> {
  return (options, context) => ({ handler: make(options, context) });
}

/** Plugins with much code of their own, and of Node's for TLS, which is loaded where a server block has them. */
type LargePlugin = 'etcd' | 'kubernetes';

const LARGE_PLUGINS: {
  readonly [Name in LargePlugin]: () => Promise<MakePlugin<CorefilePluginOptions[Name]>>;
} = {
  async etcd() {
    const { EtcdPlugin } = await import('../../plugins/etcd/etcd-plugin.ts');
    return (options, context) => new EtcdPlugin(options, context);
  },
  async kubernetes() {
    const { Kubernetes } = await import('../../plugins/kubernetes/kubernetes-plugin.ts');
    return (options, context) => {
      const ownAddresses = addressesOfServer(context.server);
      const chain = context.lookUp;
      return new Kubernetes(options, { ...context, chain, ownAddresses, environment: process.env });
    };
  },
};

const loaded = new Map<PluginName, MakePlugin<never>>();

function isLarge(name: string): name is LargePlugin {
  return Object.hasOwn(LARGE_PLUGINS, name);
}

/** Undefined: the directive is read, and its behaviour is missing. */
const PLUGINS: {
  readonly [Name in Exclude<CorefilePluginName, LargePlugin>]:
    | MakePlugin<CorefilePluginOptions[Name]>
    | undefined;
} = {
  acl: plainly((options, { metrics }) => createAclHandler(options, metrics)),
  any: plainly(createObsoleteAnyHandler),
  bind: setting,
  bufsize: plainly(createBufsizeHandler),
  cache: (options, context, former) =>
    new Cache(options, context, former instanceof Cache ? former : undefined),
  cancel: plainly(createCancelHandler),
  chaos: plainly((options) => createIdentityHandler(options, identify())),
  debug: setting,
  errors(options, context) {
    const errors = new ErrorsHandler(options, context);
    return { handler: errors.handler, stop: () => errors.stop() };
  },
  file: (options, context) => new File(options, { ...context, chain: context.lookUp }),
  forward: (options, context) =>
    new Forward(options, { ...context, ...(!context.isStrict && { isOurselves: context.listensAt }) }),
  header: plainly(createHeaderHandler),
  health: setting,
  hosts: (options, context) => new Hosts(options, context),
  loadbalance: plainly(() => createLoadbalanceHandler()),
  local: plainly((options, { metrics }) => createLocalhostHandler(options, metrics)),
  log: plainly(createLogHandler),
  loop: (options, context) => new Loop(options, { ...context, onLoop: endProcess }),
  minimal: plainly(createMinimalHandler),
  multisocket: setting,
  nsid: plainly((options) => createNsidHandler(options, hostname())),
  pprof: setting,
  prometheus: plainly((_, { handlerNames, isStrict, ...context }) => {
    const pluginBehind = () => handlerNames()[handlerNames().indexOf('prometheus') + 1] ?? '';
    return createPrometheusHandler({
      ...context,
      pluginOf: isStrict ? pluginBehind : ({ answeredBy }) => answeredBy,
    });
  }),
  ready: setting,
  reload: setting,
  rewrite: plainly((options, { lookUp }) => createRewriteHandler(options, lookUp)),
  root: setting,
  template: plainly((options, { lookUp: chain, metrics }) =>
    createTemplateHandler(options, { chain, metrics }),
  ),
  timeouts: setting,
  whoami: plainly(createWhoamiHandler),
};

/** What class CHAOS is told where the block does not say it: the version that is stood in for, and our own authors. */
function identify(): IdentityDependencies {
  return {
    hostName: hostname(),
    version: `CoreDNS-${COREDNS_VERSION}`,
    authors: ['The authors of Portolan'],
  };
}

/** A plugin cannot do what its server block asks for. The message is what the start fails with. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

// The table pairs each name with its own options.
const MAKERS = new Map(Object.entries(PLUGINS) as [string, MakePlugin<unknown> | undefined][]);

/** Whether a plugin is made here. */
export function isCorefilePlugin(name: string): boolean {
  return isLarge(name) || MAKERS.has(name);
}

/** The plugins of Corefiles. */
export const corefilePlugins: PluginMaker = {
  async load(names) {
    for (const name of new Set(names))
      if (isLarge(name) && !loaded.has(name)) loaded.set(name, await LARGE_PLUGINS[name]());
  },
  make({ name, options }, context, former) {
    const make = isLarge(name) ? (loaded.get(name) as MakePlugin<unknown> | undefined) : MAKERS.get(name);
    if (make === undefined && isLarge(name)) throw new TypeError(`plugin ${name} is not loaded`);
    if (make === undefined)
      throw new PluginError(
        `plugin/${name}: not built into Portolan\n  Take the directive out, or stay with CoreDNS for this server block.`,
      );
    return make(options, context, former);
  },
  outlivesPlans: () => false,
};
