/**
 * The registry of plugins: how each is made from its settings. A new one takes one line here; see CONTRIBUTING.md.
 */
import type { Handler } from '../../chain/handler.ts';
import type { PluginName, PluginOptions, PluginPlan } from '../../config/server/plugin-plan.ts';
import { Cache } from '../../handlers/cache/cache.ts';
import { ErrorsHandler } from '../../handlers/errors/errors.ts';
import { File } from '../../handlers/file/file.ts';
import { Forward } from '../../handlers/forward/forward.ts';
import { createLogHandler } from '../../handlers/log/log.ts';
import { createPrometheusHandler } from '../../handlers/prometheus/prometheus.ts';
import { createWhoamiHandler } from '../../handlers/whoami/whoami.ts';
import type { Plugin, PluginContext } from './plugin.ts';

type MakePlugin<Options> = (options: Options, context: PluginContext) => Plugin;

/** It says something of its block or of the process, which is read elsewhere. */
const setting = (): Plugin => ({ handler: undefined });

/** For a handler that has nothing to start or to stop. */
function plainly<Options>(make: (options: Options, context: PluginContext) => Handler): MakePlugin<Options> {
  return (options, context) => ({ handler: make(options, context) });
}

/** Undefined: the directive is read, and its behaviour is missing. */
const PLUGINS: { readonly [Name in PluginName]: MakePlugin<PluginOptions[Name]> | undefined } = {
  acl: undefined,
  any: undefined,
  bind: setting,
  bufsize: undefined,
  cache: (options, context) => new Cache(options, context),
  cancel: undefined,
  chaos: undefined,
  debug: setting,
  errors(options, context) {
    const errors = new ErrorsHandler(options, context);
    return { handler: errors.handler, stop: () => errors.stop() };
  },
  file: (options, context) => new File(options, context),
  forward: (options, context) => new Forward(options, context),
  header: undefined,
  health: setting,
  hosts: undefined,
  kubernetes: undefined,
  loadbalance: undefined,
  local: undefined,
  log: plainly(createLogHandler),
  loop: undefined,
  minimal: undefined,
  multisocket: setting,
  nsid: undefined,
  pprof: setting,
  prometheus: plainly((_, { handlerNames, ...context }) => {
    const pluginBehind = () => handlerNames()[handlerNames().indexOf('prometheus') + 1] ?? '';
    return createPrometheusHandler({ ...context, pluginBehind });
  }),
  ready: setting,
  reload: setting,
  rewrite: undefined,
  root: setting,
  template: undefined,
  timeouts: setting,
  whoami: plainly(createWhoamiHandler),
};

/** A plugin cannot do what its server block asks for. The message is what the start fails with. */
export class PluginError extends Error {
  override readonly name = 'PluginError';
}

/** @throws PluginError, or what the plugin itself says */
export function makePlugin({ name, options }: PluginPlan, context: PluginContext): Plugin {
  // The table pairs each name with its own options.
  const make = PLUGINS[name] as MakePlugin<unknown> | undefined;
  if (make === undefined)
    throw new PluginError(
      `plugin/${name}: not built into Portolan\n  Take the directive out, or stay with CoreDNS for this server block.`,
    );
  return make(options, context);
}
