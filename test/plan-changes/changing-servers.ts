/**
 * A server of every front end, in the test's own process, each with a function that makes its front end change its whole plan.
 */
import { startCoreDns, startNodeCache } from './corefile-servers.ts';
import { type ChangingServer, Scene, type Surroundings } from './scene.ts';
import { startDnsmasq, startKubeDns, startServe, startSkyDns } from './view-servers.ts';

/** All front ends, and the programs of the system that their servers need. */
export const FRONT_ENDS = [
  { name: 'serve', tools: [] },
  { name: 'kube-dns', tools: [] },
  { name: 'dnsmasq', tools: [] },
  { name: 'skydns', tools: ['etcd'] },
  { name: 'coredns', tools: ['etcd'] },
  { name: 'node-cache', tools: [] },
] as const;
export type FrontEndName = (typeof FRONT_ENDS)[number]['name'];

/** Serves on a free port of loopback until the test ends. */
export function startChanging(name: FrontEndName, surroundings: Surroundings): Promise<ChangingServer> {
  return STARTS[name](new Scene(surroundings));
}

const STARTS: Readonly<Record<FrontEndName, (scene: Scene) => Promise<ChangingServer>>> = {
  serve: startServe,
  'kube-dns': startKubeDns,
  dnsmasq: startDnsmasq,
  skydns: startSkyDns,
  coredns: startCoreDns,
  'node-cache': startNodeCache,
};
