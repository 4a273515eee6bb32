/**
 * The list of the plugins of our own front ends: one line for each folder. Of these, Corefiles can name `cache`, `forward` and `nsid` only.
 */
export { aliases } from './aliases/plugin.ts';
export { anyType } from './any-type/plugin.ts';
export { cache } from './cache/plugin.ts';
export { clusterZone } from './cluster-zone/plugin.ts';
export { etcdZones } from './etcd-zones/plugin.ts';
export { federations } from './federations/plugin.ts';
export { filteredTypes } from './filtered-types/plugin.ts';
export { forward } from './forward/plugin.ts';
export { forwardLimit } from './forward-limit/plugin.ts';
export { hostsNodata } from './hosts-nodata/plugin.ts';
export { identity } from './identity/plugin.ts';
export { localName } from './local-name/plugin.ts';
export { localNames } from './local-names/plugin.ts';
export { metaTypes } from './meta-types/plugin.ts';
export { nsid } from './nsid/plugin.ts';
export { probes } from './probes/plugin.ts';
export { questionRules } from './question-rules/plugin.ts';
export { stubZones } from './stub-zones/plugin.ts';
