/**
 * How long a server in a pod answers on after a stop signal, while queries arrive.
 *
 * The packet filter of kube-proxy sends packets of a source port to the endpoint that it chose first, until the port is silent for 30 s.
 * It forgets the choice when the endpoint is no longer serving: when readiness has failed, or at the latest some seconds after the pod has
 * ended. Queries that come between the end of the server and that moment are lost.
 */
import { type Environment, readVariable } from '@portolan/kernel/base/environment.ts';

/** Milliseconds: less than the default grace period of a pod, 30 s, by what closing takes. */
const DRAIN_IN_POD = 27_000;

/** @returns milliseconds after the stop signal; 0: the server is not in a pod */
export function findDefaultDrain(environment: Environment): number {
  return readVariable(environment, 'KUBERNETES_SERVICE_HOST') === undefined ? 0 : DRAIN_IN_POD;
}
