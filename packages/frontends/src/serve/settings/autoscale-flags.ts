/**
 * The flags of the autoscaler inside a server, which scales the server's own Deployment or another one.
 */
import type { Flag } from '@portolan/server/settings/flags/flag.ts';

const AUTOSCALING = 'Autoscaling';

export const AUTOSCALE_FLAGS = [
  {
    name: 'autoscale',
    valueName: 'kind/name',
    value: { kind: 'text', of: 'a target' },
    help: 'scale this in proportion to the cluster, as in deployment/kube-dns',
    details:
      'As [the autoscaler](autoscaler.md) does, in the replica that holds the Lease with the name of the ConfigMap.',
    group: AUTOSCALING,
  },
  {
    name: 'autoscale-configmap',
    valueName: 'name',
    value: { kind: 'text', of: 'the name of a ConfigMap' },
    default: 'kube-dns-autoscaler',
    help: 'ConfigMap with the parameters, in the namespace of the target',
    group: AUTOSCALING,
  },
  {
    name: 'autoscale-namespace',
    valueName: 'name',
    value: { kind: 'text', of: 'a namespace' },
    default: 'kube-system',
    help: 'namespace of the target',
    group: AUTOSCALING,
  },
  {
    name: 'autoscale-default-params',
    valueName: 'json',
    value: { kind: 'text', of: 'parameters in JSON' },
    default: '{"linear":{"coresPerReplica":256,"nodesPerReplica":16,"preventSinglePointFailure":true}}',
    help: 'parameters for a ConfigMap that does not exist',
    group: AUTOSCALING,
  },
] as const satisfies readonly Flag[];
