/**
 * The list of the plugins that a Corefile may name, by name: one line for each folder.
 */
export { acl } from './acl/plugin.ts';
export { any } from './any/plugin.ts';
export { bind } from './bind/plugin.ts';
export { bufsize } from './bufsize/plugin.ts';
export { cache } from './cache/plugin.ts';
export { cancel } from './cancel/plugin.ts';
export { chaos } from './chaos/plugin.ts';
export { debug } from './debug/plugin.ts';
export { erratic } from './erratic/plugin.ts';
export { errors } from './errors/plugin.ts';
export { etcd } from './etcd/plugin.ts';
export { file } from './file/plugin.ts';
export { forward } from './forward/plugin.ts';
export { header } from './header/plugin.ts';
export { health } from './health/plugin.ts';
export { hosts } from './hosts/plugin.ts';
export { kubernetes } from './kubernetes/plugin.ts';
export { loadbalance } from './loadbalance/plugin.ts';
export { local } from './local/plugin.ts';
export { log } from './log/plugin.ts';
export { loop } from './loop/plugin.ts';
export { minimal } from './minimal/plugin.ts';
export { multisocket } from './multisocket/plugin.ts';
export { nsid } from './nsid/plugin.ts';
export { pprof } from './pprof/plugin.ts';
export { prometheus } from './prometheus/plugin.ts';
export { ready } from './ready/plugin.ts';
export { reload } from './reload/plugin.ts';
export { rewrite } from './rewrite/plugin.ts';
export { root } from './root/plugin.ts';
export { template } from './template/plugin.ts';
export { timeouts } from './timeouts/plugin.ts';
export { whoami } from './whoami/plugin.ts';
