/**
 * Whether the change can be rolled out without a gap, and whether something else would undo it.
 */
import {
  asRecord,
  asRecords,
  asText,
  type JsonRecord,
  toTextMap,
} from '@portolan/kubernetes/objects/trim/fields.ts';
import { CheckFindings, type PreflightFinding } from './finding.ts';
import type { Original } from './settings/originals.ts';

export function checkRollout(
  { kind, workload: name }: Original,
  workload: JsonRecord,
): readonly PreflightFinding[] {
  const findings = new CheckFindings('rollout');
  if (kind === 'DaemonSet') checkDaemonSet(findings, workload);
  else checkDeployment(findings, workload, name);
  return findings.all;
}

function checkDeployment(findings: CheckFindings, workload: JsonRecord, name: string): void {
  const spec = asRecord(workload['spec']) ?? {};
  const status = asRecord(workload['status']) ?? {};
  const replicas = asNumber(spec['replicas'], 1);
  const ready = asNumber(status['readyReplicas'], 0);
  const scale = (to: number) => ({
    sentence: `run ${to} replicas`,
    command: `kubectl scale deployment/${name} --replicas=${to}`,
  });
  if (spec['paused'] === true)
    findings.add('first', 'rollouts of the Deployment are paused', {
      sentence: 'resume them',
      command: `kubectl rollout resume deployment/${name}`,
    });
  if (ready < replicas)
    findings.add('first', `${ready} of ${replicas} replicas are ready: the DNS that runs is not healthy`, {
      sentence: 'wait until all are ready, or find out why not',
    });
  const { type, rollingUpdate } = asRecord(spec['strategy']) ?? {};
  const { maxUnavailable, maxSurge } = asRecord(rollingUpdate) ?? {};
  const mayMiss = toReplicaCount(maxUnavailable ?? '25%', replicas, Math.floor);
  // Kubernetes makes progress possible in this way.
  const missing = mayMiss === 0 && toReplicaCount(maxSurge ?? '25%', replicas, Math.ceil) === 0 ? 1 : mayMiss;
  if (type === 'Recreate')
    findings.add('first', 'the strategy is Recreate: all pods end before new ones start', {
      sentence: 'set strategy.type to RollingUpdate',
    });
  else if (missing >= replicas && replicas > 0)
    findings.add(
      'first',
      `${replicas === 1 ? 'the only replica' : `all ${replicas} replicas`} may end before a new one is ready (maxUnavailable)`,
      scale(Math.max(2, missing + 1)),
    );
  else
    findings.add(
      'note',
      `${replicas} replicas, which stay; ${missing} at most are missing during the rollout`,
    );
  if (replicas === 0)
    findings.add('first', 'the Deployment has no replicas: it is not the DNS that runs', {
      sentence: 'name that one with --name',
    });
}

function checkDaemonSet(findings: CheckFindings, workload: JsonRecord): void {
  const spec = asRecord(workload['spec']) ?? {};
  const status = asRecord(workload['status']) ?? {};
  const wanted = asNumber(status['desiredNumberScheduled'], 0);
  const ready = asNumber(status['numberReady'], 0);
  if (ready < wanted)
    findings.add('first', `${ready} of ${wanted} pods are ready: the cache is missing on some nodes`, {
      sentence: 'wait until all are ready, or find out why not',
    });
  const { type, rollingUpdate } = asRecord(spec['updateStrategy']) ?? {};
  if (type === 'OnDelete')
    findings.add('first', 'the update strategy is OnDelete: no pod would be replaced', {
      sentence: 'set updateStrategy.type to RollingUpdate',
    });
  const surge = asRecord(rollingUpdate)?.['maxSurge'];
  if (surge === undefined || surge === 0 || surge === '0%')
    findings.add(
      'risk',
      'each node in turn is without its cache for some seconds, as in every rollout of this DaemonSet',
      {
        sentence:
          'apply the manifests of portolan manifests --layout=node-local for an upgrade without a gap',
      },
    );
}

function asNumber(value: unknown, fallback: number): number {
  return typeof value === 'number' ? value : fallback;
}

/** An absolute number, or a percentage of the replicas. */
function toReplicaCount(value: unknown, replicas: number, round: (number: number) => number): number {
  if (typeof value === 'number') return value;
  const percentage = Number(/^(?<number>\d+)%$/.exec(String(value))?.groups?.['number'] ?? '0');
  return round((replicas * percentage) / 100);
}

interface Owner {
  readonly owns: (metadata: WorkloadMetadata) => boolean;
  /** `first`: it surely sets the former image again. */
  readonly severity: 'first' | 'risk';
  readonly sentence: string;
  readonly remedy: string;
}

interface WorkloadMetadata {
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  /** Names of the field managers. */
  readonly managers: readonly string[];
  /** `operator.openshift.io/v1 DNS`. */
  readonly owners: readonly string[];
}

const OWNERS: readonly Owner[] = [
  {
    owns: ({ owners }) => owners.some((each) => each.startsWith('operator.openshift.io/')),
    severity: 'first',
    sentence: 'the DNS operator of OpenShift sets its own image again',
    remedy: 'run Portolan as an additional server, and forward zones to it',
  },
  {
    owns: ({ labels }) => labels.has('kubernetes.azure.com/managedby'),
    severity: 'first',
    sentence: 'AKS manages it, and sets its own image again',
    remedy: 'run a Deployment of your own beside it',
  },
  {
    owns: ({ managers }) => managers.includes('eks'),
    severity: 'first',
    sentence: 'the managed add-on of EKS sets its own image again',
    remedy: 'remove the add-on and keep its objects: aws eks delete-addon --preserve',
  },
  {
    owns: ({ labels }) => labels.get('addonmanager.kubernetes.io/mode') === 'Reconcile',
    severity: 'risk',
    sentence:
      'an addon manager, if one runs, applies its own manifest again (label addonmanager.kubernetes.io/mode)',
    remedy: 'put the manifests of deploy/addon into its folder',
  },
  {
    owns: ({ annotations }) => annotations.has('objectset.rio.cattle.io/owner-name'),
    severity: 'risk',
    sentence: 'k3s or RKE2 applies its own manifest again when its server starts',
    remedy:
      'on k3s put an empty file coredns.yaml.skip beside its manifest, or start it with --disable=coredns and keep the objects by manifests of your own',
  },
  {
    owns: ({ labels }) => labels.has('addon.kops.k8s.io/name'),
    severity: 'risk',
    sentence: 'kops applies its own manifest again with its next update',
    remedy: 'set the image in the cluster specification of kops',
  },
  {
    owns: ({ labels, annotations }) =>
      labels.has('argocd.argoproj.io/instance') || annotations.has('argocd.argoproj.io/tracking-id'),
    severity: 'first',
    sentence: 'Argo CD sets what its repository says',
    remedy: 'change the image in the repository, or suspend the synchronisation',
  },
  {
    owns: ({ labels }) => [...labels.keys()].some((key) => key.includes('.toolkit.fluxcd.io/')),
    severity: 'first',
    sentence: 'Flux sets what its repository says',
    remedy: 'change the image in the repository, or suspend the reconciliation',
  },
  {
    owns: ({ labels }) => labels.get('app.kubernetes.io/managed-by') === 'Helm',
    severity: 'risk',
    sentence: 'the next helm upgrade sets the former image',
    remedy: 'also set the image in the values of the Helm release',
  },
  {
    owns: ({ managers }) => managers.includes('kubeadm'),
    severity: 'risk',
    sentence: 'kubeadm upgrade refuses a tag that is no version of CoreDNS',
    remedy: 'go back before each upgrade, and swap again after it',
  },
];

export function checkOwner(workload: JsonRecord): readonly PreflightFinding[] {
  const findings = new CheckFindings('owner');
  const metadata = readMetadata(workload);
  for (const { owns, severity, sentence, remedy } of OWNERS)
    if (owns(metadata)) findings.add(severity, sentence, { sentence: remedy });
  return findings.all;
}

function readMetadata(workload: JsonRecord): WorkloadMetadata {
  const metadata = asRecord(workload['metadata']) ?? {};
  const records = (field: string) => asRecords(metadata[field]);
  return {
    labels: toTextMap(metadata['labels']),
    annotations: toTextMap(metadata['annotations']),
    managers: records('managedFields').map(({ manager }) => asText(manager) ?? ''),
    owners: records('ownerReferences').map(({ apiVersion, kind }) => `${String(apiVersion)} ${String(kind)}`),
  };
}
