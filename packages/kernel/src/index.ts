/**
 * The front door of the kernel: what a program needs to serve DNS by plugins, and what a plugin needs to be one.
 *
 *     const server = await createServer({ port: 5353, blocks: [{ plugins: [usePlugin(definition, options)] }] });
 */

// The names of zones.
export { parseKey } from '@portolan/dns/name.ts';
// A server.
export { type Clock, systemClock } from './base/clock.ts';
export { type Log, silentLog } from './base/log.ts';
export type { Answer } from './chain/answer.ts';
// What plugins say about questions.
export type { Handler } from './chain/handler.ts';
export { namesWithin, type Questions } from './chain/match.ts';
export type { Query } from './chain/query.ts';
// Plugins.
export type { Plugin, PluginContext } from './contract/plugin.ts';
export { type PluginDefinition, type PluginUse, usePlugin } from './contract/plugin-use.ts';
export {
  type BlockSettings,
  createServer,
  type EmbeddedServer,
  type ServerSettings,
} from './create-server.ts';
// For programs that open sockets by themselves.
export { Engine, type EngineDependencies } from './engine/engine.ts';
export type { EnginePlan as Plan } from './plan/engine-plan.ts';
