/**
 * The facts of cluster/addons/dns-horizontal-autoscaler of Kubernetes, as of when its role got the group `apps`.
 */
import { readRules } from '../api-server/rbac.ts';

export const ADDON_ACCOUNT = { namespace: 'kube-system', name: 'kube-dns-autoscaler' };

const ROLE = `
kind: ClusterRole
metadata: { name: "system:kube-dns-autoscaler" }
rules:
  - { apiGroups: [""], resources: [nodes], verbs: [list, watch] }
  - { apiGroups: [""], resources: [replicationcontrollers/scale], verbs: [get, update] }
  - { apiGroups: [apps], resources: [deployments/scale, replicasets/scale], verbs: [get, update] }
  - { apiGroups: [""], resources: [configmaps], verbs: [get, create] }
---
kind: ClusterRoleBinding
metadata: { name: "system:kube-dns-autoscaler" }
roleRef: { kind: ClusterRole, name: "system:kube-dns-autoscaler" }
subjects: [{ kind: ServiceAccount, name: kube-dns-autoscaler, namespace: kube-system }]
`;

export const ADDON_RULES = readRules([ROLE], ADDON_ACCOUNT);

export const ADDON_PARAMETERS =
  '{"linear":{"coresPerReplica":256,"nodesPerReplica":16,"preventSinglePointFailure":true}}';

export const ADDON_COMMAND = [
  '/cluster-proportional-autoscaler',
  '--namespace=kube-system',
  '--configmap=kube-dns-autoscaler',
  '--target=Deployment/kube-dns',
  `--default-params=${ADDON_PARAMETERS}`,
  '--logtostderr=true',
  '--v=2',
];
